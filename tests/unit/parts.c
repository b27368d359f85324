// SPDX-License-Identifier: GPL-2.0-only
/*
 * parts.c - the patterns of the nodes of random jobs are merged in random trees: the result is the pattern of the merged trace.
 *
 * A job has up to five nodes, whose ranks are distributed at random, and a program of random phases: files of one rank, shared files
 * that one rank creates while others fail to find them, names with and without leading zeros, irregular offsets, threads, processes
 * that are no ranks, collective calls. The nodes record a shared directory, or one of their own, with one clock. So the files are
 * compared byte for byte, except if names differ only in the leading zeros of a number. In some jobs, files are removed and created
 * again by other nodes: these may be refused, but never be wrong.
 *
 *	SEED=N JOBS=N parts	other jobs
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge/merge.h"
#include "pattern/state.h"
#include "random.h"
#include "suite.h"

#define JOBS	   100
#define NODES_MAX  5
#define RANKS_MAX  14
#define TASKS_MAX  (2 * RANKS_MAX + NODES_MAX)
#define FILES_MAX  512
#define PHASES_MAX 6
#define WORLD	   0x77
#define NFS	   0x6969
#define EXT4	   0xef53

static char directory[] = "/tmp/iotape-parts-XXXXXX";
static u64 state;

static u64 below(u64 limit)
{
	return random_below(&state, limit);
}

/* -- a job ---------------------------------------------------------------------------------------------------------- */

/* A file as the file system has it, and its ids on each node, 0: not known there. */
struct file {
	char path[64];
	u32 dir; /* file, plus 1; 0: the root */
	bool is_there;
	u64 ino;
	u64 name[NODES_MAX];
	u64 object[NODES_MAX];
	u64 object_ino[NODES_MAX];
};

static struct job {
	u32 nodes;
	u32 ranks;
	bool is_shared;
	bool is_wild;  /* files are removed and created again */
	bool is_mixed; /* numbers of the same names have leading zeros or not */
	bool has_hosts;
	char hosts[NODES_MAX][32];
	u32 node_of[RANKS_MAX];
	struct iot_writer *writers[NODES_MAX];
	u32 tasks[NODES_MAX];
	u32 task_of[RANKS_MAX];
	u32 thread_of[RANKS_MAX];
	u32 launcher[NODES_MAX];
	u32 ops[NODES_MAX][TASKS_MAX + 1];
	u64 next_id[NODES_MAX];
	u64 next_ino;
	u64 now_ns;
	u32 calls[RANKS_MAX];
	struct file files[FILES_MAX];
	u32 file_count;
} job;

static void put(u32 node, struct iot_record record, const char *tail)
{
	job.now_ns += 1 + below(2000);
	record.fact.time_ns = job.now_ns;
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)(tail ? strlen(tail) : 0);
	assert_int_equal(iot_writer_record(job.writers[node], &record), 0);
}

#define PUT(node, kind_, tail, ...) put(node, (struct iot_record){ .kind = IOT_KIND_##kind_, .kind_ = { __VA_ARGS__ } }, tail)

static void put_op(u32 node, u32 task, struct iot_record record)
{
	job.now_ns += 100 + below(3000);
	record.op.enter_ns = job.now_ns - 1 - below(90);
	record.op.duration_ns = job.now_ns - record.op.enter_ns;
	record.op.task = task;
	record.op.op = ++job.ops[node][task];
	assert_int_equal(iot_writer_record(job.writers[node], &record), 0);
}

#define OP(node, task, kind_, ...) put_op(node, task, (struct iot_record){ .kind = IOT_KIND_##kind_, .kind_ = { __VA_ARGS__ } })

/* Files of nodes with directories of their own are different, and so are their states. */
static u32 file_at(u32 node, const char *path)
{
	char full[64], *slash;
	u32 i;

	snprintf(full, sizeof(full), "%u:%s", job.is_shared ? 0 : node, path);
	for (i = 0; i < job.file_count; i++)
		if (!strcmp(job.files[i].path, full))
			return i;
	assert_true(job.file_count < FILES_MAX);
	memset(&job.files[i], 0, sizeof(job.files[i]));
	strcpy(job.files[i].path, full);
	job.file_count++;
	slash = strrchr(strchr(full, ':'), '/');
	if (slash) {
		u32 dir;

		*slash = 0;
		dir = file_at(node, strchr(full, ':') + 1);
		job.files[i].dir = dir + 1;
	}
	return i;
}

