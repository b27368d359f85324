// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover_result.c - the trace and the summary of iotape discover.
 */
#include <stdio.h>

#include "cmd.h"
#include "discover_search.h"
#include "json.h"
#include "table.h"

/* Both approaches to compute time, for all threads. */
static void print_compute(const struct search *search)
{
	struct discovery_compute all = {}, compute;
	struct discovery_thread thread;
	char delayed[32], cpu[32];
	u32 i;

	for (i = 0; !discovery_thread(search->discovery, i, &thread); i++) {
		discovery_compute(search->discovery, thread.number, &compute);
		all.gaps += compute.gaps;
		all.delayed_ns += compute.delayed_ns;
		all.cpu_ns += compute.cpu_ns;
	}
	if (all.gaps)
		printf("  compute time in %u gaps between operations: %s after delays, %s on a CPU\n", all.gaps,
		       quantity_time(delayed, all.delayed_ns), quantity_time(cpu, all.cpu_ns));
}

static void json_compute(const struct search *search, struct json *json)
{
	struct discovery_compute compute;
	struct discovery_thread thread;
	u32 i;

	json_key(json, "compute");
	json_begin(json, '[');
	for (i = 0; !discovery_thread(search->discovery, i, &thread); i++) {
		discovery_compute(search->discovery, thread.number, &compute);
		if (!compute.gaps)
			continue;
		json_begin(json, '{');
		json_put_unsigned(json, "thread", thread.number);
		json_put_string(json, "command", thread.command);
		json_put_unsigned(json, "gaps", compute.gaps);
		json_put_unsigned(json, "delayed_ns", compute.delayed_ns);
		json_put_unsigned(json, "cpu_ns", compute.cpu_ns);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void print_text(const struct search *search, const struct discovery_result *result)
{
	const struct discover_options *options = search->options;
	char left[32], waiting[32];

	printf("%s: %u runs with %u delays: %u orders, %u of them known from other causes, %u new\n", options->output, result->runs,
	       result->delays, result->edges, result->confirmed, result->edges - result->confirmed);
	if (result->once)
		printf("  %u orders were shown by one delay only\n", result->once);
	if (result->redundant)
		printf("  %u more orders follow from these\n", result->redundant);
	if (result->contradicted)
		printf("  %u orders were contradicted by a run\n", result->contradicted);
	if (result->known)
		printf("  %u waits for MPI calls or wake-ups: %u found, %u contradicted by a run\n", result->known, result->known_found,
		       result->known_contradicted);
	if (result->abandoned || search->lost)
		printf("  %u connections between nodes were lost, and %u delays ended because of that, which show nothing\n", search->lost,
		       result->abandoned);
	if (result->doubtful)
		printf("  at %u places a task stopped, but not for much longer than without delays\n", result->doubtful);
	print_compute(search);
	if (!result->runs)
		printf("  %s: there is nothing to discover\n",
		       search->is_single ? "no two threads have operations" : "the trace explains all waits");
	else if (search->plan.left_ns)
		printf("  more runs may explain %s of the %s of waits\n", quantity_time(left, search->plan.left_ns),
		       quantity_time(waiting, search->plan.waiting_ns));
}

static void print_json(const struct search *search, const struct discovery_result *result)
{
	struct json json;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "trace", search->options->output);
	json_put_unsigned(&json, "runs", result->runs);
	json_put_unsigned(&json, "delays", result->delays);
	json_put_unsigned(&json, "orders", result->edges);
	json_put_unsigned(&json, "confirmed", result->confirmed);
	json_put_unsigned(&json, "new", result->edges - result->confirmed);
	json_put_unsigned(&json, "once", result->once);
	json_put_unsigned(&json, "known", result->known);
	json_put_unsigned(&json, "known_found", result->known_found);
	json_put_unsigned(&json, "known_contradicted", result->known_contradicted);
	json_put_unsigned(&json, "redundant", result->redundant);
	json_put_unsigned(&json, "contradicted", result->contradicted);
	json_put_unsigned(&json, "nodes", search->nodes ? search->nodes : 1);
	json_put_unsigned(&json, "lost", search->lost);
	json_put_unsigned(&json, "abandoned", result->abandoned);
	json_put_unsigned(&json, "doubtful", result->doubtful);
	json_put_unsigned(&json, "waiting_ns", search->plan.waiting_ns);
	json_put_unsigned(&json, "left_ns", search->plan.left_ns);
	json_compute(search, &json);
	json_end(&json, '}');
	json_line(&json);
}

/**
 * search_finish() - write the trace, and print the summary
 * @search: after all runs
 *
 * Return: an exit code.
 */
int search_finish(const struct search *search)
{
	const struct discover_options *options = search->options;
	struct discovery_result result;
	struct iot_reject reject = {};
	int err = discovery_find(search->discovery, &result), code = err ? EXIT_DONE : search_note_known(search);

	if (code)
		return code;
	if (!err)
		err = discovery_compare(search->discovery, &result);
	if (!err)
		err = discovery_write(search->discovery, options->output, &reject);
	if (err)
		return fail_reject(options->output, err, &reject);
	if (options->is_json)
		print_json(search, &result);
	else if (!options->is_quiet)
		print_text(search, &result);
	return EXIT_DONE;
}
