// SPDX-License-Identifier: GPL-2.0-only
/*
 * order_rules.c - the rules of order: the resources that each operation uses, and the kind of each use.
 *
 * After the idea of resource-oriented replay (ROOT, SOSP 2013), applied to identities that the recorder knows. The
 * rule `found` is specific to this project: an operation must observe the same as in the trace, and nothing else needs
 * an order. Besides names, handles and mappings (dependencies.c) it uses
 *
 *	entries		of a directory: changed when a name in it is created or removed, looked at by
 *			readdir, exclusive for operations that need it empty
 *	size		of a file: see tracker_sizes.h
 *	data		bytes of a file: see tracker_data.h
 *	attrs		extended attributes: exclusive for set and remove, looked at by get and list
 *	permissions	mode and owners: exclusive for operations that set them, looked at by opens, by
 *			refused operations, and, of a directory, by operations on names in it
 *	position	of a handle: exclusive for seek and readdir
 *
 * The other rules are ROOT's, and those of the baselines for comparison.
 *
 * Overlapping operations have no order here. Where their results determine one, linear.c has already added edges, and
 * an operation with this edge took effect after the start of the operation that it waits for.
 */
#include <stdlib.h>
#include <uthash.h>

#include "dependencies.h"
#include "analyse/graph/causal.h"
#include "order_passes.h"

/* -- entries of directories ------------------------------------------------------------------ */

static void use_entries(struct dependencies *u, u32 dir, enum use how)
{
	dependencies_number(u, SLOT_ENTRIES, dir, how, EDGE_entries);
}

/* A directory that is removed, or replaced by another, was empty; or it was not, and that failed. */
static void use_emptiness(struct dependencies *u, u32 dir)
{
	if (u->op->result == 0)
		use_entries(u, dir, USE_EXCLUSIVE);
	else if (u->op->result == -ENOTEMPTY || u->op->result == -EEXIST)
		use_entries(u, dir, USE_LOOK);
}

static void found_entries(struct dependencies *u)
{
	const struct graph_op *op = u->op;

	switch (op->kind) {
	case IOT_KIND_open:
		if ((op->flags & IOT_OPEN_created) && !(op->flags & IOT_OPEN_tmpfile))
			use_entries(u, op->dir, USE_CHANGE);
		break;
	case IOT_KIND_mkdir:
	case IOT_KIND_mknod:
	case IOT_KIND_symlink:
	case IOT_KIND_unlink:
	case IOT_KIND_rmdir:
		if (!op->result)
			use_entries(u, op->dir, USE_CHANGE);
		if (op->kind == IOT_KIND_rmdir)
			use_emptiness(u, op->file);
		break;
	case IOT_KIND_rename:
		if (!op->result) {
			use_entries(u, op->dir, USE_CHANGE);
			use_entries(u, op->dir2, USE_CHANGE);
		}
		if (!(op->flags & IOT_RENAME_exchange))
			use_emptiness(u, op->file2);
		break;
	case IOT_KIND_link:
		if (!op->result)
			use_entries(u, op->dir2, USE_CHANGE);
		break;
	case IOT_KIND_readdir:
		use_entries(u, op->file, USE_LOOK);
		break;
	}
}

/* -- sizes ---------------------------------------------------------------------------------- */

static void set_size(struct dependencies *u, u32 file)
{
	struct size_tracker *size = dependencies_size(u, file);

	if (size)
		u->err = size_tracker_set(&u->waiter, size);
}

static void cut(struct dependencies *u)
{
	struct size_tracker *size = dependencies_size(u, u->op->file);

	if (size && u->op->result >= 0)
		u->err = size_tracker_cut(&u->waiter, size);
	else if (size)
		u->err = size_tracker_set(&u->waiter, size);
}

static void look_at_data(struct dependencies *u, u64 offset_bytes, u64 length_bytes, bool has_found_end)
{
	struct size_tracker *size = dependencies_size(u, u->op->file);

	if (size)
		u->err = size_tracker_look(&u->waiter, size, offset_bytes + length_bytes, has_found_end);
}

