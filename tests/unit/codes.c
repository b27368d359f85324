// SPDX-License-Identifier: GPL-2.0-only
/*
 * codes.c - traces of parallel codes with any number of ranks: their patterns reproduce the operations, and are small
 * for any number of ranks.
 *
 * The traces are generated: checkpoints with a file per process; IOR with one file, in chunks or interleaved; BT-IO,
 * where each rank writes rows of its cells of a square; HACC-IO, where each variable of all ranks is contiguous and rank 0
 * writes a header; k aggregators that receive data from their neighbours and write it to one file.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pattern/pattern.h"
#include "scratch.h"
#include "pattern_text.h"
#include "suite.h"

#define BYTES_MAX (30u << 10)
#define WORLD	  0x77
#define ROOT	  1
#define SHARED	  2
#define MIB	  (1ull << 20)
#define CREATED	  (IOT_OPEN_write | IOT_OPEN_create)

static struct iot_writer *writer;
static u64 now_ns, next_id;
static u32 ranks, ops[1024], numbers[1024];

/* -- records ------------------------------------------------------------------------------------------------- */

static void put(struct iot_record record, const char *tail)
{
	now_ns += 1000;
	record.fact.time_ns = now_ns;
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)(tail ? strlen(tail) : 0);
	assert_int_equal(iot_writer_record(writer, &record), 0);
}

#define PUT(kind_, tail, ...) put((struct iot_record){ .kind = IOT_KIND_##kind_, .kind_ = { __VA_ARGS__ } }, tail)

static void put_op(u32 rank, struct iot_record record)
{
	now_ns += 1000;
	record.op.enter_ns = now_ns - 300;
	record.op.duration_ns = 200 + rank % 7;
	record.op.task = rank + 1;
	record.op.op = ++ops[rank];
	assert_int_equal(iot_writer_record(writer, &record), 0);
}

#define OP(rank, kind_, ...) put_op(rank, (struct iot_record){ .kind = IOT_KIND_##kind_, .kind_ = { __VA_ARGS__ } })

static void put_object(u64 id, u64 dir, const char *name, bool is_dir)
{
	PUT(name, name, .name = id, .dir = dir);
	PUT(object, NULL, .object = id, .name = id, .type = is_dir ? IOT_TYPE_dir : IOT_TYPE_file,
	    .mode = is_dir ? S_IFDIR | 0755 : S_IFREG | 0644, .ino = id, .nlink = 1);
}

static void collective(u32 rank, u32 call)
{
	OP(rank, mpi_coll, .call = call, .comm = WORLD, .number = ++numbers[rank], .root = -1, .sources = IOT_SOURCES_all);
}

static void barrier(void)
{
	u32 rank;

	for (rank = 0; rank < ranks; rank++)
		collective(rank, IOT_CALL_barrier);
}

static u64 open_file(u32 rank, u64 object)
{
	u64 handle = next_id++;

	OP(rank, open, .name = object, .object = object, .handle = handle, .flags = CREATED, .mode = 0644);
	return handle;
}

static void write_at(u32 rank, u64 object, u64 handle, u64 offset_bytes, u64 length_bytes)
{
	OP(rank, write, .object = object, .handle = handle, .offset_bytes = (s64)offset_bytes, .length_bytes = length_bytes,
	   .result = (s64)length_bytes);
}

static void close_file(u32 rank, u64 object, u64 handle)
{
	OP(rank, fsync, .object = object, .handle = handle, .end_bytes = INT64_MAX);
	OP(rank, flush, .object = object, .handle = handle);
	OP(rank, release, .object = object, .handle = handle);
}

/* -- codes ------------------------------------------------------------------------------------------------------ */

static void checkpoint(void)
{
	char name[32];
	u32 step, rank, i;
	u64 dir, file, handle;

	for (step = 0; step < 5; step++) {
		snprintf(name, sizeof(name), "step%04u", step * 100);
		dir = next_id++;
		put_object(dir, ROOT, name, true);
		OP(0, mkdir, .name = dir, .object = dir, .mode = 0755);
		barrier();
		for (rank = 0; rank < ranks; rank++) {
			snprintf(name, sizeof(name), "rank.%05u", rank);
			file = next_id++;
			put_object(file, dir, name, false);
			handle = open_file(rank, file);
			write_at(rank, file, handle, 0, 512);
			for (i = 0; i < 8; i++)
				write_at(rank, file, handle, 512 + i * MIB, MIB);
			close_file(rank, file, handle);
		}
		barrier();
	}
}

