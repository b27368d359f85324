// SPDX-License-Identifier: GPL-2.0-only
/*
 * skip.c - chunks are skipped by their summaries: every needed record is still returned, with the same name of its object.
 *
 * Random traces of several streams are read in full and with needs. Then summaries are damaged, and made to lie.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/iotape.h"
#include "scratch.h"
#include "suite.h"
#include "trace_bytes.h"

#define STREAMS	    3
#define CHUNKS	    40
#define CHUNK_BYTES 4096
#define IDS	    6
#define TRACES	    20
#define LABEL_BYTES 64
#define RECORDS_MAX (CHUNKS * 8)

/* -- random traces ------------------------------------------------------------------------------------- */

static u32 below(u32 limit)
{
	return (u32)random() % limit;
}

static u64 id(void)
{
	return 1 + below(IDS);
}

/* A record that announces or changes names. */
static struct iot_record state_record(void)
{
	struct iot_record r = { .kind = IOT_KIND_name };

	switch (below(7)) {
	case 0:
		r.name = (struct iot_rec_name){ .name = id(), .dir = 1 };
		break;
	case 1:
		r = (struct iot_record){ .kind = IOT_KIND_object, .object = { .object = id(), .name = id(), .ino = id() } };
		break;
	case 2:
		r = (struct iot_record){ .kind = IOT_KIND_open, .open = { .name = id(), .object = id(), .handle = id() } };
		break;
	case 3:
		r = (struct iot_record){ .kind = IOT_KIND_rename,
					 .rename = { .name = id(), .new_name = id(), .object = id(), .replaced = id() } };
		break;
	case 4:
		r = (struct iot_record){ .kind = IOT_KIND_unlink, .unlink = { .name = id(), .object = id() } };
		break;
	case 5:
		r = (struct iot_record){ .kind = IOT_KIND_release, .release = { .handle = id(), .object = id() } };
		break;
	default:
		r = (struct iot_record){ .kind = IOT_KIND_map, .map = { .map = id(), .handle = id(), .object = id() } };
	}
	r.tail = (const u8 *)"abcdefgh" + below(7);
	r.tail_bytes = r.kind == IOT_KIND_name ? 1 : 0;
	return r;
}

static struct iot_record data_record(void)
{
	switch (below(4)) {
	case 0:
		return (struct iot_record){ .kind = IOT_KIND_read, .read = { .handle = id(), .object = id(), .result = 7 } };
	case 1:
		return (struct iot_record){ .kind = IOT_KIND_fsync, .fsync = { .handle = id(), .object = id() } };
	case 2:
		return (struct iot_record){ .kind = IOT_KIND_touch, .touch = { .map = id(), .object = id(), .length_bytes = 9 } };
	default:
		return (struct iot_record){ .kind = IOT_KIND_clock };
	}
}

static void put_chunk(struct iot_writer *writer, u32 stream, u64 *now_ns, u64 *sequence)
{
	struct iot_chunk_head what = { .stream = cpu_to_le32(stream), .sequence = cpu_to_le64(*sequence) };
	bool is_data = below(3);
	u32 i, count = 1 + below(7), task = 1 + below(4);
	u8 wire[CHUNK_BYTES], *p = wire;

	for (i = 0; i < count; i++) {
		struct iot_record r = is_data ? data_record() : state_record();

		*now_ns += below(200);
		r.op.enter_ns = *now_ns;
		if (iot_kind_info(r.kind)->group == IOT_GROUP_op) {
			r.op.duration_ns = below(4) ? below(50) : below(2000);
			r.op.enter_ns -= r.op.duration_ns;
			r.op.task = task + below(2);
		}
		if (!i)
			what.first_ns = cpu_to_le64(*now_ns);
		p += iot_record_encode(p, sizeof(wire), &r);
	}
	what.last_ns = cpu_to_le64(*now_ns);
	what.count = cpu_to_le32(count);
	what.raw_bytes = cpu_to_le32((u32)(p - wire));
	assert_int_equal(iot_writer_chunk(writer, &what, wire), 0);
	*sequence += count + (below(9) ? 0 : 1);
}

static void make_random(void)
{
	u64 now_ns[STREAMS] = { 5000, 5000, 5000 }, sequence[STREAMS] = {};
	struct iot_writer *writer;
	u32 i, stream;

	assert_int_equal(iot_writer_open(scratch_trace, (const unsigned char *)"skipped or read", &writer), 0);
	for (i = 0; i < CHUNKS; i++) {
		stream = below(STREAMS);
		put_chunk(writer, stream, &now_ns[stream], &sequence[stream]);
	}
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
}

/* -- reading them -------------------------------------------------------------------------------------- */

