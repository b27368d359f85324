// SPDX-License-Identifier: GPL-2.0-only
/*
 * live.c - tables of open handles and mappings; their size depends on these, not on the trace.
 */
#include "live.h"

#include <stdlib.h>
#include <uthash.h>

struct open_object;

/* A handle that is open at the moment, in the list of its object. */
struct open_handle {
	UT_hash_handle hh;
	u64 handle;
	bool is_named;
	struct open_object *object;
	struct open_handle *previous;
	struct open_handle *next;
};

/* An object that is open, to find a handle for it if it has no name. */
struct open_object {
	UT_hash_handle hh;
	u64 object;
	struct open_handle *first; /* those that nothing in a replay may open */
	struct open_handle *last;
};

/* A mapping, or a piece of one, to find the one that an msync of a handle is about. */
struct live_map {
	u64 piece;
	u64 made_ns;
	bool is_shared;
	u64 offset_bytes;
	u64 length_bytes;
	struct live_map *previous; /* of its handle, made later */
	struct live_map *next;	   /* made before */
	struct live_map *next_piece;
};

struct map_key {
	u64 handle;
	u64 tgid;
};

/* The mappings of a handle in a process, the one made last first. */
struct live_maps {
	UT_hash_handle hh;
	struct map_key key;
	struct live_map *last;
};

/*
 * A mapping, to find it at a touch or at its removal. A mapping that moved, or that a fork copied after a
 * part of it was removed or protected differently, has several pieces of one handle, the newest first.
 */
struct map_place {
	UT_hash_handle hh;
	struct map_key map; /* with a mapping for the handle */
	u64 handle;
	u64 expected; /* the number of its first piece, if it was accessed before its announcement; or 0 */
	struct live_map *pieces;
};

/* -- which handles are open ----------------------------------------------------------- */

static struct open_object *open_object(struct live *l, u64 id)
{
	struct open_object *object;

	HASH_FIND(hh, l->objects, &id, sizeof(id), object);
	if (object)
		return object;
	object = calloc(1, sizeof(*object));
	if (!object)
		return NULL;
	object->object = id;
	HASH_ADD(hh, l->objects, object, sizeof(object->object), object);
	return object;
}

/**
 * live_opened() - a handle was opened
 * @l: open handles
 * @id: the object
 * @handle: on it
 * @is_named: by a name that is known; else others, also older ones, are preferred to it
 *
 * Return: 0 or -ENOMEM.
 */
int live_opened(struct live *l, u64 id, u64 handle, bool is_named)
{
	struct open_object *object;
	struct open_handle *open;

	HASH_FIND(hh, l->handles, &handle, sizeof(handle), open);
	if (open)
		return 0; /* the trace lies */
	object = open_object(l, id);
	open = object ? calloc(1, sizeof(*open)) : NULL;
	if (!open)
		return -ENOMEM;
	open->handle = handle;
	open->is_named = is_named;
	open->object = object;
	open->previous = is_named ? object->last : NULL;
	open->next = is_named ? NULL : object->first;
	*(open->previous ? &open->previous->next : &object->first) = open;
	*(open->next ? &open->next->previous : &object->last) = open;
	HASH_ADD(hh, l->handles, handle, sizeof(open->handle), open);
	return 0;
}

static void handle_drop(struct live *l, struct open_handle *open)
{
	struct open_object *object = open->object;

	*(open->previous ? &open->previous->next : &object->first) = open->next;
	*(open->next ? &open->next->previous : &object->last) = open->previous;
	HASH_DEL(l->handles, open);
	free(open);
	if (object->last)
		return;
	HASH_DEL(l->objects, object);
	free(object);
}

/**
 * live_released() - a handle was released
 */
void live_released(struct live *l, u64 handle)
{
	struct open_handle *open;

	HASH_FIND(hh, l->handles, &handle, sizeof(handle), open);
	if (open)
		handle_drop(l, open);
}

/**
 * live_handle() - a handle that is open on an object
 *
 * Return: the one that was opened last, of those by a name if there are any; 0 if there is none.
 */
u64 live_handle(struct live *l, u64 id)
{
	struct open_object *object;

	HASH_FIND(hh, l->objects, &id, sizeof(id), object);
	return object ? object->last->handle : 0;
}

/**
 * live_is_named() - check whether a handle is open by a known name
 * @l: open handles
 * @handle: its id
 */
bool live_is_named(struct live *l, u64 handle)
{
	struct open_handle *open;

	HASH_FIND(hh, l->handles, &handle, sizeof(handle), open);
	return open && open->is_named;
}