static void ior(bool is_interleaved)
{
	u64 handles[1024], at;
	u32 rank, i;

	for (rank = 0; rank < ranks; rank++)
		handles[rank] = open_file(rank, SHARED);
	barrier();
	for (i = 0; i < 32; i++)
		for (rank = 0; rank < ranks; rank++) {
			at = is_interleaved ? i * ranks + rank : rank * 32 + i;
			write_at(rank, SHARED, handles[rank], at * MIB, MIB);
		}
	barrier();
	for (rank = 0; rank < ranks; rank++)
		close_file(rank, SHARED, handles[rank]);
}

static void ior_chunks(void)
{
	ior(false);
}

static void ior_interleaved(void)
{
	ior(true);
}

/* A square number of ranks, each with a square of 8 rows in each of 4 steps. */
static void bt_io(void)
{
	u32 side = (u32)sqrt(ranks), step, rank, row;
	u64 handles[1024], x, y;

	for (rank = 0; rank < ranks; rank++)
		handles[rank] = open_file(rank, SHARED);
	for (step = 0; step < 4; step++) {
		for (rank = 0; rank < ranks; rank++) {
			x = rank % side;
			y = rank / side;
			for (row = 0; row < 8; row++)
				write_at(rank, SHARED, handles[rank],
					 ((step * side + y) * 8 + row) * side * 4096 + x * 4096, 4096);
		}
		barrier();
	}
	for (rank = 0; rank < ranks; rank++)
		close_file(rank, SHARED, handles[rank]);
}

static void hacc_io(void)
{
	static const u64 widths[] = { 4, 4, 4, 4, 4, 4, 4, 8, 2 };
	const u64 particles = 100000;
	u64 handles[1024], at;
	u32 rank, i;

	for (rank = 0; rank < ranks; rank++)
		handles[rank] = open_file(rank, SHARED);
	write_at(0, SHARED, handles[0], 0, 24 << 20);
	barrier();
	for (rank = 0; rank < ranks; rank++)
		for (i = 0, at = 24 << 20; i < 9; i++) {
			write_at(rank, SHARED, handles[rank], at + rank * particles * widths[i], particles * widths[i]);
			at += particles * widths[i] * ranks;
		}
	barrier();
	for (rank = 0; rank < ranks; rank++)
		close_file(rank, SHARED, handles[rank]);
}

/* Groups of 4 ranks; all send to the first rank of their group. */
static void aggregators(void)
{
	u32 step, first, i;
	u64 handles[1024];

	for (first = 0; first < ranks; first += 4)
		handles[first] = open_file(first, SHARED);
	for (step = 0; step < 10; step++) {
		for (first = 0; first < ranks; first += 4) {
			for (i = 1; i < 4; i++)
				OP(first + i, mpi_send, .call = IOT_CALL_send, .comm = WORLD, .peer = (s32)first, .tag = 7,
				   .length_bytes = 16384);
			for (i = 1; i < 4; i++)
				OP(first, mpi_recv, .call = IOT_CALL_recv, .comm = WORLD, .peer = (s32)(first + i), .tag = 7,
				   .length_bytes = 16384);
			write_at(first, SHARED, handles[first], (step * ranks + first) * 16384, 65536);
		}
		barrier();
	}
	for (first = 0; first < ranks; first += 4)
		close_file(first, SHARED, handles[first]);
}

/* Strong scaling: the amount of data is constant, with fewer iterations and smaller writes per rank. */
static void strong_scaling(void)
{
	const u64 total = 5760;
	u64 handles[1024], share = total / ranks, i;
	u32 rank;

	for (rank = 0; rank < ranks; rank++)
		handles[rank] = open_file(rank, SHARED);
	for (rank = 0; rank < ranks; rank++) {
		for (i = 0; i < share; i++)
			write_at(rank, SHARED, handles[rank], (rank * share + i) * 4096, 4096);
		write_at(rank, SHARED, handles[rank], (total + rank * share) * 4096, share * 4096);
	}
	barrier();
	for (rank = 0; rank < ranks; rank++)
		close_file(rank, SHARED, handles[rank]);
}

