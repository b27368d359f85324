/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * file_flags.h - flags of files, those of chattr(1), as numbers of Linux and as numbers of records.
 *
 * Linux has two sets of them, which overlap: FS_*_FL of FS_IOC_SETFLAGS, and FS_XFLAG_* of
 * FS_IOC_FSSETXATTR. Flags that describe how a file system stores a file, such as FS_EXTENT_FL,
 * are in no record: a replay leaves those of the target as they are.
 */
#ifndef IOTAPE_FILE_FLAGS_H
#define IOTAPE_FILE_FLAGS_H

#include <iotape/schema.h>

#include "port.h"

/* P(name, flag of the host) */
#define IOT_FILEATTR_PAIRS(P)                  \
	P(secrm, FS_SECRM_FL)                  \
	P(unrm, FS_UNRM_FL)                    \
	P(compr, FS_COMPR_FL)                  \
	P(sync, FS_SYNC_FL)                    \
	P(immutable, FS_IMMUTABLE_FL)          \
	P(append, FS_APPEND_FL)                \
	P(nodump, FS_NODUMP_FL)                \
	P(noatime, FS_NOATIME_FL)              \
	P(nocompr, FS_NOCOMP_FL)               \
	P(journal_data, FS_JOURNAL_DATA_FL)    \
	P(notail, FS_NOTAIL_FL)                \
	P(dirsync, FS_DIRSYNC_FL)              \
	P(topdir, FS_TOPDIR_FL)                \
	P(nocow, FS_NOCOW_FL)                  \
	P(dax, FS_DAX_FL)                      \
	P(projinherit, FS_PROJINHERIT_FL)      \
	P(casefold, FS_CASEFOLD_FL)

/* The first of them are in the other set, too. */
#define IOT_FILEATTR_XPAIRS(P)                 \
	P(sync, FS_XFLAG_SYNC)                 \
	P(immutable, FS_XFLAG_IMMUTABLE)       \
	P(append, FS_XFLAG_APPEND)             \
	P(nodump, FS_XFLAG_NODUMP)             \
	P(noatime, FS_XFLAG_NOATIME)           \
	P(dax, FS_XFLAG_DAX)                   \
	P(projinherit, FS_XFLAG_PROJINHERIT)   \
	P(realtime, FS_XFLAG_REALTIME)         \
	P(rtinherit, FS_XFLAG_RTINHERIT)       \
	P(nosymlinks, FS_XFLAG_NOSYMLINKS)     \
	P(extsize, FS_XFLAG_EXTSIZE)           \
	P(extszinherit, FS_XFLAG_EXTSZINHERIT) \
	P(nodefrag, FS_XFLAG_NODEFRAG)         \
	P(filestream, FS_XFLAG_FILESTREAM)     \
	P(cowextsize, FS_XFLAG_COWEXTSIZE)

#define IOT_FILEATTR_OF(name, host) ours |= flags & (host) ? (u32)IOT_FILEATTR_##name : 0;
#define IOT_FILEATTR_TO(name, host) \
	flags = ours & IOT_FILEATTR_##name ? flags | (u32)(host) : flags & ~(u32)(host);

/**
 * iot_fileattrs_of() - convert flags of FS_IOC_SETFLAGS to those of records
 * @flags: FS_*_FL
 *
 * Return: IOT_FILEATTR_*.
 */
static inline u32 iot_fileattrs_of(u32 flags)
{
	u32 ours = 0;

	IOT_FILEATTR_PAIRS(IOT_FILEATTR_OF)
	return ours;
}

/**
 * iot_fileattrs_of_x() - convert flags of FS_IOC_FSSETXATTR to those of records
 * @flags: FS_XFLAG_*
 *
 * Return: IOT_FILEATTR_*.
 */
static inline u32 iot_fileattrs_of_x(u32 flags)
{
	u32 ours = 0;

	IOT_FILEATTR_XPAIRS(IOT_FILEATTR_OF)
	return ours;
}

/**
 * iot_fileattrs_to() - convert flags of records to those of FS_IOC_SETFLAGS
 * @ours: IOT_FILEATTR_*
 * @flags: FS_*_FL of the file: those without a flag in records stay
 *
 * Return: FS_*_FL.
 */
static inline u32 iot_fileattrs_to(u32 ours, u32 flags)
{
	IOT_FILEATTR_PAIRS(IOT_FILEATTR_TO)
	return flags;
}

/**
 * iot_fileattrs_to_x() - convert flags of records to those of FS_IOC_FSSETXATTR
 * @ours: IOT_FILEATTR_*
 * @flags: FS_XFLAG_* of the file: those without a flag in records stay
 *
 * Return: FS_XFLAG_*.
 */
static inline u32 iot_fileattrs_to_x(u32 ours, u32 flags)
{
	IOT_FILEATTR_XPAIRS(IOT_FILEATTR_TO)
	return flags;
}

#endif
