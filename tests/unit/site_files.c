// SPDX-License-Identifier: GPL-2.0-only
/*
 * site_files.c - call sites in pattern files: a feature of those that have some, and the limits of their texts, which nothing outside is
 * trusted to keep.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "core/crc32c.h"
#include "pattern/sites.h"
#include "pattern/state.h"
#include "pattern_text.h"

#define HEAD_BYTES    40
#define AT_FEATURES   12
#define FEATURE_TIMES 1
#define FEATURE_MADE  2
#define FEATURE_SITES 4

/* Two tasks with times, nested loops, names with numbers, and a value. */
static const char plain[] =
	"size 6\n"
	"ranks 0-4/2,5 {\n"
	"  for i in 0 .. 2*rank {\n"
	"    write \"d{i:03}/f.{rank}\" offset_bytes=4K*i length_bytes=512 handle=1 think=1.5ms takes=2ms\n"
	"  }\n"
	"}\n"
	"tasks all {\n"
	"  setxattr \"f\" \"user.x\" length_bytes=2 flags=0 implied value=\"\\001{\\377\"\n"
	"}\n";

static struct pattern *parse(const char *text)
{
	struct pattern_refusal refusal = {};
	struct pattern *pattern;

	if (pattern_parse(text, strlen(text), 0, 1000, &pattern, &refusal))
		fail_msg("%s", refusal.text);
	return pattern;
}

/* One operation. */
static void write_text(char *text, const char *site)
{
	sprintf(text, "size 1; rank 0 { fsync \"f\" end_bytes=1 site=\"%s\" }", site);
}

static u8 *image_of(const struct pattern *pattern, size_t *bytes)
{
	void *image;

	assert_int_equal(pattern_image(pattern, &image, bytes), 0);
	return image;
}

static u8 *description_of(const u8 *image, size_t bytes, size_t *count)
{
	u8 *raw;

	*count = iot_get_u64(image + 16);
	raw = malloc(*count + 16);
	assert_non_null(raw);
	assert_int_equal(ZSTD_decompress(raw, *count, image + HEAD_BYTES, bytes - HEAD_BYTES), *count);
	return raw;
}

/* A file with correct checksums. Return: its bytes, to be freed by the caller. */
static u8 *file_of(const u8 *raw, size_t count, u32 features, size_t *bytes)
{
	u8 *image = malloc(HEAD_BYTES + ZSTD_compressBound(count));
	size_t stored;

	assert_non_null(image);
	stored = ZSTD_compress(image + HEAD_BYTES, ZSTD_compressBound(count), raw, count, 1);
	memcpy(image, "IOTAPTRN", 8);
	iot_put_u32(image + 8, 1);
	iot_put_u32(image + AT_FEATURES, features);
	iot_put_u64(image + 16, count);
	iot_put_u64(image + 24, stored);
	iot_put_u32(image + 32, iot_crc32c(0, image + HEAD_BYTES, stored));
	iot_put_u32(image + 36, iot_crc32c(0, image, 36));
	*bytes = HEAD_BYTES + stored;
	return image;
}

/* Return: the reason for which a file is refused; 0: it is read. */
static u32 reason_of(const u8 *raw, size_t count, u32 features)
{
	struct iot_reject reject = {};
	struct pattern *pattern;
	size_t bytes;
	u8 *image = file_of(raw, count, features, &bytes);

	if (!pattern_load_bytes(image, bytes, &pattern, &reject))
		pattern_free(pattern);
	free(image);
	return reject.reason;
}

/* -- features -------------------------------------------------------------------------------------------------- */

static void sites_are_a_feature(void **state)
{
	const u32 others = FEATURE_TIMES | FEATURE_MADE;
	struct pattern *pattern;
	size_t bytes, count;
	char text[200];
	u8 *image, *raw;

	(void)state;
	write_text(text, "main@a.c:3");
	strcpy(strrchr(text, '}'), "takes=1us }");
	pattern = parse(text);
	image = image_of(pattern, &bytes);
	raw = description_of(image, bytes, &count);
	assert_int_equal(iot_get_u32(image + AT_FEATURES), others | FEATURE_SITES);
	assert_int_equal(reason_of(raw, count, others | FEATURE_SITES), 0);
	assert_int_equal(reason_of(raw, count, others), IOT_REJECT_pattern_data); /* a reader of before would call it damaged */
	assert_int_equal(reason_of(raw, count, others | FEATURE_SITES | 1u << 31), IOT_REJECT_pattern_feature);
	free(raw);
	free(image);
	pattern_free(pattern);
}

