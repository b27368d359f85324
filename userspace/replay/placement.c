// SPDX-License-Identifier: GPL-2.0-only
/*
 * placement.c - assigns tasks to nodes by rank, and keeps tasks together that cannot be separated.
 *
 * A task belongs to the rank of its process, or of the nearest process above that has one; a
 * launcher, which is above ranks, to the first of them; any other to the first rank of all.
 *
 * Tasks that share an open file, a mapping, memory, or the locks of a process cannot be on two nodes:
 * there is only one of each. They are joined to sets, by union-find (Tarjan: Efficiency of a good but
 * not linear set union algorithm, 1975), and a set is placed with the first of its ranks.
 */
#include "core/replay/operation.h"
#include "placement.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NONE 0xffffffffu

struct placer {
	const struct iot_program *program;
	u32 *rank;   /* of each task, NONE if it has none */
	u32 *lowest; /* of each task, of the ranks below it */
	u32 *set;    /* of each task, another one of its set; itself if it stands for the set */
	u32 *node;   /* of each rank */
	u32 rank_count;
};

/* -- ranks of tasks -------------------------------------------------------------------------- */

static u32 parent_of(const struct placer *p, u32 task)
{
	return le32_to_cpu(p->program->tasks[task].parent);
}

/* Parents may form a circle; the number of steps is limited. */
static u32 rank_above(const struct placer *p, u32 task)
{
	u32 steps = p->program->task_count;

	while (p->rank[task] == NONE && parent_of(p, task) != task && steps--)
		task = parent_of(p, task);
	return p->rank[task];
}

static void lower_ancestors(struct placer *p, u32 task)
{
	u32 rank = p->rank[task];

	while (p->lowest[task] > rank) {
		p->lowest[task] = rank;
		task = parent_of(p, task);
	}
}

/* Tasks with a rank, then their ancestors, then their descendants, then the rest. */
static void find_ranks(struct placer *p)
{
	u32 count = p->program->task_count, i;

	for (i = 0; i < count; i++) {
		p->rank[i] = le32_to_cpu(p->program->tasks[i].rank) - 1; /* 0 becomes NONE */
		p->lowest[i] = NONE;
		if (p->rank[i] != NONE && p->rank[i] >= p->rank_count)
			p->rank_count = p->rank[i] + 1;
	}
	for (i = 0; i < count; i++)
		if (p->rank[i] != NONE)
			lower_ancestors(p, i);
	for (i = 0; i < count; i++)
		if (p->rank[i] == NONE)
			p->rank[i] = p->lowest[i];
	for (i = 0; i < count; i++)
		if (p->rank[i] == NONE)
			p->rank[i] = rank_above(p, i);
}

/* -- tasks that cannot be separated --------------------------------------------------------------------- */

static u32 set_of(struct placer *p, u32 task)
{
	while (p->set[task] != task) {
		p->set[task] = p->set[p->set[task]];
		task = p->set[task];
	}
	return task;
}

static void join_tasks(struct placer *p, u32 a, u32 b)
{
	a = set_of(p, a);
	b = set_of(p, b);
	if (a == b)
		return;
	if (p->rank[a] > p->rank[b]) { /* the one with the lower rank stands for both; NONE is not a rank */
		p->set[a] = b;
	} else {
		p->set[b] = a;
	}
}

/* Join the task to the first user of the same object. */
static void join_user(struct placer *p, u32 *first, u32 number, u32 task)
{
	if (first[number] == NONE)
		first[number] = task;
	else
		join_tasks(p, first[number], task);
}

struct firsts {
	u32 *handles;
	u32 *maps;
	u32 *owners;
	u32 *spaces;
};

static void join_op(struct placer *p, const struct firsts *f, const struct iot_program_op *op, u32 task)
{
	u32 uses = iot_operation(le16_to_cpu(op->kind))->uses;

	if (op->handle && !(uses & IOT_USE_BIT(latch)))
		join_user(p, f->handles, le32_to_cpu(op->handle), task);
	if (uses & IOT_USE_BIT(to_handle))
		join_user(p, f->handles, le32_to_cpu(op->to_handle), task);
	if (uses & (IOT_USE_BIT(map) | IOT_USE_BIT(new_map)))
		join_user(p, f->maps, le32_to_cpu(op->map), task);
	if (uses & IOT_USE_BIT(owner) && op->owner)
		join_user(p, f->owners, le32_to_cpu(op->owner), task);
}

