// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - the call sites of a trace: of this program, of one that is not here, and of code made at run time.
 */
#include "symbols/symbols.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core/trace/build_id.h"
#include "scratch.h"
#include "suite.h"

#define PID	 4000001 /* above the limit of process numbers, so no other process has this perf map */
#define BASE	 0x555500000000ull
#define MADE	 0x7f0000000000ull
#define STACK_ID 0xfedcba9876543210ull

static u8 build[IOT_BUILD_ID_MAX_BYTES];
static u32 build_bytes;

static void here(void) __attribute__((noinline, used));
static void here(void)
{
	__asm__ volatile("");
}

static struct iot_writer *writer;

static void put(struct iot_record *record)
{
	assert_int_equal(iot_writer_record(writer, record), 0);
}

static void put_task(u32 task, u32 pid)
{
	struct iot_record r = { .kind = IOT_KIND_task, .task = { .time_ns = 10, .task = task, .pid = pid, .tgid = pid } };

	put(&r);
}

/* All of this program's file as one mapping; @change: of the build id */
static void put_code(u32 process, const char *object, u8 change)
{
	u8 tail[PATH_MAX + 1 + IOT_BUILD_ID_MAX_BYTES];
	size_t bytes = strlen(object) + 1;
	struct iot_record r = { .kind = IOT_KIND_code, .tail = tail };

	r.code = (struct iot_rec_code){
		.time_ns = 20, .process = process, .task = process, .address = BASE, .length_bytes = 1ull << 32, .ino = 1, .dev = 1,
	};
	memcpy(tail, object, bytes);
	memcpy(tail + bytes, build, build_bytes);
	tail[bytes] ^= change;
	r.tail_bytes = (u16)(bytes + build_bytes);
	put(&r);
}

static void put_stack(u64 id, u32 process, const u64 *words, u32 count, u32 near)
{
	struct iot_record r = { .kind = IOT_KIND_stack, .tail = (const u8 *)words, .tail_bytes = (u16)(8 * count) };

	r.stack = (struct iot_rec_stack){ .time_ns = 30, .stack = id, .process = process, .task = process, .near = near };
	put(&r);
}

static struct iot_record called_from(u32 task, u32 op, u64 stack)
{
	struct iot_record r = { .kind = IOT_KIND_called_from };

	r.called_from = (struct iot_rec_called_from){ .time_ns = 40, .stack = stack, .task = task, .op = op };
	return r;
}

static struct iot_record flush_of(u32 task, u32 op)
{
	struct iot_record r = { .kind = IOT_KIND_flush };

	r.op.task = task;
	r.op.op = op;
	return r;
}

static u64 real_ns;

static void begin(void)
{
	static const unsigned char capture[16];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	real_ns = (u64)(now.tv_sec - 60) * 1000000000; /* before the perf map is written */
	assert_int_equal(iot_writer_open_at(scratch_trace, capture, real_ns, 1, &writer), 0);
}

static struct symbols *end(void)
{
	struct iot_reject reject = {};
	struct symbols *symbols;

	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
	assert_int_equal(symbols_open(scratch_trace, &symbols, &reject), 0);
	return symbols;
}

static void read_build_id(void)
{
	u8 head[4096];
	FILE *in = fopen("/proc/self/exe", "re");
	size_t bytes = fread(head, 1, sizeof(head), in);

	fclose(in);
	build_bytes = iot_build_id_find(head, bytes, build);
	assert_true(build_bytes);
}

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(u64 *)base = info->dlpi_addr;
	return 1;
}

static const char *exe(void)
{
	static char text[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", text, sizeof(text) - 1);

	assert_true(bytes > 0);
	text[bytes] = 0;
	return text;
}

/* The offset of here() in the file: of programs as compilers make them, segments have the same distance in both. */
static u64 place(void)
{
	u64 base = 0, address = (u64)here, start, stop, offset;
	char line[8192];
	FILE *in;

	dl_iterate_phdr(find_base, &base);
	in = fopen("/proc/self/maps", "re");
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &stop, &offset) == 3 && address >= start && address < stop)
			break;
	fclose(in);
	return address - start + offset;
}

static void site(struct symbols *symbols, u32 task, u32 op, char text[SYMBOLS_TEXT_BYTES])
{
	struct iot_record r = flush_of(task, op);

	assert_int_equal(symbols_site(symbols, &r, text), 0);
}

static void take(struct symbols *symbols, u32 task, u32 op, u64 stack)
{
	struct iot_record r = called_from(task, op, stack);

	assert_int_equal(symbols_take(symbols, &r), 0);
}

static void functions_of_this_program_are_found(void **state)
{
	u64 words[] = { BASE + place() };
	char text[SYMBOLS_TEXT_BYTES], expected[SYMBOLS_TEXT_BYTES];
	struct symbols *symbols;

	(void)state;
	read_build_id();
	begin();
	put_task(3, PID);
	put_code(3, exe(), 0);
	put_stack(STACK_ID, 3, words, 1, 0);
	symbols = end();
	assert_true(symbols_has_stacks(symbols));
	take(symbols, 3, 7, STACK_ID);
	site(symbols, 3, 7, text);
	if (symbols_has_elfutils()) {
		assert_int_equal(strncmp(text, "here@symbols.c:", 15), 0);
	} else {
		snprintf(expected, sizeof(expected), "symbols+0x%llx[", place());
		assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
	}
	symbols_close(symbols);
}

