// SPDX-License-Identifier: GPL-2.0-only
/*
 * application.c - a random application, performed on a file system in memory and recorded as
 * tapefs would: symbolic links and failed look-ups on the way are operations of their own,
 * names have ids of (directory, component), handles are shared by threads and after fork.
 *
 * Operations have effect when they begin. Some last, and overlap those of other tasks; but
 * none begins while another one lasts that it has to do with, so that what is recorded is
 * true in whatever order the two are performed.
 */
#include "application.h"

#include <stdlib.h>

#define RECORDS_MAX 4096
#define NAMES_MAX   512
#define FOLLOW_MAX  5
#define NODES_ON    6
#define REQUESTS    8

struct entry {
	u64 end_ns;
	u32 number;
	struct iot_record record;
	u8 tail[FS_NAME];
};

/* What the last operation of a task had to do with, while it lasts. */
struct footprint {
	u64 end_ns;
	bool has_names;
	bool is_read;
	u32 handles[2];
	int nodes[NODES_ON];
};

struct app_task {
	bool is_alive;
	u32 tgid;
	u32 op;
	struct footprint last;
};

struct app_handle {
	u32 processes; /* bits: who has it */
	u32 flags;
	u64 position;
	bool is_open;
};

struct app_map {
	u32 tgid;
	u32 handle_object;
	bool is_there;
};

struct app {
	struct fs fs;
	u64 random;
	u64 now_ns;
	struct app_task tasks[APP_TASKS + 1];
	struct app_handle handles[FS_HANDLES];
	struct app_map maps[FS_HANDLES];
	struct footprint requests[REQUESTS]; /* the last ones, of which some are under way */
	u32 request_count;
	u32 handle_count;
	u32 map_count;
	u32 epochs[FS_NODES];	 /* how often an inode came into memory, 0: never */
	struct {
		int dir;
		char component[FS_NAME];
	} names[NAMES_MAX];
	u32 name_count;
	struct entry *entries;
	u32 entry_count;
	struct app_truth *truth;
	u32 task; /* who does what follows */
};

static u32 below(struct app *a, u32 limit)
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

static struct iot_record *add(struct app *a, u16 kind, u64 end_ns, const char *tail)
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

static u64 object_id(const struct app *a, int node)
{
	return (u64)node * 64 + a->epochs[node];
}

/* A node of the file system by an id that changes when it comes back into memory. */
static u64 object_of(struct app *a, int node, u64 name)
{
	const struct fs_node *n = &a->fs.nodes[node];
	struct iot_record *record;

	if (a->epochs[node])
		return object_id(a, node);
	a->epochs[node] = 1;
	record = add(a, IOT_KIND_object, a->now_ns, n->type == IOT_TYPE_symlink ? n->target : NULL);
	record->object.time_ns = a->now_ns;
	record->object.object = object_id(a, node);
	record->object.name = name;
	record->object.type = n->type;
	record->object.mode = n->type << 12 | 0755;
	record->object.ino = (u64)node + 100;
	record->object.dev = 1;
	record->object.size_bytes = n->type == IOT_TYPE_file ? n->size : 0;
	return object_id(a, node);
}

static u64 name_in(struct app *a, int dir, const char *component)
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
	record = add(a, IOT_KIND_name, a->now_ns, component);
	record->name.time_ns = a->now_ns;
	record->name.name = i + 1;
	record->name.dir = dir < 0 ? 0 : object_id(a, dir);
	return i + 1;
}

