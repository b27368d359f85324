/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * html.h - text, tables and templates in HTML that is well-formed XML, too.
 *
 * Everything that comes from a trace goes through html_text(): it is text everywhere, in elements and in attributes.
 */
#ifndef IOTAPE_HTML_H
#define IOTAPE_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "table.h"

#define HTML_TEXT_MAX 600 /* bytes of a text that are shown; the middle of a longer one is left out */

void html_text(FILE *out, const char *text);
void html_element(FILE *out, const char *element, const char *text);
void html_row(FILE *out, const struct table *table, size_t row, bool is_head);
void html_table(FILE *out, const struct table *table, const char *class);

/**
 * struct html_slot - a place in a template
 * @name: as in {{name}}
 * @put: writes the contents
 * @is_shown: of {{if name}}: whether the text up to {{end}} is shown; such parts do not nest
 */
struct html_slot {
	const char *name;
	void (*put)(FILE *out, const void *context);
	bool (*is_shown)(const void *context);
};

void html_template(FILE *out, const char *template, const struct html_slot *slots, const void *context);

#endif