static u64 name_of(u32 node, u32 index);

/* The id of an object, which is announced if the node does not know it. */
static u64 object_of(u32 node, u32 index, bool is_dir)
{
	struct file *file = &job.files[index];
	u64 name = name_of(node, index);

	if (file->object_ino[node] == file->ino)
		return file->object[node];
	file->object[node] = ++job.next_id[node];
	file->object_ino[node] = file->ino;
	PUT(node, object, NULL, .object = file->object[node], .name = name, .type = is_dir ? IOT_TYPE_dir : IOT_TYPE_file,
	    .mode = is_dir ? S_IFDIR | 0755 : S_IFREG | 0644, .ino = file->ino, .dev = 7 + node, .nlink = 1);
	return file->object[node];
}

static u64 name_of(u32 node, u32 index)
{
	struct file *file = &job.files[index];
	const char *path = strchr(file->path, ':') + 1, *slash = strrchr(path, '/');
	u64 dir = file->dir ? object_of(node, file->dir - 1, true) : 1;

	if (file->name[node])
		return file->name[node];
	file->name[node] = ++job.next_id[node];
	PUT(node, name, slash ? slash + 1 : path, .name = file->name[node], .dir = dir);
	return file->name[node];
}

static void make_file(u32 index)
{
	job.files[index].is_there = true;
	job.files[index].ino = ++job.next_ino;
}

static void have_dir(u32 node, u32 task, const char *path)
{
	u32 index = file_at(node, path);

	if (job.files[index].is_there) {
		OP(node, task, lookup, .name = name_of(node, index), .object = object_of(node, index, true));
		return;
	}
	make_file(index);
	OP(node, task, mkdir, .name = name_of(node, index), .object = object_of(node, index, true), .mode = 0755);
}

/* Return: a handle. */
static u64 open_file(u32 node, u32 task, u32 index)
{
	bool is_new = !job.files[index].is_there;
	u64 handle, name, object;

	if (is_new)
		make_file(index);
	name = name_of(node, index);
	object = object_of(node, index, false);
	if (below(2))
		OP(node, task, lookup, .name = name, .object = object);
	handle = ++job.next_id[node];
	OP(node, task, open, .name = name, .object = object, .handle = handle, .mode = is_new ? 0644 : 0,
	   .flags = IOT_OPEN_write | IOT_OPEN_create | (is_new ? IOT_OPEN_created : 0));
	return handle;
}

static void write_file(u32 node, u32 task, u32 index, u64 handle, u64 offset_bytes, u64 length_bytes)
{
	OP(node, task, write, .object = job.files[index].object[node], .handle = handle, .offset_bytes = (s64)offset_bytes,
	   .length_bytes = length_bytes, .result = (s64)length_bytes);
}

static void close_file(u32 node, u32 task, u32 index, u64 handle)
{
	OP(node, task, release, .object = job.files[index].object[node], .handle = handle);
}

static void remove_file(u32 node, u32 task, u32 index)
{
	OP(node, task, unlink, .name = name_of(node, index), .object = object_of(node, index, false));
	job.files[index].is_there = false;
}

/* A node may not know yet that another one has created the file. */
static void fail_to_find(u32 node, u32 task, u32 index)
{
	if (!job.files[index].is_there || !job.files[index].object[node])
		OP(node, task, lookup, .name = name_of(node, index), .result = -ENOENT);
}

/* -- phases ------------------------------------------------------------------------------------------------------------ */

