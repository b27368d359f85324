// SPDX-License-Identifier: GPL-2.0-only
/*
 * acl.c - a workload: access control lists are set, inherited, read, changed and removed.
 *
 * Uses setxattr(2), like setfacl and `cp -a`, with lists built here: no package is
 * needed. The remaining objects have lists, so that trees can be compared.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "workload.h"

#define ACCESS	    "system.posix_acl_access"
#define DEFAULT	    "system.posix_acl_default"
#define ENTRIES_MAX 40

static const struct workload_option options[] = { {} };

/* As in linux/posix_acl_xattr.h, which is little-endian like every machine this runs on. */
enum tag { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, GROUP = 8, MASK = 0x10, OTHER = 0x20 };

struct list {
	uint32_t version;
	struct {
		uint16_t tag;
		uint16_t perm;
		uint32_t id;
	} entries[ENTRIES_MAX];
	unsigned int count;
};

static void add(struct list *list, enum tag tag, unsigned int perm, uint32_t id)
{
	list->version = 2;
	list->entries[list->count].tag = tag;
	list->entries[list->count].perm = (uint16_t)perm;
	list->entries[list->count++].id = tag == USER || tag == GROUP ? id : UINT32_MAX;
}

static size_t bytes_of(const struct list *list)
{
	return 4 + list->count * sizeof(list->entries[0]);
}

/* The owner, @users others from id 1001 on, two groups, and a mask. */
static struct list make(unsigned int users, unsigned int perm)
{
	struct list list = {};
	unsigned int i;

	add(&list, USER_OBJ, 7, 0);
	for (i = 0; i < users; i++)
		add(&list, USER, (perm + i) & 7, 1001 + i);
	add(&list, GROUP_OBJ, 5, 0);
	add(&list, GROUP, perm, 2001);
	add(&list, GROUP, 4, 70000);
	add(&list, MASK, 7, 0);
	add(&list, OTHER, 1, 0);
	return list;
}

static void set(const char *path, const char *name, const struct list *list)
{
	CHECK(!setxattr(path, name, list, bytes_of(list), 0));
}

static void is(const char *path, const char *name, const struct list *list)
{
	struct list got;

	CHECK(getxattr(path, name, NULL, 0) == (ssize_t)bytes_of(list));
	CHECK(getxattr(path, name, &got, sizeof(got)) == (ssize_t)bytes_of(list));
	CHECK(!memcmp(&got, list, bytes_of(list)));
}

static unsigned int mode_of(const char *path)
{
	struct stat stat;

	CHECK(!lstat(path, &stat));
	return stat.st_mode & 07777;
}

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0640);

	CHECK(fd >= 0);
	CHECK(!close(fd));
}

static void on_files(void)
{
	struct list list = make(1, 6), long_one = make(30, 4), plain = {};
	int fd;

	make_file("file");
	CHECK_ERRNO(getxattr("file", ACCESS, NULL, 0), ENODATA);
	set("file", ACCESS, &list);
	is("file", ACCESS, &list);
	CHECK(mode_of("file") == 0771); /* the mask stands where the group did */
	set("file", ACCESS, &long_one);
	is("file", ACCESS, &long_one);
	CHECK(!chmod("file", 0750));
	CHECK(mode_of("file") == 0750);

	make_file("by-handle");
	fd = open("by-handle", O_RDWR);
	CHECK(fd >= 0);
	CHECK(!fsetxattr(fd, ACCESS, &list, bytes_of(&list), 0));
	CHECK(fgetxattr(fd, ACCESS, NULL, 0) == (ssize_t)bytes_of(&list));
	CHECK(!close(fd));

	make_file("no-more");
	set("no-more", ACCESS, &list);
	CHECK(!removexattr("no-more", ACCESS));
	CHECK_ERRNO(getxattr("no-more", ACCESS, NULL, 0), ENODATA);

	make_file("mode-only"); /* a list that a mode can express is not stored */
	add(&plain, USER_OBJ, 6, 0);
	add(&plain, GROUP_OBJ, 4, 0);
	add(&plain, OTHER, 4, 0);
	set("mode-only", ACCESS, &plain);
	CHECK(mode_of("mode-only") == 0644);
	CHECK_ERRNO(getxattr("mode-only", ACCESS, NULL, 0), ENODATA);
}

static void on_directories(void)
{
	struct list list = make(2, 7), got;

	CHECK(!mkdir("dir", 0750));
	set("dir", DEFAULT, &list);
	is("dir", DEFAULT, &list);
	make_file("dir/file");
	CHECK(getxattr("dir/file", ACCESS, &got, sizeof(got)) == (ssize_t)bytes_of(&list));
	CHECK(mode_of("dir/file") == 0640);
	CHECK(!mkdir("dir/sub", 0777));
	is("dir/sub", DEFAULT, &list);
	CHECK(!removexattr("dir/sub", DEFAULT));
	make_file("dir/sub/file");
	CHECK_ERRNO(getxattr("dir/sub/file", ACCESS, NULL, 0), ENODATA);
}

static void errors(void)
{
	struct list list = make(1, 6);

	CHECK_ERRNO(setxattr("file", DEFAULT, &list, bytes_of(&list), 0), EACCES);
	CHECK_ERRNO(setxattr("absent", ACCESS, &list, bytes_of(&list), 0), ENOENT);
	list.entries[1].tag = 0x40;
	CHECK_ERRNO(setxattr("file", ACCESS, &list, bytes_of(&list), 0), EINVAL);
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "Access control lists.", options);

	umask(027);
	CHECK(!chdir(directory));
	on_files();
	on_directories();
	errors();
	printf("lists are right\n");
	return 0;
}
