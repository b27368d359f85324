// SPDX-License-Identifier: GPL-2.0-only
/*
 * patterns.c - mutated patterns through pattern_load_bytes(), pattern_print(), pattern_expand(), pattern_change(), pattern_merge() and
 * pattern_trace().
 *
 *	patterns [OPTION]... TRACE...	see fuzz_options()
 *
 * Inputs begin as the pattern of one of the traces, or as a part of a job of that, or of a text with call sites, or
 * with a file that several ranks create, or with views. Most mutations apply to the description, which is compressed again with
 * correct checksums; some to the head. A pattern that passes is printed, and its first operations are expanded; if it is small,
 * all changes are applied to it, and a trace is written; a part is merged, alone and with that of another node. All may refuse it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "core/crc32c.h"
#include "core/trace/record.h"
#include "mutate.h"
#include "pattern/state.h"

#define SEEDS_MAX     64
#define HEAD_BYTES    40
#define BYTES_MAX     (1 << 20)
#define EXPANDED_MAX  2000
#define FEATURE_SITES 4
#define FEATURE_PART  32

static struct {
	u8 *raw;
	size_t count;
	u32 features;
} seeds[SEEDS_MAX];
static size_t seed_count;
static struct pattern *other_part; /* of another node, without ranks */
static u64 merged_count;

/* So short that many mutations change call sites. */
static const char with_sites[] =
	"size 3\n"
	"ranks all {\n"
	"  for i in 0 .. 1 {\n"
	"    write \"f\" offset_bytes=4K*i length_bytes=4K handle=1 takes=1ms site=\"phase@a.c:3 < main@a.c:9\"\n"
	"    fsync \"f\" site=\"phase@a.c:4 < \\303\\274+0x1f[?]\"\n"
	"  }\n"
	"  for i in 0 .. 1 {\n"
	"    write \"f\" offset_bytes=4K*i length_bytes=4K handle=1 takes=3ms site=\"phase@a.c:5 < main@a.c:9\"\n"
	"    fsync \"f\" site=\"phase@a.c:4 < \\303\\274+0x1f[?]\"\n"
	"  }\n"
	"}\n";

/* Rank 1 is the first to create the file. */
static const char with_creators[] =
	"size 3\n"
	"ranks 0,2 { open \"f\" flags=read|create generation=1 handle=1 takes=1ms }\n"
	"ranks 1 { open \"f\" flags=read|create|created mode=0600 generation=1 handle=1 takes=2ms }\n";

/* A collective write through views, for collective=no. */
static const char with_views[] =
	"size 2\n"
	"ranks all { mpi_comm rank=rank size=size world_rank=rank comm=1\n"
	"mpi_file \"/mnt/f\" file_open number=1 place=-1 comm=2 }\n"
	"rank 0 { | open \"f\" flags=read|write|create|created mode=0600 handle=1 }\n"
	"rank 1 { | open \"f\" flags=read|write handle=1 }\n"
	"ranks all { mpi_comm rank=rank size=size world_rank=rank comm=2\n"
	"mpi_file file_set_view number=2 place=-1 comm=2\n"
	"mpi_view part=0 parts=2 begin_bytes=0 unit_bytes=2 extent_bytes=64 first_bytes=8*rank block_bytes=4 inner_count=2 inner_bytes=4 "
	"middle_count=2 middle_bytes=16 outer_count=1 comm=2\n"
	"mpi_view part=1 parts=2 begin_bytes=0 unit_bytes=2 extent_bytes=64 first_bytes=32+16*rank block_bytes=16 inner_count=1 "
	"middle_count=1 outer_count=1 comm=2\n"
	"mpi_file file_write_at_all number=3 place=16 length_bytes=32 comm=2 }\n"
	"rank 0 { | write \"f\" offset_bytes=64 length_bytes=64 handle=1 }\n";

static void keep_seed(struct pattern *pattern)
{
	size_t bytes;
	void *image;

	if (pattern_image(pattern, &image, &bytes))
		abort();
	seeds[seed_count].count = iot_get_u64((u8 *)image + 16);
	seeds[seed_count].features = iot_get_u32((u8 *)image + 12);
	seeds[seed_count].raw = malloc(seeds[seed_count].count + 1);
	if (!seeds[seed_count].raw ||
	    ZSTD_decompress(seeds[seed_count].raw, seeds[seed_count].count, (u8 *)image + HEAD_BYTES, bytes - HEAD_BYTES) !=
		    seeds[seed_count].count)
		abort();
	seed_count++;
	free(image);
	pattern_free(pattern);
}

static void add_seed(const char *path)
{
	struct iot_omissions omissions;
	struct iot_reject reject;
	struct pattern *pattern;

	if (seed_count < SEEDS_MAX && !pattern_make(path, &pattern, &omissions, &reject))
		keep_seed(pattern);
}

