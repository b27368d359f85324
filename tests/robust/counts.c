// SPDX-License-Identifier: GPL-2.0-only
/*
 * counts.c - reads the counters of a session that runs.
 *
 *	counts SESSION			print the operations in all rows, and in those of the overflow
 *	counts SESSION rows		print the number of rows
 */
#include <fcntl.h>
#include <iotape/control.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "workloads/workload.h"

#define ROOM 5 /* fewer than there are, so that it takes several calls */

int main(int argc, char **argv)
{
	unsigned long long operations = 0, overflow = 0, rows = 0;
	struct iot_counter counters[ROOM];
	struct iot_counters read = { .rows = (uintptr_t)counters, .room = ROOM };
	int fd = open(IOT_CONTROL_PATH, O_RDWR);
	__u32 i;

	CHECK(argc == 2 || argc == 3);
	CHECK(fd >= 0);
	read.session = strtoull(argv[1], NULL, 10);
	do {
		CHECK(!ioctl(fd, IOT_IOC_COUNTERS, &read));
		CHECK(read.count <= ROOM);
		for (i = 0; i < read.count; i++) {
			CHECK(counters[i].count || counters[i].bytes);
			rows++;
			if (counters[i].flags & IOT_COUNTER_OVERFLOW)
				overflow += counters[i].count;
			operations += counters[i].count;
		}
	} while (read.next);
	if (argc == 3)
		printf("%llu\n", rows);
	else
		printf("%llu %llu\n", operations, overflow);
	return 0;
}
