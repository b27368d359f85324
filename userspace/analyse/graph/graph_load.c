// SPDX-License-Identifier: GPL-2.0-only
/*
 * graph_load.c - records become operations of a graph, tasks with a life, and calls of MPI.
 */
#include "graph_load.h"

#include <errno.h>
#include <stdlib.h>

#include "implied.h"
#include "loader.h"

#define PROGRESS_RECORDS 65536

/* -- objects of operations ---------------------------------------------------------------- */

static int directory_of(struct loader *l, u64 name, u32 *number)
{
	return graph_file(l->graph, iot_names_directory(l->names, name), number);
}

/* For operations with two names or two objects. */
static int set_second(struct loader *l)
{
	const struct iot_record *r = l->record;
	int err;

	switch (r->kind) {
	case IOT_KIND_rename:
		err = loader_file(l, r->rename.replaced, &l->op->file2);
		return err ? err : directory_of(l, r->rename.new_name, &l->op->dir2);
	case IOT_KIND_link:
		return directory_of(l, r->link.name, &l->op->dir2);
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range: /* its fields begin with those of copy_range */
		return loader_file(l, r->copy_range.to_object, &l->op->file2);
	default:
		return 0;
	}
}

/* The first name of a record that has one. */
static u64 first_name(const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_rename:
		return r->rename.name;
	case IOT_KIND_link:
		return r->link.old_name;
	case IOT_KIND_denied:
	case IOT_KIND_statfs:
		return 0;
	default:
		return r->kind < IOT_KIND_flush ? r->stat.name : 0; /* all begin with it */
	}
}

static int set_files(struct loader *l)
{
	int err = loader_file(l, l->op->object, &l->op->file);

	if (!err && l->op->path)
		err = directory_of(l, first_name(l->record), &l->op->dir);
	return err ? err : set_second(l);
}

/*
 * The kernel repeats its own query in the replay. The query is the last operation of the task;
 * numbers between the two, if any, belong to records that the trace lacks.
 */
static void drop_question(struct loader *l, u32 task)
{
	struct graph_task *t = &l->graph->tasks[task];
	const struct iot_rec_setattr *r = &l->record->setattr;
	const struct graph_op *last = t->op_count ? &t->ops[t->op_count - 1] : NULL;

	if (has_question(l->record) && last && is_question(last->kind, last->path2) &&
	    last->number < r->op && last->object == r->object)
		t->op_count--;
}

/*
 * Before a truncation through a handle the kernel queries by the entry that was opened, without a
 * look-up: another task may have renamed or removed it by then.
 */
static void ask_by_handle(struct loader *l)
{
	const struct graph_task *t = &l->graph->tasks[l->task];
	struct graph_op *last = t->op_count > 1 ? &t->ops[t->op_count - 2] : NULL;

	if (l->op->kind != IOT_KIND_setattr || !l->record->setattr.handle || !last ||
	    !is_question(last->kind, last->path2) || last->number >= l->op->number ||
	    last->object != l->op->object)
		return;
	last->path = NULL;
	last->handle = l->op->handle;
	last->dir = 0;
}

/*
 * The kernel truncates for an open when the file system has opened the file, and so when its record has
 * ended. A replay does both in one: the open lasts until then.
 */
static void end_open_later(struct loader *l, u32 task)
{
	struct graph_task *t = &l->graph->tasks[task];
	struct graph_op *last = t->op_count ? &t->ops[t->op_count - 1] : NULL;
	const struct iot_rec_setattr *r = &l->record->setattr;

	if (l->record->kind != IOT_KIND_setattr || !(r->attrs & IOT_ATTR_by_open) || !last ||
	    last->kind != IOT_KIND_open || last->handle != r->handle || last->end_ns > r->enter_ns)
		return;
	last->end_ns = r->enter_ns + r->duration_ns;
	if (r->runtime_ns > last->runtime_ns)
		last->oncpu_ns = r->runtime_ns - last->runtime_ns + r->oncpu_ns;
}

/* An operation, or an exit, has the waits for a CPU that were stated since the one before it. */
static void take_cpu_wait(struct loader *l, u32 task, struct graph_op *op)
{
	struct graph_task *t = &l->graph->tasks[task];

	op->cpu_wait_ns = t->cpu_wait_ns;
	t->cpu_wait_ns = 0;
}