/* A file for each rank, in one of the usual ways to write a number. */
static void write_own(u64 seed, u32 rank)
{
	static const char *const formats[] = { "a/rank.%u", "b/rank.%02u", "c/rank.%03u", "r%u/data.%02u", "step%02u.%u" };
	static const char *const mixed[] = { "a/rank.%u", "a/rank.%02u", "a/rank.%03u", "r%u/data.%02u", "r%02u/data.%u" };
	u32 node = job.node_of[rank], task = job.task_of[rank], index, i, count = 1 + seed % 7;
	u32 number = seed % 3 ? rank : 7 + rank;
	char path[64];
	u64 handle;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(path, sizeof(path), (job.is_mixed ? mixed : formats)[seed % 5], number, number % 4);
#pragma GCC diagnostic pop
	if (strchr(path, '/')) {
		char dir[64];

		snprintf(dir, sizeof(dir), "%.*s", (int)(strchr(path, '/') - path), path);
		have_dir(node, task, dir);
	}
	index = file_at(node, path);
	handle = open_file(node, task, index);
	for (i = 0; i < count; i++)
		write_file(node, task, index, handle, i * 4096, 4096);
	for (i = 0; seed % 4 == 1 && i < 9; i++)
		write_file(node, task, index, handle, below(1 << 20), 1 + below(4096));
	close_file(node, task, index, handle);
	if (seed % 6 == 2)
		remove_file(node, task, index);
}

/* Several ranks open it with O_CREAT; some have looked for it before. */
static void write_shared(u64 seed)
{
	u32 rank, i, index;
	u64 handles[RANKS_MAX];
	char path[32];

	snprintf(path, sizeof(path), seed % 2 ? "data.%02u" : "data%u", (u32)(seed % 13));
	for (rank = 0; rank < job.ranks; rank++)
		if (below(3) == 0)
			fail_to_find(job.node_of[rank], job.task_of[rank], file_at(job.node_of[rank], path));
	for (rank = 0; rank < job.ranks; rank++) {
		handles[rank] = 0;
		if (job.is_wild && below(2))
			continue; /* its node does not see this file */
		index = file_at(job.node_of[rank], path);
		if (below(3) == 0)
			fail_to_find(job.node_of[rank], job.task_of[rank], index);
		handles[rank] = open_file(job.node_of[rank], job.task_of[rank], index);
	}
	for (i = 0; i < 1 + seed % 5; i++)
		for (rank = 0; rank < job.ranks; rank++)
			if (handles[rank])
				write_file(job.node_of[rank], job.task_of[rank], file_at(job.node_of[rank], path), handles[rank],
					   (i * job.ranks + rank) * 1024, 1024);
	for (rank = 0; rank < job.ranks; rank++)
		if (handles[rank])
			close_file(job.node_of[rank], job.task_of[rank], file_at(job.node_of[rank], path), handles[rank]);
	rank = (u32)below(job.ranks);
	index = file_at(job.node_of[rank], path);
	if (job.is_wild && job.files[index].is_there && below(2))
		remove_file(job.node_of[rank], job.task_of[rank], index);
	if (job.is_wild && below(2))
		for (rank = 0; rank < job.ranks; rank++)
			fail_to_find(job.node_of[rank], job.task_of[rank], file_at(job.node_of[rank], path));
}

/* No rank leaves before all have entered: the clocks are right, and stay as they are. */
static void call_barrier(void)
{
	struct iot_record record = { .kind = IOT_KIND_mpi_coll, .mpi_coll = { .call = IOT_CALL_barrier, .comm = WORLD, .root = -1,
									       .sources = IOT_SOURCES_all } };
	u64 enter_ns[RANKS_MAX];
	u32 rank;

	for (rank = 0; rank < job.ranks; rank++)
		enter_ns[rank] = job.now_ns += 1 + below(500);
	for (rank = 0; rank < job.ranks; rank++) {
		job.now_ns += 1 + below(500);
		record.op.enter_ns = enter_ns[rank];
		record.op.duration_ns = job.now_ns - enter_ns[rank];
		record.op.task = job.task_of[rank];
		record.op.op = ++job.ops[job.node_of[rank]][record.op.task];
		record.mpi_coll.number = ++job.calls[rank];
		assert_int_equal(iot_writer_record(job.writers[job.node_of[rank]], &record), 0);
	}
}

