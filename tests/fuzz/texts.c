// SPDX-License-Identifier: GPL-2.0-only
/*
 * texts.c - mutated texts of patterns through pattern_parse(), pattern_print(), pattern_expand() and pattern_image(), and the
 * same as XML.
 *
 *	texts [--seed=N] [--count=N] [--keep=DIR] TRACE...
 *
 * Inputs begin as the printed pattern of one of the traces, or as a text that has each part of the language. A text that passes
 * is printed, and read again as the same operations; one that does not is refused with the place of its first error.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/trace/record.h"
#include "mutate.h"
#include "pattern/pattern.h"

#define SEEDS_MAX      130
#define TEXT_MAX       20000 /* bytes of the text of a trace that is used */
#define OPERATIONS_MAX 2000

static const char every_part[] =
	"size 6\n"
	"ranks 0-4/2,5 {\n"
	"   for i in 1 .. 2*rank {\n"
	"     write \"d{i:03}/f.{rank}\\040x\" offset_bytes=4K*i - (rank mod 3)*8 length_bytes=by rank {512, 7..9} handle=1 think=1.5ms\n"
	"     | read \"f\" offset_bytes=each {0..3} length_bytes=each {(1, 2) x 2 + 5} -> ENOSPC\n"
	"   }\n"
	"   for k in 0 .. each {-1, 3} div 2 { barrier; sleep 3us; }\n"
	"   fsync \"f\" site=\"phase@a.c:3 < \\303\\274+0x1f[?] < \\{~\\\"?\"; fsync \"f\" site=\"phase@a.c:4 < Ã¼+0x1f[?] < \\{~\\\"?\"\n"
	"}\n"
	"tasks all {\n"
	"== mpi_coll allgather sources=runs from=[0, size] comm=1 takes=2s\n"
	"   setxattr \"f\" \"user.x\" length_bytes=2 flags=0 implied value=\"\\001{\\377\"\n"
	"}\n"
	"found { lookup \"f#0\"; lookup \"d/g#1\" }\n";

#ifdef IOTAPE_HAS_LIBXML2
static const char every_element[] =
	"<?xml version=\"1.0\"?>\n"
	"<workload ranks=\"6\">\n"
	"<variable name=\"PARTS\" default=\"3\"/>\n"
	"<datatype name=\"row\" count=\"4\" block=\"2\" stride=\"5\" of=\"8\"/>\n"
	"<datatype name=\"rows\" count=\"PARTS\" of=\"row\"/>\n"
	"<pool name=\"p\" path=\"d\" count=\"7\" directories=\"2\" create=\"yes\" minimum_bytes=\"1\" maximum_bytes=\"4K\" seed=\"3\"/>\n"
	"<task ranks=\"0-4/2,5\">\n"
	"<series variable=\"i\" first=\"1\" last=\"2*RANK\">\n"
	"<write path=\"d{i:03}/f.{rank}\\040&quot;&#xfc;\" offset_bytes=\"4K*i\" length_bytes=\"by rank {512, 7..9}\" think=\"1.5ms\"/>\n"
	"<read pool=\"p\" index=\"RANK + i\" handle=\"1\" result=\"ENOSPC\" depth=\"1\"/><!-- <a> -->\n"
	"</series><series repeat=\"2\"><barrier/><sleep time=\"3us\"/></series>\n"
	"<fsync path=\"f\" site=\"phase@a.c:3 &lt; \\303\\274+0x1f[?] &lt; \\{~&quot;?\"/><fsync path=\"f\" site=\"phase@a.c:4 &lt; &#xfc;\"/>\n"
	"<mpi_write position=\"shared\" coordination=\"collective\" synchronization=\"begin\" datatype=\"rows\" count=\"SIZE\" comm=\"1\"/>\n"
	"</task><task tasks=\"all\"><setxattr path=\"f\" path2=\"user.x\" implied=\"yes\" value=\"\\001{\\377\"/></task>\n"
	"<found><lookup path=\"f#0\"/></found></workload>\n";
#endif

static struct {
	char *text;
	size_t bytes;
	bool is_xml;
} seeds[SEEDS_MAX];
static size_t seed_count;

static char *text_of(const struct pattern *pattern, size_t *bytes)
{
	char *text;
	FILE *out = open_memstream(&text, bytes);

	if (!out || pattern_print(pattern, true, out) || fclose(out))
		abort();
	return text;
}

static void keep_seed(char *text, size_t bytes, bool is_xml)
{
	if (bytes > TEXT_MAX || seed_count == SEEDS_MAX) {
		free(text);
		return;
	}
	seeds[seed_count].text = text;
	seeds[seed_count].is_xml = is_xml;
	seeds[seed_count++].bytes = bytes;
}

#ifdef IOTAPE_HAS_LIBXML2
static char *xml_of(const struct pattern *pattern, size_t *bytes)
{
	struct pattern_refusal refusal;
	char *text;
	FILE *out = open_memstream(&text, bytes);

	if (!out || pattern_print_xml(pattern, true, out, &refusal) || fclose(out))
		abort();
	return text;
}
#endif

static void add_seed(const char *path)
{
	struct iot_omissions omissions;
	struct iot_reject reject;
	struct pattern *pattern;
	size_t bytes;
	char *text;

	if (seed_count == SEEDS_MAX || pattern_make(path, &pattern, &omissions, &reject))
		return;
	text = text_of(pattern, &bytes);
	keep_seed(text, bytes, false);
#ifdef IOTAPE_HAS_LIBXML2
	text = xml_of(pattern, &bytes);
	keep_seed(text, bytes, true);
#endif
	pattern_free(pattern);
}

