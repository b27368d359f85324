/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schema.h - every record that exists, and every field of it, once.
 *
 * Kernel modules, libiotape, the trace file's embedded schema, the text
 * printer, `iotape diff`, Documentation/records.md and the round-trip tests all
 * derive from the tables below, and that of MPI calls in mpi_calls.h; nothing about a
 * record is said anywhere else.
 *
 * Wire form of one record (little-endian, no padding):
 *
 *   offset  size  meaning
 *        0     2  bytes of the whole record, these 8 and the tail included
 *        2     2  kind: the id in IOT_RECORDS
 *        4     2  bytes of the tail (0 if none)
 *        6     2  must be zero
 *        8     -  the fields of the kind, in the order of its table
 *        -     -  the tail: a name or a text, raw bytes, not terminated
 *
 * Rules: ids are never reused; a table only grows at its end; a changed meaning
 * is a new field; a changed name is a row of IOT_RENAMED_FIELDS. A reader that
 * knows fewer fields than the record holds skips the rest, one that knows more
 * takes the missing ones as zero. A change here comes with an entry in
 * Documentation/trace-format.md and a golden trace.
 */
#ifndef IOTAPE_SCHEMA_H
#define IOTAPE_SCHEMA_H

#include <linux/types.h>

#include <iotape/mpi_calls.h>
#include <iotape/schema_flags.h>
#include <iotape/schema_life.h>
#include <iotape/schema_stacks.h>
#include <iotape/schema_state.h>

#define IOT_RECORD_HEAD_BYTES 8
#define IOT_RECORD_MAX_BYTES  8192 /* head, fields and tail of the largest record */
#define IOT_TAIL_MAX_BYTES    4096 /* PATH_MAX: no name or link target is longer */

/*
 * C(class, compared, sentence): the meaning of a field. `compared`: two runs of the same program must agree on it
 * (iotape diff). Identifiers, times and the state of caches differ between any two runs, requests and their results
 * do not.
 */
#define IOT_CLASSES(C)                                                                 \
	C(num, 1, "a number")                                                          \
	C(offset, 1, "a position in a file, in bytes")                                 \
	C(bytes, 1, "a length in bytes")                                               \
	C(result, 1, "return value of the call: a count, or a negative errno")         \
	C(mode, 1, "type and permission bits as in stat(2)")                           \
	C(stamp, 1, "a time stamp that the program set, ns since 1970")                \
	C(instant, 0, "a point on the node's monotonic clock, ns")                     \
	C(wall, 0, "a point in wall-clock time, ns since 1970")                        \
	C(span, 0, "a length of time, ns")                                             \
	C(cost, 0, "cost of the operation for the machine, not its effect")            \
	C(state, 0, "state found, such as a cache's or a file system's own number")    \
	C(task, 0, "id of a task: a traced thread between two execs")                  \
	C(object, 0, "id of an object: a file's identity, whatever its names")         \
	C(handle, 0, "id of a handle: one open file description")                      \
	C(name, 0, "id of a name: one component in one directory")                     \
	C(map, 0, "id of a mapping")                                                   \
	C(request, 0, "id of an asynchronous request or of a message")                 \
	C(reason, 1, "see IOT_REASONS")                                                \
	C(whence, 1, "see IOT_WHENCES")                                                \
	C(type, 1, "see IOT_TYPES")                                                    \
	C(call, 1, "see IOT_CALLS")                                                    \
	C(open_flags, 1, "see IOT_OPEN_FLAGS")                                         \
	C(rw_flags, 1, "see IOT_RW_FLAGS")                                             \
	C(attrs, 1, "see IOT_ATTRS")                                                   \
	C(intents, 1, "see IOT_INTENTS")                                               \
	C(rename_flags, 1, "see IOT_RENAME_FLAGS")                                     \
	C(prot, 1, "see IOT_PROTS")                                                    \
	C(map_flags, 1, "see IOT_MAP_FLAGS")                                           \
	C(touch_flags, 1, "see IOT_TOUCH_FLAGS")                                       \
	C(falloc_flags, 1, "see IOT_FALLOC_FLAGS")                                     \
	C(lock_flags, 1, "see IOT_LOCK_FLAGS")                                         \
	C(verdict, 0, "see IOT_VERDICTS")                                              \
	C(fileattrs, 1, "see IOT_FILEATTRS")                                           \
	C(sources, 1, "see IOT_SOURCES")                                               \
	C(verb, 0, "see IOT_VERBS")                                                    \
	C(measure, 0, "see IOT_MEASURES")                                              \
	C(ending, 0, "see IOT_ENDINGS")                                                \
	C(stack, 0, "id of a stack of function calls")                                 \
	C(mpi_whence, 1, "see IOT_MPI_WHENCES")

/*
 * Values and bits of our own: traces from one architecture or libc are read on
 * another, so no O_*, AT_*, MAP_* number of a host stands in a record.
 *
 * V(value, name, sentence)
 */
#define IOT_REASONS(V)                                                                 \
	V(1, seen, "first operation of a thread that was already running")             \
	V(2, fork, "created by a traced task: fork, vfork or clone")                   \
	V(3, exec, "a traced task became it by exec")                                  \
	V(4, adopt, "named by the recorder before it started the command")             \
	V(5, play, "a worker that runs a task of a program")

/* Why an operation of a replay has a record beside its own. */
#define IOT_VERDICTS(V)                                                                \
	V(0, otherwise, "it diverged from the trace")                                  \
	V(1, unable, "the target has no such operation")                               \
	V(2, emulated, "the target has no such operation, and an emulation took its place") \
	V(3, harmless, "an object that would give rights was created without them")

