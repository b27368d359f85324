// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight_state.c - follows tasks, objects, names, handles, mappings and stacks through the records that leave a flight recorder.
 *
 * A name never changes: it is a component in a directory. An object has a name, a size, a mode and owners now; a handle
 * has a position. A record may leave a little later than records after it that came from another CPU: so a handle may
 * be released before it is opened. That does no harm, because no record in a dump refers to it.
 */
#include "flight_state.h"

#include <errno.h>
#include <stdlib.h>

#include "flight_table.h"
#include "flight_write.h"

#define STAMP_RECORDS 4096 /* as often an entry is moved in the order of use at most */
#define STAMP_SHARE   16   /* of the entries come in this time at most: those in use are not forgotten */

/* Flags of an open that concern the open alone. */
#define ONCE_FLAGS (IOT_OPEN_create | IOT_OPEN_excl | IOT_OPEN_trunc | IOT_OPEN_created | IOT_OPEN_tmpfile)

/**
 * flight_state_open() - nothing is known yet
 * @bytes: of memory, approximately
 * @state: out: to be freed by flight_state_close()
 *
 * Return: 0 or -ENOMEM.
 */
int flight_state_open(u64 bytes, struct flight_state **state)
{
	struct flight_state *s = calloc(1, sizeof(*s));
	int err = s ? flight_table_open(&s->table, bytes) : -ENOMEM;

	if (err) {
		flight_state_close(s);
		return err;
	}
	s->stamp_records = s->table.entry_count / STAMP_SHARE < STAMP_RECORDS ? s->table.entry_count / STAMP_SHARE : STAMP_RECORDS;
	*state = s;
	return 0;
}

/**
 * flight_state_close() - free; NULL is allowed
 */
void flight_state_close(struct flight_state *state)
{
	if (!state)
		return;
	flight_table_close(&state->table);
	free(state);
}

/**
 * flight_state_forgotten() - ids and names that were forgotten because memory was full
 */
u64 flight_state_forgotten(const struct flight_state *state)
{
	return state->table.forgotten;
}

/**
 * flight_state_real_ns() - the wall clock at a moment
 * @state: that has had a record of the kind clock
 * @mono_ns: the moment on the monotonic clock
 *
 * Return: ns since 1970; 0 if there was none.
 */
u64 flight_state_real_ns(const struct flight_state *state, u64 mono_ns)
{
	return state->clock.real_ns ? state->clock.real_ns + mono_ns - state->clock.time_ns : 0;
}

/* -- use -------------------------------------------------------------------------------------- */

/**
 * flight_class_of() - which entry a field of a record refers to
 * @class: of the field
 *
 * Return: FLIGHT_PINNED for none.
 */
enum flight_class flight_class_of(enum iot_class class)
{
	switch (class) {
	case IOT_CLASS_task:
		return FLIGHT_TASK;
	case IOT_CLASS_object:
		return FLIGHT_OBJECT;
	case IOT_CLASS_name:
		return FLIGHT_NAME;
	case IOT_CLASS_handle:
		return FLIGHT_HANDLE;
	case IOT_CLASS_map:
		return FLIGHT_MAP;
	case IOT_CLASS_stack:
		return FLIGHT_STACK;
	default:
		return FLIGHT_PINNED;
	}
}

/**
 * flight_link_of() - the entry that an entry needs
 * @table: with both
 * @entry: in it
 *
 * Return: NULL if it needs none, or that was forgotten.
 */
struct flight_entry *flight_link_of(const struct flight_table *table, const struct flight_entry *entry)
{
	static const enum flight_class classes[] = {
		[FLIGHT_OBJECT] = FLIGHT_NAME,	  [FLIGHT_NAME] = FLIGHT_OBJECT,   [FLIGHT_HANDLE] = FLIGHT_OBJECT,
		[FLIGHT_MAP] = FLIGHT_OBJECT,	  [FLIGHT_STACK] = FLIGHT_PROCESS, [FLIGHT_PROCESS] = FLIGHT_CODE,
		[FLIGHT_CODE] = FLIGHT_CODE,
	};

