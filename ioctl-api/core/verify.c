// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * verify.c - is a program safe to run? Every byte of it is looked at.
 *
 * What passes refers to nothing outside of itself, names no path that could lead out
 * of a directory by its text, and can run to its end: its operations do not wait for
 * each other in a circle. That it does what the trace did is not verified here; that
 * is what a replay finds out.
 */
#include "crc32c.h"
#include "order.h"
#include "program.h"
#include "record.h"

#define PAUSE_OPS	  4096
#define PAUSE_BYTES	  (1u << 20)
#define THINK_MAX_NS	  (1ull << 50) /* thirteen days; the product with a scale fits */
#define CREATE_MODE_MASK  0xf000u
#define MODE_REGULAR	  0x8000u

struct verifier {
	const struct iot_program *program;
	struct iot_reject *reject;
	iot_pause_fn pause;
	void *context;
};

/* After an error of the reader there are only zeros to be seen: no use to go on. */
static int read_error(const struct verifier *v)
{
	return v->program->reader ? v->program->reader->error : 0;
}

static int pause(const struct verifier *v)
{
	int err = read_error(v);

	return !err && v->pause ? v->pause(v->context) : err;
}

/* @index: of the element of the section that is wrong. */
static int refuse_at(const struct verifier *v, u32 reason, u32 section, u64 index)
{
	const struct iot_program_head *head = v->program->head;
	u64 count = le64_to_cpu(head->sections[section].count);
	u64 unit_bytes = count ? iot_section_bytes(head, section) / count : 0;

	return iot_refuse(v->reject, reason,
			  le64_to_cpu(head->sections[section].offset_bytes) + index * unit_bytes);
}

/* -- checksums ------------------------------------------------------------------ */

static const void *section_at(const struct iot_program *program, u32 section)
{
	const void *const sections[IOT_SECTION_COUNT] = {
		[IOT_SECTION_TASKS] = program->tasks,	  [IOT_SECTION_OPS] = program->ops,
		[IOT_SECTION_WAITS] = program->waits,	  [IOT_SECTION_HUBS] = program->hubs,
		[IOT_SECTION_OBJECTS] = program->objects, [IOT_SECTION_TREE] = program->tree,
		[IOT_SECTION_STRINGS] = program->strings, [IOT_SECTION_FACTS] = program->facts,
		[IOT_SECTION_EXTENTS] = program->extents, [IOT_SECTION_XATTRS] = program->xattrs,
	};

	return sections[section];
}

static int add_bytes(const struct verifier *v, const u8 *p, u64 left, u32 *crc)
{
	int err = 0;

	while (left && !err) {
		size_t bytes = left < PAUSE_BYTES ? (size_t)left : PAUSE_BYTES;

		*crc = iot_crc32c(*crc, p, bytes);
		p += bytes;
		left -= bytes;
		err = pause(v);
	}
	return err;
}

/* Of a section that is not in memory; its reader sees all of it for the first time. */
static int add_units(const struct verifier *v, u32 section, u32 *crc)
{
	struct iot_program_reader *reader = v->program->reader;
	u64 count = le64_to_cpu(v->program->head->sections[section].count), i;
	size_t bytes = section == IOT_SECTION_OPS ? sizeof(struct iot_program_op) :
						    sizeof(struct iot_program_wait);
	struct iot_program_op room;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		reader->read(reader, section, i, &room);
		*crc = iot_crc32c(*crc, &room, bytes);
		if (i % PAUSE_OPS == 0)
			err = pause(v);
	}
	return err ? err : reader->error;
}

static int check_section_crc(const struct verifier *v, u32 section)
{
	const void *bytes = section_at(v->program, section);
	u32 crc = 0;
	int err;

	if (bytes)
		err = add_bytes(v, bytes, iot_section_bytes(v->program->head, section), &crc);
	else
		err = add_units(v, section, &crc);
	if (!err && crc != le32_to_cpu(v->program->head->sections[section].crc))
		err = refuse_at(v, IOT_REJECT_section_crc, section, 0);
	return err;
}

/* -- strings and paths ------------------------------------------------------------ */

/* The table ends with a zero byte, so every text that begins in it ends in it. */
static int check_strings(const struct verifier *v)
{
	const struct iot_program *program = v->program;

	if (!program->string_bytes || program->strings[0] ||
	    program->strings[program->string_bytes - 1])
		return refuse_at(v, IOT_REJECT_string, IOT_SECTION_STRINGS, 0);
	return 0;
}

static bool is_string(const struct verifier *v, __le32 offset)
{
	return le32_to_cpu(offset) < v->program->string_bytes;
}

