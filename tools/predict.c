// SPDX-License-Identifier: GPL-2.0-only
/*
 * predict.c - a prediction as text and as JSON.
 */
#include "predict.h"

#include <math.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "table.h"

/* The number of printed parts of each group, those with the largest difference. */
#define PARTS_SHOWN 8
/* Parts with a smaller share of the largest difference are not printed. */
#define SHARE_SHOWN 0.01
#define NAME_SHOWN  48
/* Sleep for an unknown reason that is a smaller share of the recorded time is not stated. */
#define ASLEEP_SHOWN 0.01

static const char *const headings[] = {
#define HEADING(name, heading) [PREDICTION_##name] = heading,
	PREDICTION_GROUPS(HEADING)
#undef HEADING
};

static double change_of(const struct prediction *p)
{
	return p->recorded_s > 0 ? p->predicted_s / p->recorded_s - 1 : NAN;
}

/* Return: an exit code. With diverged or missing operations, the prediction is not for the recorded run. */
static int code_of(const struct predict_result *r)
{
	return omissions_verdict(r->prediction->diverged, r->omissions);
}

/* -- text ----------------------------------------------------------------------------------------- */

static void put_time(struct table *table, double ns)
{
	if (isnan(ns))
		table_cell(table, "-");
	else
		table_time(table, (uint64_t)llround(ns));
}

static void put_difference(struct table *table, double recorded_ns, double predicted_ns)
{
	char text[32];
	double ns = predicted_ns - recorded_ns;

	if (isnan(ns))
		table_cell(table, "-");
	else
		table_cell(table, "%c%s", ns < 0 ? '-' : '+', quantity_time(text, (uint64_t)llround(fabs(ns))));
}

static void put_row(struct table *table, const char *name, double recorded_ns, double predicted_ns)
{
	table_cell(table, "%s", name);
	put_time(table, recorded_ns);
	put_time(table, predicted_ns);
	put_difference(table, recorded_ns, predicted_ns);
}

static void put_head(struct table *table, const char *heading)
{
	table_open(table, 4);
	table_cell(table, "%s", heading);
	table_cell(table, "recorded");
	table_cell(table, "predicted");
	table_cell(table, "difference");
}

static void end_table(struct table *table)
{
	table_print(table, stdout);
	table_close(table);
	putchar('\n');
}

/* Parts of a process's recorded time: waits that a replay repeats, and time that it lets pass. */
static void sum_times(const struct compile_summary *s, double *wait_ns, double *think_ns)
{
	u32 i;

	*wait_ns = 0;
	*think_ns = 0;
	for (i = 0; i < s->time_count; i++) {
		*wait_ns += (double)(s->times[i].mpi_ns + s->times[i].wait_ns);
		*think_ns += (double)(s->times[i].compute_ns + s->times[i].unexplained_ns);
	}
}

static void print_tasks(const struct predict_result *r)
{
	const struct prediction *p = r->prediction;
	double wait_ns, think_ns;
	struct table table;

	sum_times(r->summary, &wait_ns, &think_ns);
	put_head(&table, "all tasks, added up");
	put_row(&table, "in operations", p->operations.recorded_ns, p->operations.predicted_ns);
	put_row(&table, "waiting for other tasks", wait_ns, p->order_ns);
	put_row(&table, "think time", think_ns, think_ns);
	put_row(&table, "late after think time", NAN, p->late_ns);
	end_table(&table);
}

/* The end of a long path is more informative than its beginning. */
static const char *short_name(char text[4 * NAME_SHOWN + 1], const char *name)
{
	size_t bytes = strlen(name);
	const char *end = bytes > NAME_SHOWN ? name + bytes - NAME_SHOWN + 3 : name;
	int at = 0;

	while (end > name && (*end & 0xc0) == 0x80) /* inside of a character */
		end++;
	if (end > name)
		at = snprintf(text, 4 * NAME_SHOWN + 1, "...");
	iot_text_line(text + at, 4 * NAME_SHOWN + 1 - (size_t)at, end);
	return text;
}

static void print_group(const struct prediction *p, enum prediction_group group)
{
	char name[4 * NAME_SHOWN + 1];
	struct table table;
	double largest;
	u32 i;

	if (!p->part_counts[group])
		return;
	put_head(&table, headings[group]);
	largest = fabs(p->parts[group][0].predicted_ns - p->parts[group][0].recorded_ns);
	for (i = 0; i < p->part_counts[group] && i < PARTS_SHOWN; i++) {
		const struct prediction_part *part = &p->parts[group][i];

		if (fabs(part->predicted_ns - part->recorded_ns) < SHARE_SHOWN * largest)
			break;
		put_row(&table, short_name(name, part->name), part->recorded_ns, part->predicted_ns);
	}
	end_table(&table);
}

static void print_runs(const struct prediction *p)
{
	if (p->runs == 1)
		printf(" (1 replay: scatter unknown)");
	else
		printf(" (%u replays, from %.3f to %.3f s)", p->runs, p->min_s, p->max_s);
}

