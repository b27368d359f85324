/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iocb.h - flags of a control block that come from its file.
 *
 * 6.0: a file stores its flags for control blocks, and IOCB_DSYNC is no longer one of them only because the file is
 * always synchronous (IS_SYNC()): file systems test for that with iocb_is_dsync(). Before, they test for the flag
 * alone. Remove with Enterprise Linux 9.
 */
#ifndef IOT_COMPAT_IOCB_H
#define IOT_COMPAT_IOCB_H

#include <linux/fs.h>

#ifndef IOT_HAVE_F_IOCB_FLAGS
static inline bool iot_iocb_is_dsync(const struct kiocb *iocb)
{
	return (iocb->ki_flags & IOCB_DSYNC) || IS_SYNC(iocb->ki_filp->f_mapping->host);
}

#define iocb_is_dsync(iocb) iot_iocb_is_dsync(iocb)
#endif

/* Flags of a control block that its file sets, in a call without flags of its own. */
static inline int iot_file_iocb_flags(struct file *file)
{
#ifdef IOT_HAVE_F_IOCB_FLAGS
	return file->f_iocb_flags;
#else
	return iocb_flags(file);
#endif
}

/* Flags that a control block needs because of the file alone, whatever the open and the call asked for. */
static inline int iot_forced_iocb_flags(const struct file *file)
{
#ifdef IOT_HAVE_F_IOCB_FLAGS
	return 0;
#else
	return IS_SYNC(file->f_mapping->host) ? IOCB_DSYNC : 0;
#endif
}

/*
 * Flags of a control block that the open or the call asked for. Where the file sets IOCB_DSYNC, too, RWF_DSYNC of a call
 * is not distinguished from that, and is left out.
 */
static inline int iot_asked_iocb_flags(const struct kiocb *iocb)
{
	if ((iocb->ki_flags & IOCB_SYNC) || (iocb->ki_filp->f_flags & O_DSYNC))
		return iocb->ki_flags;
	return iocb->ki_flags & ~iot_forced_iocb_flags(iocb->ki_filp);
}

#endif
