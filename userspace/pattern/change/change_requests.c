// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_requests.c - nonblocking reads and writes of MPI files, and their transfers.
 *
 * MPI libraries move the data of a nonblocking call in it, in later calls of the rank, or in a thread of their own. Transfers outside of the
 * call are assigned to the calls of the process in their order, or by the offset if it is known, and must have exactly the bytes of the
 * call.
 */
#include "change_requests.h"

/* Transfers of a process that are no part of a call: of a rank and its threads. */
struct pool {
	struct change *change;
	struct numbers steps; /* indexes of task and step */
	u64 first; /* that may be free */
};

static struct step *step_of(struct change *c, const struct numbers *steps, u64 i)
{
	return &c->actors[steps->values[2 * i]].steps[steps->values[2 * i + 1]];
}

static bool is_transfer_of(const struct step *step, const struct file_request *request)
{
	u16 kind = request->data->is_write ? IOT_KIND_write : IOT_KIND_read;

	return step->event.kind == kind && (s64)step->event.fields[0] > 0 && !strcmp(step->event.path, request->path) &&
	       step->event.roles[EVENT_GENERATION] == request->generation;
}

static void fill_pool(struct pool *pool, u64 rank)
{
	struct change *c = pool->change;
	u64 process = c->actors[rank].facts[TASK_FACT_process], i, j;

	pool->steps.count = 0;
	pool->first = 0;
	for (i = 0; i < c->actor_count; i++)
		for (j = 0; c->actors[i].facts[TASK_FACT_process] == process && j < c->actors[i].count; j++) {
			const struct event *event = &c->actors[i].steps[j].event;

			if (event->depth || (event->kind != IOT_KIND_read && event->kind != IOT_KIND_write))
				continue;
			numbers_add(&pool->steps, i);
			numbers_add(&pool->steps, j);
		}
}

static void add_moved(struct file_requests *requests, struct file_request *request, u64 actor, u64 step)
{
	numbers_add(&requests->moved, actor);
	numbers_add(&requests->moved, step);
	request->count++;
}

/* A transfer outside of the call, with the locks around it. */
static void take(struct pool *pool, struct file_requests *requests, struct file_request *request, u64 i)
{
	struct actor *actor = &pool->change->actors[pool->steps.values[2 * i]];
	u64 number = pool->steps.values[2 * i], at = pool->steps.values[2 * i + 1];
	u64 handle = actor->steps[at].event.roles[EVENT_HANDLE];
	bool is_locked = at && at + 1 < actor->count && actor->steps[at - 1].event.kind == IOT_KIND_lock &&
			 actor->steps[at + 1].event.kind == IOT_KIND_lock &&
			 actor->steps[at - 1].event.roles[EVENT_HANDLE] == handle && actor->steps[at + 1].event.roles[EVENT_HANDLE] == handle;
	u64 from = at - is_locked, to = at + is_locked;

	for (; from <= to; from++) {
		actor->steps[from].is_taken = true;
		add_moved(requests, request, number, from);
	}
}

/* Return: whether the transfers that are free have the data of the request. */
static bool find_outside(struct pool *pool, struct file_requests *requests, struct file_request *request)
{
	u64 sum = 0, count = pool->steps.count / 2, i;
	struct numbers found = {};
	bool is_found;

	while (pool->first < count && step_of(pool->change, &pool->steps, pool->first)->is_taken)
		pool->first++;
	for (i = pool->first; i < count && sum < request->length_bytes; i++) {
		struct step *step = step_of(pool->change, &pool->steps, i);

		if (step->is_taken || !is_transfer_of(step, request))
			continue;
		if (request->place >= 0 && *change_field(&step->event, "offset_bytes") != (u64)request->place + sum)
			continue;
		sum += step->event.fields[0];
		numbers_add(&found, i);
	}
	is_found = sum == request->length_bytes && !found.is_failed;
	for (i = 0; i < found.count && is_found; i++)
		take(pool, requests, request, found.values[i]);
	numbers_free(&found);
	return is_found;
}

static void find_transfers(struct pool *pool, struct file_requests *requests, struct file_request *request)
{
	const struct actor *actor = &pool->change->actors[request->actor];
	u64 end = mpi_end_of_call(actor, request->call), sum = 0, i;

	request->first = requests->moved.count / 2;
	for (i = request->call + 1; i < end; i++)
		if (is_transfer_of(&actor->steps[i], request))
			sum += actor->steps[i].event.fields[0];
	request->is_known = sum == request->length_bytes;
	if (!sum && request->length_bytes)
		request->is_known = find_outside(pool, requests, request);
}

static int add_request(struct file_requests *requests, const struct file_request *request)
{
	if (requests->count == requests->room) {
		u64 room = requests->room ? 2 * requests->room : 64;
		struct file_request *items = reallocarray(requests->items, room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		requests->items = items;
		requests->room = room;
	}
	requests->items[requests->count++] = *request;
	return 0;
}

static int find_calls(struct change *c, struct file_requests *requests, u64 number)
{
	const struct actor *actor = &c->actors[number];
	struct mpi_files *files;
	struct mpi_file *file;
	s64 place;
	u64 i;
	int err = mpi_files_open(c, &files);

	for (i = 0; i < actor->count && !err; i++) {
		struct event *event = &actor->steps[i].event;
		const struct data_call *data = mpi_data_call(mpi_call_of(event));

		err = mpi_files_take(files, actor, i, &file, &place);
		if (err || !data || !data->is_nonblocking || !file->path || !event->roles[EVENT_REQUEST])
			continue;
		err = add_request(requests, &(struct file_request){ .actor = number, .call = i, .data = data, .path = file->path,
								    .generation = file->generation, .handle = file->handle, .place = place,
								    .length_bytes = *change_field(event, "length_bytes") });
	}
	mpi_files_close(files);
	return err;
}

/**
 * requests_find() - all nonblocking calls of ranks on MPI files, and their transfers
 * @c: the change; steps outside of the calls that belong to them are marked as taken
 * @requests: out: to be freed by requests_free(), also after an error
 *
 * Return: 0, -EOPNOTSUPP if a task has too many files, -ENOMEM.
 */
int requests_find(struct change *c, struct file_requests *requests)
{
	struct pool pool = { .change = c };
	u64 i, j, first;
	int err = 0;

	*requests = (struct file_requests){};
	for (i = 0; i < c->actor_count && !err; i++) {
		first = requests->count;
		err = find_calls(c, requests, i);
		if (err || requests->count == first)
			continue;
		fill_pool(&pool, i);
		for (j = first; j < requests->count; j++)
			find_transfers(&pool, requests, &requests->items[j]);
	}
	if (pool.steps.is_failed || requests->moved.is_failed)
		err = -ENOMEM;
	numbers_free(&pool.steps);
	return err;
}

/**
 * requests_at() - the request of a call
 * @actor: index of the rank
 * @call: index of the call among its steps
 *
 * Return: NULL if the call makes none.
 */
const struct file_request *requests_at(const struct file_requests *requests, u64 actor, u64 call)
{
	u64 low = 0, high = requests->count, middle;

	while (low < high) {
		const struct file_request *item = &requests->items[middle = low + (high - low) / 2];

		if (item->actor < actor || (item->actor == actor && item->call < call))
			low = middle + 1;
		else
			high = middle;
	}
	return low < requests->count && requests->items[low].actor == actor && requests->items[low].call == call ?
		       &requests->items[low] : NULL;
}

/**
 * requests_free() - free the result of requests_find()
 */
void requests_free(struct file_requests *requests)
{
	free(requests->items);
	numbers_free(&requests->moved);
}
