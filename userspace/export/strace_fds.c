// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_fds.c - numbers of descriptors and addresses of mappings, which a trace does not have.
 *
 * A trace has handles, and a flush for each descriptor that was closed. Each process has one descriptor for a handle; if
 * it uses the handle after a flush, there were several, and a copy is made before that close. A child has the
 * descriptors of its parent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "strace.h"

#define FD_FIRST    3
#define MAP_FIRST   0x7f0000000000ull
#define PAGE_BYTES  4096ull

struct fd_key {
	u64 process;
	u64 handle;
};

struct fd {
	UT_hash_handle hh;
	struct fd_key key;
	u64 uses; /* that are still to come */
	int number; /* 0: not open */
};

struct map {
	UT_hash_handle hh;
	u64 id;
	u64 process;
	u64 handle;
	u64 object;
	u64 address;
	u64 offset_bytes;
	u64 length_bytes;
};

/* The next free number of a process. */
struct numbers {
	UT_hash_handle hh;
	u64 process;
	int next;
};

struct strace_fds {
	struct fd *all;
	struct map *maps;
	struct numbers *numbers;
	u64 next_address;
};

/**
 * strace_process() - a number for the process of an event
 */
u64 strace_process(const struct export_event *event)
{
	return event->actor ? actor_process(event->actor) : 1ull << 63 | iot_record_task(event->record);
}

static struct fd *fd_get(struct strace_fds *fds, u64 process, u64 handle)
{
	const struct fd_key key = { .process = process, .handle = handle };
	struct fd *fd;

	HASH_FIND(hh, fds->all, &key, sizeof(key), fd);
	if (fd)
		return fd;
	fd = calloc(1, sizeof(*fd));
	if (!fd)
		return NULL;
	fd->key = key;
	HASH_ADD(hh, fds->all, key, sizeof(fd->key), fd);
	return fd;
}

/* Return: a number that the process has not had; a negative errno without memory. */
static int number_next(struct strace_fds *fds, u64 process)
{
	struct numbers *numbers;

	HASH_FIND(hh, fds->numbers, &process, sizeof(process), numbers);
	if (!numbers) {
		numbers = calloc(1, sizeof(*numbers));
		if (!numbers)
			return -ENOMEM;
		*numbers = (struct numbers){ .process = process, .next = FD_FIRST };
		HASH_ADD(hh, fds->numbers, process, sizeof(numbers->process), numbers);
	}
	return numbers->next++;
}

/* A mapping keeps its handle, but does not need a descriptor. */
static u64 handle_of(const struct export_event *event)
{
	u32 i;

	switch (event->info->kind) {
	case IOT_KIND_release:
	case IOT_KIND_msync:
	case IOT_KIND_madvise:
	case IOT_KIND_unmap:
	case IOT_KIND_touch:
		return 0;
	default:
		break;
	}
	if (event->info->kind == IOT_KIND_map && event->record->map.flags & IOT_MAP_inherited)
		return 0;
	for (i = 0; i < event->info->field_count; i++)
		if (event->info->fields[i].class == IOT_CLASS_handle)
			return iot_field_get(event->record, &event->info->fields[i]);
	return 0;
}

/**
 * strace_fds_open() - begin, with the number of uses of each handle
 * @fds: out: to be freed by strace_fds_close(), also after an error
 * @x: with its events
 *
 * Return: 0 or -ENOMEM.
 */
int strace_fds_open(struct strace_fds **fds, const struct export *x)
{
	size_t i;

	*fds = calloc(1, sizeof(**fds));
	if (!*fds)
		return -ENOMEM;
	(*fds)->next_address = MAP_FIRST;
	for (i = 0; i < x->kept_count; i++) {
		const struct export_event event = export_kept_event(x, &x->kept[i]);
		u64 handle = handle_of(&event);
		struct fd *fd = handle ? fd_get(*fds, strace_process(&event), handle) : NULL;

		if (handle && !fd)
			return -ENOMEM;
		if (fd)
			fd->uses++;
	}
	return 0;
}

/**
 * strace_fds_close() - free all; NULL is allowed
 */
void strace_fds_close(struct strace_fds *fds)
{
	struct numbers *numbers, *next_numbers;
	struct map *map, *next_map;
	struct fd *fd, *next;

	if (!fds)
		return;
	HASH_ITER (hh, fds->all, fd, next) {
		HASH_DEL(fds->all, fd);
		free(fd);
	}
	HASH_ITER (hh, fds->maps, map, next_map) {
		HASH_DEL(fds->maps, map);
		free(map);
	}
	HASH_ITER (hh, fds->numbers, numbers, next_numbers) {
		HASH_DEL(fds->numbers, numbers);
		free(numbers);
	}
	free(fds);
}

/**
 * strace_fds_take() - an event is written or lost: its use of a handle is not to come any more
 */
void strace_fds_take(struct strace_fds *fds, const struct export_event *event)
{
	const struct fd_key key = { .process = strace_process(event), .handle = handle_of(event) };
	struct fd *fd;

	HASH_FIND(hh, fds->all, &key, sizeof(key), fd);
	if (fd && fd->uses)
		fd->uses--;
}

