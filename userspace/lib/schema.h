/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schema.h - the schema that is embedded in a trace, read back to understand the records
 * of a writer whose tables were other ones.
 */
#ifndef IOTAPE_LIB_SCHEMA_H
#define IOTAPE_LIB_SCHEMA_H

#include "core/trace/record.h"

struct iot_schema;

int iot_schema_parse(const char *text, size_t bytes, struct iot_schema **schema);
void iot_schema_free(struct iot_schema *schema);
const char *iot_schema_kind_name(const struct iot_schema *schema, u16 kind);
u64 iot_schema_absent(const struct iot_schema *schema, const struct iot_record *record);
void iot_schema_translate(const struct iot_schema *schema, const void *buffer,
			  struct iot_record *record);

#endif
