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
 * The kernel gives an inode that left memory and came back another id. By device, inode
 * number and generation it is still the same object, which goes by the id it had first:
 * its identity. An object that was removed takes its identity along, because not all file
 * systems have generations.
 *
 * Memory grows with the number of names and objects, not with that of operations.
 */
#include <stdlib.h>
#include <sys/random.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "iotape.h"
#include "siphash.h"

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

struct inode_key {
	u64 dev;
	u64 ino;
	u64 generation;
};

struct object {
	UT_hash_handle hh;
	u64 id;
	u64 identity; /* if it is another object's id, that one has what follows */
	struct inode_key inode;
	u64 name; /* of a directory its only one, else the last that was seen */
	struct binding *nameless; /* if it was made without a name */
	bool is_unnamed; /* that is what it was called because it had lost its name before */
	u32 type;
};

/* An inode, and the id that it had first. */
struct identity {
	UT_hash_handle hh;
	struct inode_key inode;
	u64 object;
};

/* A handle or a mapping, called after the name it was opened by. */
struct tag {
	UT_hash_handle hh;
	u64 id;
	struct iot_label label;
};

struct iot_names {
	u64 secret[2]; /* of the hash tables: ids and names come from whoever made the trace */
	struct binding *bindings;
	struct name *names;
	struct object *objects;
	struct identity *identities;
	struct tag *handles;
	struct tag *maps;
	u64 epoch; /* from 1, grows when a directory is renamed */
	u32 unnamed; /* objects that were open without a name before the recording */
	bool is_first; /* the last record told of a handle that was not known */
	bool is_short_of_memory;
};

static unsigned int hash_of(const struct iot_names *names, const void *key, size_t bytes)
{
	return (unsigned int)siphash(names->secret, key, bytes);
}

#define FIND(names, head, key, bytes, out) \
	HASH_FIND_BYHASHVALUE(hh, head, key, bytes, hash_of(names, key, bytes), out)
/* If there is no memory for the table to grow, @item is freed, and NULL afterwards. */
#define ADD(names, head, member, bytes, item)                                             \
	do {                                                                              \
		HASH_ADD_BYHASHVALUE(hh, head, member, bytes,                             \
				     hash_of(names, &(item)->member, bytes), item);       \
		if (!(item)->hh.tbl) {                                                    \
			free(item);                                                       \
			item = NULL;                                                      \
			(names)->is_short_of_memory = true;                               \
		}                                                                         \
	} while (0)

/**
 * iot_names_open() - nothing is known yet
 * @names: out: to be given to iot_names_close()
 *
 * Return: 0 or a negative errno.
 */
