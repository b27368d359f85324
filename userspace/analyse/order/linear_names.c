// SPDX-License-Identifier: GPL-2.0-only
/*
 * linear_names.c - observations of names by operations, and of empty directories.
 *
 * Only of names that something in the trace makes or removes, and of directories that something
 * removes, or tries to.
 */
#include <stdlib.h>

#include "linear.h"
#include "analyse/graph/tree.h"

struct folder {
	UT_hash_handle hh;
	struct linear_state state;
	u32 file;
	s64 more;	   /* names made in it, less those removed, in all of the trace */
	s64 first;	   /* names that were in it at the beginning */
	bool is_made;	   /* in the trace */
	bool is_removed;
};

/* -- tables --------------------------------------------------------------------------------- */

static struct folder *folder_of(const struct linear *e, u32 file)
{
	struct folder *folder;

	HASH_FIND(hh, e->folders, &file, sizeof(file), folder);
	return folder;
}

static void folder_add(struct linear *e, u32 file)
{
	struct folder *folder = file ? folder_of(e, file) : NULL;

	if (!file || folder || e->err)
		return;
	folder = calloc(1, sizeof(*folder));
	if (!folder) {
		e->err = -ENOMEM;
		return;
	}
	folder->file = file;
	folder->state.is_directory = true;
	folder->state.cause = EDGE_entries;
	HASH_ADD(hh, e->folders, file, sizeof(folder->file), folder);
}

/* -- before the walk: changes ------------------------------------------------------------------- */

static bool is_made(const struct graph_op *op)
{
	switch (op->kind) {
	case IOT_KIND_open:
		return op->result >= 0 && (op->flags & IOT_OPEN_created) &&
		       !(op->flags & IOT_OPEN_tmpfile);
	case IOT_KIND_mkdir:
	case IOT_KIND_mknod:
	case IOT_KIND_symlink:
		return !op->result;
	default:
		return false;
	}
}

static bool is_removed(const struct graph_op *op)
{
	return (op->kind == IOT_KIND_unlink || op->kind == IOT_KIND_rmdir) && !op->result;
}

/* Two names of one file: then nothing happens. */
static bool is_renamed(const struct graph_op *op)
{
	return op->kind == IOT_KIND_rename && !op->result && op->file != op->file2;
}

static bool is_linked(const struct graph_op *op)
{
	return op->kind == IOT_KIND_link && !op->result;
}

static bool is_exchange(const struct graph_op *op)
{
	return op->flags & IOT_RENAME_exchange;
}

/* A link to an open file has only the second. */
static bool has_path(const struct graph_op *op)
{
	return op->path || op->path2;
}

/* Does its path say anything? */
static bool shows_name(const struct graph_op *op)
{
	switch (op->kind) {
	case IOT_KIND_readdir: /* its path is only the name by which the directory was opened */
	case IOT_KIND_statfs:
	case IOT_KIND_denied:
		return false;
	case IOT_KIND_open:
		return !(op->flags & IOT_OPEN_tmpfile);
	default:
		return true;
	}
}

static void note_departure(struct linear *e, const struct graph_op *op, u32 file)
{
	if (!e->stays_ns[file] || op->enter_ns < e->stays_ns[file])
		e->stays_ns[file] = op->enter_ns;
}

static void gather(struct linear *e, const struct graph_op *op)
{
	if (is_removed(op) || is_renamed(op))
		note_departure(e, op, op->file);
	if (is_renamed(op))
		note_departure(e, op, op->file2);
	if (is_made(op))
		e->is_made[op->file] = true;
	if (is_made(op) || is_removed(op) || is_renamed(op))
		path_changes(e, op->path, op->dir);
	if (is_renamed(op) || is_linked(op))
		path_changes(e, op->path2, op->dir2);
	e->is_above[op->dir] = true;
	e->is_above[op->dir2] = true;
	if (op->kind == IOT_KIND_rmdir)
		folder_add(e, op->file);
	if (op->kind == IOT_KIND_rename && !is_exchange(op))
		folder_add(e, op->file2);
}

static void see(struct linear *e, const char *text, u32 dir, u32 file)
{
	if (text && file && e->is_above[file])
		path_seen(e, text, dir, file);
}

/* By which names directories were found. */
static void see_directories(struct linear *e, const struct graph_op *op)
{
	if (!has_path(op) || !shows_name(op))
		return;
	see(e, op->path, op->dir, op->file);
	if (op->kind != IOT_KIND_rename)
		return;
	see(e, op->path2, op->dir2, op->file2);
	if (!op->result)
		see(e, op->path2, op->dir2, op->file);
	if (is_renamed(op) && is_exchange(op))
		see(e, op->path, op->dir, op->file2);
}

