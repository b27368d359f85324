// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_merge.c - iotape merge: one trace of those that the processes of a job wrote.
 *
 * Each trace becomes a stream of the new one. Their times are of one clock, that of the node:
 * traces of other nodes are refused.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "json.h"

#define CHUNK_BYTES (256 << 10)
#define INPUTS_MAX  65536

/**
 * struct input - a trace that is merged
 * @record: its next record, if @has_record
 * @chunk: records of it that are not written yet, described by @head
 * @world: key of the MPI_COMM_WORLD that its process is a rank of, 0 if of none
 */
struct input {
	char *path;
	struct iot_reader *reader;
	struct iot_trace_info info;
	struct iot_record record;
	bool has_record;
	u8 *chunk;
	u32 chunk_bytes;
	struct iot_chunk_head head;
	u64 sequence;
	u64 world;
	u32 rank;
	u32 size;
	u64 lost;
};

struct task {
	u32 id;
	u32 input;
};

struct merge {
	const char *output;
	bool is_json;
	bool is_quiet;
	struct input *inputs;
	size_t count;
	struct iot_writer *writer;
	struct task *tasks;
	size_t task_count;
	char boot[64];
	size_t boot_input;
	u64 records;
	u64 lost;
	u64 unfinished;
	u64 missing_ranks;
	u64 jobs;
	u64 end_ns;
};

static const struct argp_option option_table[] = {
	{ "output", 'o', "FILE", 0, "write the trace to FILE", 0 },
	{ "json", 'j', NULL, 0, "print JSON", 0 },
	{ "quiet", 'q', NULL, 0, "print no summary", 0 },
	{}
};

/* -- what is merged -------------------------------------------------------------------------- */

static void add_input(struct merge *merge, const char *path, struct argp_state *state)
{
	struct input *inputs = NULL;

	if (merge->count < INPUTS_MAX)
		inputs = realloc(merge->inputs, (merge->count + 1) * sizeof(*inputs));
	if (!inputs)
		argp_failure(state, EXIT_FAILED, 0, "%s: too many traces", path);
	merge->inputs = inputs;
	inputs[merge->count] = (struct input){ .path = strdup(path) };
	if (!inputs[merge->count++].path)
		argp_failure(state, EXIT_FAILED, ENOMEM, "%s", path);
}

static int is_trace(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".iot");
}

