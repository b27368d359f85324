// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree.c - the initial tree, from the results of operations.
 */
#include "tree_nodes.h"

#include <stdlib.h>
#include <sys/stat.h>

#define DEPTH_MAX 4096

#define COMPONENT(node) ((node)->key + sizeof(u64))

/**
 * tree_open() - nothing is known yet
 *
 * Return: 0 or -ENOMEM.
 */
int tree_open(struct tree **tree)
{
	*tree = calloc(1, sizeof(**tree));
	return *tree ? 0 : -ENOMEM;
}

/**
 * tree_close() - free a tree and its entries; NULL is allowed
 */
void tree_close(struct tree *tree)
{
	struct node *node, *next_node;
	struct tree_name *name, *next_name;
	struct tree_object *object, *next_object;
	struct pending *pending;

	if (!tree)
		return;
	tree_free_observations(tree);
	HASH_ITER (hh, tree->nodes, node, next_node) {
		HASH_DEL(tree->nodes, node);
		free(node->path);
		free(node);
	}
	HASH_ITER (hh, tree->names, name, next_name) {
		HASH_DEL(tree->names, name);
		free(name);
	}
	HASH_ITER (hh, tree->objects, object, next_object) {
		HASH_DEL(tree->objects, object);
		free(object->target);
		free(object);
	}
	while ((pending = tree->pending)) {
		tree->pending = pending->next;
		free(pending);
	}
	free(tree->entries);
	free(tree);
}

/**
 * tree_allocate() - memory, all zeros; without it the tree is short of it
 */
void *tree_allocate(struct tree *tree, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		tree->is_short_of_memory = true;
	return memory;
}

/* An object is identified by the first of its ids. */
static u64 identity(const struct tree *tree, u64 id)
{
	return tree->ids ? iot_names_identity(tree->ids, id) : id;
}

static struct node *node_at(struct tree *tree, u64 dir, const void *component, size_t bytes)
{
	char key[sizeof(u64) + IOT_TAIL_MAX_BYTES];
	size_t key_bytes = sizeof(dir) + bytes;
	struct node *node;

	dir = identity(tree, dir);
	memcpy(key, &dir, sizeof(dir));
	memcpy(key + sizeof(dir), component, bytes);
	HASH_FIND(hh, tree->nodes, key, key_bytes, node);
	if (node)
		return node;
	node = tree_allocate(tree, sizeof(*node) + key_bytes + 1);
	if (!node)
		return NULL;
	memcpy(node->key, key, key_bytes);
	node->key_bytes = key_bytes;
	HASH_ADD(hh, tree->nodes, key, key_bytes, node);
	return node;
}

/**
 * tree_node_of() - the node of a name of the trace
 *
 * Return: NULL if the trace does not show it.
 */
struct node *tree_node_of(struct tree *tree, u64 name)
{
	struct tree_name *n;

	HASH_FIND(hh, tree->names, &name, sizeof(name), n);
	return n ? n->node : NULL;
}

/**
 * tree_object_of() - the object that an id stands for, made if it is new
 *
 * Return: NULL if the id is 0, or out of memory.
 */
struct tree_object *tree_object_of(struct tree *tree, u64 id)
{
	struct tree_object *object;

	if (!id)
		return NULL;
	id = identity(tree, id);
	HASH_FIND(hh, tree->objects, &id, sizeof(id), object);
	if (object)
		return object;
	object = tree_allocate(tree, sizeof(*object));
	if (!object)
		return NULL;
	object->id = id;
	HASH_ADD(hh, tree->objects, id, sizeof(object->id), object);
	return object;
}

static void set_target(struct tree *tree, struct tree_object *object,
		       const struct iot_record *record)
{
	if (!object || object->target || !record->tail_bytes)
		return;
	object->target = strndup((const char *)record->tail, record->tail_bytes);
	if (!object->target)
		tree->is_short_of_memory = true;
}

/* A target that fills the buffer of the reader may be truncated. */
static bool has_all_of_target(const struct iot_record *record)
{
	return record->kind == IOT_KIND_follow ||
	       record->readlink.result < (s64)record->readlink.length_bytes;
}

/* -- names shown by an operation --------------------------------------------------------- */

static void created(struct tree *tree, u64 name, u64 id)
{
	struct tree_object *object = tree_object_of(tree, id);

	tree_missed(tree, name, true);
	if (object)
		object->is_created = true;
}

static void observe_name(struct tree *tree, const struct iot_record *record)
{
	u64 id = record->name.name;
	struct tree_name *name;

	HASH_FIND(hh, tree->names, &id, sizeof(id), name);
	if (name)
		return;
	name = tree_allocate(tree, sizeof(*name));
	if (!name)
		return;
	name->id = id;
	name->node = node_at(tree, record->name.dir, record->tail, record->tail_bytes);
	HASH_ADD(hh, tree->names, id, sizeof(name->id), name);
}

