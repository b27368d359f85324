// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * api_record.c - one record, for users of libiotape.
 */
#include <stdlib.h>

#include "api.h"

/* A field of another kind would be read from the wrong place. */
static bool has_field(const struct iotape_record *record, const struct iotape_field *field)
{
	const struct iot_kind_info *info = iot_kind_info(record->record.kind);

	return field && api_field(field) >= info->fields && api_field(field) < info->fields + info->field_count;
}

const struct iotape_kind *iotape_record_kind(const struct iotape_record *record)
{
	return (const struct iotape_kind *)iot_kind_info(record->record.kind);
}

int iotape_record_get_s64(const struct iotape_record *record, const struct iotape_field *field, int64_t *value)
{
	u64 got;

	if (!has_field(record, field))
		return -EINVAL;
	got = iot_field_get(&record->record, api_field(field));
	if (!iotape_field_is_signed(field) && got > INT64_MAX)
		return -ERANGE;
	*value = (int64_t)got;
	return 0;
}

int iotape_record_get_u64(const struct iotape_record *record, const struct iotape_field *field, uint64_t *value)
{
	u64 got;

	if (!has_field(record, field))
		return -EINVAL;
	got = iot_field_get(&record->record, api_field(field));
	if (iotape_field_is_signed(field) && got > INT64_MAX)
		return -ERANGE;
	*value = got;
	return 0;
}

/* The first field of each kind is a time. */
uint64_t iotape_record_begin_ns(const struct iotape_record *record)
{
	return iot_field_get(&record->record, &iot_kind_info(record->record.kind)->fields[0]);
}

uint64_t iotape_record_end_ns(const struct iotape_record *record)
{
	return iot_record_end_ns(&record->record);
}

uint32_t iotape_record_task(const struct iotape_record *record)
{
	return iot_record_task(&record->record);
}

uint64_t iotape_record_moved_bytes(const struct iotape_record *record)
{
	return iot_record_moved_bytes(&record->record);
}

const void *iotape_record_tail(const struct iotape_record *record, size_t *bytes)
{
	*bytes = record->record.tail_bytes;
	return record->record.tail;
}

int iotape_record_is_known(const struct iotape_record *record, const struct iotape_field *field)
{
	const struct iot_kind_info *info = iot_kind_info(record->record.kind);
	struct api_unknown unknown;

	if (!has_field(record, field))
		return -EINVAL;
	if (record->absent >> (api_field(field) - info->fields) & 1)
		return 0;
	unknown = api_unknown_of(api_field(field));
	return !unknown.exists || iot_field_get(&record->record, api_field(field)) != unknown.value;
}

int iotape_record_text(const struct iotape_record *record, const struct iotape_field *field, char *text,
		       size_t room_bytes)
{
	if (!has_field(record, field) || room_bytes < 2)
		return -EINVAL;
	return iot_text_field(text, room_bytes, &record->record, api_field(field));
}

int iotape_record_tail_text(const struct iotape_record *record, char *text, size_t room_bytes)
{
	if (room_bytes < 2)
		return -EINVAL;
	return iot_text_tail(text, room_bytes, &record->record);
}

int iotape_record_new(const struct iotape_kind *kind, struct iotape_record **record)
{
	*record = calloc(1, sizeof(**record));
	if (!*record)
		return -ENOMEM;
	(*record)->record.kind = api_kind(kind)->kind;
	(*record)->record.tail = (const u8 *)"";
	return 0;
}

int iotape_record_copy(const struct iotape_record *original, struct iotape_record **record)
{
	u8 *tail = malloc(original->record.tail_bytes + 1u);

	*record = tail ? malloc(sizeof(**record)) : NULL;
	if (!*record) {
		free(tail);
		return -ENOMEM;
	}
	if (original->record.tail_bytes)
		memcpy(tail, original->record.tail, original->record.tail_bytes);
	**record = *original;
	(*record)->tail = tail;
	(*record)->record.tail = tail;
	return 0;
}

void iotape_record_free(struct iotape_record *record)
{
	if (!record)
		return;
	free(record->tail);
	free(record);
}

static bool is_narrow(const struct iotape_field *field)
{
	return iot_wire_type_bytes(api_field(field)->type) == 4;
}

static void set_known(struct iotape_record *record, const struct iotape_field *field, u64 value)
{
	iot_field_set(&record->record, api_field(field), value);
	record->absent &= ~(1ull << (api_field(field) - iot_kind_info(record->record.kind)->fields));
}

int iotape_record_set_s64(struct iotape_record *record, const struct iotape_field *field, int64_t value)
{
	if (!has_field(record, field))
		return -EINVAL;
	if (!iotape_field_is_signed(field))
		return value < 0 ? -ERANGE : iotape_record_set_u64(record, field, (uint64_t)value);
	if (is_narrow(field) && (value < INT32_MIN || value > INT32_MAX))
		return -ERANGE;
	set_known(record, field, (u64)value);
	return 0;
}

int iotape_record_set_u64(struct iotape_record *record, const struct iotape_field *field, uint64_t value)
{
	if (!has_field(record, field))
		return -EINVAL;
	if (iotape_field_is_signed(field))
		return value > INT64_MAX ? -ERANGE : iotape_record_set_s64(record, field, (int64_t)value);
	if (is_narrow(field) && value > UINT32_MAX)
		return -ERANGE;
	set_known(record, field, value);
	return 0;
}

int iotape_record_set_tail(struct iotape_record *record, const void *bytes, size_t count)
{
	u8 *tail;

	if (!iot_kind_tail(record->record.kind))
		return -EINVAL;
	if (count > IOT_TAIL_MAX_BYTES)
		return -EMSGSIZE;
	tail = malloc(count + 1);
	if (!tail)
		return -ENOMEM;
	if (count)
		memcpy(tail, bytes, count);
	free(record->tail);
	record->tail = tail;
	record->record.tail = tail;
	record->record.tail_bytes = (u16)count;
	return 0;
}
