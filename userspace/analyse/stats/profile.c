// SPDX-License-Identifier: GPL-2.0-only
/*
 * profile.c - add up the operations of a trace.
 */
#include "profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/graph/early.h"
#include "profile_adder.h"

#define PAGE_BYTES 4096 /* of a trace that does not state it */

/* -- operations ------------------------------------------------------------------------------- */

static void count_bytes(struct profile_sum *sum, const struct iot_record *r)
{
	s64 result = r->op.result;

	switch (r->kind) {
	case IOT_KIND_read:
		sum->read_bytes += result > 0 ? (u64)result : 0;
		break;
	case IOT_KIND_write:
		sum->written_bytes += result > 0 ? (u64)result : 0;
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		sum->read_bytes += result > 0 ? (u64)result : 0;
		sum->written_bytes += result > 0 ? (u64)result : 0;
		break;
	case IOT_KIND_touch:
		sum->touched_bytes += result >= 0 ? r->touch.length_bytes : 0;
		break;
	}
}

/**
 * profile_count() - add an operation to a sum
 *
 * The time of a nested operation is part of that of the outer one.
 */
void profile_count(struct profile_sum *sum, const struct iot_record *r)
{
	sum->ops++;
	sum->errors += r->op.result < 0;
	sum->time_ns += r->op.parent ? 0 : r->op.duration_ns;
	count_bytes(sum, r);
}

/**
 * profile_count_counted() - add counted operations to a sum
 * @sum: as of their records: completions of asynchronous requests add bytes and errors only
 * @r: the operations
 */
void profile_count_counted(struct profile_sum *sum, const struct iot_rec_counted *r)
{
	bool is_end = r->kind == IOT_KIND_complete, is_copy = r->kind == IOT_KIND_copy_range || r->kind == IOT_KIND_remap_range;

	sum->errors += r->errors;
	if (!is_end)
		sum->ops += r->operations;
	if (!is_end)
		sum->time_ns += r->duration_ns - r->nested_ns;
	if (r->kind == IOT_KIND_read || ((is_copy || is_end) && !r->is_write))
		sum->read_bytes += r->total_bytes;
	if (r->kind == IOT_KIND_write || ((is_copy || is_end) && r->is_write))
		sum->written_bytes += r->total_bytes;
	if (r->kind == IOT_KIND_touch)
		sum->touched_bytes += r->total_bytes;
}

/**
 * profile_count_latencies() - add what a record `counted` or `bucket` says of latencies
 * @latency_ns: NULL before the first one; a record `counted` comes before its buckets
 * @r: the record
 *
 * Return: 0 or -ENOMEM.
 */
int profile_count_latencies(struct histogram **latency_ns, const struct iot_record *r)
{
	if (r->kind == IOT_KIND_bucket) {
		if (*latency_ns && r->bucket.measure == IOT_MEASURE_latency)
			histogram_add_bucket(*latency_ns, (u64)r->bucket.from, r->bucket.operations);
		return 0;
	}
	if (!r->counted.operations)
		return 0;
	if (!*latency_ns)
		*latency_ns = calloc(1, sizeof(**latency_ns));
	if (!*latency_ns)
		return -ENOMEM;
	(*latency_ns)->count += r->counted.operations;
	(*latency_ns)->sum += r->counted.duration_ns;
	if (r->counted.longest_ns > (*latency_ns)->max)
		(*latency_ns)->max = r->counted.longest_ns;
	return 0;
}

/* The operations of a system call of which a log timed another one have no duration. */
static int count_kind(struct profile *p, const struct iot_record *r)
{
	struct profile_kind *kind = &p->kinds[r->kind];

	profile_count(&kind->sum, r);
	if (p->is_imported && !r->op.duration_ns)
		return 0;
	if (!kind->latency_ns)
		kind->latency_ns = calloc(1, sizeof(*kind->latency_ns));
	if (!kind->latency_ns)
		return -ENOMEM;
	histogram_add(kind->latency_ns, r->op.duration_ns);
	return 0;
}

