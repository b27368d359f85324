/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls_message.h - the wrapped calls of messages: a part of calls.h.
 */
#ifndef IOTAPE_MPI_CALLS_MESSAGE_H
#define IOTAPE_MPI_CALLS_MESSAGE_H

#define IOT_MPI_SEND(C, Name, call, Count)                                                  \
	IOT_MPI_ROW(C, Name, call, 0,                                                       \
		    (const void *buffer, Count count, MPI_Datatype type, int peer, int tag, \
		     MPI_Comm comm),                                                        \
		    (buffer, count, type, peer, tag, comm))

#define IOT_MPI_ISEND(C, Name, call, Count)                                                 \
	IOT_MPI_ROW(C, Name, call, 0,                                                       \
		    (const void *buffer, Count count, MPI_Datatype type, int peer, int tag, \
		     MPI_Comm comm, MPI_Request *request),                                  \
		    (buffer, count, type, peer, tag, comm, request))

#define IOT_MPI_SIZED_SENDS(C, _c, Count)        \
	IOT_MPI_SEND(C, Send##_c, send, Count)   \
	IOT_MPI_SEND(C, Bsend##_c, bsend, Count) \
	IOT_MPI_SEND(C, Ssend##_c, ssend, Count) \
	IOT_MPI_SEND(C, Rsend##_c, rsend, Count)

#define IOT_MPI_SENDS(C)              \
	IOT_MPI_SIZED_SENDS(C, , int) \
	IOT_MPI_SIZED_SENDS(C, _c, MPI_Count)

#define IOT_MPI_SIZED_ISENDS(C, _c, Count)          \
	IOT_MPI_ISEND(C, Isend##_c, isend, Count)   \
	IOT_MPI_ISEND(C, Ibsend##_c, ibsend, Count) \
	IOT_MPI_ISEND(C, Issend##_c, issend, Count) \
	IOT_MPI_ISEND(C, Irsend##_c, irsend, Count)

#define IOT_MPI_ISENDS(C)              \
	IOT_MPI_SIZED_ISENDS(C, , int) \
	IOT_MPI_SIZED_ISENDS(C, _c, MPI_Count)

#define IOT_MPI_SIZED_SEND_INITS(C, _c, Count)              \
	IOT_MPI_ISEND(C, Send_init##_c, send_init, Count)   \
	IOT_MPI_ISEND(C, Bsend_init##_c, bsend_init, Count) \
	IOT_MPI_ISEND(C, Ssend_init##_c, ssend_init, Count) \
	IOT_MPI_ISEND(C, Rsend_init##_c, rsend_init, Count)

#define IOT_MPI_SEND_INITS(C)              \
	IOT_MPI_SIZED_SEND_INITS(C, , int) \
	IOT_MPI_SIZED_SEND_INITS(C, _c, MPI_Count)

#define IOT_MPI_IRECV(C, Name, call, Count)                                           \
	IOT_MPI_ROW(C, Name, call, 0,                                                 \
		    (void *buffer, Count count, MPI_Datatype type, int peer, int tag, \
		     MPI_Comm comm, MPI_Request *request),                            \
		    (buffer, count, type, peer, tag, comm, request))

#define IOT_MPI_IRECVS(C)                   \
	IOT_MPI_IRECV(C, Irecv, irecv, int) \
	IOT_MPI_IRECV(C, Irecv_c, irecv, MPI_Count)
#define IOT_MPI_RECV_INITS(C)                       \
	IOT_MPI_IRECV(C, Recv_init, recv_init, int) \
	IOT_MPI_IRECV(C, Recv_init_c, recv_init, MPI_Count)

/* A message each way. */
#define IOT_MPI_SIZED_EXCHANGES(C, _c, Count)                                                   \
	IOT_MPI_ROW(C, Sendrecv##_c, sendrecv, 0,                                               \
		    (const void *buffer, Count count, MPI_Datatype type, int to, int to_tag,    \
		     void *from_buffer, Count from_count, MPI_Datatype from_type, int from,     \
		     int from_tag, MPI_Comm comm, MPI_Status *status),                          \
		    (buffer, count, type, to, to_tag, from_buffer, from_count, from_type, from, \
		     from_tag, comm, status))                                                   \
	IOT_MPI_ROW(C, Sendrecv_replace##_c, sendrecv, 0,                                       \
		    (void *buffer, Count count, MPI_Datatype type, int to, int to_tag, int from, \
		     int from_tag, MPI_Comm comm, MPI_Status *status),                          \
		    (buffer, count, type, to, to_tag, from, from_tag, comm, status))

#define IOT_MPI_EXCHANGES(C)              \
	IOT_MPI_SIZED_EXCHANGES(C, , int) \
	IOT_MPI_SIZED_EXCHANGES(C, _c, MPI_Count)

/* `root` is true if there is a message. P() only looks for it, M() takes it out, as `*message`. */
#define IOT_MPI_PROBES(P, M)                                                                    \
	IOT_MPI_ROW(P, Probe, probe, true,                                                      \
		    (int peer, int tag, MPI_Comm comm, MPI_Status *status),                     \
		    (peer, tag, comm, status))                                                  \
	IOT_MPI_ROW(P, Iprobe, probe, *is_found,                                                \
		    (int peer, int tag, MPI_Comm comm, int *is_found, MPI_Status *status),      \
		    (peer, tag, comm, is_found, status))                                        \
	IOT_MPI_ROW(M, Mprobe, mprobe, true,                                                    \
		    (int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status), \
		    (peer, tag, comm, message, status))                                         \
	IOT_MPI_ROW(M, Improbe, mprobe, *is_found,                                              \
		    (int peer, int tag, MPI_Comm comm, int *is_found, MPI_Message *message,     \
		     MPI_Status *status),                                                       \
		    (peer, tag, comm, is_found, message, status))

#define IOT_MPI_SIZED_RECVS(C, _c, Count)                                             \
	IOT_MPI_ROW(C, Recv##_c, recv, 0,                                             \
		    (void *buffer, Count count, MPI_Datatype type, int peer, int tag, \
		     MPI_Comm comm, MPI_Status *status),                              \
		    (buffer, count, type, peer, tag, comm, status))
#define IOT_MPI_SIZED_MRECVS(C, _c, Count)                                               \
	IOT_MPI_ROW(C, Mrecv##_c, mrecv, 0,                                              \
		    (void *buffer, Count count, MPI_Datatype type, MPI_Message *message, \
		     MPI_Status *status),                                                \
		    (buffer, count, type, message, status))
#define IOT_MPI_SIZED_IMRECVS(C, _c, Count)                                              \
	IOT_MPI_ROW(C, Imrecv##_c, mrecv, 0,                                             \
		    (void *buffer, Count count, MPI_Datatype type, MPI_Message *message, \
		     MPI_Request *request),                                              \
		    (buffer, count, type, message, request))

#define IOT_MPI_RECVS(C)              \
	IOT_MPI_SIZED_RECVS(C, , int) \
	IOT_MPI_SIZED_RECVS(C, _c, MPI_Count)
#define IOT_MPI_MRECVS(C)              \
	IOT_MPI_SIZED_MRECVS(C, , int) \
	IOT_MPI_SIZED_MRECVS(C, _c, MPI_Count)
#define IOT_MPI_IMRECVS(C)              \
	IOT_MPI_SIZED_IMRECVS(C, , int) \
	IOT_MPI_SIZED_IMRECVS(C, _c, MPI_Count)

#define IOT_MPI_MESSAGES(C)   \
	IOT_MPI_SENDS(C)      \
	IOT_MPI_ISENDS(C)     \
	IOT_MPI_SEND_INITS(C) \
	IOT_MPI_IRECVS(C)     \
	IOT_MPI_RECV_INITS(C) \
	IOT_MPI_EXCHANGES(C)  \
	IOT_MPI_PROBES(C, C)  \
	IOT_MPI_RECVS(C)      \
	IOT_MPI_MRECVS(C)     \
	IOT_MPI_IMRECVS(C)

/* A message each way, with one request. */
#define IOT_MPI_SIZED_IEXCHANGES(C, _c, Count)                                                  \
	IOT_MPI_ROW(C, Isendrecv##_c, isendrecv, 0,                                             \
		    (const void *buffer, Count count, MPI_Datatype type, int to, int to_tag,    \
		     void *from_buffer, Count from_count, MPI_Datatype from_type, int from,     \
		     int from_tag, MPI_Comm comm, MPI_Request *request),                        \
		    (buffer, count, type, to, to_tag, from_buffer, from_count, from_type, from, \
		     from_tag, comm, request))                                                  \
	IOT_MPI_ROW(C, Isendrecv_replace##_c, isendrecv, 0,                                     \
		    (void *buffer, Count count, MPI_Datatype type, int to, int to_tag, int from, \
		     int from_tag, MPI_Comm comm, MPI_Request *request),                        \
		    (buffer, count, type, to, to_tag, from, from_tag, comm, request))

#define IOT_MPI_IEXCHANGES(C)              \
	IOT_MPI_SIZED_IEXCHANGES(C, , int) \
	IOT_MPI_SIZED_IEXCHANGES(C, _c, MPI_Count)

/* The first form has had an MPI_Count from the beginning; one header has the second one, too. */
#define IOT_MPI_SIZED_PARTITIONED(C, _c)                                                          \
	IOT_MPI_ROW(C, Psend_init##_c, psend_init, 0,                                             \
		    (const void *buffer, int partitions, MPI_Count count, MPI_Datatype type,      \
		     int peer, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),      \
		    (buffer, partitions, count, type, peer, tag, comm, info, request))            \
	IOT_MPI_ROW(C, Precv_init##_c, precv_init, 0,                                             \
		    (void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer,  \
		     int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),                \
		    (buffer, partitions, count, type, peer, tag, comm, info, request))

#define IOT_MPI_PARTITIONED_INITS(C)   \
	IOT_MPI_SIZED_PARTITIONED(C, ) \
	IOT_MPI_SIZED_PARTITIONED(C, _c)

/* Partitions of a send are ready: one, some that follow each other, or those of a list. */
#define IOT_MPI_READY(C)                                                                  \
	IOT_MPI_ROW(C, Pready, pready, 0, (int partition, MPI_Request request),           \
		    (partition, request))                                                 \
	IOT_MPI_ROW(C, Pready_range, pready, 0, (int low, int high, MPI_Request request), \
		    (low, high, request))                                                 \
	IOT_MPI_ROW(C, Pready_list, pready, 0,                                            \
		    (int count, IOT_MPI_LIST list[], MPI_Request request), (count, list, request))

#define IOT_MPI_PARTITIONED(C)                                                                  \
	IOT_MPI_PARTITIONED_INITS(C)                                                            \
	IOT_MPI_READY(C)                                                                        \
	IOT_MPI_ROW(C, Parrived, parrived, 0, (MPI_Request request, int partition, int *is_there), \
		    (request, partition, is_there))

#endif