static bool is_component(const char *text, size_t bytes)
{
	if (!bytes)
		return false;
	return !(text[0] == '.' && (bytes == 1 || (bytes == 2 && text[1] == '.')));
}

/**
 * iot_path_is_valid() - may a program have this path?
 * @text: the path
 *
 * Return: true for "." which is the target itself, and for components that are names, with
 * single slashes between. A name may be too long for any file system: that, too, is tried.
 */
bool iot_path_is_valid(const char *text)
{
	const char *slash;
	size_t bytes;

	if (!strcmp(text, "."))
		return true;
	if (strlen(text) >= IOT_PROGRAM_PATH_MAX)
		return false;
	for (;;) {
		slash = strchr(text, '/');
		bytes = slash ? (size_t)(slash - text) : strlen(text);
		if (!is_component(text, bytes))
			return false;
		if (!slash)
			return true;
		text = slash + 1;
	}
}

static bool is_path(const struct verifier *v, __le32 offset)
{
	return is_string(v, offset) && iot_path_is_valid(iot_program_string(v->program, offset));
}

/* -- operations --------------------------------------------------------------------- */

/* What a kind of operation uses; what it does not use must be zero. */
enum use {
	USE_HANDLE = 1 << 0,
	USE_PATH = 1 << 1,
	USE_PATH_OR_HANDLE = 1 << 2,
	USE_OTHER_HANDLE = 1 << 3,
	USE_OTHER_MAP = 1 << 4,
	USE_PATH2 = 1 << 5,
	USE_TEXT2 = 1 << 6,
	USE_OFFSET = 1 << 7,  /* not negative */
	USE_LENGTH = 1 << 8,  /* of a read or write */
	USE_HUB = 1 << 9,     /* in `handle`, or 0 */
	USE_HANDLE_IF_ANY = 1 << 10,
	USE_NOTHING = 1 << 11,
	USE_OTHER_LANE = 1 << 12,
	USE_OWNER = 1 << 13,  /* in `mode`, or 0 */
	USE_RANGE = 1 << 14,  /* to `extra`, not before it begins */
};

#define ALL_BITS(bit, name, sentence) | 1u << bit

static const struct rule {
	u16 kind;
	u16 uses;
	u32 flags; /* that are known */
} rules[] = {
	{ IOT_KIND_lookup, USE_PATH, 0 IOT_INTENTS(ALL_BITS) },
	{ IOT_KIND_open, USE_PATH | USE_HANDLE_IF_ANY, 0 IOT_OPEN_FLAGS(ALL_BITS) },
	{ IOT_KIND_stat, USE_PATH_OR_HANDLE, 0 },
	{ IOT_KIND_setattr, USE_PATH_OR_HANDLE, 0 IOT_ATTRS(ALL_BITS) },
	{ IOT_KIND_mkdir, USE_PATH, 0 },
	{ IOT_KIND_mknod, USE_PATH, 0 },
	{ IOT_KIND_rmdir, USE_PATH, 0 },
	{ IOT_KIND_unlink, USE_PATH, 0 },
	{ IOT_KIND_rename, USE_PATH | USE_PATH2, 0 IOT_RENAME_FLAGS(ALL_BITS) },
	{ IOT_KIND_link, USE_PATH_OR_HANDLE | USE_PATH2, 0 },
	{ IOT_KIND_symlink, USE_PATH | USE_TEXT2, 0 },
	{ IOT_KIND_readlink, USE_PATH, 0 },
	{ IOT_KIND_follow, USE_PATH, 0 },
	{ IOT_KIND_denied, USE_PATH, 0 IOT_PROTS(ALL_BITS) },
	{ IOT_KIND_statfs, USE_PATH, 0 },
	{ IOT_KIND_getxattr, USE_PATH_OR_HANDLE | USE_TEXT2, 0 },
	{ IOT_KIND_setxattr, USE_PATH_OR_HANDLE | USE_TEXT2, 3 },
	{ IOT_KIND_removexattr, USE_PATH_OR_HANDLE | USE_TEXT2, 0 },
	{ IOT_KIND_listxattr, USE_PATH_OR_HANDLE, 0 },
	{ IOT_KIND_flush, USE_HANDLE | USE_OWNER, 0 },
	{ IOT_KIND_release, USE_HANDLE, 0 },
	{ IOT_KIND_read, USE_HANDLE | USE_OFFSET | USE_LENGTH, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_write, USE_HANDLE | USE_OFFSET | USE_LENGTH, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_seek, USE_HANDLE, 7 },
	{ IOT_KIND_fsync, USE_HANDLE, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_readdir, USE_HANDLE, 0xffffffff },
	{ IOT_KIND_fallocate, USE_HANDLE, 0 IOT_FALLOC_FLAGS(ALL_BITS) },
	{ IOT_KIND_fadvise, USE_HANDLE, 7 },
	{ IOT_KIND_ioctl, USE_HANDLE, 0xff },
	{ IOT_KIND_lock, USE_HANDLE | USE_OFFSET | USE_OWNER | USE_RANGE, 0 IOT_LOCK_FLAGS(ALL_BITS) },
	{ IOT_KIND_copy_range, USE_HANDLE | USE_OTHER_HANDLE | USE_OFFSET | USE_LENGTH, 0 },
	{ IOT_KIND_remap_range, USE_HANDLE | USE_OTHER_HANDLE | USE_OFFSET, 3 },
	{ IOT_KIND_map, USE_HANDLE | USE_OTHER_MAP | USE_OFFSET, 0 IOT_MAP_FLAGS(ALL_BITS) },
	{ IOT_KIND_unmap, USE_OTHER_MAP | USE_OFFSET, 0 },
	{ IOT_KIND_touch, USE_OTHER_MAP | USE_OFFSET, 0 IOT_TOUCH_FLAGS(ALL_BITS) },
	{ IOT_KIND_msync, USE_OTHER_MAP, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_madvise, USE_OTHER_MAP, 7 },
	{ IOT_KIND_submit, USE_HANDLE | USE_OTHER_LANE | USE_OFFSET | USE_LENGTH,
	  0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_complete, USE_HANDLE | USE_OFFSET | USE_LENGTH, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_PLAY_arrive, USE_HUB, 0 },
	{ IOT_PLAY_leave, USE_NOTHING, 0 },
	{ IOT_PLAY_pass, USE_NOTHING, 0 },
};

