// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * names.c - what the ids in records stand for, at the moment of each record.
 *
 * The kernel announces a name as (directory, component) and an object once; everything
 * else follows from the operations: a directory that is renamed takes everything in it
 * along, a name that is removed and made again stands for another object. An object is
 * labelled by path and generation: the how-manieth object that was seen under this
 * path. Two runs of a program that do the same thus have the same labels, though their
 * ids differ.
 *
 * Memory grows with the number of names and objects, not with that of operations.
 */
#include <stdlib.h>
#include <uthash.h>

#include "iotape.h"

/* One path, and what was seen under it. Lives as long as the names, so labels point to it. */
struct binding {
	UT_hash_handle hh;
	u64 object;
	u32 generation;
	char path[];
};

struct name {
	UT_hash_handle hh;
	u64 id;
	u64 dir;
	struct binding *binding; /* its path, as of `epoch` */
	u64 epoch;
	size_t component_bytes;
	char component[];
};

struct object {
	UT_hash_handle hh;
	u64 id;
	u64 name; /* of a directory its only one, else the last that was seen */
	u32 type;
};

/* A handle or a mapping, called after the name it was opened by. */
struct tag {
	UT_hash_handle hh;
	u64 id;
	struct iot_label label;
};

struct iot_names {
	struct binding *bindings;
	struct name *names;
	struct object *objects;
	struct tag *handles;
	struct tag *maps;
	u64 epoch; /* grows when a directory is renamed */
	bool is_short_of_memory;
};

#define FIND_U64(head, id, out) HASH_FIND(hh, head, &(id), sizeof(id), out)
#define ADD_U64(head, item)	HASH_ADD(hh, head, id, sizeof((item)->id), item)

/**
 * iot_names_open() - nothing is known yet
 * @names: out: to be given to iot_names_close()
 *
 * Return: 0 or -ENOMEM.
 */
int iot_names_open(struct iot_names **names)
{
	*names = calloc(1, sizeof(**names));
	if (!*names)
		return -ENOMEM;
	(*names)->epoch = 1;
	return 0;
}

#define FREE_ALL(head)                              \
	do {                                        \
		HASH_ITER (hh, head, item, next) {  \
			HASH_DEL(head, item);       \
			free(item);                 \
		}                                   \
	} while (0)

static void free_bindings(struct iot_names *names)
{
	struct binding *item, *next;

	FREE_ALL(names->bindings);
}

static void free_names(struct iot_names *names)
{
	struct name *item, *next;

	FREE_ALL(names->names);
}

static void free_objects(struct iot_names *names)
{
	struct object *item, *next;

	FREE_ALL(names->objects);
}

static void free_tags(struct tag **tags)
{
	struct tag *item, *next;

	FREE_ALL(*tags);
}

/**
 * iot_names_close() - forget all; labels are not valid any more. NULL is allowed
 */
void iot_names_close(struct iot_names *names)
{
	if (!names)
		return;
	free_bindings(names);
	free_names(names);
	free_objects(names);
	free_tags(&names->handles);
	free_tags(&names->maps);
	free(names);
}

static void *allocate(struct iot_names *names, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		names->is_short_of_memory = true;
	return memory;
}

static struct binding *binding_of(struct iot_names *names, const char *path)
{
	size_t bytes = strlen(path);
	struct binding *binding;

	HASH_FIND(hh, names->bindings, path, bytes, binding);
	if (binding)
		return binding;
	binding = allocate(names, sizeof(*binding) + bytes + 1);
	if (!binding)
		return NULL;
	memcpy(binding->path, path, bytes + 1);
	HASH_ADD(hh, names->bindings, path, bytes, binding);
	return binding;
}

static struct object *object_find(struct iot_names *names, u64 id)
{
	struct object *object;

	FIND_U64(names->objects, id, object);
	return object;
}

static struct object *object_make(struct iot_names *names, u64 id)
{
	struct object *object = object_find(names, id);

	if (object || !id)
		return object;
	object = allocate(names, sizeof(*object));
	if (!object)
		return NULL;
	object->id = id;
	ADD_U64(names->objects, object);
	return object;
}

static struct name *name_find(struct iot_names *names, u64 id)
{
	struct name *name;

