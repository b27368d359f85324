/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * predict.h - a prediction, for the user.
 */
#ifndef IOTAPE_PREDICT_H
#define IOTAPE_PREDICT_H

#include "analyse/stats/prediction.h"
#include "compile/compile.h"

/**
 * struct predict_result - the results to print
 * @trace: of the recorded run
 * @on: directory of the storage that is predicted
 * @comparison: the recording and the replays on it
 * @prediction: from these
 * @summary: of the program: the division of the recorded time
 * @omissions: of the program
 * @validated: the same as @prediction on the recording's storage; NULL if not requested
 * @validated_on: its directory
 */
struct predict_result {
	const char *trace;
	const char *on;
	const struct comparison *comparison;
	const struct prediction *prediction;
	const struct compile_summary *summary;
	const struct iot_omissions *omissions;
	const struct prediction *validated;
	const char *validated_on;
};

int predict_text(const struct predict_result *result);
int predict_json(const struct predict_result *result);

#endif