static const struct rule *rule_of(u16 kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].kind == kind)
			return &rules[i];
	return NULL;
}

static bool is_slot(__le32 slot, u32 count)
{
	return le32_to_cpu(slot) - 1 < count; /* 0 wraps around */
}

static bool are_slots_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	const struct iot_program *program = v->program;
	bool is_by_path = op->path != 0;

	if (op->object && !is_slot(op->object, program->object_count))
		return false;
	if (uses & USE_PATH_OR_HANDLE)
		uses |= is_by_path ? USE_PATH : USE_HANDLE;
	if ((uses & USE_HANDLE_IF_ANY) && op->handle)
		uses |= USE_HANDLE;
	if (uses & USE_HUB) {
		if (op->handle && !is_slot(op->handle, program->hub_count))
			return false;
	} else if (uses & USE_HANDLE ? !is_slot(op->handle, program->handle_count) : op->handle != 0) {
		return false;
	}
	if (uses & USE_OTHER_HANDLE)
		return is_slot(op->other, program->handle_count);
	if (uses & USE_OTHER_MAP)
		return is_slot(op->other, program->map_count);
	if (uses & USE_OTHER_LANE)
		return is_slot(op->other, program->task_count);
	return op->other == 0;
}

static bool are_paths_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	if ((uses & USE_PATH_OR_HANDLE) && op->path)
		uses |= USE_PATH;
	if (uses & USE_PATH ? !is_path(v, op->path) : op->path != 0)
		return false;
	if (uses & USE_PATH2)
		return is_path(v, op->path2);
	if (uses & USE_TEXT2)
		return op->path2 && is_string(v, op->path2);
	return op->path2 == 0;
}

static bool are_numbers_valid(const struct verifier *v, const struct iot_program_op *op,
			      const struct rule *rule)
{
	u64 length = le64_to_cpu(op->length_bytes), offset = le64_to_cpu(op->offset_bytes);

	if (le32_to_cpu(op->flags) & ~rule->flags)
		return false;
	if ((rule->uses & USE_OFFSET) && (s64)offset < 0)
		return false;
	if ((rule->uses & USE_LENGTH) && length > IOT_PROGRAM_LENGTH_MAX)
		return false;
	if ((rule->uses & USE_OWNER) && le32_to_cpu(op->mode) > v->program->task_count)
		return false;
	if ((rule->uses & USE_RANGE) && (s64)le64_to_cpu(op->extra) < (s64)offset)
		return false;
	return le64_to_cpu(op->compute_ns) <= THINK_MAX_NS && le64_to_cpu(op->pause_ns) <= THINK_MAX_NS;
}

