/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * omission.h - the reasons for which a trace, a program or the outcomes of a replay lack a part of the
 * recorded run.
 *
 * An omission is a reason and three numbers: the number of occurrences (the sentence states their
 * unit), the number of missing operations, and the number of bytes that these moved. The last
 * two may be unknown, which is not zero.
 *
 * Stored as a fact, in a trace and in a program:
 *
 *	omission.<name>=<count> <operations> <bytes>[ <detail>]
 *
 * with decimal numbers, and "?" for an unknown number. A reader adds omissions that the file itself shows and
 * does not state: a file without an end, gaps in the numbers of its records, facts `partial`. A
 * trace or program whose header has the feature IOT_TRACE_STATES or IOT_PROGRAM_STATES states all
 * omissions known to its writer; without it, omissions are unknown.
 *
 * O(id, name, one, many): `one` is the sentence for a count of 1, `many` for others. Ids and names
 * are never reused, and the table only grows at its end.
 *
 * Changes
 *   1  first version: 16 reasons
 *   2  contradicted, sources
 *   3  filtered
 *   4  paused
 *   5  evicted, forgotten
 *   6  counted
 */
#ifndef IOTAPE_OMISSION_H
#define IOTAPE_OMISSION_H

#define IOT_OMISSIONS(O)                                                                        \
	/* what is lacking at the end */                                                        \
	O(1, unfinished, "the trace was not finished: records may be missing at its end",       \
	  "%llu traces were not finished: records may be missing at their ends")                \
	O(2, torn,                                                                              \
	  "the trace was not finished, and its last chunk is torn: records may be missing at its end", \
	  "%llu traces were not finished, and their last chunks are torn: records may be missing at their ends") \
	O(3, partial, "the trace is partial", "%llu traces are partial")                        \
	O(4, descendants, "%llu process that the command had started ran on when the recording ended", \
	  "%llu processes that the command had started ran on when the recording ended")        \
	/* records */                                                                           \
	O(5, lost, "%llu record was dropped by the kernel", "%llu records were dropped by the kernel") \
	O(6, missing, "%llu record did not reach the file", "%llu records did not reach the file") \
	O(7, unknown, "%llu record is of a kind that this program does not know",               \
	  "%llu records are of kinds that this program does not know")                          \
	/* what was not recorded */                                                             \
	O(8, around, "%llu open file or mapping from before the recording went around the mounts", \
	  "%llu open files and mappings from before the recording went around the mounts")      \
	O(9, mapping, "%llu file was mapped, and accesses to the mapping were not recorded",    \
	  "%llu files were mapped, and accesses to the mappings were not recorded")             \
	O(10, async, "%llu call of asynchronous I/O was not recorded",                          \
	  "%llu calls of asynchronous I/O were not recorded")                                   \
	O(11, log, "the imported log has %llu gap", "the imported log has %llu gaps")   \
	O(12, mpi_only, "only MPI calls were recorded", "of %llu traces only MPI calls were recorded") \
	/* what a program does not do */                                                        \
	O(13, not_expressed, "%llu operation cannot be expressed in a program",                 \
	  "%llu operations cannot be expressed in a program")                                   \
	O(14, unexplained, "%llu result that no order of overlapping operations explains may differ", \
	  "%llu results that no order of overlapping operations explains may differ")           \
	O(15, unmatched, "%llu MPI call has no partner, or perhaps another one",                \
	  "%llu MPI calls have no partner, or perhaps another one")                             \
	/* nobody said */                                                                       \
	O(16, unstated, "the trace is of a version that does not state what it lacks",          \
	  "%llu traces are of a version that does not state what they lack")                    \
	/* order that a program does not have */                                                \
	O(17, contradicted,                                                                     \
	  "%llu MPI call ended before what it must have waited for, by the clocks of the trace", \
	  "%llu MPI calls ended before what they must have waited for, by the clocks of the trace") \
	O(18, sources, "of %llu MPI call it is not known whose data it waited for",             \
	  "of %llu MPI calls it is not known whose data they waited for")                       \
	/* excluded on request */                                                               \
	O(19, filtered, "%llu operation was excluded by a filter", "%llu operations were excluded by a filter") \
	O(20, paused, "the recording was paused %llu time", "the recording was paused %llu times")      \
	/* of a dump of a flight recorder */                                                    \
	O(21, evicted, "%llu older record had left the flight recorder",                        \
	  "%llu older records had left the flight recorder")                                    \
	O(22, forgotten, "the recorder had no memory for %llu name or id",               \
	  "the recorder had no memory for %llu names or ids")                            \
	/* of counters */                                                                       \
	O(23, counted, "%llu operation was counted and not recorded", "%llu operations were counted and not recorded")

enum iot_omission_reason {
#define IOT_OMISSION_VALUE(id, name, one, many) IOT_OMISSION_##name = id,
	IOT_OMISSIONS(IOT_OMISSION_VALUE)
#undef IOT_OMISSION_VALUE
	IOT_OMISSION_END
};

#define IOT_OMISSION_UNKNOWN 0xffffffffffffffffull /* of operations or bytes */

#endif
