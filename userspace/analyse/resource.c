// SPDX-License-Identifier: GPL-2.0-only
/*
 * resource.c - from uses of a resource to edges.
 */
#include "resource.h"

#include <stdlib.h>

static int wait_for(struct graph *graph, const struct user *user, u32 task, struct graph_op *op,
		    enum edge_cause cause)
{
	if (user->task == task || user->end_ns >= op->enter_ns)
		return 0;
	return graph_edge_add(graph, user->task, user->index, op, cause);
}

static int wait_for_list(struct graph *graph, const struct user_list *list, u32 task,
			 struct graph_op *op, enum edge_cause cause)
{
	u32 i;
	int err = 0;

	for (i = 0; i < list->count && !err; i++)
		err = wait_for(graph, &list->users[i], task, op, cause);
	return err;
}

/* The newest that had ended: those before it had ended before it began, or overlapped it. */
static int wait_for_exclusive(struct graph *graph, const struct resource *resource, u32 task,
			      struct graph_op *op, enum edge_cause cause)
{
	u32 i;

	for (i = 0; i < resource->exclusive_count; i++)
		if (resource->exclusive[i].end_ns < op->enter_ns)
			return wait_for(graph, &resource->exclusive[i], task, op, cause);
	return 0;
}

static int list_add(struct user_list *list, const struct user *user)
{
	u32 i;

	for (i = 0; i < list->count; i++) {
		if (list->users[i].task != user->task)
			continue;
		list->users[i] = *user;
		return 0;
	}
	if (list->count == list->room) {
		u32 room = list->room ? 2 * list->room : 4;
		struct user *users = reallocarray(list->users, room, sizeof(*users));

		if (!users)
			return -ENOMEM;
		list->users = users;
		list->room = room;
	}
	list->users[list->count++] = *user;
	return 0;
}

/* Who had ended before an exclusive use began need not be waited for by those after it. */
static void list_forget(struct user_list *list, u64 begin_ns)
{
	u32 i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (list->users[i].end_ns >= begin_ns)
			list->users[kept++] = list->users[i];
	list->count = kept;
}

static void exclusive_add(struct resource *resource, const struct user *user, u64 begin_ns)
{
	u32 i = resource->exclusive_count < EXCLUSIVE_KEPT ? resource->exclusive_count++ :
							     EXCLUSIVE_KEPT - 1;

	for (; i > 0; i--)
		resource->exclusive[i] = resource->exclusive[i - 1];
	resource->exclusive[0] = *user;
	list_forget(&resource->changes, begin_ns);
	list_forget(&resource->looks, begin_ns);
}

/**
 * resource_use() - an operation uses a resource
 * @graph: gets the edges that follow
 * @resource: which
 * @use: how
 * @task: index of the task
 * @index: of the operation in it; operations come in the order in which they began
 * @cause: of the edges
 *
 * Return: 0 or -ENOMEM.
 */
int resource_use(struct graph *graph, struct resource *resource, enum use use, u32 task, u32 index,
		 enum edge_cause cause)
{
	struct graph_op *op = &graph->tasks[task].ops[index];
	const struct user user = { task, index, op->end_ns };
	int err = wait_for_exclusive(graph, resource, task, op, cause);

	if (!err && use != USE_CHANGE)
		err = wait_for_list(graph, &resource->changes, task, op, cause);
	if (!err && use != USE_LOOK)
		err = wait_for_list(graph, &resource->looks, task, op, cause);
	if (err)
		return err;
	if (use == USE_EXCLUSIVE) {
		exclusive_add(resource, &user, op->enter_ns);
		return 0;
	}
	return list_add(use == USE_CHANGE ? &resource->changes : &resource->looks, &user);
}

/**
 * resource_exit() - forget the users of a resource
 */
void resource_exit(struct resource *resource)
{
	free(resource->changes.users);
	free(resource->looks.users);
}
