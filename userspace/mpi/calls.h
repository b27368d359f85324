/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - every MPI call that the shim wraps, once.
 *
 * A row is C(Name, call, root, (parameters), (arguments)): the name after MPI_, its name in
 * IOT_CALLS, and how it is declared. `root` is the rank that a collective comes from or goes
 * to, -1 if there is none, and 0 where it has no meaning. From the rows are expanded the
 * pointers to the calls below the shim, the wrappers of all calls that differ in nothing but
 * names, and the second entry, PMPI_Name, that is for the Fortran bindings. Rows of
 * IOT_MPI_OTHERS have wrappers that are written by hand. What has no row is not wrapped, and
 * passes the shim by.
 */
#ifndef IOTAPE_MPI_CALLS_H
#define IOTAPE_MPI_CALLS_H

#define IOT_MPI_PLAIN(...) __VA_ARGS__

/* -- point-to-point ---------------------------------------------------------------------- */

#define IOT_MPI_SEND(C, Name, call)                                                        \
	C(Name, call, 0,                                                                   \
	  (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm), \
	  (buffer, count, type, peer, tag, comm))

#define IOT_MPI_ISEND(C, Name, call)                                                       \
	C(Name, call, 0,                                                                   \
	  (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
	   MPI_Request *request),                                                          \
	  (buffer, count, type, peer, tag, comm, request))

#define IOT_MPI_SENDS(C)            \
	IOT_MPI_SEND(C, Send, send)  \
	IOT_MPI_SEND(C, Bsend, bsend) \
	IOT_MPI_SEND(C, Ssend, ssend) \
	IOT_MPI_SEND(C, Rsend, rsend)

#define IOT_MPI_ISENDS(C)              \
	IOT_MPI_ISEND(C, Isend, isend)   \
	IOT_MPI_ISEND(C, Ibsend, ibsend) \
	IOT_MPI_ISEND(C, Issend, issend) \
	IOT_MPI_ISEND(C, Irsend, irsend)

#define IOT_MPI_SEND_INITS(C)                    \
	IOT_MPI_ISEND(C, Send_init, send_init)   \
	IOT_MPI_ISEND(C, Bsend_init, bsend_init) \
	IOT_MPI_ISEND(C, Ssend_init, ssend_init) \
	IOT_MPI_ISEND(C, Rsend_init, rsend_init)

#define IOT_MPI_IRECV(C, Name, call)                                                       \
	C(Name, call, 0,                                                                   \
	  (void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,   \
	   MPI_Request *request),                                                          \
	  (buffer, count, type, peer, tag, comm, request))

#define IOT_MPI_IRECVS(C)     IOT_MPI_IRECV(C, Irecv, irecv)
#define IOT_MPI_RECV_INITS(C) IOT_MPI_IRECV(C, Recv_init, recv_init)

/* A message each way. */
#define IOT_MPI_EXCHANGES(C)                                                               \
	C(Sendrecv, sendrecv, 0,                                                           \
	  (const void *buffer, int count, MPI_Datatype type, int to, int to_tag,           \
	   void *from_buffer, int from_count, MPI_Datatype from_type, int from, int from_tag, \
	   MPI_Comm comm, MPI_Status *status),                                             \
	  (buffer, count, type, to, to_tag, from_buffer, from_count, from_type, from, from_tag, \
	   comm, status))                                                                  \
	C(Sendrecv_replace, sendrecv, 0,                                                   \
	  (void *buffer, int count, MPI_Datatype type, int to, int to_tag, int from,       \
	   int from_tag, MPI_Comm comm, MPI_Status *status),                               \
	  (buffer, count, type, to, to_tag, from, from_tag, comm, status))

/* `root` says whether there is a message. P() only looks for it, M() takes it out, as `*message`. */
#define IOT_MPI_PROBES(P, M)                                                               \
	P(Probe, probe, true, (int peer, int tag, MPI_Comm comm, MPI_Status *status),      \
	  (peer, tag, comm, status))                                                       \
	P(Iprobe, probe, *is_found,                                                        \
	  (int peer, int tag, MPI_Comm comm, int *is_found, MPI_Status *status),           \
	  (peer, tag, comm, is_found, status))                                             \
	M(Mprobe, mprobe, true,                                                            \
	  (int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),    \
	  (peer, tag, comm, message, status))                                              \
	M(Improbe, mprobe, *is_found,                                                      \
	  (int peer, int tag, MPI_Comm comm, int *is_found, MPI_Message *message,          \
	   MPI_Status *status),                                                            \
	  (peer, tag, comm, is_found, message, status))

