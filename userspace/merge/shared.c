// SPDX-License-Identifier: GPL-2.0-only
/*
 * shared.c - which files of several nodes are the same.
 *
 * A recorded directory is shared if it has the same path, type of file system and root inode on
 * two nodes, and the user states it, or its type is that of a shared file system. An object of a shared
 * directory is known by its inode number and generation on all nodes, and goes by the id that it
 * got first; so do names, by the directory that they are in.
 *
 * All other files are different: the root of such a directory becomes a directory
 * with the name of the node, and its path if the node has several, below a root that all have in common.
 *
 * The operations of two nodes on the same file are ordered by the fitted clocks: the order is
 * certain if messages determine it, otherwise as exact as the fit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define NODE_SHIFT 32 /* device numbers have 32 bits; those of nodes differ above */

/* Of a component, which has 255 bytes. */
#define HOST_BYTES_MAX 100
#define PATH_BYTES_MAX 150

struct inode {
	UT_hash_handle hh;
	struct inode_key {
		u64 share;
		u64 ino;
		u64 generation;
	} key;
	u64 object;
};

/* A name in a directory, which a zero byte does not end. */
struct entry {
	UT_hash_handle hh;
	u64 name;
	char key[]; /* id of the directory, component */
};

struct alias {
	UT_hash_handle hh;
	u64 id;
	u64 meant;
	struct inode_key inode; /* of an object */
};

struct shared {
	struct inode *inodes;
	struct entry *entries;
	struct alias *objects; /* all that are shared */
	struct alias *names;   /* those that go by another id */
};

/* -- which directories ------------------------------------------------------------------------- */

static bool is_named_shared(const struct merge *merge, const char *path)
{
	const char *const *name = merge->options.shared;

	for (; name && *name; name++)
		if (!strcmp(*name, path))
			return true;
	return false;
}

static bool is_same(const struct merge_mount *a, const struct merge_mount *b)
{
	return a->node != b->node && !strcmp(a->path, b->path) && a->magic == b->magic &&
	       a->ino && a->ino == b->ino;
}

static void find_shares(struct merge *merge)
{
	u32 i, j;

	for (i = 0; i < merge->mount_count; i++) {
		struct merge_mount *mount = &merge->mounts[i];
		bool is_declared = is_named_shared(merge, mount->path);

		if (!is_declared && !(merge->options.is_shared_guessed && iot_is_shared_type(mount->magic)))
			continue;
		mount->may_share = true;
		for (j = 0; j < i && mount->share == i; j++)
			if (merge->mounts[j].may_share && is_same(&merge->mounts[j], mount))
				mount->share = merge->mounts[j].share;
		if (is_declared && mount->share == i && i &&
		    !strcmp(merge->mounts[0].path, mount->path))
			merge->options.say("%s: is not the same directory on %s and on %s: its "
					   "files are treated as different", mount->path,
					   merge->nodes[mount->node].name,
					   merge->nodes[merge->mounts[0].node].name);
	}
	for (i = 0; i < merge->mount_count; i++) {
		u32 share = merge->mounts[i].share;

		if (share != i)
			merge->mounts[share].is_shared = merge->mounts[i].is_shared = true;
	}
}

/* Has the node another directory for itself? Several traces of it may have the same one. */
static bool has_another(const struct merge *merge, const struct merge_mount *mount)
{
	u32 i;

	for (i = 0; i < merge->mount_count; i++)
		if (merge->mounts[i].node == mount->node && !merge->mounts[i].is_shared &&
		    strcmp(merge->mounts[i].path, mount->path))
			return true;
	return false;
}

/* Of several directories that only a node has: HOST:scratch:m1 is its /scratch/m1. */
static int name_own(struct merge *merge)
{
	u32 i;

	for (i = 0; i < merge->mount_count; i++) {
		struct merge_mount *mount = &merge->mounts[i];
		const char *path = mount->path, *host = merge->nodes[mount->node].name;
		char *colon;

		if (mount->is_shared || !has_another(merge, mount))
			continue;
		if (strlen(path) > PATH_BYTES_MAX) /* the end is more specific */
			path += strlen(path) - PATH_BYTES_MAX;
		if (asprintf(&mount->component, "%.*s%s", HOST_BYTES_MAX, host, path) < 0) {
			mount->component = NULL;
			return -ENOMEM;
		}
		for (colon = mount->component; (colon = strchr(colon, '/')); colon++)
			*colon = ':';
	}
	return 0;
}