/* Threads, and processes that are no ranks. */
static void use_others(u64 seed)
{
	u32 rank, node, index;
	u64 handle;
	char path[32];

	for (rank = 0; rank < job.ranks; rank++) {
		if (!job.thread_of[rank])
			continue;
		node = job.node_of[rank];
		OP(node, job.thread_of[rank], stat, .name = 1, .object = 1);
	}
	for (node = 0; node < job.nodes; node++) {
		if (!job.launcher[node])
			continue;
		snprintf(path, sizeof(path), "log%u.%u", (u32)(seed % 3), node);
		index = file_at(node, path);
		handle = open_file(node, job.launcher[node], index);
		write_file(node, job.launcher[node], index, handle, 0, 100 + seed % 5);
		close_file(node, job.launcher[node], index, handle);
		if (below(2))
			OP(node, job.launcher[node], stat, .name = 1, .object = 1);
	}
}

static void rename_own(u64 seed, u32 rank)
{
	u32 node = job.node_of[rank], task = job.task_of[rank], from, to;
	char path[64];
	u64 handle, name, object;

	snprintf(path, sizeof(path), "tmp%u.%02u", (u32)(seed % 3), rank);
	from = file_at(node, path);
	snprintf(path, sizeof(path), "fin%u.%u", (u32)(seed % 3), rank);
	to = file_at(node, path);
	handle = open_file(node, task, from);
	close_file(node, task, from, handle);
	name = name_of(node, to);
	object = job.files[from].object[node];
	OP(node, task, rename, .name = job.files[from].name[node], .new_name = name, .object = object,
	   .replaced = job.files[to].is_there ? object_of(node, to, false) : 0);
	job.files[to].is_there = true;
	job.files[to].ino = job.files[to].object_ino[node] = job.files[from].ino;
	job.files[to].object[node] = object;
	job.files[from].is_there = false;
}

static void run_phase(u64 seed)
{
	u32 rank, first = (u32)below(job.ranks), i;

	for (i = 0; i < job.ranks; i++) {
		rank = (first + i) % job.ranks;
		if (seed % 7 < 3)
			write_own(seed / 7, rank);
		else if (seed % 7 == 3)
			rename_own(seed / 7, rank);
	}
	if (seed % 7 == 4 || seed % 7 == 5)
		write_shared(seed / 7);
	if (seed % 7 == 6)
		use_others(seed / 7);
	call_barrier();
}

/* -- traces ------------------------------------------------------------------------------------------------------------- */

static void path_of(char path[64], const char *what, u32 number)
{
	snprintf(path, 64, "%s/%s%u", directory, what, number);
}

static u32 add_task(u32 node, u32 parent, u32 tgid, u32 why)
{
	u32 task = ++job.tasks[node];

	assert_true(task <= TASKS_MAX);
	PUT(node, task, "app", .task = task, .parent = parent, .pid = 500 + task, .tgid = tgid ? tgid : 500 + task, .why = why);
	return task;
}

static void begin_node(u32 node)
{
	unsigned char capture[16] = { (unsigned char)(node + 1) };
	char path[64], text[64];

	path_of(path, "node", node);
	assert_int_equal(iot_writer_open_at(path, capture, 1000000000000 + job.now_ns, job.now_ns, &job.writers[node]), 0);
	if (job.has_hosts) {
		snprintf(text, sizeof(text), "host=%s", job.hosts[node]);
		PUT(node, fact, text);
		snprintf(text, sizeof(text), "boot=b%u", node);
		PUT(node, fact, text);
	}
	PUT(node, fact, "mount=/scratch");
	PUT(node, name, NULL, .name = 1);
	PUT(node, object, NULL, .object = 1, .name = 1, .type = IOT_TYPE_dir, .mode = S_IFDIR | 0755, .ino = 2, .dev = 7 + node);
	PUT(node, mount, NULL, .object = 1, .dev = 7 + node, .magic = job.is_shared ? NFS : EXT4);
	job.next_id[node] = 1;
	if (job.nodes > 1 && below(2))
		job.launcher[node] = add_task(node, 0, 0, IOT_REASON_adopt);
}

