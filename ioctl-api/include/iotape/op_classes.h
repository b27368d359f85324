/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * op_classes.h - the class of each operation, by which a recording can be filtered (iotape record --ops).
 *
 * Every kind of the group `op` in schema.h is in exactly one class. Names of classes are never reused.
 */
#ifndef IOTAPE_OP_CLASSES_H
#define IOTAPE_OP_CLASSES_H

/* P(class, sentence) */
#define IOT_OP_CLASSES(P)                                                                        \
	P(metadata, "names, attributes, directories, and opening and closing of files")          \
	P(data, "reads, writes, copies, positions and space of files")                           \
	P(mapping, "mappings, accesses to them, and advice on them")                             \
	P(sync, "fsync and fdatasync")                                                           \
	P(lock, "file locks")

/* Q(class, kind) */
#define IOT_OP_KINDS(Q)                                                                          \
	Q(metadata, lookup) Q(metadata, open) Q(metadata, stat) Q(metadata, setattr)             \
	Q(metadata, mkdir) Q(metadata, rmdir) Q(metadata, mknod) Q(metadata, unlink)             \
	Q(metadata, rename) Q(metadata, link) Q(metadata, symlink) Q(metadata, readlink)         \
	Q(metadata, follow) Q(metadata, denied) Q(metadata, statfs) Q(metadata, getxattr)        \
	Q(metadata, setxattr) Q(metadata, removexattr) Q(metadata, listxattr)                    \
	Q(metadata, getfileattr) Q(metadata, setfileattr) Q(metadata, flush)                     \
	Q(metadata, release) Q(metadata, readdir) Q(metadata, ioctl)                             \
	Q(data, read) Q(data, write) Q(data, seek) Q(data, fallocate) Q(data, fadvise)           \
	Q(data, copy_range) Q(data, remap_range) Q(data, submit) Q(data, complete)               \
	Q(mapping, map) Q(mapping, unmap) Q(mapping, touch) Q(mapping, msync)                    \
	Q(mapping, madvise)                                                                      \
	Q(sync, fsync)                                                                           \
	Q(lock, lock)

enum iot_op_class {
#define IOT_P(class, sentence) IOT_OP_CLASS_##class,
	IOT_OP_CLASSES(IOT_P)
#undef IOT_P
	IOT_OP_CLASS_END
};

#endif
