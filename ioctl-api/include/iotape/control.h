/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * control.h - the ioctls of /dev/iotape and /dev/replayfs.
 *
 * Rules: fixed-width fields without holes, so that 32-bit callers need no
 * translation; every reserved field and every unknown flag must be zero, or the
 * call fails with EINVAL; a changed meaning gets a new number.
 *
 * Changes
 *   1  first version; later: mmap(2) of a descriptor that has joined makes a mailbox; later:
 *      features of iot_query, and flags where iot_create had a reserved field; later: IOT_IOC_ADMIT,
 *      and joining needs the consent of the recorder
 *   2  records of mpi_comm that say of which world a rank is; later: IOT_IOC_ALIVE
 *   3  the requests of both devices have a magic number of their own; 0xB7, which they had before, is that of
 *      nsfs and remoteproc, and strace named them after those; later: IOT_IOC_FILTER; later: IOT_IOC_CTL,
 *      IOT_IOC_DONE, IOT_IOC_DESCRIBE and IOT_IOC_INFO; later: IOT_IOC_PROGRAM;
 *      later: IOT_IOC_COUNT and IOT_IOC_COUNTERS; later: IOT_IOC_DELAY; later: IOT_IOC_TURN, and keys and flags where
 *      iot_count and iot_counters had reserved fields; later: IOT_IOC_REFILTER; later: IOT_IOC_STACKS; later: IOT_IOC_ONLY;
 *      later: flags of iot_delay, IOT_DELAY_NOBODY, IOT_IOC_LOOK and IOT_IOC_RELEASE; later: IOT_IOC_MARK
 */
#ifndef IOTAPE_CONTROL_H
#define IOTAPE_CONTROL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define IOT_CONTROL_VERSION 3
#define IOT_CONTROL_PATH    "/dev/iotape"
#define IOT_REPLAY_PATH	    "/dev/replayfs"

/* -- /dev/iotape: a session is one capture, and lives as long as its descriptor ---------- */

/**
 * struct iot_query - what this module can do
 * @version: IOT_CONTROL_VERSION
 * @kinds: number of kinds of records that it knows
 * @features: bits IOT_FEATURE_*; zero, too, in modules from before there were any
 */
struct iot_query {
	__u32 version;
	__u32 kinds;
	__u64 features;
};

#define IOT_FEATURE_WAKES 1u /* IOT_CREATE_WAKES may be asked for */
#define IOT_FEATURE_FILTER 4u /* IOT_IOC_FILTER is there */
#define IOT_FEATURE_PROGRAM 8u /* IOT_IOC_PROGRAM is there */
#define IOT_FEATURE_CTL 16u /* IOT_IOC_CTL, IOT_IOC_DONE, IOT_IOC_DESCRIBE and IOT_IOC_INFO are there */
#define IOT_FEATURE_COUNTERS 32u /* IOT_IOC_COUNT and IOT_IOC_COUNTERS are there */
#define IOT_FEATURE_DELAY 64u /* IOT_IOC_DELAY is there */
#define IOT_FEATURE_TURN 128u /* IOT_IOC_TURN, IOT_COUNT_* and IOT_COUNTERS_ASIDE are there */
#define IOT_FEATURE_REFILTER 256u /* IOT_IOC_REFILTER is there */
#define IOT_FEATURE_STACKS 512u /* IOT_IOC_STACKS is there */
#define IOT_FEATURE_ONLY 1024u /* IOT_IOC_ONLY is there */
#define IOT_FEATURE_HOLD 2048u /* IOT_DELAY_HOLD, IOT_IOC_LOOK and IOT_IOC_RELEASE are there */
#define IOT_FEATURE_MARK 4096u /* IOT_IOC_MARK is there */
#define IOT_FEATURE_ADMIT 2u /* IOT_IOC_ADMIT is there: to name a mount is not enough to join its session */

enum iot_policy {
	IOT_POLICY_BLOCK = 0, /* a task that got ahead of the collector waits */
	IOT_POLICY_DROP = 1,  /* records without room are dropped, and counted */
};

#define IOT_BUFFER_BYTES   32000 /* records in one message; with its heads it fills 32 KiB */
#define IOT_BUFFERS_MIN	   4
#define IOT_BUFFERS_MAX	   1024
#define IOT_FLUSH_MS_MIN   10
#define IOT_FLUSH_MS_MAX   60000

#define IOT_CREATE_WAKES 1u /* record which task wakes which */

/**
 * struct iot_create - make the descriptor a session; needs CAP_SYS_ADMIN
 * @policy: an enum iot_policy
 * @buffers: buffers of each CPU, IOT_BUFFERS_MIN to IOT_BUFFERS_MAX
 * @flush_ms: oldest age of a record that is not yet on its way, IOT_FLUSH_MS_MIN to _MAX
 * @flags: bits IOT_CREATE_*
 * @session: out: its number, for messages to people
 *
 * The next step is IOT_CMD_BIND on the netlink socket that is to receive. EOPNOTSUPP: a flag that the
 * kernel has no means for.
 */
struct iot_create {
	__u32 policy;
	__u32 buffers;
	__u32 flush_ms;
	__u32 flags;
	__u64 session;
};

/**
 * struct iot_attach - record a mount in this session
 * @dir_fd: an open directory of the tapefs mount, O_PATH will do
 * @reserved: zero
 *
 * A mount can be in one session at a time (EBUSY). ENOTTY: not a tapefs mount.
 */