#define IOT_MPI_RECEIVES(C)                                                                \
	C(Recv, recv, 0,                                                                   \
	  (void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,   \
	   MPI_Status *status),                                                            \
	  (buffer, count, type, peer, tag, comm, status))                                  \
	C(Mrecv, mrecv, 0,                                                                 \
	  (void *buffer, int count, MPI_Datatype type, MPI_Message *message,               \
	   MPI_Status *status),                                                            \
	  (buffer, count, type, message, status))                                          \
	C(Imrecv, mrecv, 0,                                                                \
	  (void *buffer, int count, MPI_Datatype type, MPI_Message *message,               \
	   MPI_Request *request),                                                          \
	  (buffer, count, type, message, request))

#define IOT_MPI_MESSAGES(C)   \
	IOT_MPI_SENDS(C)      \
	IOT_MPI_ISENDS(C)     \
	IOT_MPI_SEND_INITS(C) \
	IOT_MPI_IRECVS(C)     \
	IOT_MPI_RECV_INITS(C) \
	IOT_MPI_EXCHANGES(C)  \
	IOT_MPI_PROBES(C, C)  \
	IOT_MPI_RECEIVES(C)

/* Of MPI 4. The first MPICH that has them did not say that the list is not changed. */
#if MPI_VERSION >= 4
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
#define IOT_MPI_LIST int
#else
#define IOT_MPI_LIST const int
#endif
/* A message each way, with one request. */
#define IOT_MPI_IEXCHANGES(C)                                                              \
	C(Isendrecv, isendrecv, 0,                                                         \
	  (const void *buffer, int count, MPI_Datatype type, int to, int to_tag,           \
	   void *from_buffer, int from_count, MPI_Datatype from_type, int from, int from_tag, \
	   MPI_Comm comm, MPI_Request *request),                                           \
	  (buffer, count, type, to, to_tag, from_buffer, from_count, from_type, from, from_tag, \
	   comm, request))                                                                 \
	C(Isendrecv_replace, isendrecv, 0,                                                 \
	  (void *buffer, int count, MPI_Datatype type, int to, int to_tag, int from,       \
	   int from_tag, MPI_Comm comm, MPI_Request *request),                             \
	  (buffer, count, type, to, to_tag, from, from_tag, comm, request))
#define IOT_MPI_PARTITIONED_INITS(C)                                                       \
	C(Psend_init, psend_init, 0,                                                       \
	  (const void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, \
	   int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),                   \
	  (buffer, partitions, count, type, peer, tag, comm, info, request))               \
	C(Precv_init, precv_init, 0,                                                       \
	  (void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag, \
	   MPI_Comm comm, MPI_Info info, MPI_Request *request),                            \
	  (buffer, partitions, count, type, peer, tag, comm, info, request))

/* `root` is how many partitions of `request` are ready. */
#define IOT_MPI_READY(C)                                                                   \
	C(Pready, psend_init, 1, (int partition, MPI_Request request), (partition, request)) \
	C(Pready_range, psend_init, last - first + 1,                                      \
	  (int first, int last, MPI_Request request), (first, last, request))              \
	C(Pready_list, psend_init, count,                                                  \
	  (int count, IOT_MPI_LIST list[], MPI_Request request), (count, list, request))

#define IOT_MPI_PARTITIONED(C)       \
	IOT_MPI_PARTITIONED_INITS(C) \
	IOT_MPI_READY(C)
#else
#define IOT_MPI_IEXCHANGES(C)
#define IOT_MPI_PARTITIONED(C)
#endif

/* -- requests ---------------------------------------------------------------------------- */

