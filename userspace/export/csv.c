// SPDX-License-Identifier: GPL-2.0-only
/*
 * csv.c - comma-separated values as in RFC 4180, a line for each record, bytes of names as they are.
 */
#include "columns.h"

static void put_text(FILE *out, const void *text, size_t bytes)
{
	const char *p = text;
	size_t i;

	fputc('"', out);
	for (i = 0; i < bytes; i++) {
		if (p[i] == '"')
			fputc('"', out);
		fputc(p[i], out);
	}
	fputc('"', out);
}

static void put_value(FILE *out, enum export_column_type type, const struct export_value *value)
{
	switch (type) {
	case EXPORT_COLUMN_UNSIGNED:
		fprintf(out, "%llu", value->number);
		break;
	case EXPORT_COLUMN_SIGNED:
		fprintf(out, "%lld", (s64)value->number);
		break;
	case EXPORT_COLUMN_WORD:
		fwrite(value->text, 1, value->bytes, out);
		break;
	case EXPORT_COLUMN_TEXT:
		put_text(out, value->text, value->bytes);
		break;
	}
}

static int begin(struct export *x)
{
	const struct export_column *column;
	size_t i;

	for (i = 0; (column = export_column_at(i)); i++)
		fprintf(x->out, "%s%s", i ? "," : "", column->name);
	fputs("\r\n", x->out);
	return 0;
}

static int take(struct export *x, const struct export_event *e)
{
	const struct export_column *column;
	struct export_value value;
	size_t i;

	for (i = 0; (column = export_column_at(i)); i++) {
		if (i)
			fputc(',', x->out);
		if (export_column_value(x, e, column, &value))
			put_value(x->out, column->type, &value);
	}
	fputs("\r\n", x->out);
	return 0;
}

const struct export_format export_format_csv = {
	.name = "csv",
	.sentence = "comma-separated values, for spreadsheets and databases",
	.begin = begin,
	.take = take,
};