struct iot_attach {
	__s32 dir_fd;
	__u32 reserved;
};

#define IOT_ONLY_SESSIONS_MAX 8	   /* of one user */
#define IOT_ONLY_BUFFERS_MAX  64   /* of each CPU, in a session of one user */
#define IOT_ONLY_ROWS_MAX     8192 /* of counters in it */

/**
 * struct iot_only_user - restrict the session to the processes of one user
 * @uid: the user, by its number in the user namespace of the caller; not root
 * @gid: the real group of these processes
 *
 * Of a session without collector and mount; for good. Requires the same capability as IOT_IOC_CREATE. Afterwards the session contains
 * only what this user could observe by ptrace(2): operations and lives of tasks whose users and groups, real, effective, saved
 * and of the file system, are these, that have no capability outside of user namespaces of the user, and that are dumpable. All other
 * operations are counted as those that a filter excludes; a task that executes a program with other rights ends in the trace. Pages in
 * the page cache are stated of files of the user, and are 0 of others. Wake-ups are not recorded.
 *
 * A process of the user, without capabilities, may bind the collector to the session, and list and change it by its number. EPERM: in
 * such a session, IOT_IOC_ATTACH requires the capability, and IOT_IOC_ADMIT, IOT_IOC_DELAY and more than IOT_ONLY_ROWS_MAX counters are
 * not permitted. EUSERS: the user has IOT_ONLY_SESSIONS_MAX sessions. EINVAL: the session has a collector, a mount, wake-ups, delays, or
 * more than IOT_ONLY_BUFFERS_MAX buffers, or there is no such user.
 */
struct iot_only_user {
	__u32 uid;
	__u32 gid;
};

/* Where a session stands. */
enum iot_state {
	IOT_STATE_NEW = 0,     /* no collector yet */
	IOT_STATE_READY = 1,   /* the collector listens, nothing is recorded */
	IOT_STATE_RUNNING = 2, /* recording */
	IOT_STATE_DRAINING = 3, /* recording has ended, records are on their way */
	IOT_STATE_ENDED = 4,   /* all records were handed over */
	IOT_STATE_FAILED = 5,  /* the collector has gone */
};

/**
 * struct iot_status - one session, as seen from any descriptor of the device
 * @session: in: number of the last one seen, 0 to begin; out: the next higher one
 * @state: an enum iot_state
 * @policy: an enum iot_policy
 * @collector: process id of the collector, 0 if none
 * @mounts: mounts attached
 * @records: records made so far
 * @lost: records dropped so far
 * @waits: times that a task was made to wait for the collector (backpressure)
 * @sent_bytes: bytes of records handed to the collector
 *
 * ENOENT: no higher session. Needs CAP_SYS_ADMIN.
 */
struct iot_status {
	__u64 session;
	__u32 state;
	__u32 policy;
	__u32 collector;
	__u32 mounts;
	__u64 records;
	__u64 lost;
	__u64 waits;
	__u64 sent_bytes;
};

/**
 * struct iot_filter - record only operations of some kinds
 * @kinds: bit N is set if operations of kind N (of the group op, see schema.h) are to be recorded, 64 kinds a word
 *
 * Of a session, before it starts; the last call counts. Other records, such as names, tasks and their ends, are not
 * affected: an object, name or handle of a recorded operation is announced, even if the operation that created it is
 * not recorded. EINVAL: the session has started.
 */
struct iot_filter {
	__u64 kinds[4];
};

/**
 * struct iot_stacks - record from which function calls operations of some kinds are made
 * @kinds: of the operations, as in struct iot_filter
 *
 * Of a session, before it starts; once. Records `stack`, `code` and `called_from` state the call sites. Of an operation whose task has
 * no user memory any more, such as the last close of a task that exits, of operations in an exec, and of workers of io_uring, none is
 * recorded. EINVAL: the session has started, or counts operations. EBUSY: it was requested before.
 */
struct iot_stacks {
	__u64 kinds[4];
};

/**
 * struct iot_filter_program - record only operations for which a program is true
 * @program: address of the program, see <iotape/filter.h>
 * @bytes: of it; 0: record all
 * @reserved: zero
 *
 * Of a session, at any time; in addition to IOT_IOC_FILTER. The last call counts. Other records are not affected, as
 * with struct iot_filter. EINVAL: it is not a program.
 */
struct iot_filter_program {
	__u64 program;
	__u32 bytes;
	__u32 reserved;
};

/* What IOT_IOC_CTL changes; a record `control` has the same numbers, see IOT_VERBS in schema.h. */
enum iot_ctl_verb {
	IOT_CTL_PAUSE = 1,   /* leave operations on files out, and count them */
	IOT_CTL_RESUME = 2,  /* record them again */
	IOT_CTL_STOP = 3,    /* as IOT_IOC_STOP */
	IOT_CTL_FLUSH = 4,   /* returns when the collector has written all records so far */
	IOT_CTL_POLICY = 5,  /* value: an enum iot_policy */
	IOT_CTL_BUFFERS = 6, /* value: buffers of each CPU */
	IOT_CTL_MMAP = 7,    /* value: an enum iot_mmap, for mappings made from now on */
	IOT_CTL_DUMP = 8,    /* returns when the collector has written its flight recorder to a file */
	IOT_CTL_FILTER = 9,  /* only in records and marks: IOT_IOC_REFILTER */
	IOT_CTL_COUNTERS = 10, /* returns when the collector has written all counters so far, which then count from 0 */
	IOT_CTL_MARK = 11, /* only in marks: IOT_IOC_MARK */
};

