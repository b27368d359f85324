// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * verify_tree.c - the parts of a program that only user space reads: objects, initial tree, facts.
 */
#include "verify.h"

#define CREATE_MODE_MASK 0xf000u
#define MODE_REGULAR	 0x8000u

static int check_objects(const struct verifier *v)
{
	const struct iot_program_object *object = v->program->objects;
	u32 i;

	for (i = 0; i < v->program->object_count; i++, object++)
		if (!iot_verify_is_string(v, object->path) || le32_to_cpu(object->type) > 15)
			return iot_verify_refuse(v, IOT_REJECT_op_slot, IOT_SECTION_OBJECTS, i);
	return 0;
}

static bool are_entry_flags_valid(const struct iot_program_entry *entry)
{
	u32 type = le32_to_cpu(entry->mode) & CREATE_MODE_MASK, known = 0;

	if (type)
		known |= IOT_ENTRY_XATTRS;
	if (type == MODE_REGULAR)
		known |= IOT_ENTRY_EXTENTS;
	return !(le32_to_cpu(entry->flags) & ~known);
}

static int check_tree(const struct verifier *v)
{
	const struct iot_program_entry *entry = v->program->tree;
	u32 i;

	for (i = 0; i < v->program->entry_count; i++, entry++) {
		if (!iot_verify_is_path(v, entry->path))
			return iot_verify_refuse(v, IOT_REJECT_path, IOT_SECTION_TREE, i);
		if (!iot_verify_is_string(v, entry->target) || (s64)le64_to_cpu(entry->size_bytes) < 0 ||
		    le32_to_cpu(entry->mode) >> 16 || !are_entry_flags_valid(entry))
			return iot_verify_refuse(v, IOT_REJECT_tree, IOT_SECTION_TREE, i);
		if (!(le32_to_cpu(entry->mode) & CREATE_MODE_MASK) && !iot_verify_is_path(v, entry->target))
			return iot_verify_refuse(v, IOT_REJECT_tree, IOT_SECTION_TREE, i);
	}
	return 0;
}

/* Does it belong to an entry with such parts, which is not before the entry of the preceding one? */
static bool is_of_entry(const struct verifier *v, __le32 entry, u32 least, u32 flag)
{
	u32 index = le32_to_cpu(entry);

	return index < v->program->entry_count && index >= least &&
	       le32_to_cpu(v->program->tree[index].flags) & flag;
}

static int check_extents(const struct verifier *v)
{
	const struct iot_program_extent *extent = v->program->extents;
	u64 end_bytes = 0, size_bytes, offset, length;
	u32 last = 0, i;

	for (i = 0; i < v->program->extent_count; i++, extent++) {
		if (extent->reserved)
			return iot_verify_refuse(v, IOT_REJECT_reserved, IOT_SECTION_EXTENTS, i);
		if (!is_of_entry(v, extent->entry, last, IOT_ENTRY_EXTENTS))
			return iot_verify_refuse(v, IOT_REJECT_extent, IOT_SECTION_EXTENTS, i);
		if (le32_to_cpu(extent->entry) != last || !i)
			end_bytes = 0;
		else
			end_bytes++; /* adjacent extents must be one */
		last = le32_to_cpu(extent->entry);
		size_bytes = le64_to_cpu(v->program->tree[last].size_bytes);
		offset = le64_to_cpu(extent->offset_bytes);
		length = le64_to_cpu(extent->length_bytes);
		if (!length || offset < end_bytes || offset > size_bytes || length > size_bytes - offset)
			return iot_verify_refuse(v, IOT_REJECT_extent, IOT_SECTION_EXTENTS, i);
		end_bytes = offset + length;
	}
	return 0;
}

static int check_xattrs(const struct verifier *v)
{
	const struct iot_program_xattr *xattr = v->program->xattrs;
	u32 last = 0, i;

	for (i = 0; i < v->program->xattr_count; i++, xattr++) {
		u64 value = le32_to_cpu(xattr->value), bytes = le32_to_cpu(xattr->value_bytes);

		if (!is_of_entry(v, xattr->entry, last, IOT_ENTRY_XATTRS) || !xattr->name ||
		    !iot_verify_is_string(v, xattr->name) || bytes > IOT_XATTR_VALUE_MAX ||
		    value + bytes >= v->program->string_bytes)
			return iot_verify_refuse(v, IOT_REJECT_xattr, IOT_SECTION_XATTRS, i);
		last = le32_to_cpu(xattr->entry);
	}
	return 0;
}

static int check_facts(const struct verifier *v)
{
	const struct iot_program_fact *fact = v->program->facts;
	u32 i;

	for (i = 0; i < v->program->fact_count; i++, fact++)
		if (!iot_verify_is_string(v, fact->key) || !iot_verify_is_string(v, fact->value))
			return iot_verify_refuse(v, IOT_REJECT_string, IOT_SECTION_FACTS, i);
	return 0;
}

/**
 * iot_verify_tree() - are objects, facts and the initial tree valid?
 * @v: the work; strings have been verified
 *
 * Return: 0 or a refusal.
 */
int iot_verify_tree(const struct verifier *v)
{
	int err = check_objects(v);

	if (!err)
		err = check_tree(v);
	if (!err)
		err = check_facts(v);
	if (!err)
		err = check_extents(v);
	return err ? err : check_xattrs(v);
}
