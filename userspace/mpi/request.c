// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.c - requests that are under way, by their handles.
 *
 * MPI gives a handle to a new request once the old one is complete. A request is therefore
 * looked up before the wait: afterwards another thread may have got the handle for one of
 * its own. An entry whose request ended without our knowledge is replaced when its handle
 * appears again.
 *
 * One handle is special. Requests that were complete when they were made share it, in Open
 * MPI most small sends. A thread takes them in the order it made them in, and those of
 * other threads after its own. That may name the wrong one of them, of which every one was
 * complete before the wait began.
 */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 1024

struct entry {
	struct entry *next;
	MPI_Request handle;
	u64 id;
	pthread_t maker;
	bool is_receive;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *table[BUCKETS];
static struct entry *shared, **shared_end = &shared; /* oldest first */
static struct entry *spare;
static MPI_Request shared_handle;
static bool has_shared_handle;
static u64 last_id;

/**
 * iot_mpi_request_start() - find out which handle is shared
 *
 * A message to MPI_PROC_NULL is none, and is complete at once.
 */
void iot_mpi_request_start(void)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Request handles[2] = { mpi->request_null, mpi->request_null };
	MPI_Status status;
	int i;

	for (i = 0; i < 2; i++)
		if (mpi->PMPI_Isend(NULL, 0, mpi->byte, MPI_PROC_NULL, 0, mpi->comm_self,
				    &handles[i]))
			return;
	shared_handle = handles[0];
	has_shared_handle = handles[0] == handles[1];
	for (i = 0; i < 2; i++)
		mpi->PMPI_Wait(&handles[i], &status);
}

static bool is_shared(MPI_Request handle)
{
	return has_shared_handle && handle == shared_handle;
}

static struct entry **place_of(MPI_Request handle)
{
	u64 hash = (u64)(uintptr_t)handle * 0x9e3779b97f4a7c15ull;
	struct entry **place = &table[hash >> 32 & (BUCKETS - 1)];

	while (*place && (*place)->handle != handle)
		place = &(*place)->next;
	return place;
}

static struct entry *entry_new(void)
{
	struct entry *entry = spare;

	if (entry)
		spare = entry->next;
	else
		entry = malloc(sizeof(*entry));
	if (entry)
		entry->next = NULL;
	return entry;
}

/* Unlink the entry at a place. */
static void entry_drop(struct entry **place)
{
	struct entry *entry = *place;

	*place = entry->next;
	entry->next = spare;
	spare = entry;
}

/* The entry that a new request of a handle goes into, NULL if there is no memory. */
static struct entry *entry_for(MPI_Request handle)
{
	struct entry **place = is_shared(handle) ? shared_end : place_of(handle);

	if (*place)
		return *place;
	*place = entry_new();
	if (is_shared(handle) && *place)
		shared_end = &(*place)->next;
	return *place;
}

/**
 * iot_mpi_request_new() - an id for a request
 */
u64 iot_mpi_request_new(void)
{
	return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
}

/**
 * iot_mpi_request_add() - remember a request
 * @handle: as MPI just returned it
 * @id: from iot_mpi_request_new(); 0 if the request is not recorded
 * @is_receive: a record of its end is to say what came
 *
 * To be called when the beginning of the request has been recorded: another thread may take
 * one that shares the handle at once.
 */
void iot_mpi_request_add(MPI_Request handle, u64 id, bool is_receive)
{
	int saved = errno;
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = entry_for(handle);
	if (entry) {
		entry->handle = handle;
		entry->id = id;
		entry->maker = pthread_self();
		entry->is_receive = is_receive;
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
}

/**
 * iot_mpi_request_skip() - a request that is not recorded has got a handle
 * @handle: as MPI just returned it
 *
 * Among those that share a handle it keeps its place, so that its end is not taken for
 * another one's.
 */
void iot_mpi_request_skip(MPI_Request handle)
{
	struct entry **place;

	if (!iot_mpi_is_on())
		return;
	if (is_shared(handle)) {
		iot_mpi_request_add(handle, 0, false);
		return;
	}
	pthread_mutex_lock(&lock);
	place = place_of(handle);
	if (*place)
		entry_drop(place);
	pthread_mutex_unlock(&lock);
}

/**
 * iot_mpi_request_find() - what is known of requests that are about to be waited for
 * @handles: they
 * @count: their number
 * @found: filled in for each
 *
 * Return: true if the end of one of them may have to be recorded.
 */
bool iot_mpi_request_find(const MPI_Request *handles, int count, struct iot_mpi_request *found)
{
	bool is_any = false;
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < count; i++) {
		const struct entry *entry = *place_of(handles[i]);

		found[i] = (struct iot_mpi_request){ .is_shared = is_shared(handles[i]) };
		if (entry) {
			found[i].id = entry->id;
			found[i].is_receive = entry->is_receive;
		}
		is_any |= entry || found[i].is_shared;
	}
	pthread_mutex_unlock(&lock);
	return is_any;
}

/* The place of the oldest one that this thread made, or else of the oldest. */
static struct entry **shared_place(void)
{
	struct entry **place = &shared;

	while (*place && !pthread_equal((*place)->maker, pthread_self()))
		place = &(*place)->next;
	return *place ? place : &shared;
}

/**
 * iot_mpi_request_take() - forget a request that has ended
 * @handle: its handle while it was under way
 * @found: from iot_mpi_request_find(); if the handle is shared, the request is chosen now
 */
void iot_mpi_request_take(MPI_Request handle, struct iot_mpi_request *found)
{
	struct entry **place;

	pthread_mutex_lock(&lock);
	if (found->is_shared) {
		place = shared_place();
		if (*place && !(*place)->next)
			shared_end = place;
		found->id = *place ? (*place)->id : 0; /* it has no status worth reading */
	} else {
		place = place_of(handle);
	}
	if (*place && (*place)->id == found->id)
		entry_drop(place);
	pthread_mutex_unlock(&lock);
}

int MPI_Request_free(MPI_Request *request)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_request found;
	MPI_Request handle;
	int rc;

	if (!iot_mpi_is_on() || !request)
		return mpi->MPI_Request_free(request);
	handle = *request;
	iot_mpi_request_find(&handle, 1, &found);
	rc = mpi->MPI_Request_free(request);
	if (!rc)
		iot_mpi_request_take(handle, &found);
	return rc;
}
