/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * advise_gain.h - the gain of the changes that hints propose, measured by replays of the changed job.
 */
#ifndef IOTAPE_TOOLS_ADVISE_GAIN_H
#define IOTAPE_TOOLS_ADVISE_GAIN_H

#include "advise/advise.h"
#include "analyse/stats/prediction.h"
#include "replay/replay.h"

/**
 * struct gain_time - replays of one program
 * @median_s, @min_s, @max_s: seconds
 */
struct gain_time {
	double median_s;
	double min_s;
	double max_s;
};

/**
 * struct gain - the gain of a hint
 * @why: why it cannot be predicted; "" if it was measured
 * @changed: operations or sequences that the change replaces
 * @before, @after: replays without and with the change
 * @diverged: operations that diverged, in the replay where they were most
 */
struct gain {
	char why[640];
	u64 changed;
	struct gain_time before;
	struct gain_time after;
	u64 diverged;
};

/**
 * struct gains - gains of all hints that were found
 * @hints: by enum advise_hint
 * @diverged: in any replay
 */
struct gains {
	struct gain hints[ADVISE_HINT_COUNT];
	bool has_diverged;
};

/**
 * struct gain_options - how to measure gains
 * @on: directory of the storage
 * @runs: replays of each program, from 1 to PREDICTION_RUNS_MAX
 */
struct gain_options {
	const char *on;
	u32 runs;
	const struct replay_engine *engine;
};

int gains_measure(const struct gain_options *options, const char *trace, const struct advise *advise, struct gains *gains);
bool gain_is_within_scatter(const struct gain *gain);

#endif
