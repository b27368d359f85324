// SPDX-License-Identifier: GPL-2.0-only
/*
 * hints.c - the table of hints.
 *
 * The thresholds are conventions, not laws: a share that can matter for the run time, and a number below which it cannot.
 * Several follow the triggers of Drishti (J. L. Bez et al., "Drishti: guiding end-users in the I/O optimization
 * journey", 2022).
 */
#include "advise.h"

#define DATA	 (1 << IOT_OP_CLASS_data)
#define METADATA (1 << IOT_OP_CLASS_metadata)
#define SYNC	 (1 << IOT_OP_CLASS_sync)
#define MAPPING	 (1 << IOT_OP_CLASS_mapping)
#define MIB	 (1ull << 20)
#define MS	 1000000ull

const struct advise_rule advise_rules[ADVISE_HINT_COUNT] = {
	[ADVISE_small_reads] = {
		"small-reads", "many reads are small", ADVISE_COUNT, 100, 30, DATA,
		"reads are shorter than 64 KiB", "files",
		"each request has a cost that does not depend on its size: a system call, and on a network file system "
		"often a message",
		"read larger pieces into a buffer, use stdio or a larger buffer of the library, or collective MPI-IO",
		"transfer=1M",
	},
	[ADVISE_small_writes] = {
		"small-writes", "many writes are small", ADVISE_COUNT, 100, 30, DATA,
		"writes are shorter than 64 KiB", "files",
		"each request has a cost that does not depend on its size: a system call, and on a network file system "
		"often a message or a lock",
		"collect data in a buffer and write larger pieces, use a larger buffer of the library, or collective MPI-IO",
		"transfer=1M",
	},
	[ADVISE_unaligned_requests] = {
		"unaligned-requests", "many requests begin inside a page", ADVISE_COUNT, 100, 30, DATA,
		"requests of 4 KiB or more begin at an offset that is not a multiple of 4 KiB", "files",
		"a write that covers a page, block or stripe in part makes the storage read the rest first, and two "
		"processes that share one wait for its lock",
		"align headers and records to 4 KiB, or to the stripe size of the file system (of HDF5: H5Pset_alignment)",
		NULL,
	},
	[ADVISE_random_reads] = {
		"random-reads", "many reads are at random offsets", ADVISE_COUNT, 100, 30, DATA,
		"reads begin before the end of the previous read, without a constant distance", "files",
		"read-ahead cannot hide the latency of the storage, and reads data that is not used",
		"sort the accesses by offset, read large pieces into memory, or announce the pattern by POSIX_FADV_RANDOM",
		NULL,
	},
	[ADVISE_random_writes] = {
		"random-writes", "many writes are at random offsets", ADVISE_COUNT, 100, 30, DATA,
		"writes begin before the end of the previous write, without a constant distance", "files",
		"the storage cannot merge them into larger ones, and allocates the file in fragments",
		"sort the writes by offset, write a log and reorder it later, or use collective MPI-IO",
		NULL,
	},
	[ADVISE_wrong_advice] = {
		"wrong-advice", "the announced order of reads is not the actual order", ADVISE_COUNT, 50, 30, DATA,
		"reads are consecutive or strided after POSIX_FADV_RANDOM, or random after POSIX_FADV_SEQUENTIAL", "files",
		"without read-ahead, each sequential read waits for the storage; with more of it, random reads load data that "
		"is not used",
		"remove the call of posix_fadvise, or announce the real order",
		NULL,
	},
	[ADVISE_durable_writes] = {
		"durable-writes", "writes are made durable one by one", ADVISE_COUNT, 50, 30, DATA | SYNC,
		"writes were followed by an fsync before the next one, or had O_SYNC or O_DSYNC", "files",
		"each waits for the device, and the page cache cannot merge them",
		"write all data of a checkpoint or transaction, then call fsync once",
		"fsync=no",
	},
	[ADVISE_mapped_updates] = {
		"mapped-updates", "pages of mappings are read from storage before they are changed", ADVISE_COUNT, 100, 30,
		MAPPING | ADVISE_NEEDS_ACCESSES,
		"first writes to pages of shared mappings changed a page that a fault had read from storage", "files",
		"each page is a read that the task waits for, and a write later",
		"write whole pieces by write(2) if their old contents are not needed, or read the file ahead by "
		"MADV_WILLNEED or large reads",
		NULL,
	},
	[ADVISE_redundant_opens] = {
		"redundant-opens", "processes open the same files again and again", ADVISE_COUNT, 100, 30, METADATA,
		"opens were of a file that the process had opened before", "files",
		"each open and close is a round trip to the metadata server on a network file system",
		"keep the file open, or open it once and pass the descriptor on",
		NULL,
	},
	[ADVISE_redundant_stats] = {
		"redundant-stats", "processes query the attributes of unchanged files again", ADVISE_COUNT, 100, 50, METADATA,
		"queries of attributes were repeated by a process without a change in between", "files",
		"each can be a round trip to the metadata server on a network file system",
		"keep the result, or use fstat on an open file only once",
		NULL,
	},
	[ADVISE_metadata_storm] = {
		"metadata-storm", "most operations are on names and attributes", ADVISE_COUNT, 1000, 60, METADATA | DATA,
		"operations are on names, attributes or directories", "directories",
		"metadata servers are shared by all jobs, and a directory changes under one lock",
		"use fewer and larger files (an archive, HDF5, a database), spread files over directories, or unpack them to "
		"storage of the node",
		NULL,
	},
	[ADVISE_file_per_process] = {
		"file-per-process", "each process writes a file of its own in one directory", ADVISE_COUNT, 32, 10,
		METADATA | DATA,
		"files are written by one process, in directories where 32 or more processes have such files", "directories",
		"creation of files in one directory is serialized, and each reader needs all of them",
		"let the processes write one shared file by collective MPI-IO, one file per node, or a directory per node",
		"files=shared",
	},
	[ADVISE_interleaved_writes] = {
		"interleaved-writes", "processes write small interleaved pieces of a shared file", ADVISE_COUNT, 100, 30, DATA,
		"writes shorter than 1 MiB went to a MiB that another process had written to last", "files",
		"the locks of pages, blocks or stripes go back and forth between processes or nodes",
		"let each process write a contiguous part, use collective MPI-IO, or a file for each process",
		"files=process",
	},
	[ADVISE_one_rank] = {
		"one-rank", "one rank does nearly all of the I/O", ADVISE_BYTES, MIB, 90,
		DATA | ADVISE_NEEDS_RANKS | ADVISE_NEEDS_WHOLE,
		"moved outside of collective MPI-IO were moved by one rank", "ranks",
		"the others wait, and the bandwidth is that of one process",
		"let each rank, or one rank per node, read and write its part; use collective MPI-IO or parallel HDF5",
		NULL,
	},
	[ADVISE_independent_io] = {
		"independent-io", "ranks access shared MPI files by independent calls", ADVISE_COUNT, 100, 50,
		ADVISE_NEEDS_RANKS,
		"reads and writes of MPI files that several ranks opened are independent", "files",
		"the MPI library cannot merge the pieces of the ranks into large requests",
		"use the collective calls, such as MPI_File_write_at_all, and set a file view (of HDF5: H5Pset_dxpl_mpio)",
		NULL,
	},
	[ADVISE_unbalanced_bytes] = {
		"unbalanced-bytes", "a rank moves much more data than the others", ADVISE_BYTES, MIB, 30,
		DATA | ADVISE_NEEDS_RANKS | ADVISE_NEEDS_WHOLE,
		"that one rank moved outside of collective MPI-IO exceed the mean of all ranks", "ranks",
		"the others wait for it at the next synchronization",
		"divide the data evenly, or use collective MPI-IO",
		NULL,
	},
	[ADVISE_unbalanced_time] = {
		"unbalanced-time", "a rank spends much more time in operations on files than the others", ADVISE_NS, 100 * MS, 30,
		DATA | METADATA | ADVISE_NEEDS_RANKS | ADVISE_NEEDS_WHOLE | ADVISE_NEEDS_TIMES,
		"that one rank spent in operations on files exceed the mean of all ranks", "ranks",
		"the others wait for it at the next synchronization; see iotape stat --waits",
		"compare its operations with those of another rank (iotape stat --by=rank, --rank), and the load of its node",
		NULL,
	},
};