static void look_at_size(struct dependencies *u)
{
	struct size_tracker *size = dependencies_size(u, u->op->file);

	if (size)
		u->err = size_tracker_look(&u->waiter, size, (u64)-1, true);
}

static void write_to(struct dependencies *u, u32 file, u64 offset_bytes, u64 length_bytes)
{
	struct size_tracker *size = dependencies_size(u, file);

	if (size)
		u->err = size_tracker_write(&u->waiter, size, offset_bytes + length_bytes,
				    u->op->old_size_bytes);
}

static bool is_submit(const struct dependencies *u)
{
	return waiter_op(&u->waiter)->kind == IOT_KIND_submit;
}

static bool is_short(const struct graph_op *op)
{
	return op->result >= 0 && (u64)op->result < op->length_bytes;
}

static void found_by_copy(struct dependencies *u)
{
	const struct graph_op *op = u->op;

	look_at_data(u, op->offset_bytes, op->length_bytes, is_short(op));
	if (op->kind == IOT_KIND_remap_range) /* its length may be that of the file */
		set_size(u, op->file2);
	else if (op->result > 0)
		write_to(u, op->file2, op->extra, (u64)op->result);
}

static void found_sizes(struct dependencies *u)
{
	const struct graph_op *op = u->op;

	switch (op->kind) {
	case IOT_KIND_open:
		if ((op->flags & IOT_OPEN_trunc) && op->result >= 0)
			cut(u);
		break;
	case IOT_KIND_stat:
		look_at_size(u);
		break;
	case IOT_KIND_setattr:
		if (op->flags & IOT_ATTR_size)
			cut(u);
		break;
	case IOT_KIND_read:
		look_at_data(u, op->offset_bytes, op->length_bytes, is_short(op));
		break;
	case IOT_KIND_write:
		if (op->flags & IOT_RW_append)
			set_size(u, op->file);
		else if (op->result > 0 && !is_submit(u)) /* the file is longer at its end */
			write_to(u, op->file, op->offset_bytes, (u64)op->result);
		else if (op->result > 0)
			write_to(u, op->file, 0, 0);
		break;
	case IOT_KIND_seek:
		if (op->flags == IOT_WHENCE_end)
			look_at_size(u);
		else if (op->flags > IOT_WHENCE_end) /* data or a hole: any write counts */
			set_size(u, op->file);
		break;
	case IOT_KIND_fallocate:
		set_size(u, op->file);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		found_by_copy(u);
		break;
	case IOT_KIND_touch:
		look_at_data(u, op->offset_bytes, 1, op->result < 0);
		break;
	}
}

/* -- data ------------------------------------------------------------------------------------- */

static void use_data(struct dependencies *u, u32 file, u64 begin, u64 length_bytes, bool is_write)
{
	struct data_tracker *data = dependencies_data(u, file);

	if (data)
		u->err = data_tracker_use(&u->waiter, data, begin, begin + length_bytes, is_write);
}

/* Of a mapped page, reads are known, but not the number of writes. */
static void found_data(struct dependencies *u)
{
	const struct graph_op *op = u->op;
	u64 done_bytes = op->result > 0 ? (u64)op->result : 0;

	switch (op->kind) {
	case IOT_KIND_read:
		use_data(u, op->file, op->offset_bytes, done_bytes, false);
		break;
	case IOT_KIND_write:
		use_data(u, op->file, op->offset_bytes, done_bytes, true);
		break;
	case IOT_KIND_touch:
		if (!op->result)
			use_data(u, op->file, op->offset_bytes, op->length_bytes, false);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		use_data(u, op->file, op->offset_bytes, done_bytes, false);
		use_data(u, op->file2, op->extra, done_bytes, true);
		break;
	}
}

/* -- attributes and positions ------------------------------------------------------------------ */

