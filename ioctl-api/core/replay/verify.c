// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * verify.c - is a program safe to run? Every byte of it is checked.
 *
 * A verified program refers to nothing outside of itself, contains no path whose text
 * could lead out of a directory, and can run to its end: its operations do not wait for
 * each other in a circle. Whether it does the same as the trace is not verified here;
 * a replay shows that.
 */
#include "core/crc32c.h"
#include "order.h"
#include "verify.h"

#define PAUSE_BYTES (1u << 20)

/* After an error of the reader all data is zero, so the verification ends. */
static int read_error(const struct verifier *v)
{
	return v->program->reader ? v->program->reader->error : 0;
}

/**
 * iot_verify_pause() - call the function of the caller that lets other tasks run
 * @v: the work
 *
 * Return: 0; otherwise the verification ends with that error.
 */
int iot_verify_pause(const struct verifier *v)
{
	int err = read_error(v);

	return !err && v->pause ? v->pause(v->context) : err;
}

/**
 * iot_verify_refuse() - note the reason and the place of a refusal
 * @v: the work
 * @reason: an enum iot_reject
 * @section: in which it is
 * @index: of the element that is wrong
 *
 * Return: the errno of the reason.
 */
int iot_verify_refuse(const struct verifier *v, u32 reason, u32 section, u64 index)
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
		[IOT_SECTION_WAITS] = program->waits,	  [IOT_SECTION_LATCHES] = program->latches,
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
		err = iot_verify_pause(v);
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
		if (i % IOT_VERIFY_PAUSE_OPS == 0)
			err = iot_verify_pause(v);
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
		err = iot_verify_refuse(v, IOT_REJECT_section_crc, section, 0);
	return err;
}

/* -- strings and paths ------------------------------------------------------------ */

/* The table ends with a zero byte, so every text that begins in it ends in it. */
static int check_strings(const struct verifier *v)
{
	const struct iot_program *program = v->program;

	if (!program->string_bytes || program->strings[0] ||
	    program->strings[program->string_bytes - 1])
		return iot_verify_refuse(v, IOT_REJECT_string, IOT_SECTION_STRINGS, 0);
	return 0;
}

/**
 * iot_verify_is_string() - is this a place in the table of strings?
 * @v: the work; the table of strings ends with a zero byte
 * @at_bytes: in it
 */
bool iot_verify_is_string(const struct verifier *v, __le32 at_bytes)
{
	return le32_to_cpu(at_bytes) < v->program->string_bytes;
}

/* A trace has no name that system calls refuse. */
static bool is_component(const char *text, size_t bytes)
{
	if (!bytes || bytes >= IOT_LOOKUP_MAX)
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
	if (strnlen(text, IOT_PROGRAM_PATH_MAX) == IOT_PROGRAM_PATH_MAX)
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

/**
 * iot_path_piece() - the part of a path that one lookup can take
 * @path: valid, or the rest of such a path
 * @bytes: of it
 *
 * Lookups take a path of 4095 bytes. A longer one, which a program can reach step by step, is
 * walked in pieces: the next one begins after the slash that follows this one.
 *
 * Return: bytes of the piece, which are whole components; @bytes if that is all of it.
 */
size_t iot_path_piece(const char *path, size_t bytes)
{
	size_t piece = IOT_LOOKUP_MAX - 1;

	if (bytes <= piece)
		return bytes;
	while (path[piece] != '/') /* no component is as long */
		piece--;
	return piece;
}

/**
 * iot_verify_is_path() - is there a path at this place that stays in the target?
 * @v: the work
 * @at_bytes: in the table of strings
 */
bool iot_verify_is_path(const struct verifier *v, __le32 at_bytes)
{
	return iot_verify_is_string(v, at_bytes) &&
	       iot_path_is_valid(iot_program_string(v->program, at_bytes));
}

/* -- tasks ---------------------------------------------------------------------------- */

/* @number: of the wait, in the section. */
static int check_wait(const struct verifier *v, u64 number)
{
	const struct iot_program *program = v->program;
	struct iot_program_wait room;
	const struct iot_program_wait *wait = iot_program_wait_at(program, number, &room);
	u32 task = le32_to_cpu(wait->task), index = le32_to_cpu(wait->index);

	if (task == IOT_WAIT_LATCH ? index < program->latch_count :
				   task < program->task_count &&
					   index < le32_to_cpu(program->tasks[task].op_count))
		return 0;
	return iot_verify_refuse(v, IOT_REJECT_wait, IOT_SECTION_WAITS, number);
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
			return iot_verify_refuse(v, IOT_REJECT_op_wait, IOT_SECTION_OPS, first + i);
		if (le16_to_cpu(op->wait_count) > le32_to_cpu(task->wait_count) - waits)
			return iot_verify_refuse(v, IOT_REJECT_op_wait, IOT_SECTION_OPS, first + i);
		if (!iot_order_is_strict(op) && !op->wait_count) /* it could be a nop */
			return iot_verify_refuse(v, IOT_REJECT_op_wait, IOT_SECTION_OPS, first + i);
		waits += le16_to_cpu(op->wait_count);
		err = iot_verify_op(v, op, first + i);
		if (!err && i % IOT_VERIFY_PAUSE_OPS == 0)
			err = iot_verify_pause(v);
		if (err)
			return err;
	}
	if (waits != le32_to_cpu(task->wait_count))
		return iot_verify_refuse(v, IOT_REJECT_op_wait, IOT_SECTION_TASKS,
					 (u64)(task - v->program->tasks));
	return 0;
}

