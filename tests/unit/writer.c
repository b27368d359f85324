// SPDX-License-Identifier: GPL-2.0-only
/*
 * writer.c - all written records are read back, whenever and however the writing ends.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/iotape.h"
#include "suite.h"

/* Like NFS, which writes when a file is closed. Linked with --wrap=close. */
int __real_close(int fd);
int __wrap_close(int fd);

static int close_errno;

int __wrap_close(int fd)
{
	int err = __real_close(fd);

	if (!close_errno)
		return err;
	errno = close_errno;
	return -1;
}

static const unsigned char capture[16] = "0123456789abcdef";
static char path[] = "/tmp/iotape-test-XXXXXX";

static int make_file(void **state)
{
	(void)state;
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	close(mkstemp(path));
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

struct outcome {
	int err;
	u64 records;
	u64 sum; /* of wall clocks */
	bool is_ascending;
	struct iot_trace_info info;
};

static struct outcome read_all(void)
{
	struct outcome o = { .is_ascending = true };
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_record record;
	u64 last_ns = 0;

	o.err = iot_reader_open(path, &reader, &reject);
	if (o.err)
		return o;
	while ((o.err = iot_reader_next(reader, &record, &reject)) > 0) {
		o.records++;
		o.is_ascending &= iot_record_end_ns(&record) >= last_ns;
		last_ns = iot_record_end_ns(&record);
		if (record.kind == IOT_KIND_clock)
			o.sum += record.clock.real_ns;
	}
	iot_reader_info(reader, &o.info);
	iot_reader_close(reader);
	return o;
}

static struct iot_writer *open_writer(void)
{
	struct iot_writer *writer;

	assert_int_equal(iot_writer_open(path, capture, &writer), 0);
	return writer;
}

/* A chunk of clock records; real_ns of each is `value`. */
static int write_chunk(struct iot_writer *writer, u32 stream, u64 sequence, u32 count, u64 value)
{
	u8 *wire = malloc((size_t)count * IOT_WIRE_clock), *p = wire;
	struct iot_chunk_head what = {
		.raw_bytes = cpu_to_le32(count * IOT_WIRE_clock),
		.stream = cpu_to_le32(stream),
		.count = cpu_to_le32(count),
		.sequence = cpu_to_le64(sequence),
		.first_ns = cpu_to_le64(sequence),
		.last_ns = cpu_to_le64(sequence + count - 1),
	};
	int err;
	u32 i;

	for (i = 0; i < count; i++) {
		const struct iot_rec_clock clock = { sequence + i, value };

		p = iot_put_clock(p, &clock, NULL, 0);
	}
	err = iot_writer_chunk(writer, &what, wire);
	free(wire);
	return err;
}

static int write_fact(struct iot_writer *writer, u64 time_ns, const char *text, size_t bytes)
{
	const struct iot_record record = {
		.kind = IOT_KIND_fact,
		.tail = (const u8 *)text,
		.tail_bytes = (u16)bytes,
		.fact.time_ns = time_ns,
	};

	return iot_writer_record(writer, &record);
}

static void finished_trace_is_complete(void **state)
{
	struct iot_writer *writer = open_writer();
	struct outcome o;

	(void)state;
	assert_int_equal(write_chunk(writer, 0, 0, 1000, 1), 0);
	assert_int_equal(write_chunk(writer, 5, 0, 10, 10), 0);
	assert_int_equal(write_chunk(writer, 0, 1000, 1, 100), 0);
	assert_int_equal(write_fact(writer, 500, "key=value", 9), 0);
	assert_int_equal(iot_writer_finish(writer), 0);
	o = read_all();
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 1012);
	assert_int_equal(o.sum, 1000 + 100 + 100);
	assert_true(o.is_ascending);
	assert_true(o.info.is_complete);
	assert_int_equal(o.info.chunks, 4);
	assert_int_equal(o.info.lost | o.info.missing | o.info.unknown, 0);
	assert_int_equal(o.info.bytes, iot_writer_bytes(writer));
	assert_memory_equal(o.info.capture, capture, sizeof(capture));
	assert_true(o.info.real_ns > o.info.mono_ns && o.info.mono_ns > 0);
	iot_writer_close(writer);
}

static void trace_of_a_killed_writer_is_read(void **state)
{
	struct iot_writer *writer = open_writer();
	struct outcome o = read_all();

	(void)state;
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 0);
	assert_int_equal(write_chunk(writer, 0, 0, 100, 1), 0);
	assert_int_equal(write_fact(writer, 1, "not flushed", 11), 0);
	o = read_all();
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 100);
	assert_false(o.info.is_complete);
	assert_false(o.info.is_torn);
	assert_int_equal(iot_writer_flush(writer), 0);
	assert_int_equal(read_all().records, 101);
	iot_writer_close(writer);
}