/* A record and, if it is wanted, the name of its object. */
struct seen {
	struct iot_record record;
	char label[LABEL_BYTES];
};

struct pass {
	struct seen seen[RECORDS_MAX];
	u32 count;
	struct iot_trace_info info;
	struct iot_omissions omissions;
};

/* The wanted records: of these kinds and, unless they are 0, of this task and up to this time; and all clocks. */
struct want {
	u64 kinds[IOT_KIND_WORDS];
	bool has_clocks;
	u32 task;
	u64 until_ns;
};

static bool is_wanted(const struct want *want, const struct iot_record *r)
{
	return want->kinds[r->kind / 64] >> r->kind % 64 & 1 && (!want->task || iot_record_task(r) == want->task) &&
	       (!want->until_ns || r->op.enter_ns < want->until_ns);
}

static bool may_match(const void *context, const struct iot_summary *summary)
{
	const struct want *want = context;
	bool has_task = !want->task || summary->has_more_tasks;
	u32 i;

	for (i = 0; i < summary->task_count; i++)
		has_task |= summary->tasks[i] == want->task;
	return has_task && iot_kinds_meet(want->kinds, summary->kinds) && (!want->until_ns || summary->earliest_ns < want->until_ns);
}

static struct want some_want(void)
{
	static const u16 kinds[] = { IOT_KIND_read, IOT_KIND_fsync, IOT_KIND_touch, IOT_KIND_open, IOT_KIND_rename };
	struct want want = { .task = below(2) ? 1 + below(5) : 0, .until_ns = below(2) ? 5000 + below(4000) : 0, .has_clocks = !below(4) };
	u32 i, count = 1 + below(2);

	for (i = 0; i < count; i++)
		iot_kinds_add(want.kinds, kinds[below(sizeof(kinds) / sizeof(kinds[0]))]);
	return want;
}

static void read_trace(const char *path, const struct want *want, bool can_skip, struct pass *pass)
{
	struct iot_need need = { .may_match = may_match, .context = want };
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_names *names;
	int err;

	iot_omissions_kinds(need.always);
	if (want->has_clocks)
		iot_kinds_add(need.always, IOT_KIND_clock);
	iot_names_kinds(need.state);
	*pass = (struct pass){};
	assert_int_equal(iot_reader_open(path, &reader, &reject), 0);
	assert_int_equal(iot_names_open(&names), 0);
	if (can_skip)
		iot_reader_need(reader, &need);
	for (;;) {
		struct seen *seen = &pass->seen[pass->count];

		assert_true(pass->count < RECORDS_MAX);
		err = iot_reader_next(reader, &seen->record, &reject);
		if (err <= 0)
			break;
		pass->count++;
		iot_omissions_take(&pass->omissions, &seen->record);
		assert_int_equal(iot_names_before(names, &seen->record), 0);
		if (is_wanted(want, &seen->record))
			snprintf(seen->label, LABEL_BYTES, "%s %u", iot_names_of_record(names, &seen->record).path,
				 iot_names_of_record(names, &seen->record).generation);
		assert_int_equal(iot_names_after(names, &seen->record), 0);
		seen->record.tail = NULL; /* it is valid until the next call */
	}
	assert_int_equal(err, 0);
	iot_reader_info(reader, &pass->info);
	iot_omissions_finish(&pass->omissions, &pass->info);
	iot_names_close(names);
	iot_reader_close(reader);
}

static bool is_same(const struct seen *one, const struct seen *other)
{
	bool is_op = iot_kind_info(one->record.kind)->group == IOT_GROUP_op; /* others are shorter */

	return one->record.kind == other->record.kind &&
	       !memcmp(&one->record.op, &other->record.op, is_op ? sizeof(one->record.op) : sizeof(one->record.op.enter_ns)) &&
	       !strcmp(one->label, other->label);
}

/* All wanted records, and all clocks on request, are in both, in the same order; all others of the second are in the first. */
static void compare(const struct want *want, const struct pass *full, const struct pass *fast)
{
	u32 i, j = 0;

	for (i = 0; i < full->count; i++) {
		bool is_there = j < fast->count && is_same(&full->seen[i], &fast->seen[j]);

		assert_true(is_there || !is_wanted(want, &full->seen[i].record));
		assert_true(is_there || !want->has_clocks || full->seen[i].record.kind != IOT_KIND_clock);
		assert_true(is_there || (i && i < full->count - 1));
		j += is_there;
	}
	assert_int_equal(j, fast->count);
	assert_int_equal(full->info.missing, fast->info.missing);
	assert_int_equal(full->omissions.operations, fast->omissions.operations);
	assert_int_equal(full->omissions.bytes, fast->omissions.bytes);
	assert_int_equal(full->omissions.begin_ns, fast->omissions.begin_ns);
	assert_int_equal(full->omissions.end_ns, fast->omissions.end_ns);
	assert_int_equal(full->omissions.has_files, fast->omissions.has_files);
}

