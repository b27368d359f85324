/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - included before every source of the modules: makes an older kernel look
 * like the newest one, as far as that is possible with macros.
 *
 * Only this header and the others in this directory read IOT_HAVE_*. Each entry names the
 * change, the version that made it, and the oldest version that still needs it: code "Remove with 6.1" can be deleted
 * when 6.1 is no longer supported.
 */
#ifndef IOT_COMPAT_H
#define IOT_COMPAT_H

#ifdef KBUILD_MODNAME
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#endif

/*
 * 6.3: operations get a struct mnt_idmap instead of a user namespace.
 * Both are opaque to us, so the older one gets the newer name. Remove with 6.1.
 */
#ifndef IOT_HAVE_MNT_IDMAP
#define mnt_idmap user_namespace
#endif

/* 6.17: struct fileattr was renamed. Remove with 6.12. */
#ifndef IOT_HAVE_FILE_KATTR
#define file_kattr fileattr
#endif

#endif