/* Operations that a flag of the file, or of its directory, may forbid. */
static bool is_forbidden_by_flags(const struct graph_op *op)
{
	switch (op->kind) {
	case IOT_KIND_open:
		return op->flags & (IOT_OPEN_write | IOT_OPEN_create);
	case IOT_KIND_setattr:
	case IOT_KIND_mkdir:
	case IOT_KIND_rmdir:
	case IOT_KIND_mknod:
	case IOT_KIND_unlink:
	case IOT_KIND_rename:
	case IOT_KIND_link:
	case IOT_KIND_symlink:
	case IOT_KIND_denied:
	case IOT_KIND_write:
	case IOT_KIND_fallocate:
		return true;
	default:
		return false;
	}
}

/* The file or directory that the operation is on, and the directories of its names, each once. */
static void use_files(struct dependencies *u, enum slot_kind kind, enum use how, enum edge_cause cause)
{
	const struct graph_op *op = u->op;
	const u32 files[] = { op->file, op->file2, op->dir, op->dir2 };
	u32 i, j;

	for (i = 0; i < 4; i++) {
		for (j = 0; j < i && files[j] != files[i]; j++)
			;
		if (j == i)
			dependencies_number(u, kind, files[i], how, cause);
	}
}

static void found_attrs(struct dependencies *u)
{
	if (u->waiter.graph->has_fileattrs && is_forbidden_by_flags(u->op))
		use_files(u, SLOT_ATTRS, USE_LOOK, EDGE_attr);
	switch (u->op->kind) {
	case IOT_KIND_setxattr:
	case IOT_KIND_removexattr:
	case IOT_KIND_setfileattr:
		dependencies_number(u, SLOT_ATTRS, u->op->file, USE_EXCLUSIVE, EDGE_attr);
		break;
	case IOT_KIND_getxattr:
	case IOT_KIND_listxattr:
	case IOT_KIND_getfileattr:
		dependencies_number(u, SLOT_ATTRS, u->op->file, USE_LOOK, EDGE_attr);
		break;
	}
}

/* They are checked by opens and by uses of names; other refusals may also depend on them. */
static void found_permissions(struct dependencies *u)
{
	const struct graph_op *op = u->op;
	bool is_refused = op->result == -EACCES || op->result == -EPERM;

	if (dependencies_is_permission(op)) {
		dependencies_permissions(u, op->file, USE_EXCLUSIVE);
	} else if (is_refused || op->kind == IOT_KIND_open || op->kind == IOT_KIND_denied) {
		dependencies_permissions(u, op->file, USE_LOOK);
		dependencies_permissions(u, op->file2, USE_LOOK);
	}
	dependencies_permissions(u, op->dir, USE_LOOK);
	dependencies_permissions(u, op->dir2, USE_LOOK);
}

/* Reads and writes have their offsets, wherever the position is. */
static void found_positions(struct dependencies *u)
{
	if (u->op->kind == IOT_KIND_seek || u->op->kind == IOT_KIND_readdir)
		dependencies_number(u, SLOT_POSITION, u->op->handle, USE_EXCLUSIVE, EDGE_handle);
}

/* -- rules -------------------------------------------------------------------------------------- */

static void found(struct dependencies *u)
{
	dependencies_names(u, EDGE_name);
	found_entries(u);
	found_sizes(u);
	found_data(u);
	found_attrs(u);
	found_permissions(u);
	dependencies_handles(u, EDGE_handle);
	found_positions(u);
}

/* Not names below a renamed directory: the name of the directory stands for them. */
static void file_seq(struct dependencies *u)
{
	use_files(u, SLOT_FILE, USE_EXCLUSIVE, EDGE_file_seq);
}

/* Mappings are handles of memory, and have no order but that of their stages. */
static void fd_seq(struct dependencies *u)
{
	const struct graph_op *op = u->op;

	if (op->kind == IOT_KIND_unmap)
		return;
	dependencies_number(u, SLOT_POSITION, op->handle, USE_EXCLUSIVE, EDGE_fd_seq);
	if (op->kind == IOT_KIND_copy_range || op->kind == IOT_KIND_remap_range)
		if (op->other != op->handle)
			dependencies_number(u, SLOT_POSITION, op->other, USE_EXCLUSIVE, EDGE_fd_seq);
}

