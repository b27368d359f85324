// SPDX-License-Identifier: GPL-2.0-only
/*
 * placement.c - tasks are placed on nodes by their ranks, and tasks that share state stay together.
 */
#include "replay/placement.h"

#include <errno.h>
#include <stdlib.h>

#include "builder.h"
#include "suite.h"

#define TASKS_MAX 16

struct fixture {
	struct builder b;
	u8 *bytes;
	struct iot_program program;
	u32 node_of[TASKS_MAX + 1];
	struct placement placement;
};

static int place(struct fixture *f, u32 nodes, enum placement_rule rule)
{
	struct iot_reject reject;
	size_t byte_count;

	free(f->bytes);
	f->bytes = builder_bytes(&f->b, &byte_count);
	assert_int_equal(iot_program_open(&f->program, f->bytes, byte_count, &reject), 0);
	memset(f->node_of, 0xee, sizeof(f->node_of));
	return placement_compute(&f->program, nodes, rule, f->node_of, &f->placement);
}

static void fixture_close(struct fixture *f)
{
	free(f->bytes);
	builder_close(&f->b);
}

/* A task of a rank, or of none if it is negative; a child of another task, or of none. */
static void add(struct fixture *f, int rank, int parent)
{
	struct iot_program_task *task = builder_task(&f->b);

	task->rank = cpu_to_le32((u32)(rank + 1));
	if (parent >= 0)
		task->parent = cpu_to_le32((u32)parent);
}

static void add_ranks(struct fixture *f, int count)
{
	int i;

	for (i = 0; i < count; i++)
		add(f, i, -1);
}

static struct iot_program_op *add_on_handle(struct fixture *f, u16 kind, u32 handle)
{
	struct iot_program_op *op = builder_op(&f->b, kind);

	op->handle = cpu_to_le32(handle);
	return op;
}

static void assert_nodes(const struct fixture *f, const char *row, const char *nodes)
{
	u32 i;

	for (i = 0; i < f->program.task_count; i++)
		assert_row(row, f->node_of[i] == (u32)(nodes[i] - '0'));
}

static void ranks_are_placed_by_the_rule(void **state)
{
	static const struct {
		const char *name;
		enum placement_rule rule;
		u32 nodes;
		const char *node_of;
		u32 used;
	} rows[] = {
		{ "one node", PLACEMENT_AUTO, 1, "0000", 1 },
		{ "blocks of two", PLACEMENT_AUTO, 2, "0011", 2 },
		{ "unequal blocks", PLACEMENT_BLOCK, 3, "0012", 3 },
		{ "more nodes than ranks", PLACEMENT_BLOCK, 6, "0134", 4 },
		{ "cyclic on two", PLACEMENT_CYCLIC, 2, "0101", 2 },
		{ "cyclic on three", PLACEMENT_CYCLIC, 3, "0120", 3 },
	};
	struct fixture f = {};
	size_t i;

	(void)state;
	builder_open(&f.b);
	add_ranks(&f, 4);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(place(&f, rows[i].nodes, rows[i].rule), 0);
		assert_nodes(&f, rows[i].name, rows[i].node_of);
		assert_row(rows[i].name, f.placement.used == rows[i].used && !f.placement.tied);
		assert_row(rows[i].name, f.placement.ranks == 4 && f.placement.rule != PLACEMENT_AUTO);
	}
	fixture_close(&f);
}

/* A shell starts launchers, the second of which starts ranks 2 and 3; rank 2 has a child. */
static void tasks_without_a_rank_are_placed_with_relatives(void **state)
{
	struct fixture f = {};

	(void)state;
	builder_open(&f.b);
	add(&f, -1, -1); /* shell */
	add(&f, -1, 0);	 /* launcher of ranks 0 and 1 */
	add(&f, 0, 1);
	add(&f, 1, 1);
	add(&f, -1, 0); /* launcher of ranks 2 and 3 */
	add(&f, 3, 4);
	add(&f, 2, 4);
	add(&f, -1, 6); /* child of rank 2 */
	add(&f, -1, 7);
	add(&f, -1, -1); /* no parent */
	add(&f, -1, 4);	 /* child of the launcher, not a rank */
	assert_int_equal(place(&f, 4, PLACEMENT_BLOCK), 0);
	assert_nodes(&f, "kin", "00012322202");
	assert_int_equal(f.placement.tied, 0);
	fixture_close(&f);
}

