// SPDX-License-Identifier: GPL-2.0-only
/*
 * api.c - libiotape refuses invalid calls by one convention, and reads what it has written.
 */
#include <iotape/iotape.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/iotape.h"
#include "scratch.h"
#include "suite.h"

/* The path of a file next to the scratch trace. */
static void path_of(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s.%s", scratch_trace, name);
}

static const struct iotape_kind *kind(const char *name)
{
	const struct iotape_kind *found = iotape_kind_find(name);

	assert_non_null(found);
	return found;
}

static const struct iotape_field *field(const char *of, const char *name)
{
	const struct iotape_field *found = iotape_field_find(kind(of), name);

	assert_non_null(found);
	return found;
}

static struct iotape_record *new_read(uint64_t begin_ns, int64_t result)
{
	struct iotape_record *record;

	assert_int_equal(iotape_record_new(kind("read"), &record), 0);
	assert_int_equal(iotape_record_set_u64(record, field("read", "enter_ns"), begin_ns), 0);
	assert_int_equal(iotape_record_set_u64(record, field("read", "duration_ns"), 10), 0);
	assert_int_equal(iotape_record_set_u64(record, field("read", "task"), 7), 0);
	assert_int_equal(iotape_record_set_s64(record, field("read", "result"), result), 0);
	return record;
}

static void kinds_and_fields_are_those_of_the_schema(void **state)
{
	const struct iotape_kind *k;
	size_t i, j;

	(void)state;
	for (i = 0; (k = iotape_kind_at(i)); i++) {
		assert_ptr_equal(k, iotape_kind_find(iotape_kind_name(k)));
		assert_string_equal(iotape_kind_sentence(k), iot_kind_at(i)->sentence);
		for (j = 0; iotape_field_at(k, j); j++)
			assert_ptr_equal(iotape_field_at(k, j),
					 iotape_field_find(k, iotape_field_name(iotape_field_at(k, j))));
		assert_int_equal(j, iot_kind_at(i)->field_count);
	}
	assert_true(i > 40);
	assert_null(iotape_kind_find("nonsense"));
	assert_null(iotape_field_find(kind("read"), "nonsense"));
	assert_true(iotape_kind_is_operation(kind("read")));
	assert_false(iotape_kind_is_operation(kind("mpi_send")));
	assert_string_equal(iotape_kind_group(kind("mpi_send")), "mpi");
	assert_string_equal(iotape_field_meaning(field("read", "length_bytes")), "bytes");
	assert_string_equal(iotape_field_unit(field("read", "length_bytes")), "bytes");
	assert_string_equal(iotape_field_unit(field("read", "duration_ns")), "ns");
	assert_string_equal(iotape_field_unit(field("open", "cached_pages")), "pages");
	assert_string_equal(iotape_field_unit(field("read", "task")), "");
	assert_true(iotape_field_is_signed(field("read", "result")));
	assert_false(iotape_field_is_signed(field("read", "task")));
	assert_string_equal(iotape_version(), IOTAPE_VERSION);
}

