/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * mpi_calls.h - the MPI calls that records name, and whose data they bring: a part of schema.h, whose
 * rules hold.
 */
#ifndef IOTAPE_RECORDED_CALLS_H
#define IOTAPE_RECORDED_CALLS_H

/* V(number, name, sentence): add, never renumber. */
#define IOT_CALLS(V)                                                                   \
	V(1, init, "MPI_Init or MPI_Init_thread")                                      \
	V(2, finalize, "MPI_Finalize")                                                 \
	V(10, send, "MPI_Send")                                                        \
	V(11, bsend, "MPI_Bsend")                                                      \
	V(12, ssend, "MPI_Ssend")                                                      \
	V(13, rsend, "MPI_Rsend")                                                      \
	V(14, isend, "MPI_Isend")                                                      \
	V(15, ibsend, "MPI_Ibsend")                                                    \
	V(16, issend, "MPI_Issend")                                                    \
	V(17, irsend, "MPI_Irsend")                                                    \
	V(18, recv, "MPI_Recv")                                                        \
	V(19, irecv, "MPI_Irecv")                                                      \
	V(20, sendrecv, "MPI_Sendrecv or MPI_Sendrecv_replace")                        \
	V(21, send_init, "MPI_Start of a request of MPI_Send_init")                    \
	V(22, bsend_init, "MPI_Start of a request of MPI_Bsend_init")                  \
	V(23, ssend_init, "MPI_Start of a request of MPI_Ssend_init")                  \
	V(24, rsend_init, "MPI_Start of a request of MPI_Rsend_init")                  \
	V(25, recv_init, "MPI_Start of a request of MPI_Recv_init")                    \
	V(26, mprobe, "MPI_Mprobe, MPI_Improbe that found a message")                  \
	V(27, mrecv, "MPI_Mrecv")                                                      \
	V(30, wait, "MPI_Wait, _Waitall, _Waitany, _Waitsome")                         \
	V(31, test, "MPI_Test, _Testall, _Testany, _Testsome that completed something") \
	V(32, status, "MPI_Request_get_status, _all, _any, _some that found something complete") \
	V(40, barrier, "MPI_Barrier")                                                  \
	V(41, bcast, "MPI_Bcast")                                                      \
	V(42, reduce, "MPI_Reduce")                                                    \
	V(43, allreduce, "MPI_Allreduce")                                              \
	V(44, gather, "MPI_Gather")                                                    \
	V(45, gatherv, "MPI_Gatherv")                                                  \
	V(46, scatter, "MPI_Scatter")                                                  \
	V(47, scatterv, "MPI_Scatterv")                                                \
	V(48, allgather, "MPI_Allgather")                                              \
	V(49, allgatherv, "MPI_Allgatherv")                                            \
	V(50, alltoall, "MPI_Alltoall")                                                \
	V(51, alltoallv, "MPI_Alltoallv")                                              \
	V(52, alltoallw, "MPI_Alltoallw")                                              \
	V(53, scan, "MPI_Scan")                                                        \
	V(54, exscan, "MPI_Exscan")                                                    \
	V(55, reduce_scatter, "MPI_Reduce_scatter")                                    \
	V(56, reduce_scatter_block, "MPI_Reduce_scatter_block")                        \
	V(60, ibarrier, "MPI_Ibarrier, or MPI_Start of a request of MPI_Barrier_init") \
	V(61, ibcast, "MPI_Ibcast, or MPI_Start of a request of MPI_Bcast_init")       \
	V(62, ireduce, "MPI_Ireduce, or MPI_Start of a request of MPI_Reduce_init")    \
	V(63, iallreduce, "MPI_Iallreduce, or MPI_Start of a request of MPI_Allreduce_init") \
	V(64, igather, "MPI_Igather, or MPI_Start of a request of MPI_Gather_init")    \
	V(65, iscatter, "MPI_Iscatter, or MPI_Start of a request of MPI_Scatter_init") \
	V(66, iallgather, "MPI_Iallgather, or MPI_Start of a request of MPI_Allgather_init") \
	V(67, ialltoall, "MPI_Ialltoall, or MPI_Start of a request of MPI_Alltoall_init") \
	V(68, igatherv, "MPI_Igatherv, or MPI_Start of a request of MPI_Gatherv_init") \
	V(69, iscatterv, "MPI_Iscatterv, or MPI_Start of a request of MPI_Scatterv_init") \
	V(70, iallgatherv, "MPI_Iallgatherv, or MPI_Start of a request of MPI_Allgatherv_init") \
	V(71, ialltoallv, "MPI_Ialltoallv, or MPI_Start of a request of MPI_Alltoallv_init") \
	V(72, ialltoallw, "MPI_Ialltoallw, or MPI_Start of a request of MPI_Alltoallw_init") \
	V(73, iscan, "MPI_Iscan, or MPI_Start of a request of MPI_Scan_init")          \
	V(74, iexscan, "MPI_Iexscan, or MPI_Start of a request of MPI_Exscan_init")    \
	V(75, ireduce_scatter, "MPI_Ireduce_scatter, or MPI_Start of a request of MPI_Reduce_scatter_init") \
	V(76, ireduce_scatter_block, "MPI_Ireduce_scatter_block, or MPI_Start of a request of MPI_Reduce_scatter_block_init") \
	V(80, comm_dup, "MPI_Comm_dup")                                                \
	V(81, comm_split, "MPI_Comm_split")                                            \
	V(82, comm_create, "MPI_Comm_create")                                          \
	V(83, comm_split_type, "MPI_Comm_split_type")                                  \
	V(84, comm_free, "MPI_Comm_free")                                              \
	V(85, comm_dup_with_info, "MPI_Comm_dup_with_info")                            \
	V(86, comm_idup, "MPI_Comm_idup")                                              \
	V(87, comm_create_group, "MPI_Comm_create_group")                              \
	V(88, cart_create, "MPI_Cart_create")                                          \
	V(89, cart_sub, "MPI_Cart_sub")                                                \
	V(90, graph_create, "MPI_Graph_create")                                        \
	V(91, dist_graph_create, "MPI_Dist_graph_create")                              \
	V(92, dist_graph_create_adjacent, "MPI_Dist_graph_create_adjacent")            \
	V(93, intercomm_create, "MPI_Intercomm_create")                                \
	V(94, intercomm_merge, "MPI_Intercomm_merge")                                  \
	V(95, comm_disconnect, "MPI_Comm_disconnect")                                  \
	V(96, comm_spawn, "MPI_Comm_spawn or _spawn_multiple; MPI_Init of those that it made") \
	V(97, comm_accept, "MPI_Comm_accept")                                          \
	V(98, comm_connect, "MPI_Comm_connect")                                        \
	V(99, comm_join, "MPI_Comm_join")                                              \
	V(100, neighbor_allgather, "MPI_Neighbor_allgather")                           \
	V(101, neighbor_allgatherv, "MPI_Neighbor_allgatherv")                         \
	V(102, neighbor_alltoall, "MPI_Neighbor_alltoall")                             \
	V(103, neighbor_alltoallv, "MPI_Neighbor_alltoallv")                           \
	V(104, neighbor_alltoallw, "MPI_Neighbor_alltoallw")                           \
	V(110, ineighbor_allgather, "MPI_Ineighbor_allgather, or MPI_Start of a request of MPI_Neighbor_allgather_init") \
	V(111, ineighbor_allgatherv, "MPI_Ineighbor_allgatherv, or MPI_Start of a request of MPI_Neighbor_allgatherv_init") \
	V(112, ineighbor_alltoall, "MPI_Ineighbor_alltoall, or MPI_Start of a request of MPI_Neighbor_alltoall_init") \
	V(113, ineighbor_alltoallv, "MPI_Ineighbor_alltoallv, or MPI_Start of a request of MPI_Neighbor_alltoallv_init") \
	V(114, ineighbor_alltoallw, "MPI_Ineighbor_alltoallw, or MPI_Start of a request of MPI_Neighbor_alltoallw_init") \
	V(120, file_open, "MPI_File_open")                                             \
	V(121, file_close, "MPI_File_close")                                           \
	V(122, file_set_view, "MPI_File_set_view")                                     \
	V(123, file_set_size, "MPI_File_set_size")                                     \
	V(124, file_preallocate, "MPI_File_preallocate")                               \
	V(125, file_sync, "MPI_File_sync")                                             \
	V(126, file_set_atomicity, "MPI_File_set_atomicity")                           \
	V(127, file_seek, "MPI_File_seek")                                             \
	V(128, file_seek_shared, "MPI_File_seek_shared")                               \
	V(130, file_read, "MPI_File_read")                                             \
	V(131, file_write, "MPI_File_write")                                           \
	V(132, file_read_at, "MPI_File_read_at")                                       \
	V(133, file_write_at, "MPI_File_write_at")                                     \
	V(134, file_read_all, "MPI_File_read_all")                                     \
	V(135, file_write_all, "MPI_File_write_all")                                   \
	V(136, file_read_at_all, "MPI_File_read_at_all")                               \
	V(137, file_write_at_all, "MPI_File_write_at_all")                             \
	V(138, file_read_shared, "MPI_File_read_shared")                               \
	V(139, file_write_shared, "MPI_File_write_shared")                             \
	V(140, file_read_ordered, "MPI_File_read_ordered")                             \
	V(141, file_write_ordered, "MPI_File_write_ordered")                           \
	V(142, file_iread, "MPI_File_iread")                                           \
	V(143, file_iwrite, "MPI_File_iwrite")                                         \
	V(144, file_iread_at, "MPI_File_iread_at")                                     \
	V(145, file_iwrite_at, "MPI_File_iwrite_at")                                   \
	V(146, file_iread_all, "MPI_File_iread_all")                                   \
	V(147, file_iwrite_all, "MPI_File_iwrite_all")                                 \
	V(148, file_iread_at_all, "MPI_File_iread_at_all")                             \
	V(149, file_iwrite_at_all, "MPI_File_iwrite_at_all")                           \
	V(150, file_iread_shared, "MPI_File_iread_shared")                             \
	V(151, file_iwrite_shared, "MPI_File_iwrite_shared")                           \
	V(152, file_read_all_begin, "MPI_File_read_all_begin")                         \
	V(153, file_read_all_end, "MPI_File_read_all_end")                             \
	V(154, file_write_all_begin, "MPI_File_write_all_begin")                       \
	V(155, file_write_all_end, "MPI_File_write_all_end")                           \
	V(156, file_read_at_all_begin, "MPI_File_read_at_all_begin")                   \
	V(157, file_read_at_all_end, "MPI_File_read_at_all_end")                       \
	V(158, file_write_at_all_begin, "MPI_File_write_at_all_begin")                 \
	V(159, file_write_at_all_end, "MPI_File_write_at_all_end")                     \
	V(160, file_read_ordered_begin, "MPI_File_read_ordered_begin")                 \
	V(161, file_read_ordered_end, "MPI_File_read_ordered_end")                     \
	V(162, file_write_ordered_begin, "MPI_File_write_ordered_begin")               \
	V(163, file_write_ordered_end, "MPI_File_write_ordered_end")                   \
	V(164, probe, "MPI_Probe, or MPI_Iprobe that found a message")                 \
	V(170, win_create, "MPI_Win_create")                                           \
	V(171, win_allocate, "MPI_Win_allocate")                                       \
	V(172, win_allocate_shared, "MPI_Win_allocate_shared")                         \
	V(173, win_create_dynamic, "MPI_Win_create_dynamic")                           \
	V(174, win_free, "MPI_Win_free")                                               \
	V(175, win_fence, "MPI_Win_fence")                                             \
	V(176, win_post, "MPI_Win_post")                                               \
	V(177, win_start, "MPI_Win_start")                                             \
	V(178, win_complete, "MPI_Win_complete")                                       \
	V(179, win_wait, "MPI_Win_wait, or MPI_Win_test that found all complete")      \
	V(180, win_lock, "MPI_Win_lock")                                               \
	V(181, win_lock_all, "MPI_Win_lock_all")                                       \
	V(182, win_unlock, "MPI_Win_unlock")                                           \
	V(183, win_unlock_all, "MPI_Win_unlock_all")                                   \
	V(184, win_flush, "MPI_Win_flush or MPI_Win_flush_local")                      \
	V(185, win_flush_all, "MPI_Win_flush_all or MPI_Win_flush_local_all")          \
	V(190, put, "MPI_Put")                                                         \
	V(191, get, "MPI_Get")                                                         \
	V(192, accumulate, "MPI_Accumulate")                                           \
	V(193, get_accumulate, "MPI_Get_accumulate")                                   \
	V(194, fetch_and_op, "MPI_Fetch_and_op")                                       \
	V(195, compare_and_swap, "MPI_Compare_and_swap")                               \
	V(196, rput, "MPI_Rput")                                                       \
	V(197, rget, "MPI_Rget")                                                       \
	V(198, raccumulate, "MPI_Raccumulate")                                         \
	V(199, rget_accumulate, "MPI_Rget_accumulate")                                 \
	V(200, psend_init, "MPI_Psend_init, started, and all partitions ready")        \
	V(201, precv_init, "MPI_Precv_init, started")                                  \
	V(202, isendrecv, "MPI_Isendrecv or MPI_Isendrecv_replace")                    \
	V(203, comm_idup_with_info, "MPI_Comm_idup_with_info")                         \
	V(204, comm_create_from_group, "MPI_Comm_create_from_group")                   \
	V(205, intercomm_create_from_groups, "MPI_Intercomm_create_from_groups")       \
	V(206, session_finalize, "MPI_Session_finalize of the last session of a process") \
	V(207, grequest_start, "MPI_Grequest_start")                                   \
	V(208, grequest_complete, "MPI_Grequest_complete")                             \
	V(209, pready, "MPI_Pready, _Pready_range, _Pready_list")                      \
	V(210, parrived, "MPI_Parrived that found a partition")

