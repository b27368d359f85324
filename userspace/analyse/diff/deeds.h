/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deeds.h - the operations of a trace in the form in which two traces are compared.
 */
#ifndef IOTAPE_DEEDS_H
#define IOTAPE_DEEDS_H

#include "lib/iotape.h"

#define DEED_FIELDS_MAX 16

/**
 * struct deed - an operation, without anything that two runs need not agree on
 * @order: place in its task; 0 for what a task inherited
 * @nth: of those with this order, in the order of their records
 * @path: of its object; texts live as long as the deeds
 * @generation: of the object under this path, 0 if it is not to be compared
 * @path2: second path, or the text of its record, "" if none; behind the text and its zero
 *	byte, @value_bytes of a value
 * @has_value: there is a value, if an empty one
 * @is_nameless: its record does not tell by what handle it is, or that was opened by a name that had gone: and so
 *	not by what name of the file
 * @fields: those of its fields that are compared, in the order of schema.h
 * @is_merged: it was made part of an earlier one by an equivalence
 * @is_implied: another one brings it about, see implied.h
 */
struct deed {
	u32 order;
	u32 nth;
	u32 generation;
	const char *path;
	const char *path2;
	u32 value_bytes;
	u64 fields[DEED_FIELDS_MAX];
	u16 kind;
	bool is_merged;
	bool is_implied;
	bool has_value;
	bool is_nameless;
};

/**
 * struct deed_task - the deeds of a task
 * @plays: the task of another trace that it performs, 0 if none
 * @parent, @tgid, @why: as in its record
 * @nth: index among the tasks that its parent created, from 1
 */
struct deed_task {
	u32 id;
	u32 plays;
	u32 parent;
	u32 tgid;
	u32 why;
	u32 nth;
	u32 made;
	struct deed *deeds;
	u32 count;
	u32 room;
};

/* A set of texts: of the look-ups that found something. */
struct deed_set;

/**
 * struct deeds - what a trace did
 * @info: of the trace file
 * @omissions: what it lacks
 * @is_attached: something was open before, so names were known before, and not looked up
 * @is_outcomes: of a replay, as it says itself: what is implied is not in it
 */
struct deeds {
	struct iot_trace_info info;
	struct iot_omissions omissions;
	bool is_attached;
	bool is_outcomes;
	struct deed_task *tasks;
	u32 task_count;
	u32 task_room;
	struct deed_set *found;
	struct deed_texts *texts;
};

int deeds_read(const char *path, struct deeds **deeds, struct iot_reject *reject);
void deeds_match_outcomes(struct deeds *deeds);
void deeds_free(struct deeds *deeds);
bool deeds_have_found(const struct deeds *deeds, const char *what);
const char *deeds_next_found(const struct deeds *deeds, const char *previous);
bool deed_is_equal(const struct deed *a, const struct deed *b);
bool deed_is_made_harmless(const struct deed *first, const struct deed *second);
bool deed_has_other_value(const struct deed *first, const struct deed *second);
bool deed_takes_privileges(const struct deed *deed);
char *deed_text(const struct deed *deed);

#endif
