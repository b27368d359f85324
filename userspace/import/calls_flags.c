// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_flags.c - calls that read and change flags of files, as lsattr(1) and chattr(1) do: ioctls, and
 * since Linux 6.17 file_getattr(2) and file_setattr(2).
 */
#include <errno.h>
#include <linux/fs.h>

#include "core/file_flags.h"
#include "model.h"

#define AT_FLAGS_ARG 4

/* They stand in brackets, because the call is given their address. */
static bool take_flags(struct text given, struct iot_rec_setfileattr *r)
{
	struct text inner;
	s64 flags;

	if (!value_inner(given, '[', &inner) || !value_number(inner, &flags))
		return false;
	r->flags = iot_fileattrs_of((u32)flags);
	return true;
}

/* Members of a structure, whose names begin alike. Return: are they all there, and known? */
static bool take_numbers(struct text given, const char *prefix, struct iot_rec_setfileattr *r)
{
	static const char *const members[] = { "xflags", "extsize", "projid", "cowextsize" };
	s64 values[ARRAY_SIZE(members)];
	char name[24];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		snprintf(name, sizeof(name), "%s_%s", prefix, members[i]);
		if (!value_member_number(given, name, &values[i]))
			return false;
	}
	r->has_numbers = 1;
	r->flags = iot_fileattrs_of_x((u32)values[0]);
	r->extsize_bytes = (u32)values[1];
	r->project = (u32)values[2];
	r->cowextsize_bytes = (u32)values[3];
	return true;
}

static void put(struct import *im, const struct call *call, const struct place *place, struct iot_record *record)
{
	if (!is_shown(record->kind, call->result))
		return;
	record->getfileattr.object = emit_object(im, place->inode); /* both begin alike */
	record->getfileattr.name = emit_name_of(im, place->inode, place->entry);
	if (record->kind == IOT_KIND_getfileattr)
		record->getfileattr.handle = place_handle(place);
	else
		record->setfileattr.handle = place_handle(place);
	record->getfileattr.result = call->result;
	emit_op(im, record);
}

/**
 * call_file_flags() - an ioctl, if it is about flags of files
 * @im: the import
 * @call: the ioctl
 * @file: that it is on, inside
 * @request: its request
 *
 * Return: is it?
 */
bool call_file_flags(struct import *im, const struct call *call, struct file *file, u32 request)
{
	const struct place place = { .file = file, .inode = file->inode, .entry = file->entry };
	struct iot_record record = { .kind = IOT_KIND_setfileattr };
	struct text given = call->arg_count > 2 ? call->args[2] : (struct text){};
	bool is_known = true;

	switch (request) {
	case (u32)FS_IOC_GETFLAGS:
	case (u32)FS_IOC32_GETFLAGS:
	case (u32)FS_IOC_FSGETXATTR:
		record.kind = IOT_KIND_getfileattr;
		break;
	case (u32)FS_IOC_SETFLAGS:
	case (u32)FS_IOC32_SETFLAGS:
		is_known = take_flags(given, &record.setfileattr);
		break;
	case (u32)FS_IOC_FSSETXATTR:
		is_known = take_numbers(given, "fsx", &record.setfileattr);
		break;
	default:
		return false;
	}
	if (is_known) {
		put(im, call, &place, &record);
	} else if (call->result >= 0) {
		gap_named(im, IMPORT_GAP_call, call->name, call->args[1]);
		gap_moved(im, IMPORT_GAP_call, call);
	}
	return true;
}

void call_file_attr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_getfileattr };
	struct text given = call->arg_count > 2 ? call->args[2] : (struct text){};
	struct place place;

	if (!strcmp(kind->name, "file_setattr")) {
		record.kind = IOT_KIND_setfileattr;
		if (!take_numbers(given, "fa", &record.setfileattr)) {
			call_not_understood(im, call, kind);
			return;
		}
	}
	if (object_inside(im, call, kind, AT_FLAGS_ARG, record.kind, &place))
		put(im, call, &place, &record);
}
