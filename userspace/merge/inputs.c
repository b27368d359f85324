// SPDX-License-Identifier: GPL-2.0-only
/*
 * inputs.c - the traces that are merged, and which node each is of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* Facts come first; a trace without them must not be read to its end for that. */
#define FACTS_WITHIN   4096
#define NAME_BYTES_MAX 200

/**
 * merge_fail() - report an error of a file
 *
 * Return: @err.
 */
int merge_fail(const struct merge *merge, const char *path, int err)
{
	merge->options.say("%s: %s", path, strerror(-err));
	return err;
}

/**
 * merge_fail_reject() - print the reason for the refusal of a trace
 *
 * Return: @err.
 */
int merge_fail_reject(const struct merge *merge, const char *path, int err,
		      const struct iot_reject *reject)
{
	if (!reject->reason || reject->reason == IOT_REJECT_io || reject->reason == IOT_REJECT_memory)
		return merge_fail(merge, path, err);
	merge->options.say("%s:0x%llx: %s", path, (unsigned long long)reject->offset_bytes,
			   iot_reject_sentence(reject));
	return err;
}

/**
 * merge_is_cluster() - are the traces of several nodes?
 */
bool merge_is_cluster(const struct merge *merge)
{
	return merge->node_count > 1;
}

/**
 * merge_input_open() - read a trace from its beginning
 */
int merge_input_open(struct merge *merge, u32 number)
{
	struct merge_input *input = &merge->inputs[number];
	struct iot_reject reject = {};
	int err;

	iot_reader_close(input->reader);
	input->reader = NULL;
	err = iot_reader_open(input->path, &input->reader, &reject);
	if (err)
		return merge_fail_reject(merge, input->path, err, &reject);
	iot_reader_info(input->reader, &input->info);
	return 0;
}

static int keep_fact(const struct iot_record *record, const char *key, char **value)
{
	size_t bytes = strlen(key);

	if (*value || record->tail_bytes < bytes || memcmp(record->tail, key, bytes))
		return 0;
	*value = strndup((const char *)record->tail + bytes, record->tail_bytes - bytes);
	return *value ? 0 : -ENOMEM;
}

static int keep_facts(struct merge_input *input, const struct iot_record *record)
{
	const struct {
		const char *key;
		char **value;
	} facts[] = {
		{ "host=", &input->host },
		{ "boot=", &input->boot },
		{ "job=", &input->job },
		{ "mpi.shim=", &input->shim },
		{ "mpi.version=", &input->version },
		{ "job.nodes=", &input->job_nodes },
		{ "replay=", &input->replay },
		{ "node=", &input->part },
		{ "run=", &input->run },
		{ "clock=", &input->clock },
		{ "clock_sample=", &input->sample },
		{ "ranks=", &input->ranks },
	};
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(facts) && !err; i++)
		err = keep_fact(record, facts[i].key, facts[i].value);
	return err;
}

/* Whose trace is it? */
static int identify(struct merge *merge, u32 number)
{
	struct merge_input *input = &merge->inputs[number];
	struct iot_reject reject = {};
	struct iot_record record;
	u32 i;
	int n = 0, err = merge_input_open(merge, number);

	for (i = 0; i < FACTS_WITHIN && !err; i++) {
		n = iot_reader_next(input->reader, &record, &reject);
		if (n <= 0)
			break;
		if (record.kind == IOT_KIND_fact && keep_facts(input, &record))
			err = merge_fail(merge, input->path, -ENOMEM);
	}
	if (n < 0)
		err = merge_fail_reject(merge, input->path, n, &reject);
	iot_reader_close(input->reader);
	input->reader = NULL;
	return err;
}

static bool is_named(const struct merge *merge, const char *name)
{
	u32 i;

	for (i = 0; i < merge->node_count; i++)
		if (!strcmp(merge->nodes[i].name, name))
			return true;
	return false;
}

/* It may become the name of a directory. */
static char *host_name(const char *host)
{
	char *name = strndup(host[0] && host[0] != '.' ? host : "node", NAME_BYTES_MAX), *slash;

	while (name && (slash = strchr(name, '/')))
		*slash = '_';
	return name;
}

/* A node that was booted in between is another one, with the same host name. */
static char *new_name(const struct merge *merge, const char *host)
{
	char *name = host_name(host);
	u32 i;

	for (i = 2; name && is_named(merge, name); i++) {
		char *base = host_name(host);

		free(name);
		if (!base || asprintf(&name, "%s.%u", base, i) < 0)
			name = NULL;
		free(base);
	}
	return name;
}

