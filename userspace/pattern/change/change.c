// SPDX-License-Identifier: GPL-2.0-only
/*
 * change.c - what-if changes of a pattern.
 *
 * Each change preserves the data: the numbers of bytes read and written are the same, and no task reads or writes data
 * that another one writes unless it did so before. A change with unknown consequences for other operations is refused.
 */
#include "change.h"

#include <inttypes.h>
#include <stdio.h>

#include "pattern/assembly.h"

/* -- parts of changes ---------------------------------------------------------------------------------------- */

/**
 * change_refuse() - store the reason for refusing a change
 * @event: the operation that is the reason, or NULL
 *
 * Return: -EOPNOTSUPP.
 */
int change_refuse(struct change *c, const struct event *event, const char *why)
{
	if (event)
		snprintf(c->refusal->text, sizeof(c->refusal->text), "%s %.300s: %s", iot_kind_info(event->kind)->name,
			 event->path, why);
	else
		snprintf(c->refusal->text, sizeof(c->refusal->text), "%s", why);
	return -EOPNOTSUPP;
}

static void *keep(struct change *c, void *text)
{
	if (text && c->text_count == c->text_room) {
		size_t room = c->text_room ? 2 * c->text_room : 256;
		void **texts = reallocarray(c->texts, room, sizeof(*texts));

		if (!texts) {
			free(text);
			return NULL;
		}
		c->texts = texts;
		c->text_room = room;
	}
	if (text)
		c->texts[c->text_count++] = text;
	return text;
}

/**
 * change_memory() - memory that lives as long as the change
 *
 * Return: zeroed; NULL if out of memory.
 */
void *change_memory(struct change *c, size_t bytes)
{
	return keep(c, calloc(1, bytes));
}

/* A copy of the list of an event; NULL if it has none, or if out of memory. */
static u64 *change_list(struct change *c, const struct event *event)
{
	u64 *list = event->list_count ? change_memory(c, event->list_count * sizeof(*list)) : NULL;

	if (list)
		memcpy(list, event->list, event->list_count * sizeof(*list));
	return list;
}

/**
 * change_text() - a copy of a text that lives as long as the change
 *
 * Return: NULL if out of memory.
 */
const char *change_text(struct change *c, const char *text)
{
	return keep(c, strdup(text));
}

/**
 * change_field() - where a field of an event is
 *
 * Return: NULL if its kind has none of the name.
 */
u64 *change_field(struct event *event, const char *name)
{
	const struct iot_field *fields[EVENT_FIELDS_MAX];
	u32 count = event_fields(event->kind, fields), i;

	for (i = 0; i < event->field_count && i < count; i++)
		if (!strcmp(fields[i]->name, name))
			return &event->fields[i];
	return NULL;
}

/**
 * change_add_step() - append an operation to a task
 *
 * Return: 0 or -ENOMEM.
 */
int change_add_step(struct actor *actor, const struct step *step)
{
	if (actor->count == actor->room) {
		u64 room = actor->room ? 2 * actor->room : 64;
		struct step *steps = reallocarray(actor->steps, room, sizeof(*steps));

		if (!steps)
			return -ENOMEM;
		actor->steps = steps;
		actor->room = room;
	}
	actor->steps[actor->count++] = *step;
	return 0;
}

/* -- no fsync ----------------------------------------------------------------------------------------------------- */

static int drop_syncs(struct change *c)
{
	u64 actor, i;

	for (actor = 0; actor < c->actor_count; actor++)
		for (i = 0; i < c->actors[actor].count; i++)
			if (c->actors[actor].steps[i].event.kind == IOT_KIND_fsync) {
				c->actors[actor].steps[i].is_dropped = true;
				c->changed++;
			}
	return c->changed ? 0 : change_refuse(c, NULL, "the pattern has no fsync");
}

/* -- size of transfers ---------------------------------------------------------------------------------------------- */

static bool is_transfer(struct event *event)
{
	return (event->kind == IOT_KIND_write || event->kind == IOT_KIND_read) && !event->depth &&
	       event->fields[0] && event->fields[0] == *change_field(event, "length_bytes");
}

static bool continues(struct event *first, struct event *next, u64 end)
{
	return next->kind == first->kind && is_transfer(next) && *change_field(next, "offset_bytes") == end &&
	       *change_field(next, "flags") == *change_field(first, "flags") && !strcmp(next->path, first->path) &&
	       !memcmp(next->roles, first->roles, sizeof(first->roles));
}

