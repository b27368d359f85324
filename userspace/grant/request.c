// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.c - the arguments, which are those of `iotape record` or of anyone else.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grant.h"

static const char usage[] = "usage: iotape-mount [--mmap=off|faultaround|page] [--buffers=N] [--flush=MS] [--drop] DIR... -- COMMAND [ARGUMENT...], "
			    "which iotape record executes";

/**
 * grant_is_path() - is it an absolute path in its simplest form?
 * @path: any
 *
 * Without empty components, "." and "..": then a prefix of it names a directory above.
 */
bool grant_is_path(const char *path)
{
	size_t bytes;

	if (path[0] != '/' || strlen(path) >= PATH_MAX)
		return false;
	if (!path[1])
		return true;
	while (*path == '/') {
		bytes = strcspn(++path, "/");
		if (!bytes || (bytes == 1 && path[0] == '.') || (bytes == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += bytes;
	}
	return true;
}

/* The kernel checks ranges. */
static uint32_t number_of(const char *text)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number > UINT32_MAX)
		grant_refuse("%s", usage);
	return (uint32_t)number;
}

static const char *mmap_mode_of(const char *text)
{
	static const char *const modes[] = { "off", "faultaround", "page" };
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(text, modes[i]))
			return modes[i];
	grant_refuse("%s", usage);
}

static void take_option(struct grant_request *request, const char *option)
{
	if (!strncmp(option, "--mmap=", 7))
		request->mmap_mode = mmap_mode_of(option + 7);
	else if (!strncmp(option, "--buffers=", 10))
		request->buffers = number_of(option + 10);
	else if (!strncmp(option, "--flush=", 8))
		request->flush_ms = number_of(option + 8);
	else if (!strcmp(option, "--drop"))
		request->drop = true;
	else
		grant_refuse("%s", usage);
}

static void take_directory(struct grant_request *request, const char *path)
{
	if (!grant_is_path(path))
		grant_refuse("%s: not an absolute path without '.' and '..'", path);
	if (request->count == GRANT_DIRECTORIES_MAX)
		grant_refuse("more than %d directories", GRANT_DIRECTORIES_MAX);
	request->directories[request->count++] = path;
}

/**
 * grant_request_parse() - the request of the caller; does not return if it is none
 * @request: out
 * @argv: ended by NULL; it may be empty
 */
void grant_request_parse(struct grant_request *request, char **argv)
{
	*request = (struct grant_request){ .mmap_mode = "page", .buffers = 16, .flush_ms = 200 };
	for (argv += !!*argv; *argv && strcmp(*argv, "--") != 0; argv++)
		if (**argv == '-')
			take_option(request, *argv);
		else
			take_directory(request, *argv);
	if (!request->count || !*argv || !argv[1])
		grant_refuse("%s", usage);
	request->command = argv + 1;
	if (!grant_is_path(request->command[0]))
		grant_refuse("%s: not an absolute path", request->command[0]);
}
