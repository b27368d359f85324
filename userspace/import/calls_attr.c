// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_attr.c - calls that read and change attributes.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "model.h"

#define NS_PER_S 1000000000ll

/**
 * object_of() - the object of a call, given by a name or a descriptor
 * @flags_arg: where AT_* flags are, of calls that have them
 *
 * Return: whether the object exists and the log shows it.
 */
bool object_of(struct import *im, const struct call *call, const struct call_kind *kind,
		      u32 flags_arg, struct place *place)
{
	u32 flags = kind->variant == VARIANT_NOFOLLOW ? PLACE_NOFOLLOW : 0;
	enum value_known known = VALUE_KNOWN;
	s64 at = 0;

	if (kind->variant == VARIANT_FD) {
		struct file *file = file_of(im, call, kind->arg);

		*place = (struct place){ .file = file, .is_end = true, .err = file ? 0 : -EXDEV };
		place->inode = file ? file->inode : NULL;
		place->entry = file ? file->entry : NULL;
		return file;
	}
	if (kind->variant == VARIANT_AT)
		known = call_flags(call, flags_arg, &at);
	if (known == VALUE_UNKNOWN) {
		call_not_understood(im, call, kind);
		return false;
	}
	if (known == VALUE_PARTLY)
		flags_partly(im, call, call->args[flags_arg]);
	if (at & AT_SYMLINK_NOFOLLOW)
		flags |= PLACE_NOFOLLOW;
	if (at & AT_EMPTY_PATH)
		flags |= PLACE_EMPTY;
	place_of(im, call, kind->dir, kind->arg, flags, 0, place);
	if (place->inode)
		return true;
	place_failed(im, call, place, 0);
	return false;
}

/**
 * place_handle() - the handle whose descriptor a call had
 * @place: as object_of() found it
 *
 * Return: its id; 0 if the call had a name, or a descriptor that is not in the trace.
 */
u64 place_handle(const struct place *place)
{
	return place->file ? place->file->handle : 0;
}

/**
 * object_inside() - the same, if there is a record to be made of it
 * @record: of which kind
 */
bool object_inside(struct import *im, const struct call *call, const struct call_kind *kind,
			  u32 flags_arg, u16 record, struct place *place)
{
	if (!object_of(im, call, kind, flags_arg, place))
		return false;
	if (call->result == -EACCES) {
		place_failed(im, call, place, 0);
		return false;
	}
	return inode_is_inside(im, place->inode) && is_shown(record, call->result);
}

/* -- stat ------------------------------------------------------------------------------------ */

static void learn_stat(struct inode *inode, struct text stat, const char *prefix)
{
	char mode[16], size[16], uid[16], gid[16];
	s64 number;

	snprintf(mode, sizeof(mode), "%s_mode", prefix);
	snprintf(size, sizeof(size), "%s_size", prefix);
	snprintf(uid, sizeof(uid), "%s_uid", prefix);
	snprintf(gid, sizeof(gid), "%s_gid", prefix);
	if (value_member_number(stat, mode, &number))
		inode_has_mode(inode, (u32)number);
	if (value_member_number(stat, size, &number) && number >= 0 && inode->type == IOT_TYPE_file)
		inode_has_size(inode, (u64)number);
	if (inode->known && value_member_number(stat, uid, &number))
		inode->known->uid = (u32)number;
	if (inode->known && value_member_number(stat, gid, &number))
		inode->known->gid = (u32)number;
}

/* The size that a stat shows, if any. Return: whether the size is known, from this stat or from before. */
static bool take_size(const struct inode *inode, u64 *size_bytes)
{
	*size_bytes = inode->type == IOT_TYPE_file ? inode->size_bytes : 0;
	return inode->type && (inode->type != IOT_TYPE_file || inode->has_exact_size);
}

void call_stat(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_stat };
	bool is_statx = !strcmp(kind->name, "statx");
	u32 arg = is_statx ? 4 : kind->arg + 1;
	struct place place;

	if (!object_of(im, call, kind, is_statx ? 2 : 3, &place))
		return;
	if (call->result == -EACCES)
		place_failed(im, call, &place, 0);
	if (call->result || place.inode == im->nothing)
		return;
	if (arg < call->arg_count)
		learn_stat(place.inode, call->args[arg], is_statx ? "stx" : "st");
	if (!inode_is_inside(im, place.inode))
		return;
	if (!take_size(place.inode, &record.stat.size_bytes)) {
		gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
		gap_moved(im, IMPORT_GAP_call, call);
		return;
	}
	record.stat.object = emit_object(im, place.inode);
	record.stat.name = emit_name_of(im, place.inode, place.entry);
	record.stat.handle = place_handle(&place);
	emit_op(im, &record);
}