static u32 *make_firsts(u32 count)
{
	u32 *first = malloc((count + 1ul) * sizeof(*first));

	if (first)
		memset(first, 0xff, (count + 1ul) * sizeof(*first));
	return first;
}

static void join_all(struct placer *p, const struct firsts *f)
{
	const struct iot_program *program = p->program;
	u32 i, j;

	for (i = 0; i < program->task_count; i++) {
		const struct iot_program_task *task = &program->tasks[i];
		const struct iot_program_op *ops = program->ops + le64_to_cpu(task->first_op);

		if (le32_to_cpu(task->flags) & IOT_TASK_QUEUE)
			join_tasks(p, le32_to_cpu(task->parent), i);
		if (le32_to_cpu(task->flags) & IOT_TASK_MAPS)
			join_user(p, f->spaces, le32_to_cpu(task->space), i);
		for (j = 0; j < le32_to_cpu(task->op_count); j++)
			join_op(p, f, &ops[j], i);
	}
}

static int find_sets(struct placer *p)
{
	const struct iot_program *program = p->program;
	struct firsts firsts = {
		.handles = make_firsts(program->handle_count),
		.maps = make_firsts(program->map_count),
		.owners = make_firsts(program->task_count),
		.spaces = make_firsts(program->task_count),
	};
	int err = firsts.handles && firsts.maps && firsts.owners && firsts.spaces ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < program->task_count; i++)
		p->set[i] = i;
	if (!err)
		join_all(p, &firsts);
	free(firsts.handles);
	free(firsts.maps);
	free(firsts.owners);
	free(firsts.spaces);
	return err;
}

/* -- nodes of ranks --------------------------------------------------------------------------- */

/* Ids of the tasks of the traced nodes, as `iotape merge` writes them: node.NAME.tasks=FIRST-LAST. */
static bool take_range(const struct iot_program *program, u32 fact, u32 *first, u32 *last)
{
	const char *key = iot_program_string(program, program->facts[fact].key);
	size_t bytes = strlen(key);
	unsigned int from, to;

	if (bytes < 17 || strncmp(key, "trace.node.", 11) || strcmp(key + bytes - 6, ".tasks") ||
	    sscanf(iot_program_string(program, program->facts[fact].value), "%u-%u", &from, &to) != 2)
		return false;
	*first = from;
	*last = to;
	return true;
}

static u32 count_traced_nodes(const struct iot_program *program)
{
	u32 count = 0, first, last, i;

	for (i = 0; i < program->fact_count; i++)
		count += take_range(program, i, &first, &last);
	return count;
}

static u32 traced_node(const struct iot_program *program, u32 origin)
{
	u32 count = 0, first, last, i;

	for (i = 0; i < program->fact_count; i++) {
		if (!take_range(program, i, &first, &last))
			continue;
		if (origin >= first && origin <= last)
			return count;
		count++;
	}
	return 0;
}

static void place_as_traced(struct placer *p, u32 nodes)
{
	const struct iot_program *program = p->program;
	u64 traced = count_traced_nodes(program);
	u32 i;

	for (i = 0; i < program->task_count; i++) {
		u32 rank = le32_to_cpu(program->tasks[i].rank);
		u64 node = traced_node(program, le32_to_cpu(program->tasks[i].origin));

		if (rank)
			p->node[rank - 1] = (u32)(traced > nodes ? node * nodes / traced : node);
	}
}

static void place_ranks(struct placer *p, u32 nodes, enum placement_rule rule)
{
	u32 i;

	for (i = 0; i < p->rank_count; i++)
		p->node[i] = rule == PLACEMENT_CYCLIC ? i % nodes :
						    (u32)((u64)i * nodes / p->rank_count);
	if (rule == PLACEMENT_TRACE)
		place_as_traced(p, nodes);
}

static u32 rank_node(const struct placer *p, u32 rank)
{
	return rank == NONE || !p->rank_count ? 0 : p->node[rank];
}

