/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change_requests.h - nonblocking reads and writes of MPI files. Private to change*.c.
 */
#ifndef IOTAPE_PATTERN_CHANGE_REQUESTS_H
#define IOTAPE_PATTERN_CHANGE_REQUESTS_H

#include "change_mpi.h"

/**
 * struct file_request - a nonblocking call that moves data
 * @actor: index of the rank
 * @call: index of the call among its steps
 * @data: what the call does
 * @path, @generation: the file, also @handle: role of its descriptor
 * @place: of the data, -1 if not known
 * @length_bytes: of the data
 * @first, @count: its transfers among those of all requests
 * @is_known: the transfers move the bytes of the call
 */
struct file_request {
	u64 actor;
	u64 call;
	const struct data_call *data;
	const char *path;
	u64 generation;
	u64 handle;
	s64 place;
	u64 length_bytes;
	u64 first;
	u64 count;
	bool is_known;
};

/**
 * struct file_requests - those of all ranks, by rank and in the order of their calls
 * @moved: indexes of task and step of each transfer
 */
struct file_requests {
	struct file_request *items;
	u64 count;
	u64 room;
	struct numbers moved;
};

int requests_find(struct change *c, struct file_requests *requests);
const struct file_request *requests_at(const struct file_requests *requests, u64 actor, u64 call);
void requests_free(struct file_requests *requests);

#endif