	FIND_U64(names->names, id, name);
	return name;
}

#define PATH_ROOM (64 << 10)

/*
 * The path of a name is written from its end: component, directory, its directory, and
 * so on up to the root. Names that were lost show as "?".
 */
static struct binding *path_build(struct iot_names *names, const struct name *name)
{
	char text[PATH_ROOM];
	size_t at = sizeof(text) - 1;
	const struct object *dir;

	text[at] = 0;
	for (;;) {
		if (name->component_bytes + 2 > at)
			break;
		at -= name->component_bytes;
		memcpy(text + at, name->component, name->component_bytes);
		dir = object_find(names, name->dir);
		name = dir ? name_find(names, dir->name) : NULL;
		if (name && !name->dir)
			break; /* the directory is the root */
		text[--at] = '/';
		if (!name) {
			text[--at] = '?';
			break;
		}
	}
	return binding_of(names, text + at);
}

static struct binding *name_binding(struct iot_names *names, u64 id)
{
	struct name *name = name_find(names, id);

	if (!name)
		return NULL;
	if (name->epoch != names->epoch) {
		name->binding = name->dir ? path_build(names, name) : binding_of(names, ".");
		name->epoch = names->epoch;
	}
	return name->binding;
}

static struct iot_label label_of(const struct binding *binding)
{
	return binding ? (struct iot_label){ binding->path, binding->generation } :
			 (struct iot_label){ "", 0 };
}

/* An object is seen under a name: the same as before, or the next generation. */
static struct iot_label bind(struct iot_names *names, u64 name, u64 object)
{
	struct binding *binding = name_binding(names, name);
	struct object *o = object_make(names, object);

	if (binding && object && binding->object != object) {
		binding->object = object;
		binding->generation++;
	}
	if (o)
		o->name = name;
	return label_of(binding);
}

static void tag_set(struct iot_names *names, struct tag **tags, u64 id, struct iot_label label)
{
	struct tag *tag;

	if (!id)
		return;
	FIND_U64(*tags, id, tag);
	if (!tag) {
		tag = allocate(names, sizeof(*tag));
		if (!tag)
			return;
		tag->id = id;
		ADD_U64(*tags, tag);
	}
	tag->label = label;
}

static void tag_drop(struct tag **tags, u64 id)
{
	struct tag *tag;

	FIND_U64(*tags, id, tag);
	if (tag) {
		HASH_DEL(*tags, tag);
		free(tag);
	}
}

static void feed_name(struct iot_names *names, const struct iot_record *record)
{
	u64 id = record->name.name;
	struct name *name = name_find(names, id);

	if (name) /* announced twice: the same id means the same for ever */
		return;
	name = allocate(names, sizeof(*name) + record->tail_bytes);
	if (!name)
		return;
	name->id = id;
	name->dir = record->name.dir;
	name->component_bytes = record->tail_bytes;
	memcpy(name->component, record->tail, record->tail_bytes);
	ADD_U64(names->names, name);
}

static void feed_object(struct iot_names *names, const struct iot_record *record)
{
	struct object *object = object_make(names, record->object.object);

	if (!object)
		return;
	object->type = record->object.type;
	if (record->object.name)
		bind(names, record->object.name, object->id);
}

static void feed_rename(struct iot_names *names, const struct iot_rec_rename *r)
{
	struct object *object = object_make(names, r->object);

	if (r->result < 0 || !object)
		return;
	if (object->type == IOT_TYPE_dir || (r->flags & IOT_RENAME_exchange))
		names->epoch++;
	bind(names, r->new_name, r->object);
	if (r->flags & IOT_RENAME_exchange)
		bind(names, r->name, r->replaced);
}

static const struct iot_field *field_of_class(u16 kind, enum iot_class class)
{
	const struct iot_kind_info *info = iot_kind_info(kind);
	u32 i;

	for (i = 0; info && i < info->field_count; i++)
		if (info->fields[i].class == class)
			return &info->fields[i];
	return NULL;
}

static u64 first_of_class(const struct iot_record *record, enum iot_class class)
{
	const struct iot_field *field = field_of_class(record->kind, class);

	return field ? iot_field_get(record, field) : 0;
}