int iot_names_open(struct iot_names **names)
{
	*names = calloc(1, sizeof(**names));
	if (!*names)
		return -ENOMEM;
	(*names)->epoch = 1;
	if (getrandom((*names)->secret, sizeof((*names)->secret), 0) < 0) {
		free(*names);
		return -errno;
	}
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

static void free_identities(struct iot_names *names)
{
	struct identity *item, *next;

	FREE_ALL(names->identities);
}

static void free_tags(struct tag **tags)
{
	struct tag *item, *next;

	FREE_ALL(*tags);
}

/**
 * iot_names_close() - forget all; labels are not valid any more
 * @names: may be NULL
 */
void iot_names_close(struct iot_names *names)
{
	if (!names)
		return;
	free_bindings(names);
	free_names(names);
	free_objects(names);
	free_identities(names);
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

	FIND(names, names->bindings, path, bytes, binding);
	if (binding)
		return binding;
	binding = allocate(names, sizeof(*binding) + bytes + 1);
	if (!binding)
		return NULL;
	memcpy(binding->path, path, bytes + 1);
	ADD(names, names->bindings, path, bytes, binding);
	return binding;
}

static struct object *object_by_id(struct iot_names *names, u64 id)
{
	struct object *object;

	FIND(names, names->objects, &id, sizeof(id), object);
	return object;
}

/* The object that goes by the first of its ids. */
static struct object *object_find(struct iot_names *names, u64 id)
{
	struct object *object = object_by_id(names, id);

	if (object && object->identity != id)
		return object_by_id(names, object->identity);
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
	object->identity = id;
	ADD(names, names->objects, id, sizeof(id), object);
	return object;
}

/* An object is told to have an inode: then it may be one that was seen before. */
static struct object *object_identify(struct iot_names *names, u64 id, const struct inode_key *inode)
{
	struct object *object = object_make(names, id);
	struct identity *identity;

	if (!object || !inode->ino || object->inode.ino)
		return object;
	object->inode = *inode;
	FIND(names, names->identities, inode, sizeof(*inode), identity);
	if (identity) {
		object->identity = identity->object;
		return object_find(names, id);
	}
	identity = allocate(names, sizeof(*identity));
	if (identity) {
		identity->inode = *inode;
		identity->object = id;
		ADD(names, names->identities, inode, sizeof(*inode), identity);
	}
	return object;
}

/* The last name of an object is gone, and soon its inode number is free. */
static void object_forget(struct iot_names *names, u64 id)
{
	struct object *object = object_find(names, id);
	struct identity *identity = NULL;

	if (object)
		FIND(names, names->identities, &object->inode, sizeof(object->inode), identity);
	if (identity && identity->object == object->id) {
		HASH_DEL(names->identities, identity);
		free(identity);
	}
}

static struct name *name_find(struct iot_names *names, u64 id)
{
	struct name *name;

	FIND(names, names->names, &id, sizeof(id), name);
	return name;
}

/* Write a path before what is at @at; of one that is too long as many components as fit. */
static size_t path_prepend(char *text, size_t at, const char *path)
{
	size_t bytes = strlen(path);

	if (bytes <= at) {
		memcpy(text + at - bytes, path, bytes);
		return at - bytes;
	}
	path = strchr(path + bytes - (at - 1), '/');
	bytes = path ? strlen(path) : 0;
	at -= bytes;
	memcpy(text + at, path ? path : "", bytes);
	text[--at] = '?';
	return at;
}

/*
 * The path of a name is written from its end: component, directory, its directory, and
 * so on up to the root, or to one whose path is known. "?" stands for names that were lost,
 * and for what is too much for a path: a trace may even say that a directory is in itself.
 */
static struct binding *path_build(struct iot_names *names, const struct name *name, bool *is_lost)
{
	char text[IOT_PROGRAM_PATH_MAX];
	size_t at = sizeof(text) - 1;

	text[at] = 0;
	while (name) {
		const struct object *dir = object_find(names, name->dir);
		const struct name *above = dir ? name_find(names, dir->name) : NULL;
		bool is_top = above && !above->dir; /* the directory is the root */

		if (name->component_bytes + (is_top ? 0 : strlen("?/")) > at)
			break;
		at -= name->component_bytes;
		memcpy(text + at, name->component, name->component_bytes);
		if (is_top)
			return binding_of(names, text + at);
		text[--at] = '/';
		if (above && above->epoch == names->epoch && above->binding)
			return binding_of(names, text + path_prepend(text, at, above->binding->path));
		name = above;
	}
	text[--at] = '?';
	*is_lost = !name;
	return binding_of(names, text + at);
}

static struct binding *name_binding(struct iot_names *names, u64 id)
{
	struct name *name = name_find(names, id);
	bool is_lost = false;

	if (!name)
		return NULL;
	if (name->epoch != names->epoch) {
		name->binding = name->dir ? path_build(names, name, &is_lost) :
					    binding_of(names, ".");
		name->epoch = is_lost ? 0 : names->epoch; /* what is lost may still be told */
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

	if (binding && o && binding->object != o->id) {
		binding->object = o->id;
		binding->generation++;
	}
	if (o)
		o->name = name;
	return label_of(binding);
}

static bool is_nameless_open(const struct iot_record *record)
{
	return record->kind == IOT_KIND_open && (record->open.flags & IOT_OPEN_tmpfile);
}

/* O_TMPFILE: known by the directory it was made in until a link gives it a name. */
static void bind_nameless(struct iot_names *names, const struct iot_rec_open *r)
{
	const char *dir = label_of(name_binding(names, r->name)).path;
	struct object *o = r->result < 0 ? NULL : object_make(names, r->object);
	char text[IOT_PROGRAM_PATH_MAX + sizeof("/#tmpfile")];

	if (!o)
		return;
	snprintf(text, sizeof(text), "%s/#tmpfile", dir);
	o->nameless = binding_of(names, strncmp(text, "./", 2) ? text : text + 2);
	if (o->nameless && o->nameless->object != o->id) {
		o->nameless->object = o->id;
		o->nameless->generation++;
	}
}

/* Its name had been removed before the recording: it gets one that the program would not use. */
static void bind_unnamed(struct iot_names *names, u64 object)
{
	struct object *o = object_make(names, object);
	char text[sizeof(".iotape-unlinked-") + 10];

	if (!o || o->name || o->nameless)
		return;
	snprintf(text, sizeof(text), ".iotape-unlinked-%u", ++names->unnamed);
	o->nameless = binding_of(names, text);
	o->is_unnamed = true;
	if (o->nameless) {
		o->nameless->object = o->id;
		o->nameless->generation++;
	}
}

static struct tag *tag_find(const struct iot_names *names, struct tag *tags, u64 id)
{
	struct tag *tag;

	FIND(names, tags, &id, sizeof(id), tag);
	return tag;
}

static void tag_set(struct iot_names *names, struct tag **tags, u64 id, struct iot_label label)
{
	struct tag *tag;

	if (!id)
		return;
	tag = tag_find(names, *tags, id);
	if (!tag) {
		tag = allocate(names, sizeof(*tag));
		if (!tag)
			return;
		tag->id = id;
		ADD(names, *tags, id, sizeof(id), tag);
	}
	if (tag)
		tag->label = label;
}

static void tag_drop(const struct iot_names *names, struct tag **tags, u64 id)
{
	struct tag *tag = tag_find(names, *tags, id);

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
	if (record->name.dir && !record->tail_bytes) /* only the root's component is empty */
		return;
	name = allocate(names, sizeof(*name) + record->tail_bytes);
	if (!name)
		return;
	name->id = id;
	name->dir = record->name.dir;
	name->component_bytes = record->tail_bytes;
	memcpy(name->component, record->tail, record->tail_bytes);
	ADD(names, names->names, id, sizeof(id), name);
}

static void feed_object(struct iot_names *names, const struct iot_record *record)
{
	const struct inode_key inode = {
		.dev = record->object.dev,
		.ino = record->object.ino,
		.generation = record->object.generation,
	};
	struct object *object = object_identify(names, record->object.object, &inode);

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
	if (!(r->flags & IOT_RENAME_exchange))
		object_forget(names, r->replaced);
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

/* A handle that was open before: the first record of it counts. */
static void feed_opened(struct iot_names *names, const struct iot_rec_opened *r)
{
	names->is_first = !tag_find(names, names->handles, r->handle);
	if (!names->is_first)
		return;
	if (r->name)
		bind(names, r->name, r->object);
	else
		bind_unnamed(names, r->object);
	tag_set(names, &names->handles, r->handle, iot_names_object(names, r->object));
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
	case IOT_KIND_opened:
		feed_opened(names, &record->opened);
		break;
	case IOT_KIND_mapped:
		tag_set(names, &names->maps, record->mapped.map,
			iot_names_handle(names, record->mapped.handle));
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
		if (is_nameless_open(record))
			bind_nameless(names, &record->open);
		else if (info && info->group == IOT_GROUP_op)
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
	switch (record->kind) {
	case IOT_KIND_rename:
		feed_rename(names, &record->rename);
		break;
	case IOT_KIND_unlink:
		if (record->unlink.result >= 0 && !record->unlink.nlink)
			object_forget(names, record->unlink.object);
		break;
	case IOT_KIND_rmdir:
		if (record->rmdir.result >= 0)
			object_forget(names, record->rmdir.object);
		break;
	case IOT_KIND_release:
		tag_drop(names, &names->handles, record->release.handle);
		break;
	default:
		break;
	}
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
 * iot_names_directory() - what a name is in
 * @names: what is known
 * @name: its id
 *
 * Return: the identity of the directory; 0 if it is the root's name, or not known.
 */
u64 iot_names_directory(struct iot_names *names, u64 name)
{
	const struct name *n = name_find(names, name);

	return n ? iot_names_identity(names, n->dir) : 0;
}

/**
 * iot_names_identity() - what an object is, whatever id it has at the moment
 * @names: what is known
 * @object: an id of it
 *
 * Return: the first of its ids.
 */
u64 iot_names_identity(struct iot_names *names, u64 object)
{
	const struct object *o = object_find(names, object);

	return o ? o->id : object;
}

/**
 * iot_names_object() - label of an object, by the name that was seen last
 * @names: what is known
 * @object: an id of it
 *
 * Return: the label; without a path if nothing is known.
 */
struct iot_label iot_names_object(struct iot_names *names, u64 object)
{
	const struct object *o = object_find(names, object);

	if (!o)
		return label_of(NULL);
	return label_of(o->name ? name_binding(names, o->name) : o->nameless);
}

/**
 * iot_names_unnamed() - what an object is called that had lost its name before the recording
 * @names: what is known
 * @object: an id of it
 *
 * Return: a path that was made up; NULL if the object has a name of its own.
 */
const char *iot_names_unnamed(struct iot_names *names, u64 object)
{
	const struct object *o = object_find(names, object);

	return o && o->is_unnamed && o->nameless ? o->nameless->path : NULL;
}

/**
 * iot_names_type() - what an object is
 * @names: what is known
 * @object: an id of it
 *
 * Return: an enum iot_type.
 */
u32 iot_names_type(struct iot_names *names, u64 object)
{
	const struct object *o = object_find(names, object);

	return o ? o->type : IOT_TYPE_unknown;
}

/**
 * iot_names_is_first() - did the last record tell of a handle for the first time?
 * @names: what is known; iot_names_before() was called for a record of the kind opened last
 */
bool iot_names_is_first(const struct iot_names *names)
{
	return names->is_first;
}

static struct iot_label tag_label(const struct iot_names *names, struct tag *tags, u64 id)
{
	const struct tag *tag = tag_find(names, tags, id);

	return tag ? tag->label : label_of(NULL);
}

/**
 * iot_names_handle() - label of what was opened
 * @names: what is known
 * @handle: an id
 *
 * Return: the label as it was then; without a path if nothing is known.
 */
struct iot_label iot_names_handle(struct iot_names *names, u64 handle)
{
	return tag_label(names, names->handles, handle);
}

/**
 * iot_names_map() - label of what was mapped
 * @names: what is known
 * @map: an id
 *
 * Return: the label as it was then; without a path if nothing is known.
 */
struct iot_label iot_names_map(struct iot_names *names, u64 map)
{
	return tag_label(names, names->maps, map);
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

	if (is_nameless_open(record) && record->open.object)
		return iot_names_object(names, record->open.object);
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
