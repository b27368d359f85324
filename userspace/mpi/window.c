// SPDX-License-Identifier: GPL-2.0-only
/*
 * window.c - one-sided calls: windows, access to the memory of others, and its synchronization.
 *
 * A window has a key like a communicator's, and the ranks of the one that it was made on. Its
 * fences, and its end, are collectives on it. Post and complete are recorded as messages to
 * each rank of their groups, start and wait as their receives; start as a receive that is only
 * posted, because MPI may put it off until complete. Locks, and access itself, are of one rank
 * alone.
 *
 * Ownership: the state of a window is an attribute of it and goes with it; it is found by the handle.
 */
#include "shim.h"

#include <stdlib.h>

enum { TAG_POST = 0, TAG_COMPLETE = 1 };

/* Ranks of a window, and for each a request. */
struct group {
	int count;
	int *ranks;
	u64 *requests;
};

/* Those that may access own memory, and those whose memory is accessed. */
struct window {
	struct iot_mpi_comm state;
	struct group posted;
	struct group started;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct iot_mpi_handles known = { .lock = PTHREAD_MUTEX_INITIALIZER };
static int keyval;
static bool has_keyval;

/* -- windows and groups -------------------------------------------------------------------- */

static void group_free(struct group *group)
{
	free(group->ranks);
	free(group->requests);
	*group = (struct group){};
}

static int attribute_copy(MPI_Win win, int key, void *extra, void *value, void *copy, int *flag)
{
	(void)win, (void)key, (void)extra, (void)value, (void)copy;
	*flag = 0;
	return MPI_SUCCESS;
}

static int attribute_delete(MPI_Win win, int key, void *value, void *extra)
{
	struct window *window = value;

	(void)win, (void)key, (void)extra;
	iot_mpi_handle_remove(&known, &window->state.handle);
	group_free(&window->posted);
	group_free(&window->started);
	free(window);
	return MPI_SUCCESS;
}

static bool make_keyval(void)
{
	pthread_mutex_lock(&lock);
	if (!has_keyval)
		has_keyval = !iot_mpi_found.PMPI_Win_create_keyval(attribute_copy, attribute_delete,
								   &keyval, NULL);
	pthread_mutex_unlock(&lock);
	return has_keyval;
}

/* Return: NULL if the window is not known, or nothing is recorded. */
static struct window *find(MPI_Win win)
{
	return iot_mpi_is_on() ? (struct window *)iot_mpi_handle_find(&known, (uintptr_t)win) : NULL;
}

static void window_made(u64 key, const struct iot_mpi_comm *parent, MPI_Win win)
{
	struct window *window = make_keyval() ? calloc(1, sizeof(*window)) : NULL;

	if (!window)
		return;
	window->state = iot_mpi_comm_like(parent, key);
	if (iot_mpi_found.PMPI_Win_set_attr(win, keyval, window)) {
		free(window);
		return;
	}
	iot_mpi_handle_add(&known, &window->state.handle, (uintptr_t)win);
	iot_mpi_comm_announce(&window->state, parent->origin);
}

#define DEFINE_CREATOR(name, call_name, root, parameters, arguments)                      \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		u64 enter_ns = iot_mpi_is_on() ? iot_mpi_now_ns() : 0, key;               \
		struct iot_mpi_comm *parent = iot_mpi_comm_find(comm);                    \
		struct iot_mpi_collective call;                                           \
		int rc, saved;                                                            \
                                                                                          \
		if (!parent)                                                              \
			return IOT_MPI_BELOW(mpi->MPI_##name arguments);                                 \
		iot_mpi_collective_begin(&call, enter_ns, parent);                        \
		key = iot_mpi_comm_child(parent);                                         \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                            \
		saved = errno;                                                            \
		iot_mpi_collective_end(&call, IOT_CALL_##call_name, -1, 0, rc);           \
		if (!rc)                                                                  \
			window_made(key, parent, *made);                                    \
		errno = saved;                                                            \
		return rc;                                                                \
	}
IOT_MPI_WIN_CREATORS(DEFINE_CREATOR)

/* The ranks of a group, in the window's numbers. */
static struct group group_of(MPI_Group ranks, MPI_Win win)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	struct group group = {};
	MPI_Group all;
	int i, *own;

	mpi->PMPI_Group_size(ranks, &group.count);
	own = calloc((size_t)group.count + 1, sizeof(*own));
	group.ranks = calloc((size_t)group.count + 1, sizeof(*group.ranks));
	group.requests = calloc((size_t)group.count + 1, sizeof(*group.requests));
	if (!own || !group.ranks || !group.requests) {
		group_free(&group);
	} else {
		for (i = 0; i < group.count; i++)
			own[i] = i;
		mpi->PMPI_Win_get_group(win, &all);
		mpi->PMPI_Group_translate_ranks(ranks, group.count, own, all, group.ranks);
		mpi->PMPI_Group_free(&all);
	}
	free(own);
	return group;
}

/* -- collective calls ----------------------------------------------------------------------- */

#define DEFINE_COLLECTIVE(name, call_name, found, parameters, arguments)                  \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct window *window = (found);                                          \
		struct iot_mpi_collective call;                                           \
		int rc;                                                                   \
                                                                                          \
		if (!window)                                                              \
			return IOT_MPI_BELOW(mpi->MPI_##name arguments);                                 \
		iot_mpi_collective_begin(&call, iot_mpi_now_ns(), &window->state);        \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                            \
		iot_mpi_collective_emit(&call, IOT_CALL_##call_name, -1, 0, rc,           \
					&(struct iot_mpi_blocks){ .sources = sources_##name }); \
		return rc;                                                                \
	}
/* A fence that may end an epoch must hear of all ranks that they have no more to do in it. */
#define sources_Win_fence (assertion & MPI_MODE_NOPRECEDE ? IOT_SOURCES_none : IOT_SOURCES_all)
#define sources_Win_free  IOT_SOURCES_unknown
DEFINE_COLLECTIVE(Win_fence, win_fence, find(win), (int assertion, MPI_Win win), (assertion, win))
DEFINE_COLLECTIVE(Win_free, win_free, win ? find(*win) : NULL, (MPI_Win *win), (win))

/* A wrapper of a call of one rank: @record, of a `window` that is known. */
#define DEFINE(name, parameters, arguments, record)                                       \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct window *window = find(win);                                        \
		u64 enter_ns = window ? iot_mpi_now_ns() : 0;                             \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments), saved = errno;         \
                                                                                          \
		if (window && !rc)                                                        \
			record;                                                           \
		errno = saved;                                                            \
		return rc;                                                                \
	}

static void send_all(u64 enter_ns, u64 key, u32 name, s32 tag, const struct group *group)
{
	int i;

	for (i = 0; i < group->count; i++)
		IOT_MPI_EMIT(mpi_send, .enter_ns = enter_ns, .call = name, .comm = key,
			     .peer = group->ranks[i], .tag = tag);
}

static void posted_to(u64 enter_ns, struct window *window, MPI_Group group, MPI_Win win)
{
	group_free(&window->posted);
	window->posted = group_of(group, win);
	send_all(enter_ns, window->state.key, IOT_CALL_win_post, TAG_POST, &window->posted);
}
DEFINE(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win),
       posted_to(enter_ns, window, group, win))

