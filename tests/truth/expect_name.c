// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect_name.c - the records of calls that create, remove and rename names, and read links.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/*
 * The new name of a call that creates one, and a record of this kind. Return: false if
 * there is no record, because the call failed earlier.
 */
static bool reach_new(struct comparison *c, const char *kind, int dir, int path, struct walk *w)
{
	const struct call *call = c->call;

	if (!walk(c, dir, path, false, w))
		return false;
	if (w->is_last_special || is_dead(c, w->dir)) {
		vfs_error(c, kind);
		return false;
	}
	if (refused(c, w))
		return false;
	if (w->node) {
		if (call->err != EEXIST)
			difference(c, "by the model the name exists");
		apply(c, RULE_EXISTS);
		expect_simple(c, "lookup", last_path(w), -EEXIST);
		w->node->is_known = true;
		return false;
	}
	if (call->err == ENAMETOOLONG && strlen(w->last) > 255) {
		expect_simple(c, "lookup", last_path(w), -ENAMETOOLONG);
		return false;
	}
	return !forbidden(c, kind);
}

static void make(struct comparison *c, int dir, int path, const char *kind, enum type type,
		 const char *target)
{
	struct object *object = object_new(type, target);
	struct want want = { .kind = kind, .has_result = true, .result = -c->call->err,
			     .tail = target };
	struct walk w;

	if (!reach_new(c, kind, dir, path, &w))
		return;
	want.path = last_path(&w);
	if (!c->call->err) {
		want.object = object;
		node_add(w.dir, w.last, object);
	}
	expect(c, &want);
}

static void leave_mkdir(struct comparison *c, int dir, int path)
{
	make(c, dir, path, "mkdir", TYPE_DIR, NULL);
}

static void leave_mknod(struct comparison *c, int dir, int path)
{
	bool is_file = strstr(argument_text(c->call, path + 1), "S_IFREG") != NULL;

	make(c, dir, path, "mknod", is_file ? TYPE_FILE : TYPE_OTHER, NULL);
}

/* The name of a socket: bind(3, {sa_family=AF_UNIX, sun_path="name"}, 110). */
static void leave_bind(struct comparison *c, int dir, int path)
{
	struct call *call = c->call;
	char *name = strstr(call->args[1].text, "sun_path=\""), *end;

	(void)dir, (void)path;
	if (!name)
		return;
	name += strlen("sun_path=\"");
	end = strchr(name, '"');
	if (!end)
		return;
	call->args[1] = (struct argument){ .text = strndup(name, (size_t)(end - name)), .is_string = true };
	make(c, -1, 1, "mknod", TYPE_OTHER, NULL);
}

/* The kernel asks for the path of a handle that tapefs does not know. */
static void leave_name_to_handle(struct comparison *c, int dir, int path)
{
	struct walk w;

	if (reach(c, dir, path, false, &w))
		apply(c, RULE_VFS_ERROR);
}

/* symlink(target, path), symlinkat(target, dir, path) */
static void leave_symlink(struct comparison *c, int dir, int path)
{
	const char *target = argument_text(c->call, 0);

	if (c->call->err && (!*target || c->call->args[0].is_cut)) {
		vfs_error(c, "symlink");
		return;
	}
	make(c, dir, path, "symlink", TYPE_SYMLINK, target);
}

static void leave_readlink(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct want want = { .kind = "readlink", .has_result = true, .result = call->result,
			     .has_length = true, .length = argument_number(call, path + 2) };
	struct walk w;

	if (!reach(c, dir, path, false, &w))
		return;
	if (w.node->object->type != TYPE_SYMLINK) {
		vfs_error(c, "readlink");
		return;
	}
	want.path = last_path(&w);
	want.object = w.node->object;
	want.tail = strndup(w.node->object->target, (size_t)call->result); /* truncated to the buffer */
	expect(c, &want);
}

/* link(old, new), linkat(olddir, old, newdir, new, flags) */
static void leave_link(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	bool is_at = dir >= 0;
	int new_dir = is_at ? 2 : -1, new_path = is_at ? 3 : 1;
	struct want want = { .kind = "link", .has_result = true, .result = -call->err };
	struct file *file = magic_file(c, argument_text(call, path));
	const struct record *record;
	struct object *object;
	struct walk old, new;

	if (is_at && !*argument_text(call, path))
		file = file_of(c->self, (int)argument_number(call, dir));
	if (!file && !reach(c, dir, path, is_at && argument_has_flag(call, 4, "AT_SYMLINK_FOLLOW"), &old))
		return;
	if (!reach_new(c, "link", new_dir, new_path, &new))
		return;
	object = file ? file->object : old.node->object;
	if (call->err && (object->type == TYPE_DIR || (file && !object->links))) {
		vfs_error(c, "link");
		return;
	}
	want.object = object;
	record = expect(c, &want);
	if (record && strcmp(record_text(record, "name"), last_path(&new)))
		difference(c, "linked as %s", record_text(record, "name"));
	if (!call->err)
		node_add(new.dir, new.last, object);
}

