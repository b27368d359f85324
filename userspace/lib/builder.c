// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * builder.c - put a program together, and write it to a file.
 *
 * Sections grow in memory. Texts are stored once.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <uthash.h>

#include "core/crc32c.h"
#include "iotape.h"

/* A text or value, and where it is in the strings. */
struct text_slot {
	UT_hash_handle hh;
	u32 offset_bytes;
	char text[]; /* a zero byte follows */
};

struct section {
	u8 *bytes;
	size_t used_bytes;
	size_t room_bytes;
};

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

struct iot_builder {
	struct section sections[IOT_SECTION_COUNT];
	struct text_slot *texts;
	u32 handles;
	u32 maps;
	bool computes;
	unsigned char capture[16];
};

/**
 * iot_builder_open() - an empty program
 * @capture: id of the capture that it comes from
 * @builder: out: to be freed by iot_builder_close()
 *
 * Return: 0 or -ENOMEM.
 */
int iot_builder_open(const unsigned char capture[16], struct iot_builder **builder)
{
	static const char empty[1];
	struct iot_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	memcpy(b->capture, capture, sizeof(b->capture));
	if (iot_builder_add(b, IOT_SECTION_STRINGS, empty) < 0) { /* offset 0 is the empty text */
		iot_builder_close(b);
		return -ENOMEM;
	}
	*builder = b;
	return 0;
}

/**
 * iot_builder_capture() - change the id of the capture, which identifies the program
 */
void iot_builder_capture(struct iot_builder *builder, const unsigned char capture[16])
{
	memcpy(builder->capture, capture, sizeof(builder->capture));
}

static int section_add(struct section *section, const void *bytes, size_t count)
{
	if (section->used_bytes + count > section->room_bytes) {
		size_t room = section->room_bytes ? 2 * section->room_bytes : 4096;
		u8 *larger;

		if (room < section->used_bytes + count)
			room = section->used_bytes + count;
		larger = realloc(section->bytes, room);
		if (!larger)
			return -ENOMEM;
		section->bytes = larger;
		section->room_bytes = room;
	}
	memcpy(section->bytes + section->used_bytes, bytes, count);
	section->used_bytes += count;
	return 0;
}

/**
 * iot_builder_add() - add an element to a section
 * @builder: the program
 * @section: which
 * @element: of the section's structure
 *
 * Return: its index in the section, or -ENOMEM.
 */
s64 iot_builder_add(struct iot_builder *builder, enum iot_section_kind section, const void *element)
{
	struct section *s = &builder->sections[section];
	s64 index = (s64)(s->used_bytes / unit_bytes[section]);

	return section_add(s, element, unit_bytes[section]) ? -ENOMEM : index;
}

/**
 * iot_builder_count() - elements of a section so far
 */
u64 iot_builder_count(const struct iot_builder *builder, enum iot_section_kind section)
{
	return builder->sections[section].used_bytes / unit_bytes[section];
}

/**
 * iot_builder_bytes() - a value, which may have zero bytes in it, as the program refers to it
 * @builder: the program
 * @value: the value
 * @bytes: its length; if 0 it is the empty text
 * @string: out: where it is among the strings, as structures hold it
 *
 * Return: 0; -ENOMEM; -EFBIG if there are more texts than 32 bits can number.
 */
int iot_builder_bytes(struct iot_builder *builder, const void *value, size_t bytes, __le32 *string)
{
	struct section *s = &builder->sections[IOT_SECTION_STRINGS];
	struct text_slot *slot;

	*string = 0;
	if (!bytes)
		return 0;
	HASH_FIND(hh, builder->texts, value, bytes, slot);
	if (!slot) {
		if (s->used_bytes + bytes + 1 > 0xffffffff)
			return -EFBIG;
		slot = calloc(1, sizeof(*slot) + bytes + 1);
		if (!slot)
			return -ENOMEM;
		memcpy(slot->text, value, bytes);
		slot->offset_bytes = (u32)s->used_bytes;
		HASH_ADD(hh, builder->texts, text, bytes, slot);
		if (section_add(s, slot->text, bytes + 1))
			return -ENOMEM;
	}
	*string = cpu_to_le32(slot->offset_bytes);
	return 0;
}

/**
 * iot_builder_text() - a text as the program refers to it
 * @builder: the program
 * @text: the text; NULL and "" are the empty one
 * @string: out: where it is among the strings
 *
 * Return: as of iot_builder_bytes().
 */
int iot_builder_text(struct iot_builder *builder, const char *text, __le32 *string)
{
	return iot_builder_bytes(builder, text, text ? strlen(text) : 0, string);
}

/**
 * iot_builder_slots() - how many handles and mappings the operations use
 */
void iot_builder_slots(struct iot_builder *builder, u32 handles, u32 maps)
{
	builder->handles = handles;
	builder->maps = maps;
}

/**
 * iot_builder_compute() - let tasks use a CPU for their `compute_ns`, instead of sleeping
 */
void iot_builder_compute(struct iot_builder *builder)
{
	builder->computes = true;
}

/**
 * iot_builder_fact() - add a fact
 *
 * Return: 0 or a negative errno.
 */
