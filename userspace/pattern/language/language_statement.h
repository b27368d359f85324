/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * language_statement.h - private to language_operation.c, language_program.c and language_run.c.
 */
#ifndef IOTAPE_PATTERN_LANGUAGE_STATEMENT_H
#define IOTAPE_PATTERN_LANGUAGE_STATEMENT_H

#include "language.h"

#define LANGUAGE_NAME_MAX 65536 /* bytes */

void language_end_program(struct reader *r);
void language_set_tasks(struct reader *r, u64 ranks);
void language_read_ranges(struct reader *r, struct language_block *block);
struct language_block **language_read_blocks(struct reader *r, struct language_block **next);
bool language_push_loop(struct reader *r, struct language_statement *s, const struct token *variable);
struct language_operation *language_begin_operation(struct reader *r, u32 depth);
bool language_read_value(struct reader *r, struct language_operation *o, const char *name);
void language_read_name(struct reader *r, struct language_operation *o, u32 index);
void language_read_result(struct reader *r, struct language_operation *o);
void language_read_attributes(struct reader *r, struct language_operation *operation);

#endif
