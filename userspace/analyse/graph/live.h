/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h - which handles are open and which mappings there are, at the moment of a record.
 */
#ifndef IOTAPE_LIVE_H
#define IOTAPE_LIVE_H

#include "graph.h"

/**
 * struct live - all that is open or mapped; zero at first
 * @handles: by handle
 * @objects: that handles are open on
 * @maps: mappings by handle and process
 * @places: of each mapping, where its pieces are among them
 * @piece_count: numbers that were given so far
 */
struct live {
	struct open_handle *handles;
	struct open_object *objects;
	struct live_maps *maps;
	struct map_place *places;
	u64 piece_count;
};

/**
 * struct live_asked - properties that identify the mapping of an operation without its number
 * @tgid: the process
 * @handle: that was mapped
 * @offset_bytes: that is mapped
 * @enter_ns: start of the operation; a later mapping is a different one
 * @is_shared: private mappings are not asked
 */
struct live_asked {
	u32 tgid;
	u64 handle;
	u64 offset_bytes;
	u64 enter_ns;
	bool is_shared;
};

int live_opened(struct live *l, u64 id, u64 handle, bool is_named);
void live_released(struct live *l, u64 handle);
u64 live_handle(struct live *l, u64 id);
bool live_is_named(struct live *l, u64 handle);

int live_mapped(struct live *l, u32 tgid, struct graph_op *op);
int live_unmapped(struct live *l, u32 tgid, const struct iot_rec_unmap *r, struct graph_op *op);
int live_touched(struct live *l, u32 tgid, u64 enter_ns, const struct iot_rec_touch *r, u64 *piece);
bool live_has_map(struct live *l, u32 tgid, const struct iot_rec_mapped *r);
u64 live_map(struct live *l, const struct live_asked *asked);

void live_close(struct live *l);

#endif
