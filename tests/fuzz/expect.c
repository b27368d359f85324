// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect.c - results of requests as TAP.
 */
#include "expect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int expect_failures;

void expect(const char *what, long result, int wanted)
{
	int got = result < 0 ? errno : 0;

	if (got == wanted)
		return;
	printf("# %s: %s, not %s\n", what, got ? strerror(got) : "accepted", wanted ? strerror(wanted) : "accepted");
	expect_failures++;
}

void report(const char *what)
{
	static int number;

	printf("%sok %d - %s\n", expect_failures ? "not " : "", ++number, what);
	fflush(stdout);
	expect_failures = 0;
}
