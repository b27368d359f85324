/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * trace_file.h - the container of a trace: the layout of an .iot file.
 *
 *   file header (64 bytes) | embedded schema (text) | chunk | chunk | ... | summaries | index | trailer
 *
 * Each chunk is a head of 64 bytes and a payload. A trace whose writer was killed
 * has neither index nor trailer and may end inside a chunk: it is read up to its
 * last whole chunk. All numbers are little-endian.
 *
 * The embedded schema is the record tables of the writer as text, one line each:
 *
 *	record <id> <kind> <group>
 *	field <wire type> <name> <class>
 *
 * A reader pairs fields by name and ignores lines that begin with another word.
 */
#ifndef IOTAPE_TRACE_FILE_H
#define IOTAPE_TRACE_FILE_H

#include <linux/types.h>

/* The first byte is not ASCII and a line end follows: text-mode damage shows. */
#define IOT_TRACE_MAGIC	      "\211IOT\r\n\032\n"
#define IOT_TRACE_MAGIC_BYTES 8
#define IOT_TRACE_MAJOR	      1 /* a reader refuses another one */
#define IOT_TRACE_SCHEMA_MAX_BYTES (1 << 20)
#define IOT_TRACE_COLUMNS     1u /* feature that a reader must know: IOT_CODEC_COLUMNS */
#define IOT_TRACE_STATES      1u /* feature: the writer states the omissions that it knows of, see omission.h */

/**
 * struct iot_trace_head - first bytes of a trace
 *
 *   offset  size  meaning
 *        0     8  IOT_TRACE_MAGIC
 *        8     2  IOT_TRACE_MAJOR
 *       10     2  bytes of this header: 64
 *       12     4  features that a reader may ignore: IOT_TRACE_STATES
 *       16     4  features that a reader must know: IOT_TRACE_COLUMNS
 *       20     4  bytes of the embedded schema, which follows
 *       24    16  random id of the capture
 *       40     8  wall clock at the beginning, ns since 1970
 *       48     8  monotonic clock at the same moment, ns
 *       56     4  CRC32C of the embedded schema
 *       60     4  CRC32C of the 60 bytes before
 */
struct iot_trace_head {
	__u8 magic[IOT_TRACE_MAGIC_BYTES];
	__le16 major;
	__le16 head_bytes;
	__le32 features_compat;
	__le32 features_incompat;
	__le32 schema_bytes;
	__u8 capture[16];
	__le64 real_ns;
	__le64 mono_ns;
	__le32 schema_crc;
	__le32 head_crc;
};

#define IOT_CHUNK_MAGIC	    0x4b484349 /* "ICHK" */
#define IOT_CHUNK_MAX_BYTES (4 << 20)  /* payload of records, stored or raw */
#define IOT_INDEX_MAX_BYTES (256 << 20) /* payload of the index */
#define IOT_STREAM_COLLECTOR 0xffffffff /* records that the collector made itself */
#define IOT_STREAM_CARRIED   0xfffffffe /* announcements of ids from before the file, see trace-format.md */

enum iot_chunk_type {
	IOT_CHUNK_RECORDS = 1, /* whole records of one stream, in order of their ends */
	IOT_CHUNK_INDEX = 2,   /* an array of struct iot_index_entry */
	/* empty, last in the file; `sequence` is where the index is, `lost` where the first chunk of summaries is, or 0 */
	IOT_CHUNK_TRAILER = 3,
	/*
	 * Records that are written in place, by a process that may die at any moment: as
	 * many as there are before the first length of 0. Not compressed; the number of
	 * records, their times and the checksum of the payload are not known, and 0.
	 */
	IOT_CHUNK_OPEN = 4,
	/* One struct iot_chunk_summary for each entry of the index, in its order; `sequence` is the number of the first. */
	IOT_CHUNK_SUMMARIES = 5,
};

enum iot_codec {
	IOT_CODEC_NONE = 0,
	IOT_CODEC_ZSTD = 1,
	IOT_CODEC_COLUMNS = 2, /* of records: columns, in one zstd frame */
};

