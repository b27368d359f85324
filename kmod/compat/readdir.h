/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * readdir.h - the function that gets the entries of a directory.
 *
 * 6.1: it returns whether it wants another entry; before, 0 if it does, and any other number if not. No file system
 * distinguishes the other numbers. Remove with Enterprise Linux 9.
 */
#ifndef IOT_COMPAT_READDIR_H
#define IOT_COMPAT_READDIR_H

#include <linux/fs.h>

#ifdef IOT_HAVE_FILLDIR_BOOL
#define IOT_FILLDIR(function)
#define IOT_FILLDIR_OP(function) function
#else
#define IOT_FILLDIR(function)                                                                              \
	static int function##_number(struct dir_context *context, const char *name, int length,            \
				     loff_t offset, u64 ino, unsigned int type)                             \
	{                                                                                                  \
		return function(context, name, length, offset, ino, type) ? 0 : -EINVAL;                   \
	}
#define IOT_FILLDIR_OP(function) function##_number
#endif

/* Pass an entry on to a reader. Return: whether it took the entry, and wants another one. */
static inline bool iot_dir_entry(struct dir_context *reader, const char *name, int length, loff_t offset, u64 ino,
				 unsigned int type)
{
#ifdef IOT_HAVE_FILLDIR_BOOL
	return reader->actor(reader, name, length, offset, ino, type);
#else
	return reader->actor(reader, name, length, offset, ino, type) == 0;
#endif
}

#endif
