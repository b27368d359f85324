/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * describe.h - the purpose of a session.
 */
#ifndef IOTAPE_DESCRIBE_H
#define IOTAPE_DESCRIBE_H

#include "collectord.h"

void session_describe(const struct collector_options *options, const char *dump);

#endif
