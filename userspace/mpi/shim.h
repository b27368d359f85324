/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shim.h - what the files of libiotape_mpi.so know of each other.
 *
 * The library is preloaded into whatever a recorded command starts, so it depends on the C
 * library only, finds MPI at the first MPI call, and is inert until MPI_Init has joined a
 * session. A wrapper then notes the time, calls MPI, and writes a record for what happened;
 * no message is added and no call becomes collective. errno is as MPI left it.
 *
 * Locking: communicators count atomically; the table of requests has one lock, held for
 * look-ups only and never while MPI runs.
 */
#ifndef IOTAPE_MPI_SHIM_H
#define IOTAPE_MPI_SHIM_H

#include "calls.h"
#include "core/record.h"

#include <stdbool.h>
#include <time.h>

/* What mpi.h declares is what the library exports; all else is hidden. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

/* -- library.c: MPI itself --------------------------------------------------------------- */

/**
 * struct iot_mpi_library - MPI below the shim
 * @MPI_...: the calls we wrap, as they would be without us; another preloaded tool's if
 *	there is one
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
	MPI_Request request_null;
	MPI_Datatype byte;
};

extern struct iot_mpi_library iot_mpi_found;
extern bool iot_mpi_is_found;
void iot_mpi_find(const void *caller);

/* To be called by a wrapper itself: the program or library that called it knows MPI. */
static inline __attribute__((always_inline)) const struct iot_mpi_library *iot_mpi_library(void)
{
	if (__builtin_expect(!__atomic_load_n(&iot_mpi_is_found, __ATOMIC_ACQUIRE), 0))
		iot_mpi_find(__builtin_return_address(0));
	return &iot_mpi_found;
}

/* -- session.c: the session that the process has joined ---------------------------------- */

extern int iot_mpi_session_fd;
int iot_mpi_session_open(const char **where);
void iot_mpi_session_close(void);
void iot_mpi_session_write(const void *record, size_t bytes);

static inline bool iot_mpi_is_on(void)
{
	return __atomic_load_n(&iot_mpi_session_fd, __ATOMIC_ACQUIRE) >= 0;
}

/* Write a record of a kind from its struct. */
#define IOT_MPI_EMIT(kind, ...)                                             \
	do {                                                                \
		const struct iot_rec_##kind record = { __VA_ARGS__ };       \
		u8 wire[IOT_WIRE_##kind];                                   \
		iot_put_##kind(wire, &record, NULL, 0);                     \
		iot_mpi_session_write(wire, sizeof(wire));                  \
	} while (0)

static inline u64 iot_mpi_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* -- comm.c: communicators --------------------------------------------------------------- */

/**
 * struct iot_mpi_comm - a communicator
 * @key: equal on all its ranks, and nowhere else
 * @collectives: collective calls on it that this rank has begun
 * @children: those of them that make a communicator
 */
struct iot_mpi_comm {
	u64 key;
	u32 collectives;
	u32 children;
};

int iot_mpi_comm_start(void);
struct iot_mpi_comm *iot_mpi_comm_find(MPI_Comm comm);

/* -- collective.c ------------------------------------------------------------------------ */

/**
 * struct iot_mpi_collective - a collective call that has begun
 * @enter_ns: when
 * @comm: key of its communicator, which may be gone when the call ends
 * @number: its number there
 */
struct iot_mpi_collective {
	u64 enter_ns;
	u64 comm;
	u32 number;
};

void iot_mpi_collective_begin(struct iot_mpi_collective *call, u64 enter_ns,
			      struct iot_mpi_comm *comm);
void iot_mpi_collective_end(const struct iot_mpi_collective *call, u32 name, int root, u64 request,
			    int rc);

/* -- request.c: requests that are under way ---------------------------------------------- */

/**
 * struct iot_mpi_request - a request
 * @id: unique in the process; 0: not one of ours
 * @is_receive: its end says who sent what
 * @is_shared: the handle stands for many requests, so which one it is remains open until
 *	the request is taken
 */
struct iot_mpi_request {
	u64 id;
	bool is_receive;
	bool is_shared;
};

void iot_mpi_request_start(void);
u64 iot_mpi_request_new(void);
void iot_mpi_request_add(MPI_Request handle, u64 id, bool is_receive);
void iot_mpi_request_skip(MPI_Request handle);
bool iot_mpi_request_find(const MPI_Request *handles, int count, struct iot_mpi_request *found);
void iot_mpi_request_take(MPI_Request handle, struct iot_mpi_request *found);

/* -- message.c --------------------------------------------------------------------------- */

s64 iot_mpi_result(int rc);
s32 iot_mpi_peer(int rank);
s32 iot_mpi_tag(int tag);
u64 iot_mpi_received_bytes(const MPI_Status *status);

#endif