static void handles_free(struct live *l)
{
	struct open_handle *open, *next;

	HASH_ITER (hh, l->handles, open, next)
		handle_drop(l, open);
}

/* -- which mappings there are ----------------------------------------------------------- */

static struct live_maps *live_maps(struct live *l, u32 tgid, u64 handle)
{
	const struct map_key key = { handle, tgid };
	struct live_maps *maps;

	HASH_FIND(hh, l->maps, &key, sizeof(key), maps);
	return maps;
}

static struct map_place *map_place(struct live *l, u32 tgid, u64 map)
{
	const struct map_key key = { map, tgid };
	struct map_place *place;

	HASH_FIND(hh, l->places, &key, sizeof(key), place);
	return place;
}

static struct map_place *make_place(struct live *l, u32 tgid, u64 map)
{
	struct map_place *place = map_place(l, tgid, map);

	if (place)
		return place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->map = (struct map_key){ map, tgid };
	HASH_ADD(hh, l->places, map, sizeof(place->map), place);
	return place;
}

static struct live_maps *make_maps(struct live *l, u32 tgid, u64 handle)
{
	struct live_maps *maps = live_maps(l, tgid, handle);

	if (maps)
		return maps;
	maps = calloc(1, sizeof(*maps));
	if (!maps)
		return NULL;
	maps->key = (struct map_key){ handle, tgid };
	HASH_ADD(hh, l->maps, key, sizeof(maps->key), maps);
	return maps;
}

/**
 * live_mapped() - a mapping was made, or a piece of one; or could not be
 * @l: mappings
 * @tgid: the process
 * @op: its operation; its @other is the mapping, and becomes the piece: a number that no other has
 *
 * Return: 0 or -ENOMEM.
 */
int live_mapped(struct live *l, u32 tgid, struct graph_op *op)
{
	struct map_place *place;
	struct live_maps *maps;
	struct live_map *map;

	if (op->result) {
		op->other = ++l->piece_count;
		return 0;
	}
	place = make_place(l, tgid, op->other);
	maps = place ? make_maps(l, tgid, place->pieces ? place->handle : op->handle) : NULL;
	map = maps ? malloc(sizeof(*map)) : NULL;
	if (!map)
		return -ENOMEM;
	op->other = place->expected ? place->expected : ++l->piece_count;
	place->expected = 0;
	place->handle = maps->key.handle;
	*map = (struct live_map){ .piece = op->other, .made_ns = op->enter_ns,
				  .is_shared = op->flags & IOT_MAP_shared,
				  .offset_bytes = op->offset_bytes,
				  .length_bytes = op->length_bytes, .next = maps->last,
				  .next_piece = place->pieces };
	if (map->next)
		map->next->previous = map;
	maps->last = map;
	place->pieces = map;
	return 0;
}

static bool has_offset(const struct live_map *map, u64 offset_bytes)
{
	return offset_bytes >= map->offset_bytes && offset_bytes - map->offset_bytes < map->length_bytes;
}

/**
 * live_touched() - the piece of a mapping that was accessed
 * @l: mappings
 * @tgid: the process
 * @enter_ns: start of the access; a later mapping is a different one
 * @r: the access
 * @piece: out: the newest of several. If none has this offset, because the mapping grew in place,
 *	which is not recorded, the newest of all; if none is known yet, the next one
 *
 * Return: 0 or -ENOMEM.
 */
int live_touched(struct live *l, u32 tgid, u64 enter_ns, const struct iot_rec_touch *r, u64 *piece)
{
	struct map_place *place = make_place(l, tgid, r->map);
	const struct live_map *map;

	if (!place)
		return -ENOMEM;
	for (map = place->pieces; map; map = map->next_piece)
		if (has_offset(map, (u64)r->offset_bytes) && map->made_ns <= enter_ns)
			break;
	if (!map)
		map = place->pieces;
	if (!map && !place->expected)
		place->expected = ++l->piece_count;
	*piece = map ? map->piece : place->expected;
	return 0;
}

/**
 * live_has_map() - is it known that a process has this mapping, or piece of one?
 */
bool live_has_map(struct live *l, u32 tgid, const struct iot_rec_mapped *r)
{
	const struct map_place *place = map_place(l, tgid, r->map);
	const struct live_map *map;

	for (map = place ? place->pieces : NULL; map; map = map->next_piece)
		if (map->offset_bytes <= (u64)r->offset_bytes &&
		    (u64)r->offset_bytes - map->offset_bytes + r->length_bytes <= map->length_bytes)
			return true;
	return false;
}

/*
 * The range from @from to before @to was removed: the parts before and after it remain, at least one
 * of which is not empty. Return: 0 or -ENOMEM.
 */
