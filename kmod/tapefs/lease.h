/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lease.h - leases: fcntl(2) with F_SETLEASE.
 */
#ifndef TFS_LEASE_H
#define TFS_LEASE_H

#include "tapefs.h"
#include "compat/lease.h"

int tfs_setlease(struct file *file, iot_lease_type type, struct iot_lease **lease, void **priv);
void tfs_lease_release(struct file *file);
int tfs_lease_init(void);
void tfs_lease_exit(void);

#endif
