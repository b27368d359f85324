// SPDX-License-Identifier: GPL-2.0-only
/*
 * handover.c - a workload: producers and consumers that no file operation orders.
 *
 * A producer creates a file in `made`, and hands over; the consumer then removes a file of `old` and
 * creates one in `used`. No rule about files can derive this order: it is visible only in the
 * wait for the pipe, the socket, the lock in memory and so on. Before it hands over, a producer
 * checks until the consumer sleeps, so that each hand-over ends a wait.
 *
 * With --tasks=FILE, prints the pairs: lines `kind rounds producer consumer`, with thread ids; a
 * producer of 0 stands for all children and threads of the consumer.
 *
 * With --pause=FILE, all stop after their first round, create FILE.ready, and continue when FILE exists;
 * then the first round is not counted in --tasks.
 *
 * With --side=1 and --side=2 and --shared=FILE, the producers are processes of one program and the
 * consumers of another one, started separately; only kinds that work between programs are used.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "workload.h"

#define BLOCK 4096

static long rounds = 5;
static long side;
static const char *tasks_name;
static const char *pause_name;
static const char *shared_name;

static const struct workload_option options[] = {
	{ "rounds", &rounds, NULL, NULL, "hand-overs of each kind" },
	{ "tasks", NULL, &tasks_name, NULL, "say who was who" },
	{ "pause", NULL, &pause_name, NULL, "stop after the first round" },
	{ "side", &side, NULL, NULL, "1 for producers, 2 for consumers, 0 for both" },
	{ "shared", NULL, &shared_name, NULL, "memory of the two sides" },
	{}
};

/* One kind of hand-over, in memory that all processes share. */
struct way {
	pid_t producer;
	atomic_int consumer; /* thread ids; of the consumer when it is about to start its work */
	atomic_long waits;   /* times the consumer has begun to wait */
	long given;	     /* hand-overs, where the kind counts them itself */
	int pipe[2];
	int relay[2];
	int event;
	int epoll;
	int set;
	pid_t relayer;
	sem_t sem;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

struct kind {
	const char *name;
	bool is_threads;
	bool is_apart; /* also between unrelated programs */
	void (*open)(struct way *way);
	void (*give)(struct way *way);
	void (*take)(struct way *way, long round);
};

#define WAYS_MAX 16

/* All ways, and the signals to their sides. */
struct stage {
	struct way ways[WAYS_MAX];
	atomic_bool is_open;
	atomic_int paused; /* sides that have stopped */
	atomic_bool go;
};

static struct stage *stage;

static const struct kind *kind_of(const struct way *way);

/* Sleeps that no other task ends do not count as waits. */
static void nap(void)
{
	usleep(5000);
}

static void pause_after(long round)
{
	if (!pause_name || round)
		return;
	atomic_fetch_add(&stage->paused, 1);
	while (!atomic_load(&stage->go))
		nap();
}

static pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* Waits until a thread sleeps (S), or waits for a child of vfork (D), by reading a file that is not recorded. */
static void see_state(pid_t thread, char letter)
{
	char name[64], state[128], *after;
	ssize_t bytes;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", thread);
	for (;;) {
		fd = open(name, O_RDONLY);
		CHECK(fd >= 0);
		bytes = read(fd, state, sizeof(state) - 1);
		CHECK(bytes > 0 && !close(fd));
		state[bytes] = 0;
		after = strrchr(state, ')');
		if (after && after[1] == ' ' && after[2] == letter)
			return;
		sched_yield(); /* a sleep would be taken for a wait */
	}
}

static void see_asleep(pid_t thread)
{
	see_state(thread, 'S');
}

/* -- ways to hand over ---------------------------------------------------------------------- */

static void give_byte(struct way *way)
{
	CHECK(write(way->pipe[1], "", 1) == 1);
}

static void take_byte(struct way *way, long round)
{
	char byte;

	(void)round;
	CHECK(read(way->pipe[0], &byte, 1) == 1);
}

static void open_pipe(struct way *way)
{
	CHECK(!pipe(way->pipe));
}

static void open_socket(struct way *way)
{
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, way->pipe));
}

