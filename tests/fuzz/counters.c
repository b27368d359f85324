// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.c - hostile requests for counters: each is refused with the right errno. Random ones, at the end, may do
 * anything but harm.
 *
 *	counters COUNT			random requests
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "expect.h"

#define NOBODY 65534

static void *volatile nowhere = (void *)8; /* hidden from the compiler */

static void expect_counts_refused(int fd, int other, __u64 session)
{
	static struct iot_counter rows[IOT_COUNTERS_ROOM_MAX];
	struct iot_counters read = { .session = session, .rows = (uintptr_t)rows, .room = 1 };

	expect("read counters from nowhere", ioctl(fd, IOT_IOC_COUNTERS, nowhere), EFAULT);
	read.session = ~0ull;
	expect("read counters of no session", ioctl(other, IOT_IOC_COUNTERS, &read), ENOENT);
	read.session = session;
	read.room = 0;
	expect("read counters without room", ioctl(other, IOT_IOC_COUNTERS, &read), EINVAL);
	read.room = IOT_COUNTERS_ROOM_MAX + 1;
	expect("read too many counters", ioctl(other, IOT_IOC_COUNTERS, &read), EINVAL);
	read.room = ~0u;
	expect("read far too many counters", ioctl(other, IOT_IOC_COUNTERS, &read), EINVAL);
	read.room = 1;
	read.flags = 2;
	expect("read counters with unknown flags", ioctl(other, IOT_IOC_COUNTERS, &read), EINVAL);
	read.flags = IOT_COUNTERS_ASIDE;
	expect("read counters when none is set aside", ioctl(other, IOT_IOC_COUNTERS, &read), EINVAL);
	expect("a turn by a descriptor that is no session", ioctl(other, IOT_IOC_TURN), EINVAL);
	expect("a turn", ioctl(fd, IOT_IOC_TURN), 0);
	expect("another turn", ioctl(fd, IOT_IOC_TURN), 0);
	expect("read counters that are set aside", ioctl(other, IOT_IOC_COUNTERS, &read), 0);
	expect("two turns", read.turns == 1 ? 0 : -1, 0); /* the table that is set aside is the one after the first */
	read.flags = 0;
	read.next = ~0u;
	expect("read counters behind the last", ioctl(other, IOT_IOC_COUNTERS, &read), EINVAL);
	read.next = 0;
	expect("read counters", ioctl(other, IOT_IOC_COUNTERS, &read), 0);
	expect("no row without operations", read.count ? -1 : 0, 0);
	read.session = 0;
	read.next = 0;
	expect("read counters of the descriptor", ioctl(fd, IOT_IOC_COUNTERS, &read), 0);
}

/* Of a session that does not record yet. */
static void expect_marks_refused(int fd, int other)
{
	struct iot_mark mark = { .reserved = 1 };

	expect("a mark with reserved bits", ioctl(fd, IOT_IOC_MARK, &mark), EINVAL);
	mark.reserved = 0;
	expect("a mark of no session", ioctl(other, IOT_IOC_MARK, &mark), EINVAL);
	expect("a mark from nowhere", ioctl(fd, IOT_IOC_MARK, nowhere), EFAULT);
	expect("a mark before the recording", ioctl(fd, IOT_IOC_MARK, &mark), EPIPE);
}

static void refuse_counters(void)
{
	int other = control_open(), fd = session_new();
	struct iot_counters read = { .room = 1 };
	struct iot_status status = {};
	struct iot_count count = { .rows = 64 };

	expect("count in no session", ioctl(other, IOT_IOC_COUNT, &count), EINVAL);
	expect("count from nowhere", ioctl(fd, IOT_IOC_COUNT, nowhere), EFAULT);
	expect("read what is not counted", ioctl(fd, IOT_IOC_COUNTERS, &read), EINVAL);
	count.rows = IOT_COUNTERS_ROWS_MIN - 1;
	expect("count in too few rows", ioctl(fd, IOT_IOC_COUNT, &count), EINVAL);
	count.rows = IOT_COUNTERS_ROWS_MAX + 1;
	expect("count in too many rows", ioctl(fd, IOT_IOC_COUNT, &count), EINVAL);
	count.rows = ~0u;
	expect("count in far too many rows", ioctl(fd, IOT_IOC_COUNT, &count), EINVAL);
	count = (struct iot_count){ .rows = 64, .keys = IOT_COUNT_MOUNT << 1 };
	expect("count by unknown keys", ioctl(fd, IOT_IOC_COUNT, &count), EINVAL);
	count.keys = IOT_COUNT_PROCESS | IOT_COUNT_COMMAND;
	expect("count by processes and commands", ioctl(fd, IOT_IOC_COUNT, &count), EINVAL);
	expect("a turn without counters", ioctl(fd, IOT_IOC_TURN), EINVAL);
	count.keys = 0;
	expect("count", ioctl(fd, IOT_IOC_COUNT, &count), 0);
	expect("count again", ioctl(fd, IOT_IOC_COUNT, &count), EBUSY);
	while (!ioctl(other, IOT_IOC_STATUS, &status))
		read.session = status.session;
	expect_counts_refused(fd, other, read.session);
	expect_marks_refused(fd, other);
	close(other);
	close(fd);
	report("counters are read within bounds");
}

/* The owner of a session may read it without a privilege, and no other session. */
static void refuse_users(void)
{
	int other = control_open(), fd = session_new();
	struct iot_count count = { .rows = 64 };
	struct iot_counters own = { .room = 1 }, read = { .room = 1 };
	struct iot_status status = {};

	expect("count", ioctl(fd, IOT_IOC_COUNT, &count), 0);
	while (!ioctl(other, IOT_IOC_STATUS, &status))
		read.session = status.session;
	expect("become nobody", seteuid(NOBODY), 0);
	expect("read the counters of others", ioctl(other, IOT_IOC_COUNTERS, &read), EPERM);
	expect("read those of one's own descriptor", ioctl(fd, IOT_IOC_COUNTERS, &own), 0);
	expect("become root", seteuid(0), 0);
	close(other);
	close(fd);
	report("counters of another session require a privilege");
}

/* Requests of random bytes, some of them nearly valid, to rows that may be anywhere. */
static void read_at_random(unsigned long requests)
{
	static struct iot_counter rows[IOT_COUNTERS_ROOM_MAX + 1];
	struct iot_count count = { .rows = 64 };
	struct iot_counters read;
	int fd = session_new();
	unsigned long i;

	expect("count", ioctl(fd, IOT_IOC_COUNT, &count), 0);
	memset(&rows[IOT_COUNTERS_ROOM_MAX], 0xa5, sizeof(rows[0]));
	for (i = 0; i < requests; i++) {
		if (getrandom(&read, sizeof(read), 0) != sizeof(read))
			exit(1);
		read.session = read.session % 2 ? 0 : read.session;
		read.rows = read.rows % 2 ? (uintptr_t)rows : read.rows;
		read.room %= IOT_COUNTERS_ROOM_MAX + 3;
		read.next %= 400;
		read.flags = read.flags % 4 ? read.flags & IOT_COUNTERS_ASIDE : read.flags;
		ioctl(fd, IOT_IOC_COUNTERS, &read);
		if (!(i % 64))
			ioctl(fd, IOT_IOC_TURN);
	}
	for (i = 0; i < sizeof(rows[0]); i++)
		expect_failures += ((unsigned char *)&rows[IOT_COUNTERS_ROOM_MAX])[i] != 0xa5;
	close(fd);
	report("random requests write to no more rows than there is room for");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("1..3");
	refuse_counters();
	refuse_users();
	read_at_random(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000);
	return 0;
}