static int map_cut(struct live_map *map, u64 from, u64 to)
{
	u64 end = map->offset_bytes + map->length_bytes;
	struct live_map *behind;

	if (from <= map->offset_bytes) {
		map->offset_bytes = to;
		map->length_bytes = end - to;
		return 0;
	}
	map->length_bytes = from - map->offset_bytes;
	if (to >= end)
		return 0;
	behind = malloc(sizeof(*behind));
	if (!behind)
		return -ENOMEM;
	*behind = *map;
	behind->offset_bytes = to;
	behind->length_bytes = end - to;
	behind->previous = map;
	if (behind->next)
		behind->next->previous = behind;
	map->next = behind;
	map->next_piece = behind;
	return 0;
}

static void map_drop(struct live_maps *maps, struct live_map *map)
{
	if (map->previous)
		map->previous->next = map->next;
	else
		maps->last = map->next;
	if (map->next)
		map->next->previous = map->previous;
	free(map);
}

static bool has_some(const struct live_map *map, u64 from, u64 to)
{
	return map->offset_bytes < to && map->offset_bytes + map->length_bytes > from;
}

/* The oldest one, because a move creates the new piece before the old one is removed; 0 if there is none. */
static u64 oldest_piece(const struct map_place *place, u64 from, u64 to)
{
	const struct live_map *map;
	u64 piece = 0;

	for (map = place->pieces; map; map = map->next_piece)
		if (has_some(map, from, to))
			piece = map->piece;
	return piece;
}

/* A piece has several parts if memory between them was unmapped. */
static int unmap_parts(struct live_maps *maps, struct map_place *place, u64 piece, u64 from, u64 to)
{
	struct live_map **link = &place->pieces, *map;
	int err = 0;

	while ((map = *link) && !err) {
		bool is_whole = map->offset_bytes >= from && map->offset_bytes + map->length_bytes <= to;

		if (map->piece == piece && is_whole) {
			*link = map->next_piece;
			map_drop(maps, map);
			continue;
		}
		if (map->piece == piece && has_some(map, from, to))
			err = map_cut(map, from, to);
		link = &map->next_piece;
	}
	return err;
}

/**
 * live_unmapped() - a mapping, or a part of it, was removed
 * @l: mappings
 * @tgid: the process
 * @r: the removed range
 * @op: its operation; out: @map, the piece that it was, or was a part of, and @handle, that of the mapping; 0 if
 *	none is known
 *
 * Return: 0 or -ENOMEM.
 */
int live_unmapped(struct live *l, u32 tgid, const struct iot_rec_unmap *r, struct graph_op *op)
{
	struct map_place *place = map_place(l, tgid, r->map);
	struct live_maps *maps = place ? live_maps(l, tgid, place->handle) : NULL;
	u64 from = (u64)r->offset_bytes, to = from + r->length_bytes;
	int err;

	op->map = 0;
	op->handle = 0;
	if (!maps)
		return 0;
	to = to < from ? UINT64_MAX : to;
	op->map = oldest_piece(place, from, to);
	op->handle = op->map ? place->handle : 0;
	err = unmap_parts(maps, place, op->map, from, to);
	if (!place->pieces) {
		HASH_DEL(l->places, place);
		free(place);
	}
	if (!maps->last) {
		HASH_DEL(l->maps, maps);
		free(maps);
	}
	return err;
}

static void maps_free(struct live *l)
{
	struct live_maps *maps, *next_maps;
	struct map_place *place, *next_place;
	struct live_map *map;

	HASH_ITER (hh, l->maps, maps, next_maps) {
		HASH_DEL(l->maps, maps);
		while ((map = maps->last)) {
			maps->last = map->next;
			free(map);
		}
		free(maps);
	}
	HASH_ITER (hh, l->places, place, next_place) {
		HASH_DEL(l->places, place);
		free(place);
	}
}

/**
 * live_map() - the mapping, or the piece of one, that a process asked something of
 * @l: mappings
 * @asked: its known properties
 *
 * Return: of several the one that was made last, 0 if there is none.
 */
u64 live_map(struct live *l, const struct live_asked *asked)
{
	const struct live_maps *maps = live_maps(l, asked->tgid, asked->handle);
	const struct live_map *map;

	for (map = maps ? maps->last : NULL; map; map = map->next)
		if (has_offset(map, asked->offset_bytes) && map->made_ns <= asked->enter_ns &&
		    (map->is_shared || !asked->is_shared))
			return map->piece;
	return 0;
}

/**
 * live_close() - forget all
 */
void live_close(struct live *live)
{
	handles_free(live);
	maps_free(live);
}