static void values_outside_the_type_are_refused(void **state)
{
	struct iotape_record *r = new_read(5, -2);
	uint64_t u;
	int64_t s;

	(void)state;
	assert_int_equal(iotape_record_get_s64(r, field("read", "result"), &s), 0);
	assert_int_equal(s, -2);
	assert_int_equal(iotape_record_get_u64(r, field("read", "result"), &u), -ERANGE);
	assert_int_equal(iotape_record_get_u64(r, field("write", "result"), &u), -EINVAL);
	assert_int_equal(iotape_record_get_u64(r, NULL, &u), -EINVAL);
	assert_int_equal(iotape_record_set_u64(r, field("write", "result"), 1), -EINVAL);
	assert_int_equal(iotape_record_set_u64(r, field("read", "task"), 1ull << 32), -ERANGE);
	assert_int_equal(iotape_record_set_s64(r, field("read", "task"), -1), -ERANGE);
	assert_int_equal(iotape_record_set_u64(r, field("read", "result"), UINT64_MAX), -ERANGE);
	assert_int_equal(iotape_record_set_u64(r, field("read", "handle"), UINT64_MAX), 0);
	assert_int_equal(iotape_record_get_u64(r, field("read", "handle"), &u), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(iotape_record_get_s64(r, field("read", "handle"), &s), -ERANGE);
	assert_int_equal(iotape_record_task(r), 7);
	assert_int_equal(iotape_record_begin_ns(r), 5);
	assert_int_equal(iotape_record_end_ns(r), 15);
	assert_int_equal(iotape_record_moved_bytes(r), 0);
	iotape_record_free(r);
	iotape_record_free(NULL);
}

static void tails_belong_to_their_record(void **state)
{
	char text[] = "two words", long_text[IOT_TAIL_MAX_BYTES + 1], printed[64];
	struct iotape_record *r, *copy;
	size_t bytes;

	(void)state;
	memset(long_text, 'x', sizeof(long_text));
	assert_int_equal(iotape_record_new(kind("task"), &r), 0);
	iotape_record_tail(r, &bytes);
	assert_int_equal(bytes, 0);
	assert_int_equal(iotape_record_set_tail(r, long_text, sizeof(long_text)), -EMSGSIZE);
	assert_int_equal(iotape_record_set_tail(r, text, strlen(text)), 0);
	memset(text, 'y', strlen(text));
	assert_int_equal(iotape_record_copy(r, &copy), 0);
	iotape_record_free(r);
	assert_memory_equal(iotape_record_tail(copy, &bytes), "two words", 9);
	assert_int_equal(bytes, 9);
	assert_int_equal(iotape_record_tail_text(copy, printed, sizeof(printed)), 12);
	assert_string_equal(printed, "two\\040words");
	assert_int_equal(iotape_record_tail_text(copy, printed, 1), -EINVAL);
	iotape_record_free(copy);

	r = new_read(0, -2);
	assert_int_equal(iotape_record_set_tail(r, "x", 1), -EINVAL);
	assert_int_equal(iotape_record_text(r, field("read", "result"), printed, sizeof(printed)), 6);
	assert_string_equal(printed, "ENOENT");
	assert_int_equal(iotape_record_text(r, field("task", "task"), printed, sizeof(printed)), -EINVAL);
	iotape_record_free(r);
}

static void errors_name_the_file_and_the_cause(void **state)
{
	struct iotape_reader *reader;
	struct iotape_error error;
	char path[PATH_MAX], wanted[PATH_MAX + 64];

	(void)state;
	path_of(path, "noise");
	assert_int_equal(iot_file_save(path, "0123456789012345678901234567890123456789012345678901234567890123", 64), 0);
	assert_int_equal(iotape_reader_open(path, 0, &reader, &error), -EBADMSG);
	assert_null(reader);
	assert_int_equal(error.code, -EBADMSG);
	assert_int_equal(error.offset_bytes, 0);
	snprintf(wanted, sizeof(wanted), "%s:0x0: not a trace", path);
	assert_string_equal(error.sentence, wanted);

	assert_int_equal(iotape_reader_open("/nonexistent", 0, &reader, &error), -ENOENT);
	assert_true(error.offset_bytes == IOTAPE_NOWHERE);
	assert_string_equal(error.sentence, "/nonexistent: No such file or directory");
	assert_int_equal(iotape_reader_open("/nonexistent", 0, &reader, NULL), -ENOENT);
	assert_int_equal(iotape_reader_open(path, 1u << 31, &reader, &error), -EINVAL);
	assert_int_equal(unlink(path), 0);
}

static void add(struct iotape_writer *writer, struct iotape_record *record, int expected)
{
	assert_int_equal(iotape_writer_add(writer, record, NULL), expected);
	iotape_record_free(record);
}

static void written_records_are_read_back(void **state)
{
	const struct iotape_info origin = { .capture = "0123456789abcde", .real_ns = 1000, .mono_ns = 10 };
	const struct iotape_record *record;
	struct iotape_omission omission;
	struct iotape_writer *writer;
	struct iotape_reader *reader;
	struct iotape_info info;
	char path[PATH_MAX];
	int64_t result;

	(void)state;
	path_of(path, "written.iot");
	assert_int_equal(iotape_writer_open(path, &origin, &writer, NULL), 0);
	add(writer, new_read(100, 4096), 0);
	add(writer, new_read(99, 1), -EINVAL); /* ends before the previous record */
	add(writer, new_read(100, 2), 0);
	assert_int_equal(iotape_writer_add_fact(writer, "a=b", "c", NULL), -EINVAL);
	assert_int_equal(iotape_writer_add_fact(writer, "creator", "test", NULL), 0);
	assert_int_equal(iotape_writer_add_omission(writer, "nonsense", 1, 1, 1, NULL, NULL), -EINVAL);
	assert_int_equal(iotape_writer_add_omission(writer, "partial", 1, 5, IOTAPE_UNKNOWN, "half", NULL), 0);
	assert_int_equal(iotape_writer_finish(writer, NULL), 0);
	add(writer, new_read(200, 1), -EINVAL);
	assert_int_equal(iotape_writer_finish(writer, NULL), -EINVAL);
	iotape_writer_close(writer);

	assert_int_equal(iotape_reader_open(path, IOTAPE_READER_PATHS, &reader, NULL), 0);
	assert_int_equal(iotape_reader_info(reader, &info, sizeof(info)), 0);
	assert_memory_equal(info.capture, origin.capture, sizeof(info.capture));
	assert_int_equal(info.real_ns, 1000);
	assert_int_equal(info.is_complete, 1);
	assert_int_equal(info.records, 4);
	assert_int_equal(iotape_reader_info(reader, &info, sizeof(info) + 1), -EINVAL);
	assert_int_equal(iotape_reader_omission(reader, 0, &omission, sizeof(omission)), -EAGAIN);
	assert_int_equal(iotape_reader_next(reader, &record, NULL), 1);
	assert_ptr_equal(iotape_record_kind(record), kind("read"));
	assert_int_equal(iotape_record_get_s64(record, field("read", "result"), &result), 0);
	assert_int_equal(result, 4096);
	assert_int_equal(iotape_record_moved_bytes(record), 4096);
	assert_null(iotape_reader_path(reader, NULL));
	while (iotape_reader_next(reader, &record, NULL) > 0)
		;
	assert_int_equal(iotape_reader_next(reader, &record, NULL), 0);
	assert_int_equal(iotape_reader_omission(reader, 0, &omission, sizeof(omission)), 1);
	assert_string_equal(omission.name, "partial");
	assert_string_equal(omission.sentence, "the trace is partial: half");
	assert_int_equal(omission.operations, 5);
	assert_true(omission.bytes == IOTAPE_UNKNOWN);
	assert_int_equal(iotape_reader_omission(reader, 1, &omission, sizeof(omission)), 0);
	iotape_reader_close(reader);
	iotape_reader_close(NULL);
	assert_int_equal(unlink(path), 0);
}

static void an_unfinished_trace_is_removed(void **state)
{
	struct iotape_writer *writer;
	char path[PATH_MAX];
	struct stat stat;

	(void)state;
	path_of(path, "unfinished.iot");
	assert_int_equal(iotape_writer_open(path, NULL, &writer, NULL), 0);
	add(writer, new_read(1, 1), 0);
	iotape_writer_close(writer);
	iotape_writer_close(NULL);
	assert_int_equal(lstat(path, &stat), -1);
}

/* A copy of a copy: an omission that the file itself shows is stated once. */
static void omissions(const char *path, char *text, size_t room)
{
	const struct iotape_record *record;
	struct iotape_omission omission;
	struct iotape_reader *reader;
	size_t i, at = 0;

	assert_int_equal(iotape_reader_open(path, 0, &reader, NULL), 0);
	while (iotape_reader_next(reader, &record, NULL) > 0)
		;
	text[0] = 0;
	for (i = 0; iotape_reader_omission(reader, i, &omission, sizeof(omission)) > 0; i++)
		at += (size_t)snprintf(text + at, room - at, "%s=%llu ", omission.name, (unsigned long long)omission.count);
	iotape_reader_close(reader);
}

static void copy_trace(const char *from, const char *to)
{
	const struct iotape_record *record;
	struct iotape_reader *reader;
	struct iotape_writer *writer;
	struct iotape_info info;

	assert_int_equal(iotape_reader_open(from, 0, &reader, NULL), 0);
	assert_int_equal(iotape_reader_info(reader, &info, sizeof(info)), 0);
	assert_int_equal(iotape_writer_open(to, &info, &writer, NULL), 0);
	assert_int_equal(iotape_writer_inherit(writer, reader, NULL), -EAGAIN);
	while (iotape_reader_next(reader, &record, NULL) > 0)
		assert_int_equal(iotape_writer_add(writer, record, NULL), 0);
	assert_int_equal(iotape_writer_inherit(writer, reader, NULL), 0);
	assert_int_equal(iotape_writer_finish(writer, NULL), 0);
	iotape_writer_close(writer);
	iotape_reader_close(reader);
}

/* Two records missing before a chunk, three lost by its head and eight by the end record, a stated omission, no end. */
static void write_lossy(const char *path, bool has_end)
{
	struct iot_record clock = { .kind = IOT_KIND_clock, .clock.time_ns = 100 };
	struct iot_record end = { .kind = IOT_KIND_end, .end = { .time_ns = 200, .lost = 8 } };
	struct iot_record fact = { .kind = IOT_KIND_fact, .fact.time_ns = 150, .tail = (const u8 *)"omission.async=4 ? ?",
				   .tail_bytes = 20 };
	unsigned char capture[16] = "", bytes[256];
	struct iot_chunk_head head = { .sequence = cpu_to_le64(2), .lost = cpu_to_le64(3), .count = cpu_to_le32(1),
				       .first_ns = cpu_to_le64(100), .last_ns = cpu_to_le64(100) };
	struct iot_writer *writer;

	head.raw_bytes = cpu_to_le32((u32)iot_record_encode(bytes, sizeof(bytes), &clock));
	assert_int_equal(iot_writer_open(path, capture, &writer), 0);
	assert_int_equal(iot_writer_chunk(writer, &head, bytes), 0);
	assert_int_equal(iot_writer_record(writer, &fact), 0);
	if (has_end)
		assert_int_equal(iot_writer_record(writer, &end), 0);
	assert_int_equal(has_end ? iot_writer_finish(writer) : iot_writer_flush(writer), 0);
	iot_writer_close(writer);
}

static void check_copies(bool has_end, const char *expected)
{
	char path[PATH_MAX], copy[PATH_MAX], copy2[PATH_MAX], text[512];

	path_of(path, "lossy.iot");
	path_of(copy, "copy.iot");
	path_of(copy2, "copy2.iot");
	write_lossy(path, has_end);
	omissions(path, text, sizeof(text));
	assert_string_equal(text, expected);
	copy_trace(path, copy);
	omissions(copy, text, sizeof(text));
	assert_string_equal(text, expected);
	copy_trace(copy, copy2);
	omissions(copy2, text, sizeof(text));
	assert_string_equal(text, expected);
	unlink(path);
	unlink(copy);
	unlink(copy2);
}

static void copies_inherit_omissions(void **state)
{
	(void)state;
	check_copies(true, "lost=8 missing=2 async=4 ");
	check_copies(false, "unfinished=1 lost=3 missing=2 async=4 ");
}

static void put(struct iot_writer *writer, struct iot_record record, const char *tail)
{
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)strlen(tail);
	assert_int_equal(iot_writer_record(writer, &record), 0);
}

