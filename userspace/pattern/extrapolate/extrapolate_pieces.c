// SPDX-License-Identifier: GPL-2.0-only
/*
 * extrapolate_pieces.c - data that a buffer of a fixed size cuts into pieces, such as that of stdio.
 *
 * The share of a rank is often a function of the number of ranks, when neither the number of pieces nor the length of the last one is:
 * both are rounded. Consecutive reads or writes of one length, of which only the last one is shorter, are therefore replaced by one
 * of all bytes, which is extrapolated, and cut again.
 */
#include "extrapolate.h"

#define PIECES_MAX (1u << 26) /* of a run, as files of patterns are not trusted */

/* Operands of a read or write: the first column is the number of pieces, then that of the first operand. */
struct piece {
	s64 offset;
	s64 length;
	s64 result;
	u32 columns;
};

/* What is known of all runs. @is_ragged: some last piece is shorter. @pieces, @wholes: of the first run, then of another one. */
struct cut {
	struct piece piece;
	u64 size_bytes;
	u64 longest_bytes;
	bool is_ragged;
	bool is_varying;
	u64 pieces;
	u64 wholes;
};

static s64 find_operand(const struct shape *shape, const char *name)
{
	u32 i;

	for (i = 0; i < shape->field_count; i++)
		if (!strcmp(event_field(shape->kind, i)->name, name))
			return shape_operand_of_field(shape, i);
	return -1;
}

static bool find_operands(const struct shape *shape, struct piece *piece)
{
	if (shape->kind != IOT_KIND_read && shape->kind != IOT_KIND_write)
		return false;
	piece->offset = find_operand(shape, "offset_bytes");
	piece->length = find_operand(shape, "length_bytes");
	piece->result = find_operand(shape, "result");
	piece->columns = 1 + shape->operand_count;
	return piece->offset >= 0 && piece->length >= 0 && piece->result >= 0;
}

static void close_cursors(struct series **series, struct cursor **cursors, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		cursor_close(cursors[i]);
		series_free(series[i]);
	}
	free(series);
	free(cursors);
}

/* The numbers of a task, of each column. */
static bool open_cursors(const struct column *columns, u32 count, u64 task, struct series ***series, struct cursor ***cursors)
{
	u32 i;

	*series = calloc(count, sizeof(**series));
	*cursors = calloc(count, sizeof(**cursors));
	for (i = 0; *series && *cursors && i < count; i++) {
		if (columns[i].class_count)
			column_series(&columns[i], task, &(*series)[i]);
		(*cursors)[i] = (*series)[i] ? cursor_open((*series)[i]) : NULL;
		if (!(*cursors)[i] && columns[i].class_count)
			break;
	}
	if (*series && *cursors && i == count)
		return true;
	close_cursors(*series, *cursors, *series && *cursors ? count : 0);
	return false;
}

/* -- pieces to wholes ------------------------------------------------------------------------------------------------ */

/* The next whole of a task: the first value of each operand, and the sum of its lengths. Return: whether it is one. */
static bool read_whole(struct cut *cut, struct cursor **cursors, u64 *first)
{
	const struct piece *piece = &cut->piece;
	u64 pieces = cursor_next(cursors[0]), i, value, length = 0, result = 0;
	u32 operand;

	if (pieces > PIECES_MAX || cut->pieces > PIECES_MAX || cut->wholes > PIECES_MAX)
		return false;
	first[0] = 0;
	for (i = 0; i < pieces; i++) {
		for (operand = 0; operand + 1 < piece->columns; operand++) {
			if (cursor_is_at_end(cursors[1 + operand]))
				return false;
			value = cursor_next(cursors[1 + operand]);
			length = operand == piece->length ? value : length;
			result = operand == piece->result ? value : result;
			if (!i)
				first[1 + operand] = value;
			else if (operand == piece->offset && value != first[1 + operand] + i * first[1 + piece->length])
				return false;
			else if (operand != piece->offset && operand != piece->length && operand != piece->result &&
				 value != first[1 + operand])
				return false;
		}
		if (!length || result != length || length > first[1 + piece->length] || (i + 1 < pieces && length != first[1 + piece->length]))
			return false;
		first[0] += length;
	}
	if (pieces > 1 && !cut->size_bytes)
		cut->size_bytes = first[1 + piece->length];
	if (pieces > 1 && cut->size_bytes != first[1 + piece->length])
		return false;
	if (first[1 + piece->length] > cut->longest_bytes)
		cut->longest_bytes = first[1 + piece->length];
	cut->is_ragged |= pieces > 1 && length < cut->size_bytes;
	cut->pieces += pieces;
	cut->wholes++;
	return pieces > 0;
}

