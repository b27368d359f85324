/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event.h - an operation of the canonical stream of a trace, in two forms: as such, and as a shape with operands.
 *
 * The canonical stream is the operations of each task as `iotape diff` compares them, and its MPI calls and
 * communicators, in the order in which the task entered them. Handles, communicators and requests have numbers by their role in
 * the task: the lowest one that is free, as descriptors have. The tasks come in the order of their ranks.
 */
#ifndef IOTAPE_PATTERN_EVENT_H
#define IOTAPE_PATTERN_EVENT_H

#include "lib/iotape.h"
#include "vector.h"

#define EVENT_FIELDS_MAX   16
#define EVENT_OPERANDS_MAX (EVENT_FIELDS_MAX + EVENT_ROLES + 2 * 16 + EVENT_LIST_MAX)
#define EVENT_LIST_MAX	   512 /* numbers in a list of ranks */

/*
 * Numbers of an event that are not fields; 0: none. Mappings have the lowest free number, too, until all of them is removed; the second
 * handle of an operation has the numbers of handles.
 */
enum event_role { EVENT_GENERATION, EVENT_HANDLE, EVENT_COMM, EVENT_REQUEST, EVENT_MAP, EVENT_TO_HANDLE, EVENT_ROLES };

#define EVENT_FIRST_ROLES 4 /* those that all patterns have */

enum event_flags {
	EVENT_IMPLIED = 1,
	EVENT_NAMELESS = 2,
	EVENT_VALUE = 4, /* it has a value, if an empty one */
};

/**
 * struct event - an operation of a task
 * @kind: of its record
 * @flags: of enum event_flags
 * @depth: of operations that it is nested in
 * @fields: those of its record that are compared, in order
 * @field_count: their number
 * @roles: by enum event_role
 * @path, @path2: as in struct canon_op
 * @value, @value_bytes: likewise
 * @list, @list_count: ranks whose data it brings
 * @site, @site_bytes: the function calls that it was made from, as text; no part of the canonical stream
 */
struct event {
	u16 kind;
	u8 flags;
	u32 depth;
	u64 fields[EVENT_FIELDS_MAX];
	u32 field_count;
	u64 roles[EVENT_ROLES];
	const char *path;
	const char *path2;
	const u8 *value;
	u32 value_bytes;
	const u64 *list;
	u32 list_count;
	const u8 *site;
	u32 site_bytes;
};

/**
 * enum task_what - types of tasks of a trace
 * @TASK_FOUND: not a task: the names that lookups of all tasks found
 */
enum task_what { TASK_RANK, TASK_OTHER, TASK_FOUND };

/* Numbers that describe a task, see TASK_FACTS. */
#define TASK_FACTS(F)                                                                  \
	F(what, "an enum task_what")                                                   \
	F(job, "index of its MPI_COMM_WORLD, from 1; 0: none")                         \
	F(rank, "in that, also of a task of the process of a rank")                    \
	F(size, "ranks of that")                                                       \
	F(process, "position of the first task of its process")                        \
	F(parent, "position of the task that made it, plus 1; 0: none")                \
	F(nth, "index among the tasks that its parent created, from 1")                \
	F(why, "as in its record")

enum task_fact {
#define TASK_FACT_VALUE(name, sentence) TASK_FACT_##name,
	TASK_FACTS(TASK_FACT_VALUE)
#undef TASK_FACT_VALUE
	TASK_FACT_COUNT
};

/* event.c */
u32 event_fields(u16 kind, const struct iot_field *fields[EVENT_FIELDS_MAX]);
u32 event_count_fields(u16 kind);
u32 event_count_late_fields(u16 kind);
bool event_has_late_fields(const struct event *event);
const struct iot_field *event_field(u16 kind, u32 index);
bool event_field_is_operand(const struct iot_field *field);

/* Has a field this name? Most names differ in their first letter. */
static inline bool event_field_is(const struct iot_field *field, const char *name)
{
	return *field->name == *name && !strcmp(field->name, name);
}

/* digest.c: a hash of the canonical stream */
struct digest;

struct digest *digest_open(void);
void digest_task(struct digest *digest, const u64 facts[TASK_FACT_COUNT]);
void digest_event(struct digest *digest, const struct event *event);
void digest_close(struct digest *digest, u8 hash[32]);

/* event.c */
void event_print(FILE *out, const struct event *event);

#endif
