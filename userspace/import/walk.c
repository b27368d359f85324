// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk.c - resolves a name to a file like the kernel, guided by the result of the call.
 *
 * The result decides about names that the model does not know yet: if the call succeeded, every component of
 * the path existed.
 */
#include "model.h"

#define FOLLOW_MAX 40

struct walk {
	struct import *im;
	struct place *place;
	struct inode *at;
	u32 flags;
	u32 intents;
	s64 result; /* of the call */
	u32 follows;
	size_t left; /* bytes of the name that are still to be walked: they are at its end */
	u8 name[2 * PATH_ROOM];
};

static bool is_path_error(s64 result)
{
	return result == -ENOENT || result == -ENOTDIR || result == -EACCES || result == -ELOOP ||
	       result == -ENAMETOOLONG;
}

/* Put a link's target before the rest of the name. */
static bool push_target(struct walk *w, const struct inode *link)
{
	size_t at = sizeof(w->name) - w->left;

	if (link->target_bytes + 1 > at || ++w->follows > FOLLOW_MAX)
		return false;
	w->name[--at] = '/';
	at -= link->target_bytes;
	memcpy(w->name + at, link->target, link->target_bytes);
	w->left = sizeof(w->name) - at;
	if (w->name[at] == '/')
		w->at = w->im->slash;
	return true;
}

/* The next component, without slashes. Return: is there one? */
static bool take_component(struct walk *w, const u8 **component, size_t *bytes, bool *is_last)
{
	const u8 *end = w->name + sizeof(w->name), *p = end - w->left;

	while (p < end && *p == '/')
		p++;
	*component = p;
	while (p < end && *p != '/')
		p++;
	*bytes = (size_t)(p - *component);
	while (p < end && *p == '/')
		p++;
	w->left = (size_t)(end - p);
	*is_last = !w->left;
	return *bytes > 0;
}

/* Decide on a component in the middle that no call has looked up. Return: whether to continue. */
static bool settle_middle(struct walk *w, struct entry *entry)
{
	struct import *im = w->im;

	if (entry->state == ENTRY_PRESENT)
		return true;
	if (w->result == -ENOENT && (entry->state == ENTRY_ABSENT || !entry_was_there(im, entry))) {
		entry->state = ENTRY_ABSENT;
		w->place->err = -ENOENT;
		return false;
	}
	if (w->result < 0 && is_path_error(w->result) && !entry_was_there(im, entry)) {
		w->place->err = (int)w->result;
		return false;
	}
	return entry_find(im, entry, IOT_TYPE_dir);
}

static void look_up(struct walk *w, struct entry *entry, bool is_last)
{
	if (entry->state == ENTRY_PRESENT && !entry->is_looked_up)
		emit_lookup(w->im, entry, is_last ? w->intents : 0, 0);
}

/* Return: continue? */
static bool follow(struct walk *w, struct entry *entry)
{
	struct inode *link = entry->inode;

	if (!link->target) {
		gap(w->im, IMPORT_GAP_target);
		w->place->err = -EXDEV;
		return false;
	}
	emit_follow(w->im, entry);
	if (push_target(w, link))
		return true;
	w->place->err = -ELOOP;
	return false;
}

/* The target of a link of procfs is unknown. */
static void lose(struct walk *w)
{
	w->place->err = -EXDEV;
	if (w->result >= 0 && !(w->flags & PLACE_MAY_LOSE))
		gap(w->im, IMPORT_GAP_no_fd);
}

