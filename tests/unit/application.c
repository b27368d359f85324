// SPDX-License-Identifier: GPL-2.0-only
/*
 * application.c - a random application that runs on a file system in memory and is recorded in the way of
 * tapefs: symbolic links and failed lookups in path walks are separate operations,
 * names have ids of (directory, component), handles are shared by threads and inherited by fork.
 *
 * Operations take effect when they begin. Some last, and overlap operations of other tasks. An operation does
 * not begin while another one that conflicts with it lasts, so the recorded results hold for
 * either order of two overlapping operations.
 */
#include "application_record.h"

#include <stdlib.h>

#define FOLLOW_MAX 5

/* -- paths ---------------------------------------------------------------------------------------------- */

static const char *const dirs[] = { ".", "d0", "d1", "d0/s", "d2", "s" };
static const char *const components[] = { "a", "b", "c", "l", "m", "s" };

/* A path from an existing directory; the last component may not exist. */
static void pick_path(struct app *a, char *path, size_t room)
{
	const char *dir, *component = components[app_below(a, 6)];
	int node;

	do {
		dir = dirs[app_below(a, 6)];
		node = fs_find(&a->fs, dir);
	} while (node < 0 || a->fs.nodes[node].type != IOT_TYPE_dir);
	if (!strcmp(dir, ".") && app_below(a, 3) == 0)
		component = dirs[1 + app_below(a, 2)]; /* a directory itself */
	snprintf(path, room, "%s%s%s", strcmp(dir, ".") ? dir : "", strcmp(dir, ".") ? "/" : "",
		 component);
}

/* Follow links at the end of a path; each is recorded. Return: false if there are too many. */
static bool follow(struct app *a, char *path, size_t room)
{
	int i, node;

	for (i = 0; i < FOLLOW_MAX; i++) {
		char *slash = strrchr(path, '/');

		node = fs_find(&a->fs, path);
		if (node < 0 || a->fs.nodes[node].type != IOT_TYPE_symlink)
			return true;
		app_emit(a, (struct fs_op){ .kind = IOT_KIND_follow, .path = path });
		snprintf(slash ? slash + 1 : path, slash ? room - (size_t)(slash + 1 - path) : room, "%s",
			 a->fs.nodes[node].target);
	}
	return false;
}

/* Return: the node; negative if there is none, after recording the lookup that failed. */
static int must_exist(struct app *a, const char *path)
{
	int node = fs_find(&a->fs, path);

	if (node < 0)
		app_emit(a, (struct fs_op){ .kind = IOT_KIND_lookup, .path = path });
	return node;
}

static bool must_not_exist(struct app *a, const char *path, u32 intents)
{
	if (fs_find(&a->fs, path) < 0)
		return true;
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_lookup, .path = path,
				    .flags = IOT_INTENT_create | IOT_INTENT_excl | intents });
	return false;
}

static bool has_room(const struct app *a, const char *path)
{
	int node = app_directory_of(a, path);

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
	u32 flags = kinds[app_below(a, 7)], handle = a->handle_count + 1;
	char path[128];
	int node;

	if (handle == FS_HANDLES)
		return;
	if (flags & IOT_OPEN_directory)
		snprintf(path, sizeof(path), "%s", dirs[app_below(a, 6)]);
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
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_open, .path = path, .flags = flags,
				    .handle = handle });
	a->handle_count = handle;
	a->handles[handle] = (struct app_handle){ 1u << a->tasks[a->task].tgid, flags, 0, true };
}

/* Return: a handle that the task may use, of a directory or of a file, or 0. */
static u32 pick_handle(struct app *a, bool is_dir)
{
	u32 first = app_below(a, a->handle_count + 1), i, handle;

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
	bool is_positioned = app_below(a, 2);
	struct fs_op op = { .handle = handle, .length_bytes = 1 + app_below(a, 3000) };
	u64 offset_bytes = is_positioned ? app_below(a, 6000) : h->position;
	s64 result;

	if (!handle)
		return;
	if ((h->flags & IOT_OPEN_read) && app_below(a, 2))
		is_write = false;
	if (is_write && is_append)
		offset_bytes = size_of(a, handle);
	op.kind = is_write ? IOT_KIND_write : IOT_KIND_read;
	op.flags = is_write && is_append ? IOT_RW_append : 0;
	op.offset_bytes = offset_bytes;
	op.extra = size_of(a, handle);
	result = app_emit(a, op);
	if (!is_positioned)
		h->position = offset_bytes + (u64)result;
}

