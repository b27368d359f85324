// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight_write.c - the beginning of a dump: ids that its records refer to and do not announce.
 *
 * Order: tasks; code; stacks; names; objects, each behind the directory that it is in; mounts; handles; mappings; communicators.
 */
#include "flight_write.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "flight_state.h"

#define DEPTH_MAX 4096

/* A mapping, and a task of a process that uses it. */
struct flight_use {
	UT_hash_handle hh;
	struct {
		u64 map;
		u64 process;
	} key;
	u32 task;
};

static void uses_free(struct flight_state *state)
{
	struct flight_use *use, *next;

	HASH_ITER (hh, state->uses, use, next) {
		HASH_DEL(state->uses, use);
		free(use);
	}
}

/**
 * flight_state_begin() - a dump begins
 * @state: of the records that have left
 */
void flight_state_begin(struct flight_state *state)
{
	u32 i;

	uses_free(state);
	for (i = 0; i < state->table.entry_count; i++) {
		state->table.entries[i].is_marked = false;
		state->table.entries[i].is_written = false;
	}
}

/* -- which entries ------------------------------------------------------------------------------ */

static struct flight_entry *mark(struct flight_state *state, enum flight_class class, u64 id)
{
	struct flight_entry *first = id ? flight_table_find(&state->table, class, id) : NULL, *entry;

	for (entry = first; entry && !entry->is_marked; entry = flight_link_of(&state->table, entry))
		entry->is_marked = true;
	return first;
}

static u64 process_of(const struct flight_state *state, u32 task)
{
	const struct flight_entry *entry = flight_table_find(&state->table, FLIGHT_TASK, task);
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;

	if (!entry)
		return 1ull << 32 | task; /* a process that begins in the dump */
	flight_table_get(&state->table, entry, room, &record);
	return record.task.tgid;
}

/**
 * flight_use_add() - a process uses a mapping
 * @state: of the mapping
 * @map: its id
 * @task: of the process
 *
 * Return: 1 if that was not known; 0; or -ENOMEM.
 */
int flight_use_add(struct flight_state *state, u64 map, u32 task)
{
	struct flight_use *use, key = { .key = { map, process_of(state, task) } };

	HASH_FIND(hh, state->uses, &key.key, sizeof(key.key), use);
	if (use)
		return 0;
	use = calloc(1, sizeof(*use));
	if (!use)
		return -ENOMEM;
	use->key = key.key;
	use->task = task;
	HASH_ADD(hh, state->uses, key, sizeof(use->key), use);
	return 1;
}

/* Of a handle or a mapping: the object was marked with it. Of a process: its code was. */
static void mark_users(struct flight_state *state, const struct flight_entry *entry)
{
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;

	flight_table_get(&state->table, entry, room, &record);
	mark(state, FLIGHT_HANDLE, entry->class == FLIGHT_MAP ? record.mapped.handle : 0);
	mark(state, FLIGHT_TASK, entry->task);
}

/**
 * flight_state_mark() - a record is in the dump: mark the objects that it refers to
 * @state: since flight_state_begin()
 * @record: of a known kind
 *
 * Return: 0 or -ENOMEM.
 */
int flight_state_mark(struct flight_state *state, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i, task = iot_record_task(record);
	struct flight_entry *entry;
	enum flight_class class;
	int err = 0;

	for (i = 0; i < info->field_count && err >= 0; i++) {
		class = flight_class_of(info->fields[i].class);
		if (class == FLIGHT_PINNED)
			continue;
		entry = flight_table_find(&state->table, class, iot_field_get(record, &info->fields[i]));
		if (!entry)
			continue;
		if ((class == FLIGHT_HANDLE || class == FLIGHT_MAP) && !entry->is_marked && task)
			entry->task = task; /* which is there, unlike perhaps the one that made it */
		mark(state, class, entry->id);
		if (class == FLIGHT_MAP && task)
			err = flight_use_add(state, entry->id, task);
	}
	return err < 0 ? err : 0;
}

/* Mounts need their root, and communicators their tasks, whatever the records refer to. */
static void mark_rest(struct flight_state *state)
{
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;
	u32 i;

	for (i = 0; i < state->table.entry_count; i++) {
		const struct flight_entry *entry = &state->table.entries[i];

		if (!entry->bytes || !(entry->class == FLIGHT_PINNED || entry->class == FLIGHT_COMM))
			continue;
		flight_table_get(&state->table, entry, room, &record);
		if (record.kind == IOT_KIND_mount)
			mark(state, FLIGHT_OBJECT, record.mount.object);
		if (entry->class == FLIGHT_COMM)
			mark(state, FLIGHT_TASK, record.mpi_known.task);
	}
}

/* Mappings first, as they mark their handles. */
static void mark_needed(struct flight_state *state)
{
	static const enum flight_class classes[] = { FLIGHT_MAP, FLIGHT_HANDLE, FLIGHT_PROCESS };
	u32 i, c;

	for (c = 0; c < ARRAY_SIZE(classes); c++)
		for (i = 0; i < state->table.entry_count; i++)
			if (state->table.entries[i].is_marked && state->table.entries[i].class == classes[c])
				mark_users(state, &state->table.entries[i]);
}

/* -- writing -------------------------------------------------------------------------------------- */