static void unknown_sites_are_question_marks(void **state)
{
	u64 words[] = { BASE };
	char text[SYMBOLS_TEXT_BYTES];
	struct symbols *symbols;

	(void)state;
	begin();
	put_task(3, PID);
	put_stack(STACK_ID, 3, words, 1, 0);
	symbols = end();
	take(symbols, 3, 7, STACK_ID);
	site(symbols, 3, 8, text); /* another operation */
	assert_string_equal(text, "?");
	site(symbols, 4, 7, text); /* another task */
	assert_string_equal(text, "?");
	site(symbols, 3, 7, text); /* a mapping that was not recorded */
	assert_string_equal(text, "0x555500000000");
	take(symbols, 3, 9, STACK_ID + 1); /* a stack that was lost */
	site(symbols, 3, 9, text);
	assert_string_equal(text, "?");
	symbols_close(symbols);
}

static void other_objects_are_offsets_with_their_build_ids(void **state)
{
	u64 words[] = { BASE + place() };
	char text[SYMBOLS_TEXT_BYTES], expected[SYMBOLS_TEXT_BYTES];
	struct symbols *symbols;
	u32 i, at;

	(void)state;
	read_build_id();
	begin();
	put_code(3, exe(), 1); /* not the same build */
	put_code(4, "/nonexistent/program", 0);
	put_code(5, "/dev/zero", 0); /* not a regular file */
	put_code(6, "/lib/libc.so.6", 0);
	for (i = 3; i <= 6; i++)
		put_stack(i, i, words, 1, 0);
	symbols = end();
	for (i = 3; i <= 6; i++)
		take(symbols, i, 1, i);
	site(symbols, 3, 1, text);
	at = (u32)snprintf(expected, sizeof(expected), "symbols+0x%llx[%02x", place(), build[0] ^ 1);
	for (i = 1; i < build_bytes; i++)
		at += (u32)snprintf(expected + at, sizeof(expected) - at, "%02x", build[i]);
	snprintf(expected + at, sizeof(expected) - at, "]");
	assert_string_equal(text, expected);
	site(symbols, 4, 1, text);
	assert_int_equal(strncmp(text, "program+0x", 10), 0);
	site(symbols, 5, 1, text);
	assert_int_equal(strncmp(text, "zero+0x", 7), 0);
	site(symbols, 6, 1, text); /* only the C library */
	assert_string_equal(text, "?");
	symbols_close(symbols);
}

static void put_map(const char *name, mode_t mode)
{
	char map[64];
	FILE *out;

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", PID);
	out = fopen(map, "we");
	assert_non_null(out);
	fprintf(out, "not a line\n%llx 20 %s\n%llx 10 second function\n", MADE, name, MADE + 0x40);
	fclose(out);
	assert_int_equal(chmod(map, mode), 0);
}

static void made_site(u64 address, char text[SYMBOLS_TEXT_BYTES])
{
	struct symbols *symbols;

	begin();
	put_task(3, PID);
	put_stack(STACK_ID, 3, &address, 1, 0);
	symbols = end();
	take(symbols, 3, 7, STACK_ID);
	site(symbols, 3, 7, text);
	symbols_close(symbols);
}

static void code_made_at_run_time_has_names_in_a_perf_map(void **state)
{
	char text[SYMBOLS_TEXT_BYTES], map[64];
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	(void)state;
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", PID);
	put_map("py::f", 0644);
	made_site(MADE + 0x1f, text);
	assert_string_equal(text, "py::f");
	made_site(MADE + 0x20, text); /* behind it */
	assert_string_equal(text, "0x7f0000000020");
	made_site(MADE + 0x40, text);
	assert_string_equal(text, "second function");
	made_site(MADE - 1, text);
	assert_string_equal(text, "0x7effffffffff");
	put_map("py::f", 0666); /* others could have written it */
	made_site(MADE, text);
	assert_string_equal(text, "0x7f0000000000");
	put_map("py::f", 0644);
	assert_int_equal(utimensat(AT_FDCWD, map, old, 0), 0); /* of an earlier process */
	made_site(MADE, text);
	assert_string_equal(text, "0x7f0000000000");
	unlink(map);
	assert_int_equal(symlink("/proc/self/maps", map), 0);
	made_site(MADE, text);
	assert_string_equal(text, "0x7f0000000000");
	unlink(map);
}

static void stacks_with_wrong_counts_are_ignored(void **state)
{
	u64 words[64] = { BASE };
	struct symbols *symbols;
	char text[SYMBOLS_TEXT_BYTES];

	(void)state;
	begin();
	put_stack(1, 3, words, 2, 1);	/* half of a pair */
	put_stack(2, 3, words, 64, 0);	/* too many */
	put_stack(3, 3, words, 49, 1000);
	put_stack(4, 3, words, 49, 8);
	symbols = end();
	take(symbols, 3, 1, 1);
	site(symbols, 3, 1, text);
	assert_string_equal(text, "?");
	take(symbols, 3, 1, 2);
	site(symbols, 3, 1, text);
	assert_string_equal(text, "?");
	take(symbols, 3, 1, 3);
	site(symbols, 3, 1, text);
	assert_string_equal(text, "?");
	take(symbols, 3, 1, 4);
	site(symbols, 3, 1, text);
	assert_string_equal(text, "0x555500000000");
	symbols_close(symbols);
}

SUITE("symbols",
      WITH_SCRATCH(functions_of_this_program_are_found)
      WITH_SCRATCH(unknown_sites_are_question_marks)
      WITH_SCRATCH(other_objects_are_offsets_with_their_build_ids)
      WITH_SCRATCH(code_made_at_run_time_has_names_in_a_perf_map)
      WITH_SCRATCH(stacks_with_wrong_counts_are_ignored))
