// SPDX-License-Identifier: GPL-2.0-only
/*
 * print.c - a pattern as text that reads like the program: loops, and operations with expressions as operands.
 *
 * Lines with "==" at the margin are serialization points: MPI calls that bring ranks together.
 */
#include <inttypes.h>

#include "expression.h"
#include "state.h"

struct printing {
	const struct pattern *pattern;
	const struct group *group;
	FILE *out;
	struct ranks ranks;
	struct loops loops;
};

/* -- lines ------------------------------------------------------------------------------------------------- */

static bool is_serialization(const struct shape *shape)
{
	return shape->kind == IOT_KIND_mpi_coll || shape->kind == IOT_KIND_mpi_link;
}

static void begin_line(struct printing *p, bool is_point, u32 depth)
{
	fprintf(p->out, "%s%*s", is_point ? "== " : "   ", 2 * (int)(p->loops.count + depth % 64), "");
}

static void print_column(struct printing *p, u32 column)
{
	expression_print(p->out, &p->group->columns[column], &p->loops, &p->ranks);
}

static void begin_loop(struct printing *p, u64 trips, u32 column)
{
	char name[16];

	begin_line(p, false, 0);
	fprintf(p->out, "for %s in 0 .. ", loop_variable(p->loops.count, name));
	if (trips) {
		fprintf(p->out, "%" PRIu64, (uint64_t)trips - 1);
	} else {
		print_column(p, column);
		fputs(" - 1", p->out);
	}
	fputs(":\n", p->out);
}

/* -- operations ---------------------------------------------------------------------------------------------- */

static void print_bytes(FILE *out, const u8 *bytes, size_t count)
{
	char text[4 * 4096 + 1];

	iot_text_bytes(text, sizeof(text), bytes, count > 4096 ? 4096 : count);
	fputs(text, out);
}

/* Numbers in braces, with their width. */
static void print_name(struct printing *p, const u8 *template, size_t bytes, u32 column)
{
	size_t i, from = 0;
	u64 value;

	for (i = 0; i <= bytes; i++) {
		if (i < bytes && template[i])
			continue;
		print_bytes(p->out, template + from, i - from);
		if (i == bytes)
			break;
		from = i + 2;
		if (expression_constant(&p->group->columns[column], &value)) {
			fprintf(p->out, "%0*" PRIu64, template[i + 1] - 1, (uint64_t)value);
		} else {
			fputc('{', p->out);
			print_column(p, column);
			if (template[i + 1] > 1)
				fprintf(p->out, ":%02u", template[i + 1] - 1u);
			fputc('}', p->out);
		}
		i++;
		column++;
	}
}

static void print_field(struct printing *p, const struct shape *shape, u32 index, u32 column)
{
	const struct iot_field *field = event_field(shape->kind, index);
	struct iot_record record = { .kind = shape->kind, .tail = (const u8 *)"" };
	bool is_operand = shape->operand_fields & 1u << index;
	u64 value = shape->fields[index];
	char text[256];

	if (field->class == IOT_CLASS_result)
		return; /* comes last */
	if (field->class == IOT_CLASS_call)
		fputc(' ', p->out);
	else
		fprintf(p->out, " %s=", field->name);
	if (!is_operand || expression_constant(&p->group->columns[column], &value)) {
		iot_field_set(&record, field, value);
		iot_text_field(text, sizeof(text), &record, field);
		fputs(text, p->out);
	} else {
		print_column(p, column);
	}
}

static void print_result(struct printing *p, const struct shape *shape, u32 index, u32 column)
{
	const struct iot_field *field = event_field(shape->kind, index);
	struct iot_record record = { .kind = shape->kind, .tail = (const u8 *)"" };
	char text[256];
	u64 value;

	if (field->class != IOT_CLASS_result)
		return;
	if (shape->operand_fields & 1u << index) {
		if (expression_constant(&p->group->columns[column], &value) && !value)
			return;
		fputs(" -> ", p->out);
		print_column(p, column);
		return;
	}
	iot_field_set(&record, field, shape->fields[index]);
	iot_text_field(text, sizeof(text), &record, field);
	fprintf(p->out, " -> %s", text);
}

static void print_roles(struct printing *p, const struct shape *shape, u32 column)
{
	static const char *const names[] = { "generation", "handle", "comm", "request" };
	u64 value;
	u32 i;

	for (i = 0; i < EVENT_ROLES; i++) {
		if (!(shape->roles & 1u << i))
			continue;
		if (i != EVENT_GENERATION || !expression_constant(&p->group->columns[column], &value) || value != 1) {
			fprintf(p->out, " %s=", names[i]);
			print_column(p, column);
		}
		column++;
	}
}

