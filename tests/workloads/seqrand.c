// SPDX-License-Identifier: GPL-2.0-only
/*
 * seqrand.c - a workload: all kinds of reads and writes of one process.
 *
 * Sequential and random; by read, pread, readv, preadv2 and the corresponding writes;
 * appending, direct, synchronous; short reads at the end; holes, 1 TiB in size; every
 * whence of lseek; truncation in both directions; fallocate; copies by the kernel.
 */
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "workload.h"

#define BLOCK 4096
#define TAIL  100 /* so that no file ends at a block boundary */

static long blocks = 256, random_ops = 200, seed = 1;

static const struct workload_option options[] = {
	{ "blocks", &blocks, NULL, NULL, "size of the files in blocks of 4 KiB" },
	{ "random", &random_ops, NULL, NULL, "random reads and writes" },
	{ "seed", &seed, NULL, NULL, "another number, other offsets" },
	{}
};

static const char *directory;
static unsigned char buffer[64 * BLOCK] __attribute__((aligned(BLOCK)));

static const char *path(const char *name)
{
	static char text[4][PATH_MAX];
	static int next;

	next = (next + 1) % 4;
	snprintf(text[next], sizeof(text[next]), "%s/%s", directory, name);
	return text[next];
}

static int open_file(const char *name, int flags)
{
	int fd = open(path(name), flags, 0644);

	if (fd < 0)
		workload_fail("seqrand", __LINE__, "open of %s", name);
	return fd;
}

static int64_t size_of(int fd)
{
	struct stat stat;

	CHECK(!fstat(fd, &stat));
	return stat.st_size;
}

/* Reads to the end, @step bytes at a time, and verifies every byte. */
static int64_t read_all(int fd, size_t step, long tag)
{
	int64_t at = 0;
	ssize_t got;

	while ((got = read(fd, buffer, step)) > 0) {
		CHECK(workload_is(buffer, (size_t)got, tag, at));
		at += got;
	}
	CHECK(got == 0);
	return at;
}

static void write_all(int fd, int64_t bytes, size_t step, long tag)
{
	int64_t at;
	size_t count;

	for (at = 0; at < bytes; at += (int64_t)count) {
		count = bytes - at < (int64_t)step ? (size_t)(bytes - at) : step;
		workload_fill(buffer, count, tag, at);
		CHECK(write(fd, buffer, count) == (ssize_t)count);
	}
}

static void sequential(void)
{
	int64_t bytes = (int64_t)blocks * BLOCK + TAIL;
	int fd = open_file("sequential", O_WRONLY | O_CREAT | O_EXCL);

	write_all(fd, bytes, BLOCK, 1);
	CHECK(!fsync(fd));
	CHECK(!close(fd));
	fd = open_file("sequential", O_RDONLY);
	CHECK(!posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
	CHECK(read_all(fd, sizeof(buffer), 1) == bytes);
	CHECK(read(fd, buffer, BLOCK) == 0);
	CHECK(pread(fd, buffer, BLOCK, bytes - 10) == 10);
	CHECK(pread(fd, buffer, BLOCK, bytes + 10) == 0);
	CHECK_ERRNO(write(fd, buffer, 1), EBADF);
	CHECK(!close(fd));
	CHECK_ERRNO(read(fd, buffer, 1), EBADF);
	printf("sequential: %lld bytes\n", (long long)bytes);
}

/* Each block names its last writer. */
static void random_access(void)
{
	long *tags = calloc((size_t)blocks, sizeof(*tags)), block, i;
	uint64_t state = (uint64_t)seed;
	int fd = open_file("random", O_RDWR | O_CREAT | O_TRUNC);
	unsigned long long sum = 0;

	CHECK(tags);
	write_all(fd, (int64_t)blocks * BLOCK, sizeof(buffer), 0);
	for (i = 1; i <= random_ops; i++) {
		block = workload_below(&state, blocks);
		if (workload_random(&state) & 1) {
			workload_fill(buffer, BLOCK, i, block * BLOCK);
			CHECK(pwrite(fd, buffer, BLOCK, block * BLOCK) == BLOCK);
			tags[block] = i;
		} else {
			CHECK(pread(fd, buffer, BLOCK, block * BLOCK) == BLOCK);
			CHECK(workload_is(buffer, BLOCK, tags[block], block * BLOCK));
			sum += buffer[0];
		}
	}
	CHECK(!fdatasync(fd));
	for (block = 0; block < blocks; block++) {
		CHECK(pread(fd, buffer, BLOCK, block * BLOCK) == BLOCK);
		CHECK(workload_is(buffer, BLOCK, tags[block], block * BLOCK));
	}
	CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)blocks * BLOCK);
	CHECK(!close(fd));
	free(tags);
	printf("random: %ld operations, sum %llu\n", random_ops, sum);
}

