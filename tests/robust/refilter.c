// SPDX-License-Identifier: GPL-2.0-only
/*
 * refilter.c - requests for another filter that the module must refuse.
 *
 *	refilter SESSION	the number of a session that records
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <iotape/filter.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static int failures;

static void refuse(int fd, const char *what, struct iot_refilter request, int want)
{
	int err = ioctl(fd, IOT_IOC_REFILTER, &request) ? errno : 0;

	if (err == want)
		return;
	printf("%s: %s, not %s\n", what, strerror(err), strerror(want));
	failures++;
}

int main(int argc, char **argv)
{
	const struct {
		struct iot_filter_head head;
		struct iot_filter_step steps[2];
	} unbalanced = {
		.head = { .version = IOT_FILTER_VERSION, .steps = 2 },
		.steps = { { .code = IOT_FILTER_EQ, .field = IOT_FILTER_uid }, { .code = IOT_FILTER_OR } },
	};
	struct iot_refilter request = {
		.session = argc == 2 ? strtoull(argv[1], NULL, 10) : 0,
		.program = (uintptr_t)&unbalanced,
		.text = (uintptr_t)"uid == 0",
		.bytes = sizeof(unbalanced),
		.text_bytes = 8,
	};
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(IOT_CONTROL_PATH);
		return 1;
	}
	refuse(fd, "an operator without a second operand", request, EINVAL);
	request.bytes--;
	refuse(fd, "a program with a part missing", request, EINVAL);
	request.text = 8;
	refuse(fd, "a text from nowhere", request, EFAULT);
	request.text_bytes = 0;
	refuse(fd, "a program without a text", request, EINVAL);
	request.bytes = 0;
	request.text_bytes = 8;
	refuse(fd, "a text without a program", request, EINVAL);
	return failures != 0;
}