	return entry->link ? flight_table_find(table, classes[entry->class], entry->link) : NULL;
}

/* The entry, its object, the name of the object, its directory, and so on: each stays as long as it is needed. */
static void use(struct flight_state *state, struct flight_entry *entry)
{
	while (entry && entry->stamp != state->stamp) {
		entry->stamp = state->stamp;
		flight_table_use(&state->table, entry);
		if (entry->class == FLIGHT_PROCESS)
			use(state, flight_table_find(&state->table, FLIGHT_TASK, entry->task));
		entry = flight_link_of(&state->table, entry);
	}
}

static void use_all(struct flight_state *state, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	enum flight_class class;
	u64 id;
	u32 i;

	for (i = 0; i < info->field_count; i++) {
		class = flight_class_of(info->fields[i].class);
		id = class == FLIGHT_PINNED ? 0 : iot_field_get(record, &info->fields[i]);
		if (id)
			use(state, flight_table_find(&state->table, class, id));
	}
}

/* -- announcements ------------------------------------------------------------------------------ */

static struct flight_entry *announce(struct flight_state *state, enum flight_class class, u64 id,
				     const struct iot_record *record)
{
	struct flight_entry *entry = id ? flight_table_find(&state->table, class, id) : NULL;

	if (!id || entry)
		return entry;
	entry = flight_table_put(&state->table, class, id, record);
	if (entry)
		entry->stamp = state->stamp - 1; /* so that those it needs are used with it */
	return entry;
}

static void take_object(struct flight_state *state, const struct iot_record *record)
{
	struct flight_entry *entry = announce(state, FLIGHT_OBJECT, record->object.object, record);

	if (!entry)
		return;
	entry->link = record->object.name;
	entry->bytes_now = record->object.size_bytes;
}

static void take_name(struct flight_state *state, const struct iot_record *record)
{
	struct flight_entry *entry = announce(state, FLIGHT_NAME, record->name.name, record);

	if (entry)
		entry->link = record->name.dir;
}

static void take_opened(struct flight_state *state, const struct iot_record *record)
{
	struct flight_entry *entry = announce(state, FLIGHT_HANDLE, record->opened.handle, record);

	if (!entry)
		return;
	entry->link = record->opened.object;
	entry->bytes_now = (u64)record->opened.offset_bytes;
	entry->task = record->opened.task;
}

static void take_mapped(struct flight_state *state, const struct iot_record *record)
{
	struct flight_entry *entry = announce(state, FLIGHT_MAP, record->mapped.map, record);

	if (!entry)
		return;
	entry->link = record->mapped.object;
	entry->task = record->mapped.task;
}

static void take_stack(struct flight_state *state, const struct iot_record *record)
{
	struct flight_entry *entry = announce(state, FLIGHT_STACK, record->stack.stack, record);

	if (!entry)
		return;
	entry->link = record->stack.process;
	entry->task = record->stack.process;
}

/* Ids of code: a process has one mapping at an address. */
static u64 code_id(const struct iot_rec_code *r)
{
	return (r->address ^ (u64)r->process << 32) * 0x9e3779b97f4a7c15ull ^ r->process;
}

static void code_put(struct flight_state *state, u64 id, u64 link, const struct iot_record *record)
{
	struct flight_entry *entry = flight_table_put(&state->table, FLIGHT_CODE, id, record);

	if (!entry)
		return;
	entry->link = link;
	entry->task = record->code.process;
	entry->stamp = state->stamp - 1;
}

/* Code that replaces other code at its address takes its place among the codes of the process. The task may be announced later. */
static void take_code(struct flight_state *state, const struct iot_record *record)
{
	const u64 id = code_id(&record->code);
	struct flight_entry *old = flight_table_find(&state->table, FLIGHT_CODE, id), *process;
	u64 link;

	if (old) {
		link = old->link;
		flight_table_remove(&state->table, old);
		code_put(state, id, link, record);
		return;
	}
	process = announce(state, FLIGHT_PROCESS, record->code.process, record);
	if (!process)
		return;
	link = process->link;
	process->task = record->code.process;
	process->link = id;
	code_put(state, id, link, record);
}

