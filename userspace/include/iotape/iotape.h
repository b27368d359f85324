/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * iotape.h - libiotape: read and write traces of file I/O. libiotape(3) describes it.
 *
 * Functions that can fail return an int: 0 or a positive number, or a negative errno such as -ENOENT. With a
 * struct iotape_error as last argument, which may be NULL, they also describe the failure there. Functions
 * that look something up return NULL if it does not exist.
 *
 * The library prints nothing, does not exit, and has no global state. One thread at a time may use an object
 * and anything obtained from it; kinds and fields are constants that all threads may use.
 */
#ifndef IOTAPE_IOTAPE_H
#define IOTAPE_IOTAPE_H

#include <stddef.h>
#include <stdint.h>

#include <iotape/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

struct iotape_kind;   /* a kind of record, such as "read" */
struct iotape_field;  /* a field of a kind, such as "length_bytes" */
struct iotape_record; /* a record of any kind */
struct iotape_reader; /* a trace that is read */
struct iotape_writer; /* a trace that is written */

/* -- errors ------------------------------------------------------------------- */

#define IOTAPE_ERROR_BYTES 1024
#define IOTAPE_NOWHERE	   UINT64_MAX

/**
 * struct iotape_error - a failure
 * @code: the negative errno that the function returned
 * @offset_bytes: position of a damage in the file, or IOTAPE_NOWHERE
 * @sentence: file, position and cause, for a message
 */
struct iotape_error {
	int code;
	uint64_t offset_bytes;
	char sentence[IOTAPE_ERROR_BYTES];
};

/* Version of the library in use, as IOTAPE_VERSION is that of this header. */
const char *iotape_version(void);

/* -- kinds of records and their fields ------------------------------------------- */

/* By name, or by index from 0; NULL if there is none. */
const struct iotape_kind *iotape_kind_find(const char *name);
const struct iotape_kind *iotape_kind_at(size_t index);

const char *iotape_kind_name(const struct iotape_kind *kind);
const char *iotape_kind_sentence(const struct iotape_kind *kind);

/* "run", "who", "life", "op", "mpi" or "replay". */
const char *iotape_kind_group(const struct iotape_kind *kind);

/* 1 for an operation on files (group "op"), else 0. */
int iotape_kind_is_operation(const struct iotape_kind *kind);

const struct iotape_field *iotape_field_find(const struct iotape_kind *kind, const char *name);
const struct iotape_field *iotape_field_at(const struct iotape_kind *kind, size_t index);

const char *iotape_field_name(const struct iotape_field *field);
const char *iotape_field_sentence(const struct iotape_field *field);

/* The meaning of values of the field, such as "bytes", "instant" or "task". */
const char *iotape_field_meaning(const struct iotape_field *field);

/* "ns", "bytes" or "pages"; "" for values without a unit. */
const char *iotape_field_unit(const struct iotape_field *field);

/* 1 if values may be negative, else 0. */
int iotape_field_is_signed(const struct iotape_field *field);

/* -- records ------------------------------------------------------------------------ */

const struct iotape_kind *iotape_record_kind(const struct iotape_record *record);

/*
 * The value of a field. -EINVAL: the field is not of the record's kind; -ERANGE: the type of the argument
 * cannot hold the value.
 */
int iotape_record_get_s64(const struct iotape_record *record, const struct iotape_field *field, int64_t *value);
int iotape_record_get_u64(const struct iotape_record *record, const struct iotape_field *field, uint64_t *value);

/*
 * 1 if the value of a field is known; 0 if it is not: the trace is older than the field, its source does not show
 * it, or the value is the one that the description of the field calls not known. -EINVAL: not a field of the record.
 */
int iotape_record_is_known(const struct iotape_record *record, const struct iotape_field *field);

/* Begin and end on the monotonic clock of the node. Records without a duration end when they begin. */
uint64_t iotape_record_begin_ns(const struct iotape_record *record);
uint64_t iotape_record_end_ns(const struct iotape_record *record);

/* Id of the task of the record; 0 if its kind has none. */
uint32_t iotape_record_task(const struct iotape_record *record);

