// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_discover.c - iotape discover: record a command several times with delays, to find the order that nothing announces.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "discover_search.h"
#include "option.h"
#include "table.h"

#define RUNS_DEFAULT 16
#define RUNS_MAX     1024

#define FIELD(member) OPTION_FIELD(struct discover_options, member)

static void add_mount(struct option_state *state, char *dir)
{
	struct discover_options *options = state->options;

	if (options->mount_count == DISCOVER_MOUNTS_MAX)
		option_error(state, "more than %d times --mount", DISCOVER_MOUNTS_MAX);
	options->mounts[options->mount_count++] = dir;
}

static void set_nodes(struct option_state *state, char *names)
{
	struct discover_options *options = state->options;

	options->has_nodes = true;
	options->nodes = names;
}

static void add_shared(struct option_state *state, char *dir)
{
	struct discover_options *options = state->options;

	if (options->shared_count == DISCOVER_SHARED_MAX)
		option_error(state, "more than %d times --shared", DISCOVER_SHARED_MAX);
	options->shared[options->shared_count++] = dir;
}

static void add_command(struct option_state *state, char *operand)
{
	struct discover_options *options = state->options;

	(void)operand;
	options->command = state->argv + state->next - 1;
	state->next = state->argc;
}

static bool has_recorder(const struct discover_options *options)
{
	unsigned int i;

	for (i = 0; options->command[i]; i++)
		if (!strcmp(options->command[i], DISCOVER_RECORDER))
			return true;
	return false;
}

static void check_nodes(struct option_state *state)
{
	const struct discover_options *options = state->options;

	if (!options->has_nodes && options->shared_count)
		option_error(state, "--shared requires --nodes");
	if (!options->has_nodes)
		return;
	if (options->is_resume)
		option_error(state, "--resume cannot be combined with --nodes");
	if (!has_recorder(options))
		option_error(state, "--nodes: no word of the command is " DISCOVER_RECORDER
				    ", which stands before the program that each node runs");
}

static void check(struct option_state *state)
{
	const struct discover_options *options = state->options;

	if (!options->command)
		option_error(state, "no command to record");
	check_nodes(state);
	if (!strcmp(options->output, "-") || strchr(options->output, ':'))
		option_error(state, "--output=%s: the trace is a file", options->output);
}

static const char *const mpi_modes[] = { "auto", "on", "off", "openmpi", "mpich", NULL };

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output),
	  .help = "write the trace to FILE (default: iotape.iot)" },
	{ "mount", 'm', OPTION_DIRECTORY, "DIR", .set = add_mount,
	  .help = "record operations below DIR (default: the working directory); may be repeated" },
	{ "mpi", 0, OPTION_WORD, .words = mpi_modes, .field = FIELD(mpi),
	  .help = "record MPI calls, and compare the orders with them: as iotape record --mpi (default: auto)" },
	{ "wakes", 0, .field = FIELD(has_wakes), .help = "record wake-ups, and compare the orders with them" },
	{ "runs", 0, OPTION_COUNT, "M", .min = 2, .max = RUNS_MAX, .field = FIELD(runs),
	  .help = "run the command at most M times, the first time without delays (default: 16)" },
	{ "nodes", 0, OPTION_TEXT, "NAME,...", .is_optional = true, .set = set_nodes,
	  .help = "COMMAND runs on several nodes, and its word " DISCOVER_RECORDER " stands for the recorder; delay only threads of these "
		  "nodes (default: of all)" },
	{ "shared", 0, OPTION_DIRECTORY, "DIR|none", .set = add_shared,
	  .help = "with --nodes: DIR is the same directory on all nodes; as iotape merge --shared; may be repeated" },
	{ "period", 0, OPTION_COUNT, "P", .min = 1, .max = IOT_DELAY_PERIOD_MAX, .field = FIELD(period),
	  .help = "delay a thread after every P-th of its operations (default: so many that a run takes about twice as long)" },
	{ "every", 0, .field = FIELD(is_every),
	  .help = "delay every thread, also if no wait of another thread is unexplained" },
	{ "sleep-only", 0, .field = FIELD(is_sleep_only),
	  .help = "a thread that runs does not wait: COMMAND does not spin, so its time on a CPU is no reason for a run" },
	{ "resume", 0, .field = FIELD(is_resume),
	  .help = "continue an interrupted search of the same command, with the traces of its runs" },
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
	.about = "Run COMMAND several times and delay one thread after the other, to find out which threads wait for it. Threads whose "
		 "delays may explain the most waits come first. The trace is that of a run without delays, with the order that "
		 "was found; iotape compile keeps this order.",
	.notes = "COMMAND must do the same in each run, so it must find the same files. The exit code is 3 if it does not.",
};

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

static unsigned int percent(u64 part_ns, u64 whole_ns)
{
	return whole_ns ? (unsigned int)(100.0 * (double)part_ns / (double)whole_ns + 0.5) : 0;
}

static void say_run(const struct search *search, const struct iot_delay *delay, unsigned int most)
{
	const struct discovery_plan *plan = &search->plan;
	char every[32] = "each", waits[32], gain[160] = "", node[80] = "";

	if (search->options->is_quiet)
		return;
	if (delay->period > 1)
		snprintf(every, sizeof(every), "every %u-th", delay->period);
	if (plan->waiting_ns)
		snprintf(gain, sizeof(gain), "; %u %% of %s of waits are unexplained, the run may explain %u %%",
			 percent(plan->left_ns, plan->waiting_ns), quantity_time(waits, plan->waiting_ns),
			 percent(plan->gain_ns, plan->waiting_ns));
	if (plan->thread.node)
		snprintf(node, sizeof(node), " of %s", plan->thread.node);
	say("run %u of at most %u: thread %u%s (%s) is delayed after %s of its %u operations%s", search->run + 1, most,
	    delay->thread, node, plan->thread.command, every, plan->thread.places, gain);
}

/* Runs with delays, until none is worthwhile. */
static int run_delayed(struct search *search)
{
	unsigned int most = count_threads(search->discovery) - search->excluded + 1;
	int code = EXIT_DONE, err;

	if (most > search->options->runs)
		most = search->options->runs;
	for (;;) {
		struct iot_delay delay;

		err = discovery_plan(search->discovery, search->options->is_every, &search->plan);
		if (err || code || search->run >= most)
			break;
		delay = search_delay(search, &search->plan.thread);
		say_run(search, &delay, most);
		code = search_run(search, &delay, &search->plan.thread);
	}
	return err == -ENOMEM ? fail("%s", strerror(ENOMEM)) : code;
}

static int run_first(struct search *search)
{
	search_remove_traces(search);
	if (!search->options->is_quiet)
		say("run 1: without delays");
	return search_run(search, NULL, NULL);
}

static int discover(struct search *search)
{
	int code = search->options->is_resume ? search_resume(search) : EXIT_DONE;

	if (code)
		return code;
	if (!search->run)
		code = run_first(search);
	if (!code && search->options->has_nodes)
		code = search_nodes_choose(search);
	search->is_single = count_threads(search->discovery) < 2;
	if (!code && !search->is_single)
		code = run_delayed(search);
	if (!code)
		code = search_finish(search);
	if (code == EXIT_DONE || code == EXIT_DIFFERS || search->options->has_nodes)
		search_remove_traces(search);
	else if (search->run)
		say("the traces of the runs before are kept (%u): --resume continues", search->run);
	return code;
}

static int run(int argc, char **argv)
{
	struct discover_options options = { .output = "iotape.iot", .mpi = "auto", .runs = RUNS_DEFAULT };
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
