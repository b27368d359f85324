/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * canon_reading.h - the state of the reading of a trace: private to canon*.c.
 */
#ifndef IOTAPE_CANON_READING_H
#define IOTAPE_CANON_READING_H

#include <uthash.h>

#include "canon.h"

struct access;
struct entries;
struct inherited;
struct reading;
struct request_pairs;
struct known_map;
struct unnamed;

/* A mapping, or a part of one. */
struct map_piece {
	u64 map;
	s64 offset_bytes;
	u64 length_bytes;
};

/* A text that was found, as PATH#GENERATION. */
struct canon_set {
	UT_hash_handle hh;
	char text[];
};

/**
 * struct reading_state - the state of a reading
 * @canon: the result so far
 * @names: paths of ids at the current record
 * @entries: of readdirs that have not ended
 * @readings: handles of directories that are being read
 * @accesses: first accesses to pages that have been seen
 * @inherited: mappings that a fork has copied, for a child that is not known yet; and their end, NULL: not known
 * @requests: those that have been submitted or have ended
 * @unnamed: files that had lost their names before the recording
 * @known_maps: mappings from the state dump, and copies by forks
 * @record: the current one
 * @fields: of the operation that is made of it
 */
struct reading_state {
	struct canon *canon;
	struct iot_names *names;
	struct entries *entries;
	struct reading *readings;
	struct access *accesses;
	struct inherited *inherited;
	struct inherited **inherited_end;
	struct request_pairs *requests;
	struct unnamed *unnamed;
	struct known_map *known_maps;
	const struct iot_record *record;
	u64 fields[CANON_FIELDS_MAX];
};

/* canon_tasks.c */
int canon_task_get(struct canon *canon, u32 id, u32 *index);
int canon_op_keep(struct canon *canon, struct canon_op *op);
struct canon_op *canon_op_add(struct canon *canon, u32 task, const struct canon_op *op);
void canon_free_tasks(struct canon *canon);

/* canon_nodes.c */
int canon_take_node(struct canon *canon, const struct iot_record *r);
int canon_localize(struct reading_state *s, struct canon_op *op);
void canon_free_nodes(struct canon *canon);

/* canon.c */
int canon_take_record(void *context, struct iot_names *names, const struct iot_record *r);
int canon_read_trace(struct reading_state *s, const char *path, iot_walk_fn fn, void *context, struct iot_reject *reject);
int canon_op_make(struct reading_state *s, struct canon_op *op);

/* canon_alike.c */
int canon_open_alike(struct reading_state *s);
int canon_take_dirent(struct reading_state *s);
int canon_take_readdir(struct reading_state *s, u32 task, struct canon_op *op);
void canon_end_reading(struct reading_state *s, u64 handle);
int canon_take_found(struct reading_state *s, const struct canon_op *op);
int canon_know_access(struct reading_state *s, u32 task);
int canon_take_inherited(struct reading_state *s, u32 task, const struct canon_op *op);
int canon_take_fork(struct reading_state *s, const struct iot_rec_fork *r);
int canon_take_submit(struct reading_state *s, u32 task);
int canon_take_complete(struct reading_state *s, const struct iot_rec_complete *r);
void canon_free_alike(struct reading_state *s);

/* canon_early.c */
int canon_take_opened(struct reading_state *s, const struct iot_rec_opened *r);
int canon_know_map(struct reading_state *s, u32 task, const struct map_piece *piece);
int canon_take_mapped(struct reading_state *s, const struct iot_rec_mapped *r);
int canon_remove_unnamed(struct reading_state *s);
void canon_free_early(struct reading_state *s);

#endif
