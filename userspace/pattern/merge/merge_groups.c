// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge_groups.c - the structure of the merged pattern, its groups and their columns.
 *
 * Shapes and nodes are numbered as if the tasks had been read from one trace: a source has those of each task in that order already, because
 * its tasks come in the order of the merged pattern. The series of each task is the same in the merged column; only what the tasks have in
 * common is found again. One column is unrolled at a time.
 */
#include "merge.h"

#define TABLE_MAX (1u << 27) /* values of one column */

/* A group of a source that is in a merged one. */
struct member {
	u32 source;
	u32 group;
	struct plan *plan;
	u32 plan_count;
};

/* Where a merged column comes from: a column, or a number of the node's name for each operation of the run with this column of counts. */
struct plan {
	u32 column;
	bool is_number;
	u64 number;
};

/* A task of a merged group. */
struct group_task {
	u32 member;
	u64 position;
};

struct merged_group {
	struct member *members;
	u32 member_count;
	struct group_task *tasks;
	u64 task_count;
	u64 room;
};

struct grouping {
	struct merge *m;
	struct merged_group *groups; /* as in the merged pattern */
	u32 group_room;
	u32 **group_of; /* by source and group: the merged one, plus 1 */
	u32 **member_of;
};

/* -- structure ------------------------------------------------------------------------------------------------------------- */

static int map_shape(struct merge *m, struct merge_shape *shape, u32 *index)
{
	int err = 0;

	if (!shape->bytes.count)
		return -EBADMSG; /* of a look-up that found something, in a task */
	if (!shape->is_mapped)
		err = shapes_add(&m->pattern->shapes, shape->bytes.data, shape->bytes.count, &shape->index);
	shape->is_mapped = !err;
	*index = shape->index;
	return err;
}

static int map_node(struct merge *m, struct merge_source *s, u32 index)
{
	const struct node *node = nodes_at(&s->pattern->nodes, index);
	u32 count = node->type == NODE_RUN ? 1 : node->body_count, *body = calloc(count + 1ul, sizeof(*body)), i;
	int err = body ? 0 : -ENOMEM;

	if (!err && node->type == NODE_RUN)
		err = map_shape(m, &s->shapes[node->shape], &body[0]);
	for (i = 0; !err && node->type != NODE_RUN && i < count; i++)
		body[i] = s->node_map[node->body[i]];
	if (!err)
		err = nodes_add(&m->pattern->nodes, &m->pattern->shapes, node->type, body, count, &s->node_map[index]);
	free(body);
	return err;
}

/* The nodes of a structure, and all before them: they belong to earlier tasks. */
static int map_structure(struct merge *m, struct merge_source *s, u32 root)
{
	int err = 0;

	for (; s->node_map_count <= root && !err; s->node_map_count++)
		err = map_node(m, s, s->node_map_count);
	return err;
}

/* -- groups ------------------------------------------------------------------------------------------------------------------ */

static int make_group_room(struct grouping *g)
{
	struct pattern *p = g->m->pattern;
	u32 room = g->group_room ? 2 * g->group_room : 16;
	struct merged_group *groups = reallocarray(g->groups, room, sizeof(*groups));
	struct group *of_pattern;

	if (groups)
		g->groups = groups;
	of_pattern = reallocarray(p->groups, room, sizeof(*of_pattern));
	if (of_pattern)
		p->groups = of_pattern;
	if (!groups || !of_pattern)
		return -ENOMEM;
	g->group_room = room;
	return 0;
}

/* Groups are in the order of their roots: that of a new one is the last node. */
static int find_group(struct grouping *g, u32 root, u32 *index)
{
	struct pattern *p = g->m->pattern;
	const struct node *node = nodes_at(&p->nodes, root);
	u32 low = 0, high = p->group_count, middle;
	struct group *group;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (p->groups[middle].root < root)
			low = middle + 1;
		else
			high = middle;
	}
	*index = low;
	if (low < p->group_count && p->groups[low].root == root)
		return 0;
	if (low < p->group_count)
		return -EBADMSG;
	if (p->group_count == g->group_room && make_group_room(g))
		return -ENOMEM;
	group = &p->groups[p->group_count++];
	*group = (struct group){ .root = root };
	g->groups[low] = (struct merged_group){};
	group->columns = calloc(node->columns + 1ul, sizeof(*group->columns));
	group->times = calloc(node->runs + 1ul, sizeof(*group->times));
	group->sums = calloc(node->runs + 1ul, sizeof(*group->sums));
	return group->columns && group->times && group->sums ? 0 : -ENOMEM;
}

static int add_member(struct merged_group *group, u32 source, u32 of_source)
{
	struct member *members = reallocarray(group->members, group->member_count + 1ul, sizeof(*members));

	if (!members)
		return -ENOMEM;
	group->members = members;
	members[group->member_count++] = (struct member){ .source = source, .group = of_source };
	return 0;
}

