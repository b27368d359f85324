/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schema_stacks.h - the part of schema.h about call sites: the function calls from which operations were made.
 */
#ifndef IOTAPE_SCHEMA_STACKS_H
#define IOTAPE_SCHEMA_STACKS_H

/* A list of 64-bit numbers, see IOT_TAILS. Stacks of different processes are different. May be recorded again. */
#define IOT_FIELDS_stack(F)                                                            \
	F(u64, time_ns, instant, "when it was seen")                                   \
	F(u64, stack, stack, "its id")                                                 \
	F(u32, task, task, "a task that had it")                                       \
	F(u32, process, task, "the first task of the process, as far as known")        \
	F(u32, near, state, "pairs in the list")

/* A part of a file mapped as code that an address of a stack is in. May be recorded again. */
#define IOT_FIELDS_code(F)                                                             \
	F(u64, time_ns, instant, "when it was seen")                                   \
	F(u32, task, task, "a task of the process")                                    \
	F(u32, process, task, "the first task of the process, as far as known")        \
	F(u64, address, state, "where it is in the process's memory")                  \
	F(u64, length_bytes, state, "its length")                                      \
	F(u64, offset_bytes, state, "where in the file it begins")                     \
	F(u64, ino, state, "inode number of the file")                                 \
	F(u64, dev, state, "device number of the file")

/* In sessions that request stacks: directly before the record of the operation, in the order of its task. */
#define IOT_FIELDS_called_from(F)                                                      \
	F(u64, time_ns, instant, "when the operation ended")                           \
	F(u64, stack, stack, "the stack")                                              \
	F(u32, task, task, "the task")                                                 \
	F(u32, op, cost, "number of the operation")

#endif