/* Keys of pinned records. Verbs are small numbers; the kind distinguishes objects from them and from each other. */
static u64 pinned_id(u16 kind, u64 object)
{
	return object ^ (u64)kind << 48;
}

static void drop_pinned(struct flight_state *state, u64 id)
{
	struct flight_entry *entry = flight_table_find(&state->table, FLIGHT_PINNED, id);

	if (entry)
		flight_table_remove(&state->table, entry);
}

/* Mounts, and the ends of their state dumps: of each the last one. */
static void take_pinned(struct flight_state *state, u64 id, const struct iot_record *record)
{
	drop_pinned(state, id);
	flight_table_put(&state->table, FLIGHT_PINNED, id, record);
}

/* A pause that has not ended, the granularity of mappings, and the filter hold for later records. */
static void take_control(struct flight_state *state, const struct iot_record *record)
{
	switch (record->control.verb) {
	case IOT_VERB_filter:
		if (!record->control.value)
			drop_pinned(state, pinned_id(IOT_KIND_fact, 0));
		take_pinned(state, IOT_VERB_filter, record);
		return;
	case IOT_VERB_pause:
	case IOT_VERB_mmap:
		take_pinned(state, (u64)record->control.verb, record);
		return;
	case IOT_VERB_resume:
	case IOT_VERB_stop:
		drop_pinned(state, IOT_VERB_pause);
	}
}

/* The expression of a changed filter. All other facts are of the collector, which states them at each beginning. */
static void take_fact(struct flight_state *state, const struct iot_record *record)
{
	const size_t key_bytes = strlen(IOT_FACT_FILTER "=");

	if (record->tail_bytes > key_bytes && !memcmp(record->tail, IOT_FACT_FILTER "=", key_bytes))
		take_pinned(state, pinned_id(record->kind, 0), record);
}

static u64 comm_id(const struct iot_record *record)
{
	const struct iot_rec_mpi_near *near = &record->mpi_near;
	bool is_near = record->kind == IOT_KIND_mpi_near;
	u32 rank = is_near ? near->rank : record->mpi_comm.rank;

	return record->mpi_known.comm ^ ((u64)rank + 1) * 0x9e3779b97f4a7c15ull ^
	       (is_near ? ((u64)near->source + 1) * 0xc2b2ae3d27d4eb4full : 0);
}

/* -- operations --------------------------------------------------------------------------------- */

static struct flight_entry *object_of(const struct flight_state *state, u64 id)
{
	return id ? flight_table_find(&state->table, FLIGHT_OBJECT, id) : NULL;
}

static void bind(struct flight_state *state, u64 object, u64 name)
{
	struct flight_entry *entry = name ? object_of(state, object) : NULL;
	struct flight_entry *named = name ? flight_table_find(&state->table, FLIGHT_NAME, name) : NULL;

	if (entry)
		entry->link = name;
	if (named)
		named->is_over = false;
}

static void set_size(struct flight_state *state, u64 object, u64 bytes)
{
	struct flight_entry *entry = object_of(state, object);

	if (entry)
		entry->bytes_now = bytes;
}

static void grow(struct flight_state *state, u64 object, u64 old_bytes, s64 offset_bytes, s64 moved_bytes)
{
	u64 end = offset_bytes < 0 || moved_bytes <= 0 ? 0 : (u64)offset_bytes + (u64)moved_bytes;

	set_size(state, object, end > old_bytes ? end : old_bytes);
}

static void move_to(struct flight_state *state, u64 handle, s64 offset_bytes)
{
	struct flight_entry *entry = handle ? flight_table_find(&state->table, FLIGHT_HANDLE, handle) : NULL;

	if (entry && offset_bytes >= 0)
		entry->bytes_now = (u64)offset_bytes;
}

/* A name that stands for nothing now. */
static void end_name(struct flight_state *state, u64 name)
{
	struct flight_entry *entry = name ? flight_table_find(&state->table, FLIGHT_NAME, name) : NULL;

	if (entry)
		entry->is_over = true;
}

