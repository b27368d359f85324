// SPDX-License-Identifier: GPL-2.0-only
/*
 * snapshot.c - turns the contents of a directory into a program with a tree and no tasks.
 *
 * The same directory yields the same tree in any order of reading: names are sorted, and of several
 * names of a file the first one has the file, and the others refer to the first.
 */
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

#include "scan.h"

#define SNAPSHOT_SENTENCE(name, sentence) [SNAPSHOT_##name] = sentence,
const char *const snapshot_gap_sentences[SNAPSHOT_GAP_COUNT] = { SNAPSHOT_GAPS(SNAPSHOT_SENTENCE) };

/* A file with several names. */
struct linked {
	UT_hash_handle hh;
	u64 key[2]; /* dev, inode */
	const struct found *first;
	u64 names;
};

/* -- further names ------------------------------------------------------------------- */

static struct linked *linked_of(struct linked *table, const struct found *found)
{
	const u64 key[2] = { found->dev, found->inode };
	struct linked *linked;

	HASH_FIND(hh, table, key, sizeof(key), linked);
	return linked;
}

/* The first of its names, in their order, stands for a file. */
static int gather_linked(const struct scan *scan, struct linked **table)
{
	size_t i;

	for (i = 0; i < scan->count; i++) {
		const struct found *found = &scan->found[i];
		struct linked *linked;

		if (found->links < 2 || S_ISDIR(found->mode))
			continue;
		linked = linked_of(*table, found);
		if (!linked) {
			linked = calloc(1, sizeof(*linked));
			if (!linked)
				return -ENOMEM;
			linked->key[0] = found->dev;
			linked->key[1] = found->inode;
			linked->first = found;
			HASH_ADD(hh, *table, key, sizeof(linked->key), linked);
		}
		linked->names++;
	}
	return 0;
}

static int count_outside_names(struct scan *scan, struct linked *table)
{
	struct linked *linked;
	int err = 0;

	for (linked = table; linked && !err; linked = linked->hh.next)
		if (linked->names < linked->first->links)
			err = scan_gap(scan, SNAPSHOT_outside_names, linked->first->path);
	return err;
}

static void free_linked(struct linked *table)
{
	struct linked *linked, *next;

	HASH_ITER (hh, table, linked, next) {
		HASH_DEL(table, linked);
		free(linked);
	}
}

/* -- the program --------------------------------------------------------------------- */

static int put_extents(struct iot_builder *builder, const struct found *found, u32 index,
		       struct snapshot_result *result)
{
	u32 i;

	for (i = 0; i < found->extent_count; i++) {
		struct iot_program_extent extent = {
			.entry = cpu_to_le32(index),
			.offset_bytes = cpu_to_le64(found->extents[i].offset_bytes),
			.length_bytes = cpu_to_le64(found->extents[i].length_bytes),
		};

		result->data_bytes += found->extents[i].length_bytes;
		if (iot_builder_add(builder, IOT_SECTION_EXTENTS, &extent) < 0)
			return -ENOMEM;
	}
	if (S_ISREG(found->mode) && !(found->flags & IOT_ENTRY_EXTENTS))
		result->data_bytes += found->size_bytes;
	return 0;
}

static int put_xattrs(struct iot_builder *builder, const struct found *found, u32 index)
{
	int err = 0;
	u32 i;

	for (i = 0; i < found->xattr_count && !err; i++) {
		struct iot_program_xattr xattr = {
			.entry = cpu_to_le32(index),
			.value_bytes = cpu_to_le32(found->xattrs[i].value_bytes),
		};

		err = iot_builder_text(builder, found->xattrs[i].name, &xattr.name);
		if (!err)
			err = iot_builder_bytes(builder, found->xattrs[i].value,
						found->xattrs[i].value_bytes, &xattr.value);
		if (!err && iot_builder_add(builder, IOT_SECTION_XATTRS, &xattr) < 0)
			err = -ENOMEM;
	}
	return err;
}

static int put_found(struct iot_builder *builder, const struct found *found,
		     struct snapshot_result *result)
{
	struct iot_program_entry entry = {
		.mode = cpu_to_le32(found->mode),
		.uid = cpu_to_le32(found->uid),
		.gid = cpu_to_le32(found->gid),
		.flags = cpu_to_le32(found->flags),
		.rdev = cpu_to_le64(found->rdev),
		.size_bytes = cpu_to_le64(found->size_bytes),
	};
	int err = iot_builder_text(builder, found->path, &entry.path);
	s64 index = 0;

