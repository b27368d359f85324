// SPDX-License-Identifier: GPL-2.0-only
/*
 * prepare.c - make the initial tree of a program in an empty directory, or in one that was
 * prepared before, where only differences are changed.
 *
 * Files that did not change since the mark was set are recognized by their change time, which
 * no program can set, and are not examined again, except sizes, owners and modes, which come with that time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "prepare.h"
#include "reach.h"

#define READ_BYTES (1 << 20)
#define TICK_NS	   12000000 /* of the slowest clock that file systems take times from */

#define CHANGE_SENTENCE(name, sentence) [PREPARE_##name] = sentence,
const char *const prepare_change_sentences[PREPARE_CHANGE_COUNT] = {
	PREPARE_CHANGES(CHANGE_SENTENCE)
};

/* Put a sentence together. Return: @err. */
int prepare_refuse(struct preparer *p, const char *path, int err)
{
	const char *what = strerror(-err), *shown = strcmp(path, ".") ? path : "";

	if (err == -EXDEV || err == -EBUSY)
		what = "is a mount point: the mounted file system is not changed";
	else if (err == -ESTALE)
		what = "is being changed by another process";
	snprintf(p->why, p->room, "%s%s%s: %s", p->options->target, shown[0] ? "/" : "", shown, what);
	return err;
}

/* Count a change to a target that was prepared before. */
void prepare_changed(struct preparer *p, const char *path, enum prepare_change change)
{
	if (!p->is_delta)
		return;
	p->result->changes[change]++;
	if (p->options->change)
		p->options->change(path, change);
}

/* -- the wanted tree ------------------------------------------------------------------ */

static int refuse_entry(struct preparer *p, const char *path, const char *what)
{
	snprintf(p->why, p->room, "%s: %s in the program's initial tree", path, what);
	return -EINVAL;
}

static int add_wanted(struct preparer *p, u32 index)
{
	const struct iot_program_entry *entry = &p->program->tree[index];
	struct wanted *wanted = &p->wanted[index], *other;

	*wanted = (struct wanted){
		.path = iot_program_string(p->program, entry->path),
		.index = index,
		.first = index,
		.names = 1,
	};
	HASH_FIND_STR(p->by_path, wanted->path, other);
	if (other)
		return refuse_entry(p, wanted->path, "appears twice");
	if (!(le32_to_cpu(entry->mode) & S_IFMT)) {
		HASH_FIND_STR(p->by_path, target_of(p, wanted), other);
		if (!other || is_root(wanted) || S_ISDIR(mode_of(p, &p->wanted[other->first])))
			return refuse_entry(p, wanted->path, "is a hard link to no file");
		wanted->first = other->first;
		p->wanted[other->first].names++;
	}
	HASH_ADD_KEYPTR(hh, p->by_path, wanted->path, strlen(wanted->path), wanted);
	return 0;
}

static int want(struct preparer *p)
{
	u32 i;
	int err = 0;

	p->wanted = calloc(p->program->entry_count + 1ull, sizeof(*p->wanted));
	if (!p->wanted)
		return prepare_refuse(p, ".", -ENOMEM);
	for (i = 0; i < p->program->entry_count && !err; i++)
		err = add_wanted(p, i);
	return err;
}

/* The target itself is the user's: its attributes are kept unless a change is requested. */
static int each_wanted(struct preparer *p, int (*do_it)(struct preparer *p, struct wanted *wanted),
		       bool is_backwards)
{
	u32 count = p->program->entry_count, i;

	for (i = 0; i < count; i++) {
		struct wanted *wanted = &p->wanted[is_backwards ? count - 1 - i : i];
		int err = is_root(wanted) ? 0 : do_it(p, wanted);

		if (err)
			return prepare_refuse(p, wanted->path, err);
	}
	return 0;
}

/* -- the page cache ------------------------------------------------------------------ */

/* Whether the program shows the state of the cache. An imported log does not. */
static bool is_cache_known(const struct iot_program *program)
{
	return !iot_program_fact_value(program, "trace.source");
}

