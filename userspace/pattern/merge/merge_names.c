// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge_names.c - the names in the merged pattern: below the directory of a node, and with the widths of numbers in all names.
 */
#include "merge.h"

#include <uthash.h>

/* -- names and their parts ------------------------------------------------------------------------------------------------ */

/* Successful look-ups are only in the list of names that look-ups found. */
static bool is_found(const struct shape *shape)
{
	return shape->kind == IOT_KIND_lookup && shape->operand_fields & 1;
}

static bool is_path2(u16 kind)
{
	return kind == IOT_KIND_rename || kind == IOT_KIND_link;
}

/* What comes before a path, "" if nothing: the root of a node is the directory itself. Return: bytes of the path that go. */
static size_t add_prefix(const struct merge_source *s, const u8 *path, size_t bytes, struct bytes *text)
{
	bool is_root = bytes == 1 && *path == '.';

	if (!s->prefix || !bytes)
		return 0;
	bytes_add(text, s->prefix, strlen(s->prefix));
	if (!is_root)
		bytes_add(text, "/", 1);
	return is_root;
}

struct path {
	const u8 *template;
	size_t bytes;
	bool is_path; /* not another text */
};

static struct path path_of(const struct shape *shape, u32 which)
{
	if (which)
		return (struct path){ shape->path2, shape->path2_bytes, is_path2(shape->kind) };
	return (struct path){ shape->path, shape->path_bytes, true };
}

/* A name of a template as it will be. @head: the bytes that come before it. */
static size_t make_example(const struct merge_source *s, struct path path, struct bytes *text, size_t *head)
{
	size_t gone = path.is_path ? add_prefix(s, path.template, path.bytes, text) : 0;

	*head = text->count;
	template_example(path.template + gone, path.bytes - gone, text);
	bytes_add(text, "", 1);
	return gone;
}

static int learn_shape(struct merge *m, const struct merge_source *s, const struct shape *shape)
{
	size_t head;
	u32 which;
	int err = 0;

	for (which = 0; which < 2 && !err; which++) {
		struct bytes text = {};

		make_example(s, path_of(shape, which), &text, &head);
		err = text.is_failed ? -ENOMEM : template_learn(&m->widths, (char *)text.data);
		bytes_free(&text);
	}
	return err;
}

/**
 * merge_learn_names() - the widths of the numbers in all names
 */
int merge_learn_names(struct merge *m)
{
	const struct shapes *shapes;
	u32 i, j;
	int err = 0;

	for (i = 0; i < m->source_count && !err; i++) {
		shapes = &m->sources[i].pattern->shapes;
		for (j = 0; j < shapes->count && !err; j++)
			if (!is_found(shapes_at(shapes, j)))
				err = learn_shape(m, &m->sources[i], shapes_at(shapes, j));
	}
	return err;
}

/* -- widths ----------------------------------------------------------------------------------------------------------------- */

/* The width that all values of an operand have, see values_width(). */
struct widening {
	const struct merge_source *source;
	const struct group *group;
	u32 shape;
	u32 operand;
	u32 old_width;
	u8 learnt;
	int width; /* -2: no value so far */
	bool is_mixed;
};

static void see_value(struct widening *w, u64 value)
{
	struct bytes digits = {};
	int width = -1;

	bytes_add_decimal(&digits, value, w->old_width);
	bytes_add(&digits, "", 1);
	if (!digits.is_failed)
		width = template_width((char *)digits.data, digits.count - 1, w->learnt);
	w->is_mixed |= digits.is_failed || width < 0 || (w->width != -2 && w->width != width);
	w->width = width;
	bytes_free(&digits);
}

static int see_column(struct widening *w, const struct column *column)
{
	struct column_cursor *tasks = column_cursor_open(column);
	struct split_series split = {};
	struct series *series;
	struct cursor *values;
	u64 i;
	int err = tasks ? 0 : -ENOMEM;

	for (i = 0; i < w->group->task_count && !err && !w->is_mixed; i++) {
		err = column_cursor_next(tasks, &split);
		series = NULL;
		if (!err)
			err = split_series_join(&split, &series);
		values = err ? NULL : cursor_open(series);
		if (!err && !values)
			err = -ENOMEM;
		while (!err && !cursor_is_at_end(values) && !w->is_mixed)
			see_value(w, cursor_next(values));
		cursor_close(values);
		series_free(series);
	}
	split_series_free(&split);
	column_cursor_close(tasks);
	return err;
}