static void add_to(const struct linear *e, u32 dir, s64 more)
{
	struct folder *folder = dir ? folder_of(e, dir) : NULL;

	if (folder)
		folder->more += more;
}

static void count_names(struct linear *e, const struct graph_op *op)
{
	struct folder *folder;

	if (is_made(op))
		add_to(e, op->dir, 1);
	if (is_removed(op))
		add_to(e, op->dir, -1);
	if (is_linked(op))
		add_to(e, op->dir2, 1);
	if (is_renamed(op) && !is_exchange(op)) {
		add_to(e, op->dir, -1);
		add_to(e, op->dir2, op->file2 ? 0 : 1);
		folder = op->file2 ? folder_of(e, op->file2) : NULL;
		if (folder)
			folder->is_removed = true;
	}
	folder = op->kind == IOT_KIND_rmdir || op->kind == IOT_KIND_mkdir ?
			 folder_of(e, op->file) : NULL;
	if (folder && !op->result)
		*(op->kind == IOT_KIND_rmdir ? &folder->is_removed : &folder->is_made) = true;
}

static void found(struct linear *e, const char *text, u32 dir, u32 file)
{
	const struct path *path = file && !e->is_made[file] ? path_path(e, text, dir) : NULL;
	struct folder *folder = path && !path->name ? folder_of(e, dir) : NULL;

	if (folder) /* it is always there */
		folder->first = INT32_MAX;
	if (path && path->name)
		path->name->first = file;
}

static void note_arrival(struct linear *e, const char *text, u32 dir, u32 file)
{
	const struct path *path = !file || !e->is_made[file] ? path_path(e, text, dir) : NULL;

	if (path && path->name)
		path->name->has_come = true;
}

/* Where files were that the trace does not make. */
static void find_first(struct linear *e, const struct graph_op *op)
{
	bool is_there = op->result >= 0 || op->result == -EEXIST || op->result == -ENOTEMPTY;

	if (!has_path(op) || !shows_name(op) || is_made(op) || !is_there)
		return;
	if (op->kind != IOT_KIND_rename || op->result >= 0)
		found(e, op->path, op->dir, op->file);
	if (op->kind == IOT_KIND_rename)
		found(e, op->path2, op->dir2, op->file2);
	if (is_renamed(op) || is_linked(op))
		note_arrival(e, op->path2, op->dir2, op->file);
	if (is_renamed(op) && is_exchange(op))
		note_arrival(e, op->path, op->dir, op->file2);
	if (!op->file && (is_removed(op) || is_renamed(op)))
		note_arrival(e, op->path, op->dir, 0);
}

static void each_op(struct linear *e, void (*visit)(struct linear *e, const struct graph_op *op))
{
	const struct graph *graph = e->graph;
	u32 i, j;

	for (i = 0; i < graph->task_count && !e->err; i++)
		for (j = 0; j < graph->tasks[i].op_count && !e->err; j++)
			if (graph->tasks[i].has_io && graph->tasks[i].ops[j].kind < IOT_KIND_flush)
				visit(e, &graph->tasks[i].ops[j]);
}

/* If no file was moved to a name, a file that was found there existed at the beginning. Then it was at no other name. */
static void names_guess(struct linear *e)
{
	bool *has_name = calloc(e->graph->file_count + 1ul, sizeof(*has_name));
	struct name *name, *next;

	if (!has_name) {
		e->err = -ENOMEM;
		return;
	}
	HASH_ITER (hh, e->names, name, next)
		has_name[name->first] |= !name->has_come;
	has_name[0] = true;
	HASH_ITER (hh, e->names, name, next) {
		bool is_new = e->is_made[name->key.dir];

		if (name->has_come && !has_name[name->first] && !is_new)
			continue;
		if (name->has_come || is_new)
			name->first = 0;
		state_forget(e, &name->state, name->first ? name->first : VALUE_ABSENT);
	}
	free(has_name);
}

/* The initial tree knows better. */
static int begins_as(void *context, const struct tree_first *first)
{
	struct linear *e = context;
	struct name *name;
	u32 dir;
	int err = graph_file(e->graph, first->dir, &dir);

	name = err ? NULL : path_name(e, first->path, dir);
	if (!name)
		return err ? err : e->err;
	if (first->is_disputed) {
		if (!searches_may_guess(e))
			state_forget(e, &name->state, VALUE_UNKNOWN);
		return 0;
	}
	err = graph_file(e->graph, first->object, &name->first);
	if (!err)
		state_forget(e, &name->state, name->first ? name->first : VALUE_ABSENT);
	return err;
}

