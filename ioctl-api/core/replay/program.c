// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * program.c - open a program and find its sections.
 *
 * The bytes are not trusted. What iot_program_open() has accepted can be read without going out of bounds as long
 * as indices are checked; what verify.c has accepted needs no check at all.
 */
#include "program.h"

#include "core/crc32c.h"

static_assert(sizeof(struct iot_section) == 24, "layout of a section");
static_assert(sizeof(struct iot_program_head) == 296, "layout of the header");
static_assert(sizeof(struct iot_program_task) == 56, "layout of a task");
static_assert(sizeof(struct iot_program_op) == 96, "layout of an operation");
static_assert(sizeof(struct iot_program_wait) == 8, "layout of a wait");
static_assert(sizeof(struct iot_program_latch) == 8, "layout of a latch");
static_assert(sizeof(struct iot_program_object) == 16, "layout of an object");
static_assert(sizeof(struct iot_program_entry) == 48, "layout of an entry of the tree");
static_assert(sizeof(struct iot_program_fact) == 8, "layout of a fact");
static_assert(sizeof(struct iot_program_extent) == 24, "layout of an extent");
static_assert(sizeof(struct iot_program_xattr) == 16, "layout of an extended attribute");

static const u32 unit_bytes[IOT_SECTION_COUNT] = {
	[IOT_SECTION_TASKS] = sizeof(struct iot_program_task),
	[IOT_SECTION_OPS] = sizeof(struct iot_program_op),
	[IOT_SECTION_WAITS] = sizeof(struct iot_program_wait),
	[IOT_SECTION_LATCHES] = sizeof(struct iot_program_latch),
	[IOT_SECTION_OBJECTS] = sizeof(struct iot_program_object),
	[IOT_SECTION_TREE] = sizeof(struct iot_program_entry),
	[IOT_SECTION_STRINGS] = 1,
	[IOT_SECTION_FACTS] = sizeof(struct iot_program_fact),
	[IOT_SECTION_EXTENTS] = sizeof(struct iot_program_extent),
	[IOT_SECTION_XATTRS] = sizeof(struct iot_program_xattr),
};

/* No program has more elements, and products of this with a unit do not overflow. */
#define COUNT_MAX (1ull << 40)
/* Limit of elements that 32 bits number. */
#define SMALL_COUNT_MAX 0xfffffff0ull

/**
 * iot_refuse() - note why and where something is refused
 * @reject: filled in
 * @reason: an enum iot_reject_reason
 * @offset_bytes: where, from the beginning of the file
 *
 * Return: the negative errno that goes with the reason.
 */
int iot_refuse(struct iot_reject *reject, u32 reason, u64 offset_bytes)
{
	static const struct {
		u32 reason;
		int error;
	} errors[] = {
#define REJECT_ERROR(id, name, error, sentence) { id, error },
		IOT_REJECTS(REJECT_ERROR)
#undef REJECT_ERROR
	};
	size_t i;

	reject->reason = reason;
	reject->reserved = 0;
	reject->offset_bytes = offset_bytes;
	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].reason == reason)
			return -errors[i].error;
	return -EBADMSG;
}

/**
 * iot_section_bytes() - length of a section
 * @head: accepted by iot_program_size()
 * @section: enum iot_section_kind
 */
u64 iot_section_bytes(const struct iot_program_head *head, u32 section)
{
	return le64_to_cpu(head->sections[section].count) * unit_bytes[section];
}

/* An engine allocates the slots that the header states, so there is a limit: an operation uses at most two. */
static int check_slots(const struct iot_program_head *head, struct iot_reject *reject)
{
	u64 ops = le64_to_cpu(head->sections[IOT_SECTION_OPS].count);

	if (le32_to_cpu(head->handles) > 2 * ops || le32_to_cpu(head->maps) > ops)
		return iot_refuse(reject, IOT_REJECT_program_head,
				  offsetof(struct iot_program_head, handles));
	return 0;
}

static int check_section(const struct iot_program_head *head, u32 section,
			 struct iot_reject *reject)
{
	const struct iot_section *s = &head->sections[section];
	u64 where = offsetof(struct iot_program_head, sections) + section * sizeof(*s);
	u64 count_max = section == IOT_SECTION_OPS || section == IOT_SECTION_WAITS ?
				COUNT_MAX : SMALL_COUNT_MAX;

	if (section == IOT_SECTION_TASKS)
		count_max = IOT_PROGRAM_TASKS_MAX;
	if (le32_to_cpu(s->reserved))
		return iot_refuse(reject, IOT_REJECT_reserved, where);
	if (le64_to_cpu(s->count) > count_max || le64_to_cpu(s->offset_bytes) > COUNT_MAX ||
	    le64_to_cpu(s->offset_bytes) % 8 || le64_to_cpu(s->offset_bytes) < sizeof(*head))
		return iot_refuse(reject, IOT_REJECT_section, where);
	return 0;
}

