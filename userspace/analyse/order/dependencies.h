/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dependencies.h - the dependency table: a tracker for each resource, and the uses of names, handles and mappings.
 */
#ifndef IOTAPE_DEPENDENCIES_H
#define IOTAPE_DEPENDENCIES_H

#include "tracker_data.h"
#include "tracker.h"
#include "tracker_sizes.h"

/*
 * Resources:
 *	path		a path from the root
 *	entries		of a directory
 *	size		of a file
 *	data		bytes of a file
 *	attrs		of a file or directory
 *	permissions	mode and owners of a file or directory
 *	handle, map	an open file description; a mapping, or a piece of one (live.h)
 *	position	of a handle
 *	file		a file or directory as a whole
 *	program		all of it
 */
enum slot_kind {
	SLOT_PATH,
	SLOT_ENTRIES,
	SLOT_SIZE,
	SLOT_DATA,
	SLOT_ATTRS,
	SLOT_PERMISSIONS,
	SLOT_HANDLE,
	SLOT_MAP,
	SLOT_POSITION,
	SLOT_FILE,
	SLOT_PROGRAM,
	SLOT_KIND_COUNT
};

struct slot;
struct sharing;
struct claims;

/**
 * struct dependencies - trackers of all resources, up to the current operation
 * @waiter: the current operation
 * @op: the same
 * @claims: resources that only one task uses need no tracker
 * @is_claiming: uses are claims: all uses of all operations are stated twice, first as claims, in any order
 * @slots: trackers by kind of resource
 * @sharing: of each file, the tasks that use it
 * @err: first error; later calls do nothing
 */
struct dependencies {
	struct waiter waiter;
	const struct graph_op *op;
	struct claims *claims;
	bool is_claiming;
	struct slot *slots[SLOT_KIND_COUNT];
	struct sharing *sharing;
	int err;
};

/* Does it set the mode or an owner? */
static inline bool dependencies_is_permission(const struct graph_op *op)
{
	return op->kind == IOT_KIND_setattr && !op->result &&
	       op->flags & (IOT_ATTR_mode | IOT_ATTR_uid | IOT_ATTR_gid);
}

int dependencies_open(struct dependencies *table, struct graph *graph);
void dependencies_close(struct dependencies *table);

void dependencies_key(struct dependencies *table, enum slot_kind kind, const void *key, size_t bytes, enum use how,
	      enum edge_cause cause);
void dependencies_number(struct dependencies *table, enum slot_kind kind, u64 number, enum use how,
		 enum edge_cause cause);
struct size_tracker *dependencies_size(struct dependencies *table, u32 file);
void dependencies_permissions(struct dependencies *table, u32 file, enum use how);
struct data_tracker *dependencies_data(struct dependencies *table, u32 file);

void dependencies_names(struct dependencies *table, enum edge_cause cause);
void dependencies_handles(struct dependencies *table, enum edge_cause cause);
void dependencies_forget_handle(struct dependencies *table);

#endif