static int see_part(struct widening *w, u32 index, u32 column)
{
	const struct nodes *nodes = &w->source->pattern->nodes;
	const struct node *node = nodes_at(nodes, index);
	u32 i;
	int err = 0;

	if (node->type == NODE_RUN)
		return node->shape == w->shape ? see_column(w, &w->group->columns[column + 1 + w->operand]) : 0;
	column += node->type == NODE_LOOP;
	for (i = 0; i < node->body_count && !err && !w->is_mixed; i++) {
		err = see_part(w, node->body[i], column);
		column += nodes_at(nodes, node->body[i])->columns;
	}
	return err;
}

/*
 * The width of a number of a name, now that the widths in all parts are known. If the values of the operand had different ones, the shape
 * would have to be divided, and the loops found again: it keeps the width that it has. The names are the same in any case.
 */
static int find_width(const struct merge_source *s, u32 shape, u32 operand, u32 old_width, u8 learnt, u32 *width)
{
	struct widening w = { .source = s, .shape = shape, .operand = operand, .old_width = old_width, .learnt = learnt, .width = -2 };
	u32 i;
	int err = 0;

	*width = old_width;
	if (learnt < 2 || learnt == old_width)
		return 0;
	for (i = 0; i < s->pattern->group_count && !err && !w.is_mixed; i++) {
		w.group = &s->pattern->groups[i];
		err = see_part(&w, w.group->root, 0);
	}
	if (!err && !w.is_mixed && w.width >= 0)
		*width = (u32)w.width;
	return err;
}

/* -- shapes ----------------------------------------------------------------------------------------------------------------- */

struct renaming {
	struct merge *m;
	const struct merge_source *source;
	u32 shape;
	bool keeps_widths;
};

/* The name of the node: its numbers are the first ones of the name. Return: how many there are. */
static u32 put_head(const u8 *text, size_t bytes, const u8 learnt[TEMPLATE_HOLES_MAX], struct bytes *template, struct numbers *numbers)
{
	u32 hole = 0;
	size_t i, digits;
	int width;

	for (i = 0; i < bytes; i += digits ? digits : 1) {
		digits = template_digits((const char *)text + i);
		digits = digits > bytes - i ? bytes - i : digits;
		width = digits && hole < TEMPLATE_HOLES_MAX ? template_width((const char *)text + i, digits, learnt[hole]) : -1;
		hole += digits > 0;
		if (width < 0) {
			bytes_add(template, text + i, digits ? digits : 1);
			continue;
		}
		bytes_add(template, (u8[]){ 0, (u8)(width + 1) }, 2);
		numbers_add(numbers, strtoull((const char *)text + i, NULL, 10));
	}
	return hole;
}

static int too_many(const struct renaming *r)
{
	return merge_refuse(r->m, "%s: a name below %s has more than %d numbers: merge the traces instead", r->source->name,
			    r->source->prefix, TEMPLATE_HOLES_MAX);
}

/* The rest of the name, from the template. */
static int put_rest(const struct renaming *r, const u8 *rest, size_t bytes, u32 hole, u32 operand, const u8 learnt[TEMPLATE_HOLES_MAX],
		    struct bytes *template)
{
	bool is_number = false;
	u32 width;
	size_t i;
	int err;

	for (i = 0; i < bytes; i++) {
		if (rest[i]) {
			bool is_digit = rest[i] >= '0' && rest[i] <= '9';

			hole += is_digit && !is_number;
			is_number = is_digit;
			bytes_add(template, rest + i, 1);
			continue;
		}
		is_number = false;
		width = rest[++i] - 1u;
		if (hole >= TEMPLATE_HOLES_MAX && r->source->prefix)
			return too_many(r);
		err = hole >= TEMPLATE_HOLES_MAX || r->keeps_widths ? 0 :
			      find_width(r->source, r->shape, operand, width, learnt[hole], &width);
		if (err)
			return err;
		bytes_add(template, (u8[]){ 0, (u8)(width + 1) }, 2);
		hole++;
		operand++;
	}
	return 0;
}