#define IOT_MPI_REQUESTS(C)                                                                \
	C(Start, start, 0, (MPI_Request * request), (request))                             \
	C(Startall, start, 0, (int count, MPI_Request requests[]), (count, requests))      \
	C(Request_free, request_free, 0, (MPI_Request * request), (request))               \
	C(Wait, wait, 0, (MPI_Request * request, MPI_Status * status), (request, status))  \
	C(Test, test, 0, (MPI_Request * request, int *is_done, MPI_Status *status),        \
	  (request, is_done, status))                                                      \
	C(Waitall, wait, 0, (int count, MPI_Request requests[], MPI_Status statuses[]),    \
	  (count, requests, statuses))                                                     \
	C(Testall, test, 0,                                                                \
	  (int count, MPI_Request requests[], int *is_done, MPI_Status statuses[]),        \
	  (count, requests, is_done, statuses))                                            \
	C(Waitany, wait, 0,                                                                \
	  (int count, MPI_Request requests[], int *index, MPI_Status *status),             \
	  (count, requests, index, status))                                                \
	C(Testany, test, 0,                                                                \
	  (int count, MPI_Request requests[], int *index, int *is_done, MPI_Status *status), \
	  (count, requests, index, is_done, status))                                       \
	C(Waitsome, wait, 0,                                                               \
	  (int count, MPI_Request requests[], int *done_count, int indices[],              \
	   MPI_Status statuses[]),                                                         \
	  (count, requests, done_count, indices, statuses))                                \
	C(Testsome, test, 0,                                                               \
	  (int count, MPI_Request requests[], int *done_count, int indices[],              \
	   MPI_Status statuses[]),                                                         \
	  (count, requests, done_count, indices, statuses))

/* -- collectives ------------------------------------------------------------------------- */

/* B() is a blocking collective on `comm`, N() the nonblocking one of the same name. */
#define IOT_MPI_BOTH(B, N, Name, call, root, parameters, arguments) \
	B(Name, call, root, parameters, arguments)                  \
	N(I##call, i##call, root, (IOT_MPI_PLAIN parameters, MPI_Request * request), \
	  (IOT_MPI_PLAIN arguments, request))

#define IOT_MPI_ROOTED(B, N)                                                               \
	IOT_MPI_BOTH(B, N, Bcast, bcast, root,                                             \
		     (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), \
		     (buffer, count, type, root, comm))                                    \
	IOT_MPI_BOTH(B, N, Reduce, reduce, root,                                           \
		     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, \
		      int root, MPI_Comm comm),                                            \
		     (from, to, count, type, op, root, comm))                              \
	IOT_MPI_BOTH(B, N, Gather, gather, root,                                           \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      int to_count, MPI_Datatype to_type, int root, MPI_Comm comm),        \
		     (from, count, type, to, to_count, to_type, root, comm))               \
	IOT_MPI_BOTH(B, N, Gatherv, gatherv, root,                                         \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      const int to_counts[], const int to_places[], MPI_Datatype to_type,  \
		      int root, MPI_Comm comm),                                            \
		     (from, count, type, to, to_counts, to_places, to_type, root, comm))   \
	IOT_MPI_BOTH(B, N, Scatter, scatter, root,                                         \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      int to_count, MPI_Datatype to_type, int root, MPI_Comm comm),        \
		     (from, count, type, to, to_count, to_type, root, comm))               \
	IOT_MPI_BOTH(B, N, Scatterv, scatterv, root,                                       \
		     (const void *from, const int counts[], const int places[],            \
		      MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,     \
		      int root, MPI_Comm comm),                                            \
		     (from, counts, places, type, to, to_count, to_type, root, comm))

#define IOT_MPI_REDUCTION(B, N, Name, call)                                                \
	IOT_MPI_BOTH(B, N, Name, call, -1,                                                 \
		     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, \
		      MPI_Comm comm),                                                      \
		     (from, to, count, type, op, comm))

#define IOT_MPI_REDUCTIONS(B, N)                                                           \
	IOT_MPI_REDUCTION(B, N, Allreduce, allreduce)                                      \
	IOT_MPI_REDUCTION(B, N, Scan, scan)                                                \
	IOT_MPI_REDUCTION(B, N, Exscan, exscan)                                            \
	IOT_MPI_REDUCTION(B, N, Reduce_scatter_block, reduce_scatter_block)                \
	IOT_MPI_BOTH(B, N, Reduce_scatter, reduce_scatter, -1,                             \
		     (const void *from, void *to, const int counts[], MPI_Datatype type,   \
		      MPI_Op op, MPI_Comm comm),                                           \
		     (from, to, counts, type, op, comm))

