// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunks.c - sizes and times of the two forms of a chunk, for the chunks of traces.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/chunk.h"
#include "lib/columns.h"
#include "lib/iotape.h"

#define ROUNDS	   40
#define ZSTD_LEVEL 3 /* as in writer.c */
#define ROOM_BYTES (IOT_COLUMNS_MAX_BYTES + (1 << 20))

/* Sums over the chunks of a trace; times in ns of processor time: of each chunk, the shortest of all rounds. */
struct sums {
	u64 records;
	u64 raw_bytes;
	u64 bytes[2];
	u64 write_ns[2];
	u64 read_ns[2];
};

static struct {
	ZSTD_CCtx *zstd;
	struct columns *columns;
	struct columns_decoder *decoder;
	u8 *raw;
	u8 *packed;
	u8 *unpacked;
	u8 *again;
} room;

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

static void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		abort();
	return memory;
}

static size_t compress(const void *bytes, size_t count)
{
	size_t n = ZSTD_compress2(room.zstd, room.packed, ROOM_BYTES, bytes, count);

	if (ZSTD_isError(n))
		abort();
	return n;
}

static void shorten(u64 *shortest_ns, u64 begin_ns)
{
	u64 time_ns = now_ns() - begin_ns;

	if (!*shortest_ns || time_ns < *shortest_ns)
		*shortest_ns = time_ns;
}

/* @chunk: the results so far of a chunk with @head */
static void measure_records(struct sums *chunk, const struct iot_chunk_head *head)
{
	u64 begin_ns = now_ns();
	size_t n = compress(room.raw, head->raw_bytes);

	shorten(&chunk->write_ns[0], begin_ns);
	chunk->bytes[0] = n;
	begin_ns = now_ns();
	if (ZSTD_decompress(room.again, head->raw_bytes, room.packed, n) != head->raw_bytes)
		abort();
	shorten(&chunk->read_ns[0], begin_ns);
}

static void measure_columns(struct sums *chunk, const struct iot_chunk_head *head)
{
	size_t n, count;
	const u8 *bytes;
	u64 begin_ns = now_ns();

	if (columns_encode(room.columns, room.raw, head->raw_bytes, head->count, &bytes, &count))
		abort();
	n = compress(bytes, count);
	shorten(&chunk->write_ns[1], begin_ns);
	chunk->bytes[1] = n + IOT_COLUMNS_HEAD_BYTES;
	begin_ns = now_ns();
	if (ZSTD_decompress(room.unpacked, count, room.packed, n) != count ||
	    columns_decode(room.decoder, room.unpacked, count, room.again, head->raw_bytes, head->count) ||
	    memcmp(room.again, room.raw, head->raw_bytes))
		abort();
	shorten(&chunk->read_ns[1], begin_ns);
}

static void measure_chunk(struct sums *sums, const struct iot_chunk_head *head)
{
	struct sums chunk = {};
	int i;

	for (i = 0; i < ROUNDS; i++) {
		measure_records(&chunk, head);
		measure_columns(&chunk, head);
	}
	sums->records += head->count;
	sums->raw_bytes += head->raw_bytes;
	for (i = 0; i < 2; i++) {
		sums->bytes[i] += chunk.bytes[i];
		sums->write_ns[i] += chunk.write_ns[i];
		sums->read_ns[i] += chunk.read_ns[i];
	}
}

static int measure_trace(int fd, struct sums *sums, struct iot_reject *reject)
{
	struct iot_trace_head trace;
	struct iot_chunk_head head;
	struct unpacker unpacker = {};
	struct chunk_list list;
	struct stat stat;
	size_t i;
	int err;

	if (fstat(fd, &stat) || read_exactly(fd, 0, &trace, sizeof(trace)))
		return refuse_io(reject, 0, -EIO);
	err = chunk_list_read(fd, sizeof(trace) + trace.schema_bytes, (u64)stat.st_size, &list, reject);
	for (i = 0; !err && i < list.count; i++) {
		u64 at = list.entries[i].offset_bytes;

		err = chunk_head_read(fd, at, (u64)stat.st_size, &head, reject);
		if (!err)
			err = chunk_unpack(&unpacker, fd, at, &head, room.raw, reject);
		if (err)
			break;
		chunk_settle(&head, room.raw);
		measure_chunk(sums, &head);
	}
	unpacker_free(&unpacker);
	if (!err)
		free(list.entries);
	return err;
}

static void print(const char *path, const struct sums *sums)
{
	double all = (double)sums->records;

	printf("%s: %llu records of %.1f bytes\n", path, (unsigned long long)sums->records,
	       (double)sums->raw_bytes / all);
	printf("  compressed: %5.2f bytes a record, written in %4.0f ns, read in %4.0f ns\n", (double)sums->bytes[0] / all,
	       (double)sums->write_ns[0] / all, (double)sums->read_ns[0] / all);
	printf("  columns:    %5.2f bytes a record, written in %4.0f ns, read in %4.0f ns; ratios %.2f %.2f %.2f\n",
	       (double)sums->bytes[1] / all, (double)sums->write_ns[1] / all, (double)sums->read_ns[1] / all,
	       (double)sums->bytes[1] / (double)sums->bytes[0], (double)sums->write_ns[1] / (double)sums->write_ns[0],
	       (double)sums->read_ns[1] / (double)sums->read_ns[0]);
}

int main(int argc, char **argv)
{
	int i, fd, failed = 0;

	room.zstd = ZSTD_createCCtx();
	if (!room.zstd || columns_open(&room.columns) || columns_decoder_open(&room.decoder))
		return 1;
	ZSTD_CCtx_setParameter(room.zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	room.raw = allocate(ROOM_BYTES);
	room.packed = allocate(ROOM_BYTES);
	room.unpacked = allocate(ROOM_BYTES);
	room.again = allocate(ROOM_BYTES);
	for (i = 1; i < argc; i++) {
		struct iot_reject reject = {};
		struct sums sums = {};

		fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0 || measure_trace(fd, &sums, &reject) || !sums.records) {
			fprintf(stderr, "chunks: %s: %s\n", argv[i], reject.reason ? iot_reject_sentence(&reject) : "no records");
			failed = 1;
		} else {
			print(argv[i], &sums);
		}
		if (fd >= 0)
			close(fd);
	}
	return failed;
}
