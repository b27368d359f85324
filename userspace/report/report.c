// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - reads a trace twice: a survey, then the bins of all charts.
 */
#include "report.h"

#include <stdlib.h>

#include "analyse/graph/request_pairs.h"
#include "state.h"

/* Of an asynchronous request: the row of its task. */
struct request_lane {
	struct report_lane *lane;
};

static const char *const class_names[] = {
#define CLASS_NAME(class, words) words,
	REPORT_CLASSES(CLASS_NAME)
#undef CLASS_NAME
};

/**
 * report_class_name() - the name of a class, for the user
 */
const char *report_class_name(enum report_class class)
{
	return class_names[class];
}

/**
 * report_class_of() - the class of an operation
 * @r: an operation on a file or a call of MPI
 */
enum report_class report_class_of(const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_read:
		return REPORT_read;
	case IOT_KIND_write:
		return REPORT_write;
	case IOT_KIND_submit:
		return r->submit.flags & IOT_RW_write ? REPORT_write : REPORT_read;
	}
	switch (iot_op_class_of(r->kind)) {
	case IOT_OP_CLASS_metadata:
		return REPORT_metadata;
	case IOT_OP_CLASS_data:
		return REPORT_copy;
	case IOT_OP_CLASS_mapping:
		return REPORT_mapping;
	case IOT_OP_CLASS_sync:
		return REPORT_sync;
	case IOT_OP_CLASS_lock:
		return REPORT_lock;
	default:
		return REPORT_mpi;
	}
}

static bool is_counted(const struct iot_record *r)
{
	const struct iot_kind_info *info = iot_kind_info(r->kind);

	if (!info || r->kind == IOT_KIND_complete)
		return false;
	return info->group == IOT_GROUP_op || (info->group == IOT_GROUP_mpi && iot_kind_is_span(info));
}

/* -- survey -------------------------------------------------------------------------------------------- */

static void widen(struct report_state *s, u64 begin_ns, u64 end_ns)
{
	if (!s->has_time || begin_ns < s->begin_ns)
		s->begin_ns = begin_ns;
	if (!s->has_time || end_ns > s->end_ns)
		s->end_ns = end_ns;
	s->has_time = true;
}

static int survey(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct report_state *s = context;
	struct report_access accesses[2];
	u32 i, count;
	int err;

	if (r->kind == IOT_KIND_complete)
		widen(s, r->complete.time_ns, r->complete.time_ns);
	if (!is_counted(r))
		return 0;
	s->report->operations++;
	s->report->nested += r->op.parent != 0;
	widen(s, r->op.enter_ns, report_end_ns(r->op.enter_ns, r->op.duration_ns));
	err = lanes_survey(s, r);
	count = offsets_accesses(names, r, accesses);
	for (i = 0; i < count && !err; i++)
		err = offsets_survey(s, &accesses[i]);
	return err;
}

/* -- bins ---------------------------------------------------------------------------------------------- */

static void spread_bytes(struct report *report, struct report_lane *lane, u64 *bins, u64 begin_ns, u64 end_ns, u64 bytes)
{
	if (!bytes)
		return;
	report_axis_spread(&report->axis, begin_ns, end_ns, bytes, bins);
	report_axis_spread(&report->axis, begin_ns, end_ns, bytes, lane->bytes);
}

/* Bytes are counted as in profile_count(). */
static void take_bytes(struct report *report, struct report_lane *lane, const struct iot_record *r, u64 end_ns)
{
	u64 begin_ns = r->op.enter_ns, bytes = r->op.result > 0 ? (u64)r->op.result : 0;

	switch (r->kind) {
	case IOT_KIND_read:
		spread_bytes(report, lane, report->read_bytes, begin_ns, end_ns, bytes);
		break;
	case IOT_KIND_write:
		spread_bytes(report, lane, report->written_bytes, begin_ns, end_ns, bytes);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		spread_bytes(report, lane, report->read_bytes, begin_ns, end_ns, bytes);
		spread_bytes(report, lane, report->written_bytes, begin_ns, end_ns, bytes);
		break;
	case IOT_KIND_touch:
		if (r->op.result >= 0)
			spread_bytes(report, lane, report->touched_bytes, begin_ns, end_ns, r->touch.length_bytes);
		break;
	}
}

static struct request_lane *request_data(struct request_pair *pair)
{
	return (struct request_lane *)pair->context;
}

