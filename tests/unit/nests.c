// SPDX-License-Identifier: GPL-2.0-only
/*
 * nests.c - random loop nests: their operations are converted to a pattern, the pattern to a file, and the file back to
 * the same operations.
 *
 * A nest has nested loops and operations whose operands are linear in the loop variables and the rank, or random. The
 * hash of the generated operations is compared, so that the conversion through shapes, folds, columns and bytes
 * counts as a whole; a changed operand must change it.
 */
#include <stdlib.h>

#include "pattern/assembly.h"
#include "pattern_text.h"
#include "random.h"
#include "suite.h"

#define NESTS	   100
#define PARTS_MAX  4
#define DEPTH_MAX  4
#define RANKS_MAX  9
#define OPERATIONS 20000 /* of a rank, at most */

static u64 state;

static u64 below(u64 limit)
{
	return random_below(&state, limit);
}

/* A loop with parts, or an operation without parts. */
struct nest {
	u64 trips;
	u64 trips_of_rank; /* additional iterations per rank */
	struct nest *parts[PARTS_MAX];
	u32 part_count;
	u16 kind;
	char path[32];
	u64 base;
	u64 factors[DEPTH_MAX + 1]; /* of loop variables, and the rank */
	bool is_random;
};

static struct nest *make_nest(u32 depth)
{
	static const u16 kinds[] = { IOT_KIND_write, IOT_KIND_read, IOT_KIND_fsync, IOT_KIND_open, IOT_KIND_release };
	struct nest *nest = calloc(1, sizeof(*nest));
	u32 i;

	assert_non_null(nest);
	if (depth < DEPTH_MAX && (!depth || below(3))) {
		nest->trips = depth ? 1 + below(7) : 1;
		nest->trips_of_rank = depth && !below(6);
		nest->part_count = 1 + (u32)below(PARTS_MAX);
		for (i = 0; i < nest->part_count; i++)
			nest->parts[i] = make_nest(depth + 1);
		return nest;
	}
	nest->kind = kinds[below(5)];
	snprintf(nest->path, sizeof(nest->path), below(2) ? "d/file%c" : "d/rank%c.%%0*llu", 'a' + (char)below(3));
	nest->base = below(1 << 20);
	for (i = 0; i <= DEPTH_MAX; i++)
		nest->factors[i] = below(3) ? below(9) * 4096 : 0 - below(3);
	nest->is_random = !below(8);
	return nest;
}

static void free_nest(struct nest *nest)
{
	u32 i;

	for (i = 0; i < nest->part_count; i++)
		free_nest(nest->parts[i]);
	free(nest);
}

struct playing {
	struct stream *stream;
	struct stream_task *task;
	struct widths *widths;
	struct digest *digest;
	u64 rank;
	u64 variables[DEPTH_MAX];
	bool is_learning;
	u64 changed; /* the operation with a changed operand, from 1 */
};

static void play_operation(struct playing *p, const struct nest *nest)
{
	struct event event = { .kind = nest->kind, .field_count = event_count_fields(nest->kind), .path2 = "" };
	u64 value = nest->base + nest->factors[DEPTH_MAX] * p->rank;
	char path[64];
	u32 i;

	if (p->task->shapes.count >= OPERATIONS)
		return;
	for (i = 0; i < DEPTH_MAX; i++)
		value += nest->factors[i] * p->variables[i];
	if (nest->is_random)
		value = below(1ull << 40);
	if (p->stream->operations + 1 == p->changed)
		value++;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(path, sizeof(path), nest->path, 1 + (int)(nest->base % 5), (unsigned long long)p->rank);
#pragma GCC diagnostic pop
	event.path = path;
	for (i = 0; i < event.field_count; i++)
		event.fields[i] = event_field_is_operand(event_field(event.kind, i)) ? value / (i + 1) : 3;
	event.roles[EVENT_HANDLE] = 1 + nest->base % 2;
	if (p->is_learning) {
		assert_int_equal(template_learn(&p->widths, path), 0);
		return;
	}
	digest_event(p->digest, &event);
	assert_int_equal(stream_add_event(p->stream, p->task, &event, p->widths), 0);
}