/* How much of it was cached when it was opened for the first time. */
static int count_cached(struct adder *a, const struct iot_rec_open *r)
{
	u64 cached_bytes = r->cached_pages * (a->page_bytes ?: PAGE_BYTES), id = r->object;
	struct opened *opened;

	if (r->result < 0 || !id || (r->flags & IOT_OPEN_directory))
		return 0;
	HASH_FIND(hh, a->opened, &id, sizeof(id), opened);
	if (opened)
		return 0;
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return -ENOMEM;
	opened->id = id;
	HASH_ADD(hh, a->opened, id, sizeof(opened->id), opened);
	a->profile->opened_bytes += r->size_bytes;
	a->profile->cached_bytes += cached_bytes < r->size_bytes ? cached_bytes : r->size_bytes;
	return 0;
}

static void widen(struct profile *p, u64 begin_ns, u64 end_ns)
{
	if (!p->end_ns || begin_ns < p->begin_ns)
		p->begin_ns = begin_ns;
	if (end_ns > p->end_ns)
		p->end_ns = end_ns;
}

/* -- asynchronous requests ------------------------------------------------------------------------- */

/**
 * profile_count_request() - add the bytes and the error of a completed request to a sum
 */
void profile_count_request(struct profile_sum *sum, const struct request_pair *pair)
{
	sum->errors += pair->result < 0;
	if (pair->result > 0 && pair->is_write)
		sum->written_bytes += (u64)pair->result;
	else if (pair->result > 0)
		sum->read_bytes += (u64)pair->result;
}

static struct request_groups *request_data(struct request_pair *pair)
{
	return (struct request_groups *)pair->context;
}

/* Both records are known. The time of a request is not time that its task spends in an operation. */
static int request_end(struct adder *a, struct request_pair *pair)
{
	struct profile *p = a->profile;
	struct profile_kind *kind = &p->kinds[IOT_KIND_complete];
	const struct request_groups *groups = request_data(pair);
	u64 latency_ns = request_pair_latency_ns(pair);

	if (!kind->latency_ns)
		kind->latency_ns = calloc(1, sizeof(*kind->latency_ns));
	if (!kind->latency_ns)
		return -ENOMEM;
	histogram_add(kind->latency_ns, latency_ns);
	kind->sum.ops++;
	kind->sum.time_ns += latency_ns;
	profile_count_request(&kind->sum, pair);
	profile_count_request(&p->sum, pair);
	profile_count_request(&p->files[groups->file].sum, pair);
	profile_count_request(&p->processes[groups->process].sum, pair);
	if (groups->node != NO_NODE)
		profile_count_request(&p->nodes[groups->node].sum, pair);
	if (pair->end_ns > p->end_ns)
		p->end_ns = pair->end_ns;
	request_pairs_drop(a->requests, pair);
	return 0;
}

static int take_submit(struct adder *a, const struct iot_rec_submit *r, u32 file, u32 process)
{
	struct request_pair *pair = request_pairs_submit(a->requests, r);

	if (!pair)
		return -ENOMEM;
	*request_data(pair) = (struct request_groups){ file, process, adder_node(a, r->task) };
	return request_pair_is_whole(pair) ? request_end(a, pair) : 0;
}

static int take_complete(struct adder *a, const struct iot_rec_complete *r)
{
	struct request_pair *pair = request_pairs_complete(a->requests, r);

	if (!pair)
		return -ENOMEM;
	return request_pair_is_whole(pair) ? request_end(a, pair) : 0;
}

static bool is_copy(const struct iot_record *r)
{
	return r->kind == IOT_KIND_copy_range || r->kind == IOT_KIND_remap_range;
}

/* The destination file of a copy; the fields of both kinds begin alike. */
static const char *path_of_copy(struct iot_names *names, const struct iot_rec_copy_range *r)
{
	struct iot_label label = iot_names_handle(names, r->to_handle);

	return label.generation ? label.path : iot_names_object(names, r->to_object).path;
}

