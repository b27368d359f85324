// SPDX-License-Identifier: GPL-2.0-only
/*
 * advise.c - for each hint: traces to which it applies, traces to which it does not, and unknown cases.
 */
#include "advise/advise.h"

#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define HANDLE	 7
#define MAP	 3
#define KIB	 1024ll
#define MIB	 (1024 * KIB)
#define COMM	 77
#define MPI_FILE 88

/* -- parts of traces ------------------------------------------------------------------------------------- */

static void open_file(struct scribe *s)
{
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read | IOT_OPEN_write);
}

static void put_read(struct scribe *s, s64 offset, u64 length)
{
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = offset, .length_bytes = length,
	    .result = (s64)length);
}

static void put_write(struct scribe *s, s64 offset, u64 length)
{
	PUT(write, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = offset, .length_bytes = length,
	    .result = (s64)length);
}

static void put_touch(struct scribe *s, s64 offset, u32 flags, u32 major)
{
	PUT(touch, .object = SCRIBE_FILE, .map = MAP, .offset_bytes = offset, .length_bytes = 4096, .flags = flags,
	    .major = major);
}

static void put_fsync(struct scribe *s, u32 parent)
{
	struct iot_record record = { .kind = IOT_KIND_fsync,
				     .fsync = { .object = SCRIBE_FILE, .handle = HANDLE, .end_bytes = INT64_MAX } };

	record.op.parent = parent;
	scribe_put(s, record, NULL);
}

/* Offsets of 64 KiB that jump back and forth. */
static s64 jump(u32 i)
{
	return (s64)(i * 2654435761u >> 20) * 64 * KIB;
}

static void reads(struct scribe *s, u32 count, s64 begin, s64 step, u64 length)
{
	u32 i;

	open_file(s);
	for (i = 0; i < count; i++)
		put_read(s, begin + step * i, length);
}

static void writes(struct scribe *s, u32 count, s64 begin, s64 step, u64 length)
{
	u32 i;

	open_file(s);
	for (i = 0; i < count; i++)
		put_write(s, begin + step * i, length);
}

static void be_ranks(struct scribe *s, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		PUT(mpi_comm, .task = i + 1, .comm = COMM, .rank = i, .size = count, .world_rank = i, .world = COMM);
}

/* -- one function for each kind of trace ------------------------------------------------------------------ */

static void small_reads(struct scribe *s) { reads(s, 200, 0, 4096, 4096); }
static void large_reads(struct scribe *s) { reads(s, 200, 0, 64 * KIB, 64 * KIB); }
static void few_small_reads(struct scribe *s) { reads(s, 99, 0, 4096, 4096); }
static void small_writes(struct scribe *s) { writes(s, 200, 0, 100, 100); }
static void large_writes(struct scribe *s) { writes(s, 200, 0, 2 * MIB, 2 * MIB); }
static void small_strided_writes(struct scribe *s) { writes(s, 200, 0, MIB, 100); }
static void unaligned_writes(struct scribe *s) { writes(s, 200, 100, 64 * KIB, 64 * KIB); }
static void strided_reads(struct scribe *s) { reads(s, 200, 100 * MIB, -100 * KIB, 64 * KIB); }

/* Like a loop that reads to the end each time. */
static void reads_at_the_end(struct scribe *s)
{
	u32 i;

	reads(s, 50, 0, 4096, 4096);
	for (i = 0; i < 200; i++)
		PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = 205001, .length_bytes = 4096);
}

static void small_strided_reads(struct scribe *s) { reads(s, 200, 0, MIB, 100); }

static void random_reads(struct scribe *s)
{
	u32 i;

	open_file(s);
	for (i = 0; i < 200; i++)
		put_read(s, jump(i), 64 * KIB);
}

static void random_writes(struct scribe *s)
{
	u32 i;

	open_file(s);
	for (i = 0; i < 200; i++)
		put_write(s, jump(i), 64 * KIB);
}

static void advice(struct scribe *s, u32 number)
{
	open_file(s);
	PUT(fadvise, .object = SCRIBE_FILE, .handle = HANDLE, .advice = number);
}