/* A change to a recording while it runs; the numbers are those of enum iot_ctl_verb. */
#define IOT_VERBS(V)                                                                   \
	V(1, pause, "operations on files are left out from now on")                    \
	V(2, resume, "operations on files are recorded again")                         \
	V(3, stop, "the recording ends")                                               \
	V(4, flush, "the collector writes all records so far")                         \
	V(5, policy, "0 tasks wait for the collector, 1 records without room are dropped") \
	V(6, buffers, "number of buffers of each CPU")                                 \
	V(7, mmap, "accesses to mappings made from now on: 0 are not recorded, 1 in groups of pages, 2 by page") \
	V(8, dump, "the collector writes its flight recorder to a file")                \
	V(9, filter, "1 the expression of the last fact filter selects the recorded operations, 0 all are recorded") \
	V(10, counters, "the collector writes the counters, which then count from 0")

/* What a histogram of counted operations is of. */
#define IOT_MEASURES(V)                                                                \
	V(0, latency, "duration, ns")                                                  \
	V(1, size, "bytes requested")                                                  \
	V(2, stride, "bytes from the end of the previous range to the beginning, negative if backward") \
	V(3, error, "errno; 0 stands for all others")

#define IOT_WHENCES(V)                                                                 \
	V(0, set, "from the start")                                                    \
	V(1, cur, "from the current position")                                         \
	V(2, end, "from the end")                                                      \
	V(3, data, "to the next data")                                                 \
	V(4, hole, "to the next hole")

#define IOT_TYPES(V)                                                                   \
	V(0, unknown, "not known")                                                     \
	V(1, fifo, "named pipe")                                                       \
	V(2, chr, "character device")                                                  \
	V(4, dir, "directory")                                                         \
	V(6, blk, "block device")                                                      \
	V(8, file, "regular file")                                                     \
	V(10, symlink, "symbolic link")                                                \
	V(12, socket, "socket")

/*
 * F(wire type, field, class, sentence): order is wire order; append only.
 *
 * Every record begins with a time. For an operation it is when the operation
 * was entered; the record itself is written when the operation ends, so one
 * CPU's records are in the order of time plus duration.
 */
#define IOT_FIELDS_op(F)                                                               \
	F(u64, enter_ns, instant, "when the operation was entered")                    \
	F(u64, duration_ns, span, "from there to its end")                             \
	F(u64, oncpu_ns, cost, "time of it that the task ran on a CPU")                \
	F(u64, runtime_ns, cost, "time that the task had run on a CPU before it")      \
	F(u32, switches, cost, "voluntary context switches in it")                     \
	F(u32, task, task, "the task")                                                 \
	F(u32, op, cost, "number of the operation in its task, from 1, in order of entry") \
	F(u32, parent, cost, "number of the operation of the task that it is nested in, or 0") \
	F(s64, result, result, "0 or a count, or a negative errno")

/* -- facts about the run and the machine --------------------------------- */

#define IOT_FIELDS_fact(F)                                                             \
	F(u64, time_ns, instant, "when it was noted")

#define IOT_FIELDS_clock(F)                                                            \
	F(u64, time_ns, instant, "the monotonic clock")                                \
	F(u64, real_ns, wall, "the wall clock at that moment")

#define IOT_FIELDS_memory(F)                                                           \
	F(u64, time_ns, instant, "when it was read")                                   \
	F(u64, total_bytes, state, "memory that the machine has")                      \
	F(u64, available_bytes, state, "memory that could be had without swapping")    \
	F(u64, cached_bytes, state, "page cache")                                      \
	F(u64, dirty_bytes, state, "page cache not yet written")                       \
	F(u64, limit_bytes, state, "limit of the command's memory cgroup, 0 if none")

#define IOT_FIELDS_mount(F)                                                            \
	F(u64, time_ns, instant, "when the recording of the mount began")              \
	F(u64, object, object, "its root directory")                                   \
	F(u64, dev, state, "device number of the lower file system")                   \
	F(u64, magic, state, "type of the lower file system, as in statfs(2)")

#define IOT_FIELDS_end(F)                                                              \
	F(u64, time_ns, instant, "when the capture ended")                             \
	F(u64, records, cost, "records that the kernel handed over")                   \
	F(u64, lost, cost, "records that it had to drop, counted one by one")          \
	F(u64, backpressure_waits, cost, "times that a task waited for the collector")

/* A pause leaves out operations entered between `since_ns` of its record and `time_ns` of the one that ends it. */
#define IOT_FIELDS_control(F)                                                          \
	F(u64, time_ns, instant, "when it was in effect for all operations")           \
	F(u64, since_ns, instant, "when it was in effect for the first")               \
	F(u32, verb, verb, "the kind of change")                                       \
	F(u32, value, num, "the new value, else 0; of a stop, 1 if it was requested while the recorder ran on") \
	F(u32, uid, state, "user that requested it, 4294967295 if no user did")        \
	F(u64, operations, cost, "if it ends a pause: operations that the pause left out")

/*
 * Counted operations of one kind, on one object, of one process, user and mount. Several of these records may have the
 * same key: their numbers add up. Operations that found no room for their key have task, object and mount 0.
 */
#define IOT_FIELDS_counted(F)                                                          \
	F(u64, time_ns, instant, "when the counters were read")                        \
	F(u32, kind, num, "kind of record that the operations stand for")              \
	F(u32, task, task, "the first task of the process that counted here, 0 if not known") \
	F(u64, object, object, "the object, 0 if there was none, or not known")        \
	F(u64, mount, object, "root directory of the mount, 0 if not known")           \
	F(u32, uid, state, "effective user id, 4294967295 if not known")               \
	F(u32, is_write, num, "1 if these are completions of asynchronous writes, or bytes that copies wrote") \
	F(u64, operations, cost, "operations")                                         \
	F(u64, errors, cost, "of them, those that returned an error")                  \
	F(u64, total_bytes, cost, "bytes moved, or made accessible in a mapping")      \
	F(u64, duration_ns, span, "time in them")                                      \
	F(u64, nested_ns, span, "of that, time that is also part of another operation") \
	F(u64, longest_ns, span, "the longest")

