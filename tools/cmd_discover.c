// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_discover.c - iotape discover: record a command several times with delays, to find the order that nothing announces.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyse/passes/analysis.h"
#include "cmd.h"
#include "discover/discover.h"
#include "json.h"
#include "option.h"
#include "option_delay.h"
#include "record/record.h"
#include "table.h"

#define MOUNTS_MAX    16
#define RUNS_DEFAULT  16
#define RUNS_MAX      1024
#define QUIET_MIN_NS  (20 * OPTION_MS)
#define QUIET_MAX_NS  (2 * OPTION_S)
#define BUDGET_MIN_NS (10 * OPTION_S)

struct options {
	char *mounts[MOUNTS_MAX];
	unsigned int mount_count;
	const char *output;
	unsigned int runs;
	unsigned int period; /* 0: chosen for each run */
	bool is_json;
	bool is_quiet;
	char **command;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void add_mount(struct option_state *state, char *dir)
{
	struct options *options = state->options;

	if (options->mount_count == MOUNTS_MAX)
		option_error(state, "more than %d times --mount", MOUNTS_MAX);
	options->mounts[options->mount_count++] = dir;
}

static void add_command(struct option_state *state, char *operand)
{
	struct options *options = state->options;

	(void)operand;
	options->command = state->argv + state->next - 1;
	state->next = state->argc;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->command)
		option_error(state, "no command to record");
	if (!strcmp(options->output, "-") || strchr(options->output, ':'))
		option_error(state, "--output=%s: the trace is a file", options->output);
}

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output),
	  .help = "write the trace to FILE (default: iotape.iot)" },
	{ "mount", 'm', OPTION_DIRECTORY, "DIR", .set = add_mount,
	  .help = "record operations below DIR (default: the working directory); may be repeated" },
	{ "runs", 0, OPTION_COUNT, "M", .min = 2, .max = RUNS_MAX, .field = FIELD(runs),
	  .help = "run the command at most M times, the first time without delays (default: 16)" },
	{ "period", 0, OPTION_COUNT, "P", .min = 1, .max = IOT_DELAY_PERIOD_MAX, .field = FIELD(period),
	  .help = "delay a thread after every P-th of its operations (default: so many that a run takes about twice as long)" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print the summary as JSON" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "print neither progress nor the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "[--] COMMAND [ARGUMENT...]",
	.operand_type = OPTION_COMMAND,
	.add = add_command,
	.check = check,
	.about = "Run COMMAND several times and delay one thread after the other, to find out which threads wait for it. The trace "
		 "is that of a run without delays, with the order that was found; iotape compile keeps this order.",
	.notes = "COMMAND must do the same in each run, so it must find the same files. The exit code is 3 if it does not.",
};

/* -- runs ----------------------------------------------------------------------------------------- */

/**
 * struct search - the work of this command
 * @trace: of the run under way, removed afterwards; that of the first run is removed at the end
 * @run: number of the next run
 * @interrupt, @quit: what this process was to do at SIGINT and SIGQUIT, as the command is
 */
struct search {
	const struct options *options;
	struct discovery *discovery;
	char trace[PATH_MAX];
	unsigned int run;
	struct sigaction interrupt;
	struct sigaction quit;
};

/* iotape record, without and with delays. */
static void become_recorder(const struct search *search, const struct iot_delay *delay)
{
	const struct options *options = search->options;
	char text[DELAY_TEXT_BYTES], delays[DELAY_TEXT_BYTES + 16];
	const char *arguments[8 + 2 * MOUNTS_MAX];
	char **all;
	int count = 0, extra = 0;
	unsigned int i;

	sigaction(SIGINT, &search->interrupt, NULL);
	sigaction(SIGQUIT, &search->quit, NULL);
	arguments[count++] = "iotape";
	arguments[count++] = "record";
	arguments[count++] = "--quiet";
	arguments[count++] = "-o";
	arguments[count++] = search->trace;
	if (delay) {
		snprintf(delays, sizeof(delays), "--delay=%s", delay_text(delay, text));
		arguments[count++] = delays;
	}
	for (i = 0; i < options->mount_count; i++) {
		arguments[count++] = "-m";
		arguments[count++] = options->mounts[i];
	}
	arguments[count++] = "--";
	while (options->command[extra])
		extra++;
	all = calloc((size_t)(count + extra) + 1, sizeof(*all));
	if (!all)
		_exit(EXIT_FAILED);
	memcpy(all, arguments, (size_t)count * sizeof(*all));
	memcpy(all + count, options->command, (size_t)extra * sizeof(*all));
	execv("/proc/self/exe", all);
	_exit(EXIT_FAILED);
}