static void print_ns(FILE *out, double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	u32 i = 0;

	for (; ns >= 1000 && i < 3; i++)
		ns /= 1000;
	fprintf(out, "%.3g %s", ns, units[i]);
}

static void print_times(struct printing *p, u32 run)
{
	const struct run_times *times = p->group->times ? &p->group->times[run] : NULL;

	if (!times || !times->duration.count)
		return;
	fputs("  # think ", p->out);
	print_ns(p->out, times->think.mean_ns);
	fputs(", takes ", p->out);
	print_ns(p->out, times->duration.mean_ns);
	if (times->duration.count > 1) {
		fputs(" (", p->out);
		print_ns(p->out, (double)times->duration.min_ns);
		fputs(" to ", p->out);
		print_ns(p->out, (double)times->duration.max_ns);
		fputc(')', p->out);
	}
}

static void print_operation(struct printing *p, const struct shape *shape, u32 column, u32 run)
{
	u32 fields = (u32)__builtin_popcount(shape->operand_fields);
	u32 names = column + fields + (u32)__builtin_popcount(shape->roles), i;
	u32 names2 = names + template_count_holes(shape->path, shape->path_bytes);
	u32 list = names2 + template_count_holes(shape->path2, shape->path2_bytes);

	begin_line(p, is_serialization(shape), shape->depth);
	fputs(iot_kind_info(shape->kind)->name, p->out);
	if (shape->path_bytes) {
		fputc(' ', p->out);
		print_name(p, shape->path, shape->path_bytes, names);
	}
	for (i = 0; i < shape->field_count; i++)
		print_field(p, shape, i, column + (u32)shape_operand_of_field(shape, i));
	print_roles(p, shape, column + fields);
	if (shape->path2_bytes) {
		fputc(' ', p->out);
		print_name(p, shape->path2, shape->path2_bytes, names2);
	}
	if (shape->flags & EVENT_VALUE)
		fprintf(p->out, " value of %zu bytes", shape->value_bytes);
	for (i = 0; i < shape->list_count; i++) {
		fputs(i ? "," : " sources=", p->out);
		print_column(p, list + i);
	}
	for (i = 0; i < shape->field_count; i++)
		print_result(p, shape, i, column + (u32)shape_operand_of_field(shape, i));
	print_times(p, run);
	fputc('\n', p->out);
}

/* -- structure --------------------------------------------------------------------------------------------------- */

/* The largest part of a run after which a number leaves its line, so that the run is two loops; 0 if there is none. */
static u64 find_split(struct printing *p, u32 column, u32 operands, u64 stride, u64 count)
{
	u64 part = count, at;
	u32 i;

	for (i = 0; i < operands; i++) {
		at = expression_first_break(&p->group->columns[column + i], stride, count);
		if (at < part && at > 1)
			part = at;
	}
	return part < count && count % part == 0 ? part : 0;
}

/* A run with a known number of operations: as the loops that its operands show. */
static void print_split_run(struct printing *p, const struct shape *shape, u32 column, u32 run, u64 count)
{
	u64 inner[LOOPS_MAX], stride = 1, part;
	u32 depth = 0, before = p->loops.count;

	while (count > 1 && before + depth + 2 < LOOPS_MAX &&
	       (part = find_split(p, column, shape->operand_count, stride, count))) {
		inner[depth++] = part;
		stride *= part;
		count /= part;
	}
	if (count > 1)
		inner[depth++] = count;
	while (depth-- > 0) {
		begin_loop(p, inner[depth], 0);
		p->loops.trips[p->loops.count++] = inner[depth];
	}
	print_operation(p, shape, column, run);
	p->loops.count = before;
}

static void print_node(struct printing *p, u32 index, u32 column, u32 run);

static void print_body(struct printing *p, const struct node *node, u32 column, u32 run)
{
	u32 i;

	for (i = 0; i < node->body_count; i++) {
		print_node(p, node->body[i], column, run);
		column += nodes_at(&p->pattern->nodes, node->body[i])->columns;
		run += nodes_at(&p->pattern->nodes, node->body[i])->runs;
	}
}

