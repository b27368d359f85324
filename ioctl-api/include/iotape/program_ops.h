/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * program_ops.h - every operation of a program, and every operand of it, once.
 *
 * The verifier, the compiler, the loader of traces, the records of outcomes, the comparison of results, emulation,
 * placement and the dispatch tables of both engines derive from the tables below. An operation that stands for
 * a record has the kind of that record; schema.h defines the record.
 *
 * To add an operation, see "Add an operation" in Documentation/contributing.md.
 */
#ifndef IOTAPE_PROGRAM_OPS_H
#define IOTAPE_PROGRAM_OPS_H

/*
 * U(use, sentence): what an operand is. Paths are relative to the target. Slots count from 1; 0 is none. The
 * verifier refuses a slot, a path, a text or a flag that no operand of the operation uses, unless it is 0.
 */
#define IOT_OPERAND_USES(U)                                                                      \
	U(object, "slot of an object, or 0")                                                     \
	U(path, "path")                                                                          \
	U(place, "path; if that is 0, the operation uses the handle in `handle`")                \
	U(place_handle, "the handle of a place, stated in the record, too")                      \
	U(new_path, "second path")                                                               \
	U(target, "text: target of a symbolic link")                                             \
	U(xattr, "text: name of an extended attribute")                                          \
	U(value, "1 if the value stands behind the zero byte of `xattr`, 0 if zeros are written") \
	U(handle, "slot of an open handle")                                                      \
	U(new_handle, "slot of the handle that the operation opens, 0 if it failed in the trace") \
	U(to_handle, "slot of a second open handle")                                             \
	U(map, "slot of a mapping")                                                              \
	U(new_map, "slot of the mapping that the operation makes")                               \
	U(queue, "request queue: index of a task, plus 1")                                       \
	U(latch, "index of a latch, plus 1; or 0")                                               \
	U(owner, "owner of a lock: number of a process, from 1 to the number of tasks; 0: the handle") \
	U(bits, "flags of the list that follows")                                                \
	U(mask, "number without bits outside the mask that follows")                             \
	U(request, "low byte of a terminal's ioctl, see IOT_PROGRAM_IOCTLS")                     \
	U(yes_no, "0 or 1")                                                                      \
	U(position, "offset in bytes, not negative")                                             \
	U(transfer, "length in bytes, at most IOT_PROGRAM_LENGTH_MAX")                           \
	U(range_end, "last byte of a range, not before `offset_bytes`")                          \
	U(page, "length in bytes; in a replay, a page of the machine")                           \
	U(small, "number of 32 bits in a field of 64")                                           \
	U(new_mode, "type and permissions of the object created or changed, see harmless.h")     \
	U(rdev, "device number, see harmless.h")                                                 \
	U(u32, "number")                                                                         \
	U(u64, "number")                                                                         \
	U(s64, "number with a sign")

/*
 * The operands of each operation:
 *
 *   F(k, use, member, field, ...)  `member` of struct iot_program_op and of struct graph_op is `field` of the record;
 *				    the field `tail` is the text of the record
 *   P(k, use, member, ...)	    only the program has it
 *   R(k, what, field)		    only the record has it: `what` a replay observes, see struct iot_observed
 *
 * `k` is the kind, passed through. The object comes first, a place before what depends on it.
 */
#define IOT_OPERANDS_lookup(F, P, R, k)                    \
	F(k, object, object, object)                       \
	F(k, path, path, name)                             \
	F(k, bits, intents, intents, IOT_INTENTS)

#define IOT_OPERANDS_open(F, P, R, k)                      \
	F(k, object, object, object)                       \
	F(k, path, path, name)                             \
	F(k, new_handle, handle, handle)                   \
	F(k, bits, flags, flags, IOT_OPEN_FLAGS)           \
	F(k, new_mode, mode, mode)                         \
	R(k, size_bytes, size_bytes)                       \
	R(k, cached_pages, cached_pages)

#define IOT_OPERANDS_stat(F, P, R, k)                      \
	F(k, object, object, object)                       \
	F(k, place, path, name)                            \
	F(k, place_handle, handle, handle)                 \
	R(k, size_bytes, size_bytes)

#define IOT_OPERANDS_setattr(F, P, R, k)                   \
	F(k, object, object, object)                       \
	F(k, place, path, name)                            \
	F(k, place_handle, handle, handle)                 \
	F(k, bits, attrs, attrs, IOT_ATTRS)                \
	F(k, new_mode, mode, mode)                         \
	F(k, u32, uid, uid)                                \
	F(k, u32, gid, gid)                                \
	F(k, u64, size_bytes, size_bytes)                  \
	F(k, u64, atime_ns, atime_ns)                      \
	F(k, u64, mtime_ns, mtime_ns)