/* Among all ranks, and among neighbours: `Place` is the type of displacements of the w form. */
#define IOT_MPI_ALLS(B, N, Allgather, allgather, Alltoall, alltoall, Place)                \
	IOT_MPI_BOTH(B, N, Allgather, allgather, -1,                                       \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      int to_count, MPI_Datatype to_type, MPI_Comm comm),                  \
		     (from, count, type, to, to_count, to_type, comm))                     \
	IOT_MPI_BOTH(B, N, Allgather##v, allgather##v, -1,                                 \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      const int to_counts[], const int to_places[], MPI_Datatype to_type,  \
		      MPI_Comm comm),                                                      \
		     (from, count, type, to, to_counts, to_places, to_type, comm))         \
	IOT_MPI_BOTH(B, N, Alltoall, alltoall, -1,                                         \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      int to_count, MPI_Datatype to_type, MPI_Comm comm),                  \
		     (from, count, type, to, to_count, to_type, comm))                     \
	IOT_MPI_BOTH(B, N, Alltoall##v, alltoall##v, -1,                                   \
		     (const void *from, const int counts[], const int places[],            \
		      MPI_Datatype type, void *to, const int to_counts[],                  \
		      const int to_places[], MPI_Datatype to_type, MPI_Comm comm),         \
		     (from, counts, places, type, to, to_counts, to_places, to_type, comm)) \
	IOT_MPI_BOTH(B, N, Alltoall##w, alltoall##w, -1,                                   \
		     (const void *from, const int counts[], const Place places[],          \
		      const MPI_Datatype types[], void *to, const int to_counts[],         \
		      const Place to_places[], const MPI_Datatype to_types[], MPI_Comm comm), \
		     (from, counts, places, types, to, to_counts, to_places, to_types, comm))

#define IOT_MPI_COLLECTIVES(B, N)                                                          \
	IOT_MPI_BOTH(B, N, Barrier, barrier, -1, (MPI_Comm comm), (comm))                  \
	IOT_MPI_ROOTED(B, N)                                                               \
	IOT_MPI_REDUCTIONS(B, N)                                                           \
	IOT_MPI_ALLS(B, N, Allgather, allgather, Alltoall, alltoall, int)                  \
	IOT_MPI_ALLS(B, N, Neighbor_allgather, neighbor_allgather, Neighbor_alltoall,      \
		     neighbor_alltoall, MPI_Aint)

/* -- communicators ----------------------------------------------------------------------- */

/* A collective on `comm` that makes `*made` of it. */
#define IOT_MPI_CREATORS(C)                                                                \
	C(Comm_dup, comm_dup, -1, (MPI_Comm comm, MPI_Comm * made), (comm, made))          \
	C(Comm_dup_with_info, comm_dup_with_info, -1,                                      \
	  (MPI_Comm comm, MPI_Info info, MPI_Comm * made), (comm, info, made))             \
	C(Comm_split, comm_split, -1, (MPI_Comm comm, int color, int rank, MPI_Comm * made), \
	  (comm, color, rank, made))                                                       \
	C(Comm_create, comm_create, -1, (MPI_Comm comm, MPI_Group group, MPI_Comm * made), \
	  (comm, group, made))                                                             \
	C(Comm_split_type, comm_split_type, -1,                                            \
	  (MPI_Comm comm, int type, int rank, MPI_Info info, MPI_Comm *made),              \
	  (comm, type, rank, info, made))                                                  \
	C(Cart_create, cart_create, -1,                                                    \
	  (MPI_Comm comm, int dimensions, const int sizes[], const int periods[],          \
	   int may_reorder, MPI_Comm *made),                                               \
	  (comm, dimensions, sizes, periods, may_reorder, made))                           \
	C(Cart_sub, cart_sub, -1, (MPI_Comm comm, const int kept[], MPI_Comm *made),       \
	  (comm, kept, made))                                                              \
	C(Graph_create, graph_create, -1,                                                  \
	  (MPI_Comm comm, int nodes, const int index[], const int edges[], int may_reorder, \
	   MPI_Comm *made),                                                                \
	  (comm, nodes, index, edges, may_reorder, made))                                  \
	C(Dist_graph_create, dist_graph_create, -1,                                        \
	  (MPI_Comm comm, int count, const int sources[], const int degrees[],             \
	   const int targets[], const int weights[], MPI_Info info, int may_reorder,       \
	   MPI_Comm *made),                                                                \
	  (comm, count, sources, degrees, targets, weights, info, may_reorder, made))      \
	C(Dist_graph_create_adjacent, dist_graph_create_adjacent, -1,                      \
	  (MPI_Comm comm, int indegree, const int sources[], const int source_weights[],   \
	   int outdegree, const int targets[], const int target_weights[], MPI_Info info,  \
	   int may_reorder, MPI_Comm *made),                                               \
	  (comm, indegree, sources, source_weights, outdegree, targets, target_weights, info, \
	   may_reorder, made))                                                             \
	C(Intercomm_merge, intercomm_merge, -1, (MPI_Comm comm, int is_high, MPI_Comm * made), \
	  (comm, is_high, made))