/* Signals reach the recorder, not this process, which removes the traces then. */
static int record(struct search *search, const struct iot_delay *delay)
{
	struct runner runner = {};
	int status, err;

	runner.pid = fork();
	if (runner.pid < 0)
		return fail("no process can be created for the recording: %s", strerror(errno));
	if (!runner.pid)
		become_recorder(search, delay);
	err = runner_wait(&runner, &status);
	if (err)
		return fail("the recording: %s", strerror(-err));
	if (WIFSIGNALED(status))
		return fail("run %u was killed by signal %d", search->run + 1, WTERMSIG(status));
	if (WEXITSTATUS(status))
		return fail("run %u of the command ended with exit code %d", search->run + 1, WEXITSTATUS(status));
	return EXIT_DONE;
}

static int compare_run(struct search *search)
{
	char why[DISCOVERY_WHY_BYTES];
	struct iot_reject reject = {};
	int err = discovery_add(search->discovery, search->trace, &reject, why);

	if (err == -EXDEV) {
		say("the command is not deterministic: %s", why);
		return EXIT_DIFFERS;
	}
	return err ? fail_reject(search->trace, err, &reject) : EXIT_DONE;
}

static int run_once(struct search *search, const struct iot_delay *delay)
{
	int code;

	snprintf(search->trace, sizeof(search->trace), "%s.run%u", search->options->output, search->run);
	code = record(search, delay);
	if (!code)
		code = compare_run(search);
	if (search->run++) /* the first one is read again at the end */
		unlink(search->trace);
	return code;
}

/* -- the plan --------------------------------------------------------------------------------------- */

static u64 clamp_ns(u64 ns, u64 min_ns, u64 max_ns)
{
	return ns < min_ns ? min_ns : ns > max_ns ? max_ns : ns;
}

/* The usual time between two operations, over all threads. */
static u64 longest_gap_ns(const struct discovery *discovery)
{
	struct discovery_thread thread;
	u64 gap_ns = 0;
	u32 i;

	for (i = 0; !discovery_thread(discovery, i, &thread); i++)
		if (thread.gap_ns > gap_ns)
			gap_ns = thread.gap_ns;
	return gap_ns;
}

/*
 * A thread that has stopped for more than twice as long as usual waits; the delays of a run may take about as long as the run
 * without.
 */
static struct iot_delay delay_of(const struct search *search, const struct discovery_thread *thread)
{
	u64 quiet_ns = clamp_ns(3 * longest_gap_ns(search->discovery), QUIET_MIN_NS, QUIET_MAX_NS);
	u64 budget_ns = clamp_ns(discovery_duration_ns(search->discovery), BUDGET_MIN_NS, IOT_DELAY_MAX_NS / 4);
	u64 period = search->options->period;

	if (!period)
		period = 1 + thread->places * quiet_ns / budget_ns;
	return (struct iot_delay){
		.thread = thread->number,
		.period = (__u32)clamp_ns(period, 1, IOT_DELAY_PERIOD_MAX),
		.asleep_ns = quiet_ns,
		.idle_ns = quiet_ns,
		.limit_ns = 5 * quiet_ns,
		.total_ns = search->options->period ? IOT_DELAY_MAX_NS : 4 * budget_ns,
	};
}

/* Threads that can be waited for. */
static unsigned int count_threads(const struct discovery *discovery)
{
	struct discovery_thread thread;
	unsigned int count = 0;
	u32 i;

	for (i = 0; !discovery_thread(discovery, i, &thread); i++)
		count += thread.places > 0;
	return count;
}

/* The thread with the most operations among those that were not delayed yet. Return: false if there is none. */
static bool next_thread(const struct discovery *discovery, const bool *is_done, u32 *index, struct discovery_thread *next)
{
	struct discovery_thread thread;
	bool is_found = false;
	u32 i;

	for (i = 0; !discovery_thread(discovery, i, &thread); i++) {
		if (is_done[i] || !thread.places || (is_found && thread.places <= next->places))
			continue;
		*next = thread;
		*index = i;
		is_found = true;
	}
	return is_found;
}

static u32 thread_count(const struct discovery *discovery)
{
	struct discovery_thread thread;
	u32 i = 0;

	while (!discovery_thread(discovery, i, &thread))
		i++;
	return i;
}

