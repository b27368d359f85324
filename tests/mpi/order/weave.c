// SPDX-License-Identifier: GPL-2.0-only
/*
 * weave.c - adds the file operations of the ranks to the traces of their MPI calls, as if one recorder had recorded
 * both, and makes the clocks of nodes drift.
 *
 *	weave LOGS TRACES OUT [PPM]...
 *
 * OUT gets a trace for each one in TRACES. LOGS has the log of each rank. The clock of a host whose name ends
 * with N is faster by the (N + 1)-th PPM, counted from 0, and its wall clock is wrong by N times 3 ms.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/iotape.h"

struct trace {
	struct iot_record *records;
	u32 count;
	u32 room;
	u32 task;
	u32 rank;
	u32 node;
	struct iot_trace_info info;
	double drift;
};

/* Memory is not freed before the program ends. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "weave: %s: %s\n", what, why);
	exit(1);
}

static struct iot_record *add(struct trace *trace, u16 kind, u64 time_ns, const char *tail)
{
	struct iot_record *record;

	if (trace->count == trace->room) {
		trace->room = trace->room ? 2 * trace->room : 1024;
		trace->records = reallocarray(trace->records, trace->room, sizeof(*record));
		if (!trace->records)
			die("records", "no memory");
	}
	record = &trace->records[trace->count++];
	*record = (struct iot_record){ .kind = kind, .tail = (const u8 *)tail,
				       .tail_bytes = (u16)(tail ? strlen(tail) : 0) };
	record->op.enter_ns = time_ns; /* the time of every kind of record is at this place */
	return record;
}

/* -- the trace of a process ------------------------------------------------------------------------ */

static int take(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct trace *trace = context;
	struct iot_record *copy = add(trace, record->kind, 0, NULL);
	char *tail = malloc(record->tail_bytes + 1u);

	(void)names;
	*copy = *record;
	if (!tail)
		return -ENOMEM;
	memcpy(tail, record->tail, record->tail_bytes);
	tail[record->tail_bytes] = 0;
	copy->tail = (const u8 *)tail;
	if (record->kind == IOT_KIND_task)
		trace->task = record->task.task;
	if (record->kind == IOT_KIND_mpi_comm)
		trace->rank = record->mpi_comm.world_rank;
	if (record->kind == IOT_KIND_fact && !strncmp(tail, "host=", 5) && record->tail_bytes > 5 &&
	    isdigit((unsigned char)tail[record->tail_bytes - 1]))
		trace->node = (u32)(tail[record->tail_bytes - 1] - '0');
	return 0;
}

/* -- the operations of its rank ---------------------------------------------------------------------------- */

static struct iot_record *add_op(struct trace *trace, u16 kind, u64 begin_ns, u64 end_ns)
{
	struct iot_record *record = add(trace, kind, begin_ns, NULL);

	record->op.duration_ns = end_ns - begin_ns;
	record->op.task = trace->task;
	return record;
}

/* A directory and a file of its own, whose ids no other rank has. */
static void add_file(struct trace *trace, u64 at_ns, u64 id)
{
	char *mount = NULL;
	struct iot_record *record;

	if (asprintf(&mount, "mount=/files.%u", trace->rank) < 0)
		die("mount", "no memory");
	add(trace, IOT_KIND_fact, at_ns, mount);
	record = add(trace, IOT_KIND_name, at_ns, NULL);
	record->name.name = id;
	record = add(trace, IOT_KIND_object, at_ns, NULL);
	record->object = (struct iot_rec_object){ .time_ns = at_ns, .object = id, .name = id,
						  .type = IOT_TYPE_dir, .mode = 040755, .ino = 2, .dev = id };
	record = add(trace, IOT_KIND_mount, at_ns, mount + strlen("mount="));
	record->mount.object = id;
	record->mount.dev = id;
	record->mount.magic = 0xef53;
	record = add(trace, IOT_KIND_name, at_ns, "io");
	record->name.name = id + 1;
	record->name.dir = id;
	record = add(trace, IOT_KIND_object, at_ns, NULL);
	record->object = (struct iot_rec_object){ .time_ns = at_ns, .object = id + 1, .name = id + 1,
						  .type = IOT_TYPE_file, .mode = 0100644, .ino = 3, .dev = id };
	record = add_op(trace, IOT_KIND_open, at_ns, at_ns);
	record->open.name = id + 1;
	record->open.object = id + 1;
	record->open.handle = id;
	record->open.flags = IOT_OPEN_write | IOT_OPEN_create;
}

