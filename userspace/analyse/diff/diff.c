// SPDX-License-Identifier: GPL-2.0-only
/*
 * diff.c - compare the deeds of two traces, task by task.
 */
#include "diff.h"

#include <stdarg.h>
#include <stdlib.h>

#include "deeds.h"

/* So many operations are looked ahead for one that both traces have, after a difference. */
#define RESYNC_MAX 64

struct differ {
	const struct deeds *a;
	const struct deeds *b;
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

static void note_deed(struct differ *d, u32 task, const char *where, const struct deed *deed)
{
	char *text = deed_text(deed);

	differ_note(d, task, "%s: %s", where, text ? text : "?");
	free(text);
}

/* -- which task of the second trace is which of the first --------------------------------------- */

static const struct deed_task *by_id(const struct deeds *deeds, u32 id)
{
	u32 i;

	for (i = 0; i < deeds->task_count; i++)
		if (deeds->tasks[i].id == id)
			return &deeds->tasks[i];
	return NULL;
}

static bool has_players(const struct deeds *deeds)
{
	u32 i;

	for (i = 0; i < deeds->task_count; i++)
		if (deeds->tasks[i].plays)
			return true;
	return false;
}

/* The task that performs a given one. A carrier is announced once in each trace. */
static const struct deed_task *player_of(const struct deeds *deeds, u32 task)
{
	u32 i;

	for (i = 0; i < deeds->task_count; i++)
		if (deeds->tasks[i].plays == task)
			return &deeds->tasks[i];
	return NULL;
}

/* Two recordings of the same program: the same place in the tree of forks and execs. */
static const struct deed_task *twin_of(const struct differ *d, const struct deed_task *task)
{
	const struct deed_task *parent = task->parent ? by_id(d->a, task->parent) : NULL;
	const struct deed_task *twin = parent ? twin_of(d, parent) : NULL;
	u32 i, nth = 0, own = 0;

	if (task->parent && !twin)
		return NULL;
	for (i = 0; !task->parent && i < d->a->task_count && &d->a->tasks[i] != task; i++)
		own += !d->a->tasks[i].parent;
	for (i = 0; i < d->b->task_count; i++) {
		const struct deed_task *other = &d->b->tasks[i];

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
	HARMLESS, /* the second is what a replay makes of the first */
};

static bool may_be_harmless(const struct differ *d)
{
	return !d->options->is_privileged && (d->b->is_outcomes || has_players(d->b));
}

static enum likeness compare(const struct differ *d, const struct deed *a, const struct deed *b)
{
	bool is_equal = deed_is_equal(a, b);

	if (d->may_be_harmless && (is_equal ? deed_has_other_value(a, b) : deed_is_made_harmless(a, b)))
		return HARMLESS;
	return is_equal ? EQUAL : OTHER;
}

/* How many operations of the first trace to skip until one is like @b; RESYNC_MAX if none. */
static u32 distance_in_first(const struct differ *d, const struct deed_task *a, u32 at, const struct deed *b)
{
	u32 i;

	for (i = 0; i < RESYNC_MAX && at + i < a->count; i++)
		if (compare(d, &a->deeds[at + i], b))
			return i;
	return RESYNC_MAX;
}

static u32 distance_in_second(const struct differ *d, const struct deed_task *b, u32 at, const struct deed *a)
{
	u32 i;

	for (i = 0; i < RESYNC_MAX && at + i < b->count; i++)
		if (compare(d, a, &b->deeds[at + i]))
			return i;
	return RESYNC_MAX;
}

/*
 * A recording that began in the middle of programs ended there, too: what they held then the replay
 * gives up at its end, in whichever thread that is.
 */
static bool is_given_up(const struct differ *d, const struct deed *deed)
{
	return d->a->is_attached && (deed->kind == IOT_KIND_unmap || deed->kind == IOT_KIND_flush ||
				     deed->kind == IOT_KIND_release);
}

static void note_only_first(struct differ *d, u32 task, const struct deed *deed)
{
	if (d->may_be_harmless && deed_takes_privileges(deed))
		d->result->harmless++;
	else
		note_deed(d, task, "only in the first", deed);
}

static void compare_task(struct differ *d, const struct deed_task *a, const struct deed_task *b)
{
	u32 i = 0, j = 0, only_a, only_b;
	enum likeness likeness;

	while (i < a->count && j < b->count) {
		likeness = compare(d, &a->deeds[i], &b->deeds[j]);
		if (likeness != OTHER) {
			d->result->harmless += likeness == HARMLESS;
			i++;
			j++;
			continue;
		}
		only_a = distance_in_first(d, a, i, &b->deeds[j]);
		only_b = distance_in_second(d, b, j, &a->deeds[i]);
		if (only_a <= only_b)
			note_only_first(d, a->id, &a->deeds[i++]);
		if (only_b <= only_a)
			note_deed(d, a->id, "only in the second", &b->deeds[j++]);
	}
	while (i < a->count)
		note_only_first(d, a->id, &a->deeds[i++]);
	for (; j < b->count; j++)
		if (!is_given_up(d, &b->deeds[j]))
			note_deed(d, a->id, "only in the second", &b->deeds[j]);
}

/* -- all ----------------------------------------------------------------------------------------------- */

/* What was known to the kernel before a recording began was not looked up in it. */
static void compare_found(struct differ *d)
{
	const char *what;

	for (what = deeds_next_found(d->a, NULL); what; what = deeds_next_found(d->a, what))
		if (!deeds_have_found(d->b, what))
			differ_note(d, 0, "looked up and found only in the first: %s", what);
	for (what = deeds_next_found(d->b, NULL); what && !d->a->is_attached; what = deeds_next_found(d->b, what))
		if (!deeds_have_found(d->a, what))
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
		static const struct deed_task none;
		const struct deed_task *a = &d->a->tasks[i];
		const struct deed_task *b = is_replay ? player_of(d->b, a->id) : twin_of(d, a);

		d->result->operations[0] += a->count;
		if (b)
			is_taken[b - d->b->tasks] = true;
		compare_task(d, a, b ? b : &none);
	}
	for (i = 0; i < d->b->task_count; i++) {
		const struct deed_task *b = &d->b->tasks[i];

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
 * @result: filled in; to be given to diff_free()
 * @refused: out, if a trace is refused: which, 0 or 1
 * @reject: filled in then
 *
 * Return: 0 or a negative errno.
 */
int diff_traces(const char *const paths[2], const struct diff_options *options,
		struct diff_result *result, int *refused, struct iot_reject *reject)
{
	struct differ d = { .result = result, .options = options };
	struct deeds *a, *b;
	int err;

	*result = (struct diff_result){};
	*reject = (struct iot_reject){};
	*refused = 0;
	err = deeds_read(paths[0], &a, reject);
	if (err)
		return err;
	*refused = 1;
	err = deeds_read(paths[1], &b, reject);
	if (!err) {
		d.a = a;
		d.b = b;
		d.may_be_harmless = may_be_harmless(&d);
		result->omissions[0] = a->omissions;
		result->omissions[1] = b->omissions;
		if (b->is_outcomes)
			deeds_match_outcomes(a);
		compare_tasks(&d);
		compare_found(&d);
		deeds_free(b);
		err = d.is_short_of_memory ? -ENOMEM : 0;
	}
	deeds_free(a);
	return err;
}

/**
 * diff_free() - free what diff_traces() has filled in
 */
void diff_free(struct diff_result *result)
{
	size_t i;

	for (i = 0; i < result->item_count; i++)
		free(result->items[i].text);
	free(result->items);
}
