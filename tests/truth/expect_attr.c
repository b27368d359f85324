// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect_attr.c - the records of queries and changes of attributes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* The kernel may ask whether it has to clear the capabilities of the file; the answer has been no. */
void take_capability(struct comparison *c)
{
	const struct record *record = peek_kind(c, "getxattr");

	if (record && !strcmp(record_text(record, "tail"), "security.capability")) {
		take_kind(c, "getxattr");
		apply(c, RULE_CAPABILITY);
	}
}

/*
 * The record of a call by name has no handle; that of a call by descriptor has the handle of the descriptor, in
 * want->file.
 */
static const struct record *expect_place(struct comparison *c, const struct want *want)
{
	const struct record *record = expect(c, want);
	bool has_handle = want->file && want->file->handle;

	if (record && !has_handle && record_number(record, "handle"))
		difference(c, "%s has handle %lld", want->kind, record_number(record, "handle"));
	return record;
}

/**
 * expect_setattr() - the record of a change of attributes
 * @path: index of the path, for a call by name
 * @object: the object whose attributes change
 * @file: for a call by descriptor, otherwise NULL
 * @word: one of the attributes
 * @has_size: the size changes to @size
 * @size: new size in bytes
 */
void expect_setattr(struct comparison *c, const char *path, struct object *object, const struct file *file,
		    const char *word, bool has_size, long long size)
{
	const struct want want = { .kind = "setattr", .path = path, .object = object, .file = file,
				   .has_result = true, .result = -c->call->err };
	const struct record *record;

	take_capability(c);
	record = expect_place(c, &want);
	if (!record)
		return;
	if (!strstr(record_text(record, "attrs"), word))
		difference(c, "setattr changes %s, not %s", record_text(record, "attrs"), word);
	if (has_size && record_number(record, "size_bytes") != size)
		difference(c, "setattr to size %lld, not %lld", record_number(record, "size_bytes"), size);
}

static void check_size(struct comparison *c, const struct record *record)
{
	const char *size = NULL, *regular = NULL;
	int i;

	for (i = 0; i < c->call->arg_count && !size; i++) {
		size = strstr(c->call->args[i].text, "_size=");
		regular = strstr(c->call->args[i].text, "S_IFREG");
	}
	if (record && size && regular &&
	    record_number(record, "size_bytes") != strtoll(size + strlen("_size="), NULL, 10))
		difference(c, "size %lld", record_number(record, "size_bytes"));
}

static void expect_stat(struct comparison *c, const char *path, struct object *object, const struct file *file)
{
	const struct want want = { .kind = "stat", .path = path, .object = object, .file = file, .has_result = true };

	check_size(c, expect_place(c, &want));
}

static void leave_fstat(struct comparison *c, int dir, int path)
{
	struct file *file = file_of(c->self, (int)argument_number(c->call, 0));

	(void)dir, (void)path;
	if (file)
		expect_stat(c, NULL, file->object, file);
}

static void leave_stat(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	bool is_at = dir >= 0, is_lstat = !strcmp(call->name, "lstat");
	int flags = path + (strcmp(call->name, "statx") ? 2 : 1);
	struct walk w;

	if (is_at && !*argument_text(call, path) && argument_has_flag(call, flags, "AT_EMPTY_PATH")) {
		leave_fstat(c, dir, path);
		return;
	}
	if (is_at)
		is_lstat = argument_has_flag(call, flags, "AT_SYMLINK_NOFOLLOW");
	if (reach(c, dir, path, !is_lstat, &w))
		expect_stat(c, last_path(&w), w.node->object, NULL);
}

static void leave_access(struct comparison *c, int dir, int path)
{
	struct walk w;

	if (!reach(c, dir, path, true, &w))
		return;
	apply(c, RULE_DENIED);
	if (c->call->err)
		expect_simple(c, "denied", last_path(&w), -c->call->err);
}

static void set_attributes(struct comparison *c, int dir, int path, bool does_follow, const char *word,
			   bool has_size, long long size)
{
	struct walk w;

	if (reach(c, dir, path, does_follow, &w))
		expect_setattr(c, last_path(&w), w.node->object, NULL, word, has_size, size);
}

static void leave_chmod(struct comparison *c, int dir, int path)
{
	set_attributes(c, dir, path, true, "mode", false, 0);
}

static const char *owner_word(const struct call *call, int uid)
{
	return strcmp(argument_text(call, uid), "-1") ? "uid" : "gid";
}

static void leave_chown(struct comparison *c, int dir, int path)
{
	bool does_follow = strcmp(c->call->name, "lchown") &&
			   !argument_has_flag(c->call, path + 3, "AT_SYMLINK_NOFOLLOW");
	struct file *file;

	if (dir >= 0 && !*argument_text(c->call, path) && argument_has_flag(c->call, path + 3, "AT_EMPTY_PATH")) {
		file = file_of(c->self, (int)argument_number(c->call, dir));
		if (file)
			expect_setattr(c, NULL, file->object, file, owner_word(c->call, path + 1), false, 0);
		return;
	}
	set_attributes(c, dir, path, does_follow, owner_word(c->call, path + 1), false, 0);
}