static void begin_rank(u32 rank)
{
	u32 node = job.node_of[rank];

	job.task_of[rank] = add_task(node, job.launcher[node], 0, job.launcher[node] ? IOT_REASON_fork : IOT_REASON_adopt);
	if (!below(4))
		job.thread_of[rank] = add_task(node, job.task_of[rank], 500 + job.task_of[rank], IOT_REASON_fork);
	PUT(node, mpi_comm, NULL, .task = job.task_of[rank], .comm = WORLD, .size = job.ranks, .rank = rank, .world_rank = rank);
}

static void write_traces(u64 seed)
{
	static const char *const hosts[] = { "n%u", "node%02u", "alpha", "beta%u", "c7-x%u" };
	u64 phases[PHASES_MAX], loops;
	u32 i, j, phase_count;

	memset(&job, 0, sizeof(job));
	state = 0x9e3779b97f4a7c15ull * (seed + 1);
	below(0);
	job.now_ns = 5000000000;
	job.next_ino = 100;
	job.nodes = 1 + (u32)below(NODES_MAX);
	job.ranks = job.nodes + (u32)below(RANKS_MAX - job.nodes);
	job.is_shared = below(2);
	job.is_wild = !below(4);
	job.is_mixed = !below(8);
	job.has_hosts = job.nodes > 1 || below(2);
	for (i = 0; i < job.nodes; i++) {
		const char *format = hosts[below(5)];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(job.hosts[i], sizeof(job.hosts[i]), format, 8 + i);
#pragma GCC diagnostic pop
		for (j = 0; j < i; j++)
			if (!strcmp(job.hosts[j], job.hosts[i]))
				strcat(job.hosts[i], "x");
	}
	for (i = 0; i < job.nodes; i++)
		begin_node(i);
	for (i = 0; i < job.ranks; i++) {
		job.node_of[i] = i < job.nodes ? i : (u32)below(job.nodes);
		begin_rank(i);
	}
	phase_count = 1 + (u32)below(PHASES_MAX);
	for (i = 0; i < phase_count; i++)
		phases[i] = below(1 << 20);
	for (loops = 1 + below(4); loops; loops--)
		for (i = 0; i < phase_count; i++)
			run_phase(phases[i]);
	for (i = 0; i < job.nodes; i++) {
		assert_int_equal(iot_writer_finish(job.writers[i]), 0);
		iot_writer_close(job.writers[i]);
	}
}

/* -- patterns ------------------------------------------------------------------------------------------------------------- */

static void say(const char *format, ...)
{
	(void)format;
}

static struct pattern *whole_pattern(void)
{
	char paths[NODES_MAX][64], output[64], *list[NODES_MAX];
	struct merge_options options = { .output = output, .paths = list, .path_count = job.nodes, .is_shared_guessed = true, .say = say };
	struct iot_omissions omissions;
	struct merge_result result;
	struct pattern *pattern;
	struct iot_reject reject;
	struct merge *merge;
	u32 i;

	for (i = 0; i < job.nodes; i++) {
		path_of(paths[i], "node", i);
		list[i] = paths[i];
	}
	path_of(output, "job", 0);
	assert_int_equal(merge_open(&options, &merge), 0);
	assert_int_equal(merge_run(merge, &result), 0);
	merge_close(merge);
	assert_int_equal(pattern_make(output, &pattern, &omissions, &reject), 0);
	return pattern;
}

/* Through a file, as the commands do. */
static struct pattern *reload(struct pattern *pattern)
{
	struct iot_reject reject = {};
	struct pattern *loaded;
	void *bytes;
	size_t count;

	assert_int_equal(pattern_image(pattern, &bytes, &count), 0);
	pattern_free(pattern);
	assert_int_equal(pattern_load_bytes(bytes, count, &loaded, &reject), 0);
	free(bytes);
	return loaded;
}

static struct pattern *part_of(u32 node)
{
	struct pattern_refusal refusal;
	struct iot_omissions omissions;
	struct pattern *pattern;
	struct iot_reject reject;
	char path[64];

	path_of(path, "node", node);
	assert_int_equal(pattern_make_part(path, &pattern, &omissions, &refusal, &reject), 0);
	return reload(pattern);
}

