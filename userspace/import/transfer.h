/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * transfer.h - a transfer of data, as calls_data.c and calls_copy.c have it.
 */
#ifndef IMPORT_TRANSFER_H
#define IMPORT_TRANSFER_H

#include "model.h"

#define RW_MAX_BYTES 0x7ffff000ull /* the kernel moves no more at once */

/**
 * struct transfer - which file, where, how much
 * @file: NULL if it is not a handle of the trace
 * @has_offset: the call has an offset; otherwise the position of the file is used
 * @is_known: all of it is known
 */
struct transfer {
	struct file *file;
	u64 offset_bytes;
	u64 length_bytes;
	u32 flags;
	bool has_offset;
	bool is_known;
};

bool transfer_is_possible(const struct transfer *t, s64 result);
u32 transfer_flags(const struct file *file, s64 flags);
void transfer_read(struct import *im, const struct transfer *t, s64 result);
void transfer_write(struct import *im, struct transfer *t, s64 result);
bool take_offset(const struct call *call, u32 arg, u64 *offset_bytes);
bool clone_file(struct import *im, const struct call *call, struct file *to);

#endif
