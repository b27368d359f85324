// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_names.c - calls that make, remove, move and read names.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/flags.h"
#include "model.h"

/**
 * place_is_inside() - does a name lead to something of the trace, or to a name that could be?
 */
bool place_is_inside(const struct import *im, const struct place *place)
{
	if (place->err)
		return false;
	if (place->inode && (!place->entry || place->entry->inode != place->inode))
		return inode_is_inside(im, place->inode);
	if (place->inode == im->root)
		return place->inode;
	return place->entry && entry_is_inside(im, place->entry);
}

/* -- making -------------------------------------------------------------------------------- */

/* The place of a new name. Return: is there something to be recorded? */
static bool new_place(struct import *im, const struct call *call, int dir, u32 arg, u32 intents,
		      struct place *place)
{
	place_of(im, call, dir, arg, PLACE_NOFOLLOW | PLACE_NEW, intents, place);
	if (place->err || !place->entry || !place->is_end || call->result == -EACCES ||
	    call->result == -ENAMETOOLONG) {
		place_failed(im, call, place, intents);
		return false;
	}
	if (call->result == -EEXIST) {
		entry_find(im, place->entry, 0);
		emit_lookup(im, place->entry, intents, -EEXIST);
		return false;
	}
	if (!call->result && place->entry->state == ENTRY_PRESENT &&
	    !pending_settle(im, place->entry, false)) {
		if (entry_is_inside(im, place->entry))
			gap(im, IMPORT_GAP_contradiction);
		entry_unbind(place->entry);
	}
	return !im->err;
}

/* A new file of a new name. Return: is it to be recorded? */
static bool make(struct import *im, const struct call *call, struct place *place, u32 type,
		 u32 mode)
{
	if (!call->result) {
		place->inode = inode_make(im, type, mode);
		if (!place->inode)
			return false;
		place->inode->has_size = true;
		entry_bind(place->entry, place->inode);
		place->entry->is_looked_up = true;
	}
	return entry_is_inside(im, place->entry);
}

void call_mkdir(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_mkdir };
	u32 mode = (u32)call_number(call, kind->arg + 1) & 01777 & ~im->task->fs->umask;
	struct place place;

	if (!new_place(im, call, kind->dir, kind->arg, IOT_INTENT_create | IOT_INTENT_excl, &place) ||
	    !make(im, call, &place, IOT_TYPE_dir, S_IFDIR | mode) ||
	    !is_shown(record.kind, call->result))
		return;
	record.mkdir.object = place.inode ? emit_object(im, place.inode) : 0;
	record.mkdir.name = emit_name(im, place.entry);
	record.mkdir.mode = mode;
	record.mkdir.result = call->result;
	emit_op(im, &record);
}

void call_mknod(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_mknod };
	u32 mode = (u32)call_number(call, kind->arg + 1) & ~im->task->fs->umask;
	u32 type = (mode & S_IFMT) >> 12;
	struct place place;

	if (!type) {
		type = IOT_TYPE_file;
		mode |= S_IFREG;
	}
	if (!new_place(im, call, kind->dir, kind->arg, IOT_INTENT_create | IOT_INTENT_excl, &place) ||
	    !make(im, call, &place, type, mode) || !is_shown(record.kind, call->result))
		return;
	if (place.inode && (type == IOT_TYPE_chr || type == IOT_TYPE_blk))
		place.inode->rdev = (u64)call_number(call, kind->arg + 2);
	record.mknod.object = place.inode ? emit_object(im, place.inode) : 0;
	record.mknod.name = emit_name(im, place.entry);
	record.mknod.mode = mode;
	record.mknod.rdev = place.inode ? place.inode->rdev : 0;
	record.mknod.result = call->result;
	emit_op(im, &record);
}

void call_symlink(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_symlink };
	struct place place;
	u8 target[PATH_ROOM];
	size_t bytes;

	if (!call->arg_count || value_string(call->args[0], target, sizeof(target), &bytes)) {
		if (call->result != -ENAMETOOLONG)
			gap(im, IMPORT_GAP_cut_name);
		return;
	}
	if (!new_place(im, call, kind->dir, kind->arg, IOT_INTENT_create | IOT_INTENT_excl, &place))
		return;
	if (!make(im, call, &place, IOT_TYPE_symlink, S_IFLNK | 0777) && im->err)
		return;
	if (place.inode)
		inode_has_target(im, place.inode, target, bytes);
	if (!entry_is_inside(im, place.entry) || !is_shown(record.kind, call->result))
		return;
	record.symlink.object = place.inode ? emit_object(im, place.inode) : 0;
	record.symlink.name = emit_name(im, place.entry);
	record.symlink.result = call->result;
	record.tail = target;
	record.tail_bytes = (u16)bytes;
	emit_op(im, &record);
}

