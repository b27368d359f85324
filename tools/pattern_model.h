/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pattern_model.h - functions of other modules for times at another number of ranks.
 */
#ifndef IOTAPE_TOOLS_PATTERN_MODEL_H
#define IOTAPE_TOOLS_PATTERN_MODEL_H

struct iotape_model;

int load_model(const char *path, const struct iotape_model **model);

#endif
