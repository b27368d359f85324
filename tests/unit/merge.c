// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge.c - traces of nodes with wrong clocks become one trace, in which no event
 * precedes its cause, ids are unique, and shared files are the same.
 *
 * A job of two ranks on each node exchanges messages with unique tags, calls
 * collectives, and opens a file; each node records that with its own clock. The result is
 * read back and verified by tags and numbers alone.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge/merge.h"
#include "suite.h"

#define NODES	      3
#define RANKS_OF_NODE 2
#define RANKS	      (NODES * RANKS_OF_NODE)
#define ROUNDS	      2000
#define ROUND_NS      5000000ull
#define RECORDS_MAX   (ROUNDS * 8 + 64)
#define WORLD	      0x77u
#define BEGIN_NS      1000000000ull

/* The reading of a clock at a time of the job, which starts at 0. */
struct clock {
	u64 start_ns;
	double drift;
	u64 lost_at_ns; /* the clock stops here */
	u64 lost_ns;	/* for this time */
};

static const struct clock straight[NODES] = {
	{ .start_ns = 5000000000 },
	{ .start_ns = 8000000000, .drift = 50e-6 },
	{ .start_ns = 70000000000000, .drift = -20e-6 },
};
static const struct clock stepped[NODES] = {
	{ .start_ns = 5000000000 },
	{ .start_ns = 8000000000, .drift = 50e-6 },
	{ .start_ns = 70000000000000, .lost_at_ns = 4000000000, .lost_ns = 300000000 },
};

static char directory[] = "/tmp/iotape-merge-XXXXXX";
static char paths[NODES][64], output[64];
static char said[4096];
static bool has_local;	    /* each node has recorded /local, too */
static bool is_local_shared; /* --shared says that it is the same on all nodes */

static struct node {
	const struct clock *clock;
	struct iot_record records[RECORDS_MAX];
	u32 count;
	u32 beginning; /* number of these that are in order */
	u32 ops[RANKS_OF_NODE + 1];
} nodes[NODES];

static int make_directory(void **state)
{
	u32 i;

	(void)state;
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	assert_non_null(mkdtemp(directory));
	for (i = 0; i < NODES; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/node%u.iot", directory, i);
	snprintf(output, sizeof(output), "%s/job", directory);
	return 0;
}

static int remove_directory(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < NODES; i++)
		unlink(paths[i]);
	unlink(output);
	return rmdir(directory);
}

/* -- traces of the nodes ------------------------------------------------------------------------- */

static u64 reading(const struct clock *clock, u64 time_ns)
{
	u64 lost_ns = 0;

	if (clock->lost_ns && time_ns > clock->lost_at_ns)
		lost_ns = time_ns - clock->lost_at_ns < clock->lost_ns ? time_ns - clock->lost_at_ns :
									 clock->lost_ns;
	return clock->start_ns + time_ns - lost_ns + (u64)(s64)(clock->drift * (double)time_ns);
}

static struct iot_record *add(u32 node, u16 kind, const char *tail)
{
	struct iot_record *record = &nodes[node].records[nodes[node].count++];

	assert_true(nodes[node].count <= RECORDS_MAX);
	*record = (struct iot_record){ .kind = kind, .tail = (const u8 *)tail,
				       .tail_bytes = (u16)(tail ? strlen(tail) : 0) };
	return record;
}

/* An operation of a rank, between two times of the job. */
static struct iot_record *add_op(u32 rank, u16 kind, u64 from_ns, u64 to_ns)
{
	u32 node = rank / RANKS_OF_NODE, task = rank % RANKS_OF_NODE + 1;
	struct iot_record *record = add(node, kind, NULL);

	record->op.enter_ns = reading(nodes[node].clock, from_ns);
	record->op.duration_ns = reading(nodes[node].clock, to_ns) - record->op.enter_ns;
	record->op.task = task;
	record->op.op = ++nodes[node].ops[task];
	return record;
}