#define IOT_MPI_COMMS(C)                                                                   \
	C(Comm_idup, comm_idup, -1, (MPI_Comm comm, MPI_Comm * made, MPI_Request * request), \
	  (comm, made, request))                                                           \
	C(Comm_create_group, comm_create_group, -1,                                        \
	  (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made)) \
	C(Intercomm_create, intercomm_create, -1,                                          \
	  (MPI_Comm comm, int leader, MPI_Comm peer_comm, int remote_leader, int tag,      \
	   MPI_Comm *made),                                                                \
	  (comm, leader, peer_comm, remote_leader, tag, made))                             \
	C(Comm_free, comm_free, -1, (MPI_Comm * comm), (comm))                             \
	C(Comm_disconnect, comm_disconnect, -1, (MPI_Comm * comm), (comm))                 \
	C(Comm_join, comm_join, -1, (int fd, MPI_Comm *made), (fd, made))

/* A collective on `comm`, of which `root` speaks with other processes; all of both make `*made`. */
#define IOT_MPI_LINKS(C)                                                                   \
	C(Comm_spawn, comm_spawn, root,                                                    \
	  (const char *command, char *argv[], int count, MPI_Info info, int root, MPI_Comm comm, \
	   MPI_Comm *made, int errors[]),                                                  \
	  (command, argv, count, info, root, comm, made, errors))                          \
	C(Comm_spawn_multiple, comm_spawn, root,                                           \
	  (int count, char *commands[], char **argvs[], const int counts[],                \
	   const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *made, int errors[]), \
	  (count, commands, argvs, counts, infos, root, comm, made, errors))               \
	C(Comm_accept, comm_accept, root,                                                  \
	  (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),      \
	  (port, info, root, comm, made))                                                  \
	C(Comm_connect, comm_connect, root,                                                \
	  (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),      \
	  (port, info, root, comm, made))

/* -- files ------------------------------------------------------------------------------- */

/*
 * In these rows `root` says whether the call is collective on `file`. D() moves data and says
 * how much in `count` and `type`; A() says also where, in `offset`; P() does neither, and is
 * the end of a split collective or moves no data.
 */
#define IOT_MPI_FILE_DATA(D, A, is_all, read, Const, Suffix)                               \
	D(File_##read##Suffix, file_##read##Suffix, is_all,                                \
	  (MPI_File file, Const void *buffer, int count, MPI_Datatype type, MPI_Status *status), \
	  (file, buffer, count, type, status))

#define IOT_MPI_FILE_DATA_AT(D, A, is_all, read, Const, Suffix)                            \
	A(File_##read##Suffix, file_##read##Suffix, is_all,                                \
	  (MPI_File file, MPI_Offset offset, Const void *buffer, int count, MPI_Datatype type, \
	   MPI_Status *status),                                                            \
	  (file, offset, buffer, count, type, status))

