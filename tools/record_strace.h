/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_strace.h - iotape record --engine=strace.
 */
#ifndef IOTAPE_RECORD_STRACE_H
#define IOTAPE_RECORD_STRACE_H

#include <stdbool.h>

#include "record/record.h"

int record_with_strace(const struct record_options *options, const char *const *facts, bool is_calibrated, bool is_quiet);

/* cmd_record.c */
int exit_as(int status);

#endif