static bool join_task(struct cut *cut, const struct column *columns, u64 task, struct column *wholes)
{
	struct numbers *numbers = calloc(cut->piece.columns, sizeof(*numbers));
	u64 *first = calloc(cut->piece.columns, sizeof(*first));
	struct series **series = NULL;
	struct cursor **cursors = NULL;
	bool is_right = numbers && first && open_cursors(columns, cut->piece.columns, task, &series, &cursors);
	bool is_open = is_right;
	u32 i;

	while (is_right && !cursor_is_at_end(cursors[0])) {
		is_right = read_whole(cut, cursors, first);
		for (i = 0; i < cut->piece.columns && is_right; i++)
			numbers_add(&numbers[i], first[i]);
	}
	for (i = 0; i < cut->piece.columns && is_right; i++)
		is_right = !column_add(&wholes[i], &numbers[i]);
	for (i = 0; numbers && i < cut->piece.columns; i++)
		numbers_free(&numbers[i]);
	if (is_open)
		close_cursors(series, cursors, cut->piece.columns);
	free(numbers);
	free(first);
	return is_right;
}

static void free_wholes(struct column *wholes, u32 count)
{
	u32 i;

	for (i = 0; wholes && i < count; i++)
		column_free(&wholes[i]);
	free(wholes);
}

/* Of the tasks of a run. Return: the columns of wholes, NULL if they are not pieces, or if out of memory. */
static struct column *join_pieces(struct cut *cut, const struct column *columns, u64 tasks)
{
	struct column *wholes = calloc(cut->piece.columns, sizeof(*wholes));
	u64 pieces = cut->pieces, whole_count = cut->wholes, task;
	u32 i;

	cut->pieces = cut->wholes = 0;
	for (task = 0; wholes && task < tasks; task++)
		if (!join_task(cut, columns, task, wholes))
			goto err;
	for (i = 0; wholes && i < cut->piece.columns; i++)
		if (column_finish(&wholes[i]))
			goto err;
	cut->is_varying |= whole_count && pieces * cut->wholes != cut->pieces * whole_count;
	return wholes;
err:
	free_wholes(wholes, cut->piece.columns);
	return NULL;
}

/* -- wholes to pieces ------------------------------------------------------------------------------------------------ */

static bool cut_whole(const struct cut *cut, struct cursor **cursors, struct numbers *numbers)
{
	const struct piece *piece = &cut->piece;
	u64 whole = cursor_next(cursors[0]), pieces = (whole + cut->size_bytes - 1) / cut->size_bytes, first, length, i;
	u32 operand;

	if (!whole || whole > INT64_MAX || pieces > PIECES_MAX || numbers[1 + piece->length].count > PIECES_MAX)
		return false;
	numbers_add(&numbers[0], pieces);
	for (operand = 0; operand + 1 < piece->columns; operand++) {
		if (!cursors[1 + operand]) /* a length or a result */
			continue;
		if (cursor_is_at_end(cursors[1 + operand]))
			return false;
		first = cursor_next(cursors[1 + operand]);
		for (i = 0; i < pieces; i++)
			numbers_add(&numbers[1 + operand], first + (operand == piece->offset ? i * cut->size_bytes : 0));
	}
	for (i = 0; i < pieces; i++) {
		length = i + 1 < pieces ? cut->size_bytes : whole - i * cut->size_bytes;
		numbers_add(&numbers[1 + piece->length], length);
		numbers_add(&numbers[1 + piece->result], length);
	}
	return true;
}