static void lose(struct flight_state *state, u64 object, u64 name, bool is_last)
{
	struct flight_entry *entry = object_of(state, object);

	end_name(state, name);
	if (!entry)
		return;
	if (entry->link == name || is_last)
		entry->link = 0;
	entry->is_over = is_last; /* but for those that have it open */
}

static void take_open(struct flight_state *state, const struct iot_rec_open *r)
{
	bool is_nameless = r->flags & IOT_OPEN_tmpfile;
	const struct iot_record opened = {
		.kind = IOT_KIND_opened,
		.opened = { .task = r->task, .fd = -1, .name = is_nameless ? 0 : r->name, .object = r->object,
			    .handle = r->handle, .flags = r->flags & ~(u32)ONCE_FLAGS, .size_bytes = r->size_bytes,
			    .cached_pages = r->cached_pages },
	};

	if (!is_nameless)
		bind(state, r->object, r->name);
	set_size(state, r->object, r->size_bytes);
	take_opened(state, &opened);
}

static void take_map(struct flight_state *state, const struct iot_rec_map *r)
{
	const struct iot_record mapped = {
		.kind = IOT_KIND_mapped,
		.mapped = { .task = r->task, .object = r->object, .handle = r->handle, .map = r->map,
			    .offset_bytes = r->offset_bytes, .length_bytes = r->length_bytes, .prot = r->prot,
			    .flags = r->flags },
	};

	take_mapped(state, &mapped);
}

static void take_setattr(struct flight_state *state, const struct iot_rec_setattr *r)
{
	struct flight_entry *entry = object_of(state, r->object);
	u8 room[IOT_RECORD_MAX_BYTES];
	struct iot_record record;

	if (!entry)
		return;
	if (r->attrs & IOT_ATTR_size)
		entry->bytes_now = r->size_bytes;
	if (!(r->attrs & (IOT_ATTR_mode | IOT_ATTR_uid | IOT_ATTR_gid)))
		return;
	flight_table_get(&state->table, entry, room, &record);
	if (r->attrs & IOT_ATTR_mode)
		record.object.mode = (record.object.mode & ~07777u) | (r->mode & 07777u);
	if (r->attrs & IOT_ATTR_uid)
		record.object.uid = r->uid;
	if (r->attrs & IOT_ATTR_gid)
		record.object.gid = r->gid;
	flight_table_change(&state->table, entry, &record);
}

static void take_fallocate(struct flight_state *state, const struct iot_rec_fallocate *r)
{
	if (r->flags & IOT_FALLOC_collapse_range)
		set_size(state, r->object, r->old_size_bytes > r->length_bytes ? r->old_size_bytes - r->length_bytes : 0);
	else if (r->flags & IOT_FALLOC_insert_range)
		set_size(state, r->object, r->old_size_bytes + r->length_bytes);
	else if (!(r->flags & (IOT_FALLOC_keep_size | IOT_FALLOC_punch_hole)))
		grow(state, r->object, r->old_size_bytes, r->offset_bytes, (s64)r->length_bytes);
}

static void take_rename(struct flight_state *state, const struct iot_rec_rename *r)
{
	if (r->flags & IOT_RENAME_exchange)
		bind(state, r->replaced, r->name);
	else if (r->replaced && r->replaced != r->object)
		lose(state, r->replaced, r->new_name, false);
	if (!(r->flags & IOT_RENAME_exchange))
		end_name(state, r->name);
	bind(state, r->object, r->new_name);
}

static void take_link(struct flight_state *state, const struct iot_rec_link *r)
{
	const struct flight_entry *entry = object_of(state, r->object);

	if (entry && !entry->link)
		bind(state, r->object, r->name);
}

/* The last use of a file without a name, unless others have it open. */
static void take_release(struct flight_state *state, const struct iot_rec_release *r)
{
	struct flight_entry *handle = flight_table_find(&state->table, FLIGHT_HANDLE, r->handle);
	struct flight_entry *object = object_of(state, r->object);

	if (handle)
		flight_table_remove(&state->table, handle);
	if (object && !object->link)
		object->is_over = true;
}

