// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_open.c - calls that open files, and close and copy descriptors.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "core/flags.h"
#include "model.h"

#define COMPONENTS_MAX 63 /* that a name and where it led to have in common at their ends */

/* The request of an open. */
struct asked {
	s64 flags;
	u32 mode;
	u32 intents;
	bool depends_on_umask;
};

/* Where flags and mode are; empty if they are not there. */
static void find_asked(const struct call *call, const struct call_kind *kind, struct text *flags,
		       struct text *mode)
{
	u32 arg = kind->arg + 1;

	*flags = arg < call->arg_count ? call->args[arg] : (struct text){};
	*mode = arg + 1 < call->arg_count ? call->args[arg + 1] : (struct text){};
	if (!strcmp(kind->name, "creat")) {
		*mode = *flags;
		*flags = (struct text){};
	} else if (!strcmp(kind->name, "openat2")) {
		struct text how = *flags;

		*flags = *mode = (struct text){};
		value_member(how, "flags", flags);
		value_member(how, "mode", mode);
	}
}

/* Permissions are shown in octal, and flags never. */
static bool is_octal(struct text text)
{
	return text.bytes > 1 && *text.p == '0' && text.p[1] >= '0' && text.p[1] <= '7';
}

/* Return: is all of it known that counts? */
static bool take_asked(struct import *im, const struct call *call, const struct call_kind *kind,
		       struct asked *asked)
{
	struct text flags, mode;
	s64 number = 0;

	find_asked(call, kind, &flags, &mode);
	*asked = (struct asked){ .flags = O_WRONLY | O_CREAT | O_TRUNC };
	if (strcmp(kind->name, "creat")) {
		enum value_known known = value_flags(flags, &asked->flags);

		if (known == VALUE_UNKNOWN || is_octal(flags))
			return false;
		if (known == VALUE_PARTLY)
			flags_partly(im, call, flags);
	}
	asked->intents = IOT_INTENT_open;
	if (asked->flags & O_CREAT)
		asked->intents |= IOT_INTENT_create;
	if ((asked->flags & O_CREAT) && (asked->flags & O_EXCL))
		asked->intents |= IOT_INTENT_excl;
	if (!(asked->flags & O_CREAT) && (asked->flags & O_TMPFILE) != O_TMPFILE)
		return true;
	if (!value_number(mode, &number))
		return false;
	asked->mode = (u32)number & ~im->task->fs->umask & MODE_BITS;
	asked->depends_on_umask = number & 077;
	return true;
}

static void put_open(struct import *im, const struct asked *asked, struct inode *inode,
		     struct entry *entry, const struct file *file, u32 flags, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_open };

	if (inode)
		record.open.object = emit_object(im, inode);
	record.open.name = inode ? emit_name_of(im, inode, entry) : emit_name(im, entry);
	record.open.handle = file ? file->handle : 0;
	record.open.flags = flags;
	record.open.mode = asked->mode;
	record.open.size_bytes = inode ? inode->size_bytes : 0;
	record.open.result = result;
	if (entry && inode)
		entry->is_looked_up = true;
	emit_op(im, &record);
}

/* -- failures ---------------------------------------------------------------------------------- */

static void open_failed(struct import *im, const struct call *call, const struct asked *asked,
			struct place *place)
{
	struct entry *entry = place->entry;

	if (place->err || place->is_magic || !entry || !place->is_end || !entry_is_inside(im, entry)) {
		place_failed(im, call, place, asked->intents);
		return;
	}
	if (call->result == -EEXIST) {
		entry_find(im, entry, 0);
		emit_lookup(im, entry, asked->intents, -EEXIST);
	} else if (call->result == -ENOENT && !(asked->flags & O_CREAT)) {
		if (entry->state == ENTRY_PRESENT && !pending_settle(im, entry, false)) {
			gap(im, IMPORT_GAP_contradiction);
			entry_unbind(entry);
		}
		entry->state = ENTRY_ABSENT;
		put_open(im, asked, NULL, entry, NULL, iot_open_flags_of((u64)asked->flags), -ENOENT);
	} else if (call->result == -ENOENT) {
		return; /* the target of a dangling link is not a directory */
	} else if (call->result == -EACCES || call->result == -ENAMETOOLONG) {
		place_failed(im, call, place, asked->intents);
	} else if (is_shown(IOT_KIND_open, call->result)) {
		put_open(im, asked, entry->inode, entry, NULL, iot_open_flags_of((u64)asked->flags),
			 call->result);
	}
}