/* Each rank sends to the next one on a ring; the first collects from all, and writes an index. */
static void ring(void)
{
	u32 rank, step;
	u64 handle;

	for (step = 0; step < 6; step++) {
		for (rank = 0; rank < ranks; rank++)
			OP(rank, mpi_send, .call = IOT_CALL_send, .comm = WORLD, .peer = (s32)((rank + 1) % ranks), .tag = 3,
			   .length_bytes = 8192);
		for (rank = 0; rank < ranks; rank++)
			OP(rank, mpi_recv, .call = IOT_CALL_recv, .comm = WORLD, .peer = (s32)((rank + ranks - 1) % ranks),
			   .tag = 3, .length_bytes = 8192);
	}
	for (rank = 1; rank < ranks; rank++)
		OP(rank, mpi_send, .call = IOT_CALL_send, .comm = WORLD, .peer = 0, .tag = 4, .length_bytes = 64);
	handle = open_file(0, SHARED);
	for (rank = 1; rank < ranks; rank++) {
		OP(0, mpi_recv, .call = IOT_CALL_recv, .comm = WORLD, .peer = (s32)rank, .tag = 4, .length_bytes = 64);
		write_at(0, SHARED, handle, rank * 64, 64);
	}
	close_file(0, SHARED, handle);
}

/* Operands that no function of the number of ranks describes. */
static void irregular(void)
{
	u64 handle = open_file(0, SHARED);

	write_at(0, SHARED, handle, ranks * ranks % 11 * 4096, 4096);
	close_file(0, SHARED, handle);
}

/* With more ranks, the operations are different. */
static void another(void)
{
	u64 handle = open_file(0, SHARED);

	if (ranks > 6)
		OP(0, stat, .name = SHARED, .object = SHARED);
	else
		write_at(0, SHARED, handle, 0, 4096);
	close_file(0, SHARED, handle);
}

/* -- traces and patterns ------------------------------------------------------------------------------------------- */

/* For manual inspection with the commands: a directory on the file system of the scratch directory. */
static void keep_trace(void)
{
	const char *dir = getenv("PATTERN_TRACES");
	static u32 number;
	char path[256];

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/%u.%u.iot", dir, number++, ranks);
	unlink(path);
	assert_int_equal(link(scratch_trace, path), 0);
}

static void make_trace(u32 count, void (*code)(void))
{
	static const unsigned char capture[16] = "codes";
	u32 rank;

	ranks = count;
	now_ns = 1000000;
	next_id = 100;
	memset(ops, 0, sizeof(ops));
	memset(numbers, 0, sizeof(numbers));
	assert_int_equal(iot_writer_open(scratch_trace, capture, &writer), 0);
	put_object(ROOT, 0, "", true);
	put_object(SHARED, ROOT, "shared.dat", false);
	for (rank = 0; rank < ranks; rank++) {
		PUT(task, NULL, .task = rank + 1, .pid = 1000 + rank, .tgid = 1000 + rank, .why = IOT_REASON_seen);
		PUT(mpi_comm, NULL, .task = rank + 1, .comm = WORLD, .rank = rank, .size = ranks, .world_rank = rank,
		    .world = WORLD);
		collective(rank, IOT_CALL_init);
	}
	code();
	for (rank = 0; rank < ranks; rank++)
		collective(rank, IOT_CALL_finalize);
	PUT(end, NULL, .records = 1);
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
	keep_trace();
}

#define MESSAGES_MAX 8192
#define NUMBERS_MAX  256

struct message {
	u32 from, to;
	s32 tag;
	u64 ns;
};

/* The synchronization of ranks, by the times of a trace. */
struct meetings {
	u64 last_enter_ns[NUMBERS_MAX]; /* last entry into a collective, by its number */
	u64 first_end_ns[NUMBERS_MAX];
	struct message sent[MESSAGES_MAX], received[MESSAGES_MAX];
	u32 sent_count, received_count;
};