/* @index: of the operation, in the section. */
static int check_op(const struct verifier *v, const struct iot_program_op *op, u64 index)
{
	const struct rule *rule = rule_of(le16_to_cpu(op->kind));

	if (!rule)
		return refuse_at(v, IOT_REJECT_op_kind, IOT_SECTION_OPS, index);
	if (!are_slots_valid(v, op, rule->uses))
		return refuse_at(v, IOT_REJECT_op_slot, IOT_SECTION_OPS, index);
	if (!are_paths_valid(v, op, rule->uses))
		return refuse_at(v, IOT_REJECT_path, IOT_SECTION_OPS, index);
	if (!are_numbers_valid(v, op, rule))
		return refuse_at(v, IOT_REJECT_op_field, IOT_SECTION_OPS, index);
	return 0;
}

/* -- tasks ---------------------------------------------------------------------------- */

/* @number: of the wait, in the section. */
static int check_wait(const struct verifier *v, u64 number)
{
	const struct iot_program *program = v->program;
	struct iot_program_wait room;
	const struct iot_program_wait *wait = iot_program_wait_at(program, number, &room);
	u32 task = le32_to_cpu(wait->task), index = le32_to_cpu(wait->index);

	if (task == IOT_WAIT_HUB ? index < program->hub_count :
				   task < program->task_count &&
					   index < le32_to_cpu(program->tasks[task].op_count))
		return 0;
	return refuse_at(v, IOT_REJECT_wait, IOT_SECTION_WAITS, number);
}

/* The waits of a task are those of its operations, one after the other. */
static int check_task_ops(const struct verifier *v, const struct iot_program_task *task)
{
	u64 first = le64_to_cpu(task->first_op);
	const struct iot_program_op *op;
	struct iot_program_op room;
	u32 waits = 0, i;
	int err;

	for (i = 0; i < le32_to_cpu(task->op_count); i++) {
		op = iot_program_op_at(v->program, first + i, &room);
		if (le32_to_cpu(op->first_wait) != waits)
			return refuse_at(v, IOT_REJECT_op_wait, IOT_SECTION_OPS, first + i);
		waits += le16_to_cpu(op->wait_count);
		if (waits > le32_to_cpu(task->wait_count))
			return refuse_at(v, IOT_REJECT_op_wait, IOT_SECTION_OPS, first + i);
		err = check_op(v, op, first + i);
		if (!err && i % PAUSE_OPS == 0)
			err = pause(v);
		if (err)
			return err;
	}
	if (waits != le32_to_cpu(task->wait_count))
		return refuse_at(v, IOT_REJECT_op_wait, IOT_SECTION_TASKS, (u64)(task - v->program->tasks));
	return 0;
}

static int check_task_fields(const struct verifier *v, const struct iot_program_task *task)
{
	const struct iot_program *program = v->program;
	u64 number = (u64)(task - program->tasks);

	if (le32_to_cpu(task->flags) & ~(IOT_TASK_LANE | IOT_TASK_MAPS) ||
	    le32_to_cpu(task->parent) >= program->task_count ||
	    le32_to_cpu(task->space) >= program->task_count || !is_string(v, task->command))
		return refuse_at(v, IOT_REJECT_task_field, IOT_SECTION_TASKS, number);
	return 0;
}

/* Tasks divide operations and waits between them without gaps. */
static int check_tasks(const struct verifier *v)
{
	const struct iot_program *program = v->program;
	u64 ops = 0, waits = 0;
	u32 i;
	int err = 0;

	for (i = 0; i < program->task_count && !err; i++) {
		const struct iot_program_task *task = &program->tasks[i];

		if (le64_to_cpu(task->first_op) != ops || le64_to_cpu(task->first_wait) != waits)
			return refuse_at(v, IOT_REJECT_task_range, IOT_SECTION_TASKS, i);
		ops += le32_to_cpu(task->op_count);
		waits += le32_to_cpu(task->wait_count);
		if (ops > program->op_count || waits > program->wait_count)
			return refuse_at(v, IOT_REJECT_task_range, IOT_SECTION_TASKS, i);
		err = check_task_fields(v, task);
		if (!err)
			err = check_task_ops(v, task);
	}
	if (!err && (ops != program->op_count || waits != program->wait_count))
		err = refuse_at(v, IOT_REJECT_task_range, IOT_SECTION_TASKS, 0);
	return err;
}

/* -- lanes ------------------------------------------------------------------------------ */

static bool is_lane(const struct iot_program_task *task)
{
	return le32_to_cpu(task->flags) & IOT_TASK_LANE;
}