enum iot_mmap {
	IOT_MMAP_OFF = 0,	  /* mappings are recorded, accesses to them are not */
	IOT_MMAP_FAULTAROUND = 1, /* accesses to groups of pages, as the kernel maps them */
	IOT_MMAP_PAGE = 2,	  /* the first access to each page */
};

/**
 * struct iot_ctl - change a session that runs
 * @session: its number
 * @verb: an enum iot_ctl_verb
 * @value: as the verb defines it, else zero
 *
 * The change takes effect between two records of each task: an operation is recorded as a whole or not at all. A
 * record `control` states it. Changes of a session come one after the other.
 *
 * Requires the same capability as IOT_IOC_CREATE. ENOENT: no session has this number. EINVAL: the session does not
 * record, the verb is unknown, or the value is not allowed for it. EALREADY: the session is in that state. EPIPE: the
 * recording ended first. ENOMEM: not enough memory for the buffers; their number is unchanged. EINTR: a signal ended
 * the wait. FLUSH, DUMP and COUNTERS return the collector's answer, which is EOPNOTSUPP to DUMP without a flight recorder and to
 * COUNTERS without counters.
 */
struct iot_ctl {
	__u64 session;
	__u32 verb;
	__u32 value;
};

#define IOT_REFILTER_TEXT_MAX_BYTES 4000

/**
 * struct iot_refilter - replace the filter program of a session that runs
 * @session: its number
 * @program: address of the program, see <iotape/filter.h>
 * @text: address of the expression that it was compiled from, without an end mark
 * @bytes: of the program; 0: no program, so that all operations are recorded that IOT_IOC_FILTER admits
 * @text_bytes: of the text, at most IOT_REFILTER_TEXT_MAX_BYTES; 0 if and only if @bytes is 0
 *
 * As IOT_IOC_PROGRAM, for a caller that need not have the descriptor of the session. A record `fact` filter=TEXT, whose
 * text the kernel does not check, and a record `control` state the change. Each operation is decided by the previous or by the
 * new program. Errors are those of IOT_IOC_CTL; also EINVAL if it is not a program or @text_bytes is wrong, and EOPNOTSUPP if
 * the session has no mount, or the collector cannot state the change.
 */
struct iot_refilter {
	__u64 session;
	__u64 program;
	__u64 text;
	__u32 bytes;
	__u32 text_bytes;
};

/**
 * struct iot_done - the collector answers IOT_CMD_MARK
 * @number: of the mark
 * @err: 0, or a negative errno, from -4095
 * @reserved: zero
 *
 * Of a session. EINVAL: nobody waits for this number.
 */
struct iot_done {
	__u64 number;
	__s32 err;
	__u32 reserved;
};

/**
 * struct iot_mark - send the collector a mark behind all records so far
 * @number: out: number of the mark; every mark with this number or a higher one is behind those records
 * @refused: out: operations that a filter has left out so far, see struct iot_message_end
 * @reserved: zero
 *
 * Of a session that records, for its collector, which is not waited for: the call returns at once. A mark of IOT_IOC_CTL that is
 * requested before the sender has sent this one takes its place. EBUSY: a change by IOT_IOC_CTL is under way, and its mark
 * may be from before the call. EPIPE: the session does not record.
 */
struct iot_mark {
	__u64 number;
	__u64 refused;
	__u64 reserved;
};

#define IOT_DESCRIBE_MAX_BYTES 4096

/**
 * struct iot_describe - what the recorder says of a session, for IOT_IOC_INFO
 * @text: address of the text: lines of the form key=value
 * @bytes: of it, at most IOT_DESCRIBE_MAX_BYTES
 * @reserved: zero
 *
 * Of a session; the last call counts. The kernel does not read the text.
 */
struct iot_describe {
	__u64 text;
	__u32 bytes;
	__u32 reserved;
};

#define IOT_INFO_PAUSED 1u   /* the session is paused */
#define IOT_INFO_WAKES 2u    /* all wake-ups are recorded */
#define IOT_INFO_FILTERED 4u /* not all operations are recorded */
#define IOT_INFO_COUNTERS 8u /* operations are counted instead of recorded */
#define IOT_INFO_DELAYS 16u  /* tasks are delayed */

#define IOT_INFO_TEXT_MAX_BYTES (1u << 20)

/**
 * struct iot_info - all that is known of a session
 * @session: in: its number
 * @text: in: address of room for texts
 * @room: in: bytes of it, at most IOT_INFO_TEXT_MAX_BYTES; what does not fit is left out
 * @text_bytes: out: bytes of the texts: the text of IOT_IOC_DESCRIBE, then for each mount its path, each ended by a
 *	zero byte
 * @state, @policy, @collector, @mounts, @records, @lost, @waits, @sent_bytes: as in struct iot_status
 * @buffers: of each CPU
 * @cpus: possible CPUs, each of which has that many
 * @behind: CPUs with fewer than half of their buffers free
 * @flush_ms: as given to IOT_IOC_CREATE
 * @flags: bits IOT_INFO_*
 * @uid: user that made the session, in the user namespace of the caller, or the overflow id
 * @pauses: how often it was paused
 * @reserved: zero
 * @created_ns, @started_ns, @ended_ns, @now_ns: on the monotonic clock; 0: not yet
 * @paused_ns: time in pauses, the current one included
 * @left_out: operations that pauses left out. One that the kernel tries again may count several times, and one that
 *	would have had no record, such as a lookup that finds what is known, once
 * @refused: operations that a filter left out
 * @announced: records that announce what an id stands for
 * @sent_records: records handed to the collector
 *
 * Requires what IOT_IOC_STATUS requires. ENOENT: no session has this number.
 */
