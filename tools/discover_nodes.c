// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover_nodes.c - the runs of iotape discover on several nodes.
 *
 * The command starts the recorder on each node, where the word {record} is. The recorders write their traces to a directory
 * that this process can read, too; it merges them after each run. In the same directory they find the controller of delays.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "discover_search.h"
#include "merge/merge.h"
#include "record/record.h"

#define CONTROLLER_NAME "controller"

/* Is it a file that a run leaves in the directory? */
static int is_of_run(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return !strcmp(entry->d_name, CONTROLLER_NAME) || (length > 4 && !strcmp(entry->d_name + length - 4, ".iot"));
}

static void remove_directory(const char *directory)
{
	struct dirent **names;
	int count = scandir(directory, &names, is_of_run, alphasort), i;
	char path[PATH_MAX + 300];

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
		unlink(path);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	rmdir(directory);
}

static int start_controller(struct search *search, const struct discovery_thread *thread)
{
	int err = controller_start(&search->controller, search->controller_file, thread->node, search->nodes);

	return err ? fail("%s: the controller of the nodes cannot start: %s", search->controller_file, strerror(-err)) : EXIT_DONE;
}

/* Paths are absolute: launchers may start the recorders in other directories. */
static int name_paths(struct search *search)
{
	char name[PATH_MAX + 16], *path;
	ssize_t bytes = readlink("/proc/self/exe", search->program, sizeof(search->program) - 1);

	if (bytes < 0)
		return fail("/proc/self/exe: %s", strerror(errno));
	search->program[bytes] = 0;
	snprintf(name, sizeof(name), "%s.nodes", search->trace);
	remove_directory(name); /* of an interrupted run */
	path = mkdir(name, 0700) ? NULL : realpath(name, NULL);
	if (!path)
		return fail("%s: %s", name, strerror(errno));
	snprintf(search->directory, sizeof(search->directory), "%s", path);
	snprintf(search->controller_file, sizeof(search->controller_file), "%s/" CONTROLLER_NAME, path);
	free(path);
	return EXIT_DONE;
}

/**
 * search_nodes_begin() - prepare a run on several nodes
 * @search: the next run
 * @thread: to be delayed; NULL: none
 *
 * Return: an exit code.
 */
int search_nodes_begin(struct search *search, const struct discovery_thread *thread)
{
	int code = name_paths(search);

	search->controller = NULL;
	return code || !thread ? code : start_controller(search, thread);
}

/**
 * search_nodes_words() - the options of the recorder on each node
 * @search: after search_nodes_begin()
 * @has_delay: the run has delays
 * @words: they are added here
 */
void search_nodes_words(const struct search *search, bool has_delay, struct search_words *words)
{
	words->list[words->count++] = "--join";
	words->list[words->count++] = "-o";
	words->list[words->count++] = search->directory;
	if (!has_delay)
		return;
	words->list[words->count++] = "--controller";
	words->list[words->count++] = search->controller_file;
}

static void say_nothing(const char *format, ...)
{
	(void)format;
}

/* Warnings of the first run are those of all. */
static int merge_traces(struct search *search, char **paths, size_t count)
{
	const struct discover_options *options = search->options;
	const struct merge_options merge_options = {
		.output = search->trace,
		.paths = paths,
		.path_count = count,
		.shared = options->shared_count && strcmp(options->shared[0], "none") ? options->shared : &options->shared[DISCOVER_SHARED_MAX],
		.is_shared_guessed = !options->shared_count,
		.say = search->run || options->is_quiet ? say_nothing : say,
	};
	struct merge_result result;
	struct merge *merge;
	int err = merge_open(&merge_options, &merge);

	if (!err)
		err = merge_run(merge, &result);
	if (!err && !search->run)
		search->nodes = result.node_count;
	merge_close(merge);
	return err ? fail("%s: the traces of the nodes cannot be merged", search->directory) : EXIT_DONE;
}