#define IOT_MPI_FILE_IDATA(D, A, is_all, read, Const, Suffix)                              \
	D(File_##read##Suffix, file_##read##Suffix, is_all,                                \
	  (MPI_File file, Const void *buffer, int count, MPI_Datatype type,                \
	   MPI_Request *request),                                                          \
	  (file, buffer, count, type, request))

#define IOT_MPI_FILE_IDATA_AT(D, A, is_all, read, Const, Suffix)                           \
	A(File_##read##Suffix, file_##read##Suffix, is_all,                                \
	  (MPI_File file, MPI_Offset offset, Const void *buffer, int count, MPI_Datatype type, \
	   MPI_Request *request),                                                          \
	  (file, offset, buffer, count, type, request))

#define IOT_MPI_FILE_BEGIN(D, A, is_all, read, Const, Suffix)                              \
	D(File_##read##Suffix, file_##read##Suffix, is_all,                                \
	  (MPI_File file, Const void *buffer, int count, MPI_Datatype type),               \
	  (file, buffer, count, type))

#define IOT_MPI_FILE_BEGIN_AT(D, A, is_all, read, Const, Suffix)                           \
	A(File_##read##Suffix, file_##read##Suffix, is_all,                                \
	  (MPI_File file, MPI_Offset offset, Const void *buffer, int count, MPI_Datatype type), \
	  (file, offset, buffer, count, type))

#define IOT_MPI_FILE_END(D, A, is_all, read, Const, Suffix)                                \
	D(File_##read##Suffix, file_##read##Suffix, is_all,                                \
	  (MPI_File file, Const void *buffer, MPI_Status *status), (file, buffer, status))

/* Both directions. */
#define IOT_MPI_FILE_TWO(SHAPE, D, A, is_all, read, write, Suffix) \
	SHAPE(D, A, is_all, read, , Suffix)                        \
	SHAPE(D, A, is_all, write, const, Suffix)

#define IOT_MPI_FILE_WAITING(D, A)                                                         \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA, D, A, 0, read, write, )                        \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA, D, A, 1, read, write, _all)                    \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA, D, A, 0, read, write, _shared)                 \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA, D, A, 1, read, write, _ordered)                \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA_AT, D, A, 0, read, write, _at)                  \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA_AT, D, A, 1, read, write, _at_all)              \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_BEGIN, D, A, 1, read, write, _all_begin)             \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_BEGIN, D, A, 1, read, write, _ordered_begin)         \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_BEGIN_AT, D, A, 1, read, write, _at_all_begin)

#define IOT_MPI_FILE_REQUESTS(D, A)                                                        \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA, D, A, 0, iread, iwrite, )                     \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA, D, A, 1, iread, iwrite, _all)                 \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA, D, A, 0, iread, iwrite, _shared)              \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA_AT, D, A, 0, iread, iwrite, _at)               \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA_AT, D, A, 1, iread, iwrite, _at_all)

/* Of those that end a split collective, and those that move no data. */
#define IOT_MPI_FILE_PLAIN(P)                                                              \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_END, P, , 1, read, write, _all_end)                  \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_END, P, , 1, read, write, _ordered_end)              \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_END, P, , 1, read, write, _at_all_end)               \
	P(File_set_view, file_set_view, 1,                                                 \
	  (MPI_File file, MPI_Offset first, MPI_Datatype element, MPI_Datatype type,       \
	   const char *representation, MPI_Info info),                                     \
	  (file, first, element, type, representation, info))                              \
	P(File_sync, file_sync, 1, (MPI_File file), (file))                                \
	P(File_set_atomicity, file_set_atomicity, 1, (MPI_File file, int is_atomic),       \
	  (file, is_atomic))

/* Of those that say where, or how long, and move no data. */
#define IOT_MPI_FILE_PLACES(P)                                                             \
	P(File_set_size, file_set_size, 1, (MPI_File file, MPI_Offset offset), (file, offset)) \
	P(File_preallocate, file_preallocate, 1, (MPI_File file, MPI_Offset offset),       \
	  (file, offset))                                                                  \
	P(File_seek, file_seek, 0, (MPI_File file, MPI_Offset offset, int whence),         \
	  (file, offset, whence))                                                          \
	P(File_seek_shared, file_seek_shared, 1, (MPI_File file, MPI_Offset offset, int whence), \
	  (file, offset, whence))