/* A request takes effect when it is submitted, and ends some time later. */
static void call_submit(struct app *a)
{
	u32 handle = pick_handle(a, false), i = a->request_count % REQUESTS;
	bool is_write = a->handles[handle].flags & IOT_OPEN_write;
	struct app_task *task = &a->tasks[a->task];
	struct fs_op op = {
		.kind = is_write ? IOT_KIND_write : IOT_KIND_read,
		.handle = handle,
		.tag = app_tag_of_op(a->task, task->op + 1),
		.offset_bytes = app_below(a, 5000),
		.length_bytes = 1 + app_below(a, 3000),
	};
	struct footprint f = { .is_read = !is_write, .handles = { handle } };
	u64 enter_ns, old_size_bytes, seen;
	struct iot_record *r;
	s64 result;

	if (!handle || (a->handles[handle].flags & IOT_OPEN_append) ||
	    a->requests[i].end_ns >= a->now_ns)
		return;
	app_find_nodes(a, &op, &f);
	enter_ns = app_begin(a, &f);
	old_size_bytes = size_of(a, handle);
	result = fs_perform(&a->fs, &op, &seen);
	a->truth->enter_ns[a->task][++task->op] = enter_ns;
	task->last = f;
	task->last.end_ns = enter_ns + 1;
	f.end_ns = enter_ns + 2 + app_below(a, 150);
	a->requests[i] = f;
	r = app_add(a, IOT_KIND_submit, enter_ns + 1, NULL);
	r->submit = (struct iot_rec_submit){
		.enter_ns = enter_ns, .duration_ns = 1, .task = a->task, .op = task->op,
		.request = ++a->request_count, .object = app_object_id(a, f.nodes[2]),
		.handle = handle, .offset_bytes = (s64)op.offset_bytes,
		.length_bytes = op.length_bytes, .flags = is_write ? IOT_RW_write : 0,
		.old_size_bytes = old_size_bytes,
	};
	r = app_add(a, IOT_KIND_complete, f.end_ns, NULL);
	r->complete = (struct iot_rec_complete){
		.time_ns = f.end_ns, .task = a->task, .op = task->op,
		.request = a->request_count, .result = result,
	};
}

static void call_seek(struct app *a)
{
	u32 handle = pick_handle(a, app_below(a, 4) == 0), whence = app_below(a, 3);
	struct app_handle *h = &a->handles[handle];
	struct fs_op op = { .kind = IOT_KIND_seek, .handle = handle, .flags = whence };

	if (!handle)
		return;
	if (h->flags & IOT_OPEN_directory)
		op.flags = IOT_WHENCE_set;
	else
		op.offset_bytes = app_below(a, 500);
	if (op.flags == IOT_WHENCE_cur)
		op.result = (s64)(h->position + op.offset_bytes);
	h->position = (u64)app_emit(a, op);
}

static void call_readdir(struct app *a)
{
	u32 handle = pick_handle(a, true);

	if (handle)
		app_emit(a, (struct fs_op){ .kind = IOT_KIND_readdir, .handle = handle });
}

static void call_close(struct app *a)
{
	u32 handle = pick_handle(a, app_below(a, 3) == 0);
	struct app_handle *h = &a->handles[handle];

	if (!handle)
		return;
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_flush, .handle = handle });
	h->processes &= ~(1u << a->tasks[a->task].tgid);
	if (h->processes)
		return;
	h->is_open = false;
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_release, .handle = handle });
}

static void call_copy(struct app *a)
{
	u32 from = pick_handle(a, false), to = pick_handle(a, false);

	if (!from || !to || from == to || !(a->handles[from].flags & IOT_OPEN_read) ||
	    !(a->handles[to].flags & IOT_OPEN_write) || (a->handles[to].flags & IOT_OPEN_append) ||
	    a->fs.handles[from].node == a->fs.handles[to].node)
		return;
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_copy_range, .handle = from, .other = to,
				    .offset_bytes = app_below(a, 3000), .length_bytes = 1 + app_below(a, 3000),
				    .extra = app_below(a, 5000) });
}

static void call_fallocate(struct app *a)
{
	u32 handle = pick_handle(a, false);

	if (handle && (a->handles[handle].flags & IOT_OPEN_write))
		app_emit(a, (struct fs_op){ .kind = IOT_KIND_fallocate, .handle = handle,
					    .offset_bytes = app_below(a, 5000), .length_bytes = 1000 });
}

static void call_map(struct app *a)
{
	u32 handle = pick_handle(a, false), map = a->map_count + 1;

	if (!handle || map == FS_HANDLES)
		return;
	a->map_count = map;
	a->maps[map] = (struct app_map){ .tgid = a->tasks[a->task].tgid, .is_there = true };
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_map, .handle = handle, .other = map });
}