static void started(u64 enter_ns, struct window *window, MPI_Group ranks, MPI_Win win)
{
	struct group *group = &window->started;
	int i;

	group_free(group);
	*group = group_of(ranks, win);
	for (i = 0; i < group->count; i++) {
		group->requests[i] = iot_mpi_request_new();
		IOT_MPI_EMIT(mpi_recv, .enter_ns = enter_ns, .call = IOT_CALL_win_start,
			     .comm = window->state.key, .peer = group->ranks[i],
			     .tag = TAG_POST, .request = group->requests[i]);
	}
}
DEFINE(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win),
       started(enter_ns, window, group, win))

/* The access epoch that MPI_Win_start began has then been granted, and ends. */
static void completed(u64 enter_ns, struct window *window)
{
	struct group *started = &window->started;
	int i;

	for (i = 0; i < started->count; i++)
		IOT_MPI_EMIT(mpi_done, .enter_ns = enter_ns, .call = IOT_CALL_win_complete,
			     .request = started->requests[i], .peer = started->ranks[i],
			     .tag = TAG_POST);
	send_all(enter_ns, window->state.key, IOT_CALL_win_complete, TAG_COMPLETE, started);
	group_free(started);
}

DEFINE(Win_complete, (MPI_Win win), (win), completed(enter_ns, window))