static int load_op(struct loader *l)
{
	const struct iot_rec_op *r = &l->record->op;
	u32 task;
	int err = graph_task_make(l->graph, r->task, &task);

	if (err)
		return err;
	l->task = task;
	l->graph->operations++;
	if (!l->early.first_ns || r->enter_ns < l->early.first_ns)
		l->early.first_ns = r->enter_ns;
	if (l->record->kind == IOT_KIND_read && r->result > 0)
		l->graph->read_bytes += (u64)r->result;
	if (l->record->kind == IOT_KIND_write && r->result > 0)
		l->graph->write_bytes += (u64)r->result;
	drop_question(l, task);
	end_open_later(l, task);
	if (is_implied(l->record))
		return 0;
	l->op = graph_op_add(l->graph, task);
	if (!l->op)
		return -ENOMEM;
	l->op->kind = l->record->kind;
	l->op->enter_ns = r->enter_ns;
	l->op->end_ns = r->enter_ns + r->duration_ns;
	l->op->runtime_ns = r->runtime_ns;
	l->op->oncpu_ns = r->oncpu_ns;
	l->op->number = r->op;
	l->op->result = r->result;
	err = load_fields(l);
	if (!err)
		err = set_files(l);
	if (!err)
		err = load_gone(l);
	if (err > 0) {
		l->graph->tasks[task].op_count--;
		if (l->record->kind == IOT_KIND_map) /* a child's, which is not known yet */
			return 0;
		l->graph->dropped[l->record->kind]++;
		l->graph->dropped_bytes += iot_record_moved_bytes(l->record);
		return 0;
	}
	if (err)
		return err;
	take_cpu_wait(l, task, l->op);
	ask_by_handle(l);
	return 0;
}

/* -- tasks and their lives ---------------------------------------------------------------- */

static int load_task(struct loader *l, const struct iot_rec_task *r)
{
	struct graph_task *task;
	u32 index;
	int err = graph_task_make(l->graph, r->task, &index);

	if (err)
		return err;
	task = &l->graph->tasks[index];
	if (task->command)
		return 0; /* announced twice */
	task->tgid = r->tgid;
	task->parent = r->parent < r->task ? r->parent : 0; /* or the record lies: no circles */
	task->why = r->why;
	task->uid = r->uid;
	task->gid = r->gid;
	task->begin_ns = r->time_ns;
	task->command = strndup((const char *)l->record->tail, l->record->tail_bytes);
	return task->command ? 0 : -ENOMEM;
}

/* An event has a place in its task's order, but does nothing. */
static int load_event(struct loader *l, u64 time_ns, u32 id, u32 number, u32 event)
{
	struct graph_op *op;
	u32 task;
	int err = graph_task_make(l->graph, id, &task);

	if (err)
		return err;
	op = graph_op_add(l->graph, task);
	if (!op)
		return -ENOMEM;
	op->kind = l->record->kind;
	op->enter_ns = time_ns;
	op->end_ns = time_ns;
	op->number = number;
	op->event = event;
	return 0;
}

static int load_wait(struct loader *l, u32 task, u64 time_ns, enum graph_wait_cause why, u32 event)
{
	struct graph_op *op = graph_op_add(l->graph, task);

	if (!op)
		return -ENOMEM;
	op->kind = IOT_PLAY_wait;
	op->flags = why;
	op->enter_ns = time_ns;
	op->end_ns = time_ns;
	op->event = event;
	return 0;
}

/*
 * A task begins by waiting for the operation that created it, from its own announcement on, which
 * precedes the record of the fork. Results of the fork, such as copies of mappings, come after
 * that.
 */
static int load_begin(struct loader *l, u32 task, u64 time_ns)
{
	struct graph_task *t = &l->graph->tasks[task];
	int err = load_wait(l, task, time_ns, WAIT_MADE, 0);

	if (err || t->begin_ns >= time_ns)
		return err;
	if (t->begin_ns)
		t->ops[t->op_count - 1].enter_ns = t->begin_ns;
	t->begin_ns = time_ns;
	return 0;
}

