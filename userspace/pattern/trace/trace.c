// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace.c - a trace of the operations of a pattern.
 *
 * The task whose next operation begins first runs it. If all tasks wait, the first one stops waiting, which is counted: then
 * the order between the tasks is not known.
 */
#include "trace.h"

#include "pattern/stream_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define BEGIN_NS 1000000000ull

/* -- fields by name ------------------------------------------------------------------------------------------ */

/**
 * trace_field() - a field of an event
 *
 * Return: its value; 0 if there is none of the name.
 */
u64 trace_field(const struct event *event, const char *name)
{
	const struct iot_field *fields[EVENT_FIELDS_MAX];
	u32 count = event_fields(event->kind, fields), i;

	for (i = 0; i < event->field_count && i < count; i++)
		if (event_field_is(fields[i], name))
			return event->fields[i];
	return 0;
}

/**
 * trace_set() - set a field of a record, if its kind has one of the name
 */
void trace_set(struct iot_record *record, const char *name, u64 value)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (event_field_is(&info->fields[i], name))
			iot_field_set(record, &info->fields[i], value);
}

/**
 * trace_refuse() - store the reason why a pattern cannot be converted to a trace
 * @player: the task, if known
 * @event: the operation that is the reason
 * @why: the sentence
 *
 * Return: -EOPNOTSUPP.
 */
int trace_refuse(struct synthesis *s, const struct player *player, const struct event *event, const char *why)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return -ENOMEM;
	if (player)
		fprintf(out, "task %u: ", player->id);
	event_print(out, event);
	fclose(out);
	snprintf(s->refusal->text, sizeof(s->refusal->text), "%.300s: %s", text + strspn(text, " "), why);
	free(text);
	return -EOPNOTSUPP;
}

/* -- records ------------------------------------------------------------------------------------------------- */

/**
 * trace_put() - write a record, if there is a trace
 *
 * Return: 0 or a negative errno.
 */
int trace_put(struct synthesis *s, const struct iot_record *record)
{
	return s->writer ? iot_writer_record(s->writer, record) : 0;
}

/* The nested operations of a call have come. */
static int let_go(struct synthesis *s, struct player *player, u32 depth)
{
	u32 i;
	int err = 0;

	for (i = TRACE_DEPTH_MAX; i-- > depth && !err;) {
		if (!player->is_held[i])
			continue;
		player->is_held[i] = false;
		player->held[i].tail = (const u8 *)player->held_tail[i];
		if (player->held[i].kind == IOT_KIND_mpi_file)
			player->held[i].mpi_file.last_op = player->op;
		if (player->now_ns > player->held[i].op.enter_ns + player->held[i].op.duration_ns)
			player->held[i].op.duration_ns = player->now_ns - player->held[i].op.enter_ns;
		err = trace_put(s, &player->held[i]);
	}
	return err;
}

/* The operation that implies one of a depth. Those in a call on an MPI file are the program's own: the call states the last one. */
static u32 parent_of(const struct player *player, u32 depth)
{
	return depth && depth <= TRACE_DEPTH_MAX && !player->is_held[depth - 1] ? player->nesting[depth - 1] : 0;
}

/**
 * trace_put_op() - write an operation
 * @s: the synthesis
 * @player: its task
 * @record: all but task and numbers
 * @depth: of operations that it is nested in
 *
 * Return: 0 or a negative errno.
 */
int trace_put_op(struct synthesis *s, struct player *player, struct iot_record *record, u32 depth)
{
	record->op.task = player->id;
	record->op.op = ++player->op;
	record->op.parent = parent_of(player, depth);
	if (depth < TRACE_DEPTH_MAX)
		player->nesting[depth] = player->op;
	return trace_put(s, record);
}

/* Calls on MPI files are written when they end. */
static int hold(struct player *player, struct iot_record *record, u32 depth)
{
	record->op.task = player->id;
	record->op.op = ++player->op;
	record->op.parent = parent_of(player, depth);
	player->nesting[depth] = player->op;
	free(player->held_tail[depth]);
	player->held_tail[depth] = strndup((const char *)record->tail, record->tail_bytes);
	player->held[depth] = *record;
	player->is_held[depth] = true;
	return player->held_tail[depth] ? 0 : -ENOMEM;
}