/* An operation that succeeded on an object by name shows what the name means. */
static void feed_op(struct iot_names *names, const struct iot_record *record)
{
	u64 name = first_of_class(record, IOT_CLASS_name);
	u64 object = first_of_class(record, IOT_CLASS_object);

	if (name && object && (record->op.result >= 0 || record->kind == IOT_KIND_lookup))
		bind(names, name, object);
	else if (object)
		object_make(names, object);
}

/**
 * iot_names_before() - learn from a record what its labels need
 * @names: what is known
 * @record: the next record of the trace
 *
 * To be called for each record, in order, before asking for its labels.
 *
 * Return: 0 or -ENOMEM.
 */
int iot_names_before(struct iot_names *names, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);

	switch (record->kind) {
	case IOT_KIND_name:
		feed_name(names, record);
		break;
	case IOT_KIND_object:
		feed_object(names, record);
		break;
	case IOT_KIND_link:
		if (record->link.result >= 0)
			bind(names, record->link.name, record->link.object);
		break;
	case IOT_KIND_rename:
		bind(names, record->rename.name, record->rename.object);
		if (record->rename.replaced)
			bind(names, record->rename.new_name, record->rename.replaced);
		break;
	default:
		if (info && info->group == IOT_GROUP_op)
			feed_op(names, record);
	}
	if (record->kind == IOT_KIND_open)
		tag_set(names, &names->handles, record->open.handle,
			iot_names_of_record(names, record));
	if (record->kind == IOT_KIND_map)
		tag_set(names, &names->maps, record->map.map, iot_names_of_record(names, record));
	return names->is_short_of_memory ? -ENOMEM : 0;
}

/**
 * iot_names_after() - learn from a record what holds after it
 * @names: what is known
 * @record: the record that iot_names_before() was called for last
 *
 * Return: 0 or -ENOMEM.
 */
int iot_names_after(struct iot_names *names, const struct iot_record *record)
{
	if (record->kind == IOT_KIND_rename)
		feed_rename(names, &record->rename);
	else if (record->kind == IOT_KIND_release)
		tag_drop(&names->handles, record->release.handle);
	return names->is_short_of_memory ? -ENOMEM : 0;
}

/**
 * iot_names_path() - path of a name
 * @names: what is known
 * @name: its id
 *
 * Return: the path from the root of the mount; "" if the name is not known.
 */
const char *iot_names_path(struct iot_names *names, u64 name)
{
	return label_of(name_binding(names, name)).path;
}

/**
 * iot_names_object() - label of an object, by the name that was seen last
 */
struct iot_label iot_names_object(struct iot_names *names, u64 object)
{
	const struct object *o = object_find(names, object);

	if (!o)
		return label_of(NULL);
	return label_of(name_binding(names, o->name));
}

static struct iot_label tag_label(struct tag *tags, u64 id)
{
	struct tag *tag;

	FIND_U64(tags, id, tag);
	return tag ? tag->label : label_of(NULL);
}

/**
 * iot_names_handle() - label of what was opened
 */
struct iot_label iot_names_handle(struct iot_names *names, u64 handle)
{
	return tag_label(names->handles, handle);
}

/**
 * iot_names_map() - label of what was mapped
 */
struct iot_label iot_names_map(struct iot_names *names, u64 map)
{
	return tag_label(names->maps, map);
}

/**
 * iot_names_of_record() - label of what an operation is on
 * @names: what is known
 * @record: the record that iot_names_before() was called for last
 *
 * By name where it has one, else as its handle or mapping was when it was made.
 *
 * Return: the label; without a path if nothing is known.
 */
struct iot_label iot_names_of_record(struct iot_names *names, const struct iot_record *record)
{
	u64 handle = first_of_class(record, IOT_CLASS_handle);
	u64 map = first_of_class(record, IOT_CLASS_map);
	u64 name = first_of_class(record, IOT_CLASS_name);
	struct iot_label label = label_of(NULL);

	if (name)
		return label_of(name_binding(names, name));
	if (handle && record->kind != IOT_KIND_open)
		label = iot_names_handle(names, handle);
	if (!label.generation && map && record->kind != IOT_KIND_map)
		label = iot_names_map(names, map);
	if (!label.generation)
		label = iot_names_object(names, first_of_class(record, IOT_CLASS_object));
	return label;
}