static int run_delayed(struct search *search)
{
	bool *is_done = calloc(thread_count(search->discovery) + 1u, sizeof(*is_done));
	unsigned int wanted = count_threads(search->discovery);
	struct discovery_thread thread;
	int code = is_done ? EXIT_DONE : fail("%s", strerror(ENOMEM));
	u32 index;

	if (wanted > search->options->runs - 1)
		wanted = search->options->runs - 1;
	while (!code && search->run <= wanted && next_thread(search->discovery, is_done, &index, &thread)) {
		struct iot_delay delay = delay_of(search, &thread);

		if (!search->options->is_quiet)
			say("run %u of %u: delays thread %u (%s) after %s%u of its %u operations", search->run + 1, wanted + 1,
			    thread.number, thread.command, delay.period == 1 ? "" : "every ", delay.period == 1 ? thread.places : delay.period,
			    thread.places);
		is_done[index] = true;
		code = run_once(search, &delay);
	}
	free(is_done);
	return code;
}

/* -- the result ------------------------------------------------------------------------------------- */

/* Orders that follow from what the trace says by itself: MPI calls, wake-ups, results, ends of tasks. */
static int count_confirmed(const char *trace, u64 *confirmed)
{
	const struct analysis_options options = { .rules = ORDER_DEFAULT };
	struct iot_reject reject = {};
	struct analysis *analysis;
	int err = analysis_load(&analysis, trace, &options, &reject);

	if (!err)
		err = analysis_run(analysis, graph_passes_needed(PASS_BIT(prune)));
	if (err)
		return fail_reject(trace, err, &reject);
	*confirmed = analysis_graph(analysis)->pruned_by_cause[EDGE_discovered];
	analysis_close(analysis);
	return EXIT_DONE;
}

static void print_text(const struct options *options, const struct discovery_result *result, u64 confirmed)
{
	printf("%s: %u runs with %u delays: %u orders, %llu of them known from other causes, %llu new\n", options->output, result->runs,
	       result->delays, result->edges, (unsigned long long)confirmed, (unsigned long long)(result->edges - confirmed));
	if (result->redundant)
		printf("  %u more orders follow from these\n", result->redundant);
	if (result->contradicted)
		printf("  %u orders were contradicted by a run\n", result->contradicted);
	if (result->doubtful)
		printf("  at %u places a task stopped, but not for much longer than without delays\n", result->doubtful);
	if (!result->runs)
		printf("  no two threads have operations: there is nothing to discover\n");
}

static void print_json(const struct options *options, const struct discovery_result *result, u64 confirmed)
{
	struct json json;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "trace", options->output);
	json_put_unsigned(&json, "runs", result->runs);
	json_put_unsigned(&json, "delays", result->delays);
	json_put_unsigned(&json, "orders", result->edges);
	json_put_unsigned(&json, "confirmed", confirmed);
	json_put_unsigned(&json, "new", result->edges - confirmed);
	json_put_unsigned(&json, "redundant", result->redundant);
	json_put_unsigned(&json, "contradicted", result->contradicted);
	json_put_unsigned(&json, "doubtful", result->doubtful);
	json_end(&json, '}');
	json_line(&json);
}

static int finish(const struct search *search)
{
	const struct options *options = search->options;
	struct discovery_result result;
	struct iot_reject reject = {};
	u64 confirmed = 0;
	int err = discovery_find(search->discovery, &result), code;

	if (!err)
		err = discovery_write(search->discovery, options->output, &reject);
	if (err)
		return fail_reject(options->output, err, &reject);
	code = count_confirmed(options->output, &confirmed);
	if (code)
		return code;
	if (options->is_json)
		print_json(options, &result, confirmed);
	else if (!options->is_quiet)
		print_text(options, &result, confirmed);
	return EXIT_DONE;
}

static int discover(struct search *search)
{
	char base[PATH_MAX + 16];
	int code;

	if (!search->options->is_quiet)
		say("run 1: without delays");
	code = run_once(search, NULL);
	if (!code && count_threads(search->discovery) > 1)
		code = run_delayed(search);
	if (!code)
		code = finish(search);
	snprintf(base, sizeof(base), "%s.run0", search->options->output);
	unlink(base);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = { .output = "iotape.iot", .runs = RUNS_DEFAULT };
	struct search search = { .options = &options };
	int err, code;

	options_parse(&option_table, argc, argv, &options);
	sigaction(SIGINT, NULL, &search.interrupt);
	sigaction(SIGQUIT, NULL, &search.quit);
	err = discovery_open(&search.discovery);
	if (err)
		return fail("%s", strerror(-err));
	code = discover(&search);
	discovery_close(search.discovery);
	return code;
}

const struct cmd cmd_discover = {
	.name = "discover",
	.summary = "run a command several times to find the order that nothing announces",
	.run = run,
	.options = &option_table,
};