struct iot_info {
	__u64 session;
	__u64 text;
	__u32 room;
	__u32 text_bytes;
	__u32 state;
	__u32 policy;
	__u32 collector;
	__u32 mounts;
	__u32 buffers;
	__u32 cpus;
	__u32 behind;
	__u32 flush_ms;
	__u32 flags;
	__u32 uid;
	__u32 pauses;
	__u32 reserved;
	__u64 created_ns;
	__u64 started_ns;
	__u64 ended_ns;
	__u64 now_ns;
	__u64 paused_ns;
	__u64 left_out;
	__u64 refused;
	__u64 announced;
	__u64 records;
	__u64 lost;
	__u64 waits;
	__u64 sent_bytes;
	__u64 sent_records;
};

#define IOT_COUNTERS_ROWS_MIN 16
#define IOT_COUNTERS_ROWS_MAX 65536

/**
 * struct iot_count - count operations instead of recording them
 * @rows: of the table, IOT_COUNTERS_ROWS_MIN to IOT_COUNTERS_ROWS_MAX, each somewhat larger than struct iot_counter. Their
 *	memory is charged to the control group of the caller
 * @keys: bits IOT_COUNT_*: what the operations of a row have in common, besides their kind; 0 stands for
 *	IOT_COUNT_OBJECT, _PROCESS, _USER and _MOUNT
 *
 * Of a session, before it starts. Filters decide which operations count. MPI calls are recorded as before. So are names
 * of objects with IOT_COUNT_OBJECT, and tasks and their lives with IOT_COUNT_PROCESS. Without it, existing handles and
 * mappings are not announced, and a task only if it makes MPI calls, or, with IOT_COUNT_COMMAND, is the first in a row.
 * EINVAL: the session has started. EBUSY: it counts already.
 */
struct iot_count {
	__u32 rows;
	__u32 keys;
};

#define IOT_COUNT_OBJECT  1u
#define IOT_COUNT_PROCESS 2u /* a process between two execs */
#define IOT_COUNT_COMMAND 4u /* the name of the thread; not together with IOT_COUNT_PROCESS */
#define IOT_COUNT_USER	  8u /* the effective user */
#define IOT_COUNT_MOUNT	  16u

#define IOT_COUNTER_OVERFLOW 1u /* operations that found no free row: no object, mount or task; uid is 4294967295 */
#define IOT_COUNTER_WRITE    2u /* completions of asynchronous writes; or bytes that copies wrote, without operations */

#define IOT_COUNTER_LATENCIES 48
#define IOT_COUNTER_SIZES     48
#define IOT_COUNTER_STRIDES   64
#define IOT_COUNTER_ERRNOS    8

/**
 * struct iot_counter - operations of one kind, on one object, of one process, user and mount, as far as these are keys
 * @object: as in records; 0 if there was none, or it is no key
 * @mount: root directory of the mount; 0 if it is no key
 * @kind: of the record that the operations would have
 * @task: the first task of the process, or with the command, that counted here; 0 if neither is a key
 * @uid: effective user id, in the initial user namespace; 4294967295 if it is no key
 * @flags: bits IOT_COUNTER_*
 * @count: operations
 * @errors: of them, those that returned an error
 * @bytes: that they moved, or made accessible in a mapping
 * @duration_ns: time in them
 * @nested_ns: of that, time that is also part of another operation
 * @longest_ns: the longest
 * @errnos: the first different errors, positive; 0: none
 * @errno_counts: operations that returned each of them
 * @latencies: operations by duration in ns: bucket 0 is for 0, bucket N for 2^(N-1) to 2^N - 1, the last one for all above
 * @sizes: the same of the bytes requested, of operations that have a range
 * @strides: the same of the bytes from the end of the previous range in this row to the beginning of the next: in the
 *	first half forward, in the second half backward
 *
 * Several rows may have the same key: their numbers add up.
 */
struct iot_counter {
	__u64 object;
	__u64 mount;
	__u32 kind;
	__u32 task;
	__u32 uid;
	__u32 flags;
	__u64 count;
	__u64 errors;
	__u64 bytes;
	__u64 duration_ns;
	__u64 nested_ns;
	__u64 longest_ns;
	__u32 errnos[IOT_COUNTER_ERRNOS];
	__u64 errno_counts[IOT_COUNTER_ERRNOS];
	__u64 latencies[IOT_COUNTER_LATENCIES];
	__u64 sizes[IOT_COUNTER_SIZES];
	__u64 strides[IOT_COUNTER_STRIDES];
};

#define IOT_COUNTERS_ROOM_MAX 64
#define IOT_COUNTERS_ASIDE    1u /* read the rows that the last IOT_IOC_TURN set aside */

