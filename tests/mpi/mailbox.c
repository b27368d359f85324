// SPDX-License-Identifier: GPL-2.0-only
/*
 * mailbox.c - mailboxes as seen by the kernel: without MPI, and without the shim.
 * For the guest. Prints the number of records put in, and of those for which there was no room.
 *
 *	mailbox DIR threads THREADS RECORDS	by threads that all have a mailbox at the same time, and end
 *	mailbox DIR killed THREADS RECORDS	the same, ended by SIGKILL
 *	mailbox DIR rounds THREADS RECORDS	the same, one thread after the other
 *	mailbox DIR stopped 1 RECORDS		the collector is stopped until nothing proceeds
 *	mailbox DIR forked 1 RECORDS		a child has no mailbox, and gets its own; both put records
 *	mailbox DIR executed 1 RECORDS		puts the records again after an exec
 *	mailbox DIR nested 1 RECORDS		each record encloses the creation of a file
 *	mailbox DIR views 1 RECORDS		each record sets a view of impossible numbers, and is followed by a seek and a write
 *	mailbox DIR hold 0 0			until DIR/go exists
 *	mailbox DIR wrong 0 0			invalid contents and calls
 *	mailbox DIR most THREADS RECORDS	as many mailboxes as possible, up to THREADS, each by a thread that
 *						ends; prints their number, with RECORDS in each, and the error after
 *						the last, and waits for the end of its input
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/trace/record.h"
#include "iotape/control.h"

#define RING(box) ((u8 *)(box) + IOT_MAILBOX_HEAD_BYTES)

static const char *dir;
static int threads, records;
static volatile long put_total;
static long lost_total;
static pthread_barrier_t barrier;

static void die(const char *what)
{
	fprintf(stderr, "mailbox: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void expect(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "mailbox: not as expected: %s\n", what);
	exit(1);
}

static int open_joined(void)
{
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);
	struct iot_join join = { .dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) };

	if (fd < 0 || ioctl(fd, IOT_IOC_JOIN, &join))
		die("join");
	close(join.dir_fd);
	return fd;
}

static void *map(int fd, size_t bytes, off_t offset, int flags)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
}

static struct iot_mailbox_head *begin(void)
{
	int fd = open_joined();
	struct iot_mailbox_head *box = map(fd, IOT_MAILBOX_BYTES, 0, MAP_SHARED);

	if (box == MAP_FAILED)
		die("mmap");
	close(fd);
	return box;
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static void put_bytes(struct iot_mailbox_head *box, const u8 *data, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		RING(box)[(box->tail + i) % IOT_MAILBOX_RING_BYTES] = data[i];
	__atomic_store_n(&box->tail, box->tail + bytes, __ATOMIC_RELEASE);
}

static u32 make(u8 *wire, u32 op, u32 number, u64 comm)
{
	struct iot_rec_mpi_coll record = {
		.enter_ns = now_ns(),
		.op = op,
		.call = IOT_CALL_barrier,
		.comm = comm,
		.number = number,
		.root = -1,
	};

	iot_put_mpi_coll(wire, &record, NULL, 0);
	return IOT_WIRE_mpi_coll;
}

static void put(struct iot_mailbox_head *box, u32 number, u64 comm)
{
	u8 wire[IOT_WIRE_mpi_coll];

	make(wire, __atomic_add_fetch(&box->op, 1, __ATOMIC_RELAXED), number, comm);
	if (box->tail - __atomic_load_n(&box->head, __ATOMIC_ACQUIRE) + sizeof(wire) >
	    IOT_MAILBOX_RING_BYTES)
		msync(box, IOT_MAILBOX_HEAD_BYTES, MS_SYNC);
	if (box->tail - __atomic_load_n(&box->head, __ATOMIC_ACQUIRE) + sizeof(wire) >
	    IOT_MAILBOX_RING_BYTES) {
		box->lost++;
		__atomic_add_fetch(&lost_total, 1, __ATOMIC_RELAXED);
		return;
	}
	put_bytes(box, wire, sizeof(wire));
	__atomic_add_fetch(&put_total, 1, __ATOMIC_RELAXED);
}

static void put_all(struct iot_mailbox_head *box, u64 comm)
{
	int i;

	for (i = 1; i <= records; i++)
		put(box, (u32)i, comm);
}

static void report(void)
{
	printf("%ld %ld\n", put_total, lost_total);
	fflush(stdout);
}

static void *thread(void *comm)
{
	struct iot_mailbox_head *box = begin();

	if (comm)
		pthread_barrier_wait(&barrier);
	put_all(box, (u64)(uintptr_t)comm);
	if (!comm)
		munmap(box, IOT_MAILBOX_BYTES);
	return NULL;
}

static void run_threads(void)
{
	pthread_t *ids = calloc((size_t)threads, sizeof(*ids));
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
	for (i = 0; i < threads; i++)
		if (pthread_create(&ids[i], &attr, thread, (void *)(uintptr_t)(i + 1)))
			die("pthread_create");
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	report();
}

static void run_killed(void)
{
	run_threads();
	raise(SIGKILL);
}

/* Creates more mailboxes than the limit. */
static void run_rounds(void)
{
	pthread_t id;
	int i;

	for (i = 0; i < threads; i++) {
		if (pthread_create(&id, NULL, thread, NULL))
			die("pthread_create");
		pthread_join(id, NULL);
	}
	report();
}

