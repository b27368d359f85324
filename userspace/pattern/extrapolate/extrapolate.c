// SPDX-License-Identifier: GPL-2.0-only
/*
 * extrapolate.c - the pattern of a number of ranks that did not run, from the patterns of runs with other numbers.
 *
 * Structures are taken from the largest run, and must be those of all; ranks of groups, iterations and operands
 * are exact functions of the number of ranks. The result is exact or refused: the same is done for the number of
 * ranks of each run, whose operations must come out. Times are approximate, with the quality of their fit.
 */
#include "extrapolate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "pattern/task_walk.h"

#define RUNS_MIN 3

static int refuse(struct extrapolation *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(struct extrapolation *x, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(x->refusal->text, sizeof(x->refusal->text), format, args);
	va_end(args);
	return -EOPNOTSUPP;
}

/* -- names of operations ------------------------------------------------------------------------------------------ */

/* Kind and name, with # for numbers. */
static void name_shape(const struct shape *shape, char text[200])
{
	size_t at = (size_t)snprintf(text, 200, "%s%s", iot_kind_info(shape->kind)->name, shape->path_bytes ? " " : "");
	size_t i;

	for (i = 0; i < shape->path_bytes && at < 190; i++) {
		text[at++] = shape->path[i] ? (char)shape->path[i] : '#';
		i += !shape->path[i];
	}
	text[at] = 0;
}

static const struct iot_field *operand_field(const struct shape *shape, u32 operand)
{
	u32 i;

	for (i = 0; i < shape->field_count; i++)
		if (shape->operand_fields & 1u << i && !operand--)
			return event_field(shape->kind, i);
	return NULL;
}

/* The operation, and the operand, of a column. */
static void name_column(const struct pattern *p, u32 index, u32 column, char text[256])
{
	const struct node *node = nodes_at(&p->nodes, index);
	const struct shape *shape;
	const struct iot_field *field;
	char name[200];
	u32 i;

	if (node->type != NODE_LIST && !column--) {
		while (node->type != NODE_RUN)
			node = nodes_at(&p->nodes, node->body[0]);
		name_shape(shapes_at(&p->shapes, node->shape), name);
		snprintf(text, 256, "number of iterations of %s", name);
		return;
	}
	if (node->type == NODE_RUN) {
		shape = shapes_at(&p->shapes, node->shape);
		field = operand_field(shape, column);
		name_shape(shape, name);
		snprintf(text, 256, "%s: %s", name, field ? field->name : "number in a name or a list, or role");
		return;
	}
	for (i = 0; i < node->body_count; i++) {
		const struct node *part = nodes_at(&p->nodes, node->body[i]);

		if (column < part->columns) {
			name_column(p, node->body[i], column, text);
			return;
		}
		column -= part->columns;
	}
}

/* Is a column of operations of a kind, and not the number of their iterations? */
static bool column_is_of(const struct pattern *p, u32 index, u32 column, u16 kind)
{
	const struct node *node = nodes_at(&p->nodes, index), *part;
	u32 i;

	if (node->type != NODE_LIST && !column--)
		return false;
	if (node->type == NODE_RUN)
		return shapes_at(&p->shapes, node->shape)->kind == kind;
	for (i = 0; i < node->body_count; column -= part->columns, i++) {
		part = nodes_at(&p->nodes, node->body[i]);
		if (column < part->columns)
			return column_is_of(p, node->body[i], column, kind);
	}
	return false;
}

static int refuse_grid(struct extrapolation *x, u32 root, u32 column)
{
	char name[256] = "";

	name_column(x->model, root, column, name);
	return refuse(x, "%s: the ranks of each run form the grid of MPI_Dims_create, and one by another rule; the grids of %" PRIu64
			 " ranks differ: add a run in which they differ", name, (uint64_t)x->scaling.target);
}

static int refuse_numbers(struct extrapolation *x, const char *what)
{
	const struct model_points *points = &x->scaling.points;
	char text[256] = "";
	size_t at = 0;
	u32 i;

	if (x->scaling.is_alone)
		return refuse(x, "%s: has its form in the largest run only: use runs with more ranks", what);
	for (i = 0; x->scaling.has_points && i < points->count && at < 200; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%lld at %" PRIu64, i ? ", " : ": ",
				       (long long)points->values[i], (uint64_t)points->ranks[i]);
	return refuse(x, "%s: no known function of the number of ranks fits and is an integer at %" PRIu64 "%s", what,
		      (uint64_t)x->scaling.target, text);
}

/* -- structures ----------------------------------------------------------------------------------------------------- */

static const struct shape *first_shape(const struct pattern *p, u32 index)
{
	const struct node *node = nodes_at(&p->nodes, index);

	while (node->type != NODE_RUN && node->body_count)
		node = nodes_at(&p->nodes, node->body[0]);
	return node->type == NODE_RUN ? shapes_at(&p->shapes, node->shape) : NULL;
}

/* The first part of a structure that no structure of another run has in its place. */
static const struct shape *first_difference(const struct pattern *a, const struct group *group, const struct pattern *b)
{
	const struct node *x = nodes_at(&a->nodes, group->root);
	u32 i, same, furthest = 0;

	for (i = 0; i < b->group_count; i++) {
		same = pattern_same_parts(a, group->root, b, b->groups[i].root);
		furthest = same > furthest ? same : furthest;
	}
	return furthest < x->body_count ? first_shape(a, x->body[furthest]) : NULL;
}

static int refuse_group(struct extrapolation *x, u32 run, const struct group *group, u32 other)
{
	const struct pattern *p = x->runs[run];
	const struct shape *shape = first_difference(p, group, x->runs[other]);
	u64 position = series_at(group->positions, 0);
	char name[200] = "the end";

	if (shape)
		name_shape(shape, name);
	return refuse(x, "the operations of rank %" PRIu64 " of %" PRIu64 " do not match any rank of %" PRIu64 ": the first difference is at %s",
		      (uint64_t)series_at(p->facts[TASK_FACT_rank], position), (uint64_t)x->scaling.ranks[run],
		      (uint64_t)x->scaling.ranks[other], name);
}

/* Small runs may lack a group, such as the ranks inside of a grid; the largest has all. Two runs have each. */
static int check_groups(struct extrapolation *x)
{
	u32 last = x->scaling.count - 1, run, i, found;

	for (run = 0; run < last; run++)
		for (i = 0; i < x->runs[run]->group_count; i++)
			if (!pattern_find_group(x->runs[run], &x->runs[run]->groups[i], x->model))
				return refuse_group(x, run, &x->runs[run]->groups[i], last);
	for (i = 0; i < x->model->group_count; i++) {
		for (run = 0, found = 0; run < last; run++)
			found += pattern_find_group(x->model, &x->model->groups[i], x->runs[run]) != NULL;
		if (!found)
			return refuse_group(x, last, &x->model->groups[i], last - 1);
	}
	return 0;
}

static int copy_structure(const struct pattern *from, struct pattern *to)
{
	const struct node *node;
	const u8 *bytes;
	size_t count;
	u32 i, index;
	int err = 0;

	for (i = 0; i < from->shapes.count && !err; i++) {
		bytes = shapes_bytes(&from->shapes, i, &count);
		err = shapes_add(&to->shapes, bytes, count, &index);
	}
	for (i = 0; i < from->nodes.count && !err; i++) {
		node = nodes_at(&from->nodes, i);
		err = nodes_add(&to->nodes, &to->shapes, node->type, node->type == NODE_RUN ? &node->shape : node->body,
				node->type == NODE_RUN ? 1 : node->body_count, &index);
	}
	return err;
}

/* -- numbers -------------------------------------------------------------------------------------------------------- */

static int scale_facts(struct extrapolation *x, struct pattern *made)
{
	static const char *const names[] = {
#define NAME(name, sentence) "the " #name " of tasks",
		TASK_FACTS(NAME)
#undef NAME
	};
	const struct series *runs[MODEL_RUNS_MAX];
	u32 fact, run;

	for (fact = 0; fact < TASK_FACT_COUNT; fact++) {
		for (run = 0; run < x->scaling.count; run++)
			runs[run] = x->runs[run]->facts[fact];
		made->facts[fact] = extrapolate_fact(x, runs);
		if (!made->facts[fact])
			return refuse_numbers(x, names[fact]);
	}
	made->task_count = made->facts[0]->count;
	if (made->task_count > TASKS_MAX)
		return refuse(x, "more than %u tasks", TASKS_MAX);
	for (fact = 0; fact < TASK_FACT_COUNT; fact++)
		if (made->facts[fact]->count != made->task_count)
			return refuse(x, "%s would not be those of all tasks", names[fact]);
	return 0;
}

static void take_columns(const struct extrapolation *x, const struct group *const *groups, u32 column,
			 const struct column *columns[MODEL_RUNS_MAX])
{
	u32 run;

	for (run = 0; run < x->scaling.count; run++)
		columns[run] = groups[run] ? &groups[run]->columns[column] : NULL;
}

/* Views of grids of ranks: are the sides of the grid known? */
static int check_grid(struct extrapolation *x, u32 root, const struct group *const *groups, const struct group *made)
{
	u32 count = nodes_at(&x->model->nodes, root)->columns, column;
	const struct column *columns[MODEL_RUNS_MAX];
	bool is_plane = false, is_other;

	for (column = 0; column < count; column++) {
		if (!column_is_of(x->model, root, column, IOT_KIND_mpi_view))
			continue;
		take_columns(x, groups, column, columns);
		is_plane |= extrapolate_find_grid(&x->scaling, columns, &made->columns[column], &is_other);
		if (is_other)
			return refuse_grid(x, root, column);
	}
	for (column = 0; column < count && is_plane; column++) {
		take_columns(x, groups, column, columns);
		if (column_is_of(x->model, root, column, IOT_KIND_mpi_view) &&
		    extrapolate_has_side(&x->scaling, columns, &made->columns[column]))
			return refuse_grid(x, root, column);
	}
	return 0;
}

static int scale_columns(struct extrapolation *x, const struct group *model, const struct group *const *groups,
			 struct group *made)
{
	u32 count = nodes_at(&x->model->nodes, model->root)->columns, column;
	const struct column *columns[MODEL_RUNS_MAX];
	char name[256] = "";

	made->columns = calloc(count + 1, sizeof(*made->columns));
	if (!made->columns)
		return -ENOMEM;
	extrapolate_pieces(x, nodes_at(&x->model->nodes, model->root), 0, groups, made);
	for (column = 0; column < count; column++) {
		if (made->columns[column].class_count)
			continue;
		take_columns(x, groups, column, columns);
		if (!scale_column(&x->scaling, columns, &made->columns[column])) {
			name_column(x->model, model->root, column, name);
			return refuse_numbers(x, name);
		}
	}
	return x->scaling.same < x->scaling.count ? 0 : check_grid(x, model->root, groups, made);
}

static int scale_group(struct extrapolation *x, const struct group *model, struct pattern *made)
{
	struct group *group = &made->groups[made->group_count];
	const struct group *groups[MODEL_RUNS_MAX];
	const struct series *positions[MODEL_RUNS_MAX];
	u32 run;

	for (run = 0; run < x->scaling.count; run++) {
		groups[run] = pattern_find_group(x->model, model, x->runs[run]);
		positions[run] = groups[run] ? groups[run]->positions : NULL;
	}
	if (x->scaling.same < x->scaling.count && !groups[x->scaling.same])
		return 0; /* the run does not have it */
	group->root = model->root;
	group->positions = extrapolate_positions(x, positions);
	if (!group->positions)
		return refuse_numbers(x, "the list of ranks that do the same");
	group->task_count = group->positions->count;
	made->group_count++;
	group->times = calloc(nodes_at(&x->model->nodes, model->root)->runs + 1, sizeof(*group->times));
	return group->times ? scale_columns(x, model, groups, group) : -ENOMEM;
}

/* -- operations ----------------------------------------------------------------------------------------------------- */

/* The operation of a run of a structure. */
static const struct shape *shape_of_run(const struct pattern *p, u32 index, u32 run)
{
	const struct node *node = nodes_at(&p->nodes, index), *part;
	u32 i;

	while (node->type != NODE_RUN) {
		part = nodes_at(&p->nodes, node->body[0]);
		for (i = 0; run >= part->runs && i + 1 < node->body_count; i++) {
			run -= part->runs;
			part = nodes_at(&p->nodes, node->body[i + 1]);
		}
		node = part;
	}
	return shapes_at(&p->shapes, node->shape);
}

static int refuse_loops(struct extrapolation *x, const struct pattern *made, u64 task, const struct group *group, u32 run, bool has_run)
{
	char name[200] = "the begin";

	if (has_run)
		name_shape(shape_of_run(made, group->root, run), name);
	return refuse(x, "rank %" PRIu64 ": the numbers of iterations do not fit those of operands at %" PRIu64 " ranks, behind %s",
		      (uint64_t)series_at(made->facts[TASK_FACT_rank], task), (uint64_t)x->scaling.target, name);
}

/* Sets the hash, and counts the operations of each run. */
static int count_operations(struct extrapolation *x, struct pattern *made)
{
	u64 *tasks, i, facts[TASK_FACT_COUNT];
	struct digest *digest = digest_open();
	struct events *events;
	struct event event;
	u32 run, fact;
	bool has_run;
	int err = events_find_tasks(made, &tasks);

	if (!digest)
		err = -ENOMEM;
	made->operations = 1ull << 40;
	for (i = 0; i < made->task_count && !err; i++) {
		struct group *group = &made->groups[tasks[2 * i]];

		for (fact = 0; fact < TASK_FACT_COUNT; fact++)
			facts[fact] = series_at(made->facts[fact], i);
		digest_task(digest, facts);
		events = NULL;
		has_run = false;
		err = events_open(made, group, tasks[2 * i + 1], &events);
		while (!err && (err = events_next(events, &event, &run)) > 0) {
			digest_event(digest, &event);
			has_run = true;
			err = 0;
			group->times[run].think.count++;
			group->times[run].duration.count++;
		}
		events_close(events);
		if (err == -EBADMSG)
			err = refuse_loops(x, made, i, group, run, has_run);
	}
	free(tasks);
	if (digest)
		digest_close(digest, made->digest);
	made->operations = 0;
	for (i = 0; i < made->group_count; i++)
		for (run = 0; run < nodes_at(&made->nodes, made->groups[i].root)->runs; run++)
			made->operations += made->groups[i].times[run].think.count;
	return err;
}

static int extrapolate_to(struct extrapolation *x, u64 ranks, struct pattern **pattern)
{
	struct pattern *made = calloc(1, sizeof(*made));
	u32 i;
	int err;

	if (!made)
		return -ENOMEM;
	x->scaling.target = ranks;
	x->scaling.has_points = false;
	for (i = 0; i < x->scaling.count && x->scaling.ranks[i] != ranks; i++)
		;
	x->scaling.same = i;
	memcpy(made->capture, x->model->capture, sizeof(made->capture));
	made->is_made = true;
	made->groups = calloc(x->model->group_count + 1, sizeof(*made->groups));
	err = made->groups ? copy_structure(x->model, made) : -ENOMEM;
	if (!err)
		err = scale_facts(x, made);
	for (i = 0; i < x->model->group_count && !err; i++)
		err = scale_group(x, &x->model->groups[i], made);
	if (!err)
		err = count_operations(x, made);
	if (err == -EBADMSG)
		err = refuse(x, "a task is in no group, or in two, at %" PRIu64 " ranks", (uint64_t)ranks);
	if (err)
		pattern_free(made);
	else
		*pattern = made;
	return err;
}

/* Name the first wrong operation of a run. */
static int refuse_operation(struct extrapolation *x, const struct pattern *made, u32 run)
{
	const struct pattern *p = x->runs[run];
	u64 *tasks, *made_tasks, i;
	char name[200] = "the number of tasks";

	events_find_tasks(p, &tasks);
	events_find_tasks(made, &made_tasks);
	for (i = 0; tasks && made_tasks && i < p->task_count && i < made->task_count; i++) {
		struct events *a = NULL, *b = NULL;
		struct event x1, x2;
		int got_a = 0, got_b = 0;
		bool is_same = true;
		u8 hash_a[32], hash_b[32];

		if (!events_open(p, &p->groups[tasks[2 * i]], tasks[2 * i + 1], &a) &&
		    !events_open(made, &made->groups[made_tasks[2 * i]], made_tasks[2 * i + 1], &b))
			while (is_same) {
				struct digest *da = digest_open(), *db = digest_open();

				got_a = events_next(a, &x1, NULL);
				got_b = events_next(b, &x2, NULL);
				if (got_a > 0 && da)
					digest_event(da, &x1);
				if (got_b > 0 && db)
					digest_event(db, &x2);
				if (da)
					digest_close(da, hash_a);
				if (db)
					digest_close(db, hash_b);
				is_same = got_a == got_b && da && db && !memcmp(hash_a, hash_b, sizeof(hash_a));
				if (is_same && got_a <= 0)
					break;
			}
		if (!is_same)
			snprintf(name, sizeof(name), "rank %" PRIu64 ", %s %.150s",
				 (uint64_t)series_at(p->facts[TASK_FACT_rank], i),
				 got_a > 0 ? iot_kind_info(x1.kind)->name : "the end", got_a > 0 ? x1.path : "");
		events_close(a);
		events_close(b);
		if (!is_same)
			break;
	}
	free(tasks);
	free(made_tasks);
	return refuse(x, "the functions that fit the other runs do not reproduce the operations of the run with %" PRIu64 " ranks: %s",
		      (uint64_t)x->scaling.ranks[run], name);
}

/* The extrapolation must reproduce the measured runs. */
static int check_runs(struct extrapolation *x)
{
	struct pattern *made;
	u32 run;
	int err = 0;

	for (run = 0; run < x->scaling.count && !err; run++) {
		err = extrapolate_to(x, x->scaling.ranks[run], &made);
		if (err)
			break;
		if (memcmp(made->digest, x->runs[run]->digest, sizeof(made->digest)))
			err = refuse_operation(x, made, run);
		pattern_free(made);
	}
	return err;
}

/* -- the whole ------------------------------------------------------------------------------------------------------ */

static u64 ranks_of(const struct pattern *pattern)
{
	struct pattern_summary summary;

	pattern_summarize(pattern, &summary);
	return summary.ranks;
}

static int compare_patterns(const void *a, const void *b)
{
	u64 x = ranks_of(*(const struct pattern *const *)a), y = ranks_of(*(const struct pattern *const *)b);

	return x < y ? -1 : x > y;
}

static int open_runs(struct extrapolation *x, const struct pattern **runs, u32 count)
{
	u32 i;

	if (count < RUNS_MIN || count > MODEL_RUNS_MAX)
		return refuse(x, "%u runs instead of %u to %u", count, RUNS_MIN, MODEL_RUNS_MAX);
	qsort(runs, count, sizeof(*runs), compare_patterns);
	x->scaling.count = count;
	for (i = 0; i < count; i++) {
		x->scaling.ranks[i] = ranks_of(runs[i]);
		if (!x->scaling.ranks[i])
			return refuse(x, "a run without MPI ranks");
		if (i && x->scaling.ranks[i] == x->scaling.ranks[i - 1])
			return refuse(x, "two runs with %" PRIu64 " ranks", (uint64_t)x->scaling.ranks[i]);
	}
	x->runs = runs;
	x->model = runs[count - 1];
	extrapolation_divide_tasks(x);
	return 0;
}

static int extrapolate_as_recorded(struct extrapolation *x, u64 ranks, struct pattern **pattern)
{
	int err = check_groups(x);

	if (!err)
		err = check_runs(x);
	return err ? err : extrapolate_to(x, ranks, pattern);
}

/* Only if the runs do not match as they are: a file may also be created by a certain rank. */
static int extrapolate_runs(struct extrapolation *x, u64 ranks, struct pattern **pattern, bool *is_ordered)
{
	const struct pattern *const *runs = x->runs;
	int err = extrapolate_as_recorded(x, ranks, pattern), err_order;

	if (err != -EOPNOTSUPP)
		return err;
	err_order = extrapolation_order_creators(x, is_ordered);
	if (err_order)
		return err_order;
	if (*is_ordered)
		err = extrapolate_as_recorded(x, ranks, pattern);
	if (err) {
		x->runs = runs;
		x->model = runs[x->scaling.count - 1];
	}
	return err;
}

/* Call sites tell loops apart, if they are the same in all runs: those of one build, which all recordings have. */
static int extrapolate_with_sites(struct extrapolation *x, u64 ranks, struct pattern **pattern, struct extrapolation_summary *summary)
{
	u32 with = extrapolation_count_sites(x);
	int err = -EOPNOTSUPP;

	if (!with || with == x->scaling.count)
		err = extrapolate_runs(x, ranks, pattern, &summary->is_ordered);
	if (!with || err != -EOPNOTSUPP)
		return err;
	summary->sites = with < x->scaling.count ? EXTRAPOLATION_sites_missing : EXTRAPOLATION_sites_differ;
	err = extrapolation_drop_sites(x);
	return err ? err : extrapolate_runs(x, ranks, pattern, &summary->is_ordered);
}

/**
 * extrapolation_form_name() - name of a form of functions
 * @form: index, below EXTRAPOLATION_FORMS
 */
const char *extrapolation_form_name(u32 form)
{
	return model_name((enum model_form)form);
}

/**
 * pattern_extrapolate() - the pattern of another number of ranks
 * @runs: patterns of runs with different numbers of ranks; are sorted by these
 * @count: their number
 * @ranks: number of ranks of the result
 * @options: how times are extrapolated
 * @pattern: out: to be freed by pattern_free()
 * @summary: out: how well times fit, and how the runs were made to match
 * @refusal: filled in if the error is -EOPNOTSUPP
 *
 * Return: 0; -EOPNOTSUPP if a structure or a number does not fit; -ENOMEM.
 */
int pattern_extrapolate(const struct pattern **runs, u32 count, u64 ranks, const struct extrapolation_options *options,
			struct pattern **pattern, struct extrapolation_summary *summary, struct pattern_refusal *refusal)
{
	struct extrapolation x = { .refusal = refusal, .options = options };
	int err = open_runs(&x, runs, count);

	*summary = (struct extrapolation_summary){};
	if (!err)
		err = extrapolate_with_sites(&x, ranks, pattern, summary);
	if (!err)
		extrapolate_times(&x, *pattern, summary);
	if (!err && options->is_compensated && (*pattern)->has_times)
		err = extrapolate_compensation(&x, *pattern, summary);
	extrapolation_close(&x);
	return err;
}
