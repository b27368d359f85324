/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - every MPI call that the shim wraps, once.
 *
 * A row begins with the name of the call after MPI_, and its name in IOT_CALLS where it
 * has one. Calls that differ in nothing but their name share a list, and a wrapper that is
 * written once; the rest are in IOT_MPI_OTHERS and written by hand. What has no row is not
 * wrapped, and passes the shim by.
 */
#ifndef IOTAPE_MPI_CALLS_H
#define IOTAPE_MPI_CALLS_H

/* C(Name, call): the parameters are those of MPI_Send. */
#define IOT_MPI_SENDS(C)   \
	C(Send, send)      \
	C(Bsend, bsend)    \
	C(Ssend, ssend)    \
	C(Rsend, rsend)

/* C(Name, call): the parameters are those of MPI_Isend. */
#define IOT_MPI_ISENDS(C)  \
	C(Isend, isend)    \
	C(Ibsend, ibsend)  \
	C(Issend, issend)  \
	C(Irsend, irsend)

/*
 * B(Name, call, root, (parameters), (arguments)): a blocking collective on `comm`; `root` is
 * the rank that it comes from or goes to, -1 if there is none. N() is the same for a
 * nonblocking one, whose parameters and arguments end with `request` in addition.
 */
#define IOT_MPI_BOTH(B, N, Name, call, ...) \
	B(Name, call, __VA_ARGS__)          \
	N(I##call, i##call, __VA_ARGS__)

#define IOT_MPI_COLLECTIVES(B, N)                                                          \
	IOT_MPI_BOTH(B, N, Barrier, barrier, -1, (MPI_Comm comm), (comm))                  \
	IOT_MPI_BOTH(B, N, Bcast, bcast, root,                                             \
		     (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), \
		     (buffer, count, type, root, comm))                                    \
	IOT_MPI_BOTH(B, N, Reduce, reduce, root,                                           \
		     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, \
		      int root, MPI_Comm comm),                                            \
		     (from, to, count, type, op, root, comm))                              \
	IOT_MPI_BOTH(B, N, Allreduce, allreduce, -1,                                       \
		     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, \
		      MPI_Comm comm),                                                      \
		     (from, to, count, type, op, comm))                                    \
	IOT_MPI_BOTH(B, N, Gather, gather, root,                                           \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      int to_count, MPI_Datatype to_type, int root, MPI_Comm comm),        \
		     (from, count, type, to, to_count, to_type, root, comm))               \
	B(Gatherv, gatherv, root,                                                          \
	  (const void *from, int count, MPI_Datatype type, void *to, const int to_counts[], \
	   const int to_places[], MPI_Datatype to_type, int root, MPI_Comm comm),          \
	  (from, count, type, to, to_counts, to_places, to_type, root, comm))              \
	IOT_MPI_BOTH(B, N, Scatter, scatter, root,                                         \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      int to_count, MPI_Datatype to_type, int root, MPI_Comm comm),        \
		     (from, count, type, to, to_count, to_type, root, comm))               \
	B(Scatterv, scatterv, root,                                                        \
	  (const void *from, const int counts[], const int places[], MPI_Datatype type,    \
	   void *to, int to_count, MPI_Datatype to_type, int root, MPI_Comm comm),         \
	  (from, counts, places, type, to, to_count, to_type, root, comm))                 \
	IOT_MPI_BOTH(B, N, Allgather, allgather, -1,                                       \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      int to_count, MPI_Datatype to_type, MPI_Comm comm),                  \
		     (from, count, type, to, to_count, to_type, comm))                     \
	B(Allgatherv, allgatherv, -1,                                                      \
	  (const void *from, int count, MPI_Datatype type, void *to, const int to_counts[], \
	   const int to_places[], MPI_Datatype to_type, MPI_Comm comm),                    \
	  (from, count, type, to, to_counts, to_places, to_type, comm))                    \
	IOT_MPI_BOTH(B, N, Alltoall, alltoall, -1,                                         \
		     (const void *from, int count, MPI_Datatype type, void *to,            \
		      int to_count, MPI_Datatype to_type, MPI_Comm comm),                  \
		     (from, count, type, to, to_count, to_type, comm))                     \
	B(Alltoallv, alltoallv, -1,                                                        \
	  (const void *from, const int counts[], const int places[], MPI_Datatype type,    \
	   void *to, const int to_counts[], const int to_places[], MPI_Datatype to_type,   \
	   MPI_Comm comm),                                                                 \
	  (from, counts, places, type, to, to_counts, to_places, to_type, comm))           \
	B(Alltoallw, alltoallw, -1,                                                        \
	  (const void *from, const int counts[], const int places[],                       \
	   const MPI_Datatype types[], void *to, const int to_counts[],                    \
	   const int to_places[], const MPI_Datatype to_types[], MPI_Comm comm),           \
	  (from, counts, places, types, to, to_counts, to_places, to_types, comm))         \
	B(Scan, scan, -1,                                                                  \
	  (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,            \
	   MPI_Comm comm),                                                                 \
	  (from, to, count, type, op, comm))                                               \
	B(Exscan, exscan, -1,                                                              \
	  (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,            \
	   MPI_Comm comm),                                                                 \
	  (from, to, count, type, op, comm))                                               \
	B(Reduce_scatter, reduce_scatter, -1,                                              \
	  (const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op,   \
	   MPI_Comm comm),                                                                 \
	  (from, to, counts, type, op, comm))                                              \
	B(Reduce_scatter_block, reduce_scatter_block, -1,                                  \
	  (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,            \
	   MPI_Comm comm),                                                                 \
	  (from, to, count, type, op, comm))