#define IOT_OPERANDS_mkdir(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, path, path, name)                             \
	F(k, u32, mode, mode)

#define IOT_OPERANDS_rmdir(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, path, path, name)

#define IOT_OPERANDS_mknod(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, path, path, name)                             \
	F(k, new_mode, mode, mode)                         \
	F(k, rdev, rdev, rdev)

#define IOT_OPERANDS_unlink(F, P, R, k)                    \
	F(k, object, object, object)                       \
	F(k, path, path, name)

#define IOT_OPERANDS_rename(F, P, R, k)                    \
	F(k, object, object, object)                       \
	F(k, path, path, name)                             \
	F(k, new_path, new_path, new_name)                 \
	F(k, bits, flags, flags, IOT_RENAME_FLAGS)

#define IOT_OPERANDS_link(F, P, R, k)                      \
	F(k, object, object, object)                       \
	F(k, place, path, old_name)                        \
	F(k, new_path, new_path, name)

#define IOT_OPERANDS_symlink(F, P, R, k)                   \
	F(k, object, object, object)                       \
	F(k, path, path, name)                             \
	F(k, target, target, tail)

#define IOT_OPERANDS_readlink(F, P, R, k)                  \
	F(k, object, object, object)                       \
	F(k, path, path, name)                             \
	F(k, u64, length_bytes, length_bytes)              \
	R(k, target, tail)

#define IOT_OPERANDS_follow(F, P, R, k)                    \
	F(k, object, object, object)                       \
	F(k, path, path, name)                             \
	R(k, target, tail)

#define IOT_OPERANDS_denied(F, P, R, k)                    \
	F(k, object, object, object)                       \
	P(k, path, path)                                   \
	F(k, bits, wanted, prot, IOT_PROTS)

#define IOT_OPERANDS_statfs(F, P, R, k)                    \
	F(k, object, object, object)                       \
	P(k, place, path)                                  \
	F(k, place_handle, handle, handle)

#define IOT_OPERANDS_getxattr(F, P, R, k)                  \
	F(k, object, object, object)                       \
	F(k, place, path, name)                            \
	F(k, place_handle, handle, handle)                 \
	F(k, xattr, xattr, tail)                           \
	F(k, u64, length_bytes, length_bytes)

#define IOT_OPERANDS_setxattr(F, P, R, k)                  \
	F(k, object, object, object)                       \
	F(k, place, path, name)                            \
	F(k, place_handle, handle, handle)                 \
	F(k, xattr, xattr, tail)                           \
	F(k, u64, length_bytes, length_bytes)              \
	F(k, mask, flags, flags, 3)                        \
	P(k, value, has_value)

#define IOT_OPERANDS_removexattr(F, P, R, k)               \
	F(k, object, object, object)                       \
	F(k, place, path, name)                            \
	F(k, place_handle, handle, handle)                 \
	F(k, xattr, xattr, tail)

#define IOT_OPERANDS_listxattr(F, P, R, k)                 \
	F(k, object, object, object)                       \
	F(k, place, path, name)                            \
	F(k, place_handle, handle, handle)                 \
	F(k, u64, length_bytes, length_bytes)

#define IOT_OPERANDS_getfileattr(F, P, R, k)               \
	F(k, object, object, object)                       \
	F(k, place, path, name)                            \
	F(k, place_handle, handle, handle)

#define IOT_OPERANDS_setfileattr(F, P, R, k)               \
	F(k, object, object, object)                       \
	F(k, place, path, name)                            \
	F(k, place_handle, handle, handle)                 \
	F(k, bits, flags, flags, IOT_FILEATTRS)            \
	F(k, yes_no, has_numbers, has_numbers)             \
	F(k, u32, project, project)                        \
	F(k, small, extsize_bytes, extsize_bytes)          \
	F(k, small, cowextsize_bytes, cowextsize_bytes)

#define IOT_OPERANDS_flush(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	P(k, owner, owner)

#define IOT_OPERANDS_release(F, P, R, k)                   \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)

#define IOT_OPERANDS_read(F, P, R, k)                      \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, transfer, length_bytes, length_bytes)         \
	F(k, bits, flags, flags, IOT_RW_FLAGS)             \
	F(k, u32, faults, faults)

#define IOT_OPERANDS_write(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, transfer, length_bytes, length_bytes)         \
	F(k, bits, flags, flags, IOT_RW_FLAGS)

