// SPDX-License-Identifier: GPL-2.0-only
/*
 * filesystem.c - a small file system in memory.
 */
#include "filesystem.h"

#include <stdlib.h>

void fs_init(struct fs *fs)
{
	int i;

	memset(fs, 0, sizeof(*fs));
	fs->nodes[FS_ROOT].type = IOT_TYPE_dir;
	fs->node_count = 1;
	for (i = 0; i < FS_HANDLES; i++) {
		fs->handles[i].node = FS_NONE;
		fs->maps[i] = FS_NONE;
	}
}

/* -- names ------------------------------------------------------------------------------------- */

static struct fs_entry *entry_in(struct fs *fs, int dir, const char *name)
{
	struct fs_node *node = &fs->nodes[dir];
	u32 i;

	for (i = 0; i < node->entry_count; i++)
		if (!strcmp(node->entries[i].name, name))
			return &node->entries[i];
	return NULL;
}

/* Return: the directory of the last component of a path, or an errno. */
static int parent_of(struct fs *fs, const char *path, char *last)
{
	int dir = FS_ROOT;

	for (;;) {
		size_t bytes = strcspn(path, "/");
		struct fs_entry *entry;

		if (bytes >= FS_NAME)
			abort();
		memcpy(last, path, bytes);
		last[bytes] = 0;
		if (!path[bytes])
			return dir;
		entry = entry_in(fs, dir, last);
		if (!entry)
			return -ENOENT;
		if (fs->nodes[entry->node].type != IOT_TYPE_dir)
			return fs->nodes[entry->node].type == IOT_TYPE_symlink ? -ELOOP : -ENOTDIR;
		dir = entry->node;
		path += bytes + 1;
	}
}

static int find(struct fs *fs, const char *path)
{
	char last[FS_NAME];
	struct fs_entry *entry;
	int dir;

	if (!strcmp(path, "."))
		return FS_ROOT;
	dir = parent_of(fs, path, last);
	if (dir < 0)
		return dir;
	entry = entry_in(fs, dir, last);
	return entry ? entry->node : -ENOENT;
}

int fs_find(const struct fs *fs, const char *path)
{
	return find((struct fs *)fs, path);
}

static void enter(struct fs *fs, int dir, const char *name, int node)
{
	struct fs_node *d = &fs->nodes[dir];

	if (d->entry_count == FS_ENTRIES)
		abort();
	strcpy(d->entries[d->entry_count].name, name);
	d->entries[d->entry_count++].node = node;
	fs->nodes[node].links++;
}

static void leave(struct fs *fs, int dir, const char *name)
{
	struct fs_node *d = &fs->nodes[dir];
	struct fs_entry *entry = entry_in(fs, dir, name);

	fs->nodes[entry->node].links--;
	*entry = d->entries[--d->entry_count];
}

static int new_node(struct fs *fs, u32 type, u32 tag)
{
	if (fs->node_count == FS_NODES)
		abort();
	fs->nodes[fs->node_count].type = type;
	fs->nodes[fs->node_count].tag = tag;
	return (int)fs->node_count++;
}

int fs_make(struct fs *fs, const char *path, u32 type, u32 tag)
{
	char last[FS_NAME];
	int dir = parent_of(fs, path, last), node;

	if (dir < 0)
		return dir;
	if (entry_in(fs, dir, last))
		return -EEXIST;
	node = new_node(fs, type, tag);
	enter(fs, dir, last, node);
	return node;
}

static s64 make(struct fs *fs, const struct fs_op *op, u32 type)
{
	int node = fs_make(fs, op->path, type, op->tag);

	if (node >= 0 && type == IOT_TYPE_symlink)
		strcpy(fs->nodes[node].target, op->path2);
	return node < 0 ? node : 0;
}

static s64 do_lookup(struct fs *fs, const struct fs_op *op, u64 *seen)
{
	int node = find(fs, op->path);

	if ((op->flags & IOT_INTENT_create) && (op->flags & IOT_INTENT_excl))
		return node >= 0 ? -EEXIST : node == -ENOENT ? 0 : node;
	*seen = node < 0 ? 0 : fs->nodes[node].tag;
	return node < 0 ? node : 0;
}

