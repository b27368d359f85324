/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls_window.h - the wrapped one-sided calls: a part of calls.h.
 */
#ifndef IOTAPE_MPI_CALLS_WINDOW_H
#define IOTAPE_MPI_CALLS_WINDOW_H

/* A collective on `comm` that makes the window `*made`. */
#define IOT_MPI_SIZED_WIN_CREATORS(C, _c, Unit)                                                 \
	IOT_MPI_ROW(C, Win_create##_c, win_create, -1,                                          \
		    (void *base, MPI_Aint bytes, Unit unit, MPI_Info info, MPI_Comm comm, MPI_Win *made), \
		    (base, bytes, unit, info, comm, made))                                      \
	IOT_MPI_ROW(C, Win_allocate##_c, win_allocate, -1,                                      \
		    (MPI_Aint bytes, Unit unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made), \
		    (bytes, unit, info, comm, base, made))                                      \
	IOT_MPI_ROW(C, Win_allocate_shared##_c, win_allocate_shared, -1,                        \
		    (MPI_Aint bytes, Unit unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made), \
		    (bytes, unit, info, comm, base, made))

#define IOT_MPI_WIN_CREATORS(C)                                    \
	IOT_MPI_SIZED_WIN_CREATORS(C, , int)                       \
	IOT_MPI_SIZED_WIN_CREATORS(C, _c, MPI_Aint)                \
	IOT_MPI_ROW(C, Win_create_dynamic, win_create_dynamic, -1, \
		    (MPI_Info info, MPI_Comm comm, MPI_Win *made), (info, comm, made))

/*
 * Access to the memory of `peer`: `root` is the number of `type` that is accessed. Request() makes a
 * request.
 */
#define IOT_MPI_ACCESS(C, Request, Name, name, _c, parameters, arguments)              \
	IOT_MPI_ROW(C, Name##_c, name, count, (IOT_MPI_PLAIN parameters, MPI_Win win), \
		    (IOT_MPI_PLAIN arguments, win))                                    \
	IOT_MPI_ROW(Request, R##name##_c, r##name, count,                              \
		    (IOT_MPI_PLAIN parameters, MPI_Win win, MPI_Request * request),    \
		    (IOT_MPI_PLAIN arguments, win, request))

#define IOT_MPI_SIZED_ACCESSES(C, Request, _c, Count)                                           \
	IOT_MPI_ACCESS(C, Request, Put, put, _c,                                                \
		       (const void *from, Count count, MPI_Datatype type, int peer,             \
			MPI_Aint place, Count to_count, MPI_Datatype to_type),                  \
		       (from, count, type, peer, place, to_count, to_type))                     \
	IOT_MPI_ACCESS(C, Request, Get, get, _c,                                                \
		       (void *to, Count count, MPI_Datatype type, int peer, MPI_Aint place,     \
			Count from_count, MPI_Datatype from_type),                              \
		       (to, count, type, peer, place, from_count, from_type))                   \
	IOT_MPI_ACCESS(C, Request, Accumulate, accumulate, _c,                                  \
		       (const void *from, Count count, MPI_Datatype type, int peer,             \
			MPI_Aint place, Count to_count, MPI_Datatype to_type, MPI_Op op),       \
		       (from, count, type, peer, place, to_count, to_type, op))                 \
	IOT_MPI_ACCESS(C, Request, Get_accumulate, get_accumulate, _c,                          \
		       (const void *from, Count from_count, MPI_Datatype from_type, void *to,   \
			Count to_count, MPI_Datatype to_type, int peer, MPI_Aint place,         \
			Count count, MPI_Datatype type, MPI_Op op),                             \
		       (from, from_count, from_type, to, to_count, to_type, peer, place, count, \
			type, op))

#define IOT_MPI_ACCESSES(C, Request)                                                            \
	IOT_MPI_SIZED_ACCESSES(C, Request, , int)                                               \
	IOT_MPI_SIZED_ACCESSES(C, Request, _c, MPI_Count)                                       \
	IOT_MPI_ROW(C, Fetch_and_op, fetch_and_op, 1,                                           \
		    (const void *from, void *to, MPI_Datatype type, int peer, MPI_Aint place, MPI_Op op, \
		     MPI_Win win),                                                              \
		    (from, to, type, peer, place, op, win))                                     \
	IOT_MPI_ROW(C, Compare_and_swap, compare_and_swap, 1,                                   \
		    (const void *from, const void *compared, void *to, MPI_Datatype type, int peer, \
		     MPI_Aint place, MPI_Win win),                                              \
		    (from, compared, to, type, peer, place, win))

/* Of one rank alone: `root` is the rank that it is about. */
#define IOT_MPI_WIN_LOCKS(C)                                                                    \
	IOT_MPI_ROW(C, Win_lock, win_lock, peer, (int kind, int peer, int assertion, MPI_Win win), \
		    (kind, peer, assertion, win))                                               \
	IOT_MPI_ROW(C, Win_lock_all, win_lock_all, -1, (int assertion, MPI_Win win), (assertion, win)) \
	IOT_MPI_ROW(C, Win_unlock, win_unlock, peer, (int peer, MPI_Win win), (peer, win))      \
	IOT_MPI_ROW(C, Win_unlock_all, win_unlock_all, -1, (MPI_Win win), (win))                \
	IOT_MPI_ROW(C, Win_flush, win_flush, peer, (int peer, MPI_Win win), (peer, win))        \
	IOT_MPI_ROW(C, Win_flush_local, win_flush, peer, (int peer, MPI_Win win), (peer, win))  \
	IOT_MPI_ROW(C, Win_flush_all, win_flush_all, -1, (MPI_Win win), (win))                  \
	IOT_MPI_ROW(C, Win_flush_local_all, win_flush_all, -1, (MPI_Win win), (win))

#define IOT_MPI_WINS(C)                                                                         \
	IOT_MPI_ROW(C, Win_fence, win_fence, -1, (int assertion, MPI_Win win), (assertion, win)) \
	IOT_MPI_ROW(C, Win_free, win_free, -1, (MPI_Win * win), (win))                          \
	IOT_MPI_ROW(C, Win_post, win_post, 0, (MPI_Group group, int assertion, MPI_Win win),    \
		    (group, assertion, win))                                                    \
	IOT_MPI_ROW(C, Win_start, win_start, 0, (MPI_Group group, int assertion, MPI_Win win),  \
		    (group, assertion, win))                                                    \
	IOT_MPI_ROW(C, Win_complete, win_complete, 0, (MPI_Win win), (win))                     \
	IOT_MPI_ROW(C, Win_wait, win_wait, 0, (MPI_Win win), (win))                             \
	IOT_MPI_ROW(C, Win_test, win_wait, 0, (MPI_Win win, int *is_done), (win, is_done))

#endif
