// SPDX-License-Identifier: GPL-2.0-only
/*
 * random.c - a workload: threads of several processes that make random calls concurrently.
 *
 * They open, write, truncate, link, rename, remove and map the same few names. The seed determines the calls of each
 * thread; their results depend on timing. Therefore
 * this workload checks nothing: it is for replays, which must have the recorded results.
 *
 * Threads share descriptors and mappings. Mappings are shared and private, outlive descriptors,
 * names and the end of their files, are unmapped in pieces, and are inherited by processes that are forked
 * meanwhile. A task that touches a page beyond the end continues after SIGBUS.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "workload.h"

#define PAGE	      4096L
#define PAGES	      16L /* of a file, at most */
#define MAP_PAGES     6L
#define HANDLES	      4
#define MAPPINGS      3
#define PROCESSES_MAX 8
#define THREADS_MAX   8
#define CHILD_CALLS   6

static long seed = 1, processes = 2, threads = 3, calls = 40;

static const struct workload_option options[] = {
	{ .name = "seed", .value = &seed, .sentence = "another number, another program" },
	{ .name = "processes", .value = &processes, .sentence = "at most 8" },
	{ .name = "threads", .value = &threads, .sentence = "of each process, at most 8" },
	{ .name = "calls", .value = &calls, .sentence = "of each thread" },
	{}
};

/* Possibly mapped, until a task unmaps it: a task that touches it holds the lock in shared mode. */
struct mapping {
	pthread_rwlock_t lock;
	char *start;
	long pages;
};

/* Of this process. */
static int handles[HANDLES];
static struct mapping mappings[MAPPINGS];

/* Of this thread. */
static __thread uint64_t chance;
static __thread bool is_child;
static __thread sigjmp_buf beyond_the_end;

static pthread_barrier_t *start;

static long below(long limit)
{
	return workload_below(&chance, limit);
}

/* -- names --------------------------------------------------------------------------------- */

static const char *name(void)
{
	static const char *const names[] = { "a", "b", "c", "l", "d/a", "d/b", "e/a", "e/b" };

	return names[below(8)];
}

static const char *directory_name(void)
{
	static const char *const names[] = { "d", "e", "g", "d/s", "e/s" };

	return names[below(5)];
}

static void call_name(void)
{
	struct stat found;

	switch (below(4)) {
	case 0:
		(void)!unlink(name());
		break;
	case 1:
		(void)!rename(name(), name());
		break;
	case 2:
		(void)!link(name(), name());
		break;
	default:
		(void)!lstat(name(), &found);
	}
}