static void take_polled(struct way *way, long round)
{
	struct pollfd poll_of = { .fd = way->pipe[0], .events = POLLIN };

	CHECK(poll(&poll_of, 1, -1) == 1);
	take_byte(way, round);
}

static void open_epoll(struct way *way)
{
	struct epoll_event event = { .events = EPOLLIN };

	open_pipe(way);
	way->epoll = epoll_create1(0);
	CHECK(way->epoll >= 0 && !epoll_ctl(way->epoll, EPOLL_CTL_ADD, way->pipe[0], &event));
}

static void take_epolled(struct way *way, long round)
{
	struct epoll_event event;

	CHECK(epoll_wait(way->epoll, &event, 1, -1) == 1);
	take_byte(way, round);
}

static void open_event(struct way *way)
{
	way->event = eventfd(0, 0);
	CHECK(way->event >= 0);
}

static void give_event(struct way *way)
{
	CHECK(!eventfd_write(way->event, 1));
}

static void take_event(struct way *way, long round)
{
	eventfd_t value;

	(void)round;
	CHECK(!eventfd_read(way->event, &value) && value == 1);
}

static void open_cond(struct way *way)
{
	CHECK(!pthread_mutex_init(&way->mutex, NULL) && !pthread_cond_init(&way->cond, NULL));
}

static void give_cond(struct way *way)
{
	CHECK(!pthread_mutex_lock(&way->mutex));
	way->given++;
	CHECK(!pthread_cond_signal(&way->cond) && !pthread_mutex_unlock(&way->mutex));
}

static void take_cond(struct way *way, long round)
{
	CHECK(!pthread_mutex_lock(&way->mutex));
	while (way->given <= round)
		CHECK(!pthread_cond_wait(&way->cond, &way->mutex));
	CHECK(!pthread_mutex_unlock(&way->mutex));
}

static void open_sem(struct way *way)
{
	CHECK(!sem_init(&way->sem, 1, 0));
}

static void give_sem(struct way *way)
{
	CHECK(!sem_post(&way->sem));
}

static void take_sem(struct way *way, long round)
{
	(void)round;
	CHECK(!sem_wait(&way->sem));
}

/* Those of System V. */
static void open_set(struct way *way)
{
	way->set = semget(IPC_PRIVATE, 1, 0600);
	CHECK(way->set >= 0);
}

static void change_set(struct way *way, short by)
{
	struct sembuf op = { .sem_op = by };

	CHECK(!semop(way->set, &op, 1));
}

static void give_set(struct way *way)
{
	change_set(way, 1);
}

static void take_set(struct way *way, long round)
{
	change_set(way, -1);
	if (round == rounds - 1)
		CHECK(!semctl(way->set, 0, IPC_RMID));
}

static void open_signal(struct way *way)
{
	sigset_t set;

	(void)way;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
}

static void give_signal(struct way *way)
{
	CHECK(!kill(atomic_load(&way->consumer), SIGUSR1));
}

static void take_signal(struct way *way, long round)
{
	sigset_t set;

	(void)way;
	(void)round;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(sigwaitinfo(&set, NULL) == SIGUSR1);
}

/* Through a process that accesses no file. */
static void open_relay(struct way *way)
{
	open_pipe(way);
	CHECK(!pipe(way->relay));
}

static void relay(struct way *way)
{
	char byte;
	long i;

	for (i = 0; i < rounds; i++) {
		CHECK(read(way->relay[0], &byte, 1) == 1);
		see_asleep(atomic_load(&way->consumer));
		CHECK(write(way->pipe[1], &byte, 1) == 1);
	}
	_exit(0);
}

static void give_relay(struct way *way)
{
	CHECK(write(way->relay[1], "", 1) == 1);
}

