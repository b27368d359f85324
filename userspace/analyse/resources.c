// SPDX-License-Identifier: GPL-2.0-only
/*
 * resources.c - what each operation uses: names, directories, sizes, handles, mappings.
 *
 * After the idea of resource-oriented replay (ROOT, SOSP 2013, section 4), on identities
 * that the recorder knows: an operation must find what it found in the trace, and
 * nothing else needs an order.
 *
 *	path		exclusive by what makes, removes or renames it, looked at by
 *			what uses it, or anything below it
 *	entries		of a directory: changed by what makes and removes names in it,
 *			looked at by readdir, exclusive by rmdir
 *	size		of a file: see sizes.h
 *	handle		exclusive by open and release, looked at by what uses it
 *	position	of a handle: exclusive by seek and readdir
 *	mapping		exclusive by map and unmap, looked at by accesses
 */
#include <stdlib.h>
#include <uthash.h>

#include "graph.h"
#include "resource.h"
#include "sizes.h"

/* Resources of which there are many, found by a number or a text. */
struct slot {
	UT_hash_handle hh;
	union {
		struct resource resource;
		struct size size;
	};
	bool is_size;
	size_t key_bytes;
	char key[];
};

struct sweep {
	struct graph *graph;
	struct slot *slots[5];
	u32 task;
	u32 index;
	const struct graph_op *op;
	int err;
};

enum slot_kind { SLOT_PATH, SLOT_ENTRIES, SLOT_SIZE, SLOT_HANDLE, SLOT_POSITION };

static struct slot *slot_of(struct sweep *s, enum slot_kind kind, const void *key, size_t bytes)
{
	struct slot *slot;

	HASH_FIND(hh, s->slots[kind], key, bytes, slot);
	if (slot)
		return slot;
	slot = calloc(1, sizeof(*slot) + bytes);
	if (!slot) {
		s->err = -ENOMEM;
		return NULL;
	}
	memcpy(slot->key, key, bytes);
	slot->key_bytes = bytes;
	slot->is_size = kind == SLOT_SIZE;
	HASH_ADD(hh, s->slots[kind], key, bytes, slot);
	return slot;
}

static void slots_free(struct sweep *s)
{
	struct slot *slot, *next;
	size_t i;

	for (i = 0; i < sizeof(s->slots) / sizeof(s->slots[0]); i++) {
		HASH_ITER (hh, s->slots[i], slot, next) {
			HASH_DEL(s->slots[i], slot);
			if (slot->is_size)
				size_exit(&slot->size);
			else
				resource_exit(&slot->resource);
			free(slot);
		}
	}
}

static void use(struct sweep *s, enum slot_kind kind, const void *key, size_t bytes, enum use how,
		enum edge_cause cause)
{
	struct slot *slot = s->err ? NULL : slot_of(s, kind, key, bytes);

	if (slot)
		s->err = resource_use(s->graph, &slot->resource, how, s->task, s->index, cause);
}

/* -- names -------------------------------------------------------------------------------- */

/* A path, and as a look everything above it. */
static void use_path(struct sweep *s, const char *path, enum use how)
{
	const char *slash;

	if (!path || !strcmp(path, "."))
		return;
	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		use(s, SLOT_PATH, path, (size_t)(slash - path), USE_LOOK, EDGE_name);
	use(s, SLOT_PATH, path, strlen(path), how, EDGE_name);
}

static void use_entries(struct sweep *s, const char *dir, size_t bytes, enum use how)
{
	use(s, SLOT_ENTRIES, dir, bytes, how, EDGE_entries);
}

/* A name comes or goes: it, and the entries of the directory it is in. */
static void change_name(struct sweep *s, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!path)
		return;
	use_path(s, path, USE_EXCLUSIVE);
	use_entries(s, slash ? path : ".", slash ? (size_t)(slash - path) : 1, USE_CHANGE);
}

/* -- sizes ---------------------------------------------------------------------------------- */

static struct size *size_of(struct sweep *s)
{
	struct slot *slot;

	if (s->err || !s->op->object)
		return NULL;
	slot = slot_of(s, SLOT_SIZE, &s->op->object, sizeof(s->op->object));
	return slot ? &slot->size : NULL;
}

static void set_size(struct sweep *s)
{
	struct size *size = size_of(s);

	if (size)
		s->err = size_set(s->graph, size, s->task, s->index);
}

static void look_at_size(struct sweep *s, u64 up_to_bytes, bool has_found_end)
{
	struct size *size = size_of(s);

	if (size)
		s->err = size_look(s->graph, size, s->task, s->index, up_to_bytes, has_found_end);
}

