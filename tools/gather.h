/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gather.h - the outcomes of the nodes of a replay become one file.
 */
#ifndef IOTAPE_GATHER_H
#define IOTAPE_GATHER_H

#include "replay/replay.h"

int gather_outcomes(struct agent *agent, const char *whole, bool keeps_parts, const char *partial,
		    bool *is_gathered);

#endif
