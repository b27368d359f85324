// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover_runs.c - runs of a discovery, read from their traces.
 *
 * A run has two tasks, 1 and 2, which read a file with the path a.
 */
#include "discover/run.h"

#include <string.h>

#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define READS 50

static void read_file(struct scribe *s, u32 task)
{
	s->task = task;
	PUT(read, .object = SCRIBE_FILE, .length_bytes = 10, .result = 10);
}

static void write_run(void)
{
	struct scribe scribe, *s = &scribe;
	u32 i;

	scribe_begin(s);
	for (i = 0; i < READS; i++)
		read_file(s, 1 + i % 2);
	scribe_finish(s);
}

static void runs_share_one_copy_of_a_path(void **state)
{
	struct run runs[2] = {};
	struct iot_reject reject;
	struct run_paths *paths;
	u32 i, j, k;

	(void)state;
	write_run();
	assert_int_equal(run_paths_open(&paths), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(run_load(&runs[i], scratch_trace, paths, &reject), 0);
		assert_int_equal(runs[i].task_count, 2);
		for (j = 0; j < 2; j++)
			for (k = 0; k < READS / 2; k++)
				assert_ptr_equal(runs[i].tasks[j].places[k].path, runs[0].tasks[0].places[0].path);
	}
	assert_string_equal(runs[0].tasks[0].places[0].path, "a");
	assert_int_equal(run_paths_count(paths), 1);
	run_free(&runs[0]);
	run_free(&runs[1]);
	run_paths_close(paths);
}

static void different_paths_have_different_copies(void **state)
{
	struct run_paths *paths;
	char text[16];
	const char *copy;
	u32 i;

	(void)state;
	assert_int_equal(run_paths_open(&paths), 0);
	for (i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "/%u", i % 1000);
		copy = run_paths_intern(paths, text);
		assert_ptr_not_equal(copy, text);
		assert_string_equal(copy, text);
	}
	assert_int_equal(run_paths_count(paths), 1000);
	run_paths_close(paths);
}

SUITE("discover_runs",
      WITH_SCRATCH(runs_share_one_copy_of_a_path)
      TEST(different_paths_have_different_copies))
