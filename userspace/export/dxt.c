// SPDX-License-Identifier: GPL-2.0-only
/*
 * dxt.c - text as darshan-dxt-parser of Darshan prints it: a table of reads and writes for each file and rank.
 *
 * Source of the format: the section on DXT of Darshan's darshan-util.rst. Darshan's ranks are those of MPI; without MPI,
 * processes are numbered in the order in which they first read or wrote a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

struct segment {
	u64 offset_bytes;
	u64 length_bytes;
	u64 begin_ns;
	u64 end_ns;
};

struct segments {
	struct segment *all;
	size_t count;
	size_t room;
};

/* A file as one rank used it. */
struct dxt_table {
	UT_hash_handle hh;
	struct segments moved[PATTERN_DIRECTIONS];
	const char *host;
	u32 rank;
	char path[];
};

struct dxt_process {
	UT_hash_handle hh;
	u64 id;
	u32 number;
};

struct dxt {
	struct dxt_table *tables;
	struct dxt_process *processes;
	u64 end_ns;
};

static int process_number(struct dxt *d, const struct export_event *e, u32 *number)
{
	u64 id = e->actor ? actor_process(e->actor) : iot_record_task(e->record);
	struct dxt_process *process;

	HASH_FIND(hh, d->processes, &id, sizeof(id), process);
	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process)
			return -ENOMEM;
		*process = (struct dxt_process){ .id = id, .number = HASH_COUNT(d->processes) };
		HASH_ADD(hh, d->processes, id, sizeof(process->id), process);
	}
	*number = process->number;
	return 0;
}

static struct dxt_table *table_get(struct export *x, const struct export_event *e, u32 rank)
{
	struct dxt *d = x->context;
	char key[IOT_PROGRAM_PATH_MAX + 16], *path = key + 11;
	struct dxt_table *table;
	size_t bytes;

	snprintf(key, sizeof(key), "%010u ", rank);
	snprintf(path, sizeof(key) - 11, "%s", e->path);
	bytes = strlen(key);
	HASH_FIND(hh, d->tables, key, bytes, table);
	if (table)
		return table;
	table = calloc(1, sizeof(*table) + bytes + 1);
	if (!table)
		return NULL;
	memcpy(table->path, key, bytes + 1);
	table->rank = rank;
	table->host = e->actor && e->actor->node != ACTOR_UNKNOWN ? x->actors.nodes[e->actor->node] : "UNKNOWN";
	HASH_ADD_KEYPTR(hh, d->tables, table->path, bytes, table);
	return table;
}

