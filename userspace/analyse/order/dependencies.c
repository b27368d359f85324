// SPDX-License-Identifier: GPL-2.0-only
/*
 * dependencies.c - the dependency table, and the uses of names, handles and mappings.
 *
 *	path		exclusive for operations that create, remove or rename it; a look for
 *			operations that use it, find it absent, or use anything below it
 *	handle		exclusive for open and release, a look for operations that use it, and for unmap:
 *			a mapping keeps the file open
 *	mapping		exclusive for map and unmap, a look for accesses
 *
 * Renaming a directory is an exclusive use of both its paths, so it is ordered between
 * operations below the old and below the new path. Paths are the results of path walks:
 * the traversal of a symbolic link is a separate operation, which uses the path of the link.
 */
#include "dependencies.h"

#include <stdlib.h>
#include <uthash.h>

/* One of many resources of a type, found by a number or a text. */
struct slot {
	UT_hash_handle hh;
	union {
		struct tracker tracker;
		struct size_tracker size;
		struct data_tracker data;
	};
};

/*
 * Data of a file that only one task uses, or that no task writes, needs no order; nor do permissions
 * that no operation sets.
 */
struct sharing {
	u32 task; /* that uses its data, + 1 */
	bool is_shared;
	bool is_written;
	bool is_permitted_anew;
};

/*
 * Resources that only one task uses: no operation waits for another one of its task. Each place is for all resources with
 * the same hash; of two that share it by chance, both get trackers, as if several tasks used them.
 */
struct claims {
	u64 mask;
	u32 tasks[]; /* + 1; 0: none, CLAIM_COMMON: several */
};

#define CLAIM_COMMON	 0xffffffffu
#define CLAIM_PLACES_MIN 1024u
#define CLAIM_PLACES_MAX (1u << 26)

/* They differ in size; only as many bytes are there as are needed, and the key. */
static size_t slot_bytes(enum slot_kind kind)
{
	size_t bytes = kind == SLOT_SIZE ? sizeof(struct size_tracker) :
		       kind == SLOT_DATA ? sizeof(struct data_tracker) :
					   sizeof(struct tracker);

	return offsetof(struct slot, tracker) + bytes;
}

static char *slot_key(struct slot *slot, enum slot_kind kind)
{
	return (char *)slot + slot_bytes(kind);
}

static struct slot *slot_of(struct dependencies *u, enum slot_kind kind, const void *key, size_t bytes)
{
	struct slot *slot;

	HASH_FIND(hh, u->slots[kind], key, bytes, slot);
	if (slot)
		return slot;
	slot = calloc(1, slot_bytes(kind) + bytes);
	if (!slot) {
		u->err = -ENOMEM;
		return NULL;
	}
	memcpy(slot_key(slot, kind), key, bytes);
	HASH_ADD_KEYPTR(hh, u->slots[kind], slot_key(slot, kind), bytes, slot);
	return slot;
}

static void slot_drop(struct dependencies *u, enum slot_kind kind, struct slot *slot)
{
	HASH_DEL(u->slots[kind], slot);
	if (kind == SLOT_SIZE)
		size_tracker_exit(&slot->size);
	else if (kind == SLOT_DATA)
		data_tracker_exit(&slot->data);
	else
		tracker_exit(&slot->tracker);
	free(slot);
}

static void share(struct sharing *sharing, u32 task, u32 file, bool is_write)
{
	sharing[file].is_shared |= sharing[file].task && sharing[file].task != task + 1;
	sharing[file].is_written |= is_write;
	sharing[file].task = task + 1;
}

static void find_sharing(const struct graph *graph, struct sharing *sharing)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];
			bool is_copy = op->kind == IOT_KIND_copy_range ||
				       op->kind == IOT_KIND_remap_range;
			bool is_request = op->kind == IOT_KIND_submit ||
					  op->kind == IOT_KIND_complete;

			if (op->kind == IOT_KIND_read || op->kind == IOT_KIND_write || is_copy ||
			    is_request || op->kind == IOT_KIND_touch)
				share(sharing, i, op->file, op->kind == IOT_KIND_write ||
				      (is_request && (op->flags & IOT_RW_write)));
			if (is_copy)
				share(sharing, i, op->file2, true);
			sharing[op->file].is_permitted_anew |= dependencies_is_permission(op);
		}
}

