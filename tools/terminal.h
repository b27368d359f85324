/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * terminal.h - output on a terminal: its width, colour, and the pager.
 */
#ifndef IOTAPE_TERMINAL_H
#define IOTAPE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum terminal_style {
	STYLE_PLAIN,
	STYLE_HEADING,
	STYLE_WARNING,
};

int terminal_columns(void);
const char *terminal_style(FILE *out, enum terminal_style style);
void terminal_without_pager(void);
void terminal_output_begin(void);

#endif
