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
 * @absent: a bit for each field, by its index, that the trace does not have and that reads as 0
 */
struct iotape_record {
	struct iot_record record;
	u8 *tail;
	u64 absent;
};

/**
 * struct api_path - a path of a column, once
 * @number: index in the list of them
 * @path: the path
 */
struct api_path {
	u64 number;
	char path[];
};

/**
 * struct api_paths - the paths of columns so far
 * @tree: for tsearch()
 * @list: by number
 * @count: number of them
 * @room: of @list
 * @last: that was looked up last; NULL if none was
 */
struct api_paths {
	void *tree;
	struct api_path **list;
	u64 count;
	u64 room;
	struct api_path *last;
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
 * @sentence: of the omission that was requested last
 * @failure: of an earlier call, its code 0 if there was none: a damaged trace is not read on
 * @is_log: the trace was made from a log that does not show the costs of operations
 * @paths: of columns
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
	struct iotape_error failure;
	bool is_log;
	struct api_paths paths;
};

static inline const struct iot_kind_info *api_kind(const struct iotape_kind *kind)
{
	return (const struct iot_kind_info *)kind;
}

static inline const struct iot_field *api_field(const struct iotape_field *field)
{
	return (const struct iot_field *)field;
}

/**
 * struct api_unknown - the value of a field that means "not known"
 * @value: the value
 * @exists: the value exists
 */
struct api_unknown {
	u64 value;
	bool exists;
};

struct api_unknown api_unknown_of(const struct iot_field *field);
u64 api_absent_in_logs(const struct iot_record *record);
void api_paths_close(struct api_paths *paths);

int api_fail(struct iotape_error *error, int err, const char *path);
int api_fail_because(struct iotape_error *error, int err, const char *path, const char *why);
int api_refuse(struct iotape_error *error, int err, const char *path, const struct iot_reject *reject);

#endif