/* For a trace of /run/m1 and /run/m2. */
static void paths_distinguish_recorded_directories(void **state)
{
	static const char *const mounts[] = { "/run/m1", "/run/m2" }, *const facts[] = { "mount=/run/m1", "mount=/run/m2" };
	const unsigned char capture[16] = { 0 };
	const struct iotape_record *record;
	struct iotape_reader *reader;
	struct iot_writer *writer;
	char paths[64] = "";
	u64 i;

	(void)state;
	assert_int_equal(iot_writer_open(scratch_trace, capture, &writer), 0);
	for (i = 0; i < 2; i++)
		put(writer, (struct iot_record){ .kind = IOT_KIND_fact }, facts[i]);
	for (i = 1; i <= 2; i++) {
		put(writer, (struct iot_record){ .kind = IOT_KIND_name, .name.name = i }, "");
		put(writer, (struct iot_record){ .kind = IOT_KIND_object,
						 .object = { .object = i, .name = i, .type = IOT_TYPE_dir } }, "");
		put(writer, (struct iot_record){ .kind = IOT_KIND_mount, .mount.object = i }, mounts[i - 1]);
		put(writer, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = 10 + i, .dir = i } }, "a");
		put(writer, (struct iot_record){ .kind = IOT_KIND_stat,
						 .stat = { .task = 1, .op = (u32)i, .name = 10 + i, .object = 10 + i } }, "");
	}
	put(writer, (struct iot_record){ .kind = IOT_KIND_end }, "");
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
	assert_int_equal(iotape_reader_open(scratch_trace, IOTAPE_READER_PATHS, &reader, NULL), 0);
	while (iotape_reader_next(reader, &record, NULL) > 0)
		if (iotape_record_kind(record) == kind("stat"))
			strcat(strcat(paths, iotape_reader_path(reader, NULL)), " ");
	iotape_reader_close(reader);
	assert_string_equal(paths, "m1/a m2/a ");
}