static void write_to_size(struct sweep *s)
{
	const struct graph_op *op = s->op;
	u64 end_bytes = op->offset_bytes + (op->result > 0 ? (u64)op->result : 0);
	struct size *size;

	if (op->flags & IOT_RW_append) {
		set_size(s);
		return;
	}
	if (end_bytes <= op->old_size_bytes) {
		look_at_size(s, end_bytes, false);
		return;
	}
	size = size_of(s);
	if (size)
		s->err = size_extend(s->graph, size, s->task, s->index, op->old_size_bytes);
}

/* -- handles and mappings ---------------------------------------------------------------------- */

static void use_handle(struct sweep *s, u64 handle, enum use how)
{
	if (handle)
		use(s, SLOT_HANDLE, &handle, sizeof(handle), how, EDGE_handle);
}

static void move_position(struct sweep *s)
{
	use(s, SLOT_POSITION, &s->op->handle, sizeof(s->op->handle), USE_EXCLUSIVE, EDGE_handle);
}

/* A mapping in one address space; handles and mappings never have a key of the same length. */
static void use_map(struct sweep *s, enum use how)
{
	u64 key[2] = { s->op->other, s->graph->tasks[s->task].space };

	use(s, SLOT_HANDLE, key, sizeof(key), how, EDGE_handle);
}

/* -- operations ----------------------------------------------------------------------------------- */

static void use_by_open(struct sweep *s)
{
	const struct graph_op *op = s->op;

	if ((op->flags & IOT_OPEN_created) && !(op->flags & IOT_OPEN_tmpfile))
		change_name(s, op->path);
	else
		use_path(s, op->path, USE_LOOK);
	use_handle(s, op->handle, USE_EXCLUSIVE);
	if ((op->flags & IOT_OPEN_trunc) && op->result >= 0)
		set_size(s);
}

static void use_by_setattr(struct sweep *s)
{
	use_path(s, s->op->path, USE_LOOK);
	use_handle(s, s->op->handle, USE_LOOK);
	if (s->op->flags & IOT_ATTR_size)
		set_size(s);
}

static void use_by_rmdir(struct sweep *s)
{
	const char *path = s->op->path;

	if (!path)
		return;
	if (s->op->result < 0) {
		use_path(s, path, USE_LOOK);
		use_entries(s, path, strlen(path), USE_LOOK);
		return;
	}
	change_name(s, path);
	use_entries(s, path, strlen(path), USE_EXCLUSIVE);
}

/* What makes or removes a name, or fails because of what it finds. */
static void use_by_change(struct sweep *s, const char *path)
{
	if (s->op->result < 0)
		use_path(s, path, USE_LOOK);
	else
		change_name(s, path);
}

static void use_by_fallocate(struct sweep *s)
{
	use_handle(s, s->op->handle, USE_LOOK);
	set_size(s);
}

static void use_by_copy(struct sweep *s)
{
	use_handle(s, s->op->handle, USE_LOOK);
	use_handle(s, s->op->other, USE_LOOK);
	set_size(s);
}

static void use_by_read(struct sweep *s)
{
	const struct graph_op *op = s->op;
	u64 up_to_bytes = op->offset_bytes + op->length_bytes;
	bool is_short = op->result >= 0 && (u64)op->result < op->length_bytes;

	use_handle(s, op->handle, USE_LOOK);
	look_at_size(s, up_to_bytes, is_short);
}

static void use_by_op(struct sweep *s);

/*
 * A request moves its data some time between its two ends, so both use what a read or write
 * would. What happened before it is waited for by the first, and what happens after it waits for
 * the second.
 */
static void use_by_request(struct sweep *s)
{
	struct graph_op data = *s->op;

	if (data.kind == IOT_KIND_submit)
		data.result = (s64)data.extra;
	data.kind = data.flags & IOT_RW_write ? IOT_KIND_write : IOT_KIND_read;
	s->op = &data;
	use_by_op(s);
	s->op = NULL;
}

