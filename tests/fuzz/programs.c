// SPDX-License-Identifier: GPL-2.0-only
/*
 * programs.c - mutated programs through iot_program_open() and iot_program_verify().
 *
 *	programs [OPTION]... [PROGRAM]...	see fuzz_options()
 *
 * Inputs begin as one of the given programs, or as a generated one; most mutations apply to a
 * field of a structure, with corrected checksums. A program that passes is run dry by a
 * separate scheduler, which checks its guarantees: no wait is endless, no path leads
 * out of the target, no slot is out of bounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/replay/order.h"
#include "core/replay/program.h"
#include "core/trace/record.h"
#include "mutate.h"
#include "tests/unit/builder.h"

#define SEEDS_MAX     64
#define PROGRAM_BYTES (1 << 20) /* larger programs are not used as seeds */

static struct {
	u8 *bytes;
	size_t count;
} seeds[SEEDS_MAX];
static size_t seed_count;

/* -- sources of inputs --------------------------------------------------------------------------- */

static void add_seed(u8 *bytes, size_t count)
{
	if (seed_count == SEEDS_MAX) {
		free(bytes);
		return;
	}
	seeds[seed_count].bytes = bytes;
	seeds[seed_count++].count = count;
}

static int add_file(const char *path)
{
	FILE *in = fopen(path, "re");
	u8 *bytes = malloc(PROGRAM_BYTES + 1);
	size_t count = in && bytes ? fread(bytes, 1, PROGRAM_BYTES + 1, in) : 0;

	if (in)
		fclose(in);
	if (!count || count > PROGRAM_BYTES) {
		free(bytes);
		return count ? 0 : -1;
	}
	add_seed(bytes, count);
	return 0;
}

static void add_filled(void)
{
	struct builder b;
	size_t count;
	u8 *bytes;

	builder_fill(&b);
	bytes = builder_bytes(&b, &count);
	builder_close(&b);
	add_seed(bytes, count);
}

/* A wait for an earlier operation, or, rarely, for any. */
static void make_wait(struct rng *rng, struct builder *b, const u32 *done, u32 tasks, u32 latches)
{
	u32 task = (u32)rng_below(rng, tasks);

	if (rng_one_in(rng, 6) && latches)
		builder_wait(b, IOT_WAIT_LATCH, (u32)rng_below(rng, latches));
	else if (rng_one_in(rng, 200))
		builder_wait(b, task, (u32)rng_below(rng, 4));
	else if (done[task])
		builder_wait(b, task, (u32)rng_below(rng, done[task]));
}

/* Tasks that create and remove files, wait for each other and signal latches. */
static u8 *make_program(struct rng *rng, size_t *count)
{
	u32 tasks = 1 + (u32)rng_below(rng, 6), latches = (u32)rng_below(rng, 3), done[8] = {}, t, i;
	struct builder b;
	u8 *bytes;

	builder_open(&b);
	b.head.handles = cpu_to_le32(2);
	b.head.maps = cpu_to_le32(1);
	for (i = 0; i < latches; i++)
		builder_latch(&b, tasks);
	builder_object(&b, 1, "a/b");
	builder_entry(&b, "a", 040755);
	for (t = 0; t < tasks; t++) {
		u32 ops = (u32)rng_below(rng, 8);

		builder_task(&b);
		for (i = 0; i < ops + latches; i++) {
			if (i >= ops) {
				builder_op(&b, IOT_PLAY_signal)->handle = cpu_to_le32(i - ops + 1);
			} else if (rng_one_in(rng, 2)) {
				__le32 path = builder_string(&b, "a/b");

				builder_op(&b, IOT_KIND_unlink)->path = path;
			} else {
				builder_op(&b, IOT_KIND_read)->handle = cpu_to_le32(1);
			}
			while (rng_one_in(rng, 2))
				make_wait(rng, &b, done, tasks, i >= ops ? 0 : latches);
			done[t]++;
		}
	}
	bytes = builder_bytes(&b, count);
	builder_close(&b);
	return bytes;
}

/* -- changes --------------------------------------------------------------------------------------- */