/* The part of a trace, which has files, but no ranks, becomes that of another node, too. */
static void add_part(const char *path)
{
	struct pattern_refusal refusal;
	struct iot_omissions omissions;
	struct iot_reject reject;
	struct pattern *pattern;

	if (seed_count < SEEDS_MAX && !pattern_make_part(path, &pattern, &omissions, &refusal, &reject))
		keep_seed(pattern);
	if (other_part || pattern_make_part(path, &pattern, &omissions, &refusal, &reject))
		return;
	if (pattern->part->ranks || !pattern->part->nodes[0].directory_count || pattern->operations > EXPANDED_MAX) {
		pattern_free(pattern);
		return;
	}
	other_part = pattern;
	free(pattern->part->nodes[0].name);
	pattern->part->nodes[0].name = strdup("z9.8");
	if (!pattern->part->nodes[0].name)
		abort();
}

static void add_text(const char *text)
{
	struct pattern_refusal refusal;
	struct pattern *pattern;

	if (pattern_parse(text, strlen(text), 0, EXPANDED_MAX, &pattern, &refusal))
		abort();
	keep_seed(pattern);
}

static void seal(u8 *image, size_t bytes)
{
	iot_put_u32(image + 32, iot_crc32c(0, image + HEAD_BYTES, bytes - HEAD_BYTES));
	iot_put_u32(image + 36, iot_crc32c(0, image, 36));
}

/* A mutation of the head or of the stored bytes, with correct checksums or not. */
static size_t damage_image(struct rng *rng, u8 *image, size_t bytes)
{
	static const u8 fields[][2] = { { 0, 8 }, { 8, 4 }, { 12, 4 }, { 16, 8 }, { 24, 8 } };
	size_t which = rng_below(rng, 5);

	if (rng_one_in(rng, 3))
		mutate_field(rng, image + fields[which][0], fields[which][1]);
	else if (rng_one_in(rng, 2))
		mutate_bytes(rng, image + HEAD_BYTES, bytes - HEAD_BYTES);
	else
		bytes = rng_below(rng, bytes);
	if (bytes > HEAD_BYTES && !rng_one_in(rng, 4))
		iot_put_u32(image + 36, iot_crc32c(0, image, 36));
	if (bytes > HEAD_BYTES && rng_one_in(rng, 4))
		seal(image, bytes);
	return bytes;
}

static u8 *make_input(struct rng *rng, size_t *bytes)
{
	size_t seed = rng_below(rng, seed_count), raw_bytes = seeds[seed].count, stored;
	u8 *raw = malloc(raw_bytes + 1), *image = malloc(HEAD_BYTES + ZSTD_compressBound(raw_bytes));
	u64 changes;

	if (!raw || !image)
		abort();
	memcpy(raw, seeds[seed].raw, raw_bytes);
	for (changes = rng_below(rng, 4); changes; changes--)
		mutate_bytes(rng, raw, raw_bytes);
	if (rng_one_in(rng, 20))
		raw_bytes = rng_below(rng, raw_bytes);
	stored = ZSTD_compress(image + HEAD_BYTES, ZSTD_compressBound(raw_bytes), raw, raw_bytes, 1);
	*bytes = HEAD_BYTES + stored;
	memcpy(image, "IOTAPTRN", 8);
	iot_put_u32(image + 8, 1);
	iot_put_u32(image + 12, seeds[seed].features);
	iot_put_u64(image + 16, raw_bytes);
	iot_put_u64(image + 24, stored);
	seal(image, *bytes);
	if (rng_one_in(rng, 4))
		*bytes = damage_image(rng, image, *bytes);
	free(raw);
	return image;
}

static bool is_expected(int err)
{
	return !err || err == -EOPNOTSUPP || err == -EBADMSG;
}

static void change(const struct pattern *pattern)
{
	static const char *const changes[][2] = {
		{ "fsync", "no" },	   { "transfer", "1000" }, { "files", "shared" },  { "files", "process" },
		{ "directories", "rank" }, { "collective", "no" }, { "aggregators", "2" },
	};
	struct pattern_refusal refusal;
	struct pattern *changed;
	u64 count;
	size_t i;
	int err;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		err = pattern_change(pattern, changes[i][0], changes[i][1], &changed, &count, &refusal);
		if (!err)
			pattern_free(changed);
		else if (!is_expected(err))
			abort();
	}
}

/* The operations stay the same. */
static void drop_sites(const struct pattern *pattern)
{
	struct pattern *bare;
	u64 operations, bare_operations;
	u8 digest[32], bare_digest[32];
	int err = pattern_drop_sites(pattern, &bare);

	if (err && !is_expected(err))
		abort();
	if (err)
		return;
	if (pattern_expand(pattern, NULL, UINT64_MAX, digest, &operations) ||
	    pattern_expand(bare, NULL, UINT64_MAX, bare_digest, &bare_operations) || operations != bare_operations ||
	    memcmp(digest, bare_digest, sizeof(digest)))
		abort();
	pattern_free(bare);
}

/* As many operations. */
static void order_creators(const struct pattern *pattern)
{
	struct pattern *ordered = NULL;
	u64 operations, ordered_operations;
	u8 digest[32];
	int err = pattern_order_creators(pattern, &ordered);

	if (err && !is_expected(err))
		abort();
	if (err || !ordered)
		return;
	if (pattern_expand(pattern, NULL, UINT64_MAX, digest, &operations) ||
	    pattern_expand(ordered, NULL, UINT64_MAX, digest, &ordered_operations) || operations != ordered_operations)
		abort();
	pattern_free(ordered);
}

