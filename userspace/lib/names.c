// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * names.c - the meaning of the ids in records, at the moment of each record.
 *
 * The kernel announces a name as (directory, component) and an object once; everything
 * else follows from the operations: a directory that is renamed takes everything in it
 * along, a name that is removed and made again stands for another object. An object is
 * labelled by path and generation: its index among the objects seen under this path.
 * Two runs of a program that do the same thus have the same labels, though their ids
 * differ.
 *
 * An inode that was evicted and read again has a new id. By device, inode
 * number and generation it is still the same object, which is identified by its first
 * id: its identity. An object that was removed takes its identity along, because not all file
 * systems have generations.
 *
 * Memory grows with the number of names, objects and mappings, not with that of other operations: a
 * mapping is removed piece by piece, so its end is not known here, and its label stays.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "names_tables.h"

/**
 * iot_names_open() - nothing is known yet
 * @names: out: to be freed by iot_names_close(); NULL after an error
 *
 * Return: 0 or a negative errno.
 */
int iot_names_open(struct iot_names **names)
{
	int err = 0;

	*names = calloc(1, sizeof(**names));
	if (!*names)
		return -ENOMEM;
	(*names)->epoch = 1;
	if (getrandom(&(*names)->secret, sizeof((*names)->secret), 0) < 0)
		err = -errno;
	if (err) {
		free(*names);
		*names = NULL;
	}
	return err;
}

/**
 * iot_names_close() - forget all; labels are not valid any more
 * @names: may be NULL
 */
void iot_names_close(struct iot_names *names)
{
	if (!names)
		return;
	names_free_tables(names);
	free(names);
}

/* -- updates by records ----------------------------------------------------------------------------- */

static struct iot_label label_of(const struct binding *binding)
{
	return binding ? (struct iot_label){ .path = binding->path, .generation = binding->generation } :
			 (struct iot_label){ .path = "" };
}

/* An object is seen under a name: the same as before, or the next generation. */
static struct iot_label bind(struct iot_names *names, u64 name, u64 object)
{
	struct binding *binding = names_binding(names, name);
	struct object *o = names_make_object(names, object);

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
	const char *dir = label_of(names_binding(names, r->name)).path;
	struct object *o = r->result < 0 ? NULL : names_make_object(names, r->object);
	char text[IOT_PROGRAM_PATH_MAX + sizeof("/#tmpfile")];

	if (!o)
		return;
	snprintf(text, sizeof(text), "%s/#tmpfile", dir);
	o->nameless = names_binding_of(names, strncmp(text, "./", 2) ? text : text + 2);
	if (o->nameless && o->nameless->object != o->id) {
		o->nameless->object = o->id;
		o->nameless->generation++;
	}
}

/* Its name had been removed before the recording: it gets one that the program would not use. */
static void bind_unnamed(struct iot_names *names, u64 object)
{
	struct object *o = names_make_object(names, object);
	char text[sizeof(".iotape-unlinked-") + 10];

	if (!o || o->name || o->nameless)
		return;
	snprintf(text, sizeof(text), ".iotape-unlinked-%u", ++names->unnamed);
	o->nameless = names_binding_of(names, text);
	o->is_unnamed = true;
	if (o->nameless) {
		o->nameless->object = o->id;
		o->nameless->generation++;
	}
}

static void feed_object(struct iot_names *names, const struct iot_record *record)
{
	const struct inode_key inode = {
		.dev = record->object.dev,
		.ino = record->object.ino,
		.generation = record->object.generation,
	};
	struct object *object = names_identify(names, record->object.object, &inode);

	if (!object)
		return;
	object->type = record->object.type;
	if (record->object.name)
		bind(names, record->object.name, object->id);
}

static void feed_rename(struct iot_names *names, const struct iot_rec_rename *r)
{
	struct object *object = names_make_object(names, r->object);

	if (r->result < 0 || !object)
		return;
	if (object->type == IOT_TYPE_dir || (r->flags & IOT_RENAME_exchange))
		names->epoch++;
	if (!(r->flags & IOT_RENAME_exchange))
		names_forget_object(names, r->replaced);
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
	names->is_first = !names_tag(names, names->handles, r->handle);
	if (!names->is_first)
		return;
	if (r->name)
		bind(names, r->name, r->object);
	else
		bind_unnamed(names, r->object);
	names_set_tag(names, &names->handles, r->handle, iot_names_object(names, r->object));
}

/* An operation that succeeded on an object by name binds the name to the object. */
static void feed_op(struct iot_names *names, const struct iot_record *record)
{
	u64 name = first_of_class(record, IOT_CLASS_name);
	u64 object = first_of_class(record, IOT_CLASS_object);

	if (name && object && (record->op.result >= 0 || record->kind == IOT_KIND_lookup))
		bind(names, name, object);
	else if (object)
		names_make_object(names, object);
}

static bool changes_names(const struct iot_kind_info *info)
{
	switch (info->kind) {
	case IOT_KIND_name:
	case IOT_KIND_object:
	case IOT_KIND_opened:
	case IOT_KIND_mapped:
	case IOT_KIND_map:
	case IOT_KIND_release:
		return true;
	default:
		return info->group == IOT_GROUP_op && field_of_class(info->kind, IOT_CLASS_name);
	}
}

/**
 * iot_names_kinds() - the records that labels of other records depend on
 * @kinds: they are added
 *
 * A reader may skip others, see iot_reader_need(), if it does not ask for their labels.
 */
