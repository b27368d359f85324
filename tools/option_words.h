/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option_words.h - words of options that several commands have.
 */
#ifndef IOTAPE_OPTION_WORDS_H
#define IOTAPE_OPTION_WORDS_H

extern const char *const option_words_data[];
extern const int option_values_data[];
extern const char *const option_words_cache[];

/* --data and --cache, of commands that prepare a target: an enum prepare_data, an enum prepare_cache. */
#define OPTION_WORDS_DATA  .words = option_words_data, .values = option_values_data
#define OPTION_WORDS_CACHE .words = option_words_cache

#endif
