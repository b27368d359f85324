// SPDX-License-Identifier: GPL-2.0-only
/*
 * rotation.c - a trace in several files: each is a trace of its own, and together they have each record once.
 *
 * Linked with --wrap=ioctl, which replaces the kernel's marks, and with --wrap=clock_gettime: the time is that of the records.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "collectord/file_numbers.h"
#include "collectord/sink.h"
#include "collectord/sink_files.h"
#include "flight_program.h"
#include "flight_tape.h"
#include "suite.h"

#define STATE_BYTES (4 << 20)

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

static u64 mark_number, refused, clock_now_ns;
static bool is_busy;
static u32 marks;

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct iot_mark *mark;
	va_list arguments;

	(void)fd;
	if (request != IOT_IOC_MARK)
		_exit(99);
	if (is_busy) {
		errno = EBUSY;
		return -1;
	}
	va_start(arguments, request);
	mark = va_arg(arguments, struct iot_mark *);
	va_end(arguments);
	mark->number = ++mark_number;
	mark->refused = refused;
	marks++;
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	u64 ns = clock_now_ns + (clock == CLOCK_REALTIME ? 1000000000000000000ull : 0);

	now->tv_sec = (time_t)(ns / 1000000000u);
	now->tv_nsec = (long)(ns % 1000000000u);
	return 0;
}

/* -- a recording ----------------------------------------------------------------------------------- */

static char output[PATH_MAX], complaint[512];
static struct rotation_options rotation;
static u32 every; /* steps from one file to the next */

static void note_complaint(const char *sentence)
{
	snprintf(complaint, sizeof(complaint), "%s", sentence);
}

static const char *file_path(u64 number)
{
	static char path[PATH_MAX];

	file_number_path(path, output, number);
	return path;
}

static bool has_file(u64 number)
{
	return !access(file_path(number), F_OK);
}

static int take_in_sink(struct tape *t, const struct message *message)
{
	return sink_message(t->sink, message);
}

/* The file is full, whatever its length is. */
static void ask(struct tape *t)
{
	clock_now_ns = t->now_ns;
	assert_int_equal(sink_files_tick(t->sink, clock_now_ns), 0);
}

/* As the kernel does: everything first. */
static int answer(struct tape *t)
{
	flush_all(t);
	clock_now_ns = t->now_ns;
	return sink_files_mark(t->sink, mark_number);
}

/* While tasks work, a mark is asked for, and comes some steps later. */
static void turn_now_and_then(struct tape *t, u32 step)
{
	if (!(step % every))
		ask(t);
	if (step % every == 30)
		answer(t);
	clock_now_ns = t->now_ns;
}

static void rotation_open(struct tape *t)
{
	static const unsigned char capture[16] = "whole";

	snprintf(output, sizeof(output), "%s.part.iot", scratch_trace);
	rotation.bytes = 1;
	rotation.state_bytes = STATE_BYTES;
	rotation.complain = note_complaint;
	complaint[0] = 0;
	is_busy = false;
	marks = 0;
	refused = 0;
	t->collect = (struct collector_options){ .session_fd = -1, .path = output, .facts = facts, .rotation = &rotation };
	t->now_ns = 1000000000;
	t->span_ns = 500;
	t->take = take_in_sink;
	clock_now_ns = t->now_ns;
	assert_int_equal(sink_files_open(&t->collect, &t->sink), 0);
	assert_int_equal(sink_describe(t->sink, &t->collect), 0);
	assert_int_equal(iot_writer_open(scratch_trace, capture, &t->whole), 0);
	srandom(1);
}

static struct collector_result rotation_close(struct tape *t, struct iot_message_end *end)
{
	struct collector_result result;

