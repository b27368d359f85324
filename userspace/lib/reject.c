// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * reject.c - refusals as sentences.
 */
#include "iotape.h"

/**
 * iot_reject_sentence() - the reason of a refusal
 * @reject: as filled in by the function that refused
 *
 * Return: a text to be printed after the name of the file and the place.
 */
const char *iot_reject_sentence(const struct iot_reject *reject)
{
	switch (reject->reason) {
#define SENTENCE(id, name, error, sentence) \
	case id:                            \
		return sentence;
		IOT_REJECTS(SENTENCE)
#undef SENTENCE
	default:
		return "refused for an unknown reason";
	}
}