static void use_by_op(struct sweep *s)
{
	const struct graph_op *op = s->op;

	switch (op->kind) {
	case IOT_KIND_open:
		use_by_open(s);
		break;
	case IOT_KIND_stat:
		use_path(s, op->path, USE_LOOK);
		use_handle(s, op->handle, USE_LOOK);
		look_at_size(s, (u64)-1, true);
		break;
	case IOT_KIND_setattr:
		use_by_setattr(s);
		break;
	case IOT_KIND_mkdir:
	case IOT_KIND_mknod:
	case IOT_KIND_symlink:
	case IOT_KIND_unlink:
		use_by_change(s, op->path);
		break;
	case IOT_KIND_rmdir:
		use_by_rmdir(s);
		break;
	case IOT_KIND_rename:
		use_by_change(s, op->path);
		use_by_change(s, op->path2);
		break;
	case IOT_KIND_link:
		use_path(s, op->path, USE_LOOK);
		use_handle(s, op->handle, USE_LOOK);
		use_by_change(s, op->path2);
		break;
	case IOT_KIND_read:
		use_by_read(s);
		break;
	case IOT_KIND_write:
		use_handle(s, op->handle, USE_LOOK);
		write_to_size(s);
		break;
	case IOT_KIND_submit:
	case IOT_KIND_complete:
		use_by_request(s);
		break;
	case IOT_KIND_seek:
		use_handle(s, op->handle, USE_LOOK);
		move_position(s);
		if (op->flags >= IOT_WHENCE_end)
			look_at_size(s, (u64)-1, true);
		break;
	case IOT_KIND_readdir:
		use_handle(s, op->handle, USE_LOOK);
		move_position(s);
		if (op->path)
			use_entries(s, op->path, strlen(op->path), USE_LOOK);
		break;
	case IOT_KIND_fallocate:
		use_by_fallocate(s);
		break;
	case IOT_KIND_ioctl:
		use_handle(s, op->handle, USE_LOOK);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		use_by_copy(s);
		break;
	case IOT_KIND_release:
		use_handle(s, op->handle, USE_EXCLUSIVE);
		break;
	case IOT_KIND_map:
		use_handle(s, op->handle, USE_LOOK);
		use_map(s, USE_EXCLUSIVE);
		break;
	case IOT_KIND_unmap:
		use_map(s, USE_EXCLUSIVE);
		break;
	case IOT_KIND_touch:
		use_map(s, USE_LOOK);
		look_at_size(s, op->offset_bytes + 1, op->result < 0);
		break;
	case IOT_KIND_msync:
	case IOT_KIND_madvise:
		use_map(s, USE_LOOK);
		break;
	default: /* look-ups, links that are read, attributes, flushes */
		use_path(s, op->path, USE_LOOK);
		use_handle(s, op->handle, USE_LOOK);
	}
}

/* -- the walk ----------------------------------------------------------------------------------- */

/* The tasks by their next operation, the one that began first at the top. */
struct heap {
	const struct graph *graph;
	u32 *tasks;
	u32 *next;
	u32 count;
};

static u64 next_ns(const struct heap *heap, u32 place)
{
	u32 task = heap->tasks[place];

	return heap->graph->tasks[task].ops[heap->next[task]].enter_ns;
}

static void sift_down(struct heap *heap, u32 place)
{
	for (;;) {
		u32 least = place, child = 2 * place + 1, i, task;

		for (i = child; i < child + 2 && i < heap->count; i++)
			if (next_ns(heap, i) < next_ns(heap, least))
				least = i;
		if (least == place)
			return;
		task = heap->tasks[place];
		heap->tasks[place] = heap->tasks[least];
		heap->tasks[least] = task;
		place = least;
	}
}

static int heap_init(struct heap *heap, const struct graph *graph)
{
	u32 i;

	*heap = (struct heap){
		.graph = graph,
		.tasks = calloc(graph->task_count + 1, sizeof(u32)),
		.next = calloc(graph->task_count + 1, sizeof(u32)),
	};
	if (!heap->tasks || !heap->next)
		return -ENOMEM;
	for (i = 0; i < graph->task_count; i++)
		if (graph->tasks[i].has_io && graph->tasks[i].op_count)
			heap->tasks[heap->count++] = i;
	for (i = heap->count / 2; i-- > 0;)
		sift_down(heap, i);
	return 0;
}

static bool heap_take(struct heap *heap, u32 *task, u32 *index)
{
	if (!heap->count)
		return false;
	*task = heap->tasks[0];
	*index = heap->next[*task]++;
	if (heap->next[*task] == heap->graph->tasks[*task].op_count)
		heap->tasks[0] = heap->tasks[--heap->count];
	sift_down(heap, 0);
	return true;
}

/**
 * graph_pass_resources() - edges that keep what operations find
 * @graph: sorted
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_resources(struct graph *graph)
{
	struct sweep s = { .graph = graph };
	struct heap heap;

	s.err = heap_init(&heap, graph);
	while (!s.err && heap_take(&heap, &s.task, &s.index)) {
		s.op = &graph->tasks[s.task].ops[s.index];
		if (s.op->kind < IOT_PLAY_arrive)
			use_by_op(&s);
	}
	slots_free(&s);
	free(heap.tasks);
	free(heap.next);
	return s.err;
}
