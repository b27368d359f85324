// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_replay.c - iotape replay: perform a program on a target.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd.h"
#include "core/pace.h"
#include "json.h"
#include "replay/replay.h"

#define FACTS_MAX 16

struct options {
	const char *program;
	struct replay_options replay;
	const char *mpi;
	enum place_rule place;
	bool is_shared;
	bool is_place_given;
	bool is_data_given;
	bool is_json;
	bool is_quiet;
	char *facts[FACTS_MAX + 1];
	int fact_count;
};

enum {
	KEY_TARGET = 256,
	KEY_ENGINE,
	KEY_PACE,
	KEY_COMPUTE,
	KEY_PAUSE,
	KEY_DATA,
	KEY_FORCE,
	KEY_WAIT,
	KEY_AGENT,
	KEY_PLACE,
	KEY_WINDOW,
};

#define WINDOW_MIB 64

static const struct argp_option option_table[] = {
	{ "target", KEY_TARGET, "DIR", 0, "directory that `iotape init` has prepared", 0 },
	{ "engine", KEY_ENGINE, "kernel|thread|null", 0, "who performs the program: the module replayfs (default), threads that need neither root nor modules, or nobody", 0 },
	{ "output", 'o', "FILE", 0, "write the outcomes to FILE, a trace", 0 },
	{ "pace", KEY_PACE, "natural|full|FACTOR", 0, "think times as in the trace (default), none, or times a factor", 0 },
	{ "compute", KEY_COMPUTE, "FACTOR", 0, "factor for think time that the traced program used to compute", 0 },
	{ "pause", KEY_PAUSE, "FACTOR", 0, "factor for think time in which it waited for something else than I/O", 0 },
	{ "data", KEY_DATA, "copy|discard", 0, "copy what is read to memory (default but at full pace), or leave it in the page cache", 0 },
	{ "wait", KEY_WAIT, "sleep|spin", 0, "sleep while think time passes (default), or keep the CPU busy, to be late less", 0 },
	{ "agent", KEY_AGENT, "openmpi|mpich|LIBRARY", OPTION_ARG_OPTIONAL, "be one of the nodes that mpirun or srun has started, and perform the tasks placed there", 0 },
	{ "place", KEY_PLACE, "block|cyclic|trace", 0, "which ranks share a node: those that follow each other, those that do not, or as in the trace (default, if that had as many nodes; else block)", 0 },
	{ "window", KEY_WINDOW, "MIB", 0, "memory for the operations of a large program, which are read ahead of those who perform them (64); the kernel engine's", 0 },
	{ "force", KEY_FORCE, NULL, 0, "replay even if the target was not prepared for this program", 0 },
	{ "json", 'j', NULL, 0, "print the summary as JSON", 0 },
	{ "quiet", 'q', NULL, 0, "do not print the summary", 0 },
	{}
};

static const char *data_name(const struct options *options)
{
	if (!options->replay.engine->data_modes)
		return "none";
	return options->replay.data == IOT_DATA_COPY ? "copy" : "discard";
}

static u32 factor(struct argp_state *state, const char *argument, const char *option)
{
	char *end;
	double value = strtod(argument, &end);

	if (*end || end == argument || !(value >= 0) || value > 65535)
		argp_error(state, "--%s=%s: not a factor from 0 to 65535", option, argument);
	return (u32)(value * IOT_SCALE_ONE);
}

static void set_pace(struct argp_state *state, struct options *options, const char *argument)
{
	options->replay.pace = IOT_PACE_SCALED;
	if (!strcmp(argument, "natural"))
		return;
	if (!strcmp(argument, "full")) {
		options->replay.pace = IOT_PACE_FULL;
		return;
	}
	options->replay.compute_scale = factor(state, argument, "pace");
	options->replay.pause_scale = options->replay.compute_scale;
}

static void set_data(struct argp_state *state, struct options *options, const char *argument)
{
	options->is_data_given = true;
	if (!strcmp(argument, "copy"))
		options->replay.data = IOT_DATA_COPY;
	else if (!strcmp(argument, "discard"))
		options->replay.data = IOT_DATA_DISCARD;
	else
		argp_error(state, "--data=%s: not copy or discard", argument);
}

static void set_wait(struct argp_state *state, struct options *options, const char *argument)
{
	if (!strcmp(argument, "sleep"))
		options->replay.wait = IOT_WAIT_SLEEP;
	else if (!strcmp(argument, "spin"))
		options->replay.wait = IOT_WAIT_SPIN;
	else
		argp_error(state, "--wait=%s: not sleep or spin", argument);
}

