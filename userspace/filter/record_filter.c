// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_filter.c - a filter for the records of a trace.
 *
 * The fields of a record are those that the recorder had for the operation. Tasks and inode numbers are learned from
 * the records that announce them; the path of an open file follows renames.
 */
#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "tree.h"

#define DAY_NS	  86400000000000ull
#define SECOND_NS 1000000000ull
#define TREE_MAX  4096 /* ancestors */

struct task {
	UT_hash_handle hh;
	u32 task;
	u32 parent;
	u32 tgid;
	u32 uid;
	u32 gid;
	u32 comm_bytes;
	char comm[16];
};

/* The inode number of an object, or a request that was selected. */
struct number {
	UT_hash_handle hh;
	u64 id;
	u64 number;
};

/**
 * struct filter_view - see above
 * @subject: of the current record
 * @record: that
 * @names: as of that
 * @mono_ns, @real_ns: both clocks at one moment; zero if not known
 * @root: path of the mount with a '/' at its end, then the current path; empty if unknown
 */
struct filter_view {
	const struct filter *filter;
	struct iot_filter_subject subject;
	const struct iot_record *record;
	struct iot_names *names;
	struct task *tasks;
	struct number *objects;
	struct number *requests;
	u64 mono_ns;
	u64 real_ns;
	size_t root_bytes;
	char root[2 * PATH_MAX + 2];
};

static u64 field_of(const struct iot_record *record, enum iot_class class, const char *name, bool *is_there)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	for (i = 0; i < info->field_count; i++) {
		if (info->fields[i].class != class || (name && strcmp(info->fields[i].name, name)))
			continue;
		*is_there = true;
		return iot_field_get(record, &info->fields[i]);
	}
	*is_there = false;
	return 0;
}

static const char *path_of(const struct filter_view *view)
{
	const struct iot_record *record = view->record;
	struct iot_label label = {};
	bool is_there;
	u64 id = field_of(record, IOT_CLASS_name, NULL, &is_there);

	if (id)
		return iot_names_path(view->names, id);
	id = field_of(record, IOT_CLASS_object, NULL, &is_there);
	if (id)
		label = iot_names_object(view->names, id);
	if (!label.path || !label.path[0])
		label = iot_names_of_record(view->names, record);
	return label.path;
}

static bool load_path(struct filter_view *view, const struct iot_filter_head *program)
{
	const char *path = path_of(view);
	size_t bytes;

	if (!path || !path[0])
		return false;
	bytes = strcmp(path, ".") ? strlen(path) : 0;
	if (bytes > PATH_MAX)
		return false;
	memcpy(view->root + view->root_bytes, path, bytes);
	view->subject.number[IOT_FILTER_path] =
		iot_filter_paths(program, view->root_bytes ? view->root : NULL, (u32)view->root_bytes,
				 view->root + view->root_bytes, (u32)bytes);
	return true;
}

static const struct task *task_of(const struct filter_view *view, u32 id)
{
	struct task *task;

	HASH_FIND(hh, view->tasks, &id, sizeof(id), task);
	return task;
}

static bool load_task(struct filter_view *view, enum iot_filter_field field)
{
	const struct task *task = task_of(view, view->record->op.task);

	if (!task)
		return false;
	switch (field) {
	case IOT_FILTER_uid:
		view->subject.number[field] = task->uid;
		return task->uid != UINT32_MAX;
	case IOT_FILTER_gid:
		view->subject.number[field] = task->gid;
		return task->gid != UINT32_MAX;
	case IOT_FILTER_pid:
		view->subject.number[field] = task->tgid;
		return task->tgid;
	default:
		view->subject.text = task->comm;
		view->subject.bytes = task->comm_bytes;
		return true;
	}
}

static bool load_object(struct filter_view *view)
{
	bool is_there;
	u64 id = field_of(view->record, IOT_CLASS_object, NULL, &is_there);
	struct number *object;

	HASH_FIND(hh, view->objects, &id, sizeof(id), object);
	if (object)
		view->subject.number[IOT_FILTER_object] = object->number;
	return object;
}

static bool load(struct iot_filter_subject *subject, const struct iot_filter_head *program, enum iot_filter_field field)
{
	struct filter_view *view = (void *)((char *)subject - offsetof(struct filter_view, subject));
	const struct iot_record *record = view->record;
	u64 real_ns = view->real_ns + (record->op.enter_ns - view->mono_ns), *number = &subject->number[field];
	bool is_there = true;

	switch (field) {
	case IOT_FILTER_op:
		*number = record->kind != IOT_KIND_submit ? record->kind :
			  record->submit.flags & IOT_RW_write ? IOT_KIND_write : IOT_KIND_read;
		return true;
	case IOT_FILTER_path:
		return load_path(view, program);
	case IOT_FILTER_object:
		return load_object(view);
	case IOT_FILTER_size:
		*number = field_of(record, IOT_CLASS_bytes, "length_bytes", &is_there);
		return is_there;
	case IOT_FILTER_offset:
		*number = field_of(record, IOT_CLASS_offset, "offset_bytes", &is_there);
		return is_there;
	case IOT_FILTER_result:
		*number = (u64)record->op.result;
		return true;
	case IOT_FILTER_duration:
		*number = record->kind == IOT_KIND_submit ? 0 : record->op.duration_ns;
		return true;
	case IOT_FILTER_time:
		*number = real_ns % DAY_NS;
		return view->real_ns;
	case IOT_FILTER_second:
		*number = real_ns / SECOND_NS % 60;
		return view->real_ns;
	case IOT_FILTER_share:
		*number = iot_filter_share(record->op.task);
		return true;
	case IOT_FILTER_nth:
		*number = record->op.op;
		return true;
	case IOT_FILTER_session:
	case IOT_FILTER_cgroup:
		return false;
	default:
		return load_task(view, field);
	}
}

