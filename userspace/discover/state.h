/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - a discovery: private to this directory.
 */
#ifndef IOTAPE_DISCOVER_STATE_H
#define IOTAPE_DISCOVER_STATE_H

#include "discover.h"
#include "edges.h"
#include "run.h"

/**
 * struct wait - the time before a place of the run without delays
 * @waiting_ns: the part that the task waited, or may have waited, for an unknown reason
 * @explained_ns: when the last operation had ended that the place waits for, as far as orders were found
 * @counted: the thread that was counted last as a possible reason
 */
struct wait {
	u64 waiting_ns;
	u64 explained_ns;
	u32 counted;
};

/**
 * struct discovery - a discovery
 * @paths: of all runs
 * @base: the run without delays
 * @waits: for each task of @base, one for each place
 * @threads: for each task of @base, the number of its thread
 * @is_delayed: for each thread of @base, by its number
 * @runs: those with delays
 * @orders: found
 * @known: known from elsewhere
 * @known_waits: those of them for which a task waits
 * @has_changed: the last run has changed the orders
 * @waiting_ns: that all runs together may explain
 */
struct discovery {
	struct run_paths *paths;
	bool has_base;
	struct run base;
	struct wait **waits;
	u32 *threads;
	bool *is_delayed;
	struct run *runs;
	u32 count;
	struct orders orders;
	struct orders known;
	struct orders known_waits;
	bool has_changed;
	u64 waiting_ns;
};

#endif