/* -- the two sides --------------------------------------------------------------------------- */

static void produce(const struct way *way, long round)
{
	static const char block[BLOCK];
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "made/%s.%ld", kind_of(way)->name, round);
	fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
	CHECK(fd >= 0 && write(fd, block, BLOCK) == BLOCK && !fsync(fd) && !close(fd));
}

static void consume(const struct way *way, long round)
{
	char name[64];

	snprintf(name, sizeof(name), "old/%s.%ld", kind_of(way)->name, round);
	CHECK(!unlink(name));
	snprintf(name, sizeof(name), "used/%s.%ld", kind_of(way)->name, round);
	CHECK(!close(open(name, O_CREAT | O_EXCL | O_WRONLY, 0600)));
}

static void *producer(void *context)
{
	struct way *way = context;
	long i;

	way->producer = thread_id();
	for (i = 0; i < rounds; i++) {
		produce(way, i);
		while (atomic_load(&way->waits) != i + 1)
			sched_yield();
		see_asleep(way->relayer ? way->relayer : atomic_load(&way->consumer));
		kind_of(way)->give(way);
		pause_after(i);
	}
	return NULL;
}

static void *consumer(void *context)
{
	struct way *way = context;
	long i;

	atomic_store(&way->consumer, thread_id());
	for (i = 0; i < rounds; i++) {
		atomic_fetch_add(&way->waits, 1);
		kind_of(way)->take(way, i);
		consume(way, i);
		pause_after(i);
	}
	return NULL;
}

/* A wait for the end of a child. */
static void take_child(struct way *way, long round)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		produce(way, round);
		see_asleep(atomic_load(&way->consumer));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

/* A wait for a child that uses the memory of its parent until it ends. */
static void take_vfork(struct way *way, long round)
{
	pid_t child = vfork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		produce(way, round);
		see_state(atomic_load(&way->consumer), 'D');
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

static void *joined(void *context)
{
	struct way *way = context;

	produce(way, way->given);
	see_asleep(atomic_load(&way->consumer));
	return NULL;
}

/* A wait for the end of a thread. */
static void take_thread(struct way *way, long round)
{
	pthread_t thread;

	way->given = round;
	CHECK(!pthread_create(&thread, NULL, joined, way) && !pthread_join(thread, NULL));
}

static const struct kind kinds[] = {
	{ "pipe", false, false, open_pipe, give_byte, take_byte },
	{ "socket", false, false, open_socket, give_byte, take_byte },
	{ "poll", false, false, open_pipe, give_byte, take_polled },
	{ "epoll", false, false, open_epoll, give_byte, take_epolled },
	{ "sem", false, true, open_sem, give_sem, take_sem },
	{ "semop", false, true, open_set, give_set, take_set },
	{ "signal", false, true, open_signal, give_signal, take_signal },
	{ "cond", true, false, open_cond, give_cond, take_cond },
	{ "event", true, false, open_event, give_event, take_event },
	{ "relay", false, false, open_relay, give_relay, take_byte },
	{ "child", false, false, NULL, NULL, take_child },
	{ "join", false, false, NULL, NULL, take_thread },
	{ "vfork", false, false, NULL, NULL, take_vfork },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct kind *kind_of(const struct way *way)
{
	return &kinds[way - stage->ways];
}

static void start(void *(*run)(void *), struct way *way)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (child)
		return;
	run(way);
	_exit(0);
}

static void *both(void *context)
{
	struct way *way = context;
	pthread_t threads[2];

	CHECK(!pthread_create(&threads[0], NULL, consumer, way) &&
	      !pthread_create(&threads[1], NULL, producer, way) &&
	      !pthread_join(threads[0], NULL) && !pthread_join(threads[1], NULL));
	return NULL;
}

static void start_relay(struct way *way)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child)
		relay(way);
	way->relayer = child;
}