/* The root of a directory, with the same id for name and object. */
static void add_mount(u32 node, u64 id, u32 dev, u64 now_ns, const char *path)
{
	struct iot_record *record = add(node, IOT_KIND_name, NULL);

	record->name = (struct iot_rec_name){ .time_ns = now_ns, .name = id };
	record = add(node, IOT_KIND_object, NULL);
	record->object = (struct iot_rec_object){ .time_ns = now_ns, .object = id, .name = id,
						  .type = IOT_TYPE_dir, .mode = 040755, .ino = 2, .dev = dev };
	record = add(node, IOT_KIND_mount, path);
	record->mount = (struct iot_rec_mount){ .time_ns = now_ns, .object = id, .dev = dev, .magic = 0xef53 };
}

static void add_beginning(u32 node)
{
	static const char *const facts[NODES][3] = {
		{ "host=node0", "boot=b0", "mount=/scratch" },
		{ "host=node1", "boot=b1", "mount=/scratch" },
		{ "host=node2", "boot=b2", "mount=/scratch" },
	};
	u64 now_ns = reading(nodes[node].clock, 0);
	struct iot_record *record;
	u32 i;

	for (i = 0; i < 3; i++)
		add(node, IOT_KIND_fact, facts[node][i])->fact.time_ns = now_ns;
	if (has_local)
		add(node, IOT_KIND_fact, "mount=/local")->fact.time_ns = now_ns;
	add_mount(node, 1, 40 + node, now_ns, has_local ? "/scratch" : NULL);
	if (has_local)
		add_mount(node, 11, 60 + node, now_ns, "/local");
	for (i = 1; i <= RANKS_OF_NODE; i++) {
		record = add(node, IOT_KIND_task, "app");
		record->task = (struct iot_rec_task){ .time_ns = now_ns, .task = i, .pid = 500 + i,
						      .tgid = 500 + i, .why = IOT_REASON_adopt };
		record = add(node, IOT_KIND_mpi_comm, NULL);
		record->mpi_comm = (struct iot_rec_mpi_comm){
			.time_ns = now_ns, .task = i, .comm = WORLD, .size = RANKS,
			.rank = node * RANKS_OF_NODE + i - 1, .world_rank = node * RANKS_OF_NODE + i - 1,
		};
	}
	nodes[node].beginning = nodes[node].count;
}

/* Each rank opens the file of a directory that has the same inode on all nodes; ids are local to the node. */
static void add_files(u64 at_ns, u64 dir, u32 dev)
{
	struct iot_record *record;
	u32 rank;

	for (rank = 0; rank < RANKS; rank++) {
		u32 node = rank / RANKS_OF_NODE;
		u64 now_ns = reading(nodes[node].clock, at_ns);

		if (rank % RANKS_OF_NODE == 0) {
			record = add(node, IOT_KIND_name, "data");
			record->name = (struct iot_rec_name){ .time_ns = now_ns, .name = dir + 1, .dir = dir };
			record = add(node, IOT_KIND_object, NULL);
			record->object = (struct iot_rec_object){
				.time_ns = now_ns, .object = dir + 1, .name = dir + 1, .type = IOT_TYPE_file,
				.mode = 0100644, .ino = 77, .dev = dev + node,
			};
		}
		record = add_op(rank, IOT_KIND_open, at_ns + rank * 10, at_ns + 100 + rank * 10);
		record->open.name = dir + 1;
		record->open.object = dir + 1;
		record->open.handle = dir + rank % RANKS_OF_NODE;
	}
}

static u64 latency_ns(u32 from, u32 to)
{
	u64 r = (u64)rand() % 1000;

	return (from < to ? 20000 : 30000) + r * r / 10;
}