/* -- claims ------------------------------------------------------------------------------ */

/* A place for every second operation: few operations are the first use of a resource. */
static struct claims *claims_make(const struct graph *graph)
{
	u64 ops = 0, places = CLAIM_PLACES_MIN;
	struct claims *claims;
	u32 i;

	for (i = 0; i < graph->task_count; i++)
		ops += graph->tasks[i].op_count;
	while (places < ops / 2 && places < CLAIM_PLACES_MAX)
		places *= 2;
	claims = calloc(1, sizeof(*claims) + places * sizeof(claims->tasks[0]));
	if (claims)
		claims->mask = places - 1;
	return claims;
}

static u64 mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static u64 hash_of(enum slot_kind kind, const void *key, size_t bytes)
{
	const unsigned char *p = key;
	u64 hash = mix(kind, bytes), word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, p, bytes);
	return mix(hash, word);
}

/* Does the resource need a tracker? While tasks claim resources, none does. */
static bool is_tracked(struct dependencies *u, enum slot_kind kind, const void *key, size_t bytes)
{
	u32 *task = &u->claims->tasks[hash_of(kind, key, bytes) & u->claims->mask];

	if (!u->is_claiming)
		return *task == CLAIM_COMMON;
	if (!*task)
		*task = u->waiter.task + 1;
	else if (*task != u->waiter.task + 1)
		*task = CLAIM_COMMON;
	return false;
}

/**
 * dependencies_open() - no resources yet
 * @table: filled in
 * @graph: gets edges
 *
 * Return: 0 or -ENOMEM.
 */
int dependencies_open(struct dependencies *table, struct graph *graph)
{
	int err;

	*table = (struct dependencies){ .sharing = calloc(graph->file_count + 1ul, sizeof(*table->sharing)) };
	table->claims = claims_make(graph);
	err = waiter_open(&table->waiter, graph);
	if (!table->sharing || !table->claims)
		return -ENOMEM;
	find_sharing(graph, table->sharing);
	return err;
}

/**
 * dependencies_close() - free all memory of dependencies_open() and of the uses
 */
void dependencies_close(struct dependencies *table)
{
	struct slot *slot, *next;
	int kind;

	for (kind = 0; kind < SLOT_KIND_COUNT; kind++)
		HASH_ITER (hh, table->slots[kind], slot, next)
			slot_drop(table, kind, slot);
	waiter_close(&table->waiter);
	free(table->claims);
	free(table->sharing);
}

/**
 * dependencies_key() - the operation uses a resource
 * @table: with the current operation
 * @kind: of the resource; not SLOT_SIZE
 * @key: which
 * @bytes: of @key
 * @how: it uses it
 * @cause: of edges
 */
void dependencies_key(struct dependencies *table, enum slot_kind kind, const void *key, size_t bytes, enum use how,
	      enum edge_cause cause)
{
	struct slot *slot;

	if (table->err || !is_tracked(table, kind, key, bytes))
		return;
	slot = slot_of(table, kind, key, bytes);
	if (slot)
		table->err = tracker_use(&table->waiter, &slot->tracker, how, cause);
}

/**
 * dependencies_number() - the operation uses a resource that has a number, but for 0
 */
void dependencies_number(struct dependencies *table, enum slot_kind kind, u64 number, enum use how,
		 enum edge_cause cause)
{
	if (number)
		dependencies_key(table, kind, &number, sizeof(number), how, cause);
}

/**
 * dependencies_size() - the size of a file
 *
 * Return: an argument for tracker_sizes.h; NULL without a file, if only one task uses it, or after an error.
 */
struct size_tracker *dependencies_size(struct dependencies *table, u32 file)
{
	struct slot *slot;

	if (table->err || !file || !is_tracked(table, SLOT_SIZE, &file, sizeof(file)))
		return NULL;
	slot = slot_of(table, SLOT_SIZE, &file, sizeof(file));
	return slot ? &slot->size : NULL;
}

/**
 * dependencies_permissions() - the operation uses the mode and the owners of a file or directory
 * @table: with the current operation
 * @file: which, 0 if none
 * @how: it uses them
 */
