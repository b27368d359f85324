/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uses.h - the resources of a graph, and how operations use names, handles and mappings.
 */
#ifndef IOTAPE_USES_H
#define IOTAPE_USES_H

#include "data.h"
#include "resource.h"
#include "sizes.h"

/*
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

/**
 * struct uses - resources and their users, up to an operation
 * @waiter: the operation
 * @op: the same
 * @slots: resources by kind
 * @sharing: of each file, what is known of who uses it
 * @err: of anything so far; then nothing more happens
 */
struct uses {
	struct waiter waiter;
	const struct graph_op *op;
	struct slot *slots[SLOT_KIND_COUNT];
	struct sharing *sharing;
	int err;
};

/* Does it set the mode or an owner? */
static inline bool uses_is_permission(const struct graph_op *op)
{
	return op->kind == IOT_KIND_setattr && !op->result &&
	       op->flags & (IOT_ATTR_mode | IOT_ATTR_uid | IOT_ATTR_gid);
}

int uses_open(struct uses *uses, struct graph *graph);
void uses_close(struct uses *uses);

void uses_key(struct uses *uses, enum slot_kind kind, const void *key, size_t bytes, enum use how,
	      enum edge_cause cause);
void uses_number(struct uses *uses, enum slot_kind kind, u64 number, enum use how,
		 enum edge_cause cause);
struct size *uses_size(struct uses *uses, u32 file);
void uses_permissions(struct uses *uses, u32 file, enum use how);
struct data *uses_data(struct uses *uses, u32 file);

void uses_names(struct uses *uses, enum edge_cause cause);
void uses_handles(struct uses *uses, enum edge_cause cause);
void uses_forget_handle(struct uses *uses);

#endif