static void needed_records_are_the_same_as_in_a_full_read(void **state)
{
	static struct pass full, fast;
	u64 skipped = 0, missing = 0;
	u32 i, j;

	(void)state;
	srandom(7);
	for (i = 0; i < TRACES; i++) {
		make_random();
		for (j = 0; j < 8; j++) {
			struct want want = some_want();

			read_trace(scratch_trace, &want, false, &full);
			read_trace(scratch_trace, &want, true, &fast);
			assert_int_equal(full.info.skipped, 0);
			compare(&want, &full, &fast);
			skipped += fast.info.skipped;
			missing += full.info.missing;
		}
	}
	assert_in_range(skipped, TRACES * 8 * CHUNKS / 4, TRACES * 8 * CHUNKS);
	assert_true(missing);
}

/* -- hostile summaries --------------------------------------------------------------------------------- */

#define CLOCKS	    6 /* chunks, each of two records */
#define TASKS	    2
#define ENTRY_BYTES (sizeof(struct iot_chunk_summary) + TASKS * sizeof(__le32))

/* A chunk with two operations. */
static void put_operations(struct trace_bytes *trace, u32 number)
{
	struct iot_chunk_head what = {
		.count = cpu_to_le32(2),
		.sequence = cpu_to_le64(2 * number),
		.first_ns = cpu_to_le64(1000 * number + 30),
		.last_ns = cpu_to_le64(1000 * number + 50),
	};
	u8 wire[1024], *p = wire;
	u32 i;

	for (i = 0; i < 2; i++) {
		struct iot_record r = {
			.kind = IOT_KIND_write,
			.write = { .enter_ns = 1000 * number + 20 * i, .duration_ns = 30, .task = 3 + i, .result = 512 },
		};

		p += iot_record_encode(p, sizeof(wire), &r);
	}
	trace_chunk(trace, &what, wire, (size_t)(p - wire));
}

static void put_summary(u8 *entries, u32 number)
{
	struct iot_chunk_summary summary = {
		.bytes = cpu_to_le32(ENTRY_BYTES),
		.tasks = cpu_to_le32(TASKS),
		.earliest_ns = cpu_to_le64(1000 * number),
		.latest_ns = cpu_to_le64(1000 * number + 20),
		.moved_bytes = cpu_to_le64(1024),
		.operations = cpu_to_le32(2),
		.kinds[IOT_KIND_write / 8] = 1 << IOT_KIND_write % 8,
	};
	u8 *p = entries + number * ENTRY_BYTES;

	memcpy(p, &summary, sizeof(summary));
	iot_put_u32(iot_put_u32(p + sizeof(summary), 3), 4);
}

/* A trace whose summaries are not compressed. Return: where their chunk is. */
static size_t make_plain(struct trace_bytes *trace)
{
	struct iot_chunk_head what = { .type = IOT_CHUNK_SUMMARIES, .count = cpu_to_le32(CLOCKS) };
	u8 entries[CLOCKS * ENTRY_BYTES];
	size_t at, trailer;
	u32 i;

	trace_open(trace, NULL);
	for (i = 0; i < CLOCKS; i++) {
		put_operations(trace, i);
		put_summary(entries, i);
	}
	at = trace->count;
	trace_chunk(trace, &what, entries, sizeof(entries));
	trace_finish(trace);
	trailer = trace->count - sizeof(struct iot_chunk_head);
	trace_head(trace, trailer)->lost = cpu_to_le64(at);
	trace_seal_chunk(trace->bytes, trace->count, trailer);
	return at;
}

static struct iot_condition verify(const char *path)
{
	struct iot_condition condition;
	struct iot_reject reject;

	assert_int_equal(iot_trace_verify(path, &condition, &reject), 0);
	return condition;
}

/* Return: valid until the next call. */
static const struct pass *read_nothing(const char *path)
{
	static const struct want nothing;
	static struct pass pass;

	read_trace(path, &nothing, true, &pass);
	return &pass;
}

