// SPDX-License-Identifier: GPL-2.0-only
/*
 * replays.c - replays of a trace on a storage, in a new directory there: for predict and advise.
 */
#include "replays.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "facts.h"

#define WINDOW_BYTES (64ull << 20)

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *at)
{
	(void)stat;
	(void)at;
	return type == FTW_DP || type == FTW_D || type == FTW_DNR ? rmdir(path) : unlink(path);
}

/**
 * replays_remove() - remove a directory with its contents
 * @path: of it; "": does nothing
 *
 * Return: an exit code; a directory that cannot be removed is named in a message.
 */
int replays_remove(const char *path)
{
	if (!path[0] || !nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
		return EXIT_DONE;
	return fail("%s: cannot be removed: %s", path, strerror(errno));
}

/**
 * replays_directory() - make a new directory
 * @path: out: of it, "" after an error
 * @in: where
 *
 * Return: an exit code.
 */
int replays_directory(char path[REPLAYS_PATH_BYTES], const char *in)
{
	if (snprintf(path, REPLAYS_PATH_BYTES, "%s/iotape-predict.XXXXXX", in) >= REPLAYS_PATH_BYTES)
		errno = ENAMETOOLONG;
	else if (mkdtemp(path))
		return EXIT_DONE;
	path[0] = 0;
	return fail("%s: no directory can be created in it: %s", in, strerror(errno));
}

/**
 * replays_place() - a directory for intermediate files
 */
const char *replays_place(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && directory[0] ? directory : "/tmp";
}

/**
 * replays_compile() - compile the trace
 * @r: with @trace and @program; @summary is filled in, to be freed, also after an error
 *
 * Return: an exit code.
 */
int replays_compile(struct replays *r)
{
	const struct compile_options compile = {
		.trace = r->trace,
		.program = r->program,
		.rules = ORDER_DEFAULT,
	};
	struct iot_reject reject = {};
	int err = compile_trace(&compile, &r->summary, &reject);

	progress_end();
	if (err && !reject.reason)
		return fail("%s: %s", r->program, strerror(-err));
	return err ? fail_reject(r->trace, err, &reject) : EXIT_DONE;
}

static int prepare(struct replays *r)
{
	struct prepare_options prepare = r->prepare;
	char why[IOT_PROGRAM_PATH_MAX + 256] = "";
	struct iot_reject reject = {};
	struct prepare_result result;
	struct iot_program program;
	int err = iot_program_stream(r->program, 0, &program, &reject);

	if (err)
		return fail_reject(r->program, err, &reject);
	prepare.target = r->target;
	prepare.is_delta = true;
	err = prepare_tree(&program, &prepare, NULL, &result, why, sizeof(why));
	iot_program_free(&program);
	return err ? fail("%s", why[0] ? why : strerror(-err)) : EXIT_DONE;
}

static int load(const struct replays *r, struct iot_program *program)
{
	struct iot_reject reject = {};
	int err = r->engine->streams ? iot_program_stream(r->program, WINDOW_BYTES, program, &reject) :
				       iot_program_load(r->program, program, &reject);

	return err ? fail_reject(r->program, err, &reject) : EXIT_DONE;
}

static int replay(struct replays *r, const char *output)
{
	struct replay_options replay = {
		.engine = r->engine,
		.target = r->target,
		.output = output,
		.pace = IOT_PACE_SCALED,
		.compute_scale = IOT_SCALE_ONE,
		.pause_scale = IOT_SCALE_ONE,
		.buffers = 16,
		.window_bytes = WINDOW_BYTES,
		.is_emulated = r->is_emulated,
	};
	struct iot_program program;
	struct replay_result result;
	struct facts facts = {};
	char why[PATH_MAX + 256] = "";
	int err, code = load(r, &program);

	if (code)
		return code;
	replay.program = &program;
	iot_omissions_of_program(&r->omissions, &program);
	facts_add_replay(&facts, r->program, &replay, &r->omissions);
	replay.facts = (const char *const *)facts.lines;
	err = replay_run(&replay, NULL, &result, why, sizeof(why));
	iot_program_free(&program);
	if (err)
		return fail("%s", why[0] ? why : strerror(-err));
	return result.is_cancelled ? fail("interrupted after %llu operations", result.ops) : EXIT_DONE;
}

/**
 * replays_run() - prepare the target, and replay the program in it at natural pace
 * @r: compiled, with a target
 * @output: file for the outcomes
 *
 * Return: an exit code.
 */
int replays_run(struct replays *r, const char *output)
{
	int code = prepare(r);

	return code ? code : replay(r, output);
}