static void observe_object(struct tree *tree, const struct iot_record *record)
{
	const struct iot_rec_object *r = &record->object;
	struct tree_object *object = tree_object_of(tree, r->object);

	if (!object || object->is_known)
		return;
	object->is_known = true;
	object->name = r->name;
	object->mode = r->mode;
	object->uid = r->uid;
	object->gid = r->gid;
	object->rdev = r->rdev;
	object->size_bytes = r->size_bytes;
	object->cached_pages = r->cached_pages;
	set_target(tree, object, record);
}

static void observe_dirent(struct tree *tree, const struct iot_record *record)
{
	struct pending *pending;

	if (record->tail_bytes <= 2 && !memcmp(record->tail, "..", record->tail_bytes))
		return;
	pending = tree_allocate(tree, sizeof(*pending) + record->tail_bytes);
	if (!pending)
		return;
	pending->task = record->dirent.task;
	pending->op = record->dirent.op;
	pending->type = record->dirent.type;
	pending->bytes = record->tail_bytes;
	memcpy(pending->name, record->tail, record->tail_bytes);
	pending->next = tree->pending;
	tree->pending = pending;
}

/* The readdir has ended: now it is known which directory its entries are in. */
static void observe_readdir(struct tree *tree, const struct iot_rec_readdir *r)
{
	struct pending **link = &tree->pending, *pending;
	struct node *node;

	while ((pending = *link)) {
		if (pending->task != r->task || pending->op != r->op) {
			link = &pending->next;
			continue;
		}
		node = node_at(tree, r->object, pending->name, pending->bytes);
		if (node)
			tree_listed(tree, node, pending->type);
		*link = pending->next;
		free(pending);
	}
}

/* O_TMPFILE: the name is that of the directory; the new file has none. */
static void observe_nameless(struct tree *tree, const struct iot_rec_open *r)
{
	struct tree_object *object = tree_object_of(tree, r->object);
	struct node *dir = tree_node_of(tree, r->name);

	if (object)
		object->is_created = true;
	if (dir)
		tree_listed(tree, dir, IOT_TYPE_dir);
}

static void observe_open(struct tree *tree, const struct iot_rec_open *r)
{
	if (r->flags & IOT_OPEN_tmpfile && r->object)
		observe_nameless(tree, r);
	else if (r->flags & IOT_OPEN_created)
		created(tree, r->name, r->object);
	else if (r->object)
		tree_found(tree, r->name, r->object, false);
	else if (r->result == -ENOENT)
		tree_missed(tree, r->name, false);
}

static void observe_rename(struct tree *tree, const struct iot_rec_rename *r)
{
	bool is_change;

	if (r->result)
		return;
	is_change = r->object != r->replaced; /* two names of one file: then nothing happens */
	tree_found(tree, r->name, r->object, is_change);
	if (r->replaced)
		tree_found(tree, r->new_name, r->replaced, is_change);
	else
		tree_missed(tree, r->new_name, is_change);
	tree_note_arrival(tree, r->new_name, r->object);
	if (r->flags & IOT_RENAME_exchange)
		tree_note_arrival(tree, r->name, r->replaced);
}

/**
 * tree_observe() - learn from a record
 * @tree: observations so far
 * @names: meaning of ids at this record
 * @record: the next record of the trace
 *
 * Return: 0 or -ENOMEM.
 */
int tree_observe(struct tree *tree, struct iot_names *names, const struct iot_record *record)
{
	tree->ids = names;
	tree->has_placed = false;
	tree->observed = record;
	switch (record->kind) {
	case IOT_KIND_name:
		observe_name(tree, record);
		break;
	case IOT_KIND_object:
		observe_object(tree, record);
		break;
	case IOT_KIND_mount:
		if (!tree->root)
			tree->root = record->mount.object;
		break;
	case IOT_KIND_opened:
		tree_found(tree, record->opened.name, record->opened.object, false);
		break;
	case IOT_KIND_dirent:
		observe_dirent(tree, record);
		break;
	case IOT_KIND_readdir:
		observe_readdir(tree, &record->readdir);
		break;
	case IOT_KIND_lookup:
		if (record->lookup.object)
			tree_found(tree, record->lookup.name, record->lookup.object, false);
		else if (record->lookup.result == -ENOENT)
			tree_missed(tree, record->lookup.name, false);
		break;
	case IOT_KIND_open:
		observe_open(tree, &record->open);
		break;
	case IOT_KIND_mkdir:
	case IOT_KIND_mknod:
	case IOT_KIND_symlink: /* all begin with name and object */
		if (!record->mkdir.result)
			created(tree, record->mkdir.name, record->mkdir.object);
		break;
	case IOT_KIND_rename:
		observe_rename(tree, &record->rename);
		break;
	case IOT_KIND_link:
		if (!record->link.result) {
			tree_found(tree, record->link.old_name, record->link.object, false);
			tree_missed(tree, record->link.name, true);
			tree_note_arrival(tree, record->link.name, record->link.object);
		}
		break;
	case IOT_KIND_readlink:
	case IOT_KIND_follow: /* both begin with name and object */
		if (has_all_of_target(record))
			set_target(tree, tree_object_of(tree, record->follow.object), record);
		tree_found(tree, record->follow.name, record->follow.object, false);
		break;
	case IOT_KIND_rmdir:
	case IOT_KIND_unlink: /* both begin with name and object */
		tree_found(tree, record->unlink.name, record->unlink.object, !record->op.result);
		break;
	case IOT_KIND_stat:
	case IOT_KIND_setattr:
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_removexattr:
	case IOT_KIND_listxattr:
	case IOT_KIND_getfileattr:
	case IOT_KIND_setfileattr: /* all begin with name and object */
		tree_found(tree, record->stat.name, record->stat.object, false);
		break;
	}
	tree->ids = NULL;
	return tree->is_short_of_memory ? -ENOMEM : 0;
}

