// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_record.c - iotape record: run a command and record its file I/O.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "collectord/collectord.h"
#include "facts.h"
#include "launcher.h"
#include "omissions.h"
#include "option.h"
#include "option_counters.h"
#include "option_delay.h"
#include "option_filter.h"
#include "option_flight.h"
#include "option_rotate.h"
#include "option_stacks.h"
#include "record/record.h"
#include "record_options.h"
#include "record_strace.h"
#include "seal/seal.h"
#include "table.h"

#define COUNTERS_DEFAULT 4096 /* rows, 6 MiB */
#define GRACE_MS 1000 /* for processes that end right behind the command */

#define FIELD(member) OPTION_FIELD(struct record_command, member)

static void set_output(struct option_state *state, char *path)
{
	struct record_command *options = state->options;

	options->record.output = path;
	options->has_output = true;
}

static void set_mount(struct option_state *state, char *dir)
{
	struct record_command *options = state->options;
	char *path = realpath(dir, NULL);
	struct stat stat_of;

	if (!path || stat(path, &stat_of))
		option_failure(state, errno, "%s", dir);
	if (!S_ISDIR(stat_of.st_mode))
		option_failure(state, ENOTDIR, "%s", dir);
	if (options->record.mount_count == RECORD_MOUNTS_MAX)
		option_error(state, "more than %d times --mount", RECORD_MOUNTS_MAX);
	options->record.mounts[options->record.mount_count++] = path;
}

static void set_admits(struct option_state *state, char *list)
{
	struct record_command *options = state->options;
	char why[512];

	if (record_admit(&options->record, list, why, sizeof(why)))
		option_error(state, "--admit=%s: %s", list, why);
}

static void set_ops(struct option_state *state, char *list)
{
	struct record_command *options = state->options;
	size_t place;
	int classes = iot_op_classes_of(list, &place);

	if (classes < 0)
		option_error(state, "--ops=%s: '%s' is not a class of operations: metadata, data, mapping, sync or lock",
			     list, list + place);
	options->record.ops = classes;
	options->ops = list;
}

static void set_filter(struct option_state *state, char *argument)
{
	struct record_command *options = state->options;

	filter_free(options->filter);
	options->filter = option_filter(state, "--filter", argument, false);
	options->record.program = filter_program(options->filter, &options->record.program_bytes);
}

static void set_delay(struct option_state *state, char *argument)
{
	struct record_command *options = state->options;

	option_delay(state, argument, &options->record.delay);
}

/* The process that reads it has another working directory. */
static void set_controller(struct option_state *state, char *path)
{
	struct record_command *options = state->options;

	options->record.controller = realpath(path, NULL);
	if (!options->record.controller)
		option_failure(state, errno, "%s", path);
}

static void set_stacks(struct option_state *state, char *list)
{
	struct record_command *options = state->options;

	options->record.has_stacks = true;
	options->stacks = list ?: "all";
	option_stacks(state, list, options->record.stacks);
}

static void set_counters_by(struct option_state *state, char *list)
{
	struct record_command *options = state->options;

	option_counters_by(state, list, &options->record.counters_keys);
}

static void set_flight(struct option_state *state, char *argument)
{
	struct record_command *options = state->options;

	options->record.is_flight = true;
	option_flight(state, argument, &options->flight);
}

static void set_rotate(struct option_state *state, char *argument)
{
	struct record_command *options = state->options;

	options->record.rotates = true;
	option_rotate(state, argument, &options->rotation);
}

static void set_fsync(struct option_state *state, char *argument)
{
	struct record_command *options = state->options;

	option_fsync(state, argument, &options->fsync);
}

static void set_flight_errors(struct option_state *state, char *argument)
{
	struct record_command *options = state->options;

	options->has_flight_option = true;
	option_flight_errors(state, argument, &options->flight);
}

static void set_job(struct option_state *state, char *name)
{
	struct record_command *options = state->options;

	snprintf(options->job.name, sizeof(options->job.name), "%s", name);
}

static void set_command(struct option_state *state, char *command)
{
	struct record_command *options = state->options;

	options->command = command;
}

/* The command and everything after it. */
static void add_command(struct option_state *state, char *operand)
{
	struct record_command *options = state->options;

	(void)operand;
	options->record.command = state->argv + state->next - 1;
	state->next = state->argc;
}

