// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * builder.c - put a program together, and write it to a file.
 *
 * Sections grow in memory, except that the operations of a streamed program, which are most of it, go to the file. Texts
 * are stored once.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uthash.h>

#include "core/crc32c.h"
#include "iotape.h"
#include "packer.h"

/* A text or value, and where it is in the strings. */
struct text_slot {
	UT_hash_handle hh;
	u32 offset_bytes;
	char text[]; /* a zero byte follows */
};

#define STREAM_BYTES (256u << 10) /* so much is written at once */

/**
 * struct section - elements of one structure
 * @bytes, @used_bytes, @room_bytes: those that are in memory
 * @written_bytes, @crc: length and checksum of those before them, which are in the file
 */
struct section {
	u8 *bytes;
	size_t used_bytes;
	size_t room_bytes;
	u64 written_bytes;
	u32 crc;
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

/**
 * struct iot_builder - a program that is put together
 * @part: the file, if it has been opened
 * @ops_offset_bytes: where the operations are in the file; 0 if they are collected in memory
 */
struct iot_builder {
	struct section sections[IOT_SECTION_COUNT];
	struct iot_part part;
	u64 ops_offset_bytes;
	struct text_slot *texts;
	u32 handles;
	u32 maps;
	bool computes;
	bool is_uncompressed;
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
	b->part.fd = -1;
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

static u64 section_bytes(const struct section *section)
{
	return section->written_bytes + section->used_bytes;
}

/* From memory to the file, in which the section begins at an offset. */
static int section_write(struct section *section, const struct iot_part *part, u64 offset_bytes)
{
	int err = iot_part_write(part, offset_bytes + section->written_bytes, section->bytes, section->used_bytes);

	if (err)
		return err;
	section->crc = iot_crc32c(section->crc, section->bytes, section->used_bytes);
	section->written_bytes += section->used_bytes;
	section->used_bytes = 0;
	return 0;
}

/**
 * iot_builder_stream() - write operations to a file as they are added, instead of collecting them in memory
 * @builder: without operations
 * @path: the file, see iot_file_save(); it appears with iot_builder_save()
 * @tasks: number of tasks that the program will have
 *
 * Return: 0 or a negative errno.
 */
int iot_builder_stream(struct iot_builder *builder, const char *path, u32 tasks)
{
	int err = iot_part_open(&builder->part, path);

	if (!err)
		builder->ops_offset_bytes = sizeof(struct iot_program_head) + tasks * (u64)unit_bytes[IOT_SECTION_TASKS];
	return err;
}

/**
 * iot_builder_add() - add an element to a section
 * @builder: the program
 * @section: which
 * @element: of the section's structure
 *
 * Return: its index in the section; -ENOMEM; of operations of a streamed program, another negative errno.
 */
s64 iot_builder_add(struct iot_builder *builder, enum iot_section_kind section, const void *element)
{
	struct section *s = &builder->sections[section];
	s64 index = (s64)(section_bytes(s) / unit_bytes[section]);
	int err = section_add(s, element, unit_bytes[section]);

	if (!err && section == IOT_SECTION_OPS && builder->ops_offset_bytes && s->used_bytes >= STREAM_BYTES)
		err = section_write(s, &builder->part, builder->ops_offset_bytes);
	return err ? err : index;
}

/**
 * iot_builder_count() - elements of a section so far
 */
u64 iot_builder_count(const struct iot_builder *builder, enum iot_section_kind section)
{
	return section_bytes(&builder->sections[section]) / unit_bytes[section];
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
 * iot_builder_uncompress() - let iot_builder_save() write the program as it is, instead of compressed
 */
void iot_builder_uncompress(struct iot_builder *builder)
{
	builder->is_uncompressed = true;
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

/* Return: length of the file. */
static u64 place_sections(const struct iot_builder *builder, u64 offsets_bytes[IOT_SECTION_COUNT])
{
	u64 offset_bytes = sizeof(struct iot_program_head);
	u32 i;

	for (i = 0; i < IOT_SECTION_COUNT; i++) {
		offsets_bytes[i] = offset_bytes;
		offset_bytes += (section_bytes(&builder->sections[i]) + 7) / 8 * 8;
	}
	return offset_bytes;
}

static void make_head(const struct iot_builder *builder, const u64 *offsets_bytes, struct iot_program_head *head)
{
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

		head->sections[i].offset_bytes = cpu_to_le64(offsets_bytes[i]);
		head->sections[i].count = cpu_to_le64(section_bytes(s) / unit_bytes[i]);
		head->sections[i].crc = cpu_to_le32(s->crc);
	}
	head->head_crc =
		cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_program_head, head_crc)));
}

/* All that is still in memory. */
static int write_rest(struct iot_builder *builder, u64 *bytes)
{
	u64 offsets_bytes[IOT_SECTION_COUNT];
	struct iot_program_head head;
	int err = 0;
	u32 i;

	*bytes = place_sections(builder, offsets_bytes);
	if (builder->ops_offset_bytes && builder->ops_offset_bytes != offsets_bytes[IOT_SECTION_OPS])
		return -EINVAL;
	for (i = 0; i < IOT_SECTION_COUNT && !err; i++)
		err = section_write(&builder->sections[i], &builder->part, offsets_bytes[i]);
	make_head(builder, offsets_bytes, &head);
	if (!err)
		err = iot_part_write(&builder->part, 0, &head, sizeof(head));
	if (!err && ftruncate(builder->part.fd, (off_t)*bytes)) /* zeros behind the last section */
		err = -errno;
	return err;
}

/* Each program must pass the verifier, which detects circles of waits. */
static int verify_image(const void *image, size_t bytes, struct iot_reject *reject)
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

/* The bytes are mapped: their file can be replaced. */
static int pack(const struct iot_builder *builder, const void *image, u64 bytes)
{
	const struct iot_program_head *head = image;
	struct packer *packer;
	int err = packer_open(&builder->part, bytes, le64_to_cpu(head->sections[IOT_SECTION_OPS].offset_bytes), &packer);

	if (err)
		return err;
	err = packer_add(packer, image, bytes);
	if (!err)
		err = packer_end(packer);
	packer_close(packer);
	return err;
}

/* As it is in the file, of which the kernel has only a part in memory if memory is short. */
static int verify_and_pack(struct iot_builder *builder, u64 bytes, struct iot_reject *reject)
{
	void *image = mmap(NULL, bytes, PROT_READ, MAP_SHARED, builder->part.fd, 0);
	int err;

	if (image == MAP_FAILED)
		return -errno;
	err = verify_image(image, bytes, reject);
	if (!err && !builder->is_uncompressed)
		err = iot_part_restart(&builder->part);
	if (!err && !builder->is_uncompressed)
		err = pack(builder, image, bytes);
	munmap(image, bytes);
	return err;
}

/**
 * iot_builder_save() - verify the program and write it to a file, compressed unless iot_builder_uncompress() was called
 * @builder: the program, to be closed afterwards
 * @path: the file, see iot_file_save(); of a streamed program that of iot_builder_stream()
 * @reject: filled in if the program is refused
 *
 * Return: 0 or a negative errno; then there is no file.
 */
int iot_builder_save(struct iot_builder *builder, const char *path, struct iot_reject *reject)
{
	int err = builder->ops_offset_bytes ? 0 : iot_part_open(&builder->part, path);
	u64 bytes;

	if (!err)
		err = write_rest(builder, &bytes);
	if (!err)
		err = verify_and_pack(builder, bytes, reject);
	return err ? err : iot_part_commit(&builder->part);
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
	iot_part_abort(&builder->part);
	free(builder);
}
