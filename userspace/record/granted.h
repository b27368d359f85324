/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * granted.h - between grant.c and granted.c: before and after iotape-mount, which has no other input than its arguments.
 */
#ifndef IOTAPE_RUN_GRANTED_H
#define IOTAPE_RUN_GRANTED_H

#include <limits.h>
#include <stdint.h>
#include <sys/resource.h>

/**
 * struct granted_answer - what granted.c sends
 * @err: 0 with a descriptor of the session; then nothing else, if the command could be executed; else a negative errno
 * @code: as in struct runner
 * @session: number of the session
 * @why: after an error: a sentence
 */
struct granted_answer {
	int err;
	int code;
	uint64_t session;
	char why[480];
};

/**
 * struct granted_state - what the execution of a set-user-ID program takes from a process
 * @stack: limits of the stack
 * @personality: as from personality(2)
 * @environment_bytes: of the texts that follow, each ended by a zero byte
 * @directory: the working directory; "" if it is not known
 */
struct granted_state {
	struct rlimit stack;
	uint64_t personality;
	uint64_t environment_bytes;
	char directory[PATH_MAX];
};

#endif
