// SPDX-License-Identifier: GPL-2.0-only
/*
 * breakdown.c - selected operations of a trace by operation, file, process and so on.
 */
#include "breakdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES (IOT_PROGRAM_PATH_MAX + 128)

/* Data of a request: @group is NULL if it is not selected. */
struct breakdown_request {
	struct breakdown_group *group;
};

static struct breakdown_request *request_data(struct request_pair *pair)
{
	return (struct breakdown_request *)pair->context;
}

/* -- groups ----------------------------------------------------------------------------------------- */

static void name_known(u32 value, bool is_known, char *name)
{
	if (is_known)
		snprintf(name, NAME_BYTES, "%u", value);
	else
		strcpy(name, "?");
}

static void name_path(enum breakdown_key key, const char *path, char *name)
{
	const char *slash = strrchr(path, '/');

	if (!path[0])
		strcpy(name, "?");
	else if (key == BREAKDOWN_file)
		snprintf(name, NAME_BYTES, "%s", path);
	else if (!slash)
		strcpy(name, ".");
	else
		snprintf(name, NAME_BYTES, "%.*s", (int)(slash - path), path);
}

/* @path: of the object of the record */
static void name_group(const struct breakdown *b, u16 kind, u32 task, const char *path, char *name)
{
	const struct actor *actor = actors_find(&b->actors, task);

	switch (b->key) {
	case BREAKDOWN_operation:
		snprintf(name, NAME_BYTES, "%s", iot_kind_info(kind)->name);
		break;
	case BREAKDOWN_file:
	case BREAKDOWN_directory:
		name_path(b->key, path, name);
		break;
	case BREAKDOWN_process:
		actors_name(&b->actors, task, actor ? actor->tgid : 0, name, NAME_BYTES);
		break;
	case BREAKDOWN_thread:
		actors_name(&b->actors, task, actor ? actor->pid : 0, name, NAME_BYTES);
		break;
	case BREAKDOWN_rank:
		name_known(actor ? actor->rank : 0, actor && actor->rank != ACTOR_UNKNOWN, name);
		break;
	case BREAKDOWN_node:
		snprintf(name, NAME_BYTES, "%s", actors_node_name(&b->actors, actor));
		break;
	case BREAKDOWN_site:	 /* see group_of() */
	case BREAKDOWN_interval: /* of counters only */
		strcpy(name, "?");
		break;
	case BREAKDOWN_user:
		name_known(actor ? actor->uid : 0, actor && actor->uid != ACTOR_UNKNOWN, name);
		break;
	}
}

static struct breakdown_group *group_get(struct breakdown *b, const char *name)
{
	struct breakdown_group *group;
	size_t bytes = strlen(name);

	HASH_FIND(hh, b->groups, name, bytes, group);
	if (group)
		return group;
	group = calloc(1, sizeof(*group));
	if (group)
		group->name = strdup(name);
	if (!group || !group->name) {
		free(group);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, b->groups, group->name, bytes, group);
	return group;
}

static struct breakdown_group *group_of(struct breakdown *b, const struct iot_record *r, const char *path)
{
	char name[NAME_BYTES];

	if (b->key != BREAKDOWN_site)
		name_group(b, r->kind, iot_record_task(r), path, name);
	else if (symbols_site(b->symbols, r, name))
		return NULL;
	return group_get(b, name);
}

/* Contents of a trace are not trusted: the result may be any negative number. */
static int errno_of(s64 result)
{
	return result < -INT_MAX ? INT_MAX : (int)-result;
}

static int errors_add(struct breakdown_group *group, int errno_value, u64 count)
{
	struct breakdown_error *larger;
	u32 i;

	for (i = 0; i < group->error_count; i++) {
		if (group->errors[i].errno_value == errno_value) {
			group->errors[i].count += count;
			return 0;
		}
	}
	larger = reallocarray(group->errors, group->error_count + 1ul, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	group->errors = larger;
	larger[group->error_count++] = (struct breakdown_error){ errno_value, count };
	return 0;
}

static int error_add(struct breakdown_group *group, int errno_value)
{
	return errors_add(group, errno_value, 1);
}

static int latency_add(struct breakdown_group *group, u64 ns)
{
	if (!group->latency_ns)
		group->latency_ns = calloc(1, sizeof(*group->latency_ns));
	if (!group->latency_ns)
		return -ENOMEM;
	histogram_add(group->latency_ns, ns);
	return 0;
}

/* -- asynchronous requests ------------------------------------------------------------------------------ */

/* Both records are known. The completion is a separate operation in the table of operations only. */
static int request_end(struct breakdown *b, struct request_pair *pair)
{
	u64 latency_ns = request_pair_latency_ns(pair);
	struct breakdown_group *group = request_data(pair)->group;
	bool is_selected = group;
	int err = 0;

	if (is_selected && b->key == BREAKDOWN_operation) {
		group = group_get(b, iot_kind_info(IOT_KIND_complete)->name);
		if (!group)
			return -ENOMEM;
		group->sum.ops++;
		group->sum.time_ns += latency_ns;
		err = latency_add(group, latency_ns);
	}
	if (is_selected) {
		profile_count_request(&group->sum, pair);
		profile_count_request(&b->sum, pair);
		profile_count_request(&b->data, pair);
		if (!err && pair->result < 0)
			err = error_add(group, errno_of(pair->result));
	}
	request_pairs_drop(b->requests, pair);
	return err;
}

/* @group: NULL if the request is not selected */
static int take_submit(struct breakdown *b, const struct iot_rec_submit *r, struct breakdown_group *group)
{
	struct request_pair *pair = request_pairs_submit(b->requests, r);

	if (!pair)
		return -ENOMEM;
	request_data(pair)->group = group;
	return request_pair_is_whole(pair) ? request_end(b, pair) : 0;
}

static int take_complete(struct breakdown *b, const struct iot_rec_complete *r)
{
	struct request_pair *pair = request_pairs_complete(b->requests, r);

	if (!pair)
		return -ENOMEM;
	return request_pair_is_whole(pair) ? request_end(b, pair) : 0;
}

/* -- operations ------------------------------------------------------------------------------------------- */

static bool is_data(const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_read:
	case IOT_KIND_write:
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
	case IOT_KIND_submit:
	case IOT_KIND_touch:
		return true;
	default:
		return false;
	}
}