/* Sizes of the fields of each structure, in order. */
static const struct {
	u32 unit_bytes;
	const char *widths;
} layouts[IOT_SECTION_COUNT] = {
	{ sizeof(struct iot_program_task), "884444444444" },
	{ sizeof(struct iot_program_op), "2244444444444888888" },
	{ sizeof(struct iot_program_wait), "44" },
	{ sizeof(struct iot_program_latch), "44" },
	{ sizeof(struct iot_program_object), "844" },
	{ sizeof(struct iot_program_entry), "444444888" },
	{ 1, "1" },
	{ sizeof(struct iot_program_fact), "44" },
	{ sizeof(struct iot_program_extent), "4488" },
	{ sizeof(struct iot_program_xattr), "4444" },
};

/* Without this, mutations would affect parts of two fields, and some fields never. */
static bool are_layouts_right(void)
{
	const char *width;
	u32 bytes, i;

	for (i = 0; i < IOT_SECTION_COUNT; i++) {
		for (width = layouts[i].widths, bytes = 0; *width; width++)
			bytes += (u32)(*width - '0');
		if (bytes != layouts[i].unit_bytes)
			return false;
	}
	return true;
}

static const struct iot_section *section_of(const u8 *bytes, size_t count, u32 section)
{
	const struct iot_section *s = &((const struct iot_program_head *)bytes)->sections[section];
	u64 at = le64_to_cpu(s->offset_bytes), units = le64_to_cpu(s->count);

	if (!units || at > count || units > (count - at) / layouts[section].unit_bytes)
		return NULL;
	return s;
}

static void mutate_unit(struct rng *rng, u8 *bytes, size_t count)
{
	u32 section = (u32)rng_below(rng, IOT_SECTION_COUNT), chosen, i;
	const struct iot_section *s = section_of(bytes, count, section);
	const char *widths = layouts[section].widths;
	u8 *unit;

	if (!s)
		return;
	unit = bytes + le64_to_cpu(s->offset_bytes) +
	       rng_below(rng, le64_to_cpu(s->count)) * layouts[section].unit_bytes;
	chosen = (u32)rng_below(rng, strlen(widths));
	for (i = 0; i < chosen; i++)
		unit += widths[i] - '0';
	mutate_field(rng, unit, (size_t)(widths[chosen] - '0'));
}

/* One unit becomes a copy of another, or two are exchanged. */
static void move_units(struct rng *rng, u8 *bytes, size_t count)
{
	u32 section = (u32)rng_below(rng, IOT_SECTION_COUNT), unit = layouts[section].unit_bytes;
	const struct iot_section *s = section_of(bytes, count, section);
	u8 saved[96], *a, *b;

	if (!s)
		return;
	a = bytes + le64_to_cpu(s->offset_bytes) + rng_below(rng, le64_to_cpu(s->count)) * unit;
	b = bytes + le64_to_cpu(s->offset_bytes) + rng_below(rng, le64_to_cpu(s->count)) * unit;
	memcpy(saved, a, unit);
	memmove(a, b, unit);
	if (rng_one_in(rng, 2))
		memcpy(b, saved, unit);
}

static void mutate_text(struct rng *rng, u8 *bytes, size_t count)
{
	static const char letters[] = "./\0a";
	const struct iot_section *s = section_of(bytes, count, IOT_SECTION_STRINGS);

	if (s)
		bytes[le64_to_cpu(s->offset_bytes) + rng_below(rng, le64_to_cpu(s->count))] =
			(u8)letters[rng_below(rng, 4)];
}

