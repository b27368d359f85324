/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_text.h - the parts of lines that the logs of `perf trace` and `perf script` have in common.
 */
#ifndef IOTAPE_PERF_TEXT_H
#define IOTAPE_PERF_TEXT_H

#include <stdbool.h>
#include <stddef.h>

size_t perf_word_bytes(const char *text);
char *perf_value_end(char *value, bool is_quoted);
bool perf_is_file_name(const char *name);

#endif