/* A copy is an operation on the file that was read; the written bytes are in the other file. */
static int move_copied(struct breakdown *b, struct iot_names *names, const struct iot_record *r,
		       struct breakdown_group *group)
{
	const struct iot_rec_copy_range *copy = &r->copy_range; /* the other kind begins with the same fields */
	struct iot_label label = iot_names_handle(names, copy->to_handle);
	struct breakdown_group *target;
	u64 bytes = r->op.result > 0 ? (u64)r->op.result : 0;

	if (!bytes || (b->key != BREAKDOWN_file && b->key != BREAKDOWN_directory))
		return 0;
	target = group_of(b, r, label.generation ? label.path : iot_names_object(names, copy->to_object).path);
	if (!target)
		return -ENOMEM;
	group->sum.written_bytes -= bytes;
	target->sum.written_bytes += bytes;
	return 0;
}

static int take_op(struct breakdown *b, struct iot_names *names, const struct iot_record *r)
{
	bool is_mpi = iot_kind_info(r->kind)->group == IOT_GROUP_mpi;
	const struct actor *actor = actors_find(&b->actors, iot_record_task(r));
	struct breakdown_group *group = group_of(b, r, is_mpi ? "" : iot_names_of_record(names, r).path);
	int err = 0;

	if (!group)
		return -ENOMEM;
	profile_count(&group->sum, r);
	profile_count(is_mpi ? &b->mpi : &b->sum, r);
	if (is_data(r))
		profile_count(&b->data, r);
	if (iot_op_class_of(r->kind) == IOT_OP_CLASS_mapping)
		profile_count(&b->mapping, r);
	if (!b->actors.is_imported || r->op.duration_ns)
		err = latency_add(group, r->op.duration_ns);
	if (!err && r->op.result < 0)
		err = error_add(group, errno_of(r->op.result));
	if (!err && !is_mpi)
		err = patterns_add(&b->patterns, names, r, actor ? actor_process(actor) : iot_record_task(r));
	if (!err && (r->kind == IOT_KIND_copy_range || r->kind == IOT_KIND_remap_range))
		err = move_copied(b, names, r, group);
	if (!err && r->kind == IOT_KIND_submit)
		err = take_submit(b, &r->submit, group);
	return err;
}

/* -- counted operations ----------------------------------------------------------------------------------- */

/* Its end, in seconds from the beginning of the trace. */
static void name_interval(const struct breakdown *b, u64 time_ns, char *name)
{
	snprintf(name, NAME_BYTES, "%.3f", (double)(time_ns - b->actors.origin_ns) / 1e9);
}

/* The fields up to the measure are those of both kinds of records. The user is known; which threads it were is not. */
static struct breakdown_group *group_of_counted(struct breakdown *b, struct iot_names *names,
						const struct iot_rec_counted *r)
{
	char name[NAME_BYTES];

	if (b->key == BREAKDOWN_interval)
		name_interval(b, r->time_ns, name);
	else if (b->key == BREAKDOWN_user)
		name_known(r->uid, r->uid != ACTOR_UNKNOWN, name);
	else if (b->key == BREAKDOWN_thread || (b->key == BREAKDOWN_process && !r->task))
		strcpy(name, "?");
	else
		name_group(b, (u16)r->kind, r->task, iot_names_object(names, r->object).path, name);
	return group_get(b, name);
}

