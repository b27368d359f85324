// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_around.c - the dependency view of a report: its data, and its tables.
 */
#include <stdlib.h>
#include <string.h>

#include "report_page.h"

#define NAME_BYTES 192
#define ROWS_SHOWN 20

static const char *const cause_sentences[] = {
#define CAUSE_SENTENCE(name, text, sentence) sentence,
	EDGE_CAUSES(CAUSE_SENTENCE)
#undef CAUSE_SENTENCE
	"operations of a task run one after the other",
};

static const char *cause_name(u32 cause)
{
	return cause == AROUND_CAUSE_TASK ? "task" : edge_cause_names[cause];
}

/* -- names ------------------------------------------------------------------------------------------------ */

static void name_pid(const struct actors *actors, const struct actor *actor, char name[NAME_BYTES])
{
	size_t at = strlen(name);

	at += (size_t)snprintf(name + at, NAME_BYTES - at, "%s %u", actor->command[0] ? actor->command : "?", actor->pid);
	if (actors->node_count > 1 && actor->node != ACTOR_UNKNOWN && actor->rank == ACTOR_UNKNOWN && at < NAME_BYTES)
		snprintf(name + at, NAME_BYTES - at, " on %s", actors->nodes[actor->node]);
}

static void name_task(const struct report_run *run, u32 index, char name[NAME_BYTES])
{
	const struct graph_task *task = &run->around.graph->tasks[index];
	bool is_queue = task->queue_of != GRAPH_NONE;
	const struct actors *actors = &run->waits.bytes.actors;
	const struct actor *actor = actors_find(actors, is_queue ? run->around.graph->tasks[task->queue_of].id : task->id);
	size_t at;

	name[0] = 0;
	if (actor && actor->rank != ACTOR_UNKNOWN)
		snprintf(name, NAME_BYTES, "rank %u%s", actor->rank, actor->pid == actor->tgid ? "" : ", thread ");
	if (actor && actor->pid && (actor->rank == ACTOR_UNKNOWN || actor->pid != actor->tgid))
		name_pid(actors, actor, name);
	if (!name[0])
		snprintf(name, NAME_BYTES, "task %u", task->id);
	at = strlen(name);
	if (is_queue)
		snprintf(name + at, NAME_BYTES - at, ", requests");
}

/* The call that an operation is half of, or NULL: signals of other latches, and other waits, have none. */
static const struct graph_mpi *call_of(const struct graph *graph, const struct graph_op *op)
{
	if (!op->event || (op->kind == IOT_PLAY_wait && op->flags != WAIT_MPI))
		return NULL;
	return &graph->mpi[op->event - 1];
}

static const char *wait_name(const struct graph_op *op)
{
	switch ((enum graph_wait_cause)op->flags) {
	case WAIT_MPI:
		break;
	case WAIT_MADE:
		return "begin of the task";
	case WAIT_ENDED:
		return "wait for the end of a task";
	case WAIT_DONE:
		return "wait for a request";
	case WAIT_WOKEN:
		return "wait for a wake-up";
	case WAIT_TIMED:
		return "wait with a time limit";
	}
	return "wait";
}

static void name_op(const struct graph *graph, const struct around_node *node, char name[NAME_BYTES])
{
	const struct graph_op *op = &graph->tasks[node->task].ops[node->index];
	const struct graph_mpi *call;

	switch (op->kind) {
	case IOT_PLAY_signal:
	case IOT_PLAY_wait:
		call = call_of(graph, op);
		if (call)
			snprintf(name, NAME_BYTES, "MPI %s, %s", waits_call_name(call->call), op->kind == IOT_PLAY_wait ? "wait" : "arrival");
		else
			strcpy(name, op->kind == IOT_PLAY_wait ? wait_name(op) : "signal of a latch");
		break;
	case IOT_PLAY_nop:
		strcpy(name, op->flags == NOP_WAKE ? "wake-up" : "other operation");
		break;
	default:
		strcpy(name, iot_kind_info(op->kind) ? iot_kind_info(op->kind)->name : "?");
	}
}

static const char *path_of(const struct graph *graph, const struct around_node *node)
{
	const struct graph_op *op = &graph->tasks[node->task].ops[node->index];

	return op->kind < IOT_PLAY_signal && op->kind != IOT_KIND_fork && op->kind != IOT_KIND_exec && op->path ? op->path : "";
}

/* -- data ------------------------------------------------------------------------------------------------- */

/* A text that nodes share, and its index. */
struct text {
	UT_hash_handle hh;
	u32 index;
	char text[];
};