/* A part of the operations of the record `counted` with the same key. Bucket N is from 2^(N-1) to 2^N - 1. */
#define IOT_FIELDS_bucket(F)                                                           \
	F(u64, time_ns, instant, "when the counters were read")                        \
	F(u32, kind, num, "kind of record that the operations stand for")              \
	F(u32, task, task, "as in the record `counted`")                               \
	F(u64, object, object, "as there")                                             \
	F(u64, mount, object, "as there")                                              \
	F(u32, uid, state, "as there")                                                 \
	F(u32, is_write, num, "as there")                                              \
	F(u32, measure, measure, "what is measured")                                   \
	F(s64, from, cost, "the number nearest to 0 in the bucket")                    \
	F(u64, operations, cost, "operations in it")

/* -- ids: tasks, objects, names ------------------------------------------ */

#define IOT_FIELDS_task(F)                                                             \
	F(u64, time_ns, instant, "when it was first seen")                             \
	F(u32, task, task, "its id")                                                   \
	F(u32, parent, task, "the task that created it, or 0")                         \
	F(u32, pid, state, "thread id (the kernel's pid)")                             \
	F(u32, tgid, state, "process id")                                              \
	F(u32, uid, state, "effective user id, 4294967295 if not known")               \
	F(u32, gid, state, "effective group id, 4294967295 if not known")              \
	F(u32, why, reason, "origin of the task")                                      \
	F(u32, plays, state, "the task of a program that it runs, or 0")

#define IOT_FIELDS_object(F)                                                           \
	F(u64, time_ns, instant, "when it was first seen in this capture")             \
	F(u64, object, object, "its id")                                               \
	F(u64, name, name, "a name of it at that moment, 0 if it has none")             \
	F(u32, type, type, "its type")                                                 \
	F(u32, mode, mode, "its mode")                                                 \
	F(u32, uid, state, "owner")                                                    \
	F(u32, gid, state, "group")                                                    \
	F(u32, nlink, state, "hard links")                                             \
	F(u32, generation, state, "inode generation of the lower file system")         \
	F(u64, ino, state, "inode number of the lower file system")                    \
	F(u64, dev, state, "device number of the lower file system")                   \
	F(u64, rdev, state, "device number, of a special file")                        \
	F(u64, size_bytes, state, "size at that moment")                               \
	F(u64, cached_pages, state, "pages of it in the page cache at that moment")

#define IOT_FIELDS_name(F)                                                             \
	F(u64, time_ns, instant, "when it was first used in this capture")             \
	F(u64, name, name, "its id")                                                   \
	F(u64, dir, object, "the directory it is in, 0 for the root, whose component is empty")

#define IOT_FIELDS_dirent(F)                                                           \
	F(u64, time_ns, instant, "when it was read")                                   \
	F(u32, task, task, "the task that read it")                                    \
	F(u32, op, cost, "the readdir it belongs to")                                  \
	F(u32, type, type, "its type, as far as the directory states it")

/* -- operations on names ------------------------------------------------- */

#define IOT_FIELDS_lookup(F)                                                           \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "the name looked up")                                       \
	F(u64, object, object, "the object found, 0 if none")                          \
	F(u32, intents, intents, "purpose of the lookup")

#define IOT_FIELDS_open(F)                                                             \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "the name that was opened; with O_TMPFILE the directory's") \
	F(u64, object, object, "the object opened")                                    \
	F(u64, handle, handle, "the new handle, 0 if it failed")                       \
	F(u32, flags, open_flags, "how")                                               \
	F(u32, mode, mode, "permissions requested, of a file that this open created")  \
	F(u64, size_bytes, state, "size then")                                         \
	F(u64, cached_pages, state, "pages of it in the page cache then")

#define IOT_FIELDS_stat(F)                                                             \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "a name of the object, 0 if it has none any more")          \
	F(u64, object, object, "the object")                                           \
	F(u64, size_bytes, bytes, "size found, of a regular file (else 0)")            \
	F(u64, handle, handle, "the handle whose descriptor the call had, 0 if none or not known")

#define IOT_FIELDS_setattr(F)                                                          \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "a name of the object, 0 if it has none any more")          \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle, 0 if by name")                             \
	F(u32, attrs, attrs, "attributes to be changed")                               \
	F(u32, mode, mode, "new permissions")                                          \
	F(u32, uid, num, "new owner")                                                  \
	F(u32, gid, num, "new group")                                                  \
	F(u64, size_bytes, bytes, "new size")                                          \
	F(u64, atime_ns, stamp, "new access time")                                     \
	F(u64, mtime_ns, stamp, "new modification time")                               \
	F(u64, old_size_bytes, state, "size before")

#define IOT_FIELDS_mkdir(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "the new name")                                             \
	F(u64, object, object, "the new directory, 0 if it failed")                    \
	F(u32, mode, mode, "permissions requested, umask applied")

#define IOT_FIELDS_rmdir(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "the name removed")                                         \
	F(u64, object, object, "the directory")

#define IOT_FIELDS_mknod(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "the new name")                                             \
	F(u64, object, object, "the new object, 0 if it failed")                       \
	F(u32, mode, mode, "type and permissions requested, umask applied")            \
	F(u64, rdev, num, "device number, of a device")

#define IOT_FIELDS_unlink(F)                                                           \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "the name removed")                                         \
	F(u64, object, object, "the object that it named")                             \
	F(u32, nlink, state, "remaining hard links")

#define IOT_FIELDS_rename(F)                                                           \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "the old name")                                             \
	F(u64, new_name, name, "the new name")                                         \
	F(u64, object, object, "the object renamed")                                   \
	F(u64, replaced, object, "the object that the new name had before, 0 if none") \
	F(u32, flags, rename_flags, "how")

