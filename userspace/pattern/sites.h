/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sites.h - the call sites of the operations of a trace, see sites.c.
 */
#ifndef IOTAPE_PATTERN_SITES_H
#define IOTAPE_PATTERN_SITES_H

#include "lib/iotape.h"

#define SITE_BYTES_MAX 2048 /* of a text */

struct sites;

int sites_read(const char *path, struct sites **sites, struct iot_reject *reject);
const u8 *sites_find(const struct sites *sites, u32 task, u32 op, u32 *bytes);
void sites_free(struct sites *sites);
const char *site_flaw(const u8 *text, size_t bytes);

#endif
