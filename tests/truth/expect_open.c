// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect_open.c - the records of calls that open, close and duplicate descriptors.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static const struct {
	const char *strace, *trace;
} open_words[] = {
	{ "O_APPEND", "append" },	{ "O_CREAT", "create" },      { "O_EXCL", "excl" },
	{ "O_TRUNC", "trunc" },		{ "O_DIRECT", "direct" },     { "O_SYNC", "sync" },
	{ "O_DSYNC", "dsync" },		{ "O_DIRECTORY", "directory" }, { "O_NOFOLLOW", "nofollow" },
	{ "O_NOATIME", "noatime" },	{ "O_NONBLOCK", "nonblock" },
};

/* Convert the flags that strace shows to those of the trace. */
static const char *open_flags(const struct call *call, int index, bool is_created)
{
	static char text[256];
	bool is_tmpfile = argument_has_flag(call, index, "O_TMPFILE");
	size_t i;

	*text = 0;
	if (!argument_has_flag(call, index, "O_WRONLY"))
		add_word(text, "read");
	if (!argument_has_flag(call, index, "O_RDONLY"))
		add_word(text, "write");
	for (i = 0; i < sizeof(open_words) / sizeof(open_words[0]); i++)
		if (argument_has_flag(call, index, open_words[i].strace) ||
		    (is_tmpfile && !strcmp(open_words[i].trace, "directory")))
			add_word(text, open_words[i].trace);
	if (is_tmpfile)
		add_word(text, "tmpfile");
	if (is_created)
		add_word(text, "created");
	return text;
}

static void set_file_flags(struct file *file, const struct call *call, int index)
{
	file->is_append = argument_has_flag(call, index, "O_APPEND");
	file->is_direct = argument_has_flag(call, index, "O_DIRECT");
}

void put_descriptor(struct comparison *c, long long fd, struct file *file, bool is_cloexec)
{
	if (fd < 0 || fd >= FDS_MAX)
		return;
	c->self->files->fd[fd] = (struct descriptor){ file, is_cloexec };
	if (file)
		file->refs++;
}

static void opened(struct comparison *c, struct file *file, int flags)
{
	const struct call *call = c->call;

	set_file_flags(file, call, flags);
	file->is_sync = argument_has_flag(call, flags, "O_SYNC");
	file->is_dsync = argument_has_flag(call, flags, "O_DSYNC");
	file->is_position_known = true;
	put_descriptor(c, call->result, file, argument_has_flag(call, flags, "O_CLOEXEC"));
}

/* A refused open. With O_CREAT, the file system is first asked whether the name exists. */
static void open_refused(struct comparison *c, const struct walk *w, int flags)
{
	const struct want want = { .kind = "open", .path = last_path(w), .has_result = true,
				   .result = -ENOENT };

	apply(c, RULE_DENIED);
	expect_simple(c, "denied", NULL, -EACCES);
	if (argument_has_flag(c->call, flags, "O_CREAT") && !w->node)
		expect(c, &want);
}

static void open_failed(struct comparison *c, const struct walk *w, int flags)
{
	const struct call *call = c->call;
	bool is_create = argument_has_flag(call, flags, "O_CREAT");
	char *path = last_path(w);
	const struct record *record;
	struct want want = { .kind = "open", .path = path, .has_result = true,
			     .result = -call->err, .flags = open_flags(call, flags, false) };

	if (call->err == EEXIST) {
		apply(c, RULE_EXISTS);
		expect_simple(c, "lookup", path, -EEXIST);
	} else if (call->err == EACCES) {
		open_refused(c, w, flags);
	} else if (call->err == ENAMETOOLONG) {
		expect_simple(c, "lookup", path, -ENAMETOOLONG);
	} else if (call->err == ENOENT && !is_create) {
		expect(c, &want);
	} else {
		if (w->node && !argument_has_flag(call, flags, "O_TMPFILE"))
			look_up_last(c, w);
		record = peek_kind(c, "open");
		if (record && record_number(record, "result") == -call->err &&
		    !strcmp(record_text(record, "path"), path))
			expect(c, &want);
		else
			vfs_error(c, "open");
	}
}

static bool is_special_file(const struct object *object)
{
	return object->type == TYPE_OTHER;
}

static void open_known(struct comparison *c, struct walk *w, int flags)
{
	const struct call *call = c->call;
	bool is_created = !w->node;
	char *path = last_path(w);
	struct want want = { .kind = "open", .path = path, .has_result = true };
	const struct record *record;
	struct file *file;

	if (is_created)
		w->node = node_add(w->dir, w->last, object_new(TYPE_FILE, NULL));
	else
		look_up_last(c, w);
	if (is_special_file(w->node->object)) {
		apply(c, RULE_SPECIAL);
		return;
	}
	file = file_open(c, w->node->object, path);
	file->node = w->node->object->type == TYPE_DIR ? w->node : NULL;
	file->is_path = argument_has_flag(call, flags, "O_PATH");
	opened(c, file, flags);
	if (file->is_path) {
		apply(c, RULE_PATH_ONLY);
		return;
	}
	want.flags = open_flags(call, flags, is_created);
	want.object = w->node->object;
	record = expect(c, &want);
	file->handle = record ? record_number(record, "handle") : 0;
	if (argument_has_flag(call, flags, "O_TRUNC") && !is_created) {
		apply(c, RULE_TRUNCATION);
		expect_setattr(c, path, w->node->object, file, "by_open", true, 0);
	}
}

