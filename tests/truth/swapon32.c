// SPDX-License-Identifier: GPL-2.0-only
/*
 * swapon32.c - swapon(2) as programs of x32 call it, of a file that it must be refused of.
 *
 *	swapon32 FILE
 *
 * Exit code: 0 it was refused with EINVAL, or this kernel runs no such programs: tests/truth/run starts
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
