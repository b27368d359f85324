// SPDX-License-Identifier: GPL-2.0-only
/*
 * inodes.c - the model of the file system: files, names, sizes, and their initial state.
 *
 * The model has the whole file system of the traced machine, as far as the log shows it,
 * because names lead in and out of the imported directories.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "model.h"

void *import_allocate(struct import *im, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		im->err = -ENOMEM;
	return memory;
}

void gap(struct import *im, enum import_gap what)
{
	im->gaps[what]++;
}

/* -- the initial state ---------------------------------------------------------- */

/**
 * known_of() - the knowledge about the initial state of a path
 *
 * Return: the entry, created if necessary; NULL if out of memory.
 */
struct known *known_of(struct import *im, const u8 *path, size_t bytes)
{
	struct known *known;

	HASH_FIND(hh, im->known, path, bytes, known);
	if (known)
		return known;
	known = import_allocate(im, sizeof(*known) + bytes + 1);
	if (!known)
		return NULL;
	memcpy(known->path, path, bytes);
	known->path_bytes = bytes;
	HASH_ADD(hh, im->known, path, bytes, known);
	return known;
}

static struct known *known_of_entry(struct import *im, const struct entry *entry)
{
	u8 path[2 * PATH_ROOM];
	size_t bytes = entry_path(entry, path, sizeof(path));

	return bytes ? known_of(im, path, bytes) : NULL;
}

/* -- making ------------------------------------------------------------------------------------- */

/**
 * inode_make() - a new file, or one that is new to the model
 */
struct inode *inode_make(struct import *im, u32 type, u32 mode)
{
	struct inode *inode = import_allocate(im, sizeof(*inode));

	if (!inode)
		return NULL;
	inode->type = type;
	inode->mode = mode;
	inode->next_made = im->inodes;
	im->inodes = inode;
	return inode;
}

/**
 * entry_of() - a name in a directory, whether it is there or not
 *
 * Return: it; NULL if out of memory.
 */
struct entry *entry_of(struct import *im, struct inode *dir, const u8 *component, size_t bytes)
{
	struct entry *entry;

	HASH_FIND(hh, dir->entries, component, bytes, entry);
	if (entry)
		return entry;
	entry = import_allocate(im, sizeof(*entry) + bytes + 1);
	if (!entry)
		return NULL;
	memcpy(entry->component, component, bytes);
	entry->bytes = (u16)bytes;
	entry->dir = dir;
	if (!dir->known) /* it was made since the log began, and was empty */
		entry->state = ENTRY_ABSENT;
	HASH_ADD_KEYPTR(hh, dir->entries, entry->component, bytes, entry);
	entry->next_made = im->entries_made;
	im->entries_made = entry;
	return entry;
}

static int find_root(struct import *im, struct root *root)
{
	struct place place;

	if (!place_from_path(im, (const u8 *)root->path, root->path_bytes, &place))
		return im->err ? im->err : -EINVAL;
	root->inode = place.inode;
	inode_is(root->inode, IOT_TYPE_dir);
	return 0;
}

/**
 * inodes_init() - only "/" and the directories down to the roots of the trace are known
 *
 * Return: 0 or a negative errno.
 */
int inodes_init(struct import *im)
{
	size_t i;
	int err = 0;

	im->slash = inode_make(im, IOT_TYPE_dir, S_IFDIR | 0755);
	im->nothing = inode_make(im, IOT_TYPE_socket, S_IFSOCK);
	if (!im->slash || !im->nothing)
		return -ENOMEM;
	im->slash->known = known_of(im, (const u8 *)"/", 1);
	if (!im->slash->known)
		return -ENOMEM;
	for (i = 0; i < im->root_count && !err; i++)
		err = find_root(im, &im->roots[i]);
	return err;
}

/**
 * inodes_exit() - free the model, but keep the initial state
 */
void inodes_exit(struct import *im)
{
	struct inode *inode;
	struct entry *entry;
	size_t i;

	while ((inode = im->inodes)) {
		im->inodes = inode->next_made;
		HASH_CLEAR(hh, inode->entries);
		free(inode->target);
		free(inode);
	}
	while ((entry = im->entries_made)) {
		im->entries_made = entry->next_made;
		free(entry);
	}
	im->slash = NULL;
	im->nothing = NULL;
	for (i = 0; i < im->root_count; i++) {
		im->roots[i].inode = NULL;
		im->roots[i].name = 0;
	}
}

/* -- where things are ----------------------------------------------------------------------------- */

/**
 * entry_path() - absolute path of a name
 * @room: paths that are longer have none
 *
 * Return: its length, not terminated; 0 if it has none.
 */