static int put_fact(struct synthesis *s, const char *text)
{
	struct iot_record record = { .kind = IOT_KIND_fact, .tail = (const u8 *)text, .tail_bytes = (u16)strlen(text) };

	record.fact.time_ns = BEGIN_NS;
	return trace_put(s, &record);
}

/* A list of ranks, or the second text, and a value behind it. */
static int set_tail(struct iot_record *record, const struct event *event, u8 tail[IOT_TAIL_MAX_BYTES])
{
	bool is_runs = event->kind == IOT_KIND_mpi_coll && record->mpi_coll.sources == IOT_SOURCES_runs;
	size_t bytes = strlen(event->path2), i;

	record->tail = tail;
	if (event->kind == IOT_KIND_rename || event->kind == IOT_KIND_link)
		return 0;
	if (bytes + 1 + event->value_bytes > IOT_TAIL_MAX_BYTES || event->list_count * 4ull > IOT_TAIL_MAX_BYTES)
		return -EBADMSG;
	memcpy(tail, event->path2, bytes + 1);
	if (event->flags & EVENT_VALUE) {
		memcpy(tail + bytes + 1, event->value, event->value_bytes);
		bytes += 1 + event->value_bytes;
	}
	for (i = 0; i < event->list_count; i++) {
		if (is_runs)
			iot_put_u32(tail + 4 * i, (u32)event->list[i]);
		else
			tail[i] = (u8)event->list[i];
	}
	record->tail_bytes = (u16)(event->list_count ? event->list_count * (is_runs ? 4 : 1) : bytes);
	return 0;
}

/* -- time ------------------------------------------------------------------------------------------------------ */

static const struct run_times *times_of(const struct synthesis *s, const struct player *player)
{
	return s->pattern->has_times ? &player->group->times[player->run] : NULL;
}

static u64 think_ns(const struct synthesis *s, const struct player *player)
{
	const struct run_times *times = times_of(s, player);

	return times ? (u64)(times->think.mean_ns + 0.5) : 0;
}

/* Of calls that wait for others the shortest, as the others are waited for here, too. */
static u64 duration_ns(const struct synthesis *s, const struct player *player, bool is_wait)
{
	const struct run_times *times = times_of(s, player);

	if (!times)
		return 0;
	return is_wait ? times->duration.min_ns : (u64)(times->duration.mean_ns + 0.5);
}

/* -- tasks ------------------------------------------------------------------------------------------------------- */

/* The end of all that a task does before an operation of a depth: of the calls on MPI files, too, that end before it. */
static u64 end_before_ns(const struct player *player, u32 depth)
{
	u64 end_ns = player->now_ns;
	u32 i;

	for (i = depth; i < TRACE_DEPTH_MAX; i++)
		if (player->is_held[i] && player->held[i].op.enter_ns + player->held[i].op.duration_ns > end_ns)
			end_ns = player->held[i].op.enter_ns + player->held[i].op.duration_ns;
	return end_ns;
}

static int next_event(const struct synthesis *s, struct player *player)
{
	int got = events_next(player->events, &player->event, &player->run);

	player->has_event = got > 0;
	player->has_arrived = false;
	if (got > 0)
		player->next_ns = end_before_ns(player, player->event.depth) + think_ns(s, player);
	return got < 0 ? got : 0;
}

static int fill_ids(struct synthesis *s, struct player *player, struct iot_record *record)
{
	return iot_kind_info(record->kind)->group == IOT_GROUP_op ? world_fill(s, player, record) :
								    ranks_fill(s, player, record);
}

