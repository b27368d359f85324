/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * flags.h - flags of system calls as numbers of this host, and as numbers of records.
 *
 * Records have numbers of their own, since those of hosts differ by architecture. Each pair stands
 * here once, and serves the recorder, the importer and the engines.
 */
#ifndef IOTAPE_FLAGS_H
#define IOTAPE_FLAGS_H

#include <iotape/schema.h>

#include "port.h"

/* P(group, name, flag of the host): of open(2), but for access and synchronization */
#define IOT_OPEN_PAIRS(P)                \
	P(OPEN, append, O_APPEND)        \
	P(OPEN, create, O_CREAT)         \
	P(OPEN, excl, O_EXCL)            \
	P(OPEN, trunc, O_TRUNC)          \
	P(OPEN, direct, O_DIRECT)        \
	P(OPEN, directory, O_DIRECTORY)  \
	P(OPEN, nofollow, O_NOFOLLOW)    \
	P(OPEN, noatime, O_NOATIME)      \
	P(OPEN, nonblock, O_NONBLOCK)    \
	P(OPEN, tmpfile, O_TMPFILE)

#define IOT_FALLOC_PAIRS(P)                                  \
	P(FALLOC, keep_size, FALLOC_FL_KEEP_SIZE)            \
	P(FALLOC, punch_hole, FALLOC_FL_PUNCH_HOLE)          \
	P(FALLOC, collapse_range, FALLOC_FL_COLLAPSE_RANGE)  \
	P(FALLOC, zero_range, FALLOC_FL_ZERO_RANGE)          \
	P(FALLOC, insert_range, FALLOC_FL_INSERT_RANGE)      \
	P(FALLOC, unshare_range, FALLOC_FL_UNSHARE_RANGE)

#define IOT_RENAME_PAIRS(P)                      \
	P(RENAME, noreplace, RENAME_NOREPLACE)   \
	P(RENAME, exchange, RENAME_EXCHANGE)     \
	P(RENAME, whiteout, RENAME_WHITEOUT)

/* A flag of a host may be several bits, and then others may be a part of them. */
#define IOT_FLAG_OF(group, name, host) ours |= (flags & (host)) == (host) ? IOT_##group##_##name : 0;
#define IOT_FLAG_TO(group, name, host) flags |= ours & IOT_##group##_##name ? (host) : 0;

/**
 * iot_open_flags_of() - convert flags of open(2) to those of records
 * @flags: of this host; an open for neither reading nor writing has all bits of O_ACCMODE
 *
 * Return: IOT_OPEN_*.
 */
static inline u32 iot_open_flags_of(u64 flags)
{
	u64 access = flags & O_ACCMODE;
	u32 ours = 0;

	if (access == O_RDONLY || access == O_RDWR)
		ours |= IOT_OPEN_read;
	if (access == O_WRONLY || access == O_RDWR)
		ours |= IOT_OPEN_write;
	if (flags & O_DSYNC) /* a part of O_SYNC */
		ours |= (flags & O_SYNC) == O_SYNC ? IOT_OPEN_sync : IOT_OPEN_dsync;
	IOT_OPEN_PAIRS(IOT_FLAG_OF)
	return ours;
}

/**
 * iot_open_flags_to() - convert flags of records to those of open(2)
 * @ours: IOT_OPEN_*; without those that only describe the result of the call
 *
 * Return: flags of this host.
 */
static inline u32 iot_open_flags_to(u32 ours)
{
	u32 flags = 0;

	switch (ours & (IOT_OPEN_read | IOT_OPEN_write)) {
	case IOT_OPEN_read:
		flags = O_RDONLY;
		break;
	case IOT_OPEN_write:
		flags = O_WRONLY;
		break;
	case IOT_OPEN_read | IOT_OPEN_write:
		flags = O_RDWR;
		break;
	default:
		flags = O_ACCMODE; /* neither: for ioctls only */
	}
	flags |= ours & IOT_OPEN_sync ? O_SYNC : 0;
	flags |= ours & IOT_OPEN_dsync ? O_DSYNC : 0;
	IOT_OPEN_PAIRS(IOT_FLAG_TO)
	return flags;
}

/**
 * iot_falloc_flags_of() - convert the mode of fallocate(2) to flags of records
 * @flags: of this host
 *
 * Return: IOT_FALLOC_*.
 */
static inline u32 iot_falloc_flags_of(u64 flags)
{
	u32 ours = 0;

	IOT_FALLOC_PAIRS(IOT_FLAG_OF)
	return ours;
}

/**
 * iot_falloc_flags_to() - convert flags of records to the mode of fallocate(2)
 * @ours: IOT_FALLOC_*
 *
 * Return: flags of this host.
 */
static inline int iot_falloc_flags_to(u32 ours)
{
	int flags = 0;

	IOT_FALLOC_PAIRS(IOT_FLAG_TO)
	return flags;
}

/**
 * iot_rename_flags_of() - convert flags of renameat2(2) to those of records
 * @flags: of this host
 *
 * Return: IOT_RENAME_*.
 */
static inline u32 iot_rename_flags_of(u64 flags)
{
	u32 ours = 0;

	IOT_RENAME_PAIRS(IOT_FLAG_OF)
	return ours;
}

/**
 * iot_rename_flags_to() - convert flags of records to those of renameat2(2)
 * @ours: IOT_RENAME_*
 *
 * Return: flags of this host.
 */
static inline u32 iot_rename_flags_to(u32 ours)
{
	u32 flags = 0;

	IOT_RENAME_PAIRS(IOT_FLAG_TO)
	return flags;
}

#endif