static void call_touch(struct app *a, u16 kind)
{
	u32 map = a->map_count ? 1 + app_below(a, a->map_count) : 0;

	if (!map || !a->maps[map].is_there || a->maps[map].tgid != a->tasks[a->task].tgid)
		return;
	app_emit(a, (struct fs_op){ .kind = kind, .other = map,
				    .offset_bytes = kind == IOT_KIND_touch ? app_below(a, 2) * 4096 : 0 });
	a->maps[map].is_there = kind == IOT_KIND_touch;
}

static void call_on_object(struct app *a)
{
	static const u16 kinds[] = { IOT_KIND_stat, IOT_KIND_setattr, IOT_KIND_setxattr,
				     IOT_KIND_getxattr, IOT_KIND_removexattr };
	struct fs_op op = { .kind = kinds[app_below(a, 5)], .length_bytes = app_below(a, 6000) };
	bool is_xattr = op.kind >= IOT_KIND_getxattr;
	char path[128];
	int node;

	pick_path(a, path, sizeof(path));
	if (is_xattr && app_below(a, 2))
		snprintf(path, sizeof(path), "%s", dirs[app_below(a, 3)]);
	op.path = path;
	op.path2 = is_xattr ? app_below(a, 2) ? "user.1" : "user.2" : NULL;
	op.flags = op.kind == IOT_KIND_setxattr ? app_below(a, 3) : 0;
	if (!follow(a, path, sizeof(path)))
		return;
	node = must_exist(a, path);
	if (node < 0 || (op.kind == IOT_KIND_setattr && a->fs.nodes[node].type != IOT_TYPE_file))
		return;
	app_emit(a, op);
}

/* On a file that may have no name any more. */
static void call_on_handle(struct app *a)
{
	u32 handle = pick_handle(a, false);

	if (!handle || !(a->handles[handle].flags & IOT_OPEN_write))
		return;
	if (app_below(a, 2))
		app_emit(a, (struct fs_op){ .kind = IOT_KIND_setattr, .handle = handle,
					    .length_bytes = app_below(a, 6000) });
	else if (!a->fs.nodes[a->fs.handles[handle].node].links)
		app_emit(a, (struct fs_op){ .kind = IOT_KIND_stat, .handle = handle });
}

static void call_make(struct app *a)
{
	static const char *const targets[] = { "a", "b", "m", "l", "s" };
	char path[128];
	bool is_link = app_below(a, 2);

	if (!is_link && app_below(a, 2))
		snprintf(path, sizeof(path), "%s", dirs[1 + app_below(a, 5)]);
	else
		pick_path(a, path, sizeof(path));
	if (!strcmp(path, "d0/s") && fs_find(&a->fs, "d0") < 0)
		return;
	if (strchr(path, '/') && fs_find(&a->fs, "d0") < 0 && !strncmp(path, "d0", 2))
		return;
	if (!has_room(a, path) || !must_not_exist(a, path, 0))
		return;
	app_emit(a, (struct fs_op){ .kind = is_link ? IOT_KIND_symlink : IOT_KIND_mkdir, .path = path,
				    .path2 = is_link ? targets[app_below(a, 5)] : NULL });
}

static bool is_dir(const struct app *a, int node)
{
	return node >= 0 && a->fs.nodes[node].type == IOT_TYPE_dir;
}

static void call_remove(struct app *a)
{
	char path[128];
	int node;

	if (app_below(a, 4) == 0)
		snprintf(path, sizeof(path), "%s", dirs[1 + app_below(a, 5)]);
	else
		pick_path(a, path, sizeof(path));
	if (!strcmp(path, "d0/s") && !is_dir(a, fs_find(&a->fs, "d0")))
		return;
	node = must_exist(a, path);
	if (node >= 0)
		app_emit(a, (struct fs_op){ .kind = is_dir(a, node) ? IOT_KIND_rmdir : IOT_KIND_unlink,
					    .path = path });
}