int iot_builder_fact(struct iot_builder *builder, const char *key, const char *value)
{
	struct iot_program_fact fact;
	int err = iot_builder_text(builder, key, &fact.key);

	if (!err)
		err = iot_builder_text(builder, value, &fact.value);
	if (!err && iot_builder_add(builder, IOT_SECTION_FACTS, &fact) < 0)
		err = -ENOMEM;
	return err;
}

static int put_number(struct iot_builder *builder, const char *key, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return iot_builder_fact(builder, key, text);
}

/**
 * iot_builder_omissions() - state what the program has and lacks, for iot_omissions_of_program()
 *
 * Return: 0 or a negative errno.
 */
int iot_builder_omissions(struct iot_builder *builder, const struct iot_omissions *omissions)
{
	char fact[IOT_OMISSION_TEXT_BYTES], *equals;
	int err = put_number(builder, "program.operations", omissions->operations);
	u32 i;

	if (!err)
		err = put_number(builder, "program.moved_bytes", omissions->bytes);
	for (i = 1; i < IOT_OMISSION_END && !err; i++) {
		if (!iot_omission_fact(omissions, i, fact))
			continue;
		equals = strchr(fact, '=');
		*equals = 0;
		err = iot_builder_fact(builder, fact, equals + 1);
	}
	return err;
}

static void make_head(struct iot_builder *builder, struct iot_program_head *head)
{
	u64 offset_bytes = sizeof(*head);
	u32 i;

	*head = (struct iot_program_head){
		.magic = IOT_PROGRAM_MAGIC,
		.major = cpu_to_le16(IOT_PROGRAM_MAJOR),
		.head_bytes = cpu_to_le16(sizeof(*head)),
		.features_compat = cpu_to_le32(IOT_PROGRAM_STATES),
		.features_incompat = cpu_to_le32(builder->computes ? IOT_PROGRAM_COMPUTES : 0),
		.handles = cpu_to_le32(builder->handles),
		.maps = cpu_to_le32(builder->maps),
	};
	memcpy(head->capture, builder->capture, sizeof(head->capture));
	for (i = 0; i < IOT_SECTION_COUNT; i++) {
		const struct section *s = &builder->sections[i];

		head->sections[i].offset_bytes = cpu_to_le64(offset_bytes);
		head->sections[i].count = cpu_to_le64(s->used_bytes / unit_bytes[i]);
		head->sections[i].crc = cpu_to_le32(iot_crc32c(0, s->bytes, s->used_bytes));
		offset_bytes += (s->used_bytes + 7) / 8 * 8;
	}
	head->head_crc =
		cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_program_head, head_crc)));
}

/**
 * iot_builder_image() - the program as bytes
 * @builder: the program
 * @bytes: out: to be freed by the caller
 * @count: out: their number
 *
 * Return: 0 or -ENOMEM.
 */
int iot_builder_image(struct iot_builder *builder, void **bytes, size_t *count)
{
	struct iot_program_head head;
	u8 *image;
	u32 i;

	make_head(builder, &head);
	*count = sizeof(head);
	for (i = 0; i < IOT_SECTION_COUNT; i++)
		*count += (builder->sections[i].used_bytes + 7) / 8 * 8;
	image = calloc(1, *count);
	if (!image)
		return -ENOMEM;
	memcpy(image, &head, sizeof(head));
	for (i = 0; i < IOT_SECTION_COUNT; i++)
		if (builder->sections[i].used_bytes)
			memcpy(image + le64_to_cpu(head.sections[i].offset_bytes),
			       builder->sections[i].bytes, builder->sections[i].used_bytes);
	*bytes = image;
	return 0;
}

/* Each program must pass the verifier, which detects circles of waits. */
static int verify(const void *image, size_t bytes, struct iot_reject *reject)
{
	struct iot_program program;
	u32 *scratch;
	int err = iot_program_open(&program, image, bytes, reject);

	if (err)
		return err;
	scratch = calloc(iot_program_scratch_count(&program) + 1, sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	err = iot_program_verify(&program, scratch, NULL, NULL, reject);
	free(scratch);
	return err;
}

/**
 * iot_builder_save() - verify the program and write it to a file
 * @builder: the program
 * @path: the file, see iot_file_save()
 * @reject: filled in if the program is refused
 *
 * Return: 0 or a negative errno; then there is no file.
 */
int iot_builder_save(struct iot_builder *builder, const char *path, struct iot_reject *reject)
{
	void *image;
	size_t bytes;
	int err = iot_builder_image(builder, &image, &bytes);

	if (err)
		return err;
	err = verify(image, bytes, reject);
	if (!err)
		err = iot_file_save(path, image, bytes);
	free(image);
	return err;
}

/**
 * iot_builder_close() - free a builder; NULL is allowed
 */
void iot_builder_close(struct iot_builder *builder)
{
	struct text_slot *slot, *next;
	u32 i;

	if (!builder)
		return;
	HASH_ITER (hh, builder->texts, slot, next) {
		HASH_DEL(builder->texts, slot);
		free(slot);
	}
	for (i = 0; i < IOT_SECTION_COUNT; i++)
		free(builder->sections[i].bytes);
	free(builder);
}
