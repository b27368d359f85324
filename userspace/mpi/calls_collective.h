/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls_collective.h - the wrapped collective calls, and those that make communicators: a part of calls.h.
 */
#ifndef IOTAPE_MPI_CALLS_COLLECTIVE_H
#define IOTAPE_MPI_CALLS_COLLECTIVE_H

/*
 * B() is a blocking collective on `comm`, N() the nonblocking one of the same name, P() the one that creates
 * a persistent request, each start of which is equivalent to N().
 */
#define IOT_MPI_THREE(B, N, P, Name, call, _c, root, parameters, arguments)           \
	IOT_MPI_ROW(B, Name##_c, call, root, parameters, arguments)                   \
	IOT_MPI_ROW(N, I##call##_c, i##call, root,                                    \
		    (IOT_MPI_PLAIN parameters, MPI_Request * request),                \
		    (IOT_MPI_PLAIN arguments, request))                               \
	IOT_MPI_ROW(P, Name##_init##_c, i##call, root,                                \
		    (IOT_MPI_PLAIN parameters, MPI_Info info, MPI_Request * request), \
		    (IOT_MPI_PLAIN arguments, info, request))

#define IOT_MPI_ROOTED(B, N, P, _c, Count, Place)                                             \
	IOT_MPI_THREE(B, N, P, Bcast, bcast, _c, root,                                        \
		     (void *buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm), \
		     (buffer, count, type, root, comm))                                       \
	IOT_MPI_THREE(B, N, P, Reduce, reduce, _c, root,                                      \
		     (const void *from, void *to, Count count, MPI_Datatype type, MPI_Op op,  \
		      int root, MPI_Comm comm),                                               \
		     (from, to, count, type, op, root, comm))                                 \
	IOT_MPI_THREE(B, N, P, Gather, gather, _c, root,                                      \
		     (const void *from, Count count, MPI_Datatype type, void *to,             \
		      Count to_count, MPI_Datatype to_type, int root, MPI_Comm comm),         \
		     (from, count, type, to, to_count, to_type, root, comm))                  \
	IOT_MPI_THREE(B, N, P, Gatherv, gatherv, _c, root,                                    \
		     (const void *from, Count count, MPI_Datatype type, void *to,             \
		      const Count to_counts[], const Place to_places[], MPI_Datatype to_type, \
		      int root, MPI_Comm comm),                                               \
		     (from, count, type, to, to_counts, to_places, to_type, root, comm))      \
	IOT_MPI_THREE(B, N, P, Scatter, scatter, _c, root,                                    \
		     (const void *from, Count count, MPI_Datatype type, void *to,             \
		      Count to_count, MPI_Datatype to_type, int root, MPI_Comm comm),         \
		     (from, count, type, to, to_count, to_type, root, comm))                  \
	IOT_MPI_THREE(B, N, P, Scatterv, scatterv, _c, root,                                  \
		     (const void *from, const Count counts[], const Place places[],           \
		      MPI_Datatype type, void *to, Count to_count, MPI_Datatype to_type,      \
		      int root, MPI_Comm comm),                                               \
		     (from, counts, places, type, to, to_count, to_type, root, comm))

#define IOT_MPI_REDUCTION(B, N, P, Name, call, _c, Count)                                    \
	IOT_MPI_THREE(B, N, P, Name, call, _c, -1,                                           \
		     (const void *from, void *to, Count count, MPI_Datatype type, MPI_Op op, \
		      MPI_Comm comm),                                                        \
		     (from, to, count, type, op, comm))

#define IOT_MPI_REDUCTIONS(B, N, P, _c, Count)                                             \
	IOT_MPI_REDUCTION(B, N, P, Allreduce, allreduce, _c, Count)                        \
	IOT_MPI_REDUCTION(B, N, P, Scan, scan, _c, Count)                                  \
	IOT_MPI_REDUCTION(B, N, P, Exscan, exscan, _c, Count)                              \
	IOT_MPI_REDUCTION(B, N, P, Reduce_scatter_block, reduce_scatter_block, _c, Count)  \
	IOT_MPI_THREE(B, N, P, Reduce_scatter, reduce_scatter, _c, -1,                     \
		     (const void *from, void *to, const Count counts[], MPI_Datatype type, \
		      MPI_Op op, MPI_Comm comm),                                           \
		     (from, to, counts, type, op, comm))

/* Among all ranks, and among neighbours: `WPlace` is the type of displacements of the w form. */
#define IOT_MPI_ALLS(B, N, P, Allgather, allgather, Alltoall, alltoall, _c, Count, Place, WPlace) \
	IOT_MPI_THREE(B, N, P, Allgather, allgather, _c, -1,                                    \
		     (const void *from, Count count, MPI_Datatype type, void *to,               \
		      Count to_count, MPI_Datatype to_type, MPI_Comm comm),                     \
		     (from, count, type, to, to_count, to_type, comm))                          \
	IOT_MPI_THREE(B, N, P, Allgather##v, allgather##v, _c, -1,                              \
		     (const void *from, Count count, MPI_Datatype type, void *to,               \
		      const Count to_counts[], const Place to_places[], MPI_Datatype to_type,   \
		      MPI_Comm comm),                                                           \
		     (from, count, type, to, to_counts, to_places, to_type, comm))              \
	IOT_MPI_THREE(B, N, P, Alltoall, alltoall, _c, -1,                                      \
		     (const void *from, Count count, MPI_Datatype type, void *to,               \
		      Count to_count, MPI_Datatype to_type, MPI_Comm comm),                     \
		     (from, count, type, to, to_count, to_type, comm))                          \
	IOT_MPI_THREE(B, N, P, Alltoall##v, alltoall##v, _c, -1,                                \
		     (const void *from, const Count counts[], const Place places[],             \
		      MPI_Datatype type, void *to, const Count to_counts[],                     \
		      const Place to_places[], MPI_Datatype to_type, MPI_Comm comm),            \
		     (from, counts, places, type, to, to_counts, to_places, to_type, comm))     \
	IOT_MPI_THREE(B, N, P, Alltoall##w, alltoall##w, _c, -1,                                \
		     (const void *from, const Count counts[], const WPlace places[],            \
		      const MPI_Datatype types[], void *to, const Count to_counts[],            \
		      const WPlace to_places[], const MPI_Datatype to_types[], MPI_Comm comm),  \
		     (from, counts, places, types, to, to_counts, to_places, to_types, comm))

#define IOT_MPI_SIZED_COLLECTIVES(B, N, P, _c, Count, Place)                                    \
	IOT_MPI_ROOTED(B, N, P, _c, Count, Place)                                               \
	IOT_MPI_REDUCTIONS(B, N, P, _c, Count)                                                  \
	IOT_MPI_ALLS(B, N, P, Allgather, allgather, Alltoall, alltoall, _c, Count, Place, Place) \
	IOT_MPI_ALLS(B, N, P, Neighbor_allgather, neighbor_allgather, Neighbor_alltoall,        \
		     neighbor_alltoall, _c, Count, Place, MPI_Aint)

#define IOT_MPI_COLLECTIVES(B, N, P)                                            \
	IOT_MPI_THREE(B, N, P, Barrier, barrier, , -1, (MPI_Comm comm), (comm)) \
	IOT_MPI_SIZED_COLLECTIVES(B, N, P, , int, int)                          \
	IOT_MPI_SIZED_COLLECTIVES(B, N, P, _c, MPI_Count, MPI_Aint)

/* -- communicators ----------------------------------------------------------------------- */

/* A collective on `comm` that makes `*made` of it. */
#define IOT_MPI_CREATORS(C)                                                                     \
	IOT_MPI_ROW(C, Comm_dup, comm_dup, -1, (MPI_Comm comm, MPI_Comm * made), (comm, made))  \
	IOT_MPI_ROW(C, Comm_dup_with_info, comm_dup_with_info, -1,                              \
		    (MPI_Comm comm, MPI_Info info, MPI_Comm * made), (comm, info, made))        \
	IOT_MPI_ROW(C, Comm_split, comm_split, -1, (MPI_Comm comm, int color, int rank, MPI_Comm * made), \
		    (comm, color, rank, made))                                                  \
	IOT_MPI_ROW(C, Comm_create, comm_create, -1, (MPI_Comm comm, MPI_Group group, MPI_Comm * made), \
		    (comm, group, made))                                                        \
	IOT_MPI_ROW(C, Comm_split_type, comm_split_type, -1,                                    \
		    (MPI_Comm comm, int type, int rank, MPI_Info info, MPI_Comm *made),         \
		    (comm, type, rank, info, made))                                             \
	IOT_MPI_ROW(C, Cart_create, cart_create, -1,                                            \
		    (MPI_Comm comm, int dimensions, const int sizes[], const int periods[],     \
		     int may_reorder, MPI_Comm *made),                                          \
		    (comm, dimensions, sizes, periods, may_reorder, made))                      \
	IOT_MPI_ROW(C, Cart_sub, cart_sub, -1, (MPI_Comm comm, const int kept[], MPI_Comm *made), \
		    (comm, kept, made))                                                         \
	IOT_MPI_ROW(C, Graph_create, graph_create, -1,                                          \
		    (MPI_Comm comm, int nodes, const int index[], const int edges[], int may_reorder, \
		     MPI_Comm *made),                                                           \
		    (comm, nodes, index, edges, may_reorder, made))                             \
	IOT_MPI_ROW(C, Dist_graph_create, dist_graph_create, -1,                                \
		    (MPI_Comm comm, int count, const int sources[], const int degrees[],        \
		     const int targets[], const int weights[], MPI_Info info, int may_reorder,  \
		     MPI_Comm *made),                                                           \
		    (comm, count, sources, degrees, targets, weights, info, may_reorder, made)) \
	IOT_MPI_ROW(C, Dist_graph_create_adjacent, dist_graph_create_adjacent, -1,              \
		    (MPI_Comm comm, int indegree, const int sources[], const int source_weights[], \
		     int outdegree, const int targets[], const int target_weights[], MPI_Info info, \
		     int may_reorder, MPI_Comm *made),                                          \
		    (comm, indegree, sources, source_weights, outdegree, targets, target_weights, info, \
		     may_reorder, made))                                                        \
	IOT_MPI_ROW(C, Intercomm_merge, intercomm_merge, -1, (MPI_Comm comm, int is_high, MPI_Comm * made), \
		    (comm, is_high, made))

/* The same, and the communicator is there when the request has ended. */
#define IOT_MPI_IDUPS(C)                                                                        \
	IOT_MPI_ROW(C, Comm_idup, comm_idup, -1,                                                \
		    (MPI_Comm comm, MPI_Comm * made, MPI_Request * request), (comm, made, request)) \
	IOT_MPI_ROW(C, Comm_idup_with_info, comm_idup_with_info, -1,                            \
		    (MPI_Comm comm, MPI_Info info, MPI_Comm * made, MPI_Request * request),     \
		    (comm, info, made, request))

/* Of a group of processes, which may have no communicator yet. */
#define IOT_MPI_FROM_GROUPS(C)                                                                  \
	IOT_MPI_ROW(C, Comm_create_from_group, comm_create_from_group, -1,                      \
		    (MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler,   \
		     MPI_Comm *made),                                                           \
		    (group, tag, info, handler, made))                                          \
	IOT_MPI_ROW(C, Intercomm_create_from_groups, intercomm_create_from_groups, -1,          \
		    (MPI_Group own, int leader, MPI_Group other, int remote_leader, const char *tag, \
		     MPI_Info info, MPI_Errhandler handler, MPI_Comm *made),                    \
		    (own, leader, other, remote_leader, tag, info, handler, made))

#define IOT_MPI_COMMS(C)                                                                        \
	IOT_MPI_IDUPS(C)                                                                        \
	IOT_MPI_FROM_GROUPS(C)                                                                  \
	IOT_MPI_ROW(C, Comm_create_group, comm_create_group, -1,                                \
		    (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made)) \
	IOT_MPI_ROW(C, Intercomm_create, intercomm_create, -1,                                  \
		    (MPI_Comm comm, int leader, MPI_Comm peer_comm, int remote_leader, int tag, \
		     MPI_Comm *made),                                                           \
		    (comm, leader, peer_comm, remote_leader, tag, made))                        \
	IOT_MPI_ROW(C, Comm_free, comm_free, -1, (MPI_Comm * comm), (comm))                     \
	IOT_MPI_ROW(C, Comm_disconnect, comm_disconnect, -1, (MPI_Comm * comm), (comm))         \
	IOT_MPI_ROW(C, Comm_join, comm_join, -1, (int fd, MPI_Comm *made), (fd, made))

/* A collective on `comm`, of which `root` speaks with other processes; all of both make `*made`. */
#define IOT_MPI_LINKS(C)                                                                        \
	IOT_MPI_ROW(C, Comm_spawn, comm_spawn, root,                                            \
		    (const char *command, char *argv[], int count, MPI_Info info, int root, MPI_Comm comm, \
		     MPI_Comm *made, int errors[]),                                             \
		    (command, argv, count, info, root, comm, made, errors))                     \
	IOT_MPI_ROW(C, Comm_spawn_multiple, comm_spawn, root,                                   \
		    (int count, char *commands[], char **argvs[], const int counts[],           \
		     const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *made, int errors[]), \
		    (count, commands, argvs, counts, infos, root, comm, made, errors))          \
	IOT_MPI_ROW(C, Comm_accept, comm_accept, root,                                          \
		    (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made), \
		    (port, info, root, comm, made))                                             \
	IOT_MPI_ROW(C, Comm_connect, comm_connect, root,                                        \
		    (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made), \
		    (port, info, root, comm, made))

#endif