/* The next operation of a task, which has all that it waits for: it ends later than that, even if it takes no time. */
static int run_event(struct synthesis *s, struct player *player, u64 ready_ns)
{
	const struct event *event = &player->event;
	const struct iot_field *fields[EVENT_FIELDS_MAX];
	struct iot_record record = { .kind = event->kind };
	u32 depth = event->depth < TRACE_DEPTH_MAX ? event->depth : TRACE_DEPTH_MAX - 1, i;
	u64 end_ns = player->next_ns + duration_ns(s, player, ready_ns);
	u8 tail[IOT_TAIL_MAX_BYTES];
	int err = iot_kind_is_mpi_known(event->kind) ? 0 : let_go(s, player, depth);

	if (ready_ns && end_ns <= ready_ns)
		end_ns = ready_ns + duration_ns(s, player, true) + !duration_ns(s, player, true);
	event_fields(event->kind, fields);
	for (i = 0; i < event->field_count; i++)
		iot_field_set(&record, fields[i], event->fields[i]);
	s->last_ns = player->next_ns > s->last_ns ? player->next_ns : s->last_ns;
	s->end_ns = end_ns;
	if (!err)
		err = fill_ids(s, player, &record);
	if (!err)
		err = set_tail(&record, event, tail);
	if (err)
		return err;
	record.op.enter_ns = player->next_ns;
	if (iot_kind_is_mpi_known(event->kind)) {
		record.mpi_known.task = player->id;
		record.mpi_known.op = player->op;
		err = trace_put(s, &record);
	} else {
		record.op.duration_ns = end_ns - player->next_ns;
		err = event->kind == IOT_KIND_mpi_file ? hold(player, &record, depth) : trace_put_op(s, player, &record, depth);
		player->now_ns = event->kind == IOT_KIND_mpi_file ? player->next_ns : end_ns;
		s->done_ns = end_ns;
	}
	if (!err)
		err = next_event(s, player);
	if (player->next_ns < ready_ns) /* the first operation in a collective call on an MPI file */
		player->next_ns = ready_ns;
	return err;
}

/* Return: the task that runs next, with the time that its operation cannot end before; NULL at the end. */
static struct player *next_player(struct synthesis *s, u64 *ready_ns)
{
	struct player *player, **waiters;
	u64 since_ns;

	while ((player = queue_take(s))) {
		waiters = &s->name_waiters;
		if (!world_is_ready(s, player) || !ranks_is_ready(s, player, ready_ns, &waiters)) {
			player->is_waiting = iot_kind_info(player->event.kind)->group == IOT_GROUP_op;
			queue_wait(player, waiters);
		} else if (player->is_waiting && player->next_ns <= s->done_ns) {
			player->next_ns = s->done_ns + 1; /* others may be before it now */
			queue_add(s, player);
		} else if (player->next_ns <= (since_ns = world_since_ns(s, player))) {
			player->next_ns = since_ns + 1;
			queue_add(s, player);
		} else {
			return player;
		}
	}
	*ready_ns = 0;
	player = queue_give_up(s);
	s->broken += player != NULL;
	return player;
}

static int run_all(struct synthesis *s)
{
	struct player *player;
	u64 ready_ns;
	int err = 0;

	while (!err && (player = next_player(s, &ready_ns))) {
		player->is_waiting = false;
		if (iot_kind_info(player->event.kind)->group == IOT_GROUP_op)
			queue_release(s, &s->name_waiters); /* it may create a name that another task waits for */
		err = run_event(s, player, ready_ns);
		if (!err && player->has_event)
			queue_add(s, player);
	}
	for (player = s->players; player < s->players + s->player_count && !err; player++)
		err = let_go(s, player, 0);
	return err;
}

/* -- the whole ------------------------------------------------------------------------------------------------------ */

static int put_task(struct synthesis *s, struct player *player, u32 id, u32 parent, u64 process)
{
	struct iot_record record = { .kind = IOT_KIND_task, .tail = (const u8 *)"" };

	player->id = id;
	record.task.time_ns = BEGIN_NS;
	record.task.task = id;
	record.task.parent = parent;
	record.task.pid = (u32)(player - s->players) + 1000;
	record.task.tgid = (u32)process + 1000;
	record.task.uid = record.task.gid = UINT32_MAX;
	record.task.why = (u32)player->facts[TASK_FACT_why];
	return trace_put(s, &record);
}