/* The operation counts for the source file; its written bytes count for the other. */
static void count_file(struct profile *p, const struct iot_record *r, u32 file, u32 written)
{
	u64 bytes = is_copy(r) && r->op.result > 0 ? (u64)r->op.result : 0;

	profile_count(&p->files[file].sum, r);
	p->files[file].sum.written_bytes -= bytes;
	p->files[written].sum.written_bytes += bytes;
	p->files[file].opens += r->kind == IOT_KIND_open && r->op.result >= 0;
}

static int take_op(struct adder *a, struct iot_names *names, const struct iot_record *r)
{
	struct profile *p = a->profile;
	struct profile_node *node;
	u32 file, written, process;
	int err = adder_file(a, iot_names_of_record(names, r).path, &file);

	written = file;
	if (!err && is_copy(r))
		err = adder_file(a, path_of_copy(names, &r->copy_range), &written);
	if (!err)
		err = adder_process(a, r->op.task, &process);
	if (!err)
		err = adder_touch(a, &r->op, file);
	if (!err)
		err = count_kind(p, r);
	if (err)
		return err;
	widen(p, r->op.enter_ns, iot_record_end_ns(r));
	profile_count(&p->sum, r);
	count_file(p, r, file, written);
	profile_count(&p->processes[process].sum, r);
	node = adder_profile_node(a, r->op.task);
	if (node)
		profile_count(&node->sum, r);
	if (r->kind == IOT_KIND_open)
		return count_cached(a, &r->open);
	return r->kind == IOT_KIND_submit ? take_submit(a, &r->submit, file, process) : 0;
}

/* -- counted operations ------------------------------------------------------------------------------- */

/* As of the records that @r stands for: completions are no operations of their own, and a copy reads and writes. */
static int take_counted(struct adder *a, struct iot_names *names, const struct iot_rec_counted *r)
{
	const char *path = iot_names_object(names, r->object).path;
	struct profile *p = a->profile;
	u64 begin_ns = a->first_task_ns ? a->first_task_ns : a->first_mount_ns;
	struct profile_node *node;
	u32 file, process;
	int err = adder_file(a, path, &file);

	if (!err)
		err = adder_process(a, r->task, &process);
	if (err)
		return err;
	p->is_counted = true;
	widen(p, begin_ns ? begin_ns : r->time_ns, r->time_ns);
	profile_count_counted(&p->kinds[r->kind].sum, r);
	if (r->kind == IOT_KIND_complete) {
		p->kinds[r->kind].sum.ops += r->operations;
		p->kinds[r->kind].sum.time_ns += r->duration_ns;
	}
	profile_count_counted(&p->sum, r);
	profile_count_counted(&p->files[file].sum, r);
	profile_count_counted(&p->processes[process].sum, r);
	p->files[file].opens += r->kind == IOT_KIND_open ? r->operations - r->errors : 0;
	node = adder_profile_node(a, r->task);
	if (node)
		profile_count_counted(&node->sum, r);
	return 0;
}

static int take_counters(struct adder *a, struct iot_names *names, const struct iot_record *r)
{
	u32 kind = r->kind == IOT_KIND_counted ? r->counted.kind : r->bucket.kind;
	const struct iot_kind_info *info = kind < IOT_KIND_END ? iot_kind_info((u16)kind) : NULL;
	int err;

	if (!info || info->group != IOT_GROUP_op) /* contents of a trace are not trusted */
		return 0;
	err = profile_count_latencies(&a->profile->kinds[kind].latency_ns, r);
	return err || r->kind == IOT_KIND_bucket ? err : take_counted(a, names, &r->counted);
}

