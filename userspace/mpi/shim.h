/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shim.h - declarations shared by the files of the shim.
 *
 * The library is preloaded into whatever a recorded command starts, so it depends on the C
 * library only, finds MPI at the first MPI call, and is inert until MPI_Init has joined a
 * session. A wrapper then takes the time, calls MPI, and writes a record of the call; no message is
 * added and no call becomes collective. errno is as MPI left it.
 *
 * Only the outermost call of a thread counts: calls that MPI makes by public names inside a call
 * are not the program's.
 *
 * The shim queries MPI only about arguments that MPI has accepted in the program's own call:
 * otherwise MPI would call the program's error handler, or end the program.
 *
 * Locking: communicators count atomically; the tables of handles, of requests, of messages found by
 * probes and of groups have a lock each, held for look-ups only and never while MPI runs.
 */
#ifndef IOTAPE_MPI_SHIM_H
#define IOTAPE_MPI_SHIM_H

/* The library exports the declarations of mpi.h; all else is hidden. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "calls.h"
#include "core/trace/record.h"

#include <iotape/control.h>

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* Preloaded, the library has a place in every thread from the start. */
#define IOT_MPI_THREAD __thread __attribute__((tls_model("initial-exec")))

/* Functions for calls that this MPI may not have. */
#define IOT_MPI_OPTIONAL __attribute__((unused))

#ifdef OPEN_MPI
#define IOT_MPI_NAME "libiotape_mpi_openmpi"
#else
#define IOT_MPI_NAME "libiotape_mpi_mpich"
#endif

/* -- library.c: MPI itself --------------------------------------------------------------- */

/**
 * struct iot_mpi_library - MPI below the shim
 * @MPI_...: the calls we wrap, as they would be without us
 * @PMPI_...: questions of our own, which no other tool should see
 * @comm_world: MPI_COMM_WORLD; like the handles below it may be the address of an object in
 *	a library that is not there, so that mpi.h's own constant cannot be used
 */
struct iot_mpi_library {
#define IOT_MPI_MEMBER(name, ...) __typeof__(MPI_##name) *MPI_##name;
	IOT_MPI_WRAPPED(IOT_MPI_MEMBER)
#undef IOT_MPI_MEMBER
#define IOT_MPI_MEMBER(name) __typeof__(PMPI_##name) *PMPI_##name;
	IOT_MPI_QUERIES(IOT_MPI_MEMBER)
#undef IOT_MPI_MEMBER
	MPI_Comm comm_world;
	MPI_Comm comm_self;
	MPI_Comm comm_null;
	MPI_Info info_null;
	MPI_Errhandler errors_return;
	MPI_Request request_null;
	MPI_Message message_null;
	MPI_Message message_no_proc;
	MPI_Datatype byte;
};

/* By the public names, another preloaded tool's if there is one; and past all tools. */
extern struct iot_mpi_library iot_mpi_found, iot_mpi_bare;
extern bool iot_mpi_is_found;
/* The call that is about to begin came by its second name, see second.c. */
extern IOT_MPI_THREAD bool iot_mpi_is_second;
extern IOT_MPI_THREAD unsigned int iot_mpi_depth;
void iot_mpi_find(const void *caller);
bool iot_mpi_is_foreign(void);

static inline void iot_mpi_find_once(const void *caller)
{
	if (__builtin_expect(!__atomic_load_n(&iot_mpi_is_found, __ATOMIC_ACQUIRE), 0))
		iot_mpi_find(caller);
}

/* To be called by a wrapper itself, first and once: the program or library that called it knows MPI. */
static inline __attribute__((always_inline)) const struct iot_mpi_library *iot_mpi_library(void)
{
	bool is_second = iot_mpi_is_second;

	iot_mpi_find_once(__builtin_return_address(0));
	iot_mpi_is_second = false; /* nested calls have names of their own */
	return __builtin_expect(is_second, 0) ? &iot_mpi_bare : &iot_mpi_found;
}

/* Calls that MPI makes while it executes @call are not recorded. */
#define IOT_MPI_BELOW(call)                   \
	({                                    \
		int result_;                  \
		iot_mpi_depth++;              \
		result_ = (call);             \
		iot_mpi_depth--;              \
		result_;                      \
	})

/* -- session.c, mailbox.c, file.c: where records go ---------------------------------------- */

enum iot_mpi_sink {
	IOT_MPI_SINK_NONE,
	IOT_MPI_SINK_MAILBOX,
	IOT_MPI_SINK_FILE,
};

