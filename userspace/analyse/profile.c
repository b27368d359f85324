// SPDX-License-Identifier: GPL-2.0-only
/*
 * profile.c - add up the operations of a trace.
 */
#include "profile.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define PAGE_BYTES 4096
#define NO_NODE	   (~0u)

struct file {
	UT_hash_handle hh;
	u32 index;
	char path[];
};

struct task {
	UT_hash_handle hh;
	u32 id;
	u32 process; /* index */
	u32 node;    /* index, NO_NODE if that is not known */
	bool has_acted;
};

/* Tasks of a node. */
struct range {
	u32 first;
	u32 last;
	u32 node;
};

/* An object that was opened. */
struct opened {
	UT_hash_handle hh;
	u64 id;
};

/* A handle from before that only operations have shown so far. */
struct flying {
	UT_hash_handle hh;
	u64 handle;
};

/* An asynchronous request of which one end is known: either may be written first. */
struct request {
	UT_hash_handle hh;
	u64 id;
	bool is_submitted;
	bool is_write;
	u32 file;
	u32 process;
	u32 node;
	u64 enter_ns;
	u64 end_ns;
	s64 result;
};

struct adder {
	struct profile *profile;
	struct file *files;
	struct task *tasks;
	struct opened *opened;
	struct request *requests;
	struct flying *flying;
	struct range *ranges;
	u32 range_count;
	u32 range_room;
	bool is_sorted;
	u32 node_room;
	u32 fact_room;
	u32 file_room;
	u32 process_room;
};

/* -- files and processes ------------------------------------------------------------------- */

static int grow(void *items, u32 count, u32 *room, size_t item_bytes)
{
	void **array = items;
	u32 larger = *room ? 2 * *room : 64;
	void *moved;

	if (count < *room)
		return 0;
	moved = reallocarray(*array, larger, item_bytes);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*room = larger;
	return 0;
}

static int file_of(struct adder *a, const char *path, u32 *index)
{
	struct profile *p = a->profile;
	size_t bytes = strlen(path);
	struct file *file;

	HASH_FIND(hh, a->files, path, bytes, file);
	if (file) {
		*index = file->index;
		return 0;
	}
	file = malloc(sizeof(*file) + bytes + 1);
	if (!file)
		return -ENOMEM;
	memcpy(file->path, path, bytes + 1);
	file->index = p->file_count;
	HASH_ADD(hh, a->files, path, bytes, file);
	if (grow(&p->files, p->file_count, &a->file_room, sizeof(*p->files)))
		return -ENOMEM;
	p->files[p->file_count] = (struct profile_file){ .path = strdup(path) };
	*index = p->file_count++;
	return p->files[*index].path ? 0 : -ENOMEM;
}

/* -- nodes ---------------------------------------------------------------------------------- */

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static int compare_task(const void *a, const void *b)
{
	const u32 *task = a;
	const struct range *range = b;

	return *task < range->first ? -1 : *task > range->last;
}

/* Facts say which tasks are whose, before the tasks do anything. */
static u32 node_of(struct adder *a, u32 task)
{
	const struct range *range;

	if (!a->range_count)
		return NO_NODE;
	if (!a->is_sorted)
		qsort(a->ranges, a->range_count, sizeof(*a->ranges), compare_ranges);
	a->is_sorted = true;
	range = bsearch(&task, a->ranges, a->range_count, sizeof(*a->ranges), compare_task);
	return range ? range->node : NO_NODE;
}

static int node_make(struct adder *a, const char *name, size_t bytes, u32 *index)
{
	struct profile *p = a->profile;
	struct profile_node *node;
	int err;

	for (*index = 0; *index < p->node_count; ++*index)
		if (strlen(p->nodes[*index].name) == bytes && !memcmp(p->nodes[*index].name, name, bytes))
			return 0;
	err = grow(&p->nodes, p->node_count, &a->node_room, sizeof(*p->nodes));
	if (err)
		return err;
	node = &p->nodes[p->node_count++];
	*node = (struct profile_node){
		.name = strndup(name, bytes), .host = strdup(""), .ranks = strdup(""),
	};
	return node->name && node->host && node->ranks ? 0 : -ENOMEM;
}