#define IOT_MPI_FILE_LIFE(C)                                                               \
	C(File_open, file_open, 1,                                                         \
	  (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file),      \
	  (comm, path, mode, info, file))                                                  \
	C(File_close, file_close, 1, (MPI_File * file), (file))

#define IOT_MPI_FILES(C)            \
	IOT_MPI_FILE_WAITING(C, C)  \
	IOT_MPI_FILE_REQUESTS(C, C) \
	IOT_MPI_FILE_PLAIN(C)       \
	IOT_MPI_FILE_PLACES(C)      \
	IOT_MPI_FILE_LIFE(C)

/* -- one-sided calls --------------------------------------------------------------------- */

/* A collective on `comm` that makes the window `*made`. */
#define IOT_MPI_WIN_CREATORS(C)                                                            \
	C(Win_create, win_create, -1,                                                      \
	  (void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made), \
	  (base, bytes, unit, info, comm, made))                                           \
	C(Win_allocate, win_allocate, -1,                                                  \
	  (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made), \
	  (bytes, unit, info, comm, base, made))                                           \
	C(Win_allocate_shared, win_allocate_shared, -1,                                    \
	  (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made), \
	  (bytes, unit, info, comm, base, made))                                           \
	C(Win_create_dynamic, win_create_dynamic, -1,                                      \
	  (MPI_Info info, MPI_Comm comm, MPI_Win *made), (info, comm, made))

/*
 * Access to the memory of `peer`: `root` is the number of `type` that is accessed. Request() makes a
 * request.
 */
#define IOT_MPI_ACCESS(C, Request, Name, name, parameters, arguments)                            \
	C(Name, name, count, (IOT_MPI_PLAIN parameters, MPI_Win win), (IOT_MPI_PLAIN arguments, win)) \
	Request(R##name, r##name, count,                                                        \
	  (IOT_MPI_PLAIN parameters, MPI_Win win, MPI_Request * request),                  \
	  (IOT_MPI_PLAIN arguments, win, request))

#define IOT_MPI_ACCESSES(C, Request)                                                             \
	IOT_MPI_ACCESS(C, Request, Put, put,                                                     \
		       (const void *from, int count, MPI_Datatype type, int peer,          \
			MPI_Aint place, int to_count, MPI_Datatype to_type),               \
		       (from, count, type, peer, place, to_count, to_type))                \
	IOT_MPI_ACCESS(C, Request, Get, get,                                                     \
		       (void *to, int count, MPI_Datatype type, int peer, MPI_Aint place,  \
			int from_count, MPI_Datatype from_type),                           \
		       (to, count, type, peer, place, from_count, from_type))              \
	IOT_MPI_ACCESS(C, Request, Accumulate, accumulate,                                       \
		       (const void *from, int count, MPI_Datatype type, int peer,          \
			MPI_Aint place, int to_count, MPI_Datatype to_type, MPI_Op op),    \
		       (from, count, type, peer, place, to_count, to_type, op))            \
	IOT_MPI_ACCESS(C, Request, Get_accumulate, get_accumulate,                               \
		       (const void *from, int from_count, MPI_Datatype from_type, void *to, \
			int to_count, MPI_Datatype to_type, int peer, MPI_Aint place,      \
			int count, MPI_Datatype type, MPI_Op op),                          \
		       (from, from_count, from_type, to, to_count, to_type, peer, place, count, \
			type, op))                                                         \
	C(Fetch_and_op, fetch_and_op, 1,                                                   \
	  (const void *from, void *to, MPI_Datatype type, int peer, MPI_Aint place, MPI_Op op, \
	   MPI_Win win),                                                                   \
	  (from, to, type, peer, place, op, win))                                          \
	C(Compare_and_swap, compare_and_swap, 1,                                           \
	  (const void *from, const void *compared, void *to, MPI_Datatype type, int peer,  \
	   MPI_Aint place, MPI_Win win),                                                   \
	  (from, compared, to, type, peer, place, win))

