// SPDX-License-Identifier: GPL-2.0-only
/*
 * held.c - opens files in every possible way, waits for a signal, and then uses them.
 *
 * A recording can start while the program waits. The signal is a file next to the directory,
 * DIRECTORY.go. Before the wait, the program creates DIRECTORY.ready, with the ids of its processes. After
 * its work it creates DIRECTORY.done, waits for DIRECTORY.end, and checks its handles and mappings.
 *
 * With --threads=N, it does something else: N threads open, use, map and close files until
 * DIRECTORY.end exists, while a process forks.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ring.h"
#include "workload.h"

#define PAGE  4096
#define PAGES 8
#define BYTES (PAGES * PAGE)
#define MANY  150 /* more descriptors and mappings than one batch of the state dump */

static const char *directory;

static const char *beside(const char *what)
{
	static _Thread_local char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.%s", directory, what);
	return path;
}

static const char *in(const char *name)
{
	static _Thread_local char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void make_sign(const char *what, pid_t child)
{
	FILE *out;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.new", beside(what));
	out = fopen(path, "w");
	CHECK(out);
	fprintf(out, "%d %d\n", getpid(), child);
	CHECK(!fclose(out));
	CHECK(!rename(path, beside(what)));
}

static bool is_there(const char *what)
{
	return !access(beside(what), F_OK);
}

static void wait_for(const char *what)
{
	while (!is_there(what))
		usleep(10000);
}

static int open_filled(const char *name, int flags, long tag)
{
	unsigned char buffer[BYTES];
	int fd = open(in(name), O_CREAT | O_RDWR | O_TRUNC, 0644);

	workload_fill(buffer, sizeof(buffer), tag, 0);
	CHECK(fd >= 0 && write(fd, buffer, sizeof(buffer)) == sizeof(buffer));
	CHECK(!close(fd));
	fd = open(in(name), flags);
	CHECK(fd >= 0);
	return fd;
}

static void check_read(int fd, size_t bytes, long tag, off_t offset)
{
	unsigned char buffer[BYTES];

	CHECK(read(fd, buffer, bytes) == (ssize_t)bytes);
	CHECK(workload_is(buffer, bytes, tag, offset));
}

/* -- open files and mappings -------------------------------------------------------------------- */

struct held {
	int reader;   /* positioned in the middle */
	int appender;
	int twin;     /* the same, by dup */
	int shared;   /* read by the child, too */
	int nameless; /* unlinked */
	int second;   /* the same file, opened again before it was unlinked */
	int mapped_fd;
	int dir;
	int sockets[2]; /* the file in transit is in no descriptor table */
	struct ring ring; /* nor is the file registered with it */
	unsigned char *map;
	unsigned char *closed_map; /* its descriptor is closed */
};

enum { READER = 1, APPENDER, SHARED, NAMELESS, MAPPED, CLOSED, FLYING, RINGED };

static void send_away(int socket, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {};
	struct iovec data = { "x", 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	CHECK(sendmsg(socket, &message, 0) == 1);
	CHECK(!close(fd));
}

static int receive(int socket)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {};
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int fd;

	CHECK(recvmsg(socket, &message, 0) == 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* Then only the ring has the file, as its number 0. */
static void register_away(struct ring *ring, int fd)
{
	CHECK(ring_open(ring));
	CHECK(!syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_FILES, &fd, 1));
	CHECK(!close(fd));
}

/* Reads from the current position. */
static void check_read_registered(struct ring *ring, size_t bytes, long tag, off_t offset)
{
	unsigned char buffer[BYTES];
	struct io_uring_sqe request = { .opcode = IORING_OP_READ, .flags = IOSQE_FIXED_FILE,
					.off = (uint64_t)-1, .addr = (uint64_t)(uintptr_t)buffer,
					.len = (uint32_t)bytes };

	CHECK(ring_do(ring, &request) == (int)bytes);
	CHECK(workload_is(buffer, bytes, tag, offset));
}

/* The same page repeatedly, so that no two of these mappings are merged. */
static void hold_many(const struct held *h)
{
	int i;

	for (i = 0; i < MANY; i++) {
		CHECK(dup(h->shared) >= 0);
		CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, h->mapped_fd, PAGE) != MAP_FAILED);
	}
}