static void list(void)
{
	char entries[2048];
	int fd = open(below(2) ? "." : directory_name(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (syscall(SYS_getdents64, fd, entries, sizeof(entries)) > 0)
		;
	close(fd);
}

static void call_directory(void)
{
	struct stat found;

	switch (below(6)) {
	case 0:
		(void)!mkdir(directory_name(), 0700);
		break;
	case 1:
		(void)!rmdir(directory_name());
		break;
	case 2:
		(void)!rename(directory_name(), directory_name());
		break;
	case 3:
		(void)!symlink(below(2) ? "a" : "d/b", name());
		break;
	case 4:
		list();
		break;
	default:
		(void)!stat(name(), &found);
	}
}

/* -- handles ------------------------------------------------------------------------------- */

static int *handle(void)
{
	return &handles[below(HANDLES)];
}

static long size(void)
{
	return below(3) ? below(PAGES) * PAGE : below(PAGES * PAGE);
}

static void call_open(void)
{
	static const int flags[] = { O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL,
				     O_RDWR | O_CREAT | O_TRUNC, O_RDWR | O_APPEND };
	int fd = open(name(), flags[below(6)] | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	fd = __atomic_exchange_n(handle(), fd, __ATOMIC_SEQ_CST);
	if (fd >= 0)
		close(fd);
}

static void call_data(void)
{
	static char block[3 * PAGE];
	char into[2 * PAGE];
	struct stat found;
	int fd = *handle();

	switch (below(7)) {
	case 0:
	case 1:
		(void)!pwrite(fd, block, (size_t)(1 + below(3 * PAGE)), size());
		break;
	case 2:
		(void)!write(fd, block, (size_t)(1 + below(PAGE)));
		break;
	case 3:
		(void)!pread(fd, into, (size_t)(1 + below(2 * PAGE)), size());
		break;
	case 4:
		(void)!lseek(fd, size(), below(2) ? SEEK_SET : SEEK_END);
		break;
	case 5:
		(void)!fstat(fd, &found);
		break;
	default:
		(void)!fdatasync(fd);
	}
}

static void call_size(void)
{
	switch (below(6)) {
	case 0:
	case 1:
	case 2:
		(void)!ftruncate(*handle(), size());
		break;
	case 3:
		(void)!truncate(name(), size());
		break;
	case 4:
		(void)!fallocate(*handle(), 0, size(), 1 + below(2 * PAGE));
		break;
	default:
		(void)!fallocate(*handle(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, size(), PAGE);
	}
}

/* -- mappings ------------------------------------------------------------------------------ */

static void beyond(int signal_number)
{
	(void)signal_number;
	siglongjmp(beyond_the_end, 1);
}

static void call_map(void)
{
	struct mapping *m = &mappings[below(MAPPINGS)];
	long pages = 1 + below(MAP_PAGES), first = below(PAGES - MAP_PAGES);
	int how = below(3) ? MAP_SHARED : MAP_PRIVATE, fd = *handle();
	char *at;

	if (pthread_rwlock_trywrlock(&m->lock))
		return;
	if (m->pages)
		munmap(m->start, (size_t)(m->pages * PAGE));
	at = mmap(NULL, (size_t)(pages * PAGE), PROT_READ | PROT_WRITE, how, fd, first * PAGE);
	m->start = at;
	m->pages = at == MAP_FAILED ? 0 : pages;
	pthread_rwlock_unlock(&m->lock);
}

static void cut(struct mapping *m)
{
	long kept;

	if (pthread_rwlock_trywrlock(&m->lock))
		return;
	kept = m->pages ? below(m->pages) : 0;
	if (m->pages)
		munmap(m->start + kept * PAGE, (size_t)((m->pages - kept) * PAGE));
	m->pages = kept;
	pthread_rwlock_unlock(&m->lock);
}

static void touch(struct mapping *m)
{
	volatile char *byte = m->start + below(m->pages) * PAGE + below(PAGE);
	bool is_write = below(2);

	if (sigsetjmp(beyond_the_end, 1))
		return;
	if (is_write)
		*byte = 1;
	else
		(void)*byte;
}

static void use(struct mapping *m, long how)
{
	long first, pages;

	if (pthread_rwlock_tryrdlock(&m->lock))
		return;
	if (m->pages && how < 8) {
		touch(m);
	} else if (m->pages) {
		first = below(m->pages);
		pages = 1 + below(m->pages - first);
		if (how < 10)
			msync(m->start + first * PAGE, (size_t)(pages * PAGE), MS_SYNC);
		else
			madvise(m->start + first * PAGE, (size_t)(pages * PAGE), MADV_DONTNEED);
	}
	pthread_rwlock_unlock(&m->lock);
}

static void call_mapping(void)
{
	struct mapping *m = &mappings[below(MAPPINGS)];
	long how = below(12);

	if (how == 11)
		cut(m);
	else
		use(m, how);
}

/* -- tasks --------------------------------------------------------------------------------- */

static void call_any(void);

/* Locks of other threads remain locked in the child. */
static void call_fork(void)
{
	int status, i;
	pid_t pid;

	if (is_child)
		return;
	pid = fork();
	CHECK(pid >= 0);
	if (pid) {
		CHECK(waitpid(pid, &status, 0) == pid && !status);
		return;
	}
	is_child = true;
	for (i = 0; i < CHILD_CALLS; i++)
		call_any();
	_exit(0);
}

static void call_close(void)
{
	int fd = __atomic_exchange_n(handle(), -1, __ATOMIC_SEQ_CST);

	if (fd >= 0)
		close(fd);
}

static void call_any(void)
{
	long which = below(64);

	if (which < 10)
		call_name();
	else if (which < 15)
		call_directory();
	else if (which < 25)
		call_open();
	else if (which < 33)
		call_data();
	else if (which < 38)
		call_size();
	else if (which < 44)
		call_map();
	else if (which < 60)
		call_mapping();
	else if (which < 63)
		call_close();
	else
		call_fork();
}

static void *run_thread(void *number)
{
	long i;

	chance = (uint64_t)seed << 16 | (uint64_t)(intptr_t)number;
	pthread_barrier_wait(start);
	for (i = 0; i < calls; i++)
		call_any();
	return NULL;
}

static void run_process(long process)
{
	pthread_t thread[THREADS_MAX];
	long i;

	CHECK(signal(SIGBUS, beyond) != SIG_ERR);
	for (i = 0; i < HANDLES; i++)
		handles[i] = -1;
	for (i = 0; i < MAPPINGS; i++)
		CHECK(!pthread_rwlock_init(&mappings[i].lock, NULL));
	for (i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, run_thread,
				      (void *)(intptr_t)(process << 8 | i)));
	for (i = 0; i < threads; i++)
		CHECK(!pthread_join(thread[i], NULL));
	_exit(0);
}

/* Initial files, so that the first calls find some. */
static void make_files(void)
{
	static const char *const names[] = { "a", "b", "d/a" };
	int i, fd;

	CHECK(!mkdir("d", 0700) && !mkdir("e", 0700));
	for (i = 0; i < 3; i++) {
		fd = open(names[i], O_WRONLY | O_CREAT | O_EXCL, 0600);
		CHECK(fd >= 0 && !ftruncate(fd, (i + 2) * 3 * PAGE) && !close(fd));
	}
}

static void make_barrier(void)
{
	pthread_barrierattr_t attributes;

	start = mmap(NULL, sizeof(*start), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(start != MAP_FAILED);
	CHECK(!pthread_barrierattr_init(&attributes));
	CHECK(!pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_barrier_init(start, &attributes, (unsigned int)(processes * threads)));
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "Threads that do something at random.", options);
	int status;
	long i;

	CHECK(processes > 0 && processes <= PROCESSES_MAX && threads > 0 && threads <= THREADS_MAX);
	CHECK(!chdir(directory));
	make_files();
	make_barrier();
	for (i = 0; i < processes; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid)
			run_process(i);
	}
	while (wait(&status) > 0)
		CHECK(!status);
	printf("random: seed %ld, %ld processes of %ld threads, %ld calls each\n", seed, processes,
	       threads, calls);
	return 0;
}
