// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - fields and names as text.
 */
#include <stdlib.h>

#include "lib/iotape.h"
#include "suite.h"

/* -- raw bytes -------------------------------------------------------------------------------- */

#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *bytes;
	size_t count;
	const char *text;
} names[] = {
	{ BYTES(""), "" },
	{ BYTES("file.txt"), "file.txt" },
	{ BYTES("!\"#$%&'()*+,-./09:;<=>?@AZ[]^_`az{|}~"), "!\"#$%&'()*+,-./09:;<=>?@AZ[]^_`az{|}~" },
	{ BYTES("a b"), "a\\040b" },
	{ BYTES("back\\slash"), "back\\134slash" },
	{ BYTES("two\nlines\t\r"), "two\\012lines\\011\\015" },
	{ BYTES("\0\1\33[31m\177"), "\\000\\001\\033[31m\\177" },
	{ BYTES("Gr\303\266\303\237e"), "Gr\303\266\303\237e" },
	{ BYTES("\342\202\254\360\237\230\200"), "\342\202\254\360\237\230\200" },
	{ BYTES("\302\240"), "\302\240" },
	/* not UTF-8 */
	{ BYTES("\377\376"), "\\377\\376" },
	{ BYTES("latin\351"), "latin\\351" },
	{ BYTES("\303"), "\\303" },
	{ BYTES("\342\202"), "\\342\\202" },
	{ BYTES("\342\202x"), "\\342\\202x" },
	{ BYTES("\200\277"), "\\200\\277" },
	{ BYTES("\300\200"), "\\300\\200" },	     /* too long for U+0000 */
	{ BYTES("\340\200\257"), "\\340\\200\\257" }, /* for '/' */
	{ BYTES("\355\240\200"), "\\355\\240\\200" }, /* a surrogate */
	{ BYTES("\364\220\200\200"), "\\364\\220\\200\\200" }, /* past the last character */
	/* terminals may interpret these as the start of a command */
	{ BYTES("\302\233" "31m"), "\\302\\23331m" },
	{ BYTES("\302\200\302\237"), "\\302\\200\\302\\237" },
};

static void bytes_are_printed_as_one_word(void **state)
{
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		int n = iot_text_bytes(text, sizeof(text), names[i].bytes, names[i].count);

		assert_string_equal(text, names[i].text);
		assert_int_equal(n, strlen(text));
	}
}

static void buffer_of_four_times_the_bytes_suffices(void **state)
{
	char bytes[255], *text = malloc(4 * sizeof(bytes) + 1);

	(void)state;
	memset(bytes, '\n', sizeof(bytes));
	assert_int_equal(iot_text_bytes(text, 4 * sizeof(bytes) + 1, bytes, sizeof(bytes)), 4 * sizeof(bytes));
	assert_string_equal(text + 4 * 254, "\\012");
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(iot_text_bytes(text, 4 * sizeof(bytes) + 1, bytes, sizeof(bytes)), 255);
	free(text);
}

/* For any buffer size: a whole number of characters, and a zero byte. */
static void bytes_are_cut_between_characters(void **state)
{
	static const char bytes[] = "ab\n\303\266\342\202\254\\z", whole[] = "ab\\012\303\266\342\202\254\\134z";
	static const size_t cuts[] = { 0, 1, 2, 6, 8, 11, 15, 16 };
	size_t room, cut;
	char *text;
	int n;

	(void)state;
	for (room = 1; room <= sizeof(whole) + 4; room++) {
		text = malloc(room);
		n = iot_text_bytes(text, room, bytes, sizeof(bytes) - 1);
		assert_int_equal(n, strlen(text));
		assert_int_equal(strncmp(text, whole, (size_t)n), 0);
		for (cut = 0; cut < ARRAY_SIZE(cuts) && cuts[cut] != (size_t)n; cut++)
			;
		assert_true(cut < ARRAY_SIZE(cuts));
		free(text);
	}
	assert_int_equal(n, sizeof(whole) - 1);
}

/* -- fields ------------------------------------------------------------------------------------- */