static int load_fork(struct loader *l, const struct iot_rec_fork *r)
{
	u32 parent, child;
	int err = load_event(l, r->time_ns, r->task, r->op, r->child);

	if (!err)
		err = graph_task_make(l->graph, r->task, &parent);
	if (!err)
		err = graph_task_make(l->graph, r->child, &child);
	if (!err)
		err = load_begin(l, child, r->time_ns);
	return err ? err : load_inherited(l, parent, child);
}

static int load_exec(struct loader *l, const struct iot_rec_exec *r)
{
	struct graph_task *t;
	u32 from, into;
	int err = load_event(l, r->time_ns, r->task, r->op, r->into);

	if (!err)
		err = graph_task_make(l->graph, r->task, &from);
	if (!err)
		err = graph_task_make(l->graph, r->into, &into);
	if (err)
		return err;
	t = &l->graph->tasks[from];
	t->ops[t->op_count - 1].runtime_ns = r->oncpu_ns;
	take_cpu_wait(l, from, &t->ops[t->op_count - 1]);
	if (r->into > r->task) /* or the record lies: no circles */
		t->exec_into = r->into;
	l->graph->tasks[into].ran_ns = r->oncpu_ns;
	return load_begin(l, into, r->time_ns);
}

/* The task that made this one, as it is now; GRAPH_NONE if it is not known. */
static u32 maker_of(const struct loader *l, u32 task)
{
	const struct graph_task *tasks = l->graph->tasks;

	while (task != GRAPH_NONE && tasks[task].why == IOT_REASON_exec)
		task = graph_task_find(l->graph, tasks[task].parent);
	if (task == GRAPH_NONE || tasks[task].why != IOT_REASON_fork)
		return GRAPH_NONE;
	task = graph_task_find(l->graph, tasks[task].parent);
	while (task != GRAPH_NONE && tasks[task].exec_into)
		task = graph_task_find(l->graph, tasks[task].exec_into);
	return task;
}

/* Perhaps its maker waits for that, if there still is one; life.c decides. */
static int load_exit(struct loader *l, const struct iot_rec_exit *r)
{
	int err = load_event(l, r->time_ns, r->task, r->op, 0);
	u32 task = graph_task_find(l->graph, r->task), maker;
	struct graph_task *t;

	if (err)
		return err;
	t = &l->graph->tasks[task];
	t->ops[t->op_count - 1].runtime_ns = r->oncpu_ns;
	take_cpu_wait(l, task, &t->ops[t->op_count - 1]);
	l->graph->tasks[task].has_exited = true;
	maker = maker_of(l, task);
	if (maker == GRAPH_NONE || l->graph->tasks[maker].has_exited)
		return 0;
	return load_wait(l, maker, r->time_ns, WAIT_ENDED, r->task);
}

/* The task that submitted it may wait for it; life.c decides. */
static int load_complete(struct loader *l, const struct iot_rec_complete *r)
{
	const struct graph_request request = {
		.id = r->request,
		.end_ns = r->time_ns,
		.result = r->result,
		.queue = GRAPH_NONE,
	};
	u32 task;
	int err = graph_task_make(l->graph, r->task, &task);

	if (!err)
		err = load_wait(l, task, r->time_ns, WAIT_DONE, l->graph->request_count);
	return err ? err : graph_request_add(l->graph, &request);
}

/* In both tasks, where they are then: the one that wakes is there at @ended_ns. */
static int add_wake(struct loader *l, const struct iot_rec_wake *r, u64 ended_ns, enum edge_cause cause)
{
	u32 task, woken, wake = l->graph->wake_count;
	struct graph_op *op;
	int err = graph_task_make(l->graph, r->task, &task);

	if (!err)
		err = graph_task_make(l->graph, r->woken, &woken);
	if (err || task == woken)
		return err;
	err = graph_wake_add(l->graph, task, woken, cause);
	if (!err)
		err = load_wait(l, woken, r->time_ns, WAIT_WOKEN, wake);
	if (err)
		return err;
	op = &l->graph->tasks[woken].ops[l->graph->tasks[woken].op_count - 1];
	op->number = r->woken_op;
	op->runtime_ns = r->woken_runtime_ns;
	op->delay_ns = r->woken_delay_ns ? r->woken_delay_ns - 1 : 0;
	op->call = r->woken_call;
	op = graph_op_add(l->graph, task);
	if (!op)
		return -ENOMEM;
	op->kind = IOT_PLAY_nop;
	op->flags = NOP_WAKE;
	op->enter_ns = ended_ns;
	op->end_ns = ended_ns;
	op->number = r->op;
	op->event = wake;
	return 0;
}