/* The bytes of a request move between its submission and its end. */
static int request_end(struct report_state *s, struct request_pair *pair)
{
	struct report *report = s->report;
	struct report_lane *lane = request_data(pair)->lane;

	if (pair->result > 0)
		spread_bytes(report, lane, pair->is_write ? report->written_bytes : report->read_bytes, pair->enter_ns,
			     pair->enter_ns + request_pair_latency_ns(pair), (u64)pair->result);
	request_pairs_drop(s->requests, pair);
	return 0;
}

static int take_submit(struct report_state *s, const struct iot_rec_submit *r, struct report_lane *lane)
{
	struct request_pair *pair = request_pairs_submit(s->requests, r);

	if (!pair)
		return -ENOMEM;
	request_data(pair)->lane = lane;
	return request_pair_is_whole(pair) ? request_end(s, pair) : 0;
}

static int take_complete(struct report_state *s, const struct iot_rec_complete *r)
{
	struct request_pair *pair = request_pairs_complete(s->requests, r);

	if (!pair)
		return -ENOMEM;
	return request_pair_is_whole(pair) ? request_end(s, pair) : 0;
}

static int take_span(struct report_state *s, struct iot_names *names, const struct iot_record *r)
{
	struct report *report = s->report;
	enum report_class class = report_class_of(r);
	u64 begin_ns = r->op.enter_ns, end_ns = report_end_ns(begin_ns, r->op.duration_ns);
	struct report_op op = { .begin_ns = begin_ns, .duration_ns = end_ns - begin_ns, .result = r->op.result,
				.task = r->op.task, .kind = r->kind };
	struct report_lane *lane = lanes_of(s, r->op.task, &op.lane);

	if (!lane) /* the file has grown since the survey */
		return 0;
	report->started[class][report_axis_bin(&report->axis, begin_ns)]++;
	take_bytes(report, lane, r, end_ns);
	if (r->kind == IOT_KIND_submit && take_submit(s, &r->submit, lane))
		return -ENOMEM;
	if (r->op.parent)
		return 0;
	report_axis_spread(&report->axis, begin_ns, end_ns, end_ns - begin_ns, lane->time_ns[class]);
	return longest_take(report, s->limits->ops, &op, class == REPORT_mpi ? "" : iot_names_of_record(names, r).path);
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct report_state *s = context;
	struct report_access accesses[2];
	u32 i, count;

	if (r->kind == IOT_KIND_complete)
		return take_complete(s, &r->complete);
	if (!is_counted(r))
		return 0;
	count = offsets_accesses(names, r, accesses);
	for (i = 0; i < count; i++)
		offsets_take(s, &accesses[i], r->op.enter_ns);
	return take_span(s, names, r);
}

/* -- reading ------------------------------------------------------------------------------------------- */

static int choose(struct report_state *s)
{
	int err = lanes_choose(s);

	report_axis_set(&s->report->axis, s->begin_ns, s->end_ns, REPORT_BINS);
	report_axis_set(&s->report->map_axis, s->begin_ns, s->end_ns, REPORT_MAP_BINS);
	return err ? err : offsets_choose(s);
}

/**
 * report_read() - the charts of a trace
 * @path: of the trace
 * @limits: of the stored data
 * @report: filled in; to be freed by report_free(), also after an error
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int report_read(const char *path, const struct report_limits *limits, struct report *report, struct iot_reject *reject)
{
	struct report_state s = { .report = report, .limits = limits };
	int err;

	*report = (struct report){};
	err = actors_read(path, &s.actors, reject);
	if (!err)
		err = iot_trace_walk(path, survey, &s, NULL, reject);
	if (!err && (choose(&s) || request_pairs_open(&s.requests, sizeof(struct request_lane)))) {
		iot_refuse(reject, IOT_REJECT_memory, 0);
		err = -ENOMEM;
	}
	if (!err)
		err = iot_trace_walk(path, take_record, &s, NULL, reject);
	request_pairs_close(s.requests);
	lanes_free(&s);
	offsets_free(&s);
	actors_free(&s.actors);
	return err;
}

/**
 * report_free() - free the result of report_read()
 */
void report_free(struct report *report)
{
	u32 i;

	for (i = 0; i < report->op_count; i++)
		free(report->ops[i].path);
	for (i = 0; i < report->map_count; i++)
		free(report->maps[i].path);
	free(report->ops);
	free(report->maps);
	free(report->lanes);
}