/* An open of /proc/self/fd/N: reaches the file without a path walk. */
static void open_magic(struct comparison *c, const struct file *old, int flags)
{
	struct want want = { .kind = "open", .path = old->path, .object = old->object, .has_result = true,
			     .result = -c->call->err, .flags = open_flags(c->call, flags, false) };
	const struct record *record = expect(c, &want);
	struct file *file;

	if (c->call->err)
		return;
	file = file_open(c, old->object, old->path);
	file->node = old->node;
	file->handle = record ? record_number(record, "handle") : 0;
	opened(c, file, flags);
}

static void open_tmpfile(struct comparison *c, int flags)
{
	struct want want = { .kind = "open", .has_result = true, .flags = open_flags(c->call, flags, true) };
	const struct record *record;
	struct file *file;

	record = expect(c, &want);
	file = file_open(c, object_new(TYPE_FILE, NULL), record ? record_text(record, "path") : "");
	file->handle = record ? record_number(record, "handle") : 0;
	file->object->id = record ? record_number(record, "object") : 0;
	opened(c, file, flags);
}

static void leave_open(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	int flags = path + 1;
	bool is_excl = argument_has_flag(call, flags, "O_CREAT") && argument_has_flag(call, flags, "O_EXCL");
	bool does_follow = !is_excl && !argument_has_flag(call, flags, "O_NOFOLLOW");
	const struct file *magic = magic_file(c, argument_text(call, path));
	struct walk w;

	if (magic) {
		open_magic(c, magic, flags);
		return;
	}
	if (!walk(c, dir, path, does_follow, &w)) {
		put_descriptor(c, call->err ? -1 : call->result, NULL, false);
		return;
	}
	if (call->err && is_dead(c, w.dir) && !w.is_last_special)
		vfs_error(c, "open");
	else if (call->err)
		open_failed(c, &w, flags);
	else if (argument_has_flag(call, flags, "O_TMPFILE"))
		open_tmpfile(c, flags);
	else
		open_known(c, &w, flags);
}

void expect_flush(struct comparison *c, const struct file *file)
{
	const struct want want = { .kind = "flush", .file = file, .has_result = true };

	if (file->is_path)
		return;
	apply(c, RULE_FLUSH);
	expect(c, &want);
}

/* A call closes its descriptors as soon as it is entered. */
void enter_close(struct comparison *c, int fd, int slot)
{
	struct file *file = file_of(c->self, fd);

	if (!file || c->call->err)
		return;
	c->self->files->fd[fd] = (struct descriptor){};
	file->refs--;
	c->call->closed[slot] = file;
}

static void leave_closed(struct comparison *c)
{
	int slot;

	for (slot = 0; slot < 2; slot++)
		if (c->call->closed[slot])
			expect_flush(c, c->call->closed[slot]);
	peek(c, c->self); /* the release follows immediately, if this task does it */
}

static void leave_close(struct comparison *c, int dir, int path)
{
	(void)dir, (void)path;
	leave_closed(c);
}

static void leave_close_range(struct comparison *c, int dir, int path)
{
	long long fd, last = argument_number(c->call, 1);
	struct file *file;

	(void)dir, (void)path;
	if (c->call->err || argument_number(c->call, 2))
		return;
	for (fd = argument_number(c->call, 0); fd <= last && fd < FDS_MAX; fd++) {
		file = file_of(c->self, (int)fd);
		if (!file)
			continue;
		c->self->files->fd[fd] = (struct descriptor){};
		file->refs--;
		expect_flush(c, file);
	}
	peek(c, c->self);
}

static void leave_dup(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));

	(void)dir, (void)path;
	leave_closed(c);
	if (call->err || !file)
		return;
	apply(c, RULE_DESCRIPTORS);
	put_descriptor(c, call->result, file, argument_has_flag(call, 2, "O_CLOEXEC"));
}

static void leave_fcntl(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 0));
	const char *command = argument_text(call, 1);

	(void)dir, (void)path;
	if (!file)
		return;
	if (strstr(command, "LK") || strstr(command, "LEASE")) {
		leave_lock(c, command);
		return;
	}
	if (call->err)
		return;
	if (!strncmp(command, "F_DUPFD", 7))
		put_descriptor(c, call->result, file, !strcmp(command, "F_DUPFD_CLOEXEC"));
	else if (!strcmp(command, "F_SETFL"))
		set_file_flags(file, call, 2);
	else if (!strcmp(command, "F_SETFD"))
		c->self->files->fd[argument_number(call, 0)].is_cloexec =
			argument_has_flag(call, 2, "FD_CLOEXEC");
	apply(c, RULE_DESCRIPTORS);
}

const struct route open_routes[] = {
	{ "close", leave_close, 0, 0 },
	{ "close_range", leave_close_range, 0, 0 },
	{ "creat", leave_open, -1, 0 },
	{ "dup", leave_dup, 0, 0 },
	{ "dup2", leave_dup, 0, 0 },
	{ "dup3", leave_dup, 0, 0 },
	{ "fcntl", leave_fcntl, 0, 0 },
	{ "open", leave_open, -1, 0 },
	{ "openat", leave_open, 0, 1 },
	{},
};