static const struct {
	u16 kind;
	const char *field;
	u64 value;
	const char *text;
} fields[] = {
	{ IOT_KIND_open, "flags", 0, "0" },
	{ IOT_KIND_open, "flags", 1, "read" },
	{ IOT_KIND_open, "flags", 0x800b, "read|write|create|created" },
	{ IOT_KIND_open, "flags", 0x80000001, "read|0x80000000" },
	{ IOT_KIND_open, "flags", 0x10000, "0x10000" },
	{ IOT_KIND_open, "mode", 0644, "0644" },
	{ IOT_KIND_open, "mode", 0, "0" },
	{ IOT_KIND_mknod, "mode", 0100644, "0100644" },
	{ IOT_KIND_open, "result", 0, "0" },
	{ IOT_KIND_open, "result", (u64)-ENOENT, "ENOENT" },
	{ IOT_KIND_open, "result", (u64)-EOPNOTSUPP, "EOPNOTSUPP" },
	{ IOT_KIND_read, "result", 4096, "4096" },
	{ IOT_KIND_read, "result", (u64)-4095, "-4095" },
	{ IOT_KIND_read, "result", (u64)-4096, "-4096" },
	{ IOT_KIND_read, "result", 1ull << 63, "-9223372036854775808" },
	{ IOT_KIND_read, "offset_bytes", (u64)-1, "-1" },
	{ IOT_KIND_read, "offset_bytes", (u64)-2, "-2" },
	{ IOT_KIND_read, "length_bytes", ~0ull, "18446744073709551615" },
	{ IOT_KIND_read, "switches", ~0u, "4294967295" },
	{ IOT_KIND_mpi_recv, "peer", (u64)-1, "-1" },
	{ IOT_KIND_seek, "whence", 2, "end" },
	{ IOT_KIND_seek, "whence", 0, "set" },
	{ IOT_KIND_seek, "whence", 99, "99" },
	{ IOT_KIND_object, "type", 10, "symlink" },
	{ IOT_KIND_mpi_coll, "call", 40, "barrier" },
	{ IOT_KIND_task, "why", 0, "0" },
};

static const struct iot_field *field_of(u16 kind, const char *name)
{
	const struct iot_kind_info *info = iot_kind_info(kind);
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	abort();
}

static void field_is_printed_by_its_class(void **state)
{
	struct iot_record record;
	char text[128];
	size_t i;
	int n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct iot_field *field = field_of(fields[i].kind, fields[i].field);

		memset(&record, 0, sizeof(record));
		record.kind = fields[i].kind;
		iot_field_set(&record, field, fields[i].value);
		n = iot_text_field(text, sizeof(text), &record, field);
		assert_string_equal(text, fields[i].text);
		assert_int_equal(n, strlen(text));
	}
}

static void field_is_truncated_to_its_buffer(void **state)
{
	struct iot_record record;
	size_t i, room;
	char *text;
	int n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct iot_field *field = field_of(fields[i].kind, fields[i].field);

		memset(&record, 0, sizeof(record));
		record.kind = fields[i].kind;
		iot_field_set(&record, field, fields[i].value);
		for (room = 2; room < 40; room++) {
			text = malloc(room);
			n = iot_text_field(text, room, &record, field);
			assert_row(fields[i].text, n == (int)strlen(text));
			assert_row(fields[i].text, !strncmp(text, fields[i].text, (size_t)n));
			free(text);
		}
	}
}

static void every_field_of_every_kind_can_be_printed(void **state)
{
	static const u64 values[] = { 0, 1, ~0ull, 1ull << 63, 0xffffffff, (u64)-2 };
	const struct iot_kind_info *info;
	struct iot_record record;
	char text[1024];
	size_t k, v;
	u32 f;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		for (f = 0; f < info->field_count; f++) {
			for (v = 0; v < ARRAY_SIZE(values); v++) {
				memset(&record, 0, sizeof(record));
				record.kind = info->kind;
				iot_field_set(&record, &info->fields[f], values[v]);
				assert_row(info->fields[f].name,
					   iot_text_field(text, sizeof(text), &record,
							  &info->fields[f]) > 0);
				assert_row(info->fields[f].name, !strpbrk(text, " \n"));
			}
		}
	}
}

static void errno_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(iot_text_errno(-EPERM), "EPERM");
	assert_string_equal(iot_text_errno(-EHWPOISON), "EHWPOISON");
	assert_null(iot_text_errno(0));
	assert_null(iot_text_errno(1));
	assert_null(iot_text_errno(-4000));
	assert_null(iot_text_errno(-4096));
	assert_null(iot_text_errno(INT64_MIN));
	assert_null(iot_text_errno(-(1ll << 32) - 2));
}

SUITE("text",
      TEST(bytes_are_printed_as_one_word)
      TEST(buffer_of_four_times_the_bytes_suffices)
      TEST(bytes_are_cut_between_characters)
      TEST(field_is_printed_by_its_class)
      TEST(field_is_truncated_to_its_buffer)
      TEST(every_field_of_every_kind_can_be_printed)
      TEST(errno_has_a_name))
