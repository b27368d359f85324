// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream.c - the canonical stream of a trace: operations as `iotape diff` compares them, and MPI calls between them.
 */
#include "stream.h"

#include "calls.h"
#include "sites.h"
#include "task_places.h"

struct making {
	struct canon *canon;
	struct caller *callers;
	struct sites *sites;
	struct task_places places;
	struct widths *widths;
	struct digest *digest;
	struct stream *stream;
	stream_take_task take;
	void *context;
};

/* -- events ----------------------------------------------------------------------------------------------- */

/**
 * stream_add_event() - append an operation to a task
 * @stream: of the task
 * @task: the task
 * @event: the operation
 * @widths: of the numbers in names
 *
 * Return: 0 or -ENOMEM.
 */
int stream_add_event(struct stream *stream, struct stream_task *task, const struct event *event, struct widths *widths)
{
	struct bytes shape = {};
	u32 index;
	int err;

	shape_put(&shape, event, widths, &task->operands);
	err = shape.is_failed || task->operands.is_failed ? -ENOMEM :
							    shapes_add(&stream->shapes, shape.data, shape.count, &index);
	bytes_free(&shape);
	if (err)
		return err;
	numbers_add(&task->shapes, index);
	stream->operations++;
	return task->shapes.is_failed ? -ENOMEM : 0;
}

/* Ends of the operations in progress: of each depth, the time from which the next one's think time counts. */
struct ends {
	u64 ns[16];
};

/* The beginning of a task is not known: nothing is known of the time before its first operation. */
static void add_times(struct stream_task *task, struct ends *ends, const struct call *call)
{
	u32 depth = !call ? 0 : call->depth < 15 ? call->depth : 14;
	u64 since_ns = ends->ns[depth], end_ns;

	numbers_add(&task->think_ns, call && since_ns && call->enter_ns > since_ns ? call->enter_ns - since_ns : 0);
	numbers_add(&task->duration_ns, call ? call->duration_ns : 0);
	if (!call)
		return;
	end_ns = call->enter_ns + call->duration_ns;
	if (end_ns > ends->ns[depth])
		ends->ns[depth] = end_ns;
	ends->ns[depth + 1] = call->enter_ns;
}

static int add_event(struct making *m, struct stream_task *task, struct event *event, struct ends *ends,
		     const struct call *call)
{
	if (call) {
		event->depth = call->depth;
		event->roles[EVENT_HANDLE] = call->ids[EVENT_HANDLE];
		event->roles[EVENT_COMM] = call->ids[EVENT_COMM];
		event->roles[EVENT_REQUEST] = call->ids[EVENT_REQUEST];
		event->roles[EVENT_MAP] = call->ids[EVENT_MAP];
		event->roles[EVENT_TO_HANDLE] = call->ids[EVENT_TO_HANDLE];
	}
	digest_event(m->digest, event);
	add_times(task, ends, call);
	return stream_add_event(m->stream, task, event, m->widths);
}

/* MPI calls, and facts, that come before the operation of this number. */
static int add_calls_before(struct making *m, struct stream_task *task, const struct caller *caller, u64 op, u32 *next,
			    struct ends *ends)
{
	int err = 0;

	for (; caller && *next < caller->count && caller->calls[*next].op < op && !err; ++*next)
		if (caller->calls[*next].event)
			err = add_event(m, task, caller->calls[*next].event, ends, &caller->calls[*next]);
	return err;
}

static int add_events(struct making *m, const struct canon_task *from, struct stream_task *task)
{
	const struct caller *caller = calls_of(m->callers, from->id);
	struct ends ends = {};
	struct event event;
	u32 i, next = 0;
	int err = 0;

	for (i = 0; i < from->count && !err; i++) {
		if (from->ops[i].is_merged)
			continue;
		err = add_calls_before(m, task, caller, from->ops[i].order, &next, &ends);
		call_event(&from->ops[i], &event);
		event.site = sites_find(m->sites, from->id, from->ops[i].order, &event.site_bytes);
		if (!err)
			err = add_event(m, task, &event, &ends,
					from->ops[i].order ? call_find(caller, from->ops[i].order) : NULL);
	}
	return err ? err : add_calls_before(m, task, caller, (u64)UINT32_MAX + 1, &next, &ends);
}

/* -- names that look-ups found ---------------------------------------------------------------------------- */

struct finding {
	struct making *making;
	struct stream_task *task;
};

static int add_found_event(void *context, struct event *event)
{
	struct finding *finding = context;
	struct ends ends = {};

	return add_event(finding->making, finding->task, event, &ends, NULL);
}

/* -- the whole ------------------------------------------------------------------------------------------------- */

