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
 *      set; how many came in one call, and in which order, is the file system's choice.
 *   2. A look-up that found its name is seen when the name is not in the dentry cache.
 *      Which task comes first is not the program's choice: those look-ups are compared
 *      as a set, over all tasks.
 *   3. An access to a page of a mapping is compared once for each task, page and kind of
 *      access (read, write): write-back and reclaim make later ones visible again
 *      whenever they like.
 *   4. A mapping that fork copies counts as the child's first operation, and the same as
 *      one that the child makes itself; one that mremap moves, as one made where it goes.
 *   5. The look-up of an open that fails there (O_EXCL and the name is taken, the name is too
 *      long) counts as that open, failed.
 *   6. An asynchronous request counts as the read or write that it is, at the place of its
 *      submission: whether it is queued, or done at once, is the file system's choice.
 *   7. A lock that was waited for counts as the same lock without the wait. One that was waited for until a signal
 *      came, or that would have been waited for for ever (EINTR, EDEADLK), counts as refused.
 *   8. Whether there are capabilities to take away is answered with EOPNOTSUPP or ENODATA.
 *   9. A handle that was open before the recording counts as an open, and a seek to its position,
 *      and a mapping as a map, by the task that performs them in a replay, before all others. In
 *      such a trace names were known before: look-ups that only the second has do not count. And
 *      something was open when it ended: that the second gives that up, last, does not count.
 *  10. A replay makes harmless what would give rights (core/replay/harmless.h): nodes of devices, set-user-ID and
 *      set-group-ID, attributes security.*; and the kernel does not take away what a file does not have.
 *      Not if struct diff_options says that nothing was made harmless.
 *  11. A change of attributes other than the size counts as the same, whether it has the flag `by_handle` or not: a
 *      worker of a replay changes the file of a handle without a system call that has its descriptor.
 *
 * In the outcomes of a replay (`iotape replay -o`) there is nothing that another operation
 * implies (implied.h), and the object of an operation is the program's word, not the file
 * system's. Compared with those, the first trace has no implied operations and no generations, and
 * an msync or madvise is on whatever file it is: of which handle the mapping was, they do not tell; and
 * so is what was done by a name that had gone when its record was made, or with what was opened by one.
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
 * @items_max: so many differences are described
 * @is_privileged: equivalence 10 does not hold
 */
struct diff_options {
	size_t items_max;
	bool is_privileged;
};

/**
 * struct diff_result - what came of it
 * @operations: compared, of the first and the second trace
 * @left_out: operations of tasks of the second trace that perform no task of the first
 * @omissions: what the traces lack, and could not be compared
 * @harmless: operations of the first that the second performed without the rights that they would give
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
