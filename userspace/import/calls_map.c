// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_map.c - mapped files: the mappings of a process, and the calls that change them.
 *
 * Accesses to mapped memory are not system calls, so there are no touches.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "model.h"

#define PAGES_UP(bytes) (((bytes) + PAGE_BYTES - 1) & ~(u64)(PAGE_BYTES - 1))

struct memory *memory_make(struct import *im)
{
	struct memory *memory = import_allocate(im, sizeof(*memory));

	if (memory)
		memory->references = 1;
	return memory;
}

/* The mappings of a process are in the order of their addresses; each has a reference to its file. */
static void add(struct import *im, struct memory *memory, const struct mapping *mapping)
{
	size_t i;

	if (memory->count == memory->room) {
		size_t room = memory->room ? 2 * memory->room : 8;
		struct mapping *mappings = reallocarray(memory->mappings, room, sizeof(*mappings));

		if (!mappings) {
			im->err = -ENOMEM;
			return;
		}
		memory->mappings = mappings;
		memory->room = room;
	}
	for (i = memory->count; i && memory->mappings[i - 1].begin > mapping->begin; i--)
		memory->mappings[i] = memory->mappings[i - 1];
	memory->mappings[i] = *mapping;
	memory->count++;
	file_get(mapping->file);
}

/* The mapping that an address is in; NULL if it is of no file of the trace. */
static struct mapping *mapping_at(const struct memory *memory, u64 address)
{
	size_t i;

	for (i = 0; i < memory->count; i++)
		if (address >= memory->mappings[i].begin && address < memory->mappings[i].end)
			return &memory->mappings[i];
	return NULL;
}

/* Split the mapping at an address in two; the first ends there. */
static void split(struct import *im, struct memory *memory, u64 address)
{
	struct mapping *mapping = mapping_at(memory, address), behind;

	if (!mapping || mapping->begin == address)
		return;
	behind = *mapping;
	behind.begin = address;
	behind.offset_bytes += address - mapping->begin;
	mapping->end = address;
	add(im, memory, &behind);
}

static void put_map(struct import *im, const struct mapping *mapping, u32 flags, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_map };

	if (mapping->is_unsure)
		return;
	record.map.object = emit_object(im, mapping->file->inode);
	record.map.handle = mapping->file->handle;
	record.map.map = mapping->map;
	record.map.offset_bytes = (s64)mapping->offset_bytes;
	record.map.length_bytes = mapping->end - mapping->begin;
	record.map.prot = mapping->prot;
	record.map.flags = mapping->flags | flags;
	record.map.result = result;
	emit_op(im, &record);
}

static void put_unmap(struct import *im, const struct mapping *mapping)
{
	struct iot_record record = { .kind = IOT_KIND_unmap };

	if (mapping->is_unsure)
		return;
	record.unmap.object = emit_object(im, mapping->file->inode);
	record.unmap.map = mapping->map;
	record.unmap.offset_bytes = (s64)mapping->offset_bytes;
	record.unmap.length_bytes = mapping->end - mapping->begin;
	emit_op(im, &record);
}

/**
 * memory_copy() - copy the mappings at a fork
 */
struct memory *memory_copy(struct import *im, const struct memory *from)
{
	struct memory *memory = memory_make(im);
	size_t i;

	for (i = 0; memory && i < from->count; i++) {
		struct mapping copy = from->mappings[i];

		copy.map = ++im->last_map;
		copy.flags &= ~(u32)IOT_MAP_locked;
		put_map(im, &copy, IOT_MAP_inherited, 0);
		add(im, memory, &copy);
	}
	return memory;
}

/* A part of the addresses is free again. */
static void unmap_range(struct import *im, struct memory *memory, u64 begin, u64 end)
{
	size_t i = 0;

	split(im, memory, begin);
	split(im, memory, end);
	while (i < memory->count) {
		struct mapping mapping = memory->mappings[i];

		if (mapping.begin < begin || mapping.end > end) {
			i++;
			continue;
		}
		put_unmap(im, &mapping);
		memmove(&memory->mappings[i], &memory->mappings[i + 1],
			(--memory->count - i) * sizeof(mapping));
		file_put(im, mapping.file);
	}
}

