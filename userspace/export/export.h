/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * export.h - a trace becomes a file of another tool.
 */
#ifndef IOTAPE_EXPORT_H
#define IOTAPE_EXPORT_H

#include <stdio.h>

#include "analyse/stats/selection.h"
#include "lib/iotape.h"

#define EXPORT_LOSSES_MAX 16

/**
 * struct export_options - selection and output of an export
 * @trace: file
 * @format: name of a format, see export_format_at()
 * @selection: records that are exported
 * @root: path of the recorded directory in the output; NULL: that of its mount, as far as known
 * @out: receives the output
 * @directory: does so, of formats that are one; it exists and is empty
 * @max_block_bytes: of codes: larger reads and writes are divided; 0: none
 */
struct export_options {
	const char *trace;
	const char *format;
	struct selection selection;
	const char *root;
	FILE *out;
	const char *directory;
	u64 max_block_bytes;
};

/**
 * struct export_loss - operations that the format cannot express, for one reason
 * @reason: a phrase
 * @count: operations
 * @kinds: of them, by kind of record
 */
struct export_loss {
	const char *reason;
	u64 count;
	u64 kinds[IOT_KIND_END];
};

/**
 * struct export_summary - the result of an export
 * @exported: operations in the output
 * @losses: operations that are not, @loss_count reasons
 * @root: path of the recorded directory in the output
 * @omissions: of the trace
 */
struct export_summary {
	u64 exported;
	struct export_loss losses[EXPORT_LOSSES_MAX];
	u32 loss_count;
	char root[PATH_MAX];
	struct iot_omissions omissions;
};

const char *export_format_at(size_t index);
const char *export_format_lacks(const char *format);
bool export_is_directory(const char *format);
const char *export_format_sentence(size_t index);
int export_trace(const struct export_options *options, struct export_summary *summary, struct iot_reject *reject);

#endif
