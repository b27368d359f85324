// SPDX-License-Identifier: GPL-2.0-only
/*
 * fresh.c - the memory that a read fills in a replay: page faults as in the trace.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "compile/compile.h"
#include "core/replay/fresh.h"
#include "replay/read_buffer.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define PAGE   4096ull
#define HANDLE 3

static struct iot_fresh fresh_of(u64 length_bytes, u32 faults)
{
	const struct iot_program_op op = {
		.kind = cpu_to_le16(IOT_KIND_read),
		.length_bytes = cpu_to_le64(length_bytes),
		.faults = cpu_to_le32(faults),
	};

	return iot_fresh_of(&op, PAGE);
}

static void is(struct iot_fresh fresh, u64 own_bytes, u64 touched_bytes, u64 fresh_bytes)
{
	assert_int_equal(fresh.own_bytes, own_bytes);
	assert_int_equal(fresh.touched_bytes, touched_bytes);
	assert_int_equal(fresh.fresh_bytes, fresh_bytes);
}

static void small_reads_use_the_buffer(void **state)
{
	(void)state;
	is(fresh_of(0, 0), 0, 0, 0);
	is(fresh_of(1, 0), 0, PAGE, 0);
	is(fresh_of(10 * PAGE, 0), 0, 10 * PAGE, 0);
	is(fresh_of(10 * PAGE, 3), 0, 10 * PAGE, 3 * PAGE);
	is(fresh_of(10 * PAGE, 10), 0, 0, 10 * PAGE);
	is(fresh_of(10 * PAGE, 11), 0, 0, 10 * PAGE); /* unaligned memory */
	is(fresh_of(10 * PAGE, UINT32_MAX), 0, 0, 10 * PAGE);
}

static void long_reads_may_have_huge_pages(void **state)
{
	(void)state;
	is(fresh_of(2ull << 20, 0), 0, 2ull << 20, 0);
	is(fresh_of(2ull << 20, 1), 2ull << 20, 0, 0);
	is(fresh_of(3ull << 20, 768), 3ull << 20, 0, 0);
	is(fresh_of(8ull << 20, 3), 0, IOT_WORKER_BUFFER_BYTES, 3 * PAGE);
	is(fresh_of(IOT_PROGRAM_LENGTH_MAX, 0), 0, IOT_WORKER_BUFFER_BYTES, 0);
	is(fresh_of(IOT_PROGRAM_LENGTH_MAX, UINT32_MAX), IOT_FRESH_MAX_BYTES, 0, 0);
}

static void write_trace(void)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read | IOT_OPEN_write);
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 5 * PAGE, .faults = 5, .result = 10);
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 3 * PAGE, .faults = 1, .result = 10);
	PUT(write, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 9 * PAGE, .result = 10);
	scribe_finish(s);
}

static void program_has_the_faults_of_the_trace(void **state)
{
	const struct compile_options options = { .trace = scratch_trace, .program = scratch_program, .rules = ORDER_DEFAULT };
	struct compile_summary summary;
	struct iot_program program;
	struct iot_reject reject;

	(void)state;
	write_trace();
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	compile_summary_free(&summary);
	assert_int_equal(iot_program_load(scratch_program, &program, &reject), 0);
	assert_int_equal(program.op_count, 4);
	assert_int_equal(le32_to_cpu(program.ops[1].faults), 5);
	assert_int_equal(le32_to_cpu(program.ops[2].faults), 1);
	assert_int_equal(le32_to_cpu(program.ops[3].faults), 0);
	assert_int_equal(read_buffer_touched_bytes(&program), 3 * (u64)sysconf(_SC_PAGESIZE)); /* not of the write */
	iot_program_free(&program);
}

static void touched_pages_are_in_memory(void **state)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	u8 *buffer = mmap(NULL, IOT_WORKER_BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u8 is_there[4];

	(void)state;
	assert_true(buffer != MAP_FAILED);
	read_buffer_touch(buffer, 3 * page_bytes);
	assert_int_equal(mincore(buffer, 4 * page_bytes, is_there), 0);
	assert_true(is_there[0] && is_there[1] && is_there[2]);
	assert_false(is_there[3]);
	munmap(buffer, IOT_WORKER_BUFFER_BYTES);
}

SUITE("fresh",
      TEST(small_reads_use_the_buffer)
      TEST(long_reads_may_have_huge_pages)
      WITH_SCRATCH(program_has_the_faults_of_the_trace)
      TEST(touched_pages_are_in_memory))