static void unknown_values_are_marked(void **state)
{
	struct iotape_record *task, *copy;

	(void)state;
	assert_int_equal(iotape_record_new(kind("task"), &task), 0);
	assert_int_equal(iotape_record_is_known(task, field("task", "uid")), 1);
	assert_int_equal(iotape_record_is_known(task, field("read", "task")), -EINVAL);
	assert_int_equal(iotape_record_is_known(task, NULL), -EINVAL);
	assert_int_equal(iotape_record_set_u64(task, field("task", "uid"), UINT32_MAX), 0);
	assert_int_equal(iotape_record_is_known(task, field("task", "uid")), 0);
	assert_int_equal(iotape_record_copy(task, &copy), 0);
	assert_int_equal(iotape_record_is_known(copy, field("task", "uid")), 0);
	assert_int_equal(iotape_record_is_known(copy, field("task", "gid")), 1);
	iotape_record_free(copy);
	iotape_record_free(task);
	assert_int_equal(iotape_record_new(kind("stat"), &task), 0);
	assert_int_equal(iotape_record_is_known(task, field("stat", "handle")), 0); /* "0 if none or not known" */
	iotape_record_free(task);
}

static void write_reads(const char *path, uint64_t count)
{
	struct iotape_writer *writer;
	uint64_t i;

	assert_int_equal(iotape_writer_open(path, NULL, &writer, NULL), 0);
	for (i = 0; i < count; i++) {
		assert_int_equal(iotape_writer_add_fact(writer, "number", "1", NULL), 0);
		add(writer, new_read(100 + i, i & 1 ? -5 : (int64_t)i), 0);
	}
	assert_int_equal(iotape_writer_finish(writer, NULL), 0);
	iotape_writer_close(writer);
}