static int add_task(struct merged_group *group, u32 member, u64 position)
{
	if (group->task_count == group->room) {
		u64 room = group->room ? 2 * group->room : 4;
		struct group_task *tasks = reallocarray(group->tasks, room, sizeof(*tasks));

		if (!tasks)
			return -ENOMEM;
		group->tasks = tasks;
		group->room = room;
	}
	group->tasks[group->task_count++] = (struct group_task){ member, position };
	return 0;
}

static int place_task(struct grouping *g, u32 source, u64 in_source, u64 position)
{
	struct merge_source *s = &g->m->sources[source];
	u32 of_source = (u32)s->places[2 * in_source], index = g->group_of[source][of_source];
	int err = 0;

	if (!index) {
		err = map_structure(g->m, s, s->pattern->groups[of_source].root);
		if (!err)
			err = find_group(g, s->node_map[s->pattern->groups[of_source].root], &index);
		if (!err)
			err = add_member(&g->groups[index], source, of_source);
		if (err)
			return err;
		g->member_of[source][of_source] = g->groups[index].member_count - 1;
		g->group_of[source][of_source] = ++index;
	}
	return add_task(&g->groups[index - 1], g->member_of[source][of_source], position);
}

static int place_tasks(struct grouping *g)
{
	struct merge *m = g->m;
	u64 i;
	int err = 0;

	for (i = 0; i < m->task_count && !err; i++)
		err = place_task(g, m->tasks[i].source, m->tasks[i].position, i);
	if (!err && m->has_found)
		err = place_task(g, m->source_count, 0, i);
	return err;
}

/* -- columns -------------------------------------------------------------------------------------------------------------------- */

static void plan_column(struct member *member, struct plan plan)
{
	member->plan[member->plan_count++] = plan;
}

/* Operands, in order: fields and roles, numbers of both names, list; those of the node's name are the first ones of a name. */
static void plan_run(const struct merge_source *s, struct member *member, u32 number, u32 column)
{
	const struct shape *shape = shapes_at(&s->pattern->shapes, number);
	const struct numbers *numbers = s->shapes[number].numbers;
	u32 counts = column, at[2], next = column + 1, which;
	size_t i;

	at[0] = next + (u32)(__builtin_popcount(shape->operand_fields) + __builtin_popcount(shape->roles));
	at[1] = at[0] + template_count_holes(shape->path, shape->path_bytes);
	plan_column(member, (struct plan){ .column = counts });
	for (which = 0; which < 2; which++) {
		while (next < at[which])
			plan_column(member, (struct plan){ .column = next++ });
		for (i = 0; i < numbers[which].count; i++)
			plan_column(member, (struct plan){ counts, true, numbers[which].values[i] });
	}
	while (next < column + 1 + shape->operand_count)
		plan_column(member, (struct plan){ .column = next++ });
}

static void plan_part(const struct merge_source *s, struct member *member, u32 index, u32 column)
{
	const struct node *node = nodes_at(&s->pattern->nodes, index);
	u32 i;

	if (node->type == NODE_RUN) {
		plan_run(s, member, node->shape, column);
		return;
	}
	if (node->type == NODE_LOOP)
		plan_column(member, (struct plan){ .column = column++ });
	for (i = 0; i < node->body_count; i++) {
		plan_part(s, member, node->body[i], column);
		column += nodes_at(&s->pattern->nodes, node->body[i])->columns;
	}
}

static int plan_member(struct merge *m, struct member *member, u32 columns)
{
	const struct merge_source *s = &m->sources[member->source];

	member->plan = calloc(columns + 1ul, sizeof(*member->plan));
	if (!member->plan)
		return -ENOMEM;
	plan_part(s, member, s->pattern->groups[member->group].root, 0);
	return 0;
}

static int sum_of(const struct series *series, u64 *sum)
{
	struct cursor *cursor = cursor_open(series);

	if (!cursor)
		return -ENOMEM;
	*sum = 0;
	while (!cursor_is_at_end(cursor))
		*sum += cursor_next(cursor);
	cursor_close(cursor);
	return 0;
}

/* As many numbers as the run has operations. */
static int split_number(struct split_series *split, u64 number)
{
	struct series *counts, line = { .form = SERIES_LINE };
	int err = split_series_join(split, &counts);

	if (err)
		return err;
	err = sum_of(counts, &line.count);
	series_free(counts);
	if (err)
		return err;
	line.base = line.count ? number : 0;
	split_series_set(split, &line);
	return split->form.is_failed || split->params.is_failed ? -ENOMEM : 0;
}

static void close_cursors(struct column_cursor **cursors, u32 count)
{
	u32 i;

	for (i = 0; cursors && i < count; i++)
		column_cursor_close(cursors[i]);
	free(cursors);
}