static void intact_summaries_are_used(void **state)
{
	struct iot_condition condition;
	struct trace_bytes trace;
	const struct pass *pass;

	(void)state;
	make_plain(&trace);
	condition = verify(trace_path(trace.bytes, trace.count));
	assert_int_equal(condition.damages, 0);
	assert_int_equal(condition.chunks, CLOCKS);
	pass = read_nothing(trace_path(trace.bytes, trace.count));
	assert_int_equal(pass->info.skipped, CLOCKS - 2); /* all but the first and the last */
	assert_int_equal(pass->count, 4);
	assert_int_equal(pass->omissions.operations, 2 * CLOCKS);
	assert_int_equal(pass->omissions.bytes, 1024 * CLOCKS);
	trace_close(&trace);
}

static void every_lie_of_a_summary_is_found(void **state)
{
	struct trace_bytes trace;
	size_t at, end, byte;

	(void)state;
	at = make_plain(&trace) + sizeof(struct iot_chunk_head);
	end = at + CLOCKS * ENTRY_BYTES;
	for (byte = at; byte < end; byte++) {
		size_t field = (byte - at) % ENTRY_BYTES;

		if (field >= offsetof(struct iot_chunk_summary, zero) && field < offsetof(struct iot_chunk_summary, kinds))
			continue;
		if (field == offsetof(struct iot_chunk_summary, kinds))
			continue; /* a kind that only the writer knows */
		trace.bytes[byte] ^= 1;
		trace_seal_chunk(trace.bytes, trace.count, at - sizeof(struct iot_chunk_head));
		assert_true(verify(trace_path(trace.bytes, trace.count)).is_index_damaged);
		assert_in_range(read_nothing(trace_path(trace.bytes, trace.count))->count, 4, 2 * CLOCKS);
		trace.bytes[byte] ^= 1;
	}
	trace_close(&trace);
}

static void set_field(struct trace_bytes *trace, size_t at, size_t offset, u32 value)
{
	iot_put_u32(trace->bytes + at + sizeof(struct iot_chunk_head) + offset, value);
}

/* Damaged summaries are not used: all records are read. */
static void damaged_summaries_are_found_and_not_used(void **state)
{
	enum { LENGTH_0, LENGTH_MAX, TASKS_MAX, TASKS_MORE, COUNT, SEQUENCE, TYPE, PLACE_NEXT, PLACE_FAR, PLACE_INDEX, ROWS };
	struct trace_bytes trace;
	const struct pass *pass;
	size_t at, trailer;
	u32 row;

	(void)state;
	for (row = 0; row < ROWS; row++) {
		at = make_plain(&trace);
		trailer = trace.count - sizeof(struct iot_chunk_head);
		if (row == LENGTH_0 || row == LENGTH_MAX)
			set_field(&trace, at, offsetof(struct iot_chunk_summary, bytes), row == LENGTH_0 ? 0 : UINT32_MAX);
		if (row == TASKS_MAX || row == TASKS_MORE)
			set_field(&trace, at, offsetof(struct iot_chunk_summary, tasks), row == TASKS_MAX ? 0x40000000 : TASKS + 1);
		if (row == COUNT)
			trace_head(&trace, at)->count = cpu_to_le32(CLOCKS - 1);
		if (row == SEQUENCE)
			trace_head(&trace, at)->sequence = cpu_to_le64(1);
		if (row == TYPE)
			trace_head(&trace, at)->type = 9;
		trace_seal_chunk(trace.bytes, trace.count, at);
		if (row == PLACE_NEXT)
			trace_head(&trace, trailer)->lost = cpu_to_le64(at + 1);
		if (row == PLACE_FAR)
			trace_head(&trace, trailer)->lost = cpu_to_le64(UINT64_MAX);
		if (row == PLACE_INDEX)
			trace_head(&trace, trailer)->lost = trace_head(&trace, trailer)->sequence;
		trace_seal_chunk(trace.bytes, trace.count, trailer);
		assert_true(verify(trace_path(trace.bytes, trace.count)).is_index_damaged);
		pass = read_nothing(trace_path(trace.bytes, trace.count));
		assert_int_equal(pass->info.skipped, 0);
		assert_int_equal(pass->count, 2 * CLOCKS);
		trace_close(&trace);
	}
}

/* The end of a damaged chunk is skipped with its records, so nothing notices it; verification does. */
static void skipped_chunk_is_not_read(void **state)
{
	struct trace_bytes trace;
	const struct pass *pass;

	(void)state;
	make_plain(&trace);
	trace.bytes[trace.chunks[2] + sizeof(struct iot_chunk_head)] ^= 1;
	pass = read_nothing(trace_path(trace.bytes, trace.count));
	assert_int_equal(pass->info.skipped, CLOCKS - 2);
	assert_int_equal(verify(trace_path(trace.bytes, trace.count)).damaged_chunks, 1);
	trace_close(&trace);
}

