// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree.c - a tree of files as text, one line per entry, so that two trees can be compared
 * by diff.
 *
 * Entries are sorted by the bytes of their paths. A line is the path from the top, in which
 * blanks, control characters, backslashes and bytes that are not UTF-8 are written \ooo, then
 * KEY=VALUE words: type, mode, links, size, target of a symbolic link, device number,
 * extents of data in a file with holes, the first path of a file with several links, and
 * further words by options. A file that cannot be read is an error, not an empty word.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

static struct {
	bool is_checksum, is_xattrs, is_owner, is_times, has_no_extents, has_no_dir_links;
} options;

static const struct {
	const char *name;
	bool *flag;
	const char *sentence;
} option_table[] = {
	{ "--checksum", &options.is_checksum, "add a checksum of each file's contents" },
	{ "--xattrs", &options.is_xattrs, "add extended attributes" },
	{ "--owner", &options.is_owner, "add user and group" },
	{ "--times", &options.is_times, "add the modification time" },
	{ "--no-extents", &options.has_no_extents, "leave out where the data is" },
	{ "--no-dir-links", &options.has_no_dir_links, "leave out links of directories" },
};

#define OPTIONS (sizeof(option_table) / sizeof(option_table[0]))

/* The first path of an object with several links. */
struct seen {
	dev_t dev;
	ino_t ino;
	char *path;
};

static void *seen_tree;

__attribute__((noreturn)) static void fail(const char *path, const char *what)
{
	fflush(stdout);
	fprintf(stderr, "tree: %s: %s: %s\n", path, what, strerror(errno));
	exit(1);
}

static int seen_compare(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Bytes of the UTF-8 character at @p; 0 if there is none. */
static size_t utf8_bytes(const unsigned char *p)
{
	size_t bytes = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 :
		       p[0] < 0xf5 ? 4 : 0, i;

	for (i = 1; i < bytes; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return bytes;
}

static void print_escaped(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t bytes;

	for (; *p; p += bytes ? bytes : 1) {
		bytes = utf8_bytes(p);
		if (!bytes || *p <= ' ' || *p == '\\' || *p == 0x7f)
			printf("\\%03o", *p);
		else
			fwrite(p, 1, bytes, stdout);
	}
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *p = bytes;

	while (count--)
		hash = (hash ^ *p++) * 0x100000001b3; /* FNV-1a */
	return hash;
}

static void print_target(const char *path)
{
	static char target[1 << 16];
	ssize_t bytes = readlink(path, target, sizeof(target) - 1);

	if (bytes < 0)
		fail(path, "readlink");
	target[bytes] = 0;
	printf(" target=");
	print_escaped(target);
}

/*
 * The ranges with data, BEGIN-END; empty if the whole file is data. Allocated blocks
 * that were never written count as data while they are in the page cache, so they
 * must not be there.
 */
static void print_extents(int fd, const char *path, off_t size)
{
	off_t begin = 0, end = 0;
	bool is_first = true;

	if (fdatasync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail(path, "write back");
	while (end < size) {
		begin = lseek(fd, end, SEEK_DATA);
		if (begin < 0 && errno == ENXIO)
			break;
		if (begin < 0)
			fail(path, "SEEK_DATA");
		end = lseek(fd, begin, SEEK_HOLE);
		if (end < 0)
			fail(path, "SEEK_HOLE");
		if (!begin && end == size)
			return;
		printf("%s%lld-%lld", is_first ? " data=" : ",", (long long)begin, (long long)end);
		is_first = false;
	}
	if (is_first && size)
		printf(" data=none");
}

/* A checksum of nonzero words and their positions, which does not depend on holes. */
static uint64_t hash_words(uint64_t hash, const char *bytes, size_t count, off_t place)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < count; i += sizeof(word)) {
		word = 0;
		memcpy(&word, bytes + i, count - i < sizeof(word) ? count - i : sizeof(word));
		if (!word)
			continue;
		hash = (hash ^ (uint64_t)(place + (off_t)i)) * 0x9e3779b97f4a7c15;
		hash = (hash ^ hash >> 29 ^ word) * 0xbf58476d1ce4e5b9;
	}
	return hash;
}

static void print_checksum(int fd, const char *path, off_t size)
{
	static char buffer[1 << 16];
	off_t at = 0, end, begin;
	uint64_t hash = 0;
	ssize_t got;

	while (at < size && (at = lseek(fd, at, SEEK_DATA)) >= 0) {
		end = lseek(fd, at, SEEK_HOLE);
		for (begin = at & -8L; begin < end; begin += got) {
			got = pread(fd, buffer, sizeof(buffer), begin);
			if (got <= 0)
				fail(path, "read");
			hash = hash_words(hash, buffer, (size_t)got, begin);
		}
		at = begin;
	}
	printf(" sum=%016llx", (unsigned long long)(hash ^ hash >> 32));
}

static void print_contents(const char *path, off_t size)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NOATIME);

	if (fd < 0)
		fail(path, "open");
	if (!options.has_no_extents)
		print_extents(fd, path, size);
	if (options.is_checksum)
		print_checksum(fd, path, size);
	close(fd);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_xattr(const char *path, const char *name)
{
	static char value[1 << 16];
	ssize_t bytes = lgetxattr(path, name, value, sizeof(value));

	if (bytes < 0)
		fail(path, name);
	printf(" xattr:");
	print_escaped(name);
	printf("=%zd:%016llx", bytes,
	       (unsigned long long)hash_bytes(0xcbf29ce484222325, value, (size_t)bytes));
}