static void hold(struct held *h)
{
	int fd;

	CHECK(!mkdir(in("dir"), 0755));
	h->reader = open_filled("dir/reader", O_RDONLY, READER);
	check_read(h->reader, 5000, READER, 0);
	h->appender = open_filled("appender", O_WRONLY | O_APPEND, APPENDER);
	h->twin = dup(h->appender);
	h->shared = open_filled("shared", O_RDWR, SHARED);
	CHECK(lseek(h->shared, 100, SEEK_SET) == 100);
	h->nameless = open_filled("nameless", O_RDWR, NAMELESS);
	h->second = open(in("nameless"), O_RDONLY);
	CHECK(!unlink(in("nameless")) && lseek(h->nameless, 777, SEEK_SET) == 777);
	h->mapped_fd = open_filled("mapped", O_RDWR, MAPPED);
	h->map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, h->mapped_fd, 0);
	CHECK(h->map != MAP_FAILED);
	h->map[0] ^= 0;
	h->map[PAGE] = h->map[PAGE];
	fd = open_filled("closed", O_RDONLY, CLOSED);
	h->closed_map = mmap(NULL, BYTES - PAGE, PROT_READ, MAP_PRIVATE, fd, PAGE);
	CHECK(h->closed_map != MAP_FAILED && !close(fd));
	/* the program does not determine whether parent or child closes last */
	CHECK(!madvise(h->closed_map, BYTES - PAGE, MADV_DONTFORK));
	CHECK(workload_is(h->closed_map, 2 * PAGE, CLOSED, PAGE));
	h->dir = open(in("dir"), O_RDONLY | O_DIRECTORY);
	CHECK(h->dir >= 0 && h->twin >= 0 && h->second >= 0);
	hold_many(h);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, h->sockets));
	fd = open_filled("flying", O_RDONLY, FLYING);
	CHECK(lseek(fd, 300, SEEK_SET) == 300);
	send_away(h->sockets[0], fd);
	fd = open_filled("ringed", O_RDONLY, RINGED);
	CHECK(lseek(fd, 400, SEEK_SET) == 400);
	register_away(&h->ring, fd);
}

/* The child reads and writes through inherited handles, and through the mapping. */
static void go_on_child(const struct held *h)
{
	wait_for("go");
	check_read(h->shared, 50, SHARED, 100);
	CHECK(pwrite(h->nameless, "child", 5, 9000) == 5);
	h->map[2 * PAGE] = 2;
	CHECK(!close(h->reader));
	_exit(0);
}

static void *touch(void *map)
{
	((unsigned char *)map)[3 * PAGE] = 3;
	return NULL;
}

static void go_on(struct held *h)
{
	int status, fd = receive(h->sockets[1]);
	pthread_t thread;
	struct stat stat;

	check_read(fd, 20, FLYING, 300);
	CHECK(!close(fd));
	check_read_registered(&h->ring, 30, RINGED, 400);
	CHECK(wait(&status) > 0 && !status);
	check_read(h->reader, 3000, READER, 5000);
	CHECK(write(h->appender, "one", 3) == 3 && write(h->twin, "two", 3) == 3);
	CHECK(!close(h->twin));
	CHECK(lseek(h->shared, 10, SEEK_CUR) == 160); /* the child has read 50 */
	check_read(h->shared, 10, SHARED, 160);
	CHECK(lseek(h->nameless, 23, SEEK_CUR) == 800);
	CHECK(write(h->nameless, "parent", 6) == 6);
	CHECK(!fstat(h->nameless, &stat) && stat.st_size == BYTES && !stat.st_nlink);
	check_read(h->second, 700, NAMELESS, 0);
	CHECK(h->map[2 * PAGE] == 2);
	h->map[PAGE] = 1;
	CHECK(!pthread_create(&thread, NULL, touch, h->map) && !pthread_join(thread, NULL));
	CHECK(!msync(h->map, BYTES, MS_SYNC));
	CHECK(workload_is(h->closed_map + PAGE, PAGE, CLOSED, 2 * PAGE));
	CHECK(!munmap(h->closed_map, BYTES - PAGE));
	fd = openat(h->dir, "new", O_CREAT | O_WRONLY, 0644);
	CHECK(fd >= 0 && write(fd, "new", 3) == 3 && !close(fd));
	CHECK(!rename(in("dir/reader"), in("read")));
}