static void mutate_program_head(struct rng *rng, u8 *bytes)
{
	static const u16 places[][2] = {
		{ 0, 8 }, { 8, 2 }, { 10, 2 }, { 12, 4 }, { 16, 4 }, { 20, 4 }, { 24, 4 }, { 28, 4 },
		{ offsetof(struct iot_program_head, reserved2), 4 },
	};
	size_t i = rng_below(rng, ARRAY_SIZE(places) + 4 * IOT_SECTION_COUNT);
	struct iot_section *s;

	if (i < ARRAY_SIZE(places)) {
		mutate_field(rng, bytes + places[i][0], places[i][1]);
		return;
	}
	i -= ARRAY_SIZE(places);
	s = &((struct iot_program_head *)bytes)->sections[i / 4];
	switch (i % 4) {
	case 0:
		mutate_field(rng, &s->offset_bytes, 8);
		break;
	case 1:
		mutate_field(rng, &s->count, 8);
		break;
	case 2:
		mutate_field(rng, &s->reserved, 4);
		break;
	default: /* the same as another section */
		*s = ((struct iot_program_head *)bytes)->sections[rng_below(rng, IOT_SECTION_COUNT)];
	}
}

/* Return: the new length. */
static size_t mutate(struct rng *rng, u8 *bytes, size_t count)
{
	u64 changes = rng_below(rng, 4);

	if (count < sizeof(struct iot_program_head))
		return count;
	while (changes--) {
		switch (rng_below(rng, 8)) {
		case 0:
			move_units(rng, bytes, count);
			break;
		case 1:
			mutate_text(rng, bytes, count);
			break;
		case 2:
			mutate_program_head(rng, bytes);
			break;
		default:
			mutate_unit(rng, bytes, count);
		}
	}
	program_seal(bytes, count);
	if (rng_one_in(rng, 16))
		mutate_bytes(rng, bytes, count);
	return rng_one_in(rng, 16) ? rng_below(rng, count) : count;
}

/* -- guarantees for a program that passed --------------------------------------------------- */

static void check(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "# a program passed that breaks a promise: %s\n", what);
	abort();
}

static void check_path(const struct iot_program *p, __le32 at_bytes)
{
	const char *text;
	size_t bytes, length;

	check(le32_to_cpu(at_bytes) < p->string_bytes, "a text outside of the table");
	text = iot_program_string(p, at_bytes);
	bytes = strlen(text); /* the sanitizer checks its end */
	check(bytes && bytes < IOT_PROGRAM_PATH_MAX, "the length of a path");
	if (!strcmp(text, "."))
		return;
	for (;;) {
		length = strcspn(text, "/");
		check(length, "the length of a component");
		check(!(length == 1 && text[0] == '.'), "a dot");
		check(!(length == 2 && text[0] == '.' && text[1] == '.'), "two dots");
		if (!text[length])
			return;
		text += length + 1;
	}
}

static bool is_queue(const struct iot_program *p, u32 task)
{
	return task < p->task_count && (le32_to_cpu(p->tasks[task].flags) & IOT_TASK_QUEUE);
}

/* The target of a submit: a request queue, which completes as many requests as are submitted to it. */
static void check_submits(const struct iot_program *p)
{
	u32 *left = calloc(p->task_count + 1, sizeof(*left)), i;
	u64 op;

	for (i = 0; i < p->task_count; i++)
		left[i] = is_queue(p, i) ? le32_to_cpu(p->tasks[i].op_count) : 0;
	for (op = 0; op < p->op_count; op++) {
		u32 queue = le32_to_cpu(p->ops[op].other) - 1;

		if (le16_to_cpu(p->ops[op].kind) != IOT_KIND_submit)
			continue;
		check(is_queue(p, queue), "a submit to what is no request queue");
		check(left[queue]-- > 0, "a request queue with more submits than ends");
	}
	for (i = 0; i < p->task_count; i++)
		check(!left[i], "a request queue with more ends than submits");
	free(left);
}

static void check_ops(const struct iot_program *p)
{
	u64 i;

	for (i = 0; i < p->op_count; i++) {
		const struct iot_program_op *op = &p->ops[i];
		u16 kind = le16_to_cpu(op->kind);
		u32 handles = kind == IOT_PLAY_signal ? p->latch_count : p->handle_count;

		check(le32_to_cpu(op->handle) <= handles, "a handle");
		check(le32_to_cpu(op->object) <= p->object_count, "an object");
		check(kind == IOT_KIND_submit || le32_to_cpu(op->other) <= p->handle_count ||
			      le32_to_cpu(op->other) <= p->map_count,
		      "another handle or mapping");
		if (op->path)
			check_path(p, op->path);
		if (kind == IOT_KIND_rename || kind == IOT_KIND_link)
			check_path(p, op->path2);
		else if (op->path2)
			check(le32_to_cpu(op->path2) < p->string_bytes, "a text outside of the table");
	}
	for (i = 0; i < p->entry_count; i++)
		check_path(p, p->tree[i].path);
}