	if (!err)
		err = iot_builder_text(builder, found->target, &entry.target);
	if (!err)
		index = iot_builder_add(builder, IOT_SECTION_TREE, &entry);
	if (!err && index < 0)
		err = -ENOMEM;
	if (!err)
		err = put_extents(builder, found, (u32)index, result);
	result->size_bytes += found->size_bytes;
	return err ? err : put_xattrs(builder, found, (u32)index);
}

static int put_further_name(struct iot_builder *builder, const struct found *found,
			    const struct linked *linked)
{
	struct iot_program_entry entry = {};
	int err = iot_builder_text(builder, found->path, &entry.path);

	if (!err)
		err = iot_builder_text(builder, linked->first->path, &entry.target);
	if (!err && iot_builder_add(builder, IOT_SECTION_TREE, &entry) < 0)
		err = -ENOMEM;
	return err;
}

/* Files first, then their further names. */
static int put_tree(struct iot_builder *builder, struct scan *scan, struct linked *table)
{
	bool is_further;
	int err = 0;
	size_t i;

	for (is_further = false;; is_further = true) {
		for (i = 0; i < scan->count && !err; i++) {
			const struct found *found = &scan->found[i];
			const struct linked *linked = NULL;

			if (found->links > 1 && !S_ISDIR(found->mode))
				linked = linked_of(table, found);
			if (is_further != (linked && linked->first != found))
				continue;
			err = is_further ? put_further_name(builder, found, linked) :
					   put_found(builder, found, scan->result);
		}
		if (is_further || err)
			return err;
	}
}

static int put_facts(struct iot_builder *builder, const char *directory)
{
	char *path = realpath(directory, NULL), text[32];
	struct timespec now;
	int err;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof(text), "%llu", now.tv_sec * 1000000000ull + (u64)now.tv_nsec);
	err = iot_builder_fact(builder, "snapshot.directory", path ?: directory);
	if (!err)
		err = iot_builder_fact(builder, "snapshot.real_ns", text);
	free(path);
	return err;
}

/* A signal that ends the command waits until the file is complete or removed. */
static int save(struct iot_builder *builder, const char *path)
{
	struct iot_reject reject;
	sigset_t signals, before;
	int err;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &before);
	err = iot_builder_save(builder, path, &reject);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int write_program(struct scan *scan)
{
	struct iot_builder *builder = NULL;
	struct linked *table = NULL;
	unsigned char id[16];
	int err;

	if (scan->count > 1)
		qsort(scan->found, scan->count, sizeof(*scan->found), compare_found);
	scan->result->entries = scan->count;
	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		return -EIO;
	err = iot_builder_open(id, &builder);
	if (!err)
		err = gather_linked(scan, &table);
	if (!err)
		err = count_outside_names(scan, table);
	if (!err)
		err = put_tree(builder, scan, table);
	if (!err)
		err = put_facts(builder, scan->options->directory);
	if (!err)
		err = save(builder, scan->options->output);
	free_linked(table);
	iot_builder_close(builder);
	return err;
}

/**
 * snapshot_take() - save the contents of a directory
 * @options: the directory and the output
 * @progress: called now and then, may be NULL
 * @result: filled in, also after an error; to be freed by snapshot_result_free()
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno; then the output is unchanged.
 */
int snapshot_take(const struct snapshot_options *options, snapshot_progress_fn progress,
		  struct snapshot_result *result, char *why, size_t room)
{
	struct scan scan = { .options = options, .result = result, .progress = progress };
	const char *what = options->directory;
	int err;

	*result = (struct snapshot_result){};
	scan.root_fd = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = scan.root_fd < 0 ? -errno : scan_directory(&scan);
	if (!err) {
		what = options->output;
		err = write_program(&scan);
	}
	if (err)
		snprintf(why, room, "%s: %s", what, strerror(-err));
	if (scan.root_fd >= 0)
		close(scan.root_fd);
	scan_free(&scan);
	return err;
}

/**
 * snapshot_result_free() - free the contents of a result
 */
void snapshot_result_free(struct snapshot_result *result)
{
	int i;

	for (i = 0; i < SNAPSHOT_GAP_COUNT; i++)
		free(result->gap_paths[i]);
}
