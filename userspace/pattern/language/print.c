// SPDX-License-Identifier: GPL-2.0-only
/*
 * print.c - a pattern as text that reads like the program: loops, and operations with expressions as operands.
 *
 * The text is that of Documentation/workload-language.md, from which language_parse.c makes the pattern again.
 * Lines with "==" at the margin are serialization points: MPI calls that bring ranks together.
 */
#include <inttypes.h>
#include <math.h>

#include "expression.h"
#include "language.h"
#include "pattern/state.h"

struct printing {
	const struct pattern *pattern;
	const struct group *group;
	FILE *out;
	struct ranks ranks;
	struct loops loops;
	bool has_histograms;
};

/* -- lines ------------------------------------------------------------------------------------------------- */

static bool is_serialization(const struct shape *shape)
{
	return shape->kind == IOT_KIND_mpi_coll || shape->kind == IOT_KIND_mpi_link;
}

/* A bar for each operation that the next one is nested in. */
static void begin_line(struct printing *p, bool is_point, u32 depth)
{
	u32 i;

	fprintf(p->out, "%s%*s", is_point ? "== " : "   ", 2 * (int)p->loops.count, "");
	for (i = 0; i < depth && depth <= LANGUAGE_BARS_MAX; i++)
		fputs("| ", p->out);
}

static void end_loop(struct printing *p)
{
	begin_line(p, false, 0);
	fputs("}\n", p->out);
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
	fputs(" {\n", p->out);
}

/* -- operations ---------------------------------------------------------------------------------------------- */

/* In quotes; all but printable characters, and those with a meaning, become \ooo. */
static void print_bytes(FILE *out, const u8 *bytes, size_t count)
{
	size_t i, length;
	u32 character;

	for (i = 0; i < count; i += length ? length : 1) {
		length = iot_text_utf8(bytes + i, count - i, &character);
		if (length && (character < ' ' || (character >= 0x7f && character < 0xa0) || strchr("\"\\{}", (int)character)))
			length = 0;
		if (length)
			fwrite(bytes + i, 1, length, out);
		else
			fprintf(out, "\\%03o", bytes[i]);
	}
}

/* Numbers in braces, with their width. */
static void print_name(struct printing *p, const u8 *template, size_t bytes, u32 column)
{
	size_t i, from = 0;
	u64 value;

	fputs(" \"", p->out);
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
	fputc('"', p->out);
}

/* Operations on MPI files and the like have one name, and that is the second. */
static void print_names(struct printing *p, const struct shape *shape, u32 column, u32 column2)
{
	bool is_mpi = iot_kind_info(shape->kind)->group == IOT_GROUP_mpi;

	if (shape->path_bytes || (shape->path2_bytes && !is_mpi))
		print_name(p, shape->path, shape->path_bytes, column);
	if (shape->path2_bytes)
		print_name(p, shape->path2, shape->path2_bytes, column2);
}

static void print_constant(struct printing *p, const struct shape *shape, u32 index)
{
	const struct iot_field *field = event_field(shape->kind, index);
	struct iot_record record = { .kind = shape->kind, .tail = (const u8 *)"" };
	char text[256];

	iot_field_set(&record, field, shape->fields[index]);
	iot_text_field(text, sizeof(text), &record, field);
	fputs(text, p->out);
}

static void print_field(struct printing *p, const struct shape *shape, u32 index, u32 column)
{
	const struct iot_field *field = event_field(shape->kind, index);

	if (field->class == IOT_CLASS_result)
		return; /* comes last */
	if (!shape->has_late_fields && index + event_count_late_fields(shape->kind) >= shape->field_count)
		return;
	if (field->class == IOT_CLASS_call)
		fputc(' ', p->out);
	else
		fprintf(p->out, " %s=", field->name);
	if (shape->operand_fields & 1u << index)
		print_column(p, column);
	else
		print_constant(p, shape, index);
}

static char *column_text(struct printing *p, u32 column)
{
	FILE *out = p->out;
	char *text = NULL;
	size_t bytes;

	p->out = open_memstream(&text, &bytes);
	if (p->out) {
		print_column(p, column);
		fclose(p->out);
	}
	p->out = out;
	return text;
}

/* Of a read or write the column of its length, as a result that is equal to it is not printed; -1 if there is none. */
static s64 length_column(const struct shape *shape, u32 column)
{
	u32 i;

	for (i = 0; i < shape->field_count && language_result_is_length(shape->kind); i++)
		if (shape->operand_fields & 1u << i && event_field(shape->kind, i)->class == IOT_CLASS_bytes)
			return column + shape_operand_of_field(shape, i);
	return -1;
}