#define IOT_FIELDS_link(F)                                                             \
	IOT_FIELDS_op(F)                                                               \
	F(u64, old_name, name, "an existing name, 0 if it has none: from O_TMPFILE")   \
	F(u64, name, name, "the new name")                                             \
	F(u64, object, object, "the object")

#define IOT_FIELDS_symlink(F)                                                          \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "the new name")                                             \
	F(u64, object, object, "the new link, 0 if it failed")

#define IOT_FIELDS_readlink(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "its name")                                                 \
	F(u64, object, object, "the symbolic link")                                    \
	F(u64, length_bytes, bytes, "size of the buffer")

/* A path walk that followed a symbolic link. */
#define IOT_FIELDS_follow(F)                                                           \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "its name")                                                 \
	F(u64, object, object, "the symbolic link")

#define IOT_FIELDS_denied(F)                                                           \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object that permission was requested for")         \
	F(u32, prot, prot, "the permission that was refused")

#define IOT_FIELDS_statfs(F)                                                           \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "an object of the file system")                         \
	F(u64, handle, handle, "the handle whose descriptor the call had, 0 if none or not known")

#define IOT_FIELDS_getxattr(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "a name of the object")                                     \
	F(u64, object, object, "the object")                                           \
	F(u64, length_bytes, bytes, "size of the buffer for the value, 0 to query its size") \
	F(u64, handle, handle, "the handle whose descriptor the call had, 0 if none or not known")

#define IOT_FIELDS_setxattr(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "a name of the object")                                     \
	F(u64, object, object, "the object")                                           \
	F(u64, length_bytes, bytes, "bytes of the value")                              \
	F(u32, flags, num, "1 create only, 2 replace only")                            \
	F(u64, handle, handle, "the handle whose descriptor the call had, 0 if none or not known")

#define IOT_FIELDS_removexattr(F)                                                      \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "a name of the object")                                     \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle whose descriptor the call had, 0 if none or not known")

#define IOT_FIELDS_listxattr(F)                                                        \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "a name of the object")                                     \
	F(u64, object, object, "the object")                                           \
	F(u64, length_bytes, bytes, "size of the buffer, 0 to query the size")         \
	F(u64, handle, handle, "the handle whose descriptor the call had, 0 if none or not known")

/* As by lsattr: FS_IOC_GETFLAGS and FS_IOC_FSGETXATTR. */
#define IOT_FIELDS_getfileattr(F)                                                      \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "a name of the object, 0 if it has none any more")          \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle whose descriptor the call had, 0 if none or not known")

/* As by chattr: FS_IOC_SETFLAGS, or FS_IOC_FSSETXATTR, which sets the numbers, too. */
#define IOT_FIELDS_setfileattr(F)                                                      \
	IOT_FIELDS_op(F)                                                               \
	F(u64, name, name, "a name of the object, 0 if it has none any more")          \
	F(u64, object, object, "the object")                                           \
	F(u32, flags, fileattrs, "flags to be set; all others are cleared")            \
	F(u32, has_numbers, num, "1 if the numbers are set, along with flags that all file systems know") \
	F(u32, project, num, "number of the project")                                  \
	F(u64, extsize_bytes, bytes, "extent size hint for allocation")                \
	F(u64, cowextsize_bytes, bytes, "extent size hint for copies of shared blocks") \
	F(u64, handle, handle, "the handle whose descriptor the call had, 0 if none or not known")

/* -- operations on handles ----------------------------------------------- */

#define IOT_FIELDS_flush(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle of which a descriptor was closed")

#define IOT_FIELDS_release(F)                                                          \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle released")

#define IOT_FIELDS_read(F)                                                             \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object read from")                                 \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, offset, "where it began")                                 \
	F(u64, length_bytes, bytes, "bytes requested")                                 \
	F(u32, flags, rw_flags, "how")                                                 \
	F(u32, faults, cost, "known page faults of the anonymous memory that it filled")

#define IOT_FIELDS_write(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object written to")                                \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, offset, "where it began, the end of the file if appending") \
	F(u64, length_bytes, bytes, "bytes to write")                                  \
	F(u32, flags, rw_flags, "how")                                                 \
	F(u64, old_size_bytes, state, "size before")

#define IOT_FIELDS_seek(F)                                                             \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "which")                                                \
	F(s64, offset_bytes, offset, "how far")                                        \
	F(u32, whence, whence, "from where")

#define IOT_FIELDS_fsync(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, offset, "start of the range")                             \
	F(s64, end_bytes, offset, "its last byte, the largest s64 for the whole file") \
	F(u32, flags, rw_flags, "datasync or not")

#define IOT_FIELDS_readdir(F)                                                          \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the directory")                                        \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, state, "position before, a cookie of the lower file system") \
	F(u32, entries, num, "entries that fitted")

#define IOT_FIELDS_fallocate(F)                                                        \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, offset, "start of the range")                             \
	F(u64, length_bytes, bytes, "its length")                                      \
	F(u32, flags, falloc_flags, "the kind of change")                              \
	F(u64, old_size_bytes, state, "size before")

#define IOT_FIELDS_fadvise(F)                                                          \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, offset, "start of the range")                             \
	F(u64, length_bytes, bytes, "its length, 0 to the end")                        \
	F(u32, advice, num, "POSIX_FADV_* as on Linux: 0 normal 1 random 2 sequential " \
			    "3 willneed 4 dontneed 5 noreuse")

#define IOT_FIELDS_copy_range(F)                                                       \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object read from")                                 \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, offset, "where it began")                                 \
	F(u64, to_object, object, "the object written to")                             \
	F(u64, to_handle, handle, "the handle")                                        \
	F(s64, to_offset_bytes, offset, "where it began there")                        \
	F(u64, length_bytes, bytes, "bytes to copy")                                   \
	F(u64, old_size_bytes, state, "size of the target before")

