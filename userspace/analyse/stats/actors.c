// SPDX-License-Identifier: GPL-2.0-only
/*
 * actors.c - the process, rank, node and user of each task of a trace.
 *
 * A rank is a property of a process, and is recorded by the thread that initializes MPI, after the first operations of
 * the process. Facts about nodes may follow the records of their tasks. So a trace is read once for these.
 */
#include "actors.h"

#include <stdlib.h>
#include <string.h>

static int node_add(struct actors *actors, const char *name, size_t bytes, u32 *node)
{
	char **larger;

	for (*node = 0; *node < actors->node_count; ++*node)
		if (strlen(actors->nodes[*node]) == bytes && !memcmp(actors->nodes[*node], name, bytes))
			return 0;
	larger = reallocarray(actors->nodes, actors->node_count + 1ul, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	actors->nodes = larger;
	larger[actors->node_count] = strndup(name, bytes);
	return larger[actors->node_count++] ? 0 : -ENOMEM;
}

static int range_add(struct actors *actors, struct actor_range range)
{
	struct actor_range *larger = reallocarray(actors->ranges, actors->range_count + 1ul, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	actors->ranges = larger;
	larger[actors->range_count++] = range;
	return 0;
}

/* "node.NAME.tasks=1-3,7"; the name may have dots. */
static int take_node(struct actors *actors, const char *fact)
{
	const char *name = fact + strlen("node."), *at = strstr(name, ".tasks=");
	unsigned int first, last;
	int bytes, err;
	u32 node;

	if (!at || memchr(name, '=', (size_t)(at - name)))
		return 0; /* another fact about the node */
	err = node_add(actors, name, (size_t)(at - name), &node);
	for (at += strlen(".tasks="); !err && sscanf(at, "%u%n", &first, &bytes) == 1; at += *at == ',') {
		at += bytes;
		last = first;
		if (sscanf(at, "-%u%n", &last, &bytes) == 1)
			at += bytes;
		err = range_add(actors, (struct actor_range){ first, last, node });
	}
	return err;
}

static int take_fact(struct actors *actors, const struct iot_record *r)
{
	char *fact = strndup((const char *)r->tail, r->tail_bytes);
	int err = 0;
	u32 node;

	if (!fact)
		return -ENOMEM;
	actors->is_imported |= !strncmp(fact, "source=", strlen("source="));
	actors->is_by_command |= iot_fact_is_by_command(fact);
	if (!strncmp(fact, "node.", strlen("node.")))
		err = take_node(actors, fact);
	else if (!strncmp(fact, "host=", strlen("host=")) && !actors->node_count)
		err = node_add(actors, fact + strlen("host="), strlen(fact + strlen("host=")), &node);
	free(fact);
	return err;
}

static struct actor *actor_get(struct actors *actors, u32 task)
{
	struct actor *actor;

	HASH_FIND(hh, actors->tasks, &task, sizeof(task), actor);
	if (actor)
		return actor;
	actor = calloc(1, sizeof(*actor));
	if (!actor)
		return NULL;
	*actor = (struct actor){ .task = task, .uid = ACTOR_UNKNOWN, .node = ACTOR_UNKNOWN, .rank = ACTOR_UNKNOWN };
	HASH_ADD(hh, actors->tasks, task, sizeof(actor->task), actor);
	return actor;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct actors *actors = context;
	struct actor *actor;

	(void)names;
	if (r->kind == IOT_KIND_fact)
		return take_fact(actors, r);
	if (r->kind != IOT_KIND_task && r->kind != IOT_KIND_mpi_comm)
		return 0;
	actor = actor_get(actors, iot_record_task(r));
	if (!actor)
		return -ENOMEM;
	if (r->kind == IOT_KIND_mpi_comm) {
		actor->rank = r->mpi_comm.world_rank;
		actors->has_ranks = true;
		return 0;
	}
	actor->pid = r->task.pid;
	actor->tgid = r->task.tgid ?: r->task.pid;
	actor->uid = r->task.uid;
	snprintf(actor->command, sizeof(actor->command), "%.*s", r->tail_bytes, (const char *)r->tail);
	return 0;
}

/* -- properties of all tasks of a process ------------------------------------------------------------- */

struct process {
	UT_hash_handle hh;
	u64 id;
	u32 rank;
};

static void nodes_assign(struct actors *actors)
{
	struct actor *actor, *next;
	u32 i;

	HASH_ITER (hh, actors->tasks, actor, next) {
		for (i = 0; i < actors->range_count; i++)
			if (actor->task >= actors->ranges[i].first && actor->task <= actors->ranges[i].last)
				actor->node = actors->ranges[i].node;
		if (!actors->range_count && actors->node_count == 1)
			actor->node = 0;
	}
}

static int ranks_assign(struct actors *actors)
{
	struct process *processes = NULL, *process, *next_process;
	struct actor *actor, *next;
	int err = 0;
	u64 id;

	HASH_ITER (hh, actors->tasks, actor, next) {
		id = actor_process(actor);
		HASH_FIND(hh, processes, &id, sizeof(id), process);
		if (actor->rank == ACTOR_UNKNOWN || process)
			continue;
		process = calloc(1, sizeof(*process));
		if (!process) {
			err = -ENOMEM;
			break;
		}
		*process = (struct process){ .id = id, .rank = actor->rank };
		HASH_ADD(hh, processes, id, sizeof(process->id), process);
	}
	HASH_ITER (hh, actors->tasks, actor, next) {
		id = actor_process(actor);
		HASH_FIND(hh, processes, &id, sizeof(id), process);
		if (process && actor->rank == ACTOR_UNKNOWN)
			actor->rank = process->rank;
	}
	HASH_ITER (hh, processes, process, next_process) {
		HASH_DEL(processes, process);
		free(process);
	}
	return err;
}

/**
 * actors_read() - the tasks of a trace
 * @path: of the trace
 * @actors: filled in; to be freed by actors_free(), also after an error
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int actors_read(const char *path, struct actors *actors, struct iot_reject *reject)
{
	struct iot_need need = {};
	struct iot_trace_info info;
	int err;

	*actors = (struct actors){};
	iot_kinds_add(need.always, IOT_KIND_fact);
	iot_kinds_add(need.always, IOT_KIND_task);
	iot_kinds_add(need.always, IOT_KIND_mpi_comm);
	err = iot_trace_walk_need(path, &need, take_record, actors, &info, reject);
	if (err)
		return err;
	actors->origin_ns = info.mono_ns;
	nodes_assign(actors);
	err = ranks_assign(actors);
	if (err)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	return err;
}

/**
 * actors_free() - free the result of actors_read()
 */
void actors_free(struct actors *actors)
{
	struct actor *actor, *next;
	u32 i;

	HASH_ITER (hh, actors->tasks, actor, next) {
		HASH_DEL(actors->tasks, actor);
		free(actor);
	}
	for (i = 0; i < actors->node_count; i++)
		free(actors->nodes[i]);
	free(actors->nodes);
	free(actors->ranges);
}

/**
 * actors_find() - a task by its id
 *
 * Return: the task; NULL if the trace has no record of it.
 */
const struct actor *actors_find(const struct actors *actors, u32 task)
{
	struct actor *actor;

	HASH_FIND(hh, actors->tasks, &task, sizeof(task), actor);
	return actor;
}

/**
 * actor_process() - a number that tasks of one process share, and no others at the same time
 */
u64 actor_process(const struct actor *actor)
{
	if (!actor->tgid)
		return 1ull << 63 | actor->task;
	return (u64)(actor->node + 1) << 32 | actor->tgid;
}

/**
 * actors_node_name() - the node of a task; "?" if it is not known
 * @actors: of the trace
 * @actor: of them, or NULL
 */
const char *actors_node_name(const struct actors *actors, const struct actor *actor)
{
	return actor && actor->node != ACTOR_UNKNOWN ? actors->nodes[actor->node] : "?";
}

/**
 * actors_name() - the name of a process or thread
 * @actors: of the trace
 * @task: of it
 * @pid: of the process or thread; 0 if not known
 * @name: out: command and @pid, with the node if there are several, since process ids may be equal there; or the number of the task
 * @size_bytes: of @name
 */
void actors_name(const struct actors *actors, u32 task, u32 pid, char *name, size_t size_bytes)
{
	const struct actor *actor = actors_find(actors, task);
	const char *command = actor && actor->command[0] ? actor->command : "?";

	if (actors->is_by_command && actor && !pid)
		snprintf(name, size_bytes, "%s", actor->command);
	else if (!actor || !pid)
		snprintf(name, size_bytes, "task %u", task);
	else if (actors->node_count > 1)
		snprintf(name, size_bytes, "%s %u on %s", command, pid, actors_node_name(actors, actor));
	else
		snprintf(name, size_bytes, "%s %u", command, pid);
}
