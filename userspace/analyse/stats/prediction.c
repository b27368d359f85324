// SPDX-License-Identifier: GPL-2.0-only
/*
 * prediction.c - replays on a storage become a time, its scatter, and the parts of the difference.
 */
#include "prediction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "repeats.h"

/* -- the time ------------------------------------------------------------------------------------- */

static void take_seconds(struct prediction *p, const struct comparison *c)
{
	double seconds[PREDICTION_RUNS_MAX];
	u32 i;

	for (i = 0; i < p->runs; i++)
		seconds[i] = c->runs[i + 1].seconds;
	p->predicted_s = median_sort(seconds, p->runs);
	p->recorded_s = c->runs[0].seconds;
	p->min_s = seconds[0];
	p->max_s = seconds[p->runs - 1];
}

static void take_sums(struct prediction *p, const struct comparison *c)
{
	u32 i;

	p->operations = (struct prediction_part){
		.name = "operations",
		.recorded_ns = (double)c->runs[0].profile->sum.time_ns,
	};
	for (i = 1; i < c->run_count; i++) {
		const struct profile *profile = c->runs[i].profile;

		p->operations.predicted_ns += (double)profile->sum.time_ns / p->runs;
		p->order_ns += (double)profile->order_ns / p->runs;
		p->late_ns += (double)profile->late_ns / p->runs;
		if (profile->diverged > p->diverged)
			p->diverged = profile->diverged;
	}
}

/* -- its parts ------------------------------------------------------------------------------------ */

/* The largest difference first, be it a gain or a loss. */
static int compare_parts(const void *a, const void *b)
{
	const struct prediction_part *x = a, *y = b;
	double first = fabs(x->predicted_ns - x->recorded_ns), second = fabs(y->predicted_ns - y->recorded_ns);

	return first != second ? (first < second) - (first > second) : strcmp(x->name, y->name);
}

static void set_parts(struct prediction *p, enum prediction_group group, struct prediction_part *parts, u32 count)
{
	if (count)
		qsort(parts, count, sizeof(*parts), compare_parts);
	p->parts[group] = parts;
	p->part_counts[group] = count;
}

/* The requests of asynchronous operations last while their tasks continue: they are not part of the sum. */
static int divide_by_operation(struct prediction *p, const struct comparison *c)
{
	struct prediction_part *parts = calloc(IOT_KIND_END, sizeof(*parts));
	u32 run, count = 0;
	u16 kind;

	if (!parts)
		return -ENOMEM;
	for (kind = 0; kind < IOT_KIND_END; kind++) {
		if (!comparison_has_kind(c, kind) || iot_kind_info(kind)->group != IOT_GROUP_op)
			continue;
		parts[count].name = iot_kind_info(kind)->name;
		parts[count].recorded_ns = (double)c->runs[0].profile->kinds[kind].sum.time_ns;
		for (run = 1; run < c->run_count; run++)
			parts[count].predicted_ns += (double)c->runs[run].profile->kinds[kind].sum.time_ns / p->runs;
		count++;
	}
	set_parts(p, PREDICTION_operation, parts, count);
	return 0;
}

/* A file that is in any run. */
struct known {
	const char *path;
	u32 part;
	UT_hash_handle hh;
};

static struct known *known_find(struct known **files, const char *path, u32 *count)
{
	struct known *known;

	HASH_FIND_STR(*files, path, known);
	if (known)
		return known;
	known = calloc(1, sizeof(*known));
	if (!known)
		return NULL;
	known->path = path;
	known->part = (*count)++;
	HASH_ADD_KEYPTR(hh, *files, known->path, strlen(path), known);
	return known;
}

static u32 count_files(const struct comparison *c)
{
	u32 run, count = 0;

	for (run = 0; run < c->run_count; run++)
		count += c->runs[run].profile->file_count;
	return count;
}