static int segment_add(struct segments *segments, struct segment segment)
{
	if (segments->count == segments->room) {
		size_t room = segments->room ? 2 * segments->room : 16;
		struct segment *larger = reallocarray(segments->all, room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		segments->all = larger;
		segments->room = room;
	}
	segments->all[segments->count++] = segment;
	return 0;
}

/* Return: is it a read or a write that the format has? Else it is counted. */
static bool take_range(struct export *x, const struct export_event *e, enum pattern_direction *direction, s64 *offset)
{
	const struct iot_record *r = e->record;

	switch (r->kind) {
	case IOT_KIND_read:
		*direction = PATTERN_READ;
		*offset = r->read.offset_bytes;
		break;
	case IOT_KIND_write:
		*direction = PATTERN_WRITE;
		*offset = r->write.offset_bytes;
		break;
	case IOT_KIND_submit:
		*direction = r->submit.flags & IOT_RW_write ? PATTERN_WRITE : PATTERN_READ;
		*offset = r->submit.offset_bytes;
		break;
	default:
		export_lose(x, e, EXPORT_NO_FORM);
		return false;
	}
	if (e->result < 0)
		export_lose(x, e, EXPORT_FAILED);
	else if (!*e->path)
		export_lose(x, e, EXPORT_NO_PATH);
	else if (export_has_line_break(e->path))
		export_lose(x, e, "the name of their file has a line break");
	else
		return true;
	return false;
}

static int begin(struct export *x)
{
	x->context = calloc(1, sizeof(struct dxt));
	return x->context ? 0 : -ENOMEM;
}

static int take(struct export *x, const struct export_event *e)
{
	struct dxt *d = x->context;
	enum pattern_direction direction;
	struct dxt_table *table;
	s64 offset;
	u32 rank;
	int err = 0;

	if (!take_range(x, e, &direction, &offset))
		return 0;
	if (!x->actors.has_ranks)
		err = process_number(d, e, &rank);
	else if (e->actor && e->actor->rank != ACTOR_UNKNOWN)
		rank = e->actor->rank;
	else {
		export_lose(x, e, "their process has no rank");
		return 0;
	}
	table = err ? NULL : table_get(x, e, rank);
	if (!table)
		return -ENOMEM;
	if (e->begin_ns + e->duration_ns > d->end_ns)
		d->end_ns = e->begin_ns + e->duration_ns;
	return segment_add(&table->moved[direction], (struct segment){
		.offset_bytes = (u64)offset, .length_bytes = (u64)e->result, .begin_ns = e->begin_ns,
		.end_ns = e->begin_ns + e->duration_ns });
}

/* 64-bit FNV-1a: the same file has the same number in all exports. */
static u64 file_id(const char *path)
{
	u64 hash = 0xcbf29ce484222325ull;

	for (; *path; path++)
		hash = (hash ^ (u8)*path) * 0x100000001b3ull;
	return hash;
}

static int compare_segments(const void *a, const void *b)
{
	const struct segment *p = a, *q = b;

	return p->begin_ns < q->begin_ns ? -1 : p->begin_ns > q->begin_ns;
}

static void put_segments(FILE *out, u32 rank, const char *what, struct segments *segments)
{
	size_t i;

	if (segments->count)
		qsort(segments->all, segments->count, sizeof(*segments->all), compare_segments);
	for (i = 0; i < segments->count; i++) {
		const struct segment *s = &segments->all[i];

		fprintf(out, " X_POSIX %7u %6s %8zu %15llu %15llu %11llu.%09llu %11llu.%09llu\n", rank, what, i,
			s->offset_bytes, s->length_bytes, s->begin_ns / 1000000000, s->begin_ns % 1000000000,
			s->end_ns / 1000000000, s->end_ns % 1000000000);
	}
}

static void put_table(struct export *x, struct dxt_table *table)
{
	char full[EXPORT_PATH_BYTES];

	export_full_path(x, table->path + 11, full);
	fprintf(x->out, "\n# DXT, file_id: %llu, file_name: %s\n", file_id(full), full);
	fprintf(x->out, "# DXT, rank: %u, hostname: %s\n", table->rank, table->host);
	fprintf(x->out, "# DXT, write_count: %zu, read_count: %zu\n", table->moved[PATTERN_WRITE].count,
		table->moved[PATTERN_READ].count);
	fprintf(x->out, "# DXT, mnt_pt: %s, fs_type: UNKNOWN\n", x->summary->root);
	fprintf(x->out, "# Module    Rank  Wt/Rd  Segment          Offset          Length            Start(s)"
			"              End(s)\n");
	put_segments(x->out, table->rank, "write", &table->moved[PATTERN_WRITE]);
	put_segments(x->out, table->rank, "read", &table->moved[PATTERN_READ]);
}

static int compare_tables(const struct dxt_table *a, const struct dxt_table *b)
{
	int order = strcmp(a->path + 11, b->path + 11);

	return order ? order : a->rank < b->rank ? -1 : a->rank > b->rank;
}

static u32 count_ranks(const struct export *x)
{
	const struct dxt *d = x->context;
	const struct dxt_table *table;
	u32 count = HASH_COUNT(d->processes);

	for (table = d->tables; table; table = table->hh.next)
		if (table->rank >= count)
			count = table->rank + 1;
	return count;
}

static int end(struct export *x)
{
	struct dxt *d = x->context;
	struct dxt_table *table;

	fprintf(x->out, "# darshan log version: 3.41\n# exe: iotape export\n# nprocs: %u\n# run time: %llu.%09llu\n",
		count_ranks(x), d->end_ns / 1000000000, d->end_ns % 1000000000);
	fprintf(x->out, "\n# ***************************************************\n# DXT_POSIX module data\n"
			"# ***************************************************\n");
	HASH_SORT(d->tables, compare_tables);
	for (table = d->tables; table; table = table->hh.next)
		put_table(x, table);
	return 0;
}

static void dxt_free(struct export *x)
{
	struct dxt *d = x->context;
	struct dxt_process *process, *next_process;
	struct dxt_table *table, *next;

	if (!d)
		return;
	HASH_ITER (hh, d->tables, table, next) {
		HASH_DEL(d->tables, table);
		free(table->moved[PATTERN_READ].all);
		free(table->moved[PATTERN_WRITE].all);
		free(table);
	}
	HASH_ITER (hh, d->processes, process, next_process) {
		HASH_DEL(d->processes, process);
		free(process);
	}
	free(d);
}

const struct export_format export_format_dxt = {
	.name = "dxt",
	.sentence = "text of darshan-dxt-parser, for tools that read it",
	.has_requests = true,
	.begin = begin,
	.take = take,
	.end = end,
	.free = dxt_free,
};
