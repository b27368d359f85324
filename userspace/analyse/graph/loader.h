/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loader.h - the current record, for graph_load.c, which makes operations of records, and
 * load_fields.c, which fills them in.
 */
#ifndef IOTAPE_LOADER_H
#define IOTAPE_LOADER_H

#include "early.h"
#include "live.h"
#include "graph_load.h"

/* A mapping that a fork copied, before it is known for which child. */
struct inherited_map {
	u32 task;
	struct graph_op op;
};

/**
 * struct early - handles and mappings from before the recording, see load_state.c
 * @root: of the first mount, as a file
 * @ns: since the beginning, for the next operation
 * @ops: opens, whose paths are known at the end, and others
 * @first_ns: when the first operation of the trace was entered; 0: there was none
 * @unnamed: files without a name
 */
struct early {
	u32 root;
	u64 ns;
	u64 first_ns;
	struct early_op *ops;
	u32 op_count;
	u32 op_room;
	struct unnamed *unnamed;
};

/**
 * struct gone - operations without a name, see load_gone.c
 * @nameless: these
 * @removals: operations that removed names
 */
struct gone {
	struct nameless *nameless;
	u32 nameless_count;
	u32 nameless_room;
	struct removals *removals; /* by object */
};

/**
 * struct loader - a trace as it is read
 * @count: records read
 * @names: as they are at the moment of the record
 * @live: open handles and mappings at that moment
 * @inherited: mappings that forks copied whose children are not known yet
 * @early: state before the recording
 * @gone: operations on removed names
 * @task: index of the record's
 * @record: the record
 * @op: the operation that becomes of it
 */
struct loader {
	struct graph *graph;
	struct tree *tree;
	load_progress_fn progress;
	u64 count;
	struct iot_names *names;
	struct live live;
	struct inherited_map *inherited;
	size_t inherited_count;
	size_t inherited_room;
	struct early early;
	struct gone gone;
	u32 task;
	const struct iot_record *record;
	struct graph_op *op;
};

/* The file that an id of an object means now, as a number; 0 is none. */
static inline int loader_file(struct loader *l, u64 object, u32 *number)
{
	return graph_file(l->graph, iot_names_identity(l->names, object), number);
}

/* load_fields.c */
int load_fields(struct loader *l);
int load_inherited(struct loader *l, u32 parent, u32 child);

/* load_gone.c */
int load_gone(struct loader *l);
int load_gone_finish(struct loader *l);
void load_gone_close(struct gone *gone);

/* load_state.c */
int load_opened_before(struct loader *l);
int load_mapped_before(struct loader *l);
int load_early_finish(struct loader *l);
void load_early_close(struct early *early);

#endif
