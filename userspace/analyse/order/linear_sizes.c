// SPDX-License-Identifier: GPL-2.0-only
/*
 * linear_sizes.c - the sizes of files while operations change and find them.
 *
 * Only of files that several tasks use, and that some operation makes longer or shorter.
 */
#include <stdlib.h>

#include "linear.h"
#include "analyse/graph/tree.h"

#define VERSIONS_MAX  32 /* more than a search goes back */

struct size_version {
	u64 count;
	u64 bytes;
	struct op_at by; /* task GRAPH_NONE: it was so before */
};

/* An operation that observed a size while operations that change it could overlap it. */
struct size_witness {
	u64 min_bytes;
	u64 max_bytes;
	struct op_at who;
};

/* An operation that extended the file, or would have if the file had been shorter. */
struct size_growth {
	u64 count;
	u64 bytes;
	struct op_at who;
};

/*
 * The growths are those that may overlap an operation under way or to come: writes commute, so each
 * of them by itself comes after the operations that found a smaller size. A growth is forgotten if it
 * ended before all of these operations began; a witness, if it ended before all operations that change
 * the size began. This is done whenever there are twice as many as necessary.
 */
struct file_size {
	struct size_version versions[VERSIONS_MAX];
	u32 version_count;
	struct size_growth *growths;
	u32 growth_count;
	u32 growth_room;
	struct op_at last_cut; /* task GRAPH_NONE: none */
	u32 *pending; /* tasks whose operation changes the size, and has not happened */
	u32 pending_count;
	u32 pending_room;
	u32 *finders; /* tasks whose operation finds it, and has not happened; see size_place */
	u32 finder_count;
	u32 finder_room;
	u32 remembered_max; /* witnesses and growths */
	struct size_witness *witnesses;
	u32 witness_count;
	u32 witness_room;
	u32 standing; /* in a search, its place there + 1; else 0 */
};

struct size_range {
	u64 min_bytes;
	u64 max_bytes;
};

/* It sets the size, whatever that was. */
static bool is_cut(const struct linear_op *x)
{
	return x->has_set_size && !x->is_growth;
}

static bool is_in(u64 bytes, u64 min_bytes, u64 max_bytes)
{
	return bytes == SIZE_UNKNOWN || (bytes >= min_bytes && bytes <= max_bytes);
}

static struct size_version *last(struct file_size *f)
{
	return &f->versions[f->version_count - 1];
}

static u64 until(const struct file_size *f, u32 at)
{
	return at + 1 < f->version_count ? f->versions[at + 1].count : (u64)-1;
}

/* -- before the walk ---------------------------------------------------------------------------- */

/* Of each file, the tasks that use it, and whether its size changes. */
struct size_use {
	u32 task; /* + 1 */
	bool is_shared;
	bool has_changed;
};

static void find_uses(const struct graph *graph, struct size_use *uses)
{
	struct linear_op x;
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];
			struct size_use *use = &uses[size_file(op)];

			if (!size_file(op) || !graph_is_io(op))
				continue;
			size_take_result(&x, op);
			if (!x.has_found_size && !x.has_set_size)
				continue;
			use->is_shared |= use->task && use->task != i + 1;
			use->has_changed |= x.has_set_size &&
					    (!x.is_growth || x.size_after_bytes > op->old_size_bytes);
			use->task = i + 1;
		}
}

/* A file that the trace makes is empty then; of another one the tree may know. */
static int begins_with(void *context, const struct tree_size *size)
{
	struct linear *e = context;
	u32 number;
	int err = graph_file(e->graph, size->object, &number);

	if (!err && number < e->size_count && e->sizes[number])
		e->sizes[number]->versions[0].bytes = size->bytes;
	return err;
}

