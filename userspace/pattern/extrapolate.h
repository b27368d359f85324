/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * extrapolate.h - private to this directory: model.h is of extrapolate.c.
 */
#ifndef IOTAPE_PATTERN_EXTRAPOLATE_H
#define IOTAPE_PATTERN_EXTRAPOLATE_H

#include "model.h"
#include "state.h"

_Static_assert((int)MODEL_FORMS == (int)EXTRAPOLATION_FORMS, "pattern.h has as many forms");

#endif