/**
 * struct iot_counters - read counters of a session, while it records or until its descriptor is closed
 * @session: in: its number; 0: the session that the descriptor is
 * @rows: in: address of an array of struct iot_counter
 * @room: in: elements of the array, 1 to IOT_COUNTERS_ROOM_MAX
 * @count: out: elements that were filled in; it may be 0 although others follow
 * @next: in: 0 to begin, then as returned; out: 0: nothing follows
 * @limit: out: rows that the table has for keys
 * @flags: in: bits IOT_COUNTERS_*
 * @turns: out: calls of IOT_IOC_TURN before the first operation of these rows
 *
 * Numbers of a row are read one after the other while operations go on; those set aside are constant. For a session of
 * another descriptor it requires the same capability as IOT_IOC_CREATE. ENOENT: no session has this number. EINVAL: the
 * session does not count, nothing was set aside, or a value is out of range.
 */
struct iot_counters {
	__u64 session;
	__u64 rows;
	__u32 room;
	__u32 count;
	__u32 next;
	__u32 limit;
	__u32 flags;
	__u32 turns;
};

#define IOT_DELAY_PERIOD_MAX (1u << 30)
#define IOT_DELAY_MIN_NS     100000ull
#define IOT_DELAY_MAX_NS     (3600 * 1000000000ull)

#define IOT_DELAY_HOLD	 1u	     /* a delay does not end when all other threads of the session are blocked, see struct iot_release */
#define IOT_DELAY_NOBODY 0xffffffffu /* no thread has this number: none is delayed, but IOT_IOC_LOOK can be used */

/**
 * struct iot_delay - delay threads after their operations, to find out which other threads wait for them
 * @thread: number of the thread to be delayed; 0: all threads. The session numbers its threads from 1: first the one that
 *	it adopted, then the others when they are created, or at their first operation
 * @period: operations from one delay of a thread to the next, 1 to IOT_DELAY_PERIOD_MAX
 * @phase: the delays follow the operations on files whose number in the task, without MPI calls, divided by @period, leaves this remainder
 * @flags: bits IOT_DELAY_*
 * @asleep_ns: another thread counts as blocked if it has slept for this time without a wake-up
 * @idle_ns: another thread counts as blocked, whether it runs or not, if for this time it has begun and ended no operation
 * @limit_ns: maximum duration of a delay
 * @total_ns: maximum duration of all delays of the session together
 *
 * Of a session, before it starts. A delay begins when the system call, or the page fault, of the operation returns to
 * user mode, where the thread holds no lock of the kernel. It ends when all other threads of the session are blocked or have
 * exited, at a limit, when the session ends, and on any signal. One thread of the session is delayed at a time: operations
 * of others are not delayed meanwhile. A thread that waits for the collector is not blocked. A record `delayed` states each
 * delay. The times are IOT_DELAY_MIN_NS to IOT_DELAY_MAX_NS. EINVAL: the session has started, or a value is out of range.
 * EBUSY: the session has delays already.
 */
struct iot_delay {
	__u32 thread;
	__u32 period;
	__u32 phase;
	__u32 flags;
	__u64 asleep_ns;
	__u64 idle_ns;
	__u64 limit_ns;
	__u64 total_ns;
};

#define IOT_LOOK_ANEW 1u /* forget earlier looks: no thread is blocked yet */

/**
 * struct iot_look_all - are all threads of the session blocked, other than one that is delayed?
 * @flags: bits IOT_LOOK_*
 * @reserved: zero
 * @number: out: of the delay under way, 0 if there is none
 * @blocked_ns: out: since when, of the monotonic clock, all are blocked, or would be if they had been looked at then; 0: not
 *	all are. If two looks find the same time, all were blocked in between
 * @asleep, @idle: out: threads that are blocked, as in struct iot_delay
 * @busy: out: threads that are not
 * @reserved_too: zero
 *
 * Of a running session with delays. The times of struct iot_delay count from the first look at a thread during the delay, or
 * since IOT_LOOK_ANEW if there is none; so looks have to be more frequent than these times. EINVAL: it has no delays, or has ended.
 */
struct iot_look_all {
	__u32 flags;
	__u32 reserved;
	__u64 number;
	__u64 blocked_ns;
	__u32 asleep;
	__u32 idle;
	__u32 busy;
	__u32 reserved_too;
};

#define IOT_RELEASE_ALL 1u /* end the delay under way, if there is one, and begin no other */

/**
 * struct iot_release - end a delay, of a session with IOT_DELAY_HOLD
 * @number: of the delay; 0 with IOT_RELEASE_ALL
 * @flags: bits IOT_RELEASE_*
 * @reserved: zero
 *
 * For a recorder that knows of threads elsewhere for which the delay has to last. The limits of a delay, signals and the end of the
 * session end it, too. EINVAL: the session has no such delays. ESRCH: the delay has ended.
 */
struct iot_release {
	__u64 number;
	__u32 flags;
	__u32 reserved;
};

enum iot_admit_kind {
	IOT_ADMIT_USER = 0,  /* tasks whose real user this is */
	IOT_ADMIT_GROUP = 1, /* tasks that are in this group */
};

#define IOT_ADMIT_MAX 64

/**
 * struct iot_admit - let a user, or a group, join the session: see struct iot_join
 * @kind: an enum iot_admit_kind
 * @id: the user or the group, by its number in the user namespace of the caller
 *
 * At any time, of a session. EINVAL: no such kind, or nobody has that number. ENOSPC: the session has
 * admitted IOT_ADMIT_MAX others.
 */
struct iot_admit {
	__u32 kind;
	__u32 id;
};

