// SPDX-License-Identifier: GPL-2.0-only
/*
 * partners.c - the MPI calls of a trace, each with the one that it belongs to, as text or JSON.
 */
#include "partners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/graph/graph_load.h"
#include "analyse/mpi/mpi_partners.h"
#include "cmd.h"
#include "core/trace/schema_table.h"
#include "json.h"
#include "terminal.h"

static const char *name_of(u32 call)
{
	const struct iot_symbol *symbol = iot_class_info(IOT_CLASS_call).symbols;

	while (symbol->name && symbol->value != call)
		symbol++;
	return symbol->name ?: "?";
}

/* RANK.NUMBER */
static const char *place_of(const struct partner *partner, char text[24])
{
	if (partner->rank == GRAPH_NONE)
		snprintf(text, 24, "?.%u", partner->number);
	else
		snprintf(text, 24, "%u.%u", partner->rank, partner->number);
	return text;
}

static void print_text(const struct partner *all, const struct partner *partner)
{
	char own[24], other[24];

	printf("%s %s", place_of(partner, own), name_of(partner->call));
	if (partner->count)
		printf(" of %u\n", partner->count);
	else if (partner->with == GRAPH_NONE)
		printf(" with nobody\n");
	else
		printf(" with %s\n", place_of(&all[partner->with], other));
}

static void print_json(const struct partner *all, const struct partner *partner)
{
	struct json json;
	char text[24];

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "call", place_of(partner, text));
	json_put_string(&json, "name", name_of(partner->call));
	if (partner->count)
		json_put_unsigned(&json, "parts", partner->count);
	else if (partner->with != GRAPH_NONE)
		json_put_string(&json, "with", place_of(&all[partner->with], text));
	json_end(&json, '}');
	json_line(&json);
}

static int print(struct graph *graph, bool is_json)
{
	struct partner *all;
	u32 count = 0, i;
	int err = graph_partners(graph, &all, &count);

	if (err)
		return err;
	terminal_output_begin();
	for (i = 0; i < count; i++) {
		if (is_json)
			print_json(all, &all[i]);
		else
			print_text(all, &all[i]);
	}
	free(all);
	return 0;
}

/**
 * print_partners() - print the MPI calls of a trace, each with the one that it belongs to
 * @trace: file
 * @is_json: one object per line; else a line of text
 *
 * Return: an exit code.
 */
int print_partners(const char *trace, bool is_json)
{
	struct iot_reject reject = {};
	struct graph *graph = NULL;
	struct tree *tree = NULL;
	int err = graph_open(&graph);

	if (!err)
		err = tree_open(&tree);
	if (!err)
		err = load_trace(trace, graph, tree, NULL, &reject);
	if (!err)
		err = print(graph, is_json);
	tree_close(tree);
	graph_close(graph);
	return err ? fail_reject(trace, err, &reject) : EXIT_DONE;
}