static void set_place(struct argp_state *state, struct options *options, const char *argument)
{
	options->is_place_given = true;
	if (!strcmp(argument, "block"))
		options->place = PLACE_BLOCK;
	else if (!strcmp(argument, "cyclic"))
		options->place = PLACE_CYCLIC;
	else if (!strcmp(argument, "trace"))
		options->place = PLACE_TRACE;
	else
		argp_error(state, "--place=%s: not block, cyclic or trace", argument);
}

static void set_window(struct argp_state *state, struct options *options, const char *argument)
{
	char *end;
	unsigned long mib = strtoul(argument, &end, 10);

	if (*end || end == argument || *argument == '-' || mib > 1ul << 20)
		argp_error(state, "--window=%s: not a number of MiB, at most 1048576", argument);
	options->replay.window_bytes = (u64)mib << 20;
}

/* What is asked of an engine is what it can do. */
static void check_engine(struct argp_state *state, struct options *options)
{
	const struct replay_engine *engine = options->replay.engine;

	if (engine->uses_target && !options->replay.target)
		argp_error(state, "no --target given");
	if (!engine->uses_target)
		options->replay.target = NULL; /* the same command line does for all engines */
	if (!options->is_data_given)
		return;
	if (!(engine->data_modes & (1u << options->replay.data)))
		argp_error(state, "--data=%s: the %s engine %s",
			   options->replay.data == IOT_DATA_COPY ? "copy" : "discard", engine->name,
			   engine->data_modes ? "always copies what it reads" : "reads nothing");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_TARGET:
		options->replay.target = argument;
		return 0;
	case KEY_ENGINE:
		options->replay.engine = engine_find(argument);
		if (!options->replay.engine)
			argp_error(state, "--engine=%s: no such engine", argument);
		return 0;
	case 'o':
		options->replay.output = argument;
		return 0;
	case KEY_PACE:
		set_pace(state, options, argument);
		return 0;
	case KEY_AGENT:
		options->is_shared = true;
		options->mpi = argument;
		return 0;
	case KEY_PLACE:
		set_place(state, options, argument);
		return 0;
	case KEY_COMPUTE:
		options->replay.compute_scale = factor(state, argument, "compute");
		return 0;
	case KEY_PAUSE:
		options->replay.pause_scale = factor(state, argument, "pause");
		return 0;
	case KEY_DATA:
		set_data(state, options, argument);
		return 0;
	case KEY_WAIT:
		set_wait(state, options, argument);
		return 0;
	case KEY_WINDOW:
		set_window(state, options, argument);
		return 0;
	case KEY_FORCE:
		options->replay.is_forced = true;
		return 0;
	case 'j':
		options->is_json = true;
		return 0;
	case 'q':
		options->is_quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->program)
			argp_error(state, "%s: one program at a time", argument);
		options->program = argument;
		return 0;
	case ARGP_KEY_END:
		if (!options->program)
			argp_error(state, "no program given");
		if (options->is_place_given && !options->is_shared)
			argp_error(state, "--place is for several nodes: it goes with --agent");
		check_engine(state, options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse,
	.args_doc = "PROGRAM",
	.doc = "Perform PROGRAM on a target that `iotape init` has prepared.\v"
	       "The exit code is 3 if an operation ended otherwise than in the trace. "
	       "With --agent, %n in DIR is the number of the node, and outcomes go to FILE.0, FILE.1 and so on.",
};

static void add_fact(struct options *options, const char *format, const char *value)
{
	if (options->fact_count < FACTS_MAX &&
	    asprintf(&options->facts[options->fact_count], format, value) >= 0)
		options->fact_count++;
}

static const char *pace_name(const struct options *options, char text[64])
{
	if (options->replay.pace == IOT_PACE_FULL)
		return "full";
	if (options->replay.compute_scale == IOT_SCALE_ONE &&
	    options->replay.pause_scale == IOT_SCALE_ONE)
		return "natural";
	snprintf(text, 64, "compute x %.3f, pause x %.3f",
		 (double)options->replay.compute_scale / IOT_SCALE_ONE,
		 (double)options->replay.pause_scale / IOT_SCALE_ONE);
	return text;
}

static void add_facts(struct options *options)
{
	struct utsname uts;
	char text[64];

	add_fact(options, "replay=%s", options->program);
	if (options->replay.target)
		add_fact(options, "target=%s", options->replay.target);
	add_fact(options, "engine=%s", options->replay.engine->name);
	add_fact(options, "pace=%s", pace_name(options, text));
	add_fact(options, "data=%s", data_name(options));
	if (!uname(&uts)) {
		add_fact(options, "host=%s", uts.nodename);
		add_fact(options, "kernel=%s", uts.release);
	}
	add_fact(options, "creator=%s", "iotape " IOTAPE_VERSION);
	options->replay.facts = (const char *const *)options->facts;
}

