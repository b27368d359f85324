// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan.c - walk a directory.
 *
 * Directories are read one after the other, each opened by its path from the root, so depth
 * needs no descriptors. Names may appear and vanish meanwhile: vanished ones are counted.
 */
#include "scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRESS_NAMES 1024

/* Count an object that the snapshot lacks. Return: 0 or -ENOMEM. */
int scan_gap(struct scan *scan, enum snapshot_gap gap, const char *path)
{
	struct snapshot_result *result = scan->result;

	if (!result->gaps[gap]++) {
		result->gap_paths[gap] = strdup(path);
		if (!result->gap_paths[gap])
			return -ENOMEM;
	}
	return 0;
}

static struct found *add_found(struct scan *scan)
{
	if (scan->count == scan->room) {
		size_t room = scan->room ? 2 * scan->room : 256;
		struct found *larger = realloc(scan->found, room * sizeof(*larger));

		if (!larger)
			return NULL;
		scan->found = larger;
		scan->room = room;
	}
	scan->found[scan->count] = (struct found){};
	return &scan->found[scan->count];
}

static void free_found(struct found *found)
{
	u32 i;

	for (i = 0; i < found->xattr_count; i++) {
		free(found->xattrs[i].name);
		free(found->xattrs[i].value);
	}
	free(found->xattrs);
	free(found->extents);
	free(found->target);
	free(found->path);
}

static int read_target(int dir, const char *name, struct found *found)
{
	char target[IOT_PROGRAM_TARGET_MAX];
	ssize_t bytes = readlinkat(dir, name, target, sizeof(target));

	if (bytes < 0)
		return -errno;
	found->target = strndup(target, (size_t)bytes);
	return found->target ? 0 : -ENOMEM;
}

static int look_at(struct scan *scan, int dir, const char *name, struct found *found)
{
	struct stat stat;
	int err = 0;

	if (fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW))
		return -errno;
	found->dev = stat.st_dev;
	found->inode = stat.st_ino;
	found->links = stat.st_nlink;
	found->mode = stat.st_mode;
	found->uid = stat.st_uid;
	found->gid = stat.st_gid;
	if (S_ISBLK(stat.st_mode) || S_ISCHR(stat.st_mode))
		found->rdev = stat.st_rdev;
	if (S_ISREG(stat.st_mode)) {
		found->size_bytes = (u64)stat.st_size;
		err = contents_extents(scan, dir, name, found);
	} else if (S_ISLNK(stat.st_mode)) {
		err = read_target(dir, name, found);
	}
	return err ? err : contents_xattrs(scan, dir, name, found);
}

static int add_name(struct scan *scan, int dir, const char *above, const char *name)
{
	struct found *found = add_found(scan);
	int err = found ? 0 : -ENOMEM;

	if (!err && (above ? asprintf(&found->path, "%s/%s", above, name) < 0 :
			     !(found->path = strdup(name)))) {
		found->path = NULL;
		err = -ENOMEM;
	}
	if (!err && strlen(found->path) >= IOT_PROGRAM_PATH_MAX) {
		err = scan_gap(scan, SNAPSHOT_too_long, found->path);
		free_found(found);
		return err;
	}
	if (!err)
		err = look_at(scan, dir, name, found);
	if (err == -ENOENT)
		err = scan_gap(scan, SNAPSHOT_vanished, found->path) ?: -ENOENT;
	if (err) {
		if (found)
			free_found(found);
		return err == -ENOENT ? 0 : err;
	}
	if (++scan->count % PROGRESS_NAMES == 0 && scan->progress)
		scan->progress(scan->count);
	return 0;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int read_names(struct scan *scan, int fd, const char *path)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	for (errno = 0; !err && (entry = readdir(dir)); errno = 0)
		if (!is_dots(entry->d_name) && (path || strcmp(entry->d_name, "lost+found")))
			err = add_name(scan, dirfd(dir), path, entry->d_name);
	if (err == -EACCES || (!err && errno)) /* EACCES: names may be read here, and nothing else */
		err = scan_gap(scan, SNAPSHOT_unread_dir, path ?: ".");
	closedir(dir);
	return err;
}

/* Return: a descriptor; or a negative errno, of which some are worth a count only. */
static int open_below(const struct scan *scan, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};

	if (!scan->options->crosses_file_systems)
		how.resolve |= RESOLVE_NO_XDEV;
	return iot_file_open_below(scan->root_fd, path, &how);
}

static int read_below(struct scan *scan, const struct found *found)
{
	char path[IOT_PROGRAM_PATH_MAX];
	int fd;

	if (!scan->options->crosses_file_systems && found->dev != scan->root_dev)
		return scan_gap(scan, SNAPSHOT_other_file_system, found->path);
	strcpy(path, found->path); /* the array may move */
	fd = open_below(scan, path);
	if (fd >= 0)
		return read_names(scan, fd, path);
	switch (fd) {
	case -EXDEV:
		return scan_gap(scan, SNAPSHOT_other_file_system, path);
	case -ENOENT:
	case -ENOTDIR:
	case -ELOOP:
		return scan_gap(scan, SNAPSHOT_vanished, path);
	case -EACCES:
	case -EPERM:
		return scan_gap(scan, SNAPSHOT_unread_dir, path);
	default:
		return fd;
	}
}

/**
 * scan_directory() - find all that is in a directory, and below
 * @scan: with its first four fields set; to be freed by scan_free()
 *
 * Return: 0 or a negative errno.
 */
int scan_directory(struct scan *scan)
{
	int fd = openat(scan->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat)) {
		err = -errno;
		close(fd);
		return err;
	}
	scan->root_dev = stat.st_dev;
	err = read_names(scan, fd, NULL);
	for (; scan->next_dir < scan->count && !err; scan->next_dir++)
		if (S_ISDIR(scan->found[scan->next_dir].mode))
			err = read_below(scan, &scan->found[scan->next_dir]);
	return err;
}

/* Free the entries. */
void scan_free(struct scan *scan)
{
	size_t i;

	for (i = 0; i < scan->count; i++)
		free_found(&scan->found[i]);
	free(scan->found);
}