/* Without memory, the text is the first one. */
static u32 text_index(struct json *json, struct text **texts, const char *value)
{
	size_t bytes = strlen(value);
	struct text *text;

	HASH_FIND(hh, *texts, value, bytes, text);
	if (text)
		return text->index;
	text = calloc(1, sizeof(*text) + bytes + 1);
	if (!text)
		return 0;
	text->index = HASH_COUNT(*texts);
	memcpy(text->text, value, bytes);
	HASH_ADD_KEYPTR(hh, *texts, text->text, bytes, text);
	json_string(json, value);
	return text->index;
}

static void put_links(struct json *json, const struct around_link *links, u32 count)
{
	u32 i;

	json_begin(json, '[');
	for (i = 0; i < count; i++) {
		json_unsigned(json, links[i].node);
		json_unsigned(json, links[i].cause);
		json_unsigned(json, links[i].waited_ns);
	}
	json_end(json, ']');
}

/* The indices of the three texts of a node; then its numbers. Of an open one, links too, three numbers each. */
static void put_node(struct json *json, const struct report_run *run, const struct around_node *node, const u32 texts[3])
{
	u64 origin_ns = run->charts.axis.begin_ns;
	u32 i;

	json_begin(json, '[');
	for (i = 0; i < 3; i++)
		json_unsigned(json, texts[i]);
	json_unsigned(json, node->begin_ns > origin_ns ? node->begin_ns - origin_ns : 0);
	json_unsigned(json, node->duration_ns);
	json_unsigned(json, node->waited_ns);
	json_unsigned(json, node->is_path);
	if (node->is_open) {
		json_unsigned(json, node->before_all);
		json_unsigned(json, node->after_all);
		put_links(json, node->before, node->before_count);
		put_links(json, node->after, node->after_count);
	}
	json_end(json, ']');
}

static void put_indices(struct json *json, const char *key, const u32 *indices, u32 count)
{
	u32 i;

	json_key(json, key);
	json_begin(json, '[');
	for (i = 0; i < count; i++)
		json_unsigned(json, indices[i]);
	json_end(json, ']');
}

static void put_causes(struct json *json)
{
	u32 cause;

	json_key(json, "causes");
	json_begin(json, '[');
	for (cause = 0; cause <= AROUND_CAUSE_TASK; cause++) {
		json_begin(json, '[');
		json_string(json, cause_name(cause));
		json_string(json, cause_sentences[cause]);
		json_end(json, ']');
	}
	json_end(json, ']');
}

static void put_nodes(struct json *json, const struct report_run *run)
{
	const struct around *around = &run->around;
	u32 (*indices)[3] = calloc(around->node_count + 1ul, sizeof(*indices)), i;
	struct text *texts = NULL, *text, *next;
	char name[NAME_BYTES], shown[HTML_TEXT_MAX];

	json_key(json, "texts");
	json_begin(json, '[');
	for (i = 0; indices && i < around->node_count; i++) {
		const struct around_node *node = &around->nodes[i];
		const char *path = path_of(around->graph, node);
		size_t bytes = strlen(path);

		name_task(run, node->task, name);
		indices[i][0] = text_index(json, &texts, name);
		name_op(around->graph, node, name);
		indices[i][1] = text_index(json, &texts, name);
		snprintf(shown, REPORT_PATH_BYTES, "%s", bytes < REPORT_PATH_BYTES ? path : path + bytes - REPORT_PATH_BYTES + 1);
		indices[i][2] = text_index(json, &texts, shown);
	}
	json_end(json, ']');
	json_key(json, "nodes");
	json_begin(json, '[');
	for (i = 0; indices && i < around->node_count; i++)
		put_node(json, run, &around->nodes[i], indices[i]);
	json_end(json, ']');
	HASH_ITER (hh, texts, text, next) {
		HASH_DEL(texts, text);
		free(text);
	}
	free(indices);
}

/**
 * report_around_data_put() - write the data of the dependency view
 */
void report_around_data_put(struct json *json, const struct report_run *run)
{
	json_key(json, "around");
	json_begin(json, '{');
	put_causes(json);
	put_nodes(json, run);
	put_indices(json, "waits", run->around.waits, run->around.wait_count);
	put_indices(json, "path", run->around.path, run->around.path_count);
	json_end(json, '}');
}

/* -- tables ----------------------------------------------------------------------------------------------- */

static void put_head(struct table *table, const char *const *head, u32 count)
{
	u32 i;

	table_open(table, (int)count);
	for (i = 0; i < count; i++)
		table_cell(table, "%s", head[i]);
}