void iot_names_kinds(u64 kinds[IOT_KIND_WORDS])
{
	const struct iot_kind_info *info;
	u32 i;

	for (i = 0; (info = iot_kind_at(i)); i++)
		if (changes_names(info))
			iot_kinds_add(kinds, info->kind);
}

/**
 * iot_names_before() - update from a record, as far as its labels need it
 * @names: updated
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
		names_add_name(names, record);
		break;
	case IOT_KIND_object:
		feed_object(names, record);
		break;
	case IOT_KIND_opened:
		feed_opened(names, &record->opened);
		break;
	case IOT_KIND_mapped:
		names_set_tag(names, &names->maps, record->mapped.map,
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
		names_set_tag(names, &names->handles, record->open.handle,
			iot_names_of_record(names, record));
	if (record->kind == IOT_KIND_map)
		names_set_tag(names, &names->maps, record->map.map, iot_names_of_record(names, record));
	return names->is_short_of_memory ? -ENOMEM : 0;
}

/**
 * iot_names_after() - update from a record to the state after it
 * @names: updated
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
			names_forget_object(names, record->unlink.object);
		break;
	case IOT_KIND_rmdir:
		if (record->rmdir.result >= 0)
			names_forget_object(names, record->rmdir.object);
		break;
	case IOT_KIND_release:
		names_drop_tag(names, &names->handles, record->release.handle);
		break;
	default:
		break;
	}
	return names->is_short_of_memory ? -ENOMEM : 0;
}

/* -- queries ---------------------------------------------------------------------------------------- */

/**
 * iot_names_path() - path of a name
 * @names: names so far
 * @name: its id
 *
 * Return: the path from the root of the mount; "" if the name is not known.
 */
const char *iot_names_path(struct iot_names *names, u64 name)
{
	return label_of(names_binding(names, name)).path;
}

/**
 * iot_names_directory() - directory of a name
 * @names: names so far
 * @name: its id
 *
 * Return: the identity of the directory; 0 if it is the root's name, or not known.
 */
u64 iot_names_directory(struct iot_names *names, u64 name)
{
	const struct name *n = names_name(names, name);

	return n ? iot_names_identity(names, n->dir) : 0;
}

/**
 * iot_names_identity() - identity of an object, whatever its current id
 * @names: names so far
 * @object: an id of it
 *
 * Return: the first of its ids.
 */
u64 iot_names_identity(struct iot_names *names, u64 object)
{
	const struct object *o = names_object(names, object);

	return o ? o->id : object;
}

/**
 * iot_names_object() - label of an object, by the name that was seen last
 * @names: names so far
 * @object: an id of it
 *
 * Return: the label; without a path if nothing is known.
 */
struct iot_label iot_names_object(struct iot_names *names, u64 object)
{
	const struct object *o = names_object(names, object);

	if (!o)
		return label_of(NULL);
	return label_of(o->name ? names_binding(names, o->name) : o->nameless);
}

/**
 * iot_names_unnamed() - made-up path of an object that had lost its name before the recording
 * @names: names so far
 * @object: an id of it
 *
 * Return: a path that was made up; NULL if the object has a name of its own.
 */
const char *iot_names_unnamed(struct iot_names *names, u64 object)
{
	const struct object *o = names_object(names, object);

	return o && o->is_unnamed && o->nameless ? o->nameless->path : NULL;
}

/**
 * iot_names_type() - type of an object
 * @names: names so far
 * @object: an id of it
 *
 * Return: an enum iot_type.
 */
u32 iot_names_type(struct iot_names *names, u64 object)
{
	const struct object *o = names_object(names, object);

	return o ? o->type : IOT_TYPE_unknown;
}

/**
 * iot_names_is_first() - did the last record announce a handle for the first time?
 * @names: names so far; iot_names_before() was called for a record of the kind opened last
 */
bool iot_names_is_first(const struct iot_names *names)
{
	return names->is_first;
}

static struct iot_label tag_label(const struct iot_names *names, struct tag *tags, u64 id)
{
	const struct tag *tag = names_tag(names, tags, id);

	return tag ? tag->label : label_of(NULL);
}

/**
 * iot_names_handle() - label of the object of a handle
 * @names: names so far
 * @handle: an id
 *
 * Return: the label as it was then; without a path if nothing is known.
 */
struct iot_label iot_names_handle(struct iot_names *names, u64 handle)
{
	return tag_label(names, names->handles, handle);
}

/**
 * iot_names_map() - label of the object of a mapping
 * @names: names so far
 * @map: an id
 *
 * Return: the label as it was then; without a path if nothing is known.
 */
struct iot_label iot_names_map(struct iot_names *names, u64 map)
{
	return tag_label(names, names->maps, map);
}

/**
 * iot_names_of_record() - label of the object of an operation
 * @names: names so far
 * @record: the record that iot_names_before() was called for last
 *
 * By the operation's name if it has one, else that of its handle or mapping when that was created.
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
		return label_of(names_binding(names, name));
	if (handle && record->kind != IOT_KIND_open)
		label = iot_names_handle(names, handle);
	if (!label.generation && map && record->kind != IOT_KIND_map)
		label = iot_names_map(names, map);
	if (!label.generation)
		label = iot_names_object(names, first_of_class(record, IOT_CLASS_object));
	label.is_guess |= record->kind == IOT_KIND_open;
	return label;
}
