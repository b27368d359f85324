// SPDX-License-Identifier: GPL-2.0-only
/*
 * maps.c - a workload: two processes that write and read one mapped file.
 *
 * Each maps the file and touches every page, in a random order: it reads, writes, or reads and
 * then writes its own pages, and reads those of the other. Then: the same pages again, msync
 * of a range and later writes, munmap in
 * pieces, a private mapping, a mapping that outlives its descriptor and its name.
 *
 * --touches=FILE lists all accesses of the processes to mapped pages, in order, a
 * line for each: PID NAME PAGE PAGES WHAT. WHAT is read or write for one page (at least one
 * byte of it), or msync or munmap for a range.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "workload.h"

#define PAGE	  sysconf(_SC_PAGESIZE)
#define PAGE_MAX  65536
#define PROCESSES 2
#define PRIVATE	  64 /* pages of the private mapping */
#define LATE	  32 /* pages of the mapping that outlives its name */
#define SYNCED	  64 /* pages that each process writes back */

static long pages = 10240, seed = 1;
static const char *touches;

static const struct workload_option options[] = {
	{ "pages", &pages, NULL, NULL, "pages of the file, at least 512" },
	{ "seed", &seed, NULL, NULL, "another number, another order" },
	{ "touches", NULL, &touches, NULL, "write the list of touches to FILE" },
	{}
};

enum what { READ, WRITE, MSYNC, MUNMAP };

struct touch {
	const char *name;
	int page;
	int pages;
	enum what what;
};

/* The accesses of a process, in memory shared with the parent. */
struct list {
	pid_t pid;
	long count;
	long room;
	struct touch touch[];
};

static const char *directory;
static struct list *list; /* of this process */

static void note(const char *name, long page, long count, enum what what)
{
	if (list->count < list->room)
		list->touch[list->count] = (struct touch){ name, (int)page, (int)count, what };
	list->count++;
}

