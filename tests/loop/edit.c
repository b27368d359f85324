// SPDX-License-Identifier: GPL-2.0-only
/*
 * edit.c - changes one place of a program, which stays valid: a change that the tests of
 * the whole loop must notice.
 *
 *	edit remove|shift|swap|value KIND IN OUT
 *
 * remove: the middle operation of this kind becomes a nop. shift: its offset increases by 4096
 * bytes. swap: it changes places with the next different operation of this kind in its task.
 * value: the attribute that it sets gets another value.
 * Exit code: 0 done, 1 there is no such operation, 2 usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/crc32c.h"
#include "lib/iotape.h"

static struct iot_program program;

static bool is_kind(const struct iot_program_op *op, u16 kind)
{
	return le16_to_cpu(op->kind) == kind && (s64)le64_to_cpu(op->result) >= 0;
}

static u16 kind_named(const char *name)
{
	u16 kind;

	for (kind = 0; kind < IOT_KIND_END; kind++)
		if (iot_kind_info(kind) && !strcmp(iot_kind_info(kind)->name, name))
			return kind;
	return 0;
}

/* The middle one of the successful operations. */
static struct iot_program_op *middle(u16 kind)
{
	struct iot_program_op *ops = (struct iot_program_op *)program.ops;
	u64 count = 0, i;

	for (i = 0; i < program.op_count; i++)
		count += is_kind(&ops[i], kind);
	if (!count)
		return NULL;
	count /= 2;
	for (i = 0;; i++)
		if (is_kind(&ops[i], kind) && !count--)
			return &ops[i];
}

/* Order and think time belong to the position, everything else to the operation. */
static void take(struct iot_program_op *place, const struct iot_program_op *operation)
{
	struct iot_program_op taken = *operation;

	taken.wait_count = place->wait_count;
	taken.first_wait = place->first_wait;
	taken.compute_ns = place->compute_ns;
	taken.pause_ns = place->pause_ns;
	*place = taken;
}

static bool remove_op(struct iot_program_op *op)
{
	const struct iot_program_op nop = { .kind = cpu_to_le16(IOT_PLAY_nop) };

	take(op, &nop);
	return true;
}

static bool shift_op(struct iot_program_op *op)
{
	op->offset_bytes = cpu_to_le64(le64_to_cpu(op->offset_bytes) + 4096);
	return true;
}

static bool differ(const struct iot_program_op *a, const struct iot_program_op *b)
{
	return a->path != b->path || a->offset_bytes != b->offset_bytes ||
	       a->length_bytes != b->length_bytes;
}

static u64 end_of_task(u64 at)
{
	u32 i;

	for (i = 0; i < program.task_count; i++) {
		u64 end = le64_to_cpu(program.tasks[i].first_op) +
			  le32_to_cpu(program.tasks[i].op_count);

		if (at < end)
			return end;
	}
	return at;
}

static bool swap_ops(struct iot_program_op *op)
{
	u64 at = (u64)(op - program.ops), end = end_of_task(at), i;
	struct iot_program_op first = *op;

	for (i = at + 1; i < end; i++) {
		struct iot_program_op *next = op + (i - at);

		if (is_kind(next, le16_to_cpu(op->kind)) && differ(op, next)) {
			take(op, next);
			take(next, &first);
			return true;
		}
	}
	return false;
}

/* Changes a permission of the second entry of an access control list. */
static bool change_value(struct iot_program_op *op)
{
	u8 *value = (u8 *)iot_program_value(&program, op);

	if (!value || le64_to_cpu(op->length_bytes) < 15)
		return false;
	value[14] ^= 1;
	return true;
}

static void sign(u32 section)
{
	struct iot_program_head *head = (struct iot_program_head *)program.head;
	struct iot_section *s = &head->sections[section];

	s->crc = cpu_to_le32(iot_crc32c(0, (u8 *)head + le64_to_cpu(s->offset_bytes),
					iot_section_bytes(head, section)));
	head->head_crc = cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_program_head, head_crc)));
}

static int edit(bool (*how)(struct iot_program_op *op), u16 kind, const char *in, const char *out)
{
	struct iot_reject reject;
	struct iot_program_op *op;
	int err = iot_program_load(in, &program, &reject);

	if (err) {
		fprintf(stderr, "edit: %s: %s\n", in, iot_reject_sentence(&reject));
		return 1;
	}
	op = middle(kind);
	if (!op || !how(op)) {
		fprintf(stderr, "edit: %s: there is no such operation\n", in);
		return 1;
	}
	sign(IOT_SECTION_OPS);
	sign(IOT_SECTION_STRINGS);
	err = iot_file_save(out, program.bytes, program.byte_count);
	if (err)
		fprintf(stderr, "edit: %s: %s\n", out, strerror(-err));
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*how)(struct iot_program_op *op);
	} ways[] = { { "remove", remove_op }, { "shift", shift_op }, { "swap", swap_ops },
		     { "value", change_value } };
	size_t i;

	for (i = 0; argc == 5 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name) && kind_named(argv[2]))
			return edit(ways[i].how, kind_named(argv[2]), argv[3], argv[4]);
	fprintf(stderr, "usage: edit remove|shift|swap|value KIND IN OUT\n");
	return 2;
}