/* The numbers are those of the format before it had call sites. */
static void patterns_without_sites_have_the_same_bytes(void **state)
{
	struct pattern *pattern = parse(plain);
	size_t bytes, count;
	u8 *image = image_of(pattern, &bytes), *raw = description_of(image, bytes, &count);

	(void)state;
	assert_int_equal(iot_get_u32(image + AT_FEATURES), FEATURE_TIMES | FEATURE_MADE);
	assert_int_equal(count, 931);
	assert_int_equal(iot_crc32c(0, raw, count), 0xdf26ca1b);
	assert_int_equal(reason_of(raw, count, FEATURE_TIMES | FEATURE_MADE), 0);
	assert_int_equal(reason_of(raw, count, FEATURE_TIMES | FEATURE_MADE | FEATURE_SITES), IOT_REJECT_pattern_data);
	free(raw);
	free(image);
	pattern_free(pattern);
}

/* -- hostile texts ---------------------------------------------------------------------------------------------- */

/* The site of the one operation is overwritten in the description, and its length changed. */
static u32 reason_of_site(const char *site, int more)
{
	char text[200], good[20] = "AAAAAAAAAAAA";
	struct pattern *pattern;
	size_t bytes, count;
	u8 *image, *raw, *at;
	u32 reason;

	good[strlen(site)] = 0;
	write_text(text, good);
	pattern = parse(text);
	image = image_of(pattern, &bytes);
	raw = description_of(image, bytes, &count);
	at = memmem(raw, count, good, strlen(good));
	assert_non_null(at);
	assert_int_equal(at[-1], strlen(site));
	at[-1] = (u8)(at[-1] + more);
	memcpy(at, site, strlen(site));
	reason = reason_of(raw, count, iot_get_u32(image + AT_FEATURES));
	free(raw);
	free(image);
	pattern_free(pattern);
	return reason;
}

/* The longest site gets one byte more in the description: its length and that of its shape grow by one. */
static u32 reason_of_long_site(u32 more)
{
	char *text = malloc(SITE_BYTES_MAX + 200), *site = malloc(SITE_BYTES_MAX + 1);
	static const u8 length_of_site[] = { (SITE_BYTES_MAX & 0x7f) | 0x80, SITE_BYTES_MAX >> 7 };
	size_t bytes, count, shape_bytes;
	struct pattern *pattern;
	u8 *image, *raw, *at;
	const u8 *shape;
	u32 reason, i;

	assert_true(text && site);
	memset(site, 'A', SITE_BYTES_MAX);
	site[SITE_BYTES_MAX] = 0;
	write_text(text, site);
	pattern = parse(text);
	image = image_of(pattern, &bytes);
	raw = description_of(image, bytes, &count);
	for (i = 0; !shapes_at(&pattern->shapes, i)->site_bytes;)
		i++;
	shape = shapes_bytes(&pattern->shapes, i, &shape_bytes);
	at = memmem(raw, count, shape, shape_bytes);
	assert_non_null(at);
	assert_int_equal((at[-2] & 0x7f) | at[-1] << 7, shape_bytes);
	at[-2] += (u8)more; /* the lowest 7 bits have room */
	assert_true(at[-2] & 0x80);
	assert_memory_equal(at + shape_bytes - SITE_BYTES_MAX - 2, length_of_site, 2);
	at[shape_bytes - SITE_BYTES_MAX - 2] += (u8)more;
	memmove(at + shape_bytes + more, at + shape_bytes, (size_t)(raw + count - at) - shape_bytes);
	memset(at + shape_bytes, 'A', more);
	reason = reason_of(raw, count + more, iot_get_u32(image + AT_FEATURES));
	free(raw);
	free(image);
	pattern_free(pattern);
	free(text);
	free(site);
	return reason;
}

static void files_with_hostile_sites_are_refused(void **state)
{
	(void)state;
	assert_int_equal(reason_of_site("f\303\274r", 0), 0);
	assert_int_equal(reason_of_site("a\033[31m", 0), IOT_REJECT_pattern_data);
	assert_int_equal(reason_of_site("a\nb", 0), IOT_REJECT_pattern_data);
	assert_int_equal(reason_of_site("a\177", 0), IOT_REJECT_pattern_data);
	assert_int_equal(reason_of_site("a\302\205", 0), IOT_REJECT_pattern_data); /* U+0085 */
	assert_int_equal(reason_of_site("a\377b", 0), IOT_REJECT_pattern_data);
	assert_int_equal(reason_of_site("ab\303", 0), IOT_REJECT_pattern_data); /* the end of a character is missing */
	assert_int_equal(reason_of_site("main", 1), IOT_REJECT_pattern_data);
	assert_int_equal(reason_of_site("main", -1), IOT_REJECT_pattern_data);
	assert_int_equal(reason_of_site("main", -4), IOT_REJECT_pattern_data);
	assert_int_equal(reason_of_long_site(0), 0);
	assert_int_equal(reason_of_long_site(1), IOT_REJECT_pattern_data);
}

SUITE("site_files",
      TEST(sites_are_a_feature)
      TEST(patterns_without_sites_have_the_same_bytes)
      TEST(files_with_hostile_sites_are_refused))