size_t entry_path(const struct entry *entry, u8 *path, size_t room)
{
	size_t at = room;

	for (; entry; entry = entry->dir->entry) {
		if (at < entry->bytes + 1u)
			return 0;
		at -= entry->bytes;
		memcpy(path + at, entry->component, entry->bytes);
		path[--at] = '/';
	}
	memmove(path, path + at, room - at);
	return room - at;
}

/**
 * inode_root() - the root that a directory is; NULL if it is none
 */
struct root *inode_root(const struct import *im, const struct inode *inode)
{
	size_t i;

	for (i = 0; i < im->root_count; i++)
		if (inode && im->roots[i].inode == inode)
			return &im->roots[i];
	return NULL;
}

/**
 * inode_is_inside() - is it a root of the trace, or a file below one?
 */
bool inode_is_inside(const struct import *im, const struct inode *inode)
{
	if (!inode)
		return false;
	if (inode->is_nameless_inside && !inode->entry)
		return true;
	return inode_root(im, inode) || (inode->entry && entry_is_inside(im, inode->entry));
}

/**
 * entry_is_inside() - is it a name below a root of the trace?
 */
bool entry_is_inside(const struct import *im, const struct entry *entry)
{
	for (; entry; entry = entry->dir->entry)
		if (inode_root(im, entry->dir))
			return true;
	return false;
}

/**
 * path_is_inside() - is it the path of a root, or of something below one? Links are not followed.
 */
bool path_is_inside(const struct import *im, const u8 *path, size_t bytes)
{
	size_t i;

	for (i = 0; i < im->root_count; i++) {
		const struct root *root = &im->roots[i];

		if (bytes >= root->path_bytes && !memcmp(path, root->path, root->path_bytes) &&
		    (bytes == root->path_bytes || root->path_bytes == 1 || path[root->path_bytes] == '/'))
			return true;
	}
	return false;
}

/**
 * inode_at() - the inode of the model at a path, without following links
 *
 * Return: NULL if that is not known.
 */
struct inode *inode_at(const struct import *im, const u8 *path, size_t bytes)
{
	struct inode *inode = im->slash;
	struct entry *entry;
	size_t at = 0, end;

	while (inode) {
		while (at < bytes && path[at] == '/')
			at++;
		if (at == bytes)
			break;
		for (end = at; end < bytes && path[end] != '/'; end++)
			;
		HASH_FIND(hh, inode->entries, path + at, end - at, entry);
		inode = entry && entry->state == ENTRY_PRESENT ? entry->inode : NULL;
		at = end;
	}
	return inode;
}

/**
 * inode_parent() - the inode of ".." in a directory
 */
struct inode *inode_parent(const struct import *im, const struct inode *inode)
{
	return inode->entry ? inode->entry->dir : im->slash;
}

/**
 * inode_name() - a name that a file has at the moment
 * @preferred: the one to be taken if it still is
 *
 * Return: it; NULL if none is known.
 */
struct entry *inode_name(const struct inode *inode, struct entry *preferred)
{
	if (preferred && preferred->inode == inode)
		return preferred;
	return inode->entry && inode->entry->inode == inode ? inode->entry : NULL;
}

/* -- look-ups and changes of names --------------------------------------------------------- */

/* Is it one of IOT_TYPES? */
static bool is_type(u32 type)
{
	switch (type) {
	case IOT_TYPE_fifo:
	case IOT_TYPE_chr:
	case IOT_TYPE_dir:
	case IOT_TYPE_blk:
	case IOT_TYPE_file:
	case IOT_TYPE_symlink:
	case IOT_TYPE_socket:
		return true;
	default:
		return false;
	}
}

static void take_known(struct import *im, struct inode *inode, struct known *known, u32 type)
{
	inode->known = known;
	known->is_present = true;
	if (is_type(type))
		known->type = type;
	inode->type = known->type;
	inode->mode = known->mode;
	inode->size_bytes = known->size_bytes;
	inode->has_size = im->is_last_pass;
	inode->has_exact_size = im->is_last_pass && known->has_exact_size;
	if (known->target)
		inode_has_target(im, inode, known->target, known->target_bytes);
}

/**
 * entry_find() - note that a call shows this name to exist
 * @type: type of the file, if the call shows it; else 0
 *
 * Return: the entry, created if the model lacked it; NULL if out of memory.
 */
struct inode *entry_find(struct import *im, struct entry *entry, u32 type)
{
	struct known *known;
	struct inode *inode;

	if (entry->state != ENTRY_PRESENT)
		pending_settle(im, entry, true);
	if (entry->state == ENTRY_PRESENT) {
		inode_is(entry->inode, type);
		return entry->inode;
	}
	if (entry->state == ENTRY_ABSENT && entry_is_inside(im, entry))
		gap(im, IMPORT_GAP_contradiction);
	known = known_of_entry(im, entry);
	inode = inode_make(im, type, 0);
	if (!inode || !known)
		return NULL;
	take_known(im, inode, known, type);
	entry_bind(entry, inode);
	return inode;
}

