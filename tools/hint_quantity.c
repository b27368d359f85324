// SPDX-License-Identifier: GPL-2.0-only
/*
 * hint_quantity.c - numbers of hints, for advise and report.
 */
#include "hint_quantity.h"

#include <stdio.h>

#include "table.h"

/**
 * hint_quantity() - a number of a hint with its unit
 * @text: room for it
 * @unit: of @value
 * @value: a number of bytes, nanoseconds or things
 *
 * Return: @text.
 */
const char *hint_quantity(char text[32], enum advise_unit unit, u64 value)
{
	switch (unit) {
	case ADVISE_BYTES:
		return quantity_bytes(text, value);
	case ADVISE_NS:
		return quantity_time(text, value);
	default:
		snprintf(text, 32, "%llu", value);
		return text;
	}
}
