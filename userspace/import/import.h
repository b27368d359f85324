/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * import.h - a log of another tool becomes a trace.
 */
#ifndef IOTAPE_IMPORT_H
#define IOTAPE_IMPORT_H

#include "lib/iotape.h"

/*
 * Information that a log lacks, or that has no record. Gaps of the kinds `call` and `flag` are also
 * counted by name.
 *
 * G(name, omission, operations, sentence): why the trace is incomplete then, a reason of omission.h, or
 * `nothing` if it is complete all the same; and how many operations it lacks for each gap: 1, 0 or `unknown`.
 */
#define IMPORT_GAPS(G)                                                                              \
	G(foreign, log, unknown, "lines in another format were skipped")                            \
	G(unfinished, log, 1, "calls on files did not end before the end of their thread or of the log") \
	G(cut_name, log, 1, "calls with a truncated name were left out (use strace -s 4096)")       \
	G(no_cwd, log, 1, "calls with a relative name were left out: the log does not show their "  \
			  "directory (use strace -y)")                                              \
	G(no_fd, log, 1, "calls through descriptors without an open in the log were left out")      \
	G(opened_before, log, unknown, "descriptors were open before, or were received in a message: they are " \
				       "opened at their first use")                                 \
	G(io_uring, async, unknown, "calls of io_uring: their requests are not in the log")         \
	G(aio, async, 1, "requests of asynchronous I/O were left out")                              \
	G(map, mapping, unknown, "files were mapped: accesses to mapped memory are not in the log") \
	G(readdir, log, 0, "directories were read without their entries (strace -v shows them)")    \
	G(target, log, 0, "symbolic links have a target that the log does not show")                \
	G(across, log, 0, "names were moved across the root: they appear or disappear")             \
	G(chroot, log, unknown, "calls of chroot, pivot_root, setns or mount were not followed")    \
	G(contradiction, log, unknown, "times the log contradicted the expected state of the file system") \
	G(call, log, 1, "unsupported calls on files below the root were left out")                  \
	G(flag, log, 0, "unknown flags of calls were ignored")                                      \
	G(damaged, log, unknown, "lines of calls were truncated or damaged")                        \
	G(clock, nothing, 0, "times the clock was set back: the next line is assumed to follow at once") \
	G(by_order, log, unknown, "processes of another PID namespace were identified by the order of " \
				  "their creation only (strace --decode-pids=pidns)")               \
	G(umask, nothing, 0, "calls asked for permissions of new files, and the log does not show the umask: " \
			     "022 is assumed")                                                      \
	G(size, log, 0, "calls depend on an unknown size of a file")                                \
	/* formats other than strace's */                                                           \
	G(only_data, log, unknown, "logs have reads and writes only: opens, closes and all operations on names are missing") \
	G(incomplete, log, unknown, "tables are incomplete according to the log")                   \
	G(no_errno, log, 1, "calls failed for an unknown reason and were left out")                 \
	G(no_result, log, 0, "operations have no result in the log: complete success is assumed")   \
	G(no_request, log, 0, "reads and writes have only the transferred size in the log: it is assumed to be the requested size") \
	G(no_entries, log, 0, "directories were read, and the log shows neither their entries nor the number of these: one for each " \
			      "32 bytes is assumed")                                              \
	G(no_flags, log, 0, "opens have no flags in the log: reading and writing is assumed")       \
	G(no_birth, log, 0, "calls of clone3 have no flags in the log: each is assumed to have created a thread, or a process if that executed a " \
			    "program, or ended, before the call returned")                        \
	G(no_handle, log, 0, "operations name a file that is open more than once: the last open is assumed") \
	G(lost, log, unknown, "events were lost before they reached the log")                       \
	G(no_time, log, 0, "operations have no time in the log: only their order is known")         \
	G(one_task, log, 0, "logs do not show the threads of calls: one thread is assumed")         \
	G(no_task, nothing, 0, "threads were assumed, because calls of a process overlap")          \
	G(no_duration, nothing, 0, "operations have no duration in the log")                        \
	G(no_wall_clock, nothing, 0, "logs have no start time: the clock of the trace begins in 1970") \
	G(upper, nothing, 0, "calls of libraries above the file system were left out: their file operations are in the log, too")

enum import_gap {
#define IMPORT_GAP(name, omission, operations, sentence) IMPORT_GAP_##name,
	IMPORT_GAPS(IMPORT_GAP)
#undef IMPORT_GAP
	IMPORT_GAP_COUNT
};

/**
 * struct import_cost - the time that strace takes, see cost.c
 * @gap_ns: between two calls of a task, 0 if unknown
 * @call_ns: within the duration of each call
 */
struct import_cost {
	u32 gap_ns;
	u32 call_ns;
};

#define IMPORT_PASSES 3

/**
 * struct import_options - inputs and output of an import
 * @format: name of the format of the logs; NULL: that which their contents show
 * @logs: files that the tool wrote
 * @log_count: their number, at least 1
 * @trace: trace to write
 * @roots: directories that become the roots of the trace, absolute, as the traced program named them
 * @root_count: their number, at least 1
 * @directory: working directory of the first thread, for formats that do not show it; NULL: not known
 * @calibration: log of strace from which the time that it takes is derived; NULL: the logs themselves
 * @keeps_cost: this time remains part of the think time
 * @has_umask, @umask: file mode creation mask of the command that strace started, if it is known
 * @facts: about the run, with its creator, each KEY=VALUE, and NULL behind the last; NULL: none but the logs is known
 * @progress: called now and then with the bytes of the logs that were read and will be, or NULL: each is read IMPORT_PASSES
 *	times
 */
struct import_options {
	const char *format;
	char **logs;
	size_t log_count;
	const char *trace;
	char **roots;
	size_t root_count;
	const char *directory;
	const char *calibration;
	bool keeps_cost;
	bool has_umask;
	u32 umask;
	const char *const *facts;
	void (*progress)(u64 done_bytes, u64 total_bytes);
};

/**
 * struct import_named - how often something was found that has a name
 * @kind: the gap that it is counted in
 * @name: of the call, possibly with a part of it, as in `ioctl.FITRIM`
 */
struct import_named {
	enum import_gap kind;
	u64 count;
	char *name;
};

/**
 * struct import_summary - the result of an import
 * @calls: system calls in the logs
 * @operations: records of operations that they became
 * @tasks: tasks in the trace
 * @gaps: number of gaps in the logs, by kind
 * @named: of some of them, by name; free with import_summary_free()
 * @named_count: their number
 * @cost: the time that strace takes, as subtracted
 * @is_calibrated: it was derived from a calibration
 * @held_ns: sum of the time that was subtracted
 * @omissions: omissions of the trace because of the gaps
 * @message: if the import failed, program, position and reason, as one sentence; else empty
 */
struct import_summary {
	u64 calls;
	u64 operations;
	u64 tasks;
	u64 gaps[IMPORT_GAP_COUNT];
	struct import_named *named;
	size_t named_count;
	struct import_cost cost;
	bool is_calibrated;
	u64 held_ns;
	struct iot_omissions omissions;
	char message[512];
};

extern const char *const import_gap_names[IMPORT_GAP_COUNT];
extern const char *const import_gap_sentences[IMPORT_GAP_COUNT];

int import_logs(const struct import_options *options, struct import_summary *summary);
const char *import_format_at(size_t index);
void import_summary_free(struct import_summary *summary);
const char *import_call_class(const char *name);
const char *import_call_at(size_t index);

#endif