/* Renames a directory that other tasks use, or exchanges two of them. */
static bool pick_directories(struct app *a, char *path, char *path2)
{
	bool is_exchange = app_below(a, 2), is_back = fs_find(&a->fs, "d2") >= 0;

	if (app_below(a, 3) == 0) { /* to a directory without entries, which is permitted */
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
	bool is_exchange = app_below(a, 4) == 0;
	int node, node2;

	pick_path(a, path, sizeof(path));
	pick_path(a, path2, sizeof(path2));
	if (app_below(a, 3) == 0)
		is_exchange = pick_directories(a, path, path2);
	node = must_exist(a, path);
	node2 = fs_find(&a->fs, path2);
	if (node < 0 || node == node2 || !has_room(a, path2) ||
	    !strncmp(path, path2, strlen(path)) || !strncmp(path, path2, strlen(path2)))
		return;
	if (is_exchange ? node2 < 0 : node2 >= 0 && is_dir(a, node) != is_dir(a, node2))
		return;
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_rename, .path = path, .path2 = path2,
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
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_link, .path = path, .path2 = path2 });
}

static void call_readlink(struct app *a)
{
	char path[128];
	int node;

	pick_path(a, path, sizeof(path));
	node = must_exist(a, path);
	if (node >= 0 && a->fs.nodes[node].type == IOT_TYPE_symlink)
		app_emit(a, (struct fs_op){ .kind = IOT_KIND_readlink, .path = path });
}

/* The inode of a file that is not open is evicted, and comes back with another object id. */
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
	app_add(a, IOT_KIND_object, a->now_ns, NULL)->object = (struct iot_rec_object){
		.time_ns = a->now_ns,
		.object = app_object_id(a, node),
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
		if (a->fs.nodes[node].links && app_below(a, 2))
			evict(a, (int)node);
}

static void call(struct app *a)
{
	switch (app_below(a, 24)) {
	case 0 ... 3: call_open(a); break;
	case 4 ... 6: call_data(a); break;
	case 7: call_seek(a); break;
	case 8: call_readdir(a); break;
	case 9: call_close(a); break;
	case 10: app_below(a, 2) ? call_copy(a) : call_fallocate(a); break;
	case 11: app_below(a, 2) ? call_map(a) : call_touch(a, IOT_KIND_unmap); break;
	case 12: call_touch(a, IOT_KIND_touch); break;
	case 13: call_on_object(a); break;
	case 14: call_on_handle(a); break;
	case 15: call_make(a); break;
	case 16: call_remove(a); break;
	case 17: call_rename(a); break;
	case 18: app_below(a, 2) ? call_link(a) : call_readlink(a); break;
	case 19: evict_some(a); break;
	case 20 ... 21: call_submit(a); break;
	default: call_on_object(a);
	}
}

/* -- the run ------------------------------------------------------------------------------------------------ */

static void announce_task(struct app *a, u32 id, u32 parent, u32 tgid)
{
	struct iot_record *r = app_add(a, IOT_KIND_task, a->now_ns, "app");

	r->task.time_ns = a->now_ns;
	r->task.task = id;
	r->task.parent = parent;
	r->task.tgid = tgid;
	r->task.why = parent ? IOT_REASON_fork : IOT_REASON_adopt;
	a->tasks[id].is_alive = true;
	a->tasks[id].tgid = tgid;
	a->tasks[id].last.end_ns = a->now_ns;
}

/* Creates a thread, or a process that shares all handles of its parent from then on. */
static void fork_task(struct app *a, u32 parent, u32 child, bool is_thread)
{
	u32 tgid = is_thread ? a->tasks[parent].tgid : child, i;
	struct iot_record *r;

	a->now_ns += 1;
	if (a->now_ns <= a->tasks[parent].last.end_ns)
		a->now_ns = a->tasks[parent].last.end_ns + 1;
	announce_task(a, child, parent, tgid);
	r = app_add(a, IOT_KIND_fork, a->now_ns, NULL);
	r->fork.time_ns = a->now_ns;
	r->fork.task = parent;
	r->fork.op = a->tasks[parent].op;
	r->fork.child = child;
	for (i = 0; i < FS_HANDLES && !is_thread; i++)
		if (a->handles[i].processes & 1u << a->tasks[parent].tgid)
			a->handles[i].processes |= 1u << tgid;
}

/* Some of these exist at the beginning; the first task looks each up. */
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
	app_name_in(a, FS_NONE, "");
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_stat, .path = "." });
	for (i = 0; i < 9; i++)
		app_emit(a, (struct fs_op){ .kind = IOT_KIND_stat, .path = paths[i] });
	app_emit(a, (struct fs_op){ .kind = IOT_KIND_follow, .path = "d1/l" });
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
		u32 parent = 1 + app_below(a, tasks);

		if (tasks < APP_TASKS && i >= tasks * 8 && a->tasks[parent].op) {
			fork_task(a, parent, tasks + 1, app_below(a, 2));
			tasks++;
		}
		a->task = 1 + app_below(a, tasks);
		call(a);
	}
	save(a, path);
	free(a->entries);
	free(a);
}
