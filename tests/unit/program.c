// SPDX-License-Identifier: GPL-2.0-only
/*
 * program.c - a program is opened, or refused by its header.
 */
#include "core/replay/program.h"

#include <stdlib.h>

#include "builder.h"
#include "core/crc32c.h"
#include "suite.h"

static u8 *whole_program(size_t *byte_count)
{
	struct builder b;
	u8 *bytes;

	builder_fill(&b);
	bytes = builder_bytes(&b, byte_count);
	builder_close(&b);
	return bytes;
}

static void valid_program_opens_with_all_sections(void **state)
{
	struct iot_reject reject = {};
	struct iot_program program;
	size_t byte_count;
	u8 *bytes = whole_program(&byte_count);
	const struct iot_program_head *head = (void *)bytes;

	(void)state;
	assert_int_equal(iot_program_size(head, &reject), byte_count);
	assert_int_equal(iot_program_open(&program, bytes, byte_count, &reject), 0);
	assert_int_equal(reject.reason, 0);
	assert_int_equal(program.task_count, 3);
	assert_int_equal(program.latch_count, 1);
	assert_int_equal(program.object_count, 2);
	assert_int_equal(program.entry_count, 4);
	assert_int_equal(program.fact_count, 1);
	assert_int_equal(program.extent_count, 2);
	assert_int_equal(program.xattr_count, 2);
	assert_int_equal(program.handle_count, 2);
	assert_int_equal(program.map_count, 1);
	assert_int_equal(program.wait_count, 5);
	assert_int_equal(program.op_count, le32_to_cpu(program.tasks[0].op_count) +
						   le32_to_cpu(program.tasks[1].op_count) + 1);
	assert_int_equal(iot_section_bytes(head, IOT_SECTION_OPS), program.op_count * 96);
	assert_string_equal(iot_program_string(&program, program.tasks[0].command), "sh");
	assert_string_equal(iot_program_string(&program, program.facts[0].value), "true");
	assert_string_equal(iot_program_string(&program, 0), "");
	free(bytes);
}

static void program_is_refused_at_every_shorter_length(void **state)
{
	struct iot_reject reject;
	struct iot_program program;
	size_t byte_count, room;
	u8 *bytes = whole_program(&byte_count), *prefix;

	(void)state;
	/* the last section ends before the padding at the end of the file */
	for (room = 0; room + 8 < byte_count; room += room < 300 ? 1 : 37) {
		prefix = malloc(room + 1);
		memcpy(prefix, bytes, room);
		reject = (struct iot_reject){};
		assert_int_equal(iot_program_open(&program, prefix, room, &reject), -EBADMSG);
		assert_int_equal(reject.reason, IOT_REJECT_program_short);
		assert_int_equal(reject.offset_bytes, room);
		free(prefix);
	}
	free(bytes);
}

static void change_magic(struct iot_program_head *head)
{
	head->magic[4] = '\n'; /* like a transfer in text mode */
}

static void change_major(struct iot_program_head *head)
{
	head->major = cpu_to_le16(IOT_PROGRAM_MAJOR + 1);
}

static void change_head_bytes(struct iot_program_head *head)
{
	head->head_bytes = cpu_to_le16(sizeof(*head) + 8);
}

static void change_feature(struct iot_program_head *head)
{
	head->features_incompat = cpu_to_le32(1u << 31);
}

static void change_reserved(struct iot_program_head *head)
{
	head->reserved = cpu_to_le32(1);
}

static void change_reserved2(struct iot_program_head *head)
{
	head->reserved2 = cpu_to_le32(1);
}

static void change_section_reserved(struct iot_program_head *head)
{
	head->sections[IOT_SECTION_LATCHES].reserved = cpu_to_le32(1);
}

static void change_section_alignment(struct iot_program_head *head)
{
	head->sections[IOT_SECTION_FACTS].offset_bytes = cpu_to_le64(260);
}

static void change_section_into_head(struct iot_program_head *head)
{
	head->sections[IOT_SECTION_TASKS].offset_bytes = cpu_to_le64(sizeof(*head) - 8);
}

static void change_section_offset(struct iot_program_head *head)
{
	head->sections[IOT_SECTION_STRINGS].offset_bytes = cpu_to_le64(-8ull);
}

static void change_section_count(struct iot_program_head *head)
{
	head->sections[IOT_SECTION_OPS].count = cpu_to_le64((1ull << 40) + 1);
}

static void change_section_count_to_wrap(struct iot_program_head *head)
{
	head->sections[IOT_SECTION_OPS].count = cpu_to_le64(~0ull / 96 + 2);
}

static void change_small_count(struct iot_program_head *head)
{
	head->sections[IOT_SECTION_TREE].count = cpu_to_le64(0xfffffff1ull);
}

static void change_task_count(struct iot_program_head *head)
{
	head->sections[IOT_SECTION_TASKS].count = cpu_to_le64(IOT_PROGRAM_TASKS_MAX + 1);
}

static void change_section_past_the_end(struct iot_program_head *head)
{
	u64 count = le64_to_cpu(head->sections[IOT_SECTION_XATTRS].count);

	head->sections[IOT_SECTION_XATTRS].count = cpu_to_le64(count + 1);
}

static void change_handles(struct iot_program_head *head)
{
	head->handles = cpu_to_le32(2 * (u32)le64_to_cpu(head->sections[IOT_SECTION_OPS].count) + 1);
}

