// SPDX-License-Identifier: GPL-2.0-only
/*
 * emit.c - turns the operations of the model into records, in the order of their ends.
 *
 * The first operation of a system call gets all of its time; operations before it, such as look-ups
 * on the way, and after it take no time.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "model.h"

static void put(struct import *im, const struct iot_record *record)
{
	int err;

	if (!im->writer || im->err)
		return;
	iot_omissions_take(&im->summary->omissions, record);
	err = iot_writer_record(im->writer, record);
	if (err)
		im->err = err;
}

/* -- announcements ----------------------------------------------------------------------- */

static u64 put_name(struct import *im, u64 dir, const u8 *component, size_t bytes)
{
	struct iot_record record = {
		.kind = IOT_KIND_name,
		.tail = component,
		.tail_bytes = (u16)bytes,
		.name = { .time_ns = im->last_ns, .name = ++im->last_name, .dir = dir },
	};

	put(im, &record);
	return im->last_name;
}

static u32 default_mode(u32 type)
{
	switch (type) {
	case IOT_TYPE_dir:
		return S_IFDIR | 0755;
	case IOT_TYPE_symlink:
		return S_IFLNK | 0777;
	case IOT_TYPE_unknown:
		return S_IFREG | 0644;
	default:
		return type << 12 | 0644;
	}
}

/* An object with a name inside the root is announced after the directory that holds the name. */
static void put_object(struct import *im, struct inode *inode, struct entry *entry)
{
	struct iot_record record = { .kind = IOT_KIND_object };
	struct root *root = inode_root(im, inode);
	u32 mode = inode->mode;
	u64 name = 0;

	if (root)
		name = root->name = put_name(im, 0, NULL, 0);
	else if (entry && !entry->name)
		name = entry->name = put_name(im, entry->dir->id, entry->component, entry->bytes);
	else if (entry)
		name = entry->name;
	inode->id = ++im->last_object;
	if (inode->known && inode->known->has_mode)
		mode = inode->known->mode;
	if (!(mode & S_IFMT))
		mode = default_mode(inode->type) | (mode & MODE_BITS);
	record.object.time_ns = im->last_ns;
	record.object.object = inode->id;
	record.object.name = name;
	record.object.type = inode->type ? inode->type : (mode & S_IFMT) >> 12;
	record.object.mode = mode;
	record.object.nlink = inode->links;
	record.object.rdev = inode->rdev;
	record.object.uid = inode->known ? inode->known->uid : 0;
	record.object.gid = inode->known ? inode->known->gid : 0;
	record.object.size_bytes = inode->known ? inode->known->size_bytes : inode->size_bytes;
	record.tail = inode->target;
	record.tail_bytes = inode->type == IOT_TYPE_symlink ? (u16)inode->target_bytes : 0;
	put(im, &record);
}

/**
 * emit_object() - id of a file, which is announced if it was not
 *
 * The directories above come first: up to one that was announced, and down again, because there
 * may be more of them than calls that the stack has room for.
 */
u64 emit_object(struct import *im, struct inode *inode)
{
	struct entry *entry = inode_name(inode, NULL);
	struct inode *top = inode;
	bool is_inside;

	if (inode->id)
		return inode->id;
	is_inside = !inode_root(im, inode) && entry && entry_is_inside(im, entry);
	inode->below = NULL;
	while (is_inside && !inode_root(im, top) && (entry = inode_name(top, NULL)) && !entry->name &&
	       !entry->dir->id) {
		entry->dir->below = top;
		top = entry->dir;
	}
	for (; top; top = top->below)
		put_object(im, top, is_inside ? inode_name(top, NULL) : NULL);
	return inode->id;
}

/**
 * emit_name() - id of a name, which is announced if it was not
 *
 * The directories above come first.
 */
u64 emit_name(struct import *im, struct entry *entry)
{
	if (!entry->name) {
		u64 dir = emit_object(im, entry->dir);

		entry->name = put_name(im, dir, entry->component, entry->bytes);
	}
	return entry->name;
}

/**
 * emit_name_of() - id of a name that a file has at the moment
 * @preferred: the one to be taken if it still is
 *
 * Return: 0 if it has none inside.
 */
u64 emit_name_of(struct import *im, struct inode *inode, struct entry *preferred)
{
	struct entry *entry = inode_name(inode, preferred);
	const struct root *root = inode_root(im, inode);

	if (root) {
		emit_object(im, inode);
		return root->name;
	}
	return entry && entry_is_inside(im, entry) ? emit_name(im, entry) : 0;
}

/* -- operations ------------------------------------------------------------------------------ */

