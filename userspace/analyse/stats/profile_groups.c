// SPDX-License-Identifier: GPL-2.0-only
/*
 * profile_groups.c - sums of operations by file, process and node.
 */
#include "profile_adder.h"

#include <stdlib.h>
#include <string.h>

/* -- files and processes ------------------------------------------------------------------- */

/**
 * adder_grow() - room for one more in an array
 * @items: pointer to the array
 * @count: how many it has
 * @room: in and out: for how many
 * @item_bytes: of an element
 *
 * Return: 0 or -ENOMEM.
 */
int adder_grow(void *items, u32 count, u32 *room, size_t item_bytes)
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

/**
 * adder_file() - index of the file at a path, which is in the profile then
 *
 * Return: 0 or -ENOMEM.
 */
int adder_file(struct adder *a, const char *path, u32 *index)
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
	if (adder_grow(&p->files, p->file_count, &a->file_room, sizeof(*p->files)))
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

/**
 * adder_node() - index of the node that a task is of; NO_NODE if that is not known
 *
 * Facts say which tasks are whose, before the tasks do anything.
 */
u32 adder_node(struct adder *a, u32 task)
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
	err = adder_grow(&p->nodes, p->node_count, &a->node_room, sizeof(*p->nodes));
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
		err = adder_grow(&a->ranges, a->range_count, &a->range_room, sizeof(*a->ranges));
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

/**
 * adder_take_node_fact() - "node.NAME.tasks=1-3,7", and other facts of a node
 *
 * Its name may have dots.
 *
 * Return: 0 or -ENOMEM.
 */
int adder_take_node_fact(struct adder *a, const char *fact)
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

/**
 * adder_profile_node() - the node of a task that is known; NULL if it is of none
 */
struct profile_node *adder_profile_node(struct adder *a, u32 id)
{
	struct task *task;

	HASH_FIND(hh, a->tasks, &id, sizeof(id), task);
	return task && task->node != NO_NODE ? &a->profile->nodes[task->node] : NULL;
}

static int process_add(struct adder *a, u32 task, u32 pid, const char *command, u32 *index)
{
	struct profile *p = a->profile;
	u32 i;

	for (i = pid || (p->is_by_command && *command) ? p->process_count : 0; i-- > 0;) {
		if (p->processes[i].pid == pid && !strcmp(p->processes[i].command, command)) {
			*index = i;
			return 0;
		}
	}
	if (adder_grow(&p->processes, p->process_count, &a->process_room, sizeof(*p->processes)))
		return -ENOMEM;
	*index = p->process_count++;
	p->processes[*index] = (struct profile_process){ .pid = pid, .task = task };
	strcpy(p->processes[*index].command, command);
	return 0;
}

/* A thread is another task after an exec, but no other thread. */
static int task_add(struct adder *a, u32 id, u32 pid, u32 why, const char *command)
{
	struct profile_process *process;
	struct task *task;
	int err;

	HASH_FIND(hh, a->tasks, &id, sizeof(id), task);
	if (task)
		return 0;
	task = calloc(1, sizeof(*task));
	if (!task)
		return -ENOMEM;
	task->id = id;
	task->node = adder_node(a, id);
	HASH_ADD(hh, a->tasks, id, sizeof(task->id), task);
	err = process_add(a, id, pid, command, &task->process);
	if (err)
		return err;
	process = &a->profile->processes[task->process];
	process->threads += why != IOT_REASON_exec || !process->threads;
	return 0;
}

/**
 * adder_take_task() - a task record
 *
 * Return: 0 or -ENOMEM.
 */
int adder_take_task(struct adder *a, const struct iot_record *r)
{
	char command[sizeof(a->profile->processes->command)];

	if (!a->first_task_ns && !a->profile->is_by_command)
		a->first_task_ns = r->task.time_ns;
	snprintf(command, sizeof(command), "%.*s", r->tail_bytes, (const char *)r->tail);
	return task_add(a, r->task.task, r->task.tgid ?: r->task.pid, r->task.why, command);
}

/**
 * adder_process() - index of the process of a task that does something
 *
 * A task whose record was lost stands for itself.
 *
 * Return: 0 or -ENOMEM.
 */
int adder_process(struct adder *a, u32 id, u32 *index)
{
	struct task *task;
	int err = task_add(a, id, 0, IOT_REASON_seen, "");

	HASH_FIND(hh, a->tasks, &id, sizeof(id), task);
	if (err)
		return err;
	*index = task->process;
	if (!task->has_acted && task->node != NO_NODE)
		a->profile->nodes[task->node].tasks++;
	task->has_acted = true;
	return 0;
}