/* -- the end -------------------------------------------------------------------------------- */

static u64 dir_of(const struct node *node)
{
	u64 dir;

	memcpy(&dir, node->key, sizeof(dir));
	return dir;
}

/*
 * The path that a name had at the beginning; NULL if it had none: its directory was made
 * by the trace, or is not known.
 */
static const char *node_path(struct tree *tree, struct node *node, int depth)
{
	struct tree_object *dir;
	const char *parent;

	if (node->path)
		return node->path;
	dir = dir_of(node) ? tree_object_of(tree, dir_of(node)) : NULL;
	if (!dir_of(node)) {
		node->path = strdup(".");
		return node->path;
	}
	if (!dir || dir->is_created || !dir->first || depth > DEPTH_MAX)
		return NULL;
	parent = node_path(tree, dir->first, depth + 1);
	if (!parent)
		return NULL;
	if (!strcmp(parent, "."))
		node->path = strdup(COMPONENT(node));
	else if (asprintf(&node->path, "%s/%s", parent, COMPONENT(node)) < 0)
		node->path = NULL;
	return node->path;
}

/*
 * An object that was only announced, as a directory on the way to another: it was there. If its name
 * was seen with an unknown object, the object is this one.
 */
static void place_announced(struct tree *tree)
{
	struct tree_object *object;
	struct node *node;

	if (tree->has_placed)
		return;
	tree->has_placed = true;
	for (object = tree->objects; object; object = object->hh.next) {
		node = tree_node_of(tree, object->name);
		if (!object->is_known || object->is_created || object->first || !node)
			continue;
		object->first = node;
		if (node->state == NODE_UNKNOWN || (node->state == NODE_PRESENT && !node->object)) {
			node->state = NODE_PRESENT;
			node->object = object;
		}
	}
}

/**
 * tree_place() - an object was there, but had no name: it gets one in the root
 * @tree: observations so far
 * @id: the object
 * @component: the name, which nothing else has
 *
 * Return: 0 or -ENOMEM.
 */
int tree_place(struct tree *tree, u64 id, const char *component)
{
	struct tree_object *object = tree_object_of(tree, id);
	struct node *node = node_at(tree, tree->root, component, strlen(component));

	if (!node || !object)
		return -ENOMEM;
	node->state = NODE_PRESENT;
	node->object = object;
	object->first = node;
	return 0;
}

/**
 * tree_path() - the path that an object had at the beginning
 * @tree: complete; not to be observed any more
 * @id: the object
 *
 * Return: the path, which lives as long as the tree; NULL if it was not there, or is not known.
 */
const char *tree_path(struct tree *tree, u64 id)
{
	struct tree_object *object = tree_object_of(tree, id);

	place_announced(tree);
	return object && object->first && !object->is_created ? node_path(tree, object->first, 0) : NULL;
}

/**
 * tree_each_first() - visit the initial object of each name if known, or the dispute about it
 * @tree: complete; not to be observed any more
 * @fn: called with each
 * @context: for @fn
 *
 * Return: 0, -ENOMEM, or the result of @fn.
 */
int tree_each_first(struct tree *tree, tree_first_fn fn, void *context)
{
	struct node *node;
	int err = 0;

	place_announced(tree);
	for (node = tree->nodes; node && !err; node = node->hh.next) {
		bool is_made = node->object && node->object->is_created;
		bool is_known = node->is_disputed || node->state == NODE_ABSENT ||
				(node->object && !is_made);

		if (is_known && node_path(tree, node, 0))
			err = fn(context, &(struct tree_first){
						  .path = node->path,
						  .object = node->object ? node->object->id : 0,
						  .dir = dir_of(node),
						  .is_disputed = node->is_disputed });
	}
	return err;
}

