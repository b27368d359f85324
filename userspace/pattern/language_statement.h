/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * language_statement.h - private to language_operation.c, language_program.c and language_run.c.
 */
#ifndef IOTAPE_PATTERN_LANGUAGE_STATEMENT_H
#define IOTAPE_PATTERN_LANGUAGE_STATEMENT_H

#include "language.h"

#define LANGUAGE_NAME_MAX 65536 /* bytes */

void language_read_attributes(struct reader *r, struct language_operation *operation);

#endif
