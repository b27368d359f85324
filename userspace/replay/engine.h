/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine.h - the interface of all engines that run a program, and how to add one.
 *
 * An engine is a struct of functions. replay.c calls them, from one thread, in this order,
 * for every engine; it does the common work itself: it opens the target, checks and sets its mark,
 * takes signals, shows progress, and assembles the result.
 *
 *   open      acquire resources, refuse unsupported options; the target is not open yet
 *   set_up    the target is open: prepare everything except the first operation
 *   ready     only with several nodes: wait until all tasks can start
 *   start     let all tasks start at the same time
 *   wait      repeatedly, with `status` after each call, until no task is left
 *   cancel    after a signal, or when `wait` has failed: tasks end after their current operation
 *   close     always, as the last call, if `open` was called: end remaining tasks, finish the
 *             trace of outcomes, free everything
 *
 * With several nodes, each has an engine, which runs the tasks that are placed there
 * (partition_has_task()). From set_up on the agent, another thread, calls these:
 *
 *   moved     returns marks, for which other nodes wait, that tasks have passed
 *   advance   a task on another node has made progress
 *   signal    tasks on another node have signalled a latch
 *
 * To add one: copy engine_null.c, which is complete, and name it in the table of replay.c.
 * Engines that run operations in this process need little more than a function that
 * runs one: local_replay.h has threads, order, pace and outcomes.
 *
 * Duties of every engine: an operation starts when the one before it in its task has ended, its
 * think time has passed and its waits hold (core/replay/order.h); a result that diverges from the
 * program is counted and written to the outcomes, and the replay continues; outcomes have the
 * tasks, objects and operation numbers of the original; nothing outside of the target can be
 * reached; when the process is killed, only the target and the written part of the outcomes remain.
 */
#ifndef IOTAPE_ENGINE_H
#define IOTAPE_ENGINE_H

#include <iotape/control.h>

#include "lib/iotape.h"

struct replay_options;
struct replay_result;
struct partition;

/**
 * struct replay - a replay, as its engine sees it
 * @options: of the replay
 * @result: to be filled in by the engine: lost, is_streamed; by replay.c: all else
 * @target_fd: the target, from set_up on; -1 if the engine uses none. The engine may close it
 *	and set it to -1, else it is open until after `close`
 * @state: the engine's own
 * @last_fact: the last fact of the trace of outcomes, see struct collector_options
 * @partition: which tasks this engine runs, of those of several nodes; NULL for all
 * @why: out, with an error: a sentence
 * @room: room for it
 */
struct replay {
	const struct replay_options *options;
	struct replay_result *result;
	int target_fd;
	void *state;
	char *last_fact;
	const struct partition *partition;
	char *why;
	size_t room;
};

#define ENGINE_COPIES	(1u << IOT_DATA_COPY)
#define ENGINE_DISCARDS (1u << IOT_DATA_DISCARD)

/**
 * struct replay_engine - an engine
 * @name: as in --engine=NAME
 * @sentence: its description, for users
 * @data_modes: ENGINE_*: supported treatments of read data; 0 if it reads none
 * @uses_target: it runs operations on a target
 * @streams: it reads the program from its file: its operations need not be in memory
 * @open: see above; 0 or a negative errno with a sentence in `why`, as of all that return one
 * @set_up: see above
 * @ready: 0; 1 if it is too early: to be called again
 * @start: 0; 1 if it is too early: to be called again
 * @wait: wait until the tasks have ended, or that time has passed, or a signal came; returns the
 *	number of remaining ones, 0 if none
 * @status: its progress; may be called at any time between set_up and close
 * @lateness: lateness so far; may be called when status may
 * @moved: wait until a task has passed a mark of the partition, or that time has passed; fills in which
 *	have, and how far, and returns their number
 * @advance: 0; @ended is more than before
 * @signal: 0; @count is no more than are missing there
 * @cancel: see above; does not wait
 * @close: see above; an error means that the outcomes are not complete
 */
struct replay_engine {
	const char *name;
	const char *sentence;
	unsigned int data_modes;
	bool uses_target;
	bool streams;
	int (*open)(struct replay *replay);
	int (*set_up)(struct replay *replay);
	int (*ready)(struct replay *replay);
	int (*start)(struct replay *replay);
	int (*wait)(struct replay *replay, int timeout_ms);
	void (*status)(struct replay *replay, struct iot_replay_status *status);
	void (*lateness)(struct replay *replay, struct iot_replay_lateness *lateness);
	int (*moved)(struct replay *replay, struct iot_replay_move *moved, u32 room, u64 timeout_ns);
	int (*advance)(struct replay *replay, u32 task, u32 ended);
	int (*signal)(struct replay *replay, u32 latch, u32 count);
	void (*cancel)(struct replay *replay);
	int (*close)(struct replay *replay);
};

extern const struct replay_engine engine_kernel; /* replayfs.ko */
extern const struct replay_engine engine_thread; /* system calls of threads */
extern const struct replay_engine engine_null;	 /* nothing is run */

const struct replay_engine *engine_find(const char *name);

/* For engines: put a sentence together. Returns @err. */
int replay_refuse(struct replay *replay, const char *what, int err);

#endif