static bool is_submit_of(const struct iot_program_op *submit, const struct iot_program_op *op,
			 u32 lane)
{
	return le16_to_cpu(submit->kind) == IOT_KIND_submit && le32_to_cpu(submit->other) - 1 == lane &&
	       submit->handle == op->handle && submit->flags == op->flags &&
	       submit->offset_bytes == op->offset_bytes && submit->length_bytes == op->length_bytes;
}

/* A complete stands for the submit that it waits for, which comes after that of the one before. */
static bool is_complete_of(const struct verifier *v, const struct iot_program_task *lane,
			   const struct iot_program_op *op, u32 least, u32 *index)
{
	const struct iot_program *program = v->program;
	const struct iot_program_task *parent = &program->tasks[le32_to_cpu(lane->parent)];
	const struct iot_program_wait *wait;
	struct iot_program_wait wait_room;
	struct iot_program_op room;

	if (le16_to_cpu(op->kind) != IOT_KIND_complete || le16_to_cpu(op->wait_count) != 1 ||
	    op->compute_ns || op->pause_ns)
		return false;
	wait = iot_program_wait_at(program,
				   le64_to_cpu(lane->first_wait) + le32_to_cpu(op->first_wait), &wait_room);
	*index = le32_to_cpu(wait->index);
	if (wait->task != lane->parent || *index < least)
		return false;
	return is_submit_of(iot_program_op_at(program, le64_to_cpu(parent->first_op) + *index, &room), op,
			    (u32)(lane - program->tasks));
}

static int check_lane(const struct verifier *v, const struct iot_program_task *lane, u32 parent)
{
	u64 first = le64_to_cpu(lane->first_op);
	u32 least = 0, index, i;
	struct iot_program_op room;
	int err = 0;

	if (le32_to_cpu(lane->parent) != parent || !lane->op_count)
		return refuse_at(v, IOT_REJECT_lane, IOT_SECTION_TASKS, (u64)(lane - v->program->tasks));
	for (i = 0; i < le32_to_cpu(lane->op_count) && !err; i++) {
		if (!is_complete_of(v, lane, iot_program_op_at(v->program, first + i, &room), least,
				    &index))
			return refuse_at(v, IOT_REJECT_lane, IOT_SECTION_OPS, first + i);
		least = index + 1;
		if (i % PAUSE_OPS == 0)
			err = pause(v);
	}
	return err;
}

/*
 * Each lane completes what its task submits to it: what it completes was submitted, and there
 * are as many submits as completions. Looked at when waits are known to be valid.
 */
static int check_lanes(const struct verifier *v)
{
	const struct iot_program *program = v->program;
	u64 requests = 0, submits = 0, completions = 0, n;
	const struct iot_program_op *op;
	struct iot_program_op room;
	u32 parent = 0, i;
	int err = 0;

	for (i = 0; i < program->task_count && !err; i++) {
		const struct iot_program_task *task = &program->tasks[i];

		if (!is_lane(task)) {
			parent = i;
			continue;
		}
		err = i ? check_lane(v, task, parent) : refuse_at(v, IOT_REJECT_lane, IOT_SECTION_TASKS, 0);
		requests += le32_to_cpu(task->op_count);
	}
	for (n = 0; n < program->op_count && !err; n++) {
		op = iot_program_op_at(program, n, &room);
		submits += le16_to_cpu(op->kind) == IOT_KIND_submit;
		completions += le16_to_cpu(op->kind) == IOT_KIND_complete;
		if (n % PAUSE_OPS == 0)
			err = pause(v);
	}
	if (!err && (submits != requests || completions != requests))
		err = refuse_at(v, IOT_REJECT_lane, IOT_SECTION_TASKS, 0);
	return err;
}

static int check_waits(const struct verifier *v)
{
	u64 i;
	int err = 0;

	for (i = 0; i < v->program->wait_count && !err; i++) {
		err = check_wait(v, i);
		if (!err && i % PAUSE_OPS == 0)
			err = pause(v);
	}
	return err;
}

/* -- what is only read by user space -------------------------------------------------- */

static int check_objects(const struct verifier *v)
{
	const struct iot_program_object *object = v->program->objects;
	u32 i;

	for (i = 0; i < v->program->object_count; i++, object++)
		if (!is_string(v, object->path) || le32_to_cpu(object->type) > 15)
			return refuse_at(v, IOT_REJECT_op_slot, IOT_SECTION_OBJECTS, i);
	return 0;
}

