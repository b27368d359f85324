// SPDX-License-Identifier: GPL-2.0-only
/*
 * prometheus.c - sums of the selected operations in the text format of Prometheus, version 0.0.4.
 *
 * Sources: "Exposition formats" and "Metric and label naming" of prometheus.io.
 */
#include <errno.h>
#include <string.h>

#include "format.h"

struct metrics {
	const struct breakdown *b;
	FILE *out;
};

static void put_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP iotape_%s %s\n# TYPE iotape_%s %s\n", name, help, name, type);
}

static void put_sums(const struct metrics *m, const char *name, const char *help, u64 (*value)(const struct profile_sum *sum))
{
	const struct breakdown_group *group;

	put_family(m->out, name, "counter", help);
	for (group = m->b->groups; group; group = group->hh.next)
		fprintf(m->out, "iotape_%s{operation=\"%s\"} %llu\n", name, group->name, value(&group->sum));
}

static u64 ops_of(const struct profile_sum *sum)
{
	return sum->ops;
}

static u64 read_of(const struct profile_sum *sum)
{
	return sum->read_bytes;
}

static u64 written_of(const struct profile_sum *sum)
{
	return sum->written_bytes;
}

static u64 touched_of(const struct profile_sum *sum)
{
	return sum->touched_bytes;
}

static void put_errors(const struct metrics *m)
{
	const struct breakdown_group *group;
	const char *name;
	u32 i;

	put_family(m->out, "operations_failed_total", "counter", "Operations that failed, by errno.");
	for (group = m->b->groups; group; group = group->hh.next)
		for (i = 0; i < group->error_count; i++) {
			name = iot_text_errno(-group->errors[i].errno_value);
			if (name)
				fprintf(m->out, "iotape_operations_failed_total{operation=\"%s\",errno=\"%s\"} %llu\n",
					group->name, name, group->errors[i].count);
			else
				fprintf(m->out, "iotape_operations_failed_total{operation=\"%s\",errno=\"%d\"} %llu\n",
					group->name, group->errors[i].errno_value, group->errors[i].count);
		}
}

static void put_latencies(const struct metrics *m)
{
	static const double percents[] = { 50, 90, 99 };
	const struct breakdown_group *group;
	const struct histogram *h;
	u32 i;

	put_family(m->out, "operation_duration_seconds", "summary", "Duration of operations that were timed.");
	for (group = m->b->groups; group; group = group->hh.next) {
		h = group->latency_ns;
		if (!h)
			continue;
		for (i = 0; i < ARRAY_SIZE(percents); i++)
			fprintf(m->out, "iotape_operation_duration_seconds{operation=\"%s\",quantile=\"%g\"} %.9f\n", group->name,
				percents[i] / 100, (double)histogram_percentile(h, percents[i]) / 1e9);
		fprintf(m->out, "iotape_operation_duration_seconds_sum{operation=\"%s\"} %.9f\n", group->name, (double)h->sum / 1e9);
		fprintf(m->out, "iotape_operation_duration_seconds_count{operation=\"%s\"} %llu\n", group->name, h->count);
	}
}

static int compare_names(const struct breakdown_group *a, const struct breakdown_group *b)
{
	return strcmp(a->name, b->name);
}

static int whole(struct export *x, struct iot_reject *reject)
{
	struct breakdown b = { .key = BREAKDOWN_operation, .selection = x->options->selection };
	const struct metrics m = { .b = &b, .out = x->out };
	int err = selection_open(&b.selection) ?: breakdown_read(x->options->trace, &b, reject);

	if (!err) {
		HASH_SORT(b.groups, compare_names);
		put_sums(&m, "operations_total", "Operations, and MPI calls.", ops_of);
		put_errors(&m);
		put_latencies(&m);
		put_sums(&m, "read_bytes_total", "Bytes read by calls.", read_of);
		put_sums(&m, "written_bytes_total", "Bytes written by calls.", written_of);
		put_sums(&m, "touched_bytes_total", "Bytes of mapped pages that became accessible.", touched_of);
		x->summary->exported = b.sum.ops + b.mpi.ops;
		x->summary->omissions = b.omissions;
	}
	selection_close(&b.selection);
	breakdown_free(&b);
	return err;
}

const struct export_format export_format_prometheus = {
	.name = "prometheus",
	.sentence = "sums of operations, for Prometheus",
	.whole = whole,
};