static bool leaves_cache(const struct preparer *p)
{
	return p->options->cache == PREPARE_KEEP ||
	       (p->options->cache == PREPARE_MATCH && !is_cache_known(p->program));
}

/* Into the page cache, or out of it. Dirty pages cannot be dropped: the file was synced before. */
static int set_cache(struct preparer *p, struct wanted *wanted)
{
	const struct iot_program_entry *entry = entry_of(p, wanted);
	bool is_warm = p->options->cache == PREPARE_WARM ||
		       (p->options->cache == PREPARE_MATCH && entry->cached_pages);
	u64 size_bytes = le64_to_cpu(entry->size_bytes), at;
	struct stat stat;
	int pin, fd;

	if (!S_ISREG(le32_to_cpu(entry->mode)) || !size_bytes)
		return 0;
	pin = place_pin(p, wanted, &stat);
	if (pin < 0)
		return pin;
	fd = place_reopen(pin, O_RDONLY);
	close(pin);
	if (fd == -EACCES) {
		p->result->cache_failed++;
		return 0;
	}
	if (fd < 0)
		return fd;
	if (!is_warm)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	for (at = 0; is_warm && at < size_bytes; at += READ_BYTES)
		if (pread(fd, p->scratch, READ_BYTES, (off_t)at) <= 0)
			break;
	close(fd);
	return 0;
}

/* -- the target ---------------------------------------------------------------------- */

/* Return: 1 if it is empty, 0 if not, or a negative errno. */
static int look_if_empty(struct preparer *p)
{
	int fd = openat(p->target_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), is_empty = 1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir)
		return prepare_refuse(p, ".", -errno);
	while (is_empty && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    strcmp(entry->d_name, "lost+found"))
			is_empty = 0;
	closedir(dir);
	return is_empty;
}

/* Whether the contents of the target may be changed: only if init created them, here, for this program. */
static int check_mark(struct preparer *p, const struct mark *mark, const struct stat *target)
{
	const char *name = p->options->target;
	char id[MARK_ID_BYTES];
	bool is_ours;

	mark_id(p->program, id);
	is_ours = mark->state != MARK_NONE && mark->state != MARK_UNKNOWN &&
		  mark->inode == target->st_ino;
	if (!p->options->is_delta)
		snprintf(p->why, p->room, "%s: not empty: an empty directory is required%s", name,
			 is_ours ? ", or with --delta a directory that was prepared before" : "");
	else if (mark->state == MARK_UNKNOWN)
		snprintf(p->why, p->room, "%s: its file system has no room for the mark of a prepared "
			 "directory, so an empty directory is required", name);
	else if (!is_ours)
		snprintf(p->why, p->room, "%s: not prepared by iotape init: the directory is not changed",
			 name);
	else if (strcmp(mark->id, id))
		snprintf(p->why, p->room, "%s: prepared for another program: the directory is not changed",
			 name);
	else
		return 0;
	return is_ours && p->options->is_delta ? -EINVAL : -ENOTEMPTY;
}

/*
 * The initial tree of a program as one number: the program may have been compiled again, or objects that grant rights
 * may have been made harmless.
 */
static u32 checksum_of(const struct iot_program *program, bool is_privileged)
{
	static const u8 kinds[] = { IOT_SECTION_TREE, IOT_SECTION_EXTENTS, IOT_SECTION_XATTRS,
				    IOT_SECTION_STRINGS };
	u32 crc = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		crc = iot_crc32c(crc, &program->head->sections[kinds[i]].crc, sizeof(__le32));
	return is_privileged ? ~crc : crc;
}

static u64 random_seed(void)
{
	u64 seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed) || !seed)
		seed = 0x9e3779b97f4a7c15ull;
	return seed;
}

/*
 * Determine the state of the target, and mark it as being prepared: if init is interrupted, the
 * next one can continue. A failure to set this mark is detected at the end, if all else succeeds.
 */