static void by_rules(struct dependencies *u, u32 rules)
{
	if ((rules & ORDER_BIT(program_seq)) && u->waiter.graph->request_count)
		dependencies_number(u, SLOT_PROGRAM, 1, USE_EXCLUSIVE, EDGE_program_seq);
	if (rules & ORDER_BIT(temporal))
		dependencies_number(u, SLOT_PROGRAM, 1, USE_EXCLUSIVE, EDGE_temporal);
	if (rules & ORDER_BIT(found))
		found(u);
	if (rules & ORDER_BIT(file_seq))
		file_seq(u);
	if (rules & ORDER_BIT(path_stage))
		dependencies_names(u, EDGE_path_stage);
	if (rules & ORDER_BIT(fd_stage))
		dependencies_handles(u, EDGE_fd_stage);
	if (rules & ORDER_BIT(fd_seq))
		fd_seq(u);
	if (u->op->kind == IOT_KIND_release && !u->is_claiming)
		dependencies_forget_handle(u);
}

/*
 * A request moves its data some time between its submission and its end, so both use the resources of a read or
 * write. The first waits for earlier operations, and later operations wait for the second; in ROOT
 * this is a separate rule.
 */
static void request_by_rules(struct dependencies *u, u32 rules)
{
	const struct graph_op *op = u->op;
	struct graph_op data = *op;
	const u32 of_requests = ORDER_BIT(file_seq) | ORDER_BIT(fd_stage) | ORDER_BIT(fd_seq);

	if (op->kind == IOT_KIND_submit)
		data.result = (s64)op->extra;
	else if (!(rules & ORDER_BIT(aio_stage)))
		rules &= ~of_requests;
	data.kind = op->flags & IOT_RW_write ? IOT_KIND_write : IOT_KIND_read;
	u->op = &data;
	by_rules(u, rules);
	u->op = op;
}

static void set_op(struct dependencies *u, u32 task, u32 index)
{
	u->op = &u->waiter.graph->tasks[task].ops[index];
	u->waiter.task = task;
	u->waiter.index = index;
}

/* All resources of the current operation. */
static void use_all(struct dependencies *u)
{
	if (u->op->kind == IOT_KIND_submit || u->op->kind == IOT_KIND_complete)
		request_by_rules(u, u->waiter.graph->rules);
	else
		by_rules(u, u->waiter.graph->rules);
}

/* The first of two times; see struct dependencies. */
static void claim_all(struct dependencies *u)
{
	const struct graph *graph = u->waiter.graph;
	u32 i, j;

	u->is_claiming = true;
	for (i = 0; i < graph->task_count; i++)
		for (j = 0; graph->tasks[i].has_io && j < graph->tasks[i].op_count; j++)
			if (graph_is_io(&graph->tasks[i].ops[j])) {
				set_op(u, i, j);
				use_all(u);
			}
	u->is_claiming = false;
}

/* -- the walk ----------------------------------------------------------------------------------- */

/* Since when an operation can have taken effect, if that is after it began. */
struct since {
	UT_hash_handle hh;
	struct since_key {
		u32 task;
		u32 index;
	} key;
	u64 ns;
};

/**
 * struct sweep - a traversal of operations and their resources
 * @task, @index: the file operation that began last; GRAPH_NONE at first
 * @start: the mark before it, GRAPH_NONE if it has none
 * @since: of operations that linear.c made wait for operations that they overlapped
 */
struct sweep {
	struct dependencies table;
	struct since *since;
	u32 task;
	u32 index;
	u32 start;
};

