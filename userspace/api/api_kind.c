// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * api_kind.c - kinds of records and their fields, for users of libiotape.
 */
#include "api.h"

const struct iotape_kind *iotape_kind_find(const char *name)
{
	return (const struct iotape_kind *)iot_kind_by_name(name);
}

const struct iotape_kind *iotape_kind_at(size_t index)
{
	return (const struct iotape_kind *)iot_kind_at(index);
}

const char *iotape_kind_name(const struct iotape_kind *kind)
{
	return api_kind(kind)->name;
}

const char *iotape_kind_sentence(const struct iotape_kind *kind)
{
	return api_kind(kind)->sentence;
}

const char *iotape_kind_group(const struct iotape_kind *kind)
{
	return iot_group_name(api_kind(kind)->group);
}

int iotape_kind_is_operation(const struct iotape_kind *kind)
{
	return api_kind(kind)->group == IOT_GROUP_op;
}

const struct iotape_field *iotape_field_at(const struct iotape_kind *kind, size_t index)
{
	const struct iot_kind_info *info = api_kind(kind);

	return index < info->field_count ? (const struct iotape_field *)&info->fields[index] : NULL;
}

const struct iotape_field *iotape_field_find(const struct iotape_kind *kind, const char *name)
{
	const struct iotape_field *field;
	size_t i;

	for (i = 0; (field = iotape_field_at(kind, i)); i++)
		if (!strcmp(api_field(field)->name, name))
			return field;
	return NULL;
}

const char *iotape_field_name(const struct iotape_field *field)
{
	return api_field(field)->name;
}

const char *iotape_field_sentence(const struct iotape_field *field)
{
	return api_field(field)->sentence;
}

const char *iotape_field_meaning(const struct iotape_field *field)
{
	return iot_class_info(api_field(field)->class).name;
}

int iotape_field_is_signed(const struct iotape_field *field)
{
	enum iot_wire_type type = api_field(field)->type;

	return type == IOT_WIRE_TYPE_s32 || type == IOT_WIRE_TYPE_s64;
}

const char *iotape_field_unit(const struct iotape_field *field)
{
	static const char *const units[] = { "ns", "bytes", "pages" }; /* as names of fields end */
	const char *last = strrchr(api_field(field)->name, '_');
	size_t i;

	for (i = 0; last && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(last + 1, units[i]))
			return units[i];
	return "";
}
