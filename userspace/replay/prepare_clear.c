// SPDX-License-Identifier: GPL-2.0-only
/*
 * prepare_clear.c - removes unwanted objects from a target that was prepared before.
 *
 * Directories are read one after the other, each by its path from the target. Kept objects are
 * noted, so that unchanged ones are not examined again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "file_flags.h"
#include "prepare.h"

/* -- remove -------------------------------------------------------------------------- */

static int remove_name(int dir, const char *name, int flags)
{
	int err;

	if (!unlinkat(dir, name, flags))
		return 0;
	if (errno == EACCES && place_may_enter(dir) && !unlinkat(dir, name, flags))
		return 0;
	err = -errno;
	if (err == -EPERM && file_flags_free_name(dir, name))
		err = unlinkat(dir, name, flags) ? -errno : 0;
	return err;
}

/* A path, and the remaining number of names below it. */
struct removal {
	char path[IOT_PROGRAM_PATH_MAX];
	size_t top_bytes;
};

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int open_to_read(struct preparer *p, const char *path)
{
	int fd = place_directory(p, path, O_RDONLY), pin;

	if (fd != -EACCES)
		return fd;
	pin = place_directory(p, path, O_PATH);
	if (pin < 0)
		return pin;
	if (place_may_enter(pin))
		fd = place_directory(p, path, O_RDONLY);
	close(pin);
	return fd;
}

/*
 * Remove the contents of a directory, up to the first directory that is not empty.
 *
 * Return: 0 if it is empty now; 1 if the removal's path names another directory to be emptied
 * first; a negative errno.
 */
static int empty_directory(struct preparer *p, struct removal *removal)
{
	int fd = open_to_read(p, removal->path), err = 0;
	struct dirent *entry;
	size_t bytes = strlen(removal->path);
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		err = remove_name(fd, entry->d_name, 0);
		if (err == -EISDIR)
			err = remove_name(fd, entry->d_name, AT_REMOVEDIR);
		if (err != -ENOTEMPTY && err != -EEXIST)
			continue;
		err = bytes + 1 + strlen(entry->d_name) >= sizeof(removal->path) ? -ENAMETOOLONG : 1;
		if (err == 1)
			sprintf(removal->path + bytes, "/%s", entry->d_name);
	}
	closedir(dir);
	return err;
}

static int remove_directory(struct preparer *p, int dir, const char *name, const char *path)
{
	struct removal removal = { .top_bytes = strlen(path) };
	int err = 0;

	strcpy(removal.path, path);
	while (!err) {
		err = empty_directory(p, &removal);
		if (err > 0) {
			err = 0; /* continue in there */
		} else if (!err && strlen(removal.path) > removal.top_bytes) {
			*strrchr(removal.path, '/') = 0; /* it goes when the one above is read again */
		} else {
			break;
		}
	}
	return err ? err : remove_name(dir, name, AT_REMOVEDIR);
}

static int remove_object(struct preparer *p, int dir, const char *name, const char *path, u32 mode)
{
	return S_ISDIR(mode) ? remove_directory(p, dir, name, path) : remove_name(dir, name, 0);
}

/* -- compare ------------------------------------------------------------------------- */

static bool has_target(int dir, const char *name, const char *target)
{
	char text[IOT_PROGRAM_TARGET_MAX];
	ssize_t bytes = readlinkat(dir, name, text, sizeof(text) - 1);

	if (bytes < 0)
		return false;
	text[bytes] = 0;
	return !strcmp(text, target);
}

/* Does the object have the right type, so that it need not be created again? */
static bool is_alike(const struct preparer *p, const struct wanted *wanted, int dir,
		     const char *name, const struct stat *stat)
{
	const struct wanted *first = &p->wanted[wanted->first];
	u32 mode = mode_of(p, first);

	if ((stat->st_mode ^ mode) & S_IFMT)
		return false;
	if (S_ISLNK(mode))
		return has_target(dir, name, target_of(p, first));
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return stat->st_rdev == (dev_t)rdev_to_make(p, first);
	return true;
}

static void note(const struct preparer *p, struct wanted *wanted, const struct stat *stat)
{
	u64 changed_ns = (u64)stat->st_ctim.tv_sec * 1000000000ull + (u64)stat->st_ctim.tv_nsec;

	wanted->is_there = true;
	wanted->is_suspect = !p->since_ns || changed_ns >= p->since_ns;
	wanted->was.inode = stat->st_ino;
	wanted->was.names = stat->st_nlink;
	wanted->was.size_bytes = (u64)stat->st_size;
	wanted->was.mode = stat->st_mode;
	wanted->was.uid = stat->st_uid;
	wanted->was.gid = stat->st_gid;
}