/* -- actual target -------------------------------------------------------------------------------- */

/* Cut the last component off. Return: its length; 0 if there is none. */
static size_t last_component(const u8 *path, size_t *bytes)
{
	const u8 *slash = memrchr(path, '/', *bytes);
	size_t component = slash ? *bytes - (size_t)(slash + 1 - path) : 0;

	if (component)
		*bytes -= component + 1;
	return component;
}

/*
 * The opened path differs from the name: the name contains a symbolic link that the log did not
 * show. The link comes before the components in which both end, and it is none of the components
 * known to be directories.
 */
static void learn_link(struct import *im, const u8 *name, size_t name_bytes, const u8 *path,
		       size_t path_bytes)
{
	size_t n[COMPONENTS_MAX + 1], p[COMPONENTS_MAX + 1], component;
	u32 depth;
	struct place place;

	for (depth = 0;; depth++) {
		n[depth] = name_bytes;
		p[depth] = path_bytes;
		if (depth == COMPONENTS_MAX)
			break;
		component = last_component(name, &name_bytes);
		if (!component || component != last_component(path, &path_bytes) ||
		    memcmp(name + name_bytes, path + path_bytes, component + 1))
			break;
	}
	do {
		size_t dir_bytes = n[depth];

		component = last_component(name, &dir_bytes);
		if (!component || !place_from_path(im, name, dir_bytes ? dir_bytes : 1, &place))
			continue;
		place.entry = entry_of(im, place.inode, name + dir_bytes + 1, component);
		if (place.entry && place.entry->state == ENTRY_UNKNOWN &&
		    entry_find(im, place.entry, IOT_TYPE_symlink)) {
			inode_has_target(im, place.entry->inode, path, p[depth]);
			return;
		}
	} while (depth--);
}

/* The name as given, as an absolute path. Return: its length; 0 if that is not simple. */
static size_t name_given(struct import *im, const struct call *call, const struct call_kind *kind,
			 u8 *name, size_t room)
{
	u8 given[PATH_ROOM];
	size_t bytes, at = 0;
	struct inode *base = im->task->fs->cwd;
	struct text path;
	s64 fd;

	if (kind->arg >= call->arg_count ||
	    value_string(call->args[kind->arg], given, sizeof(given), &bytes) || !bytes ||
	    (bytes > 6 && !memcmp(given, "/proc/", 6)) || (bytes > 5 && !memcmp(given, "/dev/", 5)) ||
	    memmem(given, bytes, "..", 2) || memmem(given, bytes, "./", 2) ||
	    memmem(given, bytes, "//", 2) || given[bytes - 1] == '/' || given[bytes - 1] == '.')
		return 0;
	if (*given != '/') {
		if (kind->dir >= 0 && value_fd(call->args[kind->dir], &fd, &path) && fd != FD_CWD) {
			struct file *file = file_of(im, call, (u32)kind->dir);

			base = file ? file->inode : NULL;
		}
		if (!base || (base != im->slash && !base->entry))
			return 0;
		at = base->entry ? entry_path(base->entry, name, room - bytes - 1) : 0;
		name[at++] = '/';
	}
	memcpy(name + at, given, bytes);
	return at + bytes;
}

/* The opened file according to -y; empty if unknown, or if it has no name any more. */
static size_t path_opened(const struct call *call, u8 *path, size_t room)
{
	size_t bytes = 0;

	if (call->result >= 0 && call->result_path.bytes)
		value_path(call->result_path, path, room, &bytes);
	if (bytes && (*path != '/' || memmem(path, bytes, "(deleted)", 9)))
		bytes = 0;
	return bytes;
}