/* Blocks shared rather than copied: FICLONE, FICLONERANGE, FIDEDUPERANGE. */
#define IOT_FIELDS_remap_range(F)                                                      \
	IOT_FIELDS_copy_range(F)                                                       \
	F(u32, flags, num, "1 deduplicate, 2 the length may be shortened")

#define IOT_FIELDS_ioctl(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle")                                           \
	F(u32, request, num, "request number")

/* If the operation waits, the lock is acquired at its end. */
#define IOT_FIELDS_lock(F)                                                             \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, offset, "where it begins")                                \
	F(s64, end_bytes, offset, "last byte, the largest s64 for the rest of the file, however it grows") \
	F(u32, flags, lock_flags, "the request")                                       \
	F(u32, found, lock_flags, "of a test: the conflicting lock, 0 if none")

/* -- memory mapping ------------------------------------------------------ */

#define IOT_FIELDS_map(F)                                                              \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle")                                           \
	F(u64, map, map, "the mapping")                                                \
	F(s64, offset_bytes, offset, "where in the file it begins")                    \
	F(u64, length_bytes, bytes, "its length, whole pages")                         \
	F(u32, prot, prot, "access requested")                                         \
	F(u32, flags, map_flags, "how")

#define IOT_FIELDS_unmap(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, map, map, "the mapping that is removed, whole or in part")              \
	F(s64, offset_bytes, offset, "where in the file the piece begins")             \
	F(u64, length_bytes, bytes, "its length, whole pages")

#define IOT_FIELDS_touch(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, map, map, "the mapping")                                                \
	F(s64, offset_bytes, offset, "the page's offset in the file")                  \
	F(u64, length_bytes, bytes, "bytes that became accessible, whole pages")       \
	F(u32, flags, touch_flags, "how")                                              \
	F(u32, major, cost, "1 if storage had to be read")

#define IOT_FIELDS_msync(F)                                                            \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle that was mapped")                           \
	F(s64, offset_bytes, offset, "start of the range in the file")                 \
	F(s64, end_bytes, offset, "its last byte")                                     \
	F(u32, flags, rw_flags, "datasync or not")

#define IOT_FIELDS_madvise(F)                                                          \
	IOT_FIELDS_op(F)                                                               \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle that was mapped")                           \
	F(s64, offset_bytes, offset, "start of the range in the file")                 \
	F(u64, length_bytes, bytes, "its length")                                      \
	F(u32, advice, num, "POSIX_FADV_* that the kernel made of it")

/* -- asynchronous requests ----------------------------------------------- */

#define IOT_FIELDS_submit(F)                                                           \
	IOT_FIELDS_op(F)                                                               \
	F(u64, request, request, "the request")                                        \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle")                                           \
	F(s64, offset_bytes, offset, "where it begins")                                \
	F(u64, length_bytes, bytes, "bytes requested")                                 \
	F(u32, flags, rw_flags, "how")                                                 \
	F(u64, old_size_bytes, state, "size before")                                   \
	F(u64, memory, state, "a number for the memory that the data is moved from or to, 0 if not known")

#define IOT_FIELDS_complete(F)                                                         \
	F(u64, time_ns, instant, "when the request ended")                             \
	F(u32, task, task, "the task that submitted it")                               \
	F(u32, op, cost, "the submit operation")                                       \
	F(u64, request, request, "the request")                                        \
	F(s64, result, result, "bytes moved, or a negative errno")

/* -- MPI ----------------------------------------------------------------- */

/* The first fields of records that describe no call, but the knowledge of a rank. */
#define IOT_FIELDS_mpi_known(F)                                                        \
	F(u64, time_ns, instant, "when the rank learned of it")                        \
	F(u32, task, task, "the task")                                                 \
	F(u32, op, cost, "operations the task had entered by then")                    \
	F(u64, comm, request, "communicator key: equal on all its ranks, and nowhere else")

/* A communicator as one rank knows it. */
#define IOT_FIELDS_mpi_comm(F)                                                         \
	IOT_FIELDS_mpi_known(F)                                                        \
	F(u32, rank, num, "own rank in it")                                            \
	F(u32, size, num, "ranks in it")                                               \
	F(u32, world_rank, num, "own rank in MPI_COMM_WORLD")                          \
	F(u64, world, request, "key of that MPI_COMM_WORLD; 0 if not known")           \
	F(u64, origin, request, "key of the mpi_link that it descends from, 0 if none: both sides have the same " \
		"exclusive or of comm and origin")                                     \
	F(u32, first, num, "of two groups, ranks of the first: they are below this; 0 if it has one group")

/* Of a communicator with a topology: one record for each neighbour, however often it is one. */
#define IOT_FIELDS_mpi_near(F)                                                         \
	IOT_FIELDS_mpi_known(F)                                                        \
	F(u32, rank, num, "own rank in it")                                            \
	F(u32, source, num, "rank of the neighbour, whose data the collectives of neighbours bring")

/*
 * The datatype of a view of a file, in as many records as it has parts, behind the call that set the view; no record if it is not known.
 * A part is a block of bytes that is repeated: inner_count times, these together middle_count times, and these together outer_count
 * times. The data of the file are those of all parts, in their order; then the same follows one extent later, and so on.
 */