static int put_tasks(struct placer *p, u32 *node_of, struct placement *placement, u32 nodes)
{
	bool *is_used = calloc(nodes, 1), *is_tied = calloc(p->rank_count + 1ul, 1);
	int err = is_used && is_tied ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < p->program->task_count && !err; i++) {
		u32 rank = p->rank[i];

		node_of[i] = rank_node(p, p->rank[set_of(p, i)]);
		placement->used += !is_used[node_of[i]];
		is_used[node_of[i]] = true;
		if (rank == NONE || node_of[i] == rank_node(p, rank) || is_tied[rank] ||
		    !p->program->tasks[i].rank)
			continue;
		is_tied[rank] = true;
		placement->tied++;
	}
	free(is_used);
	free(is_tied);
	return err;
}

/**
 * placement_compute() - assign each task to a node
 * @program: verified
 * @nodes: their number, 1 to PLACEMENT_NODES_MAX
 * @rule: the rule to follow
 * @node_of: out: node of each task, and room for one more
 * @placement: out
 *
 * The result depends on the program, the number of nodes and the rule only: each node gets the same.
 *
 * Return: 0; -EINVAL if the program has more ranks than possible, -ENOENT if the nodes of the
 * trace are unknown, -ENOMEM.
 */
int placement_compute(const struct iot_program *program, u32 nodes, enum placement_rule rule, u32 *node_of,
		struct placement *placement)
{
	size_t room = (program->task_count + 1ul) * sizeof(u32);
	struct placer p = {
		.program = program,
		.rank = malloc(room),
		.lowest = malloc(room),
		.set = malloc(room),
	};
	u32 traced = count_traced_nodes(program);
	int err = p.rank && p.lowest && p.set ? 0 : -ENOMEM;

	if (!err)
		find_ranks(&p);
	if (!err && p.rank_count > IOT_PROGRAM_TASKS_MAX)
		err = -EINVAL;
	if (!err && rule == PLACEMENT_TRACE && !traced)
		err = -ENOENT;
	if (!err) {
		p.node = calloc(p.rank_count + 1ul, sizeof(*p.node));
		err = p.node ? find_sets(&p) : -ENOMEM;
	}
	if (rule == PLACEMENT_AUTO)
		rule = traced == nodes && traced > 1 ? PLACEMENT_TRACE : PLACEMENT_BLOCK;
	*placement = (struct placement){ .rule = rule, .ranks = p.rank_count };
	if (!err) {
		place_ranks(&p, nodes, rule);
		err = put_tasks(&p, node_of, placement, nodes);
	}
	free(p.rank);
	free(p.lowest);
	free(p.set);
	free(p.node);
	return err;
}

/* A rank is on the node of the task that has it. */
static void mark_ranks(const struct iot_program *program, const u32 *node_of, u32 node, bool *is_here)
{
	u32 i;

	for (i = 0; i < program->task_count; i++)
		if (program->tasks[i].rank && node_of[i] == node)
			is_here[le32_to_cpu(program->tasks[i].rank) - 1] = true;
}

/**
 * placement_list_ranks() - the ranks of a node
 * @program: verified
 * @node_of: as of placement_compute()
 * @node: which
 * @text: out: "0-3,6"; it ends earlier if there is no room for more
 * @room: room for it, at least 32 bytes
 */
void placement_list_ranks(const struct iot_program *program, const u32 *node_of, u32 node, char *text,
		      size_t room)
{
	u32 count = 0, i, first, last;
	size_t bytes = 0;
	bool *is_here;

	text[0] = 0;
	for (i = 0; i < program->task_count; i++)
		if (le32_to_cpu(program->tasks[i].rank) > count)
			count = le32_to_cpu(program->tasks[i].rank);
	is_here = calloc(count + 1ul, 1);
	if (!is_here)
		return;
	mark_ranks(program, node_of, node, is_here);
	for (first = 0; first < count && room - bytes >= 32; first = last + 1) {
		last = first;
		if (!is_here[first])
			continue;
		while (is_here[last + 1])
			last++;
		bytes += (size_t)snprintf(text + bytes, room - bytes, last > first ? "%s%u-%u" : "%s%u",
					  bytes ? "," : "", first, last);
	}
	free(is_here);
}
