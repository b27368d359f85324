// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - handles and mappings that existed before a recording become the first operations of a graph.
 *
 * Traces are written as a list of records, and the resulting graph as text: for each
 * task its number and, after a colon, its operations in order, with path, handle, offset, or mapping.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/diff/diff.h"
#include "analyse/graph/graph_load.h"
#include "suite.h"
#include "analyse/order/order_passes.h"

#define BEGIN_NS 1000000
#define STEPS_MAX 16
#define ROOT	 1

enum what {
	END,
	TASK,	/* a: id, b: process, c: parent, created by fork if it has one, d: or by exec */
	FORK,	/* a: task, b: child */
	FILE_IS, /* a: object, b: name, c: size; path: component */
	PIPE_IS, /* the same */
	OPENED, /* a: task, b: object, c: handle, d: descriptor, e: position, f: name */
	MAPPED, /* a: task, b: object, c: handle, d: map, e: offset, f: length */
	OPEN,	/* a: task, b: object, c: handle, d: name */
	SEEK,	/* a: task, b: object, c: handle, d: to */
	READ,	/* a: task, b: object, c: handle, d: offset, e: duration */
	MAP,	/* as MAPPED */
	COPIED, /* as MAPPED: by a fork of that task, which is recorded next */
	RELEASE, /* a: task, b: object, c: handle */
	UNMAP,	/* a: task, b: object, c: map, d: offset, e: length */
	TOUCH,	/* a: task, b: object, c: map, d: offset */
	UNLINK, /* a: task, b: object, c: name, d: remaining links */
	RENAME, /* a: task, b: object, c: old name, d: new name */
	ASK,	/* a: task, b: object, c: name: query of capabilities */
	CUT,	/* a: task, b: object, c: name */
};

struct step {
	enum what what;
	u64 a, b, c;
	s64 d;
	u64 e, f;
	const char *path;
};

static char path[] = "/tmp/iotape-state-XXXXXX", path2[] = "/tmp/iotape-state-XXXXXX";

/* -- from steps to a trace --------------------------------------------------------------------- */

struct scribe {
	struct iot_writer *writer;
	u64 now_ns;
	u32 ops[8];
};

static void put(struct scribe *s, struct iot_record record, const char *tail)
{
	const struct iot_kind_info *info = iot_kind_info(record.kind);

	s->now_ns += 1000;
	if (iot_kind_is_span(info)) {
		record.op.enter_ns = s->now_ns - 500;
		record.op.duration_ns = 500;
		record.op.op = ++s->ops[record.op.task];
	} else {
		record.fact.time_ns = s->now_ns; /* the first field of all records */
	}
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)(tail ? strlen(tail) : 0);
	assert_int_equal(iot_writer_record(s->writer, &record), 0);
}

