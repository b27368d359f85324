// SPDX-License-Identifier: GPL-2.0-only
/*
 * iotape_spank.c - the option --iotape of srun, salloc and sbatch, a plugin of Slurm.
 *
 * Slurm loads it into srun, where the option is checked, and into slurmstepd on each node, which records the step:
 * recorder.c. A step that cannot be recorded runs all the same, and standard error has the reason.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "recorder.h"

SPANK_PLUGIN(iotape, 1);

#define END_TIMEOUT_MS 60000

static struct spank_policy policy;
static struct spank_request request;
static struct spank_recorder recorder = { -1, -1, -1 };
static char working_directory[PATH_MAX];
static char failure[512]; /* the reason why the step is not recorded */

static int take_option(int value, const char *text, int is_remote)
{
	char why[512];

	(void)value;
	(void)is_remote;
	if (!spank_request_parse(&request, &policy, text, why, sizeof(why)))
		return 0;
	request.is_asked = false;
	slurm_error("iotape: %s", why);
	return -1;
}

static struct spank_option option = {
	.name = "iotape",
	.arginfo = "mount=DIR,output=DIR,mpi=MPI,mpi-only=MPI",
	.usage = "record the file I/O of the step; see slurm.md of iotape",
	.has_arg = 2,
	.cb = take_option,
};

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	char why[512];

	if (spank_policy_parse(&policy, argc, argv, why, sizeof(why))) {
		slurm_error("iotape: %s", why);
		return 0; /* without the option, jobs run as before */
	}
	return spank_option_register(spank, &option) == ESPANK_SUCCESS ? 0 : -1;
}

/* What the tasks execute, with blanks between the arguments, as iotape record states a command. */
static void describe_command(spank_t spank, struct spank_step *step)
{
	char **arguments = NULL;
	int count = 0, i;
	size_t at = 0;

	if (spank_get_item(spank, S_JOB_ARGV, &count, &arguments) || !arguments)
		return;
	for (i = 0; i < count && at < sizeof(step->command) - 1; i++)
		at += (size_t)snprintf(step->command + at, sizeof(step->command) - at, "%s%s", i ? " " : "", arguments[i]);
}

/* The user, JOB.STEP-HOST, and the command. */
static int describe_step(spank_t spank, struct spank_step *step, char *directory, size_t room)
{
	uint32_t job, number;
	char host[256] = "", label[32];

	if (spank_get_item(spank, S_JOB_UID, &step->uid) || spank_get_item(spank, S_JOB_GID, &step->gid) ||
	    spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &step->groups, &step->group_count) ||
	    spank_get_item(spank, S_JOB_ID, &job) || spank_get_item(spank, S_JOB_STEPID, &number) ||
	    gethostname(host, sizeof(host) - 1))
		return -1;
	if (spank_getenv(spank, "SLURM_SUBMIT_DIR", directory, (int)room))
		snprintf(directory, room, "/");
	snprintf(label, sizeof(label), "%u", number);
	if (number > SLURM_MAX_NORMAL_STEP_ID)
		snprintf(label, sizeof(label), "%s", number == SLURM_BATCH_SCRIPT ? "batch" : "other");
	snprintf(step->name, sizeof(step->name), "%u.%s-%s", job, label, host);
	step->directory = directory;
	describe_command(spank, step);
	return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
	struct spank_step step = { 0 };
	char directory[PATH_MAX];

	(void)argc;
	(void)argv;
	if (spank_context() != S_CTX_REMOTE || !request.is_asked || request.is_mpi_only)
		return 0;
	if (describe_step(spank, &step, directory, sizeof(directory)))
		snprintf(failure, sizeof(failure), "Slurm does not report the id of the step");
	else
		spank_recorder_start(&recorder, &policy, &request, &step, failure, sizeof(failure));
	if (recorder.namespace_fd < 0)
		slurm_error("iotape: not recorded: %s", failure);
	return 0;
}

/* In each task, as root: into the namespace. */
int slurm_spank_task_init_privileged(spank_t spank, int argc, char **argv)
{
	(void)spank;
	(void)argc;
	(void)argv;
	if (recorder.namespace_fd < 0)
		return 0;
	if (!getcwd(working_directory, sizeof(working_directory)))
		working_directory[0] = 0;
	if (setns(recorder.namespace_fd, CLONE_NEWNS))
		slurm_error("iotape: a task is not recorded: %m");
	return 0;
}

/* The MPI library precedes the libraries that the user preloads. */
static void preload(spank_t spank)
{
	char value[2 * PATH_MAX], old[PATH_MAX];
	int length;

	length = snprintf(value, sizeof(value), "%s/libiotape_mpi_%s.so", policy.plugins, request.mpi);
	if (access(value, R_OK)) {
		slurm_error("iotape: MPI calls are not recorded: %s: %m", value);
		return;
	}
	if (!spank_getenv(spank, "LD_PRELOAD", old, sizeof(old)) && old[0]) {
		if (!strncmp(old, value, (size_t)length)) /* of the job that this step is in */
			return;
		snprintf(value + length, sizeof(value) - (size_t)length, ":%s", old);
	}
	spank_setenv(spank, "LD_PRELOAD", value, 1);
}

static const char *first_mount(void)
{
	size_t i;

	for (i = 0; i < policy.mount_count; i++)
		if (request.is_mount_wanted[i])
			return policy.mounts[i];
	return policy.mounts[0];
}

/* Where the MPI library of a task finds the session, or where it writes its own trace. */
static void set_environment(spank_t spank)
{
	char directory[PATH_MAX], path[2 * PATH_MAX + 2];

	if (!request.mpi)
		return;
	if (!request.is_mpi_only) {
		spank_setenv(spank, "IOTAPE_MOUNT", first_mount(), 1);
	} else {
		if (request.output[0] == '/' ||
		    spank_getenv(spank, "SLURM_SUBMIT_DIR", directory, sizeof(directory)))
			snprintf(path, sizeof(path), "%s", request.output);
		else
			snprintf(path, sizeof(path), "%s/%s", directory, request.output);
		spank_setenv(spank, "IOTAPE_MPI_OUT", path, 1);
	}
	preload(spank);
}

/* In each task, as the user. */
int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
	int task = 0;

	(void)argc;
	(void)argv;
	if (!request.is_asked)
		return 0;
	if (failure[0] && !spank_get_item(spank, S_TASK_ID, &task) && !task)
		fprintf(stderr, "iotape: not recorded: %s\n", failure); /* slurm_error() writes to the log of the node */
	if (recorder.namespace_fd >= 0 && (!working_directory[0] || chdir(working_directory)))
		slurm_error("iotape: %s: %m", working_directory);
	if (recorder.namespace_fd >= 0 || request.is_mpi_only)
		set_environment(spank);
	return 0;
}

int slurm_spank_exit(spank_t spank, int argc, char **argv)
{
	(void)spank;
	(void)argc;
	(void)argv;
	if (recorder.namespace_fd >= 0 && spank_recorder_end(&recorder, END_TIMEOUT_MS))
		slurm_error("iotape: the trace is not complete yet");
	return 0;
}
