/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * describe.h - what a session is for.
 */
#ifndef IOTAPE_DESCRIBE_H
#define IOTAPE_DESCRIBE_H

#include "collectord.h"

void session_describe(const struct collector_options *options);

#endif
