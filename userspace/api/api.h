/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * api.h - libiotape behind its public header: opaque types are thin covers of the types of lib/.
 */
#ifndef IOTAPE_API_H
#define IOTAPE_API_H

#include <iotape/iotape.h>

#include "lib/iotape.h"

/**
 * struct iotape_record - a record, with the memory of its tail
 * @record: the record
 * @tail: memory of the tail; NULL if that belongs to a reader
 */
struct iotape_record {
	struct iot_record record;
	u8 *tail;
};

/**
 * struct iotape_reader - a trace that is read
 * @path: of its file, for messages
 * @reader: the trace
 * @names: NULL without IOTAPE_READER_PATHS
 * @roots: NULL if paths are not wanted, or the trace is of one directory
 * @record: the record that was read last
 * @has_record: there is one, and @names do not contain its effects yet
 * @is_at_end: all was read, and @omissions are complete
 * @end_lost: records that were lost, by the records themselves
 * @omissions: of the trace
 * @stated: the part of @omissions that its facts state
 * @sentence: of the omission that was asked for last
 */
struct iotape_reader {
	char *path;
	struct iot_reader *reader;
	struct iot_names *names;
	struct iot_roots *roots;
	struct iotape_record record;
	bool has_record;
	bool is_at_end;
	u64 end_lost;
	struct iot_omissions omissions;
	struct iot_omissions stated;
	char sentence[IOT_OMISSION_TEXT_BYTES];
};

static inline const struct iot_kind_info *api_kind(const struct iotape_kind *kind)
{
	return (const struct iot_kind_info *)kind;
}

static inline const struct iot_field *api_field(const struct iotape_field *field)
{
	return (const struct iot_field *)field;
}

int api_fail(struct iotape_error *error, int err, const char *path);
int api_fail_because(struct iotape_error *error, int err, const char *path, const char *why);
int api_refuse(struct iotape_error *error, int err, const char *path, const struct iot_reject *reject);

#endif