static struct list *list_new(void)
{
	long room = 4 * pages + 4096;
	struct list *made = mmap(NULL, sizeof(*made) + (size_t)room * sizeof(made->touch[0]),
				 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	CHECK(made != MAP_FAILED);
	made->room = room;
	return made;
}

static void list_print(FILE *out, const struct list *from)
{
	static const char *const words[] = { "read", "write", "msync", "munmap" };
	long i;

	CHECK(from->count <= from->room);
	for (i = 0; i < from->count; i++)
		fprintf(out, "%d %s %d %d %s\n", from->pid, from->touch[i].name, from->touch[i].page,
			from->touch[i].pages, words[from->touch[i].what]);
}

/* A mapped file. */
struct area {
	const char *name;
	char *start;
};

static volatile uint64_t *word_of(const struct area *area, long page)
{
	/* At a different offset in every page. */
	return (volatile uint64_t *)(area->start + page * PAGE + page % 500 * 8);
}

static uint64_t look(const struct area *area, long page)
{
	note(area->name, page, 1, READ);
	return *word_of(area, page);
}

static void put(const struct area *area, long page, uint64_t word)
{
	note(area->name, page, 1, WRITE);
	*word_of(area, page) = word;
}

static void unmap(const struct area *area, long page, long count)
{
	note(area->name, page, count, MUNMAP);
	CHECK(!munmap(area->start + page * PAGE, (size_t)(count * PAGE)));
}

static uint64_t first_word(long page)
{
	return (uint64_t)page * 1000003 + 7;
}

static uint64_t later_word(long page, int process)
{
	return (uint64_t)page * 7777777 + 100 + (uint64_t)process;
}

static const char *path(const char *name)
{
	static char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s/%s", directory, name);
	return text;
}

/* A file with a unique word in every page. */
static void make_file(const char *name, long count)
{
	static char block[64 * PAGE_MAX];
	int fd = open(path(name), O_RDWR | O_CREAT | O_EXCL, 0600);
	const struct area area = { name, block };
	long page, i, part;

	CHECK(fd >= 0);
	for (page = 0; page < count; page += part) {
		part = count - page < 64 ? count - page : 64;
		memset(block, 0, sizeof(block));
		for (i = 0; i < part; i++)
			*(uint64_t *)(block + i * PAGE + (page + i) % 500 * 8) = first_word(page + i);
		CHECK(pwrite(fd, area.start, (size_t)(part * PAGE), page * PAGE) == part * PAGE);
	}
	CHECK(!close(fd));
}

static int owner_of(long page)
{
	uint64_t state = (uint64_t)seed ^ (uint64_t)page << 20;

	return (int)(workload_random(&state) >> 7 & 1);
}

/* The owner's access to a page: READ, WRITE, or 2 for both, in this order. */
static int deed_of(long page)
{
	uint64_t state = (uint64_t)seed ^ (uint64_t)page << 24;

	return (int)(workload_random(&state) % 3);
}

static bool is_written(long page)
{
	return deed_of(page) != READ;
}

static void touch_page(const struct area *area, long page, int process)
{
	int deed = owner_of(page) == process ? deed_of(page) : READ;
	uint64_t word;

	if (deed != WRITE) {
		word = look(area, page);
		CHECK(word == first_word(page) ||
		      (owner_of(page) != process && is_written(page) &&
		       word == later_word(page, 1 - process)));
	}
	if (deed != READ)
		put(area, page, later_word(page, process));
}

static long first_synced(int process)
{
	return process * (pages / 4) + 3;
}

/* Will a process write this page back, so that the other one's next write is a first one? */
static bool is_synced(long page)
{
	return (page >= first_synced(0) && page < first_synced(0) + SYNCED) ||
	       (page >= first_synced(1) && page < first_synced(1) + SYNCED);
}

static void shared(int process)
{
	long *order = malloc((size_t)pages * sizeof(*order)), first, i;
	uint64_t state = (uint64_t)(seed + process);
	int fd = open(path("shared"), O_RDWR);
	struct area area = { "shared", NULL };

	CHECK(fd >= 0 && order);
	area.start = mmap(NULL, (size_t)(pages * PAGE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(area.start != MAP_FAILED);
	workload_shuffle(&state, order, pages);
	for (i = 0; i < pages; i++)
		touch_page(&area, order[i], process);
	for (i = 0; i < pages / 16; i++) { /* again, which the kernel may not notice */
		look(&area, order[i]);
		if (owner_of(order[i]) == process && is_written(order[i]) && !is_synced(order[i]))
			put(&area, order[i], later_word(order[i], process));
	}

	/* After write-back, the next write to a page is a first write again. */
	first = first_synced(process);
	note(area.name, first, SYNCED, MSYNC);
	CHECK(!msync(area.start + first * PAGE, SYNCED * PAGE, MS_SYNC));
	for (i = first; i < first + SYNCED; i += 3)
		if (owner_of(i) == process && is_written(i))
			put(&area, i, later_word(i, process));

	unmap(&area, pages / 2, pages / 4);
	unmap(&area, 0, 10);
	unmap(&area, 10, pages / 2 - 10);
	unmap(&area, pages / 2 + pages / 4, pages - pages / 2 - pages / 4);

	/* Another mapping of a part, through the same descriptor: its first is page 100. */
	area.start = mmap(NULL, (size_t)(50 * PAGE), PROT_READ, MAP_SHARED, fd, 100 * PAGE);
	CHECK(area.start != MAP_FAILED);
	area.start -= 100 * PAGE;
	for (i = 149; i >= 100; i -= 7)
		look(&area, i);
	unmap(&area, 100, 50);
	CHECK(!close(fd));
	free(order);
}

/* Writes to a private mapping never reach the file. */
static void private(int process)
{
	struct area area = { process ? "private1" : "private0", NULL };
	int fd = open(path(area.name), O_RDWR);
	uint64_t word;
	long i;

	CHECK(fd >= 0);
	area.start = mmap(NULL, PRIVATE * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(area.start != MAP_FAILED);
	for (i = PRIVATE - 1; i >= 0; i--) {
		if (i % 3)
			CHECK(look(&area, i) == first_word(i));
		if (i % 3 != 1)
			put(&area, i, later_word(i, process));
	}
	for (i = 0; i < PRIVATE; i++) {
		CHECK(*word_of(&area, i) == (i % 3 == 1 ? first_word(i) : later_word(i, process)));
		note(area.name, i, 1, READ);
		CHECK(pread(fd, &word, 8, i * PAGE + i % 500 * 8) == 8 && word == first_word(i));
	}
	CHECK(!close(fd));
	unmap(&area, 0, PRIVATE);
}

/* The mapping remains after the descriptor is closed and the name removed. */
static void late(int process)
{
	struct area area = { process ? "late1" : "late0", NULL };
	int fd = open(path(area.name), O_RDWR);
	long i;

	CHECK(fd >= 0);
	area.start = mmap(NULL, LATE * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(area.start != MAP_FAILED);
	CHECK(!close(fd) && !unlink(path(area.name)));
	for (i = 0; i < LATE; i++) {
		if (i % 2)
			CHECK(look(&area, i) == first_word(i));
		put(&area, i, later_word(i, process));
		CHECK(look(&area, i) == later_word(i, process));
	}
	unmap(&area, 0, LATE);
}

static void run_process(int process)
{
	list->pid = getpid();
	shared(process);
	private(process);
	late(process);
	_exit(0);
}

/* Every page has the data of its owner. */
static void check_file(void)
{
	int fd = open(path("shared"), O_RDONLY);
	long page, written = 0;
	uint64_t word;

	CHECK(fd >= 0);
	for (page = 0; page < pages; page += pages > 2048 ? 8 : 1) {
		CHECK(pread(fd, &word, 8, page * PAGE + page % 500 * 8) == 8);
		CHECK(word == (is_written(page) ? later_word(page, owner_of(page)) : first_word(page)));
		written += is_written(page);
	}
	CHECK(!close(fd));
	printf("maps: %ld pages, %ld of those looked at were written\n", pages, written);
}

int main(int argc, char **argv)
{
	struct list *lists[PROCESSES];
	pid_t child[PROCESSES];
	FILE *out = NULL;
	int i, status;

	directory = workload_options(argc, argv, "Two processes that write and read one mapped file.",
				     options);
	CHECK(pages >= 512);
	make_file("shared", pages);
	make_file("private0", PRIVATE);
	make_file("private1", PRIVATE);
	make_file("late0", LATE);
	make_file("late1", LATE);
	for (i = 0; i < PROCESSES; i++)
		lists[i] = list_new();
	for (i = 0; i < PROCESSES; i++) {
		fflush(stdout);
		child[i] = fork();
		CHECK(child[i] >= 0);
		list = lists[i];
		if (!child[i])
			run_process(i);
	}
	for (i = 0; i < PROCESSES; i++) {
		CHECK(waitpid(child[i], &status, 0) == child[i]);
		CHECK(!status);
	}
	check_file();
	if (touches) {
		out = fopen(touches, "w");
		CHECK(out);
		for (i = 0; i < PROCESSES; i++)
			list_print(out, lists[i]);
		CHECK(!fclose(out));
	}
	return 0;
}