/**
 * sizes_open() - find out which files change their size while several tasks use them
 * @e: the model
 * @tree: initial tree, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int sizes_open(struct linear *e, struct tree *tree)
{
	u32 files = e->graph->file_count + 1, i;
	struct size_use *uses;

	uses = calloc(files, sizeof(*uses));
	e->sizes = calloc(files, sizeof(struct file_size *));
	if (uses && e->sizes)
		find_uses(e->graph, uses);
	else
		e->err = -ENOMEM;
	for (i = 1; i < files && !e->err; i++) {
		if (!uses[i].is_shared || !uses[i].has_changed)
			continue;
		e->sizes[i] = calloc(1, sizeof(struct file_size));
		if (!e->sizes[i]) {
			e->err = -ENOMEM;
			break;
		}
		e->sizes[i]->versions[0].bytes = SIZE_UNKNOWN;
		e->sizes[i]->versions[0].by.task = GRAPH_NONE;
		e->sizes[i]->last_cut.task = GRAPH_NONE;
		e->sizes[i]->version_count = 1;
	}
	free(uses);
	e->size_count = files;
	if (tree && !e->err)
		e->err = tree_each_size(tree, begins_with, e);
	return e->err;
}

/**
 * sizes_close() - free all of it
 */
void sizes_close(struct linear *e)
{
	u32 i;

	for (i = 0; i < e->size_count; i++) {
		if (!e->sizes[i])
			continue;
		free(e->sizes[i]->pending);
		free(e->sizes[i]->finders);
		free(e->sizes[i]->growths);
		free(e->sizes[i]->witnesses);
		free(e->sizes[i]);
	}
	free(e->sizes);
}

/* -- the walk ------------------------------------------------------------------------------------ */

/**
 * sizes_observe() - add the observation of the size of its file by an operation
 */
void sizes_observe(struct linear *e, struct linear_op *x)
{
	const struct graph_op *op = linear_graph_op(e, x->at);

	x->size = e->sizes ? e->sizes[size_file(op)] : NULL; /* of file 0: none */
	if (!x->size)
		return;
	size_take_result(x, op);
	if (!x->has_found_size && !x->has_set_size)
		x->size = NULL;
}

static void add_finder(struct linear *e, struct file_size *f, struct linear_op *x)
{
	f->finders = linear_room(e, f->finders, f->finder_count, &f->finder_room, sizeof(*f->finders));
	if (e->err)
		return;
	x->size_place = f->finder_count;
	f->finders[f->finder_count++] = x->at.task;
}

static void drop_finder(struct linear *e, struct file_size *f, const struct linear_op *x)
{
	u32 last = f->finders[--f->finder_count];

	f->finders[x->size_place] = last;
	e->of_task[last]->size_place = x->size_place;
}

/**
 * sizes_begin() - the same, of one that begins
 */
void sizes_begin(struct linear *e, struct linear_op *x)
{
	struct file_size *f;

	sizes_observe(e, x);
	f = x->size;
	if (!f)
		return;
	if (!x->has_set_size) {
		add_finder(e, f, x);
		return;
	}
	x->is_change = true;
	f->pending = linear_room(e, f->pending, f->pending_count, &f->pending_room,
				  sizeof(*f->pending));
	if (!e->err)
		f->pending[f->pending_count++] = x->at.task;
}

static s64 find(const struct file_size *f, const struct size_range *range, u64 low, u64 high)
{
	s64 i;

	for (i = (s64)f->version_count - 1; i >= 0 && until(f, (u32)i) > low; i--)
		if (f->versions[i].count < high &&
		    is_in(f->versions[i].bytes, range->min_bytes, range->max_bytes))
			return i;
	return -1;
}