/* More of the writer's own records than a chunk holds: numbers and order continue from chunk to chunk. */
static void own_records_fill_chunk_after_chunk(void **state)
{
	static const char text[IOT_TAIL_MAX_BYTES];
	struct iot_writer *writer = open_writer();
	struct outcome o;
	u64 i;

	(void)state;
	for (i = 0; i < 1000; i++)
		assert_int_equal(write_fact(writer, i, text, i % 2 ? sizeof(text) : i), 0);
	assert_int_equal(iot_writer_finish(writer), 0);
	o = read_all();
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 1000);
	assert_true(o.is_ascending);
	assert_true(o.info.chunks > 5);
	assert_int_equal(o.info.missing, 0);
	iot_writer_close(writer);
}

/* Records of 500 KB that cannot be compressed. */
static size_t make_noise(u8 *wire)
{
	struct iot_rec_fact fact = {};
	static u64 seed = 1;
	u8 *p = wire, noise[1000];
	size_t i, n;

	for (n = 0; n < 500; n++) {
		for (i = 0; i < sizeof(noise); i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			noise[i] = (u8)(seed >> 56);
		}
		p = iot_put_fact(p, &fact, noise, sizeof(noise));
	}
	return (size_t)(p - wire);
}

static void incompressible_chunk_is_stored_uncompressed(void **state)
{
	struct iot_chunk_head what = { .stream = cpu_to_le32(1), .count = cpu_to_le32(500) };
	u8 *wire = malloc(500 * 1024);
	struct iot_writer *writer = open_writer();
	u64 before = iot_writer_bytes(writer);
	size_t bytes = make_noise(wire);
	struct outcome o;

	(void)state;
	what.raw_bytes = cpu_to_le32((u32)bytes);
	assert_int_equal(iot_writer_chunk(writer, &what, wire), 0);
	assert_in_range(iot_writer_bytes(writer) - before, 64 + 490 * 1000, 64 + (u64)bytes);
	before = iot_writer_bytes(writer);
	assert_int_equal(write_chunk(writer, 0, 0, 10000, 0), 0);
	assert_true(iot_writer_bytes(writer) - before < 10000 * IOT_WIRE_clock / 3);
	assert_int_equal(iot_writer_finish(writer), 0);
	o = read_all();
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 10500);
	free(wire);
	iot_writer_close(writer);
}

/* One task that reads a file from the beginning to the end, with times that differ a little. */
static void regular_records_take_two_bytes(void **state)
{
	struct iot_chunk_head what = { .stream = cpu_to_le32(1), .count = cpu_to_le32(2500) };
	struct iot_rec_read read = { .enter_ns = 5000000, .duration_ns = 700, .task = 4, .object = 9, .handle = 12,
				     .result = 65536, .length_bytes = 65536 };
	u8 *wire = malloc(2500 * IOT_WIRE_read), *p = wire;
	struct iot_writer *writer = open_writer();
	u64 seed = 1, before = iot_writer_bytes(writer);
	u32 i;

	(void)state;
	for (i = 0; i < 2500; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		read.op++;
		read.enter_ns += read.duration_ns + 500 + (seed >> 60);
		read.duration_ns = 700 + (seed >> 40) % 16;
		read.oncpu_ns = read.duration_ns;
		read.runtime_ns = read.enter_ns - 4000000;
		p = iot_put_read(p, &read, NULL, 0);
		read.offset_bytes += 65536;
	}
	what.raw_bytes = cpu_to_le32((u32)(p - wire));
	assert_int_equal(iot_writer_chunk(writer, &what, wire), 0);
	assert_in_range(iot_writer_bytes(writer) - before, 2500, 2 * 2500);
	assert_int_equal(iot_writer_finish(writer), 0);
	assert_int_equal(read_all().records, 2500);
	free(wire);
	iot_writer_close(writer);
}

static void oversized_chunk_is_refused(void **state)
{
	const struct iot_chunk_head what = { .raw_bytes = cpu_to_le32(IOT_CHUNK_MAX_BYTES + 1) };
	struct iot_writer *writer = open_writer();
	u64 before = iot_writer_bytes(writer);

	(void)state;
	assert_int_equal(iot_writer_chunk(writer, &what, NULL), -EINVAL);
	assert_int_equal(iot_writer_bytes(writer), before);
	assert_int_equal(iot_writer_finish(writer), 0);
	assert_int_equal(read_all().err, 0);
	iot_writer_close(writer);
}

