// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_open.c - calls that open files, and close and copy descriptors.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "core/flags.h"
#include "model.h"

#define COMPONENTS_MAX 63 /* that a name and where it led to have in common at their ends */

/* What an open asks for. */
struct asked {
	s64 flags;
	u32 mode;
	u32 intents;
};

static void take_asked(struct import *im, const struct call *call, const struct call_kind *kind,
		       struct asked *asked)
{
	struct text value;
	s64 number;

	*asked = (struct asked){ .flags = call_number(call, kind->arg + 1),
				 .mode = (u32)call_number(call, kind->arg + 2) };
	if (!strcmp(kind->name, "creat")) {
		asked->flags = O_WRONLY | O_CREAT | O_TRUNC;
		asked->mode = (u32)call_number(call, 1);
	} else if (!strcmp(kind->name, "openat2") && call->arg_count > 2) {
		asked->flags = 0;
		asked->mode = 0;
		if (value_member(call->args[2], "flags", &value) && value_number(value, &number))
			asked->flags = number;
		if (value_member(call->args[2], "mode", &value) && value_number(value, &number))
			asked->mode = (u32)number;
	}
	asked->mode &= ~im->task->fs->umask & MODE_BITS;
	asked->intents = IOT_INTENT_open;
	if (asked->flags & O_CREAT)
		asked->intents |= IOT_INTENT_create;
	if ((asked->flags & O_CREAT) && (asked->flags & O_EXCL))
		asked->intents |= IOT_INTENT_excl;
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
	record.open.mode = asked->flags & (O_CREAT | __O_TMPFILE) ? asked->mode : 0;
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

	if (place->err || !entry || !place->is_end || !entry_is_inside(im, entry)) {
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
		return; /* where a dangling link leads to there is no directory */
	} else if (call->result == -EACCES || call->result == -ENAMETOOLONG) {
		place_failed(im, call, place, asked->intents);
	} else if (is_shown(IOT_KIND_open, call->result)) {
		put_open(im, asked, entry->inode, entry, NULL, iot_open_flags_of((u64)asked->flags),
			 call->result);
	}
}

/* -- where it really led to ----------------------------------------------------------------------- */

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
 * A name that led elsewhere than it says: there is a symbolic link in it that the log did not
 * show. Where both names end in the same components, it is before them; it is none of what is
 * known to be a directory.
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

/* What -y says that was opened; empty if nothing, or if it has no name any more. */
static size_t path_opened(const struct call *call, u8 *path, size_t room)
{
	size_t bytes = 0;

	if (call->result >= 0 && call->result_path.bytes)
		value_path(call->result_path, path, room, &bytes);
	if (bytes && (*path != '/' || memmem(path, bytes, "(deleted)", 9)))
		bytes = 0;
	return bytes;
}

static bool is_below_root(const struct import *im, const u8 *path, size_t bytes)
{
	size_t root_bytes = strlen(im->root_path);

	return bytes > root_bytes && !memcmp(path, im->root_path, root_bytes) &&
	       (path[root_bytes] == '/' || root_bytes == 1);
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
	if (is_below_root(im, name, name_bytes) && !is_below_root(im, path, bytes))
		im->leads_away = true;
	place_of(im, call, kind->dir, kind->arg, flags, asked->intents, place);
	if (!bytes)
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

/* The file that is opened, made if there was none. Return: NULL if there is no memory. */
static struct inode *file_opened(struct import *im, const struct asked *asked, struct place *place,
				 bool *is_created)
{
	struct entry *entry = place->entry;
	struct inode *inode;
	bool is_unsure;

	*is_created = false;
	if (!entry || entry->state == ENTRY_PRESENT)
		return place->inode ? place->inode : entry->inode;
	is_unsure = entry->state == ENTRY_UNKNOWN && !(asked->flags & O_EXCL);
	if (!(asked->flags & O_CREAT) || (is_unsure && entry_was_there(im, entry)))
		return entry_find(im, entry, asked->flags & O_DIRECTORY ? IOT_TYPE_dir : 0);
	inode = inode_make(im, IOT_TYPE_file, S_IFREG | asked->mode);
	if (!inode)
		return NULL;
	if (is_unsure && !(asked->flags & O_TRUNC)) { /* what is found in it may show it was there */
		u8 path[2 * PATH_ROOM];
		size_t bytes = entry_path(entry, path, sizeof(path));

		inode->known = bytes ? known_of(im, path, bytes) : NULL;
	}
	inode->has_size = !inode->known;
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
	inode->has_size = true;
	file = file_make(im, inode, NULL, flags);
	if (!file)
		return;
	if (inode_is_inside(im, dir)) {
		struct iot_record record = { .kind = IOT_KIND_open };

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

void call_open(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct asked asked;
	struct place place;

	take_asked(im, call, kind, &asked);
	find_place(im, call, kind, &asked, &place);
	if (call->result < 0)
		open_failed(im, call, &asked, &place);
	else if (place.err || (!place.entry && !place.inode))
		return; /* not known, and outside as far as is known */
	else if ((asked.flags & O_TMPFILE) == O_TMPFILE)
		open_nameless(im, call, &asked, &place);
	else
		open_worked(im, call, &asked, &place);
}

/* -- descriptors ------------------------------------------------------------------------------------------ */

void call_close(struct import *im, const struct call *call, const struct call_kind *kind)
{
	s64 fd;
	struct text path;

	(void)kind;
	if (call->arg_count && value_fd(call->args[0], &fd, &path))
		fd_close(im, fd);
}

void call_close_range(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (call->result >= 0)
		fd_close_range(im, (u32)call_number(call, 0), (u32)call_number(call, 1),
			       (u64)call_number(call, 2));
}

static void copy_fd(struct import *im, const struct call *call, s64 to, bool is_cloexec)
{
	struct file *file = file_of(im, call, 0);
	struct descriptor *same = fd_find(im->task->fds, to);

	if (to < 0 || (same && file && same->file == file && to == call_number(call, 0)))
		return;
	if (!file) { /* of no file: what was there is closed all the same */
		fd_close(im, to);
		return;
	}
	file_get(file);
	fd_install(im, to, file, is_cloexec);
}

void call_dup(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (call->result >= 0)
		copy_fd(im, call, call->result, call_number(call, 2) & O_CLOEXEC);
}

void call_fcntl(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_of(im, call, 0);
	struct descriptor *descriptor = fd_find(im->task->fds, call_number(call, 0));
	s64 command;

	(void)kind;
	if (call->arg_count < 2 || !value_number(call->args[1], &command) ||
	    call_lock(im, call, command) || call->result < 0)
		return;
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
		copy_fd(im, call, call->result, command == F_DUPFD_CLOEXEC);
	} else if (command == F_SETFD && descriptor) {
		descriptor->is_cloexec = call_number(call, 2) & FD_CLOEXEC;
	} else if (command == F_SETFL && file) {
		const u32 can = IOT_OPEN_append | IOT_OPEN_direct | IOT_OPEN_nonblock |
				IOT_OPEN_noatime;

		file->flags = (file->flags & ~can) | (iot_open_flags_of((u64)call_number(call, 2)) & can);
	}
}