#define PUT(kind_, ...) \
	put(s, (struct iot_record){ .kind = IOT_KIND_##kind_, .kind_ = { __VA_ARGS__ } }, NULL)

static void put_object(struct scribe *s, const struct step *t, u32 type)
{
	struct iot_record name = { .kind = IOT_KIND_name, .name = { .name = t->b, .dir = ROOT } };

	if (t->b)
		put(s, name, t->path);
	PUT(object, .object = t->a, .name = t->b, .type = type, .mode = S_IFREG | 0644,
	    .ino = t->a, .nlink = t->b ? 1 : 0, .size_bytes = t->c);
}

static void put_step(struct scribe *s, const struct step *t)
{
	u32 task = (u32)t->a;

	switch (t->what) {
	case TASK:
		PUT(task, .task = task, .pid = task, .tgid = (u32)t->b, .parent = (u32)t->c,
		    .why = t->d ? IOT_REASON_exec : t->c ? IOT_REASON_fork : IOT_REASON_seen);
		break;
	case FORK:
		PUT(fork, .task = task, .op = s->ops[task], .child = (u32)t->b);
		break;
	case FILE_IS:
	case PIPE_IS:
		put_object(s, t, t->what == FILE_IS ? IOT_TYPE_file : IOT_TYPE_fifo);
		break;
	case OPENED:
		PUT(opened, .task = task, .object = t->b, .handle = t->c, .fd = (s32)t->d,
		    .offset_bytes = (s64)t->e, .name = t->f, .flags = IOT_OPEN_read);
		break;
	case MAPPED:
		PUT(mapped, .task = task, .object = t->b, .handle = t->c, .map = (u64)t->d,
		    .offset_bytes = (s64)t->e, .length_bytes = t->f, .prot = IOT_PROT_read);
		break;
	case OPEN:
		PUT(open, .task = task, .object = t->b, .handle = t->c, .name = (u64)t->d,
		    .flags = IOT_OPEN_read);
		break;
	case SEEK:
		PUT(seek, .task = task, .object = t->b, .handle = t->c, .offset_bytes = t->d,
		    .result = t->d);
		break;
	case READ:
		PUT(read, .task = task, .object = t->b, .handle = t->c, .offset_bytes = t->d,
		    .length_bytes = 1, .result = 1);
		break;
	case MAP:
	case COPIED:
		PUT(map, .task = task, .object = t->b, .handle = t->c, .map = (u64)t->d,
		    .offset_bytes = (s64)t->e, .length_bytes = t->f, .prot = IOT_PROT_read,
		    .flags = t->what == COPIED ? IOT_MAP_inherited : 0);
		break;
	case RELEASE:
		PUT(release, .task = task, .object = t->b, .handle = t->c);
		break;
	case UNMAP:
		PUT(unmap, .task = task, .object = t->b, .map = t->c, .offset_bytes = t->d,
		    .length_bytes = t->e);
		break;
	case TOUCH:
		PUT(touch, .task = task, .object = t->b, .map = t->c, .offset_bytes = t->d,
		    .length_bytes = 4096);
		break;
	case UNLINK:
		PUT(unlink, .task = task, .object = t->b, .name = t->c, .nlink = (u32)t->d);
		break;
	case RENAME:
		PUT(rename, .task = task, .object = t->b, .name = t->c, .new_name = (u64)t->d);
		break;
	case ASK:
		put(s, (struct iot_record){ .kind = IOT_KIND_getxattr, .getxattr = { .task = task, .object = t->b,
		    .name = t->c, .result = -ENODATA } }, "security.capability");
		break;
	case CUT:
		PUT(setattr, .task = task, .object = t->b, .name = t->c, .attrs = IOT_ATTR_size);
		break;
	case END:
		break;
	}
}

static void write_trace(const char *to, const struct step *steps)
{
	static const unsigned char capture[16] = "state";
	struct scribe scribe = { .now_ns = BEGIN_NS }, *s = &scribe;

	assert_int_equal(iot_writer_open(to, capture, &s->writer), 0);
	PUT(clock, .real_ns = 1);
	put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = ROOT } }, NULL);
	PUT(object, .object = ROOT, .name = ROOT, .type = IOT_TYPE_dir, .mode = S_IFDIR | 0755, .ino = 99);
	PUT(mount, .object = ROOT);
	for (; steps->what; steps++)
		put_step(s, steps);
	PUT(end, .records = 1);
	assert_int_equal(iot_writer_finish(s->writer), 0);
	iot_writer_close(s->writer);
}

/* -- from a graph to a text -------------------------------------------------------------------- */

static size_t describe_op(char *text, size_t room, const struct graph_op *op)
{
	const char *name = op->kind < IOT_KIND_END ? iot_kind_info(op->kind)->name : "begin";

	switch (op->kind) {
	case IOT_KIND_open:
		return (size_t)snprintf(text, room, " open %s h%llu", op->path, op->handle);
	case IOT_KIND_unlink:
		return (size_t)snprintf(text, room, " unlink %s", op->path);
	case IOT_KIND_map:
		return (size_t)snprintf(text, room, " map h%llu m%llu %llu+%llu", op->handle, op->other,
					op->offset_bytes, op->length_bytes);
	case IOT_KIND_touch:
		return (size_t)snprintf(text, room, " touch m%llu %llu", op->other, op->offset_bytes);
	case IOT_KIND_seek:
	case IOT_KIND_read:
		return (size_t)snprintf(text, room, " %s h%llu %llu", name, op->handle, op->offset_bytes);
	default:
		return (size_t)snprintf(text, room, " %s", name);
	}
}

static void describe(char *text, size_t room, const struct graph *graph)
{
	size_t at = 0;
	u32 i, j;

	for (i = 0; i < graph->task_count; i++) {
		at += (size_t)snprintf(text + at, room - at, "%s%u:", i ? "; " : "", graph->tasks[i].id);
		for (j = 0; j < graph->tasks[i].op_count; j++)
			at += describe_op(text + at, room - at, &graph->tasks[i].ops[j]);
	}
}

