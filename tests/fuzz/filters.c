// SPDX-License-Identifier: GPL-2.0-only
/*
 * filters.c - hostile filter programs: a program that passes verification can be evaluated.
 *
 *	filters [--seed=N] [--count=N]
 *
 * Bytes of programs of valid expressions are changed, or programs are random steps. The evaluation of a verified
 * program reads only its own bytes (checked by the sanitizers), ends, and returns a truth value.
 */
#include <stdio.h>
#include <stdlib.h>

#include "filter/filter.h"

static const char *const expressions[] = {
	"uid == 1000 && op in {read, write} && size >= 4k && path ~ \"/scratch/run*/**\" || cgroup == \"/slurm/job_7\"",
	"!(result < 0 || duration > 1ms) && (ext == h5 || comm ~ \"a*\" && tree == 3)",
	"every(10) && share(5%) || second < 10 && time < 07:30 && offset >= 1m",
};

static u64 state;

static u64 random_u64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static bool load(struct iot_filter_subject *subject, const struct iot_filter_head *program, enum iot_filter_field field)
{
	static const char path[] = "/scratch/run1/file.h5";

	subject->number[field] = random_u64() >> random_u64() % 64;
	subject->text = path;
	subject->bytes = sizeof(path) - 1;
	if (field == IOT_FILTER_path)
		subject->number[field] = iot_filter_paths(program, path, 9, path + 9, sizeof(path) - 10);
	return random_u64() % 4;
}

static bool is_in_tree(struct iot_filter_subject *subject, u64 pid)
{
	(void)subject;
	return pid % 2;
}

static void mutate(u8 *bytes, size_t count)
{
	int i, changes = (int)(1 + random_u64() % 4);

	for (i = 0; i < changes; i++)
		bytes[random_u64() % count] = (u8)(random_u64() % 3 ? random_u64() % 20 : random_u64());
}

/* Random steps that are often valid. */
static void invent(struct iot_filter_head *program, size_t steps)
{
	struct iot_filter_step *step = (struct iot_filter_step *)(program + 1);
	size_t i;

	for (i = 0; i < steps; i++, step++) {
		*step = (struct iot_filter_step){ .code = (u8)(random_u64() % (IOT_FILTER_CODE_END + 1)) };
		if (step->code < IOT_FILTER_IN) {
			step->field = random_u64() % 2 ? IOT_FILTER_uid : IOT_FILTER_result;
			step->value = random_u64() % 3;
		} else if (step->code >= IOT_FILTER_SKIP_NO) {
			step->target = (u16)(i + random_u64() % 4);
		}
	}
}

/* Its decision graph ends, too. */
static void follow(const struct iot_filter_head *program)
{
	struct iot_filter_graph graph;
	u32 at = 0;

	iot_filter_graph_make(&graph, program);
	if (!graph.count)
		return;
	while (at < IOT_FILTER_NODES_MAX) {
		const struct iot_filter_node *node = &graph.nodes[at];

		if (at >= graph.count || node->at >= program->steps)
			abort();
		at = node->next[random_u64() % 2];
	}
	if (at != IOT_FILTER_ADMIT && at != IOT_FILTER_REFUSE)
		abort();
}

static bool try(const struct iot_filter_head *whole, size_t count, bool is_invented)
{
	struct iot_filter_subject subject = { .load = load, .is_in_tree = is_in_tree, .later = (u32)random_u64() };
	struct iot_filter_head *program = malloc(count); /* the exact size, so that an overrun is detected */
	bool is_sound;

	memcpy(program, whole, count);
	if (is_invented)
		invent(program, program->steps);
	else
		mutate((u8 *)program, count);
	if (random_u64() % 16 == 0)
		count -= random_u64() % 8;
	is_sound = !iot_filter_verify(program, count);
	if (is_sound && iot_filter_run(program, &subject) > IOT_YES)
		abort();
	if (is_sound) {
		iot_filter_uses(program);
		iot_filter_can_admit(program, (u32)random_u64() % 256);
		follow(program);
	}
	free(program);
	return is_sound;
}

static u64 option(int argc, char **argv, const char *name, u64 value)
{
	size_t length = strlen(name);
	int i;

	for (i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, length))
			value = strtoull(argv[i] + length, NULL, 10);
	return value;
}

int main(int argc, char **argv)
{
	u64 seed = option(argc, argv, "--seed=", 1), count = option(argc, argv, "--count=", 100000), i, sound = 0;
	struct filter *filters[ARRAY_SIZE(expressions)];
	struct filter_error error;

	for (i = 0; i < ARRAY_SIZE(expressions); i++)
		if (filter_compile(expressions[i], &filters[i], &error))
			return 1;
	for (i = seed; i < seed + count; i++) {
		const struct iot_filter_head *program;
		size_t bytes;

		state = i * 0x9e3779b97f4a7c15ull + 1;
		program = filter_program(filters[i % ARRAY_SIZE(filters)], &bytes);
		sound += try(program, bytes, false);
		struct {
			struct iot_filter_head head;
			struct iot_filter_step steps[8];
		} invented = { { IOT_FILTER_VERSION, (u16)(1 + random_u64() % 8), 0, 0 }, {} };
		sound += try(&invented.head, sizeof(invented.head) + invented.head.steps * sizeof(invented.steps[0]), true);
	}
	for (i = 0; i < ARRAY_SIZE(expressions); i++)
		filter_free(filters[i]);
	printf("%sok 1 - %llu of %llu hostile filter programs pass verification, and are evaluated\n1..1\n",
	       sound && sound < 2 * count ? "" : "not ", (unsigned long long)sound, (unsigned long long)(2 * count));
	return !(sound && sound < 2 * count);
}