/* The id of a path's last component; the directories above are known. */
static u64 name_of(struct app *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	char above[128];

	if (!strcmp(path, "."))
		return name_in(a, FS_NONE, "");
	if (!slash)
		return name_in(a, FS_ROOT, path);
	snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
	return name_in(a, fs_find(&a->fs, above), slash + 1);
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

/* The operation begins: after the task's last one, and after those that it has to do with. */
static u64 begin(struct app *a, const struct footprint *f)
{
	u64 after_ns = a->tasks[a->task].last.end_ns;
	u32 i;

	for (i = 1; i <= APP_TASKS; i++)
		if (has_to_do_with(f, &a->tasks[i].last) && a->tasks[i].last.end_ns > after_ns)
			after_ns = a->tasks[i].last.end_ns;
	for (i = 0; i < REQUESTS; i++)
		if (has_to_do_with(f, &a->requests[i]) && a->requests[i].end_ns > after_ns)
			after_ns = a->requests[i].end_ns;
	a->now_ns += 1 + below(a, 10);
	if (a->now_ns <= after_ns)
		a->now_ns = after_ns + 1;
	for (i = 1; i <= APP_TASKS; i++)
		a->truth->overlaps += i != a->task && a->tasks[i].last.end_ns >= a->now_ns;
	return a->now_ns;
}

static int directory_of(const struct app *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[128];

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return fs_find(&a->fs, dir);
}

static void find_nodes(const struct app *a, const struct fs_op *op, struct footprint *f)
{
	const char *paths[] = { op->path, op->path2 };
	int i;

	for (i = 0; i < 2; i++) {
		bool is_path = paths[i] && !(i && op->kind == IOT_KIND_symlink);

		f->nodes[i] = is_path ? fs_find(&a->fs, paths[i]) : FS_NONE;
		f->nodes[2 + i] = FS_NONE;
		f->nodes[4 + i] = is_path ? directory_of(a, paths[i]) : FS_NONE;
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
	r->flush.object = object; /* they all begin with object and handle */
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
	r->touch.object = object; /* both begin with object, map, offset and length */
	r->touch.map = op->other;
	r->touch.offset_bytes = (s64)op->offset_bytes;
	r->touch.length_bytes = op->kind == IOT_KIND_unmap ? 1 << 20 : 4096;
}

/* Ids of what the operation is on are announced before it; of what it makes, after that. */
static u64 object_at(struct app *a, int node, u64 name)
{
	return node < 0 ? 0 : object_of(a, node, name);
}

/* Perform and record an operation of the task. */
static s64 emit(struct app *a, struct fs_op op)
{
	struct app_task *task = &a->tasks[a->task];
	bool is_named = op.kind < IOT_KIND_flush, is_xattr = op.kind >= IOT_KIND_getxattr && is_named;
	struct footprint f = { .has_names = is_named && op.path, .is_read = is_read(op.kind),
			       .handles = { op.handle,
					    op.kind == IOT_KIND_copy_range ? op.other : 0 } };
	u64 enter_ns, name, name2, object, object2;
	struct iot_record *r;

	find_nodes(a, &op, &f);
	enter_ns = begin(a, &f);
	f.end_ns = enter_ns + 1 + (below(a, 10) < 4 ? below(a, 200) : 0);
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
	r = add(a, op.kind, f.end_ns, is_xattr || op.kind == IOT_KIND_symlink ? op.path2 :
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
		r->stat.name = name; /* they all begin with name and object, but link and rename */
		if (op.kind == IOT_KIND_link || op.kind == IOT_KIND_rename)
			*(op.kind == IOT_KIND_link ? &r->link.object : &r->rename.object) = object;
		else
			r->stat.object = object;
		put_fields(a, r, &op, name, name2, object, object2);
	}
	task->last = f;
	return op.result;
}

/* -- paths ---------------------------------------------------------------------------------------------- */

static const char *const dirs[] = { ".", "d0", "d1", "d0/s", "d2", "s" };
static const char *const components[] = { "a", "b", "c", "l", "m", "s" };

/* A path that may be used, from a directory that exists; the last component may not exist. */
static void pick_path(struct app *a, char *path, size_t room)
{
	const char *dir, *component = components[below(a, 6)];
	int node;

	do {
		dir = dirs[below(a, 6)];
		node = fs_find(&a->fs, dir);
	} while (node < 0 || a->fs.nodes[node].type != IOT_TYPE_dir);
	if (!strcmp(dir, ".") && below(a, 3) == 0)
		component = dirs[1 + below(a, 2)]; /* directories themselves */
	snprintf(path, room, "%s%s%s", strcmp(dir, ".") ? dir : "", strcmp(dir, ".") ? "/" : "",
		 component);
}

/* Follow links at the end of a path; each is recorded. Return: false if they do not end. */
static bool follow(struct app *a, char *path, size_t room)
{
	int i, node;

	for (i = 0; i < FOLLOW_MAX; i++) {
		char *slash = strrchr(path, '/');

		node = fs_find(&a->fs, path);
		if (node < 0 || a->fs.nodes[node].type != IOT_TYPE_symlink)
			return true;
		emit(a, (struct fs_op){ .kind = IOT_KIND_follow, .path = path });
		snprintf(slash ? slash + 1 : path, slash ? room - (size_t)(slash + 1 - path) : room, "%s",
			 a->fs.nodes[node].target);
	}
	return false;
}

/* Return: the node; negative if there is none, after the look-up that found that was recorded. */
static int must_exist(struct app *a, const char *path)
{
	int node = fs_find(&a->fs, path);

	if (node < 0)
		emit(a, (struct fs_op){ .kind = IOT_KIND_lookup, .path = path });
	return node;
}

static bool must_not_exist(struct app *a, const char *path, u32 intents)
{
	if (fs_find(&a->fs, path) < 0)
		return true;
	emit(a, (struct fs_op){ .kind = IOT_KIND_lookup, .path = path,
				.flags = IOT_INTENT_create | IOT_INTENT_excl | intents });
	return false;
}

static bool has_room(const struct app *a, const char *path)
{
	int node = directory_of(a, path);

	return node >= 0 && a->fs.nodes[node].entry_count < FS_ENTRIES - 1 &&
	       a->fs.node_count < FS_NODES - 1;
}

/* -- system calls ------------------------------------------------------------------------------------------ */

static void call_open(struct app *a)
{
	static const u32 kinds[] = {
		IOT_OPEN_read,
		IOT_OPEN_read | IOT_OPEN_write,
		IOT_OPEN_write | IOT_OPEN_create,
		IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl,
		IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_trunc,
		IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_append,
		IOT_OPEN_read | IOT_OPEN_directory,
	};
	u32 flags = kinds[below(a, 7)], handle = a->handle_count + 1;
	char path[128];
	int node;

	if (handle == FS_HANDLES)
		return;
	if (flags & IOT_OPEN_directory)
		snprintf(path, sizeof(path), "%s", dirs[below(a, 6)]);
	else
		pick_path(a, path, sizeof(path));
	if ((flags & IOT_OPEN_excl) && !must_not_exist(a, path, IOT_INTENT_open))
		return;
	if (!follow(a, path, sizeof(path)) || !has_room(a, path))
		return;
	node = fs_find(&a->fs, path);
	if (node < 0 && !(flags & IOT_OPEN_create)) {
		must_exist(a, path);
		return;
	}
	if (node >= 0 && (a->fs.nodes[node].type == IOT_TYPE_dir) != !!(flags & IOT_OPEN_directory))
		return;
	if (node < 0)
		flags |= IOT_OPEN_created;
	emit(a, (struct fs_op){ .kind = IOT_KIND_open, .path = path, .flags = flags,
				.handle = handle });
	a->handle_count = handle;
	a->handles[handle] = (struct app_handle){ 1u << a->tasks[a->task].tgid, flags, 0, true };
}

/* Return: a handle that the task may use, of a directory or not, or 0. */
static u32 pick_handle(struct app *a, bool is_dir)
{
	u32 first = below(a, a->handle_count + 1), i, handle;

	for (i = 0; i <= a->handle_count; i++) {
		handle = 1 + (first + i) % (a->handle_count + 1);
		if (handle <= a->handle_count && a->handles[handle].is_open &&
		    (a->handles[handle].processes & 1u << a->tasks[a->task].tgid) &&
		    !(a->handles[handle].flags & IOT_OPEN_directory) == !is_dir)
			return handle;
	}
	return 0;
}

static u64 size_of(const struct app *a, u32 handle)
{
	return a->fs.nodes[a->fs.handles[handle].node].size;
}

static void call_data(struct app *a)
{
	u32 handle = pick_handle(a, false);
	struct app_handle *h = &a->handles[handle];
	bool is_write = h->flags & IOT_OPEN_write, is_append = h->flags & IOT_OPEN_append;
	bool is_positioned = below(a, 2);
	struct fs_op op = { .handle = handle, .length_bytes = 1 + below(a, 3000) };
	u64 offset_bytes = is_positioned ? below(a, 6000) : h->position;
	s64 result;

	if (!handle)
		return;
	if ((h->flags & IOT_OPEN_read) && below(a, 2))
		is_write = false;
	if (is_write && is_append)
		offset_bytes = size_of(a, handle);
	op.kind = is_write ? IOT_KIND_write : IOT_KIND_read;
	op.flags = is_write && is_append ? IOT_RW_append : 0;
	op.offset_bytes = offset_bytes;
	op.extra = size_of(a, handle);
	result = emit(a, op);
	if (!is_positioned)
		h->position = offset_bytes + (u64)result;
}

/* A request: it has effect when it is submitted, but ends some time later. */
static void call_submit(struct app *a)
{
	u32 handle = pick_handle(a, false), i = a->request_count % REQUESTS;
	bool is_write = a->handles[handle].flags & IOT_OPEN_write;
	struct app_task *task = &a->tasks[a->task];
	struct fs_op op = {
		.kind = is_write ? IOT_KIND_write : IOT_KIND_read,
		.handle = handle,
		.tag = app_tag_of_op(a->task, task->op + 1),
		.offset_bytes = below(a, 5000),
		.length_bytes = 1 + below(a, 3000),
	};
	struct footprint f = { .is_read = !is_write, .handles = { handle } };
	u64 enter_ns, old_size_bytes, seen;
	struct iot_record *r;
	s64 result;

	if (!handle || (a->handles[handle].flags & IOT_OPEN_append) ||
	    a->requests[i].end_ns >= a->now_ns)
		return;
	find_nodes(a, &op, &f);
	enter_ns = begin(a, &f);
	old_size_bytes = size_of(a, handle);
	result = fs_perform(&a->fs, &op, &seen);
	a->truth->enter_ns[a->task][++task->op] = enter_ns;
	task->last = f;
	task->last.end_ns = enter_ns + 1;
	f.end_ns = enter_ns + 2 + below(a, 150);
	a->requests[i] = f;
	r = add(a, IOT_KIND_submit, enter_ns + 1, NULL);
	r->submit = (struct iot_rec_submit){
		.enter_ns = enter_ns, .duration_ns = 1, .task = a->task, .op = task->op,
		.request = ++a->request_count, .object = object_id(a, f.nodes[2]),
		.handle = handle, .offset_bytes = (s64)op.offset_bytes,
		.length_bytes = op.length_bytes, .flags = is_write ? IOT_RW_write : 0,
		.old_size_bytes = old_size_bytes,
	};
	r = add(a, IOT_KIND_complete, f.end_ns, NULL);
	r->complete = (struct iot_rec_complete){
		.time_ns = f.end_ns, .task = a->task, .op = task->op,
		.request = a->request_count, .result = result,
	};
}

static void call_seek(struct app *a)
{
	u32 handle = pick_handle(a, below(a, 4) == 0), whence = below(a, 3);
	struct app_handle *h = &a->handles[handle];
	struct fs_op op = { .kind = IOT_KIND_seek, .handle = handle, .flags = whence };

	if (!handle)
		return;
	if (h->flags & IOT_OPEN_directory)
		op.flags = IOT_WHENCE_set;
	else
		op.offset_bytes = below(a, 500);
	if (op.flags == IOT_WHENCE_cur)
		op.result = (s64)(h->position + op.offset_bytes);
	h->position = (u64)emit(a, op);
}

static void call_readdir(struct app *a)
{
	u32 handle = pick_handle(a, true);

	if (handle)
		emit(a, (struct fs_op){ .kind = IOT_KIND_readdir, .handle = handle });
}

static void call_close(struct app *a)
{
	u32 handle = pick_handle(a, below(a, 3) == 0);
	struct app_handle *h = &a->handles[handle];

	if (!handle)
		return;
	emit(a, (struct fs_op){ .kind = IOT_KIND_flush, .handle = handle });
	h->processes &= ~(1u << a->tasks[a->task].tgid);
	if (h->processes)
		return;
	h->is_open = false;
	emit(a, (struct fs_op){ .kind = IOT_KIND_release, .handle = handle });
}

static void call_copy(struct app *a)
{
	u32 from = pick_handle(a, false), to = pick_handle(a, false);

	if (!from || !to || from == to || !(a->handles[from].flags & IOT_OPEN_read) ||
	    !(a->handles[to].flags & IOT_OPEN_write) || (a->handles[to].flags & IOT_OPEN_append) ||
	    a->fs.handles[from].node == a->fs.handles[to].node)
		return;
	emit(a, (struct fs_op){ .kind = IOT_KIND_copy_range, .handle = from, .other = to,
				.offset_bytes = below(a, 3000), .length_bytes = 1 + below(a, 3000),
				.extra = below(a, 5000) });
}

static void call_fallocate(struct app *a)
{
	u32 handle = pick_handle(a, false);

	if (handle && (a->handles[handle].flags & IOT_OPEN_write))
		emit(a, (struct fs_op){ .kind = IOT_KIND_fallocate, .handle = handle,
					.offset_bytes = below(a, 5000), .length_bytes = 1000 });
}

static void call_map(struct app *a)
{
	u32 handle = pick_handle(a, false), map = a->map_count + 1;

	if (!handle || map == FS_HANDLES)
		return;
	a->map_count = map;
	a->maps[map] = (struct app_map){ .tgid = a->tasks[a->task].tgid, .is_there = true };
	emit(a, (struct fs_op){ .kind = IOT_KIND_map, .handle = handle, .other = map });
}

static void call_touch(struct app *a, u16 kind)
{
	u32 map = a->map_count ? 1 + below(a, a->map_count) : 0;

	if (!map || !a->maps[map].is_there || a->maps[map].tgid != a->tasks[a->task].tgid)
		return;
	emit(a, (struct fs_op){ .kind = kind, .other = map,
				.offset_bytes = kind == IOT_KIND_touch ? below(a, 2) * 4096 : 0 });
	a->maps[map].is_there = kind == IOT_KIND_touch;
}

static void call_on_object(struct app *a)
{
	static const u16 kinds[] = { IOT_KIND_stat, IOT_KIND_setattr, IOT_KIND_setxattr,
				     IOT_KIND_getxattr, IOT_KIND_removexattr };
	struct fs_op op = { .kind = kinds[below(a, 5)], .length_bytes = below(a, 6000) };
	bool is_xattr = op.kind >= IOT_KIND_getxattr;
	char path[128];
	int node;

	pick_path(a, path, sizeof(path));
	if (is_xattr && below(a, 2))
		snprintf(path, sizeof(path), "%s", dirs[below(a, 3)]);
	op.path = path;
	op.path2 = is_xattr ? below(a, 2) ? "user.1" : "user.2" : NULL;
	op.flags = op.kind == IOT_KIND_setxattr ? below(a, 3) : 0;
	if (!follow(a, path, sizeof(path)))
		return;
	node = must_exist(a, path);
	if (node < 0 || (op.kind == IOT_KIND_setattr && a->fs.nodes[node].type != IOT_TYPE_file))
		return;
	emit(a, op);
}

/* Of a file that may have no name any more. */
static void call_on_handle(struct app *a)
{
	u32 handle = pick_handle(a, false);

	if (!handle || !(a->handles[handle].flags & IOT_OPEN_write))
		return;
	if (below(a, 2))
		emit(a, (struct fs_op){ .kind = IOT_KIND_setattr, .handle = handle,
					.length_bytes = below(a, 6000) });
	else if (!a->fs.nodes[a->fs.handles[handle].node].links)
		emit(a, (struct fs_op){ .kind = IOT_KIND_stat, .handle = handle });
}

static void call_make(struct app *a)
{
	static const char *const targets[] = { "a", "b", "m", "l", "s" };
	char path[128];
	bool is_link = below(a, 2);

	if (!is_link && below(a, 2))
		snprintf(path, sizeof(path), "%s", dirs[1 + below(a, 5)]);
	else
		pick_path(a, path, sizeof(path));
	if (!strcmp(path, "d0/s") && fs_find(&a->fs, "d0") < 0)
		return;
	if (strchr(path, '/') && fs_find(&a->fs, "d0") < 0 && !strncmp(path, "d0", 2))
		return;
	if (!has_room(a, path) || !must_not_exist(a, path, 0))
		return;
	emit(a, (struct fs_op){ .kind = is_link ? IOT_KIND_symlink : IOT_KIND_mkdir, .path = path,
				.path2 = is_link ? targets[below(a, 5)] : NULL });
}

static bool is_dir(const struct app *a, int node)
{
	return node >= 0 && a->fs.nodes[node].type == IOT_TYPE_dir;
}

static void call_remove(struct app *a)
{
	char path[128];
	int node;

	if (below(a, 4) == 0)
		snprintf(path, sizeof(path), "%s", dirs[1 + below(a, 5)]);
	else
		pick_path(a, path, sizeof(path));
	if (!strcmp(path, "d0/s") && !is_dir(a, fs_find(&a->fs, "d0")))
		return;
	node = must_exist(a, path);
	if (node >= 0)
		emit(a, (struct fs_op){ .kind = is_dir(a, node) ? IOT_KIND_rmdir : IOT_KIND_unlink,
					.path = path });
}

/* Directories that others are using: one to a new name, or two of them change places. */
static bool pick_directories(struct app *a, char *path, char *path2)
{
	bool is_exchange = below(a, 2), is_back = fs_find(&a->fs, "d2") >= 0;

	if (below(a, 3) == 0) { /* where it has no entries, as it may */
		strcpy(path, "s");
		strcpy(path2, "d2");
		return false;
	}
	strcpy(path, is_back ? "d2" : "d0");
	strcpy(path2, is_exchange ? "d1" : is_back ? "d0" : "d2");
	return is_exchange;
}

static void call_rename(struct app *a)
{
	char path[128], path2[128];
	bool is_exchange = below(a, 4) == 0;
	int node, node2;

	pick_path(a, path, sizeof(path));
	pick_path(a, path2, sizeof(path2));
	if (below(a, 3) == 0)
		is_exchange = pick_directories(a, path, path2);
	node = must_exist(a, path);
	node2 = fs_find(&a->fs, path2);
	if (node < 0 || node == node2 || !has_room(a, path2) ||
	    !strncmp(path, path2, strlen(path)) || !strncmp(path, path2, strlen(path2)))
		return;
	if (is_exchange ? node2 < 0 : node2 >= 0 && is_dir(a, node) != is_dir(a, node2))
		return;
	emit(a, (struct fs_op){ .kind = IOT_KIND_rename, .path = path, .path2 = path2,
				.flags = is_exchange ? IOT_RENAME_exchange : 0 });
}

static void call_link(struct app *a)
{
	char path[128], path2[128];
	int node;

	pick_path(a, path, sizeof(path));
	pick_path(a, path2, sizeof(path2));
	node = must_exist(a, path);
	if (node < 0 || is_dir(a, node) || !has_room(a, path2) || !must_not_exist(a, path2, 0))
		return;
	emit(a, (struct fs_op){ .kind = IOT_KIND_link, .path = path, .path2 = path2 });
}

static void call_readlink(struct app *a)
{
	char path[128];
	int node;

	pick_path(a, path, sizeof(path));
	node = must_exist(a, path);
	if (node >= 0 && a->fs.nodes[node].type == IOT_TYPE_symlink)
		emit(a, (struct fs_op){ .kind = IOT_KIND_readlink, .path = path });
}

/* A file that nobody has open leaves memory, and comes back as another object. */
static void evict(struct app *a, int node)
{
	u32 i;

	if (a->fs.nodes[node].type != IOT_TYPE_file || !a->epochs[node] || a->epochs[node] > 60)
		return;
	for (i = 0; i < FS_HANDLES; i++)
		if (a->fs.handles[i].node == node || a->fs.maps[i] == node)
			return;
	for (i = 1; i <= APP_TASKS; i++)
		if (a->tasks[i].last.end_ns >= a->now_ns)
			a->now_ns = a->tasks[i].last.end_ns + 1;
	a->epochs[node]++;
	add(a, IOT_KIND_object, a->now_ns, NULL)->object = (struct iot_rec_object){
		.time_ns = a->now_ns,
		.object = object_id(a, node),
		.type = IOT_TYPE_file,
		.mode = IOT_TYPE_file << 12 | 0644,
		.ino = (u64)node + 100,
		.dev = 1,
		.size_bytes = a->fs.nodes[node].size,
	};
}

static void evict_some(struct app *a)
{
	u32 node;

	for (node = 0; node < a->fs.node_count; node++)
		if (a->fs.nodes[node].links && below(a, 2))
			evict(a, (int)node);
}

static void call(struct app *a)
{
	switch (below(a, 24)) {
	case 0 ... 3: call_open(a); break;
	case 4 ... 6: call_data(a); break;
	case 7: call_seek(a); break;
	case 8: call_readdir(a); break;
	case 9: call_close(a); break;
	case 10: below(a, 2) ? call_copy(a) : call_fallocate(a); break;
	case 11: below(a, 2) ? call_map(a) : call_touch(a, IOT_KIND_unmap); break;
	case 12: call_touch(a, IOT_KIND_touch); break;
	case 13: call_on_object(a); break;
	case 14: call_on_handle(a); break;
	case 15: call_make(a); break;
	case 16: call_remove(a); break;
	case 17: call_rename(a); break;
	case 18: below(a, 2) ? call_link(a) : call_readlink(a); break;
	case 19: evict_some(a); break;
	case 20 ... 21: call_submit(a); break;
	default: call_on_object(a);
	}
}

/* -- the run ------------------------------------------------------------------------------------------------ */

static void announce_task(struct app *a, u32 id, u32 parent, u32 tgid)
{
	struct iot_record *r = add(a, IOT_KIND_task, a->now_ns, "app");

	r->task.time_ns = a->now_ns;
	r->task.task = id;
	r->task.parent = parent;
	r->task.tgid = tgid;
	r->task.why = parent ? IOT_REASON_fork : IOT_REASON_adopt;
	a->tasks[id].is_alive = true;
	a->tasks[id].tgid = tgid;
	a->tasks[id].last.end_ns = a->now_ns;
}

/* A thread, or a process that has all handles of its maker's, which are the same from now on. */
static void fork_task(struct app *a, u32 parent, u32 child, bool is_thread)
{
	u32 tgid = is_thread ? a->tasks[parent].tgid : child, i;
	struct iot_record *r;

	a->now_ns += 1;
	if (a->now_ns <= a->tasks[parent].last.end_ns)
		a->now_ns = a->tasks[parent].last.end_ns + 1;
	announce_task(a, child, parent, tgid);
	r = add(a, IOT_KIND_fork, a->now_ns, NULL);
	r->fork.time_ns = a->now_ns;
	r->fork.task = parent;
	r->fork.op = a->tasks[parent].op;
	r->fork.child = child;
	for (i = 0; i < FS_HANDLES && !is_thread; i++)
		if (a->handles[i].processes & 1u << a->tasks[parent].tgid)
			a->handles[i].processes |= 1u << tgid;
}

/* Some of these are there at the beginning; the first task looks at each. */
static void begin_run(struct app *a)
{
	static const char *const paths[] = { "d0", "d1", "d0/s", "a", "b", "d0/a", "d0/b", "d1/c",
					     "d0/s/a" };
	u32 i;

	fs_init(&a->fs);
	for (i = 0; i < 9; i++) {
		bool is_directory = i < 3;
		int node = fs_make(&a->fs, paths[i], is_directory ? IOT_TYPE_dir : IOT_TYPE_file,
				   app_tag_of_path(paths[i]));

		a->fs.nodes[node].size = is_directory ? 0 : 1000 * (u64)i;
	}
	strcpy(a->fs.nodes[fs_make(&a->fs, "d1/l", IOT_TYPE_symlink, app_tag_of_path("d1/l"))].target,
	       "m");
	announce_task(a, 1, 0, 1);
	a->task = 1;
	a->fs.nodes[FS_ROOT].tag = app_tag_of_path(".");
	a->epochs[FS_ROOT] = 0;
	name_in(a, FS_NONE, "");
	emit(a, (struct fs_op){ .kind = IOT_KIND_stat, .path = "." });
	for (i = 0; i < 9; i++)
		emit(a, (struct fs_op){ .kind = IOT_KIND_stat, .path = paths[i] });
	emit(a, (struct fs_op){ .kind = IOT_KIND_follow, .path = "d1/l" });
}

static int compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static void save(struct app *a, const char *path)
{
	static const unsigned char capture[16] = "ordering";
	struct iot_writer *writer;
	u32 i;
	int err = iot_writer_open(path, capture, &writer);

	qsort(a->entries, a->entry_count, sizeof(*a->entries), compare_entries);
	for (i = 0; i < a->entry_count && !err; i++) {
		if (a->entries[i].record.tail)
			a->entries[i].record.tail = a->entries[i].tail;
		err = iot_writer_record(writer, &a->entries[i].record);
	}
	if (err || iot_writer_finish(writer))
		abort();
	iot_writer_close(writer);
}

void app_record(u64 seed, u32 steps, const char *path, struct app_truth *truth)
{
	struct app *a = calloc(1, sizeof(*a));
	u32 tasks = 1, i;

	if (!a)
		abort();
	a->entries = calloc(RECORDS_MAX, sizeof(*a->entries));
	a->truth = truth;
	a->random = seed * 0x9e3779b97f4a7c15ull + 1;
	a->now_ns = 1000;
	memset(truth, 0, sizeof(*truth));
	begin_run(a);
	for (i = 0; i < steps; i++) {
		u32 parent = 1 + below(a, tasks);

		if (tasks < APP_TASKS && i >= tasks * 8 && a->tasks[parent].op) {
			fork_task(a, parent, tasks + 1, below(a, 2));
			tasks++;
		}
		a->task = 1 + below(a, tasks);
		call(a);
	}
	save(a, path);
	free(a->entries);
	free(a);
}
