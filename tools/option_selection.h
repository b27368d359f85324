/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option_selection.h - rows of option tables for commands that select records.
 */
#ifndef IOTAPE_OPTION_SELECTION_H
#define IOTAPE_OPTION_SELECTION_H

#include "analyse/stats/selection.h"
#include "option.h"

#define SELECTION_TIME_MAX (1ull << 62)

/* Rows for a struct of options with a struct selection as its member @selection. */
#define OPTION_ROWS_SELECTION(type, selection)                                                              \
	{ "since", 0, OPTION_DURATION, "TIME", .max = SELECTION_TIME_MAX, .unit = OPTION_S,                 \
	  .field = OPTION_FIELD(type, selection.since_ns),                                                  \
	  .help = "only from this time since the start of the trace, in seconds or with a unit" },          \
	{ "until", 0, OPTION_DURATION, "TIME", .min = 1, .max = SELECTION_TIME_MAX, .unit = OPTION_S,       \
	  .field = OPTION_FIELD(type, selection.until_ns), .help = "only before this time" },               \
	{ "task", 't', OPTION_COUNT, "ID", .min = 1, .max = UINT32_MAX,                                     \
	  .field = OPTION_FIELD(type, selection.task), .help = "only of this task" },                       \
	{ "rank", 0, OPTION_COUNT, "RANK", .max = UINT32_MAX - 1, .field = OPTION_FIELD(type, selection.rank), \
	  .given = OPTION_FIELD(type, selection.has_rank), .help = "only of this rank of MPI_COMM_WORLD" }, \
	{ "path", 'p', OPTION_TEXT, "GLOB", .field = OPTION_FIELD(type, selection.pattern),                 \
	  .help = "only operations on paths that match the shell pattern" },                                \
	{ "op", 0, OPTION_TEXT, "KIND[,...]", .word_at = option_operation_at, .set = option_set_operations, \
	  .field = OPTION_FIELD(type, selection), .help = "only operations of these kinds" },                  \
	{ "filter", 0, OPTION_TEXT, "EXPR|@FILE", .set = option_set_filter,                                  \
	  .field = OPTION_FIELD(type, selection), .help = "only operations for which the expression is true, see "   \
							  "iotape-filter(7)" }

const char *option_operation_at(size_t index);
void option_set_filter(struct option_state *state, char *argument);
void option_set_operations(struct option_state *state, char *list);

#endif
