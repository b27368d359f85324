// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect_map.c - the records of mappings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define PAGE 4096

void expect_unmap(struct comparison *c, struct area *area)
{
	const struct want want = { .kind = "unmap", .path = area->file->path, .has_result = true,
				   .has_offset = true, .offset = area->offset, .has_length = true,
				   .length = (long long)(area->end - area->start) };

	area->file->maps--;
	expect(c, &want);
	free(area);
}

static void unmap_range(struct comparison *c, unsigned long long start, unsigned long long length)
{
	struct memory *memory = c->self->memory;
	unsigned long long end = start + (length + PAGE - 1) / PAGE * PAGE;
	struct area **at, *area;

	areas_split(memory, start);
	areas_split(memory, end);
	for (at = &memory->areas; (area = *at);) {
		if (area->start < start || area->start >= end) {
			at = &area->next;
			continue;
		}
		*at = area->next;
		apply(c, RULE_UNMAP);
		expect_unmap(c, area);
	}
}

static void leave_mmap(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct file *file = file_of(c->self, (int)argument_number(call, 4));
	unsigned long long length = (unsigned long long)argument_number(call, 1);
	bool is_shared = strstr(argument_text(call, 3), "MAP_SHARED") != NULL;
	struct want want = { .kind = "map", .file = file, .has_offset = true, .has_length = true };
	struct record *record;
	struct area area;

	(void)dir, (void)path;
	length = (length + PAGE - 1) / PAGE * PAGE;
	if (!call->err)
		unmap_range(c, (unsigned long long)call->result, length);
	if (!file)
		return;
	if (call->err) {
		vfs_error(c, "map");
		return;
	}
	want.offset = argument_number(call, 5);
	want.length = (long long)length;
	record = expect(c, &want);
	if (record && !strstr(record_text(record, "flags"), "shared") != !is_shared)
		difference(c, "mapped with %s", record_text(record, "flags"));
	area = (struct area){ .start = (unsigned long long)call->result, .offset = want.offset,
			      .file = file, .is_shared = is_shared };
	area.end = area.start + length;
	areas_add(c->self->memory, area);
}

static void leave_munmap(struct comparison *c, int dir, int path)
{
	(void)dir, (void)path;
	if (!c->call->err)
		unmap_range(c, (unsigned long long)argument_number(c->call, 0),
			    (unsigned long long)argument_number(c->call, 1));
}

static struct area *first_area(const struct comparison *c, unsigned long long start,
			       unsigned long long end)
{
	struct area *area;

	for (area = c->self->memory->areas; area; area = area->next)
		if (area->start < end && area->end > start)
			return area;
	return NULL;
}

static void leave_mprotect(struct comparison *c, int dir, int path)
{
	unsigned long long start = (unsigned long long)argument_number(c->call, 0);
	unsigned long long end = start + (unsigned long long)argument_number(c->call, 1);

	(void)dir, (void)path;
	if (c->call->err || !first_area(c, start, end))
		return;
	apply(c, RULE_PROTECTION);
	areas_split(c->self->memory, start);
	areas_split(c->self->memory, end);
}

/* msync and madvise: one record for each mapping in the range, if any. */
static void each_area(struct comparison *c, const char *kind, enum rule rule, bool is_shared_only)
{
	unsigned long long start = (unsigned long long)argument_number(c->call, 0), from;
	unsigned long long end = start + (unsigned long long)argument_number(c->call, 1), to;
	struct area *area;

	end = (end + PAGE - 1) / PAGE * PAGE;
	for (area = c->self->memory->areas; area; area = area->next) {
		struct want want = { .kind = kind, .path = area->file->path, .has_result = true,
				     .has_offset = true };
		struct record *record;

		if (area->start >= end || area->end <= start || (is_shared_only && !area->is_shared))
			continue;
		from = area->start > start ? area->start : start;
		to = area->end < end ? area->end : end;
		want.offset = area->offset + (long long)(from - area->start);
		record = expect(c, &want);
		apply(c, rule);
		if (record && !strcmp(kind, "msync") &&
		    record_number(record, "end_bytes") != want.offset + (long long)(to - from) - 1)
			difference(c, "msync to %lld", record_number(record, "end_bytes"));
	}
}

static void leave_msync(struct comparison *c, int dir, int path)
{
	(void)dir, (void)path;
	if (argument_has_flag(c->call, 2, "MS_SYNC"))
		each_area(c, "msync", RULE_MSYNC, true);
}

static void leave_madvise(struct comparison *c, int dir, int path)
{
	(void)dir, (void)path;
	if (!strcmp(argument_text(c->call, 2), "MADV_WILLNEED"))
		each_area(c, "madvise", RULE_MADVISE, false);
	else if (!strcmp(argument_text(c->call, 2), "MADV_REMOVE"))
		each_area(c, "fallocate", RULE_MADVISE, true);
}

/* A moved mapping is mapped at its new address, then unmapped at its old one. */
static void move_area(struct comparison *c, struct area *old, unsigned long long start,
		      unsigned long long length)
{
	const struct want want = { .kind = "map", .path = old->file->path, .has_result = true,
				   .has_offset = true, .offset = old->offset, .has_length = true,
				   .length = (long long)length };
	struct memory *memory = c->self->memory;
	const struct record *record;
	struct area **at;

	record = expect(c, &want);
	if (record && !strstr(record_text(record, "flags"), "moved"))
		difference(c, "the mapping has not moved");
	areas_add(memory, (struct area){ .start = start, .end = start + length, .offset = old->offset,
					 .file = old->file, .is_shared = old->is_shared });
	for (at = &memory->areas; *at != old; at = &(*at)->next)
		;
	*at = old->next;
	expect_unmap(c, old);
}

/* mremap(old, old_length, new_length, flags[, new]) = new, for one mapping */
static void leave_mremap(struct comparison *c, int dir, int path)
{
	unsigned long long old = (unsigned long long)argument_number(c->call, 0);
	unsigned long long old_length = (unsigned long long)argument_number(c->call, 1);
	unsigned long long new_length = (unsigned long long)argument_number(c->call, 2);
	unsigned long long new = (unsigned long long)c->call->result;
	struct area *area = first_area(c, old, old + old_length);

	(void)dir, (void)path;
	if (c->call->err)
		return;
	if (new != old)
		unmap_range(c, new, new_length);
	if (!area)
		return;
	apply(c, RULE_MREMAP);
	areas_split(c->self->memory, old);
	areas_split(c->self->memory, old + old_length);
	area = first_area(c, old, old + old_length);
	if (new != old)
		move_area(c, area, new, new_length);
	else if (new_length < old_length)
		unmap_range(c, old + new_length, old_length - new_length);
	else
		area->end = old + new_length;
}

const struct route map_routes[] = {
	{ "madvise", leave_madvise, 0, 0 },
	{ "mlock", leave_mprotect, 0, 0 },
	{ "mmap", leave_mmap, 0, 0 },
	{ "mprotect", leave_mprotect, 0, 0 },
	{ "mremap", leave_mremap, 0, 0 },
	{ "msync", leave_msync, 0, 0 },
	{ "munlock", leave_mprotect, 0, 0 },
	{ "munmap", leave_munmap, 0, 0 },
	{},
};
