// SPDX-License-Identifier: GPL-2.0-only
/*
 * rights.c - the rights of this process: those of root, those of the caller for a while, or those of the caller for good.
 */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "grant.h"

/**
 * grant_rights_lower() - act as the caller; the kernel removes the effective capabilities with the user
 */
void grant_rights_lower(void)
{
	if (seteuid(getuid()))
		grant_refuse("the user cannot be changed: %s", strerror(errno));
}

/**
 * grant_rights_raise() - act as root again
 */
void grant_rights_raise(void)
{
	if (seteuid(0))
		grant_refuse("the user cannot be changed back: %s", strerror(errno));
}

/* Inheritable capabilities are no rights: only files give them force, and the caller had them before. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	size_t i;

	if (syscall(SYS_capget, &head, data))
		return false;
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].effective = 0;
		data[i].permitted = 0;
	}
	if (syscall(SYS_capset, &head, data) || syscall(SYS_capget, &head, data))
		return false;
	return !data[0].effective && !data[0].permitted && !data[1].effective && !data[1].permitted;
}

/**
 * grant_rights_drop() - act as the caller for good; does not return if anything of root is left
 *
 * The bounding set and no_new_privs stay as they are: otherwise set-user-ID programs that the command executes would have other
 * results than without a recording.
 */
void grant_rights_drop(void)
{
	uid_t uid = getuid(), ruid, euid, suid;
	gid_t gid = getgid(), rgid, egid, sgid;

	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid) || getresuid(&ruid, &euid, &suid) ||
	    getresgid(&rgid, &egid, &sgid))
		grant_refuse("the rights of root cannot be given up: %s", strerror(errno));
	if (ruid != uid || euid != uid || suid != uid || rgid != gid || egid != gid || sgid != gid ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) || !drop_capabilities() || !setuid(0) || !seteuid(0))
		grant_refuse("some of the rights of root cannot be given up");
}