static void sequential_as_random(struct scribe *s) { advice(s, 1); large_reads(s); }
static void random_as_sequential(struct scribe *s) { advice(s, 2); random_reads(s); }
static void random_as_random(struct scribe *s) { advice(s, 1); random_reads(s); }
static void advice_withdrawn(struct scribe *s) { advice(s, 1); advice(s, 0); large_reads(s); }

static void advice_on_a_closed_handle(struct scribe *s)
{
	advice(s, 1);
	PUT(release, .object = SCRIBE_FILE, .handle = HANDLE);
	large_reads(s);
}

static void fsyncs(struct scribe *s, u32 writes_before_each, u32 parent)
{
	u32 i, j;

	open_file(s);
	for (i = 0; i < 60; i++) {
		for (j = 0; j < writes_before_each; j++)
			put_write(s, (s64)(i * writes_before_each + j) * 64 * KIB, 64 * KIB);
		put_fsync(s, parent);
	}
}

static void fsync_after_each(struct scribe *s) { fsyncs(s, 1, 0); }
static void fsync_after_two(struct scribe *s) { fsyncs(s, 2, 0); }
static void fsync_inside(struct scribe *s) { fsyncs(s, 1, 1); }

static void sync_writes(struct scribe *s)
{
	u32 i;

	open_file(s);
	for (i = 0; i < 60; i++)
		PUT(write, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = i * 64 * KIB, .length_bytes = 64 * KIB,
		    .result = 64 * KIB, .flags = IOT_RW_dsync);
}

/* @read: a read fault, and whether storage was read for it; then a write. */
static void touches(struct scribe *s, bool has_read, bool is_major, u32 write_flags, u32 write_major)
{
	u32 i;

	open_file(s);
	PUT(map, .object = SCRIBE_FILE, .handle = HANDLE, .map = MAP, .length_bytes = 4 * MIB,
	    .prot = IOT_PROT_read | IOT_PROT_write, .flags = IOT_MAP_shared);
	for (i = 0; i < 120; i++) {
		if (has_read)
			put_touch(s, 4096ll * i, 0, is_major);
		put_touch(s, 4096ll * i, IOT_TOUCH_write | write_flags, write_major);
	}
}

static void pages_read_then_written(struct scribe *s) { touches(s, true, true, IOT_TOUCH_mkwrite, 0); }
static void pages_written_after_a_read_of_storage(struct scribe *s) { touches(s, false, false, 0, 1); }
static void cached_pages_written(struct scribe *s) { touches(s, true, false, IOT_TOUCH_mkwrite, 0); }
static void new_pages_written(struct scribe *s) { touches(s, false, false, IOT_TOUCH_mkwrite, 0); }
static void private_pages_written(struct scribe *s) { touches(s, true, true, IOT_TOUCH_cow, 1); }

