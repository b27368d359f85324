// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect_lock.c - flock(2), and the commands of fcntl(2) for locks and leases.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* Errors before the file system is asked: no such lock type, or not permitted by the descriptor. */
static bool is_refused(const struct call *call)
{
	return call->err == EBADF || call->err == EINVAL;
}

/* strace shows a wait that was interrupted by a signal, and may restart, by other names. */
static long long result_of(const struct call *call)
{
	if (call->err)
		return -call->err;
	return call->result < 0 ? -EINTR : 0;
}

static void expect_lock(struct comparison *c, struct want *want, const char *type, const char *how)
{
	char flags[64] = "";

	if (type)
		add_word(flags, type);
	if (how)
		add_word(flags, how);
	want->kind = "lock";
	want->flags = flags[0] ? flags : "0";
	want->has_result = true;
	want->result = result_of(c->call);
	expect(c, want);
}

void leave_flock(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct want want = { .file = file_of(c->self, (int)argument_number(call, 0)),
			     .has_offset = true };
	bool is_nonblocking = argument_has_flag(call, 1, "LOCK_NB");
	const char *type = argument_has_flag(call, 1, "LOCK_SH") ? "shared" :
			   argument_has_flag(call, 1, "LOCK_EX") ? "exclusive" :
								   NULL;

	(void)dir, (void)path;
	if (want.file && !is_refused(call))
		expect_lock(c, &want, type, is_nonblocking || !type ? "flock" : "wait|flock");
}

/* A number in strace's representation of a struct flock. */
static long long number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoll(at + strlen(key), NULL, 0) : 0;
}

static const char *type_in(const char *text)
{
	if (strstr(text, "l_type=F_RDLCK"))
		return "shared";
	return strstr(text, "l_type=F_WRLCK") ? "exclusive" : NULL;
}

/**
 * leave_lock() - fcntl(2) with one of the lock commands
 * @c: the comparison; the call is on a known file
 * @command: the command
 */
void leave_lock(struct comparison *c, const char *command)
{
	const struct call *call = c->call;
	const char *range = argument_text(call, 2), *type = type_in(range);
	struct want want = { .file = file_of(c->self, (int)argument_number(call, 0)) };
	char how[32] = "";

	if (strstr(command, "LEASE")) {
		apply(c, RULE_LEASES);
		return;
	}
	if (is_refused(call))
		return;
	if (strstr(command, "GETLK")) { /* strace shows the result, not the request */
		expect_simple(c, "lock", NULL, result_of(call));
		return;
	}
	want.has_offset = strstr(range, "l_whence=SEEK_SET");
	want.offset = number_after(range, "l_start=");
	if (strstr(command, "SETLKW") && type)
		add_word(how, "wait");
	if (!strncmp(command, "F_OFD_", 6))
		add_word(how, "ofd");
	expect_lock(c, &want, type, how[0] ? how : NULL);
}
