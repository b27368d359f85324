/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scratch.h - a trace and its program, in a directory that exists while a test runs.
 */
#ifndef IOTAPE_TEST_SCRATCH_H
#define IOTAPE_TEST_SCRATCH_H

extern char scratch_trace[64], scratch_program[64];

int scratch_set_up(void **state);
int scratch_tear_down(void **state);

/* Like TEST(), for use in a SUITE(). */
#define WITH_SCRATCH(function) \
	cmocka_unit_test_setup_teardown(function, scratch_set_up, scratch_tear_down),

#endif
