// SPDX-License-Identifier: GPL-2.0-only
/*
 * ranks.c - hints on the division of I/O between the ranks of MPI, and on calls on files of MPI.
 *
 * In collective calls the MPI library moves data of several ranks through some of them. Such operations are that
 * library's choice, and do not count for the balance of ranks. They end before their call, so that calls are read first.
 */
#include "evidence.h"

#include <stdlib.h>
#include <string.h>

/**
 * ranks_open() - begin with the processes that are ranks
 * @e: with the actors
 *
 * Return: 0 or -ENOMEM.
 */
int ranks_open(struct evidence *e)
{
	const struct actor *actor;
	struct rank *rank;
	u64 process;

	for (actor = e->actors.tasks; actor; actor = actor->hh.next) {
		process = actor_process(actor);
		HASH_FIND(hh, e->ranks, &process, sizeof(process), rank);
		if (actor->rank == ACTOR_UNKNOWN || rank)
			continue;
		rank = calloc(1, sizeof(*rank));
		if (!rank)
			return -ENOMEM;
		*rank = (struct rank){ .process = process, .rank = actor->rank };
		HASH_ADD(hh, e->ranks, process, sizeof(rank->process), rank);
	}
	return 0;
}

/* -- collective calls ----------------------------------------------------------------------------------- */

static struct collectives *collectives_of(struct evidence *e, u32 task)
{
	struct collectives *collectives;

	HASH_FIND(hh, e->collectives, &task, sizeof(task), collectives);
	if (collectives)
		return collectives;
	collectives = calloc(1, sizeof(*collectives));
	if (!collectives)
		return NULL;
	collectives->task = task;
	HASH_ADD(hh, e->collectives, task, sizeof(collectives->task), collectives);
	return collectives;
}

/**
 * ranks_take_span() - note the operations inside of a collective call on a file, before all else
 * @e: the evidence
 * @record: any
 *
 * Return: 0 or -ENOMEM.
 */
int ranks_take_span(struct evidence *e, const struct iot_record *record)
{
	const struct iot_rec_mpi_file *r = &record->mpi_file;
	struct collectives *collectives;
	struct collective *larger;

	if (record->kind != IOT_KIND_mpi_file || !r->number || r->last_op <= r->op)
		return 0;
	collectives = collectives_of(e, r->task);
	if (!collectives)
		return -ENOMEM;
	larger = reallocarray(collectives->spans, collectives->count + 1ul, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	collectives->spans = larger;
	larger[collectives->count++] = (struct collective){ r->op, r->last_op };
	return 0;
}

/* Calls of a task end in the order of their numbers. */
static bool is_in_collective(const struct evidence *e, u32 task, u32 op)
{
	const struct collectives *collectives;
	u32 low = 0, high, middle;

	HASH_FIND(hh, e->collectives, &task, sizeof(task), collectives);
	if (!collectives)
		return false;
	for (high = collectives->count; low < high;) {
		middle = low + (high - low) / 2;
		if (collectives->spans[middle].last < op)
			low = middle + 1;
		else
			high = middle;
	}
	return low < collectives->count && collectives->spans[low].first < op;
}

/* -- calls on files of MPI -------------------------------------------------------------------------------- */

static bool moves_data(u32 call)
{
	switch (call) {
	case IOT_CALL_file_read_all_end:
	case IOT_CALL_file_write_all_end:
	case IOT_CALL_file_read_at_all_end:
	case IOT_CALL_file_write_at_all_end:
	case IOT_CALL_file_read_ordered_end:
	case IOT_CALL_file_write_ordered_end:
		return false;
	default:
		return call >= IOT_CALL_file_read && call <= IOT_CALL_file_write_ordered_begin;
	}
}

static struct mpi_file *mpi_file_of(struct evidence *e, u64 key, u64 process)
{
	struct mpi_file *file;

	HASH_FIND(hh, e->mpi_files, &key, sizeof(key), file);
	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->key = key;
	file->first_process = process;
	HASH_ADD(hh, e->mpi_files, key, sizeof(file->key), file);
	return file;
}

/**
 * ranks_take_call() - count a call on a file of MPI
 * @e: the evidence
 * @record: any
 *
 * Return: 0 or -ENOMEM.
 */
int ranks_take_call(struct evidence *e, const struct iot_record *record)
{
	const struct iot_rec_mpi_file *r = &record->mpi_file;
	struct mpi_file *file;

	if (record->kind != IOT_KIND_mpi_file || r->result < 0)
		return 0;
	file = mpi_file_of(e, r->file, evidence_process(e, r->task));
	if (!file)
		return -ENOMEM;
	file->is_shared |= file->first_process != evidence_process(e, r->task);
	file->calls += moves_data(r->call);
	file->independent += moves_data(r->call) && !r->number;
	if (r->call != IOT_CALL_file_open || file->subject)
		return 0;
	return evidence_subject(e, (const char *)record->tail, record->tail_bytes, &file->subject);
}

static void finish_calls(struct evidence *e)
{
	struct tally *tally = &e->tallies[ADVISE_independent_io];
	const struct mpi_file *file;

	for (file = e->mpi_files; file; file = file->hh.next) {
		if (!file->is_shared)
			continue;
		tally->count += file->independent;
		tally->whole += file->calls;
		if (file->subject)
			file->subject->hits[ADVISE_independent_io] += file->independent;
	}
}

/* -- balance ---------------------------------------------------------------------------------------------- */

/**
 * ranks_take() - count an operation on a file, or the end of an asynchronous one, for the rank of its task
 */
void ranks_take(struct evidence *e, const struct iot_record *record)
{
	u32 task = iot_record_task(record);
	u64 process = evidence_process(e, task);
	bool is_end = record->kind == IOT_KIND_complete;
	struct rank *rank;

	HASH_FIND(hh, e->ranks, &process, sizeof(process), rank);
	if (!rank || is_in_collective(e, task, is_end ? record->complete.op : record->op.op))
		return;
	rank->bytes += iot_record_moved_bytes(record);
	if (!is_end && !record->op.parent)
		rank->time_ns += record->op.duration_ns;
}

static void finish_bytes(struct evidence *e)
{
	u64 sum = 0, max = 0, count = HASH_COUNT(e->ranks);
	const struct rank *rank;

	for (rank = e->ranks; rank; rank = rank->hh.next) {
		sum += rank->bytes;
		max = rank->bytes > max ? rank->bytes : max;
	}
	e->tallies[ADVISE_one_rank] = (struct tally){ max, sum };
	if (sum && max * 100.0 < sum * (double)advise_rules[ADVISE_one_rank].percent) /* otherwise that hint is sufficient */
		e->tallies[ADVISE_unbalanced_bytes] = (struct tally){ max - sum / count, max };
}

static void finish_times(struct evidence *e)
{
	u64 max = 0, count = HASH_COUNT(e->ranks);
	const struct rank *rank;

	for (rank = e->ranks; rank; rank = rank->hh.next) {
		e->rank_time_ns += rank->time_ns;
		max = rank->time_ns > max ? rank->time_ns : max;
	}
	if (e->rank_time_ns)
		e->tallies[ADVISE_unbalanced_time] = (struct tally){ max - e->rank_time_ns / count, max };
}

/**
 * ranks_finish() - compare the ranks, after all operations
 */
void ranks_finish(struct evidence *e)
{
	finish_calls(e);
	if (!e->ranks)
		return;
	finish_bytes(e);
	finish_times(e);
}
