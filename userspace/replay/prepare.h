/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prepare.h - parts of prepare.c: a program's tree in a target, made or repaired.
 *
 * Nothing outside of the target can be reached: a path has no dots in it, its directories are
 * opened without following links or leaving the file system, and a changed object is held by a
 * descriptor (a pin) whose type and number of names have been checked. So init follows no planted
 * link, and changes no file with another name outside.
 */
#ifndef IOTAPE_PREPARE_H
#define IOTAPE_PREPARE_H

#include <sys/stat.h>
#include <uthash.h>

#include "core/replay/harmless.h"
#include "replay.h"

/* Room for the path of a descriptor, and a name below. */
#define PIN_PATH_BYTES (64 + 256)

/**
 * struct wanted - the wanted and the present object of a path
 * @path: as in the program
 * @index: of its entry in the tree
 * @first: of the entry that it is a further name of; its own if it is none
 * @names: of the object, in the tree
 * @is_there: something of the right kind was there, and still is
 * @is_new: made now
 * @is_counted: that it is made now follows from a change that was counted
 * @is_suspect: it changed since init left it, or may have
 * @was: the previous object
 */
struct wanted {
	UT_hash_handle hh;
	const char *path;
	u32 index;
	u32 first;
	u32 names;
	bool is_there;
	bool is_new;
	bool is_counted;
	bool is_suspect;
	struct {
		u64 inode;
		u64 names;
		u64 size_bytes;
		u32 mode;
		u32 uid;
		u32 gid;
	} was;
};

/**
 * struct preparer - the work on a target
 * @wanted: one for each entry of the tree, in its order
 * @by_path: the same, by path
 * @is_delta: the target was prepared before
 * @since_ns: files that changed then or later are checked; 0: all files
 * @block: contents: a block of data that is repeated
 * @scratch: room for as much
 * @parent_fd: directory that was used last, -1 if none; @parent its path
 */
struct preparer {
	const struct iot_program *program;
	const struct prepare_options *options;
	prepare_progress_fn progress;
	struct prepare_result *result;
	int target_fd;
	struct wanted *wanted;
	struct wanted *by_path;
	bool is_delta;
	u64 since_ns;
	enum prepare_data data;
	u8 *block;
	u8 *scratch;
	int parent_fd;
	char parent[IOT_PROGRAM_PATH_MAX];
	char *why;
	size_t room;
};

/* -- prepare.c -- */

int prepare_refuse(struct preparer *p, const char *path, int err);
void prepare_changed(struct preparer *p, const char *path, enum prepare_change change);

static inline const struct iot_program_entry *entry_of(const struct preparer *p,
						       const struct wanted *wanted)
{
	return &p->program->tree[wanted->index];
}

static inline u32 mode_of(const struct preparer *p, const struct wanted *wanted)
{
	return le32_to_cpu(entry_of(p, wanted)->mode);
}

/* Its mode at creation. */
static inline u32 mode_to_make(const struct preparer *p, const struct wanted *wanted)
{
	u32 mode = mode_of(p, wanted);

	return p->options->is_privileged ? mode : iot_harmless_mode(mode);
}

static inline u64 rdev_to_make(const struct preparer *p, const struct wanted *wanted)
{
	u64 rdev = le64_to_cpu(entry_of(p, wanted)->rdev);

	return p->options->is_privileged ? rdev : iot_harmless_rdev(mode_of(p, wanted), rdev);
}

static inline const char *target_of(const struct preparer *p, const struct wanted *wanted)
{
	return iot_program_string(p->program, entry_of(p, wanted)->target);
}

static inline bool is_further_name(const struct wanted *wanted)
{
	return wanted->first != wanted->index;
}

static inline bool is_root(const struct wanted *wanted)
{
	return !strcmp(wanted->path, ".");
}

/* -- prepare_place.c: how to get to a name -- */

int place_directory(const struct preparer *p, const char *path, int flags);
int place_parent(struct preparer *p, const char *path, const char **last);
int place_pin(struct preparer *p, const struct wanted *wanted, struct stat *stat);
int place_reopen(int pin, int flags);
void place_pin_path(int pin, char path[PIN_PATH_BYTES]);
void place_forget(struct preparer *p);
bool place_may_enter(int dir);

/* -- prepare_clear.c: removes unwanted objects -- */

int clear_target(struct preparer *p);
int clear_links(struct preparer *p);

/* -- prepare_make.c: creates missing objects -- */

int make_missing(struct preparer *p);

/* -- prepare_fill.c: contents -- */

int fill_open(struct preparer *p, u64 seed);
int fill_new(struct preparer *p, const struct wanted *wanted, int fd);
int fill_repair(struct preparer *p, struct wanted *wanted);

/* -- prepare_attributes.c: owners, modes, extended attributes -- */

int attributes_set(struct preparer *p, struct wanted *wanted);
int attributes_count(struct preparer *p, struct wanted *wanted);
int attributes_shut_target(struct preparer *p);
int attributes_set_target(struct preparer *p);

#endif
