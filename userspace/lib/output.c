// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * output.c - open output files. They hold the paths and attribute values of all users, so only their owner can
 * read them, whatever the umask is. Users that can change the directory of an output must not be able to read
 * it, or to redirect it to another file.
 *
 *   at the path                           result
 *   nothing                               a file is made, with mode 0600
 *   a regular file                        a new file takes its place, so that descriptors of the old one
 *                                         give no access. If no file can be made beside it: the old one is
 *                                         used, with mode 0600, if it belongs to the caller and has one name
 *   a symbolic link                       followed if it belongs to the caller or to root; else EACCES
 *   a named pipe                          used if it belongs to the caller; else EACCES
 *   a device; a link of /proc to an open  used
 *   file, such as /dev/stdout
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "iotape.h"

#define LINKS_MAX 40 /* as the kernel follows */
#define MODE	  0600

/* The kind of file at a path. */
enum place {
	PLACE_NEW, /* nothing */
	PLACE_FILE,
	PLACE_OTHER, /* a device, a pipe, or a link of /proc */
};

#define LINK (PLACE_OTHER + 1)

/* -- where ---------------------------------------------------------------------------------------- */

static bool is_ours(const struct stat *stat)
{
	return stat->st_uid == geteuid();
}

/* Replace @real, the path of a link, by the path that the link holds. Return: 0 or a negative errno. */
static int follow(int link_fd, char real[PATH_MAX])
{
	char target[PATH_MAX], *slash = strrchr(real, '/');
	ssize_t bytes = readlinkat(link_fd, "", target, sizeof(target) - 1);
	size_t dir_bytes;

	if (bytes < 0)
		return -errno;
	target[bytes] = 0;
	dir_bytes = target[0] != '/' && slash ? (size_t)(slash + 1 - real) : 0;
	if (dir_bytes + (size_t)bytes >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(real + dir_bytes, target, (size_t)bytes + 1);
	return 0;
}

/* Return: an enum place; LINK if @real is the path behind a link now; a negative errno. */
static int look_at(int fd, char real[PATH_MAX])
{
	struct statfs fs;
	struct stat stat;
	int err;

	if (fstat(fd, &stat) || fstatfs(fd, &fs))
		return -errno;
	switch (stat.st_mode & S_IFMT) {
	case S_IFLNK:
		if (fs.f_type == PROC_SUPER_MAGIC)
			return PLACE_OTHER;
		if (!is_ours(&stat) && stat.st_uid)
			return -EACCES;
		err = follow(fd, real);
		return err ? err : LINK;
	case S_IFREG:
		return PLACE_FILE;
	case S_IFDIR:
		return -EISDIR;
	case S_IFIFO:
		return is_ours(&stat) ? PLACE_OTHER : -EACCES;
	default:
		return PLACE_OTHER;
	}
}

/* Follow links from @path, to @real. Return: an enum place, of @real; or a negative errno. */
static int find(const char *path, char real[PATH_MAX])
{
	int links, fd, place;

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(real, path);
	for (links = 0; links <= LINKS_MAX; links++) {
		fd = open(real, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return errno == ENOENT ? PLACE_NEW : -errno;
		place = look_at(fd, real);
		close(fd);
		if (place != LINK)
			return place;
	}
	return -ELOOP;
}

/* -- type ----------------------------------------------------------------------------------------- */

static int make_private(int fd)
{
	struct stat stat;

	if (!fchmod(fd, MODE))
		return 0;
	/* Some file systems give all files the same mode. */
	return fstat(fd, &stat) || stat.st_mode & 077 ? -EPERM : 0;
}

/* Return: a descriptor of a file that was not there, or a negative errno. */
static int make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);

	if (fd < 0)
		return -errno;
	make_private(fd); /* the umask may have taken away rights of the owner */
	return fd;
}