static void play(struct playing *p, const struct nest *nest, u32 depth)
{
	u64 trips = nest->trips + nest->trips_of_rank * p->rank, i;
	u32 part;

	if (!nest->part_count) {
		play_operation(p, nest);
		return;
	}
	for (i = 0; i < trips; i++) {
		p->variables[depth] = i;
		for (part = 0; part < nest->part_count; part++)
			play(p, nest->parts[part], depth + 1);
	}
	p->variables[depth] = 0;
}

static struct stream *make_stream(const struct nest *nest, u32 ranks, u64 changed)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	struct playing p = { .stream = stream, .digest = digest_open(), .is_learning = true, .changed = changed };
	u64 before = state;

	assert_true(stream && p.digest);
	stream->tasks = calloc(ranks, sizeof(*stream->tasks));
	assert_non_null(stream->tasks);
	stream->task_count = ranks;
	for (p.rank = 0; p.rank < ranks; p.rank++) {
		p.task = &stream->tasks[p.rank];
		play(&p, nest, 0);
	}
	p.is_learning = false;
	state = before;
	for (p.rank = 0; p.rank < ranks; p.rank++) {
		p.task = &stream->tasks[p.rank];
		p.task->facts[TASK_FACT_rank] = p.rank;
		digest_task(p.digest, p.task->facts);
		play(&p, nest, 0);
	}
	digest_close(p.digest, stream->digest);
	template_free(&p.widths);
	return stream;
}

/* Converts to a file and back to operations. Return: their hash. */
static void expand(struct pattern *pattern, u8 digest[32])
{
	struct iot_reject reject;
	struct pattern *loaded;
	void *bytes;
	size_t count;
	u64 operations;

	assert_int_equal(pattern_image(pattern, &bytes, &count), 0);
	assert_int_equal(pattern_load_bytes(bytes, count, &loaded, &reject), 0);
	assert_int_equal(pattern_expand(loaded, NULL, UINT64_MAX, digest, &operations), 0);
	free(bytes);
	pattern_free(loaded);
}

/* Converts to a text and back to operations. Return: their hash. */
static void read_again(struct pattern *pattern, u64 seed, u8 digest[32])
{
	char *text = text_of(pattern), *again;
	struct pattern_refusal refusal = {};
	struct pattern *made;
	int err = pattern_parse(text, strlen(text), 0, UINT32_MAX, &made, &refusal);

	if (err)
		fail_msg("seed %llu: %d %s\n%s", (unsigned long long)seed, err, refusal.text, text);
	again = text_of(made);
	if (strcmp(text, again))
		fail_msg("seed %llu: the texts differ:\n%s\n%s", (unsigned long long)seed, text, again);
	memcpy(digest, made->digest, 32);
	pattern_free(made);
	free(again);
	free(text);
}

static struct pattern *pattern_of(struct stream *stream)
{
	struct assembly *assembly = assembly_open(0);
	struct pattern *pattern = NULL;
	u32 i;

	assert_non_null(assembly);
	for (i = 0; i < stream->task_count; i++)
		assert_int_equal(assembly_add_task(assembly, stream, i), 0);
	assert_int_equal(assembly_finish(assembly, stream, &pattern), 0);
	assembly_close(assembly);
	return pattern;
}

static void random_nests_are_reproduced(void **unused)
{
	struct pattern *pattern;
	struct stream *stream;
	struct nest *nest;
	u8 digest[32], made[32];
	u64 seed;

	(void)unused;
	for (seed = 1; seed <= NESTS; seed++) {
		state = seed * 0x9e3779b97f4a7c15ull;
		nest = make_nest(0);
		stream = make_stream(nest, 1 + (u32)below(RANKS_MAX), 0);
		memcpy(made, stream->digest, sizeof(made));
		pattern = pattern_of(stream);
		expand(pattern, digest);
		if (memcmp(digest, made, sizeof(made)))
			fail_msg("seed %llu: the operations differ", (unsigned long long)seed);
		read_again(pattern, seed, digest);
		if (memcmp(digest, made, sizeof(made)))
			fail_msg("seed %llu: the operations of the text differ", (unsigned long long)seed);
		pattern_free(pattern);
		stream_free(stream);
		free_nest(nest);
	}
}

