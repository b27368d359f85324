// SPDX-License-Identifier: GPL-2.0-only
/*
 * tokens.c - the programs `tokens` and `free`, see programs.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <iotape/schema.h>

#include "programs.h"

#define TASKS	64
#define RANKS	4
#define TOKENS	16
#define ROUNDS	8
#define MOVES	512 /* of a round, of all tokens */

struct move {
	u32 task;
	u32 index; /* in the task */
	u32 token;
	u32 step; /* of the token */
};

/*
 * The moves of tokens by tasks: each round begins with a barrier, in which every task signals and
 * waits. The number of a task's operation is known as soon as its earlier moves are.
 */
static struct move *plan(void)
{
	struct move *moves = calloc(ROUNDS * MOVES, sizeof(*moves));
	u32 steps[TOKENS] = {}, counts[TASKS] = {}, round, i, task;

	srand(count);
	for (round = 0; moves && round < ROUNDS; round++) {
		for (task = 0; task < TASKS; task++)
			counts[task] += 2;
		for (i = 0; i < MOVES; i++) {
			struct move *move = &moves[round * MOVES + i];

			move->token = (u32)rand() % TOKENS;
			move->task = (u32)rand() % TASKS;
			move->index = counts[move->task]++;
			move->step = steps[move->token]++;
		}
	}
	return moves;
}

static const struct move *move_before(const struct move *moves, u32 at)
{
	u32 i;

	for (i = at; i-- > 0;)
		if (moves[i].token == moves[at].token)
			return &moves[i];
	return NULL;
}

static void add_barrier(struct builder *b, u32 round, bool is_ordered)
{
	builder_op(b, IOT_PLAY_signal)->handle = cpu_to_le32(round + 1);
	builder_op(b, IOT_PLAY_wait);
	if (is_ordered)
		builder_wait(b, IOT_WAIT_LATCH, round);
}

static void add_move(struct builder *b, const struct move *moves, u32 at, bool is_ordered)
{
	const struct move *move = &moves[at], *before = move_before(moves, at);
	char from[64], to[64];

	snprintf(from, sizeof(from), "d%u/token%u.%u", move->step % 3, move->token, move->step);
	snprintf(to, sizeof(to), "d%u/token%u.%u", (move->step + 1) % 3, move->token, move->step + 1);
	op_on_paths(b, IOT_KIND_rename, from, to, 0);
	if (before && is_ordered)
		builder_wait(b, before->task, before->index);
}

static void make_tokens(struct builder *b, bool is_ordered)
{
	struct move *moves = plan();
	u32 task, round, i;
	char path[64];

	if (!moves)
		abort();
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "d%u", i);
		builder_entry(b, path, S_IFDIR | 0755);
	}
	for (i = 0; i < TOKENS; i++) {
		snprintf(path, sizeof(path), "d0/token%u.0", i);
		builder_entry(b, path, S_IFREG | 0644);
	}
	for (i = 0; i < ROUNDS; i++)
		builder_latch(b, TASKS);
	for (task = 0; task < TASKS; task++) {
		builder_task(b)->rank = cpu_to_le32(task / (TASKS / RANKS) + 1);
		for (round = 0; round < ROUNDS; round++) {
			add_barrier(b, round, is_ordered);
			for (i = round * MOVES; i < (round + 1) * MOVES; i++)
				if (moves[i].task == task)
					add_move(b, moves, i, is_ordered);
		}
	}
	free(moves);
}

void make_ordered(struct builder *b)
{
	make_tokens(b, true);
}

void make_free(struct builder *b)
{
	make_tokens(b, false);
}
