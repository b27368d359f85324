// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_nonblocking.c - blocking reads and writes of MPI files instead of nonblocking ones: the data are moved in the call, and nothing
 * waits for the request.
 */
#include "change_requests.h"

/* The operations that belong to a request become those of its call. */
static int put_moved(struct change *c, const struct file_requests *requests, const struct file_request *request, struct actor *made)
{
	u64 i, depth = c->actors[request->actor].steps[request->call].event.depth;
	int err = 0;

	for (i = request->first; i < request->first + request->count && !err; i++) {
		struct step step = c->actors[requests->moved.values[2 * i]].steps[requests->moved.values[2 * i + 1]];

		step.is_taken = false;
		step.event.depth = (u32)depth + 1;
		step.event.roles[EVENT_HANDLE] = request->handle;
		err = change_add_step(made, &step);
	}
	return err;
}

static int put_request(struct change *c, const struct file_requests *requests, const struct file_request *request, struct actor *made)
{
	const struct actor *actor = &c->actors[request->actor];
	struct step call = actor->steps[request->call];
	u64 i;
	int err;

	if (!request->is_known)
		return change_refuse(c, &(struct event){ .kind = IOT_KIND_mpi_file, .path = request->path },
				     "the transfers of a nonblocking call are unknown: other ranks move its data, or several pieces");
	if (request->count && !request->handle)
		return change_refuse(c, &(struct event){ .kind = IOT_KIND_mpi_file, .path = request->path },
				     "a rank that would move data has not opened the file");
	*change_field(&call.event, "call") = request->data->blocking;
	call.event.roles[EVENT_REQUEST] = 0;
	call.duration_ns = 0; /* that of the operations in it */
	err = change_add_step(made, &call);
	for (i = request->call + 1; i < mpi_end_of_call(actor, request->call) && !err; i++)
		err = change_add_step(made, &actor->steps[i]);
	c->changed++;
	return err ? err : put_moved(c, requests, request, made);
}

/* Numbers of requests that exist no longer after their wait. */
struct waits {
	struct numbers roles;
};

static bool is_wait(struct waits *waits, struct event *event)
{
	u64 role = event->roles[EVENT_REQUEST];
	size_t i;

	for (i = 0; event->kind == IOT_KIND_mpi_done && i < waits->roles.count; i++)
		if (waits->roles.values[i] == role) {
			if (*change_field(event, "call") != IOT_CALL_status)
				waits->roles.values[i] = waits->roles.values[--waits->roles.count];
			return true;
		}
	return false;
}

static int rebuild(struct change *c, const struct file_requests *requests, u64 number, struct actor *made)
{
	const struct actor *actor = &c->actors[number];
	struct waits waits = {};
	u64 i;
	int err = 0;

	for (i = 0; i < actor->count && !err; i++) {
		const struct file_request *request = requests_at(requests, number, i);
		struct step *step = &actor->steps[i];

		if (request) {
			numbers_add(&waits.roles, step->event.roles[EVENT_REQUEST]);
			err = put_request(c, requests, request, made);
			i = mpi_end_of_call(actor, i) - 1;
		} else if (!step->is_taken && !is_wait(&waits, &step->event)) {
			err = change_add_step(made, step);
		}
	}
	if (waits.roles.is_failed)
		err = -ENOMEM;
	numbers_free(&waits.roles);
	return err;
}

/* -- roles -------------------------------------------------------------------------------------------------------- */

static bool ends_role(struct event *event, u32 role)
{
	if (role == EVENT_HANDLE)
		return event->kind == IOT_KIND_release;
	return event->kind == IOT_KIND_mpi_done && *change_field(event, "call") != IOT_CALL_status;
}

/* The number of a handle or request: the lowest that is free if it is new. 0 if out of memory. */
static u64 number_of(struct numbers *used, u64 old)
{
	size_t slot, empty = used->count;

	for (slot = 0; slot < used->count && used->values[slot] != old; slot++)
		if (!used->values[slot] && empty == used->count)
			empty = slot;
	if (slot < used->count)
		return slot + 1;
	if (empty == used->count)
		numbers_add(used, old);
	else
		used->values[empty] = old;
	return used->is_failed ? 0 : empty + 1;
}

/* Each handle or request has the lowest number that is free; second handles have those of handles. */
static int renumber(struct actor *actor, u32 role)
{
	struct numbers used = {};
	bool is_failed;
	u64 i;

	for (i = 0; i < actor->count && !used.is_failed; i++) {
		struct event *event = &actor->steps[i].event;

		if (event->roles[role])
			event->roles[role] = number_of(&used, event->roles[role]);
		if (role == EVENT_HANDLE && event->roles[EVENT_TO_HANDLE])
			event->roles[EVENT_TO_HANDLE] = number_of(&used, event->roles[EVENT_TO_HANDLE]);
		if (event->roles[role] && ends_role(event, role))
			used.values[event->roles[role] - 1] = 0;
	}
	is_failed = used.is_failed;
	numbers_free(&used);
	return is_failed ? -ENOMEM : 0;
}

/* -- the whole ---------------------------------------------------------------------------------------------------- */

static int rebuild_all(struct change *c, const struct file_requests *requests)
{
	struct actor *made = calloc(c->actor_count + 1, sizeof(*made));
	u64 i;
	int err = made ? 0 : -ENOMEM;

	for (i = 0; i < c->actor_count && !err; i++)
		err = rebuild(c, requests, i, &made[i]);
	for (i = 0; i < c->actor_count && made; i++) {
		if (err) {
			free(made[i].steps);
			continue;
		}
		free(c->actors[i].steps);
		memcpy(made[i].facts, c->actors[i].facts, sizeof(made[i].facts));
		c->actors[i] = made[i];
	}
	free(made);
	for (i = 0; i < c->actor_count && !err; i++) {
		err = renumber(&c->actors[i], EVENT_HANDLE);
		if (!err)
			err = renumber(&c->actors[i], EVENT_REQUEST);
	}
	return err;
}

/**
 * change_to_blocking() - blocking reads and writes of MPI files instead of nonblocking ones
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_to_blocking(struct change *c)
{
	struct file_requests requests;
	int err = requests_find(c, &requests);

	if (!err && !requests.count)
		err = change_refuse(c, NULL, "no nonblocking call reads or writes an MPI file");
	if (!err)
		err = rebuild_all(c, &requests);
	requests_free(&requests);
	return err;
}
