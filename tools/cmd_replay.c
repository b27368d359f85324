// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_replay.c - iotape replay: perform a program on a target.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "facts.h"
#include "gather.h"
#include "omissions.h"
#include "option.h"
#include "replay/replay.h"
#include "result.h"

struct options {
	const char *program;
	struct replay_options replay;
	const char *mpi;
	u32 limit_s;
	const char *whole; /* the outcomes of all nodes; NULL if there are none, or there is one node */
	enum placement_rule placement;
	bool is_shared;
	bool is_place_given;
	bool is_limit_given;
	bool keeps_parts;
	bool is_data_given;
	bool is_window_given;
	bool is_as_given;
	bool is_json;
	bool is_quiet;
	struct facts facts;
	struct iot_omissions omissions; /* of the program */
};

#define WINDOW_MIB     64
#define WINDOW_MAX     (1ull << 40)
#define FACTOR_MAX     65535
#define NODE_TIMEOUT_S 60
#define NODE_TIMEOUT_MAX_S 1048576

#define FIELD(member) OPTION_FIELD(struct options, member)

static u32 scale(const struct option_state *state, const char *argument)
{
	return (u32)(option_factor(state, argument, FACTOR_MAX) * IOT_SCALE_ONE);
}

static void set_pace(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	options->replay.pace = IOT_PACE_SCALED;
	if (!strcmp(argument, "natural"))
		return;
	if (!strcmp(argument, "full")) {
		options->replay.pace = IOT_PACE_FULL;
		return;
	}
	options->replay.compute_scale = scale(state, argument);
	options->replay.pause_scale = options->replay.compute_scale;
}

static void set_compute(struct option_state *state, char *argument)
{
	((struct options *)state->options)->replay.compute_scale = scale(state, argument);
}

static void set_pause(struct option_state *state, char *argument)
{
	((struct options *)state->options)->replay.pause_scale = scale(state, argument);
}

static void set_engine(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	options->replay.engine = engine_find(argument);
	if (!options->replay.engine)
		option_error(state, "--engine=%s: unknown engine%s", argument, option_hint(state->row, argument));
}

static void set_agent(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	options->is_shared = true;
	options->mpi = argument;
}

/* Options must be within the abilities of the engine. */
static void check_engine(struct option_state *state)
{
	struct options *options = state->options;
	const struct replay_engine *engine = options->replay.engine;

	if (engine->uses_target && !options->replay.target)
		option_error(state, "no --target given");
	if (!engine->uses_target)
		options->replay.target = NULL; /* so that one command line fits all engines */
	if (options->is_window_given && !engine->streams)
		option_error(state, "--window: the %s engine loads the whole program", engine->name);
	if (options->is_as_given && !engine->uses_target)
		option_error(state, "--as: the %s engine runs no operations", engine->name);
	if (options->is_data_given && !(engine->data_modes & (1u << options->replay.data)))
		option_error(state, "--data=%s: the %s engine %s",
			     options->replay.data == IOT_DATA_COPY ? "copy" : "discard", engine->name,
			     engine->data_modes ? "always copies what it reads" : "reads nothing");
}

static void check_nodes(struct option_state *state)
{
	const struct options *options = state->options;
	const char *option = options->is_place_given ? "--place" :
			     options->is_limit_given ? "--node-timeout" :
			     options->keeps_parts    ? "--keep-parts" : NULL;

	if (option && !options->is_shared)
		option_error(state, "%s requires --agent", option);
	if (options->is_window_given && options->is_shared)
		option_error(state, "--window cannot be combined with --agent: each node loads the whole program");
}

static void check(struct option_state *state)
{
	check_nodes(state);
	check_engine(state);
}

static const char *const engine_words[] = { "kernel", "thread", "null", NULL };
static const char *const pace_words[] = { "natural", "full", NULL };
static const char *const agent_words[] = { "openmpi", "mpich", NULL };
static const char *const as_words[] = { "self", "recorded", NULL };
static const char *const data_words[] = { "copy", "discard", NULL };
static const char *const wait_words[] = { "sleep", "spin", NULL };
static const char *const place_words[] = { "block", "cyclic", "trace", NULL };
static const int place_rules[] = { PLACEMENT_BLOCK, PLACEMENT_CYCLIC, PLACEMENT_TRACE };