/**
 * memory_put() - drop a reference; with the last one everything is unmapped
 */
void memory_put(struct import *im, struct memory *memory)
{
	if (--memory->references)
		return;
	unmap_range(im, memory, 0, (u64)-1);
	free(memory->mappings);
	free(memory);
}

/**
 * memory_lose() - a call was not understood that changes mappings
 */
void memory_lose(struct memory *memory)
{
	size_t i;

	for (i = 0; i < memory->count; i++)
		memory->mappings[i].is_unsure = true;
}

/* -- calls ------------------------------------------------------------------------------------- */

static u32 our_prot(s64 prot)
{
	return (prot & PROT_READ ? IOT_PROT_read : 0) | (prot & PROT_WRITE ? IOT_PROT_write : 0) |
	       (prot & PROT_EXEC ? IOT_PROT_exec : 0);
}

static u32 our_flags(s64 flags)
{
	return ((flags & MAP_TYPE) != MAP_PRIVATE ? IOT_MAP_shared : 0) |
	       (flags & MAP_LOCKED ? IOT_MAP_locked : 0) | (flags & MAP_SYNC ? IOT_MAP_sync : 0);
}

/* A mapping cannot extend beyond the end of memory, even if a log states it. */
static bool take_range(s64 begin, u64 length_bytes, u64 *from, u64 *to)
{
	*from = (u64)begin;
	*to = (u64)begin + PAGES_UP(length_bytes);
	return length_bytes && length_bytes < 1ull << 62 && *to > *from;
}

/* A range that a call is about, from an argument on. Return: is it there, known and possible? */
static bool range_of(const struct call *call, u32 arg, u64 *from, u64 *to)
{
	s64 begin, length;

	return call_number(call, arg, &begin) && call_number(call, arg + 1, &length) &&
	       take_range(begin, (u64)length, from, to);
}

static bool has_failed(const struct call *call)
{
	return call->result < 0 && call->result > -4096;
}

/* Where in the file a mapping begins. Return: is it known? */
static bool take_file_offset(const struct import *im, const struct call *call, u64 *offset_bytes)
{
	s64 offset;

	if (!call_number(call, 5, &offset))
		return false;
	*offset_bytes = (u64)offset;
	if (text_is(call->name, "mmap2") && im->is_mmap2_by_page)
		*offset_bytes *= PAGE_BYTES;
	return *offset_bytes <= FILE_MAX_BYTES;
}

void call_mmap(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct mapping mapping = {};
	s64 prot, flags, length;
	bool is_known = call_flags(call, 2, &prot) != VALUE_UNKNOWN;

	is_known &= call_flags(call, 3, &flags) != VALUE_UNKNOWN && (flags & MAP_TYPE || flags & MAP_ANONYMOUS);
	if (has_failed(call)) {
		if (!(flags & MAP_ANONYMOUS))
			file_of(im, call, 4);
		return; /* the file system is not asked, but for errors of its own */
	}
	if (!call_number(call, 1, &length) ||
	    !take_range(call->result, (u64)length, &mapping.begin, &mapping.end)) {
		call_not_understood(im, call, kind);
		return;
	}
	unmap_range(im, im->task->memory, mapping.begin, mapping.end);
	if (is_known && flags & MAP_ANONYMOUS)
		return;
	mapping.file = file_inside(im, call, 4);
	if (!is_known || (mapping.file && !take_file_offset(im, call, &mapping.offset_bytes))) {
		call_not_understood(im, call, kind);
		return;
	}
	if (!mapping.file)
		return;
	inode_is(mapping.file->inode, IOT_TYPE_file);
	mapping.prot = our_prot(prot);
	mapping.flags = our_flags(flags);
	mapping.map = ++im->last_map;
	gap(im, IMPORT_GAP_map);
	put_map(im, &mapping, 0, 0);
	add(im, im->task->memory, &mapping);
}

