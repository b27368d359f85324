// SPDX-License-Identifier: GPL-2.0-only
/*
 * selection.c - the chunks that a selection leaves out, by their summaries: only those that cannot have a selected record.
 */
#include "analyse/stats/selection.h"

#include "suite.h"

#define ORIGIN_NS 1000

static bool may_match(const struct selection *selection, const struct iot_summary *summary)
{
	const struct actors actors = { .origin_ns = ORIGIN_NS };

	return selection_may_match(selection, &actors, summary);
}

/* Reads of the tasks 3 and 7, from 50 to 90 ns after the start of the trace. */
static struct iot_summary reads(void)
{
	struct iot_summary summary = { .earliest_ns = ORIGIN_NS + 50, .latest_ns = ORIGIN_NS + 90, .task_count = 2 };

	summary.tasks[0] = 3;
	summary.tasks[1] = 7;
	iot_kinds_add(summary.kinds, IOT_KIND_read);
	return summary;
}

static void time_selects(void **state)
{
	const struct iot_summary summary = reads();

	(void)state;
	assert_true(may_match(&(struct selection){ .since_ns = 90 }, &summary));
	assert_false(may_match(&(struct selection){ .since_ns = 91 }, &summary));
	assert_true(may_match(&(struct selection){ .until_ns = 51 }, &summary));
	assert_false(may_match(&(struct selection){ .until_ns = 50 }, &summary));
	assert_true(may_match(&(struct selection){ .since_ns = 60, .until_ns = 70 }, &summary));
}

static void times_that_wrap_around_are_not_used(void **state)
{
	struct iot_summary summary = reads();

	(void)state;
	summary.latest_ns = summary.earliest_ns - 1;
	assert_true(may_match(&(struct selection){ .since_ns = 1000 }, &summary));
	summary.latest_ns = summary.earliest_ns + INT64_MAX;
	assert_true(may_match(&(struct selection){ .until_ns = 1 }, &summary));
}

static void task_selects(void **state)
{
	struct iot_summary summary = reads();

	(void)state;
	assert_true(may_match(&(struct selection){ .task = 7 }, &summary));
	assert_false(may_match(&(struct selection){ .task = 5 }, &summary));
	summary.has_more_tasks = true;
	summary.task_count = 0;
	assert_true(may_match(&(struct selection){ .task = 5 }, &summary));
}

static void operation_selects(void **state)
{
	const struct iot_summary summary = reads();
	struct selection selection = { .has_ops = true };

	(void)state;
	selection.is_op[IOT_KIND_write] = true;
	assert_false(may_match(&selection, &summary));
	selection.is_op[IOT_KIND_read] = true;
	assert_true(may_match(&selection, &summary));
}

static void path_selects_operations(void **state)
{
	struct iot_summary summary = reads();
	const struct selection selection = { .pattern = "*" };

	(void)state;
	assert_true(may_match(&selection, &summary));
	memset(summary.kinds, 0, sizeof(summary.kinds));
	iot_kinds_add(summary.kinds, IOT_KIND_mpi_coll);
	assert_false(may_match(&selection, &summary));
}

SUITE("selection",
      TEST(time_selects)
      TEST(times_that_wrap_around_are_not_used)
      TEST(task_selects)
      TEST(operation_selects)
      TEST(path_selects_operations))
