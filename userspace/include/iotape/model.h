/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * iotape/model.h - functions of the number of ranks that `iotape pattern --extrapolate --model=FILE` loads.
 *
 * FILE is a shared object that defines the object `iotape_model`. Its function competes with the built-in ones (constant,
 * linear, inverse, inverse plus constant, polynomial) for the times of each operation of a loop body, and is used where its
 * mean square of errors by degrees of freedom is the smallest. It never changes which operations there are.
 *
 *	gcc -shared -fPIC model.c -o model.so
 *	iotape pattern --extrapolate=1024 --model=./model.so r8.ipt r16.ipt r32.ipt r64.ipt -o r1024.ipt
 */
#ifndef IOTAPE_MODEL_H
#define IOTAPE_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IOTAPE_MODEL_VERSION 1
#define IOTAPE_MODEL_FACTORS_MAX 8

/**
 * struct iotape_model - a form of functions
 * @version: IOTAPE_MODEL_VERSION; another one is refused
 * @name: printed beside those of the built-in forms; at most 32 printable characters
 * @factors: number of the parameters, from 1 to IOTAPE_MODEL_FACTORS_MAX; it is used with more runs than this only
 * @fit: find the parameters: @ranks has @count different numbers, ascending, and @values_ns the mean times; return 0, or
 *	another number if no function of the form fits
 * @value_ns: the time at a number of ranks; below 0 counts as 0
 *
 * Both functions are called by one thread. They may not change @ranks and @values_ns.
 */
struct iotape_model {
	uint32_t version;
	uint32_t factors;
	const char *name;
	int (*fit)(const uint64_t *ranks, const double *values_ns, uint32_t count, double *factors);
	double (*value_ns)(const double *factors, uint64_t ranks);
};

extern const struct iotape_model iotape_model;

#ifdef __cplusplus
}
#endif

#endif