#define IOT_FIELDS_mpi_view(F)                                                         \
	IOT_FIELDS_mpi_known(F)                                                        \
	F(u32, part, num, "index of the part")                                         \
	F(u32, parts, num, "number of parts")                                          \
	F(s64, begin_bytes, num, "where the view begins in the file")                  \
	F(u64, unit_bytes, num, "size of the elementary datatype, the unit of offsets") \
	F(s64, extent_bytes, num, "distance of the repetitions of the datatype")       \
	F(s64, first_bytes, num, "place of the first block from the begin of the datatype") \
	F(u64, block_bytes, num, "length of a block")                                  \
	F(u64, inner_count, num, "number of blocks, from 1")                           \
	F(s64, inner_bytes, num, "distance of these, 0 if there is one")               \
	F(u64, middle_count, num, "repetitions of these, from 1")                      \
	F(s64, middle_bytes, num, "their distance, 0 if there is one")                 \
	F(u64, outer_count, num, "repetitions of these, from 1")                       \
	F(s64, outer_bytes, num, "their distance, 0 if there is one")

#define IOT_FIELDS_mpi_send(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "which call")                                               \
	F(u64, comm, request, "communicator key")                                      \
	F(s32, peer, num, "rank of the receiver in it")                                \
	F(s32, tag, num, "tag")                                                        \
	F(u64, length_bytes, bytes, "bytes sent")                                      \
	F(u64, request, request, "request that a nonblocking call made, else 0")

#define IOT_FIELDS_mpi_recv(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "which call")                                               \
	F(u64, comm, request, "communicator key")                                      \
	F(s32, peer, num, "rank of the sender in it, as found; as requested (-1 any) if nonblocking") \
	F(s32, tag, num, "tag, as found; as requested (-1 any) if nonblocking")        \
	F(u64, length_bytes, bytes, "bytes received; size of the buffer if nonblocking") \
	F(u64, request, request, "request that a nonblocking call made, else 0")

/* One request that a wait or test found complete: one record for each. */
#define IOT_FIELDS_mpi_done(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "wait or test")                                             \
	F(u64, request, request, "the request")                                        \
	F(s32, peer, num, "sender found, of a receive (else -1)")                      \
	F(s32, tag, num, "tag found, of a receive (else -1)")                          \
	F(u64, length_bytes, bytes, "bytes received, of a receive (else 0)")

#define IOT_FIELDS_mpi_coll(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "which call")                                               \
	F(u64, comm, request, "communicator key")                                      \
	F(u32, number, num, "number of the collective in its communicator, from 1")    \
	F(s32, root, num, "root rank, -1 if the call has none")                        \
	F(u64, request, request, "request that a nonblocking call made, else 0")       \
	F(u32, sources, sources, "ranks whose data the call brings to this rank")

/*
 * A call on an MPI file. Its operations on files of the system have the numbers that follow its own.
 */
#define IOT_FIELDS_mpi_file(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "which call")                                               \
	F(u64, file, request, "key: equal on all ranks that opened it together, as of a communicator") \
	F(u32, number, num, "number of the collective call on the file, from 1; 0 if it is not collective") \
	F(s64, place, num, "offset or size that the call was given, in units of the view; -1 if none") \
	F(u64, length_bytes, bytes, "bytes requested, 0 if none")                      \
	F(u64, request, request, "request that a nonblocking call made, else 0")       \
	F(u32, last_op, cost, "last operation nested in it: those of the task from the next number to this one") \
	F(u32, whence, mpi_whence, "of a call that moves a file pointer: from where")

/* A message that was found, and is received by another call. */
#define IOT_FIELDS_mpi_probe(F)                                                        \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "which call")                                               \
	F(u64, comm, request, "communicator key")                                      \
	F(s32, peer, num, "rank of the sender in it")                                  \
	F(s32, tag, num, "tag")                                                        \
	F(u64, length_bytes, bytes, "bytes to be received")

/*
 * Partitions of a message: the sender marks them ready, or the receiver finds that they have arrived.
 * Both may divide the message differently.
 */
#define IOT_FIELDS_mpi_part(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "which call")                                               \
	F(u64, request, request, "request that the message was started with")          \
	F(u64, offset_bytes, bytes, "where the partitions begin in the message")       \
	F(u64, length_bytes, bytes, "bytes of the partitions")

/*
 * A one-sided call of one rank alone: access to memory of others, and its locks. Calls that
 * synchronize ranks are collectives, or messages without data: post is sent to each rank of its
 * group, and start receives it; complete is sent, with tag 1, and wait receives it.
 */
#define IOT_FIELDS_mpi_win(F)                                                          \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "which call")                                               \
	F(u64, comm, request, "key of the window, as of a communicator")               \
	F(s32, peer, num, "rank whose memory it is about, -1 if that of all")          \
	F(u32, is_exclusive, num, "1 if it is an exclusive lock")                      \
	F(u64, length_bytes, bytes, "bytes accessed, 0 if none")                       \
	F(u64, request, request, "request that the call made, else 0")

/*
 * A communicator whose processes may belong to different MPI_COMM_WORLDs, as one of its two sides
 * knows it: its creation is the first collective on it. Each side has a key of its own for it. The
 * side that spawned or accepted comes first in the ranks.
 */
#define IOT_FIELDS_mpi_link(F)                                                         \
	IOT_FIELDS_op(F)                                                               \
	F(u32, call, call, "which call")                                               \
	F(u64, comm, request, "key of the new communicator on this side")              \
	F(u32, number, num, "number of the collective in its communicator: 1")         \
	F(u64, world, request, "key of the MPI_COMM_WORLD of the rank")                \
	F(u32, is_first, num, "1 if the ranks of this side come first")                \
	F(u32, ranks, num, "ranks of this side")                                       \
	F(u32, peers, num, "ranks of the other side")

/* -- replay -------------------------------------------------------------- */

#define IOT_FIELDS_divergence(F)                                                       \
	F(u64, time_ns, instant, "when")                                               \
	F(u32, task, task, "task of the program")                                      \
	F(u32, op, cost, "operation of the task, from 1")                              \
	F(u32, kind, num, "kind of record that the operation stands for")              \
	F(s64, expected, result, "result in the trace")                                \
	F(s64, got, result, "result in the replay; if emulated, the target's own result") \
	F(u32, verdict, verdict, "kind of divergence")