/**
 * struct iot_join - let the caller add MPI records to a running session
 * @dir_fd: an open directory (O_PATH will do) of a mount that the session records
 * @reserved: zero
 *
 * The recorder must have agreed to that. Those may join that descend from a task for which the recorder
 * called IOT_IOC_ADOPT, whatever user they are by now; those that IOT_IOC_ADMIT names; and those with
 * CAP_SYS_ADMIN. EACCES: the caller is none of them. A task that has joined may describe its own threads
 * in that session, and nothing else.
 *
 * Afterwards write(2) on the descriptor takes whole records of the group mpi. The
 * kernel fills in task, number and duration: a record ends when it is written. What costs no system
 * call is a mailbox, see struct iot_mailbox_head.
 */
struct iot_join {
	__s32 dir_fd;
	__u32 reserved;
};

/* -- mailboxes: records of MPI without a system call --------------------------------------- */

/**
 * struct iot_mailbox_head - the beginning of a mailbox
 * @tail: bytes of records that the thread has put in since the mailbox was made; stored with release
 *	when a record is whole
 * @lost: records of the thread that found no room
 * @op: number of the last operation that the thread entered; the kernel and the thread both
 *	increment it to number an operation
 * @reserved: zero
 * @head: bytes that the kernel has taken out
 * @is_closed: the kernel takes no more
 *
 * A mailbox is what mmap(2) makes of a descriptor that has joined: shared, from offset 0, of
 * IOT_MAILBOX_BYTES. It belongs to the thread that called, which may have one, and outlives it: the
 * kernel takes what is in it even if the thread was killed, and frees it then. Its memory is charged to the
 * control group of that thread; a user may have IOT_MAILBOXES_USER_MAX in a session. A child made by fork(2) does not have it.
 * The ring lies IOT_MAILBOX_HEAD_BYTES behind the beginning; byte N of all is at N modulo
 * IOT_MAILBOX_RING_BYTES. Records are as for write(2), but their ends and numbers are believed, too.
 *
 * msync(2) with MS_SYNC, of any part of it, makes the kernel take what is there. If there is hardly
 * room, and the policy of the session is to block, it returns when there is, or with EINTR.
 */
struct iot_mailbox_head {
	__u32 tail;
	__u32 lost;
	__u32 op;
	__u32 reserved[13];
	__u32 head;
	__u32 is_closed;
};

#define IOT_MAILBOXES_USER_MAX 2048 /* of one user in a session */
#define IOT_MAILBOXES_MAX      4096 /* of all users in it */

#define IOT_MAILBOX_HEAD_BYTES 4096
#define IOT_MAILBOX_RING_BYTES 65536
#define IOT_MAILBOX_BYTES      (IOT_MAILBOX_HEAD_BYTES + IOT_MAILBOX_RING_BYTES)

/* A thread, as the caller's PID namespace numbers it; 0 if it is not in that. */
struct iot_alive_thread {
	__u32 pid;
	__u32 tgid;
	char command[16];
};

#define IOT_ALIVE_MAX (1u << 20)

/**
 * struct iot_alive - which threads that a session knows have not begun to exit
 * @session: number of the session
 * @threads: address of an array of struct iot_alive_thread: out: the first @room of them
 * @room: elements of it, at most IOT_ALIVE_MAX
 * @count: zero; out: how many there are
 *
 * Known are the threads that descend from one that was adopted, and those that worked in a mount of
 * the session, whether it still records or not. Threads of the kernel are none of them. Needs
 * CAP_SYS_ADMIN.
 */
struct iot_alive {
	__u64 session;
	__u64 threads;
	__u32 room;
	__u32 count;
};

#define IOT_IOC_MAGIC  0xD9 /* free in the list of the kernel, userspace-api/ioctl/ioctl-number */
#define IOT_IOC_QUERY  _IOR(IOT_IOC_MAGIC, 1, struct iot_query)
#define IOT_IOC_CREATE _IOWR(IOT_IOC_MAGIC, 2, struct iot_create)
#define IOT_IOC_ATTACH _IOW(IOT_IOC_MAGIC, 3, struct iot_attach)
/* Begin to record, end it: the collector then gets what is left and IOT_CMD_END. */
#define IOT_IOC_START  _IO(IOT_IOC_MAGIC, 4)
#define IOT_IOC_STOP   _IO(IOT_IOC_MAGIC, 5)
/* The calling thread is the root of what is recorded: it counts even before it touches a file. */
#define IOT_IOC_ADOPT  _IO(IOT_IOC_MAGIC, 6)
#define IOT_IOC_STATUS _IOWR(IOT_IOC_MAGIC, 7, struct iot_status)
#define IOT_IOC_JOIN   _IOW(IOT_IOC_MAGIC, 8, struct iot_join)
#define IOT_IOC_ADMIT  _IOW(IOT_IOC_MAGIC, 9, struct iot_admit)
#define IOT_IOC_ALIVE  _IOWR(IOT_IOC_MAGIC, 10, struct iot_alive)
#define IOT_IOC_FILTER _IOW(IOT_IOC_MAGIC, 11, struct iot_filter)
#define IOT_IOC_PROGRAM _IOW(IOT_IOC_MAGIC, 12, struct iot_filter_program)
#define IOT_IOC_CTL    _IOW(IOT_IOC_MAGIC, 16, struct iot_ctl)
#define IOT_IOC_DONE   _IOW(IOT_IOC_MAGIC, 17, struct iot_done)
#define IOT_IOC_DESCRIBE _IOW(IOT_IOC_MAGIC, 18, struct iot_describe)
#define IOT_IOC_INFO   _IOWR(IOT_IOC_MAGIC, 19, struct iot_info)
#define IOT_IOC_COUNT  _IOW(IOT_IOC_MAGIC, 20, struct iot_count)
#define IOT_IOC_COUNTERS _IOWR(IOT_IOC_MAGIC, 21, struct iot_counters)
#define IOT_IOC_DELAY  _IOW(IOT_IOC_MAGIC, 22, struct iot_delay)
/*
 * Of a session that counts: set its rows aside, and count in empty ones from now on. Those that were set aside before are
 * empty then. ENOMEM only of the first call. EINVAL: the session does not count.
 */
