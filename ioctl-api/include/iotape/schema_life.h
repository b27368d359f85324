/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schema_delays.h - the part of schema.h about delays, and the order that they showed.
 */
#ifndef IOTAPE_SCHEMA_DELAYS_H
#define IOTAPE_SCHEMA_DELAYS_H

/* Why a delay ended. */
#define IOT_ENDINGS(V)                                                                 \
	V(0, blocked, "all other tasks were blocked or had exited")                    \
	V(1, limit, "the time was over that delays may take")                          \
	V(2, signal, "a signal came")

/* Requested by IOT_IOC_DELAY, see struct iot_delay. */
#define IOT_FIELDS_delayed(F)                                                          \
	F(u64, time_ns, instant, "when the delay began")                               \
	F(u64, duration_ns, span, "how long it took")                                  \
	F(u32, task, task, "the task that was delayed")                                \
	F(u32, op, cost, "operations the task had entered by then")                    \
	F(u32, ending, ending, "why it ended")                                         \
	F(u32, asleep, cost, "other tasks that were blocked at its end: they slept")   \
	F(u32, idle, cost, "other tasks that were blocked at its end: they ran, or were woken, but entered no operation") \
	F(u32, busy, cost, "other tasks that were not blocked at its end")

/* Of a trace from `iotape discover`: not seen in this run, but in others with delays. */
#define IOT_FIELDS_discovered(F)                                                       \
	F(u64, time_ns, instant, "when the waiting task could continue at the earliest") \
	F(u64, ended_ns, instant, "when the operation that it waits for had ended")    \
	F(u32, task, task, "the task that another one waits for")                      \
	F(u32, op, cost, "its operation that ends first")                              \
	F(u32, waiter, task, "the task that waits")                                    \
	F(u32, waiter_op, cost, "operations that it had entered by then; it waits before the next one") \
	F(u64, waiter_runtime_ns, cost, "time that it had run on a CPU before it waited") \
	F(u32, delays, cost, "delays of the first task that showed the wait")

#endif
