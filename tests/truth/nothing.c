// SPDX-License-Identifier: GPL-2.0-only
/*
 * nothing.c - a program that exits at once, to be executed by tests.
 */
#include <sys/syscall.h>

void _start(void);

void _start(void)
{
#ifdef __aarch64__
	__asm__ volatile("mov x8, %0; mov x0, #0; svc #0" : : "r"((long)SYS_exit_group) : "x0", "x8", "memory");
#else
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
#endif
}