/* Merges random ones of them until one is left. Return: NULL if it is refused. */
static struct pattern *merge_tree(struct pattern **parts, u32 count, struct pattern_refusal *refusal)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	struct pattern_merge_options options = { .is_shared_guessed = true };
	struct iot_omissions omissions;
	struct pattern *merged;
	u32 i, taken;
	int err;

	do {
		for (i = count; i > 1; i--) {
			u32 other = (u32)below(i);

			merged = parts[i - 1];
			parts[i - 1] = parts[other];
			parts[other] = merged;
		}
		taken = count < 2 ? count : 2 + (u32)below(count - 1);
		options.is_part = taken < count;
		err = pattern_merge((const struct pattern *const *)parts, names, taken, &options, &merged, &omissions, refusal);
		for (i = 0; i < taken; i++)
			pattern_free(parts[i]);
		if (err) {
			assert_int_equal(err, -EOPNOTSUPP);
			for (i = taken; i < count; i++)
				pattern_free(parts[i]);
			return NULL;
		}
		parts[0] = options.is_part ? reload(merged) : merged;
		memmove(parts + 1, parts + taken, (count - taken) * sizeof(struct pattern *));
		count -= taken - 1;
	} while (options.is_part);
	return merged;
}

static void assert_same(u64 seed, struct pattern *merged, struct pattern *whole)
{
	struct pattern_summary a, b;
	size_t count_a, count_b;
	void *bytes_a, *bytes_b;

	pattern_summarize(merged, &a);
	pattern_summarize(whole, &b);
	assert_int_equal(pattern_image(merged, &bytes_a, &count_a), 0);
	assert_int_equal(pattern_image(whole, &bytes_b, &count_b), 0);
	if (memcmp(a.digest, b.digest, sizeof(a.digest)))
		fail_msg("seed %llu: the operations differ", (unsigned long long)seed);
	if (!job.is_mixed && (count_a != count_b || memcmp(bytes_a, bytes_b, count_a)))
		fail_msg("seed %llu: the files differ, the operations are the same", (unsigned long long)seed);
	free(bytes_a);
	free(bytes_b);
}