static bool are_entry_flags_valid(const struct iot_program_entry *entry)
{
	u32 type = le32_to_cpu(entry->mode) & CREATE_MODE_MASK, known = 0;

	if (type)
		known |= IOT_ENTRY_XATTRS;
	if (type == MODE_REGULAR)
		known |= IOT_ENTRY_EXTENTS;
	return !(le32_to_cpu(entry->flags) & ~known);
}

static int check_tree(const struct verifier *v)
{
	const struct iot_program_entry *entry = v->program->tree;
	u32 i;

	for (i = 0; i < v->program->entry_count; i++, entry++) {
		if (!is_path(v, entry->path))
			return refuse_at(v, IOT_REJECT_path, IOT_SECTION_TREE, i);
		if (!is_string(v, entry->target) || (s64)le64_to_cpu(entry->size_bytes) < 0 ||
		    le32_to_cpu(entry->mode) >> 16 || !are_entry_flags_valid(entry))
			return refuse_at(v, IOT_REJECT_tree, IOT_SECTION_TREE, i);
		if (!(le32_to_cpu(entry->mode) & CREATE_MODE_MASK) && !is_path(v, entry->target))
			return refuse_at(v, IOT_REJECT_tree, IOT_SECTION_TREE, i);
	}
	return 0;
}

/* Is it about an entry that says it has such, and not about one before that of its predecessor? */
static bool is_of_entry(const struct verifier *v, __le32 entry, u32 least, u32 flag)
{
	u32 index = le32_to_cpu(entry);

	return index < v->program->entry_count && index >= least &&
	       le32_to_cpu(v->program->tree[index].flags) & flag;
}

static int check_extents(const struct verifier *v)
{
	const struct iot_program_extent *extent = v->program->extents;
	u64 end_bytes = 0, size_bytes, offset, length;
	u32 last = 0, i;

	for (i = 0; i < v->program->extent_count; i++, extent++) {
		if (extent->reserved)
			return refuse_at(v, IOT_REJECT_reserved, IOT_SECTION_EXTENTS, i);
		if (!is_of_entry(v, extent->entry, last, IOT_ENTRY_EXTENTS))
			return refuse_at(v, IOT_REJECT_extent, IOT_SECTION_EXTENTS, i);
		if (le32_to_cpu(extent->entry) != last || !i)
			end_bytes = 0;
		else
			end_bytes++; /* what has no room between is one extent */
		last = le32_to_cpu(extent->entry);
		size_bytes = le64_to_cpu(v->program->tree[last].size_bytes);
		offset = le64_to_cpu(extent->offset_bytes);
		length = le64_to_cpu(extent->length_bytes);
		if (!length || offset < end_bytes || offset > size_bytes || length > size_bytes - offset)
			return refuse_at(v, IOT_REJECT_extent, IOT_SECTION_EXTENTS, i);
		end_bytes = offset + length;
	}
	return 0;
}

static int check_xattrs(const struct verifier *v)
{
	const struct iot_program_xattr *xattr = v->program->xattrs;
	u32 last = 0, i;

	for (i = 0; i < v->program->xattr_count; i++, xattr++) {
		u64 value = le32_to_cpu(xattr->value), bytes = le32_to_cpu(xattr->value_bytes);

		if (!is_of_entry(v, xattr->entry, last, IOT_ENTRY_XATTRS) || !xattr->name ||
		    !is_string(v, xattr->name) || bytes > IOT_XATTR_VALUE_MAX ||
		    value + bytes >= v->program->string_bytes)
			return refuse_at(v, IOT_REJECT_xattr, IOT_SECTION_XATTRS, i);
		last = le32_to_cpu(xattr->entry);
	}
	return 0;
}

static int check_facts(const struct verifier *v)
{
	const struct iot_program_fact *fact = v->program->facts;
	u32 i;

	for (i = 0; i < v->program->fact_count; i++, fact++)
		if (!is_string(v, fact->key) || !is_string(v, fact->value))
			return refuse_at(v, IOT_REJECT_string, IOT_SECTION_FACTS, i);
	return 0;
}

/* -- order ------------------------------------------------------------------------------ */

/*
 * A dry run: tasks perform their operations as far as they can; who must wait is looked
 * at again when what it waits for has happened, and then goes on with its next wait. Who
 * still waits when nothing moves any more waits in a circle, perhaps for itself.
 *
 * Each wait is slept on at most once, whatever the program: those who wait for a task are
 * in a heap by the operation they wait for. It is a pairing heap: a tree in which nobody
 * waits for more than its children do, a node's children being a list.
 *
 * Links between tasks are their indices + 1, and 0 at the end.
 */
