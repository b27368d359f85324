// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.c - requests that are under way, by their handles.
 *
 * MPI gives a handle to a new request once the old one is complete. A request is therefore
 * looked up before the wait: afterwards another thread may have got the handle for one of
 * its own. An entry whose request ended without our knowledge is replaced when its handle
 * appears again. A persistent request keeps its handle and its entry until it is freed, and
 * has an id while it is started.
 *
 * Some handles are special. Requests that were complete when they were made share one, in
 * Open MPI most small sends, in MPICH collectives of a single rank. A thread takes them in the order it made them in, and those of
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
	pthread_t maker;
	struct iot_mpi_request request;
	struct iot_mpi_persistent what;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *table[BUCKETS];
static struct entry *shared, **shared_end = &shared; /* oldest first */
static struct entry *spare;
static MPI_Request shared_handles[4];
static int shared_count;
static u64 last_id;

static bool is_shared(MPI_Request handle)
{
	int i;

	for (i = 0; i < shared_count; i++)
		if (handle == shared_handles[i])
			return true;
	return false;
}

/* Compare the handles of two requests that are active at the same time. */
static void compare_handles(MPI_Request *handles)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Status status;

	if (handles[0] == handles[1] && handles[0] != mpi->request_null && !is_shared(handles[0]))
		shared_handles[shared_count++] = handles[0];
	mpi->PMPI_Wait(&handles[0], &status);
	mpi->PMPI_Wait(&handles[1], &status);
}

/**
 * iot_mpi_request_start() - find out which handles are shared
 *
 * @self: a communicator of this process alone
 *
 * A message to or from MPI_PROC_NULL is none, and is complete at once, as is a collective
 * call of one process.
 */
void iot_mpi_request_start(MPI_Comm self)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Request handles[2];
	int i, rc = 0;

	for (i = 0; i < 2; i++)
		rc |= mpi->PMPI_Isend(NULL, 0, mpi->byte, MPI_PROC_NULL, 0, self, &handles[i]);
	if (!rc)
		compare_handles(handles);
	for (i = 0; i < 2; i++)
		rc |= mpi->PMPI_Irecv(NULL, 0, mpi->byte, MPI_PROC_NULL, 0, self, &handles[i]);
	if (!rc)
		compare_handles(handles);
	for (i = 0; i < 2; i++)
		rc |= mpi->PMPI_Ibarrier(self, &handles[i]);
	if (!rc)
		compare_handles(handles);
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
	if (entry) {
		entry->next = NULL;
		entry->request = (struct iot_mpi_request){};
	}
	return entry;
}

static void what_free(const struct iot_mpi_persistent *what)
{
	free(what->round);
	free(what->arrived);
}

/* Remove the state of its request. */
static void entry_clear(struct entry *entry)
{
	if (entry->request.persistent)
		what_free(&entry->what);
	entry->request = (struct iot_mpi_request){};
}

/* Unlink the entry at a place. */
static void entry_drop(struct entry **place)
{
	struct entry *entry = *place;

	entry_clear(entry);
	*place = entry->next;
	entry->next = spare;
	spare = entry;
}

/* The entry that a new request of a handle goes into, NULL if out of memory. */
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
 * @request: its state; an id of 0 means that it is not recorded. The description of a persistent
 *	request is copied; allocations inside it pass to the request
 *
 * Call it after the beginning of the request has been recorded: another thread may at once complete
 * a request that shares the handle.
 */
void iot_mpi_request_add(MPI_Request handle, const struct iot_mpi_request *request)
{
	int saved = errno;
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = entry_for(handle);
	if (entry) {
		entry_clear(entry);
		entry->handle = handle;
		entry->request = *request;
		entry->maker = pthread_self();
		if (request->persistent) {
			entry->what = *request->persistent;
			entry->request.persistent = &entry->what;
		}
	}
	pthread_mutex_unlock(&lock);
	if (!entry && request->persistent)
		what_free(request->persistent);
	errno = saved;
}

/**
 * iot_mpi_request_skip() - a request that is not recorded has got a handle
 * @handle: as MPI just returned it
 *
 * Among those that share a handle it keeps its place, so that its end is not mistaken
 * for that of another request.
 */
void iot_mpi_request_skip(MPI_Request handle)
{
	struct entry **place;

	if (!iot_mpi_is_on())
		return;
	if (is_shared(handle)) {
		iot_mpi_request_add(handle, &(struct iot_mpi_request){});
		return;
	}
	pthread_mutex_lock(&lock);
	place = place_of(handle);
	if (*place)
		entry_drop(place);
	pthread_mutex_unlock(&lock);
}

