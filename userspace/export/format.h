/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * format.h - the parts of a format of an export. Private to this directory.
 *
 * A new format gets a file here and a row in the table of export.c.
 */
#ifndef IOTAPE_EXPORT_FORMAT_H
#define IOTAPE_EXPORT_FORMAT_H

#include "analyse/stats/breakdown.h"
#include "core/trace/schema_table.h"
#include "export.h"

#define EXPORT_PATH_BYTES (PATH_MAX + IOT_PROGRAM_PATH_MAX) /* room for a root and a path below it */

struct export;

/**
 * struct export_event - a record that is exported
 * @record: of an operation, an MPI call, or of a task's life, if the format has these
 * @info: of its kind
 * @path: of its object, from the root of the mount; "" if not known
 * @name_path: of its name, if the record has one; else ""
 * @path2: of its second name; else ""
 * @type: of the object, an enum iot_type
 * @generation: of the object
 * @actor: its task; NULL if the trace has no record of it
 * @begin_ns: since the start of the trace
 * @duration_ns: of an asynchronous request, up to its completion
 * @result: of an asynchronous request, that of its completion
 */
struct export_event {
	const struct iot_record *record;
	const struct iot_kind_info *info;
	const char *path;
	const char *name_path;
	const char *path2;
	u32 type;
	u32 generation;
	const struct actor *actor;
	u64 begin_ns;
	u64 duration_ns;
	s64 result;
};

/**
 * struct export_format - a format
 * @name: on the command line
 * @sentence: the tool that reads it
 * @is_ordered: events come in the order in which they began, else in which they ended; for this all of them are kept
 *	in memory
 * @has_requests: an asynchronous request is one event, a submit; else its records are two
 * @has_life: forks, execs, exits, and entries of directories are events, too
 * @is_directory: the output is a directory, struct export_options.directory
 * @begin, @end: before the first event, and after the last; NULL: nothing to do
 * @take: an event; a negative errno ends the export; NULL if the format is ordered and reads @kept of struct export
 * @free: of @context; called after errors, too
 * @whole: reads the trace by itself; then the functions above are NULL
 */
struct export_format {
	const char *name;
	const char *sentence;
	bool is_ordered;
	bool has_requests;
	bool has_life;
	bool is_directory;
	int (*begin)(struct export *x);
	int (*take)(struct export *x, const struct export_event *event);
	int (*end)(struct export *x);
	void (*free)(struct export *x);
	int (*whole)(struct export *x, struct iot_reject *reject);
};

/**
 * struct export_kept - an event that is kept until all have been read
 * @number: in the order of the trace
 *
 * The other members are those of struct export_event.
 */
struct export_kept {
	struct iot_record record;
	u8 *tail;
	const char *path;
	const char *name_path;
	const char *path2;
	u32 type;
	u32 generation;
	u64 begin_ns;
	u64 duration_ns;
	s64 result;
	size_t number;
};

/**
 * struct export - an export
 * @context: of the format
 * @info: of the trace file
 * @kept: of formats that are ordered, the events, in order
 * @pending: selected requests that have not been seen to end
 */
struct export {
	const struct export_format *format;
	const struct export_options *options;
	struct export_summary *summary;
	FILE *out;
	struct selection selection;
	struct actors actors;
	struct iot_trace_info info;
	struct request_pairs *requests;
	u64 pending;
	struct export_kept *kept;
	size_t kept_count;
	size_t kept_room;
	struct export_text *texts;
	void *context;
};

extern const struct export_format export_format_arrow;
extern const struct export_format export_format_csv;
extern const struct export_format export_format_chrome;
extern const struct export_format export_format_codes;
extern const struct export_format export_format_ctf;
extern const struct export_format export_format_dxt;
extern const struct export_format export_format_fio;
extern const struct export_format export_format_otf2;
extern const struct export_format export_format_perfetto;
extern const struct export_format export_format_prometheus;
extern const struct export_format export_format_strace;

/* export.c */
struct export_event export_kept_event(const struct export *x, const struct export_kept *kept);
void export_lose(struct export *x, const struct export_event *event, const char *reason);
const char *export_full_path(const struct export *x, const char *path, char full[EXPORT_PATH_BYTES]);
u32 export_pid(const struct export_event *event);
u32 export_tid(const struct export_event *event);
bool export_has_line_break(const char *path);

/* Reasons of losses that several formats have. */
#define EXPORT_NO_FORM	"the format cannot express them"
#define EXPORT_FAILED	"they failed, and the format has no results"
#define EXPORT_NO_PATH	"the path of their file is unknown"

#endif