static void add_operations(struct trace *trace, const char *logs)
{
	u64 id = 10 * (trace->rank + 1ull), begin_ns, end_ns;
	char path[4096], letter;
	struct iot_record *record;
	bool is_open = false;
	u32 number;
	FILE *log;

	snprintf(path, sizeof(path), "%s/log.%u", logs, trace->rank);
	log = fopen(path, "r");
	if (!log)
		die(path, strerror(errno));
	while (fscanf(log, " %c %*d %u %llu %llu", &letter, &number, &begin_ns, &end_ns) == 4) {
		if (letter != 'i')
			continue;
		if (!is_open)
			add_file(trace, begin_ns - 1, id);
		is_open = true;
		record = add_op(trace, IOT_KIND_write, begin_ns, end_ns);
		record->write.object = id + 1;
		record->write.handle = id;
		record->write.offset_bytes = number;
		record->write.length_bytes = 1;
		record->write.old_size_bytes = number;
		record->write.result = 1;
	}
	fclose(log);
}

/* -- the new trace ------------------------------------------------------------------------------------ */

static u64 drifted(const struct trace *trace, u64 time_ns)
{
	return time_ns + (u64)(s64)(trace->drift * (double)time_ns);
}

static bool is_call(const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);

	return info->group == IOT_GROUP_op || (info->group == IOT_GROUP_mpi && !iot_kind_is_mpi_known(record->kind));
}

/* Records that are not calls come first, in their order: calls of the same time depend on them. */
static int compare(const void *a, const void *b)
{
	const struct iot_record *x = *(struct iot_record *const *)a, *y = *(struct iot_record *const *)b;
	u64 x_ns = iot_record_end_ns(x), y_ns = iot_record_end_ns(y);

	if ((x->kind == IOT_KIND_end) != (y->kind == IOT_KIND_end))
		return x->kind == IOT_KIND_end ? 1 : -1;
	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	if (is_call(x) != is_call(y))
		return is_call(x) ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void set_clock(const struct trace *trace, struct iot_record *record)
{
	u64 end_ns = iot_record_end_ns(record);

	record->op.enter_ns = drifted(trace, record->op.enter_ns);
	if (is_call(record))
		record->op.duration_ns = drifted(trace, end_ns) - record->op.enter_ns;
}

/* A rank has one thread: its operations are numbered in the order of their ends. */
static struct iot_record **put_in_order(struct trace *trace)
{
	struct iot_record **order = calloc(trace->count + 1, sizeof(struct iot_record *));
	u32 i, ops = 0;

	if (!order)
		die("records", "no memory");
	for (i = 0; i < trace->count; i++) {
		set_clock(trace, &trace->records[i]);
		order[i] = &trace->records[i];
	}
	qsort(order, trace->count, sizeof(*order), compare);
	for (i = 0; i < trace->count; i++) {
		if (is_call(order[i]))
			order[i]->op.op = ++ops;
		else if (iot_kind_is_mpi_known(order[i]->kind))
			order[i]->mpi_known.op = ops;
	}
	return order;
}

static void write_trace(struct trace *trace, const char *path)
{
	struct iot_record **order = put_in_order(trace);
	struct iot_writer *writer;
	u32 i;
	int err = iot_writer_open_at(path, trace->info.capture, trace->info.real_ns + trace->node * 3000000,
				     drifted(trace, trace->info.mono_ns), &writer);

	for (i = 0; i < trace->count && !err; i++)
		err = iot_writer_record(writer, order[i]);
	if (!err)
		err = iot_writer_finish(writer);
	if (err)
		die(path, strerror(-err));
	iot_writer_close(writer);
	free(order);
}

/* -- all traces ----------------------------------------------------------------------------------------- */

static void weave(const char *logs, const char *from, const char *to, char **ppm, int ppm_count)
{
	struct trace trace = {};
	struct iot_reject reject = {};

	if (iot_trace_walk(from, take, &trace, &trace.info, &reject))
		die(from, iot_reject_sentence(&reject));
	if ((int)trace.node < ppm_count)
		trace.drift = atof(ppm[trace.node]) * 1e-6;
	add_operations(&trace, logs);
	write_trace(&trace, to);
}

int main(int argc, char **argv)
{
	char from[4096], to[4096];
	struct dirent *entry;
	DIR *dir;

	if (argc < 4) {
		fprintf(stderr, "usage: weave LOGS TRACES OUT [PPM]...\n");
		return 2;
	}
	dir = opendir(argv[2]);
	if (!dir || (mkdir(argv[3], 0755) && errno != EEXIST))
		die(argv[2], strerror(errno));
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(from, sizeof(from), "%s/%s", argv[2], entry->d_name);
		snprintf(to, sizeof(to), "%s/%s", argv[3], entry->d_name);
		weave(argv[1], from, to, argv + 4, argc - 4);
	}
	closedir(dir);
	return 0;
}