static s64 do_remove(struct fs *fs, const struct fs_op *op)
{
	char last[FS_NAME];
	int dir = parent_of(fs, op->path, last), node = find(fs, op->path);
	bool is_dir;

	if (node < 0)
		return node;
	is_dir = fs->nodes[node].type == IOT_TYPE_dir;
	if (is_dir != (op->kind == IOT_KIND_rmdir))
		return is_dir ? -EISDIR : -ENOTDIR;
	if (is_dir && fs->nodes[node].entry_count)
		return -ENOTEMPTY;
	leave(fs, dir, last);
	return 0;
}

static s64 do_rename(struct fs *fs, const struct fs_op *op, u64 *seen)
{
	char last[FS_NAME], last2[FS_NAME];
	int dir = parent_of(fs, op->path, last), dir2 = parent_of(fs, op->path2, last2);
	int node = find(fs, op->path), node2 = find(fs, op->path2);
	bool is_dir;

	if (node < 0)
		return node;
	if (dir2 < 0)
		return dir2;
	*seen = fs->nodes[node].tag + (node2 < 0 ? 0 : 31ull * fs->nodes[node2].tag);
	if (op->flags & IOT_RENAME_exchange) {
		if (node2 < 0)
			return node2;
		entry_in(fs, dir, last)->node = node2;
		entry_in(fs, dir2, last2)->node = node;
		return 0;
	}
	if (node2 == node) /* hard links to one file */
		return 0;
	is_dir = fs->nodes[node].type == IOT_TYPE_dir;
	if (node2 >= 0 && is_dir != (fs->nodes[node2].type == IOT_TYPE_dir))
		return is_dir ? -ENOTDIR : -EISDIR;
	if (node2 >= 0 && is_dir && fs->nodes[node2].entry_count)
		return -ENOTEMPTY;
	if (node2 >= 0)
		leave(fs, dir2, last2);
	leave(fs, dir, last);
	enter(fs, dir2, last2, node);
	return 0;
}

static s64 do_link(struct fs *fs, const struct fs_op *op, u64 *seen)
{
	char last[FS_NAME];
	int node = op->path ? find(fs, op->path) : fs->handles[op->handle].node;
	int dir = parent_of(fs, op->path2, last);

	if (node < 0)
		return op->path ? node : -EBADF;
	if (dir < 0)
		return dir;
	if (entry_in(fs, dir, last))
		return -EEXIST;
	*seen = fs->nodes[node].tag;
	enter(fs, dir, last, node);
	return 0;
}

/* -- data ------------------------------------------------------------------------------------ */

static void add_extent(struct fs_node *file, u64 begin, u64 end, u32 tag)
{
	if (begin >= end)
		return;
	if (file->extent_count == FS_EXTENTS)
		abort();
	file->extents[file->extent_count++] = (struct fs_extent){ begin, end, tag };
}

/* Remove the pieces in a range. */
static void forget_data(struct fs_node *file, u64 begin, u64 end)
{
	u32 i = 0;

	while (i < file->extent_count) {
		const struct fs_extent e = file->extents[i];

		if (e.end <= begin || e.begin >= end) {
			i++;
			continue;
		}
		file->extents[i] = file->extents[--file->extent_count];
		add_extent(file, e.begin, e.begin < begin ? begin : e.begin, e.tag);
		add_extent(file, end, e.end, e.tag);
	}
}

static void put_data(struct fs_node *file, u64 begin, u64 length_bytes, u32 tag)
{
	forget_data(file, begin, begin + length_bytes);
	add_extent(file, begin, begin + length_bytes, tag);
}

/* A number that identifies the writers of a range, whatever its pieces are. */
static u64 data_seen(const struct fs_node *file, u64 begin, u64 length_bytes)
{
	u64 end = begin + length_bytes, seen = 0;
	u32 i;

	for (i = 0; i < file->extent_count; i++) {
		const struct fs_extent *e = &file->extents[i];
		u64 from = e->begin > begin ? e->begin : begin, to = e->end < end ? e->end : end;

		if (from < to)
			seen += e->tag * (to * to - from * from);
	}
	return seen;
}