void call_munmap(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u64 begin, end;

	if (call->result)
		return;
	if (range_of(call, 0, &begin, &end))
		unmap_range(im, im->task->memory, begin, end);
	else
		call_on_memory(im, call, kind);
}

/* The protection of mappings of a range, and whether they are locked. */
struct change {
	u32 prot_mask, prot;
	u32 flags_mask, flags;
};

static bool is_changed(const struct mapping *mapping, const struct change *change)
{
	return (mapping->prot & change->prot_mask) != change->prot ||
	       (mapping->flags & change->flags_mask) != change->flags;
}

static void split_changed(struct import *im, u64 address, const struct change *change)
{
	const struct mapping *mapping = mapping_at(im->task->memory, address);

	if (mapping && is_changed(mapping, change))
		split(im, im->task->memory, address);
}

/* No operation, but mappings that are changed in part are several from now on. */
static void change_range(struct import *im, const struct change *change, u64 begin, u64 end)
{
	struct memory *memory = im->task->memory;
	size_t i;

	split_changed(im, begin, change);
	split_changed(im, end, change);
	for (i = 0; i < memory->count; i++) {
		struct mapping *m = &memory->mappings[i];

		if (m->begin < begin || m->end > end)
			continue;
		m->prot = (m->prot & ~change->prot_mask) | change->prot;
		m->flags = (m->flags & ~change->flags_mask) | change->flags;
	}
}

static void change_pages(struct import *im, const struct call *call, const struct call_kind *kind,
			 const struct change *change)
{
	s64 address, length;
	u64 begin, end;

	if (call->result)
		return;
	if (!call_number(call, 0, &address) || !call_number(call, 1, &length) ||
	    !take_range(address - address % PAGE_BYTES, (u64)length + (u64)(address % PAGE_BYTES), &begin, &end)) {
		if (length)
			call_on_memory(im, call, kind);
		return;
	}
	change_range(im, change, begin, end);
}

void call_mprotect(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct change change = { .prot_mask = IOT_PROT_read | IOT_PROT_write | IOT_PROT_exec };
	s64 prot;

	if (call_flags(call, 2, &prot) == VALUE_UNKNOWN) {
		call_on_memory(im, call, kind);
		return;
	}
	change.prot = our_prot(prot);
	change_pages(im, call, kind, &change);
}

void call_mlock(struct import *im, const struct call *call, const struct call_kind *kind)
{
	const bool is_unlock = !strcmp(kind->name, "munlock");
	const struct change change = { .flags_mask = IOT_MAP_locked,
				       .flags = is_unlock ? 0 : IOT_MAP_locked };

	change_pages(im, call, kind, &change);
}

/* Applies to the current mappings; calls of mmap(2) do not show the effect on later ones. */
void call_mlockall(struct import *im, const struct call *call, const struct call_kind *kind)
{
	const bool is_unlock = !strcmp(kind->name, "munlockall");
	const struct change change = { .flags_mask = IOT_MAP_locked,
				       .flags = is_unlock ? 0 : IOT_MAP_locked };
	s64 flags = MCL_CURRENT;

	if (call->result)
		return;
	if (!is_unlock && call_flags(call, 0, &flags) != VALUE_KNOWN)
		call_on_memory(im, call, kind);
	else if (flags & MCL_CURRENT)
		change_range(im, &change, 0, (u64)-1);
}

void call_mremap(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct memory *memory = im->task->memory;
	struct mapping *old, moved;
	u64 from, from_end, to, to_end;
	s64 length;

	if (has_failed(call))
		return;
	if (!range_of(call, 0, &from, &from_end) || !call_number(call, 2, &length) ||
	    !take_range(call->result, (u64)length, &to, &to_end)) {
		call_on_memory(im, call, kind);
		return;
	}
	if (to == from) {
		old = mapping_at(memory, from);
		if (to_end < from_end)
			unmap_range(im, memory, to_end, from_end);
		else if (old && old->end == from_end)
			old->end = to_end;
		return;
	}
	unmap_range(im, memory, to, to_end);
	old = mapping_at(memory, from);
	if (!old)
		return;
	moved = *old;
	moved.offset_bytes += from - old->begin;
	moved.begin = to;
	moved.end = to_end;
	moved.map = ++im->last_map;
	put_map(im, &moved, IOT_MAP_moved, 0);
	add(im, memory, &moved);
	unmap_range(im, memory, from, from_end);
}

