// SPDX-License-Identifier: GPL-2.0-only
/*
 * application_record.c - one operation of the random application: its start, its effect on the
 * file system in memory, and its record, after the records of names and objects that it needs.
 */
#include "application_record.h"

#include <stdlib.h>

u32 app_below(struct app *a, u32 limit)
{
	a->random ^= a->random << 13;
	a->random ^= a->random >> 7;
	a->random ^= a->random << 17;
	return (u32)((a->random >> 20) % limit);
}

u32 app_tag_of_path(const char *path)
{
	u32 tag = 17;

	while (*path)
		tag = tag * 31 + (u8)*path++;
	return tag | 1u << 31;
}

u32 app_tag_of_op(u32 task, u32 op)
{
	return task << 16 | op;
}

/* -- records -------------------------------------------------------------------------------------- */

struct iot_record *app_add(struct app *a, u16 kind, u64 end_ns, const char *tail)
{
	struct entry *entry = &a->entries[a->entry_count];

	if (a->entry_count == RECORDS_MAX)
		abort();
	*entry = (struct entry){ .end_ns = end_ns, .number = a->entry_count++ };
	entry->record.kind = kind;
	if (tail) {
		strcpy((char *)entry->tail, tail);
		entry->record.tail = entry->tail;
		entry->record.tail_bytes = (u16)strlen(tail);
	}
	return &entry->record;
}

u64 app_object_id(const struct app *a, int node)
{
	return (u64)node * 64 + a->epochs[node];
}

/* A node of the file system by an id that changes when its inode is read again. */
static u64 object_of(struct app *a, int node, u64 name)
{
	const struct fs_node *n = &a->fs.nodes[node];
	struct iot_record *record;

	if (a->epochs[node])
		return app_object_id(a, node);
	a->epochs[node] = 1;
	record = app_add(a, IOT_KIND_object, a->now_ns, n->type == IOT_TYPE_symlink ? n->target : NULL);
	record->object.time_ns = a->now_ns;
	record->object.object = app_object_id(a, node);
	record->object.name = name;
	record->object.type = n->type;
	record->object.mode = n->type << 12 | 0755;
	record->object.ino = (u64)node + 100;
	record->object.dev = 1;
	record->object.size_bytes = n->type == IOT_TYPE_file ? n->size : 0;
	return app_object_id(a, node);
}

u64 app_name_in(struct app *a, int dir, const char *component)
{
	struct iot_record *record;
	u32 i;

	for (i = 0; i < a->name_count; i++)
		if (a->names[i].dir == dir && !strcmp(a->names[i].component, component))
			return i + 1;
	if (a->name_count == NAMES_MAX)
		abort();
	a->names[i].dir = dir;
	strcpy(a->names[i].component, component);
	a->name_count++;
	record = app_add(a, IOT_KIND_name, a->now_ns, component);
	record->name.time_ns = a->now_ns;
	record->name.name = i + 1;
	record->name.dir = dir < 0 ? 0 : app_object_id(a, dir);
	return i + 1;
}

/* The id of the last component of a path; the directories above are announced. */
static u64 name_of(struct app *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	char above[128];

	if (!strcmp(path, "."))
		return app_name_in(a, FS_NONE, "");
	if (!slash)
		return app_name_in(a, FS_ROOT, path);
	snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
	return app_name_in(a, fs_find(&a->fs, above), slash + 1);
}

/* -- time ------------------------------------------------------------------------------------------ */

static bool has_to_do_with(const struct footprint *x, const struct footprint *y)
{
	u32 i, j;

	if (x->has_names && y->has_names)
		return true;
	for (i = 0; i < 2; i++)
		for (j = 0; j < 2; j++)
			if (x->handles[i] && x->handles[i] == y->handles[j] &&
			    !(x->is_read && y->is_read))
				return true;
	for (i = 0; i < NODES_ON; i++)
		for (j = 0; j < NODES_ON; j++)
			if (x->nodes[i] >= 0 && x->nodes[i] == y->nodes[j] &&
			    !(x->is_read && y->is_read))
				return true;
	return false;
}

