// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_report.c - iotape report: runs side by side in one HTML file that needs nothing else.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "option.h"
#include "runs.h"

#define FILES_SHOWN 20
#define BAR_WIDTH   400

struct options {
	const char *paths[COMPARISON_RUNS_MAX];
	u32 path_count;
	const char *output;
	const char *title;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void add_trace(struct option_state *state, char *path)
{
	struct options *options = state->options;

	if (options->path_count == COMPARISON_RUNS_MAX)
		option_error(state, "%s: at most %d traces at a time", path, COMPARISON_RUNS_MAX);
	options->paths[options->path_count++] = path;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->path_count)
		option_error(state, "no trace given");
	if (!options->output)
		option_error(state, "no --output given");
}

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write the report to FILE (required)" },
	{ "title", 't', OPTION_TEXT, "TEXT", .field = FIELD(title), .help = "heading (default: Runs side by side)" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE...",
	.operand_type = OPTION_FILE,
	.add = add_trace,
	.check = check,
	.about = "Write the output of `iotape compare`, the files with the longest operation times and the facts of "
		 "each run to one HTML file.",
};

static void put_character(FILE *out, const char *text, size_t bytes)
{
	switch (*text) {
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '&':
		fputs("&amp;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	default:
		fwrite(text, bytes, 1, out);
	}
}

/* Bytes that are not UTF-8, such as in the name of a file, become \ooo, as in iot_text_bytes(). */
static void put_text(FILE *out, const char *text)
{
	const char *end = text + strlen(text);
	size_t bytes;
	u32 character;

	for (; text < end; text += bytes ? bytes : 1) {
		bytes = iot_text_utf8(text, (size_t)(end - text), &character);
		if (bytes)
			put_character(out, text, bytes);
		else
			fprintf(out, "\\%03o", (unsigned char)*text);
	}
}

static void put_element(FILE *out, const char *element, const char *text)
{
	fprintf(out, "<%s>", element);
	put_text(out, text);
	fprintf(out, "</%s>\n", element);
}

/* The first cell is the heading of its row; the cells of the first row are headings of their columns. */
static void put_row(FILE *out, const struct table *table, size_t row, bool is_head)
{
	size_t columns = (size_t)table->columns, i;

	fputs("<tr>", out);
	for (i = row * columns; i < (row + 1) * columns && i < table->count; i++)
		put_element(out, is_head || i == row * columns ? "th" : "td", table->cells[i]);
	fputs("</tr>\n", out);
}

static void put_table(FILE *out, const struct table *table)
{
	size_t rows = table->count / (size_t)table->columns, row;

	fputs("<table>\n", out);
	for (row = 0; row < rows; row++)
		put_row(out, table, row, row == 0);
	fputs("</table>\n", out);
}

/* What latency_table() makes has no row of names; what runs_table() makes begins with one. */
static void put_latencies(FILE *out, const struct comparison *c)
{
	struct table runs, latencies;
	size_t row;

	put_element(out, "h2", "Latencies");
	runs_table(&runs, c);
	latency_table(&latencies, c, true);
	fputs("<table>\n", out);
	put_row(out, &runs, 0, true);
	for (row = 0; row < latencies.count / (size_t)latencies.columns; row++)
		put_row(out, &latencies, row, false);
	fputs("</table>\n", out);
	table_close(&latencies);
	table_close(&runs);
}

/* A bar for each run, as long as the run took. */
static void put_bars(FILE *out, const struct comparison *c)
{
	double longest = 0;
	u32 i;

	for (i = 0; i < c->run_count; i++)
		if (c->runs[i].seconds > longest)
			longest = c->runs[i].seconds;
	if (longest <= 0)
		return;
	fprintf(out, "<svg width=\"%d\" height=\"%u\" role=\"img\">\n", BAR_WIDTH + 400,
		24 * c->run_count);
	for (i = 0; i < c->run_count; i++) {
		const struct comparison_run *run = &c->runs[i];
		double width = BAR_WIDTH * run->seconds / longest;

		fprintf(out, "<rect class=\"%s\" x=\"0\" y=\"%u\" width=\"%.1f\" height=\"18\"/>\n",
			run->is_replay ? "replay" : "original", 24 * i, width);
		fprintf(out, "<text x=\"%.1f\" y=\"%u\">%.3f s, %s on ", width + 6, 24 * i + 14,
			run->seconds, run->is_replay ? "replay" : "original");
		put_text(out, run->place);
		fputs("</text>\n", out);
	}
	fputs("</svg>\n", out);
}

static void put_files(FILE *out, const struct profile *p)
{
	u32 i, count = p->file_count < FILES_SHOWN ? p->file_count : FILES_SHOWN;
	struct table table;

	table_open(&table, 7);
	table_cell(&table, "file");
	table_cell(&table, "operations");
	table_cell(&table, "failed");
	table_cell(&table, "time");
	table_cell(&table, "read");
	table_cell(&table, "written");
	table_cell(&table, "touched");
	for (i = 0; i < count; i++) {
		const struct profile_sum *sum = &p->files[i].sum;
		char escaped[4 * IOT_PROGRAM_PATH_MAX + 1];

		iot_text_bytes(escaped, sizeof(escaped), p->files[i].path, strlen(p->files[i].path));
		table_cell(&table, "%s", escaped[0] ? escaped : "?");
		table_cell(&table, "%llu", sum->ops);
		table_cell(&table, "%llu", sum->errors);
		table_time(&table, sum->time_ns);
		table_bytes(&table, sum->read_bytes);
		table_bytes(&table, sum->written_bytes);
		table_bytes(&table, sum->touched_bytes);
	}
	put_table(out, &table);
	table_close(&table);
	if (count < p->file_count)
		fprintf(out, "<p>... and %u more files</p>\n", p->file_count - count);
}

static void put_run(FILE *out, const struct comparison_run *run)
{
	u32 i;

	put_element(out, "h2", run->path);
	fputs("<ul>\n", out);
	for (i = 0; i < run->profile->fact_count; i++)
		put_element(out, "li", run->profile->facts[i]);
	fputs("</ul>\n", out);
	put_files(out, run->profile);
}

static void put_head(FILE *out, const char *title)
{
	char written[64];
	time_t now = time(NULL);

	strftime(written, sizeof(written), "%Y-%m-%d %H:%M:%S %z", localtime(&now));
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n", out);
	put_element(out, "title", title);
	fputs("<style>\n"
	      "body { font: 15px sans-serif; margin: 2em; max-width: 80em }\n"
	      "table { border-collapse: collapse; margin: 1em 0 }\n"
	      "th, td { padding: 2px 12px; text-align: right; border-bottom: 1px solid #ddd }\n"
	      "th:first-child { text-align: left }\n"
	      ".original { fill: #4477aa } .replay { fill: #ee8844 }\n"
	      ".warning { background: #fff3cd; padding: 4px 8px }\n"
	      "</style></head><body>\n",
	      out);
	put_element(out, "h1", title);
	fprintf(out, "<p>iotape %s, %s</p>\n", IOTAPE_VERSION, written);
}

static void put_report(FILE *out, const struct options *options, const struct comparison *c)
{
	struct table table;
	u32 i;

	put_head(out, options->title);
	put_bars(out, c);
	for (i = 0; i < c->warning_count; i++) {
		fputs("<p class=\"warning\">", out);
		put_text(out, c->warnings[i].text);
		fputs("</p>\n", out);
	}
	runs_table(&table, c);
	put_table(out, &table);
	table_close(&table);
	if (runs_have_nodes(c)) {
		put_element(out, "h2", "Nodes");
		nodes_table(&table, c);
		put_table(out, &table);
		table_close(&table);
	}
	put_latencies(out, c);
	for (i = 0; i < c->run_count; i++)
		put_run(out, &c->runs[i]);
	fputs("</body></html>\n", out);
}

static int write_report(const struct options *options, const struct comparison *c)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int err = -ENOMEM;

	if (out) {
		put_report(out, options, c);
		if (!fclose(out))
			err = iot_file_save(options->output, text, bytes);
	}
	free(text);
	return err ? fail("%s: %s", options->output, strerror(-err)) : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options options = { .title = "Runs side by side" };
	struct comparison comparison;
	struct iot_reject reject;
	u32 refused, i;
	int code;

	options_parse(&option_table, argc, argv, &options);
	for (i = 0; i < options.path_count; i++)
		if (iot_file_is_same(options.paths[i], options.output))
			return fail("%s: is the output, too", options.paths[i]);
	code = comparison_read(options.paths, options.path_count, &comparison, &refused, &reject);
	if (code)
		code = fail_reject(options.paths[refused], code, &reject);
	else
		code = write_report(&options, &comparison);
	comparison_free(&comparison);
	return code;
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "write a comparison of runs to an HTML file",
	.run = run,
	.options = &option_table,
};