/* Only a refusal makes a record. */
void call_access(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct place place;
	s64 mode;

	if (!object_of(im, call, kind, 3, &place) || call->result != -EACCES)
		return;
	call_flags(call, kind->arg + 1, &mode);
	place_failed(im, call, &place, mode & 2 ? IOT_INTENT_create : 0);
}

void call_statfs(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_statfs };
	struct place place;

	if (!object_inside(im, call, kind, 0, record.kind, &place))
		return;
	record.statfs.object = emit_object(im, place.inode);
	record.statfs.handle = place_handle(&place);
	record.statfs.result = call->result;
	emit_op(im, &record);
}

/* -- setattr ------------------------------------------------------------------------------------- */

static void begin_setattr(struct import *im, const struct call *call, const struct place *place,
			  struct iot_record *record)
{
	*record = (struct iot_record){ .kind = IOT_KIND_setattr };
	record->setattr.object = emit_object(im, place->inode);
	record->setattr.name = emit_name_of(im, place->inode, place->entry);
	record->setattr.handle = place_handle(place);
	record->setattr.attrs = record->setattr.handle ? IOT_ATTR_by_handle : 0;
	record->setattr.old_size_bytes = place->inode->size_bytes;
	record->setattr.result = call->result;
}

void call_chmod(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record;
	struct place place;
	s64 mode;

	if (!call_number(call, kind->arg + 1, &mode)) {
		call_not_understood(im, call, kind);
		return;
	}
	if (!object_inside(im, call, kind, 3, IOT_KIND_setattr, &place))
		return;
	begin_setattr(im, call, &place, &record);
	record.setattr.attrs |= IOT_ATTR_mode;
	record.setattr.mode = (u32)mode & MODE_BITS;
	emit_op(im, &record);
	if (!call->result && place.inode->mode)
		place.inode->mode = (place.inode->mode & S_IFMT) | ((u32)mode & MODE_BITS);
}

void call_chown(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record;
	struct place place;
	s64 uid, gid;

	if (!call_number(call, kind->arg + 1, &uid) || !call_number(call, kind->arg + 2, &gid)) {
		call_not_understood(im, call, kind);
		return;
	}
	if (!object_inside(im, call, kind, 4, IOT_KIND_setattr, &place))
		return;
	begin_setattr(im, call, &place, &record);
	if ((s32)uid != -1) {
		record.setattr.attrs |= IOT_ATTR_uid;
		record.setattr.uid = (u32)uid;
	}
	if ((s32)gid != -1) {
		record.setattr.attrs |= IOT_ATTR_gid;
		record.setattr.gid = (u32)gid;
	}
	if (place.inode->type != IOT_TYPE_dir)
		record.setattr.attrs |= IOT_ATTR_kill_priv;
	emit_op(im, &record);
}

/* Requested times. */
struct times {
	u32 attrs;
	u64 atime_ns;
	u64 mtime_ns;
};

/* {tv_sec=1, tv_nsec=2}; {1, 2} before 4.15. Return: is it known? */
static bool take_timespec(struct text text, s64 unit_ns, s64 *seconds, s64 *fraction)
{
	struct text inner, item, rest;

	if (value_member_number(text, "tv_sec", seconds))
		return value_member_number(text, "tv_nsec", fraction) ||
		       (unit_ns > 1 && value_member_number(text, "tv_usec", fraction));
	return value_inner(text, '{', &inner) && value_first(inner, &item, &rest) &&
	       value_number(item, seconds) && value_first(rest, &item, &rest) &&
	       value_number(item, fraction);
}

/* One of two times, also UTIME_NOW or UTIME_OMIT. Return: is it known? */
static bool take_stamp(struct text text, s64 unit_ns, u64 *time_ns, u32 *attrs, u32 attr, u32 attr_set)
{
	s64 seconds, fraction;

	if (text_is(text, "UTIME_OMIT"))
		return true;
	if (!text_is(text, "UTIME_NOW")) {
		if (!take_timespec(text, unit_ns, &seconds, &fraction))
			return false;
		if (unit_ns == 1 && fraction == UTIME_OMIT)
			return true;
		if (unit_ns > 1 || fraction != UTIME_NOW) {
			*time_ns = (u64)seconds * NS_PER_S + (u64)((s32)fraction * unit_ns);
			attr |= attr_set;
		}
	}
	*attrs |= attr;
	return true;
}