static const char *const policies[] = { "block", "drop", NULL };
static const char *const mmap_modes[] = { "page", "faultaround", "off", NULL };
static const char *const engines[] = { "kernel", "strace", NULL };
static const char *const mpi_modes[] = { "auto", "on", "off", "openmpi", "mpich", NULL };

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .set = set_output, .help = "write the trace to FILE (default: iotape.iot); -: to standard output, unix:PATH or tcp:HOST:PORT: to "
		  "a stream socket" },
	{ "seal", 0, OPTION_FILE, "KEY", .field = FIELD(seal_key),
	  .help = "encrypt the trace to the public key in KEY, see iotape-seal(1)" },
	{ "mount", 'm', OPTION_DIRECTORY, "DIR", .set = set_mount,
	  .help = "record operations below DIR (default: the working directory); may be repeated" },
	{ "engine", 0, OPTION_CHOICE, .words = engines, .field = FIELD(is_strace),
	  .help = "record in the kernel (default), or by strace, without root and modules, and without accesses to mapped files" },
	{ "policy", 0, OPTION_CHOICE, .words = policies, .field = FIELD(record.drop),
	  .help = "if records are created faster than they can be written: make the command wait (default), or drop "
		  "and count them" },
	{ "mmap", 0, OPTION_WORD, .words = mmap_modes, .field = FIELD(record.mmap_mode),
	  .help = "record the first access to each mapped page (default), to groups of pages as the kernel maps "
		  "them, or none" },
	{ "mpi", 0, OPTION_WORD, .words = mpi_modes, .field = FIELD(mpi),
	  .help = "record MPI calls: if the command is mpirun or mpiexec (default), always, never, or by the library for this MPI" },
	{ "wakes", .field = FIELD(record.has_wakes),
	  .help = "also record wake-ups, so that a replay keeps the order imposed by pipes, sockets and locks in memory" },
	{ "no-calibration", 0, OPTION_FLAG, .field = FIELD(is_uncalibrated),
	  .help = "do not measure the cost of recording before the recording begins" },
	{ "ops", 0, OPTION_TEXT, "CLASS,...", .set = set_ops,
	  .help = "record only operations of these classes: metadata, data, mapping, sync, lock" },
	{ "filter", 0, OPTION_TEXT, "EXPR|@FILE", .set = set_filter,
	  .help = "record only operations for which the expression is true, see iotape-filter(7)" },
	{ "stacks", 0, OPTION_TEXT, "OP,...", .is_optional = true, .word_at = option_stacks_at, .set = set_stacks,
	  .help = "also record from which function calls operations are made, of all but accesses to mapped pages, or of these "
		  "operations or classes" },
	{ "counters", 0, OPTION_COUNT, "ROWS", .min = IOT_COUNTERS_ROWS_MIN, .max = IOT_COUNTERS_ROWS_MAX, .is_optional = true,
	  .absent = COUNTERS_DEFAULT, .field = FIELD(record.counters),
	  .help = "count operations in the kernel instead of recording each, in a table of ROWS rows (default: 4096), one for "
		  "each operation, file, process and user; such a trace cannot be replayed" },
	{ "counters-by", 0, OPTION_TEXT, "KEY,...", .set = set_counters_by,
	  .help = "one row for each operation and each value of these: file, process, command, user, mount (default: "
		  "file,process,user,mount)" },
	{ "counters-interval", 0, OPTION_DURATION, "SECONDS", .min = OPTION_S, .max = 31 * 86400 * OPTION_S, .unit = OPTION_S,
	  .field = FIELD(record.counters_interval_ns),
	  .help = "write the counters whenever this time has passed, in seconds or with a unit, and begin with an empty table" },
	{ "delay", 0, OPTION_TEXT, "KEY=VALUE,...", .is_optional = true, .set = set_delay,
	  .help = "delay threads after their operations until all others are blocked, to find out which of them wait: thread=N "
		  "(default: 0, all), period=N operations (1), phase=N (0), asleep=TIME (20ms), idle=TIME (100ms), "
		  "limit=TIME (1s), total=TIME (60s)" },
	{ "controller", 0, OPTION_FILE, "FILE", .set = set_controller,
	  .help = "with --join and --delay: where the controller of all nodes is, which ends delays; iotape discover --nodes "
		  "writes FILE, and runs this command" },
	{ "rotate", 0, OPTION_TEXT, "SIZE|TIME,...", .set = set_rotate,
	  .help = "write the trace to numbered files, each of which is a trace: begin the next one at this size, such as 1G, after this "
		  "time, such as 24h, or both; keep=N: keep N files at most, and remove the oldest" },
	{ "fsync", 0, OPTION_TEXT, "never|end|TIME", .word_at = option_fsync_at, .set = set_fsync,
	  .help = "let the trace reach the disk whenever the kernel writes it (default), at the end of each file, or also whenever "
		  "this time has passed" },
	{ "flight", 0, OPTION_TEXT, "SIZE|SECONDS", .set = set_flight,
	  .help = "keep only the last records in memory, such as 64M, 30s or both, and write them to numbered files on "
		  "SIGUSR1, on `iotape ctl dump`, or for a cause below" },
	{ "flight-latency", 0, OPTION_DURATION, "MS", .min = 1000, .max = 86400 * OPTION_S, .unit = OPTION_MS,
	  .field = FIELD(flight.latency_ns), .given = FIELD(has_flight_option),
	  .help = "write a dump when an operation takes at least this long, in ms or with a unit" },
	{ "flight-on-error", 0, OPTION_TEXT, "ERRNO,...", .is_optional = true, .set = set_flight_errors,
	  .help = "write a dump when an operation returns one of these errors, or any (default: those of storage, such as "
		  "EIO and ENOSPC)" },
	{ "flight-dumps", 0, OPTION_COUNT, "N", .min = 1, .max = 100000, .field = FIELD(flight.dumps_max),
	  .given = FIELD(has_flight_option), .help = "maximum number of dumps for latencies and errors (default: 16)" },
	{ "flight-at-end", .field = FIELD(flight.at_end), .given = FIELD(has_flight_option),
	  .help = "write a dump at the end of the recording" },
	{ "buffers", 0, OPTION_COUNT, "N", .min = 4, .max = 1024, .field = FIELD(record.buffers), .given = FIELD(has_buffers),
	  .help = "number of 32 KiB buffers per CPU (default: 16)" },
	{ "flush", 0, OPTION_DURATION, "MS", .min = 10 * OPTION_MS, .max = 60 * OPTION_S, .unit = OPTION_MS,
	  .stored_unit = OPTION_MS, .field = FIELD(record.flush_ms), .given = FIELD(has_flush),
	  .help = "maximum age of an unsent record, in ms or with a unit (default: 200)" },
	{ "join", .field = FIELD(is_join),
	  .help = "join the recording of this job on this node; the output is a directory (default: iotape.traces)" },
	{ "job", 0, OPTION_TEXT, "NAME", .set = set_job, .help = "name of the job, if the launcher does not set one" },
	{ "mpi-only", .field = FIELD(is_mpi_only),
	  .help = "record MPI calls only, without kernel modules: each process writes a trace to the output directory" },
	{ "attach", .field = FIELD(is_attach),
	  .help = "run no command: record existing tapefs mounts, by any process, until Ctrl-C" },
	{ "for", 0, OPTION_DURATION, "SECONDS", .min = OPTION_S, .max = (1ull << 30) * OPTION_S, .unit = OPTION_S,
	  .stored_unit = OPTION_S, .field = FIELD(seconds), .help = "with --attach: end the recording after this time" },
	{ "pid", 0, OPTION_COUNT, "PID", .min = 1, .max = 1u << 22, .field = FIELD(pid),
	  .help = "with --attach: record the mounts of process PID until it ends" },
	{ "admit", 0, OPTION_TEXT, "NAME,...", .set = set_admits,
	  .help = "allow processes of these users, or of these :groups, to add MPI records even if the command did "
		  "not start them; may be repeated" },
	{ "command", 0, OPTION_TEXT, "TEXT", .set = set_command,
	  .help = "state this command in the trace, if COMMAND is only a helper, as that of the plugin for Slurm" },
	{ "wait", 0, OPTION_DURATION, "SECONDS", .is_optional = true, .max = (1ull << 30) * OPTION_S, .unit = OPTION_S,
	  .stored_unit = OPTION_MS, .absent = UINT64_MAX, .field = FIELD(record.wait_ms), .given = FIELD(has_wait),
	  .help = "after the end of the command, wait for all processes that it started, or at most this long "
		  "(default: 1)" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "[--] COMMAND [ARGUMENT...]\n--attach",
	.operand_type = OPTION_COMMAND,
	.add = add_command,
	.check = record_options_check,
	.about = "Run COMMAND and record its file I/O below the given directories.",
	.notes = "Several nodes: mpirun ... iotape record --join -o DIR -m /scratch -- COMMAND, followed by "
		 "iotape merge -o job.iot DIR. The exit code is that of COMMAND; 127 if it was not found, 126 if it "
		 "cannot be executed, 1 if the recording failed.",
};

