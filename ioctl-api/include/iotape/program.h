/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * program.h - a trace compiled for replay: the layout of an .irp file.
 *
 * Everything is resolved: an engine looks nothing up. A program is a header with a
 * table of sections; each section is an array of one fixed-size structure, or of
 * bytes, and has a checksum. All numbers are little-endian, all reserved fields zero.
 *
 *   tasks    units that run concurrently: a traced task, or a request queue: a series of
 *            asynchronous requests of a task, none of which begins before the one before it has
 *            ended; a contiguous range of `ops` and of `waits`
 *   ops      operations, task by task
 *   waits    conditions for the start of operations, task by task
 *   latches  countdowns: open when a given number of operations have signalled
 *   objects  objects of operations: for the names in the records of a replay
 *   tree     the initial tree: `iotape init` creates it
 *   strings  paths, texts and values, each ended by a zero byte; offset 0 is the empty one
 *   facts    pairs of strings about the trace and the compilation
 *   extents  ranges with data in files of the tree, file by file
 *   xattrs   extended attributes of the tree, entry by entry
 *
 * A program without tasks is a snapshot: only a tree.
 *
 * Order. An operation starts when the one before it in its task has ended and each of
 * its waits holds. A wait on a task holds when that task has ended the operation of the
 * given index; a wait on a latch holds when the latch is open. `signal` and `wait` are the
 * two halves of a call that synchronizes tasks: signal waits for nothing but its task,
 * wait for the others.
 *
 *   edge of                    is a wait of            on
 *   resource (a before b)      b                       a's task, a's index
 *   send -> recv               recv's wait             send's signal
 *   synchronous send           send's wait             recv's signal
 *   barrier, alltoall, ...     each wait               the latch, which each rank signals
 *   bcast, scatter             each wait               root's signal
 *   reduce, gather             root's wait             a latch, which each rank signals
 *   fork, exec                 first of the child      the fork, the exec
 *   asynchronous submit        submit                  a completion in a request queue
 *   asynchronous completion    the request queue's `complete`   the submit in the task
 *
 * Request queues directly follow their task. All their operations are `complete`, one for each
 * submit of the task that names the request queue, in the same order; each waits for its submit and
 * for nothing else, has no think time, and ends when the request has ended. A task ends
 * when its request queues have.
 *
 * Pace. Think time passes between an operation and the one before it in its task:
 * `compute_ns` that the traced task spent on a CPU, and `pause_ns` that it did not. The
 * operation starts when that time has passed and its waits hold, whichever is later. A task sleeps for this time. If its
 * program has the feature IOT_PROGRAM_COMPUTES, it uses a CPU for `compute_ns`, and then sleeps for `pause_ns`, which then contains
 * no time for which the traced task waited for a CPU.
 * A wait of the traced task itself (for a child, a message) is a `wait` of its own,
 * without think time, so that the think time after it begins when the wait holds. A wait that a timer ended is a `timed`:
 * it ends when its think time has passed or all its waits hold, whichever is earlier, and never blocks.
 */
#ifndef IOTAPE_PROGRAM_H
#define IOTAPE_PROGRAM_H

#include <linux/types.h>

#include <iotape/program_ops.h>

#define IOT_PROGRAM_MAGIC	"\211IRP\r\n\032\n"
#define IOT_PROGRAM_MAGIC_BYTES 8
#define IOT_PROGRAM_MAJOR	3 /* 2 had no users of tasks, 1 no extents and no xattrs */
#define IOT_PROGRAM_STATES	1u /* feature: omissions are stated in its facts, see omission.h */
#define IOT_PROGRAM_COMPUTES	1u /* incompatible feature: tasks use a CPU for `compute_ns` */
#define IOT_PROGRAM_PATH_MAX	16384 /* with its zero byte: four times the limit of system calls */
#define IOT_PROGRAM_TARGET_MAX	4096 /* of a symbolic link, with its zero byte */
#define IOT_PROGRAM_TASKS_MAX	(1u << 20)
#define IOT_PROGRAM_NAME_MAX	255 /* bytes of the name of an attribute */
#define IOT_PROGRAM_THINK_MAX_NS (1ull << 54) /* 208 days; both, slowed down, are no overflow: core/replay/pace.h */
#define IOT_PROGRAM_LENGTH_MAX	0x7ffff000ull /* what one read or write can move at most */

