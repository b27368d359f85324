/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option_rotate.h - the limits of the files of a recording.
 */
#ifndef IOTAPE_OPTION_ROTATE_H
#define IOTAPE_OPTION_ROTATE_H

#include "collectord/collectord.h"
#include "option.h"

#define ROTATION_STATE_BYTES (64ull << 20)

/**
 * struct fsync_options - when a trace is on the disk
 * @at_end: when a file ends
 * @period_ns: and whenever this time has passed; 0: not
 */
struct fsync_options {
	bool at_end;
	uint64_t period_ns;
};

void option_fsync(struct option_state *state, const char *argument, struct fsync_options *fsync);
const char *option_fsync_at(size_t index);
void option_rotate(struct option_state *state, char *argument, struct rotation_options *rotation);

#endif