/* The boot of the node, which determines its clock. */
static void add_boot(struct facts *facts)
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[64] = "";

	if (in && fgets(boot, sizeof(boot), in)) {
		boot[strcspn(boot, "\n")] = 0;
		facts_add(facts, "boot", "%s", boot);
	}
	if (in)
		fclose(in);
}

static void add_job(struct facts *facts, const struct record_job *job)
{
	if (job->name[0])
		facts_add(facts, "job", "%s", job->name);
	if (job->nodes)
		facts_add(facts, "job.nodes", "%u", job->nodes);
}

enum { COMMAND_MAX_BYTES = 2047 };

static void add_command_fact(struct facts *facts, char *const *arguments)
{
	char command[COMMAND_MAX_BYTES + 1] = "";
	size_t at = 0;
	int i;

	for (i = 0; arguments[i] && at < sizeof(command) - 1; i++)
		at += (size_t)snprintf(command + at, sizeof(command) - at, "%s%s", i ? " " : "",
				       arguments[i]);
	facts_add(facts, "command", "%s", command);
}

/* By any engine. An import knows the directories. */
static void add_run(struct record_command *options)
{
	struct facts *facts = &options->facts;
	char *cwd = getcwd(NULL, 0);

	if (options->is_attach)
		facts_add(facts, "attached", "yes");
	else if (options->command)
		facts_add(facts, "command", "%.*s", COMMAND_MAX_BYTES, options->command);
	else
		add_command_fact(facts, options->record.command);
	facts_add(facts, "directory", "%s", cwd ? cwd : "?");
	free(cwd);
	if (options->record.mount_count)
		facts_add_storage(facts, options->record.mounts[0]);
	facts_add_host(facts);
	add_boot(facts);
}

