// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight_need.c - the beginning of a trace whose records are not known yet: each entry is announced when the first record comes
 * that refers to it.
 *
 * Until then nothing has changed it, because each change is a record that refers to it. So it is announced as it was at the
 * beginning, though later. Records are applied to the state after that.
 */
#include <errno.h>
#include <stdlib.h>

#include "flight_state.h"
#include "flight_write.h"

#define DEPTH_MAX 4096

/* Where announcements go. */
struct target {
	struct flight_state *state;
	u64 time_ns;
	flight_put_fn put;
	void *context;
};

static int need(const struct target *t, struct flight_entry *entry);

/* The name and the size of an object may change before a handle of it is announced, which needs those of the beginning. */
static void keep_object(struct flight_state *state, struct flight_entry *entry, const struct iot_record *record)
{
	if (entry->class == FLIGHT_OBJECT)
		flight_table_change(&state->table, entry, record);
}

static void restore_handle(struct flight_state *state, const struct flight_entry *entry, struct iot_record *record)
{
	const struct flight_entry *object = entry->class == FLIGHT_HANDLE ? flight_link_of(&state->table, entry) : NULL;
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record announced;

	if (!object)
		return;
	flight_table_get(&state->table, object, room, &announced);
	if (announced.kind != IOT_KIND_object)
		return;
	record->opened.name = announced.object.name;
	record->opened.size_bytes = announced.object.size_bytes;
}

static int put_entry(const struct target *t, struct flight_entry *entry)
{
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;

	if (entry->is_written || entry->class == FLIGHT_PROCESS || entry->class == FLIGHT_MAP)
		return 0;
	if (!flight_entry_record(t->state, entry, t->time_ns, room, &record))
		return 0;
	restore_handle(t->state, entry, &record);
	keep_object(t->state, entry, &record);
	return t->put(t->context, &record);
}

/* A handle or a mapping has a task, and a mapping may have a handle. Code is that of a task, too. */
static int need_users(const struct target *t, const struct flight_entry *entry)
{
	const struct flight_table *table = &t->state->table;
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;
	int err;

	if (entry->class != FLIGHT_HANDLE && entry->class != FLIGHT_MAP && entry->class != FLIGHT_PROCESS)
		return 0;
	err = need(t, flight_table_find(table, FLIGHT_TASK, entry->task));
	if (err || entry->class != FLIGHT_MAP)
		return err;
	flight_table_get(table, entry, room, &record);
	return need(t, record.mapped.handle ? flight_table_find(table, FLIGHT_HANDLE, record.mapped.handle) : NULL);
}

/* Newer code of a process may be announced when older code is not. */
static bool is_end(const struct flight_entry *entry)
{
	return !entry || entry->is_marked || (entry->is_written && entry->class != FLIGHT_CODE);
}

/* An entry behind those that it needs. */
static int need(const struct target *t, struct flight_entry *entry)
{
	struct flight_entry **chain = NULL, **longer;
	u32 count = 0, room = 0;
	int err = 0;

	for (; !is_end(entry) && count < DEPTH_MAX && !err; entry = flight_link_of(&t->state->table, entry)) {
		if (count == room) {
			room = room ? 4 * room : 16;
			longer = reallocarray(chain, room, sizeof(*chain));
			if (!longer) {
				err = -ENOMEM;
				break;
			}
			chain = longer;
		}
		entry->is_marked = true;
		chain[count++] = entry;
		err = need_users(t, entry);
	}
	while (count && !err)
		err = put_entry(t, chain[--count]);
	free(chain);
	return err;
}

/* A mapping from before has a record for each process. One that this trace has announced has none. */
static int need_use(const struct target *t, const struct flight_entry *map, u32 task)
{
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;
	int err;

	if (map->is_written || !task)
		return 0;
	err = flight_use_add(t->state, map->id, task);
	if (err <= 0)
		return err;
	flight_table_get(&t->state->table, map, room, &record);
	record.mapped.time_ns = t->time_ns;
	record.mapped.task = task;
	return t->put(t->context, &record);
}

static int need_field(const struct target *t, const struct iot_record *record, enum flight_class class, u64 id)
{
	struct flight_entry *entry = id ? flight_table_find(&t->state->table, class, id) : NULL;
	u32 task = iot_record_task(record);
	bool has_task = class == FLIGHT_HANDLE || class == FLIGHT_MAP;
	int err;

	if (!entry)
		return 0;
	if (has_task && !entry->is_marked && !entry->is_written && task)
		entry->task = task; /* which is there, unlike perhaps the one that made it */
	err = need(t, entry);
	return err || class != FLIGHT_MAP ? err : need_use(t, entry, task);
}

/**
 * flight_state_need() - a record is about to be in the trace: announce the entries that it refers to
 * @state: since flight_state_turn(); it is not applied to it yet
 * @record: of a known kind
 * @time_ns: of the announcements
 * @put: called with each
 * @context: for @put
 *
 * Return: 0 or a negative errno.
 */
int flight_state_need(struct flight_state *state, const struct iot_record *record, u64 time_ns, flight_put_fn put, void *context)
{
	const struct target t = { state, time_ns, put, context };
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	enum flight_class class;
	u32 i;
	int err = 0;

	for (i = 0; i < info->field_count && !err; i++) {
		class = flight_class_of(info->fields[i].class);
		if (class != FLIGHT_PINNED)
			err = need_field(&t, record, class, iot_field_get(record, &info->fields[i]));
	}
	return err;
}

static int put_pinned(const struct target *t, struct flight_entry *entry)
{
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;
	int err = 0;

	flight_table_get(&t->state->table, entry, room, &record);
	if (record.kind == IOT_KIND_mount)
		err = need(t, flight_table_find(&t->state->table, FLIGHT_OBJECT, record.mount.object));
	if (!err && entry->class == FLIGHT_COMM)
		err = need(t, flight_table_find(&t->state->table, FLIGHT_TASK, record.mpi_known.task));
	return err ? err : put_entry(t, entry);
}

/**
 * flight_state_follow() - records are applied that are in the trace being written, from its first one on
 * @state: nothing has been applied yet
 */
void flight_state_follow(struct flight_state *state)
{
	state->table.is_new_written = true;
}

/**
 * flight_state_turn() - the next trace begins: announce mounts and the like, which its records need and do not refer to
 * @state: after flight_state_follow(); all records of the trace before have been applied
 * @time_ns: of the announcements
 * @put: called with each
 * @context: for @put
 *
 * Return: 0 or a negative errno.
 */
int flight_state_turn(struct flight_state *state, u64 time_ns, flight_put_fn put, void *context)
{
	const struct target t = { state, time_ns, put, context };
	struct flight_entry *entry;
	u32 i;
	int err = 0;

	flight_state_begin(state);
	for (i = 0; i < state->table.entry_count && !err; i++) {
		entry = &state->table.entries[i];
		if (entry->bytes && (entry->class == FLIGHT_PINNED || entry->class == FLIGHT_COMM))
			err = put_pinned(&t, entry);
	}
	return err;
}