/**
 * iot_program_size() - how long a program is, by its header
 * @head: the first bytes of it, not trusted
 * @reject: filled in if it is refused
 *
 * Return: its length in bytes, header included; or a negative errno.
 */
s64 iot_program_size(const struct iot_program_head *head, struct iot_reject *reject)
{
	u64 size = sizeof(*head), stop;
	u32 i;
	int err;

	if (memcmp(head->magic, IOT_PROGRAM_MAGIC, IOT_PROGRAM_MAGIC_BYTES))
		return iot_refuse(reject, IOT_REJECT_program_magic, 0);
	if (le16_to_cpu(head->major) != IOT_PROGRAM_MAJOR)
		return iot_refuse(reject, IOT_REJECT_program_major, 8);
	if (iot_crc32c(0, head, offsetof(struct iot_program_head, head_crc)) !=
	    le32_to_cpu(head->head_crc) || le16_to_cpu(head->head_bytes) != sizeof(*head))
		return iot_refuse(reject, IOT_REJECT_program_head, 0);
	if (le32_to_cpu(head->features_incompat) & ~IOT_PROGRAM_COMPUTES)
		return iot_refuse(reject, IOT_REJECT_program_feature,
			      offsetof(struct iot_program_head, features_incompat));
	if (le32_to_cpu(head->reserved) || le32_to_cpu(head->reserved2))
		return iot_refuse(reject, IOT_REJECT_reserved,
			      offsetof(struct iot_program_head, reserved));
	for (i = 0; i < IOT_SECTION_COUNT; i++) {
		err = check_section(head, i, reject);
		if (err)
			return err;
		stop = le64_to_cpu(head->sections[i].offset_bytes) + iot_section_bytes(head, i);
		if (stop > size)
			size = stop;
	}
	err = check_slots(head, reject);
	return err ? err : (s64)size;
}

/**
 * iot_program_place() - set the addresses of the sections of a program
 * @program: filled in
 * @head: accepted by iot_program_size()
 * @sections: where each of them is; operations and waits may be nowhere, and then both are, and
 *	the program needs a reader
 */
void iot_program_place(struct iot_program *program, const struct iot_program_head *head,
		       const void *const sections[IOT_SECTION_COUNT])
{
	*program = (struct iot_program){
		.head = head,
		.tasks = sections[IOT_SECTION_TASKS],
		.ops = sections[IOT_SECTION_OPS],
		.waits = sections[IOT_SECTION_WAITS],
		.latches = sections[IOT_SECTION_LATCHES],
		.objects = sections[IOT_SECTION_OBJECTS],
		.tree = sections[IOT_SECTION_TREE],
		.strings = sections[IOT_SECTION_STRINGS],
		.facts = sections[IOT_SECTION_FACTS],
		.extents = sections[IOT_SECTION_EXTENTS],
		.xattrs = sections[IOT_SECTION_XATTRS],
		.task_count = (u32)le64_to_cpu(head->sections[IOT_SECTION_TASKS].count),
		.op_count = le64_to_cpu(head->sections[IOT_SECTION_OPS].count),
		.wait_count = le64_to_cpu(head->sections[IOT_SECTION_WAITS].count),
		.latch_count = (u32)le64_to_cpu(head->sections[IOT_SECTION_LATCHES].count),
		.object_count = (u32)le64_to_cpu(head->sections[IOT_SECTION_OBJECTS].count),
		.entry_count = (u32)le64_to_cpu(head->sections[IOT_SECTION_TREE].count),
		.string_bytes = le64_to_cpu(head->sections[IOT_SECTION_STRINGS].count),
		.fact_count = (u32)le64_to_cpu(head->sections[IOT_SECTION_FACTS].count),
		.extent_count = (u32)le64_to_cpu(head->sections[IOT_SECTION_EXTENTS].count),
		.xattr_count = (u32)le64_to_cpu(head->sections[IOT_SECTION_XATTRS].count),
		.handle_count = le32_to_cpu(head->handles),
		.map_count = le32_to_cpu(head->maps),
	};
}

/**
 * iot_program_open() - find the sections of a program
 * @program: filled in; it points into @bytes
 * @bytes: the whole program, aligned to 8, not trusted
 * @byte_count: its length
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int iot_program_open(struct iot_program *program, const void *bytes, u64 byte_count,
		     struct iot_reject *reject)
{
	const void *sections[IOT_SECTION_COUNT];
	const struct iot_program_head *head = bytes;
	s64 size;
	u32 i;

	if (byte_count < sizeof(*head))
		return iot_refuse(reject, IOT_REJECT_program_short, byte_count);
	size = iot_program_size(head, reject);
	if (size < 0)
		return (int)size;
	if ((u64)size > byte_count)
		return iot_refuse(reject, IOT_REJECT_program_short, byte_count);
	for (i = 0; i < IOT_SECTION_COUNT; i++)
		sections[i] = (const u8 *)bytes + le64_to_cpu(head->sections[i].offset_bytes);
	iot_program_place(program, head, sections);
	program->bytes = bytes;
	program->byte_count = byte_count;
	return 0;
}
