/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * iotape.h - the library of the programs here: read and write traces and programs. libiotape, for programs
 * elsewhere, is a layer over it: see <iotape/iotape.h>.
 *
 * Functions return 0 or a count, or a negative errno; objects come through a pointer
 * argument. Nothing here prints, exits or keeps global state, apart from the function of
 * iot_readers_watch(). An object may be used by one thread at a time.
 */
#ifndef IOTAPE_H
#define IOTAPE_H

#include <iotape/omission.h>
#include <iotape/op_classes.h>
#include <iotape/program.h>
#include <iotape/reject.h>
#include <iotape/schema.h>
#include <iotape/trace_file.h>
#include <iotape/version.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "core/replay/program.h"
#include "core/trace/record.h"
#include "core/trace/schema_table.h"

/* -- refusals ---------------------------------------------------------------- */

const char *iot_reject_sentence(const struct iot_reject *reject);

/* -- the record tables as text, as embedded in traces --------------------------- */

int iot_schema_print(char **text, size_t *bytes);

/* -- writing traces ----------------------------------------------------------- */

struct iot_query;
struct iot_writer;
struct iot_summary;

int iot_writer_open(const char *path, const unsigned char capture[16], struct iot_writer **writer);
int iot_writer_open_at(const char *path, const unsigned char capture[16], u64 real_ns, u64 mono_ns,
		       struct iot_writer **writer);
int iot_writer_open_copy(const char *path, const struct iot_trace_head *head, const char *schema,
			 struct iot_writer **writer);
int iot_writer_copy(struct iot_writer *writer, const struct iot_chunk_head *head, const void *stored,
		    const struct iot_summary *summary);
int iot_writer_chunk(struct iot_writer *writer, const struct iot_chunk_head *what,
		     const void *records);
int iot_writer_record(struct iot_writer *writer, const struct iot_record *record);
int iot_writer_fact(struct iot_writer *writer, u64 time_ns, const char *fact);
int iot_writer_open_stream(int fd, const unsigned char capture[16], struct iot_writer **writer);
void iot_writer_evict(struct iot_writer *writer);
int iot_writer_sync(struct iot_writer *writer);
void iot_writer_sync_at_end(struct iot_writer *writer);
int iot_writer_flush(struct iot_writer *writer);
void iot_writer_limit_index(struct iot_writer *writer, size_t bytes);
int iot_writer_finish(struct iot_writer *writer);
void iot_writer_discard(const struct iot_writer *writer);
u64 iot_writer_bytes(const struct iot_writer *writer);
void iot_writer_close(struct iot_writer *writer);

/* Facts of a trace that several commands read: keys of lines KEY=VALUE. */
#define IOT_FACT_PAGE	   "page_bytes" /* of the kernel that recorded; in traces without it, a page has 4096 */
#define IOT_FACT_STORAGE   "storage"   /* the file system that a run was on: its type and id */
#define IOT_FACT_COSTS	   "recorder.costs" /* of the recorder, outside of records: KIND:BEFORE:AFTER ..., in ns */
#define IOT_FACT_REPLAY_OF "replay_of" /* of a replay: the id of the capture, in hexadecimal digits */

/* -- reading traces ----------------------------------------------------------- */

struct iot_reader;

/**
 * struct iot_trace_info - facts about a trace as a whole
 * @capture: random id of the capture
 * @real_ns: wall clock at its beginning
 * @mono_ns: monotonic clock then
 * @is_complete: its writer finished it; if not, records may be missing at its end
 * @is_torn: it ends in the middle of a chunk, which was ignored
 * @states_omissions: its writer stated all omissions that it knew of
 * @bytes: of the file
 * @chunks: chunks of records
 * @records: records in them
 * @lost: records that the kernel had to drop, according to the chunks; those after the last
 *	chunks, too, when all was read and the trace is complete
 * @missing: records that the kernel sent and the file does not have
 * @unknown: records of kinds that this reader does not know (after reading all)
 * @skipped: chunks that are not read because of iot_reader_need()
 * @skipped_operations: operations in them, without completions
 * @skipped_bytes: that these moved
 * @has_skipped_operations, @has_skipped_mpi: records of these groups are in them
 */
