/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * omissions.h - omissions of a result, for the user: the same words beside every result.
 */
#ifndef IOTAPE_TOOLS_OMISSIONS_H
#define IOTAPE_TOOLS_OMISSIONS_H

#include <stdio.h>

#include "facts.h"
#include "json.h"
#include "lib/iotape.h"

void omissions_print(FILE *out, const char *before, const struct iot_omissions *omissions);
void omissions_list(FILE *out, const char *before, const struct iot_omissions *omissions);
void omissions_json(struct json *json, const struct iot_omissions *omissions);
void omissions_add_facts(struct facts *facts, const struct iot_omissions *omissions);
int omissions_verdict(bool has_differences, const struct iot_omissions *omissions);
void omissions_print_verdict(const char *before, bool has_differences, const struct iot_omissions *omissions);

#endif
