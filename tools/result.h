/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - the result of a replay, for its user.
 */
#ifndef IOTAPE_RESULT_H
#define IOTAPE_RESULT_H

#include "replay/replay.h"

#define RESULT_PACE_BYTES 64

const char *result_pace(const struct replay_options *options, char text[RESULT_PACE_BYTES]);
const char *result_data(const struct replay_options *options);
int result_code(const struct replay_options *options, const struct replay_result *r,
		const struct iot_omissions *omissions);
void result_text(const char *program, const struct replay_options *options,
		 const struct replay_result *r, const struct iot_omissions *omissions);
void result_json(const struct replay_options *options, const struct replay_result *r,
		 const struct iot_omissions *omissions);

#endif
