// SPDX-License-Identifier: GPL-2.0-only
/*
 * delays.c - hostile requests for delays: each is refused with the right errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "expect.h"

#define REQUESTS 20000

static void *volatile nowhere = (void *)8; /* hidden from the compiler */

static const struct iot_delay good = {
	.period = 1,
	.asleep_ns = IOT_DELAY_MIN_NS,
	.idle_ns = IOT_DELAY_MIN_NS,
	.limit_ns = IOT_DELAY_MIN_NS,
	.total_ns = IOT_DELAY_MIN_NS,
};

static void refuse(int fd, const char *what, struct iot_delay delay)
{
	expect(what, ioctl(fd, IOT_IOC_DELAY, &delay), EINVAL);
}

static void refuse_values(int fd)
{
	struct iot_delay delay = good;

	delay.flags = 1;
	refuse(fd, "unknown flags", delay);
	delay = good;
	delay.period = 0;
	refuse(fd, "no period", delay);
	delay.period = IOT_DELAY_PERIOD_MAX + 1;
	refuse(fd, "a period that is too long", delay);
	delay = good;
	delay.phase = 1;
	refuse(fd, "a phase that is not below the period", delay);
	delay = good;
	delay.asleep_ns = IOT_DELAY_MIN_NS - 1;
	refuse(fd, "a time that is too short", delay);
	delay = good;
	delay.idle_ns = ~0ull;
	refuse(fd, "a time without end", delay);
	delay = good;
	delay.limit_ns = IOT_DELAY_MAX_NS + 1;
	refuse(fd, "a delay that is too long", delay);
	delay = good;
	delay.total_ns = 0;
	refuse(fd, "no time for delays", delay);
}

static void refuse_delays(void)
{
	int other = control_open(), fd = session_new();

	expect("delay in no session", ioctl(other, IOT_IOC_DELAY, &good), EINVAL);
	expect("delay from nowhere", ioctl(fd, IOT_IOC_DELAY, nowhere), EFAULT);
	refuse_values(fd);
	expect("delay", ioctl(fd, IOT_IOC_DELAY, &good), 0);
	expect("delay again", ioctl(fd, IOT_IOC_DELAY, &good), EBUSY);
	close(other);
	close(fd);
	report("delays are accepted within bounds");
}

/* Random bytes, most of them nearly valid: a request is accepted only if all values are in range. */
static void delay_at_random(void)
{
	int fd = session_new(), i;

	for (i = 0; i < REQUESTS; i++) {
		struct iot_delay delay;
		bool is_good;

		if (getrandom(&delay, sizeof(delay), 0) != sizeof(delay))
			exit(1);
		delay.flags %= 2;
		delay.period %= 8;
		delay.phase %= 8;
		delay.asleep_ns %= 2 * IOT_DELAY_MAX_NS;
		delay.idle_ns %= 2 * IOT_DELAY_MAX_NS;
		delay.limit_ns %= 2 * IOT_DELAY_MAX_NS;
		delay.total_ns %= 2 * IOT_DELAY_MAX_NS;
		is_good = !delay.flags && delay.phase < delay.period && delay.asleep_ns >= IOT_DELAY_MIN_NS &&
			  delay.asleep_ns <= IOT_DELAY_MAX_NS && delay.idle_ns >= IOT_DELAY_MIN_NS &&
			  delay.idle_ns <= IOT_DELAY_MAX_NS && delay.limit_ns >= IOT_DELAY_MIN_NS &&
			  delay.limit_ns <= IOT_DELAY_MAX_NS && delay.total_ns >= IOT_DELAY_MIN_NS &&
			  delay.total_ns <= IOT_DELAY_MAX_NS;
		expect("a random delay", ioctl(fd, IOT_IOC_DELAY, &delay), is_good ? 0 : EINVAL);
		if (!is_good)
			continue;
		close(fd);
		fd = session_new();
	}
	close(fd);
	report("random requests are accepted only if all values are in range");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("1..2");
	refuse_delays();
	delay_at_random();
	return 0;
}