enum iot_section_kind {
	IOT_SECTION_TASKS,
	IOT_SECTION_OPS,
	IOT_SECTION_WAITS,
	IOT_SECTION_LATCHES,
	IOT_SECTION_OBJECTS,
	IOT_SECTION_TREE,
	IOT_SECTION_STRINGS,
	IOT_SECTION_FACTS,
	IOT_SECTION_EXTENTS,
	IOT_SECTION_XATTRS,
	IOT_SECTION_COUNT
};

struct iot_section {
	__le64 offset_bytes; /* from the beginning of the file, a multiple of 8 */
	__le64 count;	     /* of structures, or bytes */
	__le32 crc;	     /* CRC32C of all of them */
	__le32 reserved;
};

/**
 * struct iot_program_head - first bytes of a program
 * @features_compat: features that a reader may ignore: IOT_PROGRAM_STATES
 * @features_incompat: features that it may not ignore: IOT_PROGRAM_COMPUTES
 * @handles: handle slots that operations use, from 1
 * @maps: mapping slots that operations use, from 1
 * @capture: id of the capture that the program was compiled from
 * @head_crc: CRC32C of the header before it
 */
struct iot_program_head {
	__u8 magic[IOT_PROGRAM_MAGIC_BYTES];
	__le16 major;
	__le16 head_bytes;
	__le32 features_compat;
	__le32 features_incompat;
	__le32 handles;
	__le32 maps;
	__le32 reserved;
	__u8 capture[16];
	struct iot_section sections[IOT_SECTION_COUNT];
	__le32 reserved2;
	__le32 head_crc;
};

#define IOT_ID_UNKNOWN 0xffffffffu /* a user or group that is not known */

#define IOT_TASK_QUEUE 1u /* a request queue of the task in `parent` */
#define IOT_TASK_MAPS 2u /* runs operations on mappings: needs an address space to itself */

/**
 * struct iot_program_task - a task or a request queue
 * @first_op: its first operation, as index into `ops`
 * @op_count: their number
 * @first_wait: its first wait, as index into `waits`
 * @wait_count: their number
 * @origin: id of the task in the trace, and in records of outcomes
 * @parent: index of the task that created it, or that has this request queue; itself if none
 * @space: number of the address space; tasks with the same one share memory
 * @flags: IOT_TASK_*
 * @command: string: the command that the traced task ran
 * @rank: of its process in MPI_COMM_WORLD, plus 1; 0 if that is none, or not known
 * @uid, @gid: effective user and group when the trace first saw it; IOT_ID_UNKNOWN
 */
struct iot_program_task {
	__le64 first_op;
	__le64 first_wait;
	__le32 op_count;
	__le32 wait_count;
	__le32 origin;
	__le32 parent;
	__le32 space;
	__le32 flags;
	__le32 command;
	__le32 rank;
	__le32 uid;
	__le32 gid;
};

/*
 * An ioctl stands for requests 0x5400 to 0x54ff only. Those are a terminal's, by which programs find out that a file
 * is no terminal; the effect of other requests on a file system is not known.
 */
#define IOT_PROGRAM_IOCTLS 0x5400

/**
 * struct iot_program_op - one operation
 * @kind: of IOT_OPERATIONS or IOT_SYNC_OPERATIONS; its operands are in IOT_OPERANDS_<kind>, which defines the name
 *	of each member for this operation, and its use
 * @wait_count: number of its waits
 * @first_wait: its first wait, counted from the first of its task
 * @origin_op: number of the operation in the trace's task, 0 if there is none
 * @compute_ns, @pause_ns: think time before it
 * @result: its result in the trace
 */