/* As if there were millions of chunks: the trace is complete, and its chunks are found without an index. */
static void oversized_index_is_left_out(void **state)
{
	static const u64 chunks[] = { 4, 5 };
	struct iot_writer *writer;
	struct outcome o;
	u64 bytes[2], i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(chunks); i++) {
		writer = open_writer();
		iot_writer_limit_index(writer, 4 * sizeof(struct iot_index_entry));
		for (n = 0; n < chunks[i]; n++)
			assert_int_equal(write_chunk(writer, 0, n, 1, 1), 0);
		bytes[i] = iot_writer_bytes(writer);
		assert_int_equal(iot_writer_finish(writer), 0);
		bytes[i] = iot_writer_bytes(writer) - bytes[i];
		iot_writer_close(writer);
		o = read_all();
		assert_int_equal(o.err, 0);
		assert_int_equal(o.records, chunks[i]);
		assert_int_equal(o.info.missing, 0);
		assert_true(o.info.is_complete);
		assert_false(o.info.is_torn);
	}
	assert_true(bytes[0] > 2 * sizeof(struct iot_chunk_head));
	assert_int_equal(bytes[1], sizeof(struct iot_chunk_head));
}

static void longer_file_is_replaced(void **state)
{
	static const char junk[100000];
	struct iot_writer *writer;
	struct outcome o;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	writer = open_writer();
	assert_int_equal(iot_writer_finish(writer), 0);
	o = read_all();
	assert_int_equal(o.err, 0);
	assert_true(o.info.is_complete);
	iot_writer_close(writer);
}

static void failed_creation_is_an_error(void **state)
{
	struct iot_writer *writer;

	(void)state;
	assert_int_equal(iot_writer_open("/nowhere/at/all", capture, &writer), -ENOENT);
	assert_int_equal(iot_writer_open("/", capture, &writer), -EISDIR);
	assert_int_equal(iot_writer_open("/dev/full", capture, &writer), -ENOSPC);
	iot_writer_close(NULL);
}

static void limit_file(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/*
 * The disk is full at any byte: writing fails, and earlier records can be read. When there
 * is space again, the writer continues, and the trace is complete.
 */
static void trace_on_a_full_disk_is_read(void **state)
{
	struct iot_writer *writer;
	struct outcome o;
	u64 room, before, written;
	int err;

	(void)state;
	for (room = 0; room < 1500; room += 13) {
		writer = open_writer();
		before = iot_writer_bytes(writer);
		limit_file(before + room);
		for (written = 0; !(err = write_chunk(writer, 0, written, 10, written)); written += 10)
			;
		assert_int_equal(err, -EFBIG);
		o = read_all();
		assert_int_equal(o.err, 0);
		assert_int_equal(o.records, written);
		assert_false(o.info.is_complete);
		assert_false(o.info.is_torn);
		if (iot_writer_finish(writer)) {
			o = read_all();
			assert_int_equal(o.err, 0);
			assert_int_equal(o.records, written);
			assert_false(o.info.is_complete);
		}
		limit_file(RLIM_INFINITY);
		assert_int_equal(write_chunk(writer, 0, written, 10, 0), 0);
		assert_int_equal(iot_writer_finish(writer), 0);
		o = read_all();
		assert_int_equal(o.err, 0);
		assert_int_equal(o.records, written + 10);
		assert_int_equal(o.info.missing, 0);
		assert_true(o.info.is_complete);
		iot_writer_close(writer);
	}
	assert_true(written > 0);
}

/* The writer's own records are retained while the disk is full, and written later. */
static void own_records_survive_a_full_disk(void **state)
{
	struct iot_writer *writer = open_writer();
	struct outcome o;
	u64 i;

	(void)state;
	limit_file(iot_writer_bytes(writer));
	for (i = 0; i < 10; i++)
		assert_int_equal(write_fact(writer, i, "x", 1), 0);
	assert_int_equal(iot_writer_flush(writer), -EFBIG);
	assert_int_equal(iot_writer_finish(writer), -EFBIG);
	limit_file(RLIM_INFINITY);
	assert_int_equal(iot_writer_finish(writer), 0);
	o = read_all();
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 10);
	iot_writer_close(writer);
}

