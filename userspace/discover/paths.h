/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * paths.h - one copy of each path, shared by all places of all runs: private to this directory.
 *
 * Ownership: a path lives as long as its table. Two paths of one table are equal if their addresses are.
 */
#ifndef IOTAPE_DISCOVER_PATHS_H
#define IOTAPE_DISCOVER_PATHS_H

#include "lib/iotape.h"

struct run_paths;

int run_paths_open(struct run_paths **paths);
void run_paths_close(struct run_paths *paths);
const char *run_paths_intern(struct run_paths *paths, const char *path);
u32 run_paths_count(const struct run_paths *paths);

#endif