static void add_message(struct message *messages, u32 *count, u32 from, u32 to, s32 tag, u64 ns)
{
	assert_true(*count < MESSAGES_MAX);
	messages[(*count)++] = (struct message){ from, to, tag, ns };
}

static int take_meeting(void *context, struct iot_names *names, const struct iot_record *r)
{
	u64 end_ns = r->op.enter_ns + r->op.duration_ns;
	struct meetings *m = context;
	u32 number;

	(void)names;
	switch (r->kind) {
	case IOT_KIND_mpi_coll:
		number = r->mpi_coll.number % NUMBERS_MAX;
		if (r->op.enter_ns > m->last_enter_ns[number])
			m->last_enter_ns[number] = r->op.enter_ns;
		if (!m->first_end_ns[number] || end_ns < m->first_end_ns[number])
			m->first_end_ns[number] = end_ns;
		break;
	case IOT_KIND_mpi_send:
		add_message(m->sent, &m->sent_count, r->op.task - 1, (u32)r->mpi_send.peer, r->mpi_send.tag, r->op.enter_ns);
		break;
	case IOT_KIND_mpi_recv:
		add_message(m->received, &m->received_count, (u32)r->mpi_recv.peer, r->op.task - 1, r->mpi_recv.tag, end_ns);
		break;
	}
	return 0;
}

/* No rank leaves a collective before all have entered, or receives a message before its send. */
static bool is_in_order(const char *path)
{
	struct meetings *m = calloc(1, sizeof(*m));
	struct iot_trace_info info;
	struct iot_reject reject;
	bool is_right = true;
	u32 i, j;

	assert_non_null(m);
	assert_int_equal(iot_trace_walk(path, take_meeting, m, &info, &reject), 0);
	for (i = 0; i < NUMBERS_MAX; i++)
		is_right &= m->first_end_ns[i] >= m->last_enter_ns[i];
	assert_int_equal(m->sent_count, m->received_count);
	for (i = 0; i < m->received_count; i++) {
		const struct message *got = &m->received[i];

		for (j = 0; j < m->sent_count; j++) { /* each message is received once, in order */
			struct message *sent = &m->sent[j];

			if (sent->from != got->from || sent->to != got->to || sent->tag != got->tag || sent->ns == UINT64_MAX)
				continue;
			is_right &= sent->ns <= got->ns;
			sent->ns = UINT64_MAX;
			break;
		}
		is_right &= j < m->sent_count;
	}
	free(m);
	return is_right;
}

/* A trace of the pattern has the same operations: pattern_trace() reads it again. All waits end. */
static void check_trace(const char *name, const struct pattern *pattern)
{
	struct pattern_refusal refusal;
	char path[96];
	u64 broken = 1;
	int err;

	snprintf(path, sizeof(path), "%s.again", scratch_trace);
	err = pattern_trace(pattern, path, &broken, &refusal);
	if (err)
		printf("# %s: %s\n", name, refusal.text);
	assert_row(name, !err);
	assert_row(name, !broken);
	assert_row(name, is_in_order(path));
	unlink(path);
}

/* The text of the pattern has all its operations, and the same text again. */
static void check_text(const char *name, const struct pattern *pattern)
{
	char *text = text_of(pattern), *again = NULL;
	struct pattern_refusal refusal;
	struct pattern_summary a, b;
	struct pattern *made;
	int err = pattern_parse(text, strlen(text), 0, UINT32_MAX, &made, &refusal);

	if (err)
		printf("# %s: %d %s\n", name, err, refusal.text);
	assert_row(name, !err);
	if (!err) {
		again = text_of(made);
		pattern_summarize(pattern, &a);
		pattern_summarize(made, &b);
		assert_row(name, !memcmp(a.digest, b.digest, sizeof(a.digest)) && a.operations == b.operations);
		assert_row(name, a.has_times == b.has_times && b.is_made && !strcmp(text, again));
		pattern_free(made);
	}
	free(again);
	free(text);
}

