/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - every MPI call that the shim wraps, once.
 *
 * A row is IOT_MPI_ROW(C, Name, call, root, (parameters), (arguments)): the name after MPI_, its name in
 * IOT_CALLS, and how it is declared. `root` is the source or destination rank of a collective, -1
 * if there is none, and 0 where it has no meaning. A row exists if the MPI declares the call
 * (mpi_has.h). The rows expand to the pointers to the calls below the shim, the wrappers of all
 * calls that differ only in names, and the second entries, PMPI_Name. Rows of IOT_MPI_OTHERS have
 * wrappers written by hand.
 *
 * A call with a count exists twice since MPI 4: with `int`, and as Name_c with MPI_Count. The rows of both are
 * made of one, with the suffix and the type of the count (and of displacements) as parameters.
 *
 * A call without a row is not wrapped and bypasses the shim; names.list has every call of MPI, with
 * the reason.
 */
#ifndef IOTAPE_MPI_CALLS_H
#define IOTAPE_MPI_CALLS_H

#include "mpi_has.h"

#define IOT_MPI_PLAIN(...) __VA_ARGS__
#define IOT_MPI_IF_0(...)
#define IOT_MPI_IF_1(...)     __VA_ARGS__
#define IOT_MPI_IF_VALUE(has) IOT_MPI_IF_##has
#define IOT_MPI_IF(has)	      IOT_MPI_IF_VALUE(has)

#define IOT_MPI_ROW(C, Name, ...) IOT_MPI_IF(IOT_HAS_##Name)(C(Name, __VA_ARGS__))

#include "calls_collective.h"
#include "calls_file.h"
#include "calls_message.h"
#include "calls_window.h"

/* -- requests ---------------------------------------------------------------------------- */

/* Of those that leave the requests there, even if they find them complete. */
#define IOT_MPI_GLANCES(C)                                                                      \
	IOT_MPI_ROW(C, Request_get_status, status, 0,                                           \
		    (MPI_Request request, int *is_done, MPI_Status *status),                    \
		    (request, is_done, status))                                                 \
	IOT_MPI_ROW(C, Request_get_status_all, status, 0,                                       \
		    (int count, IOT_MPI_REQUEST requests[], int *is_done, MPI_Status statuses[]), \
		    (count, requests, is_done, statuses))                                       \
	IOT_MPI_ROW(C, Request_get_status_any, status, 0,                                       \
		    (int count, IOT_MPI_REQUEST requests[], int *index, int *is_done,         \
		     MPI_Status *status),                                                       \
		    (count, requests, index, is_done, status))                                  \
	IOT_MPI_ROW(C, Request_get_status_some, status, 0,                                      \
		    (int count, IOT_MPI_REQUEST requests[], int *done_count, int indices[],   \
		     MPI_Status statuses[]),                                                    \
		    (count, requests, done_count, indices, statuses))

/* Of those that make a request that is not recorded. */
#define IOT_MPI_FLUSHES(C)                                                                  \
	IOT_MPI_ROW(C, Buffer_iflush, none, 0, (MPI_Request * request), (request))          \
	IOT_MPI_ROW(C, Comm_iflush_buffer, none, 0, (MPI_Comm comm, MPI_Request * request), \
		    (comm, request))                                                        \
	IOT_MPI_ROW(C, Session_iflush_buffer, none, 0,                                      \
		    (MPI_Session session, MPI_Request * request), (session, request))

#define IOT_MPI_REQUESTS(C)                                                                     \
	IOT_MPI_GLANCES(C)                                                                      \
	IOT_MPI_FLUSHES(C)                                                                      \
	IOT_MPI_ROW(C, Start, start, 0, (MPI_Request * request), (request))                     \
	IOT_MPI_ROW(C, Startall, start, 0, (int count, MPI_Request requests[]), (count, requests)) \
	IOT_MPI_ROW(C, Request_free, request_free, 0, (MPI_Request * request), (request))       \
	IOT_MPI_ROW(C, Wait, wait, 0, (MPI_Request * request, MPI_Status * status), (request, status)) \
	IOT_MPI_ROW(C, Test, test, 0, (MPI_Request * request, int *is_done, MPI_Status *status), \
		    (request, is_done, status))                                                 \
	IOT_MPI_ROW(C, Waitall, wait, 0,                                                        \
		    (int count, MPI_Request requests[], MPI_Status statuses[]),                 \
		    (count, requests, statuses))                                                \
	IOT_MPI_ROW(C, Testall, test, 0,                                                        \
		    (int count, MPI_Request requests[], int *is_done, MPI_Status statuses[]),   \
		    (count, requests, is_done, statuses))                                       \
	IOT_MPI_ROW(C, Waitany, wait, 0,                                                        \
		    (int count, MPI_Request requests[], int *index, MPI_Status *status),        \
		    (count, requests, index, status))                                           \
	IOT_MPI_ROW(C, Testany, test, 0,                                                        \
		    (int count, MPI_Request requests[], int *index, int *is_done, MPI_Status *status), \
		    (count, requests, index, is_done, status))                                  \
	IOT_MPI_ROW(C, Waitsome, wait, 0,                                                       \
		    (int count, MPI_Request requests[], int *done_count, int indices[],         \
		     MPI_Status statuses[]),                                                    \
		    (count, requests, done_count, indices, statuses))                           \
	IOT_MPI_ROW(C, Testsome, test, 0,                                                       \
		    (int count, MPI_Request requests[], int *done_count, int indices[],         \
		     MPI_Status statuses[]),                                                    \
		    (count, requests, done_count, indices, statuses))