static void add_message(u32 from, u32 to, u64 at_ns, s32 tag)
{
	u64 got_ns = at_ns + latency_ns(from, to);
	struct iot_record *record = add_op(from, IOT_KIND_mpi_send, at_ns, at_ns + 1000);

	record->mpi_send.call = IOT_CALL_send;
	record->mpi_send.comm = WORLD;
	record->mpi_send.peer = (s32)to;
	record->mpi_send.tag = tag;
	record = add_op(to, IOT_KIND_mpi_recv, got_ns - 15000, got_ns);
	record->mpi_recv.call = IOT_CALL_recv;
	record->mpi_recv.comm = WORLD;
	record->mpi_recv.peer = (s32)from;
	record->mpi_recv.tag = tag;
}

static void add_collective(u64 at_ns, u32 number, bool is_last)
{
	struct iot_record *record;
	u32 rank;

	for (rank = 0; rank < RANKS; rank++) {
		record = add_op(rank, IOT_KIND_mpi_coll, at_ns + rank * 1000, at_ns + 60000 + rank * 500);
		record->mpi_coll.call = is_last ? IOT_CALL_finalize : IOT_CALL_barrier;
		record->mpi_coll.comm = WORLD;
		record->mpi_coll.number = number;
		record->mpi_coll.root = -1;
	}
}

static int compare_ends(const void *a, const void *b)
{
	u64 x = iot_record_end_ns(a), y = iot_record_end_ns(b);

	return x < y ? -1 : x > y;
}

static void write_node(u32 number)
{
	unsigned char capture[16] = { 'n', (unsigned char)number };
	struct node *node = &nodes[number];
	struct iot_record end = { .kind = IOT_KIND_end };
	struct iot_writer *writer;
	u64 mono_ns = reading(node->clock, 0);
	u32 i;

	if (node->count > node->beginning)
		qsort(node->records + node->beginning, node->count - node->beginning, sizeof(*node->records),
		      compare_ends);
	/* wall clocks differ by some ms */
	assert_int_equal(iot_writer_open_at(paths[number], capture,
					    1700000000000000000ull + number * 4000000, mono_ns, &writer), 0);
	for (i = 0; i < node->count; i++)
		assert_int_equal(iot_writer_record(writer, &node->records[i]), 0);
	end.end.time_ns = iot_record_end_ns(&node->records[node->count - 1]) + 1;
	assert_int_equal(iot_writer_record(writer, &end), 0);
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
}

static void make_job(const struct clock *clocks)
{
	u64 at_ns;
	u32 i, round;

	srand(3);
	for (i = 0; i < NODES; i++) {
		nodes[i] = (struct node){ .clock = &clocks[i] };
		add_beginning(i);
	}
	add_files(BEGIN_NS / 2, 1, 40);
	if (has_local)
		add_files(BEGIN_NS / 2 + 1000000, 11, 60);
	for (round = 0; round < ROUNDS; round++) {
		u32 from = (u32)rand() % RANKS, to = (from + 1 + (u32)rand() % (RANKS - 1)) % RANKS;

		at_ns = BEGIN_NS + round * ROUND_NS;
		if (clocks[2].lost_ns && at_ns + ROUND_NS > clocks[2].lost_at_ns &&
		    at_ns < clocks[2].lost_at_ns + clocks[2].lost_ns)
			continue; /* no operations on a node whose clock has stopped */
		add_message(from, to, at_ns, (s32)round);
		if (round % 20 == 0)
			add_collective(at_ns + ROUND_NS / 2, round / 20 + 1, false);
	}
	add_collective(BEGIN_NS + ROUNDS * ROUND_NS, ROUNDS, true);
	for (i = 0; i < NODES; i++)
		write_node(i);
}