static int take_ranges(struct adder *a, const char *text, u32 node)
{
	unsigned int first, last;
	int bytes, err = 0;

	while (!err && sscanf(text, "%u%n", &first, &bytes) == 1) {
		text += bytes;
		last = first;
		if (sscanf(text, "-%u%n", &last, &bytes) == 1)
			text += bytes;
		err = grow(&a->ranges, a->range_count, &a->range_room, sizeof(*a->ranges));
		if (!err)
			a->ranges[a->range_count++] = (struct range){ first, last, node };
		a->is_sorted = false;
		text += *text == ',';
	}
	return err;
}

static int replace(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	return *text ? 0 : -ENOMEM;
}

/* "node.NAME.tasks=1-3,7", and what else is said of a node; its name may have dots. */
static int take_node_fact(struct adder *a, const char *fact)
{
	static const char *const keys[] = { ".tasks=", ".ranks=", ".host=" };
	const char *name = fact + strlen("node."), *at = NULL;
	u32 node;
	size_t key;
	int err;

	for (key = 0; key < 3 && !(at = strstr(name, keys[key]));)
		key++;
	if (!at || memchr(name, '=', (size_t)(at - name)))
		return 0; /* it is of another fact */
	err = node_make(a, name, (size_t)(at - name), &node);
	at += strlen(keys[key]);
	if (err)
		return err;
	if (!key)
		return take_ranges(a, at, node);
	return replace(key == 1 ? &a->profile->nodes[node].ranks : &a->profile->nodes[node].host, at);
}

/* Return: of a task; NULL if it is of none. */
static struct profile_node *node_find(struct adder *a, u32 id)
{
	struct task *task;

	HASH_FIND(hh, a->tasks, &id, sizeof(id), task);
	return task && task->node != NO_NODE ? &a->profile->nodes[task->node] : NULL;
}

static int process_add(struct adder *a, u32 pid, const char *command, u32 *index)
{
	struct profile *p = a->profile;
	u32 i;

	for (i = p->process_count; i-- > 0;) {
		if (p->processes[i].pid == pid && !strcmp(p->processes[i].command, command)) {
			*index = i;
			return 0;
		}
	}
	if (grow(&p->processes, p->process_count, &a->process_room, sizeof(*p->processes)))
		return -ENOMEM;
	*index = p->process_count++;
	p->processes[*index] = (struct profile_process){ .pid = pid };
	strcpy(p->processes[*index].command, command);
	return 0;
}

static int task_add(struct adder *a, u32 id, u32 pid, const char *command)
{
	struct task *task;
	int err;

	HASH_FIND(hh, a->tasks, &id, sizeof(id), task);
	if (task)
		return 0;
	task = calloc(1, sizeof(*task));
	if (!task)
		return -ENOMEM;
	task->id = id;
	task->node = node_of(a, id);
	HASH_ADD(hh, a->tasks, id, sizeof(task->id), task);
	err = process_add(a, pid, command, &task->process);
	if (!err)
		a->profile->processes[task->process].threads++;
	return err;
}

static int take_task(struct adder *a, const struct iot_record *r)
{
	char command[sizeof(a->profile->processes->command)];

	snprintf(command, sizeof(command), "%.*s", r->tail_bytes, (const char *)r->tail);
	return task_add(a, r->task.task, r->task.tgid ? r->task.tgid : r->task.task, command);
}

/* A task whose record was lost stands for itself. */
static int process_of(struct adder *a, u32 id, u32 *index)
{
	struct task *task;
	int err = task_add(a, id, id, "?");

	HASH_FIND(hh, a->tasks, &id, sizeof(id), task);
	if (err)
		return err;
	*index = task->process;
	if (!task->has_acted && task->node != NO_NODE)
		a->profile->nodes[task->node].tasks++;
	task->has_acted = true;
	return 0;
}

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

/* The time of an operation within another one is a part of the other's. */
static void count_op(struct profile_sum *sum, const struct iot_record *r)
{
	sum->ops++;
	sum->errors += r->op.result < 0;
	sum->time_ns += r->op.parent ? 0 : r->op.duration_ns;
	count_bytes(sum, r);
}