/**
 * shared_open() - decide which directories are shared
 */
int shared_open(struct merge *merge)
{
	u32 i;
	int err;

	if (!merge_is_cluster(merge))
		return 0;
	merge->shared = calloc(1, sizeof(*merge->shared));
	if (!merge->shared)
		return merge_fail(merge, merge->options.output, -ENOMEM);
	find_shares(merge);
	err = name_own(merge);
	if (err)
		return merge_fail(merge, merge->options.output, err);
	for (i = 0; i < merge->mount_count; i++) {
		struct merge_mount *mount = &merge->mounts[i];
		const struct merge_node *node = &merge->nodes[mount->node];

		mount->name = merge_new_id(node, IDS_name, mount->name);
	}
	return 0;
}

#define FREE_ALL(head)                              \
	do {                                        \
		HASH_ITER (hh, head, item, next) {  \
			HASH_DEL(head, item);       \
			free(item);                 \
		}                                   \
	} while (0)

static void free_aliases(struct alias *head)
{
	struct alias *item, *next;

	FREE_ALL(head);
}

static void free_inodes(struct inode *head)
{
	struct inode *item, *next;

	FREE_ALL(head);
}

static void free_entries(struct entry *head)
{
	struct entry *item, *next;

	FREE_ALL(head);
}

/**
 * shared_close() - free; NULL is allowed
 */
void shared_close(struct shared *shared)
{
	if (!shared)
		return;
	free_aliases(shared->objects);
	free_aliases(shared->names);
	free_inodes(shared->inodes);
	free_entries(shared->entries);
	free(shared);
}

/* -- meaning of ids ----------------------------------------------------------------------------- */

static struct alias *alias_find(struct alias *head, u64 id)
{
	struct alias *alias;

	HASH_FIND(hh, head, &id, sizeof(id), alias);
	return alias;
}

static u64 meant(struct alias *head, u64 id)
{
	const struct alias *alias = alias_find(head, id);

	return alias ? alias->meant : id;
}

static int alias_set(struct alias **head, u64 id, u64 means, const struct inode_key *inode)
{
	struct alias *alias = alias_find(*head, id);

	if (!alias) {
		alias = calloc(1, sizeof(*alias));
		if (!alias)
			return -ENOMEM;
		alias->id = id;
		HASH_ADD(hh, *head, id, sizeof(alias->id), alias);
	}
	alias->meant = means;
	if (inode)
		alias->inode = *inode;
	return 0;
}

static int inode_object(struct shared *shared, const struct inode_key *key, u64 *object)
{
	struct inode *inode;

	HASH_FIND(hh, shared->inodes, key, sizeof(*key), inode);
	if (!inode) {
		inode = calloc(1, sizeof(*inode));
		if (!inode)
			return -ENOMEM;
		inode->key = *key;
		inode->object = *object;
		HASH_ADD(hh, shared->inodes, key, sizeof(inode->key), inode);
	}
	*object = inode->object;
	return 0;
}

static int entry_name(struct shared *shared, u64 dir, const struct iot_record *record, u64 *name)
{
	size_t bytes = sizeof(dir) + record->tail_bytes;
	char key[sizeof(dir) + IOT_TAIL_MAX_BYTES];
	struct entry *entry;

	memcpy(key, &dir, sizeof(dir));
	if (record->tail_bytes)
		memcpy(key + sizeof(dir), record->tail, record->tail_bytes);
	HASH_FIND(hh, shared->entries, key, bytes, entry);
	if (!entry) {
		entry = calloc(1, sizeof(*entry) + bytes);
		if (!entry)
			return -ENOMEM;
		memcpy(entry->key, key, bytes);
		entry->name = *name;
		HASH_ADD_KEYPTR(hh, shared->entries, entry->key, bytes, entry);
	}
	*name = entry->name;
	return 0;
}

/* The recorded directory of a node that a device number belongs to, NULL if none. */
static const struct merge_mount *mount_of(const struct merge *merge, u32 node, u64 dev)
{
	u32 i;

	for (i = 0; i < merge->mount_count; i++)
		if (merge->mounts[i].node == node && merge->mounts[i].dev == dev)
			return &merge->mounts[i];
	return NULL;
}