static void cycle_of_parents_terminates(void **state)
{
	struct fixture f = {};

	(void)state;
	builder_open(&f.b);
	add(&f, -1, 1);
	add(&f, -1, 2);
	add(&f, -1, 0);
	add(&f, 1, 4);
	add(&f, 0, 3);
	assert_int_equal(place(&f, 2, PLACEMENT_BLOCK), 0);
	assert_nodes(&f, "circle", "00010");
	fixture_close(&f);
}

static void traced_nodes_are_preserved(void **state)
{
	struct fixture f = {};

	(void)state;
	builder_open(&f.b);
	add_ranks(&f, 4); /* with the ids 1 to 4 */
	assert_int_equal(place(&f, 2, PLACEMENT_TRACE), -ENOENT);
	builder_fact(&f.b, "trace.node.a.ranks", "0,2");
	builder_fact(&f.b, "trace.node.a.tasks", "1-1");
	builder_fact(&f.b, "trace.node.b.tasks", "2-4");
	assert_int_equal(place(&f, 2, PLACEMENT_AUTO), 0);
	assert_nodes(&f, "as traced", "0111");
	assert_int_equal(f.placement.rule, PLACEMENT_TRACE);
	assert_int_equal(place(&f, 3, PLACEMENT_AUTO), 0);
	assert_nodes(&f, "another number of nodes", "0012");
	assert_int_equal(place(&f, 1, PLACEMENT_TRACE), 0);
	assert_nodes(&f, "fewer nodes", "0000");
	fixture_close(&f);
}

/* Rank 3 shares a handle with rank 1, and a latch with all. */
static void tasks_that_share_stay_together(void **state)
{
	static const struct {
		const char *name;
		u16 kind;
		u32 handle, other, mode, flags;
		bool is_tied;
	} rows[] = {
		{ "a handle", IOT_KIND_read, 2, 0, 0, 0, true },
		{ "the end of a handle", IOT_KIND_release, 2, 0, 0, 0, true },
		{ "the target of a copy", IOT_KIND_copy_range, 0, 2, 0, 0, true },
		{ "a mapping", IOT_KIND_touch, 0, 2, 0, 0, true },
		{ "a mode is not an owner", IOT_KIND_mkdir, 0, 0, 2, 0, false },
		{ "the owner of a lock", IOT_KIND_flush, 0, 0, 2, 0, true },
		{ "memory", IOT_PLAY_nop, 0, 0, 0, IOT_TASK_MAPS, true },
		{ "a latch is not a handle", IOT_PLAY_signal, 2, 0, 0, 0, false },
		{ "nothing", IOT_PLAY_wait, 0, 0, 0, 0, false },
	};
	size_t i;
	u32 rank;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fixture f = {};

		builder_open(&f.b);
		f.b.head.handles = cpu_to_le32(2);
		f.b.head.maps = cpu_to_le32(2);
		for (rank = 0; rank < 4; rank++) {
			struct iot_program_op *op;

			add(&f, (int)rank, -1);
			op = add_on_handle(&f, rank & 1 ? rows[i].kind : IOT_PLAY_wait,
					   rank & 1 ? rows[i].handle : 0);
			op->other = cpu_to_le32(rank & 1 ? rows[i].other : 0);
			op->mode = cpu_to_le32(rank & 1 ? rows[i].mode : 0);
		}
		for (rank = 0; rank < 4; rank++) {
			struct iot_program_task *tasks = (void *)f.b.sections[IOT_SECTION_TASKS].bytes;

			tasks[rank].flags = cpu_to_le32(rows[i].flags);
			tasks[rank].space = cpu_to_le32(rank & 1);
		}
		assert_int_equal(place(&f, 4, PLACEMENT_BLOCK), 0);
		assert_nodes(&f, rows[i].name,
			     !rows[i].is_tied ? "0123" : rows[i].flags ? "0101" : "0121");
		assert_row(rows[i].name,
			   f.placement.tied == (rows[i].is_tied ? (rows[i].flags ? 2u : 1u) : 0u));
		fixture_close(&f);
	}
}

SUITE("placement",
      TEST(ranks_are_placed_by_the_rule)
      TEST(tasks_without_a_rank_are_placed_with_relatives)
      TEST(cycle_of_parents_terminates)
      TEST(traced_nodes_are_preserved)
      TEST(tasks_that_share_stay_together))