/* Operations of the initial state end before the first record, which is at BEGIN_NS + 1000 or shortly after; those of a child at its start. */
static bool is_in_time(const struct graph *graph)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++) {
		const struct graph_task *t = &graph->tasks[i];
		bool is_child = t->why == IOT_REASON_fork;
		u64 from_ns = is_child ? t->begin_ns : BEGIN_NS;
		u64 to_ns = is_child ? UINT64_MAX : BEGIN_NS + 1000 + STEPS_MAX;

		for (j = 0; j < t->op_count; j++)
			if (!t->ops[j].number && t->ops[j].kind < IOT_KIND_END &&
			    t->ops[j].kind >= IOT_KIND_lookup &&
			    (t->ops[j].enter_ns < from_ns || t->ops[j].end_ns > to_ns))
				return false;
	}
	return true;
}

static const struct {
	const char *what, *gives;
	u64 dropped;
	struct step steps[STEPS_MAX];
} cases[] = {
	{ "the first record of a handle counts, with its position", "1: open a h7 seek h7 3 read h7 5", 0,
	  { { TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPENED, 1, 4, 7, 3, 3, 5 },
	    { OPENED, 1, 4, 7, 4, 9, 5 }, { READ, 1, 4, 7, 5 }, { OPENED, 1, 4, 7, 5, 9, 5 } } },
	{ "at the beginning of a file there is no seek", "1: open a h7", 0,
	  { { TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPENED, 1, 4, 7, 3, 0, 5 } } },
	{ "a handle that is announced late is opened before all else", "1: open a h7 read h8 0 read h7 0", 0,
	  { { TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { READ, 1, 4, 8 },
	    { OPENED, 1, 4, 7, -1, 0, 5 }, { READ, 1, 4, 7 } } },
	{ "a handle first used by a child is opened by a task that existed then", "1: open a h7 fork; 2: begin read h7 0", 0,
	  { { TASK, 1, 1 }, { TASK, 2, 2, 1 }, { FORK, 1, 2 }, { FILE_IS, 4, 5, .path = "a" },
	    { OPENED, 2, 4, 7, -1, 0, 5 }, { READ, 2, 4, 7 } } },
	{ "a file is opened by its initial name", "1: open a h7 rename read h7 0", 0,
	  { { TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { FILE_IS, 9, 6, .path = "b" },
	    { RENAME, 1, 4, 5, 6 }, { OPENED, 1, 4, 7, 3, 0, 6 }, { READ, 1, 4, 7 } } },
	{ "also if that name was removed before the announcement", "1: open a h7 unlink a read h7 0", 0,
	  { { TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { UNLINK, 1, 4, 5 },
	    { OPENED, 1, 4, 7, 3, 0, 0 }, { READ, 1, 4, 7 } } },
	{ "a file without a name gets one, which is removed after the opens",
	  "1: open .iotape-unlinked-1 h7 open .iotape-unlinked-1 h8 open .iotape-unlinked-2 h9 "
	  "unlink .iotape-unlinked-1 unlink .iotape-unlinked-2 read h8 0", 0,
	  { { TASK, 1, 1 }, { FILE_IS, 4, 0, 77 }, { FILE_IS, 5, 0, 88 }, { OPENED, 1, 4, 7, 3 },
	    { OPENED, 1, 4, 8, 4 }, { OPENED, 1, 5, 9, 5 }, { READ, 1, 4, 8 } } },
	{ "a pipe is not opened", "1: read h7 0", 1,
	  { { TASK, 1, 1 }, { PIPE_IS, 4, 5, .path = "p" }, { OPENED, 1, 4, 7, 3, 0, 5 },
	    { READ, 1, 4, 7 } } },
	{ "a mapping is created once in each process",
	  "1: open a h7 map h7 m1 0+8192 touch m1 4096; 2: map h7 m2 0+8192", 0,
	  { { TASK, 1, 1 }, { TASK, 2, 2 }, { FILE_IS, 4, 5, .path = "a" }, { OPENED, 1, 4, 7, -2, 0, 5 },
	    { MAPPED, 1, 4, 7, 3, 0, 8192 }, { MAPPED, 2, 4, 7, 3, 0, 8192 },
	    { MAPPED, 1, 4, 7, 3, 4096, 4096 }, { TOUCH, 1, 4, 3, 4096 } } },
	{ "a mapping of a child is inherited by its fork",
	  "1: open a h7 map h7 m1 0+4096 fork; 2: begin map h7 m2 0+4096", 0,
	  { { TASK, 1, 1 }, { TASK, 2, 2, 1 }, { FILE_IS, 4, 5, .path = "a" },
	    { OPENED, 1, 4, 7, 3, 0, 5 }, { MAPPED, 1, 4, 7, 3, 0, 4096 }, { COPIED, 1, 4, 7, 3, 0, 4096 },
	    { FORK, 1, 2 }, { MAPPED, 2, 4, 7, 3, 0, 4096 } } },
	{ "a mapping of a child whose fork was not recorded when it copied",
	  "1: open a h7 fork; 2: begin map h7 m1 0+4096 touch m1 0 unmap", 0,
	  { { TASK, 1, 1 }, { TASK, 2, 2, 1 }, { FORK, 1, 2 }, { FILE_IS, 4, 5, .path = "a" },
	    { OPENED, 1, 4, 7, 3, 0, 5 }, { TOUCH, 2, 4, 3, 0 }, { MAPPED, 2, 4, 7, 3, 0, 4096 },
	    { MAPPED, 2, 4, 7, 3, 0, 4096 }, { UNMAP, 2, 4, 3, 0, 4096 } } },
	{ "mappings of a child whose fork was half recorded, in the order of the announcements",
	  "1: map h7 m1 0+4096 fork; 2: begin map h7 m2 0+4096 map h8 m3 0+8192", 0,
	  { { TASK, 1, 1 }, { TASK, 2, 2, 1 }, { FILE_IS, 4, 5, .path = "a" }, { MAPPED, 1, 4, 7, 3, 0, 4096 },
	    { COPIED, 1, 4, 7, 3, 0, 4096 }, { FORK, 1, 2 }, { MAPPED, 2, 4, 8, 5, 0, 8192 } } },
	{ "a mapping of the child's thread, too", "1: open a h7 fork; 2: begin map h7 m1 0+4096 fork; 3: begin touch m1 0", 0,
	  { { TASK, 1, 1 }, { TASK, 2, 2, 1 }, { TASK, 3, 2, 2 }, { FORK, 1, 2 }, { FORK, 2, 3 },
	    { FILE_IS, 4, 5, .path = "a" }, { OPENED, 3, 4, 7, 3, 0, 5 }, { MAPPED, 3, 4, 7, 3, 0, 4096 },
	    { TOUCH, 3, 4, 3, 0 } } },
	{ "a mapping of a thread belongs to its process", "1: open a h7 map h7 m1 0+4096 fork; 2: begin touch m1 0", 0,
	  { { TASK, 1, 1 }, { TASK, 2, 1, 1 }, { FORK, 1, 2 }, { FILE_IS, 4, 5, .path = "a" },
	    { OPENED, 1, 4, 7, 3, 0, 5 }, { MAPPED, 2, 4, 7, 3, 0, 4096 }, { TOUCH, 2, 4, 3, 0 } } },
};

static void operations_use_existing_handles(void **state)
{
	struct iot_reject reject;
	struct graph *graph;
	struct tree *tree;
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_trace(path, cases[i].steps);
		assert_int_equal(graph_open(&graph), 0);
		assert_int_equal(tree_open(&tree), 0);
		assert_int_equal(load_trace(path, graph, tree, NULL, &reject), 0);
		describe(text, sizeof(text), graph);
		if (strcmp(text, cases[i].gives))
			fail_msg("%s: %s, not %s", cases[i].what, text, cases[i].gives);
		assert_row(cases[i].what, is_in_time(graph));
		assert_row(cases[i].what, graph->dropped[IOT_KIND_opened] == cases[i].dropped);
		tree_close(tree);
		graph_close(graph);
	}
}

static void unnamed_files_are_in_the_tree(void **state)
{
	static const struct step steps[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 0, 77 }, { OPENED, 1, 4, 7, 3 }, {},
	};
	const struct tree_entry *entries;
	struct iot_reject reject;
	struct graph *graph;
	struct tree *tree;
	size_t count;

	(void)state;
	write_trace(path, steps);
	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(&tree), 0);
	assert_int_equal(load_trace(path, graph, tree, NULL, &reject), 0);
	assert_int_equal(tree_finish(tree, &entries, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(entries[1].path, ".iotape-unlinked-1");
	assert_int_equal(entries[1].size_bytes, 77);
	tree_close(tree);
	graph_close(graph);
}

/* An exec maps the program while the process still has its old name. */
static void threads_share_memory_after_exec(void **state)
{
	static const struct step steps[] = {
		{ TASK, 1, 1 }, { TASK, 2, 1 }, { TASK, 3, 3 }, { TASK, 4, 3, 3 }, { TASK, 5, 3, 3, true },
		{ FILE_IS, 4, 5, .path = "a" }, { OPENED, 1, 4, 7, 3, 0, 5 }, { READ, 2, 4, 7 },
		{ READ, 3, 4, 7 }, { READ, 4, 4, 7 }, { READ, 5, 4, 7 }, {},
	};
	struct iot_reject reject;
	struct graph *graph;
	struct tree *tree;

	(void)state;
	write_trace(path, steps);
	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(&tree), 0);
	assert_int_equal(load_trace(path, graph, tree, NULL, &reject), 0);
	assert_int_equal(graph_pass_life(graph), 0);
	assert_int_equal(graph->tasks[0].space, graph->tasks[1].space);
	assert_int_equal(graph->tasks[2].space, graph->tasks[3].space);
	assert_int_equal(graph->tasks[2].space, graph->tasks[4].space);
	assert_int_not_equal(graph->tasks[0].space, graph->tasks[2].space);
	tree_close(tree);
	graph_close(graph);
}

/* -- compared with a run that does the same after the start ---------------------------------------- */

static u64 differences(const struct step *first, const struct step *second)
{
	const char *const paths[] = { path, path2 };
	struct diff_result result;
	struct iot_reject reject;
	u64 count;
	int refused;

	write_trace(path, first);
	write_trace(path2, second);
	assert_int_equal(diff_traces(paths, &(struct diff_options){}, &result, &refused, &reject), 0);
	count = result.differences;
	diff_free(&result);
	return count;
}

static void existing_handle_equals_an_open(void **state)
{
	static const struct step first[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPENED, 1, 4, 7, 3, 3, 5 },
		{ OPENED, 1, 4, 7, 9, 6, 5 }, { MAPPED, 1, 4, 7, 3, 0, 4096 }, { READ, 1, 4, 7, 3 }, {},
	};
	static const struct step same[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPEN, 1, 4, 8, 5 }, { SEEK, 1, 4, 8, 3 },
		{ MAP, 1, 4, 8, 1, 0, 4096 }, { READ, 1, 4, 8, 3 }, { RELEASE, 1, 4, 8 }, {},
	};
	static const struct step elsewhere[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPEN, 1, 4, 8, 5 }, { SEEK, 1, 4, 8, 4 },
		{ MAP, 1, 4, 8, 1, 0, 4096 }, { READ, 1, 4, 8, 3 }, {},
	};
	static const struct step not_mapped[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPEN, 1, 4, 8, 5 }, { SEEK, 1, 4, 8, 3 },
		{ READ, 1, 4, 8, 3 }, {},
	};

	(void)state;
	assert_int_equal(differences(first, same), 0);
	assert_int_equal(differences(first, elsewhere), 2);
	assert_int_equal(differences(first, not_mapped), 1);
}