static void columns_are_those_of_the_records(void **state)
{
	enum { ROWS = 3 };
	uint64_t begin_ns[ROWS], result[ROWS], fd[ROWS], of[ROWS], moved[ROWS];
	unsigned char known[5][ROWS];
	const struct iotape_column columns[] = {
		{ "begin_ns", begin_ns, known[0] }, { "result", result, known[1] }, { "fd", fd, known[2] },
		{ "kind", of, known[3] },	    { "moved_bytes", moved, known[4] },
	};
	const struct iotape_column path_column = { "path", of, known[0] }, no_column = { "lenght", of, known[0] };
	const struct iotape_kind *reads = kind("read");
	struct iotape_reader *reader;
	struct iotape_error error;
	char path[PATH_MAX], wanted[PATH_MAX + 64];

	(void)state;
	path_of(path, "columns.iot");
	write_reads(path, 5);
	assert_int_equal(iotape_reader_open(path, 0, &reader, NULL), 0);
	assert_null(iotape_reader_record(reader));
	assert_int_equal(iotape_reader_columns(reader, &reads, 1, &path_column, 1, ROWS, &error), -EINVAL);
	assert_int_equal(iotape_reader_columns(reader, &reads, 1, &no_column, 1, ROWS, &error), -EINVAL);
	snprintf(wanted, sizeof(wanted), "%s: unknown column 'lenght'", path);
	assert_string_equal(error.sentence, wanted);
	assert_int_equal(iotape_reader_columns(reader, &reads, 1, columns, 5, ROWS, NULL), ROWS);
	assert_true(begin_ns[0] == 100 && begin_ns[2] == 102 && (int64_t)result[1] == -5 && result[2] == 2);
	assert_ptr_equal(iotape_kind_at(of[0]), reads);
	assert_true(known[0][0] && known[1][1] && !known[2][0] && !known[2][2] && known[3][0]);
	assert_true(moved[2] == 2 && moved[1] == 0 && known[4][1]);
	assert_int_equal(iotape_record_begin_ns(iotape_reader_record(reader)), 102);
	assert_int_equal(iotape_reader_columns(reader, &reads, 1, NULL, 0, 1, NULL), 1); /* find one */
	assert_int_equal(iotape_record_begin_ns(iotape_reader_record(reader)), 103);
	assert_int_equal(iotape_reader_columns(reader, NULL, 0, columns, 5, ROWS, NULL), 2); /* a fact, too */
	assert_false(known[1][0] || known[4][0]);
	assert_true(known[1][1] && result[1] == 4);
	assert_int_equal(iotape_reader_columns(reader, NULL, 0, columns, 5, ROWS, NULL), 0);
	assert_null(iotape_reader_record(reader));
	iotape_reader_close(reader);
	assert_int_equal(unlink(path), 0);
}