static void show_progress(const struct iot_replay_status *status, u32 tasks, u64 ops)
{
	progress("%llu of %llu operations, %u of %u tasks ended, %llu diverged",
		 (unsigned long long)status->ops, ops, status->finished, tasks,
		 (unsigned long long)status->diverged);
}

static u64 count_wakeups(const struct iot_replay_lateness *lateness)
{
	u64 count = 0;
	u32 bucket;

	for (bucket = 0; bucket < IOT_LATENESS_BUCKETS; bucket++)
		count += lateness->wakeups[bucket];
	return count;
}

/* What that part of all wake-ups was late at most, as exactly as buckets are narrow. */
static u64 lateness_percentile(const struct iot_replay_lateness *lateness, double percent)
{
	double wanted = percent / 100 * (double)count_wakeups(lateness);
	u64 count = 0, limit_ns;
	u32 bucket = 0;

	while (bucket < IOT_LATENESS_BUCKETS - 1 &&
	       (double)(count += lateness->wakeups[bucket]) < wanted)
		bucket++;
	limit_ns = iot_lateness_limit(bucket) - 1;
	return limit_ns < lateness->max_ns ? limit_ns : lateness->max_ns;
}

static void print_lateness(const struct iot_replay_lateness *lateness)
{
	u64 count = count_wakeups(lateness);

	if (!count)
		return;
	printf("  %llu think times ended late by %.1f us on average, 50 %% within %.1f, 90 %% within %.1f, 99 %% within %.1f, at most %.1f us\n",
	       count, (double)lateness->sum_ns / 1e3 / (double)count,
	       (double)lateness_percentile(lateness, 50) / 1e3,
	       (double)lateness_percentile(lateness, 90) / 1e3,
	       (double)lateness_percentile(lateness, 99) / 1e3, (double)lateness->max_ns / 1e3);
}

static u32 count_nodes(const struct options *options)
{
	return options->replay.agent ? agent_view(options->replay.agent).count : 1;
}

static void print_text(const struct options *options, const struct replay_result *r)
{
	double seconds = (double)r->elapsed_ns / 1e9;
	char text[64];

	printf("%s: %.3f s, %llu operations of %u tasks",
	       options->replay.target ? options->replay.target : options->program, seconds, r->ops,
	       r->tasks);
	if (options->replay.agent)
		printf(" on %u nodes", count_nodes(options));
	if (seconds > 0)
		printf(", %.0f operations/s", (double)r->ops / seconds);
	printf(", pace %s", pace_name(options, text));
	if (options->replay.engine->data_modes)
		printf(", data %s, %llu ended otherwise than in the trace\n",
		       options->replay.data == IOT_DATA_COPY ? "copied" : "discarded", r->diverged);
	else
		printf(", nothing was performed\n");
	print_lateness(&r->lateness);
	if (r->is_streamed)
		printf("  the program was read in a window of %llu MiB; prefetch stalls: %llu\n",
		       options->replay.window_bytes >> 20, r->stalls);
	if (r->lost)
		printf("  %llu outcomes were lost\n", r->lost);
}

/* As latencies of operations are. */
static void lateness_json(struct json *json, const struct iot_replay_lateness *lateness)
{
	u64 count = count_wakeups(lateness);

	json_key(json, "lateness");
	json_begin(json, '{');
	json_put_unsigned(json, "count", count);
	json_put_unsigned(json, "mean_ns", count ? lateness->sum_ns / count : 0);
	json_put_unsigned(json, "p50_ns", lateness_percentile(lateness, 50));
	json_put_unsigned(json, "p90_ns", lateness_percentile(lateness, 90));
	json_put_unsigned(json, "p99_ns", lateness_percentile(lateness, 99));
	json_put_unsigned(json, "max_ns", lateness->max_ns);
	json_end(json, '}');
}

static void print_json(const struct options *options, const struct replay_result *r)
{
	struct json json;
	char text[64];

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_real(&json, "seconds", (double)r->elapsed_ns / 1e9);
	json_put_unsigned(&json, "operations", r->ops);
	json_put_unsigned(&json, "tasks", r->tasks);
	json_put_unsigned(&json, "nodes", count_nodes(options));
	json_put_unsigned(&json, "carriers", r->carriers);
	json_put_unsigned(&json, "diverged", r->diverged);
	json_put_bool(&json, "is_streamed", r->is_streamed);
	json_put_unsigned(&json, "stalls", r->stalls);
	json_put_unsigned(&json, "lost", r->lost);
	lateness_json(&json, &r->lateness);
	json_put_string(&json, "pace", pace_name(options, text));
	json_put_string(&json, "engine", options->replay.engine->name);
	json_put_string(&json, "data", data_name(options));
	json_put_bool(&json, "is_cancelled", r->is_cancelled);
	json_end(&json, '}');
	json_line(&json);
}