static const struct option_row option_rows[] = {
	{ "target", 0, OPTION_DIRECTORY, "DIR", .field = FIELD(replay.target), .help = "directory prepared by `iotape init`" },
	{ "engine", 0, OPTION_TEXT, .words = engine_words, .set = set_engine,
	  .help = "run operations by the module replayfs (default), by threads without root and modules, or not at all" },
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(replay.output), .help = "write the outcomes to FILE, a trace" },
	{ "pace", 0, OPTION_TEXT, "natural|full|FACTOR", .words = pace_words, .set = set_pace,
	  .help = "think times as in the trace (default), none, or multiplied by a factor" },
	{ "compute", 0, OPTION_FACTOR, "FACTOR", .set = set_compute, .help = "factor for think time spent on a CPU" },
	{ "pause", 0, OPTION_FACTOR, "FACTOR", .set = set_pause,
	  .help = "factor for think time spent off the CPU" },
	{ "data", 0, OPTION_CHOICE, .words = data_words, .field = FIELD(replay.data), .given = FIELD(is_data_given),
	  .help = "copy data that is read to memory (default except at full pace), or leave it in the page cache" },
	{ "wait", 0, OPTION_CHOICE, .words = wait_words, .field = FIELD(replay.wait),
	  .help = "sleep during think time (default), or keep the CPU busy to reduce lateness" },
	{ "agent", 0, OPTION_TEXT, "openmpi|mpich|LIBRARY", .is_optional = true, .words = agent_words, .set = set_agent,
	  .help = "run as one of the nodes started by mpirun or srun, with the tasks placed on it" },
	{ "place", 0, OPTION_CHOICE, .words = place_words, .values = place_rules, .field = FIELD(placement),
	  .given = FIELD(is_place_given),
	  .help = "placement of ranks: consecutive ranks on a node, round-robin, or as in the trace (the default if "
		  "it has the same number of nodes, otherwise block)" },
	{ "node-timeout", 0, OPTION_DURATION, "SECONDS", .max = NODE_TIMEOUT_MAX_S * OPTION_S, .unit = OPTION_S,
	  .stored_unit = OPTION_S, .field = FIELD(limit_s), .given = FIELD(is_limit_given),
	  .help = "end if a node does not respond for this time (default: 60); 0: never" },
	{ "keep-parts", .field = FIELD(keeps_parts), .help = "keep the outcomes of each node" },
	{ "window", 0, OPTION_SIZE, "MIB", .max = WINDOW_MAX, .unit = OPTION_MIB, .field = FIELD(replay.window_bytes),
	  .given = FIELD(is_window_given),
	  .help = "memory for the operations of a large program, which are read ahead, in MiB or with a unit "
		  "(default: 64); kernel engine only" },
	{ "as", 0, OPTION_CHOICE, .words = as_words, .field = FIELD(replay.users), .given = FIELD(is_as_given),
	  .help = "run operations as the caller (default), or each task as its recorded user and group" },
	{ "emulate", .field = FIELD(replay.is_emulated),
	  .help = "replace operations that the target does not support, see iotape-replay(1)" },
	{ "privileged-files", .field = FIELD(replay.is_privileged),
	  .help = "create device nodes, set-user-ID files and capabilities with their privileges, see iotape-replay(1)" },
	{ "force", .field = FIELD(replay.is_forced), .help = "replay even if the target was not prepared for this program" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print the summary as JSON" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "PROGRAM",
	.operand_type = OPTION_FILE,
	.operand_noun = "program",
	.operand = FIELD(program),
	.check = check,
	.about = "Replay PROGRAM on a target prepared by `iotape init`.",
	.notes = "The exit code is 3 if an operation diverged from the trace, or if the program lacks operations of "
		 "the traced run. With --agent, %n in DIR is the number of the node; node 0 writes FILE from the "
		 "outcomes of the nodes in FILE.0, FILE.1 and so on.",
};

static void add_facts(struct options *options)
{
	iot_omissions_of_program(&options->omissions, options->replay.program);
	facts_add_replay(&options->facts, options->program, &options->replay, &options->omissions);
	options->replay.facts = (const char *const *)options->facts.lines;
}

static void show_progress(const struct iot_replay_status *status, u32 tasks, u64 ops)
{
	progress_share(status->ops, ops, "%llu of %llu operations, %u of %u tasks ended, %llu diverged",
		       (unsigned long long)status->ops, ops, status->finished, tasks,
		       (unsigned long long)status->diverged);
}