static void resize(struct fs_node *file, u64 size_bytes)
{
	if (size_bytes < file->size)
		forget_data(file, size_bytes, file->size);
	file->size = size_bytes;
}

/* -- handles ------------------------------------------------------------------------------------- */

static s64 do_open(struct fs *fs, const struct fs_op *op, u64 *seen)
{
	int node = find(fs, op->path);

	if (node >= 0 && (op->flags & IOT_OPEN_create) && (op->flags & IOT_OPEN_excl))
		return -EEXIST;
	if (node == -ENOENT && (op->flags & IOT_OPEN_create))
		node = fs_make(fs, op->path, IOT_TYPE_file, op->tag);
	if (node < 0)
		return node;
	if (fs->nodes[node].type == IOT_TYPE_symlink)
		return -ELOOP;
	if (op->flags & IOT_OPEN_trunc)
		resize(&fs->nodes[node], 0);
	*seen = fs->nodes[node].tag;
	if (op->handle)
		fs->handles[op->handle] = (struct fs_handle){ .node = node };
	return 0;
}

static void grow(struct fs_node *file, u64 end_bytes)
{
	if (end_bytes > file->size)
		file->size = end_bytes;
}

static u64 readable(const struct fs_node *file, u64 offset_bytes, u64 length_bytes)
{
	u64 left = offset_bytes < file->size ? file->size - offset_bytes : 0;

	return left < length_bytes ? left : length_bytes;
}

static s64 do_write(struct fs_node *file, const struct fs_op *op, u64 *seen)
{
	u64 offset_bytes = op->flags & IOT_RW_append ? file->size : op->offset_bytes;

	*seen = op->flags & IOT_RW_append ? offset_bytes : 0;
	put_data(file, offset_bytes, op->length_bytes, op->tag);
	grow(file, offset_bytes + op->length_bytes);
	return (s64)op->length_bytes;
}

static s64 do_seek(struct fs_handle *handle, const struct fs_node *file, const struct fs_op *op)
{
	handle->is_at_end = false;
	switch (op->flags) {
	case IOT_WHENCE_set:
		return (s64)op->offset_bytes;
	case IOT_WHENCE_cur: /* positions do not move otherwise, see replayfs/run_vfs_data.c */
		return op->result;
	default:
		return (s64)(file->size + op->offset_bytes);
	}
}

static s64 do_readdir(struct fs_handle *handle, const struct fs_node *dir, u64 *seen)
{
	u32 i;

	for (i = 0; i < dir->entry_count && !handle->is_at_end; i++) {
		const char *c;
		u64 hash = 5381;

		for (c = dir->entries[i].name; *c; c++)
			hash = hash * 33 + (u8)*c;
		*seen += hash;
	}
	handle->is_at_end = true;
	return 0;
}

static s64 do_read(const struct fs_node *file, const struct fs_op *op, u64 *seen)
{
	u64 bytes = readable(file, op->offset_bytes, op->length_bytes);

	*seen = data_seen(file, op->offset_bytes, bytes);
	return (s64)bytes;
}

static s64 do_copy(struct fs *fs, const struct fs_op *op, u64 *seen)
{
	int from = fs->handles[op->handle].node, to = fs->handles[op->other].node;
	u64 bytes;

	if (to < 0)
		return -EBADF;
	bytes = readable(&fs->nodes[from], op->offset_bytes, op->length_bytes);
	*seen = data_seen(&fs->nodes[from], op->offset_bytes, bytes);
	put_data(&fs->nodes[to], op->extra, bytes, op->tag);
	if (bytes)
		grow(&fs->nodes[to], op->extra + bytes);
	return (s64)bytes;
}

