// SPDX-License-Identifier: GPL-2.0-only
/*
 * probed.c - a program that calls a function five times, for the probes of tests/truth/mapped.
 */
#include <stdio.h>

__attribute__((noinline)) int hit(int x)
{
	__asm__ volatile("");
	return x + 1;
}

int main(void)
{
	int i, sum = 0;

	for (i = 0; i < 5; i++)
		sum += hit(i);
	printf("%d\n", sum);
	return 0;
}