static void existing_mapping_equals_a_map_of_the_child(void **state)
{
	static const struct step copied[] = {
		{ TASK, 1, 1 }, { TASK, 2, 2, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPENED, 1, 4, 7, 3, 0, 5 },
		{ MAPPED, 1, 4, 7, 3, 0, 4096 }, { COPIED, 1, 4, 7, 3, 0, 4096 }, { FORK, 1, 2 },
		{ MAPPED, 2, 4, 7, 3, 0, 4096 }, {},
	};
	static const struct step copied_before[] = {
		{ TASK, 1, 1 }, { TASK, 2, 2, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPENED, 1, 4, 7, 3, 0, 5 },
		{ MAPPED, 1, 4, 7, 3, 0, 4096 }, { FORK, 1, 2 }, { MAPPED, 2, 4, 7, 3, 0, 4096 },
		{ MAPPED, 2, 4, 7, 3, 0, 4096 }, {},
	};
	static const struct step mapped[] = {
		{ TASK, 1, 1 }, { TASK, 2, 2, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPEN, 1, 4, 8, 5 },
		{ MAP, 1, 4, 8, 1, 0, 4096 }, { FORK, 1, 2 }, { MAP, 2, 4, 8, 2, 0, 4096 }, {},
	};
	static const struct step not_mapped[] = {
		{ TASK, 1, 1 }, { TASK, 2, 2, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPEN, 1, 4, 8, 5 },
		{ MAP, 1, 4, 8, 1, 0, 4096 }, { FORK, 1, 2 }, { READ, 2, 4, 8 }, {},
	};

	(void)state;
	assert_int_equal(differences(copied, mapped), 0);
	assert_int_equal(differences(copied_before, mapped), 0);
	assert_int_equal(differences(copied, not_mapped), 2);
	assert_int_equal(differences(copied_before, not_mapped), 2);
}