static void *take_one(void *result)
{
	int fd = open_joined();
	struct iot_mailbox_head *box = map(fd, IOT_MAILBOX_BYTES, 0, MAP_SHARED);

	*(int *)result = box == MAP_FAILED ? errno : 0;
	close(fd);
	if (box != MAP_FAILED)
		put_all(box, 1);
	return NULL;
}

static void run_most(void)
{
	int i, err = 0;
	pthread_t id;

	for (i = 0; i < threads; i++) {
		if (pthread_create(&id, NULL, take_one, &err))
			die("pthread_create");
		pthread_join(id, NULL);
		if (err)
			break;
	}
	printf("%d mailboxes: %s\n", i, err ? strerror(err) : "enough");
	fflush(stdout);
	getchar();
}

static pid_t collector_of(int fd)
{
	struct iot_status status = {}, found = {};

	while (!ioctl(fd, IOT_IOC_STATUS, &status))
		if (status.state == IOT_STATE_RUNNING)
			found = status;
	return (pid_t)found.collector;
}

static void *let_go(void *collector)
{
	long before = -1;

	while (before != put_total) {
		before = put_total;
		usleep(500000);
	}
	kill((pid_t)(intptr_t)collector, SIGCONT);
	return NULL;
}

static void run_stopped(void)
{
	struct iot_mailbox_head *box = begin();
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);
	pid_t collector = collector_of(fd);
	pthread_t id;

	expect(collector > 0, "the collector runs");
	kill(collector, SIGSTOP);
	if (pthread_create(&id, NULL, let_go, (void *)(intptr_t)collector))
		die("pthread_create");
	put_all(box, 1);
	pthread_join(id, NULL);
	report();
}

static void run_forked(void)
{
	struct iot_mailbox_head *box = begin();
	int status;
	pid_t child = fork();

	if (!child) {
		expect(msync(box, IOT_MAILBOX_HEAD_BYTES, MS_SYNC) && errno == ENOMEM,
		       "a child has no mailbox");
		put_all(begin(), 2);
		_exit(0);
	}
	put_all(box, 1);
	waitpid(child, &status, 0);
	expect(!status, "the child works");
	report();
}

static void run_executed(char **argv)
{
	put_all(begin(), 1);
	report();
	argv[2] = "threads";
	execv("/proc/self/exe", argv);
	die("exec");
}