/* Rows before the damage, then the failure, again and again. */
static void reading_ends_at_damage(void **state)
{
	uint64_t of[4096];
	unsigned char known[4096];
	const struct iotape_column column = { "kind", of, known };
	unsigned char capture[16] = "", bytes[256];
	struct iot_record clock = { .kind = IOT_KIND_clock, .clock.time_ns = 100 };
	struct iot_chunk_head head = { .stream = cpu_to_le32(1), .count = cpu_to_le32(3), .first_ns = cpu_to_le64(100),
				       .last_ns = cpu_to_le64(100) }; /* but it has two */
	const struct iotape_record *record;
	struct iotape_reader *reader;
	struct iotape_error error, again;
	struct iot_writer *writer;
	int one = iot_record_encode(bytes, sizeof(bytes), &clock);

	(void)state;
	assert_int_equal(iot_record_encode(bytes + one, sizeof(bytes) - (size_t)one, &clock), one);
	head.raw_bytes = cpu_to_le32(2 * (u32)one);
	assert_int_equal(iot_writer_open(scratch_trace, capture, &writer), 0);
	assert_int_equal(iot_writer_chunk(writer, &head, bytes), 0);
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
	assert_int_equal(iotape_reader_open(scratch_trace, 0, &reader, NULL), 0);
	assert_int_equal(iotape_reader_columns(reader, NULL, 0, &column, 1, 4096, &error), 2);
	assert_int_equal(iotape_reader_columns(reader, NULL, 0, &column, 1, 4096, &error), -EBADMSG);
	assert_int_equal(iotape_reader_next(reader, &record, &again), -EBADMSG);
	assert_string_equal(error.sentence, again.sentence);
	assert_int_equal(iotape_reader_columns(reader, NULL, 0, NULL, 0, 1, NULL), -EBADMSG);
	iotape_reader_close(reader);
}

SUITE("api",
      TEST(kinds_and_fields_are_those_of_the_schema)
      TEST(values_outside_the_type_are_refused)
      TEST(tails_belong_to_their_record)
      WITH_SCRATCH(errors_name_the_file_and_the_cause)
      WITH_SCRATCH(written_records_are_read_back)
      TEST(unknown_values_are_marked)
      WITH_SCRATCH(columns_are_those_of_the_records)
      WITH_SCRATCH(reading_ends_at_damage)
      WITH_SCRATCH(an_unfinished_trace_is_removed)
      WITH_SCRATCH(copies_inherit_omissions)
      WITH_SCRATCH(paths_distinguish_recorded_directories))