/* The start of the operation: after the task's previous one, and after conflicting operations. */
u64 app_begin(struct app *a, const struct footprint *f)
{
	u64 after_ns = a->tasks[a->task].last.end_ns;
	u32 i;

	for (i = 1; i <= APP_TASKS; i++)
		if (has_to_do_with(f, &a->tasks[i].last) && a->tasks[i].last.end_ns > after_ns)
			after_ns = a->tasks[i].last.end_ns;
	for (i = 0; i < REQUESTS; i++)
		if (has_to_do_with(f, &a->requests[i]) && a->requests[i].end_ns > after_ns)
			after_ns = a->requests[i].end_ns;
	a->now_ns += 1 + app_below(a, 10);
	if (a->now_ns <= after_ns)
		a->now_ns = after_ns + 1;
	for (i = 1; i <= APP_TASKS; i++)
		a->truth->overlaps += i != a->task && a->tasks[i].last.end_ns >= a->now_ns;
	return a->now_ns;
}

int app_directory_of(const struct app *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[128];

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return fs_find(&a->fs, dir);
}

void app_find_nodes(const struct app *a, const struct fs_op *op, struct footprint *f)
{
	const char *paths[] = { op->path, op->path2 };
	int i;

	for (i = 0; i < 2; i++) {
		bool is_path = paths[i] && !(i && op->kind == IOT_KIND_symlink);

		f->nodes[i] = is_path ? fs_find(&a->fs, paths[i]) : FS_NONE;
		f->nodes[2 + i] = FS_NONE;
		f->nodes[4 + i] = is_path ? app_directory_of(a, paths[i]) : FS_NONE;
	}
	if (op->handle && op->kind != IOT_KIND_open)
		f->nodes[2] = a->fs.handles[op->handle].node;
	if (op->kind == IOT_KIND_copy_range)
		f->nodes[3] = a->fs.handles[op->other].node;
	if (op->kind == IOT_KIND_touch || op->kind == IOT_KIND_unmap)
		f->nodes[3] = a->fs.maps[op->other];
}

static bool is_read(u16 kind)
{
	return kind == IOT_KIND_read || kind == IOT_KIND_touch || kind == IOT_KIND_getxattr ||
	       kind == IOT_KIND_stat;
}

/* -- operations --------------------------------------------------------------------------------------- */

static void put_fields(struct app *a, struct iot_record *r, const struct fs_op *op, u64 name,
		       u64 name2, u64 object, u64 object2)
{
	switch (op->kind) {
	case IOT_KIND_lookup:
		r->lookup.intents = op->flags;
		break;
	case IOT_KIND_open:
		r->open.handle = op->handle;
		r->open.flags = op->flags;
		break;
	case IOT_KIND_setattr:
		r->setattr.attrs = IOT_ATTR_size;
		r->setattr.size_bytes = op->length_bytes;
		r->setattr.handle = op->handle;
		break;
	case IOT_KIND_rename:
		r->rename.new_name = name2;
		r->rename.replaced = object2;
		r->rename.flags = op->flags;
		break;
	case IOT_KIND_link:
		r->link.old_name = name;
		r->link.name = name2;
		break;
	case IOT_KIND_setxattr:
		r->setxattr.flags = op->flags;
		break;
	case IOT_KIND_unlink:
		if (object)
			r->unlink.nlink = a->fs.nodes[object / 64].links;
		break;
	}
}

static void put_handle_fields(struct iot_record *r, const struct fs_op *op, u64 object, u64 object2)
{
	r->flush.object = object; /* all these records begin with object and handle */
	r->flush.handle = op->handle;
	switch (op->kind) {
	case IOT_KIND_read:
	case IOT_KIND_write:
		r->write.offset_bytes = (s64)op->offset_bytes;
		r->write.length_bytes = op->length_bytes;
		r->write.flags = op->flags;
		if (op->kind == IOT_KIND_write)
			r->write.old_size_bytes = op->extra;
		break;
	case IOT_KIND_seek:
		r->seek.offset_bytes = (s64)op->offset_bytes;
		r->seek.whence = op->flags;
		break;
	case IOT_KIND_readdir:
		r->readdir.entries = 1000;
		break;
	case IOT_KIND_fallocate:
		r->fallocate.offset_bytes = (s64)op->offset_bytes;
		r->fallocate.length_bytes = op->length_bytes;
		break;
	case IOT_KIND_copy_range:
		r->copy_range.offset_bytes = (s64)op->offset_bytes;
		r->copy_range.length_bytes = op->length_bytes;
		r->copy_range.to_object = object2;
		r->copy_range.to_handle = op->other;
		r->copy_range.to_offset_bytes = (s64)op->extra;
		break;
	case IOT_KIND_map:
		r->map.map = op->other;
		r->map.length_bytes = 1 << 20;
		break;
	}
}

