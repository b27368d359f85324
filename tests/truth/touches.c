// SPDX-License-Identifier: GPL-2.0-only
/*
 * touches.c - compares the touches of a trace with the accesses that the program made to mapped pages.
 *
 *	touches LIST DUMP
 *
 * LIST is the output of `maps --touches`: all accesses, in order, by process. DUMP is the output of `iotape dump
 * --all --json`. An access must have a touch record if it found the page not mapped, or not writable, in its
 * process. Touches must have the same order, page and file, and be a read or a write like the access. The rules
 * are in Documentation/visibility.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "rules.h"

#define PAGES_MAX (1 << 20)
#define AREAS_MAX 64
#define SHOWN_MAX 20

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_DIFFERS = 3 };

enum state { ABSENT, READABLE, WRITABLE };

/* The mapping of a file in one process. */
struct area {
	int pid;
	char name[64];
	bool is_private;
	unsigned char *state; /* one for each page */
};

static struct area areas[AREAS_MAX];
static int area_count;
static struct dump dump;
static long page_bytes = 4096; /* or as the trace states */
static long applied[RULE_END], differences, matched;

static void differ(const char *what, int pid, const char *name, long page, const struct record *record)
{
	if (differences++ >= SHOWN_MAX)
		return;
	printf("difference: %d: %s %s %ld", pid, what, name, page);
	if (record)
		printf("; next is %s of page %lld of '%s' (line %ld)", record_text(record, "flags"),
		       record_number(record, "offset_bytes") / page_bytes, record_text(record, "path"),
		       record->line);
	putchar('\n');
}

static struct area *area_of(int pid, const char *name)
{
	struct area *area;
	int i;

	for (i = 0; i < area_count; i++)
		if (areas[i].pid == pid && !strcmp(areas[i].name, name))
			return &areas[i];
	if (area_count == AREAS_MAX)
		abort();
	area = &areas[area_count++];
	area->pid = pid;
	snprintf(area->name, sizeof(area->name), "%s", name);
	area->is_private = !strncmp(name, "private", 7);
	area->state = calloc(PAGES_MAX, 1);
	return area;
}

/* The next touch of a process, in the order of their starts. */
static struct record *next_touch(int pid)
{
	static struct {
		int pid;
		long at;
	} cursors[AREAS_MAX];
	int i;

	for (i = 0; i < AREAS_MAX && cursors[i].pid && cursors[i].pid != pid; i++)
		;
	if (i == AREAS_MAX)
		abort();
	cursors[i].pid = pid;
	for (; cursors[i].at < dump.count; cursors[i].at++) {
		struct record *record = &dump.records[cursors[i].at];

		if (record->pid == pid && !strcmp(record->kind, "touch") && !record->is_taken)
			return record;
	}
	return NULL;
}

static bool is_touch(const struct record *record, const struct area *area, long page, const char *flags)
{
	return record && record_number(record, "offset_bytes") == page * page_bytes &&
	       record_number(record, "length_bytes") == page_bytes && !record_number(record, "result") &&
	       !strcmp(record_text(record, "path"), area->name) &&
	       !strcmp(record_text(record, "flags"), flags);
}

static void expect(struct area *area, long page, const char *flags)
{
	struct record *record = next_touch(area->pid);

	if (!is_touch(record, area, page, flags)) {
		differ(flags, area->pid, area->name, page, record);
		return;
	}
	record->is_taken = true;
	applied[RULE_TOUCH]++;
	matched++;
}

static void read_page(struct area *area, long page)
{
	if (area->state[page] != ABSENT) {
		applied[RULE_MAPPED]++;
		return;
	}
	area->state[page] = READABLE;
	expect(area, page, "0");
}

/* The kernel has written the page back in the meantime, as it may do at any time. */
static void written_again(struct area *area, long page)
{
	applied[RULE_WRITTEN_BACK]++;
	expect(area, page, "write|mkwrite");
}

static void write_page(struct area *area, long page)
{
	enum state before = area->state[page];

	area->state[page] = WRITABLE;
	if (before == ABSENT)
		expect(area, page, area->is_private ? "write|cow" : "write");
	else if (area->is_private)
		applied[before == WRITABLE ? RULE_MAPPED : RULE_PRIVATE_COPY]++;
	else if (before == READABLE)
		expect(area, page, "write|mkwrite");
	else if (is_touch(next_touch(area->pid), area, page, "write|mkwrite"))
		written_again(area, page);
	else
		applied[RULE_MAPPED]++;
}

static void sync_page(struct area *area, long page)
{
	if (area->state[page] != WRITABLE)
		return;
	area->state[page] = READABLE;
	applied[RULE_WRITTEN_BACK]++;
}

static bool take_line(const char *line)
{
	char name[64], what[16];
	long page, pages, i;
	struct area *area;
	int pid;

	if (sscanf(line, "%d %63s %ld %ld %15s", &pid, name, &page, &pages, what) != 5 || page < 0 ||
	    page + pages > PAGES_MAX)
		return false;
	area = area_of(pid, name);
	for (i = page; i < page + pages; i++) {
		if (!strcmp(what, "read"))
			read_page(area, i);
		else if (!strcmp(what, "write"))
			write_page(area, i);
		else if (!strcmp(what, "msync"))
			sync_page(area, i);
		else if (!strcmp(what, "munmap"))
			area->state[i] = ABSENT;
		else
			return false;
	}
	return true;
}

static int order_of_operations(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static void check_rest(void)
{
	long i;

	for (i = 0; i < dump.count; i++)
		if (!strcmp(dump.records[i].kind, "touch") && !dump.records[i].is_taken)
			differ("a touch that the program did not make:", dump.records[i].pid,
			       record_text(&dump.records[i], "path"),
			       (long)(record_number(&dump.records[i], "offset_bytes") / page_bytes), NULL);
}

static void find_page_size(void)
{
	long i;

	for (i = 0; i < dump.count; i++)
		if (!strcmp(dump.records[i].kind, "fact"))
			sscanf(record_text(&dump.records[i], "tail"), "page_bytes=%ld", &page_bytes);
}

int main(int argc, char **argv)
{
	char line[256];
	FILE *list;

	if (argc != 3) {
		fprintf(stderr, "usage: touches LIST DUMP\n");
		return EXIT_USAGE;
	}
	list = fopen(argv[1], "re");
	if (!list || dump_read(argv[2], &dump)) {
		fprintf(stderr, "touches: %s\n", list ? dump.error : argv[1]);
		return EXIT_FAILED;
	}
	find_page_size();
	qsort(dump.records, (size_t)dump.count, sizeof(*dump.records), order_of_operations);
	while (fgets(line, sizeof(line), list))
		if (!take_line(line)) {
			fprintf(stderr, "touches: %s: not a touch: %s", argv[1], line);
			return EXIT_FAILED;
		}
	fclose(list);
	check_rest();
	rules_print(applied);
	printf("%ld touches in %d mappings, %ld differences\n", matched, area_count, differences);
	return differences || !matched ? EXIT_DIFFERS : EXIT_DONE;
}