static struct column_cursor **open_cursors(struct merge *m, const struct merged_group *group, u32 column)
{
	struct column_cursor **cursors = calloc(group->member_count + 1ul, sizeof(struct column_cursor *));
	const struct member *member;
	u32 i;

	for (i = 0; cursors && i < group->member_count; i++) {
		member = &group->members[i];
		cursors[i] = column_cursor_open(&m->sources[member->source].pattern->groups[member->group].columns[member->plan[column].column]);
		if (cursors[i])
			continue;
		close_cursors(cursors, i);
		return NULL;
	}
	return cursors;
}

static int merge_column(struct merge *m, const struct merged_group *group, u32 index, struct column *column)
{
	struct column_cursor **cursors = open_cursors(m, group, index);
	struct split_series split = {};
	u64 i, table_values = 0;
	int err = cursors ? 0 : -ENOMEM;

	for (i = 0; i < group->task_count && !err; i++) {
		const struct plan *plan = &group->members[group->tasks[i].member].plan[index];

		err = column_cursor_next(cursors[group->tasks[i].member], &split);
		if (!err && plan->is_number)
			err = split_number(&split, plan->number);
		table_values += split.table.count;
		if (!err && table_values > TABLE_MAX)
			err = merge_refuse(m, "an operand has more than %u irregular numbers", TABLE_MAX);
		if (!err)
			err = column_add_split(column, &split);
	}
	split_series_free(&split);
	close_cursors(cursors, group->member_count);
	return err ? err : column_finish(column);
}

static int set_positions(const struct merged_group *from, struct group *group)
{
	u64 *positions = calloc(from->task_count + 1, sizeof(*positions)), i;

	if (!positions)
		return -ENOMEM;
	for (i = 0; i < from->task_count; i++)
		positions[i] = from->tasks[i].position;
	group->task_count = from->task_count;
	group->positions = series_make(positions, from->task_count);
	free(positions);
	return group->positions ? 0 : -ENOMEM;
}

static void join_times(const struct group *from, struct group *group, u32 runs)
{
	u32 run;

	for (run = 0; run < runs; run++) {
		times_join_counts(&group->times[run].think, &from->times[run].think);
		times_join_counts(&group->times[run].duration, &from->times[run].duration);
		time_sums_join(&group->sums[run].think, &from->sums[run].think);
		time_sums_join(&group->sums[run].duration, &from->sums[run].duration);
	}
}

static int merge_group(struct merge *m, const struct merged_group *from, struct group *group)
{
	const struct node *root = nodes_at(&m->pattern->nodes, group->root);
	u32 i;
	int err = set_positions(from, group);

	for (i = 0; i < from->member_count && !err; i++) {
		err = plan_member(m, &from->members[i], root->columns);
		if (!err)
			join_times(&m->sources[from->members[i].source].pattern->groups[from->members[i].group], group, root->runs);
	}
	for (i = 0; i < root->columns && !err; i++)
		err = merge_column(m, from, i, &group->columns[i]);
	for (i = 0; i < from->member_count; i++) {
		free(from->members[i].plan);
		from->members[i].plan = NULL;
	}
	return err;
}

/* -- the whole ------------------------------------------------------------------------------------------------------------------ */

static int open_grouping(struct grouping *g)
{
	u32 sources = g->m->source_count + g->m->has_found, i;

	g->group_of = calloc(sources + 1ul, sizeof(u32 *));
	g->member_of = calloc(sources + 1ul, sizeof(u32 *));
	for (i = 0; g->group_of && g->member_of && i < sources; i++) {
		g->group_of[i] = calloc(g->m->sources[i].pattern->group_count + 1ul, sizeof(u32));
		g->member_of[i] = calloc(g->m->sources[i].pattern->group_count + 1ul, sizeof(u32));
		if (!g->group_of[i] || !g->member_of[i])
			return -ENOMEM;
	}
	return g->group_of && g->member_of ? 0 : -ENOMEM;
}

static void close_grouping(struct grouping *g)
{
	u32 sources = g->m->source_count + g->m->has_found, i;

	for (i = 0; i < sources; i++) {
		free(g->group_of ? g->group_of[i] : NULL);
		free(g->member_of ? g->member_of[i] : NULL);
	}
	free(g->group_of);
	free(g->member_of);
	for (i = 0; i < g->m->pattern->group_count; i++) {
		free(g->groups[i].members);
		free(g->groups[i].tasks);
	}
	free(g->groups);
}

/**
 * merge_groups() - structure, groups, columns, times and number of operations of the result
 */
int merge_groups(struct merge *m)
{
	struct grouping g = { .m = m };
	u32 i;
	int err = open_grouping(&g);

	if (!err)
		err = place_tasks(&g);
	for (i = 0; i < m->pattern->group_count && !err; i++)
		err = merge_group(m, &g.groups[i], &m->pattern->groups[i]);
	close_grouping(&g);
	return err;
}
