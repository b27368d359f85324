/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * survey.h - all chunks of a trace, one after the other, also behind damaged ones.
 */
#ifndef IOTAPE_LIB_SURVEY_H
#define IOTAPE_LIB_SURVEY_H

#include "chunk.h"
#include "iotape.h"
#include "trace_head.h"

/**
 * survey_fn - called for each intact chunk of records
 * @context: as given to survey()
 * @head: its head
 * @offset_bytes: where it is
 * @summary: of its records
 *
 * Return: 0, or a negative errno that ends the survey.
 */
typedef int (*survey_fn)(void *context, const struct iot_chunk_head *head, u64 offset_bytes,
			 const struct iot_summary *summary);

int survey(int fd, const struct trace_begin *begin, survey_fn fn, void *context, struct iot_condition *condition);

#endif
