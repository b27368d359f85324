// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - permissions by the administrator in plugstack.conf, and requests of a user by --iotape.
 */
#include <stdio.h>
#include <string.h>

#include "options.h"

static int add_mount(struct spank_policy *policy, const char *path, char *why, size_t room)
{
	if (path[0] != '/' || strlen(path) >= PATH_MAX) {
		snprintf(why, room, "mount=%.200s: not an absolute path", path);
		return -1;
	}
	if (policy->mount_count == SPANK_MAX_MOUNTS) {
		snprintf(why, room, "mount=%.200s: more than %d directories", path, SPANK_MAX_MOUNTS);
		return -1;
	}
	strcpy(policy->mounts[policy->mount_count++], path);
	return 0;
}

/**
 * spank_policy_parse() - read the arguments of the plugin in plugstack.conf
 * @policy: out; refers to the arguments
 * @argc: number of arguments
 * @argv: mount=DIR, once or more; iotape=PATH; plugins=DIR
 * @why: out: the reason of a failure, one sentence
 * @room: of @why
 *
 * Return: 0 or -1.
 */
int spank_policy_parse(struct spank_policy *policy, int argc, char **argv, char *why, size_t room)
{
	int i, err = 0;

	*policy = (struct spank_policy){ .iotape = "/usr/bin/iotape", .plugins = IOTAPE_PLUGINDIR };
	for (i = 0; i < argc && !err; i++) {
		if (!strncmp(argv[i], "mount=", 6)) {
			err = add_mount(policy, argv[i] + 6, why, room);
		} else if (!strncmp(argv[i], "iotape=/", 8)) {
			policy->iotape = argv[i] + 7;
		} else if (!strncmp(argv[i], "plugins=/", 9)) {
			policy->plugins = argv[i] + 8;
		} else {
			snprintf(why, room, "plugstack.conf: unknown argument '%.200s'", argv[i]);
			err = -1;
		}
	}
	return err;
}

static int want_mount(struct spank_request *request, const struct spank_policy *policy, const char *path,
		      char *why, size_t room)
{
	size_t i;

	for (i = 0; i < policy->mount_count; i++) {
		if (!strcmp(policy->mounts[i], path)) {
			request->is_mount_wanted[i] = true;
			return 0;
		}
	}
	snprintf(why, room, "mount=%.200s: the administrator does not allow this directory", path);
	return -1;
}

static int parse_mpi(struct spank_request *request, const char *name, char *why, size_t room)
{
	static const char *const names[] = { "openmpi", "mpich" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], name)) {
			request->mpi = names[i];
			return 0;
		}
	}
	snprintf(why, room, "'%.200s' is neither openmpi nor mpich", name);
	return -1;
}

static int parse_word(struct spank_request *request, const struct spank_policy *policy, const char *word,
		      char *why, size_t room)
{
	if (!strncmp(word, "mount=", 6))
		return want_mount(request, policy, word + 6, why, room);
	if (!strncmp(word, "mpi=", 4))
		return parse_mpi(request, word + 4, why, room);
	if (!strncmp(word, "mpi-only=", 9)) {
		request->is_mpi_only = true;
		return parse_mpi(request, word + 9, why, room);
	}
	if (!strncmp(word, "output=", 7) && word[7]) {
		strcpy(request->output, word + 7); /* a word is shorter than a path may be */
		return 0;
	}
	snprintf(why, room, "unknown word '%.200s': mount=DIR, output=DIR, mpi=MPI and mpi-only=MPI are known", word);
	return -1;
}

/**
 * spank_request_parse() - read the value of --iotape
 * @request: out
 * @policy: the permissions
 * @text: words with commas between them; NULL or empty: the defaults
 * @why: out: the reason of a failure, one sentence
 * @room: of @why
 *
 * Return: 0 or -1.
 */
int spank_request_parse(struct spank_request *request, const struct spank_policy *policy, const char *text,
			char *why, size_t room)
{
	char word[PATH_MAX];
	size_t length;
	int err = 0;

	*request = (struct spank_request){ .is_asked = true, .output = "iotape.traces" };
	while (text && *text && !err) {
		length = strcspn(text, ",");
		if (length >= sizeof(word)) {
			snprintf(why, room, "an argument is longer than the maximum of a path");
			return -1;
		}
		memcpy(word, text, length);
		word[length] = 0;
		err = parse_word(request, policy, word, why, room);
		text += length + (text[length] == ',');
	}
	if (!err && !request->is_mpi_only && !policy->mount_count) {
		snprintf(why, room, "plugstack.conf allows no directory: only mpi-only=MPI is possible");
		err = -1;
	}
	return err;
}
