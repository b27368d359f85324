/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * completion.h - completion scripts for shells, from the tables of all commands.
 */
#ifndef IOTAPE_COMPLETION_H
#define IOTAPE_COMPLETION_H

#include <stdio.h>

void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);

#endif