/* Return: continue? */
static bool step(struct walk *w)
{
	struct import *im = w->im;
	struct place *place = w->place;
	struct entry *entry;
	const u8 *component;
	size_t bytes;
	bool is_last;

	if (!take_component(w, &component, &bytes, &is_last))
		goto done;
	if (bytes == 1 && *component == '.')
		goto special;
	if (bytes == 2 && !memcmp(component, "..", 2)) {
		w->at = inode_parent(im, w->at);
		goto special;
	}
	if (bytes > PATH_ROOM) {
		place->err = -EXDEV;
		return false;
	}
	if (!(is_last && (w->flags & PLACE_NOFOLLOW))) {
		enum magic magic = magic_step(im, w->at, component, bytes, place);

		if (magic == MAGIC_LOST) {
			lose(w);
			return false;
		}
		if (magic == MAGIC_FOUND) {
			w->at = place->inode;
			place->is_end = is_last;
			return !is_last;
		}
	}
	entry = entry_of(im, w->at, component, bytes);
	if (!entry)
		return false;
	place->file = NULL;
	place->is_magic = false;
	place->entry = entry;
	place->inode = entry->inode;
	place->is_end = is_last;
	if (!is_last && !settle_middle(w, entry))
		return false;
	place->inode = entry->inode;
	look_up(w, entry, is_last);
	if (entry->inode && entry->inode->type == IOT_TYPE_symlink &&
	    (!is_last || !(w->flags & PLACE_NOFOLLOW)))
		return follow(w, entry);
	if (is_last)
		return false;
	w->at = entry->inode;
	return true;

special:
	place->file = NULL;
	place->is_magic = false;
	place->entry = NULL;
	place->inode = w->at;
	place->is_end = is_last;
	if (!is_last)
		return true;
done:
	place->is_end = true;
	if (!place->inode)
		place->inode = w->at;
	return false;
}

static void walk(struct import *im, struct inode *at, const u8 *path, size_t bytes, s64 result,
		 u32 flags, u32 intents, struct place *place)
{
	struct walk w = { .im = im, .place = place, .at = at, .flags = flags,
			  .intents = intents, .result = result };

	*place = (struct place){};
	if (!at || !bytes || bytes > PATH_ROOM) {
		place->err = bytes ? -EXDEV : -ENOENT;
		return;
	}
	w.left = bytes;
	memcpy(w.name + sizeof(w.name) - bytes, path, bytes);
	if (*path == '/')
		w.at = im->slash;
	place->inode = NULL;
	while (!im->err && step(&w))
		;
	if (im->err)
		place->err = im->err;
}

/**
 * place_from_path() - the directory or file of an absolute path that is there
 *
 * Return: whether there is one.
 */
bool place_from_path(struct import *im, const u8 *path, size_t bytes, struct place *place)
{
	*place = (struct place){};
	if (!bytes || *path != '/')
		return false;
	walk(im, im->slash, path, bytes, 0, PLACE_NOFOLLOW, 0, place);
	if (place->err)
		return false;
	if (place->entry && !place->inode)
		place->inode = entry_find(im, place->entry, 0);
	return place->inode;
}

/* -- names in calls ---------------------------------------------------------------------------- */

/* The working directory according to -y, if the model does not know it or has a different one. */
static void check_cwd(struct import *im, struct text quoted)
{
	u8 path[PATH_ROOM], ours[PATH_ROOM];
	struct fs_place *fs = im->task->fs;
	struct place place;
	size_t bytes, our_bytes = 1;

	if (!quoted.bytes)
		return;
	value_path(quoted, path, sizeof(path), &bytes);
	if (!bytes || *path != '/' || memmem(path, bytes, "(deleted)", 9))
		return;
	ours[0] = '/';
	if (fs->cwd && fs->cwd->entry)
		our_bytes = entry_path(fs->cwd->entry, ours, sizeof(ours));
	if (fs->cwd && our_bytes == bytes && !memcmp(path, ours, bytes))
		return;
	if (!place_from_path(im, path, bytes, &place))
		return;
	inode_is(place.inode, IOT_TYPE_dir);
	fs->cwd = place.inode;
	if (!im->first_cwd && place.inode->known)
		im->first_cwd = place.inode->known;
}

/**
 * place_base() - the directory that a name is relative to
 * @dir_arg: the argument with the directory; -1: none, it is the working directory
 *
 * Return: it; NULL if it is not known, which is counted.
 */
struct inode *place_base(struct import *im, const struct call *call, int dir_arg)
{
	struct text path = {};
	struct file *file;
	s64 fd = FD_CWD;

	if (dir_arg >= 0 && (u32)dir_arg < call->arg_count &&
	    !value_fd(call->args[dir_arg], &fd, &path))
		return NULL;
	if (fd == FD_CWD) {
		check_cwd(im, path);
		if (!im->task->fs->cwd)
			gap(im, IMPORT_GAP_no_cwd);
		return im->task->fs->cwd;
	}
	file = file_of(im, call, (u32)dir_arg);
	return file ? file->inode : NULL;
}

/* A call has succeeded, but the line does not show its object. */
static void lose_name(struct import *im, const struct call *call)
{
	if (!call->has_result || call->result < 0)
		return;
	gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	gap_moved(im, IMPORT_GAP_call, call);
}