/* An operation that succeeded. */
static void take_op(struct flight_state *state, const struct iot_record *record)
{
	const struct iot_rec_read *rw = &record->read; /* write begins with the same fields */

	switch (record->kind) {
	case IOT_KIND_open:
		take_open(state, &record->open);
		break;
	case IOT_KIND_lookup:
	case IOT_KIND_mkdir:
	case IOT_KIND_mknod:
	case IOT_KIND_symlink: /* all begin with name and object */
		bind(state, record->mkdir.object, record->mkdir.name);
		break;
	case IOT_KIND_setattr:
		take_setattr(state, &record->setattr);
		break;
	case IOT_KIND_rmdir:
		lose(state, record->rmdir.object, record->rmdir.name, true);
		break;
	case IOT_KIND_unlink:
		lose(state, record->unlink.object, record->unlink.name, !record->unlink.nlink);
		break;
	case IOT_KIND_rename:
		take_rename(state, &record->rename);
		break;
	case IOT_KIND_link:
		take_link(state, &record->link);
		break;
	case IOT_KIND_write:
		grow(state, rw->object, record->write.old_size_bytes, rw->offset_bytes, rw->result);
		move_to(state, rw->handle, rw->offset_bytes + rw->result);
		break;
	case IOT_KIND_read:
		move_to(state, rw->handle, rw->offset_bytes + rw->result);
		break;
	case IOT_KIND_seek:
		move_to(state, record->seek.handle, record->seek.result);
		break;
	case IOT_KIND_fallocate:
		take_fallocate(state, &record->fallocate);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range: /* its fields begin with those of copy_range */
		grow(state, record->copy_range.to_object, record->copy_range.old_size_bytes,
		     record->copy_range.to_offset_bytes, record->copy_range.result);
		break;
	case IOT_KIND_submit:
		if (record->submit.flags & IOT_RW_write)
			grow(state, record->submit.object, record->submit.old_size_bytes, record->submit.offset_bytes,
			     (s64)record->submit.length_bytes);
		break;
	case IOT_KIND_map:
		take_map(state, &record->map);
		break;
	case IOT_KIND_release:
		take_release(state, &record->release);
	}
}

/* It exits, or goes on as another task after an exec; it may still close files. */
static void take_end(struct flight_state *state, u32 task)
{
	struct flight_entry *entry = flight_table_find(&state->table, FLIGHT_TASK, task);

	if (entry)
		entry->is_over = true;
}

/**
 * flight_state_apply() - a record leaves
 * @state: of the records before it
 * @record: of a known kind
 */
void flight_state_apply(struct flight_state *state, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);

	if (++state->applied % state->stamp_records == 0)
		state->stamp++;
	switch (record->kind) {
	case IOT_KIND_clock:
		state->clock = record->clock;
		return;
	case IOT_KIND_mount:
		take_pinned(state, pinned_id(record->kind, record->mount.object), record);
		return;
	case IOT_KIND_state:
		take_pinned(state, pinned_id(record->kind, record->state.object), record);
		return;
	case IOT_KIND_control:
		take_control(state, record);
		return;
	case IOT_KIND_fact:
		take_fact(state, record);
		return;
	case IOT_KIND_task:
		announce(state, FLIGHT_TASK, record->task.task, record);
		break;
	case IOT_KIND_object:
		take_object(state, record);
		break;
	case IOT_KIND_name:
		take_name(state, record);
		break;
	case IOT_KIND_opened:
		take_opened(state, record);
		break;
	case IOT_KIND_mapped:
		take_mapped(state, record);
		break;
	case IOT_KIND_mpi_comm:
	case IOT_KIND_mpi_near:
		announce(state, FLIGHT_COMM, comm_id(record), record);
		break;
	case IOT_KIND_stack:
		take_stack(state, record);
		break;
	case IOT_KIND_code:
		take_code(state, record);
		break;
	}
	use_all(state, record);
	if (info->group == IOT_GROUP_op && record->kind != IOT_KIND_complete && record->op.result >= 0)
		take_op(state, record);
	if (record->kind == IOT_KIND_exec)
		take_end(state, record->exec.task);
	if (record->kind == IOT_KIND_exit)
		take_end(state, record->exit.task);
}