static bool is_in_tree(struct iot_filter_subject *subject, u64 pid)
{
	const struct filter_view *view = (void *)((char *)subject - offsetof(struct filter_view, subject));
	const struct task *task = task_of(view, view->record->op.task);
	int i;

	for (i = 0; task && i < TREE_MAX; i++) {
		if (task->tgid == pid)
			return true;
		task = task_of(view, task->parent);
	}
	return false;
}

/**
 * filter_view_open() - begin with a trace
 * @filter: must outlive the view
 * @view: out: for filter_view_close()
 *
 * Return: 0 or -ENOMEM.
 */
int filter_view_open(const struct filter *filter, struct filter_view **view)
{
	*view = calloc(1, sizeof(**view));
	if (!*view)
		return -ENOMEM;
	(*view)->filter = filter;
	(*view)->subject.load = load;
	(*view)->subject.is_in_tree = is_in_tree;
	return 0;
}

static int take_task(struct filter_view *view, const struct iot_record *record)
{
	struct task *task, *old;

	HASH_FIND(hh, view->tasks, &record->task.task, sizeof(record->task.task), old);
	task = old ?: calloc(1, sizeof(*task));
	if (!task)
		return -ENOMEM;
	task->task = record->task.task;
	task->parent = record->task.parent;
	task->tgid = record->task.tgid;
	task->uid = record->task.uid;
	task->gid = record->task.gid;
	task->comm_bytes = record->tail_bytes < sizeof(task->comm) ? record->tail_bytes : sizeof(task->comm);
	memcpy(task->comm, record->tail, task->comm_bytes);
	if (!old)
		HASH_ADD(hh, view->tasks, task, sizeof(task->task), task);
	return 0;
}

static int number_set(struct number **numbers, u64 id, u64 value)
{
	struct number *number;

	HASH_FIND(hh, *numbers, &id, sizeof(id), number);
	if (!number) {
		number = calloc(1, sizeof(*number));
		if (!number)
			return -ENOMEM;
		number->id = id;
		HASH_ADD(hh, *numbers, id, sizeof(id), number);
	}
	number->number = value;
	return 0;
}

/* Of several mounts none is the root of all paths, so only patterns without a '/' at their beginning can match. */
static void take_mount(struct filter_view *view, const struct iot_record *record)
{
	size_t bytes = record->tail_bytes;

	if (!bytes || bytes > PATH_MAX)
		return;
	while (bytes && record->tail[bytes - 1] == '/')
		bytes--;
	if (view->root_bytes && (view->root_bytes != bytes + 1 || memcmp(view->root, record->tail, bytes))) {
		view->root_bytes = 0;
		return;
	}
	memcpy(view->root, record->tail, bytes);
	view->root[bytes] = '/';
	view->root_bytes = bytes + 1;
}

/**
 * filter_view_take() - learn from a record
 * @view: open
 * @record: the next one of the trace
 *
 * Return: 0 or -ENOMEM.
 */
int filter_view_take(struct filter_view *view, const struct iot_record *record)
{
	switch (record->kind) {
	case IOT_KIND_task:
		return take_task(view, record);
	case IOT_KIND_object:
		return number_set(&view->objects, record->object.object, record->object.ino);
	case IOT_KIND_mount:
		take_mount(view, record);
		return 0;
	case IOT_KIND_clock:
		if (!view->real_ns) {
			view->mono_ns = record->clock.time_ns;
			view->real_ns = record->clock.real_ns;
		}
		return 0;
	default:
		return 0;
	}
}

/**
 * filter_view_match() - would the recorder have kept the record?
 * @view: knows of all records up to this one
 * @names: likewise
 * @record: any
 *
 * The end of an asynchronous request goes with its submission. Records of other groups are not filtered.
 */
bool filter_view_match(struct filter_view *view, struct iot_names *names, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	struct number *request;
	bool is_match;

	if (!info || info->group != IOT_GROUP_op)
		return true;
	if (record->kind == IOT_KIND_complete) {
		HASH_FIND(hh, view->requests, &record->complete.request, sizeof(u64), request);
		return !request || request->number; /* it may be written before its submission */
	}
	view->record = record;
	view->names = names;
	view->subject.loaded = 0;
	view->subject.absent = 0;
	view->subject.later = 0;
	is_match = iot_filter_run(view->filter->program, &view->subject) == IOT_YES;
	if (record->kind == IOT_KIND_submit && number_set(&view->requests, record->submit.request, is_match))
		return true;
	return is_match;
}

static void numbers_free(struct number **numbers)
{
	struct number *number, *next;

	HASH_ITER(hh, *numbers, number, next) {
		HASH_DEL(*numbers, number);
		free(number);
	}
}

/**
 * filter_view_close() - free the state of a view
 * @view: may be NULL
 */
void filter_view_close(struct filter_view *view)
{
	struct task *task, *next;

	if (!view)
		return;
	HASH_ITER(hh, view->tasks, task, next) {
		HASH_DEL(view->tasks, task);
		free(task);
	}
	numbers_free(&view->objects);
	numbers_free(&view->requests);
	free(view);
}