/* Operation, task, object, and time from the beginning of the trace. */
static void node_cells(struct table *table, const struct report_run *run, const struct around_node *node)
{
	u64 origin_ns = run->charts.axis.begin_ns;
	char name[NAME_BYTES];

	name_op(run->around.graph, node, name);
	table_cell(table, "%s", name);
	name_task(run, node->task, name);
	table_cell(table, "%s", name);
	table_cell(table, "%s", path_of(run->around.graph, node)[0] ? path_of(run->around.graph, node) : "-");
	table_time(table, node->begin_ns > origin_ns ? node->begin_ns - origin_ns : 0);
}

static void put_table(FILE *out, struct table *table, const char *heading, u32 rows)
{
	fprintf(out, "<h4>%s</h4>\n", heading);
	if (rows)
		html_table(out, table, "sortable");
	else
		fputs("<p>None.</p>\n", out);
	table_close(table);
}

/* The predecessor that was waited for longest. */
static const struct around_link *longest_of(const struct around_node *node)
{
	const struct around_link *longest = NULL;
	u32 i;

	for (i = 0; i < node->before_count; i++)
		if (node->before[i].waited_ns && (!longest || node->before[i].waited_ns > longest->waited_ns))
			longest = &node->before[i];
	return longest;
}

static void put_waits(FILE *out, const struct report_run *run)
{
	static const char *const head[] = { "operation", "task", "object", "at", "waited", "for", "of", "cause" };
	const struct around *around = &run->around;
	struct table table;
	char name[NAME_BYTES];
	u32 i;

	put_head(&table, head, ARRAY_SIZE(head));
	for (i = 0; i < around->wait_count && i < ROWS_SHOWN; i++) {
		const struct around_node *node = &around->nodes[around->waits[i]];
		const struct around_link *link = longest_of(node);

		node_cells(&table, run, node);
		table_time(&table, node->waited_ns);
		if (link) {
			name_op(around->graph, &around->nodes[link->node], name);
			table_cell(&table, "%s", name);
			name_task(run, around->nodes[link->node].task, name);
			table_cell(&table, "%s", name);
		} else {
			table_cell(&table, "?");
			table_cell(&table, "?");
		}
		table_cell(&table, "%s", link ? cause_name(link->cause) : "?");
	}
	put_table(out, &table, "Longest waits", i);
}

static int compare_path(const void *a, const void *b)
{
	const struct around_node *x = *(const struct around_node *const *)a, *y = *(const struct around_node *const *)b;

	if (x->path_ns != y->path_ns)
		return x->path_ns < y->path_ns ? 1 : -1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static void put_path(FILE *out, const struct report_run *run)
{
	static const char *const head[] = { "operation", "task", "object", "at", "took", "on the path" };
	const struct around_node *nodes[AROUND_PATH_MAX];
	const struct around *around = &run->around;
	struct table table;
	u32 i;

	for (i = 0; i < around->path_count; i++)
		nodes[i] = &around->nodes[around->path[i]];
	if (around->path_count)
		qsort(nodes, around->path_count, sizeof(*nodes), compare_path);
	put_head(&table, head, ARRAY_SIZE(head));
	for (i = 0; i < around->path_count && i < ROWS_SHOWN; i++) {
		node_cells(&table, run, nodes[i]);
		table_time(&table, nodes[i]->duration_ns);
		table_time(&table, nodes[i]->path_ns);
	}
	put_table(out, &table, "Critical path: operations that made it longest, with the time before them", i);
}

/**
 * report_around_put() - write the tables of the dependency view
 */
void report_around_put(FILE *out, const struct report_run *run)
{
	put_waits(out, run);
	put_path(out, run);
}

/**
 * report_around_caption_put() - write which operations the dependency view has, and the parts of the critical path
 */
void report_around_caption_put(FILE *out, const struct report_run *run)
{
	const struct around *around = &run->around;
	char op[32], gap[32], cross[32];

	fprintf(out, "An operation, its predecessors, and its successors, with the cause of the order and the wait in the trace. ");
	if (around->open == around->operations)
		fprintf(out, "All %llu operations, arrivals and waits of the program are included. ", around->operations);
	else
		fprintf(out, "Of %llu operations, arrivals and waits of the program, %u are included, %u of them with their neighbours: "
			"the longest waits, those that made the critical path longest, and others near them. ", around->operations,
			around->node_count, around->open);
	fprintf(out, "%llu waited. An order that follows from others is not shown. The critical path has %llu operations, and %llu change%s "
		"of the task: %s in operations, %s between operations of a task, %s between a task and another.",
		around->waiting, around->path_operations, around->path_changes, around->path_changes == 1 ? "" : "s",
		quantity_time(op, around->path_op_ns),
		quantity_time(gap, around->path_gap_ns), quantity_time(cross, around->path_cross_ns));
}
