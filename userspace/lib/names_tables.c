// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * names_tables.c - the tables behind names.c: each id is looked up by its hash.
 *
 * Where memory is short, the result is NULL, and @is_short_of_memory is set, which makes the functions
 * that take records fail.
 */
#include <stdlib.h>

#include "names_tables.h"

static unsigned int hash_of(const struct iot_names *names, const void *key, size_t bytes)
{
	return (unsigned int)iot_siphash(&names->secret, key, bytes);
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

static void *allocate(struct iot_names *names, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		names->is_short_of_memory = true;
	return memory;
}

/* -- paths ------------------------------------------------------------------------------------------ */

/* Of a path there is one, for ever. */
struct binding *names_binding_of(struct iot_names *names, const char *path)
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

/* -- objects ---------------------------------------------------------------------------------------- */

static struct object *object_by_id(struct iot_names *names, u64 id)
{
	struct object *object;

	FIND(names, names->objects, &id, sizeof(id), object);
	return object;
}

/* The object that is identified by the first of its ids. */
struct object *names_object(struct iot_names *names, u64 id)
{
	struct object *object = object_by_id(names, id);

	if (object && object->identity != id)
		return object_by_id(names, object->identity);
	return object;
}

/* The object, which nothing is known of if it is new; NULL without an id. */
struct object *names_make_object(struct iot_names *names, u64 id)
{
	struct object *object = names_object(names, id);

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

/* A record gives the inode of an object: it may be an object that was seen before. */
struct object *names_identify(struct iot_names *names, u64 id, const struct inode_key *inode)
{
	struct object *object = names_make_object(names, id);
	struct identity *identity;

	if (!object || !inode->ino || object->inode.ino)
		return object;
	object->inode = *inode;
	FIND(names, names->identities, inode, sizeof(*inode), identity);
	if (identity) {
		object->identity = identity->object;
		return names_object(names, id);
	}
	identity = allocate(names, sizeof(*identity));
	if (identity) {
		identity->inode = *inode;
		identity->object = id;
		ADD(names, names->identities, inode, sizeof(*inode), identity);
	}
	return object;
}

/* The last name of an object is removed, and soon its inode number is free. */
void names_forget_object(struct iot_names *names, u64 id)
{
	struct object *object = names_object(names, id);
	struct identity *identity = NULL;

	if (object)
		FIND(names, names->identities, &object->inode, sizeof(object->inode), identity);
	if (identity && identity->object == object->id) {
		HASH_DEL(names->identities, identity);
		free(identity);
	}
}

/* -- names, and their paths -------------------------------------------------------------------------- */

/* NULL if it was not announced. */
struct name *names_name(struct iot_names *names, u64 id)
{
	struct name *name;

	FIND(names, names->names, &id, sizeof(id), name);
	return name;
}

/* Write a path in front of the text at @at; of a path that is too long, as many components as fit. */
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
 * and for the excess of a path: in a damaged trace a directory may even contain itself.
 */
static struct binding *path_build(struct iot_names *names, const struct name *name, bool *is_lost)
{
	char text[IOT_PROGRAM_PATH_MAX];
	size_t at = sizeof(text) - 1;

	text[at] = 0;
	while (name) {
		const struct object *dir = names_object(names, name->dir);
		const struct name *above = dir ? names_name(names, dir->name) : NULL;
		bool is_top = above && !above->dir; /* the directory is the root */

		if (name->component_bytes + (is_top ? 0 : strlen("?/")) > at)
			break;
		at -= name->component_bytes;
		memcpy(text + at, name->component, name->component_bytes);
		if (is_top)
			return names_binding_of(names, text + at);
		text[--at] = '/';
		if (above && above->epoch == names->epoch && above->binding)
			return names_binding_of(names, text + path_prepend(text, at, above->binding->path));
		name = above;
	}
	text[--at] = '?';
	*is_lost = !name;
	return names_binding_of(names, text + at);
}

/* The path that a name has now; NULL if it was not announced. */
struct binding *names_binding(struct iot_names *names, u64 id)
{
	struct name *name = names_name(names, id);
	bool is_lost = false;

	if (!name)
		return NULL;
	if (name->epoch != names->epoch) {
		name->binding = name->dir ? path_build(names, name, &is_lost) :
					    names_binding_of(names, ".");
		name->epoch = is_lost ? 0 : names->epoch; /* a lost name may still be announced */
	}
	return name->binding;
}

/* Announced twice, it is the same. */
void names_add_name(struct iot_names *names, const struct iot_record *record)
{
	u64 id = record->name.name;
	struct name *name = names_name(names, id);

	if (name)
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

/* -- handles and mappings --------------------------------------------------------------------------- */

/* @tags: handles or mappings. */
struct tag *names_tag(const struct iot_names *names, struct tag *tags, u64 id)
{
	struct tag *tag;

	FIND(names, tags, &id, sizeof(id), tag);
	return tag;
}

void names_set_tag(struct iot_names *names, struct tag **tags, u64 id, struct iot_label label)
{
	struct tag *tag;

	if (!id)
		return;
	tag = names_tag(names, *tags, id);
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

void names_drop_tag(const struct iot_names *names, struct tag **tags, u64 id)
{
	struct tag *tag = names_tag(names, *tags, id);

	if (tag) {
		HASH_DEL(*tags, tag);
		free(tag);
	}
}

/* -- the end ---------------------------------------------------------------------------------------- */

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

/* All memory that labels point to is freed. */
void names_free_tables(struct iot_names *names)
{
	free_bindings(names);
	free_names(names);
	free_objects(names);
	free_identities(names);
	free_tags(&names->handles);
	free_tags(&names->maps);
}