static void find_place(struct import *im, const struct call *call, const struct call_kind *kind,
		       const struct asked *asked, struct place *place)
{
	u8 path[PATH_ROOM], name[2 * PATH_ROOM], *ours = name;
	size_t bytes = 0, name_bytes = 0;
	u32 flags = PLACE_NEW;

	if ((asked->flags & O_TMPFILE) != O_TMPFILE)
		bytes = path_opened(call, path, sizeof(path));
	if ((asked->flags & O_NOFOLLOW) || (asked->intents & IOT_INTENT_excl))
		flags |= PLACE_NOFOLLOW;
	if (bytes)
		name_bytes = name_given(im, call, kind, name, sizeof(name));
	if (name_bytes && !(name_bytes == bytes && !memcmp(name, path, bytes)))
		learn_link(im, name, name_bytes, path, bytes);
	if (bytes && path_is_inside(im, name, name_bytes) && !path_is_inside(im, path, bytes))
		im->leads_away = true;
	place_of(im, call, kind->dir, kind->arg, flags, asked->intents, place);
	if (!bytes || (place->is_magic && place->inode))
		return;
	name_bytes = place->entry ? entry_path(place->entry, ours, sizeof(name)) : 0;
	if (!place->err && name_bytes == bytes && !memcmp(ours, path, bytes))
		return;
	if (!place->err && !place->entry && place->inode) /* "." or "/" */
		return;
	place_from_path(im, path, bytes, place);
	place->is_end = true;
}

/* -- successes ---------------------------------------------------------------------------------------- */

/* Permissions of a new file follow from a umask that may not be known. */
static void guess_umask(struct import *im, const struct asked *asked, const struct inode *inode)
{
	if (asked->depends_on_umask && !im->task->fs->has_umask && inode_is_inside(im, inode))
		gap(im, IMPORT_GAP_umask);
}

/* The file that is opened, made if there was none. Return: NULL if out of memory. */
static struct inode *file_opened(struct import *im, const struct asked *asked, struct place *place,
				 bool *is_created)
{
	struct entry *entry = place->entry;
	struct inode *inode;
	bool is_unsure;

	*is_created = false;
	if (place->is_magic || !entry || entry->state == ENTRY_PRESENT)
		return place->inode ? place->inode : entry->inode;
	is_unsure = (entry->state == ENTRY_UNKNOWN || im->are_names_lost) && !(asked->flags & O_EXCL);
	if (!(asked->flags & O_CREAT) || (is_unsure && entry_was_there(im, entry)))
		return entry_find(im, entry, asked->flags & O_DIRECTORY ? IOT_TYPE_dir : 0);
	inode = inode_make(im, IOT_TYPE_file, S_IFREG | asked->mode);
	if (!inode)
		return NULL;
	if (is_unsure && !(asked->flags & O_TRUNC)) { /* later accesses may show that it existed */
		u8 path[2 * PATH_ROOM];
		size_t bytes = entry_path(entry, path, sizeof(path));

		inode->known = bytes ? known_of(im, path, bytes) : NULL;
	}
	if (!inode->known)
		inode_is_empty(inode);
	entry_bind(entry, inode);
	*is_created = true;
	return inode;
}

static bool has_handle(const struct import *im, const struct inode *inode)
{
	return inode_is_inside(im, inode) &&
	       (!inode->type || inode->type == IOT_TYPE_file || inode->type == IOT_TYPE_dir);
}

static void open_nameless(struct import *im, const struct call *call, const struct asked *asked,
			  const struct place *place)
{
	struct inode *dir = place->inode ? place->inode : entry_find(im, place->entry, IOT_TYPE_dir);
	struct inode *inode = inode_make(im, IOT_TYPE_file, S_IFREG | asked->mode);
	u32 flags = iot_open_flags_of((u64)asked->flags) | IOT_OPEN_created;
	struct file *file;

	if (!inode || !dir)
		return;
	inode_is(dir, IOT_TYPE_dir);
	inode_is_empty(inode);
	file = file_make(im, inode, NULL, flags);
	if (!file)
		return;
	if (inode_is_inside(im, dir)) {
		struct iot_record record = { .kind = IOT_KIND_open };

		inode->is_nameless_inside = true;
		guess_umask(im, asked, inode);
		if (place->entry)
			emit_lookup(im, place->entry, 0, 0);
		file->handle = ++im->last_handle;
		record.open.object = emit_object(im, inode);
		record.open.name = emit_name_of(im, dir, place->entry);
		record.open.handle = file->handle;
		record.open.flags = flags;
		record.open.mode = asked->mode;
		emit_op(im, &record);
	}
	fd_install(im, call->result, file, asked->flags & O_CLOEXEC);
}