static void count_first_names(struct linear *e)
{
	struct name *name, *next;
	struct folder *folder;

	HASH_ITER (hh, e->names, name, next) {
		folder = name->first ? folder_of(e, (u32)name->key.dir) : NULL;
		if (folder && folder->first < INT32_MAX)
			folder->first++;
	}
}

/* A directory that the trace makes has no names then; one that it removes has none at the end. */
static void folders_begin(struct linear *e)
{
	struct folder *folder, *next;

	HASH_ITER (hh, e->folders, folder, next) {
		s64 names = folder->is_made    ? 0 :
			    folder->is_removed ? -folder->more :
						 folder->first;

		folder->state.names = names;
		state_forget(e, &folder->state, names > 0 ? VALUE_PRESENT : VALUE_ABSENT);
	}
}

/**
 * names_open() - find out which names and directories change
 * @e: the model
 * @tree: initial tree, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int names_open(struct linear *e, struct tree *tree)
{
	const size_t files = e->graph->file_count + 1ul;

	e->is_made = calloc(files, sizeof(*e->is_made));
	e->is_above = calloc(files, sizeof(*e->is_above));
	e->stays_ns = calloc(files, sizeof(*e->stays_ns));
	if (!e->is_made || !e->is_above || !e->stays_ns)
		return -ENOMEM;
	each_op(e, gather);
	if (e->names)
		each_op(e, see_directories);
	if (e->folders)
		each_op(e, count_names);
	if (e->names)
		each_op(e, find_first);
	names_guess(e);
	if (tree && !e->err)
		e->err = tree_each_first(tree, begins_as, e);
	count_first_names(e);
	folders_begin(e);
	return e->err;
}

/**
 * names_close() - free all of it
 */
void names_close(struct linear *e)
{
	struct folder *folder, *next_folder;

	paths_close(e);
	free(e->is_made);
	free(e->is_above);
	free(e->stays_ns);
	HASH_ITER (hh, e->folders, folder, next_folder) {
		HASH_DEL(e->folders, folder);
		state_exit(&folder->state);
		free(folder);
	}
}

/* -- observations ------------------------------------------------------------------------------------ */

static void observation(struct linear_op *x, struct linear_state *state, u32 need, u32 after, s32 more)
{
	if (x->observation_count < OBSERVATIONS_MAX)
		x->observations[x->observation_count++] = (struct observation){ state, need, after, more };
}

static u32 value_of(const struct linear *e, u32 file, u32 otherwise)
{
	return file ? file | (e->is_made[file] ? VALUE_MADE : 0) : otherwise;
}

/* The name was so, and the directories above were there. */
static void observe_path(struct linear *e, struct linear_op *x, const char *text, u32 dir, u32 need,
		       u32 after)
{
	const struct path *path = path_path(e, text, dir);
	const struct level *level;

	if (!path)
		return;
	if (path->name)
		observation(x, &path->name->state, need, after, 0);
	for (level = path->above; level; level = level->above)
		observation(x, &level->name->state, value_of(e, level->file, VALUE_PRESENT), VALUE_ANY, 0);
}

/* An operation that creates a name found no directory. */
static void observe_no_directory(struct linear *e, struct linear_op *x, const char *text, u32 dir)
{
	const struct path *path = path_path(e, text, dir);

	if (path && path->above && path->above->file == dir)
		observation(x, &path->above->name->state, VALUE_ABSENT, VALUE_ANY, 0);
}

static void observe_folder(struct linear *e, struct linear_op *x, u32 file, u32 need, s32 more)
{
	struct folder *folder = file ? folder_of(e, file) : NULL;

	if (folder)
		observation(x, &folder->state, need, VALUE_ANY, more);
}

static void observe_made(struct linear *e, struct linear_op *x, const struct graph_op *op)
{
	observe_path(e, x, op->path, op->dir, VALUE_ABSENT, value_of(e, op->file, VALUE_PRESENT));
	observe_folder(e, x, op->dir, VALUE_ANY, 1);
}

static void observe_removed(struct linear *e, struct linear_op *x, const struct graph_op *op)
{
	observe_path(e, x, op->path, op->dir, value_of(e, op->file, VALUE_PRESENT), VALUE_ABSENT);
	observe_folder(e, x, op->dir, VALUE_ANY, -1);
	if (op->kind == IOT_KIND_rmdir)
		observe_folder(e, x, op->file, VALUE_ABSENT, 0);
}