static int look_at(struct preparer *p, int dir, const char *name, const char *path)
{
	struct wanted *wanted;
	struct stat stat;
	int err;

	if (fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	HASH_FIND_STR(p->by_path, path, wanted);
	if (wanted && is_alike(p, wanted, dir, name, &stat)) {
		note(p, wanted, &stat);
		if (wanted->is_suspect && file_flags_reset(p->target_fd, dir, name))
			prepare_changed(p, path, PREPARE_flags);
		return 0;
	}
	err = remove_object(p, dir, name, path, stat.st_mode);
	if (!err)
		prepare_changed(p, path, wanted ? PREPARE_replaced : PREPARE_removed);
	if (wanted)
		wanted->is_counted = true;
	return err;
}

/* -- all of it ----------------------------------------------------------------------- */

static int look_into(struct preparer *p, const char *path)
{
	int fd = open_to_read(p, path), err = 0;
	char below[IOT_PROGRAM_PATH_MAX + 256];
	bool is_top = !strcmp(path, ".");
	struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return prepare_refuse(p, path, fd);
	dir = fdopendir(fd);
	if (!dir) {
		err = -errno;
		close(fd);
		return prepare_refuse(p, path, err);
	}
	while (!err && (entry = readdir(dir))) {
		if (is_dots(entry->d_name) || (is_top && !strcmp(entry->d_name, "lost+found")))
			continue;
		snprintf(below, sizeof(below), "%s%s%s", is_top ? "" : path, is_top ? "" : "/",
			 entry->d_name);
		err = strlen(below) < IOT_PROGRAM_PATH_MAX ? look_at(p, fd, entry->d_name, below) :
							     -ENAMETOOLONG;
		if (err)
			prepare_refuse(p, below, err);
	}
	closedir(dir);
	return err;
}

/**
 * clear_target() - remove unwanted objects, and note the others
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int clear_target(struct preparer *p)
{
	u32 i;
	int err;

	file_flags_free(p->target_fd);
	err = look_into(p, ".");
	/* directories come before their contents */
	for (i = 0; i < p->program->entry_count && !err; i++)
		if (p->wanted[i].is_there && S_ISDIR(mode_of(p, &p->wanted[i])))
			err = look_into(p, p->wanted[i].path);
	return err;
}

/* -- names of the same file ---------------------------------------------------------- */

static int unlink_wanted(struct preparer *p, struct wanted *wanted)
{
	const char *last;
	int dir = place_parent(p, wanted->path, &last), err;

	err = dir < 0 ? dir : remove_name(dir, last, 0);
	if (err)
		return prepare_refuse(p, wanted->path, err);
	wanted->is_there = false;
	wanted->is_counted = true;
	prepare_changed(p, wanted->path, PREPARE_relinked);
	return 0;
}

/* How many names a file has now. Return: 0 or a negative errno. */
static int count_names(struct preparer *p, const struct wanted *wanted, u64 *names)
{
	const char *last;
	int dir = place_parent(p, wanted->path, &last);
	struct stat stat;

	if (dir < 0 || fstatat(dir, last, &stat, AT_SYMLINK_NOFOLLOW))
		return prepare_refuse(p, wanted->path, dir < 0 ? dir : -errno);
	*names = stat.st_nlink;
	return 0;
}

/*
 * For each first name, count the names of the tree that lead to the existing object of that name. Other names that
 * lead to a different object are removed. Return: an array, or NULL with a sentence.
 */
static u64 *count_joined(struct preparer *p)
{
	u64 *joined = calloc(p->program->entry_count + 1ull, sizeof(*joined));
	u32 i;

	if (!joined) {
		prepare_refuse(p, ".", -ENOMEM);
		return NULL;
	}
	for (i = 0; i < p->program->entry_count; i++) {
		struct wanted *wanted = &p->wanted[i], *first = &p->wanted[wanted->first];

		if (!wanted->is_there)
			continue;
		if (first->is_there && first->was.inode == wanted->was.inode) {
			joined[wanted->first]++;
		} else if (unlink_wanted(p, wanted)) {
			free(joined);
			return NULL;
		}
	}
	return joined;
}

/* A file has names elsewhere: in the target, as another wanted file; or outside. It is left there. */
static int part_with(struct preparer *p, struct wanted *first)
{
	u32 i;
	int err = unlink_wanted(p, first);

	if (first->names == 1)
		return err;
	for (i = first->index + 1; i < p->program->entry_count && !err; i++)
		if (p->wanted[i].first == first->index && p->wanted[i].is_there)
			err = unlink_wanted(p, &p->wanted[i]);
	return err;
}

/**
 * clear_links() - take names away that are not of the file they should be of
 *
 * Remaining files have no unwanted name, neither in the target nor outside of it.
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int clear_links(struct preparer *p)
{
	u64 *joined = count_joined(p), names = 0;
	int err = joined ? 0 : -EIO;
	u32 i;

	for (i = 0; i < p->program->entry_count && !err; i++) {
		struct wanted *wanted = &p->wanted[i];

		if (!wanted->is_there || is_further_name(wanted) || S_ISDIR(mode_of(p, wanted)) ||
		    wanted->was.names == 1)
			continue;
		err = count_names(p, wanted, &names);
		if (!err && names != joined[i])
			err = part_with(p, wanted);
	}
	free(joined);
	return err;
}