/* -- the result ----------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 1, 2))) hear(const char *format, ...)
{
	size_t at = strlen(said);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said + at, sizeof(said) - at, format, arguments);
	va_end(arguments);
	strncat(said, "\n", sizeof(said) - strlen(said) - 1);
}

static int merge(u32 count, const char *shared, struct merge_result *result,
		 struct clock_fit fits[NODES])
{
	const char *const list[] = { shared, is_local_shared ? "/local" : NULL, NULL };
	char *inputs[NODES] = { paths[0], paths[1], paths[2] };
	const struct merge_options options = {
		.output = output, .paths = inputs, .path_count = count, .shared = list, .say = hear,
	};
	struct merge *m;
	u32 i;
	int err;

	said[0] = 0;
	err = merge_open(&options, &m);
	if (!err)
		err = merge_run(m, result);
	for (i = 0; !err && i < result->node_count; i++)
		fits[i] = result->nodes[i].clock;
	merge_close(m);
	return err;
}

struct check {
	u64 sent_ns[ROUNDS];
	u64 got_ns[ROUNDS];
	u64 arrived_ns[ROUNDS + 1];
	u64 left_ns[ROUNDS + 1];
	u64 last_ns;
	u64 file;
	u32 opens, files, handles, tasks, processes, messages, partial;
	u32 seen_tgid[RANKS];
	u64 seen_handle[2 * RANKS];
	char opened[256];
	char why[256];
};

static void check_call(struct check *c, const struct iot_record *r)
{
	u64 end_ns = iot_record_end_ns(r);
	u32 n;

	if (r->kind == IOT_KIND_mpi_send) {
		c->sent_ns[r->mpi_send.tag] = r->op.enter_ns;
		c->messages++;
	} else if (r->kind == IOT_KIND_mpi_recv) {
		c->got_ns[r->mpi_recv.tag] = end_ns;
	} else if (r->kind == IOT_KIND_mpi_coll && r->mpi_coll.call == IOT_CALL_barrier) {
		n = r->mpi_coll.number;
		if (r->op.enter_ns > c->arrived_ns[n])
			c->arrived_ns[n] = r->op.enter_ns;
		if (!c->left_ns[n] || end_ns < c->left_ns[n])
			c->left_ns[n] = end_ns;
	}
}

static int check_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct check *c = context;
	const char *path;
	u32 i;

	assert_true(iot_record_end_ns(r) >= c->last_ns);
	c->last_ns = iot_record_end_ns(r);
	check_call(c, r);
	if (r->kind == IOT_KIND_fact && r->tail_bytes > 8 && !memcmp(r->tail, "partial=", 8)) {
		c->partial++;
		snprintf(c->why, sizeof(c->why), "%.*s", r->tail_bytes - 8, (const char *)r->tail + 8);
	}
	if (r->kind == IOT_KIND_task) {
		for (i = 0; i < c->tasks; i++)
			assert_true(c->seen_tgid[i] != r->task.tgid);
		c->seen_tgid[c->tasks++] = r->task.tgid;
	}
	if (r->kind != IOT_KIND_open)
		return 0;
	for (i = 0; i < c->opens; i++)
		assert_true(c->seen_handle[i] != r->open.handle);
	c->seen_handle[c->opens++] = r->open.handle;
	path = iot_names_path(names, r->open.name);
	if (iot_names_identity(names, r->open.object) != c->file) {
		c->file = iot_names_identity(names, r->open.object);
		c->files++;
	}
	if (!strstr(c->opened, path))
		strcat(strcat(c->opened, path), " ");
	return 0;
}

static u32 inverted(const struct check *c)
{
	u32 i, count = 0;

	for (i = 0; i < ROUNDS; i++) {
		count += c->sent_ns[i] && c->got_ns[i] && c->got_ns[i] <= c->sent_ns[i];
		count += c->left_ns[i] && c->left_ns[i] <= c->arrived_ns[i];
	}
	return count;
}

static void check_output(struct check *c)
{
	struct iot_trace_info info;
	struct iot_reject reject;

	*c = (struct check){};
	assert_int_equal(iot_trace_walk(output, check_record, c, &info, &reject), 0);
	assert_true(info.is_complete);
}

static bool is_near(s64 value, s64 expected, s64 most)
{
	return value >= expected - most && value <= expected + most;
}

static void clocks_are_fitted(void **state)
{
	static struct check c;
	struct clock_fit fits[NODES];
	struct merge_result result;
	u32 i;

	(void)state;
	make_job(straight);
	assert_int_equal(merge(NODES, "/scratch", &result, fits), 0);
	assert_string_equal(said, "");
	assert_int_equal(result.node_count, NODES);
	assert_int_equal(result.missing_ranks + result.unfinished, 0);
	for (i = 0; i < NODES; i++) {
		assert_true(is_near(fits[i].offset_ns,
				    (s64)(straight[0].start_ns - straight[i].start_ns), 40000));
		assert_true(is_near(fits[i].drift_ppb, (s64)(-straight[i].drift * 1e9), 5000));
		assert_int_equal(fits[i].corrected, 0);
	}
	check_output(&c);
	assert_int_equal(c.messages, ROUNDS);
	assert_int_equal(inverted(&c), 0);
	assert_int_equal(c.tasks, RANKS);
	assert_int_equal(c.opens, RANKS);
}

static void steps_are_corrected(void **state)
{
	static struct check c;
	struct clock_fit fits[NODES];
	struct merge_result result;

	(void)state;
	make_job(stepped);
	assert_int_equal(merge(NODES, "/scratch", &result, fits), 0);
	assert_true(fits[2].margin_ns < 0);
	assert_true(fits[0].corrected + fits[1].corrected + fits[2].corrected > 0);
	check_output(&c);
	assert_int_equal(inverted(&c), 0);
	assert_true(c.messages > ROUNDS / 2);
}

static void shared_files_become_one(void **state)
{
	static struct check c;
	struct clock_fit fits[NODES];
	struct merge_result result;

	(void)state;
	make_job(straight);
	assert_int_equal(merge(NODES, "/scratch", &result, fits), 0);
	check_output(&c);
	assert_string_equal(c.opened, "data ");
	assert_int_equal(c.files, 1);
	assert_int_equal(merge(NODES, NULL, &result, fits), 0);
	check_output(&c);
	assert_non_null(strstr(c.opened, "node0/data "));
	assert_non_null(strstr(c.opened, "node1/data "));
	assert_non_null(strstr(c.opened, "node2/data "));
	assert_true(c.files >= NODES);
}

static void assert_opened(const char *shared, const char *opened, u32 most_files)
{
	static struct check c;
	struct clock_fit fits[NODES];
	struct merge_result result;

	assert_int_equal(merge(NODES, shared, &result, fits), 0);
	check_output(&c);
	assert_string_equal(c.opened, opened);
	assert_true(c.files <= most_files);
}

/* A name that exists in a shared and in a local directory means two files. */
static void private_directories_stay_separate(void **state)
{
	(void)state;
	has_local = true;
	make_job(straight);
	assert_opened("/scratch", "data node0/data node1/data node2/data ", 1 + RANKS);
	assert_opened("/nowhere", "node0:scratch/data node1:scratch/data node2:scratch/data "
				  "node0:local/data node1:local/data node2:local/data ", 2 * RANKS);
	is_local_shared = true;
	assert_opened("/scratch", "scratch/data local/data ", 2);
	is_local_shared = false;
	has_local = false;
}

