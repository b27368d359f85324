// SPDX-License-Identifier: GPL-2.0-only
/*
 * diff.c - compare the operations of two traces, task by task.
 */
#include "diff.h"

#include <stdarg.h>
#include <stdlib.h>

#include "canon.h"

/* So many operations are looked ahead for one that both traces have, after a difference. */
#define RESYNC_MAX 64

struct differ {
	const struct canon *a;
	const struct canon *b;
	const struct diff_options *options;
	struct diff_result *result;
	bool may_be_harmless;
	bool is_short_of_memory;
};

static void differ_note(struct differ *d, u32 task, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void differ_note(struct differ *d, u32 task, const char *format, ...)
{
	struct diff_item *items;
	va_list arguments;
	char *text;

	if (d->result->differences++ >= d->options->items_max)
		return;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	items = reallocarray(d->result->items, d->result->item_count + 1, sizeof(*items));
	if (!items || !text) {
		d->is_short_of_memory = true;
		free(text);
		return;
	}
	d->result->items = items;
	items[d->result->item_count++] = (struct diff_item){ task, text };
}

static void note_op(struct differ *d, u32 task, const char *where, const struct canon_op *op)
{
	char *text = canon_op_text(op);

	differ_note(d, task, "%s: %s", where, text ? text : "?");
	free(text);
}

/* -- which task of the second trace is which of the first --------------------------------------- */

static const struct canon_task *by_id(const struct canon *canon, u32 id)
{
	u32 i;

	for (i = 0; i < canon->task_count; i++)
		if (canon->tasks[i].id == id)
			return &canon->tasks[i];
	return NULL;
}

static bool has_players(const struct canon *canon)
{
	u32 i;

	for (i = 0; i < canon->task_count; i++)
		if (canon->tasks[i].plays)
			return true;
	return false;
}

/* The task that performs a given one. A worker is announced once in each trace. */
static const struct canon_task *player_of(const struct canon *canon, u32 task)
{
	u32 i;

	for (i = 0; i < canon->task_count; i++)
		if (canon->tasks[i].plays == task)
			return &canon->tasks[i];
	return NULL;
}

/* Two recordings of the same program: the same place in the tree of forks and execs. */
static const struct canon_task *twin_of(const struct differ *d, const struct canon_task *task)
{
	const struct canon_task *parent = task->parent ? by_id(d->a, task->parent) : NULL;
	const struct canon_task *twin = parent ? twin_of(d, parent) : NULL;
	u32 i, nth = 0, own = 0;

	if (task->parent && !twin)
		return NULL;
	for (i = 0; !task->parent && i < d->a->task_count && &d->a->tasks[i] != task; i++)
		own += !d->a->tasks[i].parent;
	for (i = 0; i < d->b->task_count; i++) {
		const struct canon_task *other = &d->b->tasks[i];

		if (task->parent ? other->parent == twin->id && other->nth == task->nth :
				   !other->parent && nth++ == own)
			return other;
	}
	return NULL;
}

/* -- one task ---------------------------------------------------------------------------------------- */

enum likeness {
	OTHER,
	EQUAL,
	HARMLESS, /* a replay replaces the first by the second */
};

static bool may_be_harmless(const struct differ *d)
{
	return !d->options->is_privileged && (d->b->is_outcomes || has_players(d->b));
}

static enum likeness compare(const struct differ *d, const struct canon_op *a, const struct canon_op *b)
{
	bool is_equal = canon_op_is_equal(a, b);

	if (d->may_be_harmless && (is_equal ? canon_op_has_other_value(a, b) : canon_op_is_made_harmless(a, b)))
		return HARMLESS;
	return is_equal ? EQUAL : OTHER;
}

/* How many operations of the first trace to skip until one is like @b; RESYNC_MAX if none. */
static u32 distance_in_first(const struct differ *d, const struct canon_task *a, u32 at, const struct canon_op *b)
{
	u32 i;

	for (i = 0; i < RESYNC_MAX && at + i < a->count; i++)
		if (compare(d, &a->ops[at + i], b))
			return i;
	return RESYNC_MAX;
}

static u32 distance_in_second(const struct differ *d, const struct canon_task *b, u32 at, const struct canon_op *a)
{
	u32 i;

	for (i = 0; i < RESYNC_MAX && at + i < b->count; i++)
		if (compare(d, a, &b->ops[at + i]))
			return i;
	return RESYNC_MAX;
}

/*
 * A recording that started while programs ran ended while they ran, too: a replay releases their handles and
 * mappings at its end, in any thread.
 */
static bool is_given_up(const struct differ *d, const struct canon_op *op)
{
	return d->a->is_attached && (op->kind == IOT_KIND_unmap || op->kind == IOT_KIND_flush ||
				     op->kind == IOT_KIND_release);
}

static void note_only_first(struct differ *d, u32 task, const struct canon_op *op)
{
	if (d->may_be_harmless && canon_op_takes_privileges(op))
		d->result->harmless++;
	else
		note_op(d, task, "only in the first", op);
}

static void compare_task(struct differ *d, const struct canon_task *a, const struct canon_task *b)
{
	u32 i = 0, j = 0, only_a, only_b;
	enum likeness likeness;

	while (i < a->count && j < b->count) {
		likeness = compare(d, &a->ops[i], &b->ops[j]);
		if (likeness != OTHER) {
			d->result->harmless += likeness == HARMLESS;
			i++;
			j++;
			continue;
		}
		only_a = distance_in_first(d, a, i, &b->ops[j]);
		only_b = distance_in_second(d, b, j, &a->ops[i]);
		if (only_a <= only_b)
			note_only_first(d, a->id, &a->ops[i++]);
		if (only_b <= only_a)
			note_op(d, a->id, "only in the second", &b->ops[j++]);
	}
	while (i < a->count)
		note_only_first(d, a->id, &a->ops[i++]);
	for (; j < b->count; j++)
		if (!is_given_up(d, &b->ops[j]))
			note_op(d, a->id, "only in the second", &b->ops[j]);
}

/* -- all ----------------------------------------------------------------------------------------------- */

/* Names that the kernel had cached before a recording are not looked up in it. */
static void compare_found(struct differ *d)
{
	const char *what;

	for (what = canon_next_found(d->a, NULL); what; what = canon_next_found(d->a, what))
		if (!canon_have_found(d->b, what))
			differ_note(d, 0, "looked up and found only in the first: %s", what);
	for (what = canon_next_found(d->b, NULL); what && !d->a->is_attached; what = canon_next_found(d->b, what))
		if (!canon_have_found(d->a, what))
			differ_note(d, 0, "looked up and found only in the second: %s", what);
}

static void compare_tasks(struct differ *d)
{
	bool is_replay = has_players(d->b);
	bool *is_taken = calloc(d->b->task_count + 1, sizeof(*is_taken));
	u32 i;

	if (!is_taken) {
		d->is_short_of_memory = true;
		return;
	}
	for (i = 0; i < d->a->task_count; i++) {
		static const struct canon_task none;
		const struct canon_task *a = &d->a->tasks[i];
		const struct canon_task *b = is_replay ? player_of(d->b, a->id) : twin_of(d, a);

		d->result->operations[0] += a->count;
		if (b)
			is_taken[b - d->b->tasks] = true;
		compare_task(d, a, b ? b : &none);
	}
	for (i = 0; i < d->b->task_count; i++) {
		const struct canon_task *b = &d->b->tasks[i];

		if (is_taken[i]) {
			d->result->operations[1] += b->count;
		} else if (is_replay && !b->plays) {
			d->result->left_out += b->count;
		} else if (b->count) {
			d->result->operations[1] += b->count;
			differ_note(d, b->id, "task only in the second, with %u operations", b->count);
		}
	}
	free(is_taken);
}

/**
 * diff_traces() - compare two traces
 * @paths: of the traces; the second may be a recording of a replay of the first
 * @options: how
 * @result: filled in; to be freed by diff_free()
 * @refused: out, if a trace is refused: which, 0 or 1
 * @reject: filled in then
 *
 * Return: 0 or a negative errno.
 */
int diff_traces(const char *const paths[2], const struct diff_options *options,
		struct diff_result *result, int *refused, struct iot_reject *reject)
{
	struct differ d = { .result = result, .options = options };
	struct canon *a, *b;
	int err;

	*result = (struct diff_result){};
	*reject = (struct iot_reject){};
	*refused = 0;
	err = canon_read(paths[0], &a, reject);
	if (err)
		return err;
	*refused = 1;
	err = canon_read(paths[1], &b, reject);
	if (!err) {
		d.a = a;
		d.b = b;
		d.may_be_harmless = may_be_harmless(&d);
		result->omissions[0] = a->omissions;
		result->omissions[1] = b->omissions;
		if (b->is_outcomes)
			canon_match_outcomes(a);
		compare_tasks(&d);
		compare_found(&d);
		canon_free(b);
		err = d.is_short_of_memory ? -ENOMEM : 0;
	}
	canon_free(a);
	return err;
}

/**
 * diff_free() - free the result of diff_traces()
 */
void diff_free(struct diff_result *result)
{
	size_t i;

	for (i = 0; i < result->item_count; i++)
		free(result->items[i].text);
	free(result->items);
}