static u64 number_of(const char *variable, u64 otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void merges_random_jobs(void **unused)
{
	struct pattern *parts[NODES_MAX], *whole, *merged;
	u64 first = number_of("SEED", 0), count = number_of("JOBS", JOBS), seed;
	u32 refused = 0, i;

	(void)unused;
	for (seed = first; seed < first + count; seed++) {
		struct pattern_refusal refusal = {};

		write_traces(seed);
		whole = whole_pattern();
		for (i = 0; i < job.nodes; i++)
			parts[i] = part_of(i);
		merged = merge_tree(parts, job.nodes, &refusal);
		if (!merged && !(job.is_wild && job.is_shared && job.nodes > 1))
			fail_msg("seed %llu: %s", (unsigned long long)seed, refusal.text);
		if (merged)
			assert_same(seed, merged, whole);
		refused += !merged;
		pattern_free(merged);
		pattern_free(whole);
	}
	print_message("# %u of %llu jobs were refused\n", refused, (unsigned long long)count);
	assert_true(refused <= count / 4);
}

/* -- parts that are missing, or of something else ---------------------------------------------------------------- */

/* The first job from a seed with so many nodes at least. Return: the seed behind it. */
static u64 find_job(u64 seed, u32 nodes)
{
	do
		write_traces(seed++);
	while (job.nodes < nodes || job.is_wild);
	return seed;
}

static void missing_ranks_are_stated(void **unused)
{
	struct pattern_merge_options options = { .is_shared_guessed = true };
	static const char *const names[] = { "a", "b" };
	struct iot_omissions omissions;
	struct pattern_refusal refusal;
	struct pattern_summary summary;
	struct pattern *parts[2], *merged;
	char text[64];
	u32 i, ranks = 0;

	(void)unused;
	find_job(1000, 3);
	parts[0] = part_of(0);
	parts[1] = part_of(2);
	for (i = 0; i < job.ranks; i++)
		ranks += job.node_of[i] == 0 || job.node_of[i] == 2;
	assert_int_equal(pattern_merge((const struct pattern *const *)parts, names, 2, &options, &merged, &omissions, &refusal), 0);
	pattern_summarize(merged, &summary);
	assert_int_equal(summary.ranks, ranks);
	assert_int_equal(summary.missing_ranks, job.ranks - ranks);
	assert_false(summary.is_part);
	snprintf(text, sizeof(text), "ranks without a part: %u", job.ranks - ranks);
	assert_non_null(strstr(omissions.of[IOT_OMISSION_partial].detail, text));
	pattern_free(merged);
	pattern_free(parts[0]);
	pattern_free(parts[1]);
}

static void assert_refused(const struct pattern *a, const struct pattern *b, const char *reason)
{
	struct pattern_merge_options options = { .is_shared_guessed = true };
	const struct pattern *const parts[] = { a, b };
	static const char *const names[] = { "a.ipt", "b.ipt" };
	struct pattern_refusal refusal = {};
	struct iot_omissions omissions;
	struct pattern *merged;
	int err = pattern_merge(parts, names, 2, &options, &merged, &omissions, &refusal);

	if (err != -EOPNOTSUPP || !strstr(refusal.text, reason))
		fail_msg("%s: %d, %s", reason, err, refusal.text);
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	assert_non_null(*text);
}

static struct pattern *other_node(u32 node)
{
	struct pattern *part = part_of(node);

	set_text(&part->part->nodes[0].name, "z");
	return part;
}

static void other_jobs_are_refused(void **unused)
{
	struct pattern *a, *b;
	u64 seed = find_job(2000, 2);
	u32 ranks = job.ranks;

	(void)unused;
	a = part_of(0);
	b = other_node(1);
	set_text(&a->part->job, "one");
	set_text(&b->part->job, "two");
	assert_refused(a, b, "b.ipt: is of job two, and a.ipt of one: they are not of one job");
	set_text(&b->part->job, "");
	b->part->world++;
	assert_refused(a, b, "b.ipt: has another MPI_COMM_WORLD than a.ipt");
	b->part->world--;
	set_text(&b->part->version, "0.0");
	assert_refused(a, b, "b.ipt: was made by version 0.0, and a.ipt by version");
	pattern_free(b);
	do
		seed = find_job(seed, 2);
	while (job.ranks == ranks);
	b = other_node(0);
	assert_refused(a, b, "they are not of one job");
	pattern_free(a);
	pattern_free(b);
}

static void other_patterns_are_refused(void **unused)
{
	static const char workload[] = "size 1\nrank 0 { fsync \"f\" }\n";
	struct pattern *a, *b;
	struct pattern_refusal refusal;

	(void)unused;
	find_job(2000, 2);
	a = part_of(0);
	b = part_of(1);
	assert_refused(a, a, "has files of");
	set_text(&b->part->nodes[0].name, a->part->nodes[0].name);
	assert_refused(a, b, "is of another boot of");
	pattern_free(b);
	b = other_node(0);
	assert_refused(a, b, "a.ipt and b.ipt: both have rank");
	b->digest[0]++;
	assert_refused(a, b, "b.ipt: its operations are not those of the trace");
	pattern_free(b);
	assert_int_equal(pattern_parse(workload, strlen(workload), 0, 100, &b, &refusal), 0);
	b->is_made = false;
	assert_refused(a, b, "b.ipt: is not a part of a job: make it with --part");
	b->is_made = true;
	assert_refused(a, b, "b.ipt: was extrapolated or changed");
	pattern_free(a);
	pattern_free(b);
}

static int make_directory(void **unused)
{
	(void)unused;
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	return !mkdtemp(directory);
}

static int remove_directory(void **unused)
{
	char path[64];
	u32 i;

	(void)unused;
	for (i = 0; i < NODES_MAX; i++) {
		path_of(path, "node", i);
		unlink(path);
	}
	path_of(path, "job", 0);
	unlink(path);
	return rmdir(directory);
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory),

SUITE("parts", IN_DIRECTORY(merges_random_jobs) IN_DIRECTORY(missing_ranks_are_stated) IN_DIRECTORY(other_jobs_are_refused)
      IN_DIRECTORY(other_patterns_are_refused))