static void add_facts(struct record_command *options)
{
	struct facts *facts = &options->facts;
	int i;

	add_run(options);
	for (i = 0; i < options->record.mount_count; i++)
		facts_add(facts, "mount", "%s", options->record.mounts[i]);
	if (options->is_join)
		add_job(facts, &options->job);
	/* A session that several commands join is not begun by one of them. */
	options->inherited = options->is_attach || options->is_join ? -1 : mounts_warn(&options->record, NULL);
	if (options->inherited >= 0)
		facts_add(facts, "omission.around", "%d %s", options->inherited,
			  options->inherited ? "? ?" : "0 0");
	facts_add(facts, "policy", "%s", options->record.drop ? "drop" : "block");
	if (options->record.has_wakes)
		facts_add(facts, "wakes", "on");
	if (options->ops)
		facts_add(facts, IOT_FACT_OPS, "%s", options->ops);
	if (options->stacks)
		facts_add(facts, IOT_FACT_STACKS, "%s", options->stacks);
	if (options->filter)
		facts_add(facts, IOT_FACT_FILTER, "%s", filter_text(options->filter));
	if (options->record.counters)
		facts_add(facts, IOT_FACT_COUNTERS, "%u", options->record.counters);
	if (options->record.counters_keys) {
		char text[COUNTERS_KEYS_TEXT_BYTES];

		facts_add(facts, IOT_FACT_COUNTERS_BY, "%s", counters_keys_text(options->record.counters_keys, text));
	}
	if (options->record.counters_interval_ns)
		facts_add(facts, IOT_FACT_COUNTERS_INTERVAL, "%g", (double)options->record.counters_interval_ns / OPTION_S);
	if (options->record.delay.period) {
		char text[DELAY_TEXT_BYTES];

		facts_add(facts, IOT_FACT_DELAY, "%s", delay_text(&options->record.delay, text));
	}
	if (options->record.is_flight) {
		char text[64];

		facts_add(facts, "flight", "%s", flight_text(&options->flight, text));
	}
	if (!options->is_attach) /* else the mount has its own */
		facts_add(facts, "mmap", "%s", options->record.mmap_mode);
}

/* Without them a replay waits for the recorder's work, too, which is small: no reason not to record. */
static void add_costs(struct record_command *options)
{
	char costs[2048];
	int err = calibrate(&options->record, costs, sizeof(costs));

	if (!err)
		facts_add(&options->facts, IOT_FACT_COSTS, "%s", costs);
	else if (err != -ENOENT && err != -ENXIO && err != -ENODEV && err != -EPERM && err != -EACCES) /* reported later */
		say("warning: the cost of recording cannot be measured and stays in the time between operations: %s",
		    strerror(-err));
}

/* Which MPI is meant. */
static const char *mpi_of(const struct record_command *options)
{
	if (strcmp(options->mpi, "auto") && strcmp(options->mpi, "on"))
		return options->mpi;
	return options->job.mpi ?: launcher_mpi(options->record.command[0]);
}