static void existing_unnamed_file_equals_open_and_remove(void **state)
{
	static const struct step first[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 0, 77 }, { OPENED, 1, 4, 7, 3 }, { READ, 1, 4, 7, 3 }, {},
	};
	static const struct step same[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = ".iotape-unlinked-1" }, { OPEN, 1, 4, 8, 5 },
		{ UNLINK, 1, 4, 5 }, { READ, 1, 4, 8, 3 }, {},
	};
	static const struct step kept[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = ".iotape-unlinked-1" }, { OPEN, 1, 4, 8, 5 },
		{ READ, 1, 4, 8, 3 }, {},
	};

	(void)state;
	assert_int_equal(differences(first, same), 0);
	assert_int_equal(differences(first, kept), 1);
}

/* The name by which a file with several names was opened is unknown if that name had been removed by then. */
static void open_of_a_removed_name_is_an_ordinary_open(void **state)
{
	static const struct step gone[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPEN, 1, 4, 7, 0 }, { READ, 1, 4, 7 }, {},
	};
	static const struct step named[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { OPEN, 1, 4, 7, 5 }, { READ, 1, 4, 7 }, {},
	};
	static const struct step link[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 6, .path = "b" }, { OPEN, 1, 4, 7, 6 }, { READ, 1, 4, 7 }, {},
	};

	(void)state;
	assert_int_equal(differences(gone, link), 0);
	assert_int_equal(differences(named, link), 4); /* open and read, in both traces */
}