static int load_wake(struct loader *l, const struct iot_rec_wake *r)
{
	return add_wake(l, r, r->time_ns, EDGE_wake);
}

static int load_timeout(struct loader *l, const struct iot_rec_timeout *r)
{
	struct graph_task *t;
	u32 task;
	int err = graph_task_make(l->graph, r->task, &task);

	if (!err)
		err = load_wait(l, task, r->time_ns, WAIT_TIMED, GRAPH_NONE);
	if (err)
		return err;
	t = &l->graph->tasks[task];
	t->ops[t->op_count - 1].number = r->op;
	t->ops[t->op_count - 1].call = r->call;
	l->graph->timeout_count++;
	return 0;
}

/* As if the operation that it waits for had woken the task. No edge leads back in time, or there might be a circle. */
static int load_discovered(struct loader *l, const struct iot_rec_discovered *r)
{
	const struct iot_rec_wake wake = {
		.time_ns = r->time_ns,
		.task = r->task,
		.op = r->op,
		.woken = r->waiter,
		.woken_op = r->waiter_op,
		.woken_runtime_ns = r->waiter_runtime_ns,
	};

	return add_wake(l, &wake, r->ended_ns < r->time_ns ? r->ended_ns : r->time_ns, EDGE_discovered);
}

/* A time between two operations of a task that is no part of its think time. */
static int load_pause(struct loader *l, u32 id, u64 begin_ns, u64 duration_ns, u64 *count, u64 *sum_ns)
{
	u32 task;
	int err = graph_task_make(l->graph, id, &task);

	++*count;
	*sum_ns += duration_ns;
	return err ? err : graph_backpressure_add(l->graph, task, begin_ns, begin_ns + duration_ns);
}

static int load_backpressure(struct loader *l, const struct iot_rec_backpressure *r)
{
	return load_pause(l, r->task, r->time_ns, r->duration_ns, &l->graph->backpressure_waits, &l->graph->backpressure_ns);
}

static int load_delayed(struct loader *l, const struct iot_rec_delayed *r)
{
	return load_pause(l, r->task, r->time_ns, r->duration_ns, &l->graph->delays, &l->graph->delays_ns);
}

static int load_freed(struct loader *l, const struct iot_rec_freed *r)
{
	return load_pause(l, r->task, r->time_ns, r->duration_ns, &l->graph->freed, &l->graph->freed_ns);
}

/* The record precedes the operation, or the exit, before which the task has waited. */
static int load_cpu_wait(struct loader *l, const struct iot_rec_cpu_wait *r)
{
	u32 task;
	int err = graph_task_make(l->graph, r->task, &task);

	if (!err)
		l->graph->tasks[task].cpu_wait_ns += r->waited_ns;
	return err;
}

/* -- MPI ------------------------------------------------------------------------------------- */

static int mpi_half(struct loader *l, u32 task, u64 time_ns, u16 kind, u32 number)
{
	struct graph_op *op = graph_op_add(l->graph, task);

	if (!op)
		return -ENOMEM;
	op->kind = kind;
	op->enter_ns = time_ns;
	op->end_ns = time_ns;
	op->number = number;
	op->event = l->graph->mpi_count; /* + 1: 0 is none */
	return 0;
}

/**
 * load_mpi_fields() - fill in an MPI call from its record
 * @graph: has the data that does not fit into @mpi
 * @mpi: out: all but the task, the halves and the times
 * @r: of a kind that has a call
 *
 * Return: 0 or -ENOMEM.
 */