static int is_trace(const struct dirent *entry)
{
	return strcmp(entry->d_name, CONTROLLER_NAME) && is_of_run(entry);
}

static int merge_directory(struct search *search)
{
	struct dirent **names;
	int count = scandir(search->directory, &names, is_trace, alphasort), i, code = EXIT_DONE;
	char **paths = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof(*paths));

	for (i = 0; i < count; i++) {
		if (paths && asprintf(&paths[i], "%s/%s", search->directory, names[i]->d_name) < 0)
			paths[i] = NULL;
		if (!paths || !paths[i])
			code = fail("%s", strerror(ENOMEM));
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	if (!code && count <= 0)
		code = fail("run %u: no node has written a trace to %s: does the command run each " DISCOVER_RECORDER " there?", search->run + 1,
			    search->directory);
	if (!code)
		code = merge_traces(search, paths, (size_t)count);
	for (i = 0; paths && i < count; i++)
		free(paths[i]);
	free(paths);
	return code;
}

/**
 * search_nodes_end() - merge the traces of a run on several nodes
 * @search: after the run
 * @code: exit code of the run; if it failed, its traces are removed
 *
 * Return: an exit code.
 */
int search_nodes_end(struct search *search, int code)
{
	struct controller_result result = {};

	if (search->controller)
		controller_stop(search->controller, &result);
	if (result.lost)
		say("run %u: the connection to the recorder of %s was lost: nothing was delayed afterwards", search->run + 1, result.name);
	search->lost += result.lost;
	if (!code)
		code = merge_directory(search);
	remove_directory(search->directory);
	return code;
}

static bool is_in_list(const char *list, const char *name)
{
	size_t bytes = strlen(name);

	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (!strncmp(list, name, bytes) && (!list[bytes] || list[bytes] == ','))
			return true;
	return false;
}

/* Each name of the list has to be that of a node. */
static int check_names(const struct search *search)
{
	const char *word = search->options->nodes;

	while (word) {
		size_t bytes = strcspn(word, ",");
		const char *node;
		u32 i = 0;

		while ((node = discovery_node(search->discovery, i++)))
			if (strlen(node) == bytes && !strncmp(node, word, bytes))
				break;
		if (!node)
			return fail("--nodes=%s: the command ran on no node %.*s", search->options->nodes, (int)bytes, word);
		word = word[bytes] ? word + bytes + 1 : NULL;
	}
	return EXIT_DONE;
}

/**
 * search_node_has_commands() - did several commands run on a node?
 * @search: after the first run
 * @node: its name; NULL: the only node
 */
bool search_node_has_commands(const struct search *search, const char *node)
{
	const char *name;
	u32 i = 0;

	while (node && (name = discovery_node(search->discovery, i)) && strcmp(name, node))
		i++;
	return discovery_node_commands(search->discovery, i) > 1;
}

/* Commands of a node are numbered before they begin. The numbers of their threads are others in each run. */
static bool is_numbered(const struct search *search, const struct discovery_thread *thread)
{
	return search_node_has_commands(search, thread->node) ? thread->command_number : true;
}

static bool is_chosen(const struct search *search, const struct discovery_thread *thread)
{
	return is_numbered(search, thread) &&
	       (!thread->node || !search->options->nodes || is_in_list(search->options->nodes, thread->node));
}

/**
 * search_nodes_choose() - delay only threads of the nodes that were requested, and with the same number in each run
 * @search: after the first run
 *
 * Return: an exit code.
 */
int search_nodes_choose(struct search *search)
{
	struct discovery_thread thread;
	int code = check_names(search);
	u32 i;

	for (i = 0; !code && !discovery_thread(search->discovery, i, &thread); i++)
		if (!is_chosen(search, &thread)) {
			discovery_set_delayed(search->discovery, thread.number);
			search->excluded += thread.places > 0;
		}
	return code;
}
