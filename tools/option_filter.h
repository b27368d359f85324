/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option_filter.h - options whose value is a filter expression.
 */
#ifndef IOTAPE_OPTION_FILTER_H
#define IOTAPE_OPTION_FILTER_H

#include "filter/filter.h"
#include "option.h"

struct filter *option_filter(struct option_state *state, const char *name, const char *argument, bool is_for_records);

#endif