/* Runs one operation of each task in turn, until there is no progress. */
static void check_end(const struct iot_program *p)
{
	u32 *numbers = calloc((size_t)2 * p->task_count + p->latch_count + 1, sizeof(*numbers)), t;
	u32 *progress = numbers, *next = numbers + p->task_count, *pending = next + p->task_count;
	struct iot_order order;
	u64 left = p->op_count;
	bool has_moved = true;

	iot_order_init(&order, p, progress, 1, pending);
	while (has_moved) {
		has_moved = false;
		for (t = 0; t < p->task_count; t++) {
			const struct iot_program_task *task = &p->tasks[t];
			const struct iot_program_op *op =
				&p->ops[le64_to_cpu(task->first_op) + progress[t]];

			if (progress[t] == le32_to_cpu(task->op_count) ||
			    iot_order_blocker(&order, t, op, &next[t]))
				continue;
			if (le16_to_cpu(op->kind) == IOT_PLAY_signal && op->handle) {
				check(pending[le32_to_cpu(op->handle) - 1] > 0, "signals");
				pending[le32_to_cpu(op->handle) - 1]--;
			}
			next[t] = 0;
			progress[t]++;
			left--;
			has_moved = true;
		}
	}
	check(!left, "an end");
	for (t = 0; t < p->latch_count; t++)
		check(!pending[t], "a latch that opens");
	free(numbers);
}

static int feed(const u8 *input, size_t count, struct iot_reject *reject)
{
	struct iot_program program;
	u8 *bytes = malloc(count + !count); /* the exact size, so that an overrun is detected */
	u32 *scratch;
	int err;

	memcpy(bytes, input, count);
	err = iot_program_open(&program, bytes, count, reject);
	if (!err) {
		scratch = malloc(iot_program_scratch_count(&program) * sizeof(*scratch) + 1);
		err = iot_program_verify(&program, scratch, NULL, NULL, reject);
		free(scratch);
	}
	if (!err) {
		check_ops(&program);
		check_submits(&program);
		check_end(&program);
	}
	free(bytes);
	return err;
}

int main(int argc, char **argv)
{
	static const u32 unreachable[] = { IOT_REJECT_program_size, 0 }; /* only by the loader */
	struct tally tally = { .what = "programs" };
	struct fuzz_options options;
	struct rng rng;
	u64 seed;
	int code;

	if (!are_layouts_right()) {
		fprintf(stderr, "programs: the fields of a structure are not what it consists of\n");
		return 1;
	}
	add_filled();
	for (code = fuzz_options(argc, argv, &options); code < argc; code++) {
		if (add_file(argv[code])) {
			fprintf(stderr, "programs: %s: cannot be read\n", argv[code]);
			return 1;
		}
	}
	for (seed = options.seed; seed < options.seed + options.count; seed++) {
		struct iot_reject reject = {};
		size_t n, which;
		u8 *bytes;

		fuzz_begin(seed);
		rng_seed(&rng, seed);
		which = rng_below(&rng, 2 * seed_count);
		if (which < seed_count) {
			n = seeds[which].count;
			bytes = malloc(n);
			memcpy(bytes, seeds[which].bytes, n);
		} else {
			bytes = make_program(&rng, &n);
		}
		n = mutate(&rng, bytes, n);
		fuzz_keep(&options, seed, bytes, n);
		tally_add(&tally, feed(bytes, n, &reject), &reject);
		free(bytes);
	}
	code = tally_report(&tally, IOT_REJECT_program_magic, IOT_REJECT_reserved, unreachable);
	while (seed_count)
		free(seeds[--seed_count].bytes);
	return code;
}