static void run_nested(void)
{
	struct iot_mailbox_head *box = begin();
	struct iot_rec_mpi_file record = { .call = IOT_CALL_file_write_at, .file = 1, .place = -1 };
	u8 wire[IOT_WIRE_mpi_file];
	char path[4096];
	int i, fd;

	for (i = 0; i < records; i++) {
		snprintf(path, sizeof(path), "%s/nested.%d", dir, i);
		record.enter_ns = now_ns();
		record.op = __atomic_add_fetch(&box->op, 1, __ATOMIC_RELAXED);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		if (fd < 0 || write(fd, "x", 1) != 1)
			die(path);
		record.last_op = box->op;
		record.duration_ns = now_ns() - record.enter_ns;
		iot_put_mpi_file(wire, &record, NULL, 0);
		put_bytes(box, wire, sizeof(wire));
		close(fd);
	}
	put_total = records;
	report();
}

/* Numbers at which sums and products overflow, and some that a view may have. */
static u64 any_number(void)
{
	static const u64 numbers[] = { 0, 1, 2, 3, 64, 512, 4096, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
				       0x8000000000000000, 0xfffffffffffffe00, 0xffffffffffffffff };
	static u64 state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return numbers[(state >> 33) % (sizeof(numbers) / sizeof(*numbers))];
}

static void put_view(struct iot_mailbox_head *box, u32 part, u32 parts)
{
	const struct iot_rec_mpi_view view = {
		.comm = 2, .part = part, .parts = parts, .begin_bytes = (s64)any_number(), .unit_bytes = any_number(),
		.extent_bytes = (s64)any_number(), .first_bytes = (s64)any_number(), .block_bytes = any_number(),
		.inner_count = any_number(), .inner_bytes = (s64)any_number(), .middle_count = any_number(),
		.middle_bytes = (s64)any_number(), .outer_count = any_number(), .outer_bytes = (s64)any_number(),
	};
	u8 wire[IOT_WIRE_mpi_view];

	iot_put_mpi_view(wire, &view, NULL, 0);
	put_bytes(box, wire, sizeof(wire));
	put_total++;
}

static void put_file(struct iot_mailbox_head *box, struct iot_rec_mpi_file record, int fd)
{
	u8 wire[IOT_WIRE_mpi_file];

	record.file = 2;
	record.enter_ns = now_ns();
	record.op = __atomic_add_fetch(&box->op, 1, __ATOMIC_RELAXED);
	if (fd >= 0 && pwrite(fd, "x", 1, 0) != 1)
		die("write");
	record.last_op = box->op;
	iot_put_mpi_file(wire, &record, NULL, 0);
	put_bytes(box, wire, sizeof(wire));
}

static void put_comm(struct iot_mailbox_head *box, u64 comm)
{
	const struct iot_rec_mpi_comm record = { .comm = comm, .size = 1, .world = 1 };
	u8 wire[IOT_WIRE_mpi_comm];

	iot_put_mpi_comm(wire, &record, NULL, 0);
	put_bytes(box, wire, sizeof(wire));
}

static void run_views(void)
{
	struct iot_mailbox_head *box = begin();
	struct iot_rec_mpi_file open_call = { .call = IOT_CALL_file_open, .file = 2, .number = 1, .place = -1 };
	u8 wire[IOT_WIRE_mpi_file + 5];
	char path[4096];
	u32 i, part, parts, number = 1;
	int fd;

	put_comm(box, 1);
	snprintf(path, sizeof(path), "%s/views", dir);
	open_call.enter_ns = now_ns();
	open_call.op = __atomic_add_fetch(&box->op, 1, __ATOMIC_RELAXED);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	if (fd < 0)
		die(path);
	open_call.last_op = box->op;
	iot_put_mpi_file(wire, &open_call, "views", 5);
	put_bytes(box, wire, sizeof(wire));
	put_comm(box, 2);
	for (i = 0; i < (u32)records; i++) {
		put_file(box, (struct iot_rec_mpi_file){ .call = IOT_CALL_file_set_view, .number = ++number, .place = -1 }, -1);
		parts = i % 4 == 3 ? (u32)any_number() : 1 + i % 3;
		for (part = 0; part < 3 && part < parts; part++)
			put_view(box, i % 16 == 15 ? (u32)any_number() : part, parts);
		put_file(box, (struct iot_rec_mpi_file){ .call = IOT_CALL_file_seek, .place = (s64)any_number(), .whence = i % 6 }, -1);
		put_file(box, (struct iot_rec_mpi_file){ .call = IOT_CALL_file_write_all, .number = ++number, .place = -1,
							 .length_bytes = any_number() }, fd);
		msync(box, IOT_MAILBOX_HEAD_BYTES, MS_SYNC); /* there is room again */
	}
	report();
	close(fd);
}