static void observe_linked(struct linear *e, struct linear_op *x, const struct graph_op *op)
{
	observe_path(e, x, op->path, op->dir, value_of(e, op->file, VALUE_PRESENT), VALUE_ANY);
	observe_path(e, x, op->path2, op->dir2, VALUE_ABSENT, value_of(e, op->file, VALUE_PRESENT));
	observe_folder(e, x, op->dir2, VALUE_ANY, 1);
}

static void observe_renamed(struct linear *e, struct linear_op *x, const struct graph_op *op)
{
	u32 file = value_of(e, op->file, VALUE_PRESENT);

	observe_path(e, x, op->path, op->dir, file,
		   is_exchange(op) ? value_of(e, op->file2, VALUE_PRESENT) : VALUE_ABSENT);
	observe_path(e, x, op->path2, op->dir2, value_of(e, op->file2, VALUE_ABSENT), file);
	if (is_exchange(op))
		return;
	if (op->file2 || op->dir != op->dir2)
		observe_folder(e, x, op->dir, VALUE_ANY, -1);
	if (!op->file2 && op->dir != op->dir2)
		observe_folder(e, x, op->dir2, VALUE_ANY, 1);
	observe_folder(e, x, op->file2, VALUE_ABSENT, 0);
}

/* Of a file by one name: whatever else it fails with, that was there. */
static bool is_of_what_is_there(const struct graph_op *op)
{
	switch (op->kind) {
	case IOT_KIND_stat:
	case IOT_KIND_setattr:
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_listxattr:
	case IOT_KIND_removexattr:
	case IOT_KIND_readlink:
		return true;
	default:
		return op->kind == IOT_KIND_open && !(op->flags & IOT_OPEN_create);
	}
}

static void observe_there(struct linear *e, struct linear_op *x, const struct graph_op *op)
{
	if (op->file) /* a look-up before a creation has none */
		observe_path(e, x, op->path, op->dir, value_of(e, op->file, VALUE_PRESENT), VALUE_ANY);
}

/* The reason of its failure if names caused it. */
static void observe_failed(struct linear *e, struct linear_op *x, const struct graph_op *op)
{
	bool is_second = op->kind == IOT_KIND_rename || op->kind == IOT_KIND_link;
	bool is_made = op->kind == IOT_KIND_mkdir || op->kind == IOT_KIND_mknod ||
		       op->kind == IOT_KIND_symlink ||
		       (op->kind == IOT_KIND_open && (op->flags & IOT_OPEN_create));

	switch (op->result) {
	case -ENOENT:
		if (is_made)
			observe_no_directory(e, x, op->path, op->dir);
		else if (!is_exchange(op) || op->kind != IOT_KIND_rename)
			observe_path(e, x, op->path, op->dir, VALUE_ABSENT, VALUE_ANY);
		break;
	case -EEXIST:
	case -ENOTEMPTY:
		observe_path(e, x, is_second ? op->path2 : op->path, is_second ? op->dir2 : op->dir,
			   value_of(e, op->kind == IOT_KIND_link ? 0 : is_second ? op->file2 : op->file,
				    VALUE_PRESENT), VALUE_ANY);
		if (is_second)
			observe_there(e, x, op);
		if (op->kind == IOT_KIND_rmdir || op->kind == IOT_KIND_rename)
			observe_folder(e, x, op->kind == IOT_KIND_rmdir ? op->file : op->file2,
				     VALUE_PRESENT, 0);
		break;
	}
}

/**
 * names_observe() - add the observations of names by an operation on a path
 * @e: the model
 * @x: gets observations
 */
void names_observe(struct linear *e, struct linear_op *x)
{
	const struct graph_op *op = linear_graph_op(e, x->at);

	if (!has_path(op) || !shows_name(op))
		return;
	if (op->result < 0 && op->result != -ENOENT && is_of_what_is_there(op))
		observe_there(e, x, op);
	else if (op->result < 0)
		observe_failed(e, x, op);
	else if (is_made(op))
		observe_made(e, x, op);
	else if (is_removed(op))
		observe_removed(e, x, op);
	else if (is_renamed(op))
		observe_renamed(e, x, op);
	else if (is_linked(op))
		observe_linked(e, x, op);
	else
		observe_there(e, x, op);
}

/**
 * names_begin() - an operation on a path begins
 * @e: the model
 * @x: gets observations
 */
void names_begin(struct linear *e, struct linear_op *x)
{
	u32 i;

	names_observe(e, x);
	for (i = 0; i < x->observation_count; i++) {
		struct observation *c = &x->observations[i];

		c->state->watchers += observation_is_of_entries(c);
		x->is_change |= observation_is_emptiness(c);
		if (c->after == VALUE_ANY && !c->more)
			continue;
		x->is_change = true;
		state_expect(e, c->state, x->at.task);
	}
}
