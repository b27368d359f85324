// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_attr.c - calls that read and change attributes.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "model.h"

#define NS_PER_S 1000000000ll

/*
 * What a call is about: a name, or a descriptor. @flags_arg: where AT_* flags are, of calls that
 * have them. Return: is it there, and shown?
 */
static bool object_of(struct import *im, const struct call *call, const struct call_kind *kind,
		      u32 flags_arg, struct place *place)
{
	u32 flags = kind->variant == VARIANT_NOFOLLOW ? PLACE_NOFOLLOW : 0;
	s64 at = kind->variant == VARIANT_AT ? call_number(call, flags_arg) : 0;

	if (kind->variant == VARIANT_FD) {
		struct file *file = file_of(im, call, kind->arg);

		*place = (struct place){ .file = file, .is_end = true, .err = file ? 0 : -EXDEV };
		place->inode = file ? file->inode : NULL;
		place->entry = file ? file->entry : NULL;
		return file;
	}
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

/* The same, if there is a record to be made of it. */
static bool object_inside(struct import *im, const struct call *call, const struct call_kind *kind,
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

static bool member_number(struct text text, const char *name, s64 *number)
{
	struct text value;

	return value_member(text, name, &value) && value_number(value, number);
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
	if (member_number(stat, mode, &number))
		inode_has_mode(inode, (u32)number);
	if (member_number(stat, size, &number) && number >= 0 && inode->type == IOT_TYPE_file)
		inode_has_size(inode, (u64)number);
	if (inode->known && member_number(stat, uid, &number))
		inode->known->uid = (u32)number;
	if (inode->known && member_number(stat, gid, &number))
		inode->known->gid = (u32)number;
}

void call_stat(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_stat };
	bool is_statx = !strcmp(kind->name, "statx");
	u32 arg = kind->arg + 1;
	struct place place;

	if (is_statx)
		arg = 4;
	if (!object_of(im, call, kind, is_statx ? 2 : 3, &place))
		return;
	if (call->result == -EACCES)
		place_failed(im, call, &place, 0);
	if (call->result)
		return;
	if (arg < call->arg_count)
		learn_stat(place.inode, call->args[arg], is_statx ? "stx" : "st");
	if (!inode_is_inside(im, place.inode))
		return;
	record.stat.object = emit_object(im, place.inode);
	record.stat.name = emit_name_of(im, place.inode, place.entry);
	record.stat.size_bytes = place.inode->type == IOT_TYPE_file ? place.inode->size_bytes : 0;
	emit_op(im, &record);
}

void call_access(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct place place;

	if (object_of(im, call, kind, 3, &place) && call->result == -EACCES)
		place_failed(im, call, &place, call_number(call, kind->arg + 1) & 2 ?
							IOT_INTENT_create : 0);
}

void call_statfs(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_statfs };
	struct place place;

	if (!object_inside(im, call, kind, 0, record.kind, &place))
		return;
	record.statfs.object = emit_object(im, place.inode);
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
	record->setattr.old_size_bytes = place->inode->size_bytes;
	record->setattr.result = call->result;
}

void call_chmod(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u32 mode = (u32)call_number(call, kind->arg + 1) & MODE_BITS;
	struct iot_record record;
	struct place place;

	if (!object_inside(im, call, kind, 3, IOT_KIND_setattr, &place))
		return;
	begin_setattr(im, call, &place, &record);
	record.setattr.attrs = IOT_ATTR_mode;
	record.setattr.mode = mode;
	emit_op(im, &record);
	if (!call->result && place.inode->mode)
		place.inode->mode = (place.inode->mode & S_IFMT) | mode;
}

