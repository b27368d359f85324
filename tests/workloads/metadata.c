// SPDX-License-Identifier: GPL-2.0-only
/*
 * metadata.c - a workload: a storm of operations on names, and every kind of them once.
 *
 * The storm creates, looks up, renames (in all ways), links, follows and removes random names in a
 * tree of directories, and predicts the result of each call by a model.
 * Before it come rare operations: attributes, extended attributes, unusual names, files that
 * are open while their names change or are removed, files that never had a name.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "workload.h"

static long storm_ops = 600, directories = 6, names = 12, seed = 1;

static const struct workload_option options[] = {
	{ "ops", &storm_ops, NULL, NULL, "operations of the storm" },
	{ "directories", &directories, NULL, NULL, "directories that it works in" },
	{ "names", &names, NULL, NULL, "names in each" },
	{ "seed", &seed, NULL, NULL, "another number, another storm" },
	{}
};

static void make_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0640);

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(!close(fd));
}

static struct stat stat_of(const char *name)
{
	struct stat stat;

	CHECK(!lstat(name, &stat));
	return stat;
}

/* -- absent names, and names that are there ---------------------------------------- */

static void errors(void)
{
	struct stat stat;

	CHECK_ERRNO(lstat("absent", &stat), ENOENT);
	CHECK_ERRNO(lstat("absent", &stat), ENOENT); /* again: now cached */
	CHECK_ERRNO(open("absent", O_RDONLY), ENOENT);
	CHECK_ERRNO(open("absent/file", O_CREAT | O_WRONLY, 0600), ENOENT);
	CHECK_ERRNO(unlink("absent"), ENOENT);
	CHECK_ERRNO(rmdir("absent"), ENOENT);
	CHECK_ERRNO(rename("absent", "other"), ENOENT);
	CHECK_ERRNO(link("absent", "other"), ENOENT);
	CHECK_ERRNO(readlink("absent", (char *)&stat, 10), ENOENT);
	CHECK_ERRNO(truncate("absent", 0), ENOENT);
	CHECK_ERRNO(chmod("absent", 0600), ENOENT);
	CHECK_ERRNO(access("absent", R_OK), ENOENT);
	make_file(AT_FDCWD, "file", "there");
	CHECK(!mkdir("dir", 0750));
	CHECK_ERRNO(mkdir("dir", 0750), EEXIST);
	CHECK_ERRNO(mkdir("file", 0750), EEXIST);
	CHECK_ERRNO(open("file", O_CREAT | O_EXCL | O_WRONLY, 0600), EEXIST);
	CHECK_ERRNO(symlink("x", "file"), EEXIST);
	CHECK_ERRNO(link("file", "dir"), EEXIST);
	CHECK_ERRNO(link("dir", "dirlink"), EPERM);
	CHECK_ERRNO(mkfifo("file", 0600), EEXIST);
	CHECK_ERRNO(lstat("file/x", &stat), ENOTDIR);
	CHECK_ERRNO(open("file", O_RDONLY | O_DIRECTORY), ENOTDIR);
	CHECK_ERRNO(open("dir", O_WRONLY), EISDIR);
	CHECK_ERRNO(unlink("dir"), EISDIR);
	CHECK_ERRNO(rmdir("file"), ENOTDIR);
	make_file(AT_FDCWD, "dir/inner", "");
	CHECK_ERRNO(rmdir("dir"), ENOTEMPTY);
	CHECK_ERRNO(rename("dir", "dir/inner/x"), ENOTDIR);
	CHECK_ERRNO(rename("dir", "dir/below"), EINVAL);
	CHECK(!mkdir("dir/sub", 0700));
	CHECK_ERRNO(rename("file", "dir"), EISDIR);
	CHECK_ERRNO(rename("dir", "file"), ENOTDIR);
	CHECK_ERRNO(rename("dir/sub", "dir"), ENOTEMPTY);
	CHECK(!access("file", R_OK | W_OK));
	CHECK_ERRNO(access("file", X_OK), EACCES);
	CHECK(!symlink("loop", "loop"));
	CHECK_ERRNO(open("loop", O_RDONLY), ELOOP);
	CHECK(!unlink("loop") && !unlink("dir/inner") && !rmdir("dir/sub") && !rmdir("dir"));
	CHECK(!unlink("file"));
	printf("errors: as they should be\n");
}

