// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover_runs.c - the runs of iotape discover: iotape record, without and with delays.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "discover_search.h"
#include "option_delay.h"
#include "record/record.h"

#define QUIET_MIN_NS  (20 * OPTION_MS)
#define QUIET_MAX_NS  (2 * OPTION_S)
#define BUDGET_MIN_NS (10 * OPTION_S)

static void add(struct search_words *words, const char *word)
{
	words->list[words->count++] = word;
}

/* The recorder, up to the command. */
static void list_words(const struct search *search, const char *delays, struct search_words *words)
{
	const struct discover_options *options = search->options;
	unsigned int i;

	*words = (struct search_words){};
	add(words, options->has_nodes ? search->program : "iotape");
	add(words, "record");
	add(words, "--quiet");
	if (options->has_nodes) {
		search_nodes_words(search, delays, words);
	} else {
		add(words, "-o");
		add(words, search->trace);
	}
	if (delays)
		add(words, delays);
	add(words, "--mpi");
	add(words, options->mpi);
	if (options->has_wakes)
		add(words, "--wakes");
	for (i = 0; i < options->mount_count; i++) {
		add(words, "-m");
		add(words, options->mounts[i]);
	}
	add(words, "--");
}

static void execute(const struct search *search, const char *path, const char *const *words)
{
	sigaction(SIGINT, &search->interrupt, NULL);
	sigaction(SIGQUIT, &search->quit, NULL);
	execvp(path, (char *const *)words);
	fail("%s: %s", words[0], strerror(errno));
	_exit(EXIT_FAILED);
}

/* One node: the recorder runs the command. Several: the command, or a launcher that it names, runs the recorder on each. */
static void become_command(const struct search *search, const struct iot_delay *delay)
{
	const struct discover_options *options = search->options;
	char text[DELAY_TEXT_BYTES], delays[DELAY_TEXT_BYTES + 16];
	struct search_words recorder;
	const char **all;
	size_t count = 0, extra = 0, i;

	if (delay)
		snprintf(delays, sizeof(delays), "--delay=%s", delay_text(delay, text));
	list_words(search, delay ? delays : NULL, &recorder);
	while (options->command[extra])
		extra++;
	all = calloc((extra + 1) * (recorder.count + 1u), sizeof(*all));
	if (!all)
		_exit(EXIT_FAILED);
	if (!options->has_nodes) {
		memcpy(all, recorder.list, recorder.count * sizeof(*all));
		memcpy(all + recorder.count, options->command, extra * sizeof(*all));
		execute(search, "/proc/self/exe", all);
	}
	for (i = 0; i < extra; i++) {
		if (strcmp(options->command[i], DISCOVER_RECORDER)) {
			all[count++] = options->command[i];
			continue;
		}
		memcpy(all + count, recorder.list, recorder.count * sizeof(*all));
		count += recorder.count;
	}
	execute(search, all[0], all);
}

/* Signals reach the command, not this process, which keeps the traces of earlier runs then. */
static int run_command(struct search *search, const struct iot_delay *delay)
{
	struct runner runner = {};
	int status, err;

	runner.pid = fork();
	if (runner.pid < 0)
		return fail("no process can be created for the recording: %s", strerror(errno));
	if (!runner.pid)
		become_command(search, delay);
	err = runner_wait(&runner, &status);
	if (err)
		return fail("the recording: %s", strerror(-err));
	if (WIFSIGNALED(status))
		return fail("run %u was killed by signal %d", search->run + 1, WTERMSIG(status));
	if (WEXITSTATUS(status))
		return fail("run %u of the command ended with exit code %d", search->run + 1, WEXITSTATUS(status));
	return EXIT_DONE;
}

static int record(struct search *search, const struct iot_delay *delay, const struct discovery_thread *thread)
{
	int code;

	if (!search->options->has_nodes)
		return run_command(search, delay);
	code = search_nodes_begin(search, thread);
	return code ? code : search_nodes_end(search, run_command(search, delay));
}

/**
 * search_name_trace() - set the name of the trace of the next run
 */
void search_name_trace(struct search *search)
{
	snprintf(search->trace, sizeof(search->trace), "%s.run%u", search->options->output, search->run);
}

/**
 * search_compare() - compare the trace of the next run with the earlier ones
 * @search: with the trace; its next run is the one after
 * @thread: that the run has delayed; 0 for the first run
 *
 * Return: an exit code.
 */