static s64 on_handle(struct fs *fs, const struct fs_op *op, u64 *seen)
{
	struct fs_handle *handle = &fs->handles[op->handle];
	struct fs_node *file = &fs->nodes[handle->node < 0 ? FS_ROOT : handle->node];

	if (handle->node < 0)
		return -EBADF;
	switch (op->kind) {
	case IOT_KIND_release:
		handle->node = FS_NONE;
		return 0;
	case IOT_KIND_read:
		return do_read(file, op, seen);
	case IOT_KIND_write:
		return do_write(file, op, seen);
	case IOT_KIND_seek:
		return do_seek(handle, file, op);
	case IOT_KIND_readdir:
		return do_readdir(handle, file, seen);
	case IOT_KIND_fallocate:
		grow(file, op->offset_bytes + op->length_bytes);
		return 0;
	case IOT_KIND_copy_range:
		return do_copy(fs, op, seen);
	case IOT_KIND_map:
		fs->maps[op->other] = handle->node;
		return 0;
	default: /* flush */
		return 0;
	}
}

/* -- objects, by name or handle -------------------------------------------------------------------- */

static s64 do_xattr(struct fs_node *node, const struct fs_op *op)
{
	u32 bit = 1u << (op->path2[strlen(op->path2) - 1] & 7);
	bool is_there = node->attrs & bit;

	switch (op->kind) {
	case IOT_KIND_setxattr:
		if (op->flags && is_there != (op->flags == 2))
			return is_there ? -EEXIST : -ENODATA;
		node->attrs |= bit;
		return 0;
	case IOT_KIND_removexattr:
		node->attrs &= ~bit;
		return is_there ? 0 : -ENODATA;
	default:
		return is_there ? 5 : -ENODATA;
	}
}

static s64 on_object(struct fs *fs, const struct fs_op *op, u64 *seen)
{
	int at = op->path ? find(fs, op->path) : fs->handles[op->handle].node;
	struct fs_node *node = &fs->nodes[at < 0 ? FS_ROOT : at];

	if (at < 0)
		return op->path ? at : -EBADF;
	*seen = node->tag;
	switch (op->kind) {
	case IOT_KIND_stat:
		*seen += node->type == IOT_TYPE_file ? node->size << 32 : 0;
		return 0;
	case IOT_KIND_setattr:
		resize(node, op->length_bytes);
		return 0;
	case IOT_KIND_setxattr:
	case IOT_KIND_getxattr:
	case IOT_KIND_removexattr:
		return do_xattr(node, op);
	case IOT_KIND_readlink:
		return node->type == IOT_TYPE_symlink ? (s64)strlen(node->target) : -EINVAL;
	default: /* follow */
		return node->type == IOT_TYPE_symlink ? 0 : -EINVAL;
	}
}

static s64 on_map(struct fs *fs, const struct fs_op *op)
{
	int *map = &fs->maps[op->other];

	if (*map < 0)
		return -EINVAL;
	if (op->kind == IOT_KIND_unmap)
		*map = FS_NONE;
	else if (op->offset_bytes >= fs->nodes[*map].size)
		return -EFAULT;
	return 0;
}

/**
 * fs_perform() - run an operation
 * @fs: the file system
 * @op: the operation
 * @seen: out: its findings as a number
 *
 * Return: its result.
 */
s64 fs_perform(struct fs *fs, const struct fs_op *op, u64 *seen)
{
	*seen = 0;
	switch (op->kind) {
	case IOT_KIND_lookup:
		return do_lookup(fs, op, seen);
	case IOT_KIND_mkdir:
		return make(fs, op, IOT_TYPE_dir);
	case IOT_KIND_symlink:
		return make(fs, op, IOT_TYPE_symlink);
	case IOT_KIND_unlink:
	case IOT_KIND_rmdir:
		return do_remove(fs, op);
	case IOT_KIND_rename:
		return do_rename(fs, op, seen);
	case IOT_KIND_link:
		return do_link(fs, op, seen);
	case IOT_KIND_open:
		return do_open(fs, op, seen);
	case IOT_KIND_touch:
	case IOT_KIND_unmap:
		return on_map(fs, op);
	case IOT_KIND_stat:
	case IOT_KIND_setattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_getxattr:
	case IOT_KIND_removexattr:
	case IOT_KIND_readlink:
	case IOT_KIND_follow:
		return on_object(fs, op, seen);
	default:
		return on_handle(fs, op, seen);
	}
}
