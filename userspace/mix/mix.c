// SPDX-License-Identifier: GPL-2.0-only
/*
 * mix.c - one program that runs several programs at the same time, each in a directory of its own.
 *
 * A mix is a program like any other: init, replay with all engines, on one node or several, need not know it. Traces
 * that are replayed together without a common program are the overlay of ARTC (Weiss et al., FAST 2013, section 4).
 */
#include "mix.h"

#include <sodium.h>
#include <stdlib.h>

#include "copy.h"

#define COUNT_MAX 0xfffffff0ull /* of elements that 32 bits number */

/**
 * struct mix - a mix that grows
 * @base: of the next program
 * @hash: of what the mix consists of: its id
 * @has_source: the fact trace.source is there
 */
struct mix {
	struct iot_builder *builder;
	struct base base;
	struct mix_summary *summary;
	crypto_generichash_state hash;
	bool has_source;
	char *why;
	size_t room;
};

static int refuse(struct mix *mix, const char *path, const char *sentence, int err)
{
	snprintf(mix->why, mix->room, "%s: %s", path, sentence);
	return err;
}

/* -- sizes ---------------------------------------------------------------------------------------------- */

static u64 largest(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* The numbers after those of a program. */
static struct base base_after(const struct base *base, const struct iot_program *program)
{
	u64 origin = 0, rank = 0, space = 0;
	u32 i;

	for (i = 0; i < program->task_count; i++) {
		origin = largest(origin, le32_to_cpu(program->tasks[i].origin) + 1ull);
		rank = largest(rank, le32_to_cpu(program->tasks[i].rank));
		space = largest(space, le32_to_cpu(program->tasks[i].space) + 1ull);
	}
	return (struct base){
		.task = base->task + program->task_count,
		.origin = base->origin + origin,
		.rank = base->rank + largest(rank, 1),
		.space = base->space + space,
		.latch = base->latch + program->latch_count,
		.object = base->object + program->object_count,
		.handle = base->handle + program->handle_count,
		.map = base->map + program->map_count,
	};
}

static bool fits(const struct base *base)
{
	return base->task <= IOT_PROGRAM_TASKS_MAX && base->origin <= COUNT_MAX && base->latch <= COUNT_MAX &&
	       base->object <= COUNT_MAX && base->handle <= COUNT_MAX && base->map <= COUNT_MAX;
}

/* -- facts ------------------------------------------------------------------------------------------------ */

static int put_fact(struct mix *mix, const char *key, const char *value)
{
	char full[64];

	snprintf(full, sizeof(full), "mix.%u.%s", mix->summary->programs, key);
	return iot_builder_fact(mix->builder, full, value);
}

static int put_number(struct mix *mix, const char *key, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return put_fact(mix, key, text);
}

static int put_facts(struct mix *mix, const struct mix_part *part, const struct copy *copy)
{
	const char *source = iot_program_fact_value(copy->program, "trace.source");
	int err = put_fact(mix, MIX_FACT_PROGRAM, part->path);

	if (!err)
		err = put_number(mix, MIX_FACT_FIRST_TASK, copy->base.task);
	if (!err)
		err = put_number(mix, MIX_FACT_START_NS, copy->start_ns);
	if (!err)
		err = put_number(mix, MIX_FACT_SCALE, copy->think_scale);
	if (!err && source && !mix->has_source) { /* the state of the page cache is not known of all programs */
		mix->has_source = true;
		err = iot_builder_fact(mix->builder, "trace.source", source);
	}
	return err;
}

/* -- programs ---------------------------------------------------------------------------------------------- */

static u32 count_tasks(const struct iot_program *program)
{
	u32 count = 0, i;

	for (i = 0; i < program->task_count; i++)
		count += !(le32_to_cpu(program->tasks[i].flags) & IOT_TASK_QUEUE);
	return count;
}

static void hash_copy(struct mix *mix, const struct copy *copy)
{
	const u64 numbers[] = { cpu_to_le64(copy->start_ns), cpu_to_le64(copy->think_scale) };

	crypto_generichash_update(&mix->hash, copy->program->head->capture, sizeof(copy->program->head->capture));
	crypto_generichash_update(&mix->hash, (const unsigned char *)numbers, sizeof(numbers));
}

static int add_copy(struct mix *mix, const struct mix_part *part, struct copy *copy)
{
	struct base next = base_after(&mix->base, copy->program);
	struct iot_omissions omissions;
	int err;

	if (!fits(&next) || mix->summary->programs == MIX_PROGRAMS_MAX)
		return refuse(mix, part->path, "the mix would be larger than a program may be", -E2BIG);
	if (iot_program_computes(copy->program)) /* then the tasks of the other programs compute, too */
		iot_builder_compute(mix->builder);
	copy->number = ++mix->summary->programs;
	copy->base = mix->base;
	mix->base = next;
	err = copy_tasks(copy);
	if (!err)
		err = copy_tree(copy);
	if (!err)
		err = put_facts(mix, part, copy);
	if (err)
		return refuse(mix, part->path,
			      err == -ENAMETOOLONG ? "a path is longer than the path of a program may be" : strerror(-err), err);
	hash_copy(mix, copy);
	iot_omissions_of_program(&omissions, copy->program);
	iot_omissions_sum(&mix->summary->omissions, &omissions);
	mix->summary->tasks += count_tasks(copy->program);
	return 0;
}

static int add_copies(struct mix *mix, const struct mix_part *part, const struct iot_program *program)
{
	struct copy copy = { .builder = mix->builder, .program = program, .think_scale = part->think_scale };
	size_t strings_bytes = program->string_bytes * sizeof(*copy.texts);
	u32 i;
	int err = 0;

	copy.paths = malloc(strings_bytes);
	copy.texts = calloc(1, strings_bytes);
	if (!copy.paths || !copy.texts)
		err = refuse(mix, part->path, strerror(ENOMEM), -ENOMEM);
	for (i = 0; i < part->copies && !err; i++) {
		memset(copy.paths, 0, strings_bytes); /* each copy has a directory */
		copy.start_ns = part->start_ns + i * part->stagger_ns;
		err = add_copy(mix, part, &copy);
	}
	free(copy.paths);
	free(copy.texts);
	return err;
}

static int add_part(struct mix *mix, const struct mix_part *part)
{
	struct iot_reject reject = {};
	struct iot_program program;
	int err = iot_program_load(part->path, &program, &reject);

	if (err)
		return refuse(mix, part->path,
			      reject.reason && reject.reason != IOT_REJECT_io ? iot_reject_sentence(&reject) : strerror(-err), err);
	if (program.task_count)
		err = add_copies(mix, part, &program);
	else
		err = refuse(mix, part->path, "is a snapshot, which runs nothing", -EINVAL);
	iot_program_free(&program);
	return err;
}

static int finish(struct mix *mix, const char *output)
{
	struct mix_summary *summary = mix->summary;
	struct iot_reject reject = {};
	unsigned char id[16];
	char text[16];
	int err;

	summary->operations = summary->omissions.operations;
	summary->entries = iot_builder_count(mix->builder, IOT_SECTION_TREE);
	iot_builder_slots(mix->builder, (u32)mix->base.handle, (u32)mix->base.map);
	crypto_generichash_final(&mix->hash, id, sizeof(id));
	iot_builder_capture(mix->builder, id);
	snprintf(text, sizeof(text), "%u", summary->programs);
	err = iot_builder_fact(mix->builder, MIX_FACT_PROGRAMS, text);
	if (!err)
		err = iot_builder_omissions(mix->builder, &summary->omissions);
	if (!err)
		err = iot_builder_save(mix->builder, output, &reject);
	if (err)
		refuse(mix, output, reject.reason ? iot_reject_sentence(&reject) : strerror(-err), err);
	return err;
}

/**
 * mix_make() - write a program that runs several programs at the same time
 * @parts, @count: the programs, in order: a copy with number N, from 1, is in the directory N of the target
 * @output: file to write
 * @is_uncompressed: do not compress it
 * @summary: filled in
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Start and think times are in the think times of the mix, which a replay at full pace ignores. Ids of tasks and objects,
 * and ranks, are numbered through all programs.
 *
 * Return: 0; -EINVAL for a snapshot; -E2BIG; or another negative errno. After an error no program was written.
 */
int mix_make(const struct mix_part *parts, u32 count, const char *output, bool is_uncompressed, struct mix_summary *summary,
	     char *why, size_t room)
{
	static const unsigned char no_id[16];
	struct mix mix = { .summary = summary, .why = why, .room = room };
	u32 i;
	int err;

	*summary = (struct mix_summary){};
	crypto_generichash_init(&mix.hash, NULL, 0, sizeof(no_id));
	err = iot_builder_open(no_id, &mix.builder);
	if (err)
		return refuse(&mix, output, strerror(-err), err);
	if (is_uncompressed)
		iot_builder_uncompress(mix.builder);
	for (i = 0; i < count && !err; i++)
		err = add_part(&mix, &parts[i]);
	if (!err)
		err = finish(&mix, output);
	iot_builder_close(mix.builder);
	return err;
}