void call_msync(struct import *im, const struct call *call, const struct call_kind *kind)
{
	const struct memory *memory = im->task->memory;
	struct iot_record record;
	u64 begin, end;
	s64 flags;
	size_t i;

	if (call->result == -EINVAL)
		return;
	if (call_flags(call, 2, &flags) == VALUE_UNKNOWN || !range_of(call, 0, &begin, &end)) {
		call_on_memory(im, call, kind);
		return;
	}
	for (i = 0; flags & MS_SYNC && i < memory->count; i++) {
		const struct mapping *m = &memory->mappings[i];
		u64 from = begin > m->begin ? begin : m->begin, to = end < m->end ? end : m->end;

		if (from >= to || !(m->flags & IOT_MAP_shared) || m->is_unsure)
			continue;
		record = (struct iot_record){ .kind = IOT_KIND_msync };
		record.msync.object = emit_object(im, m->file->inode);
		record.msync.handle = m->file->handle;
		record.msync.offset_bytes = (s64)(m->offset_bytes + (from - m->begin));
		record.msync.end_bytes = record.msync.offset_bytes + (s64)(to - from) - 1;
		record.msync.flags = IOT_RW_datasync; /* the kernel always requests it so */
		record.msync.result = call->result;
		emit_op(im, &record);
	}
}

static void advise(struct import *im, const struct mapping *m, u64 from, u64 to, bool is_remove)
{
	struct iot_record record = { .kind = is_remove ? IOT_KIND_fallocate : IOT_KIND_madvise };
	u64 offset_bytes = m->offset_bytes + (from - m->begin);

	if (is_remove) {
		record.fallocate.object = emit_object(im, m->file->inode);
		record.fallocate.handle = m->file->handle;
		record.fallocate.offset_bytes = (s64)offset_bytes;
		record.fallocate.length_bytes = to - from;
		record.fallocate.flags = IOT_FALLOC_punch_hole | IOT_FALLOC_keep_size;
		record.fallocate.old_size_bytes = m->file->inode->size_bytes;
	} else {
		record.madvise.object = emit_object(im, m->file->inode);
		record.madvise.handle = m->file->handle;
		record.madvise.offset_bytes = (s64)offset_bytes;
		record.madvise.length_bytes = to - from;
		record.madvise.advice = MADV_WILLNEED;
	}
	emit_op(im, &record);
}

static bool is_on_file(const struct memory *memory, u64 begin, u64 end)
{
	size_t i;

	for (i = 0; i < memory->count; i++)
		if (begin < memory->mappings[i].end && end > memory->mappings[i].begin)
			return true;
	return false;
}

/* Advice that reads or writes pages at once: accesses that the trace would have. */
static bool is_access(s64 advice)
{
	return advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE;
}

void call_madvise(struct import *im, const struct call *call, const struct call_kind *kind)
{
	const struct memory *memory = im->task->memory;
	u64 begin, end;
	s64 advice;
	size_t i;

	if (call->result)
		return;
	if (!call_number(call, 2, &advice) || !range_of(call, 0, &begin, &end)) {
		call_on_memory(im, call, kind);
		return;
	}
	if (is_access(advice) && is_on_file(memory, begin, end)) {
		gap_named(im, IMPORT_GAP_call, call->name, call->args[2]);
		gap_moved(im, IMPORT_GAP_call, call);
	}
	for (i = 0; (advice == MADV_WILLNEED || advice == MADV_REMOVE) && i < memory->count; i++) {
		const struct mapping *m = &memory->mappings[i];
		u64 from = begin > m->begin ? begin : m->begin, to = end < m->end ? end : m->end;

		if (from < to && !m->is_unsure)
			advise(im, m, from, to, advice == MADV_REMOVE);
	}
}