static void put_op(struct import *im, struct iot_record *record, u64 end_ns)
{
	struct task *task = im->task;

	if (end_ns < im->last_ns)
		end_ns = im->last_ns;
	record->op.enter_ns = im->begin_ns < end_ns ? im->begin_ns : end_ns;
	record->op.duration_ns = end_ns - record->op.enter_ns;
	record->op.runtime_ns = task->runtime_ns;
	record->op.task = task->id;
	record->op.op = ++task->ops;
	im->last_ns = end_ns;
	im->begin_ns = end_ns;
	im->operations++;
	put(im, record);
}

/**
 * emit_before() - emit an operation that precedes the main operation of a call
 * @record: with the result set, but none of the other members that all operations share
 */
void emit_before(struct import *im, struct iot_record *record)
{
	put_op(im, record, im->begin_ns);
}

/**
 * emit_op() - an operation that takes the time of the call, if none did before
 */
void emit_op(struct import *im, struct iot_record *record)
{
	put_op(im, record, im->end_ns);
}

/**
 * emit_event() - a record that is not an operation, and begins with its time
 */
void emit_event(struct import *im, struct iot_record *record)
{
	record->fact.time_ns = im->last_ns;
	put(im, record);
}

/**
 * emit_held() - before the records of a call: for how long strace has delayed the task since the last record that states it
 */
void emit_held(struct import *im)
{
	struct task *task = im->task;
	struct iot_record record = { .kind = IOT_KIND_backpressure };

	if (!task->held_ns)
		return;
	if (im->begin_ns > im->last_ns)
		im->last_ns = im->begin_ns;
	record.backpressure.time_ns = im->last_ns - task->held_ns;
	record.backpressure.duration_ns = task->held_ns;
	record.backpressure.task = task->id;
	record.backpressure.op = task->ops;
	im->waits++;
	im->held_ns += task->held_ns;
	task->held_ns = 0;
	put(im, &record);
}

/**
 * emit_lookup() - a name is looked up, if it is inside
 * @result: 0, or the error
 */
void emit_lookup(struct import *im, struct entry *entry, u32 intents, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_lookup };

	if (!entry_is_inside(im, entry) || inode_root(im, entry->inode))
		return; /* one root inside another one is a mount point */
	if (!result && entry->is_looked_up)
		return;
	if (entry->inode)
		record.lookup.object = emit_object(im, entry->inode);
	record.lookup.name = emit_name(im, entry);
	record.lookup.intents = intents;
	record.lookup.result = result;
	entry->is_looked_up = entry->state == ENTRY_PRESENT;
	if (result)
		emit_op(im, &record);
	else
		emit_before(im, &record);
}

/**
 * emit_follow() - a symbolic link is on the way
 */
void emit_follow(struct import *im, struct entry *entry)
{
	struct iot_record record = { .kind = IOT_KIND_follow };

	if (!entry_is_inside(im, entry))
		return;
	record.follow.object = emit_object(im, entry->inode);
	record.follow.name = emit_name(im, entry);
	record.tail = entry->inode->target;
	record.tail_bytes = (u16)entry->inode->target_bytes;
	emit_before(im, &record);
}

/**
 * emit_size() - a size is set: O_TRUNC, truncate, ftruncate
 * @handle: through which it is, 0 if by name
 * @attrs: IOT_ATTR_*
 */
void emit_size(struct import *im, struct inode *inode, struct entry *entry, u64 handle, u32 attrs,
	       u64 size_bytes, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_setattr };

	record.setattr.object = emit_object(im, inode);
	record.setattr.name = emit_name_of(im, inode, entry);
	record.setattr.handle = handle;
	record.setattr.attrs = attrs;
	record.setattr.size_bytes = size_bytes;
	record.setattr.old_size_bytes = inode->size_bytes;
	record.setattr.result = result;
	emit_op(im, &record);
}

/* -- the trace --------------------------------------------------------------------------------- */

/**
 * emit_fact() - say something about the run, as key=value
 */
void emit_fact(struct import *im, const char *format, ...)
{
	char text[IOT_TAIL_MAX_BYTES];
	struct iot_record record = { .kind = IOT_KIND_fact, .tail = (const u8 *)text };
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	record.tail_bytes = (u16)(bytes < (int)sizeof(text) ? bytes : (int)sizeof(text) - 1);
	emit_event(im, &record);
}