/* Transfers that follow each other, as others of the same bytes. Times are divided by bytes. */
static int put_transfers(struct actor *made, const struct step *first, u64 bytes, u64 think_ns, u64 duration_ns, u64 size)
{
	u64 pieces = (bytes + size - 1) / size, at = 0, length, begin;
	struct step step = *first;
	int err = 0;

	begin = *change_field(&step.event, "offset_bytes");
	for (; at < bytes && !err; at += length) {
		length = bytes - at < size ? bytes - at : size;
		*change_field(&step.event, "offset_bytes") = begin + at;
		*change_field(&step.event, "length_bytes") = length;
		step.event.fields[0] = length;
		step.think_ns = think_ns / pieces;
		step.duration_ns = (u64)((double)duration_ns * (double)length / (double)bytes + 0.5);
		err = change_add_step(made, &step);
	}
	return err;
}

static int resize_actor(struct change *c, struct actor *actor, u64 size)
{
	struct actor made = {};
	u64 i, next, bytes, think_ns, duration_ns, begin;
	int err = 0;

	for (i = 0; i < actor->count && !err; i = next) {
		struct step *step = &actor->steps[i];

		next = i + 1;
		if (!is_transfer(&step->event)) {
			err = change_add_step(&made, step);
			continue;
		}
		begin = *change_field(&step->event, "offset_bytes");
		bytes = step->event.fields[0];
		think_ns = step->think_ns;
		duration_ns = step->duration_ns;
		for (; next < actor->count && continues(&step->event, &actor->steps[next].event, begin + bytes); next++) {
			bytes += actor->steps[next].event.fields[0];
			think_ns += actor->steps[next].think_ns;
			duration_ns += actor->steps[next].duration_ns;
		}
		c->changed += next - i != (bytes + size - 1) / size;
		err = put_transfers(&made, step, bytes, think_ns, duration_ns, size);
	}
	free(actor->steps);
	memcpy(made.facts, actor->facts, sizeof(made.facts));
	*actor = made;
	return err;
}

/* Digits and a power of 1,024. Return: 0 if it is none. */
static u64 size_of(const char *text)
{
	static const char units[] = "KMGT";
	char *end;
	u64 size = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (*text < '0' || *text > '9' || size >> 40 || (*end && (!unit || (strcmp(end + 1, "") && strcmp(end + 1, "iB")))))
		return 0;
	return unit ? size << 10 * (unit - units + 1) : size;
}

static int resize_transfers(struct change *c, const char *value)
{
	u64 size = size_of(value), i;
	int err = 0;

	if (!size)
		return change_refuse(c, NULL, "transfer: not a size such as 64K or 4M");
	for (i = 0; i < c->actor_count && !err; i++)
		err = resize_actor(c, &c->actors[i], size);
	if (!err && !c->changed)
		return change_refuse(c, NULL, "no consecutive reads or writes would change their size");
	return err;
}

/* -- from a pattern, and to one ------------------------------------------------------------------------------------- */

/* A file may state any number; one that is too large for a time is that of a distribution in a stream. */
static u64 mean_of(const struct times *times)
{
	return times->mean_ns < (double)(1ull << 62) ? (u64)(times->mean_ns + 0.5) : 1ull << 62;
}

static int read_task(struct change *c, const struct pattern *p, const struct group *group, u64 task, struct actor *actor)
{
	struct events *events;
	struct step step = {};
	u64 *list;
	u32 run;
	int err = events_open(p, group, task, &events);

	if (err)
		return err;
	while ((err = events_next(events, &step.event, &run)) > 0) {
		step.event.path = change_text(c, step.event.path);
		step.event.path2 = change_text(c, step.event.path2);
		list = change_list(c, &step.event);
		step.event.list = list;
		step.times = p->has_times ? &group->times[run] : NULL;
		step.think_ns = p->has_times ? mean_of(&step.times->think) : 0;
		step.duration_ns = p->has_times ? mean_of(&step.times->duration) : 0;
		err = step.event.path && step.event.path2 && (list || !step.event.list_count) ? change_add_step(actor, &step) : -ENOMEM;
		if (err)
			break;
	}
	events_close(events);
	return err;
}

/**
 * change_read_pattern() - all operations of a pattern
 *
 * Return: 0, -EBADMSG if the pattern is not sound, -ENOMEM.
 */
