// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * program_tree.c - the extents and attributes of an entry of a program's tree.
 *
 * Extents and attributes are in the order of their entries, so they are found by halving.
 */
#include "iotape.h"

/* Both structures begin with the index of their entry. Return: the first that is not before it. */
static u32 first_of(const void *elements, size_t unit_bytes, u32 count, u32 entry)
{
	u32 low = 0, high = count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		const __le32 *of = (const void *)((const u8 *)elements + middle * unit_bytes);

		if (le32_to_cpu(*of) < entry)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/**
 * iot_tree_extents() - where a file has data
 * @program: verified
 * @entry: index in the tree
 * @count: out: number of extents
 *
 * Return: the first of them; it lives as long as the program.
 */
const struct iot_program_extent *iot_tree_extents(const struct iot_program *program, u32 entry,
						  u32 *count)
{
	u32 first = first_of(program->extents, sizeof(*program->extents), program->extent_count, entry);

	for (*count = 0; first + *count < program->extent_count; ++*count)
		if (le32_to_cpu(program->extents[first + *count].entry) != entry)
			break;
	return *count ? &program->extents[first] : NULL;
}

/**
 * iot_tree_xattrs() - extended attributes
 * @program: verified
 * @entry: index in the tree
 * @count: out: their number
 *
 * Return: the first of them; it lives as long as the program.
 */
const struct iot_program_xattr *iot_tree_xattrs(const struct iot_program *program, u32 entry,
						u32 *count)
{
	u32 first = first_of(program->xattrs, sizeof(*program->xattrs), program->xattr_count, entry);

	for (*count = 0; first + *count < program->xattr_count; ++*count)
		if (le32_to_cpu(program->xattrs[first + *count].entry) != entry)
			break;
	return *count ? &program->xattrs[first] : NULL;
}

/**
 * iot_program_fact_value() - value of a fact of a program
 * @program: verified
 * @key: of the fact
 *
 * Return: the value, which lives as long as the program; NULL if there is none.
 */
const char *iot_program_fact_value(const struct iot_program *program, const char *key)
{
	u32 i;

	for (i = 0; i < program->fact_count; i++)
		if (!strcmp(iot_program_string(program, program->facts[i].key), key))
			return iot_program_string(program, program->facts[i].value);
	return NULL;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/**
 * iot_xattr_is_state() - does an extended attribute belong to the state of a tree?
 * @name: with its namespace
 *
 * Those of the user and of trusted programs do, access control lists, and capabilities. The mark of
 * a target does not, nor do the labels that a machine's security policy gives to every file.
 */
bool iot_xattr_is_state(const char *name)
{
	if (has_prefix(name, "user."))
		return !has_prefix(name, "user.iotape.");
	return has_prefix(name, "trusted.") || !strcmp(name, "security.capability") ||
	       !strcmp(name, "system.posix_acl_access") || !strcmp(name, "system.posix_acl_default");
}

/**
 * iot_tree_root() - the entry of the directory that holds all others
 * @program: verified
 *
 * Return: it, NULL if the program does not contain it.
 */
const struct iot_program_entry *iot_tree_root(const struct iot_program *program)
{
	u32 i;

	for (i = 0; i < program->entry_count; i++)
		if (!strcmp(iot_program_string(program, program->tree[i].path), "."))
			return &program->tree[i];
	return NULL;
}