static bool wants_mpi(const struct record_command *options)
{
	if (!strcmp(options->mpi, "auto"))
		return options->is_join || options->is_mpi_only ||
		       launcher_is(options->record.command[0]);
	return strcmp(options->mpi, "off");
}

static void find_mpi_library(struct record_command *options)
{
	static char path[PATH_MAX];
	char name[64];

	if (!wants_mpi(options))
		return;
	snprintf(name, sizeof(name), "libiotape_mpi_%s.so", mpi_of(options));
	if (iot_companion_find(name, path))
		options->record.mpi_library = path;
	else
		say("%s was not found: MPI calls are not recorded", name);
}

static void warn(const char *sentence)
{
	say("warning: %s", sentence);
}

static void say_text(const char *sentence)
{
	say("%s", sentence);
}

/* The omissions of the trace. Commands that read it compute their share of the whole. */
static void warn_of_omissions(const struct record_command *options, const struct collector_result *result)
{
	const struct iot_trace_info info = {
		.is_complete = true, /* otherwise the reason was printed */
		.states_omissions = true,
		.lost = result->lost,
		.missing = result->missing,
	};
	const struct iot_record fact = {
		.kind = IOT_KIND_fact,
		.tail = (const u8 *)result->last_fact,
		.tail_bytes = (u16)strlen(result->last_fact),
	};
	const u64 unknown = IOT_OMISSION_UNKNOWN;
	struct iot_omissions omissions = {};
	char before[64];

	char paused[IOT_OMISSION_DETAIL_BYTES];

	if (result->is_stopped && !options->is_attach)
		say("warning: the recording was stopped by iotape ctl before the command had ended");
	snprintf(paused, sizeof(paused), "%.3f s", (double)result->paused_ns / 1e9);
	snprintf(before, sizeof(before), "%s: warning: ", program_invocation_name);
	iot_omissions_take(&omissions, &fact);
	iot_omissions_add(&omissions, IOT_OMISSION_around,
			  options->inherited >= 0 ? (u64)options->inherited : result->unseen_files + result->unseen_maps,
			  unknown, unknown, NULL);
	iot_omissions_add(&omissions, IOT_OMISSION_filtered, result->refused, unknown, unknown, NULL);
	iot_omissions_add(&omissions, IOT_OMISSION_paused, result->pauses, result->left_out,
			  result->left_out ? unknown : 0, result->paused_ns ? paused : NULL);
	if (!strcmp(options->record.mmap_mode, "off"))
		iot_omissions_add(&omissions, IOT_OMISSION_mapping, result->maps, unknown, unknown, NULL);
	iot_omissions_finish(&omissions, &info);
	omissions_list(stderr, before, &omissions);
}

static const char *output_name(const struct record_command *options)
{
	return strcmp(options->record.output, "-") ? options->record.output : "standard output";
}

static const char *last_file(const struct record_command *options, const struct collector_result *result, char path[PATH_MAX])
{
	if (!result->files)
		return output_name(options);
	file_number_path(path, options->record.output, result->file_number);
	return path;
}

static void put_summary(FILE *out, const struct record_command *options, const struct collector_result *result)
{
	char size[32];

	fprintf(out, "%s: %s: %llu operations, %llu records", program_invocation_name, output_name(options),
		(unsigned long long)result->operations, (unsigned long long)result->records);
	if (options->record.is_flight)
		fprintf(out, " through the flight recorder, %llu dumps", (unsigned long long)result->dumps);
	else
		fprintf(out, ", %s", quantity_size(size, result->bytes));
	if (options->record.rotates)
		fprintf(out, " in %llu files", (unsigned long long)result->files);
	if (result->unheeded)
		fprintf(out, ", %llu more causes than --flight-dumps allows", (unsigned long long)result->unheeded);
	if (result->backpressure_waits)
		fprintf(out, ", %llu waits for the collector",
			(unsigned long long)result->backpressure_waits);
	if (result->opened || result->mapped)
		fprintf(out, ", %llu descriptors and %llu mappings existed before",
			(unsigned long long)result->opened, (unsigned long long)result->mapped);
	fputc('\n', out);
}

/* In one piece, because the recorders of several nodes may write to the same file. */
static void print_summary(const struct record_command *options, const struct collector_result *result)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out) {
		put_summary(stderr, options, result);
		return;
	}
	put_summary(out, options, result);
	fclose(out);
	fputs(text ? text : "", stderr);
	free(text);
}