	flush_all(t);
	clock_now_ns = t->now_ns;
	assert_int_equal(iot_writer_finish(t->whole), 0);
	iot_writer_close(t->whole);
	assert_int_equal(sink_files_end(t->sink), 0);
	sink_result(t->sink, &result);
	if (!end->records)
		end->records = cpu_to_le64(result.records + result.missing);
	assert_int_equal(sink_conclude(t->sink, "", end, ""), 0);
	sink_result(t->sink, &result);
	sink_close(t->sink);
	return result;
}

static void remove_files(void)
{
	u64 i;

	for (i = 1; i < 200; i++)
		unlink(file_path(i));
	rotation = (struct rotation_options){};
}

/* -- what files say --------------------------------------------------------------------------------- */

/* Sums over files. */
struct sums {
	u64 operations;
	u64 records;
	u64 lost;
	u64 missing;
	u64 filtered;
	u32 files;
};

static struct contents read_file(u64 number)
{
	struct contents found = {};
	struct iot_reject reject = {};

	assert_int_equal(iot_trace_walk(file_path(number), take, &found, &found.info, &reject), 0);
	iot_omissions_finish(&found.omissions, &found.info);
	assert_true(found.info.is_complete);
	return found;
}

static void add_file(struct sums *sums, u64 number)
{
	struct contents found = read_file(number);

	sums->operations += found.ops;
	sums->lost += found.info.lost;
	sums->missing += found.info.missing;
	sums->filtered += found.omissions.of[IOT_OMISSION_filtered].count;
	sums->files++;
}

static struct sums add_files(u64 first)
{
	struct sums sums = {};

	for (; has_file(first); first++)
		add_file(&sums, first);
	return sums;
}

/* -- tests ------------------------------------------------------------------------------------------ */

static int remove_place(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct places *places = context;
	struct place *place, key = {};

	compare_place(context, names, record);
	if (!object_of(record))
		return 0;
	key.key.task = record->op.task;
	key.key.op = record->op.op;
	HASH_FIND(hh, places->list, &key.key, sizeof(key.key), place);
	HASH_DEL(places->list, place); /* once */
	free(place);
	return 0;
}

/* Each operation is in one file, and there its object has the name that it has in a trace of all. */
static void files_have_each_operation_once(void **state)
{
	static const u32 batches[] = { 1, 10, 0 };
	size_t i;
	u64 file;

	(void)state;
	for (i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
		struct tape tape = { .batch = batches[i], .step = turn_now_and_then }, *t = &tape;
		struct iot_message_end end = {};
		struct iot_reject reject = {};
		struct places places = {};
		struct collector_result result;
		struct sums sums;

		every = 3000;
		rotation_open(t);
		run_program(t, 60000);
		result = rotation_close(t, &end);
		sums = add_files(1);
		assert_int_equal(sums.files, 21);
		assert_int_equal(result.files, 21);
		assert_int_equal(result.file_number, 21);
		assert_int_equal(sums.operations, t->operations);
		assert_int_equal(sums.lost + sums.missing, 0);
		assert_int_equal(iot_trace_walk(scratch_trace, note_place, &places, NULL, &reject), 0);
		for (file = 1; file <= sums.files; file++) {
			const struct contents found = read_file(file);

			assert_true(iot_omissions_is_none(&found.omissions));
			assert_int_equal(iot_trace_walk(file_path(file), remove_place, &places, NULL, &reject), 0);
			compiles(file_path(file));
		}
		assert_null(places.list);
		assert_true(places.unnamed < places.compared / 4);
		assert_string_equal(complaint, "");
		remove_files();
	}
}

static int check_position(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct contents *found = context;

	if (record->kind == IOT_KIND_opened && record->opened.handle == 7) {
		found->opened++;
		found->position = (u64)record->opened.offset_bytes;
		found->size_bytes = record->opened.size_bytes;
		snprintf(found->cause, sizeof(found->cause), "%s", iot_names_path(names, record->opened.name));
	}
	return 0;
}

