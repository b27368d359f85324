// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - a library for LD_PRELOAD: each reading of the monotonic clock is CLOCK_STEP_MS later than the one before.
 */
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static long long ms = 1000;
	const char *step = getenv("CLOCK_STEP_MS");

	(void)clock;
	ms += step ? atoll(step) : 0;
	now->tv_sec = (time_t)(ms / 1000);
	now->tv_nsec = (long)(ms % 1000 * 1000000);
	return 0;
}
