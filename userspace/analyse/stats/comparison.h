/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comparison.h - several runs side by side: originals and replays of them.
 */
#ifndef IOTAPE_COMPARISON_H
#define IOTAPE_COMPARISON_H

#include "profile.h"

#define COMPARISON_RUNS_MAX 12

/**
 * struct comparison_run - one run
 * @path: of its trace
 * @profile: of the trace
 * @is_replay: of a program
 * @place: directory that it ran in
 * @pace: of a replay, "" of an original
 * @data: of a replay: the treatment of read data; "" of an original
 * @seconds: from its beginning to the end of its last operation
 * @original: of a replay, the run to compare with: one on the same storage, else the recording that
 *	it replays; NULL if there is neither
 * @change: of a replay at natural pace, seconds / those of the original - 1; NAN of any other run
 * @is_same_storage: both were on one file system, so that @change is an error of the replay; else it is
 *	a prediction
 */
struct comparison_run {
	const char *path;
	struct profile *profile;
	bool is_replay;
	const char *place;
	const char *pace;
	const char *data;
	double seconds;
	const struct comparison_run *original;
	double change;
	bool is_same_storage;
};

/**
 * struct comparison_warning - a limit of the comparison with a run
 * @text: a sentence
 * @is_omission: about an omission of the run's trace
 */
struct comparison_warning {
	char *text;
	bool is_omission;
};

/**
 * struct comparison - runs side by side
 * @runs: in the order in which they were named
 * @warnings: limits of the comparison
 */
struct comparison {
	struct comparison_run runs[COMPARISON_RUNS_MAX];
	u32 run_count;
	struct comparison_warning *warnings;
	u32 warning_count;
};

int comparison_read(const char *const *paths, u32 count, struct comparison *comparison,
		    u32 *refused, struct iot_reject *reject);
void comparison_free(struct comparison *comparison);
bool comparison_has_kind(const struct comparison *comparison, u16 kind);
bool comparison_has_mpi(const struct comparison *comparison);
double comparison_share(const struct comparison *comparison, u16 kind);

#endif