static int learn_names(struct making *m)
{
	const struct caller *caller;
	u32 i, j;
	int err = 0;

	for (i = 0; i < m->canon->task_count && !err; i++)
		for (j = 0; j < m->canon->tasks[i].count && !err; j++) {
			err = template_learn(&m->widths, m->canon->tasks[i].ops[j].path);
			if (!err)
				err = template_learn(&m->widths, m->canon->tasks[i].ops[j].path2);
		}
	for (caller = m->callers; caller && !err; caller = caller->hh.next)
		for (i = 0; i < caller->count && !err; i++)
			if (caller->calls[i].event)
				err = template_learn(&m->widths, caller->calls[i].event->path2);
	return err;
}

static int make_tasks(struct making *m)
{
	struct stream *stream = m->stream;
	bool has_found = canon_next_found(m->canon, NULL);
	u32 i;
	int err = 0;

	stream->tasks = calloc(m->canon->task_count + 1, sizeof(*stream->tasks));
	if (!stream->tasks)
		return -ENOMEM;
	stream->task_count = m->canon->task_count + has_found;
	for (i = 0; i < m->canon->task_count && !err; i++) {
		task_places_facts(&m->places, i, stream->tasks[i].facts);
		digest_task(m->digest, stream->tasks[i].facts);
		err = add_events(m, &m->canon->tasks[m->places.tasks[i].index], &stream->tasks[i]);
		canon_forget_task(m->canon, m->places.tasks[i].index);
		if (!err)
			err = m->take(m->context, stream, i);
	}
	if (!err && has_found) {
		stream->tasks[i].facts[TASK_FACT_what] = TASK_FOUND;
		digest_task(m->digest, stream->tasks[i].facts);
		err = found_walk(m->canon, add_found_event, &(struct finding){ m, &stream->tasks[i] });
		if (!err)
			err = m->take(m->context, stream, i);
	}
	return err;
}

static void take_world(struct stream *stream, const struct task_rank *rank)
{
	stream->has_worlds |= rank->job && stream->world && rank->job != stream->world;
	if (!rank->job || stream->world)
		return;
	stream->world = rank->job;
	stream->world_ranks = rank->ranks;
}

static int find_places(struct making *m)
{
	struct task_rank *ranks = calloc(m->canon->task_count + 1, sizeof(*ranks));
	u32 i;
	int err;

	if (!ranks)
		return -ENOMEM;
	for (i = 0; i < m->canon->task_count; i++) {
		const struct caller *caller = calls_of(m->callers, m->canon->tasks[i].id);

		if (!caller)
			continue;
		ranks[i] = caller->rank;
		take_world(m->stream, &caller->rank);
	}
	err = task_places_find(&m->places, m->canon, ranks);
	free(ranks);
	return err;
}

static int make_stream(struct making *m)
{
	int err;

	m->digest = digest_open();
	if (!m->digest)
		return -ENOMEM;
	err = find_places(m);
	if (!err)
		err = learn_names(m);
	if (!err)
		err = make_tasks(m);
	digest_close(m->digest, m->stream->digest);
	task_places_free(&m->places);
	template_free(&m->widths);
	return err;
}

/**
 * stream_read() - the canonical stream of a trace
 * @path: of the trace
 * @take: gets each task when it is complete, in order, and frees its operations
 * @context: for @take
 * @stream: out: to be freed by stream_free()
 * @reject: filled in if the trace is refused, also by @take
 *
 * Return: 0 or a negative errno.
 */
int stream_read(const char *path, stream_take_task take, void *context, struct stream **stream, struct iot_reject *reject)
{
	struct making m = { .take = take, .context = context };
	struct canon *canon;
	int err = canon_read(path, &canon, reject);

	if (err)
		return err;
	err = calls_read(path, &m.callers, reject);
	if (!err)
		err = sites_read(path, &m.sites, reject);
	if (err) {
		calls_free(m.callers);
		canon_free(canon);
		return err;
	}
	m.canon = canon;
	m.stream = calloc(1, sizeof(*m.stream));
	err = m.stream ? make_stream(&m) : -ENOMEM;
	if (err) {
		iot_refuse(reject, err == -EINVAL ? IOT_REJECT_pattern_irregular : IOT_REJECT_memory, 0);
		stream_free(m.stream);
	} else {
		m.stream->info = canon->info;
		m.stream->omissions = canon->omissions;
		*stream = m.stream;
	}
	sites_free(m.sites);
	calls_free(m.callers);
	canon_free(canon);
	return err;
}

/**
 * stream_forget_task() - free the operations of a task, which are not used any more
 */
void stream_forget_task(struct stream *stream, u32 task)
{
	numbers_free(&stream->tasks[task].shapes);
	numbers_free(&stream->tasks[task].operands);
	numbers_free(&stream->tasks[task].think_ns);
	numbers_free(&stream->tasks[task].duration_ns);
}

/**
 * stream_clear() - free what belongs to a stream
 */
void stream_clear(struct stream *stream)
{
	u32 i;

	for (i = 0; i < stream->task_count; i++)
		stream_forget_task(stream, i);
	free(stream->tasks);
	shapes_free(&stream->shapes);
}

/**
 * stream_free() - free a stream; NULL is allowed
 */
void stream_free(struct stream *stream)
{
	if (stream)
		stream_clear(stream);
	free(stream);
}