/* A node of a replay is identified by its outcomes, because a host may run several nodes. */
static bool is_of_node(const struct merge *merge, const struct merge_input *input, u32 node)
{
	const struct merge_input *first = &merge->inputs[merge->nodes[node].first];

	return !merge->is_of_replay && !strcmp(first->host ?: "node", input->host ?: "node") &&
	       !strcmp(merge->nodes[node].boot, input->boot ?: "");
}

/* A node is a host name and a boot: the unit with one clock. */
static int find_node(struct merge *merge, u32 number)
{
	struct merge_input *input = &merge->inputs[number];
	struct merge_node *nodes;
	u32 i;

	for (i = 0; i < merge->node_count && !is_of_node(merge, input, i); i++)
		;
	if (i == merge->node_count) {
		nodes = reallocarray(merge->nodes, i + 1, sizeof(*nodes));
		if (!nodes)
			return merge_fail(merge, input->path, -ENOMEM);
		merge->nodes = nodes;
		nodes[i] = (struct merge_node){
			.name = merge->is_of_replay ? parts_name(input) :
						      new_name(merge, input->host ?: "node"),
			.boot = strdup(input->boot ?: ""),
			.first = number,
		};
		merge->node_count++;
		if (!nodes[i].name || !nodes[i].boot)
			return merge_fail(merge, input->path, -ENOMEM);
	}
	input->node = i;
	merge->nodes[i].traces++;
	if (input->info.mono_ns < merge->inputs[merge->nodes[i].first].info.mono_ns)
		merge->nodes[i].first = number;
	return 0;
}

static int add_input(struct merge *merge, const char *path)
{
	struct merge_input *input = &merge->inputs[merge->input_count++];

	input->path = strdup(path);
	if (!input->path)
		return merge_fail(merge, path, -ENOMEM);
	if (iot_file_is_same(path, merge->options.output)) {
		merge->options.say("%s: is both input and output", path);
		return -EINVAL;
	}
	return identify(merge, merge->input_count - 1);
}

/**
 * merge_open() - open and examine the traces
 * @options: valid until merge_close()
 * @merge: out: to be freed by merge_close(), also after an error, unless it is NULL
 *
 * Return: 0 or a negative errno after a message.
 */
int merge_open(const struct merge_options *options, struct merge **merge)
{
	struct merge *m = calloc(1, sizeof(*m));
	size_t i;
	int err = 0;

	*merge = m;
	if (m) {
		m->options = *options;
		m->inputs = calloc(options->path_count, sizeof(*m->inputs));
	}
	if (!m || !m->inputs) {
		options->say("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	for (i = 0; i < options->path_count && !err; i++)
		err = add_input(m, options->paths[i]);
	if (!err)
		err = parts_check(m);
	for (i = 0; i < options->path_count && !err; i++)
		err = find_node(m, (u32)i);
	return err;
}

static void free_input(struct merge_input *input)
{
	iot_reader_close(input->reader);
	free(input->path);
	free(input->chunk);
	free(input->job);
	free(input->host);
	free(input->boot);
	free(input->shim);
	free(input->version);
	free(input->job_nodes);
	free(input->replay);
	free(input->part);
	free(input->run);
	free(input->clock);
	free(input->sample);
	free(input->ranks);
	free(input->mount);
}

static void free_node(struct merge_node *node)
{
	free(node->name);
	free(node->boot);
	free(node->performed);
	free((char *)node->result.ranks);
}

/**
 * merge_leave_out() - continue without the traces marked for it
 *
 * Discards the survey, which must be repeated.
 */
int merge_leave_out(struct merge *merge)
{
	u32 i, kept = 0;
	int err = 0;

	for (i = 0; i < merge->input_count; i++) {
		if (merge->inputs[i].is_left_out)
			free_input(&merge->inputs[i]);
		else
			merge->inputs[kept++] = merge->inputs[i];
	}
	merge->input_count = kept;
	for (i = 0; i < merge->node_count; i++)
		free_node(&merge->nodes[i]);
	merge->node_count = 0;
	for (i = 0; i < kept && !err; i++)
		err = find_node(merge, i);
	return err;
}

/**
 * merge_close() - free; NULL is allowed
 */
void merge_close(struct merge *merge)
{
	u32 i;

	if (!merge)
		return;
	iot_writer_close(merge->writer);
	merge_forget(merge);
	for (i = 0; i < merge->input_count; i++)
		free_input(&merge->inputs[i]);
	for (i = 0; i < merge->node_count; i++)
		free_node(&merge->nodes[i]);
	clocks_close(merge->clocks);
	shared_close(merge->shared);
	free(merge->heap);
	free(merge->inputs);
	free(merge->nodes);
	free((void *)merge->result.nodes);
	free(merge);
}