/* C(Name, call, (parameters), (arguments)): a collective on `comm` that makes `*made` of it. */
#define IOT_MPI_CREATORS(C)                                                                \
	C(Comm_dup, comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))               \
	C(Comm_split, comm_split, (MPI_Comm comm, int color, int rank, MPI_Comm *made),    \
	  (comm, color, rank, made))                                                       \
	C(Comm_create, comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made),      \
	  (comm, group, made))                                                             \
	C(Comm_split_type, comm_split_type,                                                \
	  (MPI_Comm comm, int type, int rank, MPI_Info info, MPI_Comm *made),              \
	  (comm, type, rank, info, made))

/* C(Name): wrapped by hand, in the file of the same matter. */
#define IOT_MPI_OTHERS(C)    \
	C(Init)              \
	C(Init_thread)       \
	C(Finalize)          \
	C(Recv)              \
	C(Irecv)             \
	C(Sendrecv)          \
	C(Sendrecv_replace)  \
	C(Wait)              \
	C(Waitall)           \
	C(Waitany)           \
	C(Waitsome)          \
	C(Test)              \
	C(Testall)           \
	C(Testany)           \
	C(Testsome)          \
	C(Request_free)      \
	C(Comm_free)

/* All of them; W(Name, ...) ignores what follows the name. */
#define IOT_MPI_WRAPPED(W)        \
	IOT_MPI_SENDS(W)          \
	IOT_MPI_ISENDS(W)         \
	IOT_MPI_COLLECTIVES(W, W) \
	IOT_MPI_CREATORS(W)       \
	IOT_MPI_OTHERS(W)

/* Q(Name): what the shim asks MPI itself; all of these are local and send nothing. */
#define IOT_MPI_QUERIES(Q)      \
	Q(Comm_create_keyval)   \
	Q(Comm_get_attr)        \
	Q(Comm_group)           \
	Q(Comm_rank)            \
	Q(Comm_set_attr)        \
	Q(Comm_size)            \
	Q(Error_class)          \
	Q(Get_elements_x)       \
	Q(Group_free)           \
	Q(Group_translate_ranks) \
	Q(Isend)                \
	Q(Test_cancelled)       \
	Q(Type_size_x)          \
	Q(Wait)

#endif
