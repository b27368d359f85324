/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_numbers.h - the numbers in the names of the files of one output: trace.1.iot, trace.2.iot, ...
 */
#ifndef IOTAPE_FILE_NUMBERS_H
#define IOTAPE_FILE_NUMBERS_H

#include <limits.h>

#include "collectord.h"
#include "lib/iotape.h"

int file_number_last(const char *output, u64 *last);
int file_number_keep(const char *output, u64 keep, char path[PATH_MAX]);

#endif