/* The state is unchanged by the examination. */
static void look_back(struct held *h)
{
	char buffer[8] = "";
	struct stat stat;

	check_read(h->reader, 100, READER, 8000);
	check_read_registered(&h->ring, 20, RINGED, 430);
	CHECK(!syscall(SYS_io_uring_register, h->ring.fd, IORING_UNREGISTER_FILES, NULL, 0));
	CHECK(!fstat(h->appender, &stat) && stat.st_size == BYTES + 6);
	CHECK(fcntl(h->appender, F_GETFL) & O_APPEND);
	CHECK(pread(h->nameless, buffer, 6, 800) == 6 && !memcmp(buffer, "parent", 6));
	CHECK(pread(h->nameless, buffer, 5, 9000) == 5 && !memcmp(buffer, "child", 5));
	CHECK(h->map[PAGE] == 1 && h->map[2 * PAGE] == 2 && h->map[3 * PAGE] == 3);
	h->map[4 * PAGE] = 4;
	CHECK(pread(h->mapped_fd, buffer, 1, 4 * PAGE) == 1 && buffer[0] == 4);
}

static void hold_and_go_on(void)
{
	struct held h;
	pid_t child;

	hold(&h);
	child = fork();
	CHECK(child >= 0);
	if (!child)
		go_on_child(&h);
	make_sign("ready", child);
	wait_for("go");
	go_on(&h);
	make_sign("done", child);
	wait_for("end");
	look_back(&h);
	printf("held\n");
}

/* -- many threads ------------------------------------------------------------------------------- */

static atomic_long rounds;

static void use_once(long number, long round)
{
	char name[32], byte = 1;
	unsigned char *map;
	int fd;

	snprintf(name, sizeof(name), "many.%ld", number);
	fd = open(in(name), O_RDWR);
	CHECK(fd >= 0);
	CHECK(pread(fd, &byte, 1, number) == 1);
	CHECK(lseek(fd, round % PAGE, SEEK_SET) == round % PAGE && write(fd, "x", 1) == 1);
	if (round % 4 == 0) {
		map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		CHECK(map != MAP_FAILED);
		map[round % PAGE] = 'y';
		CHECK(!munmap(map, PAGE));
	}
	CHECK(!close(fd));
	rounds++;
}

static void *use(void *number)
{
	long round;

	for (round = 0; !is_there("end"); round++)
		use_once((long)number, round);
	return NULL;
}

static void fork_once(long number)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		use_once(number, 4);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	rounds++; /* the child's */
}

static void use_many(long threads)
{
	pthread_t ids[64];
	char name[32];
	long i;

	for (i = 0; i <= threads; i++) {
		snprintf(name, sizeof(name), "many.%ld", i);
		CHECK(!close(open_filled(name, O_RDONLY, i)));
	}
	for (i = 0; i < threads; i++)
		CHECK(!pthread_create(&ids[i], NULL, use, (void *)i));
	make_sign("ready", 0);
	while (!is_there("end"))
		fork_once(threads);
	for (i = 0; i < threads; i++)
		CHECK(!pthread_join(ids[i], NULL));
	CHECK(rounds >= threads);
	printf("many\n");
}

int main(int argc, char **argv)
{
	long threads = 0;
	const struct workload_option options[] = {
		{ .name = "threads", .value = &threads, .sentence = "open and close with so many, at most 64" },
		{},
	};

	directory = workload_options(argc, argv, "holds files, waits, and goes on with them", options);
	if (threads > 64)
		threads = 64;
	if (threads)
		use_many(threads);
	else
		hold_and_go_on();
	return 0;
}