#define IOT_FIELDS_played(F)                                                           \
	F(u64, time_ns, instant, "when the task of the program had ended")             \
	F(u32, task, task, "task of the program")                                      \
	F(u32, ops, num, "operations run")                                             \
	F(u32, diverged, num, "of them with another result than in the trace")         \
	F(u32, stalls, num, "times it had to wait for its arguments")                  \
	F(u64, io_ns, span, "time in operations")                                      \
	F(u64, think_ns, span, "think time to be spent")                               \
	F(u64, order_ns, span, "time spent waiting for other tasks")                   \
	F(u64, late_ns, span, "wake-up lateness, summed")                              \
	F(u64, late_max_ns, span, "largest wake-up lateness")                       \
	F(u32, unable, num, "of the diverged, operations that the target does not have") \
	F(u32, emulated, num, "operations that were emulated")                         \
	F(u32, harmless, num, "operations that created an object without the rights that it would have given")

/* N(kind, before, now): fields that have another name in older traces. Readers accept both. */
#define IOT_RENAMED_FIELDS(N) N(end, throttles, backpressure_waits)

/*
 * R(id, kind, group, sentence). Groups: `run` facts about the run, `who` the
 * meaning of ids, `life` of tasks, `op` operations of a program on the file
 * system, `mpi` operations on messages, `replay` facts about a replay.
 */
#define IOT_RECORDS(R)                                                                 \
	R(1, fact, run, "something about the run, as key=value")                       \
	R(2, clock, run, "a pair of clock readings")                                   \
	R(3, memory, run, "state of the machine's memory")                             \
	R(4, mount, run, "a mount that is recorded")                                   \
	R(5, end, run, "the capture ended")                                            \
	R(6, state, run, "the state dump of a mount is complete")                      \
	R(8, control, run, "the recording was changed while it ran")                   \
	R(9, counted, run, "operations that were counted instead of recorded")         \
	R(10, bucket, run, "a part of counted operations, in a histogram")             \
	R(16, task, who, "a task")                                                     \
	R(17, object, who, "an object")                                                \
	R(18, name, who, "a name")                                                     \
	R(19, dirent, who, "an entry that a readdir returned")                         \
	R(20, opened, who, "a handle that was open before the recording")              \
	R(21, mapped, who, "a mapping that existed before the recording")              \
	R(22, stack, who, "a stack of function calls of a task")                       \
	R(23, code, who, "a mapping of code that a stack refers to")                   \
	R(24, called_from, who, "the stack from which an operation was called")        \
	R(32, fork, life, "a task created another one")                                \
	R(33, exec, life, "a task became another program")                             \
	R(34, exit, life, "a task began to exit")                                      \
	R(35, backpressure, life, "a task waited for the collector")                     \
	R(36, wake, life, "a task woke another one out of a voluntary wait")           \
	R(37, delayed, life, "a task was delayed, to find out which others wait for it") \
	R(38, discovered, life, "a task waits for another one, as delays in other runs showed") \
	R(39, freed, life, "a task freed the space of a removed file after an operation")  \
	R(40, timeout, life, "a timer ended a wait of a task that another task could have ended")  \
	R(41, cpu_wait, life, "a task waited for a CPU between two operations")        \
	R(64, lookup, op, "a name looked up by the file system")                       \
	R(65, open, op, "open or create a file")                                       \
	R(66, stat, op, "attributes read")                                             \
	R(67, setattr, op, "attributes changed: truncate, chmod, chown, utimes")       \
	R(68, mkdir, op, "directory created")                                          \
	R(69, rmdir, op, "directory removed")                                          \
	R(70, mknod, op, "special or regular file created by mknod")                   \
	R(71, unlink, op, "name removed")                                              \
	R(72, rename, op, "name changed")                                              \
	R(73, link, op, "hard link created")                                           \
	R(74, symlink, op, "symbolic link created")                                    \
	R(75, readlink, op, "symbolic link read by readlink(2)")                       \
	R(76, follow, op, "symbolic link followed by a path walk")                     \
	R(77, denied, op, "permission refused")                                        \
	R(78, statfs, op, "attributes of the file system read")                        \
	R(79, getxattr, op, "extended attribute read")                                 \
	R(80, setxattr, op, "extended attribute written")                              \
	R(81, removexattr, op, "extended attribute removed")                           \
	R(82, listxattr, op, "extended attributes listed")                             \
	R(83, getfileattr, op, "flags of a file read: lsattr")                         \
	R(84, setfileattr, op, "flags of a file changed: chattr")                      \
	R(96, flush, op, "a descriptor closed")                                        \
	R(97, release, op, "last reference to a handle dropped")                       \
	R(98, read, op, "one read")                                                    \
	R(99, write, op, "one write")                                                  \
	R(100, seek, op, "position of a handle moved")                                 \
	R(101, fsync, op, "file made durable")                                         \
	R(102, readdir, op, "entries of a directory read")                             \
	R(103, fallocate, op, "space allocated or freed")                              \
	R(104, fadvise, op, "advice on future access")                                 \
	R(105, copy_range, op, "range copied by the file system")                      \
	R(106, remap_range, op, "range shared by reflink or deduplication")            \
	R(107, ioctl, op, "ioctl passed to the lower file system")                     \
	R(108, lock, op, "file lock taken, released or tested")                        \
	R(128, map, op, "file mapped")                                                 \
	R(129, unmap, op, "mapping removed, whole or in part")                         \
	R(130, touch, op, "first access to a page of a mapping")                       \
	R(131, msync, op, "mapping made durable")                                      \
	R(132, madvise, op, "advice on a mapping that reached the file system")        \
	R(144, submit, op, "asynchronous read or write submitted")                     \
	R(145, complete, op, "asynchronous read or write completed")                   \
	R(160, mpi_comm, mpi, "a communicator")                                        \
	R(161, mpi_send, mpi, "message sent")                                          \
	R(162, mpi_recv, mpi, "message received, or a receive posted")                 \
	R(163, mpi_done, mpi, "request found complete")                                \
	R(164, mpi_coll, mpi, "collective call")                                       \
	R(165, mpi_file, mpi, "call on a file of MPI")                                 \
	R(166, mpi_probe, mpi, "message found, not yet received")                      \
	R(167, mpi_win, mpi, "access to memory of another rank, or a lock of it")      \
	R(168, mpi_link, mpi, "a communicator created with processes of another MPI_COMM_WORLD") \
	R(169, mpi_near, mpi, "a neighbour of a rank in a communicator")               \
	R(170, mpi_part, mpi, "partitions of a message that are ready, or have arrived") \
	R(171, mpi_view, mpi, "a part of the datatype of a view of a file")            \
	R(192, divergence, replay, "an operation diverged from the trace")             \
	R(193, played, replay, "a task of a program has ended")