/**
 * strace_fds_fork() - a child gets the descriptors of its parent
 *
 * Return: 0 or -ENOMEM.
 */
int strace_fds_fork(struct strace_fds *fds, u64 parent, u64 child)
{
	struct fd *fd, *next, *copy;
	struct numbers *of_parent, *of_child;
	int number;

	if (parent == child)
		return 0;
	HASH_ITER (hh, fds->all, fd, next) { /* those that are added come behind */
		if (fd->key.process != parent || !fd->number)
			continue;
		copy = fd_get(fds, child, fd->key.handle);
		if (!copy)
			return -ENOMEM;
		copy->number = fd->number;
	}
	HASH_FIND(hh, fds->numbers, &parent, sizeof(parent), of_parent);
	if (!of_parent)
		return 0;
	number = number_next(fds, child);
	if (number < 0)
		return number;
	HASH_FIND(hh, fds->numbers, &child, sizeof(child), of_child);
	of_child->next = of_parent->next;
	return 0;
}

/**
 * strace_fd_make() - the descriptor of a new handle
 *
 * Return: its number or -ENOMEM.
 */
int strace_fd_make(struct strace_fds *fds, u64 process, u64 handle)
{
	struct fd *fd = fd_get(fds, process, handle);

	if (!fd)
		return -ENOMEM;
	fd->number = number_next(fds, process);
	return fd->number;
}

/**
 * strace_fd_use() - the descriptor of a handle
 * @is_new: out: the trace does not show where it comes from
 *
 * Return: its number or -ENOMEM.
 */
int strace_fd_use(struct strace_fds *fds, u64 process, u64 handle, bool *is_new)
{
	struct fd *fd = fd_get(fds, process, handle);

	if (!fd)
		return -ENOMEM;
	*is_new = !fd->number;
	if (*is_new)
		fd->number = number_next(fds, process);
	return fd->number;
}

/**
 * strace_fd_close() - a descriptor of a handle is closed
 * @copy: out: a copy that is made before, because the process uses the handle later; 0 if not
 *
 * Return: the number of the one that is closed, 0 if the process has none; or -ENOMEM.
 */
int strace_fd_close(struct strace_fds *fds, u64 process, u64 handle, int *copy)
{
	struct fd *fd = fd_get(fds, process, handle);
	int number;

	*copy = 0;
	if (!fd)
		return -ENOMEM;
	number = fd->number;
	if (number && fd->uses)
		*copy = number_next(fds, process);
	fd->number = *copy > 0 ? *copy : 0;
	return *copy < 0 ? *copy : number;
}

/* The mapping that a child has a copy of, at the same address. */
static const struct map *map_inherited(const struct strace_fds *fds, const struct iot_rec_map *r)
{
	const struct map *map;

	for (map = fds->maps; map; map = map->hh.next)
		if (map->object == r->object && map->offset_bytes == (u64)r->offset_bytes && map->length_bytes == r->length_bytes &&
		    map->handle == r->handle)
			return map;
	return NULL;
}

/**
 * strace_map_make() - the address of a new mapping
 * @event: of kind map
 *
 * Return: the address; 0 without memory, or if a parent's mapping is not known.
 */
u64 strace_map_make(struct strace_fds *fds, const struct export_event *event, u64 process)
{
	const struct iot_rec_map *r = &event->record->map;
	const struct map *of_parent = r->flags & IOT_MAP_inherited ? map_inherited(fds, r) : NULL;
	struct map *map;

	if (r->flags & IOT_MAP_inherited && !of_parent)
		return 0;
	map = calloc(1, sizeof(*map));
	if (!map)
		return 0;
	*map = (struct map){ .id = r->map, .process = process, .handle = r->handle, .object = r->object,
			     .offset_bytes = (u64)r->offset_bytes, .length_bytes = r->length_bytes };
	map->address = of_parent ? of_parent->address : fds->next_address;
	if (!of_parent)
		fds->next_address += (r->length_bytes + 2 * PAGE_BYTES) & ~(PAGE_BYTES - 1);
	HASH_ADD(hh, fds->maps, id, sizeof(map->id), map);
	return map->address;
}

/**
 * strace_map_at() - where the first byte of a file would be in a mapping
 *
 * Return: the address; 0 if the mapping is not known.
 */
u64 strace_map_at(const struct strace_fds *fds, u64 id)
{
	const struct map *map;

	HASH_FIND(hh, fds->maps, &id, sizeof(id), map);
	return map ? map->address - map->offset_bytes : 0;
}

/**
 * strace_map_find() - the same, for the mapping of a handle that has an offset
 */
u64 strace_map_find(const struct strace_fds *fds, u64 process, u64 handle, u64 offset_bytes)
{
	const struct map *map;

	for (map = fds->maps; map; map = map->hh.next)
		if (map->process == process && map->handle == handle && offset_bytes >= map->offset_bytes &&
		    offset_bytes < map->offset_bytes + map->length_bytes)
			return map->address - map->offset_bytes;
	return 0;
}