/* -- attributes -------------------------------------------------------------------- */

static void attributes(void)
{
	const struct timespec times[] = { { 1000000000, 123456789 }, { 1100000000, 987654321 } };
	struct stat stat;
	struct statx statx_;
	int fd;

	make_file(AT_FDCWD, "attributes", "0123456789");
	CHECK(!chmod("attributes", 0604));
	CHECK((stat_of("attributes").st_mode & 07777) == 0604);
	CHECK(!utimensat(AT_FDCWD, "attributes", times, 0));
	stat = stat_of("attributes");
	CHECK(stat.st_atim.tv_sec == 1000000000 && stat.st_atim.tv_nsec == 123456789);
	CHECK(stat.st_mtim.tv_sec == 1100000000 && stat.st_mtim.tv_nsec == 987654321);
	CHECK(!utimensat(AT_FDCWD, "attributes", NULL, 0));
	CHECK(stat_of("attributes").st_mtim.tv_sec > 1100000000);
	CHECK(!chown("attributes", getuid(), getgid()));
	CHECK(!lchown("attributes", (uid_t)-1, getgid()));
	fd = open("attributes", O_RDWR);
	CHECK(fd >= 0);
	CHECK(!fchmod(fd, 04755));
	CHECK(!fchown(fd, getuid(), (gid_t)-1)); /* clears the set-user-ID bit */
	CHECK(!fstat(fd, &stat) && (stat.st_mode & 07777) == 0755);
	CHECK(!futimens(fd, times));
	CHECK(!close(fd));
	CHECK(!statx(AT_FDCWD, "attributes", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &statx_));
	CHECK(statx_.stx_size == 10 && statx_.stx_nlink == 1);
	CHECK(!mkdir("sticky", 01777) && !chmod("sticky", 01777));
	CHECK((stat_of("sticky").st_mode & 07777) == 01777);
	CHECK(!mkfifo("fifo", 0620) && S_ISFIFO(stat_of("fifo").st_mode));
	CHECK(!mknod("plain", S_IFREG | 0600, 0) && S_ISREG(stat_of("plain").st_mode));
	printf("attributes: mode %o\n", stat_of("attributes").st_mode & 07777);
}

static void xattrs_of(const char *name, const char *attribute)
{
	char value[16], list[1024];
	ssize_t bytes;
	int result = setxattr(name, attribute, "value one", 9, XATTR_CREATE);

	printf("xattrs: %s of %s: %s\n", attribute, name, workload_outcome(result));
	if (result)
		return;
	CHECK_ERRNO(setxattr(name, attribute, "two", 3, XATTR_CREATE), EEXIST);
	CHECK(getxattr(name, attribute, NULL, 0) == 9);
	CHECK(getxattr(name, attribute, value, sizeof(value)) == 9 && !memcmp(value, "value one", 9));
	CHECK_ERRNO(getxattr(name, attribute, value, 3), ERANGE);
	CHECK(!setxattr(name, attribute, "two", 3, XATTR_REPLACE));
	bytes = listxattr(name, list, sizeof(list));
	CHECK(bytes > 0 && memmem(list, (size_t)bytes, attribute, strlen(attribute) + 1));
	CHECK(!removexattr(name, attribute));
	CHECK_ERRNO(removexattr(name, attribute), ENODATA);
	CHECK_ERRNO(getxattr(name, attribute, value, sizeof(value)), ENODATA);
	CHECK(!setxattr(name, attribute, "stays", 5, 0));
}

static void xattrs(void)
{
	xattrs_of("attributes", "user.iotape");
	xattrs_of("attributes", "trusted.iotape");
	xattrs_of("sticky", "trusted.other");
	printf("xattrs: no such space: %s\n",
	       workload_outcome(setxattr("attributes", "nowhere.x", "1", 1, 0)));
}

/* -- odd names --------------------------------------------------------------------- */