/* At any moment, the path is that of the old file or of the new one. Return: a descriptor or a negative errno. */
static int replace(const char *path)
{
	char beside[PATH_MAX];
	int fd, err;

	if ((size_t)snprintf(beside, PATH_MAX, "%s.%d.new", path, (int)getpid()) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = make(beside);
	if (fd < 0)
		return fd;
	if (!rename(beside, path))
		return fd;
	err = -errno;
	unlink(beside);
	close(fd);
	return err;
}

/* Return: a descriptor of a file of the caller's, which is empty now; or a negative errno. */
static int take_over(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err = 0;
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat))
		err = -errno;
	else if (!S_ISREG(stat.st_mode) || !is_ours(&stat) || stat.st_nlink != 1)
		err = -EACCES;
	if (!err)
		err = make_private(fd);
	if (!err && ftruncate(fd, 0))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* A link of /proc is followed by the kernel: the path that it holds may lead nowhere. */
static int open_other(const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/**
 * iot_output_open() - open an output that only its owner can read
 * @path: of the output; the contents of an old file are lost
 * @real: out: the path behind symbolic links
 *
 * Return: a descriptor of an empty file, or of a device or pipe; or a negative errno: -EACCES, too, if
 * another user has put a link or a pipe there.
 */
int iot_output_open(const char *path, char real[PATH_MAX])
{
	int place = find(path, real), fd, err;

	switch (place) {
	case PLACE_NEW:
		return make(real);
	case PLACE_FILE:
		err = replace(real);
		if (err >= 0)
			return err;
		fd = take_over(real);
		return fd < 0 ? err : fd;
	case PLACE_OTHER:
		return open_other(real);
	default:
		return place;
	}
}

/**
 * iot_write_all() - write all bytes to a file, a pipe or a socket
 *
 * Return: 0 or a negative errno; then a part may be written.
 */
int iot_write_all(int fd, const void *data, size_t bytes)
{
	const u8 *p = data;
	ssize_t n;

	while (bytes) {
		n = write(fd, p, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* -- in parts ------------------------------------------------------------------------------------- */

/* A device or pipe cannot be written at an offset: a file without a name has the contents until they are complete. */
static int make_memory(void)
{
	int fd = memfd_create("iotape", MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/**
 * iot_file_nameless() - make a file that ends with its last descriptor and mapping, even if the process is killed
 * @beside: path of a file that need not exist; the new file is in the same directory
 *
 * Only its owner can read it.
 *
 * Return: a descriptor for reading and writing, or a negative errno: -EOPNOTSUPP or -EISDIR if the file system has no
 * such files.
 */
int iot_file_nameless(const char *beside)
{
	const char *slash = strrchr(beside, '/');
	char *dir = slash ? strndup(beside, (size_t)(slash + 1 - beside)) : strdup(".");
	int fd, err;

	if (!dir)
		return -ENOMEM;
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, MODE);
	err = fd < 0 ? -errno : 0;
	free(dir);
	if (err)
		return err;
	make_private(fd); /* the umask may have taken away rights of the owner */
	return fd;
}

#define DESCRIPTOR_CHARACTERS sizeof("/proc/self/fd/2147483647")

static void write_descriptor(char path[DESCRIPTOR_CHARACTERS], int fd)
{
	snprintf(path, DESCRIPTOR_CHARACTERS, "/proc/self/fd/%d", fd);
}

/* Only by its path in /proc can a file without a name get one. Return: a descriptor or a negative errno. */
static int make_nameless(const char *beside)
{
	int fd = iot_file_nameless(beside);
	char path[DESCRIPTOR_CHARACTERS];

	if (fd < 0)
		return fd;
	write_descriptor(path, fd);
	if (!access(path, F_OK))
		return fd;
	close(fd);
	return -EOPNOTSUPP;
}

/* A file that is left is of an earlier process with the same number, which was killed. */
static int make_named(const char *beside)
{
	unlink(beside);
	return make(beside);
}

/**
 * iot_part_open() - begin an output that is written at any offsets, and appears when it is complete
 * @part: out: to be ended by iot_part_commit() or iot_part_abort(), also after an error
 * @path: of the output
 *
 * Processes with the same output do not disturb each other: the last one to commit decides. A killed process leaves a
 * file only if the file system has no files without a name.
 *
 * Return: 0 or a negative errno.
 */
int iot_part_open(struct iot_part *part, const char *path)
{
	int place;

	*part = (struct iot_part){ .fd = -1 };
	part->real = malloc(PATH_MAX);
	if (!part->real)
		return -ENOMEM;
	place = find(path, part->real);
	if (place < 0)
		return place;
	if (place != PLACE_OTHER && asprintf(&part->beside, "%s.%d.part", part->real, (int)getpid()) < 0) {
		part->beside = NULL;
		return -ENOMEM;
	}
	return iot_part_restart(part);
}

/**
 * iot_part_restart() - begin an output again, in an empty file; mappings of the one before it stay
 * @part: begun
 *
 * Return: 0 or a negative errno.
 */
int iot_part_restart(struct iot_part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	part->fd = part->beside ? make_nameless(part->beside) : make_memory();
	if (part->fd < 0 && part->beside) {
		part->fd = make_named(part->beside);
		part->has_name = part->fd >= 0; /* another file with this name is not removed */
	}
	return part->fd < 0 ? part->fd : 0;
}

/**
 * iot_part_write() - write bytes at an offset
 *
 * Return: 0 or a negative errno.
 */
int iot_part_write(const struct iot_part *part, u64 offset_bytes, const void *bytes, size_t count)
{
	const u8 *p = bytes;
	ssize_t n;

	while (count) {
		n = pwrite(part->fd, p, count, (off_t)offset_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		offset_bytes += (u64)n;
		count -= (size_t)n;
	}
	return 0;
}

/* All of an unnamed file to a device or pipe. */
static int copy_out(int from, const char *to)
{
	int fd = open_other(to), err = fd < 0 ? fd : 0;
	char room[65536];
	ssize_t n = 0;

	while (!err && (n = read(from, room, sizeof(room))) > 0)
		err = iot_write_all(fd, room, (size_t)n);
	if (!err && n < 0)
		err = -errno;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	return err;
}

/* Return: 0 or a negative errno. */
static int give_name(struct iot_part *part)
{
	char path[DESCRIPTOR_CHARACTERS];

	write_descriptor(path, part->fd);
	unlink(part->beside); /* as in make_named() */
	if (linkat(AT_FDCWD, path, AT_FDCWD, part->beside, AT_SYMLINK_FOLLOW))
		return -errno;
	part->has_name = true;
	return 0;
}

/* The file comes to its place with all its contents. Return: 0 or a negative errno. */
static int publish(struct iot_part *part)
{
	int err = part->has_name ? 0 : give_name(part);

	if (err)
		return err;
	if (close(part->fd))
		err = -errno;
	part->fd = -1;
	if (!err && rename(part->beside, part->real))
		err = -errno;
	part->has_name = err != 0;
	return err;
}

/**
 * iot_part_commit() - let an output appear: an old file is replaced; a device or pipe gets the contents
 * @part: complete; ended afterwards
 *
 * Return: 0; or a negative errno, and then an old file is unchanged.
 */
int iot_part_commit(struct iot_part *part)
{
	int err;

	if (part->beside)
		err = publish(part);
	else
		err = lseek(part->fd, 0, SEEK_SET) < 0 ? -errno : copy_out(part->fd, part->real);
	iot_part_abort(part);
	return err;
}

/**
 * iot_part_abort() - drop an output that is not complete; one that has ended is allowed
 */
void iot_part_abort(struct iot_part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	if (part->has_name)
		unlink(part->beside);
	free(part->beside);
	free(part->real);
	*part = (struct iot_part){ .fd = -1 };
}

/* -- all at once ---------------------------------------------------------------------------------- */

/**
 * iot_file_save() - write an output that only its owner can read, and that appears when it is complete
 * @path: of the output; an old file is replaced; a device or pipe is written to
 * @bytes: its contents
 * @count: their number
 *
 * Return: 0; or a negative errno, and then the file is unchanged.
 */
int iot_file_save(const char *path, const void *bytes, size_t count)
{
	struct iot_part part;
	int err = iot_part_open(&part, path);

	if (!err)
		err = iot_part_write(&part, 0, bytes, count);
	if (!err)
		return iot_part_commit(&part);
	iot_part_abort(&part);
	return err;
}
