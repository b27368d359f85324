/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.h - programs built by hand: shared declarations.
 */
#ifndef TESTS_THREAD_PROGRAMS_H
#define TESTS_THREAD_PROGRAMS_H

#include "tests/unit/builder.h"

extern u32 count;

/* tokens.c */
void make_ordered(struct builder *b);
void make_free(struct builder *b);

#endif