static void remove_name(struct comparison *c, int dir, int path, bool is_rmdir)
{
	const struct call *call = c->call;
	struct want want = { .kind = is_rmdir ? "rmdir" : "unlink", .has_result = true,
			     .result = -call->err };
	const struct record *record;
	bool is_dir;
	struct walk w;

	if (!reach(c, dir, path, false, &w))
		return;
	is_dir = w.node->object->type == TYPE_DIR;
	if (w.is_last_special || is_dir != is_rmdir) {
		vfs_error(c, want.kind);
		return;
	}
	if (forbidden(c, want.kind))
		return;
	want.path = last_path(&w);
	want.object = w.node->object;
	if (!call->err)
		node_remove(w.node);
	record = expect(c, &want);
	if (record && !is_rmdir && !call->err && record_number(record, "nlink") != w.node->object->links)
		difference(c, "%lld links are left, not %ld", record_number(record, "nlink"),
			   w.node->object->links);
}

static void leave_unlink(struct comparison *c, int dir, int path)
{
	remove_name(c, dir, path, !strcmp(c->call->name, "rmdir") ||
				   argument_has_flag(c->call, path + 1, "AT_REMOVEDIR"));
}

static void rename_model(struct walk *old, struct walk *new, bool is_exchange)
{
	if (is_exchange) {
		struct node *old_dir = old->node->parent;
		char old_name[257];

		snprintf(old_name, sizeof(old_name), "%s", old->node->name);
		node_move(old->node, new->dir, new->last);
		node_move(new->node, old_dir, old_name);
		return;
	}
	if (new->node)
		node_remove(new->node);
	node_move(old->node, new->dir, new->last);
}

static bool is_below(const struct node *node, const struct node *dir)
{
	while (node && node != dir)
		node = node->parent;
	return node;
}

/* rename(old, new), renameat(olddir, old, newdir, new), renameat2(..., flags) */
static void leave_rename(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	bool is_at = dir >= 0, is_exchange = argument_has_flag(call, 4, "RENAME_EXCHANGE");
	bool is_noreplace = argument_has_flag(call, 4, "RENAME_NOREPLACE");
	struct want want = { .kind = "rename", .has_result = true, .result = -call->err };
	char *old_path, *new_path;
	const struct record *record;
	struct walk old, new;

	/* Both paths are walked before either last component is looked up. */
	if (!walk(c, dir, path, false, &old) ||
	    !walk(c, is_at ? 2 : -1, is_at ? 3 : 1, false, &new))
		return;
	if (old.is_last_special || new.is_last_special || is_dead(c, new.dir) || is_dead(c, old.dir)) {
		vfs_error(c, "rename");
		return;
	}
	if (!look_up_last(c, &old))
		return;
	if ((new.node || is_exchange) && !look_up_last(c, &new))
		return;
	old_path = last_path(&old);
	new_path = last_path(&new);
	if (!call->err && new.node && new.node->object == old.node->object) {
		apply(c, RULE_SAME_FILE);
		return;
	}
	if ((call->err == EEXIST && is_noreplace && new.node) ||
	    (call->err == ENOTEMPTY && new.node && is_below(old.node, new.node))) {
		apply(c, RULE_VFS_ERROR);
		return;
	}
	record = peek_kind(c, "rename");
	if (call->err && call->err != ENOTEMPTY &&
	    (!record || record_number(record, "result") != -call->err)) {
		vfs_error(c, "rename");
		return;
	}
	want.path = old_path;
	want.object = old.node->object;
	if (!call->err)
		rename_model(&old, &new, is_exchange);
	record = expect(c, &want);
	if (record && strcmp(record_text(record, "new_name"), new_path))
		difference(c, "renamed to %s", record_text(record, "new_name"));
}

static void leave_chdir(struct comparison *c, int dir, int path)
{
	const struct call *call = c->call;
	struct place from = base_of(c, dir);
	struct file *file;
	struct walk w;

	if (!strcmp(call->name, "fchdir")) {
		file = file_of(c->self, (int)argument_number(call, 0));
		c->self->cwd = (struct place){ .node = file ? file->node : NULL };
		if (!file && call->args[0].path)
			place_enter(&c->tree, &c->self->cwd, call->args[0].path);
		return;
	}
	walk_path(&c->tree, &from, argument_text(call, path), true, &w);
	take_steps(c, &w);
	if (call->err) {
		if (call->err == ENOENT && !w.err && !w.node)
			look_up_last(c, &w);
		return;
	}
	apply(c, RULE_WORKING_DIRECTORY);
	if (w.is_outside)
		place_enter(&c->tree, &c->self->cwd, argument_text(call, path));
	else
		c->self->cwd = (struct place){ .node = w.node };
}

const struct route name_routes[] = {
	{ "bind", leave_bind, 0, 0 },
	{ "chdir", leave_chdir, -1, 0 },
	{ "fchdir", leave_chdir, 0, 0 },
	{ "link", leave_link, -1, 0 },
	{ "linkat", leave_link, 0, 1 },
	{ "mkdir", leave_mkdir, -1, 0 },
	{ "mkdirat", leave_mkdir, 0, 1 },
	{ "mknod", leave_mknod, -1, 0 },
	{ "mknodat", leave_mknod, 0, 1 },
	{ "name_to_handle_at", leave_name_to_handle, 0, 1 },
	{ "readlink", leave_readlink, -1, 0 },
	{ "readlinkat", leave_readlink, 0, 1 },
	{ "rename", leave_rename, -1, 0 },
	{ "renameat", leave_rename, 0, 1 },
	{ "renameat2", leave_rename, 0, 1 },
	{ "rmdir", leave_unlink, -1, 0 },
	{ "symlink", leave_symlink, -1, 1 },
	{ "symlinkat", leave_symlink, 1, 2 },
	{ "unlink", leave_unlink, -1, 0 },
	{ "unlinkat", leave_unlink, 0, 1 },
	{},
};
