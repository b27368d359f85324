/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schema_state.h - the part of schema.h about handles and mappings that existed when a recording began.
 */
#ifndef IOTAPE_SCHEMA_STATE_H
#define IOTAPE_SCHEMA_STATE_H

/*
 * A handle that was open before the recording began. One record for each descriptor, and one when
 * an operation or a mapping uses a handle that was not announced yet; the first of a handle counts.
 */
#define IOT_FIELDS_opened(F)                                                           \
	F(u64, time_ns, instant, "when it was found")                                  \
	F(u32, task, task, "the task that has the descriptor, or that used or mapped the handle if fd is negative") \
	F(s32, fd, state, "the descriptor; -1 if an operation showed the handle, -2 if a mapping did") \
	F(u64, name, name, "the name that it was opened by, 0 if removed")             \
	F(u64, object, object, "the object that is open")                              \
	F(u64, handle, handle, "the handle")                                           \
	F(u32, flags, open_flags, "how, at that moment")                               \
	F(s64, offset_bytes, state, "its position; of a directory, a cookie of the lower file system") \
	F(u64, size_bytes, state, "size then")                                         \
	F(u64, cached_pages, state, "pages of it in the page cache then")

/* A mapping, or a piece of one, that existed before the recording began. */
#define IOT_FIELDS_mapped(F)                                                           \
	F(u64, time_ns, instant, "when it was found")                                  \
	F(u32, task, task, "a thread of the process that has it")                      \
	F(u64, object, object, "the object")                                           \
	F(u64, handle, handle, "the handle")                                           \
	F(u64, map, map, "the mapping")                                                \
	F(u64, address, state, "where it is in the process's memory")                  \
	F(s64, offset_bytes, offset, "where in the file it begins")                    \
	F(u64, length_bytes, bytes, "its length, whole pages")                         \
	F(u32, prot, prot, "access that it allows")                                    \
	F(u32, flags, map_flags, "how")

/*
 * The state dump is complete: all descriptors and mappings that existed when the recording of a mount
 * began have been announced. Handles and mappings of the same files that bypass the mount are counted here.
 */
#define IOT_FIELDS_state(F)                                                            \
	F(u64, time_ns, instant, "when the dump was complete")                         \
	F(u64, object, object, "root directory of the mount")                          \
	F(u64, opened, state, "descriptors that were announced")                       \
	F(u64, mapped, state, "mappings that were announced")                          \
	F(u64, unseen_files, state, "descriptors of files below the mount that were not opened through it") \
	F(u64, unseen_maps, state, "mappings of such files")                           \
	F(u32, unseen_tasks, state, "processes that have any of these")

#endif
