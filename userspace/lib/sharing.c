// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sharing.c - file systems that several nodes mount.
 */
#include "iotape.h"

/**
 * iot_is_shared_type() - is a type of file system one that nodes share?
 * @magic: the type, as in statfs(2)
 */
bool iot_is_shared_type(u64 magic)
{
	static const u32 magics[] = {
		0x6969,	    /* nfs */
		0x0bd00bd0, /* lustre */
		0x47504653, /* gpfs */
		0x19830326, /* beegfs */
		0x00c36400, /* ceph */
		0x20030528, /* orangefs */
		0xff534d42, /* cifs */
		0xfe534d42, /* smb2 */
		0x01021997, /* 9p */
		0x01161970, /* gfs2 */
		0x7461636f, /* ocfs2 */
		0x5346414f, /* afs */
	};
	size_t i;

	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (magics[i] == magic)
			return true;
	return false;
}