/* A later version may append to a summary. */
static void longer_summaries_are_read(void **state)
{
	struct iot_chunk_head what = { .type = IOT_CHUNK_SUMMARIES, .count = cpu_to_le32(CLOCKS) };
	u8 plain[CLOCKS * ENTRY_BYTES], entries[CLOCKS * (ENTRY_BYTES + 8)] = {};
	struct trace_bytes trace;
	size_t at, trailer;
	u32 i;

	(void)state;
	trace_open(&trace, NULL);
	for (i = 0; i < CLOCKS; i++) {
		put_operations(&trace, i);
		put_summary(plain, i);
		iot_put_u32(plain + i * ENTRY_BYTES, ENTRY_BYTES + 8);
		memcpy(entries + i * (ENTRY_BYTES + 8), plain + i * ENTRY_BYTES, ENTRY_BYTES);
	}
	at = trace.count;
	trace_chunk(&trace, &what, entries, sizeof(entries));
	trace_finish(&trace);
	trailer = trace.count - sizeof(struct iot_chunk_head);
	trace_head(&trace, trailer)->lost = cpu_to_le64(at);
	trace_seal_chunk(trace.bytes, trace.count, trailer);
	assert_int_equal(verify(trace_path(trace.bytes, trace.count)).damages, 0);
	assert_int_equal(read_nothing(trace_path(trace.bytes, trace.count))->info.skipped, CLOCKS - 2);
	trace_close(&trace);
}

/* -- repair, and large traces ---------------------------------------------------------------------------- */

static void repaired_trace_has_summaries_of_its_chunks(void **state)
{
	struct iot_condition condition;
	struct trace_bytes trace;
	struct iot_reject reject;
	const struct pass *pass;
	bool is_output;

	(void)state;
	make_plain(&trace);
	trace.bytes[trace.chunks[2] + sizeof(struct iot_chunk_head)] ^= 1;
	assert_int_equal(iot_trace_repair(trace_path(trace.bytes, trace.count), scratch_trace, &condition, &reject, &is_output), 0);
	trace_close(&trace);
	assert_int_equal(verify(scratch_trace).damages, 0);
	pass = read_nothing(scratch_trace);
	assert_int_equal(pass->info.skipped, CLOCKS - 3); /* one was damaged, the last one has the fact */
	assert_int_equal(pass->omissions.operations, 2 * (CLOCKS - 1));
}

/* More summaries than one chunk of them has, and more tasks than one summary lists. */
static void many_summaries_are_in_several_chunks(void **state)
{
	enum { MANY = 16000, CROWD = IOT_SUMMARY_TASKS_MAX + 1 };
	static u8 wire[CROWD * 256];
	struct want want = { .task = 1 };
	static struct pass pass;
	struct iot_writer *writer;
	u32 i, j;

	(void)state;
	assert_int_equal(iot_writer_open(scratch_trace, (const unsigned char *)"a lot of chunks", &writer), 0);
	for (i = 0; i < MANY; i++) {
		u32 tasks = i == MANY / 2 ? CROWD : 1;
		struct iot_chunk_head what = { .count = cpu_to_le32(tasks), .sequence = cpu_to_le64(i + (i > MANY / 2 ? CROWD - 1 : 0)) };
		u8 *p = wire;

		for (j = 0; j < tasks; j++) {
			struct iot_record r = { .kind = IOT_KIND_exit, .exit = { .time_ns = 10 * i, .task = 2 + j } };

			p += iot_record_encode(p, sizeof(wire) - (size_t)(p - wire), &r);
		}
		what.raw_bytes = cpu_to_le32((u32)(p - wire));
		what.first_ns = what.last_ns = cpu_to_le64(10 * i);
		assert_int_equal(iot_writer_chunk(writer, &what, wire), 0);
	}
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
	assert_int_equal(verify(scratch_trace).damages, 0);
	iot_kinds_add(want.kinds, IOT_KIND_exit);
	read_trace(scratch_trace, &want, true, &pass);
	assert_int_equal(pass.info.skipped, MANY - 3); /* the first, the last, and that of the crowd are read */
	assert_int_equal(pass.count, CROWD + 2);
	assert_int_equal(pass.info.missing, 0);
}

SUITE("skip",
      WITH_SCRATCH(needed_records_are_the_same_as_in_a_full_read)
      TEST(intact_summaries_are_used)
      TEST(every_lie_of_a_summary_is_found)
      TEST(damaged_summaries_are_found_and_not_used)
      TEST(skipped_chunk_is_not_read)
      TEST(longer_summaries_are_read)
      WITH_SCRATCH(repaired_trace_has_summaries_of_its_chunks)
      WITH_SCRATCH(many_summaries_are_in_several_chunks))
