// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_map.c - names of code that was made at run time, such as that of Python functions, from /tmp/perf-PID.map.
 *
 * Each line is an address, a length, both hexadecimal, and a name. A program writes the file, and any user can create
 * one in /tmp. So it is used only if no other user can have written it, and if it was written since the recording began:
 * an older one is of an earlier process with the same number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

#define LINES_MAX 1000000u

struct line {
	u64 address;
	u64 length_bytes;
	char *name;
};

struct perf_map {
	struct line *lines;
	size_t count;
};

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Return: false without memory. */
static bool add(struct perf_map *map, size_t *room, const char *text)
{
	struct line line = {}, *larger;
	int at = 0;

	if (sscanf(text, "%llx %llx %n", &line.address, &line.length_bytes, &at) < 2 || !at || !text[at])
		return true;
	if (map->count == *room) {
		*room = *room ? 2 * *room : 256;
		larger = reallocarray(map->lines, *room, sizeof(line));
		if (!larger)
			return false;
		map->lines = larger;
	}
	line.name = strdup(text + at);
	if (!line.name)
		return false;
	map->lines[map->count++] = line;
	return true;
}

static void read_lines(struct perf_map *map, FILE *in)
{
	char *text = NULL;
	size_t room = 0, text_room = 0;

	while (map->count < LINES_MAX && getline(&text, &text_room, in) > 0) {
		text[strcspn(text, "\n")] = 0;
		if (!add(map, &room, text))
			break;
	}
	free(text);
	if (map->count)
		qsort(map->lines, map->count, sizeof(*map->lines), compare);
}

/**
 * perf_map_read() - the perf map of a process
 * @pid: of the process
 * @since_ns: wall clock at the start of the trace
 *
 * Return: the map; NULL if there is none that can be trusted, or without memory.
 */
struct perf_map *perf_map_read(u32 pid, u64 since_ns)
{
	struct perf_map *map;
	const char *why;
	struct stat stat;
	char path[64];
	FILE *in;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	fd = pid ? iot_file_open_own(path, &why) : -1;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &stat) || (u64)stat.st_mtim.tv_sec < since_ns / 1000000000) {
		close(fd);
		return NULL;
	}
	map = calloc(1, sizeof(*map));
	in = map ? fdopen(fd, "re") : NULL;
	if (!in) {
		free(map);
		close(fd);
		return NULL;
	}
	read_lines(map, in);
	fclose(in);
	return map;
}

/**
 * perf_map_find() - the name of the function at an address
 * @map: any
 * @address: of an instruction
 *
 * Return: the name; NULL if no function is there.
 */
const char *perf_map_find(const struct perf_map *map, u64 address)
{
	size_t low = 0, high = map->count, middle;

	while (low < high) { /* the first line behind the address */
		middle = low + (high - low) / 2;
		if (map->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - map->lines[low - 1].address >= map->lines[low - 1].length_bytes)
		return NULL;
	return map->lines[low - 1].name;
}

/**
 * perf_map_close() - free a map
 * @map: may be NULL
 */
void perf_map_close(struct perf_map *map)
{
	size_t i;

	if (!map)
		return;
	for (i = 0; i < map->count; i++)
		free(map->lines[i].name);
	free(map->lines);
	free(map);
}