/**
 * entry_was_there() - note a directory of this name in the initial state, unless already looked up
 */
bool entry_was_there(struct import *im, struct entry *entry)
{
	struct known *known = entry->state == ENTRY_UNKNOWN ? known_of_entry(im, entry) : NULL;

	return known && known->is_present;
}

/**
 * entry_bind() - a name is given to a file
 */
void entry_bind(struct entry *entry, struct inode *inode)
{
	if (entry->inode)
		entry_unbind(entry);
	entry->state = ENTRY_PRESENT;
	entry->inode = inode;
	inode->entry = entry;
	inode->links++;
}

/**
 * entry_unbind() - a name is taken away
 */
void entry_unbind(struct entry *entry)
{
	if (entry->inode)
		entry->inode->links--;
	entry->state = ENTRY_ABSENT;
	entry->inode = NULL;
	entry->is_looked_up = false;
}

/**
 * entry_swap() - two names change places
 */
void entry_swap(struct entry *a, struct entry *b)
{
	struct inode *was_a = a->inode, *was_b = b->inode;

	a->inode = was_b;
	b->inode = was_a;
	was_a->entry = b;
	was_b->entry = a;
}

/* -- knowledge about a file -------------------------------------------------------------------------- */

/**
 * inode_is() - note the file type that a call shows; 0 has no meaning
 */
void inode_is(struct inode *inode, u32 type)
{
	if (!is_type(type) || inode->type)
		return;
	inode->type = type;
	if (inode->known)
		inode->known->type = type;
}

/**
 * inode_has_mode() - a call shows its mode
 * @mode: with the type
 */
void inode_has_mode(struct inode *inode, u32 mode)
{
	if (mode & ~(u32)(S_IFMT | MODE_BITS) || !is_type((mode & S_IFMT) >> 12))
		return;
	inode_is(inode, (mode & S_IFMT) >> 12);
	inode->mode = mode;
	if (inode->known && !inode->known->has_mode) {
		inode->known->mode = mode;
		inode->known->has_mode = true;
	}
}

static void was_at_least(struct inode *inode, u64 size_bytes)
{
	if (inode->known && !inode->is_truncated && size_bytes > inode->known->size_bytes)
		inode->known->size_bytes = size_bytes;
}

/**
 * inode_has_size() - a call shows how large it is
 */
void inode_has_size(struct inode *inode, u64 size_bytes)
{
	if (size_bytes > FILE_MAX_BYTES)
		return;
	if (size_bytes > inode->size_bytes && !inode->has_size)
		was_at_least(inode, size_bytes);
	if (inode->known && !inode->is_truncated)
		inode->known->has_exact_size = true;
	inode->size_bytes = size_bytes;
	inode->has_size = true;
	inode->has_exact_size = true;
}

/**
 * inode_is_empty() - it was made now
 */
void inode_is_empty(struct inode *inode)
{
	inode->has_size = true;
	inode->has_exact_size = true;
}

/**
 * inode_reaches() - something was read from it, up to a position
 */
void inode_reaches(struct inode *inode, u64 size_bytes)
{
	if (size_bytes > FILE_MAX_BYTES)
		return;
	if (size_bytes <= inode->size_bytes)
		return;
	if (!inode->has_size)
		was_at_least(inode, size_bytes);
	inode->size_bytes = size_bytes;
}

/**
 * inode_resize() - it is given a size
 */
void inode_resize(struct inode *inode, u64 size_bytes)
{
	if (size_bytes > FILE_MAX_BYTES)
		return;
	inode->is_truncated = true;
	inode->size_bytes = size_bytes;
	inode->has_size = true;
	inode->has_exact_size = true;
}

/**
 * inode_written() - it was written to, up to a position
 */
void inode_written(struct inode *inode, u64 end_bytes)
{
	if (end_bytes > FILE_MAX_BYTES)
		return;
	if (end_bytes > inode->size_bytes)
		inode->size_bytes = end_bytes;
}

/**
 * inode_has_target() - a call shows where a symbolic link leads
 */
void inode_has_target(struct import *im, struct inode *inode, const u8 *target, size_t bytes)
{
	inode_is(inode, IOT_TYPE_symlink);
	if (inode->target)
		return;
	inode->target = import_allocate(im, bytes + 1);
	if (!inode->target)
		return;
	memcpy(inode->target, target, bytes);
	inode->target_bytes = bytes;
	if (!inode->known || inode->known->target)
		return;
	inode->known->target = import_allocate(im, bytes + 1);
	if (!inode->known->target)
		return;
	memcpy(inode->known->target, target, bytes);
	inode->known->target_bytes = bytes;
}
