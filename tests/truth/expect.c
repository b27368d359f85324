// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect.c - the records that each system call must have: the check of each call, and
 * errors that occur before any record.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* -- errors that do not reach the file system ------------------------------------------ */

/*
 * Errors that the kernel returns without asking the file system, for each kind of record that is
 * then missing: the table of errors in Documentation/visibility.md. Errors that both can
 * return are decided by the check of the call.
 */
static const struct {
	const char *kind;
	int errors[12];
} vfs_errors[] = {
	{ "lookup", { ENOENT, ENOTDIR, ELOOP } },
	{ "open", { EISDIR, ENOTDIR, ELOOP, EPERM, EROFS, ETXTBSY, ENXIO, ENOENT } },
	{ "read", { EBADF, EISDIR, EFAULT, EINVAL } },
	{ "write", { EBADF, EFAULT, EINVAL } },
	{ "seek", { EBADF, EINVAL } },
	{ "setattr", { EBADF, EINVAL, EROFS } },
	{ "fallocate", { EBADF, EINVAL, EOPNOTSUPP } },
	{ "copy_range", { EBADF, EINVAL, EXDEV, EISDIR } },
	{ "map", { EACCES, EBADF, EINVAL, ENODEV, ENOMEM } },
	{ "readdir", { ENOENT, ENOTDIR } },
	{ "mkdir", { ENOENT, EEXIST, EROFS } },
	{ "mknod", { ENOENT, EEXIST, EROFS, EPERM } },
	{ "symlink", { ENOENT, ENAMETOOLONG, EROFS } },
	{ "readlink", { EINVAL } },
	{ "link", { EPERM, EXDEV, ENOENT, EROFS } },
	{ "unlink", { EISDIR, ENOTDIR, EPERM, EROFS, EBUSY } },
	{ "rmdir", { ENOTDIR, EINVAL, EPERM, EROFS, EBUSY, ENOTEMPTY } },
	{ "rename", { EISDIR, ENOTDIR, EINVAL, EXDEV, EPERM, EROFS, EBUSY } },
};

/* There is no record of this kind, because the call failed earlier. */
void vfs_error(struct comparison *c, const char *kind)
{
	size_t i, j;

	for (i = 0; i < sizeof(vfs_errors) / sizeof(vfs_errors[0]); i++)
		for (j = 0; j < 12; j++)
			if (!strcmp(vfs_errors[i].kind, kind) && c->call->err == vfs_errors[i].errors[j]) {
				apply(c, RULE_VFS_ERROR);
				return;
			}
	difference(c, "no %s, which ended with %s, was recorded", kind,
		   strerrorname_np(c->call->err) ?: "success");
}

/**
 * vfs_errors_print() - the table of errors, a line for each kind of record
 */
void vfs_errors_print(void)
{
	size_t i, j;

	for (i = 0; i < sizeof(vfs_errors) / sizeof(vfs_errors[0]); i++) {
		printf("%s", vfs_errors[i].kind);
		for (j = 0; j < 12 && vfs_errors[i].errors[j]; j++)
			printf(" %s", strerrorname_np(vfs_errors[i].errors[j]));
		putchar('\n');
	}
}

/* Mounts, kernel locks and sticky directories can forbid what permissions allow. */
bool forbidden(struct comparison *c, const char *kind)
{
	const int err = c->call->err;

	if ((err != EPERM && err != EROFS && err != EBUSY) || peek_kind(c, kind))
		return false;
	vfs_error(c, kind);
	return true;
}

struct record *expect_simple(struct comparison *c, const char *kind, const char *path,
				    long long result)
{
	const struct want want = { .kind = kind, .path = path, .has_result = true, .result = result };

	return expect(c, &want);
}

/* The next record of the thread if it is of this kind, otherwise NULL. */
struct record *peek_kind(struct comparison *c, const char *kind)
{
	struct record *record = peek(c, c->self);

	return record && !strcmp(record->kind, kind) ? record : NULL;
}

struct record *take_kind(struct comparison *c, const char *kind)
{
	if (!peek_kind(c, kind))
		return NULL;
	count_call(c, kind);
	return take(c, c->self);
}

void add_word(char *text, const char *word)
{
	strcat(text, *text ? "|" : "");
	strcat(text, word);
}

/* -- the checks of each call ------------------------------------------------------------- */

static const struct route *const tables[] = {
	attr_routes, data_routes, map_routes, name_routes, open_routes, process_routes, request_routes,
};

/* Calls that do not reach the file system, whatever their arguments. */
static const char *const silent[] = {
	"brk", "chroot", "exit", "exit_group", "getcwd", "mincore", "pipe", "pipe2",
	"poll", "ppoll", "pselect6", "select", "umask", "wait4", "waitid",
};

static bool is_silent(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (!strcmp(silent[i], name))
			return true;
	return false;
}

/**
 * calls_print() - print the names of the calls that have a check
 */
void calls_print(void)
{
	const struct route *route;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (route = tables[i]; route->name; route++)
			puts(route->name);
	puts("exit\nexit_group");
}

/* A call without a table entry must not touch the mount. */
static void check_unknown(struct comparison *c)
{
	const struct call *call = c->call;
	int i;

	if (is_silent(call->name))
		return;
	for (i = 0; i < call->arg_count; i++)
		if (call->args[i].path && !strncmp(call->args[i].path, c->tree.mount, strlen(c->tree.mount)))
			difference(c, "a system call that this program does not know");
}

/**
 * call_enter() - a thread enters a call
 */
void call_enter(struct comparison *c)
{
	const struct call *call = c->call;

	if (!strcmp(call->name, "close"))
		enter_close(c, (int)argument_number(call, 0), 0);
	else if (!strcmp(call->name, "dup2") || !strcmp(call->name, "dup3"))
		enter_close(c, (int)argument_number(call, 1), 0);
	else if (!strcmp(call->name, "exit_group") || !strcmp(call->name, "exit"))
		process_begin_exit(c);
}

/**
 * call_leave() - a call has returned: take its records, and update the model
 */
void call_leave(struct comparison *c)
{
	const struct route *route;
	size_t i;

	if (!c->call->has_result)
		return;
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (route = tables[i]; route->name; route++)
			if (!strcmp(route->name, c->call->name)) {
				route->leave(c, route->dir, route->path);
				return;
			}
	check_unknown(c);
}