/* Parents before their children, and these in their order; else by position. */
static int put_tasks(struct synthesis *s)
{
	u32 *made = calloc(s->player_count + 1, sizeof(*made)), id = 0, before, i;
	bool is_forced = false;
	int err = made ? 0 : -ENOMEM;

	while (!err && id < s->player_count) {
		before = id;
		for (i = 0; i < s->player_count && !err; i++) {
			struct player *player = &s->players[i];
			u64 parent = player->facts[TASK_FACT_parent];
			bool has_parent = parent && parent <= s->player_count;

			if (player->id)
				continue;
			if (has_parent && !is_forced &&
			    (!s->players[parent - 1].id || made[parent - 1] + 1ull != player->facts[TASK_FACT_nth]))
				continue;
			if (has_parent)
				made[parent - 1]++;
			err = put_task(s, player, ++id, has_parent ? s->players[parent - 1].id : 0,
				       player->facts[TASK_FACT_process]);
		}
		is_forced = id == before;
	}
	free(made);
	return err;
}

static int learn_found_names(struct synthesis *s, const struct group *group, u64 task)
{
	struct events *events;
	struct event event;
	int err = events_open(s->pattern, group, task, &events);

	if (err)
		return err;
	while ((err = events_next(events, &event, NULL)) > 0 && !(err = world_learn(s, NULL, &event)))
		;
	events_close(events);
	return err;
}

static int open_players(struct synthesis *s)
{
	const struct pattern *p = s->pattern;
	u64 *tasks, i;
	u32 fact;
	int err = events_find_tasks(p, &tasks);

	s->players = calloc(p->task_count + 1, sizeof(*s->players));
	if (!s->players)
		err = -ENOMEM;
	for (i = 0; i < p->task_count && !err; i++) {
		struct player *player = &s->players[s->player_count];

		player->group = &p->groups[tasks[2 * i]];
		player->run = (u32)tasks[2 * i + 1]; /* until it runs: its index in the group */
		player->position = (u32)i;
		player->now_ns = BEGIN_NS;
		for (fact = 0; fact < TASK_FACT_COUNT; fact++)
			player->facts[fact] = series_at(p->facts[fact], i);
		if (player->facts[TASK_FACT_what] == TASK_FOUND)
			err = learn_found_names(s, player->group, player->run);
		else
			s->player_count++;
	}
	free(tasks);
	return err;
}

static int start_players(struct synthesis *s)
{
	u32 i;
	int err = queue_open(s);

	for (i = 0; i < s->player_count && !err; i++) {
		err = events_open(s->pattern, s->players[i].group, s->players[i].run, &s->players[i].events);
		if (!err)
			err = next_event(s, &s->players[i]);
		if (!err && s->players[i].has_event)
			queue_add(s, &s->players[i]);
	}
	return err;
}

static int put_end(struct synthesis *s)
{
	struct iot_record record = { .kind = IOT_KIND_end, .tail = (const u8 *)"" };
	u32 i;

	for (i = 0; i < s->player_count; i++)
		if (s->players[i].now_ns > s->last_ns)
			s->last_ns = s->players[i].now_ns;
	record.end.time_ns = s->last_ns;
	record.end.records = s->pattern->operations;
	return trace_put(s, &record);
}

static int write_all(struct synthesis *s)
{
	int err = put_fact(s, "pattern.times=mean");

	if (!err)
		err = put_fact(s, s->pattern->is_made ? "pattern.of=model" : "pattern.of=trace");
	if (!err)
		err = put_tasks(s);
	if (!err)
		err = ranks_learn(s);
	if (!err)
		err = start_players(s);
	if (!err)
		err = run_all(s);
	if (!err)
		err = world_finish(s);
	return err ? err : put_end(s);
}

