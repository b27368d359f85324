/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.h - the recorder of a job step on one node.
 */
#ifndef IOTAPE_SLURM_RECORDER_H
#define IOTAPE_SLURM_RECORDER_H

#include <sys/types.h>

#include "options.h"

/* The user that the step runs as, and how its trace is named. */
struct spank_step {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int group_count;
	const char *directory; /* relative outputs are in it */
	char name[512]; /* JOB.STEP-HOST */
	char command[2048]; /* program and arguments of the step; empty: not known */
};

struct spank_recorder {
	int namespace_fd; /* the mount namespace with the recorded directories; -1: nothing is recorded */
	int hold_fd; /* the recording ends when this is closed */
	int end_fd; /* end of file when the recorder has ended */
};

int spank_recorder_start(struct spank_recorder *recorder, const struct spank_policy *policy,
			 const struct spank_request *request, const struct spank_step *step, char *why, size_t room);
int spank_recorder_end(struct spank_recorder *recorder, int timeout_ms);

#endif
