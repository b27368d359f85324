/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * expect.h - the records that each system call must have: shared by the topics.
 *
 * A topic is a file expect_*.c with a table of its calls.
 */
#ifndef TRUTH_EXPECT_H
#define TRUTH_EXPECT_H

#include "compare.h"

/* The check of a call. @dir is the index of the argument that is the descriptor of the
 * directory, or -1; @path that of the path. */
struct route {
	const char *name;
	void (*leave)(struct comparison *c, int dir, int path);
	int dir, path;
};

extern const struct route attr_routes[], data_routes[], map_routes[], name_routes[], open_routes[],
	process_routes[], request_routes[];

/* expect.c */
void vfs_error(struct comparison *c, const char *kind);
bool forbidden(struct comparison *c, const char *kind);
struct record *expect_simple(struct comparison *c, const char *kind, const char *path, long long result);
struct record *peek_kind(struct comparison *c, const char *kind);
struct record *take_kind(struct comparison *c, const char *kind);
void add_word(char *text, const char *word);

/* reach.c */
struct place base_of(struct comparison *c, int dir);
bool is_dead(const struct comparison *c, const struct node *dir);
void take_steps(struct comparison *c, const struct walk *walk);
bool walk(struct comparison *c, int dir, int path, bool does_follow, struct walk *w);
bool refused(struct comparison *c, const struct walk *w);
char *last_path(const struct walk *w);
bool look_up_last(struct comparison *c, const struct walk *w);
bool reach(struct comparison *c, int dir, int path, bool does_follow, struct walk *w);
struct file *magic_file(const struct comparison *c, const char *path);

/* expect_open.c */
void enter_close(struct comparison *c, int fd, int slot);
void expect_flush(struct comparison *c, const struct file *file);

/* expect_attr.c */
void take_capability(struct comparison *c);
void expect_setattr(struct comparison *c, const char *path, struct object *object, const struct file *file,
		    const char *word, bool has_size, long long size);

/* expect_lock.c */
void leave_flock(struct comparison *c, int dir, int path);
void leave_lock(struct comparison *c, const char *command);

/* expect_map.c */
void expect_unmap(struct comparison *c, struct area *area);

#endif