static int rename_path(const struct renaming *r, struct path path, u32 operand, struct bytes *template, struct numbers *numbers)
{
	u8 learnt[TEMPLATE_HOLES_MAX];
	struct bytes text = {};
	size_t head, gone = make_example(r->source, path, &text, &head);
	u32 hole;
	int err;

	if (text.is_failed) {
		bytes_free(&text);
		return -ENOMEM;
	}
	template_learnt(r->m->widths, (char *)text.data, learnt);
	hole = put_head(text.data, head, learnt, template, numbers);
	err = put_rest(r, path.template + gone, path.bytes - gone, hole, operand, learnt, template);
	if (!err && template_count_holes(template->data, template->count) > TEMPLATE_HOLES_MAX)
		err = too_many(r);
	bytes_free(&text);
	return err;
}

static int rename_shape(const struct renaming *r, const struct shape *shape, struct merge_shape *renamed)
{
	struct bytes templates[2] = {};
	size_t count;
	const u8 *raw = shapes_bytes(&r->source->pattern->shapes, r->shape, &count);
	u32 operand = (u32)(__builtin_popcount(shape->operand_fields) + __builtin_popcount(shape->roles));
	int err;

	renamed->bytes.count = renamed->numbers[0].count = renamed->numbers[1].count = 0;
	err = rename_path(r, path_of(shape, 0), operand, &templates[0], &renamed->numbers[0]);
	operand += template_count_holes(shape->path, shape->path_bytes);
	if (!err)
		err = rename_path(r, path_of(shape, 1), operand, &templates[1], &renamed->numbers[1]);
	if (!err)
		shape_put_renamed(&renamed->bytes, raw, count, shape, &templates[0], &templates[1]);
	bytes_free(&templates[0]);
	bytes_free(&templates[1]);
	return err ? err : renamed->bytes.is_failed || renamed->numbers[0].is_failed || renamed->numbers[1].is_failed ? -ENOMEM : 0;
}

/* With the widths of all parts, two shapes must not become one: the loops would have to be found again. */
static int rename_source(struct merge *m, const struct merge_source *s, bool keeps_widths, bool *is_distinct)
{
	const struct shapes *shapes = &s->pattern->shapes;
	struct renaming r = { m, s, 0, keeps_widths };
	struct shapes renamed = {};
	u32 index, added = 0;
	int err = 0;

	*is_distinct = true;
	for (r.shape = 0; r.shape < shapes->count && !err; r.shape++) {
		if (is_found(shapes_at(shapes, r.shape)))
			continue;
		err = rename_shape(&r, shapes_at(shapes, r.shape), &s->shapes[r.shape]);
		if (!err)
			err = shapes_add(&renamed, s->shapes[r.shape].bytes.data, s->shapes[r.shape].bytes.count, &index);
		if (!err)
			*is_distinct &= index == added++;
	}
	shapes_free(&renamed);
	return err;
}

/**
 * merge_rename() - the shapes of all sources with their names in the merged pattern
 */
int merge_rename(struct merge *m)
{
	bool is_distinct;
	u32 i;
	int err = 0;

	for (i = 0; i < m->source_count && !err; i++) {
		err = rename_source(m, &m->sources[i], false, &is_distinct);
		if (!err && !is_distinct)
			err = rename_source(m, &m->sources[i], true, &is_distinct);
	}
	return err;
}

/* -- names that look-ups found ---------------------------------------------------------------------------------------------- */

struct found {
	UT_hash_handle hh;
	char text[];
};

/* PATH#GENERATION */
static int add_found(const struct merge_source *s, const char *name, struct found **all)
{
	const char *mark = strrchr(name, '#');
	size_t path_bytes = mark ? (size_t)(mark - name) : strlen(name), gone;
	struct bytes text = {};
	struct found *found;

	gone = add_prefix(s, (const u8 *)name, path_bytes, &text);
	bytes_add(&text, name + gone, strlen(name) - gone + 1);
	if (text.is_failed)
		return -ENOMEM;
	HASH_FIND(hh, *all, text.data, text.count, found);
	if (!found) {
		found = malloc(sizeof(*found) + text.count);
		if (found) {
			memcpy(found->text, text.data, text.count);
			HASH_ADD(hh, *all, text, text.count, found);
		}
	}
	bytes_free(&text);
	return found ? 0 : -ENOMEM;
}