struct iot_trace_info {
	unsigned char capture[16];
	u64 real_ns;
	u64 mono_ns;
	bool is_complete;
	bool is_torn;
	bool states_omissions;
	u64 bytes;
	u64 chunks;
	u64 records;
	u64 lost;
	u64 missing;
	u64 unknown;
	u64 skipped;
	u64 skipped_operations;
	u64 skipped_bytes;
	bool has_skipped_operations;
	bool has_skipped_mpi;
};

#define IOT_KIND_WORDS (IOT_KIND_END / 64) /* of a set with a bit for each kind of records */

/**
 * struct iot_summary - the contents of a chunk
 * @kinds: of its records
 * @earliest_ns, @latest_ns: the least and the greatest time of a record: of an operation, its start
 * @moved_bytes: by its operations
 * @operations: their number, without completions
 * @has_more_tasks: @tasks is empty, because there are too many, or because they are not known
 * @task_count: number of @tasks
 * @tasks: of the records, in ascending order; 0 is a record without a task
 */
struct iot_summary {
	u64 kinds[IOT_KIND_WORDS];
	u64 earliest_ns;
	u64 latest_ns;
	u64 moved_bytes;
	u32 operations;
	bool has_more_tasks;
	u32 task_count;
	u32 tasks[IOT_SUMMARY_TASKS_MAX];
};

/**
 * struct iot_need - the records of a trace that a caller needs
 * @always: of these kinds, all
 * @state: of these kinds, those that precede a record that @may_match accepts: its meaning depends on them
 * @may_match: may a chunk have other records that the caller needs? NULL: no chunk has
 * @context: for it
 */
struct iot_need {
	u64 always[IOT_KIND_WORDS];
	u64 state[IOT_KIND_WORDS];
	bool (*may_match)(const void *context, const struct iot_summary *summary);
	const void *context;
};

static inline void iot_kinds_add(u64 kinds[IOT_KIND_WORDS], u16 kind)
{
	kinds[kind / 64] |= 1ull << kind % 64;
}

static inline bool iot_kinds_meet(const u64 one[IOT_KIND_WORDS], const u64 other[IOT_KIND_WORDS])
{
	u64 both = 0;
	u32 i;

	for (i = 0; i < IOT_KIND_WORDS; i++)
		both |= one[i] & other[i];
	return both;
}

int iot_reader_open(const char *path, struct iot_reader **reader, struct iot_reject *reject);
int iot_reader_next(struct iot_reader *reader, struct iot_record *record,
		    struct iot_reject *reject);
int iot_reader_more(struct iot_reader *reader, struct iot_reject *reject);
void iot_reader_need(struct iot_reader *reader, const struct iot_need *need);
u64 iot_reader_absent(const struct iot_reader *reader, const struct iot_record *record);
void iot_reader_info(const struct iot_reader *reader, struct iot_trace_info *info);
void iot_reader_close(struct iot_reader *reader);

/**
 * iot_watch_fn - called now and then while traces are read
 * @done: records that were read of all traces that are open now
 * @total: records that these have, as their files state
 */
typedef void (*iot_watch_fn)(u64 done, u64 total);

void iot_readers_watch(iot_watch_fn fn);

/* -- damaged traces: survey.c, repair.c ------------------------------------------- */

/**
 * struct iot_condition - is a trace intact?
 * @chunks, @records: that are intact
 * @damages: damaged places
 * @first: the first of them
 * @damaged_chunks: chunks whose head is intact, and whose payload is not
 * @damaged_records: records in them, as their heads state
 * @lost_bytes: that do not belong to a chunk
 * @is_complete: the trace has a trailer
 * @is_torn: it ends inside a chunk
 * @is_index_damaged: the index or the trailer does not fit the chunks
 */
struct iot_condition {
	u64 chunks;
	u64 records;
	u64 damages;
	struct iot_reject first;
	u64 damaged_chunks;
	u64 damaged_records;
	u64 lost_bytes;
	bool is_complete;
	bool is_torn;
	bool is_index_damaged;
};

int iot_trace_verify(const char *path, struct iot_condition *condition, struct iot_reject *reject);
int iot_trace_repair(const char *path, const char *output, struct iot_condition *condition, struct iot_reject *reject,
		     bool *is_output);

