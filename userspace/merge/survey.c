// SPDX-License-Identifier: GPL-2.0-only
/*
 * survey.c - the first reading of the traces: ids in use, ranks, facts about the run, and with
 * several nodes all MPI calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/graph/graph_load.h"
#include "state.h"

/* A task of a node, or a process. */
struct merge_task {
	UT_hash_handle hh;
	struct task_key {
		u32 node;
		u32 id;
		u32 is_process;
	} key;
	u32 input;
	u32 number; /* on all nodes, from 1 */
	u32 tgid;
	u32 rank; /* of a process its index in merge.ranks, MERGE_NONE if it is none */
	bool has_performed;
};

static struct merge_task *find_task(struct merge *merge, u32 node, u32 id, bool is_process)
{
	const struct task_key key = { node, id, is_process };
	struct merge_task *task;

	HASH_FIND(hh, merge->tasks, &key, sizeof(key), task);
	return task;
}

static struct merge_task *make_task(struct merge *merge, u32 input, u32 id, bool is_process)
{
	u32 node = merge->inputs[input].node;
	struct merge_task *task = find_task(merge, node, id, is_process);

	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->key = (struct task_key){ node, id, is_process };
	task->input = input;
	task->rank = MERGE_NONE;
	task->number = HASH_COUNT(merge->tasks) + 1;
	HASH_ADD(hh, merge->tasks, key, sizeof(task->key), task);
	return task;
}

/**
 * merge_forget() - discard the survey
 */
void merge_forget(struct merge *merge)
{
	struct merge_task *task, *next;
	struct merge_fact *fact, *next_fact;
	u32 i;

	HASH_ITER (hh, merge->tasks, task, next) {
		HASH_DEL(merge->tasks, task);
		free(task);
	}
	HASH_ITER (hh, merge->facts, fact, next_fact) {
		HASH_DEL(merge->facts, fact);
		free(fact);
	}
	for (i = 0; i < merge->mount_count; i++) {
		free(merge->mounts[i].path);
		free(merge->mounts[i].component);
	}
	free(merge->mounts);
	free(merge->ranks);
	free(merge->call_nodes);
	graph_close(merge->calls);
	merge->mounts = NULL;
	merge->ranks = NULL;
	merge->calls = NULL;
	merge->call_nodes = NULL;
	merge->call_room = 0;
	merge->mount_count = 0;
	merge->rank_count = 0;
	merge->result.omissions = (struct iot_omissions){};
}

/* -- ids ------------------------------------------------------------------------------------- */

/**
 * merge_ids_of() - which ids a field holds, IDS_COUNT if none
 *
 * Keys of communicators and numbers of MPI requests are of the class of requests, too: the ones
 * are equal on all nodes, the others are counted in each process.
 */
enum merge_ids merge_ids_of(u16 kind, const struct iot_field *field)
{
	switch (field->class) {
	case IOT_CLASS_task:
		return IDS_task;
	case IOT_CLASS_object:
		return IDS_object;
	case IOT_CLASS_handle:
		return IDS_handle;
	case IOT_CLASS_name:
		return IDS_name;
	case IOT_CLASS_map:
		return IDS_map;
	case IOT_CLASS_request:
		return kind == IOT_KIND_submit || kind == IOT_KIND_complete ? IDS_request : IDS_COUNT;
	default:
		return IDS_COUNT;
	}
}

static void see_id(struct merge_node *node, enum merge_ids ids, u64 id)
{
	struct id_range *range = &node->ids[ids];

	if (!id)
		return;
	if (!range->max || id < range->min)
		range->min = id;
	if (id > range->max)
		range->max = id;
}

static void see_ids(struct merge_node *node, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	for (i = 0; i < info->field_count; i++) {
		enum merge_ids ids = merge_ids_of(record->kind, &info->fields[i]);

		if (ids != IDS_COUNT)
			see_id(node, ids, iot_field_get(record, &info->fields[i]));
	}
	if (record->kind == IOT_KIND_task) {
		see_id(node, IDS_process, record->task.pid);
		see_id(node, IDS_process, record->task.tgid);
	}
}