/* Of one rank alone: `root` is the rank that it is about. */
#define IOT_MPI_WIN_LOCKS(C)                                                               \
	C(Win_lock, win_lock, peer, (int kind, int peer, int assertion, MPI_Win win),      \
	  (kind, peer, assertion, win))                                                    \
	C(Win_lock_all, win_lock_all, -1, (int assertion, MPI_Win win), (assertion, win))  \
	C(Win_unlock, win_unlock, peer, (int peer, MPI_Win win), (peer, win))              \
	C(Win_unlock_all, win_unlock_all, -1, (MPI_Win win), (win))                        \
	C(Win_flush, win_flush, peer, (int peer, MPI_Win win), (peer, win))                \
	C(Win_flush_local, win_flush, peer, (int peer, MPI_Win win), (peer, win))          \
	C(Win_flush_all, win_flush_all, -1, (MPI_Win win), (win))                          \
	C(Win_flush_local_all, win_flush_all, -1, (MPI_Win win), (win))

#define IOT_MPI_WINS(C)                                                                    \
	C(Win_fence, win_fence, -1, (int assertion, MPI_Win win), (assertion, win))        \
	C(Win_free, win_free, -1, (MPI_Win * win), (win))                                  \
	C(Win_post, win_post, 0, (MPI_Group group, int assertion, MPI_Win win),            \
	  (group, assertion, win))                                                         \
	C(Win_start, win_start, 0, (MPI_Group group, int assertion, MPI_Win win),          \
	  (group, assertion, win))                                                         \
	C(Win_complete, win_complete, 0, (MPI_Win win), (win))                             \
	C(Win_wait, win_wait, 0, (MPI_Win win), (win))                                     \
	C(Win_test, win_wait, 0, (MPI_Win win, int *is_done), (win, is_done))

/* -- beginning and end ------------------------------------------------------------------- */

#define IOT_MPI_LIFE(C)                                                                    \
	C(Init, init, -1, (int *argc, char ***argv), (argc, argv))                         \
	C(Init_thread, init, -1, (int *argc, char ***argv, int required, int *provided),   \
	  (argc, argv, required, provided))                                                \
	C(Finalize, finalize, -1, (void), ())

/* Wrapped by hand, in the file of the same matter. */
#define IOT_MPI_OTHERS(C)   \
	IOT_MPI_MESSAGES(C) \
	IOT_MPI_REQUESTS(C) \
	IOT_MPI_COMMS(C)    \
	IOT_MPI_LIFE(C)

/* All of them. */
#define IOT_MPI_WRAPPED(C)        \
	IOT_MPI_IEXCHANGES(C)     \
	IOT_MPI_PARTITIONED(C)    \
	IOT_MPI_COLLECTIVES(C, C) \
	IOT_MPI_CREATORS(C)       \
	IOT_MPI_LINKS(C)          \
	IOT_MPI_FILES(C)          \
	IOT_MPI_WIN_CREATORS(C)   \
	IOT_MPI_ACCESSES(C, C)    \
	IOT_MPI_WIN_LOCKS(C)      \
	IOT_MPI_WINS(C)           \
	IOT_MPI_OTHERS(C)

/* Q(Name): what the shim asks MPI itself; all of these are local and send nothing. */
#define IOT_MPI_QUERIES(Q)      \
	Q(Cart_shift)           \
	Q(Cartdim_get)          \
	Q(Comm_create_keyval)   \
	Q(Comm_get_parent)      \
	Q(Comm_group)           \
	Q(Comm_rank)            \
	Q(Comm_remote_group)    \
	Q(Comm_remote_size)     \
	Q(Comm_set_attr)        \
	Q(Comm_size)            \
	Q(Comm_test_inter)      \
	Q(Dist_graph_neighbors) \
	Q(Dist_graph_neighbors_count) \
	Q(Error_class)          \
	Q(Get_elements_x)       \
	Q(Graph_neighbors)      \
	Q(Graph_neighbors_count) \
	Q(Group_free)           \
	Q(Group_size)           \
	Q(Group_translate_ranks) \
	Q(Ibarrier)             \
	Q(Irecv)                \
	Q(Isend)                \
	Q(Test_cancelled)       \
	Q(Topo_test)            \
	Q(Type_size_x)          \
	Q(Wait)                 \
	Q(Win_create_keyval)    \
	Q(Win_get_group)        \
	Q(Win_set_attr)

#endif