int change_read_pattern(struct change *c, const struct pattern *p)
{
	u64 *tasks, i;
	u32 fact;
	int err = events_find_tasks(p, &tasks);

	c->actors = calloc(p->task_count + 1, sizeof(*c->actors));
	if (!c->actors)
		err = -ENOMEM;
	c->actor_count = c->actors ? p->task_count : 0;
	for (i = 0; i < p->task_count && !err; i++) {
		for (fact = 0; fact < TASK_FACT_COUNT; fact++)
			c->actors[i].facts[fact] = series_at(p->facts[fact], i);
		err = read_task(c, p, &p->groups[tasks[2 * i]], tasks[2 * i + 1], &c->actors[i]);
	}
	free(tasks);
	return err;
}

static int learn_names(const struct change *c, struct widths **widths)
{
	u64 i, j;
	int err = 0;

	for (i = 0; i < c->actor_count; i++)
		for (j = 0; j < c->actors[i].count && !err; j++) {
			err = template_learn(widths, c->actors[i].steps[j].event.path);
			if (!err)
				err = template_learn(widths, c->actors[i].steps[j].event.path2);
		}
	return err;
}

static int write_task(struct stream *stream, struct stream_task *task, const struct actor *actor, struct widths *widths,
		      struct digest *digest)
{
	u64 i;
	int err = 0;

	memcpy(task->facts, actor->facts, sizeof(task->facts));
	digest_task(digest, task->facts);
	for (i = 0; i < actor->count && !err; i++) {
		if (actor->steps[i].is_dropped)
			continue;
		digest_event(digest, &actor->steps[i].event);
		numbers_add(&task->think_ns, actor->steps[i].think_ns);
		numbers_add(&task->duration_ns, actor->steps[i].duration_ns);
		err = stream_add_event(stream, task, &actor->steps[i].event, widths);
	}
	return err || (!task->think_ns.is_failed && !task->duration_ns.is_failed) ? err : -ENOMEM;
}

static int write_tasks(const struct change *c, struct stream *stream, struct assembly *assembly, struct digest *digest)
{
	struct widths *widths = NULL;
	int err = learn_names(c, &widths);
	u64 i;

	stream->tasks = calloc(c->actor_count + 1, sizeof(*stream->tasks));
	if (!stream->tasks)
		err = -ENOMEM;
	for (i = 0; i < c->actor_count && !err; i++) {
		stream->task_count++;
		err = write_task(stream, &stream->tasks[i], &c->actors[i], widths, digest);
		if (!err)
			err = assembly_add_task(assembly, stream, (u32)i);
	}
	template_free(&widths);
	return err;
}

/**
 * change_write_pattern() - the pattern of all operations that are not dropped
 * @from: the pattern that was changed
 * @made: out: to be freed by pattern_free()
 *
 * Return: 0, -EINVAL if a task has too many operations that are not loops, -ENOMEM.
 */
int change_write_pattern(const struct change *c, const struct pattern *from, struct pattern **made)
{
	struct stream stream = { .distributions = c->distributions, .distribution_count = c->distribution_count };
	struct assembly *assembly = assembly_open(c->distribution_count);
	struct digest *digest = digest_open();
	int err = assembly && digest ? write_tasks(c, &stream, assembly, digest) : -ENOMEM;

	if (digest)
		digest_close(digest, stream.digest);
	memcpy(stream.info.capture, from->capture, sizeof(from->capture));
	if (!err)
		err = assembly_finish(assembly, &stream, made);
	if (!err) {
		(*made)->is_made = true;
		(*made)->has_times = from->has_times;
	}
	assembly_close(assembly);
	stream_clear(&stream);
	return err;
}

/**
 * change_close() - free all operations of a change
 */
void change_close(struct change *c)
{
	size_t i;

	for (i = 0; i < c->actor_count; i++)
		free(c->actors[i].steps);
	for (i = 0; i < c->text_count; i++)
		free(c->texts[i]);
	free(c->actors);
	free(c->texts);
}

/* -- sense ------------------------------------------------------------------------------------------------------------ */

struct data {
	u64 written;
	u64 read;
	u64 overlap;
	struct extents ranges;
};