/**
 * tree_each_size() - how long each file was
 * @tree: complete; not to be observed any more
 * @fn: called with each
 * @context: for @fn
 *
 * Return: 0, or the result of @fn.
 */
int tree_each_size(struct tree *tree, tree_size_fn fn, void *context)
{
	struct tree_object *object;
	int err = 0;

	for (object = tree->objects; object && !err; object = object->hh.next)
		if (object->is_created || (object->is_known && S_ISREG(object->mode)))
			err = fn(context, &(struct tree_size){
						  .object = object->id,
						  .bytes = object->is_created ? 0 : object->size_bytes });
	return err;
}

static u32 guessed_mode(u32 type)
{
	switch (type) {
	case IOT_TYPE_dir:
		return S_IFDIR | 0755;
	case IOT_TYPE_symlink:
		return S_IFLNK | 0777;
	case IOT_TYPE_fifo:
		return S_IFIFO | 0644;
	case IOT_TYPE_socket:
		return S_IFSOCK | 0755;
	default:
		return S_IFREG | 0644;
	}
}

static void fill_entry(struct tree_entry *entry, const struct node *node)
{
	const struct tree_object *object = node->object;

	*entry = (struct tree_entry){ .path = node->path };
	if (!object) {
		entry->mode = guessed_mode(node->type);
		entry->target = S_ISLNK(entry->mode) ? "unknown" : NULL;
		entry->is_guess = true;
		return;
	}
	if (object->first != node) {
		entry->target = object->first->path;
		return;
	}
	entry->mode = object->mode;
	entry->uid = object->uid;
	entry->gid = object->gid;
	entry->rdev = object->rdev;
	entry->cached_pages = object->cached_pages;
	if (S_ISREG(object->mode))
		entry->size_bytes = object->size_bytes;
	if (S_ISLNK(object->mode))
		entry->target = object->target ? object->target : "unknown";
}

static int compare_entries(const void *a, const void *b)
{
	const struct tree_entry *x = a, *y = b;

	/* Names of their own come before further names of the same file. */
	if (!x->mode != !y->mode)
		return !x->mode - !y->mode;
	return strcmp(x->path, y->path);
}

static bool is_entry(struct tree *tree, struct node *node)
{
	return node->state == NODE_PRESENT && !(node->object && node->object->is_created) &&
	       node_path(tree, node, 0);
}

/* Where an entry was, its directory was, whatever was found there first: the making of it was lost. */
static void place_directories(struct tree *tree, struct node *node)
{
	struct tree_object *dir;

	while (dir_of(node)) {
		dir = tree_object_of(tree, dir_of(node));
		node = dir->first; /* or the entry would have no path */
		if (is_entry(tree, node))
			return;
		node->state = NODE_PRESENT;
		node->object = dir;
	}
}

static int list_entries(struct tree *tree)
{
	struct node *node;

	place_announced(tree);
	tree->entries = calloc(HASH_COUNT(tree->nodes) + 1, sizeof(*tree->entries));
	if (!tree->entries)
		return -ENOMEM;
	for (node = tree->nodes; node; node = node->hh.next)
		if (is_entry(tree, node))
			place_directories(tree, node);
	for (node = tree->nodes; node; node = node->hh.next)
		if (is_entry(tree, node))
			fill_entry(&tree->entries[tree->entry_count++], node);
	qsort(tree->entries, tree->entry_count, sizeof(*tree->entries), compare_entries);
	return 0;
}

/**
 * tree_finish() - list the initial tree, parents before children; each call returns the same list
 * @tree: complete; nothing may be added any more
 * @entries: out: live as long as the tree
 * @count: out: their number
 *
 * Return: 0 or -ENOMEM.
 */
int tree_finish(struct tree *tree, const struct tree_entry **entries, size_t *count)
{
	int err = tree->entries ? 0 : list_entries(tree);

	if (err)
		return err;
	*entries = tree->entries;
	*count = tree->entry_count;
	return tree->is_short_of_memory ? -ENOMEM : 0;
}

/**
 * tree_absent() - all that was looked for and not there, or made where nothing was
 * @tree: finished
 * @fn: called with each path, which lives as long as the tree
 * @context: for @fn
 *
 * Return: 0, -ENOMEM, or the result of @fn.
 */
int tree_absent(struct tree *tree, tree_path_fn fn, void *context)
{
	struct node *node;
	int err = 0;

	for (node = tree->nodes; node && !err; node = node->hh.next)
		if (node->state == NODE_ABSENT && node_path(tree, node, 0))
			err = fn(context, node->path);
	return err;
}