static void print_xattrs(const char *path)
{
	static char list[1 << 16];
	ssize_t bytes = llistxattr(path, list, sizeof(list));
	char *names[1024], *name;
	size_t count = 0, i;

	if (bytes < 0 && errno == ENOTSUP)
		return;
	if (bytes < 0)
		fail(path, "listxattr");
	for (name = list; name < list + bytes && count < 1024; name += strlen(name) + 1)
		names[count++] = name;
	qsort(names, count, sizeof(names[0]), compare_names);
	for (i = 0; i < count; i++)
		print_xattr(path, names[i]);
}

/* Reports entries that are one object; none names the first of them. */
static void print_link(const char *path, const char *shown, const struct stat *stat)
{
	struct seen *seen = malloc(sizeof(*seen)), **found;

	if (!seen)
		fail(path, "malloc");
	*seen = (struct seen){ stat->st_dev, stat->st_ino, strdup(shown) };
	found = tsearch(seen, &seen_tree, seen_compare);
	if (!found)
		fail(path, "malloc");
	if (*found == seen)
		return;
	printf(" same=");
	print_escaped((*found)->path);
	free(seen->path);
	free(seen);
}

static const char *type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "dir";
	case S_IFLNK:
		return "symlink";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	case S_IFCHR:
		return "chr";
	default:
		return "blk";
	}
}

static void print_entry(const char *path, const char *shown, const struct stat *stat)
{
	print_escaped(shown);
	printf(" type=%s mode=%04o", type_of(stat->st_mode), stat->st_mode & 07777);
	if (!S_ISDIR(stat->st_mode) || !options.has_no_dir_links)
		printf(" links=%lu", (unsigned long)stat->st_nlink);
	if (options.is_owner)
		printf(" owner=%u:%u", stat->st_uid, stat->st_gid);
	if (options.is_times)
		printf(" mtime=%lld.%09ld", (long long)stat->st_mtim.tv_sec, stat->st_mtim.tv_nsec);
	if (S_ISREG(stat->st_mode) || S_ISLNK(stat->st_mode))
		printf(" size=%lld", (long long)stat->st_size);
	if (S_ISCHR(stat->st_mode) || S_ISBLK(stat->st_mode))
		printf(" dev=%u:%u", major(stat->st_rdev), minor(stat->st_rdev));
	if (S_ISLNK(stat->st_mode))
		print_target(path);
	if (S_ISREG(stat->st_mode))
		print_contents(path, stat->st_size);
	if (!S_ISDIR(stat->st_mode) && stat->st_nlink > 1)
		print_link(path, shown, stat);
	if (options.is_xattrs)
		print_xattrs(path);
	putchar('\n');
}

static char **names_of(const char *path, size_t *count)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char **names = NULL;
	size_t room = 0;

	*count = 0;
	if (!dir)
		fail(path, "opendir");
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (*count == room)
			names = realloc(names, (room = 2 * room + 16) * sizeof(*names));
		if (!names || !(names[(*count)++] = strdup(entry->d_name)))
			fail(path, "malloc");
	}
	if (errno)
		fail(path, "readdir");
	closedir(dir);
	qsort(names, *count, sizeof(*names), compare_names);
	return names;
}

/* @shown is the path below the top, which itself is shown as a dot. */
static void walk(const char *path, const char *shown)
{
	char **names, *below, *below_shown;
	struct stat stat;
	size_t count, i;

	if (lstat(path, &stat))
		fail(path, "stat");
	print_entry(path, *shown ? shown : ".", &stat);
	if (!S_ISDIR(stat.st_mode))
		return;
	names = names_of(path, &count);
	for (i = 0; i < count; i++) {
		if (asprintf(&below, "%s/%s", path, names[i]) < 0 ||
		    asprintf(&below_shown, "%s%s%s", shown, *shown ? "/" : "", names[i]) < 0)
			fail(path, "malloc");
		walk(below, below_shown);
		free(below);
		free(below_shown);
		free(names[i]);
	}
	free(names);
}

static void help(void)
{
	size_t i;

	printf("usage: tree [OPTION]... DIRECTORY\n\n"
	       "Prints a tree of files, one line per entry, sorted.\n\n");
	for (i = 0; i < OPTIONS; i++)
		printf("  %-16s %s\n", option_table[i].name, option_table[i].sentence);
	printf("  --help           print this text\n\nexit code: 0 done, 1 failed, 2 usage\n");
}

int main(int argc, char **argv)
{
	const char *directory = NULL;
	size_t option;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help"))
			return help(), 0;
		if (argv[i][0] != '-') {
			directory = argv[i];
			continue;
		}
		for (option = 0; option < OPTIONS; option++)
			if (!strcmp(argv[i], option_table[option].name))
				break;
		if (option == OPTIONS) {
			fprintf(stderr, "tree: %s: unknown option, see --help\n", argv[i]);
			return 2;
		}
		*option_table[option].flag = true;
	}
	if (!directory) {
		fprintf(stderr, "tree: no directory given, see --help\n");
		return 2;
	}
	walk(directory, "");
	if (fflush(stdout) || ferror(stdout))
		fail("standard output", "write");
	return 0;
}
