// SPDX-License-Identifier: GPL-2.0-only
/*
 * seeks.c - reads directories from any position: by telldir(3) and seekdir(3), in small pieces, by several handles,
 * while names are created and removed.
 *
 *	seeks DIRECTORY
 *
 * Prints its findings, which must be the same on a bare directory and under tapefs.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/workload.h"

#define NAMES 400

/* A position in a directory, and the next entry; none at the end. */
struct place {
	long position;
	char next[NAME_MAX + 1];
};

static void name_of(char *name, int number)
{
	sprintf(name, "%s%d", number % 3 ? "f" : "a-name-that-is-somewhat-longer-than-the-others-", number);
}

static void make_names(void)
{
	char name[NAME_MAX + 1];
	int i, fd;

	for (i = 0; i < NAMES; i++) {
		name_of(name, i);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		CHECK(fd >= 0 && !close(fd));
	}
}

/* Return: the number of positions, including the end. */
static int walk(DIR *dir, struct place *places, int room)
{
	struct dirent *entry;
	int count = 0;

	do {
		CHECK(count < room);
		places[count].position = telldir(dir);
		entry = readdir(dir);
		strcpy(places[count++].next, entry ? entry->d_name : "");
	} while (entry);
	return count;
}

static const char *next_at(DIR *dir, long position)
{
	struct dirent *entry;

	seekdir(dir, position);
	entry = readdir(dir);
	return entry ? entry->d_name : "";
}

static void find_again(const char *what, DIR *dir, const struct place *places, int count, uint64_t seed)
{
	long *order = calloc(count, sizeof(*order));
	int i, same = 0;

	CHECK(order);
	workload_shuffle(&seed, order, count);
	for (i = 0; i < count; i++)
		same += !strcmp(next_at(dir, places[order[i]].position), places[order[i]].next);
	printf("%s: %d of %d places found again\n", what, same, count);
	free(order);
}

/* Reads all entries by getdents64(2), with a buffer for one or two entries. */
static void read_in_pieces(int fd)
{
	char buffer[80], last[NAME_MAX + 1] = "";
	struct dirent64 *entry;
	long bytes, at;
	int entries = 0, calls = 0;

	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	while ((bytes = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
		calls++;
		for (at = 0; at < bytes; at += entry->d_reclen, entries++) {
			entry = (struct dirent64 *)(buffer + at);
			strcpy(last, entry->d_name);
		}
	}
	printf("in pieces: %s, %d entries, %d calls, %s last\n", workload_outcome(bytes), entries, calls, last);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	printf("without room for one: %s\n", workload_outcome(syscall(SYS_getdents64, fd, buffer, 20)));
	printf("again: %s\n", workload_outcome(syscall(SYS_getdents64, fd, buffer, sizeof(buffer))));
	printf("to a bad address: %s\n", workload_outcome(syscall(SYS_getdents64, fd, 16, 4096)));
}

static void seek_anywhere(int fd)
{
	static const struct {
		off_t offset;
		int whence;
	} seeks[] = { { 0, SEEK_END }, { -1, SEEK_SET }, { -1, SEEK_CUR }, { 1, SEEK_SET }, { 2, SEEK_SET },
		      { 3, SEEK_SET }, { INT64_MAX, SEEK_SET }, { 1L << 40, SEEK_SET }, { 0, SEEK_HOLE },
		      { 0, SEEK_DATA }, { 0, 77 }, { 10, SEEK_CUR } };
	char buffer[512];
	size_t i;
	off_t at;

	for (i = 0; i < sizeof(seeks) / sizeof(seeks[0]); i++) {
		at = lseek(fd, seeks[i].offset, seeks[i].whence);
		printf("lseek %ld, %d: %s, %ld", seeks[i].offset, seeks[i].whence, workload_outcome(at), at);
		at = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
		printf("; then %s, %ld bytes, %s first\n", workload_outcome(at), at,
		       at > 0 ? ((struct dirent64 *)buffer)->d_name : "nothing");
	}
}

/* Two handles have separate positions; two descriptors of a handle share one. */
static void read_at_once(DIR *dir)
{
	DIR *other = opendir(".");
	int twin = dup(dirfd(dir));
	char names[3][NAME_MAX + 1];

	CHECK(other && twin >= 0);
	rewinddir(dir);
	strcpy(names[0], readdir(dir)->d_name);
	strcpy(names[1], readdir(other)->d_name);
	strcpy(names[2], readdir(dir)->d_name);
	printf("two handles: %s, %s, %s\n", names[0], names[1], names[2]);
	CHECK(lseek(twin, 0, SEEK_SET) == 0 && lseek(dirfd(dir), 0, SEEK_CUR) == 0);
	CHECK(!close(twin) && !closedir(other));
}

/* Entries found from a position on, after names have been created and removed. */
static void change_meanwhile(DIR *dir, struct place *places, int count)
{
	char name[NAME_MAX + 1];
	int i, found = 0, fd;

	rewinddir(dir);
	for (i = 0; i < count / 2; i++)
		readdir(dir);
	for (i = 0; i < NAMES; i += 7) {
		name_of(name, i);
		CHECK(!unlink(name));
	}
	CHECK(!rename("f1", "renamed"));
	fd = open("made", O_CREAT | O_EXCL | O_WRONLY, 0600);
	CHECK(fd >= 0 && !close(fd));
	while (readdir(dir))
		found++;
	printf("in the middle of a change: some are found: %s\n", found ? "yes" : "no");
	count = walk((rewinddir(dir), dir), places, NAMES + 10);
	printf("after it: %d places\n", count);
	find_again("after it", dir, places, count, 3);
}

static void remove_all_while_reading(void)
{
	struct dirent *entry;
	DIR *dir = opendir(".");
	int removed = 0;

	CHECK(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			removed += !unlink(entry->d_name);
	CHECK(!closedir(dir));
	printf("removed while reading: %d\n", removed);
}

/* A removed directory has no entries, not even "." and "..". */
static void read_what_is_gone(void)
{
	char buffer[512];
	int fd;

	CHECK(!mkdir("gone", 0700));
	fd = open("gone", O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0 && !rmdir("gone"));
	printf("removed: %s\n", workload_outcome(syscall(SYS_getdents64, fd, buffer, sizeof(buffer))));
	printf("removed: seek: %s\n", workload_outcome(lseek(fd, 0, SEEK_SET)));
	printf("read: %s\n", workload_outcome(read(fd, buffer, 1)));
	printf("pread: %s\n", workload_outcome(pread(fd, buffer, 1, 0)));
	CHECK(!close(fd));
	fd = open(".", O_RDONLY | O_PATH);
	CHECK(fd >= 0);
	printf("O_PATH: %s\n", workload_outcome(syscall(SYS_getdents64, fd, buffer, sizeof(buffer))));
	CHECK(!close(fd));
}

int main(int argc, char **argv)
{
	static const struct workload_option options[] = { { 0 } };
	static struct place places[NAMES + 10];
	int count;
	DIR *dir;

	CHECK(!chdir(workload_options(argc, argv, "Reads directories from anywhere.", options)));
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_names();
	dir = opendir(".");
	CHECK(dir);
	count = walk(dir, places, NAMES + 10);
	printf("%d places\n", count);
	find_again("at random", dir, places, count, 1);
	find_again("at random, again", dir, places, count, 2);
	seekdir(dir, places[count / 3].position);
	read_at_once(dir);
	read_in_pieces(dirfd(dir));
	seek_anywhere(dirfd(dir));
	change_meanwhile(dir, places, count);
	CHECK(!closedir(dir));
	remove_all_while_reading();
	read_what_is_gone();
	return 0;
}