/* Which reason for an omission a gap is, and how many operations the trace lacks for each of them. */
static const struct {
	enum iot_omission_reason reason;
	u64 operations;
} gap_omissions[IMPORT_GAP_COUNT] = {
#define unknown		     IOT_OMISSION_UNKNOWN
#define IOT_OMISSION_nothing 0
#define GAP_OMISSION(name, omission, operations, sentence) { IOT_OMISSION_##omission, operations },
	IMPORT_GAPS(GAP_OMISSION)
#undef GAP_OMISSION
#undef IOT_OMISSION_nothing
#undef unknown
};

static void add_omission(struct import *im, struct iot_omissions *omissions, enum import_gap kind)
{
	enum iot_omission_reason reason = gap_omissions[kind].reason;
	u64 operations = gap_omissions[kind].operations, bytes = operations;
	char text[64];

	if (!reason)
		return;
	if (operations == 1) {
		operations = im->gaps[kind];
		bytes = im->gap_bytes[kind];
	}
	snprintf(text, sizeof(text), "%s %llu", import_gap_names[kind], im->gaps[kind]);
	iot_omissions_add(omissions, reason, im->gaps[kind], operations, bytes,
			  reason == IOT_OMISSION_mapping ? NULL : text);
}

static void put_omissions(struct import *im)
{
	struct iot_omissions omissions = {};
	char text[IOT_OMISSION_TEXT_BYTES];
	u32 i;

	for (i = 0; i < IMPORT_GAP_COUNT; i++)
		add_omission(im, &omissions, i);
	for (i = 1; i < IOT_OMISSION_END; i++)
		if (iot_omission_fact(&omissions, i, text))
			emit_fact(im, "%s", text);
}

static void put_gaps(struct import *im)
{
	const struct named_gap *named;
	size_t i;

	for (i = 0; i < IMPORT_GAP_COUNT; i++) {
		if (!im->gaps[i])
			continue;
		emit_fact(im, "import.%s=%llu", import_gap_names[i], im->gaps[i]);
		for (named = im->named_gaps; named; named = named->hh.next)
			if (named->kind == i)
				emit_fact(im, "import.%s.%s=%llu", import_gap_names[i], named->name,
					  named->count);
	}
}

static void put_mount(struct import *im, const struct root *root)
{
	struct iot_record record = { .kind = IOT_KIND_mount };

	record.mount.object = emit_object(im, root->inode);
	record.tail = (const u8 *)root->path;
	record.tail_bytes = (u16)root->path_bytes;
	emit_event(im, &record);
}

static void put_begin(struct import *im)
{
	struct iot_record record = { .kind = IOT_KIND_clock };
	const char *const *fact;
	size_t i;

	record.clock.real_ns = im->last_ns;
	emit_event(im, &record);
	emit_fact(im, "source=%s", im->foreign ? im->foreign->format->name : "strace");
	for (i = 0; i < im->root_count; i++)
		emit_fact(im, "mount=%s", im->roots[i].path);
	for (fact = im->facts; fact && *fact; fact++)
		emit_fact(im, "%s", *fact);
	if (!im->facts)
		emit_fact(im, "creator=iotape " IOTAPE_VERSION);
	if (im->cost.gap_ns)
		emit_fact(im, "strace.cost=%u:%u %s", im->cost.gap_ns, im->cost.call_ns,
			  im->is_calibrated ? "calibration" : "log");
	put_gaps(im);
	put_omissions(im);
	for (i = 0; i < im->root_count; i++)
		put_mount(im, &im->roots[i]);
}

/**
 * emit_open() - begin the trace; the time is that of the log's beginning
 *
 * Return: 0 or a negative errno.
 */
int emit_open(struct import *im, const char *path)
{
	unsigned char capture[16];
	int err;

	if (getrandom(capture, sizeof(capture), 0) != sizeof(capture))
		return -EIO;
	err = iot_writer_open_at(path, capture, im->zero_ns, im->zero_ns, &im->writer);
	if (err)
		return err;
	im->trace = path;
	im->last_ns = im->zero_ns;
	put_begin(im);
	return im->err;
}

/**
 * emit_close() - end the trace
 * @err: the error so far; after an error, here or before, there is no trace
 *
 * Return: @err, or an error of this function.
 */
int emit_close(struct import *im, int err)
{
	struct iot_record record = { .kind = IOT_KIND_end };

	if (!im->writer)
		return err;
	if (!err) {
		record.end.backpressure_waits = im->waits;
		emit_event(im, &record);
		err = im->err ? im->err : iot_writer_finish(im->writer);
		if (err)
			snprintf(im->summary->message, sizeof(im->summary->message), "%s: %s",
				 im->trace, strerror(-err));
	}
	if (err)
		iot_writer_discard(im->writer);
	iot_writer_close(im->writer);
	im->writer = NULL;
	return err;
}
