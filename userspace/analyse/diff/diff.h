/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff.h - did two traces do the same?
 *
 * Compared are, task by task and in order, the operations: kind, object (by path and
 * generation), and all fields whose class is compared (schema.h): offsets, lengths,
 * flags, modes, results. Times, ids and the state of caches are not.
 *
 * The equivalences, all of them:
 *
 *   1. Entries of a directory that a handle reads one after the other are compared as a
 *      set; their number for each call and their order are the file system's choice.
 *   2. A look-up that found its name is seen when the name is not in the dentry cache.
 *      The program does not determine the first task: these look-ups are compared as a
 *      set, over all tasks. 3. An access to a page of a mapping is compared once for each task, page and kind of
 *      access (read, write): write-back and reclaim make later ones visible again
 *      whenever they like.
 *   4. A mapping that fork copies counts as the child's first operation, equal to a mapping that
 *      the child makes itself; one that mremap moves counts as a mapping made at its new address.
 *   5. The look-up of an open that fails there (O_EXCL and the name is taken, the name is too
 *      long) counts as that open, failed.
 *   6. An asynchronous request counts as the read or write that it is, at the place of its
 *      submission: whether it is queued, or done at once, is the file system's choice.
 *   7. A lock that was waited for counts as the same lock without the wait. One that was waited for until a signal
 *      came, or that would have waited forever (EINTR, EDEADLK), counts as refused.
 *   8. A query for capabilities to remove may return EOPNOTSUPP or ENODATA.
 *   9. A handle that was open before the recording counts as an open, and a seek to its position,
 *      and a mapping as a map, by the task that performs them in a replay, before all others. In
 *      such a trace names were known before: look-ups that only the second has do not count. And
 *      handles were open when it ended: their release at the end of the second trace does not
 *      count.
 *  10. A replay makes operations harmless that would grant rights (core/replay/harmless.h): nodes
 *      of devices, set-user-ID and set-group-ID, attributes security.*; and the kernel removes no
 *      privileges that a file does not have. Does not apply if struct diff_options states
 *      that privileges were kept. 11. A change of attributes other than the size counts as the same, whether it has the flag `by_handle` or not: a
 *      worker of a replay changes the file of a handle without a system call that has its descriptor.
 *  12. An open of a path that is longer than a system call accepts counts as the same with and without O_NOFOLLOW: a
 *      replay opens the file by its name in its directory, and follows no link there.
 *
 * In the outcomes of a replay (`iotape replay -o`) there is nothing that another operation
 * implies (implied.h), and the object of an operation is the program's word, not the file
 * system's. Compared with those, the first trace has no implied operations and no generations, and
 * an msync or madvise is compared by its file, since outcomes do not contain the handle of the
 * mapping; so is an operation by a name that had been removed when its record was made, or on a
 * handle that was opened by such a name.
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