struct dry_run {
	const struct verifier *v;
	struct iot_order order;
	u32 *holding;	   /* of each task, waits of its next operation that are known to hold */
	u32 *awaited;	   /* of a task that waits for a task, the operation it waits for */
	u32 *task_waiters; /* of each task, top of the heap of those who wait for it */
	u32 *hub_waiters;  /* of each hub, first on the list of those who wait for it */
	u32 *child;	   /* of a task in a heap, its first child */
	u32 *sibling;	   /* the next child of the same parent, or the next on the list */
	u32 *ready;	   /* stack */
	u32 ready_count;
	u32 ended;
};

#define DRY_RUN_TASK_ARRAYS 7 /* progress is one of them */
#define DRY_RUN_HUB_ARRAYS  2

static u32 heap_merge(struct dry_run *run, u32 a, u32 b)
{
	u32 top = run->awaited[a - 1] <= run->awaited[b - 1] ? a : b, below = top == a ? b : a;

	run->sibling[below - 1] = run->child[top - 1];
	run->child[top - 1] = below;
	return top;
}

/* Return: the heap without its top: its children, merged in pairs, and the pairs into one. */
static u32 heap_rest(struct dry_run *run, u32 top)
{
	u32 left = run->child[top - 1], pairs = 0, rest = 0;

	while (left) {
		u32 first = left, second = run->sibling[first - 1];

		left = second ? run->sibling[second - 1] : 0;
		if (second)
			first = heap_merge(run, first, second);
		run->sibling[first - 1] = pairs;
		pairs = first;
	}
	while (pairs) {
		u32 next = run->sibling[pairs - 1];

		rest = rest ? heap_merge(run, rest, pairs) : pairs;
		pairs = next;
	}
	return rest;
}

/* A task has got on: who waited for no more than that is ready. */
static void wake_task_waiters(struct dry_run *run, u32 task)
{
	u32 *top = &run->task_waiters[task];

	while (*top && run->awaited[*top - 1] < run->order.progress[task]) {
		run->ready[run->ready_count++] = *top - 1;
		*top = heap_rest(run, *top);
	}
}

static void wake_hub_waiters(struct dry_run *run, u32 hub)
{
	u32 waiter;

	for (waiter = run->hub_waiters[hub]; waiter; waiter = run->sibling[waiter - 1])
		run->ready[run->ready_count++] = waiter - 1;
}

static void sleep_on(struct dry_run *run, u32 task, const struct iot_program_wait *wait)
{
	u32 on = le32_to_cpu(wait->task), index = le32_to_cpu(wait->index);

	if (on == IOT_WAIT_HUB) {
		run->sibling[task] = run->hub_waiters[index];
		run->hub_waiters[index] = task + 1;
		return;
	}
	run->awaited[task] = index;
	run->child[task] = 0;
	run->task_waiters[on] = run->task_waiters[on] ?
					heap_merge(run, run->task_waiters[on], task + 1) : task + 1;
}

static void dry_arrive(struct dry_run *run, const struct iot_program_op *op)
{
	u32 hub = le32_to_cpu(op->handle);

	if (le16_to_cpu(op->kind) == IOT_PLAY_arrive && hub && --run->order.pending[hub - 1] == 0)
		wake_hub_waiters(run, hub - 1);
}

/* The first wait of an operation that is not known to hold and does not: its number, from 1. */
static u32 dry_blocker(struct dry_run *run, u32 index, const struct iot_program_op *op,
		       struct iot_program_wait *wait)
{
	const struct iot_program *program = run->v->program;
	u64 first = le64_to_cpu(program->tasks[index].first_wait) + le32_to_cpu(op->first_wait);
	u32 *holding = &run->holding[index];

	for (; *holding < le16_to_cpu(op->wait_count); ++*holding) {
		*wait = *iot_program_wait_at(program, first + *holding, wait);
		if (!iot_order_holds(&run->order, wait))
			return *holding + 1;
	}
	*holding = 0;
	return 0;
}

static int dry_task(struct dry_run *run, u32 index)
{
	const struct iot_program *program = run->v->program;
	const struct iot_program_task *task = &program->tasks[index];
	u32 *progress = &run->order.progress[index], blocker = 0;
	const struct iot_program_op *op;
	struct iot_program_wait wait;
	struct iot_program_op room;
	int err = pause(run->v);

	for (; *progress < le32_to_cpu(task->op_count) && !err; ++*progress) {
		op = iot_program_op_at(program, le64_to_cpu(task->first_op) + *progress, &room);
		blocker = dry_blocker(run, index, op, &wait);
		if (blocker)
			break;
		dry_arrive(run, op);
		if (*progress % PAUSE_OPS == 0)
			err = pause(run->v);
	}
	wake_task_waiters(run, index);
	if (blocker)
		sleep_on(run, index, &wait);
	else if (!err)
		run->ended++;
	return err;
}