static void print_result(const struct options *options, const struct replay_result *result)
{
	if (options->is_json)
		print_json(options, result);
	else if (!options->is_quiet)
		print_text(options, result);
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
	return result.diverged ? EXIT_DIFFERS : EXIT_DONE;
}

/* -- one of several nodes ----------------------------------------------------------------------- */

static const char *rule_name(enum place_rule rule)
{
	switch (rule) {
	case PLACE_CYCLIC:
		return "cyclic";
	case PLACE_TRACE:
		return "trace";
	default:
		return "block";
	}
}

/* DIR with %n in it; FILE has the number at its end. The texts stay until the process ends. */
static int number_paths(struct options *options, u32 node)
{
	const char *target = options->replay.target, *mark = target ? strstr(target, "%n") : NULL;
	char *path;

	if (mark) {
		if (asprintf(&path, "%.*s%u%s", (int)(mark - target), target, node, mark + 2) < 0)
			return -ENOMEM;
		options->replay.target = path;
	}
	if (options->replay.output) {
		if (asprintf(&path, "%s.%u", options->replay.output, node) < 0)
			return -ENOMEM;
		options->replay.output = path;
	}
	return 0;
}

/* What the user would like to know of where tasks went, from one node only. */
static void tell_place(const struct agent_view *view)
{
	const struct placement *place = &view->place;

	if (view->node || view->count == 1)
		return;
	if (!place->ranks)
		say("no task of the program is known to be a rank: all are performed on node 0");
	else if (place->tied)
		say("%u of %u ranks are on another node than --place=%s says, with those that they share open files or memory with",
		    place->tied, place->ranks, rule_name(place->rule));
	if (place->ranks && place->used < view->count)
		say("%u of %u nodes have nothing to perform", view->count - place->used, view->count);
}

static void add_place_facts(struct options *options, const struct agent_view *view)
{
	char text[64];

	snprintf(text, sizeof(text), "%u of %u", view->node, view->count);
	add_fact(options, "node=%s", text);
	add_fact(options, "place=%s", rule_name(view->place.rule));
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

static int load_shared(struct options *options, struct iot_program *program, char *why, size_t room)
{
	struct agent *agent = options->replay.agent;
	struct iot_reject reject = {};
	struct agent_view view;
	int err;

	options->replay.window_bytes = UINT64_MAX; /* nobody feeds tasks that are elsewhere */
	err = load(options, program, &reject);
	if (err) {
		snprintf(why, room, "%s: %s", options->program,
			 reject.reason && reject.reason != IOT_REJECT_io ? iot_reject_sentence(&reject) :
									   strerror(-err));
		return err;
	}
	options->replay.program = program;
	err = agent_prepare(agent, program, options->place, why, room);
	if (err)
		return err;
	view = agent_view(agent);
	tell_place(&view);
	err = number_paths(options, view.node);
	add_facts(options);
	add_place_facts(options, &view);
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
	int code, err = agent_open(&agent, options->mpi, why, sizeof(why));

	if (err) {
		agent_close(agent);
		return fail("--agent: %s", why[0] ? why : strerror(-err));
	}
	options->replay.agent = agent;
	err = load_shared(options, &program, why, sizeof(why));
	err = agent_meet(agent, err, why, sizeof(why));
	if (!err)
		err = replay_run(&options->replay, agent_view(agent).node ? NULL : show_progress, &result,
				 why, sizeof(why));
	err = agent_finish(agent, &result, err, &code, why, sizeof(why), say_text);
	conclude(options, &result, err, why);
	agent_close(agent);
	iot_program_free(&program);
	return code;
}

static int replay_alone(struct options *options)
{
	struct iot_program program;
	struct iot_reject reject = {};
	int code, err = load(options, &program, &reject);

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
	};

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.is_data_given && options.replay.pace == IOT_PACE_FULL &&
	    (options.replay.engine->data_modes & ENGINE_DISCARDS))
		options.replay.data = IOT_DATA_DISCARD;
	return options.is_shared ? replay_shared(&options) : replay_alone(&options);
}

const struct cmd cmd_replay = {
	.name = "replay",
	.summary = "perform a program on a target",
	.run = run,
	.argp = &argp,
};