static void waited(u64 enter_ns, struct window *window)
{
	struct group *posted = &window->posted;
	int i;

	for (i = 0; i < posted->count; i++)
		IOT_MPI_EMIT(mpi_recv, .enter_ns = enter_ns, .call = IOT_CALL_win_wait,
			     .comm = window->state.key, .peer = posted->ranks[i],
			     .tag = TAG_COMPLETE);
	group_free(posted);
}

DEFINE(Win_wait, (MPI_Win win), (win), waited(enter_ns, window))
DEFINE(Win_test, (MPI_Win win, int *is_done), (win, is_done), if (*is_done) waited(enter_ns, window))

/* -- calls of one rank ------------------------------------------------------------------------ */

#define DEFINE_LOCK(name, call_name, about, parameters, arguments)                            \
	DEFINE(name, parameters, arguments,                                                   \
	       IOT_MPI_EMIT(mpi_win, .enter_ns = enter_ns, .call = IOT_CALL_##call_name,      \
			    .comm = window->state.key, .peer = (about),                       \
			    .is_exclusive = is_exclusive_##name))
#define is_exclusive_Win_lock		 (kind == MPI_LOCK_EXCLUSIVE)
#define is_exclusive_Win_lock_all	 0
#define is_exclusive_Win_unlock		 0
#define is_exclusive_Win_unlock_all	 0
#define is_exclusive_Win_flush		 0
#define is_exclusive_Win_flush_local	 0
#define is_exclusive_Win_flush_all	 0
#define is_exclusive_Win_flush_local_all 0
IOT_MPI_WIN_LOCKS(DEFINE_LOCK)

static void accessed(u64 enter_ns, const struct window *window, u32 name, int peer, u64 bytes,
		     u64 request)
{
	IOT_MPI_EMIT(mpi_win, .enter_ns = enter_ns, .call = name, .comm = window->state.key,
		     .peer = peer, .length_bytes = bytes, .request = request);
}

#define DEFINE_ACCESS(name, call_name, length, parameters, arguments)                         \
	DEFINE(name, parameters, arguments,                                                   \
	       if (peer != MPI_PROC_NULL)                                                     \
		       accessed(enter_ns, window, IOT_CALL_##call_name, peer,                 \
				iot_mpi_length_bytes(length, type), 0))

static void posted(u64 enter_ns, const struct window *window, u32 name, int peer, u64 bytes,
		   MPI_Request handle)
{
	struct iot_mpi_request request = { .id = iot_mpi_request_new() };

	accessed(enter_ns, window, name, peer, bytes, request.id);
	iot_mpi_request_add(handle, &request);
}

#define DEFINE_REQUEST(name, call_name, length, parameters, arguments)                    \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		const struct window *window = find(win);                                  \
		u64 enter_ns = window ? iot_mpi_now_ns() : 0;                             \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                        \
                                                                                          \
		if (window && !rc && peer != MPI_PROC_NULL)                               \
			posted(enter_ns, window, IOT_CALL_##call_name, peer,              \
			       iot_mpi_length_bytes(length, type), *request);             \
		else if (!rc)                                                             \
			iot_mpi_request_skip(*request);                                   \
		return rc;                                                                \
	}
IOT_MPI_ACCESSES(DEFINE_ACCESS, DEFINE_REQUEST)