static void leave_truncate(struct comparison *c, int dir, int path)
{
	set_attributes(c, dir, path, true, "size", true, argument_number(c->call, path + 1));
}

static void leave_fchmod(struct comparison *c, int dir, int path)
{
	struct file *file = file_of(c->self, (int)argument_number(c->call, 0));

	(void)dir, (void)path;
	if (file)
		expect_setattr(c, NULL, file->object, file,
			       strcmp(c->call->name, "fchown") ? "mode" : owner_word(c->call, 1), false, 0);
}

static void leave_utimes(struct comparison *c, int dir, int path)
{
	struct file *file = file_of(c->self, (int)argument_number(c->call, 0));

	if (!c->call->args[path].is_string) { /* NULL: the descriptor */
		if (file)
			expect_setattr(c, NULL, file->object, file, "mtime", false, 0);
		return;
	}
	set_attributes(c, dir, path, !argument_has_flag(c->call, path + 2, "AT_SYMLINK_NOFOLLOW"), "mtime",
		       false, 0);
}

/* The name of an attribute, or the value if a file system acts on it. NULL if strace truncated it. */
static const char *set_text(const struct call *call)
{
	const char *name = argument_text(call, 1);
	const struct argument *value = &call->args[2];
	char *text, *p;
	size_t i;

	if (strncmp(name, "system.", 7) && strncmp(name, "security.", 9))
		return name;
	if (call->arg_count < 3 || !value->is_string || value->is_cut)
		return NULL;
	text = calloc(1, strlen(name) + 2 * value->bytes + 4);
	if (!text)
		abort();
	p = text + sprintf(text, "%s=0x", name);
	for (i = 0; i < value->bytes; i++)
		p += sprintf(p, "%02x", (unsigned char)value->text[i]);
	return text; /* freed at exit, like all expected texts */
}

/* getxattr and its variants: the kind of record is the name without a leading l or f. */
static void leave_xattr(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	bool is_handle = *call->name == 'f', is_link = call->name[0] == 'l' && call->name[1] != 'i';
	struct want want = { .kind = call->name + (is_handle || is_link), .has_result = true,
			     .result = call->err ? -call->err : call->result };
	struct file *file;
	struct walk w;

	if (is_handle) {
		file = file_of(c->self, (int)argument_number(call, 0));
		if (!file)
			return;
		want.object = file->object;
		want.file = file;
	} else {
		if (!reach(c, dir, path, !is_link, &w))
			return;
		want.path = last_path(&w);
		want.object = w.node->object;
	}
	if (!strcmp(want.kind, "setxattr"))
		want.tail = set_text(call);
	else if (strcmp(want.kind, "listxattr"))
		want.tail = argument_text(call, 1);
	expect_place(c, &want);
}

static void leave_statfs(struct comparison *c, int dir, int path)
{
	struct want want = { .kind = "statfs", .has_result = true };
	struct file *file;
	struct walk w;

	if (*c->call->name == 'f') {
		file = file_of(c->self, (int)argument_number(c->call, 0));
		want.file = file;
		if (file)
			expect_place(c, &want);
	} else if (reach(c, dir, path, true, &w)) {
		expect_simple(c, "statfs", last_path(&w), 0);
	}
}

const struct route attr_routes[] = {
	{ "access", leave_access, -1, 0 },
	{ "chmod", leave_chmod, -1, 0 },
	{ "chown", leave_chown, -1, 0 },
	{ "faccessat", leave_access, 0, 1 },
	{ "faccessat2", leave_access, 0, 1 },
	{ "fchmod", leave_fchmod, 0, 0 },
	{ "fchmodat", leave_chmod, 0, 1 },
	{ "fchown", leave_fchmod, 0, 0 },
	{ "fchownat", leave_chown, 0, 1 },
	{ "fgetxattr", leave_xattr, 0, 0 },
	{ "flistxattr", leave_xattr, 0, 0 },
	{ "fremovexattr", leave_xattr, 0, 0 },
	{ "fsetxattr", leave_xattr, 0, 0 },
	{ "fstat", leave_fstat, 0, 0 },
	{ "fstatfs", leave_statfs, 0, 0 },
	{ "getxattr", leave_xattr, -1, 0 },
	{ "lchown", leave_chown, -1, 0 },
	{ "lgetxattr", leave_xattr, -1, 0 },
	{ "listxattr", leave_xattr, -1, 0 },
	{ "llistxattr", leave_xattr, -1, 0 },
	{ "lremovexattr", leave_xattr, -1, 0 },
	{ "lsetxattr", leave_xattr, -1, 0 },
	{ "lstat", leave_stat, -1, 0 },
	{ "newfstatat", leave_stat, 0, 1 },
	{ "removexattr", leave_xattr, -1, 0 },
	{ "setxattr", leave_xattr, -1, 0 },
	{ "stat", leave_stat, -1, 0 },
	{ "statfs", leave_statfs, -1, 0 },
	{ "statx", leave_stat, 0, 1 },
	{ "truncate", leave_truncate, -1, 0 },
	{ "utimensat", leave_utimes, 0, 1 },
	{},
};