static void print_result(struct printing *p, const struct shape *shape, u32 index, u32 column)
{
	s64 length = length_column(shape, column);
	char *text, *length_text;

	if (event_field(shape->kind, index)->class != IOT_CLASS_result)
		return;
	if (!(shape->operand_fields & 1u << index)) {
		fputs(" -> ", p->out);
		print_constant(p, shape, index);
		return;
	}
	text = column_text(p, column + (u32)shape_operand_of_field(shape, index));
	length_text = length < 0 ? strdup("0") : column_text(p, (u32)length);
	if (text && length_text && strcmp(text, length_text))
		fprintf(p->out, " -> %s", text);
	free(text);
	free(length_text);
}

/* A file operation is on the first object of its name unless its generation is printed. */
static void print_roles(struct printing *p, const struct shape *shape, u32 column)
{
	u64 value, usual = iot_kind_info(shape->kind)->group == IOT_GROUP_op && shape->path_bytes;
	u32 i;

	for (i = 0; i < EVENT_ROLES; i++) {
		if (!(shape->roles & 1u << i)) {
			if (i == EVENT_GENERATION && usual)
				fprintf(p->out, " %s=0", language_roles[i]);
			continue;
		}
		if (i != EVENT_GENERATION || !expression_constant(&p->group->columns[column], &value) || value != usual) {
			fprintf(p->out, " %s=", language_roles[i]);
			print_column(p, column);
		}
		column++;
	}
}

/* With three digits, in the unit that makes it short. */
static void print_ns(FILE *out, const char *name, double mean_ns, bool is_always)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	u64 ns = mean_ns < 1e18 ? (u64)llround(mean_ns) : (u64)1e18, power, unit = 1, rest;
	u32 i;

	for (power = 1; ns / power >= 1000; power *= 10)
		;
	ns = (ns + power / 2) / power * power;
	if (!ns && !is_always)
		return;
	for (i = 0; i < 3 && ns / unit >= 1000; i++)
		unit *= 1000;
	rest = ns % unit * 1000 / unit;
	fprintf(out, " %s=%" PRIu64, name, (uint64_t)(ns / unit));
	if (rest)
		fprintf(out, rest % 10 ? ".%03u" : rest % 100 ? ".%02u" : ".%01u",
			(unsigned int)(rest % 10 ? rest : rest % 100 ? rest / 10 : rest / 100));
	fputs(units[i], out);
}

static void print_time(const struct printing *p, const char *name, const struct times *times)
{
	bool has_histogram = p->has_histograms && times->max_ns && times_is_sound(times);
	u32 first = 0, last = TIMES_BINS, i;

	print_ns(p->out, name, times->mean_ns, has_histogram);
	if (!has_histogram)
		return;
	while (!times->bins[first])
		first++;
	while (!times->bins[last - 1])
		last--;
	fprintf(p->out, "{count=%" PRIu64 ", min_ns=%" PRIu64 ", max_ns=%" PRIu64 ", mean_ns=%.0f, deviation_ns=%.0f, bins=%u:",
		(uint64_t)times->count, (uint64_t)times->min_ns, (uint64_t)times->max_ns, times->mean_ns, times_deviation_ns(times), first);
	for (i = first; i < last; i++)
		fprintf(p->out, "%s %" PRIu64, i == first ? "" : ",", (uint64_t)times->bins[i]);
	fputc('}', p->out);
}

static void print_times(struct printing *p, u32 run)
{
	const struct run_times *times = p->group->times ? &p->group->times[run] : NULL;

	if (!times || !times->duration.count)
		return;
	print_time(p, "think", &times->think);
	print_time(p, "takes", &times->duration);
}

static void print_flags(FILE *out, const struct shape *shape)
{
	if (shape->flags & EVENT_IMPLIED)
		fputs(" implied", out);
	if (shape->flags & EVENT_NAMELESS)
		fputs(" nameless", out);
	if (shape->depth > LANGUAGE_BARS_MAX)
		fprintf(out, " depth=%u", shape->depth);
	if (!(shape->flags & EVENT_VALUE))
		return;
	fputs(" value=\"", out);
	print_bytes(out, shape->value, shape->value_bytes);
	fputc('"', out);
}

static void print_site(FILE *out, const struct shape *shape)
{
	if (!shape->site_bytes)
		return;
	fputs(" site=\"", out);
	print_bytes(out, shape->site, shape->site_bytes);
	fputc('"', out);
}

