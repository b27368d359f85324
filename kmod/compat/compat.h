/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - included before every source of the modules: makes an older kernel look
 * like the newest one, as far as that is possible with macros.
 *
 * The only reader of IOT_HAVE_*, together with the other headers of this directory.
 * Each entry says what changed, since when, and until when it is needed.
 */
#ifndef IOT_COMPAT_H
#define IOT_COMPAT_H

#ifdef KBUILD_MODNAME
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#endif

/*
 * 6.3: operations get a struct mnt_idmap instead of a user namespace.
 * Both are opaque to us, so the older one goes by the newer name. Until 6.1 goes.
 */
#ifndef IOT_HAVE_MNT_IDMAP
#define mnt_idmap user_namespace
#endif

/* 6.17: struct fileattr was renamed. Until 6.12 goes. */
#ifndef IOT_HAVE_FILE_KATTR
#define file_kattr fileattr
#endif

#endif