static void print_validation(const struct predict_result *r)
{
	if (!r->validated)
		return;
	printf("on %s, the recording's storage: replayed in %.3f s", r->validated_on, r->validated->predicted_s);
	print_runs(r->validated);
	printf(", recorded %.3f s: error %+.1f %%\n", r->validated->recorded_s, 100 * change_of(r->validated));
}

/* Waits for other tasks that are replayed as think time do not become shorter or longer with the storage. */
static void print_asleep(const struct predict_result *r)
{
	double asleep_s = (double)r->summary->asleep_ns / 1e9;

	if (asleep_s < ASLEEP_SHOWN * r->prediction->recorded_s)
		return;
	printf("do not rely on this prediction for another storage: tasks slept for %.3f s, for an unknown reason, during "
	       "operations of others, and the replay sleeps as long",
	       asleep_s);
	printf("%s\n", r->summary->has_wakes ? "" : "; iotape record --wakes records what they waited for");
}

/**
 * predict_text() - print a prediction
 *
 * Return: an exit code.
 */
int predict_text(const struct predict_result *r)
{
	const struct prediction *p = r->prediction;
	u32 i;
	int group;

	printf("%s on %s: predicted %.3f s", r->trace, r->on, p->predicted_s);
	print_runs(p);
	printf(", recorded %.3f s: %+.1f %%\n", p->recorded_s, 100 * change_of(p));
	print_validation(r);
	print_asleep(r);
	if (prediction_is_within_noise(p))
		printf("the scatter of the replays exceeds their difference from the recording\n");
	putchar('\n');
	print_tasks(r);
	for (group = 0; group < PREDICTION_GROUP_COUNT; group++)
		print_group(p, (enum prediction_group)group);
	printf("diverged operations: %llu\n", p->diverged);
	omissions_print(stdout, "", r->omissions);
	omissions_print_verdict("", p->diverged, r->omissions);
	for (i = 0; i < r->comparison->warning_count; i++)
		if (!r->comparison->warnings[i].is_omission)
			printf("# %s\n", r->comparison->warnings[i].text);
	return code_of(r);
}

/* -- JSON ----------------------------------------------------------------------------------------- */

static void prediction_json(struct json *json, const struct prediction *p, const char *on)
{
	json_put_string(json, "on", on);
	json_put_unsigned(json, "runs", p->runs);
	json_put_real(json, "recorded_seconds", p->recorded_s);
	json_put_real(json, "predicted_seconds", p->predicted_s);
	json_put_real(json, "min_seconds", p->min_s);
	json_put_real(json, "max_seconds", p->max_s);
	json_put_real(json, "change", change_of(p));
	json_put_bool(json, "is_within_noise", prediction_is_within_noise(p));
	json_put_unsigned(json, "diverged", p->diverged);
}

static void part_json(struct json *json, const struct prediction_part *part)
{
	json_begin(json, '{');
	json_put_string(json, "name", part->name);
	json_put_real(json, "recorded_ns", part->recorded_ns);
	json_put_real(json, "predicted_ns", part->predicted_ns);
	json_end(json, '}');
}

static void parts_json(struct json *json, const struct prediction *p)
{
	int group;
	u32 i;

	for (group = 0; group < PREDICTION_GROUP_COUNT; group++) {
		json_key(json, headings[group]);
		json_begin(json, '[');
		for (i = 0; i < p->part_counts[group]; i++)
			part_json(json, &p->parts[group][i]);
		json_end(json, ']');
	}
}

static void tasks_json(struct json *json, const struct predict_result *r)
{
	double wait_ns, think_ns;

	sum_times(r->summary, &wait_ns, &think_ns);
	json_key(json, "all_tasks");
	json_begin(json, '[');
	part_json(json, &r->prediction->operations);
	part_json(json, &(struct prediction_part){ "waiting", wait_ns, r->prediction->order_ns });
	part_json(json, &(struct prediction_part){ "think time", think_ns, think_ns });
	part_json(json, &(struct prediction_part){ "late", 0, r->prediction->late_ns });
	json_end(json, ']');
}

/**
 * predict_json() - the same as JSON
 *
 * Return: an exit code.
 */
int predict_json(const struct predict_result *r)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "trace", r->trace);
	prediction_json(&json, r->prediction, r->on);
	json_put_real(&json, "asleep_seconds", (double)r->summary->asleep_ns / 1e9);
	json_put_bool(&json, "has_wakes", r->summary->has_wakes);
	tasks_json(&json, r);
	parts_json(&json, r->prediction);
	json_key(&json, "validation");
	if (r->validated) {
		json_begin(&json, '{');
		prediction_json(&json, r->validated, r->validated_on);
		json_end(&json, '}');
	} else {
		json_null(&json);
	}
	omissions_json(&json, r->omissions);
	json_key(&json, "warnings");
	json_begin(&json, '[');
	for (i = 0; i < r->comparison->warning_count; i++)
		json_string(&json, r->comparison->warnings[i].text);
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
	return code_of(r);
}