/* A handle is announced as it was at the beginning of the file, though its object changed before its first use there. */
static void handle_is_as_at_the_beginning(void **state)
{
	struct tape tape = { .batch = 1 }, *t = &tape;
	struct iot_message_end end = {};
	struct contents found = {};
	struct iot_reject reject = {};

	(void)state;
	rotation_open(t);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	PUT(1, open, .object = FIRST_FREE, .name = FIRST_FREE, .handle = 7, .flags = IOT_OPEN_write | IOT_OPEN_created | IOT_OPEN_create);
	PUT(2, write, .object = FIRST_FREE, .handle = 7, .length_bytes = 10, .result = 10);
	ask(t);
	assert_int_equal(answer(t), 1);
	put_name(t, 1, FIRST_FREE + 1, ROOT, "b");
	PUT(1, rename, .name = FIRST_FREE, .new_name = FIRST_FREE + 1, .object = FIRST_FREE);
	PUT(1, setattr, .object = FIRST_FREE, .attrs = IOT_ATTR_size, .size_bytes = 100);
	fill(t); /* until the changes have left the ring */
	PUT(3, write, .object = FIRST_FREE, .handle = 7, .offset_bytes = 10, .length_bytes = 5, .result = 5, .old_size_bytes = 100);
	rotation_close(t, &end);
	assert_int_equal(iot_trace_walk(file_path(2), check_position, &found, NULL, &reject), 0);
	assert_int_equal(found.opened, 1);
	assert_int_equal(found.position, 10);
	assert_int_equal(found.size_bytes, 10);
	assert_string_equal(found.cause, "a");
	compiles(file_path(2));
	remove_files();
}

/* Kinds of the operations of a program, each as a letter. */
static void program_letters(const char *trace, char letters[16])
{
	const struct compile_options options = { .trace = trace, .program = scratch_program };
	const struct iot_program_op *op;
	struct compile_summary summary;
	struct iot_program program;
	struct iot_program_op room;
	struct iot_reject reject = {};
	u64 i, n = 0;

	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	compile_summary_free(&summary);
	assert_int_equal(iot_program_load(scratch_program, &program, &reject), 0);
	for (i = 0; i < program.op_count; i++) {
		op = iot_program_op_at(&program, i, &room);
		if (n < 15 && le16_to_cpu(op->kind) < IOT_PLAY_wait)
			letters[n++] = iot_kind_info(le16_to_cpu(op->kind))->name[0];
	}
	letters[n] = 0;
	iot_program_free(&program);
}

