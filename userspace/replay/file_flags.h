/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_flags.h - flags of files that a replay may have left in a target, and that must not stay.
 */
#ifndef IOTAPE_REPLAY_FILE_FLAGS_H
#define IOTAPE_REPLAY_FILE_FLAGS_H

#include <stdbool.h>

int file_flags_free(int fd);
void file_flags_put_back(int fd, int flags);
bool file_flags_free_name(int dir, const char *name);
bool file_flags_reset(int target, int dir, const char *name);

#endif