/* Return: bytes of the pattern. */
static size_t check_pattern(const char *name, u64 *operations)
{
	struct pattern_summary summary;
	struct iot_omissions omissions;
	struct pattern *pattern, *loaded;
	struct iot_reject reject;
	u8 digest[32];
	size_t bytes;
	void *image;

	assert_int_equal(pattern_make(scratch_trace, &pattern, &omissions, &reject), 0);
	assert_int_equal(pattern_image(pattern, &image, &bytes), 0);
	assert_int_equal(pattern_load_bytes(image, bytes, &loaded, &reject), 0);
	assert_int_equal(pattern_expand(loaded, NULL, UINT64_MAX, digest, operations), 0);
	pattern_summarize(pattern, &summary);
	assert_row(name, summary.ranks == ranks);
	assert_row(name, !memcmp(summary.digest, digest, sizeof(digest)));
	assert_row(name, bytes <= BYTES_MAX);
	if (ranks <= 64)
		check_trace(name, loaded);
	check_text(name, loaded);
	free(image);
	pattern_free(pattern);
	pattern_free(loaded);
	return bytes;
}

static void patterns_do_not_grow_with_ranks(void **unused)
{
	static const struct {
		const char *name;
		void (*code)(void);
	} codes[] = { { "checkpoint", checkpoint },   { "IOR, chunks", ior_chunks }, { "IOR, interleaved", ior_interleaved },
		      { "BT-IO", bt_io }, { "HACC-IO", hacc_io }, { "aggregators", aggregators } };
	static const u32 counts[] = { 4, 16, 64, 256, 1024 };
	size_t i, j, bytes;
	struct stat st;
	u64 operations;

	(void)unused;
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		for (j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
			make_trace(counts[j], codes[i].code);
			assert_int_equal(stat(scratch_trace, &st), 0);
			bytes = check_pattern(codes[i].name, &operations);
			printf("# %s, %u ranks: %llu operations, trace %lld bytes, pattern %zu bytes\n", codes[i].name, counts[j],
			       (unsigned long long)operations, (long long)st.st_size, bytes);
		}
}

static struct pattern *pattern_of(u32 count, void (*code)(void))
{
	struct iot_omissions omissions;
	struct pattern *pattern;
	struct iot_reject reject;

	make_trace(count, code);
	assert_int_equal(pattern_make(scratch_trace, &pattern, &omissions, &reject), 0);
	return pattern;
}

/* Compares an extrapolated pattern with the run. Return: whether the operations are the same. */
static bool is_as_run(const char *name, const struct pattern *made, u32 count, void (*code)(void))
{
	struct pattern *run = pattern_of(count, code);
	struct pattern_comparison comparison;
	struct pattern_summary a, b;

	assert_int_equal(pattern_compare(made, run, &comparison), 0);
	printf("# %s, %u ranks: error of think times %.1f %%, of durations %.1f %%\n", name, count,
	       100 * comparison.think.share, 100 * comparison.duration.share);

	pattern_summarize(made, &a);
	pattern_summarize(run, &b);
	pattern_free(run);
	return comparison.is_same && !memcmp(a.digest, b.digest, sizeof(a.digest)) && a.operations == b.operations && a.is_made && !b.is_made;
}