static void opens(struct scribe *s, bool is_new_each, u32 tasks)
{
	u32 i;

	for (i = 0; i < 150; i++) {
		s->task = 1 + i % tasks;
		PUT(open, .object = SCRIBE_FILE, .handle = HANDLE + i, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
		PUT(release, .object = SCRIBE_FILE, .handle = HANDLE + i);
		if (is_new_each)
			PUT(unlink, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
	}
}

static void opened_again(struct scribe *s) { opens(s, false, 1); }
static void opened_again_by_both(struct scribe *s) { opens(s, false, 2); }
static void opened_anew(struct scribe *s) { opens(s, true, 1); }

enum between { NOTHING, WRITE, FAILED_WRITE, CHMOD };

static void stats(struct scribe *s, u32 count, enum between between, s64 result)
{
	u32 i;

	for (i = 0; i < count; i++) {
		PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .size_bytes = 8192, .result = result);
		if (between == WRITE || between == FAILED_WRITE)
			PUT(write, .object = SCRIBE_FILE, .length_bytes = MIB, .offset_bytes = i * MIB,
			    .result = between == WRITE ? MIB : -ENOSPC);
		if (between == CHMOD)
			PUT(setattr, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .attrs = IOT_ATTR_mode);
	}
}

static void queried_again(struct scribe *s) { stats(s, 150, NOTHING, 0); }
static void queried_after_failed_write(struct scribe *s) { stats(s, 150, FAILED_WRITE, 0); }
static void queried_after_write(struct scribe *s) { stats(s, 150, WRITE, 0); }
static void queried_after_chmod(struct scribe *s) { stats(s, 150, CHMOD, 0); }
static void queried_in_vain(struct scribe *s) { stats(s, 150, NOTHING, -EIO); }
static void storm(struct scribe *s) { stats(s, 1100, NOTHING, 0); }
static void queries_and_writes(struct scribe *s) { stats(s, 1100, WRITE, 0); }

/* Only appends to open files. */
static void releases(struct scribe *s)
{
	u32 i;

	large_writes(s);
	for (i = 0; i < 1100; i++)
		PUT(flush, .object = SCRIBE_FILE, .handle = HANDLE);
}

static void files(struct scribe *s, u32 count, u32 processes, u32 readers)
{
	u32 i, j;

	for (i = 0; i < count; i++)
		PUT(task, .task = 10 + i, .pid = 10 + i, .tgid = 10 + i % processes, .why = IOT_REASON_seen);
	for (i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = 100 + i, .dir = SCRIBE_DIR } }, name);
		PUT(object, .object = 100 + i, .name = 100 + i, .type = IOT_TYPE_file, .ino = 200 + i, .nlink = 1);
		for (j = 0; j <= readers; j++) {
			s->task = 10 + (i + j) % count;
			PUT(open, .object = 100 + i, .handle = 1000 * (j + 1) + i, .name = 100 + i, .flags = IOT_OPEN_write);
			PUT(write, .object = 100 + i, .handle = 1000 * (j + 1) + i, .length_bytes = MIB, .result = MIB);
		}
	}
}

static void file_of_each(struct scribe *s) { files(s, 32, 32, 0); }
static void file_of_each_rank(struct scribe *s)
{
	u32 i;

	files(s, 32, 32, 0);
	for (i = 0; i < 32; i++)
		PUT(mpi_comm, .task = 10 + i, .comm = COMM, .rank = i, .size = 32, .world_rank = i, .world = COMM);
}

static void files_of_31(struct scribe *s) { files(s, 40, 31, 0); }
static void files_of_few(struct scribe *s) { files(s, 64, 8, 0); }
static void files_of_two_each(struct scribe *s) { files(s, 32, 32, 1); }

static void alternate(struct scribe *s, s64 step, s64 apart, u64 length)
{
	u32 i;

	open_file(s);
	for (i = 0; i < 200; i++) {
		s->task = 1 + i % 2;
		put_write(s, step * i + apart * (i % 2), length);
	}
}

static void interleaved(struct scribe *s) { alternate(s, 4096, 0, 4096); }
static void apart(struct scribe *s) { alternate(s, 4096, 64 * MIB, 4096); }
static void interleaved_large(struct scribe *s) { alternate(s, 1536 * KIB, 0, 1536 * KIB); }

/* Writes of @bytes[], one for each rank, with these durations. */
static void rank_writes(struct scribe *s, u32 ranks, const u64 *bytes, const u64 *span_ns)
{
	u32 i;

	be_ranks(s, ranks);
	open_file(s);
	for (i = 0; i < ranks; i++) {
		s->task = i + 1;
		s->now_ns += span_ns[i];
		s->span_ns = span_ns[i];
		if (bytes[i])
			put_write(s, i * 64 * MIB, bytes[i]);
	}
}

#define RANKS(ranks, bytes_0, bytes_1, ns_0, ns_1) \
	rank_writes(s, ranks, (const u64[]){ bytes_0, bytes_1 }, (const u64[]){ ns_0, ns_1 })

static void all_by_one_rank(struct scribe *s) { RANKS(2, 2 * MIB, 0, 500, 500); }
static void evenly_by_ranks(struct scribe *s) { RANKS(2, 8 * MIB, 7 * MIB, 1000000000, 900000000); }
static void more_by_one_rank(struct scribe *s) { RANKS(2, 8 * MIB, 2 * MIB, 500, 500); }
static void slower_in_one_rank(struct scribe *s) { RANKS(2, MIB, MIB, 1000000000, 100000000); }
static void without_durations(struct scribe *s) { s->span_ns = 0; RANKS(2, MIB, MIB, 0, 0); }
static void by_a_single_rank(struct scribe *s) { RANKS(1, 2 * MIB, 0, 500, 500); }