static void open_worked(struct import *im, const struct call *call, const struct asked *asked,
			struct place *place)
{
	u32 flags = iot_open_flags_of((u64)asked->flags);
	bool is_created;
	struct inode *inode = file_opened(im, asked, place, &is_created);
	struct file *file = inode ? file_make(im, inode, place->entry, flags) : NULL;

	if (!file)
		return;
	if (asked->flags & O_DIRECTORY)
		inode_is(inode, IOT_TYPE_dir);
	if (flags & IOT_OPEN_write)
		inode_is(inode, IOT_TYPE_file);
	guess_umask(im, asked, inode);
	file->is_place = asked->flags & O_PATH;
	if (!file->is_place && has_handle(im, inode)) {
		file->handle = ++im->last_handle;
		if (is_created)
			file->flags |= IOT_OPEN_created;
		if (!is_created && place->entry)
			emit_lookup(im, place->entry, asked->intents, 0);
		put_open(im, asked, inode, place->entry, file, file->flags, 0);
		if ((flags & IOT_OPEN_trunc) && !is_created)
			emit_size(im, inode, place->entry, file->handle,
				  IOT_ATTR_size | IOT_ATTR_mtime | IOT_ATTR_by_open |
					  IOT_ATTR_by_handle, 0, 0);
	}
	if (flags & IOT_OPEN_trunc)
		inode_resize(inode, 0);
	fd_install(im, call->result, file, asked->flags & O_CLOEXEC);
}

/* The file behind the descriptor is unknown now; -y may show it at its next use. */
static void forget_descriptor(struct import *im, const struct call *call)
{
	if (call->has_result && call->result >= 0)
		fd_forget(im, call->result);
}

void call_open(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct asked asked;
	struct place place;

	if (!take_asked(im, call, kind, &asked)) {
		call_not_understood(im, call, kind);
		forget_descriptor(im, call);
		return;
	}
	find_place(im, call, kind, &asked, &place);
	if (call->result < 0)
		open_failed(im, call, &asked, &place);
	else if (place.err || (!place.entry && !place.inode))
		forget_descriptor(im, call); /* not known, and outside as far as is known */
	else if (place.inode == im->nothing)
		fd_install_nothing(im, call->result);
	else if ((asked.flags & O_TMPFILE) == O_TMPFILE)
		open_nameless(im, call, &asked, &place);
	else
		open_worked(im, call, &asked, &place);
}

/*
 * A location, like a descriptor from O_PATH. With OPEN_TREE_CLONE the tree below it is a mount of
 * its own.
 */
void call_open_tree(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct place place;
	struct file *file;

	if (call->result < 0)
		return;
	place_of(im, call, kind->dir, kind->arg, PLACE_EMPTY, 0, &place);
	file = place.inode ? file_make(im, place.inode, place.entry, 0) : NULL;
	if (!file) {
		forget_descriptor(im, call);
		return;
	}
	if (inode_is_inside(im, place.inode))
		gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	file->is_place = true;
	fd_install(im, call->result, file, true);
}

/*
 * A file that is not opened by its name. With -y its name is known all the same: the replay opens it by that.
 */
void call_open_handle(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct asked asked = { .intents = IOT_INTENT_open };
	struct place place;
	u8 path[PATH_ROOM];
	size_t bytes = path_opened(call, path, sizeof(path));

	if (call->result < 0)
		return;
	if (call->result_path.bytes && !bytes) {
		fd_install_nothing(im, call->result);
		return;
	}
	if (!bytes || call_flags(call, 2, &asked.flags) == VALUE_UNKNOWN || asked.flags & O_CREAT) {
		call_not_understood(im, call, kind);
		forget_descriptor(im, call);
		return;
	}
	if (!place_from_path(im, path, bytes, &place)) {
		forget_descriptor(im, call);
		return;
	}
	place.is_end = true;
	open_worked(im, call, &asked, &place);
}
