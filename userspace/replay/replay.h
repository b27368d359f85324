/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay.h - prepare a target for a program, and replay the program there.
 */
#ifndef IOTAPE_REPLAY_H
#define IOTAPE_REPLAY_H

#include <iotape/control.h>

#include "engine.h"
#include "lib/iotape.h"

/* -- initial tree: prepare.c ------------------------------------------------------------ */

enum prepare_data {
	PREPARE_RANDOM, /* data that does not compress */
	PREPARE_ZERO,
	PREPARE_SPARSE, /* sizes without data */
};

enum prepare_cache {
	PREPARE_MATCH, /* cached is what was cached when the trace found it */
	PREPARE_COLD,
	PREPARE_WARM,
};

/**
 * struct prepare_options - how to make the initial tree
 * @target: directory, which must be empty
 * @data: contents of files
 * @cache: which of them are in the page cache afterwards
 */
struct prepare_options {
	const char *target;
	enum prepare_data data;
	enum prepare_cache cache;
};

struct prepare_result {
	u64 entries;
	u64 bytes;
};

typedef void (*prepare_progress_fn)(u64 entries, u64 bytes);

int prepare_tree(const struct iot_program *program, const struct prepare_options *options,
		 prepare_progress_fn progress, struct prepare_result *result, char *why, size_t room);

/* -- the mark of a prepared target: mark.c ------------------------------------------------ */

enum mark_state {
	MARK_UNKNOWN, /* the target cannot hold a mark */
	MARK_NONE,
	MARK_PREPARED, /* for this program */
	MARK_OTHER,    /* for another one */
	MARK_USED,     /* a replay was there */
};

int mark_set(int target_fd, const struct iot_program *program, enum mark_state state);
enum mark_state mark_get(int target_fd, const struct iot_program *program);

/* -- one replay, by any engine: replay.c ------------------------------------------------------ */

/**
 * struct replay_options - how to replay
 * @engine: who performs it
 * @program: the program as bytes, verified
 * @target: directory; NULL if the engine uses none
 * @output: trace of the outcomes, NULL for none
 * @pace, @data: as in control.h
 * @compute_scale, @pause_scale: factors for think time, in 1 / IOT_SCALE_ONE
 * @buffers: of each CPU, for the outcomes of the kernel engine
 * @is_forced: replay where the mark of prepare_tree() is missing
 * @facts: about this replay, for the outcomes: texts of the form key=value, ended by NULL
 */
struct replay_options {
	const struct replay_engine *engine;
	const struct iot_program *program;
	const char *target;
	const char *output;
	enum iot_pace pace;
	enum iot_data_mode data;
	u32 compute_scale;
	u32 pause_scale;
	unsigned int buffers;
	bool is_forced;
	const char *const *facts;
};

/**
 * struct replay_result - what came of it
 * @elapsed_ns: from the start to the end of the last task
 * @ops: operations performed
 * @diverged: of them, those with another result than in the trace
 * @is_cancelled: it was ended before its time
 */
struct replay_result {
	u64 elapsed_ns;
	u64 ops;
	u64 diverged;
	u64 stalls;
	u64 lost;
	u32 tasks;
	u32 finished;
	bool is_cancelled;
};

typedef void (*replay_progress_fn)(const struct iot_replay_status *status, u32 tasks, u64 ops);

int replay_run(const struct replay_options *options, replay_progress_fn progress,
	       struct replay_result *result, char *why, size_t room);

/* -- carriers.c: the processes and threads that the kernel engine sends into the kernel ----------- */

struct carriers;

int carriers_start(struct carriers **carriers, int replay_fd, const struct iot_program *program);
int carriers_wait(struct carriers *carriers, int timeout_ms, char *why, size_t room);
void carriers_kill(struct carriers *carriers);

#endif