/* The number of the write is between those of the call and of its last operation. */
static void in_collective(struct scribe *s)
{
	be_ranks(s, 2);
	open_file(s);
	s->op += 1;
	put_write(s, 0, 2 * MIB);
	s->op -= 2;
	PUT(mpi_file, .call = IOT_CALL_file_write_all, .file = MPI_FILE, .number = 2, .length_bytes = 2 * MIB,
	    .last_op = s->op + 2);
	s->op += 1;
}

static void mpi_calls(struct scribe *s, u32 ranks_that_open, bool is_collective, enum iot_call call)
{
	u32 i, task;

	be_ranks(s, 2);
	for (task = 1; task <= ranks_that_open; task++) {
		s->task = task;
		scribe_put(s, (struct iot_record){ .kind = IOT_KIND_mpi_file,
						   .mpi_file = { .call = IOT_CALL_file_open, .file = MPI_FILE, .number = 1 } },
			   "/scratch/out");
		for (i = 0; i < 120; i++)
			PUT(mpi_file, .call = call, .file = MPI_FILE, .number = is_collective ? i + 2 : 0, .length_bytes = 4096);
	}
}

static void independent_calls(struct scribe *s) { mpi_calls(s, 2, false, IOT_CALL_file_write_at); }
static void collective_calls(struct scribe *s) { mpi_calls(s, 2, true, IOT_CALL_file_write_at_all); }
static void calls_of_one_rank(struct scribe *s) { mpi_calls(s, 1, false, IOT_CALL_file_write_at); }
static void independent_seeks(struct scribe *s) { mpi_calls(s, 2, false, IOT_CALL_file_seek); }

/* -- the table ------------------------------------------------------------------------------------------------ */

