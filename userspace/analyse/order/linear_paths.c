// SPDX-License-Identifier: GPL-2.0-only
/*
 * linear_paths.c - the directories of names.
 *
 * A name is a component in a directory, and moves with that directory when it is renamed. The trace
 * gives the directory of the last component of a path; those above follow from the components that
 * lead there, as far as other operations have shown their directories.
 */
#include <stdlib.h>
#include <uthash.h>

#include "linear.h"

/* Where a directory was by a component of a path; @dir: 0 if in several directories. */
struct spot {
	UT_hash_handle hh;
	struct name_key key; /* the directory itself, and the component */
	u32 dir;
};

/* -- components ----------------------------------------------------------------------------------- */

static const char *last_component(const char *text, size_t bytes, size_t *component_bytes)
{
	size_t from = bytes;

	while (from && text[from - 1] != '/')
		from--;
	*component_bytes = bytes - from;
	return text + from;
}

/* Equal ones are one text. NULL: out of memory, or no name is as long. */
static const char *component_of(struct linear *e, const char *text, size_t bytes)
{
	char copy[IOT_TAIL_MAX_BYTES + 1];
	const char *component = last_component(text, bytes, &bytes);

	if (bytes > IOT_TAIL_MAX_BYTES)
		return NULL;
	memcpy(copy, component, bytes);
	copy[bytes] = 0;
	component = graph_text(e->graph, copy);
	if (!component)
		e->err = -ENOMEM;
	return component;
}

static size_t bytes_above(const char *text, size_t bytes)
{
	size_t component_bytes;

	last_component(text, bytes, &component_bytes);
	bytes -= component_bytes;
	return bytes ? bytes - 1 : 0;
}

/* -- names that change ---------------------------------------------------------------------------- */

static struct name *find(const struct linear *e, u32 dir, const char *component)
{
	const struct name_key key = { dir, component };
	struct name *name;

	HASH_FIND(hh, e->names, &key, sizeof(key), name);
	return name;
}

/**
 * path_name() - the name that a path ends with, if it is one that changes
 * @e: the model
 * @text: the path, or NULL
 * @dir: in which directory, 0 if that is not known
 */
struct name *path_name(struct linear *e, const char *text, u32 dir)
{
	const char *component = text && dir && e->names ? component_of(e, text, strlen(text)) : NULL;

	return component ? find(e, dir, component) : NULL;
}

/**
 * path_changes() - the name that a path ends with is made, or removed
 */
void path_changes(struct linear *e, const char *text, u32 dir)
{
	const char *component = text && dir && !e->err ? component_of(e, text, strlen(text)) : NULL;
	struct name *name;

	if (!component || find(e, dir, component))
		return;
	name = calloc(1, sizeof(*name));
	if (!name) {
		e->err = -ENOMEM;
		return;
	}
	name->key = (struct name_key){ dir, component };
	name->state.cause = EDGE_name;
	state_forget(e, &name->state, VALUE_UNKNOWN);
	HASH_ADD(hh, e->names, key, sizeof(name->key), name);
}

/* -- directories ---------------------------------------------------------------------------------- */

static struct spot *spot_of(const struct linear *e, u32 file, const char *component)
{
	const struct name_key key = { file, component };
	struct spot *spot;

	HASH_FIND(hh, e->spots, &key, sizeof(key), spot);
	return spot;
}

/**
 * path_seen() - a directory was there
 * @e: the model
 * @text: its path
 * @dir: the directory that it was in, 0 if that is not known
 * @file: the directory itself
 */
void path_seen(struct linear *e, const char *text, u32 dir, u32 file)
{
	const char *component = text && dir && !e->err ? component_of(e, text, strlen(text)) : NULL;
	struct spot *spot = component ? spot_of(e, file, component) : NULL;

	if (spot && spot->dir != dir)
		spot->dir = 0;
	if (!component || spot)
		return;
	spot = calloc(1, sizeof(*spot));
	if (!spot) {
		e->err = -ENOMEM;
		return;
	}
	spot->key = (struct name_key){ file, component };
	spot->dir = dir;
	HASH_ADD(hh, e->spots, key, sizeof(spot->key), spot);
}

static void add_level(struct linear *e, struct level ***end, struct name *name, u32 file)
{
	struct level *level = malloc(sizeof(*level));

	if (!level) {
		e->err = -ENOMEM;
		return;
	}
	*level = (struct level){ .name = name, .file = file };
	**end = level;
	*end = &level->above;
}

/* From the last one to the first, those that change. */
static void find_levels(struct linear *e, struct path *path)
{
	size_t bytes = bytes_above(path->key.text, strlen(path->key.text));
	u32 file = (u32)path->key.dir;
	struct level **end = &path->above;

	while (bytes && !e->err) {
		const char *component = component_of(e, path->key.text, bytes);
		const struct spot *spot = component ? spot_of(e, file, component) : NULL;
		struct name *name = spot && spot->dir ? find(e, spot->dir, component) : NULL;

		if (!spot || !spot->dir)
			break;
		if (name)
			add_level(e, &end, name, file);
		file = spot->dir;
		bytes = bytes_above(path->key.text, bytes);
	}
}

/**
 * path_path() - a path, as names that change
 * @e: the model, when all names and directories are known
 * @text: a text of the graph, or NULL
 * @dir: the directory that its last component is in, 0 if that is not known
 *
 * Return: it, looked up once; NULL: nothing changes, or if out of memory.
 */
struct path *path_path(struct linear *e, const char *text, u32 dir)
{
	const struct path_key key = { dir, text };
	struct path *path;

	if (!text || !dir || !e->names)
		return NULL;
	HASH_FIND(hh, e->paths, &key, sizeof(key), path);
	if (path)
		return path;
	path = calloc(1, sizeof(*path));
	if (!path) {
		e->err = -ENOMEM;
		return NULL;
	}
	path->key = key;
	path->name = path_name(e, text, dir);
	find_levels(e, path);
	HASH_ADD(hh, e->paths, key, sizeof(path->key), path);
	return path;
}

/**
 * paths_close() - free all of it
 */
void paths_close(struct linear *e)
{
	struct name *name, *next_name;
	struct path *path, *next_path;
	struct spot *spot, *next_spot;
	struct level *level;

	HASH_ITER (hh, e->paths, path, next_path) {
		HASH_DEL(e->paths, path);
		while ((level = path->above)) {
			path->above = level->above;
			free(level);
		}
		free(path);
	}
	HASH_ITER (hh, e->names, name, next_name) {
		HASH_DEL(e->names, name);
		state_exit(&name->state);
		free(name);
	}
	HASH_ITER (hh, e->spots, spot, next_spot) {
		HASH_DEL(e->spots, spot);
		free(spot);
	}
}