/**
 * exit_as() - end as the command ended
 * @status: of the command, as from waitpid(2)
 *
 * Return: its exit code; a signal that killed the command kills the caller.
 */
int exit_as(int status)
{
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

/* Return: true if the collection failed; the reason was printed. */
static bool say_collection(const struct record_command *options, const struct collector_result *result)
{
	char why[PATH_MAX + 256];
	char path[PATH_MAX];
	bool is_sealed = !seal_pipe_finish(&options->seal, why, sizeof(why));

	if (!is_sealed)
		say("%s", why);
	else if (result->err == -EPIPE)
		say("the collector was killed: the trace ends there");
	else if (result->err == -ECONNRESET && options->stream_fd)
		say("%s: the reader disconnected: the recording ended there", output_name(options));
	else if (result->err)
		say("%s: %s: the recording ended there", last_file(options, result, path), strerror(-result->err));
	return !is_sealed || result->err || result->dumps_failed; /* for a dump, the collector printed the reason */
}

/* There was no command to record: of two reasons the first is the cause. */
static int fail_start(const struct record_command *options, const struct runner *runner,
		      const struct collector_result *result, const char *why)
{
	if (!say_collection(options, result))
		say("%s", why);
	return runner->code ? runner->code : EXIT_FAILED;
}

static int record_attached(struct record_command *options, struct collector *collector, int session_fd)
{
	struct collector_result result;
	struct attachment attachment;
	char why[512] = "";
	int err = attach_start(&attachment, &options->record, options->pid, session_fd, why,
			       sizeof(why));

	close(session_fd); /* the collector keeps it */
	if (!err && !options->is_quiet)
		say("recording %s", options->record.mounts[0]);
	if (!err)
		attach_wait(&attachment, collector, options->seconds);
	collector_finish(collector, &result);
	attach_close(&attachment);
	if (err)
		return say_collection(options, &result) ? EXIT_FAILED : fail("%s", why);
	if (say_collection(options, &result))
		return EXIT_FAILED;
	if (!options->is_quiet)
		print_summary(options, &result);
	warn_of_omissions(options, &result);
	return EXIT_DONE;
}

/* Wait until they have ended, or until the time limit; the trace states the remaining ones. */
static void wait_for_descendants(const struct record_command *options, const struct collector *collector,
				 uint64_t session, char *fact)
{
	int err = descendants_wait(session, options->record.wait_ms, collector->result_fd,
				   options->has_wait && !options->is_quiet ? say_text : NULL, fact);

	if (err == -ENOTTY)
		say("the loaded module iotape is too old to report descendants of the command that still run");
	else if (err)
		say("descendants of the command that still run are unknown: %s", strerror(-err));
}

/* Operations that a filter excluded, or a pause left out, count, too: the user may have requested a trace without operations. */
static bool has_found_operations(const struct collector_result *result)
{
	return result->operations || result->refused || result->left_out;
}

static bool is_forbidden(int err)
{
	return err == -EPERM || err == -EACCES;
}

/* Ordinary users cannot load modules, but can use another engine. */
static int name_other_engine(const struct record_command *options, int err, char *why, size_t room)
{
	bool is_missing = err == -ENOENT || err == -ENXIO || err == -ENODEV;

	if ((is_missing || is_forbidden(err)) && geteuid() && !options->is_attach)
		snprintf(why + strlen(why), room - strlen(why), "; --engine=strace needs neither root nor modules");
	return err;
}

/* Return: descriptor of the session, or a negative errno. After an error there is a sentence, unless it was printed. */
static int open_session(struct record_command *options, struct grant *grant, uint64_t *session, char *why, size_t room)
{
	int fd = control_open(&options->record, session, why, room), err;

	/* iotape-mount is not for root, which lacks the right in a container only. */
	if (!is_forbidden(fd) || options->is_attach || !getuid())
		return name_other_engine(options, fd, why, room);
	err = grant_start(grant, &options->record, why, room);
	if (err)
		return err == -ENOENT ? name_other_engine(options, fd, why, room) : err;
	facts_add(&options->facts, IOT_FACT_ONLY, "user");
	*session = grant->session;
	return grant->session_fd;
}

static int start_command(struct runner *runner, const struct record_command *options, struct grant *grant, int session_fd, char *why,
			 size_t room)
{
	if (!grant->pid)
		return runner_start(runner, &options->record, session_fd, warn, why, room);
	mounts_warn(&options->record, warn);
	return grant_run(runner, grant, why, room);
}

static int record(struct record_command *options)
{
	struct collector_options collect = {
		.path = options->record.output,
		.buffers = options->record.buffers,
		.flight = options->record.is_flight ? &options->flight : NULL,
		.rotation = options->record.rotates ? &options->rotation : NULL,
		.syncs_at_end = options->fsync.at_end,
		.sync_ns = options->fsync.period_ns,
	};
	struct collector_result result;
	struct collector collector;
	struct grant grant = {};
	struct runner runner;
	char why[512] = "", *last_fact = descendants_fact_open();
	int status = 0, err;
	bool is_good;
	uint64_t session;
	int session_fd = last_fact ? open_session(options, &grant, &session, why, sizeof(why)) : -ENOMEM;

	if (session_fd == -EPERM && !why[0])
		return EXIT_FAILED; /* iotape-mount has printed the reason */
	if (session_fd < 0)
		return fail("%s", why[0] ? why : strerror(-session_fd));
	collect.facts = (const char *const *)options->facts.lines;
	collect.session_fd = session_fd;
	collect.last_fact = last_fact;
	collect.stream_fd = options->stream_fd;
	collect.may_stop = options->is_attach;
	collect.interval_ns = options->record.counters_interval_ns;
	if (options->record.is_flight)
		dump_signal_block(); /* the collector and the thread inherit that, the command does not */
	err = collector_start(&collector, &collect);
	if (options->stream_fd)
		close(options->stream_fd); /* its reader sees the end when the collector ends */
	if (err == -EPIPE)
		return fail("the collector was killed before the recording began");
	if (err == -ECONNRESET && options->stream_fd)
		return fail("%s: the reader disconnected before the recording began", output_name(options));
	if (err)
		return fail("%s: %s", output_name(options), strerror(-err));
	if (options->record.is_flight && dump_signal_start(session))
		say("warning: no thread can be created: SIGUSR1 writes no dump, only iotape ctl dump does");
	if (options->is_attach)
		return record_attached(options, &collector, session_fd);
	err = start_command(&runner, options, &grant, session_fd, why, sizeof(why));
	close(session_fd); /* the collector keeps it */
	if (!err) {
		runner_wait(&runner, &status);
		wait_for_descendants(options, &collector, session, last_fact);
	}
	collector_finish(&collector, &result);
	if (err)
		return fail_start(options, &runner, &result, why);
	is_good = !say_collection(options, &result);
	if (is_good && !options->is_quiet)
		print_summary(options, &result);
	if (is_good)
		warn_of_omissions(options, &result);
	if (is_good && !has_found_operations(&result))
		is_good = fail("nothing was recorded: the command had no operation below %s",
			       options->record.mounts[0]) == EXIT_DONE;
	if (status)
		return exit_as(status);
	return is_good ? EXIT_DONE : EXIT_FAILED;
}

/* One process of each node prints the messages that need to appear once only. */
static bool speaks(const struct record_command *options)
{
	return !options->job.local_rank;
}

static int fail_once(const struct record_command *options, const char *why)
{
	return speaks(options) ? fail("%s", why) : EXIT_FAILED;
}

/* The last process of a node has the result; the others report nothing about the trace. */
static bool leave(struct record_command *options, struct joined *joined)
{
	struct collector_result result;
	char path[PATH_MAX];
	int last = join_leave(joined, &result, path, sizeof(path));

	if (last < 0)
		return fail_once(options, "the process that held the session of this node died: "
					  "the recording ended there") == EXIT_DONE;
	if (!last)
		return true;
	options->record.output = path;
	if (say_collection(options, &result))
		return false;
	if (!options->is_quiet)
		print_summary(options, &result);
	warn_of_omissions(options, &result);
	if (!has_found_operations(&result))
		return fail("nothing was recorded: the commands had no operation below %s",
			    options->record.mounts[0]) == EXIT_DONE;
	return true;
}

static int record_join(struct record_command *options)
{
	struct runner runner;
	struct joined joined;
	char why[512] = "";
	int status = 0, err = control_check(why, sizeof(why));
	bool is_good;

	if (err) {
		snprintf(why + strlen(why), sizeof(why) - strlen(why),
			 "; --mpi-only records MPI calls without it");
		return fail_once(options, why);
	}
	err = join_session(&joined, &options->record, options->job.name,
			   options->job.local_processes, options->job.local_rank, why, sizeof(why));
	if (err)
		return fail_once(options, why);
	options->record.namespace_fd = joined.namespace_fd;
	options->record.join_fd = joined.fd;
	err = runner_start(&runner, &options->record, joined.session_fd, warn, why, sizeof(why));
	close(joined.session_fd); /* the holder keeps both */
	close(joined.namespace_fd);
	if (!err)
		runner_wait(&runner, &status);
	is_good = leave(options, &joined);
	if (err)
		say("%s", why);
	if (err)
		return runner.code ? runner.code : EXIT_FAILED;
	if (status)
		return exit_as(status);
	return is_good ? EXIT_DONE : EXIT_FAILED;
}

/* The command takes the place of this process: its library does the rest. */
static int record_mpi_only(const struct record_command *options)
{
	if (!options->record.mpi_library)
		return EXIT_FAILED;
	unsetenv("IOTAPE_MOUNT");
	setenv("IOTAPE_MPI_OUT", options->record.output, 1);
	runner_preload(options->record.mpi_library);
	execvp(options->record.command[0], options->record.command);
	fail("%s: %s", options->record.command[0], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}

/* A directory, by the path that all processes of the node use. */
static const char *output_directory(const struct record_command *options)
{
	const char *name = options->has_output ? options->record.output : "iotape.traces";
	char *path;

	if (mkdir(name, 0700) && errno != EEXIST) {
		fail("%s: %s", name, strerror(errno));
		return NULL;
	}
	path = realpath(name, NULL);
	if (!path)
		fail("%s: %s", name, strerror(errno));
	return path;
}

static int record_job(struct record_command *options)
{
	options->record.output = output_directory(options);
	if (!options->record.output)
		return EXIT_FAILED;
	if (options->job.name[0])
		setenv("IOTAPE_JOB", options->job.name, 1);
	return options->is_mpi_only ? record_mpi_only(options) : record_join(options);
}

/* A file, too, is written through the process that seals. Return: 0 or a negative errno. */
static int start_seal(struct record_command *options, char *why, size_t room)
{
	struct seal_keys keys;
	char path[PATH_MAX];
	int out = options->stream_fd, err = seal_keys_read(options->seal_key, &keys, why, room);

	if (err)
		return err;
	if (!out)
		out = iot_output_open(options->record.output, path);
	options->stream_fd = out < 0 ? out : seal_pipe_start(&options->seal, &keys, out, output_name(options));
	if (options->stream_fd >= 0)
		return 0;
	snprintf(why, room, "%s: %s", output_name(options), strerror(-options->stream_fd));
	return options->stream_fd;
}

/* Before anything else, so that no recording is lost if there is no reader. */
static int open_stream(struct record_command *options)
{
	char why[PATH_MAX + 256];

	if (record_is_stream(options->record.output)) {
		options->stream_fd = record_stream_open(options->record.output, why, sizeof(why));
		if (options->stream_fd < 0)
			return fail("%s", why);
	}
	return options->seal_key && start_seal(options, why, sizeof(why)) ? fail("%s", why) : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct record_command options = {
		.record = {
			.mmap_mode = "page",
			.buffers = 16,
			.flush_ms = 200,
			.output = "iotape.iot",
			.wait_ms = GRACE_MS,
			.namespace_fd = -1,
		},
		.mpi = "auto",
		.flight = { .dumps_max = FLIGHT_DUMPS_DEFAULT, .say = say_text, .complain = say_text },
		.rotation = { .complain = say_text },
	};

	if (argc > 1 && !strcmp(argv[1], "--granted")) /* by iotape-mount */
		return granted_main(argv + 2);
	record_job_find(&options.job);
	options_parse(&option_table, argc, argv, &options);
	if (options.is_quiet)
		options.flight.say = NULL;
	if (!options.record.mount_count)
		options.record.mounts[options.record.mount_count++] = realpath(".", NULL);
	if (!options.record.mounts[0])
		return fail("the working directory does not exist");
	if (options.is_strace) {
		add_run(&options);
		return record_with_strace(&options.record, (const char *const *)options.facts.lines, !options.is_uncalibrated,
					  options.is_quiet);
	}
	if (!options.is_attach)
		find_mpi_library(&options);
	if (open_stream(&options))
		return EXIT_FAILED;
	add_facts(&options);
	if (!options.is_mpi_only && !options.is_uncalibrated && !options.record.counters)
		add_costs(&options);
	options.record.facts = (const char *const *)options.facts.lines;
	return options.is_join || options.is_mpi_only ? record_job(&options) : record(&options);
}

const struct cmd cmd_record = {
	.name = "record",
	.summary = "run a command and record its file I/O",
	.run = run,
	.options = &option_table,
};