static void hold(void)
{
	char path[4096];
	struct iot_mailbox_head *box = begin();

	put(box, 1, 1);
	snprintf(path, sizeof(path), "%s/held", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	snprintf(path, sizeof(path), "%s/go", dir);
	while (access(path, F_OK))
		usleep(50000);
	expect(box->is_closed, "the mailbox is closed at the end of the session");
}

/* After the mailbox is freed, its pages may belong to another thread's. */
static void hold_pages(struct iot_mailbox_head *box)
{
	struct iovec page = { .iov_base = RING(box), .iov_len = 4096 };
	int ends[2];

	if (pipe(ends))
		die("pipe");
	expect(vmsplice(ends[1], &page, 1, SPLICE_F_NONBLOCK) == -1 && errno == EFAULT,
	       "a pipe cannot keep a page of a mailbox");
	expect(madvise(box, IOT_MAILBOX_BYTES, MADV_DOFORK) && errno == EINVAL,
	       "a child cannot inherit a mailbox");
	close(ends[0]);
	close(ends[1]);
}

/* Runs in a child, because a mailbox with invalid contents is closed. */
static void spoil(const char *what, void (*spoiler)(struct iot_mailbox_head *))
{
	int status;
	pid_t child = fork();

	if (!child) {
		struct iot_mailbox_head *box = begin();

		put(box, 1, 7);
		spoiler(box);
		put(box, 3, 7);
		msync(box, IOT_MAILBOX_HEAD_BYTES, MS_SYNC);
		while (!__atomic_load_n(&box->is_closed, __ATOMIC_ACQUIRE))
			usleep(1000);
		_exit(0);
	}
	waitpid(child, &status, 0);
	expect(!status, what);
}

static void spoil_length(struct iot_mailbox_head *box)
{
	u8 wire[IOT_WIRE_mpi_coll];

	make(wire, 9, 2, 7);
	iot_put_u16(wire, 3);
	put_bytes(box, wire, sizeof(wire));
}

static void spoil_kind(struct iot_mailbox_head *box)
{
	struct iot_rec_fact fact = { .time_ns = now_ns() };
	u8 wire[IOT_WIRE_fact + 3];

	iot_put_fact(wire, &fact, "a=b", 3);
	put_bytes(box, wire, sizeof(wire));
}

/* One byte too short or too long, or with a tail. */
static void spoil_view(struct iot_mailbox_head *box, u32 bytes, u16 tail_bytes)
{
	const struct iot_rec_mpi_view view = { .comm = 7, .parts = 1, .unit_bytes = 1, .extent_bytes = 1, .block_bytes = 1, .inner_count = 1,
					       .middle_count = 1, .outer_count = 1 };
	u8 wire[IOT_WIRE_mpi_view + 8] = {};

	iot_put_mpi_view(wire, &view, NULL, 0);
	iot_put_u16(wire, (u16)bytes);
	iot_put_u16(wire + 4, tail_bytes);
	put_bytes(box, wire, bytes);
}

static void spoil_view_short(struct iot_mailbox_head *box)
{
	spoil_view(box, IOT_WIRE_mpi_view - 1, 0);
}

static void spoil_view_long(struct iot_mailbox_head *box)
{
	spoil_view(box, IOT_WIRE_mpi_view + 1, 0);
}

static void spoil_view_tail(struct iot_mailbox_head *box)
{
	spoil_view(box, IOT_WIRE_mpi_view + 1, 1);
}

static void spoil_tail(struct iot_mailbox_head *box)
{
	__atomic_store_n(&box->tail, box->tail + 3 * IOT_MAILBOX_RING_BYTES, __ATOMIC_RELEASE);
}

static void spoil_large(struct iot_mailbox_head *box)
{
	static u8 wire[IOT_MAILBOX_RING_BYTES / 2];

	memset(wire, 0xff, sizeof(wire));
	put_bytes(box, wire, sizeof(wire));
}

/* Not a reason to close the mailbox, but numbers and times in the trace must stay in order. */
static void spoil_order(struct iot_mailbox_head *box)
{
	struct iot_rec_mpi_coll record = { .enter_ns = ~0ull - 5, .duration_ns = 100, .op = 1 };
	u8 wire[IOT_WIRE_mpi_coll];
	char path[4096];

	snprintf(path, sizeof(path), "%s/order", dir);
	box->op = 0x80000000;
	close(open(path, O_CREAT | O_WRONLY, 0600));
	box->op = 0;
	close(open(path, O_CREAT | O_WRONLY, 0600));
	box->lost = 0xfffffff0;
	box->head = 12345;
	record.comm = 8;
	iot_put_mpi_coll(wire, &record, NULL, 0);
	put_bytes(box, wire, sizeof(wire));
	record.enter_ns = 5;
	record.duration_ns = ~0ull;
	iot_put_mpi_coll(wire, &record, NULL, 0);
	put_bytes(box, wire, sizeof(wire));
	spoil_large(box);
}

static void wrong(void)
{
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC), joined = open_joined();
	struct iot_mailbox_head *box;

	expect(map(fd, IOT_MAILBOX_BYTES, 0, MAP_SHARED) == MAP_FAILED && errno == EINVAL,
	       "a process that has not joined gets no mailbox");
	expect(map(joined, IOT_MAILBOX_BYTES, 0, MAP_PRIVATE) == MAP_FAILED && errno == EINVAL,
	       "a private mapping is refused");
	expect(map(joined, IOT_MAILBOX_BYTES - 4096, 0, MAP_SHARED) == MAP_FAILED && errno == EINVAL,
	       "a partial mapping is refused");
	expect(map(joined, IOT_MAILBOX_BYTES, 4096, MAP_SHARED) == MAP_FAILED && errno == EINVAL,
	       "a mapping at an offset is refused");
	expect(fsync(joined) && errno == EINVAL, "fsync without a mailbox is refused");
	box = begin();
	expect(map(joined, IOT_MAILBOX_BYTES, 0, MAP_SHARED) == MAP_FAILED && errno == EBUSY,
	       "a thread gets one mailbox");
	expect(!fsync(joined), "fsync empties the mailbox");
	hold_pages(box);
	munmap((u8 *)box + IOT_MAILBOX_HEAD_BYTES, 4096);
	box = mremap(box, IOT_MAILBOX_HEAD_BYTES, IOT_MAILBOX_HEAD_BYTES, MREMAP_MAYMOVE);
	expect(box != MAP_FAILED && !box->tail, "a remaining part of the mapping works");
	spoil("a short record", spoil_length);
	spoil("a record of another kind", spoil_kind);
	spoil("an impossible tail", spoil_tail);
	spoil("half of the ring with invalid data", spoil_large);
	spoil("a short part of a view", spoil_view_short);
	spoil("a long part of a view", spoil_view_long);
	spoil("a part of a view with a tail", spoil_view_tail);
	spoil("decreasing numbers and times", spoil_order);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = { { "threads", run_threads }, { "killed", run_killed },   { "rounds", run_rounds },
		      { "most", run_most },
		      { "stopped", run_stopped }, { "forked", run_forked },   { "nested", run_nested },
		      { "views", run_views },	  { "hold", hold },	    { "wrong", wrong } };
	size_t i;

	if (argc != 5)
		return 2;
	dir = argv[1];
	threads = atoi(argv[3]);
	records = atoi(argv[4]);
	if (!strcmp(argv[2], "executed"))
		run_executed(argv);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[2], modes[i].name)) {
			modes[i].run();
			return 0;
		}
	return 2;
}