#define IOT_OPERANDS_seek(F, P, R, k)                      \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, s64, offset_bytes, offset_bytes)              \
	F(k, mask, whence, whence, 7)

#define IOT_OPERANDS_fsync(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, s64, offset_bytes, offset_bytes)              \
	F(k, s64, end_bytes, end_bytes)                    \
	F(k, bits, flags, flags, IOT_RW_FLAGS)

#define IOT_OPERANDS_readdir(F, P, R, k)                   \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, mask, entries, entries, 0xffffffff)

#define IOT_OPERANDS_fallocate(F, P, R, k)                 \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, s64, offset_bytes, offset_bytes)              \
	F(k, u64, length_bytes, length_bytes)              \
	F(k, bits, flags, flags, IOT_FALLOC_FLAGS)

#define IOT_OPERANDS_fadvise(F, P, R, k)                   \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, s64, offset_bytes, offset_bytes)              \
	F(k, u64, length_bytes, length_bytes)              \
	F(k, mask, advice, advice, 7)

#define IOT_OPERANDS_copy_range(F, P, R, k)                \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, to_handle, to_handle, to_handle)              \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, s64, to_offset_bytes, to_offset_bytes)        \
	F(k, transfer, length_bytes, length_bytes)

/* flags: 1 deduplicate, 2 the range may be shortened */
#define IOT_OPERANDS_remap_range(F, P, R, k)               \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, to_handle, to_handle, to_handle)              \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, s64, to_offset_bytes, to_offset_bytes)        \
	F(k, u64, length_bytes, length_bytes)              \
	F(k, mask, flags, flags, 3)

#define IOT_OPERANDS_ioctl(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, request, request, request, 0xff)

/*
 * No lock is waited for: if the traced task waited, an edge says so. A lock with the flag `wait` and the result EINTR
 * or EDEADLK was waited for and not obtained: an engine requests it once. If it is refused, the operation has
 * the result of the trace; if not, the lock is released at once, and the result is 0.
 */
#define IOT_OPERANDS_lock(F, P, R, k)                      \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	P(k, owner, owner)                                 \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, range_end, end_bytes, end_bytes)              \
	F(k, bits, flags, flags, IOT_LOCK_FLAGS)           \
	R(k, lock, found)

#define IOT_OPERANDS_map(F, P, R, k)                       \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	F(k, new_map, map, map)                            \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, u64, length_bytes, length_bytes)              \
	F(k, u32, prot, prot)                              \
	F(k, bits, flags, flags, IOT_MAP_FLAGS)

#define IOT_OPERANDS_unmap(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, map, map, map)                                \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, u64, length_bytes, length_bytes)

#define IOT_OPERANDS_touch(F, P, R, k)                     \
	F(k, object, object, object)                       \
	F(k, map, map, map)                                \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, page, length_bytes, length_bytes)             \
	F(k, bits, flags, flags, IOT_TOUCH_FLAGS)

#define IOT_OPERANDS_msync(F, P, R, k)                     \
	F(k, object, object, object)                       \
	P(k, map, map)                                     \
	F(k, s64, offset_bytes, offset_bytes)              \
	F(k, s64, end_bytes, end_bytes)                    \
	F(k, bits, flags, flags, IOT_RW_FLAGS)

#define IOT_OPERANDS_madvise(F, P, R, k)                   \
	F(k, object, object, object)                       \
	P(k, map, map)                                     \
	F(k, s64, offset_bytes, offset_bytes)              \
	F(k, u64, length_bytes, length_bytes)              \
	F(k, mask, advice, advice, 7)

#define IOT_OPERANDS_submit(F, P, R, k)                    \
	F(k, object, object, object)                       \
	F(k, handle, handle, handle)                       \
	P(k, queue, queue)                                 \
	F(k, position, offset_bytes, offset_bytes)         \
	F(k, transfer, length_bytes, length_bytes)         \
	F(k, bits, flags, flags, IOT_RW_FLAGS)             \
	R(k, request, request)

/*
 * Repeats the operands of its submit, for engines that run the request in its queue; the result of the request is
 * the result of the complete, that of handing it over, 0, the result of the submit.
 */
#define IOT_OPERANDS_complete(F, P, R, k)                  \
	P(k, object, object)                               \
	P(k, handle, handle)                               \
	P(k, position, offset_bytes)                       \
	P(k, transfer, length_bytes)                       \
	P(k, bits, flags, IOT_RW_FLAGS)

#define IOT_OPERANDS_signal(F, P, R, k)                    \
	P(k, latch, latch)

#define IOT_OPERANDS_wait(F, P, R, k)
#define IOT_OPERANDS_nop(F, P, R, k)
#define IOT_OPERANDS_timed(F, P, R, k)