static void append(void)
{
	int first = open_file("append", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
	int second = open_file("append", O_RDWR | O_APPEND);
	int64_t at = 0;
	size_t bytes;
	int i;

	for (i = 0; i < 20; i++) {
		bytes = 100 + (size_t)i;
		workload_fill(buffer, bytes, 2, at);
		CHECK(write(i & 1 ? first : second, buffer, bytes) == (ssize_t)bytes);
		at += (int64_t)bytes;
	}
	workload_fill(buffer, 50, 2, at);
	CHECK(pwrite(first, buffer, 50, 0) == 50); /* Linux appends nevertheless */
	at += 50;
	CHECK(lseek(second, 0, SEEK_SET) == 0);
	CHECK(read_all(second, 999, 2) == at);
	CHECK(fcntl(second, F_SETFL, 0) == 0);
	workload_fill(buffer, 10, 3, 0);
	CHECK(pwrite(second, buffer, 10, 0) == 10);
	CHECK(size_of(second) == at);
	CHECK(fcntl(first, F_SETFL, O_APPEND) == 0);
	CHECK(write(first, buffer, 10) == 10);
	CHECK(size_of(second) == at + 10);
	CHECK(!close(first) && !close(second));
	printf("append: %lld bytes\n", (long long)at + 10);
}

static void direct(void)
{
	int fd = open(path("direct"), O_RDWR | O_CREAT | O_DIRECT, 0644);

	if (fd < 0) {
		CHECK(errno == EINVAL);
		printf("direct: EINVAL\n");
		return;
	}
	workload_fill(buffer, 16 * BLOCK, 4, 0);
	CHECK(pwrite(fd, buffer, 16 * BLOCK, 0) == 16 * BLOCK);
	memset(buffer, 0, 16 * BLOCK);
	CHECK(pread(fd, buffer, 4 * BLOCK, 4 * BLOCK) == 4 * BLOCK);
	CHECK(workload_is(buffer, 4 * BLOCK, 4, 4 * BLOCK));
	CHECK(pread(fd, buffer, 4 * BLOCK, 14 * BLOCK) == 2 * BLOCK);
	printf("direct: misaligned: %s\n", workload_outcome(pread(fd, buffer + 1, 100, 1)));
	CHECK(fcntl(fd, F_SETFL, 0) == 0);
	CHECK(pread(fd, buffer, 100, 1) == 100 && workload_is(buffer, 100, 4, 1));
	CHECK(fcntl(fd, F_SETFL, O_DIRECT) == 0);
	CHECK(lseek(fd, 8 * BLOCK, SEEK_SET) == 8 * BLOCK);
	CHECK(read(fd, buffer, BLOCK) == BLOCK && workload_is(buffer, BLOCK, 4, 8 * BLOCK));
	CHECK(!close(fd));
}

static void sparse(void)
{
	const int64_t far = (1LL << 40) + 1;
	int fd = open_file("sparse", O_RDWR | O_CREAT);

	workload_fill(buffer, 10, 5, far);
	CHECK(pwrite(fd, buffer, 10, far) == 10);
	CHECK(size_of(fd) == far + 10);
	CHECK(pread(fd, buffer, BLOCK, 12345) == BLOCK && workload_is_zero(buffer, BLOCK));
	CHECK(pread(fd, buffer, BLOCK, far) == 10 && workload_is(buffer, 10, 5, far));
	workload_fill(buffer, BLOCK, 5, 16 * BLOCK);
	CHECK(pwrite(fd, buffer, BLOCK, 16 * BLOCK) == BLOCK);
	CHECK(!fsync(fd));
	CHECK(lseek(fd, 0, SEEK_DATA) == 16 * BLOCK);
	CHECK(lseek(fd, 16 * BLOCK, SEEK_HOLE) == 17 * BLOCK);
	CHECK(lseek(fd, 17 * BLOCK, SEEK_DATA) == far - 1);
	CHECK(lseek(fd, far, SEEK_HOLE) == far + 10);
	CHECK_ERRNO(lseek(fd, far + 10, SEEK_DATA), ENXIO);
	CHECK(!close(fd));
	printf("sparse: %lld bytes\n", (long long)far + 10);
}

static void seeks(void)
{
	int64_t end = (int64_t)blocks * BLOCK + TAIL;
	int fd = open_file("sequential", O_RDONLY);

	CHECK(lseek(fd, 5000, SEEK_SET) == 5000);
	CHECK(read(fd, buffer, 100) == 100 && workload_is(buffer, 100, 1, 5000));
	CHECK(lseek(fd, -50, SEEK_CUR) == 5050);
	CHECK(read(fd, buffer, 100) == 100 && workload_is(buffer, 100, 1, 5050));
	CHECK(lseek(fd, -TAIL, SEEK_END) == end - TAIL);
	CHECK(read(fd, buffer, BLOCK) == TAIL && workload_is(buffer, TAIL, 1, end - TAIL));
	CHECK(lseek(fd, BLOCK, SEEK_END) == end + BLOCK);
	CHECK(read(fd, buffer, BLOCK) == 0);
	CHECK(lseek(fd, 0, SEEK_HOLE) == end);
	CHECK(lseek(fd, 1, SEEK_DATA) == 1);
	CHECK_ERRNO(lseek(fd, -1, SEEK_SET), EINVAL);
	CHECK_ERRNO(lseek(fd, -end - 1, SEEK_END), EINVAL);
	CHECK_ERRNO(lseek(fd, 0, 77), EINVAL);
	CHECK(lseek(fd, 0, SEEK_CUR) == 1);
	CHECK(!close(fd));
	printf("seeks: end at %lld\n", (long long)end);
}

static void truncation(void)
{
	int fd = open_file("truncated", O_RDWR | O_CREAT);

	write_all(fd, 3 * BLOCK, BLOCK, 6);
	CHECK(!ftruncate(fd, BLOCK + 1));
	CHECK(size_of(fd) == BLOCK + 1);
	CHECK(!ftruncate(fd, 10 * BLOCK));
	CHECK(pread(fd, buffer, BLOCK, BLOCK + 1) == BLOCK && workload_is_zero(buffer, BLOCK));
	CHECK(pread(fd, buffer, BLOCK, 0) == BLOCK && workload_is(buffer, BLOCK, 6, 0));
	CHECK(!truncate(path("truncated"), 5 * BLOCK + 7));
	CHECK(size_of(fd) == 5 * BLOCK + 7);
	CHECK_ERRNO(ftruncate(fd, -1), EINVAL);
	CHECK(!close(fd));
	fd = open_file("truncated", O_RDONLY);
	CHECK_ERRNO(ftruncate(fd, 0), EINVAL);
	CHECK(!close(fd));
	fd = open_file("truncated", O_WRONLY | O_TRUNC);
	CHECK(size_of(fd) == 0);
	write_all(fd, BLOCK, BLOCK, 7);
	CHECK(!close(fd));
	fd = open_file("truncated", O_RDWR | O_CREAT | O_TRUNC); /* exists: is truncated */
	CHECK(size_of(fd) == 0);
	write_all(fd, TAIL, BLOCK, 8);
	CHECK(!close(fd));
	printf("truncation: %d bytes left\n", TAIL);
}

static void vectors(void)
{
	struct iovec pieces[] = { { buffer, 10 }, { buffer + BLOCK, 1000 }, { buffer + 3 * BLOCK, 0 },
				  { buffer + 2 * BLOCK, 5000 } };
	int fd = open_file("vectors", O_RDWR | O_CREAT);

	workload_fill(pieces[0].iov_base, 10, 9, 0);
	workload_fill(pieces[1].iov_base, 1000, 9, 10);
	workload_fill(pieces[3].iov_base, 5000, 9, 1010);
	CHECK(writev(fd, pieces, 4) == 6010);
	CHECK(pwritev(fd, pieces, 2, 6010) == 1010);
	CHECK(pwritev2(fd, pieces, 1, 0, RWF_APPEND) == 10);
	CHECK(pwritev2(fd, pieces, 1, 0, RWF_DSYNC) == 10);
	CHECK(size_of(fd) == 7030);
	memset(buffer, 0, sizeof(buffer));
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(readv(fd, pieces, 4) == 6010);
	CHECK(workload_is(pieces[1].iov_base, 1000, 9, 10));
	CHECK(workload_is(pieces[3].iov_base, 5000, 9, 1010));
	CHECK(preadv(fd, pieces, 2, 6010) == 1010 && workload_is(buffer, 10, 9, 0));
	CHECK(preadv2(fd, pieces, 1, 7020, 0) == 10 && workload_is(buffer, 10, 9, 0));
	CHECK(preadv2(fd, pieces, 1, -1, 0) == 10); /* reads at the position, and advances it */
	CHECK(lseek(fd, 0, SEEK_CUR) == 6020);
	CHECK(!close(fd));
	printf("vectors: 7030 bytes\n");
}

static void synchronous(void)
{
	static const int flags[] = { O_SYNC, O_DSYNC };
	size_t i;
	int fd;

	for (i = 0; i < 2; i++) {
		fd = open_file("synchronous", O_RDWR | O_CREAT | flags[i]);
		write_all(fd, 4 * BLOCK, BLOCK, 10);
		CHECK(lseek(fd, 0, SEEK_SET) == 0);
		CHECK(read_all(fd, BLOCK, 10) == 4 * BLOCK);
		CHECK(!close(fd));
	}
	printf("synchronous: %d bytes\n", 4 * BLOCK);
}

static void allocation(void)
{
	static const struct {
		const char *name;
		int mode;
		int64_t offset, length;
	} steps[] = {
		{ "plain", 0, 0, 16 * BLOCK },
		{ "keep size", FALLOC_FL_KEEP_SIZE, 16 * BLOCK, 16 * BLOCK },
		{ "punch hole", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * BLOCK, 3 * BLOCK },
		{ "punch odd hole", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8 * BLOCK + 5, BLOCK },
		{ "zero range", FALLOC_FL_ZERO_RANGE, 10 * BLOCK, BLOCK },
		{ "collapse range", FALLOC_FL_COLLAPSE_RANGE, 12 * BLOCK, BLOCK },
		{ "insert range", FALLOC_FL_INSERT_RANGE, 12 * BLOCK, 2 * BLOCK },
		{ "nonsense", FALLOC_FL_PUNCH_HOLE, 0, BLOCK },
	};
	int fd = open_file("allocated", O_RDWR | O_CREAT);
	size_t i;
	long result;

	write_all(fd, 12 * BLOCK, BLOCK, 11);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		result = fallocate(fd, steps[i].mode, steps[i].offset, steps[i].length);
		printf("allocation: %s: %s, ", steps[i].name, workload_outcome(result));
		printf("%lld bytes\n", (long long)size_of(fd));
	}
	CHECK(pread(fd, buffer, BLOCK, BLOCK) == BLOCK && workload_is(buffer, BLOCK, 11, BLOCK));
	CHECK(pread(fd, buffer, 3 * BLOCK, 2 * BLOCK) == 3 * BLOCK);
	CHECK(workload_is_zero(buffer, 3 * BLOCK));
	CHECK(!close(fd));
}

