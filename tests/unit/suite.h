/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suite.h - common to all unit test programs: cmocka, and a main that prints TAP.
 */
#ifndef IOTAPE_TEST_SUITE_H
#define IOTAPE_TEST_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
/* headers that cmocka needs */
#include <cmocka.h>

/* An assertion in a loop over a table, which names the row that failed. */
#define assert_row(row, condition)                                          \
	do {                                                                \
		if (!(condition))                                           \
			fail_msg("%s:%d: %s: not so: %s", __FILE__, __LINE__, row, #condition); \
	} while (0)

/*
 * SUITE(name, TEST(a) TEST(b) ...): the tests of a program, in order. After a failed test,
 * leaks are not reported, because the test has not freed its memory.
 */
#define TEST(function) cmocka_unit_test(function),
#define SUITE(name, tests)                                                  \
	int main(void)                                                      \
	{                                                                   \
		const struct CMUnitTest all[] = { tests };                  \
									    \
		cmocka_set_message_output(CM_OUTPUT_TAP);                   \
		if (!cmocka_run_group_tests_name(name, all, NULL, NULL))    \
			return 0;                                           \
		fflush(NULL);                                               \
		_exit(1);                                                   \
	}

#endif