static void put_map_fields(struct iot_record *r, const struct fs_op *op, u64 object)
{
	r->touch.object = object; /* both records begin with object, map, offset and length */
	r->touch.map = op->other;
	r->touch.offset_bytes = (s64)op->offset_bytes;
	r->touch.length_bytes = op->kind == IOT_KIND_unmap ? 1 << 20 : 4096;
}

/* Ids of the operands are announced before the operation, those of created objects after it. */
static u64 object_at(struct app *a, int node, u64 name)
{
	return node < 0 ? 0 : object_of(a, node, name);
}

/* Run and record an operation of the task. */
s64 app_emit(struct app *a, struct fs_op op)
{
	struct app_task *task = &a->tasks[a->task];
	bool is_named = op.kind < IOT_KIND_flush, is_xattr = op.kind >= IOT_KIND_getxattr && is_named;
	struct footprint f = { .has_names = is_named && op.path, .is_read = is_read(op.kind),
			       .handles = { op.handle,
					    op.kind == IOT_KIND_copy_range ? op.other : 0 } };
	u64 enter_ns, name, name2, object, object2;
	struct iot_record *r;

	app_find_nodes(a, &op, &f);
	enter_ns = app_begin(a, &f);
	f.end_ns = enter_ns + 1 + (app_below(a, 10) < 4 ? app_below(a, 200) : 0);
	op.tag = app_tag_of_op(a->task, ++task->op);
	a->truth->enter_ns[a->task][task->op] = enter_ns;
	name = op.path ? name_of(a, op.path) : 0;
	name2 = op.path2 && (op.kind == IOT_KIND_rename || op.kind == IOT_KIND_link) ?
			name_of(a, op.path2) : 0;
	object = object_at(a, f.nodes[0] >= 0 ? f.nodes[0] : f.nodes[2] >= 0 ? f.nodes[2] :
			   op.kind == IOT_KIND_touch || op.kind == IOT_KIND_unmap ? f.nodes[3] :
			   FS_NONE, name);
	object2 = object_at(a, op.kind == IOT_KIND_copy_range ? f.nodes[3] : name2 ? f.nodes[1] :
			    FS_NONE, name2);
	op.result = fs_perform(&a->fs, &op, &a->truth->seen[a->task][task->op]);
	if (op.result >= 0 && op.path && !object)
		object = object_at(a, fs_find(&a->fs, op.path), name);
	r = app_add(a, op.kind, f.end_ns, is_xattr || op.kind == IOT_KIND_symlink ? op.path2 :
		    op.kind == IOT_KIND_follow || op.kind == IOT_KIND_readlink ?
		    a->fs.nodes[f.nodes[0]].target : NULL);
	r->op.enter_ns = enter_ns;
	r->op.duration_ns = f.end_ns - enter_ns;
	r->op.task = a->task;
	r->op.op = task->op;
	r->op.result = op.result;
	if (op.kind == IOT_KIND_touch || op.kind == IOT_KIND_unmap) {
		put_map_fields(r, &op, object);
	} else if (!is_named) {
		put_handle_fields(r, &op, object, object2);
	} else {
		r->stat.name = name; /* all records except link and rename begin with name and object */
		if (op.kind == IOT_KIND_link || op.kind == IOT_KIND_rename)
			*(op.kind == IOT_KIND_link ? &r->link.object : &r->rename.object) = object;
		else
			r->stat.object = object;
		put_fields(a, r, &op, name, name2, object, object2);
	}
	task->last = f;
	return op.result;
}