static int check_task_fields(const struct verifier *v, const struct iot_program_task *task)
{
	const struct iot_program *program = v->program;
	u64 number = (u64)(task - program->tasks);

	if (le32_to_cpu(task->flags) & ~(IOT_TASK_QUEUE | IOT_TASK_MAPS) ||
	    le32_to_cpu(task->parent) >= program->task_count ||
	    le32_to_cpu(task->space) >= program->task_count || !iot_verify_is_string(v, task->command))
		return iot_verify_refuse(v, IOT_REJECT_task_field, IOT_SECTION_TASKS, number);
	return 0;
}

/**
 * iot_verify_tasks() - do operations and waits belong to tasks, without gaps or overlaps?
 * @v: the work; strings have been verified
 *
 * Verifies each operation, too.
 *
 * Return: 0 or a refusal.
 */
int iot_verify_tasks(const struct verifier *v)
{
	const struct iot_program *program = v->program;
	u64 ops = 0, waits = 0;
	u32 i;
	int err = 0;

	for (i = 0; i < program->task_count && !err; i++) {
		const struct iot_program_task *task = &program->tasks[i];

		if (le64_to_cpu(task->first_op) != ops || le64_to_cpu(task->first_wait) != waits)
			return iot_verify_refuse(v, IOT_REJECT_task_range, IOT_SECTION_TASKS, i);
		ops += le32_to_cpu(task->op_count);
		waits += le32_to_cpu(task->wait_count);
		if (ops > program->op_count || waits > program->wait_count)
			return iot_verify_refuse(v, IOT_REJECT_task_range, IOT_SECTION_TASKS, i);
		err = check_task_fields(v, task);
		if (!err)
			err = check_task_ops(v, task);
	}
	if (!err && (ops != program->op_count || waits != program->wait_count))
		err = iot_verify_refuse(v, IOT_REJECT_task_range, IOT_SECTION_TASKS, 0);
	return err;
}

static int check_waits(const struct verifier *v)
{
	u64 i;
	int err = 0;

	for (i = 0; i < v->program->wait_count && !err; i++) {
		err = check_wait(v, i);
		if (!err && i % IOT_VERIFY_PAUSE_OPS == 0)
			err = iot_verify_pause(v);
	}
	return err;
}

/**
 * iot_program_verify() - check that a program is safe to run
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
		err = iot_verify_tasks(&v);
	if (!err)
		err = check_waits(&v);
	if (!err)
		err = iot_verify_queues(&v);
	if (!err)
		err = iot_verify_tree(&v);
	if (!err)
		err = iot_verify_order(&v, scratch);
	return read_error(&v) ? read_error(&v) : err; /* the error of the reader came first */
}
