// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight_sites.c - dumps of a flight recorder have the stacks, and the code, that their records refer to.
 */
#include "flight_tape.h"

static void put_code(struct tape *t, u32 process, u64 address, const char *path)
{
	put(t, 1, (struct iot_record){ .kind = IOT_KIND_code, .code = { .task = process, .process = process, .address = address } }, path);
}

static void put_stack(struct tape *t, u32 process, u64 stack)
{
	put(t, 1, (struct iot_record){ .kind = IOT_KIND_stack, .stack = { .task = 3, .process = process, .stack = stack } }, "an adres");
}

static void put_called(struct tape *t, u32 task, u64 stack)
{
	PUT(task, called_from, .task = task, .stack = stack, .op = t->ops[task] + 1);
	PUT(task, stat, .object = FIRST_FREE, .name = FIRST_FREE);
}

struct sites {
	char text[256]; /* stacks and paths of code, in the order of the dump */
	u32 tasks;	/* a bit for each that is announced */
	u32 unknown;	/* tasks that are not */
};

static int take_sites(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct sites *sites = context;
	size_t at = strlen(sites->text);

	(void)names;
	if (record->kind == IOT_KIND_task)
		sites->tasks |= 1u << record->task.task;
	if (record->kind == IOT_KIND_stack) {
		snprintf(sites->text + at, sizeof(sites->text) - at, " %llu", (unsigned long long)record->stack.stack);
		sites->unknown += !(sites->tasks & 1u << record->stack.task);
	}
	if (record->kind == IOT_KIND_code)
		snprintf(sites->text + at, sizeof(sites->text) - at, " %.*s", record->tail_bytes, record->tail);
	return 0;
}

static struct sites read_sites(struct tape *t)
{
	struct sites sites = {};
	struct iot_trace_info info;
	struct iot_reject reject = {};

	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	assert_int_equal(iot_trace_walk(dump_path(1), take_sites, &sites, &info, &reject), 0);
	return sites;
}

static void fill_long(struct tape *t)
{
	fill(t);
	fill(t);
}

/* Stacks that left, and the code of their processes, but not those of other processes. */
static void stacks_survive(void **state)
{
	struct tape tape = {}, *t = &tape;
	struct sites sites;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	put_code(t, 1, 0x1000, "/old");
	put_code(t, 1, 0x9000, "/library");
	put_code(t, 2, 0x1000, "/other");
	put_code(t, 3, 0x1000, "/third");
	put_stack(t, 1, 77);
	put_stack(t, 1, 79);
	put_stack(t, 2, 78);
	put_called(t, 1, 77);
	put_code(t, 1, 0x1000, "/new");
	fill_long(t);
	put_called(t, 1, 77);
	put_called(t, 1, 79);
	put_called(t, 4, 78); /* of a thread whose first thread is idle */
	sites = read_sites(t);
	assert_int_equal(sites.unknown, 0);
	assert_non_null(strstr(sites.text, " 77"));
	assert_non_null(strstr(sites.text, " 78"));
	assert_non_null(strstr(sites.text, " 79"));
	assert_non_null(strstr(sites.text, " /new"));
	assert_non_null(strstr(sites.text, " /library"));
	assert_non_null(strstr(sites.text, " /other"));
	assert_null(strstr(sites.text, " /old"));
	assert_null(strstr(sites.text, " /third"));
	assert_int_equal(strlen(sites.text), strlen(" 77 78 79 /new /library /other"));
	tape_finish(t);
	remove_dumps();
}

/* Only those of living processes are missed. A task that executes a program goes on as another one. */
static void stacks_that_do_not_fit_are_counted(void **state)
{
	const u32 first = 10, count = 40000;
	static const struct {
		const char *what;
		bool exits;
		bool executes;
	} rows[] = {
		{ "of a process that lives", false, false },
		{ "of processes that have exited", true, false },
		{ "of processes that have executed a program", false, true },
	};
	size_t row;
	u32 i;

	(void)state;
	for (row = 0; row < 3; row++) {
		bool is_alive = !rows[row].exits && !rows[row].executes;
		struct tape tape = {}, *t = &tape;
		u64 forgotten;

		tape_open(t, MEMORY);
		begin(t);
		put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
		for (i = first; i < first + count; i++) {
			if (!is_alive)
				PUT(1, task, .task = i, .pid = i, .tgid = i, .why = IOT_REASON_fork);
			put_code(t, is_alive ? 1 : i, 0x1000, "/program");
			put_stack(t, is_alive ? 1 : i, i);
			if (rows[row].exits)
				PUT(1, exit, .task = i);
			if (rows[row].executes)
				PUT(1, exec, .task = i, .into = i + 1);
		}
		fill_long(t);
		flush_all(t);
		assert_int_equal(flight_dump(t->flight, "a test"), 0);
		forgotten = read_dump(1, 0).omissions.of[IOT_OMISSION_forgotten].count;
		assert_row(rows[row].what, is_alive ? forgotten > count / 2 : forgotten < 10); /* tasks that have nothing to do */
		tape_finish(t);
		remove_dumps();
	}
}

static int count_sites(void *context, struct iot_names *names, const struct iot_record *record)
{
	u64 *counts = context;

	(void)names;
	counts[0] += record->kind == IOT_KIND_called_from;
	counts[1] += record->kind == IOT_KIND_stat;
	return 0;
}

/* A record of another CPU may end between the two; its length varies, so that the blocks of the ring end anywhere. */
static void put_called_apart(struct tape *t, u32 task)
{
	PUT(task, called_from, .task = task, .stack = 77, .op = t->ops[task] + 1);
	if (!draw(4))
		put(t, 1 + task % 3, (struct iot_record){ .kind = IOT_KIND_fact }, "a text that is long" + draw(20));
	PUT(task, stat, .object = FIRST_FREE, .name = FIRST_FREE);
}

/* Wherever the window begins: on each CPU, an operation has its call site, or neither is there. */
static void operations_leave_with_their_sites(void **state)
{
	u32 i, seed;

	(void)state;
	for (seed = 1; seed <= 12; seed++) {
		struct tape tape = {}, *t = &tape;
		struct iot_trace_info info;
		struct iot_reject reject = {};
		u64 counts[2] = {};

		tape_open(t, MEMORY);
		srandom(seed);
		begin(t);
		put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
		put_stack(t, 1, 77);
		for (i = 0; i < 20000; i++)
			put_called_apart(t, 1 + draw(3));
		flush_all(t);
		assert_int_equal(flight_dump(t->flight, "a test"), 0);
		assert_int_equal(iot_trace_walk(dump_path(1), count_sites, counts, &info, &reject), 0);
		assert_true(counts[1] > 1000 && counts[1] < 20000);
		assert_int_equal(counts[0], counts[1]);
		tape_finish(t);
		remove_dumps();
	}
}

SUITE("flight_sites",
      WITH_SCRATCH(operations_leave_with_their_sites)
      WITH_SCRATCH(stacks_survive)
      WITH_SCRATCH(stacks_that_do_not_fit_are_counted))