static void add_argument(struct merge *merge, const char *path, struct argp_state *state)
{
	struct dirent **names;
	int count = scandir(path, &names, is_trace, alphasort), i;
	char full[4096];

	if (count < 0 && errno == ENOTDIR) {
		add_input(merge, path, state);
		return;
	}
	if (count < 0)
		argp_failure(state, EXIT_FAILED, errno, "%s", path);
	for (i = 0; i < count; i++) {
		snprintf(full, sizeof(full), "%s/%s", path, names[i]->d_name);
		add_input(merge, full, state);
		free(names[i]);
	}
	free(names);
	if (!count)
		argp_failure(state, EXIT_FAILED, 0, "%s: there is no trace in it", path);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct merge *merge = state->input;

	switch (key) {
	case 'o':
		merge->output = argument;
		return 0;
	case 'j':
		merge->is_json = true;
		return 0;
	case 'q':
		merge->is_quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		add_argument(merge, argument, state);
		return 0;
	case ARGP_KEY_END:
		if (!merge->count)
			argp_error(state, "which traces, or which directory?");
		if (!merge->output)
			argp_error(state, "no --output given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse,
	.args_doc = "DIRECTORY|TRACE...",
	.doc = "Make one trace of those that the processes of an MPI job wrote for themselves on "
	       "one node, with IOTAPE_MPI_OUT=DIRECTORY.",
};

static int advance(struct input *input)
{
	struct iot_reject reject = {};
	int n = iot_reader_next(input->reader, &input->record, &reject);

	input->has_record = n > 0;
	return n < 0 ? fail_reject(input->path, n, &reject) : EXIT_DONE;
}

static bool is_same_file(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int open_input(const struct merge *merge, struct input *input)
{
	struct iot_reject reject = {};
	int err;

	if (is_same_file(input->path, merge->output))
		return fail("%s: is the output, too", input->path);
	err = iot_reader_open(input->path, &input->reader, &reject);
	if (err)
		return fail_reject(input->path, err, &reject);
	iot_reader_info(input->reader, &input->info);
	input->chunk = malloc(CHUNK_BYTES);
	if (!input->chunk)
		return fail("%s: %s", input->path, strerror(ENOMEM));
	return advance(input);
}

/* The new trace begins with the first one, and has its id. */
static int open_all(struct merge *merge)
{
	const struct input *first = NULL;
	size_t i;
	int err;

	for (i = 0; i < merge->count; i++) {
		if (open_input(merge, &merge->inputs[i]))
			return EXIT_FAILED;
		if (!first || merge->inputs[i].info.mono_ns < first->info.mono_ns)
			first = &merge->inputs[i];
	}
	err = iot_writer_open_at(merge->output, first->info.capture, first->info.real_ns,
				 first->info.mono_ns, &merge->writer);
	return err ? fail("%s: %s", merge->output, strerror(-err)) : EXIT_DONE;
}

/* -- what must not be ------------------------------------------------------------------------ */

static int check_boot(struct merge *merge, const struct input *input, const char *boot, size_t bytes)
{
	if (!merge->boot[0]) {
		snprintf(merge->boot, sizeof(merge->boot), "%.*s", (int)bytes, boot);
		merge->boot_input = (size_t)(input - merge->inputs);
		return EXIT_DONE;
	}
	if (strlen(merge->boot) == bytes && !memcmp(merge->boot, boot, bytes))
		return EXIT_DONE;
	return fail("%s: is of another node, or of another boot, than %s: their clocks differ",
		    input->path, merge->inputs[merge->boot_input].path);
}

static int check_task(struct merge *merge, const struct input *input)
{
	u32 id = input->record.task.task, number = (u32)(input - merge->inputs);
	struct task *tasks;
	size_t i;

	for (i = 0; i < merge->task_count; i++) {
		if (merge->tasks[i].id != id)
			continue;
		if (merge->tasks[i].input == number)
			return EXIT_DONE;
		return fail("%s: has a task %u, as has %s: they are not of one job", input->path, id,
			    merge->inputs[merge->tasks[i].input].path);
	}
	tasks = realloc(merge->tasks, (merge->task_count + 1) * sizeof(*tasks));
	if (!tasks)
		return fail("%s: %s", input->path, strerror(ENOMEM));
	merge->tasks = tasks;
	tasks[merge->task_count++] = (struct task){ .id = id, .input = number };
	return EXIT_DONE;
}

/* The first communicator that a rank announces is MPI_COMM_WORLD. */
static int look_at(struct merge *merge, struct input *input)
{
	const struct iot_record *r = &input->record;

	if (r->kind == IOT_KIND_fact && r->tail_bytes > 5 && !memcmp(r->tail, "boot=", 5))
		return check_boot(merge, input, (const char *)r->tail + 5, r->tail_bytes - 5u);
	if (r->kind == IOT_KIND_task)
		return check_task(merge, input);
	if (r->kind == IOT_KIND_mpi_comm && !input->world) {
		input->world = r->mpi_comm.comm;
		input->rank = r->mpi_comm.rank;
		input->size = r->mpi_comm.size;
	}
	return EXIT_DONE;
}

/* -- merging --------------------------------------------------------------------------------- */

static int flush(struct merge *merge, struct input *input)
{
	struct iot_trace_info info;
	int err;

	if (!input->chunk_bytes)
		return EXIT_DONE;
	iot_reader_info(input->reader, &info);
	input->head.raw_bytes = cpu_to_le32(input->chunk_bytes);
	input->head.stream = cpu_to_le32((u32)(input - merge->inputs));
	input->head.lost = cpu_to_le64(info.lost + info.missing);
	err = iot_writer_chunk(merge->writer, &input->head, input->chunk);
	if (err)
		return fail("%s: %s", merge->output, strerror(-err));
	input->sequence += le32_to_cpu(input->head.count);
	input->chunk_bytes = 0;
	return EXIT_DONE;
}

static int take(struct merge *merge, struct input *input)
{
	u64 end_ns = iot_record_end_ns(&input->record);
	int n;

	if (input->chunk_bytes + IOT_RECORD_MAX_BYTES > CHUNK_BYTES && flush(merge, input))
		return EXIT_FAILED;
	n = iot_record_encode(input->chunk + input->chunk_bytes, CHUNK_BYTES - input->chunk_bytes,
			      &input->record);
	if (n < 0)
		return fail("%s: a record cannot be encoded", input->path);
	if (!input->chunk_bytes)
		input->head = (struct iot_chunk_head){
			.sequence = cpu_to_le64(input->sequence),
			.first_ns = cpu_to_le64(end_ns),
		};
	input->head.count = cpu_to_le32(le32_to_cpu(input->head.count) + 1);
	input->head.last_ns = cpu_to_le64(end_ns);
	input->chunk_bytes += (u32)n;
	merge->records++;
	merge->end_ns = end_ns;
	return EXIT_DONE;
}

/* The input whose record ended first, NULL if there are no more. */
static struct input *next_input(struct merge *merge)
{
	struct input *first = NULL;
	size_t i;

	for (i = 0; i < merge->count; i++) {
		struct input *input = &merge->inputs[i];

		if (input->has_record && (!first || iot_record_end_ns(&input->record) <
							    iot_record_end_ns(&first->record)))
			first = input;
	}
	return first;
}

/* The end of one process is not the end of the whole. */
static int merge_records(struct merge *merge)
{
	struct input *input;
	size_t i;

	while ((input = next_input(merge))) {
		if (look_at(merge, input))
			return EXIT_FAILED;
		if (input->record.kind != IOT_KIND_end && take(merge, input))
			return EXIT_FAILED;
		if (advance(input))
			return EXIT_FAILED;
	}
	for (i = 0; i < merge->count; i++)
		if (flush(merge, &merge->inputs[i]))
			return EXIT_FAILED;
	return EXIT_DONE;
}

/* -- what came of it ------------------------------------------------------------------------- */

static void count_job(struct merge *merge, const struct input *input)
{
	u64 ranks = 0;
	size_t i;

	for (i = 0; i < merge->count; i++) {
		if (merge->inputs[i].world != input->world)
			continue;
		if (&merge->inputs[i] < input)
			return; /* counted with the first of its traces */
		ranks++;
	}
	merge->jobs++;
	if (ranks >= input->size)
		return;
	merge->missing_ranks += input->size - ranks;
	say("%s: of the %u ranks of its job %llu have a trace", input->path, input->size,
	    (unsigned long long)ranks);
}

static void take_stock(struct merge *merge)
{
	struct iot_trace_info info;
	size_t i;

	for (i = 0; i < merge->count; i++) {
		struct input *input = &merge->inputs[i];

		iot_reader_info(input->reader, &info);
		merge->lost += info.lost + info.missing;
		if (input->world)
			count_job(merge, input);
		if (info.is_complete)
			continue;
		merge->unfinished++;
		say("%s: its process did not end MPI; what it did until then is there", input->path);
	}
}

static int finish(struct merge *merge)
{
	char why[128] = "";
	struct iot_record end = { .kind = IOT_KIND_end };
	int err;

	if (merge->unfinished || merge->missing_ranks)
		snprintf(why, sizeof(why), "%llu processes did not end MPI, %llu ranks have no trace",
			 (unsigned long long)merge->unfinished,
			 (unsigned long long)merge->missing_ranks);
	end.tail = (const u8 *)why;
	end.tail_bytes = (u16)strlen(why);
	end.end.time_ns = merge->end_ns;
	end.end.records = merge->records;
	end.end.lost = merge->lost;
	err = iot_writer_record(merge->writer, &end);
	if (!err)
		err = iot_writer_finish(merge->writer);
	return err ? fail("%s: %s", merge->output, strerror(-err)) : EXIT_DONE;
}

static void print(const struct merge *merge)
{
	struct json json;

	if (!merge->is_json) {
		if (!merge->is_quiet)
			printf("%s: %llu records of %zu processes, %llu jobs; %llu lost\n",
			       merge->output, (unsigned long long)merge->records, merge->count,
			       (unsigned long long)merge->jobs, (unsigned long long)merge->lost);
		return;
	}
	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "trace", merge->output);
	json_put_unsigned(&json, "records", merge->records);
	json_put_unsigned(&json, "processes", merge->count);
	json_put_unsigned(&json, "jobs", merge->jobs);
	json_put_unsigned(&json, "unfinished", merge->unfinished);
	json_put_unsigned(&json, "missing_ranks", merge->missing_ranks);
	json_put_unsigned(&json, "lost", merge->lost);
	json_end(&json, '}');
	json_line(&json);
}

static int run(int argc, char **argv)
{
	struct merge merge = {};
	size_t i;
	int code;

	argp_parse(&argp, argc, argv, 0, NULL, &merge);
	code = open_all(&merge);
	if (!code)
		code = merge_records(&merge);
	if (!code) {
		take_stock(&merge);
		code = finish(&merge);
	}
	if (!code)
		print(&merge);
	else if (merge.writer)
		unlink(merge.output);
	iot_writer_close(merge.writer);
	for (i = 0; i < merge.count; i++) {
		iot_reader_close(merge.inputs[i].reader);
		free(merge.inputs[i].chunk);
		free(merge.inputs[i].path);
	}
	free(merge.inputs);
	free(merge.tasks);
	return code;
}

const struct cmd cmd_merge = {
	.name = "merge",
	.summary = "make one trace of those of the processes of a job",
	.run = run,
	.argp = &argp,
};