/* Does it bring the size closer to the observed one? */
static bool would_help(const struct linear *e, struct file_size *f, const struct linear_op *x,
		       const struct size_range *range, const struct linear_op *other)
{
	u64 now_bytes = last(f)->bytes;

	if (other == x || other->has_happened || other->is_happening)
		return false;
	if (other->size_after_bytes == SIZE_UNKNOWN)
		return true;
	if (other->size_after_bytes > range->max_bytes)
		return false;
	if (now_bytes == SIZE_UNKNOWN) /* it was smaller before that one */
		return other->is_growth && other->size_after_bytes >= range->min_bytes &&
		       linear_graph_op(e, other->at)->old_size_bytes < range->min_bytes;
	if (now_bytes > range->max_bytes)
		return !other->is_growth;
	return other->size_after_bytes > now_bytes;
}

/* The observed size; a write or truncation observed one, too, at some moment before it changed it. */
static bool says_range(const struct linear *e, const struct linear_op *x, struct size_range *range)
{
	const u64 old_bytes = linear_graph_op(e, x->at)->old_size_bytes;
	const u16 kind = linear_graph_op(e, x->at)->kind;

	*range = x->has_found_size ?
			 (struct size_range){ x->size_min_bytes, x->size_max_bytes } :
			 (struct size_range){ old_bytes, old_bytes };
	return x->has_found_size || x->is_growth || kind == IOT_KIND_setattr || kind == IOT_KIND_fallocate;
}

static bool is_so(const struct linear *e, const struct linear_op *x, const struct size_range *range)
{
	bool is_now = x->is_change && x->has_found_size;
	s64 at = find(x->size, range, is_now ? e->count : x->begun, e->count + 1);

	return at >= 0 && x->size->versions[at].bytes != SIZE_UNKNOWN;
}

/**
 * sizes_force() - execute the operations without which the size differs from the observed one
 */
void sizes_force(struct linear *e, struct linear_op *x)
{
	struct file_size *f = x->size;
	struct size_range range;
	u32 i;

	if (!f || !says_range(e, x, &range))
		return;
again:
	if (e->err || is_so(e, x, &range))
		return;
	for (i = 0; i < f->pending_count; i++) {
		struct linear_op *other = e->of_task[f->pending[i]];

		if (!would_help(e, f, x, &range, other))
			continue;
		linear_happen(e, other);
		if (other->has_happened)
			goto again;
	}
}

static void order(struct linear *e, const struct linear_op *x, u32 at)
{
	const u64 min_bytes = x->size_min_bytes, max_bytes = x->size_max_bytes;
	struct file_size *f = x->size;
	u32 from = at, to = at + 1;

	while (from && is_in(f->versions[from - 1].bytes, min_bytes, max_bytes))
		from--;
	linear_order(e, f->versions[from].by, x->at, EDGE_size);
	while (to < f->version_count && is_in(f->versions[to].bytes, min_bytes, max_bytes))
		to++;
	if (to < f->version_count)
		linear_order(e, x->at, f->versions[to].by, EDGE_size);
	if (!f->pending_count && !linear_is_under_way(e, x->at))
		return;
	f->witnesses = linear_room(e, f->witnesses, f->witness_count, &f->witness_room,
				    sizeof(*f->witnesses));
	if (!e->err)
		f->witnesses[f->witness_count++] =
			(struct size_witness){ min_bytes, max_bytes, x->at };
}

/* Before all that made the file longer than it was found, from that moment on. */
static void order_growths(struct linear *e, const struct linear_op *x, u64 moment)
{
	const struct file_size *f = x->size;
	u32 i = f->growth_count;

	while (i && f->growths[i - 1].count > moment)
		i--;
	for (; i < f->growth_count; i++)
		if (f->growths[i].bytes > x->size_max_bytes)
			linear_order(e, x->at, f->growths[i].who, EDGE_size);
}

/* The size that a write or truncation saw determines an order, but is not a result. */
static void take_seen(struct linear *e, const struct linear_op *x)
{
	struct size_range range;

	if (says_range(e, x, &range) && find(x->size, &range, x->begun, e->count + 1) < 0)
		searches_again(e, x, SOUGHT_SAMPLE);
}

/**
 * sizes_take() - an operation found the size
 * @e: the model
 * @x: the operation
 * @low: in and out: not before this moment
 * @high: in and out: before this one
 */
