// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * clock.c - the time of a clock as one number.
 */
#include <time.h>

#include "iotape.h"

/**
 * iot_clock_ns() - read a clock
 * @clock: one that the machine has, such as CLOCK_MONOTONIC, whose time records have
 *
 * Return: its time in ns.
 */
u64 iot_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}
