// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect_request.c - the records of asynchronous requests: those of io_submit, which strace
 * shows, and those of io_uring, which it does not show.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define PENDING_MAX 64

/* Submitted requests whose results io_getevents has not yet returned, in order. */
static struct {
	struct file *file; /* NULL: not of the mount, or neither read nor write */
	bool is_write;
	long long result; /* from its record */
} pending[PENDING_MAX];
static int pending_count;

static long long number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoll(at + strlen(key), NULL, 0) : 0;
}

/* One of {aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=4</f>, aio_nbytes=4096, aio_offset=0}. */
static void submit_one(struct comparison *c, const char *text)
{
	struct file *file = file_of(c->self, (int)number_after(text, "aio_fildes="));
	bool is_write = strstr(text, "IOCB_CMD_PWRITE");
	struct want want = { .kind = is_write ? "write" : "read", .file = file, .has_offset = true,
			     .offset = number_after(text, "aio_offset="), .has_length = true,
			     .length = number_after(text, "aio_nbytes=") };
	const struct record *record = NULL;

	if (file && (is_write || strstr(text, "IOCB_CMD_PREAD"))) {
		if (peek_kind(c, "submit"))
			want.kind = "submit";
		record = expect(c, &want);
	}
	if (pending_count == PENDING_MAX)
		return;
	pending[pending_count].file = record && strcmp(want.kind, "submit") ? file : NULL;
	pending[pending_count].is_write = is_write;
	pending[pending_count++].result = record ? record_number(record, "result") : 0;
}

/* io_submit(context, count, [{...}, {...}]) = submitted */
static void leave_io_submit(struct comparison *c, int dir, int path)
{
	char *text = strdup(argument_text(c->call, 2)), *at = text, *next;
	long long left = c->call->err ? 0 : c->call->result;

	(void)dir, (void)path;
	while (left-- > 0 && (at = strstr(at, "aio_lio_opcode="))) {
		next = strstr(at + 1, "aio_lio_opcode=");
		if (next)
			next[-1] = 0;
		submit_one(c, at);
		if (!next)
			break;
		at = next;
	}
	free(text);
}

/* io_getevents(context, least, most, [{..., res=4096, ...}], timeout) = got */
static void leave_io_getevents(struct comparison *c, int dir, int path)
{
	const char *at = argument_text(c->call, 3);
	long long result;

	(void)dir, (void)path;
	while ((at = strstr(at, "res=")) && pending_count) {
		result = number_after(at, "res=");
		at += strlen("res=");
		if (pending[0].file) {
			count_bytes(c, pending[0].file, pending[0].is_write, result);
			if (pending[0].result != result)
				difference(c, "by the record the result is %lld", pending[0].result);
		}
		memmove(pending, pending + 1, (size_t)--pending_count * sizeof(pending[0]));
	}
}

/* The requests are in memory that strace does not read. */
static void leave_io_uring_enter(struct comparison *c, int dir, int path)
{
	static const char *const kinds[] = { "read", "write", "fsync", "submit" };
	struct record *record;
	bool is_more;
	size_t i;

	(void)dir, (void)path;
	do {
		is_more = false;
		for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			record = take_kind(c, kinds[i]);
			if (!record)
				continue;
			is_more = true;
			apply(c, RULE_REQUEST);
			count_record_bytes(c, record);
		}
	} while (is_more);
}

const struct route request_routes[] = {
	{ "io_getevents", leave_io_getevents, 0, 0 },
	{ "io_pgetevents", leave_io_getevents, 0, 0 },
	{ "io_submit", leave_io_submit, 0, 0 },
	{ "io_uring_enter", leave_io_uring_enter, 0, 0 },
	{},
};
