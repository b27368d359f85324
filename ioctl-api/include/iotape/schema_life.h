/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schema_life.h - the part of schema.h about tasks: their life, their waits, delays, and the order that delays showed.
 */
#ifndef IOTAPE_SCHEMA_LIFE_H
#define IOTAPE_SCHEMA_LIFE_H

/* Why a delay ended. */
#define IOT_ENDINGS(V)                                                                 \
	V(0, blocked, "all other tasks were blocked or had exited")                    \
	V(1, limit, "the time was over that delays may take")                          \
	V(2, signal, "a signal came")                                                  \
	V(3, abandoned, "the recorder lost the other nodes of the job")

#define IOT_FIELDS_fork(F)                                                             \
	F(u64, time_ns, instant, "when")                                               \
	F(u32, task, task, "the task")                                                 \
	F(u32, op, cost, "operations the task had entered by then")                    \
	F(u32, child, task, "the new task")

#define IOT_FIELDS_exec(F)                                                             \
	F(u64, time_ns, instant, "when it succeeded")                                  \
	F(u32, task, task, "the task")                                                 \
	F(u32, op, cost, "operations the task had entered by then")                    \
	F(u32, into, task, "the task it became")                                       \
	F(u64, oncpu_ns, cost, "time on a CPU in its whole life so far; 0 if not known")

#define IOT_FIELDS_exit(F)                                                             \
	F(u64, time_ns, instant, "when it began to exit")                              \
	F(u32, task, task, "the task")                                                 \
	F(u32, op, cost, "operations the task had entered by then")                    \
	F(s32, code, num, "wait status: exit code shifted by 8, or signal")            \
	F(u64, oncpu_ns, cost, "time on a CPU in its whole life")

#define IOT_FIELDS_backpressure(F)                                                     \
	F(u64, time_ns, instant, "when the wait began")                                \
	F(u64, duration_ns, span, "how long it took")                                  \
	F(u32, task, task, "the task that waited for the collector")                   \
	F(u32, op, cost, "operations the task had entered by then")

/* After the operation that removed the last name of a file. */
#define IOT_FIELDS_freed(F)                                                            \
	F(u64, time_ns, instant, "when it began")                                      \
	F(u64, duration_ns, span, "how long it took")                                  \
	F(u32, task, task, "the task that freed the space")                            \
	F(u32, op, cost, "operations the task had entered by then")

/* Just before the next operation or the exit of the task. The recorder's share is in records `backpressure`. */
#define IOT_FIELDS_cpu_wait(F)                                                         \
	F(u64, time_ns, instant, "when it was stated")                                 \
	F(u32, task, task, "the task that waited")                                     \
	F(u32, op, cost, "operations the task had entered by then")                    \
	F(u64, waited_ns, cost, "how long it waited for a CPU since its last operation")

/* In sessions that request all wake-ups: the last wait before an operation. */
#define IOT_FIELDS_timeout(F)                                                          \
	F(u64, time_ns, instant, "when the timer expired")                             \
	F(u32, task, task, "the task that had waited")                                 \
	F(u32, op, cost, "operations the task had entered by then")                    \
	F(u32, call, cost, "1 more than the number of the system call that it waited in; 0 if not known")

/* By a thread that exits, or by any in sessions that request it; a wake-up without new order has no record. */
#define IOT_FIELDS_wake(F)                                                             \
	F(u64, time_ns, instant, "when")                                               \
	F(u32, task, task, "the task that woke another one")                           \
	F(u32, op, cost, "operations the task had entered by then")                    \
	F(u32, woken, task, "the task that had waited")                                \
	F(u32, woken_op, cost, "operations that one had entered by then")              \
	F(u64, woken_runtime_ns, cost, "time that it had run on a CPU before it waited")  \
	F(u64, woken_delay_ns, cost,                                                   \
	  "1 more than the time that it had waited for a CPU since its last operation, until it slept; 0 if not known") \
	F(u32, woken_call, cost, "1 more than the number of the system call that it waited in; 0 if not known")

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
