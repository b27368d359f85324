// SPDX-License-Identifier: GPL-2.0-only
/*
 * canon_early.c - equivalence 9: handles and mappings from before a recording match the first
 * operations of its replay.
 */
#include <stdlib.h>
#include <uthash.h>

#include "canon_reading.h"
#include "analyse/graph/early.h"

/* A file that had lost its name before. */
struct unnamed {
	UT_hash_handle hh;
	u32 task; /* index */
	u64 object;
};

struct known_map_key {
	u64 map;
	u64 tgid;
};

/* A mapping that is known, or a piece of it; the first is in the table, the others follow. */
struct known_map {
	UT_hash_handle hh;
	struct known_map_key key;
	struct known_map *next;
	s64 offset_bytes;
	u64 length_bytes;
};

#define NO_TASK UINT32_MAX

/* The parent of a task, by a recorded fork or exec; or NO_TASK. */
static u32 parent_of(const struct canon *canon, u32 task)
{
	const struct canon_task *t = &canon->tasks[task];
	u32 i;

	if (t->why == IOT_REASON_fork || t->why == IOT_REASON_exec)
		for (i = 0; i < canon->task_count; i++)
			if (canon->tasks[i].id == t->parent)
				return i;
	return NO_TASK;
}

/* The task that runs it: the first ancestor at the beginning. */
static u32 elder_of(const struct canon *canon, u32 task)
{
	u32 parent;

	while ((parent = parent_of(canon, task)) != NO_TASK)
		task = parent;
	return task;
}

/* The first of its process that the trace has. */
static u32 first_of_process(const struct canon *canon, u32 task)
{
	u32 parent;

	while ((parent = parent_of(canon, task)) != NO_TASK &&
	       canon->tasks[parent].tgid == canon->tasks[task].tgid)
		task = parent;
	return task;
}

/* An operation that the current record stands for, which came before all others. */
static int add_early(struct reading_state *s, u32 task, struct iot_record *as)
{
	const struct iot_record *record = s->record;
	struct canon_op op;
	int err;

	as->tail = (const u8 *)"";
	as->op.task = s->canon->tasks[task].id;
	s->record = as;
	err = canon_op_make(s, &op);
	s->record = record;
	op.is_implied = false;
	return err ? err : canon_op_add(s->canon, task, &op) ? 0 : -ENOMEM;
}

static int note_unnamed(struct reading_state *s, u32 task, u64 object)
{
	struct unnamed *unnamed;

	HASH_FIND(hh, s->unnamed, &object, sizeof(object), unnamed);
	if (unnamed)
		return 0;
	unnamed = calloc(1, sizeof(*unnamed));
	if (!unnamed)
		return -ENOMEM;
	unnamed->task = task;
	unnamed->object = object;
	HASH_ADD(hh, s->unnamed, object, sizeof(unnamed->object), unnamed);
	return 0;
}

/**
 * canon_take_opened() - a handle that was open before the recording
 * @s: where the reading is
 * @r: its record
 *
 * Return: 0 or -ENOMEM.
 */
int canon_take_opened(struct reading_state *s, const struct iot_rec_opened *r)
{
	struct iot_record open = { .kind = IOT_KIND_open }, seek = { .kind = IOT_KIND_seek };
	u32 type = iot_names_type(s->names, r->object), task;
	int err = canon_task_get(s->canon, r->task, &task);

	s->canon->is_attached = true;
	if (err || !iot_names_is_first(s->names) || !is_opened_early(type))
		return err;
	task = elder_of(s->canon, task);
	open.open.object = r->object;
	open.open.handle = r->handle;
	open.open.name = r->name;
	open.open.flags = r->flags;
	err = add_early(s, task, &open);
	seek.seek.object = r->object;
	seek.seek.handle = r->handle;
	seek.seek.offset_bytes = r->offset_bytes;
	seek.seek.result = r->offset_bytes;
	if (!err && has_position_early(type, r))
		err = add_early(s, task, &seek);
	if (!err && iot_names_unnamed(s->names, r->object))
		err = note_unnamed(s, task, r->object);
	return err;
}

/* Two CPUs may announce a mapping, or a piece of one, at the same time: the first record counts. */
static bool is_known(const struct known_map *known, const struct map_piece *piece)
{
	for (; known; known = known->next)
		if (known->offset_bytes <= piece->offset_bytes &&
		    (u64)(piece->offset_bytes - known->offset_bytes) + piece->length_bytes <=
			    known->length_bytes)
			return true;
	return false;
}

/**
 * canon_know_map() - a process has a mapping, announced or copied by a fork
 * @s: where the reading is
 * @task: index of one of its tasks
 * @piece: the mapping
 *
 * Return: 0; 1 if that was known; -ENOMEM.
 */
int canon_know_map(struct reading_state *s, u32 task, const struct map_piece *piece)
{
	const struct known_map_key key = { piece->map, s->canon->tasks[task].tgid };
	struct known_map *first, *known;

	HASH_FIND(hh, s->known_maps, &key, sizeof(key), first);
	if (is_known(first, piece))
		return 1;
	known = calloc(1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	known->key = key;
	known->offset_bytes = piece->offset_bytes;
	known->length_bytes = piece->length_bytes;
	if (first) {
		known->next = first->next;
		first->next = known;
	} else {
		HASH_ADD(hh, s->known_maps, key, sizeof(known->key), known);
	}
	return 0;
}

/**
 * canon_take_mapped() - a mapping that was there before the recording
 * @s: where the reading is
 * @r: its record
 *
 * Return: 0 or -ENOMEM.
 */
int canon_take_mapped(struct reading_state *s, const struct iot_rec_mapped *r)
{
	const struct map_piece piece = { r->map, r->offset_bytes, r->length_bytes };
	struct iot_record map = { .kind = IOT_KIND_map };
	u32 task;
	int err = canon_task_get(s->canon, r->task, &task);

	if (!err)
		err = canon_know_map(s, task, &piece);
	if (err)
		return err < 0 ? err : 0;
	map.map.object = r->object;
	map.map.handle = r->handle;
	map.map.map = r->map;
	map.map.offset_bytes = r->offset_bytes;
	map.map.length_bytes = r->length_bytes;
	map.map.prot = r->prot;
	map.map.flags = r->flags;
	return add_early(s, first_of_process(s->canon, task), &map);
}

/**
 * canon_remove_unnamed() - names that were made up are removed when all is open
 * @s: where the reading is: at its end
 *
 * Return: 0 or -ENOMEM.
 */
int canon_remove_unnamed(struct reading_state *s)
{
	const struct unnamed *unnamed;
	int err = 0;

	for (unnamed = s->unnamed; unnamed && !err; unnamed = unnamed->hh.next) {
		struct iot_record record = { .kind = IOT_KIND_unlink };

		record.unlink.object = unnamed->object;
		err = add_early(s, unnamed->task, &record);
	}
	return err;
}

/**
 * canon_free_early() - free the noted handles and mappings
 */
void canon_free_early(struct reading_state *s)
{
	struct unnamed *unnamed, *next_unnamed;
	struct known_map *known, *next, *piece;

	HASH_ITER (hh, s->unnamed, unnamed, next_unnamed) {
		HASH_DEL(s->unnamed, unnamed);
		free(unnamed);
	}
	HASH_ITER (hh, s->known_maps, known, next) {
		HASH_DEL(s->known_maps, known);
		while ((piece = known)) {
			known = piece->next;
			free(piece);
		}
	}
}