/* A replay performs no MPI calls, so if there are operations the run is from those to those. */
static int take_mpi(struct adder *a, const struct iot_record *r)
{
	struct profile *p = a->profile;
	u64 end_ns = iot_record_end_ns(r);
	u32 process;
	int err = adder_process(a, r->op.task, &process);

	if (err)
		return err;
	p->ranks += !p->processes[process].is_rank;
	p->processes[process].is_rank = true;
	if (!p->mpi.ops || r->op.enter_ns < a->mpi_begin_ns)
		a->mpi_begin_ns = r->op.enter_ns;
	if (end_ns > a->mpi_end_ns)
		a->mpi_end_ns = end_ns;
	profile_count(&p->mpi, r);
	return count_kind(p, r);
}

static void end_mpi(struct adder *a)
{
	struct profile *p = a->profile;

	if (p->sum.ops || !p->mpi.ops)
		return;
	p->begin_ns = a->mpi_begin_ns;
	p->end_ns = a->mpi_end_ns;
	p->is_mpi_only = !a->has_mount;
}

/* -- handles and mappings from before ---------------------------------------------------------- */

/*
 * The opens and mappings with which a replay starts, when its first task begins: so the run begins
 * then, too.
 */
static void begin_early(struct adder *a)
{
	if (a->first_task_ns)
		widen(a->profile, a->first_task_ns, a->first_task_ns);
}

/* Descriptor -1: an operation showed the handle. If it is also in a descriptor table, another record reports that. */
static int take_opened(struct adder *a, struct iot_names *names, const struct iot_rec_opened *r)
{
	struct flying *flying;

	a->profile->opened += r->fd >= 0;
	if (is_opened_early(iot_names_type(names, r->object)))
		begin_early(a);
	HASH_FIND(hh, a->flying, &r->handle, sizeof(r->handle), flying);
	if (flying && r->fd != -1) {
		HASH_DEL(a->flying, flying);
		free(flying);
	}
	if (flying || r->fd != -1 || !iot_names_is_first(names))
		return 0;
	flying = calloc(1, sizeof(*flying));
	if (!flying)
		return -ENOMEM;
	flying->handle = r->handle;
	HASH_ADD(hh, a->flying, handle, sizeof(flying->handle), flying);
	return 0;
}

static void take_state(struct profile *p, const struct iot_rec_state *r)
{
	p->unseen_files += r->unseen_files;
	p->unseen_maps += r->unseen_maps;
	p->unseen_tasks += r->unseen_tasks;
}

static void count_flying(struct adder *a)
{
	struct flying *flying, *next;

	a->profile->in_no_table = HASH_COUNT(a->flying);
	HASH_ITER (hh, a->flying, flying, next) {
		HASH_DEL(a->flying, flying);
		free(flying);
	}
}

static bool begins_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

/* -- the trace ------------------------------------------------------------------------------------ */

static int take_fact(struct adder *a, const struct iot_record *r)
{
	struct profile *p = a->profile;
	char *fact;
	int err = adder_grow(&p->facts, p->fact_count, &a->fact_room, sizeof(*p->facts));

	if (err)
		return err;
	fact = strndup((const char *)r->tail, r->tail_bytes);
	if (!fact)
		return -ENOMEM;
	p->facts[p->fact_count++] = fact;
	p->is_imported |= begins_with(fact, "source=");
	p->is_by_command |= iot_fact_is_by_command(fact);
	if (begins_with(fact, IOT_FACT_PAGE "="))
		a->page_bytes = strtoul(fact + strlen(IOT_FACT_PAGE "="), NULL, 10);
	return begins_with(fact, "node.") ? adder_take_node_fact(a, fact) : 0;
}

static int take_divergence(struct adder *a, const struct iot_rec_divergence *r)
{
	struct profile_node *node = adder_profile_node(a, r->task);

	switch (r->verdict) {
	case IOT_VERDICT_unable:
		a->profile->unable++;
		break;
	case IOT_VERDICT_emulated:
		a->profile->emulated++;
		break;
	case IOT_VERDICT_harmless:
		a->profile->harmless++;
		break;
	default:
		a->profile->diverged++;
		if (node)
			node->diverged++;
		return adder_diverged(a, r);
	}
	return 0;
}

