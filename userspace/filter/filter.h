/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter.h - filter expressions: compile them, and apply them to the records of a trace.
 */
#ifndef IOTAPE_FILTER_PART_H
#define IOTAPE_FILTER_PART_H

#include "core/trace/filter.h"
#include "lib/iotape.h"

#define FILTER_TEXT_MAX 3500 /* bytes of an expression, so that a fact can hold it */

struct filter;
struct filter_view;

/**
 * struct filter_error - why an expression cannot be compiled
 * @at: offset of the first character that is wrong
 * @why: a sentence
 */
struct filter_error {
	size_t at;
	char why[160];
};

int filter_compile(const char *expression, struct filter **filter, struct filter_error *error);
int filter_check_records(const struct filter *filter, struct filter_error *error);
void filter_free(struct filter *filter);
const struct iot_filter_head *filter_program(const struct filter *filter, size_t *bytes);
const char *filter_text(const struct filter *filter);
bool filter_admits_metadata(const struct filter *filter);

int filter_view_open(const struct filter *filter, struct filter_view **view);
int filter_view_take(struct filter_view *view, const struct iot_record *record);
bool filter_view_match(struct filter_view *view, struct iot_names *names, const struct iot_record *record);
void filter_view_close(struct filter_view *view);

#endif
