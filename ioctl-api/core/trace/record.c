// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * record.c - encode and decode records of a kind known at run time only.
 */
#include "record.h"

/**
 * iot_record_encode() - write a record of any known kind
 * @buffer: where to
 * @room_bytes: room there
 * @record: kind, fields, tail
 *
 * Return: bytes written; -ENOSPC if there is no room; -EINVAL if the kind is not
 * known or the tail is too long.
 */
s32 iot_record_encode(void *buffer, size_t room_bytes, const struct iot_record *record)
{
	u8 *start = buffer, *stop;

	if (record->tail_bytes > IOT_TAIL_MAX_BYTES)
		return -EINVAL;
	switch (record->kind) {
#define IOT_ENCODE_CASE(id, name, group, sentence)                                           \
	case id:                                                                             \
		if (room_bytes < (size_t)IOT_WIRE_##name + record->tail_bytes)               \
			return -ENOSPC;                                                      \
		stop = iot_put_##name(start, &record->name, record->tail, record->tail_bytes); \
		break;
		IOT_RECORDS(IOT_ENCODE_CASE)
#undef IOT_ENCODE_CASE
	default:
		return -EINVAL;
	}
	return (s32)(stop - start);
}

/* If the record is too short for a field, the field is newer than the writer, and reads as zero. */
#define IOT_GET_FIELD(type, field, class, sentence)                                          \
	if (p + sizeof(r->field) <= stop) {                                                  \
		r->field = iot_get_##type(p);                                                \
		p += sizeof(r->field);                                                       \
	} else {                                                                             \
		r->field = 0;                                                                \
		p = stop;                                                                    \
	}

#define IOT_GET(id, name, group, sentence)                                                   \
	static void get_##name(const u8 *p, const u8 *stop, struct iot_rec_##name *r)        \
	{                                                                                    \
		IOT_FIELDS_##name(IOT_GET_FIELD)                                             \
	}
IOT_RECORDS(IOT_GET)
#undef IOT_GET
#undef IOT_GET_FIELD

/**
 * iot_record_decode() - read one record from bytes that may be hostile
 * @buffer: where it begins
 * @available_bytes: bytes from there to the end of what may be read
 * @record: filled in; its tail points into @buffer
 *
 * A record of an unknown kind is no error: kind, length and tail are set, the fields are not, and the caller skips
 * it. Fields that only the writer or only this reader knows are no error, either.
 *
 * Return: bytes of the record; -EBADMSG if they are not a record.
 */
s32 iot_record_decode(const void *buffer, size_t available_bytes, struct iot_record *record)
{
	const u8 *p = buffer, *stop;

	if (available_bytes < IOT_RECORD_HEAD_BYTES)
		return -EBADMSG;
	record->length_bytes = iot_get_u16(p);
	record->kind = iot_get_u16(p + 2);
	record->tail_bytes = iot_get_u16(p + 4);
	if (iot_get_u16(p + 6) != 0 || record->length_bytes > available_bytes ||
	    record->length_bytes < IOT_RECORD_HEAD_BYTES + (u32)record->tail_bytes ||
	    record->length_bytes > IOT_RECORD_MAX_BYTES || record->tail_bytes > IOT_TAIL_MAX_BYTES)
		return -EBADMSG;

	stop = p + record->length_bytes - record->tail_bytes;
	record->tail = stop;
	p += IOT_RECORD_HEAD_BYTES;
	switch (record->kind) {
#define IOT_DECODE_CASE(id, name, group, sentence) \
	case id:                                   \
		get_##name(p, stop, &record->name); \
		break;
		IOT_RECORDS(IOT_DECODE_CASE)
#undef IOT_DECODE_CASE
	default:
		break;
	}
	return record->length_bytes;
}

/* The fields of an operation follow the common ones in memory as on the wire. */
#define IOT_CHECK_PREFIX(name)                                            \
	static_assert(offsetof(struct iot_rec_##name, result) ==          \
			      offsetof(struct iot_rec_op, result),        \
		      #name " does not begin with the fields of an operation")
IOT_CHECK_PREFIX(read);
IOT_CHECK_PREFIX(open);
IOT_CHECK_PREFIX(touch);
static_assert(sizeof(struct iot_rec_op) == 56, "the common fields have holes");