static int sum_data(const struct change *c, struct data *data)
{
	struct extents *extents = &data->ranges;
	size_t i;
	int err = extents_of(c, extents);

	for (i = 0; i < extents->count; i++)
		*(extents->items[i].is_write ? &data->written : &data->read) += extents->items[i].end - extents->items[i].begin;
	data->overlap = extents_overlap(extents);
	extents_merge(extents);
	return err;
}

static int check_sense(struct change *c, const struct data *before)
{
	struct data after = {};
	int err = sum_data(c, &after);

	if (!err && (after.written != before->written || after.read != before->read))
		err = change_refuse(c, NULL, "the amount of data would change");
	if (!err && !c->is_moved && !extents_are_same(&before->ranges, &after.ranges))
		err = change_refuse(c, NULL, "other ranges of the files would be read or written");
	if (!err && after.overlap > before->overlap && !c->is_regrouped)
		err = change_refuse(c, NULL, "tasks would write data that others access, unlike before");
	free(after.ranges.items);
	return err;
}

static int change_coordination(struct change *c, const char *value)
{
	u64 block_bytes = !strncmp(value, "no/", 3) ? size_of(value + 3) : 0;

	if (!strcmp(value, "yes"))
		return change_to_collective(c);
	if (!strcmp(value, "no") || block_bytes)
		return change_to_independent(c, block_bytes);
	return change_refuse(c, NULL, "collective: neither yes nor no nor no/SIZE, such as no/64K");
}

static int apply(struct change *c, const char *name, const char *value)
{
	if (!strcmp(name, "fsync") && !strcmp(value, "no"))
		return drop_syncs(c);
	if (!strcmp(name, "transfer"))
		return resize_transfers(c, value);
	if (!strcmp(name, "files") && !strcmp(value, "shared"))
		return change_to_shared(c);
	if (!strcmp(name, "files") && !strcmp(value, "process"))
		return change_to_private(c);
	if (!strcmp(name, "directories") && !strcmp(value, "rank"))
		return change_directories(c);
	if (!strcmp(name, "collective"))
		return change_coordination(c, value);
	if (!strcmp(name, "nonblocking") && !strcmp(value, "no"))
		return change_to_blocking(c);
	if (!strcmp(name, "aggregators"))
		return change_aggregators(c, value);
	if (!strcmp(name, "ranks"))
		return change_refuse(c, NULL, "ranks: cannot be changed in the pattern of one run: use --extrapolate with patterns of "
					      "three runs");
	return change_refuse(c, NULL, "--set takes fsync=no, transfer=SIZE, files=shared, files=process, directories=rank, "
				      "collective=yes, collective=no, collective=no/SIZE, aggregators=NUMBER and nonblocking=no");
}

/* A collective call may wait for ranks that wait for this rank. */
static int check_waits(struct change *c, const struct pattern *before, const struct pattern *after)
{
	u64 broken_before, broken_after;
	int err = pattern_run(before, &broken_before, c->refusal);

	if (!err)
		err = pattern_run(after, &broken_after, c->refusal);
	if (!err && broken_after > broken_before)
		err = change_refuse(c, NULL, "ranks would wait for each other: a rank waits for a message or call of one that is in a "
					     "collective call");
	return err;
}

/**
 * pattern_change() - the pattern with one thing done in another way
 * @pattern: the pattern
 * @name, @value: the change
 * @made: out: to be freed by pattern_free()
 * @changed: out: operations, or sequences of them, that are other ones
 * @refusal: filled in if the error is -EOPNOTSUPP
 *
 * Takes memory in proportion to the number of operations.
 *
 * Return: 0, -EOPNOTSUPP if the change makes no sense, -EBADMSG if the pattern is not sound, -ENOMEM.
 */
int pattern_change(const struct pattern *pattern, const char *name, const char *value, struct pattern **made, u64 *changed,
		   struct pattern_refusal *refusal)
{
	struct change c = { .refusal = refusal };
	struct data before = {};
	int err = change_read_pattern(&c, pattern);

	*made = NULL;
	if (!err)
		err = sum_data(&c, &before);
	if (!err)
		err = apply(&c, name, value);
	if (!err)
		err = check_sense(&c, &before);
	if (!err)
		err = change_write_pattern(&c, pattern, made);
	if (!err && c.has_more_waits)
		err = check_waits(&c, pattern, *made);
	if (err && *made) {
		pattern_free(*made);
		*made = NULL;
	}
	*changed = c.changed;
	free(before.ranges.items);
	change_close(&c);
	return err;
}