/* T(kind, sentence): contents of the tail, for the kinds of records that may have one. */
#define IOT_TAILS(T)                                                                   \
	T(fact, "key=value")                                                           \
	T(mount, "path of the mount, empty if not known")                              \
	T(end, "why it ended, empty if by request")                                    \
	T(task, "command name")                                                        \
	T(object, "target of a symbolic link where that is in memory")                 \
	T(name, "the component, raw bytes")                                            \
	T(dirent, "the component, raw bytes")                                          \
	T(exec, "file name as given to exec")                                          \
	T(symlink, "target")                                                           \
	T(readlink, "the target, as far as it fitted into the buffer")                 \
	T(follow, "target")                                                            \
	T(mpi_coll, "a list of ranks, if `sources` requires one")                      \
	T(mpi_file, "name as given to MPI_File_open")                                  \
	T(mpi_link, "name of it on both sides: a port, or the process that spawned; empty if not known") \
	T(getxattr, "name of the attribute")                                           \
	T(setxattr, "name of the attribute; if the value is known, a zero byte and the value") \
	T(removexattr, "name of the attribute")                                        \
	T(stack, "addresses as numbers of 64 bits: the next instruction; `near` pairs of a distance from the stack pointer and a " \
		 "possible return address there, or of 1 and that in the link register (aarch64); return addresses of frames, the innermost first") \
	T(code, "path of the file; if its build id is known, a zero byte and the build id")

enum iot_group {
	IOT_GROUP_run,
	IOT_GROUP_who,
	IOT_GROUP_life,
	IOT_GROUP_op,
	IOT_GROUP_mpi,
	IOT_GROUP_replay,
};

enum iot_kind {
#define IOT_KIND_VALUE(id, kind, group, sentence) IOT_KIND_##kind = id,
	IOT_RECORDS(IOT_KIND_VALUE)
#undef IOT_KIND_VALUE
	IOT_KIND_END = 256
};

enum iot_class {
#define IOT_CLASS_VALUE(class, compared, sentence) IOT_CLASS_##class,
	IOT_CLASSES(IOT_CLASS_VALUE)
#undef IOT_CLASS_VALUE
	IOT_CLASS_END
};

enum iot_reason {
#define IOT_V(value, name, sentence) IOT_REASON_##name = value,
	IOT_REASONS(IOT_V)
#undef IOT_V
};

enum iot_verdict {
#define IOT_V(value, name, sentence) IOT_VERDICT_##name = value,
	IOT_VERDICTS(IOT_V)
#undef IOT_V
};

enum iot_ending {
#define IOT_V(value, name, sentence) IOT_ENDING_##name = value,
	IOT_ENDINGS(IOT_V)
#undef IOT_V
};

enum iot_verb {
#define IOT_V(value, name, sentence) IOT_VERB_##name = value,
	IOT_VERBS(IOT_V)
#undef IOT_V
};

enum iot_measure {
#define IOT_V(value, name, sentence) IOT_MEASURE_##name = value,
	IOT_MEASURES(IOT_V)
#undef IOT_V
};

enum iot_whence {
#define IOT_V(value, name, sentence) IOT_WHENCE_##name = value,
	IOT_WHENCES(IOT_V)
#undef IOT_V
};

enum iot_type {
#define IOT_V(value, name, sentence) IOT_TYPE_##name = value,
	IOT_TYPES(IOT_V)
#undef IOT_V
};

enum iot_call {
#define IOT_V(value, name, sentence) IOT_CALL_##name = value,
	IOT_CALLS(IOT_V)
#undef IOT_V
};

enum iot_bits {
#define IOT_B(bit, name, sentence) IOT_OPEN_##name = 1 << bit,
	IOT_OPEN_FLAGS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_RW_##name = 1 << bit,
	IOT_RW_FLAGS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_ATTR_##name = 1 << bit,
	IOT_ATTRS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_INTENT_##name = 1 << bit,
	IOT_INTENTS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_RENAME_##name = 1 << bit,
	IOT_RENAME_FLAGS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_PROT_##name = 1 << bit,
	IOT_PROTS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_MAP_##name = 1 << bit,
	IOT_MAP_FLAGS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_TOUCH_##name = 1 << bit,
	IOT_TOUCH_FLAGS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_FALLOC_##name = 1 << bit,
	IOT_FALLOC_FLAGS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_LOCK_##name = 1 << bit,
	IOT_LOCK_FLAGS(IOT_B)
#undef IOT_B
#define IOT_B(bit, name, sentence) IOT_FILEATTR_##name = 1 << bit,
	IOT_FILEATTRS(IOT_B)
#undef IOT_B
};

#endif
