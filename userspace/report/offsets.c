// SPDX-License-Identifier: GPL-2.0-only
/*
 * offsets.c - where in the busiest files data was accessed, and when.
 */
#include "state.h"

#include <stdlib.h>

typedef unsigned __int128 u128;

/* -- accesses ------------------------------------------------------------------------------------------ */

/* Return: 1 if it is a range of a file, else 0. */
static u32 access_set(struct report_access *access, const char *path, s64 offset_bytes, u64 bytes, bool is_write)
{
	*access = (struct report_access){ path, (u64)offset_bytes, bytes, is_write };
	return *path && offset_bytes >= 0 && bytes;
}

/* Both kinds of copies begin with the same fields. */
static u32 accesses_of_copy(struct iot_names *names, const struct iot_rec_copy_range *r, const char *path,
			    struct report_access accesses[2])
{
	struct iot_label target = iot_names_handle(names, r->to_handle);
	u64 bytes = (u64)r->result;
	u32 count = access_set(&accesses[0], path, r->offset_bytes, bytes, false);

	if (!target.generation)
		target = iot_names_object(names, r->to_object);
	return count + access_set(&accesses[count], target.path, r->to_offset_bytes, bytes, true);
}

/**
 * offsets_accesses() - the ranges of files that an operation reads or writes
 * @names: as of the record
 * @r: an operation
 * @accesses: filled in; of asynchronous requests, the requested range
 *
 * Return: their number, at most 2.
 */
u32 offsets_accesses(struct iot_names *names, const struct iot_record *r, struct report_access accesses[2])
{
	u64 bytes = r->op.result > 0 ? (u64)r->op.result : 0;
	const char *path;

	if (r->op.result < 0 || iot_kind_info(r->kind)->group != IOT_GROUP_op)
		return 0;
	path = iot_names_of_record(names, r).path;
	switch (r->kind) {
	case IOT_KIND_read:
		return access_set(accesses, path, r->read.offset_bytes, bytes, false);
	case IOT_KIND_write:
		return access_set(accesses, path, r->write.offset_bytes, bytes, true);
	case IOT_KIND_submit:
		return access_set(accesses, path, r->submit.offset_bytes, r->submit.length_bytes,
				  r->submit.flags & IOT_RW_write);
	case IOT_KIND_touch:
		return access_set(accesses, path, r->touch.offset_bytes, r->touch.length_bytes,
				  r->touch.flags & IOT_TOUCH_write);
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		return bytes ? accesses_of_copy(names, &r->copy_range, path, accesses) : 0;
	default:
		return 0;
	}
}

/* -- survey -------------------------------------------------------------------------------------------- */

static u64 end_bytes(const struct report_access *access)
{
	return report_end_ns(access->begin_bytes, access->bytes); /* the same sum, which stays in 64 bits */
}

/**
 * offsets_survey() - take the file of an access into account
 *
 * Return: 0 or -ENOMEM.
 */
int offsets_survey(struct report_state *s, const struct report_access *access)
{
	size_t bytes = strlen(access->path);
	struct report_file *file;

	HASH_FIND(hh, s->files, access->path, bytes, file);
	if (!file) {
		file = calloc(1, sizeof(*file) + bytes + 1);
		if (!file)
			return -ENOMEM;
		memcpy(file->path, access->path, bytes + 1);
		file->begin_bytes = UINT64_MAX;
		file->map = LANE_NONE;
		HASH_ADD_KEYPTR(hh, s->files, file->path, bytes, file);
	}
	file->bytes = report_end_ns(file->bytes, access->bytes);
	if (access->begin_bytes < file->begin_bytes)
		file->begin_bytes = access->begin_bytes;
	if (end_bytes(access) > file->end_bytes)
		file->end_bytes = end_bytes(access);
	return 0;
}

static bool is_busier(const struct report_file *a, const struct report_file *b)
{
	return a->bytes != b->bytes ? a->bytes > b->bytes : strcmp(a->path, b->path) < 0;
}

/**
 * offsets_choose() - after the survey: the files that get a map, those with the most bytes
 *
 * Return: 0 or -ENOMEM.
 */
int offsets_choose(struct report_state *s)
{
	struct report_file *file, *busiest;
	struct report *report = s->report;
	struct report_map *map;

	report->files = HASH_COUNT(s->files);
	report->maps = calloc(s->limits->maps + 1ul, sizeof(*report->maps));
	if (!report->maps)
		return -ENOMEM;
	while (report->map_count < s->limits->maps) {
		busiest = NULL;
		for (file = s->files; file; file = file->hh.next)
			if (file->map == LANE_NONE && (!busiest || is_busier(file, busiest)))
				busiest = file;
		if (!busiest)
			break;
		map = &report->maps[report->map_count];
		map->path = strdup(busiest->path);
		if (!map->path)
			return -ENOMEM;
		map->begin_bytes = busiest->begin_bytes;
		map->end_bytes = busiest->end_bytes;
		map->bytes = busiest->bytes;
		busiest->map = report->map_count++;
	}
	return 0;
}

/* -- maps ---------------------------------------------------------------------------------------------- */

/* The first offset of a row. */
static u64 row_begin(const struct report_map *map, u32 row)
{
	return map->begin_bytes + (u64)((u128)(map->end_bytes - map->begin_bytes) * row / REPORT_MAP_ROWS);
}

static u32 row_of(const struct report_map *map, u64 offset)
{
	u64 span = map->end_bytes - map->begin_bytes;
	u32 row = span && offset > map->begin_bytes ? (u32)((u128)(offset - map->begin_bytes) * REPORT_MAP_ROWS / span) : 0;

	if (row >= REPORT_MAP_ROWS)
		row = REPORT_MAP_ROWS - 1;
	while (row && row_begin(map, row) > offset)
		row--;
	while (row + 1 < REPORT_MAP_ROWS && row_begin(map, row + 1) <= offset)
		row++;
	return row;
}

/**
 * offsets_take() - add an access to the map of its file, if that has one
 * @ns: when it began
 */
void offsets_take(struct report_state *s, const struct report_access *access, u64 ns)
{
	u64 begin = access->begin_bytes, end = end_bytes(access);
	u32 bin = report_axis_bin(&s->report->map_axis, ns), row;
	struct report_file *file;
	struct report_map *map;

	HASH_FIND(hh, s->files, access->path, strlen(access->path), file);
	if (!file || file->map == LANE_NONE)
		return;
	map = &s->report->maps[file->map];
	for (row = row_of(map, begin); row < REPORT_MAP_ROWS && begin < end; row++) {
		u64 until = row + 1 < REPORT_MAP_ROWS && row_begin(map, row + 1) < end ? row_begin(map, row + 1) : end;
		u64 *cell = access->is_write ? &map->written_bytes[row][bin] : &map->read_bytes[row][bin];

		*cell += until - begin;
		begin = until;
	}
}

/**
 * offsets_free() - free the survey
 */
void offsets_free(struct report_state *s)
{
	struct report_file *file, *next;

	HASH_ITER (hh, s->files, file, next) {
		HASH_DEL(s->files, file);
		free(file);
	}
}