static u32 crc_of_output(void)
{
	FILE *in = fopen(output, "rb");
	u32 sum = 0;
	int byte;

	assert_non_null(in);
	while ((byte = getc(in)) != EOF)
		sum = sum * 31 + (u32)byte;
	fclose(in);
	return sum;
}

static void equal_traces_give_equal_results(void **state)
{
	struct clock_fit fits[NODES];
	struct merge_result result;
	u32 i, first = 0;

	(void)state;
	make_job(stepped);
	for (i = 0; i < 5; i++) {
		assert_int_equal(merge(NODES, "/scratch", &result, fits), 0);
		first = i ? first : crc_of_output();
		assert_int_equal(crc_of_output(), first);
	}
}

static void omissions_are_reported(void **state)
{
	static struct check c;
	struct clock_fit fits[NODES];
	struct merge_result result;
	struct stat stat_of;

	(void)state;
	make_job(straight);
	assert_int_equal(merge(2, "/scratch", &result, fits), 0);
	assert_non_null(strstr(said, "4 of the 6 ranks of its job have a trace; missing: 4-5"));
	assert_int_equal(result.missing_ranks, 2);
	check_output(&c);
	assert_int_equal(c.partial, 1);

	assert_int_equal(stat(paths[1], &stat_of), 0);
	assert_int_equal(truncate(paths[1], stat_of.st_size * 9 / 10), 0);
	assert_int_equal(merge(NODES, "/scratch", &result, fits), 0);
	assert_non_null(strstr(said, "node1.iot: is torn"));
	check_output(&c);
	assert_int_equal(c.partial, 1);
	assert_int_equal(inverted(&c), 0);
}