/* -- links ------------------------------------------------------------------------------------ */

/* /proc/self/fd/N: how a file that has no name yet is given one. */
static struct file *magic_file(struct import *im, const struct call *call, u32 arg)
{
	static const char dir[] = "/proc/self/fd/";
	u8 path[PATH_ROOM + 1];
	struct descriptor *descriptor;
	size_t bytes;

	if (arg >= call->arg_count || value_string(call->args[arg], path, PATH_ROOM, &bytes))
		return NULL;
	path[bytes] = 0;
	if (strncmp((char *)path, dir, strlen(dir)))
		return NULL;
	descriptor = fd_find(im->task->fds, atoi((char *)path + strlen(dir)));
	return descriptor ? descriptor->file : NULL;
}

static void link_old(struct import *im, const struct call *call, const struct call_kind *kind,
		     struct place *place)
{
	bool is_at = kind->variant == VARIANT_AT;
	s64 flags = is_at ? call_number(call, 4) : 0;
	struct file *file = flags & AT_SYMLINK_FOLLOW ? magic_file(im, call, kind->arg) : NULL;

	if (file) {
		*place = (struct place){ .entry = file->entry, .inode = file->inode, .is_end = true };
		return;
	}
	place_of(im, call, kind->dir, kind->arg,
		 (flags & AT_SYMLINK_FOLLOW ? 0 : PLACE_NOFOLLOW) |
			 (flags & AT_EMPTY_PATH ? PLACE_EMPTY : 0),
		 0, place);
}

/* Nothing is moved into itself, whatever a log says: the model must stay a tree. */
static bool is_above(const struct inode *inode, const struct entry *entry)
{
	for (; entry; entry = entry->dir->entry)
		if (entry->dir == inode)
			return true;
	return false;
}

void call_link(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_link };
	bool is_at = kind->variant == VARIANT_AT, is_old_inside;
	struct place old, new;

	link_old(im, call, kind, &old);
	if (!old.inode) {
		place_failed(im, call, &old, 0);
		return;
	}
	if (!new_place(im, call, is_at ? 2 : -1, is_at ? 3 : 1, IOT_INTENT_create | IOT_INTENT_excl,
		       &new))
		return;
	is_old_inside = old.inode->id || place_is_inside(im, &old);
	if (!is_shown(record.kind, call->result) || is_above(old.inode, new.entry))
		return;
	if (entry_is_inside(im, new.entry) != is_old_inside) {
		gap(im, IMPORT_GAP_across);
		if (!call->result)
			entry_bind(new.entry, old.inode);
		return;
	}
	if (is_old_inside) {
		record.link.object = emit_object(im, old.inode);
		record.link.old_name = emit_name_of(im, old.inode, old.entry);
		record.link.name = emit_name(im, new.entry);
		record.link.result = call->result;
		emit_op(im, &record);
	}
	if (!call->result) {
		entry_bind(new.entry, old.inode);
		new.entry->is_looked_up = true;
	}
}

void call_readlink(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_readlink };
	struct place place;
	u8 target[PATH_ROOM];
	size_t bytes = 0;
	s64 room = call_number(call, kind->arg + 2);
	int n;

	place_of(im, call, kind->dir, kind->arg, PLACE_NOFOLLOW | PLACE_EMPTY, 0, &place);
	if (call->result == -EINVAL || !place.inode) {
		place_failed(im, call, &place, 0);
		return;
	}
	n = kind->arg + 1 < call->arg_count ?
		    value_string(call->args[kind->arg + 1], target, sizeof(target), &bytes) :
		    -EINVAL;
	if (call->result > 0 && !n && call->result < room)
		inode_has_target(im, place.inode, target, bytes);
	if (!place_is_inside(im, &place) || !is_shown(record.kind, call->result))
		return;
	record.readlink.object = emit_object(im, place.inode);
	record.readlink.name = emit_name_of(im, place.inode, place.entry);
	record.readlink.length_bytes = (u64)room;
	record.readlink.result = call->result;
	record.tail = target;
	record.tail_bytes = call->result > 0 && !n ? (u16)bytes : 0;
	emit_op(im, &record);
}

/* -- removing ------------------------------------------------------------------------------------ */