/* Bytes that the operation moved, or made accessible in a mapping. A copy reads and writes. */
uint64_t iotape_record_moved_bytes(const struct iotape_record *record);

/* The tail: a name, a path or another text, raw bytes without a zero byte at the end. Lives as long as the record. */
const void *iotape_record_tail(const struct iotape_record *record, size_t *bytes);

/*
 * A field, or the tail, as printable text, ended by a zero byte: flags and results by their names. Return: the
 * length, which is limited by room_bytes (at least 2). -EINVAL: not a field of the record.
 */
int iotape_record_text(const struct iotape_record *record, const struct iotape_field *field, char *text,
		       size_t room_bytes);
int iotape_record_tail_text(const struct iotape_record *record, char *text, size_t room_bytes);

/* A new record whose fields are 0, and a copy of another. Both belong to the caller. */
int iotape_record_new(const struct iotape_kind *kind, struct iotape_record **record);
int iotape_record_copy(const struct iotape_record *original, struct iotape_record **record);
void iotape_record_free(struct iotape_record *record);

/* -EINVAL: the field is not of the record's kind; -ERANGE: the field cannot hold the value. */
int iotape_record_set_s64(struct iotape_record *record, const struct iotape_field *field, int64_t value);
int iotape_record_set_u64(struct iotape_record *record, const struct iotape_field *field, uint64_t value);

/* The bytes are copied. -EINVAL: records of this kind have no tail; -EMSGSIZE: too long. */
int iotape_record_set_tail(struct iotape_record *record, const void *bytes, size_t count);

/* -- reading ------------------------------------------------------------------------- */

#define IOTAPE_READER_PATHS 1u /* for iotape_reader_path(); costs time and memory */

int iotape_reader_open(const char *path, unsigned int flags, struct iotape_reader **reader,
		       struct iotape_error *error);
void iotape_reader_close(struct iotape_reader *reader);

/*
 * The next record, in the order in which they ended; it belongs to the reader and is valid until the next call.
 * Return: 1; 0 at the end of the trace; or a negative errno. Records of kinds that this version does not know
 * are skipped and counted.
 */
int iotape_reader_next(struct iotape_reader *reader, const struct iotape_record **record,
		       struct iotape_error *error);

/* The record that was read last; valid until the next call. NULL: none was read, or the trace is at its end. */
const struct iotape_record *iotape_reader_record(const struct iotape_reader *reader);

/*
 * The path, from the root of the recorded mount, of the file that the last record is about; valid until the
 * next call for the reader. NULL: not known, or opened without IOTAPE_READER_PATHS. is_guess, which may be
 * NULL: 1 if the file had lost this name before the record.
 */
const char *iotape_reader_path(struct iotape_reader *reader, int *is_guess);

/**
 * struct iotape_column - room for one value of each of many records
 * @name: a field, or one of the columns that iotape_reader_columns() describes
 * @values: values in the order of the records; those of fields that iotape_field_is_signed() in the kind of the
 *	record as two's complement
 * @known: 1 for each record with this value, else 0: its kind does not have the field, or the value is not known
 *	as iotape_record_is_known() has it; the value is then 0
 */
struct iotape_column {
	const char *name;
	uint64_t *values;
	unsigned char *known;
};

/*
 * The next records as columns: those of kind_count kinds, or with kind_count 0 all; others are skipped. Each
 * column has room for row_count rows, which is not above INT_MAX. Columns are fields of any kind, and
 *
 *	kind		index of the kind, for iotape_kind_at(); the column of a field of this name is op_kind
 *	begin_ns, end_ns, task, moved_bytes	as the functions of these names return
 *	path		of an operation: number of its path, for iotape_reader_path_at(); needs IOTAPE_READER_PATHS
 *
 * Return: the number of rows; 0 at the end of the trace; or a negative errno. -EINVAL: no kind has the field.
 * Of a damaged trace, the records before the damage are returned first. May be mixed with iotape_reader_next().
 * Without columns and with one row, it finds the next record of these kinds, for iotape_reader_record().
 */
