/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * browser.h - a page as PDF, by an installed browser.
 */
#ifndef IOTAPE_BROWSER_H
#define IOTAPE_BROWSER_H

#include <stddef.h>

int browser_print(const char *page, size_t bytes, const char *output);

#endif