static int read_found(struct merge *m, const struct merge_source *s, struct found **all)
{
	const struct pattern *p = s->pattern;
	struct events *events;
	struct event event;
	int err;

	if (s->task_count == p->task_count)
		return 0;
	err = events_open(p, &p->groups[s->places[2 * s->task_count]], s->places[2 * s->task_count + 1], &events);
	if (err)
		return err;
	while ((err = events_next(events, &event, NULL)) > 0) {
		err = add_found(s, event.path, all);
		if (err)
			break;
		m->pattern->operations--;
	}
	events_close(events);
	return err;
}

static int compare_found(const void *a, const void *b)
{
	return strverscmp((*(struct found *const *)a)->text, (*(struct found *const *)b)->text);
}

static int add_events(struct merge *m, struct found *const *sorted, u32 count, struct stream *stream)
{
	struct stream_task *task = stream->tasks;
	u32 i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		struct event event = { .kind = IOT_KIND_lookup, .path = sorted[i]->text, .path2 = "",
				       .field_count = event_count_fields(IOT_KIND_lookup) };

		err = stream_add_event(stream, task, &event, m->widths);
		numbers_add(&task->think_ns, 0);
		numbers_add(&task->duration_ns, 0);
	}
	return err ? err : task->think_ns.is_failed || task->duration_ns.is_failed ? -ENOMEM : 0;
}

/* A source of its own, with one task, whose structure comes last. */
static int make_found(struct merge *m, struct found *const *sorted, u32 count)
{
	struct stream stream = { .tasks = calloc(1, sizeof(*stream.tasks)), .task_count = 1 };
	struct assembly *assembly = assembly_open(0);
	int err = stream.tasks && assembly ? add_events(m, sorted, count, &stream) : -ENOMEM;

	if (!err)
		err = assembly_add_task(assembly, &stream, 0);
	if (!err)
		err = assembly_finish(assembly, &stream, &m->found);
	if (stream.tasks)
		stream_clear(&stream);
	assembly_close(assembly);
	return err;
}

static int open_found(struct merge *m)
{
	struct merge_source *s = &m->sources[m->source_count];
	const u8 *bytes;
	size_t count;
	u32 i;

	m->has_found = true;
	m->pattern->operations += m->found->operations;
	s->pattern = m->found;
	if (events_find_tasks(m->found, &s->places))
		return -ENOMEM;
	s->shapes = calloc(m->found->shapes.count + 1ul, sizeof(*s->shapes));
	s->node_map = calloc(m->found->nodes.count + 1ul, sizeof(*s->node_map));
	if (!s->shapes || !s->node_map)
		return -ENOMEM;
	for (i = 0; i < m->found->shapes.count; i++) {
		bytes = shapes_bytes(&m->found->shapes, i, &count);
		bytes_add(&s->shapes[i].bytes, bytes, count);
		if (s->shapes[i].bytes.is_failed)
			return -ENOMEM;
	}
	return 0;
}

/**
 * merge_found() - the names that look-ups of all tasks found
 */
int merge_found(struct merge *m)
{
	struct found *all = NULL, *found, *next, **sorted;
	u32 i, count = 0;
	int err = 0;

	for (i = 0; i < m->source_count && !err; i++)
		{
		m->pattern->operations += m->sources[i].pattern->operations;
		err = read_found(m, &m->sources[i], &all);
	}
	sorted = calloc(HASH_COUNT(all) + 1, sizeof(struct found *));
	if (!err && !sorted)
		err = -ENOMEM;
	for (found = all; found && !err; found = found->hh.next)
		sorted[count++] = found;
	if (!err && count) {
		qsort(sorted, count, sizeof(struct found *), compare_found);
		err = make_found(m, sorted, count);
		if (!err)
			err = open_found(m);
	}
	free(sorted);
	HASH_ITER (hh, all, found, next) {
		HASH_DEL(all, found);
		free(found);
	}
	return err;
}
