// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect_data.c - the records of calls on descriptors: data, positions, directories.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* The total length of the vector of a readv or writev. */
static long long vector_bytes(const char *text)
{
	long long bytes = 0;

	while ((text = strstr(text, "iov_len="))) {
		text += strlen("iov_len=");
		bytes += strtoll(text, NULL, 10);
	}
	return bytes;
}

static const char *rw_flags(const struct comparison *c, const struct file *file, int index)
{
	static char text[128];
	bool is_sync = file->is_sync || (index && argument_has_flag(c->call, index, "RWF_SYNC"));
	bool is_dsync = file->is_dsync || (index && argument_has_flag(c->call, index, "RWF_DSYNC"));

	*text = 0;
	if (file->is_append || (index && argument_has_flag(c->call, index, "RWF_APPEND")))
		add_word(text, "append");
	if (file->is_direct)
		add_word(text, "direct");
	if (is_sync)
		add_word(text, "sync");
	else if (is_dsync)
		add_word(text, "dsync");
	if (index && argument_has_flag(c->call, index, "RWF_NOWAIT"))
		add_word(text, "nowait");
	return *text ? text : "0";
}

struct transfer {
	bool is_write, is_vector, is_at; /* at an explicit offset */
	int flags;			 /* index of the argument, 0 if none */
};

/* Does this failure occur before the file system is asked? */
static bool is_early(struct comparison *c, const struct file *file)
{
	const struct record *record = peek(c, c->self);

	if (c->call->err == EBADF || (c->call->err == EISDIR && file->object->type == TYPE_DIR))
		return true;
	/* Bad addresses and negative offsets can be detected early or late. */
	return (c->call->err == EFAULT || c->call->err == EINVAL) &&
	       (!record || record_number(record, "result") != -c->call->err);
}

static void moved(struct file *file, const struct record *record, bool is_at)
{
	if (!record || is_at)
		return;
	file->is_position_known = true;
	file->position = record_number(record, "offset_bytes");
	if (record_number(record, "result") > 0)
		file->position += record_number(record, "result");
}

static void transfer(struct comparison *c, const struct transfer *t)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));
	long long offset = t->is_at ? argument_number(call, 3) : 0;
	bool is_at = t->is_at && offset != -1;
	struct want want = { .kind = t->is_write ? "write" : "read", .file = file, .has_result = true,
			     .result = call->err ? -call->err : call->result, .has_length = true };
	const struct record *record;

	if (!file)
		return;
	if (call->err && is_early(c, file)) {
		vfs_error(c, want.kind);
		return;
	}
	want.length = t->is_vector ? vector_bytes(argument_text(call, 1)) : argument_number(call, 2);
	want.flags = rw_flags(c, file, t->flags);
	want.has_offset = is_at || file->is_position_known;
	want.offset = is_at ? offset : file->position;
	if (t->is_write && strstr(want.flags, "append"))
		want.has_offset = false; /* the end of the file at that time */
	record = expect(c, &want);
	if (record && !want.has_offset && !call->err &&
	    record_number(record, "offset_bytes") != record_number(record, "old_size_bytes"))
		difference(c, "appended at %lld to a file of %lld bytes",
			   record_number(record, "offset_bytes"), record_number(record, "old_size_bytes"));
	moved(file, record, is_at);
	if (!call->err)
		count_bytes(c, file, t->is_write, call->result);
}

#define TRANSFER(call, ...)                                                                  \
	static void leave_##call(struct comparison *c, int dir, int path)                    \
	{                                                                                    \
		(void)dir, (void)path;                                                       \
		transfer(c, &(const struct transfer){ __VA_ARGS__ });                        \
	}
TRANSFER(read, .is_write = false)
TRANSFER(write, .is_write = true)
TRANSFER(pread, .is_at = true)
TRANSFER(pwrite, .is_write = true, .is_at = true)
TRANSFER(readv, .is_vector = true)
TRANSFER(writev, .is_write = true, .is_vector = true)
TRANSFER(preadv, .is_vector = true, .is_at = true)
TRANSFER(pwritev, .is_write = true, .is_vector = true, .is_at = true)
TRANSFER(preadv2, .is_vector = true, .is_at = true, .flags = 4)
TRANSFER(pwritev2, .is_write = true, .is_vector = true, .is_at = true, .flags = 4)