/* @item: the expected first item, with its count; NULL: not checked. @fact: of the trace, or NULL */
static const struct row {
	void (*put)(struct scribe *s);
	enum advise_hint hint;
	enum advise_verdict verdict;
	const char *item;
	const char *fact;
} rows[] = {
#define ROW(put, hint, verdict, ...) { put, ADVISE_##hint, ADVISE_##verdict, __VA_ARGS__ }
	ROW(small_reads, small_reads, FOUND, "a 200"),
	ROW(large_reads, small_reads, ABSENT),
	ROW(few_small_reads, small_reads, ABSENT),
	ROW(small_writes, small_reads, ABSENT),
	ROW(reads_at_the_end, small_reads, ABSENT),
	ROW(small_writes, small_writes, FOUND, "a 200"),
	ROW(large_writes, small_writes, ABSENT),
	ROW(small_reads, small_writes, ABSENT),
	ROW(unaligned_writes, unaligned_requests, FOUND, "a 200"),
	ROW(large_writes, unaligned_requests, ABSENT),
	ROW(small_writes, unaligned_requests, ABSENT),
	ROW(reads_at_the_end, unaligned_requests, ABSENT),
	ROW(random_reads, random_reads, FOUND),
	ROW(large_reads, random_reads, ABSENT),
	ROW(strided_reads, random_reads, ABSENT),
	ROW(random_writes, random_reads, ABSENT),
	ROW(random_writes, random_writes, FOUND),
	ROW(large_writes, random_writes, ABSENT),
	ROW(sequential_as_random, wrong_advice, FOUND, "a 199"),
	ROW(random_as_sequential, wrong_advice, FOUND),
	ROW(random_as_random, wrong_advice, ABSENT),
	ROW(advice_withdrawn, wrong_advice, ABSENT),
	ROW(advice_on_a_closed_handle, wrong_advice, ABSENT),
	ROW(large_reads, wrong_advice, ABSENT),
	ROW(fsync_after_each, durable_writes, FOUND, "a 60"),
	ROW(sync_writes, durable_writes, FOUND, "a 60"),
	ROW(fsync_after_two, durable_writes, ABSENT),
	ROW(fsync_inside, durable_writes, ABSENT),
	ROW(pages_read_then_written, mapped_updates, FOUND, "a 120"),
	ROW(pages_written_after_a_read_of_storage, mapped_updates, FOUND, "a 120"),
	ROW(cached_pages_written, mapped_updates, ABSENT),
	ROW(new_pages_written, mapped_updates, ABSENT),
	ROW(private_pages_written, mapped_updates, ABSENT),
	ROW(opened_again, redundant_opens, FOUND, "a 149"),
	ROW(opened_again_by_both, redundant_opens, FOUND, "a 148"),
	ROW(opened_anew, redundant_opens, ABSENT),
	ROW(file_of_each, redundant_opens, ABSENT),
	ROW(queried_again, redundant_stats, FOUND, "a 149"),
	ROW(queried_after_failed_write, redundant_stats, FOUND, "a 149"),
	ROW(queried_after_write, redundant_stats, ABSENT),
	ROW(queried_after_chmod, redundant_stats, ABSENT),
	ROW(queried_in_vain, redundant_stats, ABSENT),
	ROW(storm, metadata_storm, FOUND, ". 1100"),
	ROW(queries_and_writes, metadata_storm, ABSENT),
	ROW(releases, metadata_storm, ABSENT),
	ROW(file_of_each, file_per_process, FOUND, ". 32"),
	ROW(files_of_31, file_per_process, ABSENT),
	ROW(files_of_few, file_per_process, ABSENT),
	ROW(files_of_two_each, file_per_process, ABSENT),
	ROW(interleaved, interleaved_writes, FOUND, "a 199"),
	ROW(apart, interleaved_writes, ABSENT),
	ROW(interleaved_large, interleaved_writes, ABSENT),
	ROW(small_writes, interleaved_writes, ABSENT),
	ROW(all_by_one_rank, one_rank, FOUND, "0 2097152"),
	ROW(evenly_by_ranks, one_rank, ABSENT),
	ROW(in_collective, one_rank, ABSENT),
	ROW(by_a_single_rank, one_rank, INAPPLICABLE),
	ROW(large_writes, one_rank, INAPPLICABLE),
	ROW(independent_calls, independent_io, FOUND, "/scratch/out 240"),
	ROW(collective_calls, independent_io, ABSENT),
	ROW(calls_of_one_rank, independent_io, ABSENT),
	ROW(independent_seeks, independent_io, ABSENT),
	ROW(more_by_one_rank, unbalanced_bytes, FOUND, "0 8388608"),
	ROW(evenly_by_ranks, unbalanced_bytes, ABSENT),
	ROW(all_by_one_rank, unbalanced_bytes, ABSENT),
	ROW(in_collective, unbalanced_bytes, ABSENT),
	ROW(slower_in_one_rank, unbalanced_time, FOUND, "0 1000000500"),
	ROW(evenly_by_ranks, unbalanced_time, ABSENT),
	ROW(without_durations, unbalanced_time, ABSENT),
	/* incomplete traces */
	ROW(large_reads, small_reads, UNKNOWN, NULL, "ops=metadata,sync"),
	ROW(queried_again, redundant_stats, FOUND, NULL, "ops=metadata"),
	ROW(queried_after_chmod, redundant_stats, ABSENT, NULL, "ops=metadata"),
	ROW(queried_again, redundant_stats, UNKNOWN, NULL, "ops=no-such-class"),
	ROW(large_reads, small_reads, UNKNOWN, NULL, "filter=size > 0"),
	ROW(small_reads, small_reads, FOUND, NULL, "filter=size > 0"),
	ROW(all_by_one_rank, one_rank, UNKNOWN, NULL, "filter=size > 0"),
	ROW(small_reads, small_reads, FOUND, NULL, "omission.lost=5 5 ?"),
	ROW(large_reads, small_reads, UNKNOWN, NULL, "omission.lost=5 5 ?"),
	ROW(large_reads, small_reads, ABSENT, NULL, "omission.mapping=1 ? ?"),
	ROW(large_reads, mapped_updates, UNKNOWN, NULL, "omission.mapping=1 ? ?"),
	ROW(collective_calls, small_reads, UNKNOWN, NULL, "omission.mpi_only=1 ? ?"),
	ROW(collective_calls, independent_io, ABSENT, NULL, "omission.mpi_only=1 ? ?"),
	ROW(without_durations, unbalanced_time, UNKNOWN, NULL, "source=strace"),
	ROW(slower_in_one_rank, unbalanced_time, FOUND, NULL, "source=strace"),
#undef ROW
};