void call_chown(struct import *im, const struct call *call, const struct call_kind *kind)
{
	s64 uid = call_number(call, kind->arg + 1), gid = call_number(call, kind->arg + 2);
	struct iot_record record;
	struct place place;

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

/* One of two times: {tv_sec=1, tv_nsec=2}, UTIME_NOW or UTIME_OMIT. */
static u32 take_stamp(struct text text, u64 *time_ns, u32 attr, u32 attr_set)
{
	s64 seconds, fraction = 0;

	if (text_is(text, "UTIME_OMIT"))
		return 0;
	if (!member_number(text, "tv_sec", &seconds))
		return attr;
	if (member_number(text, "tv_nsec", &fraction)) {
		if (fraction == UTIME_OMIT)
			return 0;
		if (fraction == UTIME_NOW)
			return attr;
	} else if (member_number(text, "tv_usec", &fraction)) {
		fraction = (s32)fraction * 1000ll;
	}
	*time_ns = (u64)seconds * NS_PER_S + (u64)fraction;
	return attr | attr_set;
}

/* utimensat without a name is about the descriptor. */
static bool times_of(struct import *im, const struct call *call, const struct call_kind *kind,
		     struct place *place)
{
	struct call_kind by_fd = *kind;

	if (kind->variant == VARIANT_AT && call->arg_count > 1 && text_is(call->args[1], "NULL")) {
		by_fd.variant = VARIANT_FD;
		by_fd.arg = 0;
		kind = &by_fd;
	}
	return object_inside(im, call, kind, 3, IOT_KIND_setattr, place);
}

void call_utimes(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u32 arg = kind->arg + 1, both = IOT_ATTR_atime | IOT_ATTR_mtime;
	struct text list = {}, item;
	struct iot_record record;
	struct place place;
	u64 atime_ns = 0, mtime_ns = 0;

	if (!times_of(im, call, kind, &place))
		return;
	begin_setattr(im, call, &place, &record);
	if (arg < call->arg_count)
		list = call->args[arg];
	if (list.bytes > 2 && *list.p == '[') {
		list = (struct text){ list.p + 1, list.bytes - 2 };
		both = 0;
		if (value_first(list, &item, &list))
			both |= take_stamp(item, &atime_ns, IOT_ATTR_atime, IOT_ATTR_atime_set);
		if (value_first(list, &item, &list))
			both |= take_stamp(item, &mtime_ns, IOT_ATTR_mtime, IOT_ATTR_mtime_set);
	}
	record.setattr.attrs = both;
	record.setattr.atime_ns = atime_ns;
	record.setattr.mtime_ns = mtime_ns;
	if (both)
		emit_op(im, &record);
}

void call_truncate(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u64 size_bytes = (u64)call_number(call, kind->arg + 1);
	bool is_by_fd = kind->variant == VARIANT_FD;
	struct place place;

	if (size_bytes > FILE_MAX_BYTES || !object_of(im, call, kind, 0, &place))
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

/* -- extended attributes --------------------------------------------------------------------------- */

/*
 * Behind the name: a zero byte and the value, if a file system acts on it, as the kernel's recorder
 * has it. Return: bytes of both; 0 if strace cut it.
 */
static size_t value_of(const struct call *call, u8 *text, size_t name_bytes, size_t room,
		       u64 length_bytes)
{
	size_t bytes = 0;

	text[name_bytes] = 0;
	if (strncmp((char *)text, "system.", 7) && strncmp((char *)text, "security.", 9))
		return 0;
	if (name_bytes + 1 + length_bytes > IOT_TAIL_MAX_BYTES || name_bytes + 1 >= room ||
	    call->arg_count < 3 ||
	    value_string(call->args[2], text + name_bytes + 1, room - name_bytes - 1, &bytes) ||
	    bytes != length_bytes)
		return 0;
	return 1 + bytes;
}

/* All of them begin with name and object. */
static void put_xattr(struct import *im, const struct call *call, const struct place *place,
		      u32 name_arg, struct iot_record *record)
{
	u8 text[PATH_ROOM + 1]; /* value_of() ends the name */
	size_t bytes = 0;

	if (name_arg && (name_arg >= call->arg_count ||
			 value_string(call->args[name_arg], text, PATH_ROOM, &bytes))) {
		gap(im, IMPORT_GAP_cut_name);
		return;
	}
	record->removexattr.object = emit_object(im, place->inode);
	record->removexattr.name = emit_name_of(im, place->inode, place->entry);
	record->removexattr.result = call->result;
	if (record->kind == IOT_KIND_setxattr)
		bytes += value_of(call, text, bytes, sizeof(text), record->setxattr.length_bytes);
	record->tail = text;
	record->tail_bytes = (u16)bytes;
	emit_op(im, record);
}

void call_getxattr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_getxattr };
	struct place place;

	if (!object_inside(im, call, kind, 0, record.kind, &place))
		return;
	record.getxattr.length_bytes = (u64)call_number(call, 3);
	put_xattr(im, call, &place, 1, &record);
}

void call_setxattr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_setxattr };
	struct place place;

	if (!object_inside(im, call, kind, 0, record.kind, &place))
		return;
	record.setxattr.length_bytes = (u64)call_number(call, 3);
	record.setxattr.flags = (u32)call_number(call, 4) & (XATTR_CREATE | XATTR_REPLACE);
	put_xattr(im, call, &place, 1, &record);
}

void call_listxattr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_listxattr };
	struct place place;

	if (!object_inside(im, call, kind, 0, record.kind, &place))
		return;
	record.listxattr.length_bytes = (u64)call_number(call, 2);
	put_xattr(im, call, &place, 0, &record);
}

void call_removexattr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_removexattr };
	struct place place;

	if (object_inside(im, call, kind, 0, record.kind, &place))
		put_xattr(im, call, &place, 1, &record);
}
