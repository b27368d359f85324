/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * expect.h - sessions, and results of requests as TAP, for the programs in the guest. For one thread.
 */
#ifndef IOTAPE_TEST_EXPECT_H
#define IOTAPE_TEST_EXPECT_H

/* Failures since the last report(). */
extern int expect_failures;

/* A system call returned @result: it must have failed with the errno @wanted, or succeeded if that is 0. */
void expect(const char *what, long result, int wanted);

/* Prints a row: it fails if something before it, since the previous row, was not as expected. */
void report(const char *what);

/* Opens the control device, or exits. */
int control_open(void);

/* A session that has not started. */
int session_new(void);

#endif