static void print_node(struct printing *p, u32 index, u32 column, u32 run)
{
	const struct node *node = nodes_at(&p->pattern->nodes, index);
	const struct shape *shape = node->type == NODE_RUN ? shapes_at(&p->pattern->shapes, node->shape) : NULL;
	u64 trips = 0;

	if (expression_constant(&p->group->columns[column], &trips) && shape && p->loops.count + 2 < LOOPS_MAX) {
		print_split_run(p, shape, column + 1, run, trips);
		return;
	}
	begin_loop(p, trips, column);
	if (p->loops.count + 1 < LOOPS_MAX) {
		p->loops.trips[p->loops.count++] = trips;
	} else {
		p->loops.trips[p->loops.count - 1] = 0;
	}
	if (shape)
		print_operation(p, shape, column + 1, run);
	else
		print_body(p, node, column + 1, run);
	p->loops.count--;
}

/* -- groups ------------------------------------------------------------------------------------------------------ */

static void print_list(FILE *out, const u64 *values, u64 count)
{
	u64 i, step, length, shown = 0;

	for (i = 0; i < count && shown < 8; i += length, shown++) {
		step = i + 1 < count ? values[i + 1] - values[i] : 1;
		for (length = 1; i + length < count && values[i + length] - values[i + length - 1] == step; length++)
			;
		if (length == 2 && step != 1)
			length = 1;
		fprintf(out, "%s%" PRIu64, i ? "," : "", (uint64_t)values[i]);
		if (length > 1)
			fprintf(out, "-%" PRIu64, (uint64_t)values[i + length - 1]);
		if (length > 1 && step != 1)
			fprintf(out, "/%" PRIu64, (uint64_t)step);
	}
	if (i < count)
		fputs(",...", out);
}

static int open_ranks(struct printing *p)
{
	const struct pattern *pattern = p->pattern;
	const struct group *group = p->group;
	u64 i, position;

	p->ranks.count = group->task_count;
	p->ranks.values = calloc(group->task_count, sizeof(u64));
	if (!p->ranks.values)
		return -ENOMEM;
	p->ranks.name = "rank";
	for (i = 0; i < group->task_count; i++) {
		position = series_at(group->positions, i);
		if (position >= pattern->task_count) {
			free(p->ranks.values);
			return -EBADMSG;
		}
		if (series_at(pattern->facts[TASK_FACT_what], position) != TASK_RANK ||
		    series_at(pattern->facts[TASK_FACT_job], position) > 1)
			p->ranks.name = "task";
	}
	for (i = 0; i < group->task_count; i++) {
		position = series_at(group->positions, i);
		p->ranks.values[i] = *p->ranks.name == 'r' ? series_at(pattern->facts[TASK_FACT_rank], position) :
							     position + 1;
	}
	return 0;
}

static int print_group(const struct pattern *pattern, u32 index, FILE *out)
{
	struct printing p = { .pattern = pattern, .group = &pattern->groups[index], .out = out };
	const struct node *root = nodes_at(&pattern->nodes, p.group->root);
	int err = open_ranks(&p);

	if (err)
		return err;
	if (series_at(pattern->facts[TASK_FACT_what], series_at(p.group->positions, 0)) == TASK_FOUND) {
		fputs("\nnames that look-ups found:\n", out);
	} else {
		fprintf(out, "\n%s%s ", p.ranks.name, p.ranks.count > 1 ? "s" : "");
		print_list(out, p.ranks.values, p.ranks.count);
		fputs(":\n", out);
	}
	if (!root->body_count)
		fputs("   no operations\n", out);
	print_body(&p, root, 0, 0);
	free(p.ranks.values);
	return 0;
}

/**
 * pattern_print() - a pattern as text
 * @pattern: the pattern
 * @out: where
 *
 * Return: 0, -EBADMSG if it is not sound, -ENOMEM.
 */
int pattern_print(const struct pattern *pattern, FILE *out)
{
	struct pattern_summary summary;
	u32 i;
	int err = 0;

	pattern_summarize(pattern, &summary);
	fprintf(out, "# %" PRIu64 " operations of %" PRIu64 " tasks, %" PRIu64 " of them ranks; %" PRIu64
		     " groups of tasks that do the same\n",
		(uint64_t)summary.operations, (uint64_t)summary.tasks, (uint64_t)summary.ranks, (uint64_t)summary.groups);
	for (i = 0; i < pattern->group_count && !err; i++)
		err = print_group(pattern, i, out);
	return err;
}