static void print_result(const struct options *options, const struct replay_result *result)
{
	if (options->is_json)
		result_json(&options->replay, result, &options->omissions);
	else if (!options->is_quiet)
		result_text(options->program, &options->replay, result, &options->omissions);
}

static int replay(struct options *options)
{
	struct replay_result result;
	char why[PATH_MAX + 256] = "";
	int err = replay_run(&options->replay, show_progress, &result, why, sizeof(why));

	progress_end();
	if (err)
		return fail("%s", why[0] ? why : strerror(-err));
	print_result(options, &result);
	if (result.is_cancelled)
		return fail("interrupted after %llu operations", result.ops);
	return result_code(&options->replay, &result, &options->omissions);
}

/* -- one of several nodes ----------------------------------------------------------------------- */

static const char *rule_name(enum placement_rule rule)
{
	switch (rule) {
	case PLACEMENT_CYCLIC:
		return "cyclic";
	case PLACEMENT_TRACE:
		return "trace";
	default:
		return "block";
	}
}

/* DIR with %n in it; a part of FILE has the number at its end. The texts stay until the process ends. */
static int number_paths(struct options *options, u32 node, u32 count)
{
	const char *target = options->replay.target, *mark = target ? strstr(target, "%n") : NULL;
	char *path;

	if (mark) {
		if (asprintf(&path, "%.*s%u%s", (int)(mark - target), target, node, mark + 2) < 0)
			return -ENOMEM;
		options->replay.target = path;
	}
	if (options->replay.output && count > 1) {
		options->whole = options->replay.output;
		if (asprintf(&path, "%s.%u", options->whole, node) < 0)
			return -ENOMEM;
		options->replay.output = path;
	}
	return 0;
}

/* Report the placement of tasks to the user, from one node only. */
static void print_placement(const struct agent_view *view)
{
	const struct placement *placement = &view->placement;

	if (view->node || view->count == 1)
		return;
	if (!placement->ranks)
		say("no task of the program is a rank: node 0 runs all tasks");
	else if (placement->tied)
		say("%u of %u ranks are not on their node of --place=%s, because they share open files or memory with other ranks",
		    placement->tied, placement->ranks, rule_name(placement->rule));
	if (placement->ranks && placement->used < view->count)
		say("%u of %u nodes have no tasks", view->count - placement->used, view->count);
}

/* Processes with the same text have the same monotonic clock. */
static void name_clock(char *text, size_t room)
{
	char boot[64] = "", space[64] = "";
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (in && !fgets(boot, sizeof(boot), in))
		boot[0] = 0;
	if (in)
		fclose(in);
	boot[strcspn(boot, "\n")] = 0;
	if (readlink("/proc/self/ns/time", space, sizeof(space) - 1) < 0)
		strcpy(space, "time:");
	snprintf(text, room, "%s %s", boot, space);
}

/* Facts about this node for the merge of the outcomes of all nodes. */
static void add_part_facts(struct facts *facts, const struct agent *agent)
{
	struct agent_view view = agent_view(agent);
	char text[900];

	facts_add(facts, "run", "%016llx", (unsigned long long)view.run);
	name_clock(text, sizeof(text));
	facts_add(facts, "clock", "%s", text);
	if (view.node)
		facts_add(facts, "clock_sample", "%llu %llu %llu",
			  (unsigned long long)view.sample_ns[0], (unsigned long long)view.sample_ns[1],
			  (unsigned long long)view.sample_ns[2]);
	agent_ranks(agent, text, sizeof(text));
	facts_add(facts, "ranks", "%s", text);
}

static void add_place_facts(struct facts *facts, const struct agent_view *view)
{
	facts_add(facts, "node", "%u of %u", view->node, view->count);
	facts_add(facts, "place", "%s", rule_name(view->placement.rule));
}

static void say_text(const char *sentence)
{
	say("%s", sentence);
}

static int load(const struct options *options, struct iot_program *program,
		struct iot_reject *reject)
{
	if (options->replay.engine->streams)
		return iot_program_stream(options->program, options->replay.window_bytes, program, reject);
	return iot_program_load(options->program, program, reject);
}