void sizes_take(struct linear *e, struct linear_op *x, u64 *low, u64 *high)
{
	struct file_size *f = x->size;
	struct size_version *v;
	s64 at;

	if (!f)
		return;
	if (!x->has_found_size) {
		take_seen(e, x);
		return;
	}
	if (!x->has_set_size)
		drop_finder(e, f, x);
	at = find(f, &(struct size_range){ x->size_min_bytes, x->size_max_bytes }, *low, *high);
	if (at < 0) {
		if (!searches_again(e, x, SOUGHT_SIZE))
			e->unexplained++;
		return;
	}
	v = &f->versions[at];
	if (v->bytes == SIZE_UNKNOWN && x->size_min_bytes == x->size_max_bytes)
		v->bytes = x->size_min_bytes;
	if (v->count > *low)
		*low = v->count;
	if (until(f, (u32)at) < *high)
		*high = until(f, (u32)at);
	order(e, x, (u32)at);
	order_growths(e, x, *high - 1);
}

static void set(struct file_size *f, u64 count, u64 bytes, struct op_at by)
{
	if (f->version_count == VERSIONS_MAX)
		memmove(f->versions, f->versions + 1, --f->version_count * sizeof(*f->versions));
	f->versions[f->version_count++] = (struct size_version){ count, bytes, by };
}

/* Those that found a size which this one changes did so before. */
static void order_witnesses(struct linear *e, struct file_size *f, const struct linear_op *x)
{
	u32 i;

	for (i = 0; i < f->witness_count; i++) {
		const struct size_witness *w = &f->witnesses[i];

		if (x->size_after_bytes > w->max_bytes ||
		    (!x->is_growth && x->size_after_bytes < w->min_bytes))
			linear_order(e, w->who, x->at, EDGE_size);
	}
}

static void add_growth(struct linear *e, struct file_size *f, const struct linear_op *x)
{
	f->growths = linear_room(e, f->growths, f->growth_count, &f->growth_room,
				  sizeof(*f->growths));
	if (!e->err)
		f->growths[f->growth_count++] =
			(struct size_growth){ e->count, x->size_after_bytes, x->at };
}

/* A truncation follows all earlier changes of the size; extensions of the file follow the truncation. */
static void order_cuts(struct linear *e, struct file_size *f, const struct linear_op *x)
{
	u32 i;

	linear_order(e, f->last_cut, x->at, EDGE_size);
	if (!is_cut(x))
		return;
	for (i = 0; i < f->growth_count; i++)
		linear_order(e, f->growths[i].who, x->at, EDGE_size);
	f->last_cut = x->at;
}

/* Before the first observed writes; of overlapping writes, some observed the result of others. */
static u64 smallest(const struct linear *e, const struct file_size *f)
{
	u64 bytes = SIZE_UNKNOWN;
	u32 i;

	for (i = 0; i < f->pending_count; i++) {
		const struct linear_op *other = e->of_task[f->pending[i]];
		const struct graph_op *op = linear_graph_op(e, other->at);

		if (other->is_growth && op->old_size_bytes < bytes)
			bytes = op->old_size_bytes;
	}
	return bytes;
}

/* Later operations start after all of these except those under way. */
static void forget_witnesses(const struct linear *e, struct file_size *f)
{
	u32 i, kept = 0;

	for (i = 0; i < f->witness_count; i++)
		if (linear_is_under_way(e, f->witnesses[i].who))
			f->witnesses[kept++] = f->witnesses[i];
	f->witness_count = kept;
}

static u64 earliest(const struct linear *e, const u32 *tasks, u32 count, u64 ns)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u64 enter_ns = linear_graph_op(e, e->of_task[tasks[i]]->at)->enter_ns;

		ns = enter_ns < ns ? enter_ns : ns;
	}
	return ns;
}