int search_compare(struct search *search, u32 thread)
{
	char why[DISCOVERY_WHY_BYTES];
	struct discovery_result result;
	struct iot_reject reject = {};
	int err = discovery_add(search->discovery, search->source, &reject, why);

	if (err == -EXDEV) {
		say("the command is not deterministic: %s", why);
		return EXIT_DIFFERS;
	}
	if (err)
		return fail_reject(search->trace, err, &reject);
	if (!search->run++) {
		strcpy(search->first, search->source);
		return search_note_waits(search);
	}
	discovery_set_delayed(search->discovery, thread);
	return discovery_find(search->discovery, &result) ? fail("%s", strerror(ENOMEM)) : EXIT_DONE;
}

/**
 * search_run() - record the command once, and compare the run with the earlier ones
 * @search: the next run; its trace is removed after an error
 * @delay: NULL: without delays
 * @thread: the thread that is delayed; NULL: none
 *
 * Return: an exit code.
 */
int search_run(struct search *search, const struct iot_delay *delay, const struct discovery_thread *thread)
{
	int code;

	search_name_trace(search);
	strcpy(search->source, search->trace);
	code = record(search, delay, thread);
	if (!code)
		code = search_compare(search, thread ? thread->number : 0);
	if (code)
		unlink(search->trace);
	return code;
}

/**
 * search_remove_traces() - remove the traces of the runs of a search
 * @search: new, to remove those of an earlier search; or after its runs
 */
void search_remove_traces(const struct search *search)
{
	char trace[PATH_MAX + 16];
	unsigned int run = 0;

	do {
		snprintf(trace, sizeof(trace), "%s.run%u", search->options->output, run++);
	} while (!unlink(trace));
}

static u64 clamp_ns(u64 ns, u64 min_ns, u64 max_ns)
{
	return ns < min_ns ? min_ns : ns > max_ns ? max_ns : ns;
}

/**
 * struct gaps - times between two operations, over all threads
 * @usual_ns: few were longer
 * @longest_ns: none was longer
 */
struct gaps {
	u64 usual_ns;
	u64 longest_ns;
};

static struct gaps find_gaps(const struct discovery *discovery)
{
	struct discovery_thread thread;
	struct gaps gaps = {};
	u32 i;

	for (i = 0; !discovery_thread(discovery, i, &thread); i++) {
		if (thread.gap_ns > gaps.usual_ns)
			gaps.usual_ns = thread.gap_ns;
		if (thread.longest_gap_ns > gaps.longest_ns)
			gaps.longest_ns = thread.longest_gap_ns;
	}
	return gaps;
}

/**
 * search_delay() - the delays of a run
 * @search: after the run without delays
 * @thread: to be delayed
 *
 * A thread that has stopped for more than twice as long as usual waits. The delays of a run take about as long as the run
 * without delays, unless that is short; with a period of the user they may take longer. Then they are long enough for the few places
 * before which threads usually compute for long, as far as four times that time permits.
 *
 * Return: the delays.
 */
struct iot_delay search_delay(const struct search *search, const struct discovery_thread *thread)
{
	struct gaps gaps = find_gaps(search->discovery);
	u64 quiet_ns = clamp_ns(3 * gaps.usual_ns, QUIET_MIN_NS, QUIET_MAX_NS);
	u64 budget_ns = clamp_ns(discovery_duration_ns(search->discovery), BUDGET_MIN_NS, IOT_DELAY_MAX_NS / 4);
	u64 period = search->options->period;

	if (period)
		quiet_ns = clamp_ns(clamp_ns(3 * gaps.longest_ns, 0, 4 * budget_ns / (thread->places / period + 1)), quiet_ns, QUIET_MAX_NS);
	else
		period = 1 + thread->places * quiet_ns / budget_ns;
	return (struct iot_delay){
		.thread = search_node_has_commands(search, thread->node) ? thread->command_number : thread->node_number,
		.period = (__u32)clamp_ns(period, 1, IOT_DELAY_PERIOD_MAX),
		.asleep_ns = quiet_ns,
		.idle_ns = quiet_ns,
		.limit_ns = 5 * quiet_ns,
		.total_ns = search->options->period ? IOT_DELAY_MAX_NS : 4 * budget_ns,
	};
}
