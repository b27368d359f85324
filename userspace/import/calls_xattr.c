// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_xattr.c - calls that read and change extended attributes.
 *
 * The variants with a directory and flags, such as setxattrat(2), take the other arguments in a structure:
 * {value="v", size=1, flags=0}.
 */
#include <sys/xattr.h>

#include "model.h"

#define AT_FLAGS_ARG 2

/**
 * struct xattr - where the parts of a call are
 * @name: of the attribute; empty if the call has none
 * @value: empty if it is not shown
 * @size_bytes: of the value, or room for it
 * @flags: XATTR_*
 */
struct xattr {
	struct text name;
	struct text value;
	s64 size_bytes;
	s64 flags;
};

static struct text argument(const struct call *call, u32 index)
{
	return index < call->arg_count ? call->args[index] : (struct text){};
}

/* Return: is all there that a record needs? */
static bool take_plain(const struct call *call, u16 record, struct xattr *x)
{
	*x = (struct xattr){ .name = argument(call, 1) };
	switch (record) {
	case IOT_KIND_listxattr:
		x->name = (struct text){};
		return call_number(call, 2, &x->size_bytes);
	case IOT_KIND_removexattr:
		return true;
	case IOT_KIND_getxattr:
		return call_number(call, 3, &x->size_bytes);
	default:
		x->value = argument(call, 2);
		return call_number(call, 3, &x->size_bytes) &&
		       call_flags(call, 4, &x->flags) == VALUE_KNOWN;
	}
}

static bool take_structured(const struct call *call, u16 record, struct xattr *x)
{
	struct text args = argument(call, 4), flags;

	*x = (struct xattr){ .name = argument(call, 3) };
	switch (record) {
	case IOT_KIND_listxattr:
		x->name = (struct text){};
		return call_number(call, 4, &x->size_bytes);
	case IOT_KIND_removexattr:
		return true;
	case IOT_KIND_getxattr:
		return value_member_number(args, "size", &x->size_bytes);
	default:
		value_member(args, "value", &x->value);
		return value_member_number(args, "size", &x->size_bytes) &&
		       value_member(args, "flags", &flags) &&
		       value_flags(flags, &x->flags) == VALUE_KNOWN;
	}
}

/*
 * Behind the name: a zero byte and the value, if a file system acts on it, as the kernel's recorder
 * has it. Return: bytes of both; 0 if strace cut it.
 */
static size_t put_value(const struct xattr *x, u8 *text, size_t name_bytes, size_t room)
{
	u64 size_bytes = (u64)x->size_bytes;
	size_t bytes = 0;

	text[name_bytes] = 0;
	if (strncmp((char *)text, "system.", 7) && strncmp((char *)text, "security.", 9))
		return 0;
	if (name_bytes + 1 + size_bytes > IOT_TAIL_MAX_BYTES || name_bytes + 1 >= room ||
	    value_string(x->value, text + name_bytes + 1, room - name_bytes - 1, &bytes) ||
	    bytes != size_bytes)
		return 0;
	return 1 + bytes;
}

static void set_handle(struct iot_record *record, u64 handle)
{
	switch (record->kind) {
	case IOT_KIND_getxattr:
		record->getxattr.handle = handle;
		break;
	case IOT_KIND_setxattr:
		record->setxattr.handle = handle;
		break;
	case IOT_KIND_listxattr:
		record->listxattr.handle = handle;
		break;
	default:
		record->removexattr.handle = handle;
	}
}

/* All of them begin with name and object. */
static void put_xattr(struct import *im, const struct call *call, const struct xattr *x,
		      const struct place *place, struct iot_record *record)
{
	u8 text[PATH_ROOM + 1]; /* put_value() ends the name */
	size_t bytes = 0;

	if (record->kind != IOT_KIND_listxattr && value_string(x->name, text, PATH_ROOM, &bytes)) {
		gap(im, IMPORT_GAP_cut_name);
		gap_moved(im, IMPORT_GAP_cut_name, call);
		return;
	}
	record->removexattr.object = emit_object(im, place->inode);
	record->removexattr.name = emit_name_of(im, place->inode, place->entry);
	record->removexattr.result = call->result;
	set_handle(record, place_handle(place));
	if (record->kind == IOT_KIND_setxattr)
		bytes += put_value(x, text, bytes, sizeof(text));
	record->tail = text;
	record->tail_bytes = (u16)bytes;
	emit_op(im, record);
}

/* Return: is there a record to be made? */
static bool begin(struct import *im, const struct call *call, const struct call_kind *kind, u16 record,
		  struct xattr *x, struct place *place)
{
	bool is_known = kind->variant == VARIANT_AT ? take_structured(call, record, x) :
						      take_plain(call, record, x);

	if (!is_known) {
		call_not_understood(im, call, kind);
		return false;
	}
	return object_inside(im, call, kind, AT_FLAGS_ARG, record, place);
}

void call_getxattr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_getxattr };
	struct place place;
	struct xattr x;

	if (!begin(im, call, kind, record.kind, &x, &place))
		return;
	record.getxattr.length_bytes = (u64)x.size_bytes;
	put_xattr(im, call, &x, &place, &record);
}

void call_setxattr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_setxattr };
	struct place place;
	struct xattr x;

	if (!begin(im, call, kind, record.kind, &x, &place))
		return;
	record.setxattr.length_bytes = (u64)x.size_bytes;
	record.setxattr.flags = (u32)x.flags & (XATTR_CREATE | XATTR_REPLACE);
	put_xattr(im, call, &x, &place, &record);
}

void call_listxattr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_listxattr };
	struct place place;
	struct xattr x;

	if (!begin(im, call, kind, record.kind, &x, &place))
		return;
	record.listxattr.length_bytes = (u64)x.size_bytes;
	put_xattr(im, call, &x, &place, &record);
}

void call_removexattr(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_removexattr };
	struct place place;
	struct xattr x;

	if (begin(im, call, kind, record.kind, &x, &place))
		put_xattr(im, call, &x, &place, &record);
}