static void leave_lseek(struct comparison *c, int dir, int path)
{
	static const char *const whences[] = { "SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE" };
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));
	struct want want = { .kind = "seek", .file = file, .has_result = true, .has_offset = true,
			     .result = call->err ? -call->err : call->result,
			     .offset = strtoll(argument_text(call, 1), NULL, 0) };
	bool is_known = false;
	size_t i;

	(void)dir, (void)path;
	if (!file)
		return;
	for (i = 0; i < 5; i++)
		is_known |= !strcmp(argument_text(call, 2), whences[i]);
	if (!is_known) {
		vfs_error(c, "seek");
		return;
	}
	expect(c, &want);
	if (!call->err && file->object->type != TYPE_DIR) {
		file->position = call->result;
		file->is_position_known = true;
	}
}

/* A call on a handle with one record of its own. */
struct record *expect_of_file(struct comparison *c, const char *kind, struct file *file)
{
	const struct call *call = c->call;
	const struct want want = { .kind = kind, .file = file, .has_result = true,
				   .result = call->err ? -call->err : call->result };

	return expect(c, &want);
}

static void leave_fsync(struct comparison *c, int dir, int path)
{
	struct file *file = file_of(c->self, (int)argument_number(c->call, 0));
	const struct record *record;

	(void)dir, (void)path;
	if (!file)
		return;
	record = expect_of_file(c, "fsync", file);
	if (record && strcmp(record_text(record, "flags"),
			     strcmp(c->call->name, "fdatasync") ? "0" : "datasync"))
		difference(c, "fsync with flags %s", record_text(record, "flags"));
}

static void leave_fallocate(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));
	struct want want = { .kind = "fallocate", .file = file, .has_result = true, .has_offset = true,
			     .has_length = true, .result = -call->err };

	(void)dir, (void)path;
	if (!file)
		return;
	if ((call->err == EINVAL || call->err == EOPNOTSUPP) && !peek_kind(c, "fallocate")) {
		vfs_error(c, "fallocate"); /* zero length, incompatible flags */
		return;
	}
	want.offset = argument_number(call, 2);
	want.length = argument_number(call, 3);
	expect(c, &want);
}

static void leave_fadvise(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));
	struct want want = { .kind = "fadvise", .file = file, .has_result = true, .has_offset = true,
			     .has_length = true };

	(void)dir, (void)path;
	if (!file)
		return;
	want.result = -call->err;
	want.offset = argument_number(call, 1);
	want.length = argument_number(call, 2);
	expect(c, &want);
}

static void leave_ftruncate(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));

	(void)dir, (void)path;
	if (!file)
		return;
	if (call->err == EINVAL)
		vfs_error(c, "setattr");
	else
		expect_setattr(c, NULL, file->object, file, "size", true, argument_number(call, 1));
}

static void leave_writeback(struct comparison *c, int dir, int path)
{
	(void)dir, (void)path;
	if (file_of(c->self, (int)argument_number(c->call, 0)))
		apply(c, RULE_WRITEBACK);
}

static void leave_copy_range(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *in = file_of(c->self, (int)argument_number(call, 0));
	struct file *out = file_of(c->self, (int)argument_number(call, 2));
	const struct record *record;

	(void)dir, (void)path;
	if (!in && !out)
		return;
	if (call->err && !peek_kind(c, "copy_range")) {
		vfs_error(c, "copy_range");
		return;
	}
	record = expect_of_file(c, "copy_range", in);
	if (record && out && record_number(record, "to_handle") != out->handle)
		difference(c, "copied to another handle");
	if (record && record_number(record, "length_bytes") != argument_number(call, 4))
		difference(c, "copy of %lld bytes", record_number(record, "length_bytes"));
	if (in)
		in->is_position_known = false;
	if (out)
		out->is_position_known = false;
}

/* One end of a splice or sendfile: takes records of this handle until they add up to the bytes. */
static void take_pieces(struct comparison *c, struct file *in, struct file *out, long long bytes)
{
	long long left_in = in ? bytes : 0, left_out = out ? bytes : 0;
	const struct record *record;

	while (left_in > 0 || left_out > 0) {
		record = peek(c, c->self);
		if (record && in && !strcmp(record->kind, "read") &&
		    record_number(record, "handle") == in->handle) {
			left_in -= record_number(record, "result");
			count_bytes(c, in, false, record_number(record, "result"));
			take_kind(c, "read");
		} else if (record && out && !strcmp(record->kind, "write") &&
			   record_number(record, "handle") == out->handle) {
			left_out -= record_number(record, "result");
			count_bytes(c, out, true, record_number(record, "result"));
			take_kind(c, "write");
		} else {
			break;
		}
		c->calls++;
	}
	apply(c, RULE_SPLICE);
	if (left_in || left_out)
		difference(c, "%lld bytes read and %lld written are missing", left_in, left_out);
	if (in)
		in->is_position_known = false;
	if (out)
		out->is_position_known = false;
}

