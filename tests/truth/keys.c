// SPDX-License-Identifier: GPL-2.0-only
/*
 * keys.c - encrypted directories: can their key be removed after another path has used files?
 *
 *	keys HERE THERE
 *
 * HERE and THERE are paths of one directory, one perhaps through tapefs, on a file system with fscrypt. Files are
 * used HERE, and the key is removed THERE. Prints the outcome of each call, which must be the same for any two paths.
 * Exits with 77 if the kernel does not support encryption.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fscrypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			printf("line %d: %s (%s)\n", __LINE__, #condition, strerror(errno));    \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static const char *here, *there;
static struct fscrypt_key_specifier key;

static const char *path(const char *dir, const char *name)
{
	static char paths[4][PATH_MAX];
	static int next;
	char *result = paths[next++ % 4];

	snprintf(result, PATH_MAX, "%s/%s", dir, name);
	return result;
}

static int tell(const char *what, int result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
	return result;
}

static int ask(const char *name, unsigned long request, void *argument)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), result;

	CHECK(fd >= 0);
	result = ioctl(fd, request, argument);
	CHECK(!close(fd));
	return result;
}

static void add_key(const char *dir)
{
	struct {
		struct fscrypt_add_key_arg argument;
		char raw[64];
	} request = { .argument = { .key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER, .raw_size = 64 } };

	memset(request.raw, 9, sizeof(request.raw));
	if (tell("add the key", ask(dir, FS_IOC_ADD_ENCRYPTION_KEY, &request)) < 0 && errno == EOPNOTSUPP)
		exit(77);
	key = request.argument.key_spec;
}

static void remove_key(const char *what)
{
	struct fscrypt_remove_key_arg request = { .key_spec = key };

	tell(what, ask(there, FS_IOC_REMOVE_ENCRYPTION_KEY, &request));
	printf("flags %x\n", request.removal_status_flags);
}

static void encrypt(const char *dir)
{
	struct fscrypt_policy_v2 policy = {
		.version = 2,
		.contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
		.filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS,
		.flags = FSCRYPT_POLICY_FLAGS_PAD_16,
	};

	memcpy(policy.master_key_identifier, key.u.identifier, sizeof(policy.master_key_identifier));
	tell("encrypt a directory", ask(dir, FS_IOC_SET_ENCRYPTION_POLICY, &policy));
}

static void put(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, "secret", 6) == 6 && !close(fd));
}

/* Counts the names of the directory, and how many are readable. */
static void list(const char *name)
{
	int names = 0, readable = 0, fd;
	struct dirent *entry;
	char text[7] = "";
	DIR *dir = opendir(path(here, name));

	CHECK(dir);
	while ((entry = readdir(dir))) {
		names += entry->d_name[0] != '.';
		readable += !strncmp(entry->d_name, "plain", 5);
	}
	closedir(dir);
	printf("%d names, %d of them readable\n", names, readable);
	fd = open(path(path(here, name), "plain0"), O_RDONLY | O_CLOEXEC);
	if (tell("open a file", fd) < 0)
		return;
	tell("read it", (int)read(fd, text, 6));
	printf("text: %s\n", text);
	CHECK(!close(fd));
}

static void use(const char *dir)
{
	char target[PATH_MAX];
	struct stat stat;

	put(path(dir, "plain0"));
	put(path(dir, "plain1"));
	CHECK(!mkdir(path(dir, "plaindir"), 0700));
	put(path(dir, "plaindir/plain0"));
	tell("make a symbolic link", symlink("target", path(dir, "plainlink")));
	tell("read it", (int)readlink(path(dir, "plainlink"), target, sizeof(target)));
	tell("make a link", link(path(dir, "plain1"), path(dir, "plain1too")));
	tell("make a pipe", mkfifo(path(dir, "plainpipe"), 0600));
	tell("look up an absent name", lstat(path(dir, "absent"), &stat));
	tell("look up an absent name further down", lstat(path(dir, "plaindir/absent"), &stat));
	tell("rename", rename(path(dir, "plain1too"), path(dir, "plain2")));
}

int main(int argc, char **argv)
{
	struct stat status;
	char dir[PATH_MAX];
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: keys HERE THERE\n");
		return 2;
	}
	here = argv[1];
	there = argv[2];
	snprintf(dir, sizeof(dir), "%s/enc", here);
	add_key(there);
	CHECK(!mkdir(dir, 0700));
	encrypt(dir);
	use(dir);
	list("enc");
	sync();
	remove_key("remove the key");
	list("enc");
	add_key(there);
	list("enc");
	fd = open(path(dir, "plain1"), O_RDONLY | O_CLOEXEC);
	remove_key("remove it while a file is open");
	CHECK(!close(fd));
	remove_key("remove it again");
	list("enc");
	add_key(there);
	list("enc");
	CHECK(!chdir(dir));
	remove_key("remove it while a working directory is there");
	CHECK(!chdir("/"));
	remove_key("remove it again");

	/* A name looks encrypted there when its plain text is known here. */
	CHECK(!mkdir(path(there, "late"), 0700) && !stat(path(here, "late"), &status));
	add_key(there);
	encrypt(path(there, "late"));
	put(path(there, "late/plain0"));
	remove_key("remove it");
	list("late");
	return 0;
}
