// SPDX-License-Identifier: GPL-2.0-only
/*
 * sequence.c - lists of numbers as text.
 *
 * Items of a list are numbers, numbers that repeat ("4096 x 31"), lines ("8..24/8", with a step of 8), and lists that repeat,
 * with a step that each repetition adds ("(1, 2) x 5 + 100").
 */
#include "sequence.h"

#define ITEMS_MAX (1u << 20) /* of a list */

typedef long long number;

struct printing {
	FILE *out;
	u32 items;
	bool is_first; /* in its parentheses */
};

/* Return: whether there is room for another item. */
static bool begin_item(struct printing *p)
{
	if (p->items > ITEMS_MAX)
		return false;
	if (!p->is_first)
		fputs(", ", p->out);
	p->is_first = false;
	if (p->items++ < ITEMS_MAX)
		return true;
	fputs("...", p->out);
	return false;
}

/* Both ends of a line, and the numbers between them, are signed numbers. */
static bool is_in_range(u64 base, u64 step, u64 count)
{
	number apart, last;

	return (number)count > 0 && !__builtin_mul_overflow((number)step, (number)(count - 1), &apart) &&
	       !__builtin_add_overflow((number)base, apart, &last);
}

static void print_line(struct printing *p, u64 base, u64 step, u64 count)
{
	u64 i;

	if (count < 2 || (step && count < 3) || (step && !is_in_range(base, step, count))) {
		for (i = 0; i < count && begin_item(p); i++)
			fprintf(p->out, "%lld", (number)(base + step * i));
		return;
	}
	if (!begin_item(p))
		return;
	if (!step)
		fprintf(p->out, "%lld x %llu", (number)base, (unsigned long long)count);
	else
		fprintf(p->out, "%lld..%lld", (number)base, (number)(base + step * (count - 1)));
	if (step && step != 1)
		fprintf(p->out, "/%lld", (number)step);
}

/* Numbers that come one by one, as lines. */
static void print_numbers(struct printing *p, struct cursor *cursor, u64 count, u64 plus)
{
	u64 base = 0, step = 0, length = 0, value;

	for (; count && p->items <= ITEMS_MAX; count--) {
		value = cursor_next(cursor) + plus;
		if (length == 1)
			step = value - base;
		if (length && value == base + step * length && (number)(length + 1) > 0 && is_in_range(base, step, length + 1)) {
			length++;
			continue;
		}
		if (length == 2 && step) { /* the second may begin a line */
			print_line(p, base, 0, 1);
			base += step;
			step = value - base;
			length = 2;
			continue;
		}
		print_line(p, base, step, length);
		base = value;
		length = 1;
	}
	print_line(p, base, step, length);
}

static void print_series(struct printing *p, const struct series *s);

static void print_cycle(struct printing *p, const struct series *s)
{
	u64 repeats = s->count / s->period;
	struct cursor *cursor = cursor_open(s->parts[0]);

	if (begin_item(p)) {
		fputc('(', p->out);
		p->is_first = true;
		print_series(p, s->parts[0]);
		p->is_first = false;
		fprintf(p->out, ") x %llu", (unsigned long long)repeats);
		if (s->step)
			fprintf(p->out, " + %lld", (number)s->step);
	}
	if (cursor)
		print_numbers(p, cursor, s->count % s->period, s->step * repeats);
	cursor_close(cursor);
}

static void print_wrap(struct printing *p, const struct series *s)
{
	u64 head = s->period - s->first < s->count ? s->period - s->first : s->count, repeats = (s->count - head) / s->period;

	print_line(p, s->base + s->step * s->first, s->step, head);
	if (repeats == 1)
		print_line(p, s->base, s->step, s->period);
	if (repeats > 1 && begin_item(p)) {
		fputc('(', p->out);
		p->is_first = true;
		print_line(p, s->base, s->step, s->period);
		p->is_first = false;
		fprintf(p->out, ") x %llu", (unsigned long long)repeats);
	}
	print_line(p, s->base, s->step, (s->count - head) % s->period);
}

static void print_runs(struct printing *p, const struct series *s)
{
	struct cursor *starts = cursor_open(s->parts[RUN_STARTS]), *steps = cursor_open(s->parts[RUN_STEPS]);
	struct cursor *lengths = cursor_open(s->parts[RUN_LENGTHS]);
	u64 base, step;

	while (starts && steps && lengths && !cursor_is_at_end(starts) && p->items <= ITEMS_MAX) {
		base = cursor_next(starts);
		step = cursor_next(steps);
		print_line(p, base, step, cursor_next(lengths));
	}
	cursor_close(starts);
	cursor_close(steps);
	cursor_close(lengths);
}

static void print_series(struct printing *p, const struct series *s)
{
	struct cursor *cursor;

	switch (s->form) {
	case SERIES_LINE:
		print_line(p, s->base, s->step, s->count);
		break;
	case SERIES_CYCLE:
		print_cycle(p, s);
		break;
	case SERIES_WRAP:
		print_wrap(p, s);
		break;
	case SERIES_RUNS:
		print_runs(p, s);
		break;
	default:
		cursor = cursor_open(s);
		if (cursor)
			print_numbers(p, cursor, s->count, 0);
		cursor_close(cursor);
	}
}

/**
 * sequence_print() - all numbers of a series
 * @out: where
 * @series: the numbers
 *
 * A list that would be very long ends with "...", and is refused when it is read.
 */
void sequence_print(FILE *out, const struct series *series)
{
	struct printing p = { .out = out, .is_first = true };

	fputc('{', out);
	print_series(&p, series);
	fputc('}', out);
}
