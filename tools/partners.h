/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * partners.h - the MPI calls of a trace, each with the one that it belongs to.
 */
#ifndef IOTAPE_TOOLS_PARTNERS_H
#define IOTAPE_TOOLS_PARTNERS_H

#include <stdbool.h>

int print_partners(const char *trace, bool is_json);

#endif