static bool is_as_expected(const struct row *row, const struct advise_finding *finding)
{
	char item[64] = "";

	if (finding->verdict != row->verdict || (finding->verdict != ADVISE_FOUND && finding->item_count))
		return false;
	if (!finding->why != (finding->verdict == ADVISE_FOUND || finding->verdict == ADVISE_ABSENT))
		return false;
	if (finding->item_count)
		snprintf(item, sizeof(item), "%s %llu", finding->items[0].name, finding->items[0].count);
	return !row->item || !strcmp(item, row->item);
}

static void hints_apply_to_their_causes(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct iot_reject reject;
	struct advise advise;
	char what[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct advise_finding *finding = &advise.findings[rows[i].hint];

		scribe_begin(s);
		if (rows[i].fact)
			scribe_put(s, (struct iot_record){ .kind = IOT_KIND_fact }, rows[i].fact);
		rows[i].put(s);
		scribe_finish(s);
		assert_int_equal(advise_read(scratch_trace, &advise, &reject), 0);
		snprintf(what, sizeof(what), "row %zu, %s", i, advise_rules[rows[i].hint].name);
		if (!is_as_expected(&rows[i], finding))
			printf("# %s: verdict %d, %llu of %llu, %s %llu\n", what, finding->verdict, finding->count, finding->whole,
			       finding->item_count ? finding->items[0].name : "-",
			       finding->item_count ? finding->items[0].count : 0);
		assert_row(what, is_as_expected(&rows[i], finding));
		advise_free(&advise);
	}
}

static void possible_changes_are_suggested(void **state)
{
	static const struct {
		void (*put)(struct scribe *s);
		enum advise_hint hint;
		const char *change;
	} cases[] = {
		{ small_reads, ADVISE_small_reads, "transfer=1M" },
		{ small_strided_reads, ADVISE_small_reads, NULL },
		{ small_writes, ADVISE_small_writes, "transfer=1M" },
		{ small_strided_writes, ADVISE_small_writes, NULL },
		{ fsync_after_each, ADVISE_durable_writes, "fsync=no" },
		{ sync_writes, ADVISE_durable_writes, NULL },
		{ file_of_each_rank, ADVISE_file_per_process, "files=shared" },
		{ file_of_each, ADVISE_file_per_process, NULL },
		{ random_reads, ADVISE_random_reads, NULL },
		{ large_reads, ADVISE_small_reads, NULL },
	};
	struct scribe scribe, *s = &scribe;
	struct iot_reject reject;
	struct advise advise;
	const char *change;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scribe_begin(s);
		cases[i].put(s);
		scribe_finish(s);
		assert_int_equal(advise_read(scratch_trace, &advise, &reject), 0);
		change = advise.findings[cases[i].hint].change;
		assert_string_equal(change ?: "none", cases[i].change ?: "none");
		advise_free(&advise);
	}
}

/* The table of rules has all printed hints, and each hint has both kinds of traces above. */
static void each_hint_has_a_rule_and_tests(void **state)
{
	const struct advise_rule *rule;
	bool has[ADVISE_HINT_COUNT][2] = {};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].verdict == ADVISE_FOUND || rows[i].verdict == ADVISE_ABSENT)
			has[rows[i].hint][rows[i].verdict == ADVISE_FOUND] = true;
	for (i = 0; i < ADVISE_HINT_COUNT; i++) {
		rule = &advise_rules[i];
		assert_non_null(rule->name);
		assert_row(rule->name, rule->title && rule->share && rule->subjects && rule->reason && rule->remedy);
		assert_row(rule->name, rule->least && rule->percent);
		assert_row(rule->name, has[i][0] && has[i][1]);
	}
}

SUITE("advise", WITH_SCRATCH(hints_apply_to_their_causes) WITH_SCRATCH(possible_changes_are_suggested)
      TEST(each_hint_has_a_rule_and_tests))