/* -- programs --------------------------------------------------------------------- */

struct iot_builder;

int iot_builder_open(const unsigned char capture[16], struct iot_builder **builder);
int iot_builder_stream(struct iot_builder *builder, const char *path, u32 tasks);
void iot_builder_capture(struct iot_builder *builder, const unsigned char capture[16]);
s64 iot_builder_add(struct iot_builder *builder, enum iot_section_kind section,
		    const void *element);
u64 iot_builder_count(const struct iot_builder *builder, enum iot_section_kind section);
int iot_builder_bytes(struct iot_builder *builder, const void *value, size_t bytes, __le32 *string);
int iot_builder_text(struct iot_builder *builder, const char *text, __le32 *string);
void iot_builder_compute(struct iot_builder *builder);
void iot_builder_slots(struct iot_builder *builder, u32 handles, u32 maps);
int iot_builder_fact(struct iot_builder *builder, const char *key, const char *value);
void iot_builder_uncompress(struct iot_builder *builder);
int iot_builder_save(struct iot_builder *builder, const char *path, struct iot_reject *reject);
void iot_builder_close(struct iot_builder *builder);

int iot_program_load(const char *path, struct iot_program *program, struct iot_reject *reject);
int iot_program_stream(const char *path, u64 resident_bytes, struct iot_program *program,
		       struct iot_reject *reject);
int iot_program_fd(const struct iot_program *program);
void iot_program_free(struct iot_program *program);

/* Of an entry of a program's tree, by its index; NULL if there are none. */
const struct iot_program_extent *iot_tree_extents(const struct iot_program *program, u32 entry,
						  u32 *count);
const struct iot_program_entry *iot_tree_root(const struct iot_program *program);
const struct iot_program_xattr *iot_tree_xattrs(const struct iot_program *program, u32 entry,
						u32 *count);
const char *iot_program_fact_value(const struct iot_program *program, const char *key);
bool iot_xattr_is_state(const char *name);

/* -- names of the objects of records ------------------------------------------ */

struct iot_names;

/**
 * struct iot_label - the name of an object, the same in every run of a program
 * @path: path from the root of the mount, "." for the root itself; "" if not known
 * @generation: index among the objects of this path, from 1; 0 if not known
 * @is_guess: the name that it was opened by had been removed when the record was made: this is its last known name
 */
struct iot_label {
	const char *path;
	u32 generation;
	bool is_guess;
};

int iot_names_open(struct iot_names **names);
void iot_names_close(struct iot_names *names);
void iot_names_kinds(u64 kinds[IOT_KIND_WORDS]);
int iot_names_before(struct iot_names *names, const struct iot_record *record);
int iot_names_after(struct iot_names *names, const struct iot_record *record);
u64 iot_names_identity(struct iot_names *names, u64 object);
u64 iot_names_directory(struct iot_names *names, u64 name);
const char *iot_names_path(struct iot_names *names, u64 name);
struct iot_label iot_names_object(struct iot_names *names, u64 object);
const char *iot_names_unnamed(struct iot_names *names, u64 object);
u32 iot_names_type(struct iot_names *names, u64 object);
bool iot_names_is_first(const struct iot_names *names);
struct iot_label iot_names_handle(struct iot_names *names, u64 handle);
struct iot_label iot_names_map(struct iot_names *names, u64 map);
struct iot_label iot_names_of_record(struct iot_names *names, const struct iot_record *record);

/* -- several recorded directories as one tree: roots.c --------------------------- */

struct iot_roots;

int iot_roots_open(const char *path, struct iot_roots **roots, struct iot_reject *reject);
void iot_roots_close(struct iot_roots *roots);
const struct iot_record *iot_roots_records(const struct iot_roots *roots, u32 *count);
void iot_roots_apply(const struct iot_roots *roots, struct iot_record *record);

/**
 * iot_walk_fn - called by iot_trace_walk() for each record
 * @context: as given to it
 * @names: with all ids that this record needs
 * @record: valid until the function returns
 */
typedef int (*iot_walk_fn)(void *context, struct iot_names *names,
			   const struct iot_record *record);