static void odd_names(void)
{
	static char longest[256], too_long[257];
	const char *odd[] = { longest, "with\nnew line", "with \"quotes\" and \\", "na\xc3\xafve caf\xc3\xa9",
			      "\x01\x1b\x7f control", "not utf-8 \xff\xfe", " leading blank", "-dash",
			      "...", "#1", "tab\there", "*?[", "% %s" };
	size_t count = sizeof(odd) / sizeof(odd[0]), i, found = 0;
	struct dirent *entry;
	struct stat stat;
	DIR *dir;
	int fd;

	memset(longest, 'x', 255);
	memset(too_long, 'y', 256);
	CHECK(!mkdir("odd", 0700));
	fd = open("odd", O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0);
	for (i = 0; i < count; i++) {
		make_file(fd, odd[i], odd[i]);
		CHECK(!fstatat(fd, odd[i], &stat, 0) && stat.st_size == (off_t)strlen(odd[i]));
	}
	CHECK_ERRNO(openat(fd, too_long, O_CREAT | O_WRONLY, 0600), ENAMETOOLONG);
	CHECK_ERRNO(fstatat(fd, too_long, &stat, 0), ENAMETOOLONG);
	CHECK_ERRNO(mkdirat(fd, too_long, 0700), ENAMETOOLONG);
	dir = fdopendir(fd);
	CHECK(dir);
	rewinddir(dir); /* btrfs lists the names of the time when the directory was opened, or of the last rewind */
	while ((entry = readdir(dir)))
		for (i = 0; i < count; i++)
			found += !strcmp(entry->d_name, odd[i]);
	CHECK(found == count);
	CHECK(!renameat(fd, longest, fd, "short") && !renameat(fd, "short", fd, longest));
	CHECK(!closedir(dir));
	printf("odd names: %zu\n", found);
}

/* -- files whose names change or are removed while they are open ----------------------- */

static void open_files(void)
{
	char text[8] = "";
	struct stat stat;
	int first, second;

	make_file(AT_FDCWD, "open", "old");
	first = open("open", O_RDWR);
	CHECK(first >= 0 && !unlink("open"));
	CHECK_ERRNO(lstat("open", &stat), ENOENT);
	CHECK(!fstat(first, &stat) && stat.st_nlink == 0);
	CHECK(pwrite(first, "new", 3, 0) == 3 && pread(first, text, 3, 0) == 3);
	CHECK(!strcmp(text, "new") && !fchmod(first, 0600) && !ftruncate(first, 1));
	make_file(AT_FDCWD, "open", "another");
	CHECK(!fstat(first, &stat) && stat.st_size == 1);
	second = open("open", O_RDWR);
	CHECK(second >= 0);
	make_file(AT_FDCWD, "over", "replacement");
	CHECK(!rename("over", "open"));
	CHECK(!fstat(second, &stat) && stat.st_nlink == 0 && stat.st_size == 7);
	CHECK(pread(second, text, 7, 0) == 7 && !memcmp(text, "another", 7));
	CHECK(stat_of("open").st_size == 11);
	CHECK(!close(first) && !close(second));
	printf("open files: live on\n");
}

static void hard_links(void)
{
	struct stat stat;
	int fd;

	make_file(AT_FDCWD, "one", "linked");
	CHECK(!mkdir("links", 0700) && !link("one", "links/two") && !link("links/two", "three"));
	CHECK(stat_of("links/two").st_nlink == 3 && stat_of("one").st_ino == stat_of("three").st_ino);
	fd = open("links/two", O_WRONLY | O_APPEND);
	CHECK(fd >= 0 && write(fd, "!", 1) == 1 && !close(fd));
	CHECK(!unlink("links/two"));
	stat = stat_of("one");
	CHECK(stat.st_nlink == 2 && stat.st_size == 7);
	CHECK(!rename("one", "three")); /* links to the same file: no effect */
	CHECK(stat_of("one").st_nlink == 2);
	CHECK(!unlink("one") && stat_of("three").st_nlink == 1);
	CHECK(!link("three", "four"));
	printf("hard links: %lu left\n", (unsigned long)stat_of("four").st_nlink);
}

