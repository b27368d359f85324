// SPDX-License-Identifier: GPL-2.0-only
/*
 * swapon32.c - calls swapon(2) like an x32 program, on a file for which the kernel must refuse it.
 *
 *	swapon32 FILE
 *
 * Exit code: 0 if it is refused with EINVAL, or if the kernel does not run x32 programs; tests/truth/run boots
 * one that does.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define SWAPON_X32 (0x40000000 | SYS_swapon)
#else
#define SWAPON_X32 -1
#endif

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: swapon32 FILE\n");
		return 2;
	}
	if (!syscall(SWAPON_X32, argv[1], 0)) {
		printf("swapon32: done\n");
		syscall(SYS_swapoff, argv[1]);
		return 1;
	}
	perror("swapon32");
	return errno != EINVAL && errno != ENOSYS;
}