/*
 * O(kind, equivalence, error, einval, emulation): the operations of workers, and how their results are compared.
 *
 *   equivalence  which results mean the same as that of the trace: `exact`, or `iot_equivalent_...` in outcome.c
 *   error	  errno by which a target says that it lacks the operation, besides EOPNOTSUPP, ENOTTY and ENOSYS; or 0
 *   einval	  whether EINVAL says so, an expression of the operation's `flags`
 *   emulation	  operations that do the same, `emulate_...` in substitute.c
 */
#define IOT_WORKER_OPERATIONS(O)                                                                       \
	O(lookup, exact, 0, false, none)                                                               \
	O(open, exact, 0, flags & IOT_OPEN_direct, open)                                               \
	O(stat, exact, 0, false, none)                                                                 \
	O(setattr, exact, 0, false, none)                                                              \
	O(mkdir, exact, 0, false, none)                                                                \
	O(rmdir, exact, 0, false, none)                                                                \
	O(mknod, exact, 0, false, none)                                                                \
	O(unlink, exact, 0, false, none)                                                               \
	O(rename, exact, 0, flags != 0, none)                                                          \
	O(link, exact, 0, false, none)                                                                 \
	O(symlink, exact, 0, false, none)                                                              \
	O(readlink, exact, 0, false, none)                                                             \
	O(follow, exact, 0, false, none)                                                               \
	O(denied, exact, 0, false, none)                                                               \
	O(statfs, exact, 0, false, none)                                                               \
	O(getxattr, getxattr, 0, false, none)                                                          \
	O(setxattr, exact, 0, false, none)                                                             \
	O(removexattr, exact, 0, false, none)                                                          \
	O(listxattr, exact, 0, false, none)                                                            \
	O(getfileattr, exact, 0, false, none)                                                          \
	O(setfileattr, exact, 0, true, none)                                                           \
	O(flush, exact, 0, false, none)                                                                \
	O(release, exact, 0, false, none)                                                              \
	O(read, exact, 0, flags & IOT_RW_direct, transfer)                                             \
	O(write, exact, 0, flags & IOT_RW_direct, transfer)                                            \
	O(seek, exact, 0, flags == IOT_WHENCE_data || flags == IOT_WHENCE_hole, none)                  \
	O(fsync, exact, 0, false, none)                                                                \
	O(readdir, exact, 0, false, none)                                                              \
	O(fallocate, exact, 0, flags & (IOT_FALLOC_collapse_range | IOT_FALLOC_insert_range), fallocate) \
	O(fadvise, exact, 0, false, advice)                                                            \
	O(ioctl, exact, 0, false, none)                                                                \
	O(lock, exact, 0, false, none)                                                                 \
	O(copy_range, exact, EXDEV, true, copy_range)                                                  \
	O(remap_range, exact, EXDEV, true, remap_range)                                                \
	O(map, exact, ENODEV, false, map)                                                              \
	O(unmap, exact, 0, false, none)                                                                \
	O(touch, exact, 0, false, none)                                                                \
	O(msync, exact, 0, false, none)                                                                \
	O(madvise, exact, 0, false, advice)                                                            \
	O(submit, exact, 0, flags & IOT_RW_direct, none)

/* Operations of request queues. */
#define IOT_QUEUE_OPERATIONS(O)                                                                        \
	O(complete, exact, 0, flags & IOT_RW_direct, transfer)

#define IOT_OPERATIONS(O)                                                                              \
	IOT_WORKER_OPERATIONS(O)                                                                       \
	IOT_QUEUE_OPERATIONS(O)

/* S(number, kind, sentence): operations that stand for no record. */
#define IOT_SYNC_OPERATIONS(S)                                                                         \
	S(0x100, signal, "count down a latch, if there is one")                                        \
	S(0x101, wait, "nothing: it has waits only")                                                   \
	S(0x102, nop, "nothing: a fork or exec, or an operation that cannot be expressed")             \
	S(0x103, timed, "nothing: its think time ends early when its waits hold")

enum iot_operand_use {
#define IOT_USE_VALUE(use, sentence) IOT_USE_##use,
	IOT_OPERAND_USES(IOT_USE_VALUE)
#undef IOT_USE_VALUE
	IOT_USE_COUNT
};

enum iot_play {
#define IOT_PLAY_VALUE(number, kind, sentence) IOT_PLAY_##kind = number,
	IOT_SYNC_OPERATIONS(IOT_PLAY_VALUE)
#undef IOT_PLAY_VALUE
	IOT_PLAY_END
};

#endif