int load_mpi_fields(struct graph *graph, struct graph_mpi *mpi, const struct iot_record *r)
{
	mpi->result = r->op.result < 0 ? (s32)r->op.result : 0;
	mpi->kind = r->kind;
	switch (r->kind) {
	case IOT_KIND_mpi_send:
	case IOT_KIND_mpi_recv: /* the same fields */
		mpi->call = r->mpi_send.call;
		mpi->comm = r->mpi_send.comm;
		mpi->peer = r->mpi_send.peer;
		mpi->tag = r->mpi_send.tag;
		mpi->length_bytes = r->mpi_send.length_bytes;
		mpi->request = r->mpi_send.request;
		break;
	case IOT_KIND_mpi_done:
		mpi->call = r->mpi_done.call;
		mpi->request = r->mpi_done.request;
		mpi->peer = r->mpi_done.peer;
		mpi->tag = r->mpi_done.tag;
		mpi->length_bytes = r->mpi_done.length_bytes;
		break;
	case IOT_KIND_mpi_probe:
		mpi->call = r->mpi_probe.call;
		mpi->comm = r->mpi_probe.comm;
		mpi->peer = r->mpi_probe.peer;
		mpi->tag = r->mpi_probe.tag;
		mpi->length_bytes = r->mpi_probe.length_bytes;
		break;
	case IOT_KIND_mpi_part:
		mpi->call = r->mpi_part.call;
		mpi->request = r->mpi_part.request;
		mpi->offset_bytes = r->mpi_part.offset_bytes;
		mpi->length_bytes = r->mpi_part.length_bytes;
		break;
	case IOT_KIND_mpi_win:
		mpi->call = r->mpi_win.call;
		mpi->comm = r->mpi_win.comm;
		mpi->peer = r->mpi_win.peer;
		mpi->number = r->mpi_win.is_exclusive;
		break;
	case IOT_KIND_mpi_link: /* the first collective on the new communicator */
		mpi->kind = IOT_KIND_mpi_coll;
		mpi->call = r->mpi_link.call;
		mpi->comm = r->mpi_link.comm;
		mpi->number = r->mpi_link.number;
		mpi->root = -1;
		break;
	case IOT_KIND_mpi_file: /* on a file as on a communicator */
		mpi->kind = IOT_KIND_mpi_coll;
		mpi->call = r->mpi_file.call;
		mpi->comm = r->mpi_file.file;
		mpi->number = r->mpi_file.number;
		mpi->root = -1;
		mpi->request = r->mpi_file.request;
		break;
	default:
		mpi->call = r->mpi_coll.call;
		mpi->comm = r->mpi_coll.comm;
		mpi->number = r->mpi_coll.number;
		mpi->root = r->mpi_coll.root;
		mpi->request = r->mpi_coll.request;
		mpi->sources = r->mpi_coll.sources;
	}
	if (!iot_record_has_list(r))
		return 0;
	mpi->list = graph_bytes(graph, r->tail, r->tail_bytes);
	mpi->list_bytes = r->tail_bytes;
	return mpi->list ? 0 : -ENOMEM;
}

static int load_comm(struct loader *l, const struct iot_rec_mpi_comm *r)
{
	u32 task = graph_task_find(l->graph, r->task);
	struct graph_rank rank = {
		.comm = r->comm,
		.rank = r->rank,
		.size = r->size,
		.first = r->first,
		.world_rank = r->world_rank,
		.world = r->world,
		.origin = r->origin,
		.tgid = task == GRAPH_NONE ? 0 : l->graph->tasks[task].tgid,
	};

	return graph_rank_add(l->graph, &rank);
}

static int load_near(struct loader *l, const struct iot_rec_mpi_near *r)
{
	const struct graph_near near = { .comm = r->comm, .rank = r->rank, .source = r->source };

	return graph_near_add(l->graph, &near);
}

/* No operation waits for it, and its order is unknown. */
static bool is_alone(const struct iot_record *r)
{
	if (r->kind == IOT_KIND_mpi_file)
		return !r->mpi_file.number;
	return r->kind == IOT_KIND_mpi_win && r->mpi_win.call >= IOT_CALL_put;
}

