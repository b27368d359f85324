/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * template.h - names as texts with numbers in them, as in "ckpt/rank.00012": equal texts with different numbers are
 * one operation of a loop, or of several ranks.
 *
 * A template is the text with a hole for each number: a zero byte, and a byte with the width plus 1. A width of 0 is a
 * number without leading zeros, another one has as many digits at least.
 */
#ifndef IOTAPE_PATTERN_TEMPLATE_H
#define IOTAPE_PATTERN_TEMPLATE_H

#include "vector.h"

#define TEMPLATE_HOLES_MAX 16

struct widths;

int template_learn(struct widths **widths, const char *text);
void template_split(struct widths *widths, const char *text, struct bytes *template, struct numbers *holes);
void template_free(struct widths **widths);
size_t template_digits(const char *text);
int template_width(const char *text, size_t digits, u8 learnt);
void template_learnt(struct widths *widths, const char *text, u8 of_hole[TEMPLATE_HOLES_MAX]);
void template_example(const u8 *template, size_t bytes, struct bytes *text);

u32 template_count_holes(const u8 *template, size_t bytes);
bool template_is_sound(const u8 *template, size_t bytes);
void template_join(const u8 *template, size_t bytes, const u64 *holes, struct bytes *text);

#endif
