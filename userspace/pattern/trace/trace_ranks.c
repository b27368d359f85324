// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_ranks.c - communicators of the ranks of a pattern, and how ranks wait for each other.
 *
 * A pattern has a number for each communicator of a task, and its size and the own rank in it, but not which tasks share one. The
 * first one of a task is that of its job. Any other one is joined in the order of ranks: a task with rank N joins the oldest
 * communicator of the same size that N tasks have joined. That is right for those that are created with the order of ranks
 * kept, as by MPI_Comm_dup, MPI_Comm_split with equal keys, and MPI_Comm_split_type.
 */
#include "trace.h"

/* A communicator that is not complete yet. */
struct circle {
	u64 key;
	u64 job;
	u64 ranks;
	u64 joined;
};

struct learning {
	struct synthesis *s;
	struct circle *circles;
	u32 count;
	u32 room;
};

static struct circle *add_circle(struct learning *l, u64 job, u64 ranks)
{
	if (l->count == l->room) {
		u32 room = l->room ? 2 * l->room : 16;
		struct circle *circles = reallocarray(l->circles, room, sizeof(*circles));

		if (!circles)
			return NULL;
		l->circles = circles;
		l->room = room;
	}
	l->circles[l->count] = (struct circle){ .key = l->s->next_id++, .job = job, .ranks = ranks };
	return &l->circles[l->count++];
}

/* The one that a task joins. */
static struct circle *find_circle(struct learning *l, u64 job, u64 ranks, u64 rank)
{
	u32 i;

	for (i = 0; i < l->count; i++)
		if (l->circles[i].job == job && l->circles[i].ranks == ranks && l->circles[i].joined == rank)
			return &l->circles[i];
	return add_circle(l, job, ranks);
}

static struct membership *member_get(struct player *player, u64 role)
{
	struct membership *comms;

	if (role <= player->comm_count)
		return &player->comms[role - 1];
	comms = reallocarray(player->comms, role, sizeof(*comms));
	if (!comms)
		return NULL;
	memset(comms + player->comm_count, 0, (role - player->comm_count) * sizeof(*comms));
	player->comms = comms;
	player->comm_count = (u32)role;
	return &comms[role - 1];
}

/* A task has that many handles, communicators and requests at a time. */
#define ROLES_MAX (1u << 20)

static bool has_sound_roles(const struct event *event)
{
	u32 i;

	for (i = EVENT_HANDLE; i < EVENT_ROLES; i++)
		if (event->roles[i] > ROLES_MAX)
			return false;
	return event->roles[EVENT_GENERATION] <= UINT32_MAX;
}

/* Record the properties of the communicator of an event at its first occurrence. */
static int learn_event(struct learning *l, struct player *player, const struct event *event, bool *has_world)
{
	u64 job = player->facts[TASK_FACT_job], role = event->roles[EVENT_COMM];
	struct membership *member = role ? member_get(player, role) : NULL;
	struct circle *circle;

	if (!role || (member && member->key && (member->ranks || event->kind != IOT_KIND_mpi_comm)))
		return 0;
	if (!member)
		return -ENOMEM;
	if (event->kind != IOT_KIND_mpi_comm) { /* a file or window: its ranks are not known, or stated later */
		member->key = (job << 40) + (1ull << 39) + role;
		return 0;
	}
	member->rank = trace_field(event, "rank");
	member->ranks = trace_field(event, "size");
	if (!*has_world) {
		*has_world = true;
		member->key = (job << 40) + (1ull << 38);
		return 0;
	}
	circle = find_circle(l, job, member->ranks, member->rank);
	if (!circle)
		return -ENOMEM;
	circle->joined++;
	member->key = circle->key;
	return 0;
}

/**
 * ranks_learn() - read all operations once, task by task
 *
 * Return: 0 or a negative errno.
 */
int ranks_learn(struct synthesis *s)
{
	struct learning l = { .s = s };
	struct events *events;
	struct event event;
	u32 i;
	int err = 0;

	for (i = 0; i < s->player_count && !err; i++) {
		bool has_world = false;

		err = events_open(s->pattern, s->players[i].group, s->players[i].run, &events);
		if (err)
			break;
		while (!err && (err = events_next(events, &event, NULL)) > 0) {
			err = has_sound_roles(&event) ? world_learn(s, &s->players[i], &event) : -EBADMSG;
			if (!err)
				err = learn_event(&l, &s->players[i], &event, &has_world);
		}
		events_close(events);
		numbers_free(&s->players[i].handles);
		numbers_free(&s->players[i].maps);
	}
	free(l.circles);
	return err;
}

/* -- waits ---------------------------------------------------------------------------------------------------------- */

static struct meeting *meet(struct synthesis *s, const struct meeting_key *key)
{
	struct meeting *meeting;

	HASH_FIND(hh, s->meetings, key, sizeof(*key), meeting);
	if (meeting)
		return meeting;
	meeting = calloc(1, sizeof(*meeting));
	if (!meeting)
		return NULL;
	meeting->key = *key;
	HASH_ADD(hh, s->meetings, key, sizeof(meeting->key), meeting);
	return meeting;
}

static const struct membership *member_of(const struct player *player)
{
	u64 role = player->event.roles[EVENT_COMM];

	return role && role <= player->comm_count ? &player->comms[role - 1] : NULL;
}