#define IOT_COLUMNS_HEAD_BYTES 4	  /* before the frame: length of the columns */
#define IOT_COLUMNS_MAX_BYTES  (16 << 20) /* this length */

/* -- a chunk as columns ------------------------------------------------------- */

enum iot_column_form {
	IOT_COLUMNS_RAW = 0,	   /* records as they are */
	IOT_COLUMNS_EVENT = 1,	   /* the first column is a time */
	IOT_COLUMNS_SPAN = 2,	   /* and the second a duration */
	IOT_COLUMNS_OPERATION = 3, /* and the third the time on a CPU in it */
};

enum iot_column_predictor {
	IOT_PREDICT_NONE = 0,	 /* 0 */
	IOT_PREDICT_END = 1,	 /* end of the preceding record */
	IOT_PREDICT_OTHER = 2,	 /* another column */
	IOT_PREDICT_MEMORY = 3,	 /* the preceding value with the same key */
	IOT_PREDICT_ID = 4,	 /* the same, but 0 is not remembered */
	IOT_PREDICT_RUNTIME = 5, /* the time, minus how far the task lagged behind it at its last record */
};

#define IOT_COLUMN_WIDE 128 /* 8 bytes rather than 4 */

enum iot_column_coding {
	IOT_CODING_VARINTS = 0,
	IOT_CODING_RUNS = 1,	 /* numbers, and how often each is repeated */
	IOT_CODING_DISTINCT = 2, /* the different numbers, and an index of one byte for each */
	IOT_CODING_CLASSES = 3,	 /* the length in bits of each, then all bits but the highest */
};

/**
 * struct iot_chunk_head - head of a chunk
 *
 *   offset  size  meaning
 *        0     4  IOT_CHUNK_MAGIC
 *        4     1  an enum iot_chunk_type
 *        5     1  an enum iot_codec
 *        6     2  zero
 *        8     4  bytes of the payload as stored
 *       12     4  bytes of the payload as records
 *       16     4  stream: CPU, or IOT_STREAM_*
 *       20     4  number of records
 *       24     8  number of the first record in its stream, from 0
 *       32     8  records of the stream lost since the capture began, up to the last record here
 *       40     8  end time of the first record, monotonic ns
 *       48     8  end time of the last record, monotonic ns
 *       56     4  CRC32C of the payload as stored
 *       60     4  CRC32C of the 60 bytes before
 */
struct iot_chunk_head {
	__le32 magic;
	__u8 type;
	__u8 codec;
	__le16 zero;
	__le32 stored_bytes;
	__le32 raw_bytes;
	__le32 stream;
	__le32 count;
	__le64 sequence;
	__le64 lost;
	__le64 first_ns;
	__le64 last_ns;
	__le32 payload_crc;
	__le32 head_crc;
};

/* One chunk of records in the index: where it is, and enough to merge without reading it. */
struct iot_index_entry {
	__le64 offset_bytes;
	__le64 first_ns;
	__le64 last_ns;
	__le32 stream;
	__le32 count;
};

#define IOT_SUMMARY_TASKS_MAX  128	  /* tasks that a summary lists */
#define IOT_SUMMARY_MANY_TASKS 0xffffffff /* instead of a number: there are more, or tasks that are not known */

/**
 * struct iot_chunk_summary - the contents of a chunk, so that a reader can skip it
 *
 *   offset  size  meaning
 *        0     4  bytes of this entry, tasks included
 *        4     4  number of tasks, or IOT_SUMMARY_MANY_TASKS
 *        8     8  earliest time of a record: the first field
 *       16     8  latest time of a record
 *       24     8  bytes that the operations moved
 *       32     4  operations, without completions
 *       36     4  zero
 *       40    32  a bit for each kind of records; bit 0: one that the writer does not know
 *       72   4 n  tasks of the records, ascending; 0 is a record without one
 */
struct iot_chunk_summary {
	__le32 bytes;
	__le32 tasks;
	__le64 earliest_ns;
	__le64 latest_ns;
	__le64 moved_bytes;
	__le32 operations;
	__le32 zero;
	__u8 kinds[32];
};

#endif
