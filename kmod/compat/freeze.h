/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * freeze.h - freeze_super() and thaw_super(): they take a holder since 6.6, and an owner since 6.16.
 */
#ifndef IOT_COMPAT_FREEZE_H
#define IOT_COMPAT_FREEZE_H

#include <linux/fs.h>

/* 6.6: before, only users froze. Remove with 6.1. */
#ifndef IOT_HAVE_FREEZE_HOLDER
enum freeze_holder {
	FREEZE_HOLDER_USERSPACE = 1U << 1,
};
#endif

/* The operation of a super block, or the default of the VFS if there is none. Remove with 6.12. */
#if defined(IOT_HAVE_FREEZE_OWNER)
#define IOT_FREEZE_CALL(operation, sb, who, owner)                                        \
	((sb)->s_op->operation ? (sb)->s_op->operation(sb, who, owner) : operation(sb, who, owner))
#define IOT_FREEZE(function)
#define IOT_FREEZE_OP(function) function
#elif defined(IOT_HAVE_FREEZE_HOLDER)
#define IOT_FREEZE_CALL(operation, sb, who, owner)                                        \
	((sb)->s_op->operation ? (sb)->s_op->operation(sb, who) : operation(sb, who))
#define IOT_FREEZE(function)                                                              \
	static int function##_for(struct super_block *sb, enum freeze_holder who)         \
	{                                                                                 \
		return function(sb, who, NULL);                                           \
	}
#define IOT_FREEZE_OP(function) function##_for
#else
#define IOT_FREEZE_CALL(operation, sb, who, owner)                                        \
	((sb)->s_op->operation ? (sb)->s_op->operation(sb) : operation(sb))
#define IOT_FREEZE(function)                                                              \
	static int function##_for(struct super_block *sb)                                 \
	{                                                                                 \
		return function(sb, FREEZE_HOLDER_USERSPACE, NULL);                       \
	}
#define IOT_FREEZE_OP(function) function##_for
#endif

static inline int iot_freeze_super(struct super_block *sb, enum freeze_holder who,
				   const void *owner)
{
	return IOT_FREEZE_CALL(freeze_super, sb, who, owner);
}

static inline int iot_thaw_super(struct super_block *sb, enum freeze_holder who, const void *owner)
{
	return IOT_FREEZE_CALL(thaw_super, sb, who, owner);
}

#endif