static void quota_error_at_close_is_reported(void **state)
{
	struct iot_writer *writer = open_writer();
	int err;

	(void)state;
	assert_int_equal(write_chunk(writer, 0, 0, 10, 1), 0);
	close_errno = EDQUOT;
	err = iot_writer_finish(writer);
	close_errno = 0;
	assert_int_equal(err, -EDQUOT);
	assert_int_equal(iot_writer_finish(writer), -EBADF);
	iot_writer_close(writer);
}

/* The opened file, not the one that the name leads to now. */
static void only_the_created_file_is_removed(void **state)
{
	struct iot_writer *writer = open_writer();
	char other[sizeof(path) + 2];

	(void)state;
	snprintf(other, sizeof(other), "%s.2", path);
	assert_int_equal(rename(path, other), 0);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	iot_writer_discard(writer);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(rename(other, path), 0);
	iot_writer_discard(writer);
	assert_int_equal(access(path, F_OK), -1);
	iot_writer_close(writer);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); /* for the cleanup, which removes it */
}

static void link_remains_when_its_target_is_removed(void **state)
{
	char other[sizeof(path) + 2];
	struct iot_writer *writer;

	(void)state;
	snprintf(other, sizeof(other), "%s.2", path);
	assert_int_equal(symlink(strrchr(path, '/') + 1, other), 0);
	assert_int_equal(iot_writer_open(other, capture, &writer), 0);
	assert_int_equal(access(path, F_OK), 0);
	iot_writer_discard(writer);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(unlink(other), 0);
	iot_writer_close(writer);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); /* for the cleanup, which removes it */
}

static void devices_are_written_directly(void **state)
{
	struct iot_writer *writer;

	(void)state;
	assert_int_equal(iot_writer_open("/dev/null", capture, &writer), 0);
	assert_int_equal(write_chunk(writer, 0, 0, 10, 1), 0);
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
}

#undef TEST
/* Return: bytes of the file whose pages are in memory. */
static size_t resident_bytes(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t bytes, pages, resident = 0, i;
	unsigned char *map;
	struct stat stat;
	void *memory;

	assert_int_equal(fstat(fd, &stat), 0);
	bytes = (size_t)stat.st_size;
	pages = (bytes + 4095) / 4096;
	memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	map = malloc(pages);
	assert_true(memory != MAP_FAILED && !mincore(memory, bytes, map));
	for (i = 0; i < pages; i++)
		resident += (map[i] & 1) * 4096u;
	munmap(memory, bytes);
	free(map);
	close(fd);
	return resident;
}

/* 48 MB, all on the disk, and 12 MB more. Return: bytes in memory. */
static size_t resident_after_writing(bool evicts)
{
	struct iot_chunk_head what = { .stream = cpu_to_le32(1), .count = cpu_to_le32(500) };
	u8 *wire = malloc(500 * 1024);
	struct iot_writer *writer = open_writer();
	size_t resident;
	u32 i;

	if (evicts)
		iot_writer_evict(writer);
	for (i = 0; i < 120; i++) {
		what.raw_bytes = cpu_to_le32((u32)make_noise(wire));
		assert_int_equal(iot_writer_chunk(writer, &what, wire), 0);
		if (i == 96)
			assert_int_equal(iot_writer_sync(writer), 0);
	}
	resident = resident_bytes();
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
	free(wire);
	return resident;
}

static void written_pages_leave_memory(void **state)
{
	struct statfs fs;

	(void)state;
	assert_int_equal(statfs(path, &fs), 0);
	if (fs.f_type == TMPFS_MAGIC)
		skip(); /* such a file is in memory only */
	assert_in_range(resident_after_writing(false), 55 << 20, 64 << 20);
	assert_in_range(resident_after_writing(true), 0, 24 << 20);
	assert_int_equal(read_all().records, 120 * 500);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_file, remove_file),

SUITE("writer",
      TEST(finished_trace_is_complete)
      TEST(trace_of_a_killed_writer_is_read)
      TEST(own_records_fill_chunk_after_chunk)
      TEST(incompressible_chunk_is_stored_uncompressed)
      TEST(written_pages_leave_memory)
      TEST(regular_records_take_two_bytes)
      TEST(oversized_chunk_is_refused)
      TEST(oversized_index_is_left_out)
      TEST(longer_file_is_replaced)
      TEST(failed_creation_is_an_error)
      TEST(trace_on_a_full_disk_is_read)
      TEST(own_records_survive_a_full_disk)
      TEST(quota_error_at_close_is_reported)
      TEST(only_the_created_file_is_removed)
      TEST(link_remains_when_its_target_is_removed)
      TEST(devices_are_written_directly))
