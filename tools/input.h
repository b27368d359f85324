/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * input.h - traces from standard input and pipes.
 */
#ifndef IOTAPE_INPUT_H
#define IOTAPE_INPUT_H

#define INPUT_PATH_BYTES 32

int input_open(const char **path, char copy[INPUT_PATH_BYTES]);

#endif
