/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deeds_reading.h - what the parts of the reading of a trace share: private to deeds*.c.
 */
#ifndef IOTAPE_DEEDS_READING_H
#define IOTAPE_DEEDS_READING_H

#include <uthash.h>

#include "deeds.h"

struct access;
struct entries;
struct inherited;
struct reading;
struct request;
struct told;
struct unnamed;

/* A mapping, or a part of one. */
struct told_piece {
	u64 map;
	s64 offset_bytes;
	u64 length_bytes;
};

/* A text that was found, as PATH#GENERATION. */
struct deed_set {
	UT_hash_handle hh;
	char text[];
};

/**
 * struct reading_state - where a reading is
 * @deeds: what has been read so far
 * @names: what ids stand for at the record at hand
 * @entries: of readdirs that have not ended
 * @readings: handles of directories that are being read
 * @accesses: first accesses to pages that have been seen
 * @inherited: mappings that a fork has copied, for a child that is not known yet; and their end, NULL: not known
 * @requests: those that have been submitted or have ended
 * @unnamed: files that had lost their names before the recording
 * @told: mappings that were there before, and what forks have copied
 * @record: at hand
 */
struct reading_state {
	struct deeds *deeds;
	struct iot_names *names;
	struct entries *entries;
	struct reading *readings;
	struct access *accesses;
	struct inherited *inherited;
	struct inherited **inherited_end;
	struct request *requests;
	struct unnamed *unnamed;
	struct told *told;
	const struct iot_record *record;
};

/* deeds.c */
int deeds_task(struct deeds *deeds, u32 id, u32 *index);
struct deed *deeds_add(struct deed_task *task, const struct deed *deed);
int deeds_make(struct reading_state *s, struct deed *deed);

/* deeds_alike.c */
int deeds_take_dirent(struct reading_state *s);
int deeds_take_readdir(struct reading_state *s, u32 task, struct deed *deed);
void deeds_end_reading(struct reading_state *s, u64 handle);
int deeds_take_found(struct reading_state *s, const struct deed *deed);
int deeds_know_access(struct reading_state *s, u32 task);
int deeds_take_inherited(struct reading_state *s, u32 task, const struct deed *deed);
int deeds_take_fork(struct reading_state *s, const struct iot_rec_fork *r);
int deeds_take_submit(struct reading_state *s, u32 task);
int deeds_take_complete(struct reading_state *s, const struct iot_rec_complete *r);
void deeds_free_alike(struct reading_state *s);

/* deeds_early.c */
int deeds_take_opened(struct reading_state *s, const struct iot_rec_opened *r);
int deeds_know_map(struct reading_state *s, u32 task, const struct told_piece *piece);
int deeds_take_mapped(struct reading_state *s, const struct iot_rec_mapped *r);
int deeds_remove_unnamed(struct reading_state *s);
void deeds_free_early(struct reading_state *s);

#endif