void dependencies_permissions(struct dependencies *table, u32 file, enum use how)
{
	if (file && table->sharing[file].is_permitted_anew)
		dependencies_number(table, SLOT_PERMISSIONS, file, how, EDGE_attr);
}

/**
 * dependencies_data() - the bytes of a file
 *
 * Return: an argument for tracker_data.h; NULL if only one task uses the file, or after an error.
 */
struct data_tracker *dependencies_data(struct dependencies *table, u32 file)
{
	const struct sharing *sharing = &table->sharing[file];
	struct slot *slot;

	if (table->err || table->is_claiming || !file || !sharing->is_shared || !sharing->is_written)
		return NULL;
	slot = slot_of(table, SLOT_DATA, &file, sizeof(file));
	return slot ? &slot->data : NULL;
}

/* -- names --------------------------------------------------------------------------------- */

/* A path, and as a look everything above it. */
static void use_path(struct dependencies *u, const char *path, enum use how, enum edge_cause cause)
{
	const char *slash;

	if (!path || !strcmp(path, "."))
		return;
	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		dependencies_key(u, SLOT_PATH, path, (size_t)(slash - path), USE_LOOK, cause);
	dependencies_key(u, SLOT_PATH, path, strlen(path), how, cause);
}

/**
 * dependencies_names() - add the uses of names by an operation
 * @table: with the current operation
 * @cause: of edges
 */
void dependencies_names(struct dependencies *table, enum edge_cause cause)
{
	const struct graph_op *op = table->op;
	enum use change = op->result < 0 ? USE_LOOK : USE_EXCLUSIVE;

	switch (op->kind) {
	case IOT_KIND_open:
		if (!(op->flags & IOT_OPEN_created) || (op->flags & IOT_OPEN_tmpfile))
			change = USE_LOOK;
		use_path(table, op->path, change, cause);
		break;
	case IOT_KIND_mkdir:
	case IOT_KIND_mknod:
	case IOT_KIND_symlink:
	case IOT_KIND_unlink:
	case IOT_KIND_rmdir:
		use_path(table, op->path, change, cause);
		break;
	case IOT_KIND_rename:
		use_path(table, op->path, change, cause);
		use_path(table, op->path2, change, cause);
		break;
	case IOT_KIND_link:
		use_path(table, op->path, USE_LOOK, cause);
		use_path(table, op->path2, change, cause);
		break;
	case IOT_KIND_readdir: /* its path is only that of the open */
		break;
	default:
		use_path(table, op->path, USE_LOOK, cause);
	}
}

/* -- handles and mappings ---------------------------------------------------------------------- */

/**
 * dependencies_handles() - add the uses of handles and mappings by an operation
 * @table: with the current operation
 * @cause: of edges
 */
void dependencies_handles(struct dependencies *table, enum edge_cause cause)
{
	const struct graph_op *op = table->op;
	bool is_end = op->kind == IOT_KIND_open || op->kind == IOT_KIND_release;

	dependencies_number(table, SLOT_HANDLE, op->handle, is_end ? USE_EXCLUSIVE : USE_LOOK, cause);
	switch (op->kind) {
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		dependencies_number(table, SLOT_HANDLE, op->other, USE_LOOK, cause);
		break;
	case IOT_KIND_map:
	case IOT_KIND_unmap:
		dependencies_number(table, SLOT_MAP, op->other, USE_EXCLUSIVE, cause);
		break;
	case IOT_KIND_touch:
	case IOT_KIND_msync:
	case IOT_KIND_madvise:
		dependencies_number(table, SLOT_MAP, op->other, USE_LOOK, cause);
		break;
	}
}

/**
 * dependencies_forget_handle() - the operation was the last use of its handle
 */
void dependencies_forget_handle(struct dependencies *table)
{
	static const enum slot_kind kinds[] = { SLOT_HANDLE, SLOT_POSITION };
	const u64 handle = table->op->handle;
	struct slot *slot;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		HASH_FIND(hh, table->slots[kinds[i]], &handle, sizeof(handle), slot);
		if (slot)
			slot_drop(table, kinds[i], slot);
	}
}
