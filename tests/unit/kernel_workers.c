// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_workers.c - processes that run tasks: the ways in which they end are distinguished. Linked with
 * --wrap=ioctl, which replaces the kernel's answers.
 */
#include <errno.h>
#include <iotape/control.h>
#include <stdlib.h>

#include "builder.h"
#include "replay/replay.h"
#include "suite.h"

/* The result of the ioctl of a keeper process; 0: it sleeps forever. */
static int keeper_error;

int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	(void)fd;
	if (request != IOT_RIOC_KEEP)
		_exit(99);
	while (!keeper_error)
		pause();
	errno = keeper_error;
	return -1;
}

/* One process. */
static struct workers *start(int error)
{
	struct workers *workers;
	struct iot_program program;
	struct iot_reject reject;
	struct builder b;
	size_t byte_count;
	u8 *bytes;

	builder_open(&b);
	builder_task(&b);
	builder_op(&b, IOT_PLAY_nop);
	bytes = builder_bytes(&b, &byte_count);
	assert_int_equal(iot_program_open(&program, bytes, byte_count, &reject), 0);
	keeper_error = error;
	assert_int_equal(workers_start(&workers, -1, &program, NULL), 0);
	free(bytes);
	builder_close(&b);
	return workers;
}

/* At most 10 s. */
static int wait_for_end(struct workers *workers, char *why, size_t room)
{
	int left = 1, n;

	why[0] = 0;
	for (n = 0; n < 100 && left > 0; n++)
		left = workers_wait(workers, 100, why, room);
	return left;
}

static void errors_are_reported(void **state)
{
	static const struct {
		const char *name;
		int error;
		int left;
		const char *why;
	} rows[] = {
		{ "cancelled", ECANCELED, 0, "" },
		{ "not permitted", EPERM, -ECHILD, "a worker failed: Operation not permitted" },
		{ "no memory", ENOMEM, -ECHILD, "a worker failed: Cannot allocate memory" },
	};
	struct workers *workers;
	char why[100];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		workers = start(rows[i].error);
		assert_row(rows[i].name, wait_for_end(workers, why, sizeof(why)) == rows[i].left);
		assert_string_equal(why, rows[i].why);
		workers_kill(workers);
	}
}

/* After workers_end(), a killed worker is not an error; before, it is reported. */
static void killed_workers_are_reported(void **state)
{
	struct workers *workers = start(0);
	char why[100];

	(void)state;
	assert_int_equal(workers_wait(workers, 1, why, sizeof(why)), 1);
	workers_end(workers);
	assert_int_equal(wait_for_end(workers, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	workers_kill(workers);
}

SUITE("kernel_workers", TEST(errors_are_reported) TEST(killed_workers_are_reported))