/* Changes since the announcement. */
static void update(const struct flight_entry *entry, struct iot_record *record)
{
	switch (entry->class) {
	case FLIGHT_TASK: /* as of a thread that a recording finds */
		record->task.why = IOT_REASON_seen;
		record->task.parent = 0;
		break;
	case FLIGHT_OBJECT:
		record->object.name = entry->link;
		record->object.size_bytes = entry->bytes_now;
		break;
	case FLIGHT_HANDLE:
		record->opened.task = entry->task;
		record->opened.fd = -1;
		record->opened.offset_bytes = (s64)entry->bytes_now;
		break;
	case FLIGHT_STACK: /* the task that had it may be gone */
		record->stack.task = entry->task;
		break;
	case FLIGHT_CODE:
		record->code.task = entry->task;
		break;
	}
}

/**
 * flight_entry_record() - the announcement of an entry as of now
 * @state: with the entry, which counts as written then
 * @entry: not a mapping, which has a record for each process
 * @time_ns: of the record
 * @room: out: the memory that @record points into
 * @record: out: the announcement
 *
 * Return: false if there is none.
 */
bool flight_entry_record(struct flight_state *state, struct flight_entry *entry, u64 time_ns, u8 room[IOT_RECORD_MAX_BYTES],
			 struct iot_record *record)
{
	const struct flight_entry *object;

	entry->is_written = true;
	flight_table_get(&state->table, entry, room, record);
	if (!iot_kind_info(record->kind))
		return false;
	update(entry, record);
	if (entry->class == FLIGHT_HANDLE) {
		object = flight_link_of(&state->table, entry);
		record->opened.size_bytes = object ? object->bytes_now : record->opened.size_bytes;
		record->opened.name = object ? object->link : 0; /* renamed since it was opened, or removed */
	}
	if (record->kind == IOT_KIND_control)
		record->control.since_ns = time_ns;
	record->fact.time_ns = time_ns; /* all of these kinds begin with it */
	return true;
}

static int put(struct flight_state *state, struct flight_entry *entry, struct iot_writer *writer, u64 time_ns,
	       u64 *records)
{
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;

	if (!flight_entry_record(state, entry, time_ns, room, &record))
		return 0;
	++*records;
	return iot_writer_record(writer, &record);
}

static int put_class(struct flight_state *state, enum flight_class class, struct iot_writer *writer, u64 time_ns,
		     u64 *records)
{
	u32 i;
	int err = 0;

	for (i = 0; i < state->table.entry_count && !err; i++) {
		struct flight_entry *entry = &state->table.entries[i];
		bool is_wanted = entry->is_marked || class == FLIGHT_PINNED || class == FLIGHT_COMM;

		if (entry->bytes && entry->class == class && is_wanted)
			err = put(state, entry, writer, time_ns, records);
	}
	return err;
}

/* The highest directory above an object that is not written, or the object itself. */
static struct flight_entry *highest(const struct flight_state *state, struct flight_entry *object)
{
	struct flight_entry *name, *dir;
	int depth;

	for (depth = 0; depth < DEPTH_MAX; depth++) {
		name = flight_link_of(&state->table, object);
		dir = name ? flight_link_of(&state->table, name) : NULL;
		if (!dir || dir->is_written || dir == object)
			break;
		object = dir;
	}
	return object;
}

static int put_objects(struct flight_state *state, struct iot_writer *writer, u64 time_ns, u64 *records)
{
	u32 i;
	int err = 0;

	for (i = 0; i < state->table.entry_count && !err; i++) {
		struct flight_entry *entry = &state->table.entries[i];

		if (!entry->bytes || entry->class != FLIGHT_OBJECT || !entry->is_marked)
			continue;
		while (!entry->is_written && !err)
			err = put(state, highest(state, entry), writer, time_ns, records);
	}
	return err;
}

static int put_mapped(struct flight_state *state, struct iot_writer *writer, u64 time_ns, u64 *records)
{
	const struct flight_entry *entry;
	const struct flight_use *use;
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;
	int err = 0;

	for (use = state->uses; use && !err; use = use->hh.next) {
		entry = flight_table_find(&state->table, FLIGHT_MAP, use->key.map);
		flight_table_get(&state->table, entry, room, &record);
		record.mapped.time_ns = time_ns;
		record.mapped.task = use->task;
		++*records;
		err = iot_writer_record(writer, &record);
	}
	return err;
}

/**
 * flight_state_write() - write the marked entries
 * @state: all records of the dump have been passed to flight_state_mark()
 * @writer: of the dump
 * @time_ns: of these records
 * @records: their number is added
 *
 * Return: 0 or a negative errno.
 */
int flight_state_write(struct flight_state *state, struct iot_writer *writer, u64 time_ns, u64 *records)
{
	int err;

	mark_rest(state);
	mark_needed(state);
	err = put_class(state, FLIGHT_TASK, writer, time_ns, records);
	if (!err)
		err = put_class(state, FLIGHT_CODE, writer, time_ns, records);
	if (!err)
		err = put_class(state, FLIGHT_STACK, writer, time_ns, records);
	if (!err)
		err = put_class(state, FLIGHT_NAME, writer, time_ns, records);
	if (!err)
		err = put_objects(state, writer, time_ns, records);
	if (!err)
		err = put_class(state, FLIGHT_PINNED, writer, time_ns, records);
	if (!err)
		err = put_class(state, FLIGHT_HANDLE, writer, time_ns, records);
	if (!err)
		err = put_mapped(state, writer, time_ns, records);
	if (!err)
		err = put_class(state, FLIGHT_COMM, writer, time_ns, records);
	uses_free(state);
	return err;
}