bool iot_record_is_counted(const struct iot_record *record);
bool iot_fact_is_by_command(const char *fact);
int iot_trace_walk(const char *path, iot_walk_fn fn, void *context, struct iot_trace_info *info,
		   struct iot_reject *reject);
int iot_trace_walk_need(const char *path, const struct iot_need *need, iot_walk_fn fn, void *context,
			struct iot_trace_info *info, struct iot_reject *reject);

/* -- lists of ranks in records of MPI -------------------------------------------- */

/* The list in the tail of a record, as it is read. */
struct iot_sources_list {
	u32 sources;
	const u8 *tail;
	size_t bytes;
	size_t at; /* of runs a byte, of bits a bit */
};

void iot_sources_open(struct iot_sources_list *list, u32 sources, const void *tail, size_t bytes);
bool iot_sources_next(struct iot_sources_list *list, u32 *first, u32 *count);
/* -- classes of operations: op_classes.c -------------------------------------------- */

#define IOT_FACT_OPS	"ops"	 /* fact of a filtered trace: the classes that were recorded */
#define IOT_FACT_COUNTERS "counters" /* fact of a trace whose operations were counted: rows of the table */
#define IOT_FACT_COUNTERS_BY "counters.by" /* the keys of its rows, if they are not file,process,user,mount */
#define IOT_FACT_COUNTERS_INTERVAL "counters.interval" /* seconds from one reading of the counters to the next */
#define IOT_FACT_DELAY	"delay"	 /* fact of a recording with delays: the argument of --delay */
#define IOT_FACT_DISCOVERED "discovered" /* fact of a trace with records `discovered`: runs that were compared */
#define IOT_FACT_STACKS "stacks" /* fact of a trace with call sites: the operations that have one */
#define IOT_FACT_RECORDING "recording" /* fact of a trace in several files: an id, the same in all files of the recording */
#define IOT_FACT_FILE "recording.file" /* the number of the file in it, from 1 */
#define IOT_FACT_NEXT_FILE "recording.next" /* fact at the end of a file: the number of the next one, in which the recording goes on */
#define IOT_FACT_ONLY "only" /* fact of a trace that is restricted to the processes of one user: its value is "user" */
#define IOT_FACT_FILTER "filter" /* and the expression, see iotape-filter(7) */

int iot_op_classes_of(const char *list, size_t *place);
int iot_op_class_of(u16 kind);
void iot_op_kinds_of(int classes, u64 bits[IOT_KIND_END / 64]);

/* -- nodes: sharing.c ------------------------------------------------------------------- */

bool iot_is_shared_type(u64 magic);

/* -- omissions of a trace, a program or a run: omissions.c -------------------------- */

#define IOT_OMISSION_DETAIL_BYTES 256
#define IOT_OMISSION_TEXT_BYTES	  640

/**
 * struct iot_omission - the omission for one reason
 * @count: as the sentence of the reason counts; 0 if nothing is missing
 * @operations: missing operations, or IOT_OMISSION_UNKNOWN
 * @bytes: that these moved, or IOT_OMISSION_UNKNOWN
 * @detail: a list of them, "" if not given
 */
struct iot_omission {
	u64 count;
	u64 operations;
	u64 bytes;
	char detail[IOT_OMISSION_DETAIL_BYTES];
};

/**
 * struct iot_omissions - missing and present operations
 * @operations: those present, without the ends of asynchronous ones
 * @bytes: that these moved, or made accessible in mappings
 * @of: by reason, an enum iot_omission_reason
 * @maps, @mpi_calls, @has_files, @is_mmap_off, @is_filtered, @is_counted, @is_stated, @begin_ns, @end_ns, @pause_ns, @paused_ns,
 *	@old: of a trace that is being read: for
 *	iot_omissions_finish()
 */
struct iot_omissions {
	u64 operations;
	u64 bytes;
	struct iot_omission of[IOT_OMISSION_END];
	u64 maps;
	u64 mpi_calls;
	bool has_files;
	bool is_mmap_off;
	bool is_filtered;
	bool is_counted;
	bool is_stated[IOT_OMISSION_END];
	u64 begin_ns;
	u64 end_ns;
	u64 pause_ns;
	u64 paused_ns;
	struct iot_omission old[IOT_OMISSION_END];
};