/* An empty name: the descriptor itself. */
static void place_of_descriptor(struct import *im, const struct call *call, int dir_arg, struct place *place)
{
	place->file = file_of(im, call, (u32)dir_arg);
	place->inode = place->file ? place->file->inode : place_base(im, call, dir_arg);
	place->entry = place->file ? place->file->entry : NULL;
	place->is_end = true;
	place->err = place->inode ? 0 : -EXDEV;
}

/**
 * place_of_text() - where a name leads that is somewhere in a call
 * @dir_arg: which argument is the directory it is relative to; -1: the working directory
 * @name: in quotes
 * @flags: PLACE_*
 * @intents: IOT_INTENT_*, as look-ups of the last component have them
 * @place: out
 */
void place_of_text(struct import *im, const struct call *call, int dir_arg, struct text name, u32 flags,
		   u32 intents, struct place *place)
{
	u8 path[PATH_ROOM];
	struct inode *base;
	size_t bytes;
	int n = value_string(name, path, sizeof(path), &bytes);

	*place = (struct place){ .err = -EXDEV };
	if (n > 0 && call->result != -ENAMETOOLONG) {
		gap(im, IMPORT_GAP_cut_name);
		gap_moved(im, IMPORT_GAP_cut_name, call);
	}
	if (n < 0 && !text_is(name, "NULL")) {
		lose_name(im, call);
		return;
	}
	if (n && !((flags & PLACE_EMPTY) && n < 0))
		return;
	if (n < 0)
		bytes = 0;
	if (!bytes && (flags & PLACE_EMPTY) && dir_arg >= 0) {
		place_of_descriptor(im, call, dir_arg, place);
		return;
	}
	if (!bytes)
		return; /* ENOENT without a look-up in the file system */
	base = *path == '/' ? im->slash : place_base(im, call, dir_arg);
	if (!base)
		return;
	walk(im, base, path, bytes, call->result, flags, intents, place);
	if (place->err || !place->entry || place->inode || (flags & PLACE_NEW))
		return;
	if (call->result >= 0 || !is_path_error(call->result))
		place->inode = entry_find(im, place->entry, 0);
	if (place->inode)
		emit_lookup(im, place->entry, intents, 0);
}

/**
 * place_of() - where a name in a call leads
 * @path_arg: which argument is the name
 *
 * The others are as of place_of_text().
 */
void place_of(struct import *im, const struct call *call, int dir_arg, u32 path_arg, u32 flags,
	      u32 intents, struct place *place)
{
	struct text name = path_arg < call->arg_count ? call->args[path_arg] : (struct text){};

	place_of_text(im, call, dir_arg, name, flags, intents, place);
}

/* The kernel's error for missing permission: the closest known cause. */
static void emit_denied(struct import *im, const struct place *place, u32 intents)
{
	struct iot_record record = { .kind = IOT_KIND_denied };
	struct inode *inode = place->inode;

	if (!inode && place->entry)
		inode = place->entry->dir;
	if (!inode || !inode_is_inside(im, inode))
		return;
	record.denied.result = -EACCES;
	record.denied.object = emit_object(im, inode);
	record.denied.prot = intents & IOT_INTENT_create ? IOT_PROT_write : IOT_PROT_read;
	emit_op(im, &record);
}

/**
 * place_failed() - a call failed during the path walk to its object
 * @intents: as of place_of()
 */
void place_failed(struct import *im, const struct call *call, const struct place *place,
		  u32 intents)
{
	struct entry *entry = place->entry;

	if (place->err == -EXDEV || place->is_magic || !entry || !entry_is_inside(im, entry))
		return;
	switch (call->result) {
	case -ENOENT:
		if (entry->state == ENTRY_PRESENT && place->is_end &&
		    !pending_settle(im, entry, false)) {
			gap(im, IMPORT_GAP_contradiction);
			entry_unbind(entry);
		}
		if (entry->state != ENTRY_PRESENT)
			entry->state = ENTRY_ABSENT;
		emit_lookup(im, entry, place->is_end ? intents : 0, -ENOENT);
		break;
	case -ENAMETOOLONG:
		emit_lookup(im, entry, place->is_end ? intents : 0, -ENAMETOOLONG);
		break;
	case -EACCES:
		emit_denied(im, place, intents);
		break;
	default:
		break;
	}
}
