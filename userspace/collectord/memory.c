// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - the state of the machine's memory, as the kernel shows it.
 */
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static u64 meminfo_bytes(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	return line ? strtoull(line + strlen(key), NULL, 10) << 10 : 0;
}

/* Limit of the memory cgroup (version 2) that this process, and so the command, is in. */
static u64 memory_limit_bytes(void)
{
	char line[4096] = "", path[8192], text[64] = "";
	FILE *in = fopen("/proc/self/cgroup", "re");

	while (in && fgets(line, sizeof(line), in) && strncmp(line, "0::", 3))
		;
	if (in)
		fclose(in);
	line[strcspn(line, "\n")] = 0;
	if (strncmp(line, "0::", 3))
		return 0;
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", line + 3);
	in = fopen(path, "re");
	if (!in)
		return 0;
	if (!fgets(text, sizeof(text), in))
		text[0] = 0;
	fclose(in);
	return strtoull(text, NULL, 10); /* 0 for "max" */
}

/**
 * memory_read() - the state of the machine's memory, as a record
 * @record: out
 *
 * Return: 0; a negative errno if the kernel does not show it.
 */
int memory_read(struct iot_record *record)
{
	FILE *in = fopen("/proc/meminfo", "re");
	char text[8192];
	size_t bytes;

	if (!in)
		return -errno;
	bytes = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[bytes] = 0;
	*record = (struct iot_record){
		.kind = IOT_KIND_memory,
		.memory.time_ns = iot_clock_ns(CLOCK_MONOTONIC),
		.memory.total_bytes = meminfo_bytes(text, "MemTotal:"),
		.memory.available_bytes = meminfo_bytes(text, "MemAvailable:"),
		.memory.cached_bytes = meminfo_bytes(text, "\nCached:"),
		.memory.dirty_bytes = meminfo_bytes(text, "Dirty:"),
		.memory.limit_bytes = memory_limit_bytes(),
	};
	return 0;
}