/**
 * iot_mpi_request_find() - the states of requests before a wait
 * @handles: of the requests
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

		found[i] = entry ? entry->request : (struct iot_mpi_request){};
		found[i].is_shared = is_shared(handles[i]);
		is_any |= entry || found[i].is_shared;
	}
	pthread_mutex_unlock(&lock);
	return is_any;
}

/* The place of the oldest one of a handle that this thread made, or else of the oldest. */
static struct entry **shared_place(MPI_Request handle)
{
	struct entry **place, **oldest = NULL;

	for (place = &shared; *place; place = &(*place)->next) {
		if ((*place)->handle != handle)
			continue;
		if (pthread_equal((*place)->maker, pthread_self()))
			return place;
		if (!oldest)
			oldest = place;
	}
	return oldest ? oldest : place;
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
		place = shared_place(handle);
		if (*place && !(*place)->next)
			shared_end = place;
		*found = *place ? (*place)->request : (struct iot_mpi_request){};
	} else {
		place = place_of(handle);
	}
	if (*place && (*place)->request.id == found->id) {
		if (found->persistent)
			(*place)->request.id = 0;
		else
			entry_drop(place);
	}
	pthread_mutex_unlock(&lock);
}

/**
 * iot_mpi_request_begin() - a persistent request has been started
 * @handle: its handle
 * @id: request id of this start
 *
 * Return: its description; valid until the request is freed. NULL if it is not recorded.
 */
const struct iot_mpi_persistent *iot_mpi_request_begin(MPI_Request handle, u64 id)
{
	const struct iot_mpi_persistent *what = NULL;
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = *place_of(handle);
	if (entry && entry->request.persistent) {
		what = &entry->what;
		entry->what.ready = 0;
		entry->what.started++;
		if (entry->what.arrived)
			memset(entry->what.arrived, 0, (size_t)entry->what.partitions / 8 + 1);
		entry->request.id = id;
	}
	pthread_mutex_unlock(&lock);
	return what;
}

/* The entry of a request in partitions that has been started, NULL if it has none. The lock is held. */
static struct entry *partitioned(MPI_Request handle)
{
	struct entry *entry = *place_of(handle);

	return entry && entry->request.persistent && entry->what.partitions && entry->request.id ? entry : NULL;
}

/**
 * iot_mpi_request_ready() - partitions of a started send are ready
 * @handle: its handle
 * @partitions: how many
 * @what: out: its description; @ready there counts the ready partitions
 * @id: out: request id of this start
 *
 * Return: false if it is not recorded.
 */
bool iot_mpi_request_ready(MPI_Request handle, int partitions, struct iot_mpi_persistent *what, u64 *id)
{
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = partitioned(handle);
	if (entry) {
		entry->what.ready += partitions;
		*what = entry->what;
		*id = entry->request.id;
	}
	pthread_mutex_unlock(&lock);
	return entry;
}

/**
 * iot_mpi_request_arrived() - a partition of a started receive was seen to have arrived
 * @handle: its handle
 * @partition: which
 * @what: out: its description
 * @id: out: of this round
 *
 * Return: false if that was known, or is not recorded.
 */
bool iot_mpi_request_arrived(MPI_Request handle, int partition, struct iot_mpi_persistent *what, u64 *id)
{
	bool is_new = false;
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = partitioned(handle);
	if (entry && entry->what.arrived && partition >= 0 && partition < entry->what.partitions) {
		is_new = !(entry->what.arrived[partition / 8] & 1 << partition % 8);
		entry->what.arrived[partition / 8] |= (u8)(1 << partition % 8);
		*what = entry->what;
		*id = entry->request.id;
	}
	pthread_mutex_unlock(&lock);
	return is_new;
}

int MPI_Request_free(MPI_Request *request)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_request found;
	MPI_Request handle;
	int rc;

	if (!iot_mpi_is_on() || !request)
		return IOT_MPI_BELOW(mpi->MPI_Request_free(request));
	handle = *request;
	iot_mpi_request_find(&handle, 1, &found);
	found.persistent = NULL; /* the whole entry goes */
	rc = IOT_MPI_BELOW(mpi->MPI_Request_free(request));
	if (!rc)
		iot_mpi_request_take(handle, &found);
	return rc;
}

/* Requests that complete when buffers are empty: no other rank is involved. */
#define DEFINE_FLUSH(name, call_name, root, parameters, arguments)       \
	int MPI_##name parameters                                        \
	{                                                                \
		const struct iot_mpi_library *mpi = iot_mpi_library();   \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);       \
                                                                         \
		if (!rc)                                                 \
			iot_mpi_request_skip(*request);                  \
		return rc;                                               \
	}
IOT_MPI_FLUSHES(DEFINE_FLUSH)