struct iot_program_op {
	__le16 kind;
	__le16 wait_count;
	__le32 first_wait;
	__le32 origin_op;
	__le32 object;
	union {
		__le32 handle;
		__le32 latch;
	};
	union {
		__le32 other;
		__le32 to_handle;
		__le32 map;
		__le32 queue;
	};
	__le32 path;
	union {
		__le32 path2;
		__le32 new_path;
		__le32 target;
		__le32 xattr;
	};
	union {
		__le32 flags;
		__le32 intents;
		__le32 attrs;
		__le32 wanted; /* IOT_PROT_*: permission that was refused */
		__le32 whence;
		__le32 entries;
		__le32 advice;
		__le32 request;
	};
	union {
		__le32 mode;
		__le32 prot;
		__le32 owner;
		__le32 has_numbers;
		__le32 faults;
	};
	union {
		__le32 uid;
		__le32 project;
	};
	__le32 gid;
	__le64 compute_ns;
	__le64 pause_ns;
	union {
		__le64 offset_bytes;
		__le64 atime_ns;
	};
	union {
		__le64 length_bytes; /* of a range, or of a buffer */
		__le64 size_bytes;
		__le64 extsize_bytes;
	};
	union {
		__le64 extra;
		__le64 end_bytes; /* the last byte */
		__le64 to_offset_bytes;
		__le64 mtime_ns;
		__le64 rdev;
		__le64 has_value;
		__le64 cowextsize_bytes;
	};
	__le64 result;
};

#define IOT_WAIT_LATCH 0xffffffffu /* in `task`: `index` is a latch */

struct iot_program_wait {
	__le32 task;
	__le32 index;
};

struct iot_program_latch {
	__le32 signals;
	__le32 reserved;
};

/**
 * struct iot_program_object - an object, slot numbers from 1 in the order of the section
 * @origin: its id in the trace
 * @path: string: its first path
 * @type: an enum iot_type
 */
struct iot_program_object {
	__le64 origin;
	__le32 path;
	__le32 type;
};

/* Flags of an entry: the information that it has. */
#define IOT_ENTRY_EXTENTS 1u /* where a regular file has data: in `extents`; the rest is holes */
#define IOT_ENTRY_XATTRS  2u /* its extended attributes: in `xattrs`; it has no others */

/**
 * struct iot_program_entry - something that exists before the replay; parents come first
 * @path: string: where
 * @target: string: target of a symbolic link; of a further name of a file made before, that
 *	file's path, and then nothing else is set
 * @mode: type and permissions
 * @flags: IOT_ENTRY_*; without, a file has data everywhere, and attributes are not known
 * @cached_pages: pages in the page cache when the trace found it
 */
struct iot_program_entry {
	__le32 path;
	__le32 target;
	__le32 mode;
	__le32 uid;
	__le32 gid;
	__le32 flags;
	__le64 rdev;
	__le64 size_bytes;
	__le64 cached_pages;
};

struct iot_program_fact {
	__le32 key;
	__le32 value;
};

/**
 * struct iot_program_extent - data in a file; those of a file come in order, with room between
 * @entry: index in `tree`
 */
struct iot_program_extent {
	__le32 entry;
	__le32 reserved;
	__le64 offset_bytes;
	__le64 length_bytes;
};

#define IOT_XATTR_VALUE_MAX 65536u /* bytes, what Linux allows */

/**
 * struct iot_program_xattr - an extended attribute
 * @entry: index in `tree`
 * @name: string: with its namespace
 * @value: string: offset of the value, which may have zero bytes in it
 * @value_bytes: its length
 */
struct iot_program_xattr {
	__le32 entry;
	__le32 name;
	__le32 value;
	__le32 value_bytes;
};

/*
 * A program may be compressed. Its file then begins with this header. The bytes of the program follow in
 * blocks, each compressed by itself with zstd, or as it is if that is no longer; and last the stored length
 * of each block, 32 bits. So any part of the program can be read without those before it.
 */
#define IOT_PACKED_MAGIC	"\211IRZ\r\n\032\n"
#define IOT_PACKED_MAJOR	1
#define IOT_PACKED_BLOCK_MIN	4096u
#define IOT_PACKED_BLOCK_MAX	(1u << 20)

/**
 * struct iot_packed_head - first bytes of a compressed program
 * @block_bytes: bytes of the program in a block, but the first and the last one
 * @first_bytes: in the first one, at most @block_bytes: the second block begins where operations do, or at some
 *	operation, and so may all others
 * @program_bytes: length of the program
 * @head_crc: CRC32C of the header before it
 */
struct iot_packed_head {
	__u8 magic[IOT_PROGRAM_MAGIC_BYTES];
	__le16 major;
	__le16 head_bytes;
	__le32 block_bytes;
	__le32 first_bytes;
	__le32 reserved;
	__le64 program_bytes;
	__le32 reserved2;
	__le32 head_crc;
};

#endif