/* Operations on a named pipe may wait for each other, so they are not made to if they overlapped. */
static bool may_wait_inside(const struct graph *graph, const struct graph_op *last,
			    const struct graph_op *op)
{
	const char *path;

	return last->end_ns >= op->enter_ns &&
	       graph_object_type(graph, last->object, &path) == IOT_TYPE_fifo;
}

/* In the order in which they began, whether they overlapped or not. */
static int after_last(struct sweep *s)
{
	const struct graph *graph = s->table.waiter.graph;
	u32 rules = graph->rules;

	if (s->task == GRAPH_NONE)
		return 0;
	if ((rules & ORDER_BIT(program_seq)) &&
	    may_wait_inside(graph, &graph->tasks[s->task].ops[s->index], s->table.op))
		return 0;
	if (rules & ORDER_BIT(program_seq))
		return waiter_wait(&s->table.waiter, s->task, s->index, EDGE_program_seq);
	if ((rules & ORDER_BIT(temporal)) && s->start != GRAPH_NONE)
		return waiter_wait(&s->table.waiter, s->task, s->start, EDGE_temporal);
	return 0;
}

static u64 since_ns(const struct sweep *s, u32 task, u32 index)
{
	const struct since_key key = { task, index };
	struct since *since;

	HASH_FIND(hh, s->since, &key, sizeof(key), since);
	return since ? since->ns : s->table.waiter.graph->tasks[task].ops[index].enter_ns;
}

/* No sooner than any of those that it waits for, whose results it has seen. */
static int find_since(struct sweep *s, u32 task, u32 index)
{
	const struct graph *graph = s->table.waiter.graph;
	const struct graph_op *op = &graph->tasks[task].ops[index];
	u64 ns = op->enter_ns;
	struct since *since;
	u32 e;

	for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];

		if (edge->task == GRAPH_NONE || (edge->cause != EDGE_name && edge->cause != EDGE_entries &&
						 edge->cause != EDGE_size && edge->cause != EDGE_lock))
			continue;
		if (since_ns(s, edge->task, edge->index) > ns)
			ns = since_ns(s, edge->task, edge->index);
	}
	s->table.waiter.enter_ns = ns;
	if (ns == op->enter_ns)
		return 0;
	since = calloc(1, sizeof(*since));
	if (!since)
		return -ENOMEM;
	since->key = (struct since_key){ task, index };
	since->ns = ns;
	HASH_ADD(hh, s->since, key, sizeof(since->key), since);
	return 0;
}

static int visit(void *context, u32 task, u32 index)
{
	struct sweep *s = context;
	struct graph *graph = s->table.waiter.graph;
	const struct graph_op *op = &graph->tasks[task].ops[index];
	bool has_mark = index && op[-1].kind == IOT_PLAY_nop && op[-1].flags == NOP_START;

	if (!graph->tasks[task].has_io || !graph_is_io(op))
		return 0;
	set_op(&s->table, task, index);
	s->table.waiter.target = has_mark ? index - 1 : index;
	s->table.err = find_since(s, task, index);
	if (!s->table.err && op->kind != IOT_KIND_complete)
		s->table.err = after_last(s);
	use_all(&s->table);
	if (op->kind == IOT_KIND_complete) /* that is not a start */
		return s->table.err;
	s->task = task;
	s->index = index;
	s->start = has_mark ? index - 1 : GRAPH_NONE;
	return s->table.err;
}

/**
 * graph_pass_rules() - the edges that the graph's rules demand
 * @graph: with the edges of life, messages and effects
 *
 * Edges lead from earlier to later operations of the traversal, so they have no cycle.
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_rules(struct graph *graph)
{
	struct sweep sweep = { .task = GRAPH_NONE };
	struct since *since, *next;
	int err = dependencies_open(&sweep.table, graph);

	if (!err)
		claim_all(&sweep.table);
	if (!err)
		err = causal_traverse(graph, visit, &sweep);
	dependencies_close(&sweep.table);
	HASH_ITER (hh, sweep.since, since, next) {
		HASH_DEL(sweep.since, since);
		free(since);
	}
	return err;
}