static void start_way(struct way *way)
{
	const struct kind *kind = kind_of(way);

	if (kind->open && side != 1)
		kind->open(way);
	if (kind->give == give_relay)
		start_relay(way);
	if (side != 1)
		start(kind->is_threads ? both : consumer, way);
	if (side != 2 && kind->give && !kind->is_threads)
		start(producer, way);
}

static bool is_used(const struct kind *kind)
{
	return !side || kind->is_apart;
}

/* For a child, both sides are one; a relay stops with its producer. */
static int count_sides(void)
{
	int count = 0;
	size_t i;

	for (i = 0; i < KINDS; i++)
		count += is_used(&kinds[i]) ? kinds[i].give ? 2 : 1 : 0;
	return count;
}

static void make_file(const char *name)
{
	CHECK(!close(open(name, O_CREAT | O_WRONLY, 0600)));
}

/* None of these files is in the directory. */
static void stop_all(void)
{
	char name[PATH_MAX];

	while (atomic_load(&stage->paused) < count_sides())
		nap();
	snprintf(name, sizeof(name), "%s.ready", pause_name);
	make_file(name);
	while (access(pause_name, F_OK))
		nap();
	atomic_store(&stage->go, true);
}

static struct stage *make_stage(void)
{
	int fd = -1, flags = MAP_SHARED | MAP_ANONYMOUS;
	void *memory;

	if (shared_name) {
		fd = open(shared_name, O_CREAT | O_RDWR, 0600);
		CHECK(fd >= 0 && !ftruncate(fd, sizeof(struct stage)));
		flags = MAP_SHARED;
	}
	memory = mmap(NULL, sizeof(struct stage), PROT_READ | PROT_WRITE, flags, fd, 0);
	CHECK(memory != MAP_FAILED && (fd < 0 || !close(fd)));
	return memory;
}

/*
 * Files of the producers are created last. If only the rules about files order a replay, producers start
 * after the files of the consumers exist, and consumers do not wait: they run too early.
 */
static void make_files(void)
{
	char name[64];
	size_t i;
	long j;

	CHECK(!mkdir("used", 0700) && !mkdir("old", 0700));
	for (i = 0; i < KINDS; i++)
		for (j = 0; j < rounds; j++) {
			snprintf(name, sizeof(name), "old/%s.%ld", kinds[i].name, j);
			CHECK(!close(open(name, O_CREAT | O_EXCL | O_WRONLY, 0600)));
		}
	CHECK(!mkdir("made", 0700));
}

/* The consumers' side creates the files that the other side uses. */
static void start_all(void)
{
	size_t i;

	while (side == 1 && !atomic_load(&stage->is_open))
		nap();
	if (side != 1)
		make_files();
	for (i = 0; i < KINDS; i++)
		if (is_used(&kinds[i]))
			start_way(&stage->ways[i]);
	atomic_store(&stage->is_open, true);
}

/* A relay has two hand-overs. */
static void say_tasks(const struct way *ways)
{
	FILE *out = fopen(tasks_name, "we");
	long counted = rounds - (pause_name != NULL);
	size_t i;

	CHECK(out);
	for (i = 0; i < KINDS; i++) {
		const struct way *way = &ways[i];

		if (!is_used(kind_of(way)))
			continue;
		fprintf(out, "%s %ld %d %d\n", kind_of(way)->name, counted,
			way->relayer ? way->relayer : way->producer, way->consumer);
		if (way->relayer)
			fprintf(out, "to-relay %ld %d %d\n", counted, way->producer, way->relayer);
	}
	CHECK(!fclose(out));
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "hands over in every way there is", options);
	int status;

	stage = make_stage();
	CHECK(!chdir(directory));
	start_all();
	if (pause_name)
		stop_all();
	while (wait(&status) > 0)
		CHECK(!status);
	CHECK(errno == ECHILD);
	if (tasks_name)
		say_tasks(stage->ways);
	printf("%zu kinds, %ld hand-overs of each\n", KINDS, rounds);
	return 0;
}