static void symlinks(void)
{
	char target[PATH_MAX + 1], text[8];
	int fd;

	CHECK(!mkdir("real", 0700));
	make_file(AT_FDCWD, "real/file", "reached");
	CHECK(!symlink("real", "todir") && !symlink("todir/file", "tofile"));
	CHECK(!symlink("../tofile", "real/back") && !symlink("no/where", "dangling"));
	CHECK(readlink("todir", target, PATH_MAX) == 4 && !memcmp(target, "real", 4));
	CHECK(readlink("dangling", target, 3) == 3);
	CHECK_ERRNO(readlink("real", target, 3), EINVAL);
	fd = open("todir/back", O_RDONLY); /* four links */
	CHECK(fd >= 0 && read(fd, text, 8) == 7 && !memcmp(text, "reached", 7) && !close(fd));
	CHECK_ERRNO(open("dangling", O_RDONLY), ENOENT);
	CHECK_ERRNO(open("tofile", O_RDONLY | O_NOFOLLOW), ELOOP);
	CHECK(!symlink("made", "tomade"));
	fd = open("tomade", O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0 && !close(fd) && S_ISREG(stat_of("made").st_mode));
	CHECK(!rename("tofile", "moved"));
	memset(target, 't', PATH_MAX);
	target[PATH_MAX] = 0;
	CHECK_ERRNO(symlink(target, "toolong"), ENAMETOOLONG);
	CHECK_ERRNO(symlink("", "empty"), ENOENT);
	target[1000] = 0;
	CHECK(!symlink(target, "long"));
	CHECK(readlink("long", target, PATH_MAX) == 1000);
	printf("symlinks: followed\n");
}