/* It ended before all operations that it matters to: no later operation overlaps it. */
static void forget_ended(const struct linear *e, struct file_size *f)
{
	u64 since_ns = earliest(e, f->pending, f->pending_count, e->now_ns);
	u32 i, kept = 0;

	for (i = 0; i < f->witness_count; i++)
		if (linear_graph_op(e, f->witnesses[i].who)->end_ns >= since_ns)
			f->witnesses[kept++] = f->witnesses[i];
	f->witness_count = kept;
	since_ns = earliest(e, f->finders, f->finder_count, since_ns);
	for (i = kept = 0; i < f->growth_count; i++)
		if (linear_graph_op(e, f->growths[i].who)->end_ns >= since_ns)
			f->growths[kept++] = f->growths[i];
	f->growth_count = kept;
	f->remembered_max = 2 * (f->witness_count + kept + f->pending_count + f->finder_count);
}

/**
 * sizes_change() - an operation changes the size
 */
void sizes_change(struct linear *e, struct linear_op *x)
{
	struct file_size *f = x->size;
	u64 bytes = x->size_after_bytes;
	u32 i, kept = 0;

	if (!f || !x->has_set_size)
		return;
	if (last(f)->bytes == SIZE_UNKNOWN && x->is_growth)
		last(f)->bytes = smallest(e, f);
	if (x->is_growth && last(f)->bytes > bytes)
		bytes = last(f)->bytes;
	if (bytes != last(f)->bytes)
		set(f, e->count, bytes, x->at);
	order_witnesses(e, f, x);
	order_cuts(e, f, x);
	if (x->is_growth)
		add_growth(e, f, x);
	for (i = 0; i < f->pending_count; i++)
		if (f->pending[i] != x->at.task)
			f->pending[kept++] = f->pending[i];
	f->pending_count = kept;
	if (!kept)
		forget_witnesses(e, f);
	if (f->witness_count + f->growth_count > f->remembered_max)
		forget_ended(e, f);
}

/* -- for a search -------------------------------------------------------------------------------- */

/**
 * size_standing() - the place of a file's size in a search, + 1; 0 if it has none
 */
u32 *size_standing(struct file_size *f)
{
	return &f->standing;
}

/**
 * size_value_at() - the size at a moment; SIZE_UNKNOWN if that is not known, or too long ago
 */
s64 size_value_at(const struct file_size *f, u64 count)
{
	u32 i;

	for (i = f->version_count; i && f->versions[i - 1].count > count; i--)
		;
	return i ? (s64)f->versions[i - 1].bytes : (s64)SIZE_UNKNOWN;
}

/**
 * size_was() - was the size the observed one at some time from @low to before @high?
 */
bool size_was(const struct linear_op *x, u64 low, u64 high)
{
	const struct size_range range = { x->size_min_bytes, x->size_max_bytes };

	return !x->has_found_size || find(x->size, &range, low, high) >= 0;
}

/**
 * size_sample() - the size before a change, as an observation of a separate operation
 * @sample: has the size
 *
 * Return: false if it shows nothing.
 */
bool size_sample(const struct linear *e, const struct linear_op *x, struct linear_op *sample)
{
	struct size_range range;

	if (!x->size || !x->has_set_size || x->has_found_size || !says_range(e, x, &range))
		return false;
	size_says(sample, range.min_bytes, range.max_bytes);
	return true;
}

/**
 * size_meets() - is a size the observed one?
 */
bool size_meets(const struct linear_op *x, u64 bytes)
{
	return !x->has_found_size || is_in(bytes, x->size_min_bytes, x->size_max_bytes);
}

/**
 * size_after() - the size after an operation
 * @bytes: before it
 */
u64 size_after(const struct linear_op *x, u64 bytes)
{
	if (!x->has_set_size || (x->is_growth && bytes != SIZE_UNKNOWN && bytes > x->size_after_bytes))
		return bytes;
	return x->size_after_bytes;
}