static void take_played(struct adder *a, const struct iot_rec_played *played)
{
	struct profile *profile = a->profile;
	struct profile_node *node = adder_profile_node(a, played->task);

	if (node)
		node->late_ns += played->late_ns;
	if (node && played->late_max_ns > node->late_max_ns)
		node->late_max_ns = played->late_max_ns;
	profile->order_ns += played->order_ns;
	profile->late_ns += played->late_ns;
	profile->stalls += played->stalls;
	if (played->late_max_ns > profile->late_max_ns)
		profile->late_max_ns = played->late_max_ns;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct adder *a = context;
	const struct iot_kind_info *info = iot_kind_info(r->kind);

	iot_omissions_take(&a->profile->omissions, r);
	switch (r->kind) {
	case IOT_KIND_fact:
		return take_fact(a, r);
	case IOT_KIND_end:
		a->profile->backpressure_waits = r->end.backpressure_waits;
		return 0;
	case IOT_KIND_mount:
		a->has_mount = true;
		if (!a->first_mount_ns)
			a->first_mount_ns = r->mount.time_ns;
		return 0;
	case IOT_KIND_counted:
	case IOT_KIND_bucket:
		return take_counters(a, names, r);
	case IOT_KIND_task:
		return adder_take_task(a, r);
	case IOT_KIND_complete:
		return take_complete(a, &r->complete);
	case IOT_KIND_opened:
		return take_opened(a, names, &r->opened);
	case IOT_KIND_mapped:
		a->profile->mapped++;
		begin_early(a);
		return 0;
	case IOT_KIND_state:
		take_state(a->profile, &r->state);
		return 0;
	case IOT_KIND_divergence:
		return take_divergence(a, &r->divergence);
	case IOT_KIND_played:
		take_played(a, &r->played);
		return 0;
	}
	if (info->group == IOT_GROUP_op)
		return take_op(a, names, r);
	return info->group == IOT_GROUP_mpi && iot_kind_is_span(info) ? take_mpi(a, r) : 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct profile_file *x = a, *y = b;

	if (x->sum.time_ns != y->sum.time_ns)
		return x->sum.time_ns < y->sum.time_ns ? 1 : -1;
	return strcmp(x->path, y->path);
}

static int compare_processes(const void *a, const void *b)
{
	const struct profile_process *x = a, *y = b;

	if (x->sum.time_ns != y->sum.time_ns)
		return x->sum.time_ns < y->sum.time_ns ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct profile_task *x = a, *y = b;

	return (x->task > y->task) - (x->task < y->task);
}

/* Before processes are sorted: until then a task knows its process by an index. */
static int list_tasks(struct adder *a)
{
	struct profile *p = a->profile;
	struct task *task, *next;

	p->tasks = calloc(HASH_COUNT(a->tasks) + 1ul, sizeof(*p->tasks));
	if (!p->tasks)
		return -ENOMEM;
	HASH_ITER (hh, a->tasks, task, next)
		p->tasks[p->task_count++] = (struct profile_task){ task->id, p->processes[task->process].task };
	if (p->task_count)
		qsort(p->tasks, p->task_count, sizeof(*p->tasks), compare_tasks);
	return 0;
}

static void sort(struct profile *p)
{
	u32 i, count = 0;

	if (p->file_count)
		qsort(p->files, p->file_count, sizeof(*p->files), compare_files);
	for (i = 0; i < p->process_count; i++)
		if (p->processes[i].sum.ops)
			p->processes[count++] = p->processes[i];
	p->process_count = count;
	if (count)
		qsort(p->processes, count, sizeof(*p->processes), compare_processes);
}