/* Of requests that the program completes itself. */
#define IOT_MPI_GENERALIZED(C)                                                                 \
	IOT_MPI_ROW(C, Grequest_start, grequest_start, 0,                                      \
		    (MPI_Grequest_query_function *query, MPI_Grequest_free_function *release,  \
		     MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request), \
		    (query, release, cancel, extra, request))                                  \
	IOT_MPI_ROW(C, Grequest_complete, grequest_complete, 0, (MPI_Request request), (request))

/* -- beginning and end ------------------------------------------------------------------- */

#define IOT_MPI_LIFE(C)                                                            \
	IOT_MPI_ROW(C, Init, init, -1, (int *argc, char ***argv), (argc, argv))    \
	IOT_MPI_ROW(C, Init_thread, init, -1,                                      \
		    (int *argc, char ***argv, int required, int *provided),        \
		    (argc, argv, required, provided))                              \
	IOT_MPI_ROW(C, Finalize, finalize, -1, (void), ())                         \
	IOT_MPI_ROW(C, Session_init, none, -1,                                     \
		    (MPI_Info info, MPI_Errhandler handler, MPI_Session *session), \
		    (info, handler, session))                                      \
	IOT_MPI_ROW(C, Session_finalize, session_finalize, -1, (MPI_Session * session), (session))

/* Wrapped by hand, in the file of the same matter. */
#define IOT_MPI_OTHERS(C)      \
	IOT_MPI_MESSAGES(C)    \
	IOT_MPI_REQUESTS(C)    \
	IOT_MPI_GENERALIZED(C) \
	IOT_MPI_COMMS(C)       \
	IOT_MPI_LIFE(C)

/* All of them. */
#define IOT_MPI_WRAPPED(C)           \
	IOT_MPI_IEXCHANGES(C)        \
	IOT_MPI_PARTITIONED(C)       \
	IOT_MPI_COLLECTIVES(C, C, C) \
	IOT_MPI_CREATORS(C)          \
	IOT_MPI_LINKS(C)             \
	IOT_MPI_FILES(C)             \
	IOT_MPI_WIN_CREATORS(C)      \
	IOT_MPI_ACCESSES(C, C)       \
	IOT_MPI_WIN_LOCKS(C)         \
	IOT_MPI_WINS(C)              \
	IOT_MPI_OTHERS(C)

/*
 * Q(Name): calls that the shim itself makes; all of these are local and send nothing.
 */
#define IOT_MPI_QUERY(Q, Name) IOT_MPI_IF(IOT_HAS_##Name)(Q(Name))
#define IOT_MPI_QUERIES(Q)                           \
	IOT_MPI_QUERY(Q, Cart_shift)                 \
	IOT_MPI_QUERY(Q, Cartdim_get)                \
	IOT_MPI_QUERY(Q, Comm_create_from_group)     \
	IOT_MPI_QUERY(Q, Comm_create_keyval)         \
	IOT_MPI_QUERY(Q, Comm_free)                  \
	IOT_MPI_QUERY(Q, Comm_get_parent)            \
	IOT_MPI_QUERY(Q, Comm_group)                 \
	IOT_MPI_QUERY(Q, Comm_rank)                  \
	IOT_MPI_QUERY(Q, Comm_remote_group)          \
	IOT_MPI_QUERY(Q, Comm_remote_size)           \
	IOT_MPI_QUERY(Q, Comm_set_attr)              \
	IOT_MPI_QUERY(Q, Comm_size)                  \
	IOT_MPI_QUERY(Q, Comm_test_inter)            \
	IOT_MPI_QUERY(Q, Dist_graph_neighbors)       \
	IOT_MPI_QUERY(Q, Dist_graph_neighbors_count) \
	IOT_MPI_QUERY(Q, Error_class)                \
	IOT_MPI_QUERY(Q, Get_elements_x)             \
	IOT_MPI_QUERY(Q, Graph_neighbors)            \
	IOT_MPI_QUERY(Q, Graph_neighbors_count)      \
	IOT_MPI_QUERY(Q, Group_free)                 \
	IOT_MPI_QUERY(Q, Group_from_session_pset)    \
	IOT_MPI_QUERY(Q, Group_rank)                 \
	IOT_MPI_QUERY(Q, Group_size)                 \
	IOT_MPI_QUERY(Q, Group_translate_ranks)      \
	IOT_MPI_QUERY(Q, Ibarrier)                   \
	IOT_MPI_QUERY(Q, Irecv)                      \
	IOT_MPI_QUERY(Q, Isend)                      \
	IOT_MPI_QUERY(Q, Test_cancelled)             \
	IOT_MPI_QUERY(Q, Topo_test)                  \
	IOT_MPI_QUERY(Q, Type_free)                  \
	IOT_MPI_QUERY(Q, Type_get_contents)          \
	IOT_MPI_QUERY(Q, Type_get_envelope)          \
	IOT_MPI_QUERY(Q, Type_get_envelope_c)        \
	IOT_MPI_QUERY(Q, Type_get_extent)            \
	IOT_MPI_QUERY(Q, Type_get_true_extent)       \
	IOT_MPI_QUERY(Q, Type_size)                  \
	IOT_MPI_QUERY(Q, Type_size_x)                \
	IOT_MPI_QUERY(Q, Wait)                       \
	IOT_MPI_QUERY(Q, Win_create_keyval)          \
	IOT_MPI_QUERY(Q, Win_get_group)              \
	IOT_MPI_QUERY(Q, Win_set_attr)

#endif