/* Held-out runs are extrapolated from smaller ones, except for the times. */
static void patterns_are_extrapolated(void **unused)
{
	static const struct {
		const char *name;
		void (*code)(void);
		u32 runs[4];
		u32 held_out[3];
	} cases[] = {
		{ "checkpoint", checkpoint, { 4, 6, 8, 12 }, { 16, 64, 256 } },
		{ "IOR, chunks", ior_chunks, { 4, 6, 8 }, { 12, 16, 100 } },
		{ "IOR, interleaved", ior_interleaved, { 4, 6, 8 }, { 12, 16, 100 } },
		{ "BT-IO", bt_io, { 4, 9, 16 }, { 25, 36, 256 } },
		{ "HACC-IO", hacc_io, { 4, 6, 8 }, { 12, 16, 256 } },
		{ "aggregators", aggregators, { 8, 12, 16 }, { 4, 20, 64 } },
		{ "strong scaling", strong_scaling, { 4, 6, 8 }, { 12, 16, 96 } },
		{ "ring", ring, { 6, 8, 12 }, { 4, 16, 256 } },
	};
	const struct pattern *runs[4];
	struct extrapolation_summary summary;
	struct pattern_refusal refusal;
	const struct extrapolation_options plain = {};
	struct pattern *made;
	u32 i, j, count;
	int err;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (count = 0; count < 4 && cases[i].runs[count]; count++)
			runs[count] = pattern_of(cases[i].runs[count], cases[i].code);
		for (j = 0; j < ARRAY_SIZE(cases[i].held_out); j++) {
			err = pattern_extrapolate(runs, count, cases[i].held_out[j], &plain, &made, &summary, &refusal);
			if (err)
				printf("# %s, %u ranks: %s\n", cases[i].name, cases[i].held_out[j], refusal.text);
			assert_row(cases[i].name, !err);
			if (err)
				break;
			assert_row(cases[i].name, is_as_run(cases[i].name, made, cases[i].held_out[j], cases[i].code));
			pattern_free(made);
		}
		while (count)
			pattern_free((struct pattern *)runs[--count]);
	}
}

/* Operations that do not fit are named, and there is no result. */
static void misfits_are_refused(void **unused)
{
	static const struct {
		void (*code)(void);
		u32 runs[3];
		u32 ranks;
		const char *sentence;
	} cases[] = {
		{ irregular, { 4, 6, 8 }, 16, "write shared.dat: offset_bytes: no known function of the number of ranks "
					      "fits and is an integer at 16: 20480 at 4, 12288 at 6, 36864 at 8" },
		{ another, { 4, 6, 8 }, 16, "the operations of rank 0 of 4 do not match any rank of 8: the first "
					    "difference is at write shared.dat" },
		{ strong_scaling, { 4, 6, 8 }, 7, "number of iterations of write shared.dat: no known function of the number of "
						  "ranks fits and is an integer at 7: 1441 at 4, 961 at 6, 721 at 8" },
		{ ior_chunks, { 4, 4, 8 }, 16, "two runs with 4 ranks" },
	};
	struct extrapolation_summary summary;
	struct pattern_refusal refusal;
	const struct pattern *runs[3];
	struct pattern *made;
	u32 i, j;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (j = 0; j < 3; j++)
			runs[j] = pattern_of(cases[i].runs[j], cases[i].code);
		assert_int_equal(pattern_extrapolate(runs, 3, cases[i].ranks, &(struct extrapolation_options){}, &made, &summary, &refusal), -EOPNOTSUPP);
		assert_string_equal(refusal.text, cases[i].sentence);
		for (j = 0; j < 3; j++)
			pattern_free((struct pattern *)runs[j]);
	}
}

/* The header and data of each rank in one file; and a rank that reads data written by another. */
static void exchange(void)
{
	u64 handles[1024];
	u32 rank;

	for (rank = 0; rank < ranks; rank++)
		handles[rank] = open_file(rank, SHARED);
	for (rank = 0; rank < ranks; rank++)
		write_at(rank, SHARED, handles[rank], rank * MIB, MIB);
	barrier();
	OP(0, read, .object = SHARED, .handle = handles[0], .offset_bytes = MIB, .length_bytes = MIB, .result = MIB);
	for (rank = 0; rank < ranks; rank++)
		close_file(rank, SHARED, handles[rank]);
}

