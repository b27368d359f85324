/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * filter.h - the compiled form of a filter expression, iotape-filter(7).
 *
 * User space compiles the expression; the kernel verifies the program before it uses it. A program is straight-line
 * code with forward jumps for a stack of truth values. There are three of them, because some fields are known only at
 * the end of an operation: the program is evaluated at the beginning, and again at the end if the answer was "later".
 *
 * The bytes of a program, in the byte order of the machine (it is never stored):
 *
 *   struct iot_filter_head
 *   struct iot_filter_step[steps]
 *   data[data_bytes]		texts and sets that steps refer to
 */
#ifndef IOTAPE_FILTER_H
#define IOTAPE_FILTER_H

#include <linux/types.h>

#define IOT_FILTER_VERSION   1
#define IOT_FILTER_STEPS_MAX 256
#define IOT_FILTER_DATA_MAX  8192
#define IOT_FILTER_TEXT_MAX  255 /* bytes of one text */
#define IOT_FILTER_DEPTH_MAX 30	 /* truth values on the stack */
#define IOT_FILTER_PATHS_MAX 16	 /* tests of the path and of the extension */
#define IOT_FILTER_SET_BYTES 32	 /* one bit for each kind of record */
#define IOT_FILTER_SHARES    10000 /* field `share` is below this */

/*
 * W(id, field, type, end, sentence): types are `number`, `sign` (a signed number), `text`, `kind`, and `path`, whose
 * tests are cached. `end` is 1 if the field is known at the end of an operation only.
 */
#define IOT_FILTER_FIELDS(W)                                                                         \
	W(0, uid, number, 0, "effective user id of the task, or a name")                             \
	W(1, gid, number, 0, "effective group id of the task, or a name")                            \
	W(2, pid, number, 0, "process id of the task")                                               \
	W(3, tree, number, 0, "process id of the task or of an ancestor")                            \
	W(4, session, number, 0, "session id of the task, see setsid(2)")                            \
	W(5, comm, text, 0, "command name of the task")                                              \
	W(6, cgroup, text, 0, "path of the control group of the task, version 2")                    \
	W(7, op, kind, 0, "operation, as in iotape dump; asynchronous requests are read and write")  \
	W(8, path, path, 0, "path of the object")                                                    \
	W(9, ext, path, 0, "extension of the name of the object: what follows the last dot")         \
	W(10, object, number, 0, "inode number of the object")                                       \
	W(11, size, number, 0, "bytes requested, or the length of the range")                        \
	W(12, offset, sign, 0, "offset in the file")                                                 \
	W(13, result, sign, 1, "result: a count, or a negative errno")                               \
	W(14, duration, number, 1, "time from the beginning to the end of the operation, ns")        \
	W(15, time, number, 0, "time of day at the beginning of the operation, UTC, ns")             \
	W(16, second, number, 0, "second of the minute at the beginning of the operation")           \
	W(17, share, number, 0, "hash of the task, below IOT_FILTER_SHARES")                         \
	W(18, nth, number, 0, "index of the operation in its task")

enum iot_filter_field {
#define IOT_W(id, field, type, end, sentence) IOT_FILTER_##field = id,
	IOT_FILTER_FIELDS(IOT_W)
#undef IOT_W
	IOT_FILTER_FIELD_END
};

/* A test of a field that the operation does not have is false. */
enum iot_filter_code {
	/* push: compare a number with @value */
	IOT_FILTER_EQ = 0,
	IOT_FILTER_NE = 1,
	IOT_FILTER_LT = 2,
	IOT_FILTER_LE = 3,
	IOT_FILTER_GT = 4,
	IOT_FILTER_GE = 5,
	IOT_FILTER_MULTIPLE = 6, /* push: the number is a multiple of @value */
	IOT_FILTER_IN = 7,	 /* push: the kind is in the set at @data */
	IOT_FILTER_TEXT = 8,	 /* push: the text is the one at @data */
	IOT_FILTER_GLOB = 9,	 /* push: the text matches the pattern at @data */
	IOT_FILTER_NOT = 10,
	IOT_FILTER_AND = 11, /* of the two on top */
	IOT_FILTER_OR = 12,
	IOT_FILTER_SKIP_NO = 13,  /* go on at step @target if the top is "no"; it stays */
	IOT_FILTER_SKIP_YES = 14, /* go on at step @target if the top is "yes"; it stays */
	IOT_FILTER_CODE_END
};

/**
 * struct iot_filter_step - one step of a program
 * @code: an enum iot_filter_code
 * @field: an enum iot_filter_field, of tests
 * @target: step, of skips, behind this one; of tests of the path and the extension: their number, from 0
 * @data: offset of a text or a set in the data
 * @bytes: of the text
 * @reserved: zero
 * @value: that a number is compared with
 *
 * Members that a code does not use are zero.
 */
struct iot_filter_step {
	__u8 code;
	__u8 field;
	__u16 target;
	__u16 data;
	__u8 bytes;
	__u8 reserved;
	__u64 value;
};

/**
 * struct iot_filter_head - the beginning of a program
 * @version: IOT_FILTER_VERSION
 * @steps: number of steps, at least 1
 * @data_bytes: bytes behind them
 * @reserved: zero
 */
struct iot_filter_head {
	__u16 version;
	__u16 steps;
	__u16 data_bytes;
	__u16 reserved;
};

#define IOT_FILTER_BYTES_MAX \
	(sizeof(struct iot_filter_head) + IOT_FILTER_STEPS_MAX * sizeof(struct iot_filter_step) + IOT_FILTER_DATA_MAX)

#endif