static int gather(void *omissions, struct iot_names *names, const struct iot_record *record)
{
	(void)names;
	iot_omissions_take(omissions, record);
	return 0;
}

static void assert_filtered(u64 count)
{
	struct iot_omissions omissions = {};
	struct clock_fit fits[NODES];
	struct merge_result result;
	struct iot_trace_info info;
	struct iot_reject reject;

	assert_int_equal(merge(NODES, "/scratch", &result, fits), 0);
	assert_int_equal(iot_trace_walk(output, gather, &omissions, &info, &reject), 0);
	iot_omissions_finish(&omissions, &info);
	assert_int_equal(omissions.of[IOT_OMISSION_filtered].count, count);
}

/* The nodes state how many operations their filters excluded, also if that is none; one that was killed does not. */
static void filters_that_excluded_nothing_are_known(void **state)
{
	u32 i;

	(void)state;
	make_job(straight);
	for (i = 0; i < NODES; i++) {
		add(i, IOT_KIND_fact, "filter=uid == 1")->fact.time_ns = BEGIN_NS;
		write_node(i);
	}
	assert_filtered(IOT_OMISSION_UNKNOWN);
	for (i = 0; i < NODES; i++) {
		add(i, IOT_KIND_fact, "omission.filtered=0 0 0")->fact.time_ns = BEGIN_NS;
		write_node(i);
	}
	assert_filtered(0);
}

/* Three nodes of a replay, each of which states the same about its part. */
static void interrupted_parts_make_a_partial_result(void **state)
{
	static const char *const numbers[NODES] = { "node=0 of 3", "node=1 of 3", "node=2 of 3" };
	static const char *const facts[] = { "replay=job.irp", "run=1", "clock=c",
					     "partial=1 of 2 operations were performed" };
	static struct check c;
	struct clock_fit fits[NODES];
	struct merge_result result;
	u32 i, j;

	(void)state;
	for (i = 0; i < NODES; i++) {
		nodes[i] = (struct node){ .clock = &straight[0] };
		add(i, IOT_KIND_fact, numbers[i])->fact.time_ns = BEGIN_NS;
		for (j = 0; j < ARRAY_SIZE(facts); j++)
			add(i, IOT_KIND_fact, facts[j])->fact.time_ns = BEGIN_NS;
		write_node(i);
	}
	assert_int_equal(merge(NODES, "/scratch", &result, fits), 0);
	assert_int_equal(result.unfinished, NODES);
	check_output(&c);
	assert_int_equal(c.partial, 1);
	assert_non_null(strstr(c.why, "3 nodes did not finish the replay"));
}