/**
 * merge_is_omission() - check whether a fact states an omission
 */
bool merge_is_omission(const struct iot_record *record)
{
	return record->tail_bytes > 9 && !memcmp(record->tail, "omission.", 9);
}

/**
 * merge_is_partial() - is it the fact that states that the trace is partial?
 */
bool merge_is_partial(const struct iot_record *record)
{
	return record->tail_bytes > 8 && !memcmp(record->tail, "partial=", 8);
}

/* -- facts and mounts -------------------------------------------------------------------------- */

static int see_fact(struct merge *merge, struct merge_input *input, const struct iot_record *record)
{
	struct merge_fact *fact;

	if (!record->tail_bytes)
		return 0;
	if (record->tail_bytes > 6 && !memcmp(record->tail, "mount=", 6)) {
		free(input->mount);
		input->mount = strndup((const char *)record->tail + 6, record->tail_bytes - 6u);
		input->mount_facts++;
	}
	HASH_FIND(hh, merge->facts, record->tail, record->tail_bytes, fact);
	if (fact) {
		fact->nodes += fact->last_node != input->node;
		fact->last_node = input->node;
		return 0;
	}
	fact = calloc(1, sizeof(*fact) + record->tail_bytes);
	if (!fact)
		return -ENOMEM;
	fact->bytes = record->tail_bytes;
	memcpy(fact->text, record->tail, record->tail_bytes);
	fact->first_node = input->node;
	fact->last_node = input->node;
	fact->nodes = 1;
	HASH_ADD_KEYPTR(hh, merge->facts, fact->text, fact->bytes, fact);
	return 0;
}

static int see_mount(struct merge *merge, const struct merge_input *input,
		     const struct iot_record *record)
{
	struct merge_mount *mounts = reallocarray(merge->mounts, merge->mount_count + 1,
						  sizeof(*mounts));
	const char *path = input->mount && input->mount_facts == 1 ? input->mount : "";

	if (!mounts)
		return -ENOMEM;
	merge->mounts = mounts;
	mounts[merge->mount_count] = (struct merge_mount){
		.node = input->node,
		.object = record->mount.object,
		.dev = record->mount.dev,
		.magic = record->mount.magic,
		.share = merge->mount_count,
		.path = record->tail_bytes ? strndup((const char *)record->tail, record->tail_bytes) :
					     strdup(path),
	};
	return mounts[merge->mount_count++].path ? 0 : -ENOMEM;
}

/* -- tasks and ranks ----------------------------------------------------------------------------- */

static int see_task(struct merge *merge, u32 number, const struct iot_record *record)
{
	struct merge_task *process = make_task(merge, number, record->task.tgid, true);
	struct merge_task *task = make_task(merge, number, record->task.task, false);

	if (!process || !task)
		return merge_fail(merge, merge->inputs[number].path, -ENOMEM);
	if (task->input != number) {
		merge->options.say("%s: has the same task %u as %s: they are not of one job",
				   merge->inputs[number].path, record->task.task,
				   merge->inputs[task->input].path);
		return -EINVAL;
	}
	task->tgid = record->task.tgid;
	return 0;
}

static struct merge_task *process_of(struct merge *merge, u32 node, u32 task_id)
{
	struct merge_task *task = find_task(merge, node, task_id, false);

	return task ? find_task(merge, node, task->tgid, true) : NULL;
}

