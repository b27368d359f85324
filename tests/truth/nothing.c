// SPDX-License-Identifier: GPL-2.0-only
/*
 * nothing.c - a program that exits at once, to be executed by tests.
 */
#include <sys/syscall.h>

void _start(void);

void _start(void)
{
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
}