/* Node 1 is a second late in a collective that node 0 has already left, by its own clock. */
static void add_late(u32 call, u32 first, u32 sources)
{
	bool is_rooted = call == IOT_CALL_bcast || call == IOT_CALL_scatter || call == IOT_CALL_reduce ||
			 call == IOT_CALL_gather;
	struct iot_record *record;
	u32 node, rank;

	for (node = 0; node < 2; node++) {
		rank = node * RANKS_OF_NODE;
		record = add(node, IOT_KIND_mpi_comm, NULL);
		record->mpi_comm = (struct iot_rec_mpi_comm){
			.time_ns = nodes[node].records[0].fact.time_ns, .task = 1, .comm = WORLD + 1, .size = 2,
			.rank = node, .world_rank = rank, .first = first,
		};
		record = add_op(rank, IOT_KIND_mpi_coll, BEGIN_NS + node * 1000000000ull,
				BEGIN_NS + node * 1000000000ull + 1000);
		record->mpi_coll.call = call;
		record->mpi_coll.comm = WORLD + 1;
		record->mpi_coll.number = 1;
		record->mpi_coll.root = is_rooted ? 0 : -1;
		record->mpi_coll.sources = sources;
	}
}

static void merge_late(u32 call, u32 first, u32 sources, struct clock_fit *fits)
{
	static const struct clock same[NODES];
	struct merge_result result;
	u32 node;

	for (node = 0; node < 2; node++) {
		nodes[node] = (struct node){ .clock = &same[node] };
		add_beginning(node);
	}
	add_late(call, first, sources);
	for (node = 0; node < 2; node++)
		write_node(node);
	assert_int_equal(merge(2, "/scratch", &result, fits), 0);
}

static void collectives_without_waits_do_not_fit_clocks(void **state)
{
	static const struct {
		u32 call;
		u32 first; /* number of ranks of the first of two groups */
		u32 sources;
	} rows[] = {
		{ IOT_CALL_bcast }, { IOT_CALL_reduce }, { IOT_CALL_allreduce }, { IOT_CALL_iallreduce },
		{ IOT_CALL_gather }, { IOT_CALL_allgather }, { IOT_CALL_alltoall }, { IOT_CALL_scatter },
		{ IOT_CALL_reduce_scatter_block }, { IOT_CALL_comm_dup, 1 },
		{ IOT_CALL_comm_split, 1 }, { IOT_CALL_comm_create },
		{ IOT_CALL_allreduce, 0, IOT_SOURCES_none }, { IOT_CALL_reduce, 0, IOT_SOURCES_none },
		{ IOT_CALL_bcast, 0, IOT_SOURCES_none }, { IOT_CALL_scan, 0, IOT_SOURCES_none },
	};
	struct clock_fit fits[NODES];
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		merge_late(rows[i].call, rows[i].first, rows[i].sources, fits);
		assert_int_equal(fits[1].source, CLOCK_SOURCE_wall);
	}
}

/* Node 0 got data of node 1, or waited for it: its clock differs from that of node 1, which is a second behind. */
static void collectives_with_data_fit_clocks(void **state)
{
	static const struct {
		u32 call;
		u32 first;
		u32 sources;
	} rows[] = {
		{ IOT_CALL_reduce, 0, IOT_SOURCES_all }, { IOT_CALL_allreduce, 0, IOT_SOURCES_all },
		{ IOT_CALL_gather, 0, IOT_SOURCES_all }, { IOT_CALL_alltoallv, 0, IOT_SOURCES_all },
		{ IOT_CALL_barrier }, { IOT_CALL_barrier, 1 }, { IOT_CALL_comm_split },
		{ IOT_CALL_alltoall, 1, IOT_SOURCES_all },
	};
	struct clock_fit fits[NODES];
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		merge_late(rows[i].call, rows[i].first, rows[i].sources, fits);
		assert_int_not_equal(fits[1].source, CLOCK_SOURCE_wall);
		assert_true(fits[1].offset_ns < -999000000 && fits[1].offset_ns > -1001000000);
	}
}

