// SPDX-License-Identifier: GPL-2.0-only
/*
 * scratch.c - a trace and its program, in a directory that exists while a test runs.
 */
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char scratch_trace[64], scratch_program[64];

static char directory[32];

int scratch_set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/iotape-unit.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(scratch_trace, sizeof(scratch_trace), "%s/t.iot", directory);
	snprintf(scratch_program, sizeof(scratch_program), "%s/t.irp", directory);
	return 0;
}

int scratch_tear_down(void **state)
{
	(void)state;
	unlink(scratch_trace);
	unlink(scratch_program);
	return rmdir(directory);
}
