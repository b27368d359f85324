// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_flags.c - ioctls that read and change flags of files, as lsattr(1) and chattr(1) do.
 */
#include <errno.h>
#include <linux/fs.h>

#include "core/file_flags.h"
#include "model.h"

static s64 member(struct text text, const char *name)
{
	struct text value;
	s64 number;

	return value_member(text, name, &value) && value_number(value, &number) ? number : 0;
}

/* They stand in brackets, because the call is given their address. */
static bool take_flags(struct text given, struct iot_rec_setfileattr *r)
{
	s64 flags;

	if (given.bytes < 2 || *given.p != '[' ||
	    !value_number((struct text){ given.p + 1, given.bytes - 2 }, &flags))
		return false;
	r->flags = iot_fileattrs_of((u32)flags);
	return true;
}

static bool take_numbers(struct text given, struct iot_rec_setfileattr *r)
{
	struct text value;

	if (!value_member(given, "fsx_xflags", &value))
		return false;
	r->has_numbers = 1;
	r->flags = iot_fileattrs_of_x((u32)member(given, "fsx_xflags"));
	r->project = (u32)member(given, "fsx_projid");
	r->extsize_bytes = (u32)member(given, "fsx_extsize");
	r->cowextsize_bytes = (u32)member(given, "fsx_cowextsize");
	return true;
}

static void put(struct import *im, const struct call *call, const struct file *file,
		struct iot_record *record)
{
	if (!is_shown(record->kind, call->result))
		return;
	record->getfileattr.object = emit_object(im, file->inode); /* both begin alike */
	record->getfileattr.name = emit_name_of(im, file->inode, file->entry);
	record->getfileattr.result = call->result;
	emit_op(im, record);
}

/**
 * call_flags() - an ioctl, if it is about flags of files
 * @im: the import
 * @call: the ioctl
 * @file: that it is on, inside
 * @request: its request
 *
 * Return: is it?
 */
bool call_flags(struct import *im, const struct call *call, const struct file *file, u32 request)
{
	struct iot_record record = { .kind = IOT_KIND_setfileattr };
	struct text given = {};
	bool is_known = true;

	if (call->arg_count > 2)
		given = call->args[2];
	switch (request) {
	case (u32)FS_IOC_GETFLAGS:
	case (u32)FS_IOC_FSGETXATTR:
		record.kind = IOT_KIND_getfileattr;
		break;
	case (u32)FS_IOC_SETFLAGS:
		is_known = take_flags(given, &record.setfileattr);
		break;
	case (u32)FS_IOC_FSSETXATTR:
		is_known = take_numbers(given, &record.setfileattr);
		break;
	default:
		return false;
	}
	if (is_known)
		put(im, call, file, &record);
	return true;
}
