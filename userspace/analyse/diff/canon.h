/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * canon.h - canonical operations: those of a trace in the form in which two traces are compared.
 */
#ifndef IOTAPE_CANON_H
#define IOTAPE_CANON_H

#include "lib/iotape.h"

#define CANON_FIELDS_MAX 16

/**
 * struct canon_op - an operation, without the parts that may differ between two runs
 * @order: position in its task; 0 for inherited handles and mappings
 * @nth: of those with this order, in the order of their records
 * @path: of its object; texts live as long as the operations
 * @generation: of the object under this path, 0 if it is not to be compared
 * @path2: second path, or the text of its record, "" if none; behind the text and its zero
 *	byte, @value_bytes of a value
 * @has_value: there is a value, if an empty one
 * @is_nameless: its record lacks the handle, or the handle was opened by a name that had been
 *	removed: so the name of the file that it used is unknown
 * @fields: those of its fields that are compared, in the order of schema.h, @field_count of them; they live as long as the operations
 * @is_merged: an equivalence merged it into an earlier one
 * @is_implied: another operation causes it, see implied.h
 */
struct canon_op {
	u32 order;
	u32 nth;
	u32 generation;
	const char *path;
	const char *path2;
	u64 *fields;
	u32 value_bytes;
	u16 kind;
	u8 field_count;
	bool is_merged;
	bool is_implied;
	bool has_value;
	bool is_nameless;
};

/**
 * struct canon_task - the operations of a task
 * @plays: the task of another trace that it performs, 0 if none
 * @parent, @tgid, @why: as in its record
 * @nth: index among the tasks that its parent created, from 1
 * @open_fields: of canon_walk(): fields of an operation that the next one may change
 */
struct canon_task {
	u32 id;
	u32 plays;
	u32 parent;
	u32 tgid;
	u32 why;
	u32 nth;
	u32 made;
	struct canon_op *ops;
	u32 count;
	u32 room;
	u64 *open_fields;
};

/* A set of texts: of the look-ups that found something. */
struct canon_set;

/* Tasks by id. */
struct canon_index;

/* The tasks of nodes, of a merged trace. */
struct canon_nodes;

/* Memory for fields. */
struct canon_fields;

/**
 * struct canon - the canonical operations of a trace
 * @info: of the trace file
 * @omissions: of the trace
 * @is_attached: something was open before, so names were known before, and not looked up
 * @is_outcomes: the trace is the outcomes of a replay, by its own facts: implied operations are not in it
 * @is_walk: canon_walk() reads it, which does not keep the operations
 */
struct canon {
	struct iot_trace_info info;
	struct iot_omissions omissions;
	bool is_attached;
	bool is_outcomes;
	bool is_walk;
	struct canon_task *tasks;
	u32 task_count;
	u32 task_room;
	struct canon_index *index;
	struct canon_nodes *nodes;
	struct canon_fields *fields;
	struct canon_set *found;
	struct canon_texts *texts;
};

/*
 * canon_walk_fn - called by canon_walk() for each record
 * @record: has been taken into account
 * @task: if the record is an operation, its task, else NULL; it has the operations that this record makes, and before them the last
 *	one if canon_op_is_open()
 *
 * Return: 0, or a negative errno, which ends the walk.
 */
typedef int (*canon_walk_fn)(void *context, const struct iot_record *record, const struct canon_task *task);

int canon_read(const char *path, struct canon **canon, struct iot_reject *reject);
int canon_walk(const char *path, canon_walk_fn fn, void *context, struct canon **canon, struct iot_reject *reject);
bool canon_op_is_open(const struct canon_op *op);
void canon_match_outcomes(struct canon *canon);
void canon_forget_task(struct canon *canon, u32 task);
void canon_free(struct canon *canon);
u32 canon_node_of(const struct canon *canon, u32 task);
bool canon_have_found(const struct canon *canon, const char *what);
const char *canon_next_found(const struct canon *canon, const char *previous);
bool canon_op_is_equal(const struct canon_op *a, const struct canon_op *b);
bool canon_op_is_made_harmless(const struct canon_op *first, const struct canon_op *second);
bool canon_op_has_other_value(const struct canon_op *first, const struct canon_op *second);
bool canon_op_takes_privileges(const struct canon_op *op);
char *canon_op_text(const struct canon_op *op);

#endif