/* Copies by the kernel. */
static void copies(void)
{
	int in = open_file("sequential", O_RDONLY), out = open_file("copy", O_RDWR | O_CREAT);
	off_t from = 1000, to = 0;
	int ends[2];

	CHECK(copy_file_range(in, &from, out, &to, 3 * BLOCK, 0) == 3 * BLOCK);
	CHECK(from == 1000 + 3 * BLOCK && to == 3 * BLOCK);
	CHECK(pread(out, buffer, BLOCK, 100) == BLOCK && workload_is(buffer, BLOCK, 1, 1100));
	CHECK(lseek(out, to, SEEK_SET) == to);
	CHECK(sendfile(out, in, &from, 2 * BLOCK) == 2 * BLOCK);
	CHECK(pread(out, buffer, BLOCK, to) == BLOCK && workload_is(buffer, BLOCK, 1, 1000 + to));
	CHECK(!pipe(ends));
	from = 0;
	CHECK(splice(in, &from, ends[1], NULL, BLOCK, 0) == BLOCK);
	to = 0;
	CHECK(splice(ends[0], NULL, out, &to, BLOCK, 0) == BLOCK);
	CHECK(pread(out, buffer, BLOCK, 0) == BLOCK && workload_is(buffer, BLOCK, 1, 0));
	CHECK(!close(ends[0]) && !close(ends[1]));
	CHECK(!readahead(in, 0, BLOCK));
	CHECK(!sync_file_range(out, 0, 0, SYNC_FILE_RANGE_WRITE));
	printf("copies: clone: %s\n", workload_outcome(ioctl(out, FICLONE, in)));
	CHECK(!close(in) && !close(out));
}

int main(int argc, char **argv)
{
	directory = workload_options(argc, argv, "Reads and writes files in all ways there are.",
				     options);
	CHECK(blocks > 0);
	sequential();
	random_access();
	append();
	direct();
	sparse();
	seeks();
	truncation();
	vectors();
	synchronous();
	allocation();
	copies();
	return 0;
}
