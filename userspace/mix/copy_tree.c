// SPDX-License-Identifier: GPL-2.0-only
/*
 * copy_tree.c - strings, objects and the initial tree of a program, in its directory of the mix.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "copy.h"

/**
 * copy_text() - a text of the program, as the mix refers to it
 *
 * Return: 0; -ENOMEM; -EFBIG if the mix has too many texts.
 */
int copy_text(struct copy *copy, __le32 from, __le32 *to)
{
	u32 *known = &copy->texts[le32_to_cpu(from)];
	int err = 0;

	*to = cpu_to_le32(*known);
	if (from && !*known) {
		err = iot_builder_text(copy->builder, iot_program_string(copy->program, from), to);
		*known = le32_to_cpu(*to);
	}
	return err;
}

/**
 * copy_path() - a path of the program, in its directory of the mix
 * @from: 0 if there is no path: then @to is 0, too
 *
 * Return: as copy_text(); -ENAMETOOLONG.
 */
int copy_path(struct copy *copy, __le32 from, __le32 *to)
{
	u32 *known = &copy->paths[le32_to_cpu(from)];
	const char *path = iot_program_string(copy->program, from);
	char text[IOT_PROGRAM_PATH_MAX];
	int bytes, err;

	*to = cpu_to_le32(*known);
	if (!*path || *known)
		return 0;
	bytes = strcmp(path, ".") ? snprintf(text, sizeof(text), "%u/%s", copy->number, path) :
				    snprintf(text, sizeof(text), "%u", copy->number);
	if ((size_t)bytes >= sizeof(text))
		return -ENAMETOOLONG;
	err = iot_builder_text(copy->builder, text, to);
	*known = le32_to_cpu(*to);
	return err;
}

static s64 add(struct copy *copy, enum iot_section_kind section, const void *element)
{
	return iot_builder_add(copy->builder, section, element);
}

static int copy_objects(struct copy *copy)
{
	struct iot_program_object object;
	u32 i;
	int err = 0;

	for (i = 0; i < copy->program->object_count && !err; i++) {
		object = copy->program->objects[i];
		object.origin = cpu_to_le64(copy->base.object + i + 1); /* ids of several traces may be the same */
		err = copy_path(copy, copy->program->objects[i].path, &object.path);
		if (!err && add(copy, IOT_SECTION_OBJECTS, &object) < 0)
			err = -ENOMEM;
	}
	return err;
}

/* The directory of the program takes the place of the traced directory. */
static int add_directory(struct copy *copy)
{
	const struct iot_program_entry *root = iot_tree_root(copy->program);
	struct iot_program_entry entry = { .mode = cpu_to_le32(S_IFDIR | 0755) };
	char name[16];
	int err;

	if (root) {
		entry.mode = root->mode;
		entry.uid = root->uid;
		entry.gid = root->gid;
	}
	snprintf(name, sizeof(name), "%u", copy->number);
	err = iot_builder_text(copy->builder, name, &entry.path);
	return err ? err : add(copy, IOT_SECTION_TREE, &entry) < 0 ? -ENOMEM : 0;
}

static int copy_entry(struct copy *copy, const struct iot_program_entry *from, s64 *index)
{
	struct iot_program_entry entry = *from;
	int err = copy_path(copy, from->path, &entry.path);

	if (!err) /* a hard link has the path of its file, a symbolic link has a text */
		err = from->mode ? copy_text(copy, from->target, &entry.target) : copy_path(copy, from->target, &entry.target);
	if (!err)
		*index = add(copy, IOT_SECTION_TREE, &entry);
	return err ? err : *index < 0 ? -ENOMEM : 0;
}

static int copy_extents(struct copy *copy, u32 from, s64 index)
{
	const struct iot_program_extent *extents;
	struct iot_program_extent extent;
	u32 count, i;

	extents = iot_tree_extents(copy->program, from, &count);
	for (i = 0; i < count; i++) {
		extent = extents[i];
		extent.entry = cpu_to_le32((u32)index);
		if (add(copy, IOT_SECTION_EXTENTS, &extent) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int copy_xattrs(struct copy *copy, u32 from, s64 index)
{
	const struct iot_program_xattr *xattrs;
	struct iot_program_xattr xattr;
	u32 count, i;
	int err = 0;

	xattrs = iot_tree_xattrs(copy->program, from, &count);
	for (i = 0; i < count && !err; i++) {
		xattr = xattrs[i];
		xattr.entry = cpu_to_le32((u32)index);
		err = copy_text(copy, xattrs[i].name, &xattr.name);
		if (!err)
			err = iot_builder_bytes(copy->builder, iot_program_string(copy->program, xattrs[i].value),
						le32_to_cpu(xattrs[i].value_bytes), &xattr.value);
		if (!err && add(copy, IOT_SECTION_XATTRS, &xattr) < 0)
			err = -ENOMEM;
	}
	return err;
}

/**
 * copy_tree() - add the objects and the initial tree of a program
 *
 * Return: as copy_path().
 */
int copy_tree(struct copy *copy)
{
	const struct iot_program_entry *root = iot_tree_root(copy->program), *entry;
	s64 index;
	u32 i;
	int err = copy_objects(copy);

	if (!err)
		err = add_directory(copy);
	for (i = 0; i < copy->program->entry_count && !err; i++) {
		entry = &copy->program->tree[i];
		if (entry == root)
			continue;
		err = copy_entry(copy, entry, &index);
		if (!err)
			err = copy_extents(copy, i, index);
		if (!err)
			err = copy_xattrs(copy, i, index);
	}
	return err;
}
