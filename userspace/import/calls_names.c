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
	if (place->inode && (place->is_magic || !place->entry || place->entry->inode != place->inode))
		return inode_is_inside(im, place->inode);
	if (inode_root(im, place->inode))
		return true;
	return place->entry && entry_is_inside(im, place->entry);
}

/* -- making -------------------------------------------------------------------------------- */

/* The place of a new name. Return: is there something to be recorded? */
static bool new_place_of_text(struct import *im, const struct call *call, int dir, struct text name,
			      u32 intents, struct place *place)
{
	place_of_text(im, call, dir, name, PLACE_NOFOLLOW | PLACE_NEW, intents, place);
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

static bool new_place(struct import *im, const struct call *call, int dir, u32 arg, u32 intents,
		      struct place *place)
{
	struct text name = arg < call->arg_count ? call->args[arg] : (struct text){};

	return new_place_of_text(im, call, dir, name, intents, place);
}

/* A new file of a new name. Return: is it to be recorded? */
static bool make(struct import *im, const struct call *call, struct place *place, u32 type,
		 u32 mode)
{
	if (!call->result) {
		place->inode = inode_make(im, type, mode);
		if (!place->inode)
			return false;
		inode_is_empty(place->inode);
		entry_bind(place->entry, place->inode);
		place->entry->is_looked_up = true;
	}
	return entry_is_inside(im, place->entry);
}

/* A call was not understood: it may have created or removed a name. Later look-ups show which. */
static void lose_entry(struct import *im, const struct call *call, int dir, u32 arg)
{
	struct place place;
	struct text path;

	s64 fd;

	if (call->result < 0 || arg >= call->arg_count || *call->args[arg].p != '"')
		return;
	if (dir >= 0 && !value_fd(call->args[dir], &fd, &path))
		dir = -1;
	place_of(im, call, dir, arg, PLACE_NOFOLLOW | PLACE_NEW, 0, &place);
	if (place.err || !place.entry || !place.is_end)
		return;
	if (place.entry->state == ENTRY_PRESENT)
		entry_unbind(place.entry);
	place.entry->state = ENTRY_UNKNOWN;
}

/**
 * names_lose() - a call that changes names lacks an argument: its names may have been created or removed
 */
void names_lose(struct import *im, const struct call *call)
{
	u32 i;

	for (i = 0; i < call->arg_count; i++)
		if (call->args[i].bytes && *call->args[i].p == '"')
			lose_entry(im, call, (int)i - 1, i);
}

static void lose_new(struct import *im, const struct call *call, const struct call_kind *kind)
{
	call_not_understood(im, call, kind);
	lose_entry(im, call, kind->dir, kind->arg);
}

/* The permissions that a file is made with. Return: are they known? */
static bool take_mode(struct import *im, const struct call *call, u32 arg, u32 *mode)
{
	s64 number;

	if (!call_number(call, arg, &number))
		return false;
	*mode = (u32)number & ~im->task->fs->umask;
	return true;
}

static void guess_umask(struct import *im, u32 mode, const struct entry *entry, s64 result)
{
	if (!result && mode & 077 && !im->task->fs->has_umask && entry_is_inside(im, entry))
		gap(im, IMPORT_GAP_umask);
}

void call_mkdir(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_mkdir };
	struct place place;
	u32 mode;

	if (!take_mode(im, call, kind->arg + 1, &mode)) {
		lose_new(im, call, kind);
		return;
	}
	mode &= 01777;
	if (!new_place(im, call, kind->dir, kind->arg, IOT_INTENT_create | IOT_INTENT_excl, &place))
		return;
	guess_umask(im, mode, place.entry, call->result);
	if (!make(im, call, &place, IOT_TYPE_dir, S_IFDIR | mode) || !is_shown(record.kind, call->result))
		return;
	record.mkdir.object = place.inode ? emit_object(im, place.inode) : 0;
	record.mkdir.name = emit_name(im, place.entry);
	record.mkdir.mode = mode;
	record.mkdir.result = call->result;
	emit_op(im, &record);
}

static void make_node(struct import *im, const struct call *call, struct place *place, u32 mode, u64 rdev)
{
	struct iot_record record = { .kind = IOT_KIND_mknod };
	u32 type = (mode & S_IFMT) >> 12;

	guess_umask(im, mode, place->entry, call->result);
	if (!make(im, call, place, type, mode) || !is_shown(record.kind, call->result))
		return;
	if (place->inode && (type == IOT_TYPE_chr || type == IOT_TYPE_blk))
		place->inode->rdev = rdev;
	record.mknod.object = place->inode ? emit_object(im, place->inode) : 0;
	record.mknod.name = emit_name(im, place->entry);
	record.mknod.mode = mode;
	record.mknod.rdev = place->inode ? place->inode->rdev : 0;
	record.mknod.result = call->result;
	emit_op(im, &record);
}

