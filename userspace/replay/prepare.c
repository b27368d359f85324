// SPDX-License-Identifier: GPL-2.0-only
/*
 * prepare.c - make the initial tree of a program in an empty directory.
 *
 * Nothing outside of the target can be reached: a path has no dots in it, and its
 * directories are opened without following links.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "replay.h"

#define BLOCK_BYTES (1 << 20)

struct preparer {
	const struct iot_program *program;
	const struct prepare_options *options;
	prepare_progress_fn progress;
	struct prepare_result *result;
	int target_fd;
	u8 *block;
	char *why;
	size_t room;
};

static int refuse(struct preparer *p, const char *path, int err)
{
	snprintf(p->why, p->room, "%s/%s: %s", p->options->target, path, strerror(-err));
	return err;
}

static const char *path_of(const struct preparer *p, const struct iot_program_entry *entry)
{
	return iot_program_string(p->program, entry->path);
}

static const char *target_of(const struct preparer *p, const struct iot_program_entry *entry)
{
	return iot_program_string(p->program, entry->target);
}

/* The directory that a path is in. Return: a descriptor, or a negative errno. */
static int open_parent(const struct preparer *p, const char *path, const char **last)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	const char *slash = strrchr(path, '/');
	char parent[IOT_PROGRAM_PATH_MAX];
	long fd;

	*last = slash ? slash + 1 : path;
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	fd = syscall(SYS_openat2, p->target_fd, parent, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

static int fill_file(struct preparer *p, int fd, u64 size_bytes)
{
	u64 at = 0;

	if (p->options->data == PREPARE_SPARSE)
		return ftruncate(fd, (off_t)size_bytes) ? -errno : 0;
	while (at < size_bytes) {
		size_t part = size_bytes - at < BLOCK_BYTES ? (size_t)(size_bytes - at) : BLOCK_BYTES;
		ssize_t n = pwrite(fd, p->block, part, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += (u64)n;
		p->result->bytes += (u64)n;
		if (p->progress)
			p->progress(p->result->entries, p->result->bytes);
	}
	return 0;
}

static int make_file(struct preparer *p, int dir, const char *name,
		     const struct iot_program_entry *entry)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = fill_file(p, fd, le64_to_cpu(entry->size_bytes));
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int make_link(struct preparer *p, int dir, const char *name,
		     const struct iot_program_entry *entry)
{
	const char *last;
	int from = open_parent(p, target_of(p, entry), &last), err;

	if (from < 0)
		return from;
	err = linkat(from, last, dir, name, 0) ? -errno : 0;
	close(from);
	return err;
}

static int make_node(struct preparer *p, int dir, const char *name,
		     const struct iot_program_entry *entry)
{
	u32 mode = le32_to_cpu(entry->mode);

	switch (mode & S_IFMT) {
	case 0:
		return make_link(p, dir, name, entry);
	case S_IFREG:
		return make_file(p, dir, name, entry);
	case S_IFDIR:
		return mkdirat(dir, name, 0700) ? -errno : 0;
	case S_IFLNK:
		return symlinkat(target_of(p, entry), dir, name) ? -errno : 0;
	default: /* the trace has device numbers as the kernel encodes them for user space */
		return mknodat(dir, name, mode & (S_IFMT | 0777), (dev_t)le64_to_cpu(entry->rdev)) ?
			       -errno : 0;
	}
}

/* Owners first: a change of owner takes set-user-id away. */
static int set_attributes(struct preparer *p, const struct iot_program_entry *entry)
{
	u32 mode = le32_to_cpu(entry->mode);
	const char *last;
	int dir, err = 0;

	if (!(mode & S_IFMT))
		return 0; /* a further name of a file that has its own entry */
	dir = open_parent(p, path_of(p, entry), &last);
	if (dir < 0)
		return dir;
	if (!geteuid() && fchownat(dir, last, le32_to_cpu(entry->uid), le32_to_cpu(entry->gid),
				   AT_SYMLINK_NOFOLLOW))
		err = -errno;
	if (!err && !S_ISLNK(mode) && fchmodat(dir, last, mode & 07777, 0))
		err = -errno;
	close(dir);
	return err;
}

static int make_entry(struct preparer *p, const struct iot_program_entry *entry)
{
	const char *last;
	int dir = open_parent(p, path_of(p, entry), &last), err;

	if (dir < 0)
		return dir;
	err = make_node(p, dir, last, entry);
	close(dir);
	p->result->entries++;
	return err;
}

/* Into the page cache, or out of it. What is dirty cannot be dropped: it was synced before. */
static int set_cache(struct preparer *p, const struct iot_program_entry *entry)
{
	bool is_warm = p->options->cache == PREPARE_WARM ||
		       (p->options->cache == PREPARE_MATCH && entry->cached_pages);
	u64 size_bytes = le64_to_cpu(entry->size_bytes), at;
	const char *last;
	int dir, fd;

	if (!S_ISREG(le32_to_cpu(entry->mode)) || !size_bytes)
		return 0;
	dir = open_parent(p, path_of(p, entry), &last);
	if (dir < 0)
		return dir;
	fd = openat(dir, last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	close(dir);
	if (fd < 0)
		return -errno;
	if (!is_warm)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	for (at = 0; is_warm && at < size_bytes; at += BLOCK_BYTES)
		if (pread(fd, p->block, BLOCK_BYTES, (off_t)at) <= 0)
			break;
	close(fd);
	return 0;
}

static bool is_root(const struct preparer *p, const struct iot_program_entry *entry)
{
	return !strcmp(path_of(p, entry), ".");
}

/* The target itself is the user's: its attributes stay. */
static int each_entry(struct preparer *p,
		      int (*do_it)(struct preparer *p, const struct iot_program_entry *entry),
		      bool is_backwards)
{
	u32 count = p->program->entry_count, i;

	for (i = 0; i < count; i++) {
		const struct iot_program_entry *entry =
			&p->program->tree[is_backwards ? count - 1 - i : i];
		int err = is_root(p, entry) ? 0 : do_it(p, entry);

		if (err)
			return refuse(p, path_of(p, entry), err);
	}
	return 0;
}

/* Return: 0 if it is empty. */
static int check_empty(struct preparer *p)
{
	int fd = openat(p->target_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		err = -errno;
		snprintf(p->why, p->room, "%s: %s", p->options->target, strerror(-err));
		return err;
	}
	while (!err && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    strcmp(entry->d_name, "lost+found"))
			err = -ENOTEMPTY;
	closedir(dir);
	if (err)
		snprintf(p->why, p->room, "%s: not empty: only an empty directory is prepared",
			 p->options->target);
	return err;
}

static int make_block(struct preparer *p)
{
	u64 state = 0x9e3779b97f4a7c15ull;
	size_t i;

	p->block = calloc(1, BLOCK_BYTES);
	if (!p->block)
		return -ENOMEM;
	if (p->options->data != PREPARE_RANDOM)
		return 0;
	if (getrandom(&state, sizeof(state), 0) != sizeof(state) || !state)
		state = 0x9e3779b97f4a7c15ull;
	for (i = 0; i < BLOCK_BYTES; i += sizeof(state)) { /* xorshift64 */
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(p->block + i, &state, sizeof(state));
	}
	return 0;
}

static int sync_target(struct preparer *p)
{
	int err = syncfs(p->target_fd) ? -errno : 0;

	if (err)
		snprintf(p->why, p->room, "%s: %s", p->options->target, strerror(-err));
	return err;
}

/*
 * Attributes come last, because a mode may shut out who made the file, and backwards, so that
 * a directory that may not be written to is the last in its branch.
 */
static int make_tree(struct preparer *p)
{
	int err = each_entry(p, make_entry, false);

	if (!err)
		err = sync_target(p);
	if (!err)
		err = each_entry(p, set_cache, false);
	if (!err)
		err = each_entry(p, set_attributes, true);
	return err ? err : sync_target(p);
}

static int mark(struct preparer *p)
{
	int err = mark_set(p->target_fd, p->program, MARK_PREPARED);

	if (!err || err == -EOPNOTSUPP)
		return 0;
	snprintf(p->why, p->room, "%s: cannot be marked: %s", p->options->target, strerror(-err));
	return err;
}

/**
 * prepare_tree() - make what must exist before a replay
 * @program: verified
 * @options: where and how
 * @progress: called now and then, may be NULL
 * @result: filled in
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno. After an error the target may hold a part of the tree.
 */
int prepare_tree(const struct iot_program *program, const struct prepare_options *options,
		 prepare_progress_fn progress, struct prepare_result *result, char *why, size_t room)
{
	struct preparer p = {
		.program = program,
		.options = options,
		.progress = progress,
		.result = result,
		.why = why,
		.room = room,
	};
	int err;

	*result = (struct prepare_result){};
	p.target_fd = open(options->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p.target_fd < 0) {
		err = -errno;
		snprintf(why, room, "%s: %s", options->target, strerror(-err));
		return err;
	}
	err = check_empty(&p);
	if (!err)
		err = make_block(&p);
	if (!err)
		err = make_tree(&p);
	if (!err)
		err = mark(&p);
	free(p.block);
	close(p.target_fd);
	return err;
}