static void close_players(struct synthesis *s)
{
	u32 i, depth;

	for (i = 0; s->players && i < s->pattern->task_count; i++) {
		events_close(s->players[i].events);
		numbers_free(&s->players[i].handles);
		numbers_free(&s->players[i].maps);
		numbers_free(&s->players[i].mapped_bytes);
		for (depth = 0; depth < TRACE_DEPTH_MAX; depth++)
			free(s->players[i].held_tail[depth]);
	}
	free(s->players);
	free(s->heap);
}

/* Return: the position of each task in the pattern, by id; NULL if out of memory. */
static u32 *positions_by_id(const struct synthesis *s)
{
	u32 *positions = calloc(s->player_count + 1ul, sizeof(*positions)), i;

	for (i = 0; i < s->player_count && positions; i++)
		positions[s->players[i].id] = s->players[i].position;
	return positions;
}

/* Are the operations of the loops those that the pattern states? */
static int check_digest(const struct pattern *pattern, bool *is_same)
{
	u64 operations;
	u8 digest[32];
	int err = pattern_expand(pattern, NULL, UINT64_MAX, digest, &operations);

	*is_same = !err && !memcmp(digest, pattern->digest, sizeof(digest));
	return err;
}

/* The operations of the trace must be those of the pattern. */
static int check(const struct pattern *pattern, const char *path, const u32 *positions, u32 count, struct pattern_refusal *refusal)
{
	struct iot_reject reject;
	bool is_same;
	int err = check_digest(pattern, &is_same);

	if (!err && is_same)
		err = stream_compare(path, pattern, positions, count, &is_same, &reject);
	if (err || is_same)
		return err;
	snprintf(refusal->text, sizeof(refusal->text), "the operations of the trace would differ, because names or tasks "
		 "depend on an order that the pattern does not contain");
	return -EOPNOTSUPP;
}

/**
 * pattern_trace() - write the operations of a pattern as a trace
 * @pattern: the pattern
 * @path: of the trace
 * @broken: out: waits that were given up; then the order between tasks is not that of the program
 * @refusal: out: filled in if the error is -EOPNOTSUPP
 *
 * The times are means. The trace is read again: it has the operations of the pattern, or none is left. Memory depends on the numbers of
 * tasks, names and opens, not on that of other operations.
 *
 * Return: 0, -EOPNOTSUPP if the pattern lacks data for a trace, or another negative errno.
 */
int pattern_trace(const struct pattern *pattern, const char *path, u64 *broken, struct pattern_refusal *refusal)
{
	struct synthesis s = { .pattern = pattern, .next_id = 1, .last_ns = BEGIN_NS, .refusal = refusal };
	int err = open_players(&s);
	bool is_written = false;
	u32 *positions;

	refusal->text[err == -EOPNOTSUPP ? strlen(refusal->text) : 0] = 0;
	if (!err)
		err = iot_writer_open_at(path, pattern->capture, BEGIN_NS, BEGIN_NS, &s.writer);
	if (!err) {
		err = write_all(&s);
		if (!err)
			err = iot_writer_finish(s.writer);
		else
			iot_writer_discard(s.writer);
		iot_writer_close(s.writer);
		is_written = !err;
	}
	*broken = s.broken;
	positions = positions_by_id(&s);
	ranks_free(&s);
	world_free(&s);
	close_players(&s);
	if (is_written) {
		err = positions ? check(pattern, path, positions, s.player_count, refusal) : -ENOMEM;
		if (err)
			unlink(path);
	}
	free(positions);
	return err;
}

/**
 * pattern_run() - let the tasks of a pattern run, without a trace
 * @pattern: the pattern
 * @broken: out: waits that were given up
 * @refusal: out: filled in if the error is -EOPNOTSUPP
 *
 * Return: 0, -EOPNOTSUPP if the pattern lacks data for a trace, or another negative errno.
 */
int pattern_run(const struct pattern *pattern, u64 *broken, struct pattern_refusal *refusal)
{
	struct synthesis s = { .pattern = pattern, .next_id = 1, .last_ns = BEGIN_NS, .refusal = refusal };
	int err = open_players(&s);

	if (!err)
		err = write_all(&s);
	*broken = s.broken;
	ranks_free(&s);
	world_free(&s);
	close_players(&s);
	return err;
}