void iot_omissions_add(struct iot_omissions *omissions, enum iot_omission_reason reason, u64 count,
		       u64 operations, u64 bytes, const char *detail);
void iot_omissions_kinds(u64 kinds[IOT_KIND_WORDS]);
void iot_omissions_take(struct iot_omissions *omissions, const struct iot_record *record);
void iot_omissions_finish(struct iot_omissions *omissions, const struct iot_trace_info *info);
void iot_omissions_of_program(struct iot_omissions *omissions, const struct iot_program *program);
int iot_builder_omissions(struct iot_builder *builder, const struct iot_omissions *omissions);
void iot_omissions_sum(struct iot_omissions *omissions, const struct iot_omissions *other);
bool iot_omissions_is_none(const struct iot_omissions *omissions);
bool iot_omissions_is_whole(const struct iot_omissions *omissions);
u64 iot_omissions_operations(const struct iot_omissions *omissions, bool *is_more);
u64 iot_omissions_bytes(const struct iot_omissions *omissions, bool *is_more);
const char *iot_omission_name(enum iot_omission_reason reason);
const char *iot_omission_sentence(enum iot_omission_reason reason);
int iot_omission_fact(const struct iot_omissions *omissions, enum iot_omission_reason reason,
		      char text[IOT_OMISSION_TEXT_BYTES]);
int iot_omission_text(const struct iot_omissions *omissions, enum iot_omission_reason reason,
		      char text[IOT_OMISSION_TEXT_BYTES]);
int iot_omissions_text(const struct iot_omissions *omissions, char text[IOT_OMISSION_TEXT_BYTES]);
u64 iot_record_moved_bytes(const struct iot_record *record);

/* -- text ----------------------------------------------------------------------- */

int iot_text_field(char *text, size_t room, const struct iot_record *record,
		   const struct iot_field *field);
int iot_text_bytes(char *text, size_t room, const void *bytes, size_t count);
int iot_text_line(char *line, size_t room, const char *text);
bool iot_record_has_list(const struct iot_record *record);
u32 iot_record_words(const struct iot_record *record);
u64 iot_record_word(const struct iot_record *record, u32 index);
int iot_text_tail(char *text, size_t room, const struct iot_record *record);
const u8 *iot_record_value(const struct iot_record *record, size_t *bytes);
size_t iot_text_utf8(const void *bytes, size_t count, u32 *character);
const char *iot_text_errno(s64 result);
void iot_module_missing(const char *module, char *text, size_t room);
void iot_rights_missing(const char *what, char *text, size_t room);
int iot_module_query(int control_fd, struct iot_query *query, char *text, size_t room);

/* -- time ----------------------------------------------------------------------- */

u64 iot_clock_ns(clockid_t clock);

/* -- files ---------------------------------------------------------------------- */

int iot_output_open(const char *path, char real[PATH_MAX]);
int iot_file_nameless(const char *beside);
int iot_write_all(int fd, const void *data, size_t bytes);

/**
 * struct iot_part - an output that is not complete
 * @fd: of its contents, for reading and writing
 * @real: the path of the output, behind symbolic links
 * @beside: a path in the same directory, for the time before the output has its own; NULL if the output is a device or pipe
 * @has_name: @fd has this path
 */
struct iot_part {
	int fd;
	char *real;
	char *beside;
	bool has_name;
};

int iot_part_open(struct iot_part *part, const char *path);
int iot_part_write(const struct iot_part *part, u64 offset_bytes, const void *bytes, size_t count);
int iot_part_restart(struct iot_part *part);
int iot_part_commit(struct iot_part *part);
void iot_part_abort(struct iot_part *part);
int iot_file_save(const char *path, const void *bytes, size_t count);
bool iot_file_is_same(const char *path, const char *other);
int iot_file_open_own(const char *path, const char **why);
void iot_file_limit_raise(void);

struct open_how;

int iot_file_open_below(int dir_fd, const char *path, const struct open_how *how);

/* companion.c */
bool iot_companion_find(const char *name, char *path);

#endif
