// SPDX-License-Identifier: GPL-2.0-only
/*
 * paths.c - one copy of each path.
 */
#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "core/siphash.h"

struct entry {
	UT_hash_handle hh;
	char path[];
};

/**
 * struct run_paths - a table of paths
 * @secret: of the hash table: paths come from an untrusted trace
 * @last: the path of the previous call, which is often that of the next one
 */
struct run_paths {
	struct iot_siphash_key secret;
	struct entry *entries;
	const struct entry *last;
};

/**
 * run_paths_open() - create an empty table
 * @paths: out: to be freed by run_paths_close(); NULL after an error
 *
 * Return: 0 or a negative errno.
 */
int run_paths_open(struct run_paths **paths)
{
	*paths = calloc(1, sizeof(**paths));
	if (!*paths)
		return -ENOMEM;
	if (getrandom(&(*paths)->secret, sizeof((*paths)->secret), 0) == sizeof((*paths)->secret))
		return 0;
	free(*paths);
	*paths = NULL;
	return -EIO;
}

/**
 * run_paths_close() - free a table with its paths
 * @paths: may be NULL
 */
void run_paths_close(struct run_paths *paths)
{
	struct entry *entry, *next;

	if (!paths)
		return;
	HASH_ITER(hh, paths->entries, entry, next) {
		HASH_DELETE(hh, paths->entries, entry);
		free(entry);
	}
	free(paths);
}

/**
 * run_paths_intern() - the copy of a path in the table
 * @paths: the table; the path is added if it is new
 * @path: any text
 *
 * Return: the copy, NULL without memory.
 */
const char *run_paths_intern(struct run_paths *paths, const char *path)
{
	size_t bytes = strlen(path);
	struct entry *entry;
	unsigned int hash;

	if (paths->last && !strcmp(paths->last->path, path))
		return paths->last->path;
	hash = (unsigned int)iot_siphash(&paths->secret, path, bytes);
	HASH_FIND_BYHASHVALUE(hh, paths->entries, path, bytes, hash, entry);
	if (!entry) {
		entry = calloc(1, sizeof(*entry) + bytes + 1);
		if (!entry)
			return NULL;
		memcpy(entry->path, path, bytes + 1);
		HASH_ADD_BYHASHVALUE(hh, paths->entries, path, bytes, hash, entry);
		if (!entry->hh.tbl) { /* the table cannot grow */
			free(entry);
			return NULL;
		}
	}
	paths->last = entry;
	return entry->path;
}

/**
 * run_paths_count() - the number of different paths
 */
u32 run_paths_count(const struct run_paths *paths)
{
	return HASH_COUNT(paths->entries);
}