int iotape_reader_columns(struct iotape_reader *reader, const struct iotape_kind *const *kinds, size_t kind_count,
			  const struct iotape_column *columns, size_t column_count, size_t row_count,
			  struct iotape_error *error);

/*
 * A path by the number that the column path has; numbers begin at 0 and are given in the order of first use.
 * Valid as long as the reader. NULL: the number is not used yet.
 */
const char *iotape_reader_path_at(const struct iotape_reader *reader, uint64_t number);

/**
 * struct iotape_info - properties of a trace as a whole
 * @capture: random id of the recording
 * @real_ns: wall clock at its beginning, since 1970
 * @mono_ns: monotonic clock at the same moment
 * @bytes: length of the file
 * @records: records in the file
 * @lost: records that the kernel dropped, as far as was read
 * @missing: records that the kernel sent and the file lacks, as far as was read
 * @unknown: records of unknown kinds, as far as was read
 * @is_complete: 1 if the trace was finished; if 0, records may be missing at its end
 * @is_torn: 1 if the file ends within a chunk, which was ignored
 */
struct iotape_info {
	uint8_t capture[16];
	uint64_t real_ns;
	uint64_t mono_ns;
	uint64_t bytes;
	uint64_t records;
	uint64_t lost;
	uint64_t missing;
	uint64_t unknown;
	uint32_t is_complete;
	uint32_t is_torn;
};

/* info_bytes is sizeof(*info): later versions add members at the end. */
int iotape_reader_info(const struct iotape_reader *reader, struct iotape_info *info, size_t info_bytes);

#define IOTAPE_UNKNOWN UINT64_MAX /* of operations and bytes: a number that is not known */

/**
 * struct iotape_omission - something that the trace lacks, for one reason
 * @name: the reason as a word, such as "lost"
 * @sentence: the same as a sentence with its number, valid until the next call
 * @count: the number in the sentence
 * @operations: operations that are missing, or IOTAPE_UNKNOWN
 * @bytes: bytes that these moved, or IOTAPE_UNKNOWN
 */
struct iotape_omission {
	const char *name;
	const char *sentence;
	uint64_t count;
	uint64_t operations;
	uint64_t bytes;
};

/*
 * The omissions of the trace, one by one, by index from 0. Return: 1; 0 after the last one; -EAGAIN before the end
 * of the trace was read.
 */
int iotape_reader_omission(struct iotape_reader *reader, size_t index, struct iotape_omission *omission,
			   size_t omission_bytes);

/* -- writing -------------------------------------------------------------------------- */

/*
 * Begin a trace in a new file, which replaces one of this name and which only its owner can read. origin is
 * the recording that the records are from, of which capture, real_ns and mono_ns are used; NULL: a new one that
 * begins now.
 */
int iotape_writer_open(const char *path, const struct iotape_info *origin, struct iotape_writer **writer,
		       struct iotape_error *error);

/* -EINVAL: the record ended before the previous record. */
int iotape_writer_add(struct iotape_writer *writer, const struct iotape_record *record,
		      struct iotape_error *error);

/* Add a line key=value about the trace. */
int iotape_writer_add_fact(struct iotape_writer *writer, const char *key, const char *value,
			   struct iotape_error *error);

/*
 * State that the trace lacks something: why is the name of a reason, see struct iotape_omission, "partial" if
 * none of the others fits; detail, which may be NULL, says which. -EINVAL: unknown reason.
 */
int iotape_writer_add_omission(struct iotape_writer *writer, const char *why, uint64_t count, uint64_t operations,
			       uint64_t bytes, const char *detail, struct iotape_error *error);

/*
 * State the omissions that another trace shows without stating them: lost or missing records, a missing
 * end. That trace has been read to its end, and all its records except operations were added. -EAGAIN before its end.
 */
int iotape_writer_inherit(struct iotape_writer *writer, const struct iotape_reader *reader,
			  struct iotape_error *error);

/* Complete the trace; nothing can be added afterwards. */
int iotape_writer_finish(struct iotape_writer *writer, struct iotape_error *error);

/* Free the writer. A trace that was not finished is removed; NULL is allowed. */
void iotape_writer_close(struct iotape_writer *writer);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