static u32 *take(u32 **scratch, u32 count)
{
	u32 *numbers = *scratch;

	*scratch += count;
	return numbers;
}

static int check_order(const struct verifier *v, u32 *scratch)
{
	const struct iot_program *program = v->program;
	u32 tasks = program->task_count, hubs = program->hub_count, i;
	u32 *progress = scratch, *pending = scratch + tasks;
	struct dry_run run = { .v = v };
	int err = 0;

	memset(scratch, 0, iot_program_scratch_count(program) * sizeof(*scratch));
	iot_order_init(&run.order, program, progress, 1, pending);
	scratch += tasks + hubs;
	run.hub_waiters = take(&scratch, hubs);
	run.task_waiters = take(&scratch, tasks);
	run.holding = take(&scratch, tasks);
	run.awaited = take(&scratch, tasks);
	run.child = take(&scratch, tasks);
	run.sibling = take(&scratch, tasks);
	run.ready = take(&scratch, tasks);
	for (i = 0; i < tasks; i++)
		run.ready[run.ready_count++] = tasks - 1 - i;
	while (run.ready_count && !err)
		err = dry_task(&run, run.ready[--run.ready_count]);
	if (err || run.ended == tasks)
		return err;
	for (i = 0; progress[i] == le32_to_cpu(program->tasks[i].op_count); i++)
		;
	return refuse_at(v, IOT_REJECT_cycle, IOT_SECTION_OPS,
			 le64_to_cpu(program->tasks[i].first_op) + progress[i]);
}

/* Each hub is counted down exactly as often as it says. */
static int check_hubs(const struct verifier *v, u32 *arrivals)
{
	const struct iot_program *program = v->program;
	const struct iot_program_op *op;
	struct iot_program_op room;
	int err = 0;
	u64 i;

	memset(arrivals, 0, program->hub_count * sizeof(*arrivals));
	for (i = 0; i < program->op_count && !err; i++) {
		op = iot_program_op_at(program, i, &room);
		if (le16_to_cpu(op->kind) == IOT_PLAY_arrive && op->handle)
			arrivals[le32_to_cpu(op->handle) - 1]++;
		if (i % PAUSE_OPS == 0)
			err = pause(v);
	}
	for (i = 0; i < program->hub_count && !err; i++)
		if (program->hubs[i].reserved || !arrivals[i] ||
		    arrivals[i] != le32_to_cpu(program->hubs[i].arrivals))
			err = refuse_at(v, IOT_REJECT_hub, IOT_SECTION_HUBS, i);
	return err;
}

/**
 * iot_program_scratch_count() - numbers that iot_program_verify() needs to think
 * @program: open
 */
u64 iot_program_scratch_count(const struct iot_program *program)
{
	return DRY_RUN_TASK_ARRAYS * (u64)program->task_count +
	       DRY_RUN_HUB_ARRAYS * (u64)program->hub_count;
}

/**
 * iot_program_verify() - is it safe to run?
 * @program: open
 * @scratch: room for iot_program_scratch_count() numbers
 * @pause_fn: called now and then, may be NULL
 * @context: for @pause_fn
 * @reject: filled in if the program is refused
 *
 * Return: 0; a negative errno; what @pause_fn returned if that was not 0; or the error of the
 * program's reader.
 */
int iot_program_verify(const struct iot_program *program, u32 *scratch, iot_pause_fn pause_fn,
		       void *context, struct iot_reject *reject)
{
	const struct verifier v = { program, reject, pause_fn, context };
	u32 i;
	int err = 0;

	for (i = 0; i < IOT_SECTION_COUNT && !err; i++)
		err = check_section_crc(&v, i);
	if (!err)
		err = check_strings(&v);
	if (!err)
		err = check_tasks(&v);
	if (!err)
		err = check_waits(&v);
	if (!err)
		err = check_lanes(&v);
	if (!err)
		err = check_objects(&v);
	if (!err)
		err = check_tree(&v);
	if (!err)
		err = check_facts(&v);
	if (!err)
		err = check_extents(&v);
	if (!err)
		err = check_xattrs(&v);
	if (!err)
		err = check_hubs(&v, scratch);
	if (!err)
		err = check_order(&v, scratch);
	return read_error(&v) ? read_error(&v) : err; /* which came first, and the rest of it */
}
