/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * import_text.h - the result of an import, as text.
 */
#ifndef IOTAPE_IMPORT_TEXT_H
#define IOTAPE_IMPORT_TEXT_H

#include "import/import.h"

void import_say_gaps(const struct import_summary *summary);

#endif