/* The result is sound, with the operations of its hash. */
static void check_merged(struct pattern *merged)
{
	struct pattern_summary summary;
	struct iot_reject reject;
	struct pattern *loaded;
	u64 operations;
	u8 digest[32];
	size_t bytes;
	void *image;

	if (pattern_image(merged, &image, &bytes) || pattern_load_bytes(image, bytes, &loaded, &reject))
		abort();
	pattern_summarize(merged, &summary);
	if (pattern_expand(loaded, NULL, UINT64_MAX, digest, &operations) || operations != summary.operations ||
	    memcmp(digest, summary.digest, sizeof(digest)))
		abort();
	pattern_free(loaded);
	free(image);
}

static void merge(struct pattern *pattern)
{
	const struct pattern *const parts[] = { pattern, other_part };
	static const char *const names[] = { "a", "b" };
	struct pattern_merge_options options = { .is_shared_guessed = true };
	struct pattern_refusal refusal;
	struct iot_omissions omissions;
	struct pattern *merged;
	u32 count, is_right;
	int err;

	/* A mutation of the operations would be noticed at once. */
	for (is_right = 0; is_right < 2; is_right++) {
		u64 operations;

		if (is_right && pattern_expand(pattern, NULL, UINT64_MAX, pattern->digest, &operations))
			return;
		for (count = 1; count <= 2; count++) {
			options.is_part = count & 1;
			err = pattern_merge(parts, names, count, &options, &merged, &omissions, &refusal);
			if (err && err != -EOPNOTSUPP)
				abort();
			if (err)
				continue;
			merged_count++;
			check_merged(merged);
			pattern_free(merged);
		}
	}
}

static void trace(const struct pattern *pattern)
{
	char path[] = "/tmp/fuzz-patterns.XXXXXX";
	struct pattern_refusal refusal;
	u64 broken;
	int fd = mkstemp(path), err;

	if (fd < 0)
		abort();
	close(fd);
	err = pattern_trace(pattern, path, &broken, &refusal);
	unlink(path);
	if (!is_expected(err)) {
		fprintf(stderr, "a trace of it: %d\n", err);
		abort();
	}
}

static int use(const u8 *image, size_t bytes, FILE *nowhere, struct iot_reject *reject)
{
	struct pattern_summary summary;
	struct pattern *pattern;
	u64 operations;
	u8 digest[32];
	int err = pattern_load_bytes(image, bytes, &pattern, reject);

	if (err)
		return err;
	err = pattern_expand(pattern, nowhere, EXPANDED_MAX, digest, &operations);
	if (err)
		*reject = (struct iot_reject){ .reason = err == -ENOMEM ? IOT_REJECT_memory : IOT_REJECT_pattern_counts };
	else
		pattern_print(pattern, true, nowhere);
	pattern_summarize(pattern, &summary);
	if (!err && summary.operations <= EXPANDED_MAX && summary.tasks <= EXPANDED_MAX) {
		change(pattern);
		drop_sites(pattern);
		order_creators(pattern);
		trace(pattern);
		merge(pattern);
	}
	pattern_free(pattern);
	return err;
}

int main(int argc, char **argv)
{
	static const u32 unreachable[] = { IOT_REJECT_pattern_irregular, 0 };
	struct tally tally = { .what = "patterns" };
	struct fuzz_options options;
	FILE *nowhere = fopen("/dev/null", "we");
	int i = fuzz_options(argc, argv, &options);
	u64 seed;

	add_text(with_sites);
	if (!(seeds[seed_count - 1].features & FEATURE_SITES))
		abort();
	add_text(with_creators);
	add_text(with_views);
	for (; i < argc; i++)
		add_seed(argv[i]);
	for (i = argc - 1; i > 0 && argv[i][0] != '-'; i--)
		add_part(argv[i]);
	if (seed_count < 4 || !nowhere || !other_part || !(seeds[seed_count - 1].features & FEATURE_PART)) {
		fputs("usage: patterns [OPTION]... TRACE...\n", stderr);
		return 2;
	}
	for (seed = options.seed; seed < options.seed + options.count; seed++) {
		struct iot_reject reject = {};
		struct rng rng;
		size_t bytes;
		u8 *image;
		int err;

		rng_seed(&rng, seed);
		fuzz_begin(seed);
		image = make_input(&rng, &bytes);
		fuzz_keep(&options, seed, image, bytes);
		err = use(image, bytes, nowhere, &reject);
		tally_add(&tally, err, &reject);
		free(image);
	}
	fclose(nowhere);
	while (seed_count)
		free(seeds[--seed_count].raw);
	pattern_free(other_part);
	printf("# %llu merges\n", (unsigned long long)merged_count);
	if (options.count >= 1000 && merged_count < options.count / 20)
		abort();
	return tally_report(&tally, IOT_REJECT_pattern_magic, IOT_REJECT_pattern_irregular, unreachable);
}
