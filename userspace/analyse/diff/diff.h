/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff.h - did two traces do the same?
 *
 * Operations are compared task by task and in order: the kind, the object (by path and generation), and all fields whose
 * class is compared (schema.h): offsets, lengths, flags, modes, results. Times, ids and the state of caches are not compared.
 *
 * The equivalences, all of them:
 *
 *   1. The entries of a directory that a handle reads in consecutive calls are compared as a set. The file system determines
 *      their order and the number for each call.
 *   2. A successful look-up is recorded if the name is not in the dentry cache, whichever task is first. These look-ups are
 *      compared as a set, over all tasks.
 *   3. An access to a page of a mapping is compared once for each task, page and kind of access (read, write). Write-back and
 *      reclaim make later accesses visible again at any time.
 *   4. A mapping that fork copies counts as the child's first operation, equal to a mapping that the child creates itself. A
 *      mapping that mremap moves counts as a mapping created at its new address.
 *   5. An open that fails at its look-up (O_EXCL and an existing name, or a name that is too long) counts as a failed open.
 *   6. An asynchronous request counts as a read or write at the position of its submission. The file system may queue it or
 *      complete it at once.
 *   7. A lock request that waited counts as the same request without the wait. If the wait ended by a signal or would never
 *      have ended (EINTR, EDEADLK), the request counts as refused.
 *   8. A query for capabilities to remove may return EOPNOTSUPP or ENODATA.
 *   9. A handle that was open before the recording counts as an open and a seek to its position, and a mapping as a map, by the
 *      task that performs them in a replay, before all others. Look-ups that only the second trace has do not count, because
 *      the names were known before. The release of handles at the end of the second trace does not count if they were open
 *      when the first one ended.
 *  10. A replay makes operations harmless that would grant rights (core/replay/harmless.h): nodes of devices, set-user-ID and
 *      set-group-ID, attributes security.*. The kernel removes no privileges that a file does not have. This does not apply if
 *      struct diff_options states that privileges were kept.
 *  11. A change of attributes other than the size counts as the same with and without the flag `by_handle`: a worker of a
 *      replay changes the file of a handle without a system call that has its descriptor.
 *  12. An open of a path that is longer than a system call accepts counts as the same with and without O_NOFOLLOW: a replay
 *      opens the file by its name in its directory, and follows no link there.
 *
 * The outcomes of a replay (`iotape replay -o`) have no operations that another one implies (implied.h), and their objects are
 * those of the program, not of the file system. If the second trace is outcomes, the implied operations of the first one are
 * ignored, and generations are not compared. An msync or madvise is compared by its file, since outcomes do not contain the
 * handle of the mapping. The same holds for an operation by a name that had been removed when its record was created, and for
 * one on a handle that was opened by such a name.
 */
#ifndef IOTAPE_DIFF_H
#define IOTAPE_DIFF_H

#include "lib/iotape.h"

/**
 * struct diff_item - one difference
 * @task: in the first trace, 0 if it is about no task
 * @text: a sentence; lives as long as the diff
 */
struct diff_item {
	u32 task;
	char *text;
};

/**
 * struct diff_options - how to compare
 * @items_max: maximum number of described differences
 * @is_privileged: equivalence 10 does not hold
 */
struct diff_options {
	size_t items_max;
	bool is_privileged;
};

/**
 * struct diff_result - the result of a comparison
 * @operations: compared, of the first and the second trace
 * @left_out: operations of tasks of the second trace without a counterpart in the first
 * @omissions: of the traces; these could not be compared
 * @harmless: operations of the first that the second ran without the rights that they would grant
 * @differences: their number
 * @items: the first of them
 */
struct diff_result {
	u64 operations[2];
	u64 left_out;
	struct iot_omissions omissions[2];
	u64 harmless;
	u64 differences;
	struct diff_item *items;
	size_t item_count;
};

int diff_traces(const char *const paths[2], const struct diff_options *options,
		struct diff_result *result, int *refused, struct iot_reject *reject);
void diff_free(struct diff_result *result);

#endif