void call_unlink(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_unlink };
	bool is_dir = kind->variant == VARIANT_NOFOLLOW ||
		      (kind->variant == VARIANT_AT && call_number(call, 2) & AT_REMOVEDIR);
	struct place place;
	struct entry *entry;

	place_of(im, call, kind->dir, kind->arg, PLACE_NOFOLLOW, 0, &place);
	entry = place.entry;
	if (!place.inode || !entry || entry->inode != place.inode) {
		place_failed(im, call, &place, 0);
		return;
	}
	if (!call->result && is_dir)
		inode_is(place.inode, IOT_TYPE_dir);
	record.kind = is_dir ? IOT_KIND_rmdir : IOT_KIND_unlink;
	if (call->result == -EACCES) {
		place_failed(im, call, &place, IOT_INTENT_create);
	} else if (entry_is_inside(im, entry) && is_shown(record.kind, call->result)) {
		record.unlink.object = emit_object(im, place.inode);
		record.unlink.name = emit_name(im, entry);
		record.unlink.result = call->result;
		if (!is_dir)
			record.unlink.nlink = place.inode->links - (call->result ? 0 : 1);
		emit_op(im, &record);
	}
	if (!call->result)
		entry_unbind(entry);
}

/* -- moving ---------------------------------------------------------------------------------------- */

static void move(struct entry *old, struct entry *new, u32 flags)
{
	struct inode *inode = old->inode;

	if (flags & IOT_RENAME_exchange) {
		entry_swap(old, new);
		return;
	}
	entry_unbind(old);
	if (flags & IOT_RENAME_whiteout)
		old->state = ENTRY_UNKNOWN;
	entry_bind(new, inode);
	new->is_looked_up = true;
}

static void emit_rename(struct import *im, const struct place *old, const struct place *new,
			u32 flags, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_rename };

	record.rename.object = emit_object(im, old->inode);
	record.rename.replaced = new->entry->inode ? emit_object(im, new->entry->inode) : 0;
	record.rename.name = emit_name(im, old->entry);
	record.rename.new_name = emit_name(im, new->entry);
	record.rename.flags = flags;
	record.rename.result = result;
	emit_op(im, &record);
}

void call_rename(struct import *im, const struct call *call, const struct call_kind *kind)
{
	bool is_at = kind->variant == VARIANT_AT, is_inside;
	u32 flags = is_at ? iot_rename_flags_of((u64)call_number(call, 4)) : 0;
	struct place old, new;

	place_of(im, call, kind->dir, kind->arg, PLACE_NOFOLLOW, 0, &old);
	if (!old.inode || !old.entry || old.entry->inode != old.inode) {
		place_failed(im, call, &old, 0);
		return;
	}
	place_of(im, call, is_at ? 2 : -1, is_at ? 3 : 1, PLACE_NOFOLLOW | PLACE_NEW,
		 IOT_INTENT_rename_target, &new);
	if (new.err || !new.entry || !new.is_end || call->result == -EACCES) {
		place_failed(im, call, &new, IOT_INTENT_create);
		return;
	}
	if (new.entry->state == ENTRY_UNKNOWN && !call->result &&
	    ((flags & IOT_RENAME_exchange) || entry_was_there(im, new.entry)))
		entry_find(im, new.entry, 0);
	if (!is_shown(IOT_KIND_rename, call->result) || im->err)
		return;
	if (is_above(old.inode, new.entry) || new.entry->inode == old.inode ||
	    (new.entry->inode && is_above(new.entry->inode, old.entry)) ||
	    ((flags & IOT_RENAME_exchange) && !new.entry->inode))
		return; /* the kernel does not ask a file system for such */
	is_inside = entry_is_inside(im, old.entry);
	if (entry_is_inside(im, new.entry) != is_inside)
		gap(im, IMPORT_GAP_across);
	else if (is_inside)
		emit_rename(im, &old, &new, flags, call->result);
	if (!call->result)
		move(old.entry, new.entry, flags);
}

/* -- directories in which names are -------------------------------------------------------------------- */

void call_chdir(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct place place;
	struct file *file;

	if (kind->variant == VARIANT_FD) {
		file = call->result ? NULL : file_of(im, call, 0);
		if (file)
			im->task->fs->cwd = file->inode;
		return;
	}
	place_of(im, call, -1, 0, 0, 0, &place);
	if (call->result) {
		place_failed(im, call, &place, 0);
		return;
	}
	if (place.inode)
		inode_is(place.inode, IOT_TYPE_dir);
	im->task->fs->cwd = place.inode;
}

void call_getcwd(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u8 path[PATH_ROOM];
	struct place place;
	size_t bytes;

	(void)kind;
	if (im->task->fs->cwd || call->result <= 0 || !call->arg_count ||
	    value_string(call->args[0], path, sizeof(path), &bytes))
		return;
	if (place_from_path(im, path, bytes, &place))
		im->task->fs->cwd = place.inode;
	if (!im->first_cwd && place.inode)
		im->first_cwd = place.inode->known;
}