static void change_maps(struct iot_program_head *head)
{
	head->maps = cpu_to_le32((u32)le64_to_cpu(head->sections[IOT_SECTION_OPS].count) + 1);
}

static void change_compat_feature(struct iot_program_head *head)
{
	head->features_compat = cpu_to_le32(~0u);
}

#define AT(member) offsetof(struct iot_program_head, member)
#define ROW(change, ...) { #change, change_##change, __VA_ARGS__ }

static const struct {
	const char *name;
	void (*change)(struct iot_program_head *head);
	u32 reason;
	int err;
	s64 offset; /* -1: the length of the file */
} changes[] = {
	ROW(compat_feature, 0, 0, 0),
	ROW(magic, IOT_REJECT_program_magic, -EBADMSG, 0),
	ROW(major, IOT_REJECT_program_major, -EPROTONOSUPPORT, AT(major)),
	ROW(head_bytes, IOT_REJECT_program_head, -EBADMSG, 0),
	ROW(feature, IOT_REJECT_program_feature, -EPROTONOSUPPORT, AT(features_incompat)),
	ROW(reserved, IOT_REJECT_reserved, -EBADMSG, AT(reserved)),
	ROW(reserved2, IOT_REJECT_reserved, -EBADMSG, AT(reserved)),
	ROW(section_reserved, IOT_REJECT_reserved, -EBADMSG, AT(sections[IOT_SECTION_LATCHES])),
	ROW(section_alignment, IOT_REJECT_section, -EBADMSG, AT(sections[IOT_SECTION_FACTS])),
	ROW(section_into_head, IOT_REJECT_section, -EBADMSG, AT(sections[IOT_SECTION_TASKS])),
	ROW(section_offset, IOT_REJECT_section, -EBADMSG, AT(sections[IOT_SECTION_STRINGS])),
	ROW(section_count, IOT_REJECT_section, -EBADMSG, AT(sections[IOT_SECTION_OPS])),
	ROW(section_count_to_wrap, IOT_REJECT_section, -EBADMSG, AT(sections[IOT_SECTION_OPS])),
	ROW(small_count, IOT_REJECT_section, -EBADMSG, AT(sections[IOT_SECTION_TREE])),
	ROW(task_count, IOT_REJECT_section, -EBADMSG, AT(sections[IOT_SECTION_TASKS])),
	ROW(handles, IOT_REJECT_program_head, -EBADMSG, AT(handles)),
	ROW(maps, IOT_REJECT_program_head, -EBADMSG, AT(handles)),
	ROW(section_past_the_end, IOT_REJECT_program_short, -EBADMSG, -1),
};

static void seal_head(struct iot_program_head *head)
{
	head->head_crc = cpu_to_le32(iot_crc32c(0, head, AT(head_crc)));
}

static void program_with_a_bad_header_is_refused(void **state)
{
	struct iot_reject reject;
	struct iot_program program;
	size_t byte_count, i;
	u8 *bytes;
	int err;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		bytes = whole_program(&byte_count);
		changes[i].change((struct iot_program_head *)bytes);
		seal_head((struct iot_program_head *)bytes);
		reject = (struct iot_reject){};
		err = iot_program_open(&program, bytes, byte_count, &reject);
		assert_row(changes[i].name, err == changes[i].err);
		assert_row(changes[i].name, reject.reason == changes[i].reason);
		assert_row(changes[i].name, reject.offset_bytes ==
				(changes[i].offset < 0 ? byte_count : (u64)changes[i].offset));
		free(bytes);
	}
}

static void program_with_any_bit_of_its_header_changed_is_refused(void **state)
{
	struct iot_reject reject;
	struct iot_program program;
	size_t byte_count, bit;
	u8 *bytes = whole_program(&byte_count);

	(void)state;
	for (bit = 0; bit < 8 * sizeof(struct iot_program_head); bit++) {
		bytes[bit / 8] ^= (u8)(1u << bit % 8);
		assert_true(iot_program_open(&program, bytes, byte_count, &reject) < 0);
		bytes[bit / 8] ^= (u8)(1u << bit % 8);
	}
	assert_int_equal(iot_program_open(&program, bytes, byte_count, &reject), 0);
	free(bytes);
}

static void refusal_has_the_errno_of_its_reason(void **state)
{
	static const struct {
		u32 reason;
		int err;
	} rows[] = {
#define REASON_ROW(id, name, error, sentence) { IOT_REJECT_##name, -error },
		IOT_REJECTS(REASON_ROW)
#undef REASON_ROW
		{ 0, -EBADMSG },
		{ 9999, -EBADMSG },
	};
	struct iot_reject reject;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(&reject, 0xee, sizeof(reject));
		assert_int_equal(iot_refuse(&reject, rows[i].reason, 77), rows[i].err);
		assert_int_equal(reject.reason, rows[i].reason);
		assert_int_equal(reject.reserved, 0);
		assert_int_equal(reject.offset_bytes, 77);
	}
}

SUITE("program",
      TEST(valid_program_opens_with_all_sections)
      TEST(program_is_refused_at_every_shorter_length)
      TEST(program_with_a_bad_header_is_refused)
      TEST(program_with_any_bit_of_its_header_changed_is_refused)
      TEST(refusal_has_the_errno_of_its_reason))
