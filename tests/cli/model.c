// SPDX-License-Identifier: GPL-2.0-only
/*
 * model.c - an example of a model for `iotape pattern --extrapolate --model`: times that grow with the logarithm of the number
 * of ranks, as those of many collective calls do. Fitted by least squares.
 *
 *	gcc -shared -fPIC model.c -o model.so -lm
 */
#include <iotape/model.h>
#include <math.h>

static int fit(const uint64_t *ranks, const double *values_ns, uint32_t count, double *factors)
{
	double n = count, x = 0, y = 0, xx = 0, xy = 0, divisor;
	uint32_t i;

	for (i = 0; i < count; i++) {
		double term = log2((double)ranks[i]);

		x += term;
		y += values_ns[i];
		xx += term * term;
		xy += term * values_ns[i];
	}
	divisor = n * xx - x * x;
	if (fabs(divisor) < 1e-9)
		return 1;
	factors[1] = (n * xy - x * y) / divisor;
	factors[0] = (y - factors[1] * x) / n;
	return 0;
}

static double value_ns(const double *factors, uint64_t ranks)
{
	return factors[0] + factors[1] * log2((double)ranks);
}

const struct iotape_model iotape_model = {
	.version = IOTAPE_MODEL_VERSION,
	.factors = 2,
	.name = "logarithm",
	.fit = fit,
	.value_ns = value_ns,
};
