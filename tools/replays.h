/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replays.h - replays of a trace on a storage, in a new directory there: for predict and advise.
 */
#ifndef IOTAPE_TOOLS_REPLAYS_H
#define IOTAPE_TOOLS_REPLAYS_H

#include <limits.h>

#include "compile/compile.h"
#include "replay/replay.h"

#define REPLAYS_PATH_BYTES (PATH_MAX + 64)

/**
 * struct replays - a program and where it is replayed
 * @trace: that it is compiled from
 * @engine: that runs it
 * @prepare: how to make the initial tree
 * @is_emulated: as in struct replay_options
 * @program: file of the program
 * @target: directory in which it is replayed, which was made by replays_directory()
 * @summary: of the compilation
 * @omissions: of the program, after the first replay
 */
struct replays {
	const char *trace;
	const struct replay_engine *engine;
	struct prepare_options prepare;
	bool is_emulated;
	char program[REPLAYS_PATH_BYTES];
	char target[REPLAYS_PATH_BYTES];
	struct compile_summary summary;
	struct iot_omissions omissions;
};

const char *replays_place(void);
int replays_directory(char path[REPLAYS_PATH_BYTES], const char *in);
int replays_remove(const char *path);
int replays_compile(struct replays *r);
int replays_run(struct replays *r, const char *output);

#endif
