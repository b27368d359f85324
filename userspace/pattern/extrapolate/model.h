/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model.h - numbers as functions of the number of ranks: exact ones of operands, and approximate ones of times.
 *
 * Of a number of ranks N, the terms of a function are N, 1 / N, N^2, the sides of the grid that is closest to a square (the
 * largest divisor that is not above the root of N, and N divided by it) and their inverses, the binary logarithm if N is a power of
 * two, and N divided by a constant and rounded.
 */
#ifndef IOTAPE_PATTERN_MODEL_H
#define IOTAPE_PATTERN_MODEL_H

#include <iotape/model.h>

#include "core/port.h"

#define MODEL_RUNS_MAX 16 /* runs that a pattern is extrapolated from */

/**
 * struct model_points - values at numbers of ranks
 */
struct model_points {
	u32 count;
	u64 ranks[MODEL_RUNS_MAX];
	u64 values[MODEL_RUNS_MAX];
};

bool model_exact(const struct model_points *points, u64 ranks, u64 *value);
bool model_is_side(const struct model_points *points, u64 ranks, u64 value);

enum model_form {
	MODEL_CONSTANT,
	MODEL_LINEAR,
	MODEL_INVERSE,
	MODEL_INVERSE_PLUS,
	MODEL_POLYNOMIAL,
	MODEL_LOADED,
	MODEL_FORMS
};

/**
 * struct model_fit - a function that fits times
 * @loaded: of MODEL_LOADED, else NULL
 * @factors: of the terms of @form
 * @explained: share of the variance that it explains, the coefficient of determination; 1 if there is none
 */
struct model_fit {
	enum model_form form;
	const struct iotape_model *loaded;
	double factors[IOTAPE_MODEL_FACTORS_MAX];
	double explained;
};

struct model_fit model_fit(const u64 *ranks, const double *values, u32 count, const struct iotape_model *loaded);
double model_value(const struct model_fit *fit, u64 ranks);
const char *model_name(enum model_form form);

#endif
