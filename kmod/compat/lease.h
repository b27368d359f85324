/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lease.h - leases: 6.9 gave them a structure of their own. Remove with 6.1.
 */
#ifndef IOT_COMPAT_LEASE_H
#define IOT_COMPAT_LEASE_H

#include <linux/fs.h>
#if __has_include(<linux/filelock.h>) /* 6.3: a header of its own. Remove with 6.1. */
#include <linux/filelock.h>
#endif

#ifdef IOT_HAVE_FILE_LOCK_CORE
#define iot_lease	       file_lease
#define iot_lease_operations   lease_manager_operations
#define iot_lease_list	       c.flc_list
#define iot_lease_file(lease)  ((lease)->c.flc_file)
#define iot_lease_flags(lease) ((lease)->c.flc_flags)
#define iot_lease_type_of(l)   ((l)->c.flc_type)
#define iot_lease_new()	       locks_alloc_lease()
#define iot_lease_free(lease)  locks_free_lease(lease)
typedef int iot_lease_type;
#else
#define iot_lease	       file_lock
#define iot_lease_operations   lock_manager_operations
#define iot_lease_list	       fl_list
#define iot_lease_file(lease)  ((lease)->fl_file)
#define iot_lease_flags(lease) ((lease)->fl_flags)
#define iot_lease_type_of(l)   ((l)->fl_type)
#define iot_lease_new()	       locks_alloc_lock()
#define iot_lease_free(lease)  locks_free_lock(lease)
typedef long iot_lease_type;
#endif

/* As the VFS does for fcntl(2); the file owns it. */
static inline void iot_lease_init(struct iot_lease *lease, struct file *file, iot_lease_type type,
				  const struct iot_lease_operations *ops)
{
#ifdef IOT_HAVE_FILE_LOCK_CORE
	lease->c.flc_type = type;
	lease->c.flc_owner = file;
	lease->c.flc_pid = current->tgid;
#else
	lease->fl_type = type;
	lease->fl_owner = file;
	lease->fl_pid = current->tgid;
	lease->fl_start = 0;
	lease->fl_end = OFFSET_MAX;
#endif
	iot_lease_file(lease) = file;
	iot_lease_flags(lease) = FL_LEASE;
	lease->fl_lmops = ops;
}

#endif