/* The program is read while outcomes are written. Return: 0, or -EINVAL with a sentence. */
static int check_output(const struct options *options, char *why, size_t room)
{
	const char *output = options->replay.output, *whole = options->whole;

	if ((!output || !iot_file_is_same(options->program, output)) &&
	    (!whole || !iot_file_is_same(options->program, whole)))
		return 0;
	snprintf(why, room, "%s: is both input and output", options->program);
	return -EINVAL;
}

static int load_shared(struct options *options, struct iot_program *program, char *why, size_t room)
{
	struct agent *agent = options->replay.agent;
	struct iot_reject reject = {};
	struct agent_view view;
	int err;

	options->replay.window_bytes = UINT64_MAX; /* operations of tasks on other nodes are never consumed */
	err = load(options, program, &reject);
	if (err) {
		snprintf(why, room, "%s: %s", options->program,
			 reject.reason && reject.reason != IOT_REJECT_io ? iot_reject_sentence(&reject) :
									   strerror(-err));
		return err;
	}
	options->replay.program = program;
	err = agent_prepare(agent, program, options->placement, why, room);
	if (err)
		return err;
	view = agent_view(agent);
	print_placement(&view);
	err = number_paths(options, view.node, view.count);
	if (!err)
		err = check_output(options, why, room);
	agent_outcomes(agent, options->replay.output);
	add_facts(options);
	add_place_facts(&options->facts, &view);
	return err;
}

/* Node 0 speaks for all. */
static void conclude(const struct options *options, const struct replay_result *result, int err,
		     const char *why)
{
	progress_end();
	if (err && why[0])
		fail("%s", why);
	if (err || agent_view(options->replay.agent).node)
		return;
	print_result(options, result);
	if (result->is_cancelled)
		fail("interrupted after %llu operations", result->ops);
}

static int replay_shared(struct options *options)
{
	struct iot_program program = {};
	struct replay_result result = {};
	char why[PATH_MAX + 256] = "";
	struct agent *agent;
	bool is_gathered = false;
	int code, err = agent_open(&agent, options->mpi, options->limit_s, why, sizeof(why));

	if (err) {
		agent_close(agent);
		return fail("--agent: %s", why[0] ? why : strerror(-err));
	}
	options->replay.agent = agent;
	err = load_shared(options, &program, why, sizeof(why));
	err = agent_rendezvous(agent, err, why, sizeof(why));
	if (!err)
		add_part_facts(&options->facts, options->replay.agent);
	if (!err)
		err = replay_run(&options->replay, agent_view(agent).node ? NULL : show_progress, &result,
				 why, sizeof(why));
	err = agent_finish(agent, &result, err, &code, why, sizeof(why), say_text);
	conclude(options, &result, err, why);
	if (code == EXIT_DONE)
		code = result_code(&options->replay, &result, &options->omissions);
	if (!err && result.is_cancelled)
		snprintf(why, sizeof(why), "interrupted after %llu operations", result.ops);
	if (options->whole && gather_outcomes(agent, options->whole, options->keeps_parts,
					       why[0] ? why : NULL, &is_gathered))
		code = EXIT_FAILED;
	agent_end(agent, code, is_gathered);
	agent_close(agent);
	iot_program_free(&program);
	return code;
}

static int replay_alone(struct options *options)
{
	struct iot_program program;
	struct iot_reject reject = {};
	char why[PATH_MAX + 256];
	int code, err;

	if (check_output(options, why, sizeof(why)))
		return fail("%s", why);
	err = load(options, &program, &reject);
	if (err)
		return fail_reject(options->program, err, &reject);
	options->replay.program = &program;
	add_facts(options);
	code = replay(options);
	iot_program_free(&program);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = {
		.replay = {
			.engine = engine_find("kernel"),
			.pace = IOT_PACE_SCALED,
			.compute_scale = IOT_SCALE_ONE,
			.pause_scale = IOT_SCALE_ONE,
			.buffers = 16,
			.window_bytes = (u64)WINDOW_MIB << 20,
		},
		.limit_s = NODE_TIMEOUT_S,
	};

	options_parse(&option_table, argc, argv, &options);
	if (!options.is_data_given && options.replay.pace == IOT_PACE_FULL &&
	    (options.replay.engine->data_modes & ENGINE_DISCARDS))
		options.replay.data = IOT_DATA_DISCARD;
	return options.is_shared ? replay_shared(&options) : replay_alone(&options);
}

const struct cmd cmd_replay = {
	.name = "replay",
	.summary = "replay a program on a target",
	.run = run,
	.options = &option_table,
};