static int divide_by_file(struct prediction *p, const struct comparison *c)
{
	struct prediction_part *parts = calloc(count_files(c) + 1ul, sizeof(*parts));
	struct known *files = NULL, *known, *next;
	u32 run, i, count = 0;
	int err = parts ? 0 : -ENOMEM;

	for (run = 0; run < c->run_count && !err; run++) {
		const struct profile *profile = c->runs[run].profile;

		for (i = 0; i < profile->file_count && !err; i++) {
			double time_ns = (double)profile->files[i].sum.time_ns;

			known = known_find(&files, profile->files[i].path, &count);
			if (!known) {
				err = -ENOMEM;
				break;
			}
			parts[known->part].name = known->path;
			if (run)
				parts[known->part].predicted_ns += time_ns / p->runs;
			else
				parts[known->part].recorded_ns += time_ns;
		}
	}
	HASH_ITER (hh, files, known, next) {
		HASH_DEL(files, known);
		free(known);
	}
	if (err)
		free(parts);
	else
		set_parts(p, PREDICTION_file, parts, count);
	return err;
}

static int compare_ids(const void *a, const void *b)
{
	const struct profile_task *x = a, *y = b;

	return (x->task > y->task) - (x->task < y->task);
}

/* Index of the process of the recording that a task of a replay belongs to; the count of them: of none. */
static u32 find_process(const struct profile *recording, u32 task)
{
	const struct profile_task key = { .task = task };
	const struct profile_task *found = bsearch(&key, recording->tasks, recording->task_count, sizeof(key), compare_ids);
	u32 i;

	for (i = 0; found && i < recording->process_count; i++)
		if (recording->processes[i].task == found->first)
			return i;
	return recording->process_count;
}

/* A replay knows tasks by the ids that they have in the recording, and no processes. */
static int divide_by_process(struct prediction *p, const struct comparison *c)
{
	const struct profile *recording = c->runs[0].profile;
	u32 count = recording->process_count, run, i;
	struct prediction_part *parts = calloc(count + 1ul, sizeof(*parts));

	p->process_names = calloc(count + 1ul, sizeof(*p->process_names));
	if (!parts || !p->process_names) {
		free(parts);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		snprintf(p->process_names[i], PREDICTION_NAME_BYTES, "%s (%u)", recording->processes[i].command,
			 recording->processes[i].pid);
		parts[i].name = p->process_names[i];
		parts[i].recorded_ns = (double)recording->processes[i].sum.time_ns;
	}
	parts[count].name = "other tasks";
	for (run = 1; run < c->run_count; run++)
		for (i = 0; i < c->runs[run].profile->process_count; i++) {
			const struct profile_process *replayed = &c->runs[run].profile->processes[i];

			parts[find_process(recording, replayed->task)].predicted_ns +=
				(double)replayed->sum.time_ns / p->runs;
		}
	set_parts(p, PREDICTION_process, parts, count + (parts[count].predicted_ns > 0));
	return 0;
}

/**
 * prediction_make() - predict from replays
 * @comparison: the recording first, then at least one replay of it at natural pace
 * @prediction: filled in; to be freed by prediction_free(), after an error, too
 *
 * The difference is divided for all tasks added up, so where tasks overlap the parts add up to more
 * than the run lasts.
 *
 * Return: 0 or -ENOMEM.
 */
int prediction_make(const struct comparison *comparison, struct prediction *prediction)
{
	int err;

	*prediction = (struct prediction){ .runs = comparison->run_count - 1 };
	take_seconds(prediction, comparison);
	take_sums(prediction, comparison);
	err = divide_by_operation(prediction, comparison);
	if (!err)
		err = divide_by_file(prediction, comparison);
	return err ? err : divide_by_process(prediction, comparison);
}

/**
 * prediction_free() - free the result of prediction_make()
 */
void prediction_free(struct prediction *prediction)
{
	int i;

	for (i = 0; i < PREDICTION_GROUP_COUNT; i++)
		free(prediction->parts[i]);
	free(prediction->process_names);
}

/**
 * prediction_is_within_noise() - does the scatter of the replays exceed their difference from the recording?
 *
 * Return: false if there was one replay, whose scatter is not known.
 */
bool prediction_is_within_noise(const struct prediction *prediction)
{
	return prediction->runs > 1 && prediction->max_s - prediction->min_s >
					       fabs(prediction->predicted_s - prediction->recorded_s);
}