static int begin(struct preparer *p, struct mark *mark)
{
	u32 tree = checksum_of(p->program, p->options->is_privileged);
	struct stat stat;
	int is_empty = look_if_empty(p), err = 0;

	if (is_empty < 0)
		return is_empty;
	if (fstat(p->target_fd, &stat))
		return prepare_refuse(p, ".", -errno);
	mark_read(p->target_fd, mark);
	err = check_mark(p, mark, &stat);
	if (err && !is_empty)
		return err;
	if (p->options->is_privileged &&
	    target_check_private(p->target_fd, p->options->target, p->why, p->room))
		return -EACCES;
	p->is_delta = p->result->was_prepared = !err;
	p->data = p->options->data;
	if (p->data == PREPARE_AS_BEFORE)
		p->data = p->is_delta ? (enum prepare_data)mark->data : PREPARE_RANDOM;
	if (!p->is_delta || mark->data != p->data) {
		*mark = (struct mark){ .data = p->data, .seed = random_seed() };
		mark_id(p->program, mark->id);
	} else if (mark->tree == tree && mark->state != MARK_BEGUN) {
		p->since_ns = mark->since_ns;
	}
	mark->inode = stat.st_ino;
	mark->tree = tree;
	mark->since_ns = 0;
	mark->state = MARK_BEGUN;
	mark_write(p->target_fd, mark);
	err = fill_open(p, mark->seed);
	return err ? prepare_refuse(p, ".", err) : 0;
}

/*
 * The time in the mark is by the clock of the target: that of a first write of the mark. A tick
 * passes before it, so the last change by init has an earlier time.
 */
static int end(struct preparer *p, struct mark *mark)
{
	struct timespec tick = { .tv_nsec = TICK_NS };
	struct stat stat;
	int err;

	nanosleep(&tick, NULL);
	err = mark_write(p->target_fd, mark);

	if (err == -EOPNOTSUPP)
		return 0;
	if (!err && fstat(p->target_fd, &stat))
		err = -errno;
	if (!err) {
		mark->since_ns = (u64)stat.st_ctim.tv_sec * 1000000000ull + (u64)stat.st_ctim.tv_nsec;
		mark->state = MARK_PREPARED;
		err = mark_write(p->target_fd, mark);
	}
	if (err)
		snprintf(p->why, p->room, "%s: cannot be marked: %s", p->options->target,
			 strerror(-err));
	return err;
}

static int sync_target(struct preparer *p)
{
	return syncfs(p->target_fd) ? prepare_refuse(p, ".", -errno) : 0;
}

/*
 * Attributes are set last, because a mode may deny access to the creator of a file, and in reverse order, so that
 * a read-only directory is the last in its branch.
 */
static int make_tree(struct preparer *p)
{
	int err = each_wanted(p, attributes_count, false);

	if (!err && p->is_delta)
		err = clear_target(p);
	if (!err && !p->options->takes_target)
		err = attributes_shut_target(p);
	if (!err && p->is_delta)
		err = clear_links(p);
	if (!err)
		err = make_missing(p);
	if (!err && p->is_delta)
		err = each_wanted(p, fill_repair, false);
	if (!err)
		err = sync_target(p);
	if (!err && !leaves_cache(p))
		err = each_wanted(p, set_cache, false);
	if (!err)
		err = each_wanted(p, attributes_set, true);
	if (!err && p->options->takes_target)
		err = attributes_set_target(p);
	return err ? err : sync_target(p);
}

/**
 * prepare_tree() - create the initial tree of a replay
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
		.parent_fd = -1,
		.why = why,
		.room = room,
	};
	struct mark mark;
	int err;

	*result = (struct prepare_result){};
	p.target_fd = open(options->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p.target_fd < 0)
		return prepare_refuse(&p, ".", -errno);
	err = want(&p);
	if (!err)
		err = begin(&p, &mark);
	if (!err)
		err = make_tree(&p);
	if (!err)
		err = end(&p, &mark);
	place_forget(&p);
	HASH_CLEAR(hh, p.by_path);
	free(p.wanted);
	free(p.block);
	free(p.scratch);
	close(p.target_fd);
	return err;
}
