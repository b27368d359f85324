// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * api_known.c - values of fields that are not known, for users of libiotape.
 */
#include <ctype.h>
#include <stdlib.h>

#include "api.h"

/**
 * api_unknown_of() - the value of a field that means "not known"
 * @field: the field
 *
 * schema.h states it in the sentence of the field: "0 if not known", "0 if none or not known".
 */
struct api_unknown api_unknown_of(const struct iot_field *field)
{
	static const char *const phrases[] = { " if not known", " if none or not known" };
	struct api_unknown unknown = { 0 };
	const char *at, *begin;
	size_t i;

	for (i = 0; i < sizeof(phrases) / sizeof(phrases[0]) && !unknown.exists; i++) {
		at = strstr(field->sentence, phrases[i]);
		begin = at;
		while (begin && begin > field->sentence && isdigit((unsigned char)begin[-1]))
			begin--;
		if (!at || begin == at)
			continue;
		unknown.value = strtoull(begin, NULL, 10);
		unknown.exists = true;
	}
	return unknown;
}

static u64 bit_of(const struct iot_kind_info *info, const char *name)
{
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return 1ull << i;
	return 0;
}

/**
 * api_absent_in_logs() - fields of a record that a log of system calls does not show
 * @record: of a trace that was made from a log of this format
 *
 * Only the first operation of a system call has a duration.
 *
 * Return: a bit for each field, by its index.
 */
u64 api_absent_in_logs(const struct iot_record *record)
{
	static const char *const never[] = { "oncpu_ns", "switches", "major", "cached_pages" };
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u64 absent = 0;
	size_t i;

	if (info->group != IOT_GROUP_op)
		return 0;
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		absent |= bit_of(info, never[i]);
	if (!record->op.duration_ns)
		absent |= bit_of(info, "duration_ns");
	return absent;
}
