// SPDX-License-Identifier: GPL-2.0-only
/*
 * profile.c - what a trace amounts to: when the run began, whose bytes, times and threads are whose.
 */
#include "analyse/profile.h"

#include <string.h>
#include <sys/stat.h>

#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define HANDLE	  7
#define SECOND_NS 1000000000ull

static struct profile *finish(struct scribe *s)
{
	struct iot_reject reject;
	struct profile *profile;

	scribe_finish(s);
	assert_int_equal(profile_read(scratch_trace, &profile, &reject), 0);
	return profile;
}

/* -- when the run began --------------------------------------------------------------------------- */

enum before { NOTHING, OPENED, MAPPED, SHOWN, PIPE };

static const struct {
	const char *what;
	enum before before;
	bool is_from_first_task;
} beginnings[] = {
	{ "nothing was there before", NOTHING, false },
	{ "a descriptor that its replay opens at the beginning", OPENED, true },
	{ "a mapping", MAPPED, true },
	{ "a handle that an operation showed later", SHOWN, true },
	{ "a pipe, which is not opened", PIPE, false },
};

static void put_before(struct scribe *s, enum before before)
{
	if (before == PIPE)
		PUT(object, .object = SCRIBE_FILE + 1, .type = IOT_TYPE_fifo, .ino = 101, .nlink = 1);
	if (before == MAPPED)
		PUT(mapped, .task = 1, .object = SCRIBE_FILE, .handle = HANDLE, .map = 3, .length_bytes = 4096);
	else if (before != NOTHING)
		PUT(opened, .task = 1, .object = before == PIPE ? SCRIBE_FILE + 1 : SCRIBE_FILE,
		    .handle = HANDLE, .fd = before == SHOWN ? -1 : 3, .name = before == PIPE ? 0 : SCRIBE_NAME);
}

static void the_run_begins_with_what_its_replay_does_first(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		bool is_shown = beginnings[i].before == SHOWN;

		scribe_begin(s);
		if (!is_shown)
			put_before(s, beginnings[i].before);
		s->now_ns += SECOND_NS;
		if (is_shown)
			put_before(s, SHOWN);
		PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 1, .result = 1);
		profile = finish(s);
		assert_row(beginnings[i].what,
			   (profile_seconds(profile) >= 1) == beginnings[i].is_from_first_task);
		profile_free(profile);
	}
}

SUITE("profile",
      WITH_SCRATCH(the_run_begins_with_what_its_replay_does_first))