static void adder_free(struct adder *a)
{
	struct file *file, *next_file;
	struct task *task, *next_task;
	struct opened *opened, *next_opened;

	free(a->ranges);
	free(a->touches);
	HASH_ITER (hh, a->files, file, next_file) {
		HASH_DEL(a->files, file);
		free(file);
	}
	HASH_ITER (hh, a->tasks, task, next_task) {
		HASH_DEL(a->tasks, task);
		free(task);
	}
	HASH_ITER (hh, a->opened, opened, next_opened) {
		HASH_DEL(a->opened, opened);
		free(opened);
	}
	request_pairs_close(a->requests);
}

/**
 * profile_read() - add up a trace
 * @path: of the trace
 * @profile: out: to be freed by profile_free()
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int profile_read(const char *path, struct profile **profile, struct iot_reject *reject)
{
	struct adder a = { .profile = calloc(1, sizeof(**profile)) };
	int err;

	if (!a.profile)
		return iot_refuse(reject, IOT_REJECT_memory, 0), -ENOMEM;
	err = request_pairs_open(&a.requests, sizeof(struct request_groups));
	if (err)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	else
		err = iot_trace_walk(path, take_record, &a, &a.profile->info, reject);
	count_flying(&a);
	end_mpi(&a);
	if (!err && list_tasks(&a)) {
		iot_refuse(reject, IOT_REJECT_memory, 0);
		err = -ENOMEM;
	}
	adder_free(&a);
	if (err) {
		profile_free(a.profile);
		return err;
	}
	iot_omissions_finish(&a.profile->omissions, &a.profile->info);
	sort(a.profile);
	*profile = a.profile;
	return 0;
}

/**
 * profile_free() - free the result of profile_read(); NULL is allowed
 */
void profile_free(struct profile *profile)
{
	u32 i;

	if (!profile)
		return;
	for (i = 0; i < IOT_KIND_END; i++)
		free(profile->kinds[i].latency_ns);
	for (i = 0; i < profile->file_count; i++)
		free(profile->files[i].path);
	for (i = 0; i < profile->fact_count; i++)
		free(profile->facts[i]);
	for (i = 0; i < profile->divergence_count; i++)
		free(profile->divergences[i].path);
	free(profile->files);
	for (i = 0; i < profile->node_count; i++) {
		free(profile->nodes[i].name);
		free(profile->nodes[i].host);
		free(profile->nodes[i].ranks);
	}
	free(profile->nodes);
	free(profile->processes);
	free(profile->tasks);
	free(profile->facts);
	free(profile);
}

/**
 * profile_fact() - a fact of the trace
 * @profile: of the trace
 * @key: of the fact
 *
 * Return: its value, NULL if the trace does not say.
 */
const char *profile_fact(const struct profile *profile, const char *key)
{
	size_t bytes = strlen(key);
	u32 i;

	for (i = 0; i < profile->fact_count; i++)
		if (!strncmp(profile->facts[i], key, bytes) && profile->facts[i][bytes] == '=')
			return profile->facts[i] + bytes + 1;
	return NULL;
}

/**
 * profile_seconds() - from the beginning of the run to the end of the last operation
 */
double profile_seconds(const struct profile *profile)
{
	return (double)(profile->end_ns - profile->begin_ns) / 1e9;
}

/**
 * profile_bandwidth() - bytes per second of the run
 * @profile: of the trace
 * @bytes: that were moved in it
 *
 * Think time is a part of the run.
 *
 * Return: the bandwidth; NAN if no operations were recorded, or they took no time.
 */
double profile_bandwidth(const struct profile *profile, u64 bytes)
{
	double seconds = profile_seconds(profile);

	return !profile->is_mpi_only && seconds > 0 ? (double)bytes / seconds : NAN;
}

/**
 * profile_cached_share() - the share of opened files that was in the page cache
 * @profile: of the trace
 *
 * Return: the part, from 0 to 1; NAN if nothing was opened, or if the cache was not examined.
 */
double profile_cached_share(const struct profile *profile)
{
	if (profile->is_imported || !profile->opened_bytes)
		return NAN;
	return (double)profile->cached_bytes / (double)profile->opened_bytes;
}