static void different_operands_make_different_streams(void **unused)
{
	struct stream *streams[2];
	struct nest *nest;
	u32 i;

	(void)unused;
	state = 77;
	nest = make_nest(0);
	for (i = 0; i < 2; i++)
		streams[i] = make_stream(nest, 3, i ? 2 : 0);
	assert_memory_not_equal(streams[0]->digest, streams[1]->digest, 32);
	for (i = 0; i < 2; i++)
		stream_free(streams[i]);
	free_nest(nest);
}

/* -- series -------------------------------------------------------------------------------------------------- */

/* Cycles of cycles, wraps, pieces of lines, noise. */
static u64 value_at(u32 what, u64 i, const u64 *k)
{
	switch (what) {
	case 0:
		return k[0] + k[1] * i;
	case 1:
		return k[0] * (i % 4) + k[1] * (i / 4 % 3) + k[2] * (i / 12);
	case 2:
		return k[0] + 8 * ((i + k[1] % 50) % 50);
	case 3:
		return i < 20 ? k[0] : i < 43 ? k[1] - 7 * i : k[2] * i;
	case 4:
		return i * i;
	default:
		return below(1000);
	}
}

static void series_reproduce_their_values(void **unused)
{
	u64 values[300], k[3], i;
	u32 round, what;

	(void)unused;
	state = 5;
	for (round = 0; round < 3000; round++) {
		size_t count = below(300);
		struct bytes bytes = {};
		struct input in;
		struct series *made, *read;
		struct cursor *cursor;

		what = round % 6;
		for (i = 0; i < 3; i++)
			k[i] = below(4) ? below(10000) : 0 - below(10000);
		for (i = 0; i < count; i++)
			values[i] = value_at(what, i, k);
		made = series_make(values, count);
		assert_non_null(made);
		series_put(&bytes, made);
		in = (struct input){ .data = bytes.data, .count = bytes.count };
		read = series_get(&in);
		assert_non_null(read);
		cursor = cursor_open(read);
		assert_non_null(cursor);
		for (i = 0; i < count; i++) {
			assert_int_equal(series_at(made, i), values[i]);
			assert_int_equal(cursor_next(cursor), values[i]);
		}
		assert_true(cursor_is_at_end(cursor));
		assert_true(what > 3 || bytes.count < 64);
		cursor_close(cursor);
		series_free(read);
		series_free(made);
		bytes_free(&bytes);
	}
}

/* -- names ------------------------------------------------------------------------------------------------------ */

static void names_are_reproduced(void **unused)
{
	static const char *const names[] = { "", ".", "a", "rank.1", "rank.10", "f.0099", "f.0100", "f.10000", "f.9", "f.009",
					     "007/07/7", "x18446744073709551616", "1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16-17-18",
					     "00000000000000000000000" };
	struct widths *widths = NULL;
	struct bytes text = {};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(template_learn(&widths, names[i]), 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bytes template = {};
		struct numbers holes = {};

		template_split(widths, names[i], &template, &holes);
		assert_true(template_is_sound(template.data, template.count));
		assert_int_equal(template_count_holes(template.data, template.count), holes.count);
		template_join(template.data, template.count, holes.values, &text);
		assert_string_equal(text.data, names[i]);
		bytes_free(&template);
		numbers_free(&holes);
	}
	bytes_free(&text);
	template_free(&widths);
}

SUITE("nests", TEST(series_reproduce_their_values) TEST(names_are_reproduced) TEST(different_operands_make_different_streams)
	       TEST(random_nests_are_reproduced))