extern int iot_mpi_sink;
/* Number of the last operation of this thread; NULL before its first record. */
extern IOT_MPI_THREAD u32 *iot_mpi_ops;
int iot_mpi_session_open(u64 begin_ns, const char **where);
void iot_mpi_session_close(void);
void iot_mpi_session_write(u8 *record, size_t bytes);
u64 iot_mpi_record_end(u8 *record, u32 task, u32 *ops);
u32 iot_mpi_op_begin(void);
u32 iot_mpi_op_last(u32 op);

int iot_mpi_mailbox_open(const char *dir, const char **where);
bool iot_mpi_mailbox_begin(void);
void iot_mpi_mailbox_write(u8 *record, size_t bytes);

int iot_mpi_file_open(const char *dir, u64 begin_ns, const char **where);
void iot_mpi_file_close(bool is_complete);
void iot_mpi_file_write(u8 *record, size_t bytes);

static inline bool iot_mpi_is_on(void)
{
	return __atomic_load_n(&iot_mpi_sink, __ATOMIC_ACQUIRE) && !iot_mpi_depth;
}

/* Write a record of a kind from its struct. */
#define IOT_MPI_EMIT(kind, ...)                                             \
	do {                                                                \
		const struct iot_rec_##kind record_ = { __VA_ARGS__ };      \
		u8 wire_[IOT_WIRE_##kind];                                  \
		iot_put_##kind(wire_, &record_, NULL, 0);                   \
		iot_mpi_session_write(wire_, sizeof(wire_));                \
	} while (0)

static inline u64 iot_mpi_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* -- init.c, sets.c: beginning and end ------------------------------------------------------ */

bool iot_mpi_begin(u64 enter_ns, int rank);
void iot_mpi_speak_of(int rank, const char *where, const char *why);
void iot_mpi_end(void);
bool iot_mpi_world_is_there(void);
bool iot_mpi_world_group(MPI_Group *group);
bool iot_mpi_sets_are_there(void);
bool iot_mpi_sets_world(MPI_Group *group);

/* -- handle.c: states by handle ------------------------------------------------ */

#define IOT_MPI_HANDLE_BUCKETS 256

/* The first member of its state. */
struct iot_mpi_handle {
	struct iot_mpi_handle *next;
	uintptr_t value;
};

/* All of one kind. */
struct iot_mpi_handles {
	pthread_mutex_t lock;
	struct iot_mpi_handle *first[IOT_MPI_HANDLE_BUCKETS];
};

struct iot_mpi_handle *iot_mpi_handle_find(struct iot_mpi_handles *table, uintptr_t value);
void iot_mpi_handle_add(struct iot_mpi_handles *table, struct iot_mpi_handle *handle, uintptr_t value);
void iot_mpi_handle_remove(struct iot_mpi_handles *table, struct iot_mpi_handle *handle);

/* -- comm.c: communicators ---------------------------------------------------------------- */

/**
 * struct iot_mpi_comm - a communicator
 * @handle: of it, or of the window that is like one
 * @key: equal on all its ranks, and nowhere else; but see link.c
 * @origin: of the keys of communicators made from it, see link.c; 0 if all its ranks are of one world
 * @collectives: number of collective calls on it that this rank has begun
 * @children: number of those that create a communicator
 * @ranks: their number
 * @own: own rank, as in records: the two groups of an intercommunicator are numbered in one
 *	sequence
 * @peer_base: added to MPI's ranks of others: 0 except there
 * @first: ranks of the first of the two groups, 0 except there
 * @near: with a topology, the ranks that collectives of neighbours bring data from, in the order
 *	of their blocks; an address of its own, NULL if there are none or no memory
 * @near_count: their number
 */
struct iot_mpi_comm {
	struct iot_mpi_handle handle;
	u64 key;
	u64 origin;
	u32 collectives;
	u32 children;
	u32 ranks;
	s32 own;
	s32 peer_base;
	u32 first;
	int *near;
	int near_count;
};

int iot_mpi_comm_start(int rank, int ranks, bool is_spawned);
struct iot_mpi_comm *iot_mpi_comm_self(void);
struct iot_mpi_comm *iot_mpi_comm_find(MPI_Comm comm);
u64 iot_mpi_comm_world(void);
u64 iot_mpi_comm_child(struct iot_mpi_comm *parent);
void iot_mpi_comm_announce(const struct iot_mpi_comm *state, u64 origin);
struct iot_mpi_comm iot_mpi_comm_like(const struct iot_mpi_comm *parent, u64 key);
bool iot_mpi_comm_remember(struct iot_mpi_comm *state, MPI_Comm comm);
void iot_mpi_comm_idup_done(struct iot_mpi_comm *state, MPI_Comm comm);

/* -- topology.c -------------------------------------------------------------------------- */

void iot_mpi_topology_announce(struct iot_mpi_comm *state, MPI_Comm comm);

/* -- key.c ------------------------------------------------------------------------------- */

/**
 * struct iot_mpi_sides - the ranks of a communicator, which may be of two groups
 * @ranks: all of them
 * @first: rank, in the communicator that it was made from, of its rank 0
 * @base: added to the own rank
 * @peer_base: added to the ranks of others; of @base and @peer_base one is 0, and the other is the
 *	number of ranks of the first group
 */
struct iot_mpi_sides {
	int ranks;
	int first;
	int base;
	int peer_base;
};

u64 iot_mpi_mix(u64 hash, u64 value);
u64 iot_mpi_mix_text(u64 hash, const char *text);
u64 iot_mpi_world_key(int ranks, bool is_spawned);
bool iot_mpi_mix_group(u64 *hash, MPI_Group group, MPI_Comm comm);
bool iot_mpi_mix_world(u64 *hash, MPI_Group group);
void iot_mpi_sides(MPI_Comm comm, MPI_Comm parent, const struct iot_mpi_comm *parent_state,
		   struct iot_mpi_sides *sides);
bool iot_mpi_world_hash(MPI_Comm inter, u64 *hash, struct iot_mpi_sides *sides);
u64 iot_mpi_nth(u64 key);

/* -- link.c: communicators with processes of another world --------------------------------- */

/* Of names in records: as much as is kept. */
#define IOT_MPI_NAME_MAX_BYTES 512

void iot_mpi_link_start(u64 enter_ns);

/* -- collective.c ------------------------------------------------------------------------ */

struct iot_mpi_blocks;

/**
 * struct iot_mpi_collective - a collective call that has begun
 * @enter_ns: when
 * @comm: key of its communicator, which may be freed before the call ends
 * @number: its number there
 * @peer_base: added to the rank of its root
 * @own: rank of the caller, which may be the root of a call between two groups
 * @ranks: of the communicator
 * @first: of its first group, 0 if it has one group
 * @near, @near_count: of the communicator
 * @op: its number among the operations of the thread, if others are nested in it; else 0
 */
struct iot_mpi_collective {
	u64 enter_ns;
	u64 comm;
	u32 number;
	u32 op;
	s32 peer_base;
	s32 own;
	u32 ranks;
	u32 first;
	const int *near;
	int near_count;
};

void iot_mpi_collective_begin(struct iot_mpi_collective *call, u64 enter_ns,
			      struct iot_mpi_comm *comm);
void iot_mpi_collective_end(const struct iot_mpi_collective *call, u32 name, int root, u64 request,
			    int rc);
void iot_mpi_collective_emit(const struct iot_mpi_collective *call, u32 name, int root, u64 request,
			     int rc, const struct iot_mpi_blocks *blocks);

/* -- sources.c: the ranks whose data a collective brings --------------------------------- */

/**
 * struct iot_mpi_blocks - the data that a collective call brings to the caller
 * @sources: an enum iot_sources, if that is known without the list of blocks; else
 *	IOT_SOURCES_runs
 * @counts: elements of each block, of @width bytes each: int, or MPI_Count
 * @type: of all elements, if @types is NULL
 * @types: of the elements of each block
 * @is_near: a block of each neighbour, not of each rank
 *
 * Valid as long as the caller may not change its arguments. A type may be asked about only after MPI
 * has accepted the call.
 */
struct iot_mpi_blocks {
	u32 sources;
	u32 width;
	const void *counts;
	MPI_Datatype type;
	const MPI_Datatype *types;
	bool is_near;
};

struct iot_mpi_blocks iot_mpi_block(MPI_Count count, MPI_Datatype type);
bool iot_mpi_is_root(const struct iot_mpi_collective *call, int root);
MPI_Count iot_mpi_own_count(const struct iot_mpi_collective *call, const void *counts, u32 width);
u32 iot_mpi_sources(const struct iot_mpi_collective *call, const struct iot_mpi_blocks *blocks,
		    u8 *list, u16 *list_bytes);

/**
 * struct iot_mpi_round - one round of a persistent collective request
 * @call: on its own key; time and number differ in each round
 * @root: as MPI was given it
 * @sources: an enum iot_sources, with @list_bytes of a list
 */
struct iot_mpi_round {
	struct iot_mpi_collective call;
	int root;
	u32 sources;
	u16 list_bytes;
	u8 list[IOT_SOURCES_MAX_BYTES];
};

void iot_mpi_collective_start(u64 enter_ns, u32 name, const struct iot_mpi_round *round, u32 number,
			      u64 request);

/* -- request.c: requests that are under way ---------------------------------------------- */

/**
 * struct iot_mpi_request - a request
 * @id: unique in the process; 0: not one of ours, or persistent and not started
 * @is_receive: the record of its end names sender and length
 * @is_as_asked: its end is recorded with @peer and @tag, and MPI is not queried: the status of a
 *	generalized request is the program's own, MPICH 4.0 does not set the status of
 *	MPI_Isendrecv(), and Open MPI 4.1 does not set that of a request on a file completely
 * @peer, @tag: of a receive, the requested source and tag, as in records: -1 for any. Of an
 *	exchange both are -1 if one is
 * @ranks: of its communicator: the sender's is one of them
 * @is_shared: the handle stands for many requests, so the request is identified only when it is
 *	completed
 * @persistent: the description of a persistent request, or NULL
 * @peer_base: added to the rank of the sender
 * @made: address of the communicator that exists once the request has ended, and @state its state;
 *	NULL if none
 */
struct iot_mpi_request {
	u64 id;
	bool is_receive;
	bool is_as_asked;
	bool is_shared;
	s32 peer;
	s32 tag;
	s32 peer_base;
	u32 ranks;
	const struct iot_mpi_persistent *persistent;
	MPI_Comm *made;
	struct iot_mpi_comm *state;
};

/**
 * struct iot_mpi_persistent - description of a persistent request
 * @call: an enum iot_call
 * @peer: rank, as records have it
 * @partitions: their number; 0 if it is not partitioned
 * @ready: number of partitions marked ready since the last start
 * @started: number of starts
 * @arrived: of a receive in partitions, a bit for each that was seen to have arrived; like @round
 *	allocated and owned by the request, or NULL
 * @round: of a collective: its full description
 */
struct iot_mpi_persistent {
	u32 call;
	u64 comm;
	s32 peer;
	s32 tag;
	u64 length_bytes;
	s32 peer_base;
	int partitions;
	int ready;
	u32 started;
	u8 *arrived;
	struct iot_mpi_round *round;
};

void iot_mpi_request_start(MPI_Comm self);
u64 iot_mpi_request_new(void);
void iot_mpi_request_add(MPI_Request handle, const struct iot_mpi_request *request);
void iot_mpi_request_skip(MPI_Request handle);
bool iot_mpi_request_find(const MPI_Request *handles, int count, struct iot_mpi_request *found);
void iot_mpi_request_take(MPI_Request handle, struct iot_mpi_request *found);
const struct iot_mpi_persistent *iot_mpi_request_begin(MPI_Request handle, u64 id);
bool iot_mpi_request_ready(MPI_Request handle, int partitions, struct iot_mpi_persistent *what, u64 *id);
bool iot_mpi_request_arrived(MPI_Request handle, int partition, struct iot_mpi_persistent *what, u64 *id);

/* -- message.c --------------------------------------------------------------------------- */

/* A call that may have to be recorded. */
struct iot_mpi_message {
	u64 enter_ns;
	u64 comm;
	s32 peer_base;
	u32 ranks;
};

/*
 * A wrapper of a call on `comm` that has a handle of a request: @record, of `post`, if there @is_message, or will
 * be one. Else the request has a handle all the same.
 */
#define IOT_MPI_DEFINE_POST(name, parameters, arguments, is_message, record)              \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_message post;                                              \
		bool is_known = iot_mpi_message_begin(&post, comm);                       \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                        \
                                                                                          \
		if (rc)                                                                   \
			return rc;                                                        \
		if (is_known && (is_message))                                             \
			record;                                                           \
		else                                                                      \
			iot_mpi_request_skip(*request);                                   \
		return rc;                                                                \
	}

/* One of a call on `comm` that has a status, of which @record needs to know even if the caller does not. */
#define IOT_MPI_DEFINE_STATUS(name, parameters, arguments, record)                        \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_message call;                                              \
		bool is_known = iot_mpi_message_begin(&call, comm);                       \
		MPI_Status own;                                                           \
		int rc;                                                                   \
                                                                                          \
		if (is_known && status == MPI_STATUS_IGNORE)                              \
			status = &own;                                                    \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                            \
		if (is_known)                                                             \
			record;                                                           \
		return rc;                                                                \
	}

bool iot_mpi_message_begin(struct iot_mpi_message *message, MPI_Comm comm);
int iot_mpi_class(int rc);
s64 iot_mpi_result(int rc);
s32 iot_mpi_peer(int rank, s32 base);
s32 iot_mpi_tag(int tag);
u64 iot_mpi_length_bytes(MPI_Count count, MPI_Datatype type);
u64 iot_mpi_received_bytes(const MPI_Status *status);
void iot_mpi_done(u64 enter_ns, u32 name, const struct iot_mpi_request *request,
		  const MPI_Status *status, int rc);

#endif