#define IOT_IOC_TURN   _IO(IOT_IOC_MAGIC, 23)
#define IOT_IOC_REFILTER _IOW(IOT_IOC_MAGIC, 24, struct iot_refilter)
#define IOT_IOC_STACKS _IOW(IOT_IOC_MAGIC, 25, struct iot_stacks)
#define IOT_IOC_ONLY   _IOW(IOT_IOC_MAGIC, 26, struct iot_only_user)
#define IOT_IOC_LOOK   _IOWR(IOT_IOC_MAGIC, 27, struct iot_look_all)
#define IOT_IOC_RELEASE _IOW(IOT_IOC_MAGIC, 28, struct iot_release)
#define IOT_IOC_MARK   _IOWR(IOT_IOC_MAGIC, 29, struct iot_mark)

/* -- /dev/replayfs: a replay lives as long as its descriptor ------------------------------ */

enum iot_pace {
	IOT_PACE_FULL = 0,   /* no think time: as fast as order allows */
	IOT_PACE_SCALED = 1, /* think time times the two scales; 1 to 1 is natural pace */
};

enum iot_data_mode {
	IOT_DATA_COPY = 0,    /* what is read is copied to the worker's memory */
	IOT_DATA_DISCARD = 1, /* it is not: reads end in the page cache */
};

enum iot_wait_mode {
	IOT_WAIT_SLEEP = 0, /* think time is slept, but for the last moments */
	IOT_WAIT_SPIN = 1,  /* the CPU is kept busy until it has passed */
};

enum iot_users {
	IOT_USERS_SELF = 0,	/* that of the thread that runs */
	IOT_USERS_RECORDED = 1, /* that of the task in the trace, where it is known */
};

#define IOT_SCALE_ONE 65536 /* scales are fixed-point numbers with 16 bits after the point */

/**
 * struct iot_replay_load - take a program, and verify it
 * @program_fd: open for reading: a regular file that has the program. It is read until the last task
 *	has ended, if operations and waits are larger than what may be in memory
 * @reason: out, if EBADMSG: an enum iot_reject
 * @resident_bytes: memory that operations and waits may take; if they are larger, tasks share as much
 *	for windows of them, if that is enough for two blocks of each task that runs
 * @offset_bytes: out, if EBADMSG: where in the program
 * @tasks: out: number of tasks that workers run: all but request queues
 * @is_streamed: in: zero; out: 1 if it is larger: then IOT_RIOC_FEED is needed
 * @ops: out: number of operations
 */
struct iot_replay_load {
	__s32 program_fd;
	__u32 reason;
	__u64 resident_bytes;
	__u64 offset_bytes;
	__u32 tasks;
	__u32 is_streamed;
	__u64 ops;
};

#define IOT_REPLAY_EMULATE    1u /* others take the place of operations that the target does not have */
#define IOT_REPLAY_PRIVILEGED 2u /* nodes of devices, set-user-id and so on are made as they were: core/replay/harmless.h */
#define IOT_REPLAY_ANY_LINKS  4u /* fs.protected_hardlinks is 0: users link files that they do not own */
#define IOT_REPLAY_FLAGS      (IOT_REPLAY_EMULATE | IOT_REPLAY_PRIVILEGED | IOT_REPLAY_ANY_LINKS)

/**
 * struct iot_replay_setup - where and how
 * @target_fd: open directory that the replay is confined to
 * @session_fd: a descriptor of /dev/iotape with a running session for the outcomes, or -1
 * @pace: an enum iot_pace
 * @data: an enum iot_data_mode
 * @compute_scale: factor for think time on a CPU, in 1 / IOT_SCALE_ONE
 * @pause_scale: factor for think time off it
 * @wait: an enum iot_wait_mode: how think time passes
 * @users: an enum iot_users: in whose name. Of workers, others than the caller's want CAP_SETUID and
 *	CAP_SETGID
 * @flags: IOT_REPLAY_*
 * @reserved: zero
 */
