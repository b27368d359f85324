/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hint_quantity.h - numbers of hints, for advise and report.
 */
#ifndef IOTAPE_HINT_QUANTITY_H
#define IOTAPE_HINT_QUANTITY_H

#include "advise/advise.h"

const char *hint_quantity(char text[32], enum advise_unit unit, u64 value);

#endif