/*
 * The ranks whose data a collective call brings to the rank that makes it. The rank itself does not
 * count. Two values have a list of ranks as the tail of the record.
 */
#define IOT_SOURCES(V)                                                                 \
	V(0, unknown, "not recorded")                                                  \
	V(1, none, "no rank")                                                          \
	V(2, all, "each rank that calls of this name take data from")                  \
	V(3, runs, "the ranks in the tail: pairs of a first rank and a number of ranks, 4 bytes each") \
	V(4, bits, "the ranks in the tail: rank R is bit R % 8, from the lowest, of byte R / 8")

/* Where the offset of a call that moves a file pointer counts from: unlike in IOT_WHENCES, 0 is that of a call that does not state it. */
#define IOT_MPI_WHENCES(V)                                                             \
	V(0, unknown, "not recorded, or the call moves no file pointer")               \
	V(1, set, "from the start of the view")                                        \
	V(2, cur, "from the current position")                                         \
	V(3, end, "from the end of the file")

#define IOT_SOURCES_MAX_BYTES 512 /* of the list: a longer one is not recorded */

enum iot_sources {
#define IOT_V(value, name, sentence) IOT_SOURCES_##name = value,
	IOT_SOURCES(IOT_V)
#undef IOT_V
};

enum iot_mpi_whence {
#define IOT_V(value, name, sentence) IOT_MPI_WHENCE_##name = value,
	IOT_MPI_WHENCES(IOT_V)
#undef IOT_V
};

#endif