/* It was entered before the file began, and before its handle is opened in a replay. */
static void operation_spans_files(void **state)
{
	struct tape tape = { .batch = 1 }, *t = &tape;
	struct iot_message_end end = {};
	char letters[16];

	(void)state;
	rotation_open(t);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	PUT(1, open, .object = FIRST_FREE, .name = FIRST_FREE, .handle = 7, .flags = IOT_OPEN_write | IOT_OPEN_created | IOT_OPEN_create);
	t->now_ns += 1000000000;
	PUT(2, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	assert_int_equal(answer(t), 1);
	PUT(2, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	assert_int_equal(sink_flush(t->sink, true), 0);
	t->span_ns = 500000000;
	PUT(1, write, .object = FIRST_FREE, .handle = 7, .length_bytes = 5, .result = 5);
	rotation_close(t, &end);
	assert_int_equal(read_file(1).ops, 2);
	assert_int_equal(read_file(2).ops, 2);
	program_letters(file_path(2), letters);
	assert_string_equal(letters, "sow");
	remove_files();
}

struct filter {
	char text[64];
	u32 changes;
	bool is_on;
};

static int take_filter(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct filter *filter = context;

	(void)names;
	if (record->kind == IOT_KIND_fact && !memcmp(record->tail, "filter=", 7))
		snprintf(filter->text, sizeof(filter->text), "%.*s", (int)record->tail_bytes, record->tail);
	if (record->kind == IOT_KIND_control && record->control.verb == IOT_VERB_filter) {
		filter->changes++;
		filter->is_on = record->control.value;
	}
	return 0;
}

static struct filter filter_of(u64 number)
{
	struct iot_reject reject = {};
	struct filter filter = {};

	assert_int_equal(iot_trace_walk(file_path(number), take_filter, &filter, NULL, &reject), 0);
	return filter;
}

/* A filter that was changed or removed by iotape ctl is stated in all later files. */
static void changed_filter_is_stated(void **state)
{
	struct tape tape = { .batch = 1 }, *t = &tape;
	struct iot_message_end end = {};
	struct filter filter;

	(void)state;
	rotation_open(t);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	put(t, 1, (struct iot_record){ .kind = IOT_KIND_fact }, "filter=op == read");
	PUT(1, control, .verb = IOT_VERB_filter, .value = 1, .since_ns = t->now_ns);
	ask(t);
	assert_int_equal(answer(t), 1);
	PUT(2, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	assert_int_equal(answer(t), 1);
	PUT(2, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	PUT(1, control, .verb = IOT_VERB_filter, .value = 0, .since_ns = t->now_ns);
	ask(t);
	assert_int_equal(answer(t), 1);
	PUT(2, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	rotation_close(t, &end);
	filter = filter_of(3);
	assert_string_equal(filter.text, "filter=op == read");
	assert_int_equal(filter.changes, 2);
	filter = filter_of(4);
	assert_string_equal(filter.text, "");
	assert_int_equal(filter.changes, 1);
	assert_false(filter.is_on);
	remove_files();
}

/* The records of a CPU come in the order of their ends, those of different CPUs do not. */
static void state_follows_the_order_of_ends(void **state)
{
	struct tape tape = { .batch = BATCH_MAX }, *t = &tape;
	struct iot_message_end end = {};
	struct contents found = {};
	struct iot_reject reject = {};

	(void)state;
	rotation_open(t);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	PUT(1, open, .object = FIRST_FREE, .name = FIRST_FREE, .handle = 7, .flags = IOT_OPEN_write | IOT_OPEN_created | IOT_OPEN_create);
	flush_all(t);
	PUT(1, write, .object = FIRST_FREE, .handle = 7, .length_bytes = 10, .result = 10);
	PUT(2, write, .object = FIRST_FREE, .handle = 7, .offset_bytes = 10, .length_bytes = 10, .result = 10, .old_size_bytes = 10);
	flush(t, 2);
	flush(t, 1);
	ask(t);
	assert_int_equal(answer(t), 1);
	PUT(3, seek, .object = FIRST_FREE, .handle = 7, .result = 0);
	rotation_close(t, &end);
	assert_int_equal(iot_trace_walk(file_path(2), check_position, &found, NULL, &reject), 0);
	assert_int_equal(found.position, 20);
	assert_int_equal(found.size_bytes, 20);
	remove_files();
}

/* An operation that ended after the moment is not in the file, though it arrived before the mark. */
static void files_are_divided_at_a_moment(void **state)
{
	struct tape tape = { .batch = 4 }, *t = &tape;
	struct iot_message_end end = {};
	u32 i;

	(void)state;
	rotation_open(t);
	begin(t);
	flush_all(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	for (i = 0; i < 5; i++) /* one message with four of them, one is still to come */
		PUT(2, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	for (i = 0; i < 9; i++)
		PUT(2, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	assert_int_equal(sink_files_mark(t->sink, mark_number - 1), 0); /* another one, from before */
	assert_int_equal(answer(t), 1);
	rotation_close(t, &end);
	assert_int_equal(read_file(1).ops, 5);
	assert_int_equal(read_file(2).ops, 9);
	remove_files();
}

/* A call site and its operation are in one file. */
static void call_sites_stay_with_operations(void **state)
{
	struct tape tape = { .batch = 8 }, *t = &tape;
	struct iot_message_end end = {};

	(void)state;
	rotation_open(t);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	flush_all(t);
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	PUT(1, called_from, .task = 1, .op = t->ops[1] + 1);
	ask(t);
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	assert_int_equal(answer(t), 1);
	rotation_close(t, &end);
	assert_int_equal(read_file(1).ops, 1);
	assert_int_equal(read_file(1).info.lost, 0);
	assert_int_equal(read_file(2).ops, 1);
	{
		struct iot_reader *reader;
		struct iot_record record;
		struct iot_reject reject = {};
		u32 sites = 0;

		assert_int_equal(iot_reader_open(file_path(2), &reader, &reject), 0);
		while (iot_reader_next(reader, &record, &reject) > 0)
			sites += record.kind == IOT_KIND_called_from;
		iot_reader_close(reader);
		assert_int_equal(sites, 1);
	}
	remove_files();
}

static void losses_add_up(void **state)
{
	static const char *const filtered[] = { IOT_FACT_OPS "=data", NULL };
	struct tape tape = { .batch = 10 }, *t = &tape;
	struct iot_message_end end = { .lost = cpu_to_le64(9), .refused = cpu_to_le64(50) };
	struct collector_result result;
	struct sums sums;
	u32 i;

	(void)state;
	rotation_open(t);
	t->collect.facts = filtered;
	assert_int_equal(sink_fact(t->sink, filtered[0]), 0);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	for (i = 0; i < 3000; i++) {
		if (i % 1000 == 500) {
			flush_all(t);
			t->sequences[0] += 5 + i / 1000;
			t->lost[1] += 1 + i / 1000;
		}
		if (i % 1000 == 900) {
			refused += 10 + i / 1000;
			ask(t);
		}
		PUT(1 + i % 3, stat, .object = FIRST_FREE, .name = FIRST_FREE);
		if (i % 1000 == 950)
			assert_int_equal(answer(t), 1);
	}
	result = rotation_close(t, &end);
	sums = add_files(1);
	assert_int_equal(sums.files, 4);
	assert_int_equal(sums.missing, 5 + 6 + 7);
	assert_int_equal(result.missing, 5 + 6 + 7);
	assert_int_equal(sums.lost, 9); /* three after the last message */
	assert_int_equal(result.lost, 9);
	for (i = 1; i <= 4; i++)
		assert_int_equal(read_file(i).info.lost, i < 4 ? i : 3);
	assert_int_equal(sums.filtered, 50);
	assert_int_equal(sums.operations, t->operations);
	assert_int_equal(read_file(1).omissions.of[IOT_OMISSION_filtered].count, 10);
	remove_files();
}

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0644);

	assert_true(fd >= 0);
	close(fd);
}

/* Numbers go on behind those of an earlier recording; the oldest files are removed, and nothing else is. */
static void old_files_are_removed(void **state)
{
	struct tape tape = {}, *t = &tape;
	struct iot_message_end end = {};
	char other[PATH_MAX + 16];
	struct stat untouched;
	u32 i;

	(void)state;
	snprintf(output, sizeof(output), "%s.part.iot", scratch_trace);
	for (i = 7; i <= 9; i++)
		make_file(file_path(i));
	snprintf(other, sizeof(other), "%s.part.01.iot", scratch_trace);
	make_file(other);
	assert_int_equal(symlink(other, file_path(3)), 0); /* not files of ours: their numbers are not used */
	assert_int_equal(symlink(other, file_path(11)), 0);
	assert_int_equal(symlink(other, file_path(UINT64_MAX)), 0);
	rotation.keep = 3;
	rotation_open(t);
	assert_false(has_file(7));
	assert_true(has_file(8) && has_file(9) && has_file(10));
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	for (i = 0; i < 3; i++) {
		PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
		ask(t);
		assert_int_equal(answer(t), 1);
	}
	rotation_close(t, &end);
	assert_false(has_file(10));
	assert_true(has_file(12) && has_file(13) && has_file(14) && !has_file(15) && !has_file(0));
	assert_true(!stat(other, &untouched) && !untouched.st_size);
	assert_int_equal(unlink(file_path(3)), 0);
	assert_int_equal(unlink(file_path(11)), 0);
	assert_int_equal(unlink(file_path(UINT64_MAX)), 0);
	unlink(other);
	remove_files();
}

/* It goes on in the file before it, and there is another attempt later. */
static void next_file_may_fail(void **state)
{
	struct tape tape = { .batch = 3 }, *t = &tape;
	struct iot_message_end end = {};
	struct rlimit limit, none;
	u32 i;

	(void)state;
	rotation_open(t);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	for (i = 0; i < 7; i++)
		PUT(1 + i % 3, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	for (i = 0; i < 8; i++)
		PUT(1 + i % 3, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	i = (u32)answer(t);
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(i, 0);
	assert_non_null(strstr(complaint, "Too many open files: the recording goes on in the file before it"));
	assert_false(has_file(2));
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	assert_int_equal(marks, 1); /* too early */
	t->now_ns += 11000000000ull;
	ask(t);
	assert_int_equal(marks, 2);
	assert_int_equal(answer(t), 1);
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	rotation_close(t, &end);
	assert_int_equal(read_file(1).ops, 16);
	assert_int_equal(read_file(2).ops, 1);
	remove_files();
}

/* The end of the recording comes before the mark. */
static void end_before_the_mark(void **state)
{
	struct tape tape = { .batch = 3 }, *t = &tape;
	struct iot_message_end end = {};
	u32 i;

	(void)state;
	rotation_open(t);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	is_busy = true;
	ask(t);
	is_busy = false;
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	for (i = 0; i < 20; i++)
		PUT(1 + i % 3, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	rotation_close(t, &end);
	assert_int_equal(read_file(1).ops, 21);
	assert_false(has_file(2));
	remove_files();
}

/* A mark that does not come is asked for again, and the moment is still the first one. */
static void lost_mark_is_asked_for_again(void **state)
{
	struct tape tape = { .batch = 4 }, *t = &tape;
	struct iot_message_end end = {};

	(void)state;
	rotation_open(t);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	t->now_ns += 2100000000;
	ask(t);
	assert_int_equal(marks, 2);
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	assert_int_equal(sink_files_mark(t->sink, mark_number - 1), 0);
	assert_int_equal(answer(t), 1);
	rotation_close(t, &end);
	assert_int_equal(read_file(1).ops, 1);
	assert_int_equal(read_file(2).ops, 2);
	remove_files();
}

/* A period without records does not end a file. */
static void time_ends_files_with_records(void **state)
{
	struct tape tape = { .batch = 1 }, *t = &tape;
	struct iot_message_end end = {};

	(void)state;
	rotation.period_ns = 5000000000;
	rotation_open(t);
	rotation.bytes = 0;
	t->now_ns += 6000000000;
	ask(t);
	assert_int_equal(marks, 0);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	assert_int_equal(marks, 1);
	assert_int_equal(answer(t), 1);
	t->now_ns += 1000000000;
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	ask(t);
	assert_int_equal(marks, 1);
	rotation_close(t, &end);
	assert_int_equal(read_file(2).ops, 1);
	remove_files();
}

SUITE("rotation",
      WITH_SCRATCH(files_have_each_operation_once)
      WITH_SCRATCH(handle_is_as_at_the_beginning)
      WITH_SCRATCH(operation_spans_files)
      WITH_SCRATCH(changed_filter_is_stated)
      WITH_SCRATCH(state_follows_the_order_of_ends)
      WITH_SCRATCH(files_are_divided_at_a_moment)
      WITH_SCRATCH(call_sites_stay_with_operations)
      WITH_SCRATCH(losses_add_up)
      WITH_SCRATCH(old_files_are_removed)
      WITH_SCRATCH(next_file_may_fail)
      WITH_SCRATCH(end_before_the_mark)
      WITH_SCRATCH(lost_mark_is_asked_for_again)
      WITH_SCRATCH(time_ends_files_with_records))