void call_mknod(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct place place;
	s64 rdev = 0;
	u32 mode = 0;
	bool is_known = take_mode(im, call, kind->arg + 1, &mode);

	if (is_known && !(mode & S_IFMT))
		mode |= S_IFREG;
	if (S_ISCHR(mode) || S_ISBLK(mode))
		is_known &= call_number(call, kind->arg + 2, &rdev);
	if (!is_known) {
		lose_new(im, call, kind);
		return;
	}
	if (new_place(im, call, kind->dir, kind->arg, IOT_INTENT_create | IOT_INTENT_excl, &place))
		make_node(im, call, &place, mode, (u64)rdev);
}

/* A name of a socket is not shown; two bytes are the family alone, which asks for an abstract one. */
static void lose_socket(struct import *im, const struct call *call, struct text address)
{
	struct text family;
	s64 bytes;

	if (call->result || (value_member(address, "sa_family", &family) && !text_is(family, "AF_UNIX") &&
			     !text_is(family, "AF_LOCAL") && !text_is(family, "AF_FILE")))
		return;
	if (!call_number(call, 2, &bytes) || bytes > 2)
		gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
}

/* A socket of the family AF_UNIX gets a name in the file system: {sa_family=AF_UNIX, sun_path="/a"}. */
void call_bind(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct text address = kind->arg < call->arg_count ? call->args[kind->arg] : (struct text){}, name;
	struct place place;

	if (!value_member(address, "sun_path", &name)) {
		lose_socket(im, call, address);
		return;
	}
	if (!name.bytes || *name.p != '"')
		return; /* abstract */
	if (new_place_of_text(im, call, -1, name, IOT_INTENT_create | IOT_INTENT_excl, &place))
		make_node(im, call, &place, S_IFSOCK | (0777 & ~im->task->fs->umask), 0);
}

void call_symlink(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_symlink };
	struct place place;
	u8 target[PATH_ROOM];
	size_t bytes;

	if (!call->arg_count || value_string(call->args[0], target, sizeof(target), &bytes)) {
		if (call->result != -ENAMETOOLONG) {
			gap(im, IMPORT_GAP_cut_name);
			gap_moved(im, IMPORT_GAP_cut_name, call);
		}
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

/* The source of a link. /proc/self/fd/N is the way to give a name to a file without one. */
static bool link_old(struct import *im, const struct call *call, const struct call_kind *kind,
		     struct place *place)
{
	s64 flags = 0;

	if (kind->variant == VARIANT_AT && call_flags(call, 4, &flags) != VALUE_KNOWN)
		return false;
	place_of(im, call, kind->dir, kind->arg,
		 (flags & AT_SYMLINK_FOLLOW ? 0 : PLACE_NOFOLLOW) |
			 (flags & AT_EMPTY_PATH ? PLACE_EMPTY : 0),
		 0, place);
	return true;
}

/* Nothing is moved into itself, even if a log states it: the model must stay a tree. */
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

	if (!link_old(im, call, kind, &old)) {
		call_not_understood(im, call, kind);
		lose_entry(im, call, 2, 3);
		return;
	}
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
	s64 room;
	int n;

	if (!call_number(call, kind->arg + 2, &room)) {
		call_not_understood(im, call, kind);
		return;
	}
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
	bool is_dir = kind->variant == VARIANT_NOFOLLOW;
	struct place place;
	struct entry *entry;
	s64 flags;

	if (kind->variant == VARIANT_AT) {
		if (call_flags(call, 2, &flags) != VALUE_KNOWN) {
			lose_new(im, call, kind);
			return;
		}
		is_dir = flags & AT_REMOVEDIR;
	}
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
	bool is_at = kind->dir >= 0, is_inside;
	struct place old, new;
	s64 asked = 0;
	u32 flags;

	if (kind->variant == VARIANT_AT && call_flags(call, 4, &asked) != VALUE_KNOWN) {
		lose_new(im, call, kind);
		lose_entry(im, call, 2, 3);
		return;
	}
	flags = iot_rename_flags_of((u64)asked);
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