/* The last one that arrives lets all continue. */
static bool collective_is_ready(struct synthesis *s, struct player *player, u64 *ready_ns, struct player ***waiters)
{
	const struct membership *member = member_of(player);
	struct meeting *meeting;

	if (!member || !member->ranks)
		return true;
	meeting = meet(s, &(struct meeting_key){ .comm = member->key, .number = trace_field(&player->event, "number") });
	if (!meeting)
		return true;
	if (!player->has_arrived) {
		player->has_arrived = true;
		meeting->count++;
		if (player->next_ns > meeting->last_ns)
			meeting->last_ns = player->next_ns;
		if (meeting->count == member->ranks)
			queue_release(s, &meeting->waiters);
	}
	*waiters = &meeting->waiters;
	if (meeting->count < member->ranks)
		return player->event.roles[EVENT_REQUEST];
	if (!player->event.roles[EVENT_REQUEST])
		*ready_ns = meeting->last_ns;
	return true;
}

static struct meeting *mail(struct synthesis *s, u64 comm, u64 from, u64 to, u64 tag)
{
	return meet(s, &(struct meeting_key){ comm, tag, from + 1, to + 1 });
}

/* A message is there. Those that are received by name are taken off; any tag or sender is not waited for. */
static bool message_is_ready(struct meeting *meeting, bool is_taken, u64 *ready_ns, struct player ***waiters)
{
	if (!meeting)
		return true;
	*waiters = &meeting->waiters;
	if (!meeting->count)
		return false;
	meeting->count -= is_taken;
	*ready_ns = meeting->last_ns;
	return true;
}

static struct pending *request_of(struct player *player, u64 role)
{
	return role && role <= player->request_count ? &player->requests[role - 1] : NULL;
}

/**
 * ranks_is_ready() - may the next operation of a task end?
 * @s: the synthesis
 * @player: the task
 * @ready_ns: out: not before this; 0 if it does not depend on other tasks
 * @waiters: out: if it may not, the tasks that wait for the same call or message
 */
bool ranks_is_ready(struct synthesis *s, struct player *player, u64 *ready_ns, struct player ***waiters)
{
	const struct event *event = &player->event;
	const struct membership *member = member_of(player);
	const struct pending *pending;

	*ready_ns = 0;
	switch (event->kind) {
	case IOT_KIND_mpi_file:
		return !trace_field(event, "number") || collective_is_ready(s, player, ready_ns, waiters);
	case IOT_KIND_mpi_coll:
		return collective_is_ready(s, player, ready_ns, waiters);
	case IOT_KIND_mpi_recv:
	case IOT_KIND_mpi_probe:
		if (!member || event->roles[EVENT_REQUEST] || (s32)trace_field(event, "peer") < 0)
			return true;
		return message_is_ready(mail(s, member->key, trace_field(event, "peer"), member->rank, trace_field(event, "tag")),
					event->kind == IOT_KIND_mpi_recv, ready_ns, waiters);
	case IOT_KIND_mpi_done:
		pending = request_of(player, event->roles[EVENT_REQUEST]);
		if (!pending || !pending->comm || (s32)trace_field(event, "peer") < 0)
			return true;
		return message_is_ready(mail(s, pending->comm, trace_field(event, "peer"), pending->rank, trace_field(event, "tag")),
					true, ready_ns, waiters);
	default:
		return true;
	}
}

/* -- ids ------------------------------------------------------------------------------------------------------------ */

/* A request that begins, or one that has begun. */
static int fill_request(struct synthesis *s, struct player *player, struct iot_record *record,
			const struct membership *member)
{
	u64 role = player->event.roles[EVENT_REQUEST];
	struct pending *pending, *requests;

	if (role > player->request_count) {
		requests = reallocarray(player->requests, role, sizeof(*requests));
		if (!requests)
			return -ENOMEM;
		memset(requests + player->request_count, 0, (role - player->request_count) * sizeof(*requests));
		player->requests = requests;
		player->request_count = (u32)role;
	}
	pending = &player->requests[role - 1];
	if (!pending->id)
		*pending = (struct pending){ .id = s->next_id++,
					     .comm = record->kind == IOT_KIND_mpi_recv && member ? member->key : 0,
					     .rank = member ? member->rank : 0 };
	trace_set(record, "request", pending->id);
	if (record->kind == IOT_KIND_mpi_done && record->mpi_done.call != IOT_CALL_status)
		pending->id = 0;
	return 0;
}

/**
 * ranks_fill() - set the ids of an MPI record, and note the message that it sends
 * @s: the synthesis
 * @player: its task
 * @record: of its event
 *
 * Return: 0 or -ENOMEM.
 */
int ranks_fill(struct synthesis *s, struct player *player, struct iot_record *record)
{
	const struct membership *member = member_of(player);
	struct meeting *meeting;

	if (member)
		trace_set(record, record->kind == IOT_KIND_mpi_file ? "file" : "comm", member->key);
	if (record->kind == IOT_KIND_mpi_comm && player->facts[TASK_FACT_job])
		record->mpi_comm.world = (player->facts[TASK_FACT_job] << 40) + (1ull << 38);
	if (record->kind == IOT_KIND_mpi_send && member) {
		meeting = mail(s, member->key, member->rank, (u64)(u32)record->mpi_send.peer,
			       trace_field(&player->event, "tag"));
		if (!meeting)
			return -ENOMEM;
		meeting->count++;
		if (player->next_ns > meeting->last_ns)
			meeting->last_ns = player->next_ns;
		queue_release(s, &meeting->waiters);
	}
	return player->event.roles[EVENT_REQUEST] ? fill_request(s, player, record, member) : 0;
}

/**
 * ranks_free() - free the memory of this file
 */
void ranks_free(struct synthesis *s)
{
	struct meeting *meeting, *next;
	u32 i;

	HASH_ITER (hh, s->meetings, meeting, next) {
		HASH_DEL(s->meetings, meeting);
		free(meeting);
	}
	for (i = 0; i < s->player_count; i++) {
		free(s->players[i].comms);
		free(s->players[i].requests);
	}
}
