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
#include <sys/wait.h>
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

	delay.flags = 2;
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
		delay.flags %= 4;
		delay.period %= 8;
		delay.phase %= 8;
		delay.asleep_ns %= 2 * IOT_DELAY_MAX_NS;
		delay.idle_ns %= 2 * IOT_DELAY_MAX_NS;
		delay.limit_ns %= 2 * IOT_DELAY_MAX_NS;
		delay.total_ns %= 2 * IOT_DELAY_MAX_NS;
		is_good = delay.flags <= IOT_DELAY_HOLD && delay.phase < delay.period && delay.asleep_ns >= IOT_DELAY_MIN_NS &&
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

/* Requests about delays under way: by @fd, which must have no right to them. */
static void refuse_strangers(int fd, const char *what)
{
	struct iot_look_all look = {};
	struct iot_release release = { .flags = IOT_RELEASE_ALL };

	expect(what, ioctl(fd, IOT_IOC_LOOK, &look), EINVAL);
	expect(what, ioctl(fd, IOT_IOC_RELEASE, &release), EINVAL);
	release = (struct iot_release){ .number = 1 };
	expect(what, ioctl(fd, IOT_IOC_RELEASE, &release), EINVAL);
}

/* Another user can open the device, but that is no session. */
static void refuse_other_user(void)
{
	pid_t child = fork();
	int status, fd;

	if (!child) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		fd = control_open();
		refuse_strangers(fd, "another user");
		_exit(expect_failures > 0);
	}
	expect("the other user", waitpid(child, &status, 0) == child && !status ? 0 : -1, 0);
}

static void refuse_looks(void)
{
	struct iot_delay held = good;
	struct iot_look_all look;
	struct iot_release release;
	int fd = control_open();

	held.flags = IOT_DELAY_HOLD;
	refuse_strangers(fd, "a descriptor that is no session");
	close(fd);
	refuse_other_user();
	fd = session_new();
	refuse_strangers(fd, "a session without delays");
	expect("delay", ioctl(fd, IOT_IOC_DELAY, &held), 0);
	look = (struct iot_look_all){};
	expect("look before the start", ioctl(fd, IOT_IOC_LOOK, &look), EINVAL);
	expect("look from nowhere", ioctl(fd, IOT_IOC_LOOK, nowhere), EFAULT);
	expect("release from nowhere", ioctl(fd, IOT_IOC_RELEASE, nowhere), EFAULT);
	look.flags = 2;
	expect("unknown flags of look", ioctl(fd, IOT_IOC_LOOK, &look), EINVAL);
	look = (struct iot_look_all){ .reserved = 1 };
	expect("reserved of look", ioctl(fd, IOT_IOC_LOOK, &look), EINVAL);
	look = (struct iot_look_all){ .reserved_too = 1 };
	expect("the other reserved of look", ioctl(fd, IOT_IOC_LOOK, &look), EINVAL);
	release = (struct iot_release){ .flags = 2 };
	expect("unknown flags of release", ioctl(fd, IOT_IOC_RELEASE, &release), EINVAL);
	release = (struct iot_release){ .reserved = 1 };
	expect("reserved of release", ioctl(fd, IOT_IOC_RELEASE, &release), EINVAL);
	release = (struct iot_release){ .flags = IOT_RELEASE_ALL, .number = 1 };
	expect("release of one and all", ioctl(fd, IOT_IOC_RELEASE, &release), EINVAL);
	release = (struct iot_release){};
	expect("release of none", ioctl(fd, IOT_IOC_RELEASE, &release), ESRCH);
	release = (struct iot_release){ .number = ~0ull };
	expect("release of a delay that is not", ioctl(fd, IOT_IOC_RELEASE, &release), ESRCH);
	release = (struct iot_release){ .flags = IOT_RELEASE_ALL };
	expect("release of all", ioctl(fd, IOT_IOC_RELEASE, &release), 0);
	close(fd);
	fd = session_new();
	expect("delay that is not held", ioctl(fd, IOT_IOC_DELAY, &good), 0);
	expect("release of delays that are not held", ioctl(fd, IOT_IOC_RELEASE, &release), EINVAL);
	close(fd);
	report("only the session looks at its threads, and releases its delays");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("1..3");
	refuse_delays();
	delay_at_random();
	refuse_looks();
	return 0;
}