static int count_kind(struct profile *p, const struct iot_record *r)
{
	struct profile_kind *kind = &p->kinds[r->kind];

	if (!kind->latency_ns)
		kind->latency_ns = calloc(1, sizeof(*kind->latency_ns));
	if (!kind->latency_ns)
		return -ENOMEM;
	histogram_add(kind->latency_ns, r->op.duration_ns);
	count_op(&kind->sum, r);
	return 0;
}

/* How much of it was cached when it was opened for the first time. */
static int count_cached(struct adder *a, const struct iot_rec_open *r)
{
	u64 cached_bytes = r->cached_pages * PAGE_BYTES, id = r->object;
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

static void widen(struct profile *p, const struct iot_record *r)
{
	u64 end_ns = iot_record_end_ns(r);

	if (!p->end_ns || r->op.enter_ns < p->begin_ns)
		p->begin_ns = r->op.enter_ns;
	if (end_ns > p->end_ns)
		p->end_ns = end_ns;
}

/* -- asynchronous requests ------------------------------------------------------------------------- */

/* Return: what is known of a request; @is_new: nothing is, yet. NULL if there is no memory. */
static struct request *request_of(struct adder *a, u64 id, bool *is_new)
{
	struct request *request;

	HASH_FIND(hh, a->requests, &id, sizeof(id), request);
	*is_new = !request;
	if (request)
		return request;
	request = calloc(1, sizeof(*request));
	if (!request)
		return NULL;
	request->id = id;
	HASH_ADD(hh, a->requests, id, sizeof(request->id), request);
	return request;
}

static void move_bytes(struct profile_sum *sum, const struct request *request)
{
	sum->errors += request->result < 0;
	if (request->result > 0 && request->is_write)
		sum->written_bytes += (u64)request->result;
	else if (request->result > 0)
		sum->read_bytes += (u64)request->result;
}

/* Both ends are known. What a request takes is no time that its task spends in it. */
static int request_end(struct adder *a, struct request *request)
{
	struct profile *p = a->profile;
	struct profile_kind *kind = &p->kinds[IOT_KIND_complete];
	u64 latency_ns = request->end_ns > request->enter_ns ? request->end_ns - request->enter_ns : 0;

	if (!kind->latency_ns)
		kind->latency_ns = calloc(1, sizeof(*kind->latency_ns));
	if (!kind->latency_ns)
		return -ENOMEM;
	histogram_add(kind->latency_ns, latency_ns);
	kind->sum.ops++;
	kind->sum.time_ns += latency_ns;
	move_bytes(&kind->sum, request);
	move_bytes(&p->sum, request);
	move_bytes(&p->files[request->file].sum, request);
	move_bytes(&p->processes[request->process].sum, request);
	if (request->node != NO_NODE)
		move_bytes(&p->nodes[request->node].sum, request);
	if (request->end_ns > p->end_ns)
		p->end_ns = request->end_ns;
	HASH_DEL(a->requests, request);
	free(request);
	return 0;
}

static int take_submit(struct adder *a, const struct iot_rec_submit *r, u32 file, u32 process)
{
	bool is_new;
	struct request *request = request_of(a, r->request, &is_new);

	if (!request)
		return -ENOMEM;
	request->is_submitted = true;
	request->file = file;
	request->process = process;
	request->node = node_of(a, r->task);
	request->is_write = r->flags & IOT_RW_write;
	request->enter_ns = r->enter_ns;
	return is_new ? 0 : request_end(a, request);
}

static int take_complete(struct adder *a, const struct iot_rec_complete *r)
{
	bool is_new;
	struct request *request = request_of(a, r->request, &is_new);

	if (!request)
		return -ENOMEM;
	request->end_ns = r->time_ns;
	request->result = r->result;
	return request->is_submitted ? request_end(a, request) : 0;
}

static int take_op(struct adder *a, struct iot_names *names, const struct iot_record *r)
{
	struct profile *p = a->profile;
	struct profile_node *node;
	u32 file, process;
	int err = file_of(a, iot_names_of_record(names, r).path, &file);

	if (!err)
		err = process_of(a, r->op.task, &process);
	if (!err)
		err = count_kind(p, r);
	if (err)
		return err;
	widen(p, r);
	count_op(&p->sum, r);
	count_op(&p->files[file].sum, r);
	count_op(&p->processes[process].sum, r);
	node = node_find(a, r->op.task);
	if (node)
		count_op(&node->sum, r);
	p->files[file].opens += r->kind == IOT_KIND_open && r->op.result >= 0;
	if (r->kind == IOT_KIND_open)
		return count_cached(a, &r->open);
	return r->kind == IOT_KIND_submit ? take_submit(a, &r->submit, file, process) : 0;
}

static int take_mpi(struct adder *a, const struct iot_record *r)
{
	count_op(&a->profile->mpi, r);
	return count_kind(a->profile, r);
}

/* -- what was there before ------------------------------------------------------------------------ */

/* Descriptor -1: an operation showed the handle. If it is in a table, that is told as well. */
static int take_opened(struct adder *a, struct iot_names *names, const struct iot_rec_opened *r)
{
	struct flying *flying;

	a->profile->opened += r->fd >= 0;
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
	int err = grow(&p->facts, p->fact_count, &a->fact_room, sizeof(*p->facts));

	if (err)
		return err;
	p->facts[p->fact_count] = strndup((const char *)r->tail, r->tail_bytes);
	if (!p->facts[p->fact_count++])
		return -ENOMEM;
	return begins_with(p->facts[p->fact_count - 1], "node.") ?
		       take_node_fact(a, p->facts[p->fact_count - 1]) : 0;
}

static void take_divergence(struct adder *a, const struct iot_rec_divergence *r)
{
	struct profile_node *node = node_find(a, r->task);

	switch (r->verdict) {
	case IOT_VERDICT_unable:
		a->profile->unable++;
		break;
	case IOT_VERDICT_emulated:
		a->profile->emulated++;
		break;
	default:
		a->profile->diverged++;
		if (node)
			node->diverged++;
	}
}

static void take_played(struct adder *a, const struct iot_rec_played *played)
{
	struct profile *profile = a->profile;
	struct profile_node *node = node_find(a, played->task);

	if (node)
		node->late_ns += played->late_ns;
	if (node && played->late_max_ns > node->late_max_ns)
		node->late_max_ns = played->late_max_ns;
	profile->late_ns += played->late_ns;
	profile->stalls += played->stalls;
	if (played->late_max_ns > profile->late_max_ns)
		profile->late_max_ns = played->late_max_ns;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct adder *a = context;
	const struct iot_kind_info *info = iot_kind_info(r->kind);

	switch (r->kind) {
	case IOT_KIND_fact:
		return take_fact(a, r);
	case IOT_KIND_end:
		a->profile->throttles = r->end.throttles;
		return 0;
	case IOT_KIND_task:
		return take_task(a, r);
	case IOT_KIND_complete:
		return take_complete(a, &r->complete);
	case IOT_KIND_opened:
		return take_opened(a, names, &r->opened);
	case IOT_KIND_mapped:
		a->profile->mapped++;
		return 0;
	case IOT_KIND_state:
		take_state(a->profile, &r->state);
		return 0;
	case IOT_KIND_divergence:
		take_divergence(a, &r->divergence);
		return 0;
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
	return x->pid < y->pid ? -1 : x->pid > y->pid;
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
	struct request *request, *next_request;

	free(a->ranges);
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
	HASH_ITER (hh, a->requests, request, next_request) {
		HASH_DEL(a->requests, request);
		free(request);
	}
}

/**
 * profile_read() - add up a trace
 * @path: of the trace
 * @profile: out: to be given to profile_free()
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
	err = iot_trace_walk(path, take_record, &a, &a.profile->info, reject);
	count_flying(&a);
	adder_free(&a);
	if (err) {
		profile_free(a.profile);
		return err;
	}
	sort(a.profile);
	*profile = a.profile;
	return 0;
}

/**
 * profile_free() - free what profile_read() has made; NULL is allowed
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
	free(profile->files);
	for (i = 0; i < profile->node_count; i++) {
		free(profile->nodes[i].name);
		free(profile->nodes[i].host);
		free(profile->nodes[i].ranks);
	}
	free(profile->nodes);
	free(profile->processes);
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
 * profile_seconds() - from the beginning of the first operation to the end of the last
 */
double profile_seconds(const struct profile *profile)
{
	return (double)(profile->end_ns - profile->begin_ns) / 1e9;
}
