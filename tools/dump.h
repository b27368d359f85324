/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - lines of text and JSON for the records of a trace.
 */
#ifndef IOTAPE_DUMP_H
#define IOTAPE_DUMP_H

#include "analyse/stats/actors.h"
#include "lib/iotape.h"
#include "symbols/symbols.h"

#define DUMP_COLUMNS_MAX 32
#define DUMP_JSON_FORMAT 2

enum dump_clock {
	DUMP_CLOCK_RELATIVE,  /* seconds since the start of the trace */
	DUMP_CLOCK_WALL,      /* UTC */
	DUMP_CLOCK_MONOTONIC, /* seconds of the monotonic clock */
};

/**
 * struct dump_view - how records are printed
 * @clock: an enum dump_clock
 * @origin_ns, @real_ns: monotonic and wall clock at the start of the trace
 * @columns: names of columns, if @column_count
 * @json_format: 1: numbers are numbers; 2: numbers beyond 2^53 are strings
 * @actors: of the trace, for the columns pid and rank
 * @symbols: call sites of the trace; NULL if it has none
 */
struct dump_view {
	enum dump_clock clock;
	u64 origin_ns;
	u64 real_ns;
	const char *columns[DUMP_COLUMNS_MAX];
	u32 column_count;
	u32 json_format;
	struct actors actors;
	struct symbols *symbols;
};

/* dump_text.c */
bool dump_has_result(const struct iot_kind_info *info);
void dump_text(const struct dump_view *view, struct iot_names *names, const struct iot_record *record,
	       const struct iot_kind_info *info);

/* dump_columns.c */
const char *dump_column_at(size_t index);
bool dump_column_is_known(const char *name);
bool dump_columns_need_actors(const struct dump_view *view);
void dump_columns(const struct dump_view *view, struct iot_names *names, const struct iot_record *record,
		  const struct iot_kind_info *info);

/* dump_text.c, for columns */
void dump_put_time(const struct dump_view *view, const struct iot_record *record, const struct iot_kind_info *info);
void dump_put_path(struct iot_names *names, const struct iot_record *record);
void dump_put_value(struct iot_names *names, const struct iot_record *record, const struct iot_field *field);
void dump_put_fields(struct iot_names *names, const struct iot_record *record, const struct iot_kind_info *info);
void dump_put_tail(const struct iot_record *record);
u32 dump_frames(const struct dump_view *view, const struct iot_record *record, const struct symbols_frame **frames);
void dump_put_frame(const struct symbols_frame *frame);

/* dump_json.c */
void dump_json_head(const struct dump_view *view, const unsigned char capture[16]);
void dump_json(const struct dump_view *view, struct iot_names *names, const struct iot_record *record,
	       const struct iot_kind_info *info);

#endif