/* The first communicator that a rank announces is MPI_COMM_WORLD. */
static int see_comm(struct merge *merge, u32 number, const struct iot_record *record)
{
	const struct iot_rec_mpi_comm *r = &record->mpi_comm;
	struct merge_input *input = &merge->inputs[number];
	struct merge_task *process = process_of(merge, input->node, r->task);
	const struct graph_rank known = {
		.comm = r->comm, .rank = r->rank, .size = r->size, .first = r->first, .origin = r->origin,
		.tgid = process ? process->number : 0,
	};
	struct merge_rank *ranks;

	if (!input->world)
		input->world = r->comm;
	if (process && process->rank == MERGE_NONE) {
		ranks = reallocarray(merge->ranks, merge->rank_count + 1, sizeof(*ranks));
		if (!ranks)
			return -ENOMEM;
		merge->ranks = ranks;
		process->rank = merge->rank_count;
		ranks[merge->rank_count++] = (struct merge_rank){
			.world = r->comm, .input = number, .rank = r->rank, .ranks = r->size,
			.begin_ns = r->time_ns,
		};
	}
	return process ? graph_rank_add(merge->calls, &known) : 0;
}

static int see_near(struct merge *merge, const struct iot_rec_mpi_near *r)
{
	const struct graph_near near = { .comm = r->comm, .rank = r->rank, .source = r->source };

	return graph_near_add(merge->calls, &near);
}