/* Another number instead of one of the text. Return: the new length. */
static size_t change_number(struct rng *rng, char *text, size_t bytes)
{
	size_t at = rng_below(rng, bytes), end, length;
	char number[32];

	while (at < bytes && !isdigit((unsigned char)text[at]))
		at++;
	for (end = at; end < bytes && isdigit((unsigned char)text[end]);)
		end++;
	length = (size_t)snprintf(number, sizeof(number), "%llu", (unsigned long long)mutate_number(rng, strtoull(text + at, NULL, 10)));
	memmove(text + at + length, text + end, bytes - end);
	memcpy(text + at, number, length);
	return bytes - (end - at) + length;
}

/* A part of the text once more, or no longer there. */
static size_t move_part(struct rng *rng, char *text, size_t bytes)
{
	size_t from = rng_below(rng, bytes), length = rng_below(rng, bytes - from < 200 ? bytes - from : 200);

	if (rng_one_in(rng, 2)) {
		memmove(text + from, text + from + length, bytes - from - length);
		return bytes - length;
	}
	memmove(text + from + length, text + from, bytes - from);
	return bytes + length;
}

static char *make_input(struct rng *rng, size_t *bytes, bool *is_xml)
{
	size_t seed = rng_below(rng, seed_count);
	u64 changes = rng_below(rng, 4);
	char *text = calloc(1, seeds[seed].bytes + 1000);

	if (!text)
		abort();
	*is_xml = seeds[seed].is_xml;
	*bytes = seeds[seed].bytes;
	memcpy(text, seeds[seed].text, *bytes);
	for (; changes && *bytes; changes--) {
		if (rng_one_in(rng, 4))
			mutate_bytes(rng, (u8 *)text, *bytes);
		else if (rng_one_in(rng, 3))
			*bytes = move_part(rng, text, *bytes);
		else
			*bytes = change_number(rng, text, *bytes);
	}
	if (rng_one_in(rng, 20))
		*bytes = rng_below(rng, *bytes);
	return text;
}

static bool is_clear(const char *text, bool is_xml)
{
	size_t digits = strspn(text, "0123456789");

	return digits && text[digits] == ':' && (is_xml ? text[digits + 1] == ' ' : isdigit((unsigned char)text[digits + 1])) && strstr(text, ": ") && !strchr(text, '\n');
}

#ifdef IOTAPE_HAS_LIBXML2
static void check_xml(const struct pattern *pattern, const u8 digest[32])
{
	struct pattern_refusal refusal = {};
	struct pattern_summary again;
	struct pattern *made;
	size_t bytes;
	char *text = xml_of(pattern, &bytes);

	if (pattern_parse_xml(text, bytes, 0, OPERATIONS_MAX, &made, &refusal)) {
		fprintf(stderr, "%s\n%s", refusal.text, text);
		abort();
	}
	pattern_summarize(made, &again);
	if (memcmp(again.digest, digest, 32)) {
		fprintf(stderr, "the operations differ:\n%s", text);
		abort();
	}
	pattern_free(made);
	free(text);
}
#endif

/* The operations of the printed pattern are the same. */
static void check(const struct pattern *pattern)
{
	struct pattern_summary summary, again;
	struct pattern_refusal refusal = {};
	struct pattern *made;
	u64 operations;
	u8 digest[32];
	size_t bytes;
	void *image;
	char *text = text_of(pattern, &bytes);

	pattern_summarize(pattern, &summary);
	if (pattern_expand(pattern, NULL, UINT64_MAX, digest, &operations) || memcmp(digest, summary.digest, 32))
		abort();
	if (pattern_parse(text, bytes, 0, OPERATIONS_MAX, &made, &refusal)) {
		fprintf(stderr, "%s\n%s", refusal.text, text);
		abort();
	}
	pattern_summarize(made, &again);
	if (memcmp(again.digest, summary.digest, 32)) {
		fprintf(stderr, "the operations differ:\n%s", text);
		abort();
	}
	if (pattern_image(made, &image, &bytes))
		abort();
#ifdef IOTAPE_HAS_LIBXML2
	check_xml(pattern, summary.digest);
#endif
	free(image);
	pattern_free(made);
	free(text);
}

int main(int argc, char **argv)
{
	u64 accepted = 0, unclear = 0, seed;
	struct fuzz_options options;
	int i = fuzz_options(argc, argv, &options);

	for (; i < argc; i++)
		add_seed(argv[i]);
	keep_seed(strdup(every_part), sizeof(every_part) - 1, false);
#ifdef IOTAPE_HAS_LIBXML2
	keep_seed(strdup(every_element), sizeof(every_element) - 1, true);
#endif
	for (seed = options.seed; seed < options.seed + options.count; seed++) {
		struct pattern_refusal refusal = {};
		struct pattern *pattern;
		struct rng rng;
		size_t bytes;
		bool is_xml;
		char *text;
		int err;

		rng_seed(&rng, seed);
		fuzz_begin(seed);
		text = make_input(&rng, &bytes, &is_xml);
		fuzz_keep(&options, seed, text, bytes);
		err = (is_xml ? pattern_parse_xml : pattern_parse)(text, bytes, 0, OPERATIONS_MAX, &pattern, &refusal);
		free(text);
		if (!err) {
			accepted++;
			check(pattern);
			pattern_free(pattern);
		} else if (err != -EOPNOTSUPP || !is_clear(refusal.text, is_xml)) {
			unclear++;
			printf("# seed %llu: %d %s\n", (unsigned long long)seed, err, refusal.text);
		}
	}
	while (seed_count)
		free(seeds[--seed_count].text);
	printf("%sok 1 - %llu of %llu mutated texts are patterns, and the others are refused with a place\n1..1\n",
	       accepted && accepted < options.count && !unclear ? "" : "not ", (unsigned long long)accepted,
	       (unsigned long long)options.count);
	return !(accepted && accepted < options.count && !unclear);
}
