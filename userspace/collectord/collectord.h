/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * collectord.h - the collector: from a session of the kernel to a trace file.
 *
 * Runs in a process of its own, which the kernel does not record. It ends after a byte
 * on the descriptor `control`, or at the end of file: then the recorder died, and the
 * trace states that.
 */
#ifndef IOTAPE_COLLECTORD_H
#define IOTAPE_COLLECTORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/iotape.h"

struct iot_program;

#define FLIGHT_ERRNO_MAX 4095

/**
 * struct flight_options - a flight recorder: the last records stay in memory, and dumps of them are written
 * @bytes: memory for records; a third of it comes on top for ids and names
 * @window_ns: records older than this are not in a dump; 0: as many as fit
 * @latency_ns: an operation that takes so long causes a dump; 0: none does
 * @errors: a bit for each errno that causes a dump as the result of an operation
 * @dumps_max: dumps that operations cause at most
 * @at_end: write a dump at the end
 * @say: called with a sentence about each dump; NULL for failed ones only
 * @complain: called with a sentence about one that could not be written
 */
struct flight_options {
	uint64_t bytes;
	uint64_t window_ns;
	uint64_t latency_ns;
	uint64_t errors[(FLIGHT_ERRNO_MAX + 64) / 64];
	uint64_t dumps_max;
	bool at_end;
	void (*say)(const char *sentence);
	void (*complain)(const char *sentence);
};

/**
 * struct rotation_options - a trace in several files with numbers in their names, one after the other
 * @bytes: the next file begins when the file has this length; 0: whatever its length is
 * @period_ns: the next file begins after this time; 0: however long it takes
 * @keep: files that there are at most, those of earlier recordings included: the oldest are removed; 0: all stay
 * @state_bytes: memory for the objects and names that the next file needs
 * @complain: called with a sentence about a file that could not be made or removed
 */
struct rotation_options {
	uint64_t bytes;
	uint64_t period_ns;
	uint64_t keep;
	uint64_t state_bytes;
	void (*complain)(const char *sentence);
};

/**
 * struct collector_options - the session to collect, and its trace
 * @session_fd: descriptor of a new session
 * @control_fd: a byte on it, or its end, means: stop; see collector_reason()
 * @ready_fd: a byte is written to it when the session may start; -1 for none
 * @buffers: buffers of each CPU that the session has
 * @path: trace file
 * @stream_fd: a pipe or socket that the trace goes to instead; 0 for none
 * @facts: texts of the form key=value, ended by NULL
 * @last_fact: text of the same form that is the last fact, "" for none, as it stands there when the
 *	trace ends: memory shared with the process that will know it by then; NULL for none. If it does not
 *	itself say that the trace is partial, and the recording ended early, a fact `partial` follows
 * @interval_ns: read the counters of the session whenever this time has passed; 0: at the end
 * @may_stop: `iotape ctl stop` is a regular end
 * @flight: write dumps of the last records, with numbers in their names, instead of the trace; NULL for none
 * @rotation: the trace is in several files; NULL: in one
 * @syncs_at_end: each file is on the disk when it is complete
 * @sync_ns: what is written is on the disk after this time; 0: whenever the kernel writes it
 * @program: the program that is replayed, whose tasks, objects and names the records are
 *	about; NULL if it is not a replay
 */
struct collector_options {
	int session_fd;
	int control_fd;
	int ready_fd;
	unsigned int buffers;
	const char *path;
	int stream_fd;
	const char *const *facts;
	const char *last_fact;
	uint64_t interval_ns;
	bool may_stop;
	const struct flight_options *flight;
	const struct rotation_options *rotation;
	bool syncs_at_end;
	uint64_t sync_ns;
	const struct iot_program *program;
};

/**
 * struct collector_result - result of a collection
 * @records: records of the kernel that are in the file
 * @operations: of them, operations on files
 * @lost: records that the kernel dropped
 * @missing: records that the kernel sent and that did not arrive
 * @bytes: length of the file
 * @backpressure_waits: times the kernel made a task wait
 * @opened: descriptors that were open before
 * @mapped: mappings that existed before
 * @unseen_files, @unseen_maps: descriptors and mappings that bypassed the mounts then
 * @maps: files that were mapped
 * @refused: operations that a filter excluded
 * @pauses: times that it was paused
 * @paused_ns: time in pauses
 * @left_out: operations that these left out; UINT64_MAX if that is not known
 * @is_stopped: it was stopped by `iotape ctl`
 * @last_fact: the fact stated at the end, "" if none
 * @files: of a trace in several files, how many there were; 0 of others
 * @file_number: number in the name of the last one
 * @dumps: of a flight recorder, dumps that were written
 * @dumps_failed: dumps that could not be written
 * @unheeded: operations that would have caused a dump beyond the limit of dumps
 * @is_complete: the kernel announced the end, and the file was finished
 * @err: 0 or the negative errno that ended it
 */
struct collector_result {
	uint64_t records;
	uint64_t operations;
	uint64_t lost;
	uint64_t missing;
	uint64_t bytes;
	uint64_t backpressure_waits;
	uint64_t opened;
	uint64_t mapped;
	uint64_t unseen_files;
	uint64_t unseen_maps;
	uint64_t maps;
	uint64_t refused;
	uint64_t pauses;
	uint64_t paused_ns;
	uint64_t left_out;
	bool is_stopped;
	char last_fact[IOT_OMISSION_TEXT_BYTES];
	uint64_t files;
	uint64_t file_number;
	uint64_t dumps;
	uint64_t dumps_failed;
	uint64_t unheeded;
	bool is_complete;
	int err;
};

/**
 * struct collector - one that runs
 */
struct collector {
	pid_t pid;
	int control_fd;
	int result_fd;
};

int collector_start(struct collector *collector, struct collector_options *options);
void collector_finish(struct collector *collector, struct collector_result *result);
const char *collector_reason(int control_fd);
int collector_run(const struct collector_options *options, struct collector_result *result);

/* -- the names of the files of an output: file_numbers.c ----------------------------------- */

void file_number_path(char path[PATH_MAX], const char *output, uint64_t number);

/* -- the same trace of records that are made in user space: collection.c ------------------ */

struct collection;
struct iot_chunk_head;

int collection_open(const struct collector_options *options, struct collection **collection);
int collection_add(struct collection *collection, const struct iot_chunk_head *what,
		   const void *records);
int collection_close(struct collection *collection, uint64_t lost);

#endif