static u64 new_dev(const struct merge *merge, u32 node, u64 dev)
{
	const struct merge_mount *mount = mount_of(merge, node, dev);

	if (mount && mount->is_shared) {
		mount = &merge->mounts[mount->share];
		node = mount->node;
		dev = mount->dev;
	}
	return dev ^ (u64)node << NODE_SHIFT;
}

static int rewrite_object(struct merge *merge, u32 node, struct iot_rec_object *r)
{
	const struct merge_mount *mount = mount_of(merge, node, r->dev);
	const struct inode_key inode = {
		.share = mount ? mount->share : 0, .ino = r->ino, .generation = r->generation,
	};
	u64 id = r->object;
	int err;

	r->dev = new_dev(merge, node, r->dev);
	r->name = meant(merge->shared->names, r->name);
	if (!mount || !mount->is_shared)
		return 0;
	err = inode_object(merge->shared, &inode, &r->object);
	return err ? err : alias_set(&merge->shared->objects, id, r->object, &inode);
}

/* A shared directory has one name for all nodes; a private one goes below the node's name. */
static int rewrite_root(struct merge *merge, u32 node, struct iot_record *record)
{
	struct iot_rec_name *r = &record->name;
	const char *component = NULL;
	u64 id = r->name;
	u32 i;

	for (i = 0; i < merge->mount_count; i++) {
		const struct merge_mount *mount = &merge->mounts[i];

		if (mount->name != id)
			continue;
		component = mount->component;
		if (!mount->is_shared)
			break;
		r->name = merge->mounts[mount->share].name;
		return r->name == id ? 0 : alias_set(&merge->shared->names, id, r->name, NULL);
	}
	r->dir = merge->root_object;
	record->tail = (const u8 *)(component ?: merge->nodes[node].name);
	record->tail_bytes = (u16)strlen((const char *)record->tail);
	return 0;
}

static int rewrite_name(struct merge *merge, u32 node, struct iot_record *record)
{
	struct iot_rec_name *r = &record->name;
	const struct alias *dir = alias_find(merge->shared->objects, r->dir);
	u64 id = r->name;
	int err;

	if (!r->dir)
		return rewrite_root(merge, node, record);
	if (!dir)
		return 0;
	r->dir = dir->meant;
	err = entry_name(merge->shared, r->dir, record, &r->name);
	return err || r->name == id ? err : alias_set(&merge->shared->names, id, r->name, NULL);
}

/**
 * shared_rewrite() - convert a record to the ids and names common to all nodes
 * @record: with new ids
 *
 * Return: 0 or -ENOMEM.
 */
int shared_rewrite(struct merge *merge, const struct merge_input *input, struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	if (record->kind == IOT_KIND_object)
		return rewrite_object(merge, input->node, &record->object);
	if (record->kind == IOT_KIND_name)
		return rewrite_name(merge, input->node, record);
	if (record->kind == IOT_KIND_mount)
		record->mount.dev = new_dev(merge, input->node, record->mount.dev);
	for (i = 0; i < info->field_count && merge->shared->objects; i++) {
		const struct iot_field *field = &info->fields[i];
		struct alias *aliases = field->class == IOT_CLASS_object ? merge->shared->objects :
								   merge->shared->names;

		if (field->class == IOT_CLASS_object || field->class == IOT_CLASS_name)
			iot_field_set(record, field, meant(aliases, iot_field_get(record, field)));
	}
	return 0;
}

static void forget(struct shared *shared, u64 object)
{
	const struct alias *alias = alias_find(shared->objects, object);
	struct inode *inode = NULL;

	if (alias)
		HASH_FIND(hh, shared->inodes, &alias->inode, sizeof(alias->inode), inode);
	if (inode && inode->object == object) {
		HASH_DEL(shared->inodes, inode);
		free(inode);
	}
}

/**
 * shared_after() - update the state after a written record: inodes that become free for others
 */
void shared_after(struct merge *merge, const struct iot_record *record)
{
	if (!merge_is_cluster(merge) || iot_kind_info(record->kind)->group != IOT_GROUP_op ||
	    record->op.result < 0)
		return;
	if (record->kind == IOT_KIND_unlink && !record->unlink.nlink)
		forget(merge->shared, record->unlink.object);
	else if (record->kind == IOT_KIND_rmdir)
		forget(merge->shared, record->rmdir.object);
	else if (record->kind == IOT_KIND_rename && !(record->rename.flags & IOT_RENAME_exchange))
		forget(merge->shared, record->rename.replaced);
}
