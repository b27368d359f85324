// SPDX-License-Identifier: GPL-2.0-only
/*
 * mix_times.c - how long each program of a mix took, from the outcomes of a replay.
 */
#include <stdlib.h>

#include "mix.h"

/* A task of the outcomes, and the program that it belongs to. */
struct owner {
	u32 origin;
	u32 part;
};

struct times_reader {
	struct owner *owners; /* by origin */
	u32 owner_count;
	struct mix_times *times;
	u32 count;
	u64 begin_ns;
	bool is_any;
	char replay_of[64]; /* the fact of a replay of this mix */
	bool is_replay;
};

static const char *fact_of(const struct iot_program *mix, u32 number, const char *key)
{
	char full[64];

	snprintf(full, sizeof(full), "mix.%u.%s", number, key);
	return iot_program_fact_value(mix, full);
}

static u64 number_of(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return (x->origin > y->origin) - (x->origin < y->origin);
}

/* Tasks from @from to @end, without the last, belong to a program. */
static void own_tasks(struct times_reader *reader, const struct iot_program *mix, u32 from, u32 end, u32 part)
{
	for (; from < end; from++)
		reader->owners[from] = (struct owner){ le32_to_cpu(mix->tasks[from].origin), part };
}

static int read_part(struct times_reader *reader, const struct iot_program *mix, u32 part, u32 *first)
{
	u64 next = number_of(fact_of(mix, part + 1, MIX_FACT_FIRST_TASK));

	reader->times[part].program = fact_of(mix, part + 1, MIX_FACT_PROGRAM);
	if (!reader->times[part].program || next < *first || next > mix->task_count)
		return -EINVAL;
	if (part)
		own_tasks(reader, mix, *first, (u32)next, part - 1);
	*first = (u32)next;
	return 0;
}

/* Return: 0; -EINVAL if the facts are not those of a mix; -ENOMEM. */
static int read_parts(struct times_reader *reader, const struct iot_program *mix)
{
	u64 count = number_of(iot_program_fact_value(mix, MIX_FACT_PROGRAMS));
	u32 first = 0, i;
	int err = 0;

	if (!count || count > MIX_PROGRAMS_MAX)
		return -EINVAL;
	reader->count = (u32)count;
	reader->owner_count = mix->task_count;
	reader->times = calloc(count, sizeof(*reader->times));
	reader->owners = calloc(mix->task_count + 1ul, sizeof(*reader->owners));
	if (!reader->times || !reader->owners)
		return -ENOMEM;
	for (i = 0; i < count && !err; i++)
		err = read_part(reader, mix, i, &first);
	if (!err)
		own_tasks(reader, mix, first, mix->task_count, reader->count - 1);
	qsort(reader->owners, reader->owner_count, sizeof(*reader->owners), compare_owners);
	return err;
}

static struct mix_times *times_of(const struct times_reader *reader, u32 task)
{
	const struct owner key = { .origin = task };
	const struct owner *owner = bsearch(&key, reader->owners, reader->owner_count, sizeof(key), compare_owners);

	return owner ? &reader->times[owner->part] : NULL;
}

static void take_op(struct times_reader *reader, struct mix_times *times, const struct iot_rec_op *op)
{
	u64 end_ns = op->enter_ns + op->duration_ns;

	if (!times->operations || op->enter_ns < times->begin_ns)
		times->begin_ns = op->enter_ns;
	if (end_ns > times->end_ns)
		times->end_ns = end_ns;
	if (!reader->is_any || op->enter_ns < reader->begin_ns)
		reader->begin_ns = op->enter_ns;
	reader->is_any = true;
	times->operations++;
}

/* As the replay counts: an emulated or harmless operation had the effect that it was to have. */
static bool is_diverged(u32 verdict)
{
	return verdict != IOT_VERDICT_emulated && verdict != IOT_VERDICT_harmless;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct times_reader *reader = context;
	struct mix_times *times;

	(void)names;
	if (record->kind == IOT_KIND_fact) {
		if (record->tail_bytes == strlen(reader->replay_of) && !memcmp(record->tail, reader->replay_of, record->tail_bytes))
			reader->is_replay = true;
	} else if (record->kind == IOT_KIND_divergence) {
		times = times_of(reader, record->divergence.task);
		if (times && is_diverged(record->divergence.verdict))
			times->diverged++;
	} else if (record->kind == IOT_KIND_complete) { /* the end of a request, which its submission counts for */
		times = times_of(reader, record->complete.task);
		if (times && record->complete.time_ns > times->end_ns)
			times->end_ns = record->complete.time_ns;
	} else if (iot_kind_info(record->kind)->group == IOT_GROUP_op) {
		times = times_of(reader, record->op.task);
		if (times)
			take_op(reader, times, &record->op);
	}
	return 0;
}

static void expect_fact(struct times_reader *reader, const struct iot_program *mix)
{
	size_t at = (size_t)snprintf(reader->replay_of, sizeof(reader->replay_of), "%s=", IOT_FACT_REPLAY_OF), i;

	for (i = 0; i < sizeof(mix->head->capture); i++)
		at += (size_t)snprintf(reader->replay_of + at, sizeof(reader->replay_of) - at, "%02x", mix->head->capture[i]);
}

static int read_outcomes(struct times_reader *reader, const char *outcomes, char *why, size_t room)
{
	struct iot_reject reject = {};
	struct iot_trace_info info;
	int err = iot_trace_walk(outcomes, take_record, reader, &info, &reject);

	if (err)
		snprintf(why, room, "%s: %s", outcomes,
			 reject.reason && reject.reason != IOT_REJECT_io ? iot_reject_sentence(&reject) : strerror(-err));
	else if (!reader->is_replay)
		snprintf(why, room, "%s: is not the outcomes of a replay of this mix", outcomes);
	return err ? err : reader->is_replay ? 0 : -EINVAL;
}

/**
 * mix_read_times() - when the programs of a mix ran in a replay
 * @mix: the mix, verified
 * @name: of its file
 * @outcomes: file with the outcomes of its replay
 * @times: out: by number of the program, from 0; to be freed by the caller
 * @count: out
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0; -EINVAL if the program is no mix, or the outcomes are of another program; or another negative errno.
 */
int mix_read_times(const struct iot_program *mix, const char *name, const char *outcomes, struct mix_times **times, u32 *count,
		   char *why, size_t room)
{
	struct times_reader reader = {};
	u32 i;
	int err = read_parts(&reader, mix);

	if (err)
		snprintf(why, room, "%s: %s", name, err == -EINVAL ? "is not a mix" : strerror(-err));
	else
		expect_fact(&reader, mix);
	if (!err)
		err = read_outcomes(&reader, outcomes, why, room);
	free(reader.owners);
	if (err) {
		free(reader.times);
		return err;
	}
	for (i = 0; i < reader.count; i++)
		if (reader.times[i].operations) {
			reader.times[i].begin_ns -= reader.begin_ns;
			reader.times[i].end_ns -= reader.begin_ns;
		}
	*times = reader.times;
	*count = reader.count;
	return 0;
}