/* What-if changes: the expected lines, or the reason of a refusal. The result can be expanded to a trace. */
static void patterns_are_changed(void **unused)
{
	static const struct {
		void (*code)(void);
		const char *name, *value;
		u64 operations;
		const char *lines[2];
		const char *refusal;
	} cases[] = {
		{ checkpoint, "fsync", "no", 1173, { "flush \"step{100*i:04}/rank.{rank:05}\"" } },
		{ checkpoint, "transfer", "4M", 773, { "for j in 0 .. 2 {\n       write \"step" } },
		{ ior_chunks, "transfer", "64KiB", 8336, { "for i in 0 .. 511 {", "offset_bytes=33554432*rank + 65536*i length_bytes=65536" } },
		{ checkpoint, "files", "shared", 1253, { "open \"step{100*i:04}/rank.shared\" flags=write|create mode=0644",
							"open \"step{100*i:04}/rank.shared\" flags=write|create mode=0 " } },
		{ ior_chunks, "files", "process", 656, { "write \"shared.dat.{rank:05}\" offset_bytes=1048576*i length_bytes=1048576" } },
		{ ior_interleaved, "files", "process", 656, { "write \"shared.dat.{rank:05}\" offset_bytes=1048576*i length_bytes=1048576",
							     "open \"shared.dat.{rank:05}\" flags=write|create|created mode=0644" } },
		{ checkpoint, "directories", "rank", 1333, { "mkdir \"step{100*i:04}/rank.{rank:05}\" mode=0755",
							    "write \"step{100*i:04}/rank.{rank:05}/rank.{rank:05}\"" } },
		{ ring, "fsync", "no", 288, { "write \"shared.dat\"" } },
		{ ring, "transfer", "64", 0, {}, "no consecutive reads or writes would change their size" },
		{ ior_chunks, "files", "shared", 0, {}, "no rank has an own file" },
		{ checkpoint, "files", "process", 0, {}, "no file is opened by several ranks" },
		{ ior_chunks, "directories", "rank", 0, {}, "no rank has an own file" },
		{ exchange, "files", "process", 0, {}, "ranks write data that others access" },
		{ checkpoint, "ranks", "8", 0, {}, "ranks: cannot be changed in the pattern of one run: use --extrapolate with "
						   "patterns of three runs" },
		{ checkpoint, "transfer", "4 pages", 0, {}, "transfer: not a size such as 64K or 4M" },
	};
	struct pattern *pattern, *changed;
	struct pattern_summary summary;
	struct pattern_refusal refusal;
	u64 count;
	char *text;
	u32 i, j;
	int err;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pattern = pattern_of(16, cases[i].code);
		err = pattern_change(pattern, cases[i].name, cases[i].value, &changed, &count, &refusal);
		pattern_free(pattern);
		if (cases[i].refusal) {
			assert_int_equal(err, -EOPNOTSUPP);
			assert_string_equal(refusal.text, cases[i].refusal);
			continue;
		}
		assert_int_equal(err, 0);
		pattern_summarize(changed, &summary);
		assert_true(summary.is_made && count);
		assert_int_equal(summary.operations, cases[i].operations);
		text = text_of(changed);
		for (j = 0; j < 2 && cases[i].lines[j]; j++) {
			if (!strstr(text, cases[i].lines[j]))
				printf("# not there: %s\n", cases[i].lines[j]);
			assert_row(cases[i].value, strstr(text, cases[i].lines[j]));
		}
		free(text);
		check_trace(cases[i].name, changed);
		pattern_free(changed);
	}
}

/* The text of a simple pattern. */
static void printed_pattern_resembles_the_program(void **unused)
{
	struct iot_omissions omissions;
	struct pattern *pattern;
	struct iot_reject reject;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)unused;
	make_trace(16, bt_io);
	assert_int_equal(pattern_make(scratch_trace, &pattern, &omissions, &reject), 0);
	assert_int_equal(pattern_print(pattern, false, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "size 16\n"));
	assert_non_null(strstr(text, "ranks 0-15 {\n"));
	assert_non_null(strstr(text, "   for i in 0 .. 3 {\n"));
	assert_non_null(strstr(text, "     for j in 0 .. 7 {\n"));
	assert_non_null(strstr(text, "write \"shared.dat\" offset_bytes="));
	assert_non_null(strstr(text, "=4096*(rank mod 4) + 131072*(rank div 4) + 524288*i + 16384*j length_bytes=4096"));
	assert_non_null(strstr(text, "==   mpi_coll barrier"));
	if (getenv("PATTERN_TEXT"))
		fputs(text, stderr);
	free(text);
	pattern_free(pattern);
}

SUITE("codes", WITH_SCRATCH(patterns_do_not_grow_with_ranks) WITH_SCRATCH(patterns_are_extrapolated) WITH_SCRATCH(misfits_are_refused)
	WITH_SCRATCH(patterns_are_changed) WITH_SCRATCH(printed_pattern_resembles_the_program))