static bool cut_task(const struct cut *cut, const struct column *wholes, u64 task, struct column *made)
{
	struct numbers *numbers = calloc(cut->piece.columns, sizeof(*numbers));
	struct series **series = NULL;
	struct cursor **cursors = NULL;
	bool is_right = numbers && open_cursors(wholes, cut->piece.columns, task, &series, &cursors), is_open = is_right;
	u32 i;

	while (is_right && !cursor_is_at_end(cursors[0]))
		is_right = cut_whole(cut, cursors, numbers);
	for (i = 0; i < cut->piece.columns && is_right; i++)
		is_right = !column_add(&made[i], &numbers[i]);
	for (i = 0; numbers && i < cut->piece.columns; i++)
		numbers_free(&numbers[i]);
	if (is_open)
		close_cursors(series, cursors, cut->piece.columns);
	free(numbers);
	return is_right;
}

static bool cut_wholes(struct extrapolation *x, const struct cut *cut, struct column *const *runs, u64 tasks, struct column *made)
{
	struct column *wholes = calloc(cut->piece.columns, sizeof(*wholes));
	const struct column *columns[MODEL_RUNS_MAX];
	bool is_right = wholes;
	u64 task;
	u32 i, run;

	for (i = 0; i < cut->piece.columns && is_right; i++) {
		for (run = 0; run < x->scaling.count; run++)
			columns[run] = runs[run] ? &runs[run][i] : NULL;
		if (i != 1 + cut->piece.length && i != 1 + cut->piece.result)
			is_right = scale_column(&x->scaling, columns, &wholes[i]);
	}
	for (task = 0; task < tasks && is_right; task++)
		is_right = cut_task(cut, wholes, task, made);
	for (i = 0; i < cut->piece.columns && is_right; i++)
		is_right = !column_finish(&made[i]);
	for (i = 0; i < cut->piece.columns && !is_right; i++)
		column_free(&made[i]);
	free_wholes(wholes, cut->piece.columns);
	return is_right;
}

/* -- structures ------------------------------------------------------------------------------------------------------ */

static void extrapolate_run(struct extrapolation *x, const struct shape *shape, u32 column, const struct group *const *groups,
			    struct group *made)
{
	struct column *wholes[MODEL_RUNS_MAX] = {};
	struct cut cut = {};
	bool is_cut = find_operands(shape, &cut.piece);
	u32 run;

	for (run = 0; run < x->scaling.count && is_cut; run++) {
		if (!groups[run])
			continue;
		wholes[run] = join_pieces(&cut, &groups[run]->columns[column], groups[run]->task_count);
		is_cut = wholes[run];
	}
	if (is_cut && cut.is_ragged && cut.is_varying && cut.longest_bytes == cut.size_bytes)
		cut_wholes(x, &cut, wholes, made->task_count, &made->columns[column]);
	for (run = 0; run < x->scaling.count; run++)
		free_wholes(wholes[run], cut.piece.columns);
}

/**
 * extrapolate_pieces() - columns of reads and writes of data that is cut into pieces, of which there are not as many in each run
 * @x: the runs, and to where
 * @node: a part of the structure of a group
 * @column: its first one
 * @groups: of each run, NULL if it is missing
 * @made: gets these columns; others stay empty
 */
void extrapolate_pieces(struct extrapolation *x, const struct node *node, u32 column, const struct group *const *groups,
			struct group *made)
{
	const struct node *part;
	u32 i;

	if (node->type == NODE_RUN) {
		extrapolate_run(x, shapes_at(&x->model->shapes, node->shape), column, groups, made);
		return;
	}
	column += node->type == NODE_LOOP;
	for (i = 0; i < node->body_count; i++) {
		part = nodes_at(&x->model->nodes, node->body[i]);
		extrapolate_pieces(x, part, column, groups, made);
		column += part->columns;
	}
}
