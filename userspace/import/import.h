/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * import.h - the output of strace becomes a trace.
 */
#ifndef IOTAPE_IMPORT_H
#define IOTAPE_IMPORT_H

#include "lib/iotape.h"

/*
 * What a log cannot say, or says otherwise than it was thought to be.
 *
 * G(name, omission, operations, sentence): why the trace is incomplete then, a reason of omission.h,
 * and how many operations it lacks for each gap: 1, 0 or `unknown`.
 */
#define IMPORT_GAPS(G)                                                                         \
	G(foreign, log, unknown, "lines that are not strace's were skipped")                   \
	G(unfinished, log, 1, "calls had not ended when the log does")                         \
	G(cut_name, log, 1, "calls with a name that strace cut off were left out (strace -s 4096)") \
	G(no_cwd, log, 1, "calls with a relative name were left out: the log does not say in which " \
			  "directory (strace -y)")                                             \
	G(no_fd, log, 1, "calls through descriptors whose opening is not in the log were left out") \
	G(opened_before, log, unknown, "descriptors were open already, or came in a message: they are " \
				       "opened where they are used first")                     \
	G(io_uring, async, unknown, "calls of io_uring cannot be seen in strace's output")     \
	G(aio, async, unknown, "calls of asynchronous I/O were left out")                      \
	G(map, mapping, unknown, "files were mapped: accesses to mapped memory cannot be seen in " \
				 "strace's output")                                            \
	G(readdir, log, 0, "directories were read without their entries (strace -v shows them)") \
	G(target, log, 0, "symbolic links were met whose target the log does not say")         \
	G(across, log, 0, "names were moved across the root, and appear or vanish there")      \
	G(chroot, log, unknown, "calls of chroot, pivot_root, setns or mount were not followed") \
	G(contradiction, log, unknown, "times the log showed a file system that was not as expected")

enum import_gap {
#define IMPORT_GAP(name, omission, operations, sentence) IMPORT_GAP_##name,
	IMPORT_GAPS(IMPORT_GAP)
#undef IMPORT_GAP
	IMPORT_GAP_COUNT
};

/**
 * struct import_options - what to import
 * @logs: files that strace wrote
 * @log_count: their number, at least 1
 * @trace: trace to write
 * @root: directory that becomes the root of the trace, absolute, as the traced program named it
 */
struct import_options {
	char **logs;
	size_t log_count;
	const char *trace;
	const char *root;
};

/**
 * struct import_summary - what came of it
 * @calls: system calls in the logs
 * @operations: records of operations that they became
 * @tasks: tasks in the trace
 * @gaps: how often a log did not tell
 * @omissions: what the trace lacks for that
 * @message: if the import failed, who and where and why, as one sentence; else empty
 */
struct import_summary {
	u64 calls;
	u64 operations;
	u64 tasks;
	u64 gaps[IMPORT_GAP_COUNT];
	struct iot_omissions omissions;
	char message[512];
};

extern const char *const import_gap_names[IMPORT_GAP_COUNT];
extern const char *const import_gap_sentences[IMPORT_GAP_COUNT];

int import_strace(const struct import_options *options, struct import_summary *summary);

#endif
