/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schema_flags.h - the flags of fields of records, each once: a part of schema.h.
 */
#ifndef IOTAPE_SCHEMA_FLAGS_H
#define IOTAPE_SCHEMA_FLAGS_H

/* B(bit number, name, sentence) */
#define IOT_OPEN_FLAGS(B)                                                              \
	B(0, read, "opened for reading")                                               \
	B(1, write, "opened for writing")                                              \
	B(2, append, "O_APPEND")                                                       \
	B(3, create, "O_CREAT")                                                        \
	B(4, excl, "O_EXCL")                                                           \
	B(5, trunc, "O_TRUNC")                                                         \
	B(6, direct, "O_DIRECT")                                                       \
	B(7, sync, "O_SYNC")                                                           \
	B(8, dsync, "O_DSYNC")                                                         \
	B(9, directory, "O_DIRECTORY")                                                 \
	B(10, nofollow, "O_NOFOLLOW")                                                  \
	B(11, noatime, "O_NOATIME")                                                    \
	B(12, nonblock, "O_NONBLOCK")                                                  \
	B(13, tmpfile, "O_TMPFILE")                                                    \
	B(14, exec, "opened to be executed")                                           \
	B(15, created, "this open created the file")

#define IOT_RW_FLAGS(B)                                                                \
	B(0, append, "at the end of the file, wherever that was")                      \
	B(1, direct, "past the page cache")                                            \
	B(2, dsync, "data durable on return")                                          \
	B(3, sync, "data and metadata durable on return")                              \
	B(4, nowait, "RWF_NOWAIT")                                                     \
	B(5, hipri, "RWF_HIPRI")                                                       \
	B(6, datasync, "fdatasync(2) rather than fsync(2)")                            \
	B(7, write, "a write (of a request that may be either)")                       \
	B(8, splice, "to a pipe or socket without passing through the program")

#define IOT_ATTRS(B)                                                                   \
	B(0, mode, "permissions")                                                      \
	B(1, uid, "owner")                                                             \
	B(2, gid, "group")                                                             \
	B(3, size, "size")                                                             \
	B(4, atime, "access time")                                                     \
	B(5, mtime, "modification time")                                               \
	B(6, atime_set, "access time to the value given, not to now")                  \
	B(7, mtime_set, "modification time to the value given, not to now")            \
	B(8, by_open, "the truncation that O_TRUNC in an open asked for")              \
	B(9, kill_priv, "removal of set-user-id, set-group-id and capabilities")       \
	B(10, by_handle, "through a handle: ftruncate, fchmod, ...")

#define IOT_INTENTS(B)                                                                 \
	B(0, create, "the caller wants to create the name")                            \
	B(1, excl, "the name must not exist")                                          \
	B(2, open, "the caller wants to open what it finds")                           \
	B(3, rename_target, "the name is the new name of a rename")

#define IOT_RENAME_FLAGS(B)                                                            \
	B(0, noreplace, "RENAME_NOREPLACE")                                            \
	B(1, exchange, "RENAME_EXCHANGE")                                              \
	B(2, whiteout, "RENAME_WHITEOUT")

#define IOT_PROTS(B)                                                                   \
	B(0, read, "PROT_READ")                                                        \
	B(1, write, "PROT_WRITE")                                                      \
	B(2, exec, "PROT_EXEC")

#define IOT_MAP_FLAGS(B)                                                               \
	B(0, shared, "MAP_SHARED")                                                     \
	B(1, locked, "MAP_LOCKED, or mlockall in force")                               \
	B(2, inherited, "a child's copy of its parent's mapping, created by fork")     \
	B(3, sync, "MAP_SYNC")                                                         \
	B(4, moved, "the new place of a mapping that mremap moved; the old one is removed next")

#define IOT_TOUCH_FLAGS(B)                                                             \
	B(0, write, "the access was a write")                                          \
	B(1, mkwrite, "a page that was readable became writable")                      \
	B(2, cow, "a private copy was made")                                           \
	B(3, around, "a neighbour of the page touched, mapped ahead of need")          \
	B(4, random, "MADV_RANDOM was in force")                                       \
	B(5, sequential, "MADV_SEQUENTIAL was in force")

#define IOT_FALLOC_FLAGS(B)                                                            \
	B(0, keep_size, "FALLOC_FL_KEEP_SIZE")                                         \
	B(1, punch_hole, "FALLOC_FL_PUNCH_HOLE")                                       \
	B(2, collapse_range, "FALLOC_FL_COLLAPSE_RANGE")                               \
	B(3, zero_range, "FALLOC_FL_ZERO_RANGE")                                       \
	B(4, insert_range, "FALLOC_FL_INSERT_RANGE")                                   \
	B(5, unshare_range, "FALLOC_FL_UNSHARE_RANGE")

/* Neither shared nor exclusive: the lock is released. Neither ofd nor flock: the process owns it. */
#define IOT_LOCK_FLAGS(B)                                                              \
	B(0, shared, "F_RDLCK, LOCK_SH")                                               \
	B(1, exclusive, "F_WRLCK, LOCK_EX")                                            \
	B(2, wait, "F_SETLKW; flock without LOCK_NB")                                  \
	B(3, test, "F_GETLK: tests for a conflicting lock")                            \
	B(4, ofd, "F_OFD_*: the open file description owns it")                        \
	B(5, flock, "flock(2): the open file description owns it, of the whole file")

/* Flags that a program may set; notes of a file system on its own storage of the file are excluded. */
#define IOT_FILEATTRS(B)                                                               \
	B(0, secrm, "s: blocks are overwritten when the file is removed")              \
	B(1, unrm, "u: the file can be restored after its removal")                    \
	B(2, compr, "c: data is compressed")                                           \
	B(3, sync, "S: written at once")                                               \
	B(4, immutable, "i: the file must not change")                                 \
	B(5, append, "a: written only at its end")                                     \
	B(6, nodump, "d: not included in backups")                                     \
	B(7, noatime, "A: access times are not updated")                               \
	B(8, nocompr, "m: data is not compressed")                                     \
	B(9, journal_data, "j: data goes through the journal")                         \
	B(10, notail, "t: blocks are not shared with the tails of other files")        \
	B(11, dirsync, "D: changes of the directory are written at once")              \
	B(12, topdir, "T: directories in it are not placed close to each other")       \
	B(13, nocow, "C: data is overwritten in place")                                \
	B(14, dax, "x: no page cache between program and storage")                     \
	B(15, projinherit, "P: new files in it belong to its project")                 \
	B(16, casefold, "F: names in it are not case-sensitive")                       \
	B(17, realtime, "r: data is in the realtime part of the file system")          \
	B(18, rtinherit, "t: so is the data of new files in it")                       \
	B(19, nosymlinks, "n: no symbolic links are created in it")                    \
	B(20, extsize, "e: space is allocated in extents of the given size")           \
	B(21, extszinherit, "E: the same for new files in it")                         \
	B(22, nodefrag, "f: not to be moved by defragmentation")                       \
	B(23, filestream, "S: files in it are kept together")                          \
	B(24, cowextsize, "C: shared blocks are copied in extents of the given size")

#endif