/* Nor is it known whether the query before a truncate(2) was for a name that was removed before the answer. */
static void query_uses_the_name_of_the_truncation(void **state)
{
	static const struct step gone[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { ASK, 1, 4, 5 }, { CUT, 1, 4, 0 }, {},
	};
	static const struct step link[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 6, .path = "b" }, { ASK, 1, 4, 6 }, { CUT, 1, 4, 0 }, {},
	};
	static const struct step named[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 5, .path = "a" }, { ASK, 1, 4, 5 }, { CUT, 1, 4, 5 }, {},
	};
	static const struct step elsewhere[] = {
		{ TASK, 1, 1 }, { FILE_IS, 4, 6, .path = "b" }, { ASK, 1, 4, 6 }, { CUT, 1, 4, 6 }, {},
	};

	(void)state;
	assert_int_equal(differences(gone, link), 0);
	assert_int_equal(differences(named, elsewhere), 4); /* query and truncation, in both traces */
}

static int make_files(void **state)
{
	int fd, fd2;

	(void)state;
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	strcpy(path2 + sizeof(path2) - 7, "XXXXXX");
	fd = mkstemp(path);
	fd2 = mkstemp(path2);
	return fd < 0 || fd2 < 0 || close(fd) || close(fd2);
}

static int remove_files(void **state)
{
	(void)state;
	return unlink(path) || unlink(path2);
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_files, remove_files),

SUITE("state",
      TEST(operations_use_existing_handles)
      TEST(unnamed_files_are_in_the_tree)
      TEST(threads_share_memory_after_exec)
      TEST(existing_handle_equals_an_open)
      TEST(existing_mapping_equals_a_map_of_the_child)
      TEST(existing_unnamed_file_equals_open_and_remove)
      TEST(open_of_a_removed_name_is_an_ordinary_open)
      TEST(query_uses_the_name_of_the_truncation))