static int load_mpi(struct loader *l)
{
	const struct iot_rec_op *r = &l->record->op;
	struct graph_mpi *mpi;
	u32 task;
	int err;

	if (l->record->kind == IOT_KIND_mpi_comm)
		return load_comm(l, &l->record->mpi_comm);
	if (l->record->kind == IOT_KIND_mpi_near)
		return load_near(l, &l->record->mpi_near);
	if (l->record->kind == IOT_KIND_mpi_view || is_alone(l->record))
		return 0;
	err = graph_task_make(l->graph, r->task, &task);
	mpi = err ? NULL : graph_mpi_add(l->graph);
	if (!mpi)
		return -ENOMEM;
	mpi->task = task;
	mpi->enter_ns = r->enter_ns;
	mpi->end_ns = r->enter_ns + r->duration_ns;
	err = load_mpi_fields(l->graph, mpi, l->record);
	if (err)
		return err;
	if (l->record->kind == IOT_KIND_mpi_link &&
	    graph_link_add(l->graph, l->record, l->graph->mpi_count - 1))
		return -ENOMEM;
	err = mpi_half(l, task, mpi->enter_ns, IOT_PLAY_signal, r->op);
	return err ? err : mpi_half(l, task, mpi->end_ns, IOT_PLAY_wait, r->op);
}

/* -- the trace ----------------------------------------------------------------------------------- */

static int load_record(struct loader *l)
{
	const struct iot_record *r = l->record;
	const struct iot_kind_info *info = iot_kind_info(r->kind);

	switch (r->kind) {
	case IOT_KIND_task:
		return load_task(l, &r->task);
	case IOT_KIND_object:
		return graph_object_add(l->graph, r->object.object, r->object.type,
					iot_names_object(l->names, r->object.object).path);
	case IOT_KIND_mount:
		return l->early.root ? 0 : loader_file(l, r->mount.object, &l->early.root);
	case IOT_KIND_opened:
		return load_opened_before(l);
	case IOT_KIND_mapped:
		return load_mapped_before(l);
	case IOT_KIND_counted:
		return -EOPNOTSUPP;
	case IOT_KIND_fact:
		if (iot_record_is_counted(r))
			return -EOPNOTSUPP;
		return graph_fact_add(l->graph, r->tail, r->tail_bytes);
	case IOT_KIND_fork:
		return load_fork(l, &r->fork);
	case IOT_KIND_exec:
		return load_exec(l, &r->exec);
	case IOT_KIND_exit:
		return load_exit(l, &r->exit);
	case IOT_KIND_backpressure:
		return load_backpressure(l, &r->backpressure);
	case IOT_KIND_delayed:
		return load_delayed(l, &r->delayed);
	case IOT_KIND_freed:
		return load_freed(l, &r->freed);
	case IOT_KIND_cpu_wait:
		return load_cpu_wait(l, &r->cpu_wait);
	case IOT_KIND_discovered:
		return load_discovered(l, &r->discovered);
	case IOT_KIND_wake:
		return load_wake(l, &r->wake);
	case IOT_KIND_timeout:
		return load_timeout(l, &r->timeout);
	case IOT_KIND_complete:
		return load_complete(l, &r->complete);
	}
	if (info->group == IOT_GROUP_op)
		return load_op(l);
	if (info->group == IOT_GROUP_mpi)
		return load_mpi(l);
	return 0;
}

static int load_next(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct loader *l = context;
	struct graph *graph = l->graph;
	int err;

	l->names = names;
	l->record = record;
	iot_omissions_take(&graph->omissions, record);
	graph->end_ns = iot_record_end_ns(record);
	if (!graph->begin_ns)
		graph->begin_ns = graph->end_ns;
	err = tree_observe(l->tree, names, record);
	if (!err)
		err = load_record(l);
	if (l->progress && ++l->count % PROGRESS_RECORDS == 0)
		l->progress(l->count);
	return err;
}

/**
 * load_trace() - read a trace into a graph
 * @path: of the trace
 * @graph: empty
 * @tree: empty; learns the initial tree
 * @progress: called now and then, may be NULL
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int load_trace(const char *path, struct graph *graph, struct tree *tree, load_progress_fn progress,
	       struct iot_reject *reject)
{
	struct loader l = { .graph = graph, .tree = tree, .progress = progress };
	int err = iot_trace_walk(path, load_next, &l, &graph->info, reject);

	if (!err)
		iot_omissions_finish(&graph->omissions, &graph->info);
	if (!err)
		err = tree_judge(tree);
	if (!err)
		err = load_gone_finish(&l);
	if (!err)
		err = load_early_finish(&l);
	load_early_close(&l.early);
	load_gone_close(&l.gone);
	graph_sort(graph);
	live_close(&l.live);
	free(l.inherited);
	return err;
}
