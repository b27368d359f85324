/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ustack.h - the registers of a user program that lead to its callers, and the files that its code is from.
 */
#ifndef IOT_COMPAT_USTACK_H
#define IOT_COMPAT_USTACK_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/ptrace.h>

/* Each architecture has a register of its own; 0 on those that are not known here. */
static inline unsigned long iot_user_frame_pointer(const struct pt_regs *regs)
{
#if defined(CONFIG_X86_64)
	return regs->bp;
#elif defined(CONFIG_ARM64)
	return regs->regs[29];
#else
	return 0;
#endif
}

/* The register with the return address of a function that has not stored it; 0 on architectures without one. */
static inline unsigned long iot_user_link_register(const struct pt_regs *regs)
{
#if defined(CONFIG_ARM64)
	return regs->regs[30];
#else
	return 0;
#endif
}

/*
 * 6.4: without a page, the function returns an error instead of NULL. Remove the test for NULL with 6.1.
 *
 * Return: the page of a file that has its first byte, with a reference, if it is in memory; NULL if not.
 */
static inline struct folio *iot_first_folio(struct address_space *mapping)
{
	struct folio *folio = filemap_get_folio(mapping, 0);

	return IS_ERR_OR_NULL(folio) ? NULL : folio;
}

/*
 * 6.8: the path of the file that a program mapped from overlayfs is no longer that of the file below. Remove the test with 6.1.
 * The kernel changes no file here, but 6.12.0, as in Enterprise Linux 10.0, does not promise that. Remove the cast with it.
 */
static inline const struct path *iot_user_path(const struct file *file)
{
#ifdef IOT_HAVE_FILE_USER_PATH
	return file_user_path((struct file *)file);
#else
	return &file->f_path;
#endif
}

#endif
