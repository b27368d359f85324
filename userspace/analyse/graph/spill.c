// SPDX-License-Identifier: GPL-2.0-only
/*
 * spill.c - arrays that may be larger than memory.
 *
 * Arrays are in a file without a name that is mapped. The kernel has their pages in memory as long as there is room, and
 * writes them to the file otherwise, without swap space, and also within the memory limit of a control group. The first
 * arrays, and small ones, are ordinary memory, so a small trace needs no file.
 *
 * One mapping is larger than any file: an array gets the space behind the one before it, and freed space is not used
 * again, but is returned to the file system as a hole. The file system reserves the space of each array, because a
 * page that it cannot write would end the process. If it has no space, the array is ordinary memory.
 *
 * Locking: none; one thread.
 */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#define WINDOW_BYTES  (1ull << 40)
#define RESERVE_BYTES (16u << 20) /* of file space, at a time */
#define PAGE_BYTES    4096u	  /* arrays of a file begin at multiples of this; holes are made of them */

/**
 * struct spill - a file for arrays
 * @fd: the file; -1 after an error: no more arrays go to it
 * @window: the mapping
 * @limit_bytes: no more of the file can be used
 * @used_bytes: of the window, for all arrays so far
 * @reserved_bytes: of the file, from its begin
 * @memory_bytes: length of all arrays in ordinary memory
 * @file_bytes: length of all arrays in the file
 */
struct spill {
	int fd;
	unsigned char *window;
	u64 limit_bytes;
	u64 used_bytes;
	u64 reserved_bytes;
	size_t memory_bytes;
	size_t file_bytes;
};

/* For a file system that has no files without a name. */
static int open_named(const char *beside)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s.XXXXXX", beside) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	if (fd >= 0)
		unlink(path);
	free(path);
	return err ? err : fd;
}

/* The contents of a file in memory would need the same memory. */
static bool is_in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
}

/* No arrays go to the file from now on. Those that are there stay. */
static void give_up(struct spill *spill)
{
	close(spill->fd);
	spill->fd = -1;
}

/* Larger files may end the process by a signal. */
static u64 file_limit_bytes(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur > WINDOW_BYTES ? WINDOW_BYTES : limit.rlim_cur;
}

static void begin_file(struct spill *spill, const char *beside)
{
	void *window;

	spill->limit_bytes = file_limit_bytes();
	spill->fd = iot_file_nameless(beside);
	if (spill->fd < 0)
		spill->fd = open_named(beside);
	if (spill->fd < 0)
		return;
	window = is_in_memory(spill->fd) ?
			 MAP_FAILED :
			 mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, spill->fd, 0);
	if (window == MAP_FAILED) {
		give_up(spill);
		return;
	}
	spill->window = window;
	madvise(window, WINDOW_BYTES, MADV_RANDOM); /* pages read ahead would displace others if memory is short */
}

/**
 * spill_open() - prepare for arrays
 * @spill: out: to be freed by spill_close()
 * @beside: path of a file that need not exist; the file for arrays is in the same directory
 *
 * If no file can be used, all arrays are ordinary memory.
 *
 * Return: 0 or -ENOMEM.
 */
int spill_open(struct spill **spill, const char *beside)
{
	*spill = calloc(1, sizeof(**spill));
	if (!*spill)
		return -ENOMEM;
	begin_file(*spill, beside);
	return 0;
}

static bool is_in_file(const struct spill *spill, const void *array)
{
	return spill->window && (const unsigned char *)array >= spill->window &&
	       (const unsigned char *)array < spill->window + WINDOW_BYTES;
}

static u64 round_up(u64 bytes, u64 unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* Return: space for an array in the file; NULL if it has none. */
static void *take_space(struct spill *spill, size_t bytes)
{
	u64 end_bytes = spill->used_bytes + round_up(bytes, PAGE_BYTES), reserved_bytes;
	void *array = spill->window + spill->used_bytes;

	if (end_bytes > spill->reserved_bytes) {
		reserved_bytes = round_up(end_bytes, RESERVE_BYTES);
		if (reserved_bytes > spill->limit_bytes ||
		    fallocate(spill->fd, 0, (off_t)spill->reserved_bytes, (off_t)(reserved_bytes - spill->reserved_bytes))) {
			give_up(spill);
			return NULL;
		}
		spill->reserved_bytes = reserved_bytes;
	}
	spill->used_bytes = end_bytes;
	return array;
}

static void *resize_memory(struct spill *spill, void *array, size_t old_bytes, size_t bytes)
{
	void *larger = realloc(array, bytes);

	if (larger)
		spill->memory_bytes += bytes - old_bytes;
	return larger;
}

/**
 * spill_resize() - change the length of an array
 * @spill: for all arrays; NULL: they are ordinary memory
 * @array: NULL for a new one
 * @old_bytes: its length
 * @bytes: the new length, not 0
 *
 * Return: the array, as of realloc(3); NULL if out of memory.
 */
void *spill_resize(struct spill *spill, void *array, size_t old_bytes, size_t bytes)
{
	void *place = NULL;

	if (!spill)
		return realloc(array, bytes);
	if (is_in_file(spill, array) && bytes <= round_up(old_bytes, PAGE_BYTES)) {
		spill->file_bytes += bytes - old_bytes;
		return array;
	}
	if (spill->fd >= 0 && bytes >= SPILL_ARRAY_BYTES && spill->memory_bytes + bytes > SPILL_MEMORY_BYTES)
		place = take_space(spill, bytes);
	if (!place && !is_in_file(spill, array))
		return resize_memory(spill, array, old_bytes, bytes);
	if (place)
		spill->file_bytes += bytes;
	else
		place = resize_memory(spill, NULL, 0, bytes);
	if (!place)
		return NULL;
	if (array)
		memcpy(place, array, old_bytes < bytes ? old_bytes : bytes);
	spill_free(spill, array, old_bytes);
	return place;
}

/**
 * spill_free() - free an array
 * @spill: as for spill_resize()
 * @array: NULL is allowed
 * @bytes: its length
 */
void spill_free(struct spill *spill, void *array, size_t bytes)
{
	if (!spill || !is_in_file(spill, array)) {
		free(array);
		if (spill && array)
			spill->memory_bytes -= bytes;
		return;
	}
	spill->file_bytes -= bytes;
	if (spill->fd >= 0) /* without a hole, the pages are freed with the file */
		fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)((unsigned char *)array - spill->window), (off_t)round_up(bytes, PAGE_BYTES));
}

/**
 * spill_file_bytes() - length of all arrays that are in the file
 * @spill: NULL is allowed
 */
size_t spill_file_bytes(const struct spill *spill)
{
	return spill ? spill->file_bytes : 0;
}

/**
 * spill_close() - free the arrays that are in the file, and the file; NULL is allowed
 *
 * Arrays in ordinary memory have to be freed before.
 */
void spill_close(struct spill *spill)
{
	if (!spill)
		return;
	if (spill->window)
		munmap(spill->window, WINDOW_BYTES);
	if (spill->fd >= 0)
		close(spill->fd);
	free(spill);
}