static void leave_splice(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	bool is_sendfile = !strcmp(call->name, "sendfile");
	struct file *in = file_of(c->self, (int)argument_number(call, is_sendfile));
	struct file *out = file_of(c->self, (int)argument_number(call, is_sendfile ? 0 : 2));

	(void)dir, (void)path;
	if (!in && !out)
		return;
	if (call->err)
		vfs_error(c, "read");
	else
		take_pieces(c, in, out, call->result);
}

static long long count_dirents(const struct comparison *c, const struct record *readdir)
{
	const struct record *record;
	long long count = 0;

	for (record = readdir - 1; record >= c->dump.records && readdir - record < 4096; record--)
		count += !strcmp(record->kind, "dirent") && record->task == readdir->task &&
			 record_number(record, "op") == readdir->op;
	return count;
}

static void leave_getdents(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));
	const char *comment = strstr(argument_text(call, 1), "/*");
	const struct want want = { .kind = "readdir", .file = file, .has_result = true,
				   .result = -call->err };
	const struct record *record;
	long long entries = comment ? strtoll(comment + 2, NULL, 10) : 0;

	(void)dir, (void)path;
	if (!file)
		return;
	if (call->err == ENOENT && file->node && is_dead(c, file->node)) {
		vfs_error(c, "readdir");
		return;
	}
	record = expect(c, &want);
	if (record && (record_number(record, "entries") != entries || count_dirents(c, record) != entries))
		difference(c, "%lld entries, %lld dirent records", record_number(record, "entries"),
			   count_dirents(c, record));
}

static void leave_ioctl(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));
	const char *request = argument_text(call, 1);

	(void)dir, (void)path;
	if (!file)
		return;
	if ((!strncmp(request, "FICLONE", 7) || !strncmp(request, "BTRFS_IOC_CLONE", 15)) &&
	    (call->err != EOPNOTSUPP || peek_kind(c, "remap_range")))
		expect_simple(c, "remap_range", NULL, -call->err);
	else if (!call->err && (!strcmp(request, "FS_IOC_GETFLAGS") || !strcmp(request, "FS_IOC_FSGETXATTR")))
		expect_simple(c, "getfileattr", NULL, 0);
	else if (!call->err && (!strcmp(request, "FS_IOC_SETFLAGS") || !strcmp(request, "FS_IOC_FSSETXATTR")))
		expect_simple(c, "setfileattr", NULL, 0);
	else if (peek_kind(c, "ioctl"))
		expect_of_file(c, "ioctl", file);
	else
		apply(c, RULE_IOCTL);
}

const struct route data_routes[] = {
	{ "copy_file_range", leave_copy_range, 0, 0 },
	{ "fadvise64", leave_fadvise, 0, 0 },
	{ "fallocate", leave_fallocate, 0, 0 },
	{ "fdatasync", leave_fsync, 0, 0 },
	{ "flock", leave_flock, 0, 0 },
	{ "fsync", leave_fsync, 0, 0 },
	{ "ftruncate", leave_ftruncate, 0, 0 },
	{ "getdents64", leave_getdents, 0, 0 },
	{ "ioctl", leave_ioctl, 0, 0 },
	{ "lseek", leave_lseek, 0, 0 },
	{ "pread64", leave_pread, 0, 0 },
	{ "preadv", leave_preadv, 0, 0 },
	{ "preadv2", leave_preadv2, 0, 0 },
	{ "pwrite64", leave_pwrite, 0, 0 },
	{ "pwritev", leave_pwritev, 0, 0 },
	{ "pwritev2", leave_pwritev2, 0, 0 },
	{ "read", leave_read, 0, 0 },
	{ "readahead", leave_fadvise, 0, 0 },
	{ "readv", leave_readv, 0, 0 },
	{ "sendfile", leave_splice, 0, 0 },
	{ "splice", leave_splice, 0, 0 },
	{ "sync_file_range", leave_writeback, 0, 0 },
	{ "syncfs", leave_writeback, 0, 0 },
	{ "write", leave_write, 0, 0 },
	{ "writev", leave_writev, 0, 0 },
	{},
};