struct iot_replay_setup {
	__s32 target_fd;
	__s32 session_fd;
	__u32 pace;
	__u32 data;
	__u32 compute_scale;
	__u32 pause_scale;
	__u32 wait;
	__u32 users;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct iot_replay_run - the calling thread runs tasks: it is a worker
 * @task: IOT_WORKER_NEW at first; out: what to come back with: the index of the task that it is
 *	in, or IOT_WORKER_IDLE
 * @space: the tasks that it may run: those with mappings of this address space, or for
 *	IOT_SPACE_COMMON all those without
 * @sink: address of memory of the caller that reads go to, IOT_WORKER_BUFFER_BYTES
 * @source: address of memory of the caller that writes come from, of the same size
 *
 * A worker runs one task after the other, each from when the waits of its first operation
 * hold. Returns 0 when no further task will need it, 1 when the caller must call again (it
 * went back to user mode so that the last references of files are dropped in order), EINTR when
 * a signal came (call again, or leave), ECANCELED when the replay was ended by IOT_RIOC_CANCEL.
 */
struct iot_replay_run {
	__u32 task;
	__u32 space;
	__u64 sink;
	__u64 source;
};

#define IOT_WORKER_IDLE 0xfffffffe
#define IOT_WORKER_NEW	 0xffffffff
#define IOT_SPACE_COMMON 0xffffffff

/**
 * struct iot_replay_keep - wait until tasks need one worker more
 * @space: as in struct iot_replay_run
 * @reserved: zero
 *
 * Returns 1 when the caller is to send one more thread in, and then to call again; 0 when there
 * are enough until the end; EINTR; ECANCELED.
 */
struct iot_replay_keep {
	__u32 space;
	__u32 reserved;
};

#define IOT_WORKER_BUFFER_BYTES (4 << 20)

/**
 * struct iot_replay_status - how far it is
 * @waiting: tasks that have or had a worker
 * @finished: tasks that have ended
 * @ops: operations run
 * @diverged: operations whose result was not the one in the trace
 * @stalls: times a worker had to wait for its arguments
 * @start_ns: monotonic clock at the start, 0 before
 * @end_ns: monotonic clock when the last task ended, 0 before
 * @workers: workers that have come in so far
 * @roots: tasks that must have one before it can start
 * @unsupported: of @diverged, operations that the target does not support
 * @emulated: operations whose place others took
 * @harmless: operations that made something harmless in the place of what would give rights
 */
struct iot_replay_status {
	__u32 waiting;
	__u32 finished;
	__u64 ops;
	__u64 diverged;
	__u64 stalls;
	__u64 start_ns;
	__u64 end_ns;
	__u32 workers;
	__u32 roots;
	__u64 unsupported;
	__u64 emulated;
	__u64 harmless;
};

/**
 * struct iot_replay_lateness - how much later than planned think times ended
 * @wakeups: number of think times that ended so late, see iot_lateness_limit()
 * @sum_ns: of all
 * @max_ns: the largest
 */
struct iot_replay_lateness {
	__u64 wakeups[64];
	__u64 sum_ns;
	__u64 max_ns;
};

/**
 * struct iot_replay_partition - other nodes run a part of the program: said between load and setup
 * @is_here: address of a byte for each task: 1 if it is run here, 0 if elsewhere; a request queue is
 *	where its task is
 * @elsewhere: address of a __u32 for each latch: how many arrive at it elsewhere
 * @marks: address of an array of struct iot_program_wait: operations of tasks here that others wait
 *	for, by task and then by index, each once
 * @mark_count: number of marks
 * @reserved: zero
 */
struct iot_replay_partition {
	__u64 is_here;
	__u64 elsewhere;
	__u64 marks;
	__u32 mark_count;
	__u32 reserved;
};

/* A task, and how many of its operations have ended. */
struct iot_replay_move {
	__u32 task;
	__u32 ended;
};

/**
 * struct iot_replay_moved - wait until tasks here have passed marks
 * @moved: address of an array of struct iot_replay_move: out: which have, and how far
 * @room: for so many, 256 at most
 * @timeout_ns: how long to wait, a second at most
 *
 * Returns how many there are, 0 when the time has passed.
 */
struct iot_replay_moved {
	__u64 moved;
	__u32 room;
	__u32 timeout_ns;
};

/* Tasks elsewhere, so many, have arrived at a latch. */
struct iot_replay_signal {
	__u32 latch;
	__u32 count;
};

#define IOT_RIOC_SETUP	_IOW(IOT_IOC_MAGIC, 33, struct iot_replay_setup)
#define IOT_RIOC_RUN	_IOWR(IOT_IOC_MAGIC, 34, struct iot_replay_run)
/* Let all workers go at once; EAGAIN while a task that waits for nothing has none. */
#define IOT_RIOC_START	_IO(IOT_IOC_MAGIC, 35)
#define IOT_RIOC_STATUS _IOR(IOT_IOC_MAGIC, 36, struct iot_replay_status)
#define IOT_RIOC_CANCEL _IO(IOT_IOC_MAGIC, 37)
#define IOT_RIOC_KEEP	_IOW(IOT_IOC_MAGIC, 38, struct iot_replay_keep)
#define IOT_RIOC_LATENESS _IOR(IOT_IOC_MAGIC, 39, struct iot_replay_lateness)
/* For the agent of a node. ADVANCE: a task elsewhere has got on. */
#define IOT_RIOC_PARTITION	_IOW(IOT_IOC_MAGIC, 48, struct iot_replay_partition)
#define IOT_RIOC_MOVED	_IOW(IOT_IOC_MAGIC, 49, struct iot_replay_moved)
#define IOT_RIOC_ADVANCE _IOW(IOT_IOC_MAGIC, 50, struct iot_replay_move)
#define IOT_RIOC_SIGNAL _IOW(IOT_IOC_MAGIC, 51, struct iot_replay_signal)
#define IOT_RIOC_LOAD	_IOWR(IOT_IOC_MAGIC, 44, struct iot_replay_load) /* 32: what was written */
/*
 * Read the program, if it is streamed, ahead of the workers; to be called by a thread of its own
 * once the replay is set up. Returns 0 when no task needs more, EINTR when a signal came (call
 * again), ECANCELED; EBADMSG if the file has changed since its verification, or another errno if it
 * cannot be read: then the replay is cancelled.
 */
#define IOT_RIOC_FEED	_IO(IOT_IOC_MAGIC, 45)

#endif
