// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost.c - the time that strace adds to a run is not think time.
 *
 * strace stops a task at the entry and at the exit of each system call. So strace takes a time between each two calls of a task,
 * and a shorter one within each call. Where it delays a task between two operations of the trace, records
 * `backpressure` state for how long: strace is the collector, and the task waits for it.
 *
 * Without a calibration, both times are those of the shortest gaps and calls of the log. They are lower bounds, because
 * the program does something between and within its calls, too, and because the time that strace takes increases with the
 * length of the line. The shortest few are skipped: the times of a log are rounded, and are those of two clocks.
 * A log of few calls, or without short gaps, gives no estimate. All calls that return have a duration: others are refused.
 */
#include <stdlib.h>

#include "model.h"

#define BIN_NS	       100 /* strace prints microseconds at least */
#define SAMPLES_MIN    100
#define SHORTEST_SKIPPED 10

static void sample(struct cost_samples *samples, u64 ns)
{
	u64 bin = ns / BIN_NS;

	samples->count++;
	if (bin < COST_BINS)
		samples->bins[bin]++;
}

/* The time at a rank of the sorted samples. Return: 0 if it is too long to be strace's. */
static u32 at_rank(const struct cost_samples *samples, u64 rank)
{
	u64 before = 0;
	u32 bin;

	for (bin = 0; bin < COST_BINS; bin++) {
		before += samples->bins[bin];
		if (before > rank)
			return bin * BIN_NS;
	}
	return 0;
}

/**
 * cost_look() - take the gap or the duration of a call as a sample, in the first pass
 * @im: has a sighting of the thread
 * @event: any event of the log
 */
void cost_look(struct import *im, const struct event *event)
{
	struct sighting *sighting = sighting_find(im, event->pid);

	if (!sighting)
		return;
	if (event->kind == EVENT_ENTER && sighting->left_ns && event->time_ns >= sighting->left_ns)
		sample(&im->gap_samples, event->time_ns - sighting->left_ns);
	if (event->kind != EVENT_LEAVE)
		return;
	sighting->left_ns = event->time_ns;
	if (event->call->has_duration)
		sample(&im->call_samples, event->call->duration_ns);
}

/**
 * cost_estimate() - a lower bound of the time that strace takes, from a log of any program
 * @im: after the first pass; its cost is set, to 0 if the log gives no estimate
 */
void cost_estimate(struct import *im)
{
	if (im->gap_samples.count < SAMPLES_MIN)
		return;
	im->cost.gap_ns = at_rank(&im->gap_samples, SHORTEST_SKIPPED);
	im->cost.call_ns = im->cost.gap_ns ? at_rank(&im->call_samples, SHORTEST_SKIPPED) : 0;
}

static int look_at_all(struct import *im)
{
	struct event event;
	int n;

	while ((n = log_next(im->log, &event)) > 0) {
		if (sighting_add(im, event.pid, event.time_ns))
			return -ENOMEM;
		cost_look(im, &event);
	}
	return n;
}

/**
 * cost_calibrate() - the time that strace takes, from a log of a program that makes only short calls
 * @path: of the log; half of its gaps and calls are assumed to be shorter than those that strace causes, half to be longer
 * @cost: out
 * @message: the reason, if it fails
 * @room: bytes of it
 *
 * Return: 0 or a negative errno.
 */
int cost_calibrate(const char *path, struct import_cost *cost, char *message, size_t room)
{
	struct import_summary summary = {};
	struct import im = { .summary = &summary };
	int err = log_open(&im.log);

	if (!err)
		err = log_add_file(im.log, path);
	if (!err)
		err = look_at_all(&im);
	if (err) {
		snprintf(message, room, "%s", im.log && *log_message(im.log) ? log_message(im.log) : strerror(-err));
	} else {
		cost->gap_ns = at_rank(&im.gap_samples, im.gap_samples.count / 2);
		cost->call_ns = at_rank(&im.call_samples, im.call_samples.count / 2);
		if (im.gap_samples.count < SAMPLES_MIN)
			err = -ENODATA;
		if (err)
			snprintf(message, room, "%s: a calibration requires at least %d system calls with their durations", path,
				 SAMPLES_MIN + 1);
		else if (!cost->gap_ns) {
			err = -ENODATA;
			snprintf(message, room, "%s: no calibration: most calls are more than %d us apart", path,
				 COST_BINS * BIN_NS / 1000);
		}
	}
	births_exit(&im);
	log_close(im.log);
	return err;
}

static u64 lesser(u64 x, u64 y)
{
	return x < y ? x : y;
}

/**
 * cost_enter() - a task enters a call: subtract strace's share from the time since the last one
 * @im: has the task
 * @gap_ns: that time
 *
 * Return: the task's share.
 */
u64 cost_enter(struct import *im, u64 gap_ns)
{
	u64 cost_ns = lesser(gap_ns, im->cost.gap_ns);

	im->task->held_ns += cost_ns;
	im->task->ops_before = im->task->ops;
	im->task->id_before = im->task->id;
	return gap_ns - cost_ns;
}

/**
 * cost_leave() - a task left a call: what strace took of a call without an operation is part of the time between two operations
 * @im: has the task, if it still exists
 */
void cost_leave(struct import *im, const struct call *call)
{
	struct task *task = im->task;

	if (task && call->has_duration && task->ops == task->ops_before && task->id == task->id_before)
		task->held_ns += lesser(call->duration_ns, im->cost.call_ns);
}
