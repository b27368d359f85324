/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prediction.h - the duration of a recorded run on another storage, from replays there, and the causes of the difference.
 */
#ifndef IOTAPE_PREDICTION_H
#define IOTAPE_PREDICTION_H

#include "comparison.h"

#define PREDICTION_RUNS_MAX (COMPARISON_RUNS_MAX - 1)

/* G(name, heading): the groups into which the time of a run is divided. */
#define PREDICTION_GROUPS(G)             \
	G(operation, "operations")       \
	G(file, "files")                 \
	G(process, "processes")

#define PREDICTION_NAME_BYTES 96

enum prediction_group {
#define PREDICTION_GROUP(name, heading) PREDICTION_##name,
	PREDICTION_GROUPS(PREDICTION_GROUP)
#undef PREDICTION_GROUP
	PREDICTION_GROUP_COUNT
};

/**
 * struct prediction_part - a part of the time in operations
 * @name: of the operation, path of the file, or command and pid of the process in the recording; lives as
 *	long as the comparison and the prediction
 * @recorded_ns: in the recording
 * @predicted_ns: in the replays, on average
 */
struct prediction_part {
	const char *name;
	double recorded_ns;
	double predicted_ns;
};

/**
 * struct prediction - a time, its scatter, and the causes of the difference
 * @runs: number of replays
 * @recorded_s: seconds of the recording
 * @predicted_s: median of the replays
 * @min_s, @max_s: the shortest and the longest replay
 * @diverged: operations that diverged, in the replay where they were most
 * @operations: time in operations, of all tasks
 * @order_ns: time in which tasks of a replay waited for others, on average
 * @late_ns: how late think times of a replay ended, added up, on average
 * @parts: of the time in operations, by group: the largest difference first
 * @process_names: of the parts by process
 */
struct prediction {
	u32 runs;
	double recorded_s;
	double predicted_s;
	double min_s;
	double max_s;
	u64 diverged;
	struct prediction_part operations;
	double order_ns;
	double late_ns;
	struct prediction_part *parts[PREDICTION_GROUP_COUNT];
	u32 part_counts[PREDICTION_GROUP_COUNT];
	char (*process_names)[PREDICTION_NAME_BYTES];
};

int prediction_make(const struct comparison *comparison, struct prediction *prediction);
void prediction_free(struct prediction *prediction);
bool prediction_is_within_noise(const struct prediction *prediction);

#endif