static int take_counted(struct breakdown *b, struct breakdown_group *group, const struct iot_rec_counted *r)
{
	const struct iot_record as = { .kind = (u16)r->kind };

	profile_count_counted(&group->sum, r);
	profile_count_counted(&b->sum, r);
	if (r->kind == IOT_KIND_complete && b->key == BREAKDOWN_operation) {
		group->sum.ops += r->operations;
		group->sum.time_ns += r->duration_ns;
	}
	if (is_data(&as) || r->kind == IOT_KIND_complete)
		profile_count_counted(&b->data, r);
	if (iot_op_class_of((u16)r->kind) == IOT_OP_CLASS_mapping)
		profile_count_counted(&b->mapping, r);
	return 0;
}

/* Latencies of completions are not those of operations, but in the table of operations. */
static int take_counters(struct breakdown *b, struct iot_names *names, const struct iot_record *r)
{
	bool is_bucket = r->kind == IOT_KIND_bucket;
	const struct iot_rec_counted key = {
		.time_ns = is_bucket ? r->bucket.time_ns : r->counted.time_ns,
		.kind = is_bucket ? r->bucket.kind : r->counted.kind,
		.task = is_bucket ? r->bucket.task : r->counted.task,
		.object = is_bucket ? r->bucket.object : r->counted.object,
		.uid = is_bucket ? r->bucket.uid : r->counted.uid,
	};
	const struct iot_kind_info *info = key.kind < IOT_KIND_END ? iot_kind_info((u16)key.kind) : NULL;
	struct breakdown_group *group;
	int err = 0;

	if (!info || info->group != IOT_GROUP_op)
		return 0;
	if (!selection_is_all(&b->selection))
		return -EOPNOTSUPP;
	group = group_of_counted(b, names, &key);
	if (!group)
		return -ENOMEM;
	b->is_counted = true;
	if (key.kind != IOT_KIND_complete || b->key == BREAKDOWN_operation)
		err = profile_count_latencies(&group->latency_ns, r);
	if (!err && is_bucket && r->bucket.measure == IOT_MEASURE_error)
		err = errors_add(group, errno_of(-r->bucket.from), r->bucket.operations);
	return err || is_bucket ? err : take_counted(b, group, &r->counted);
}

/* MPI calls are in the table of operations, and in others if requested. */
static bool is_grouped(const struct breakdown *b, const struct iot_record *r)
{
	const struct iot_kind_info *info = iot_kind_info(r->kind);

	if (info->group == IOT_GROUP_mpi)
		return iot_kind_is_span(info) && (b->key == BREAKDOWN_operation || b->selection.has_ops);
	return info->group == IOT_GROUP_op && r->kind != IOT_KIND_complete;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct breakdown *b = context;
	int err;

	iot_omissions_take(&b->omissions, r);
	err = selection_take(&b->selection, r);
	if (!err && b->symbols)
		err = symbols_take(b->symbols, r);
	if (err)
		return err;
	if (r->kind == IOT_KIND_complete)
		return take_complete(b, &r->complete);
	if (r->kind == IOT_KIND_counted || r->kind == IOT_KIND_bucket)
		return take_counters(b, names, r);
	if (!is_grouped(b, r))
		return 0;
	if (selection_match(&b->selection, &b->actors, names, r))
		return take_op(b, names, r);
	return r->kind == IOT_KIND_submit ? take_submit(b, &r->submit, NULL) : 0;
}

/**
 * breakdown_read() - group the selected operations of a trace
 * @path: of the trace
 * @breakdown: in: @key and @selection, which is open, all else zero; out: the groups; to be freed by breakdown_free(), also after
 *	an error
 * @reject: filled in if the trace is refused
 *
 * If the key is the call site and the trace has none, there are no groups: the operations are not read.
 *
 * Return: 0 or a negative errno.
 */
int breakdown_read(const char *path, struct breakdown *breakdown, struct iot_reject *reject)
{
	struct iot_trace_info info;
	int err = actors_read(path, &breakdown->actors, reject);

	if (!err && breakdown->key == BREAKDOWN_site)
		err = symbols_open(path, &breakdown->symbols, reject);
	if (!err && breakdown->symbols && !symbols_has_stacks(breakdown->symbols))
		return 0;
	if (!err)
		err = request_pairs_open(&breakdown->requests, sizeof(struct breakdown_request));
	if (!err)
		err = selection_walk(&breakdown->selection, &breakdown->actors, path, take_record, breakdown, &info, reject);
	request_pairs_close(breakdown->requests);
	breakdown->requests = NULL;
	patterns_finish(&breakdown->patterns);
	if (!err)
		iot_omissions_finish(&breakdown->omissions, &info);
	return err;
}

/**
 * breakdown_free() - free the result of breakdown_read()
 */
void breakdown_free(struct breakdown *breakdown)
{
	struct breakdown_group *group, *next;

	HASH_ITER (hh, breakdown->groups, group, next) {
		HASH_DEL(breakdown->groups, group);
		free(group->name);
		free(group->latency_ns);
		free(group->errors);
		free(group);
	}
	actors_free(&breakdown->actors);
	symbols_close(breakdown->symbols);
}