/* Where each call was made: beside the calls, with as much room. */
static int see_place(struct merge *merge, u32 node)
{
	u32 *nodes = merge->call_nodes;

	if (merge->call_room < merge->calls->mpi_room)
		nodes = reallocarray(nodes, merge->calls->mpi_room, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	merge->call_nodes = nodes;
	merge->call_room = merge->calls->mpi_room;
	nodes[merge->calls->mpi_count - 1] = node;
	return 0;
}

static int see_call(struct merge *merge, u32 node, const struct iot_record *record)
{
	const struct iot_rec_op *r = &record->op;
	struct merge_task *task = find_task(merge, node, r->task, false);
	struct merge_task *process = process_of(merge, node, r->task);
	struct graph_mpi *mpi;
	u32 index;
	int err;

	if (!process || (record->kind == IOT_KIND_mpi_file && !record->mpi_file.number) ||
	    record->kind == IOT_KIND_mpi_win || record->kind == IOT_KIND_mpi_part)
		return 0; /* it bounds nothing */
	err = graph_task_make(merge->calls, task->number, &index);
	mpi = err ? NULL : graph_mpi_add(merge->calls);
	if (!mpi)
		return -ENOMEM;
	merge->calls->tasks[index].tgid = process->number;
	if (load_mpi_fields(merge->calls, mpi, record))
		return -ENOMEM;
	mpi->task = index;
	mpi->enter_ns = r->enter_ns;
	mpi->end_ns = r->enter_ns + r->duration_ns;
	return see_place(merge, node);
}

static void see_finalize(struct merge *merge, u32 node, const struct iot_record *record)
{
	struct merge_task *process;

	if (record->kind != IOT_KIND_mpi_coll || (record->mpi_coll.call != IOT_CALL_finalize &&
						  record->mpi_coll.call != IOT_CALL_session_finalize))
		return;
	process = process_of(merge, node, record->op.task);
	if (process && process->rank != MERGE_NONE)
		merge->ranks[process->rank].has_finalized = true;
}

/* -- outcomes of a replay --------------------------------------------------------------------------- */

static int see_performed(struct merge *merge, u32 number, u32 id)
{
	u32 node = merge->inputs[number].node;
	struct merge_task *task = make_task(merge, number, id, false);

	if (!task)
		return -ENOMEM;
	if (task->has_performed)
		return 0;
	task->has_performed = true;
	return parts_see_task(&merge->nodes[node], id);
}

static int see_outcome(struct merge *merge, u32 number, const struct iot_record *record)
{
	switch (record->kind) {
	case IOT_KIND_fact:
		if (merge_is_partial(record))
			merge->inputs[number].is_partial = true;
		return see_fact(merge, &merge->inputs[number], record);
	case IOT_KIND_played:
		return see_performed(merge, number, record->played.task);
	case IOT_KIND_complete:
		return see_performed(merge, number, record->complete.task);
	}
	return iot_kind_info(record->kind)->group == IOT_GROUP_op ?
		       see_performed(merge, number, record->op.task) : 0;
}

/* -- traces -------------------------------------------------------------------------------------- */

static int see_record(struct merge *merge, u32 number, const struct iot_record *record)
{
	struct merge_input *input = &merge->inputs[number];

	if (merge->is_of_replay)
		return see_outcome(merge, number, record);
	see_ids(&merge->nodes[input->node], record);
	switch (record->kind) {
	case IOT_KIND_fact:
		return see_fact(merge, input, record);
	case IOT_KIND_mount:
		return see_mount(merge, input, record);
	case IOT_KIND_task:
		return see_task(merge, number, record);
	case IOT_KIND_mpi_comm:
		return see_comm(merge, number, record);
	case IOT_KIND_mpi_near:
		return see_near(merge, &record->mpi_near);
	}
	if (iot_kind_info(record->kind)->group != IOT_GROUP_mpi || iot_kind_is_mpi_known(record->kind))
		return 0;
	see_finalize(merge, input->node, record);
	if (record->kind == IOT_KIND_mpi_link && graph_link_add(merge->calls, record, GRAPH_NONE))
		return -ENOMEM;
	return merge_is_cluster(merge) ? see_call(merge, input->node, record) : 0;
}

/* Each node of a replay states the omissions of the program: they count once. */
static void add_omissions(struct merge *merge, u32 number, struct iot_omissions *omissions)
{
	struct iot_trace_info info;
	u32 i;

	iot_reader_info(merge->inputs[number].reader, &info);
	iot_omissions_finish(omissions, &info);
	for (i = 0; i < IOT_OMISSION_END; i++) {
		merge->result.omissions.is_stated[i] |= omissions->is_stated[i];
		if (number && merge->is_of_replay && omissions->is_stated[i])
			omissions->of[i] = (struct iot_omission){};
	}
	iot_omissions_sum(&merge->result.omissions, omissions);
}

static int see_input(struct merge *merge, u32 number)
{
	struct merge_input *input = &merge->inputs[number];
	struct iot_omissions omissions = {};
	struct iot_reject reject = {};
	struct iot_record record;
	int n = 0, err = merge_input_open(merge, number);

	while (!err && (n = iot_reader_next(input->reader, &record, &reject)) > 0) {
		iot_omissions_take(&omissions, &record);
		err = see_record(merge, number, &record);
		if (err == -ENOMEM)
			merge_fail(merge, input->path, err);
	}
	if (n < 0)
		err = merge_fail_reject(merge, input->path, n, &reject);
	if (!err)
		add_omissions(merge, number, &omissions);
	iot_reader_close(input->reader);
	input->reader = NULL;
	return err;
}

/* The roots of mounts are announced as any object is, before or after the mount. */
static int see_roots(struct merge *merge, u32 number)
{
	struct merge_input *input = &merge->inputs[number];
	struct iot_reject reject = {};
	struct iot_record record;
	u32 i, left = 0;
	int n = 0, err;

	for (i = 0; i < merge->mount_count; i++)
		left += merge->mounts[i].node == input->node && !merge->mounts[i].name;
	if (!left)
		return 0;
	err = merge_input_open(merge, number);
	while (!err && left && (n = iot_reader_next(input->reader, &record, &reject)) > 0)
		for (i = 0; i < merge->mount_count && record.kind == IOT_KIND_object; i++) {
			struct merge_mount *mount = &merge->mounts[i];

			if (mount->node != input->node || mount->name ||
			    mount->object != record.object.object)
				continue;
			mount->name = record.object.name;
			mount->ino = record.object.ino;
			left--;
		}
	iot_reader_close(input->reader);
	input->reader = NULL;
	return err;
}

/**
 * merge_survey() - read all traces
 */
int merge_survey(struct merge *merge)
{
	u32 i;
	int err = 0;

	merge_forget(merge);
	if (graph_open(&merge->calls))
		return merge_fail(merge, merge->options.output, -ENOMEM);
	for (i = 0; i < merge->input_count && !err; i++)
		err = see_input(merge, i);
	for (i = 0; i < merge->input_count && !err && merge_is_cluster(merge) && !merge->is_of_replay; i++)
		err = see_roots(merge, i);
	return err;
}
