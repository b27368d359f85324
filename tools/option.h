/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option.h - the values of options: words, numbers and factors, which all commands read alike.
 *
 * What is none of them ends the command, by argp_error(), with one sentence that names the option.
 */
#ifndef IOTAPE_OPTION_H
#define IOTAPE_OPTION_H

#include <argp.h>

#include "replay/replay.h"

int option_word(struct argp_state *state, const char *option, const char *argument,
		const char *const *words);
unsigned long long option_number(struct argp_state *state, const char *option,
				 const char *argument, unsigned long long min,
				 unsigned long long max);
double option_factor(struct argp_state *state, const char *option, const char *argument,
		     double max);
enum prepare_data option_prepare_data(struct argp_state *state, const char *argument);
enum prepare_cache option_prepare_cache(struct argp_state *state, const char *argument);

#endif