/* O_TMPFILE, with a later link to a name. */
static void nameless(void)
{
	char link[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	if (fd < 0) {
		printf("nameless: %s\n", workload_outcome(fd));
		return;
	}
	CHECK(write(fd, "had no name", 11) == 11);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	CHECK(!linkat(AT_FDCWD, link, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
	CHECK(stat_of("named").st_nlink == 1 && stat_of("named").st_size == 11);
	CHECK(!linkat(fd, "", AT_FDCWD, "named2", AT_EMPTY_PATH));
	CHECK(!close(fd));
	fd = open(".", O_TMPFILE | O_RDWR | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK_ERRNO(linkat(fd, "", AT_FDCWD, "never", AT_EMPTY_PATH), ENOENT);
	CHECK(!close(fd)); /* frees the file */
	printf("nameless: %lu names\n", (unsigned long)stat_of("named2").st_nlink);
}

static void working_directory(void)
{
	char path[PATH_MAX], home[PATH_MAX];

	CHECK(getcwd(home, sizeof(home)));
	CHECK(!mkdir("wd", 0700) && !chdir("wd"));
	make_file(AT_FDCWD, "here", "");
	CHECK(!rename("../wd", "../wd2"));
	CHECK(getcwd(path, sizeof(path)) && !strcmp(path + strlen(path) - 4, "/wd2"));
	CHECK(!unlink("../wd2/here") && !rmdir("../wd2"));
	CHECK_ERRNO(open("gone", O_CREAT | O_WRONLY, 0600), ENOENT);
	CHECK_ERRNO(syscall(SYS_getcwd, path, sizeof(path)), ENOENT);
	CHECK(!chdir(home));
	CHECK_ERRNO(lstat("wd2", &(struct stat){}), ENOENT);
	printf("working directory: gone\n");
}

/* -- the storm --------------------------------------------------------------------- */

enum kind { ABSENT, FILE_, SYMLINK, DIRECTORY };

struct object {
	enum kind kind;
	long links;
	bool has_child; /* a directory: there is a file `in` in it */
};

struct storm {
	uint64_t state;
	struct object **slot; /* the object of each name, NULL if absent */
	long slots;
	long done[16];
	const char *name_of_done[16];
};

static const char *slot_path(long slot)
{
	static char text[4][64];
	static int next;

	next = (next + 1) % 4;
	snprintf(text[next], sizeof(text[next]), "storm/d%ld/n%ld", slot / names, slot % names);
	return text[next];
}

static enum kind kind_of(const struct object *object)
{
	return object ? object->kind : ABSENT;
}

static struct object *object_new(enum kind kind)
{
	struct object *object = calloc(1, sizeof(*object));

	CHECK(object);
	object->kind = kind;
	object->links = 1;
	return object;
}

static void object_put(struct object *object)
{
	if (object && !--object->links)
		free(object);
}

/* @result is the result of a call, @expected is 0 or an errno. */
static void check_result(struct storm *storm, int kind, const char *name, long result, int expected)
{
	if (expected == ENOTEMPTY && errno == EEXIST)
		expected = EEXIST; /* returned by XFS, which is permitted */
	if (expected ? result != -1 || errno != expected : result < 0)
		workload_fail("metadata", __LINE__, "storm: %s: %ld, not %s", name, result,
			      expected ? strerrorname_np(expected) : "done");
	storm->done[kind]++;
	storm->name_of_done[kind] = name;
}

static void storm_create(struct storm *storm, long slot, enum kind kind)
{
	int expected = storm->slot[slot] ? EEXIST : 0;
	const char *path = slot_path(slot);
	long result = -1;

	errno = 0;
	if (kind == FILE_)
		result = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	else if (kind == DIRECTORY)
		result = mkdir(path, 0700);
	else
		result = symlink("../d0/n0", path);
	check_result(storm, kind == FILE_ ? 0 : kind == DIRECTORY ? 1 : 2,
		     kind == FILE_ ? "create" : kind == DIRECTORY ? "mkdir" : "symlink", result, expected);
	if (expected)
		return;
	storm->slot[slot] = object_new(kind);
	if (kind == FILE_) {
		CHECK(write((int)result, path, strlen(path)) > 0);
		CHECK(!close((int)result));
	}
}

static void storm_stat(struct storm *storm, long slot)
{
	const struct object *object = storm->slot[slot];
	struct stat stat = {};

	check_result(storm, 3, "stat", lstat(slot_path(slot), &stat), object ? 0 : ENOENT);
	if (!object)
		return;
	CHECK(S_ISREG(stat.st_mode) == (object->kind == FILE_));
	CHECK(S_ISDIR(stat.st_mode) == (object->kind == DIRECTORY));
	CHECK(object->kind == DIRECTORY || (long)stat.st_nlink == object->links);
}

static void storm_read(struct storm *storm, long slot)
{
	char text[100];
	int fd;

	errno = 0;
	switch (kind_of(storm->slot[slot])) {
	case SYMLINK:
		check_result(storm, 4, "readlink", readlink(slot_path(slot), text, sizeof(text)), 0);
		break;
	case DIRECTORY:
		check_result(storm, 5, "open", open(slot_path(slot), O_RDWR), EISDIR);
		break;
	default:
		fd = open(slot_path(slot), O_RDONLY);
		check_result(storm, 5, "open", fd, storm->slot[slot] ? 0 : ENOENT);
		if (fd >= 0)
			CHECK(read(fd, text, sizeof(text)) > 0 && !close(fd));
	}
}

static void storm_unlink(struct storm *storm, long slot)
{
	static const int expected[] = { [ABSENT] = ENOENT, [DIRECTORY] = EISDIR };
	enum kind kind = kind_of(storm->slot[slot]);

	errno = 0;
	check_result(storm, 6, "unlink", unlink(slot_path(slot)), expected[kind]);
	if (expected[kind])
		return;
	object_put(storm->slot[slot]);
	storm->slot[slot] = NULL;
}

static void storm_rmdir(struct storm *storm, long slot)
{
	const struct object *object = storm->slot[slot];
	int expected = !object ? ENOENT : object->kind != DIRECTORY ? ENOTDIR :
		       object->has_child ? ENOTEMPTY : 0;

	errno = 0;
	check_result(storm, 7, "rmdir", rmdir(slot_path(slot)), expected);
	if (expected)
		return;
	object_put(storm->slot[slot]);
	storm->slot[slot] = NULL;
}

static void storm_link(struct storm *storm, long from, long to)
{
	struct object *object = storm->slot[from];
	int expected = !object ? ENOENT : storm->slot[to] ? EEXIST : object->kind == DIRECTORY ? EPERM : 0;

	errno = 0;
	check_result(storm, 8, "link", link(slot_path(from), slot_path(to)), expected);
	if (expected)
		return;
	object->links++;
	storm->slot[to] = object;
}

/* Creates a file in a directory, so that it cannot be removed; or removes the file. */
static void storm_child(struct storm *storm, long slot)
{
	struct object *object = storm->slot[slot];
	char path[80];

	if (kind_of(object) != DIRECTORY)
		return;
	snprintf(path, sizeof(path), "%s/in", slot_path(slot));
	if (object->has_child)
		CHECK(!unlink(path));
	else
		make_file(AT_FDCWD, path, "child");
	object->has_child = !object->has_child;
}

static int rename_errno(const struct storm *storm, long from, long to, unsigned int flags)
{
	const struct object *old = storm->slot[from], *new = storm->slot[to];

	if (!old)
		return ENOENT;
	if (flags & RENAME_NOREPLACE)
		return new ? EEXIST : 0;
	if (flags & RENAME_EXCHANGE)
		return new ? 0 : ENOENT;
	if (!new || old == new)
		return 0;
	if (old->kind == DIRECTORY)
		return new->kind != DIRECTORY ? ENOTDIR : new->has_child ? ENOTEMPTY : 0;
	return new->kind == DIRECTORY ? EISDIR : 0;
}

static void storm_rename(struct storm *storm, long from, long to)
{
	static const unsigned int all[] = { 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE };
	unsigned int flags = all[workload_random(&storm->state) % 4];
	int expected = rename_errno(storm, from, to, flags);
	struct object *old = storm->slot[from];
	long result;

	errno = 0;
	result = flags ? renameat2(AT_FDCWD, slot_path(from), AT_FDCWD, slot_path(to), flags) :
			 rename(slot_path(from), slot_path(to));
	check_result(storm, 9, "rename", result, expected);
	if (expected)
		return;
	if (flags & RENAME_EXCHANGE) {
		storm->slot[from] = storm->slot[to];
		storm->slot[to] = old;
	} else if (from != to && old != storm->slot[to]) {
		object_put(storm->slot[to]);
		storm->slot[to] = old;
		storm->slot[from] = NULL;
	}
}

static void storm_readdir(struct storm *storm, long directory)
{
	long expected = 0, found = 0, i;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	for (i = 0; i < names; i++)
		expected += storm->slot[directory * names + i] != NULL;
	snprintf(path, sizeof(path), "storm/d%ld", directory);
	dir = opendir(path);
	CHECK(dir);
	while ((entry = readdir(dir)))
		found += entry->d_name[0] == 'n';
	CHECK(found == expected);
	CHECK(!closedir(dir));
	check_result(storm, 10, "readdir", 0, 0);
}

static void storm_step(struct storm *storm)
{
	long from = workload_below(&storm->state, storm->slots);
	long to = workload_below(&storm->state, storm->slots);

	switch (workload_below(&storm->state, 16)) {
	case 0: case 1: case 2:
		return storm_create(storm, from, FILE_);
	case 3: case 4:
		return storm_create(storm, from, DIRECTORY);
	case 5:
		return storm_create(storm, from, SYMLINK);
	case 6: case 7:
		return storm_stat(storm, from);
	case 8:
		return storm_read(storm, from);
	case 9:
		return storm_unlink(storm, from);
	case 10:
		return storm_rmdir(storm, from);
	case 11:
		return storm_link(storm, from, to);
	case 12:
		return storm_child(storm, from);
	case 13: case 14:
		return storm_rename(storm, from, to);
	default:
		return storm_readdir(storm, from / names);
	}
}

static void storm(void)
{
	struct storm storm = { .state = (uint64_t)seed, .slots = directories * names };
	char path[64];
	size_t kind;
	long i;

	storm.slot = calloc((size_t)storm.slots, sizeof(*storm.slot));
	CHECK(storm.slot && !mkdir("storm", 0700));
	for (i = 0; i < directories; i++) {
		snprintf(path, sizeof(path), "storm/d%ld", i);
		CHECK(!mkdir(path, 0700));
	}
	for (i = 0; i < storm_ops; i++)
		storm_step(&storm);
	for (i = 0; i < storm.slots; i++)
		storm_stat(&storm, i);
	printf("storm:");
	for (kind = 0; kind < sizeof(storm.done) / sizeof(storm.done[0]); kind++)
		if (storm.done[kind])
			printf(" %s %ld", storm.name_of_done[kind], storm.done[kind]);
	putchar('\n');
	for (i = 0; i < storm.slots; i++)
		object_put(storm.slot[i]);
	free(storm.slot);
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "Makes, changes and removes names.", options);

	CHECK(directories > 0 && names > 0);
	umask(022);
	CHECK(!chdir(directory));
	errors();
	attributes();
	xattrs();
	odd_names();
	open_files();
	hard_links();
	symlinks();
	nameless();
	working_directory();
	storm();
	return 0;
}
