/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h - rules by which operations of different tasks keep an order, and sets of them.
 *
 * Rules with a resource and "stage", "sequential" or "name" are those of ROOT (SOSP 2013) with
 * the names that its tool ARTC gives them. Operations of one task always keep their order, and
 * a task never begins before it was made.
 */
#ifndef IOTAPE_RULES_H
#define IOTAPE_RULES_H

/* R(name, as it is written, sentence) */
#define ORDER_RULES(R)                                                                            \
	R(program_seq, "program_seq", "all operations run one at a time")                         \
	R(thread_seq, "thread_seq", "operations of a task, and its requests: always kept")        \
	R(file_seq, "file_seq", "operations on a file or directory run one at a time")            \
	R(path_stage, "path_stage+", "a name is used after its creation and before its removal, " \
	  "for one object after the other")                                                       \
	R(fd_stage, "fd_stage", "a handle is used after its open and before its close")           \
	R(fd_seq, "fd_seq", "operations on a handle run one at a time")                           \
	R(aio_stage, "aio_stage", "operations after the completion of a request wait for it")     \
	R(temporal, NULL, "operations start in the order of the trace")                           \
	R(found, NULL, "an operation observes the same state as in the trace")                    \
	R(mpi, NULL, "messages and collectives")                                                  \
	R(wake, NULL, "wake-ups")

enum order_rule {
#define ORDER_RULE_VALUE(name, text, sentence) ORDER_##name,
	ORDER_RULES(ORDER_RULE_VALUE)
#undef ORDER_RULE_VALUE
	ORDER_RULE_COUNT
};

#define ORDER_BIT(name) (1u << ORDER_##name)

/* Waits of tasks in the trace: part of all sets except the empty one. */
#define ORDER_WAITS (ORDER_BIT(mpi) | ORDER_BIT(wake))

/* P(name, rules, sentence) */
#define ORDER_PRESETS(P)                                                                    \
	P(iotape, ORDER_BIT(found) | ORDER_WAITS, "an operation observes the same state as in the trace") \
	P(artc, ORDER_BIT(file_seq) | ORDER_BIT(path_stage) | ORDER_BIT(fd_stage) |         \
	  ORDER_BIT(fd_seq) | ORDER_BIT(aio_stage) | ORDER_WAITS, "the defaults of ARTC")   \
	P(single, ORDER_BIT(program_seq) | ORDER_WAITS, "all operations run one at a time") \
	P(temporal, ORDER_BIT(temporal) | ORDER_WAITS, "operations start as in the trace")  \
	P(unconstrained, 0, "tasks wait for their creation only")

#define ORDER_DEFAULT (ORDER_BIT(found) | ORDER_WAITS)

const char *order_rules_parse(const char *text, unsigned int *rules);

#endif