/* Rank 0 cannot have data of rank 1, which called a second later by the same clock: the records are wrong. */
static void contradictions_within_one_clock_do_not_fit_clocks(void **state)
{
	static const struct clock same[NODES];
	static const u64 arrived_ns[] = { 0, 1000000000, 300000000 };
	struct clock_fit fits[NODES];
	struct merge_result result;
	struct iot_record *record;
	u32 rank;

	(void)state;
	for (rank = 0; rank < 2; rank++) {
		nodes[rank] = (struct node){ .clock = &same[rank] };
		add_beginning(rank);
	}
	for (rank = 0; rank < 3; rank++) {
		record = add(rank / RANKS_OF_NODE, IOT_KIND_mpi_comm, NULL);
		record->mpi_comm = (struct iot_rec_mpi_comm){
			.time_ns = nodes[0].records[0].fact.time_ns, .task = rank % RANKS_OF_NODE + 1,
			.comm = WORLD + 1, .size = 3, .rank = rank, .world_rank = rank,
		};
		record = add_op(rank, IOT_KIND_mpi_coll, BEGIN_NS + arrived_ns[rank], BEGIN_NS + arrived_ns[rank] + 1000);
		record->mpi_coll.call = IOT_CALL_allreduce;
		record->mpi_coll.comm = WORLD + 1;
		record->mpi_coll.number = 1;
		record->mpi_coll.root = -1;
		record->mpi_coll.sources = IOT_SOURCES_all;
	}
	for (rank = 0; rank < 2; rank++)
		write_node(rank);
	assert_int_equal(merge(2, "/scratch", &result, fits), 0);
	assert_int_equal(fits[1].source, CLOCK_SOURCE_wall);
}

/* A node without operations, for a job whose long name differs from others only at its end. */
static void write_idle(u32 number, char last)
{
	struct iot_record *record;
	char job[4 + 200] = "job=";

	nodes[number] = (struct node){ .clock = &straight[number] };
	add_beginning(number);
	memset(job + 4, 'j', sizeof(job) - 6);
	job[sizeof(job) - 2] = last;
	job[sizeof(job) - 1] = 0;
	record = add(number, IOT_KIND_fact, job);
	record->fact.time_ns = nodes[number].records[0].fact.time_ns;
	write_node(number);
}

static void jobs_with_long_names_are_distinguished(void **state)
{
	struct clock_fit fits[NODES];
	struct merge_result result;

	(void)state;
	write_idle(0, 'a');
	write_idle(1, 'b');
	assert_int_equal(merge(2, "/scratch", &result, fits), -EINVAL);
	assert_non_null(strstr(said, "the traces are of 2 jobs"));
	assert_non_null(strstr(said, "ja: 1 traces"));
	assert_non_null(strstr(said, "jb: 1 traces"));

	write_idle(1, 'a');
	assert_int_equal(merge(2, "/scratch", &result, fits), 0);
	assert_int_equal(result.jobs, 1);
}

/* A process with many files raises its soft limit of open files, which is lower than the hard limit here. */
static void many_traces_are_opened(void **state)
{
	struct clock_fit fits[NODES];
	struct merge_result result;
	struct rlimit limit, few;
	int free_fd = dup(0), err;

	(void)state;
	assert_true(free_fd >= 0);
	close(free_fd);
	make_job(straight);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)free_fd + 2, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	err = merge(NODES, "/scratch", &result, fits);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_string_equal(said, "");
	assert_int_equal(err, 0);
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory),

SUITE("merge",
      TEST(clocks_are_fitted)
      TEST(steps_are_corrected)
      TEST(shared_files_become_one)
      TEST(private_directories_stay_separate)
      TEST(equal_traces_give_equal_results)
      TEST(omissions_are_reported)
      TEST(filters_that_excluded_nothing_are_known)
      TEST(interrupted_parts_make_a_partial_result)
      TEST(jobs_with_long_names_are_distinguished)
      TEST(collectives_without_waits_do_not_fit_clocks)
      TEST(collectives_with_data_fit_clocks)
      TEST(contradictions_within_one_clock_do_not_fit_clocks)
      TEST(many_traces_are_opened))