/* {actime=1, modtime=2}, of utime(2); before 5.0 these are local times, which are not known. */
static bool take_utimbuf(struct text text, struct times *times)
{
	s64 atime, mtime;

	if (!value_member_number(text, "actime", &atime) || !value_member_number(text, "modtime", &mtime))
		return false;
	times->attrs = IOT_ATTR_atime | IOT_ATTR_atime_set | IOT_ATTR_mtime | IOT_ATTR_mtime_set;
	times->atime_ns = (u64)atime * NS_PER_S;
	times->mtime_ns = (u64)mtime * NS_PER_S;
	return true;
}

/* Return: whether the requested attributes are known. */
static bool take_times(const struct call *call, const struct call_kind *kind, struct times *times)
{
	s64 unit_ns = strncmp(kind->name, "utimensat", 9) ? 1000 : 1;
	u32 arg = kind->arg + 1;
	struct text list, item;

	*times = (struct times){ .attrs = IOT_ATTR_atime | IOT_ATTR_mtime };
	if (arg >= call->arg_count)
		return false;
	if (text_is(call->args[arg], "NULL"))
		return true;
	if (!strcmp(kind->name, "utime"))
		return take_utimbuf(call->args[arg], times);
	times->attrs = 0;
	return (value_inner(call->args[arg], '[', &list) || value_inner(call->args[arg], '{', &list)) &&
	       value_first(list, &item, &list) &&
	       take_stamp(item, unit_ns, &times->atime_ns, &times->attrs, IOT_ATTR_atime, IOT_ATTR_atime_set) &&
	       value_first(list, &item, &list) &&
	       take_stamp(item, unit_ns, &times->mtime_ns, &times->attrs, IOT_ATTR_mtime, IOT_ATTR_mtime_set);
}

/* utimensat and futimesat without a name are about the descriptor. */
static bool times_of(struct import *im, const struct call *call, const struct call_kind *kind,
		     struct place *place)
{
	struct call_kind by_fd = *kind;

	if (kind->dir >= 0 && call->arg_count > 1 && text_is(call->args[1], "NULL")) {
		by_fd.variant = VARIANT_FD;
		by_fd.arg = 0;
		kind = &by_fd;
	}
	return object_inside(im, call, kind, 3, IOT_KIND_setattr, place);
}

void call_utimes(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record;
	struct place place;
	struct times times;

	if (!take_times(call, kind, &times)) {
		call_not_understood(im, call, kind);
		return;
	}
	if (!times_of(im, call, kind, &place))
		return;
	begin_setattr(im, call, &place, &record);
	record.setattr.attrs |= times.attrs;
	record.setattr.atime_ns = times.atime_ns;
	record.setattr.mtime_ns = times.mtime_ns;
	if (times.attrs)
		emit_op(im, &record);
}

/* A file has got a size that is not known. */
static void lose_size(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct place place;

	call_not_understood(im, call, kind);
	if (call->result || !object_of(im, call, kind, 0, &place))
		return;
	place.inode->is_truncated = true;
	place.inode->has_exact_size = false;
}

void call_truncate(struct import *im, const struct call *call, const struct call_kind *kind)
{
	bool is_by_fd = kind->variant == VARIANT_FD;
	u64 size_bytes;
	struct place place;
	s64 size;

	if (!call_number(call, kind->arg + 1, &size)) {
		lose_size(im, call, kind);
		return;
	}
	size_bytes = (u64)size;
	if (size_bytes > FILE_MAX_BYTES || !object_of(im, call, kind, 0, &place) || place.inode == im->nothing)
		return;
	inode_is(place.inode, IOT_TYPE_file);
	if (call->result == -EACCES)
		place_failed(im, call, &place, IOT_INTENT_create);
	else if (inode_is_inside(im, place.inode) && is_shown(IOT_KIND_setattr, call->result))
		emit_size(im, place.inode, place.entry, is_by_fd ? place.file->handle : 0,
			  is_by_fd ? IOT_ATTR_size | IOT_ATTR_mtime | IOT_ATTR_by_handle :
				     IOT_ATTR_size,
			  size_bytes, call->result);
	if (!call->result)
		inode_resize(place.inode, size_bytes);
}
