// SPDX-License-Identifier: GPL-2.0-only
/*
 * prepare_make.c - creates missing objects.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "prepare.h"

static int make_file(struct preparer *p, int dir, const char *name, const struct wanted *wanted)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	err = fill_new(p, wanted, fd);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int make_link(struct preparer *p, int dir, const char *name, const struct wanted *wanted)
{
	const char *target = target_of(p, wanted), *slash = strrchr(target, '/');
	char parent[IOT_PROGRAM_PATH_MAX];
	int from, err;

	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - target) : 1, slash ? target : ".");
	from = place_directory(p, parent, O_PATH);
	if (from < 0)
		return from;
	err = linkat(from, slash ? slash + 1 : target, dir, name, 0) ? -errno : 0;
	close(from);
	return err;
}

static int make_object(struct preparer *p, int dir, const char *name, const struct wanted *wanted)
{
	u32 mode = mode_of(p, wanted);

	switch (mode & S_IFMT) {
	case 0:
		return make_link(p, dir, name, wanted);
	case S_IFREG:
		return make_file(p, dir, name, wanted);
	case S_IFDIR:
		return mkdirat(dir, name, 0700) ? -errno : 0;
	case S_IFLNK:
		return symlinkat(target_of(p, wanted), dir, name) ? -errno : 0;
	default: /* the trace has device numbers as the kernel encodes them for user space */
		return mknodat(dir, name, mode & (S_IFMT | 0777), (dev_t)rdev_to_make(p, wanted)) ? -errno : 0;
	}
}

static int make_wanted(struct preparer *p, struct wanted *wanted)
{
	const char *last;
	int dir = place_parent(p, wanted->path, &last), err;

	if (dir < 0)
		return dir;
	err = make_object(p, dir, last, wanted);
	if (err == -EACCES && p->is_delta && place_may_enter(dir))
		err = make_object(p, dir, last, wanted);
	if (err)
		return err;
	wanted->is_new = true;
	if (!wanted->is_counted)
		prepare_changed(p, wanted->path, PREPARE_made);
	return 0;
}

/**
 * make_missing() - create missing objects, with their contents
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int make_missing(struct preparer *p)
{
	u32 i;
	int err;

	for (i = 0; i < p->program->entry_count; i++) {
		struct wanted *wanted = &p->wanted[i];

		if (is_root(wanted))
			continue;
		err = wanted->is_there ? 0 : make_wanted(p, wanted);
		if (err)
			return prepare_refuse(p, wanted->path, err);
		p->result->entries++;
		if (p->progress && p->result->entries % 1024 == 0)
			p->progress(p->result->entries, p->result->bytes);
	}
	return 0;
}