static void print_operation(struct printing *p, const struct shape *shape, u32 column, u32 run)
{
	u32 fields = (u32)__builtin_popcount(shape->operand_fields);
	u32 names = column + fields + (u32)__builtin_popcount(shape->roles), i;
	u32 names2 = names + template_count_holes(shape->path, shape->path_bytes);
	u32 list = names2 + template_count_holes(shape->path2, shape->path2_bytes);

	begin_line(p, is_serialization(shape), shape->depth);
	fputs(iot_kind_info(shape->kind)->name, p->out);
	print_names(p, shape, names, names2);
	for (i = 0; i < shape->field_count; i++)
		print_field(p, shape, i, column + (u32)shape_operand_of_field(shape, i));
	print_roles(p, shape, column + fields);
	print_flags(p->out, shape);
	for (i = 0; i < shape->list_count; i++) {
		fputs(i ? ", " : " from=[", p->out);
		print_column(p, list + i);
	}
	if (shape->list_count)
		fputc(']', p->out);
	for (i = 0; i < shape->field_count; i++)
		print_result(p, shape, i, column);
	print_times(p, run);
	print_site(p->out, shape);
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
	while (p->loops.count > before) {
		p->loops.count--;
		end_loop(p);
	}
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
	u64 trips = 0, *by_task;

	if (expression_constant(&p->group->columns[column], &trips) && shape) {
		print_split_run(p, shape, column + 1, run, trips);
		return;
	}
	by_task = trips ? NULL : expression_by_task(&p->group->columns[column], &p->ranks);
	begin_loop(p, trips, column);
	p->loops.trips[p->loops.count] = trips;
	p->loops.trips_by_task[p->loops.count++] = by_task;
	if (shape)
		print_operation(p, shape, column + 1, run);
	else
		print_body(p, node, column + 1, run);
	p->loops.trips_by_task[--p->loops.count] = NULL;
	end_loop(p);
	free(by_task);
}

/* -- groups ------------------------------------------------------------------------------------------------------ */

static void print_list(FILE *out, const u64 *values, u64 count)
{
	u64 i, step, length;

	for (i = 0; i < count; i += length) {
		step = i + 1 < count && values[i + 1] > values[i] ? values[i + 1] - values[i] : 0;
		for (length = 1; step && i + length < count && values[i + length] == values[i + length - 1] + step; length++)
			;
		if (length == 2 && step != 1)
			length = 1;
		fprintf(out, "%s%" PRIu64, i ? "," : "", (uint64_t)values[i]);
		if (length > 1)
			fprintf(out, "-%" PRIu64, (uint64_t)values[i + length - 1]);
		if (length > 1 && step != 1)
			fprintf(out, "/%" PRIu64, (uint64_t)step);
	}
}

/* Tasks are named by their ranks if all of the group are ranks of the first job. */
static int open_ranks(struct printing *p, bool has_unique_ranks)
{
	const struct pattern *pattern = p->pattern;
	const struct group *group = p->group;
	bool is_ranks = has_unique_ranks;
	u64 i, position;

	p->ranks.count = group->task_count;
	p->ranks.values = calloc(group->task_count + 1, sizeof(u64));
	if (!p->ranks.values)
		return -ENOMEM;
	for (i = 0; i < group->task_count; i++) {
		position = series_at(group->positions, i);
		if (position >= pattern->task_count) {
			free(p->ranks.values);
			return -EBADMSG;
		}
		is_ranks &= pattern_has_rank(pattern, position);
	}
	p->ranks.name = is_ranks ? "rank" : "task";
	for (i = 0; i < group->task_count; i++) {
		position = series_at(group->positions, i);
		p->ranks.values[i] = is_ranks ? series_at(pattern->facts[TASK_FACT_rank], position) : position + 1;
	}
	return 0;
}

static int print_group(const struct pattern *pattern, u32 index, const struct head *head, bool has_histograms, FILE *out)
{
	struct printing p = { .pattern = pattern, .group = &pattern->groups[index], .out = out, .has_histograms = has_histograms };
	int err = open_ranks(&p, head->has_unique_ranks);

	if (err)
		return err;
	if (head->has_found && p.ranks.count == 1 && p.ranks.values[0] == pattern->task_count) {
		fputs("\nfound {\n", out);
	} else {
		fprintf(out, "\n%ss ", p.ranks.name);
		print_list(out, p.ranks.values, p.ranks.count);
		fputs(" {\n", out);
	}
	print_body(&p, nodes_at(&pattern->nodes, p.group->root), 0, 0);
	fputs("}\n", out);
	free(p.ranks.values);
	return 0;
}

/**
 * pattern_print() - a pattern as text
 * @pattern: the pattern
 * @has_histograms: print the histograms of times, not only their means
 * @out: where
 *
 * Return: 0, -EBADMSG if it is not sound, -ENOMEM.
 */
int pattern_print(const struct pattern *pattern, bool has_histograms, FILE *out)
{
	struct pattern_summary summary;
	struct head head;
	u32 i;
	int err;

	pattern_summarize(pattern, &summary);
	fprintf(out, "# %" PRIu64 " operations of %" PRIu64 " tasks, %" PRIu64 " of them ranks; %" PRIu64
		     " groups of tasks that do the same\n",
		(uint64_t)summary.operations, (uint64_t)summary.tasks, (uint64_t)summary.ranks, (uint64_t)summary.groups);
	err = print_head(pattern, &head, out);
	for (i = 0; i < pattern->group_count && !err; i++)
		err = print_group(pattern, i, &head, has_histograms, out);
	return err;
}
