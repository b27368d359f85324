// SPDX-License-Identifier: GPL-2.0-only
/*
 * canon_harmless.c - operations that a replay performs without the rights that they would give: equivalence 10
 * of diff.h.
 */
#include "canon.h"

#include <stdlib.h>

#include "core/replay/harmless.h"

/* Where a field is among those that are compared; NULL if the kind has none of the name. */
static u64 *field_of(struct canon_op *op, const char *name)
{
	const struct iot_kind_info *info = iot_kind_info(op->kind);
	u32 i, n = 0;

	for (i = 0; i < info->field_count && n < op->field_count; i++) {
		if (!iot_class_info(info->fields[i].class).is_compared)
			continue;
		if (!strcmp(info->fields[i].name, name))
			return &op->fields[n];
		n++;
	}
	return NULL;
}

/* Whether the operation removes privileges. Then the mode is the rest of one that had them. */
static bool takes_away(struct canon_op *op)
{
	u64 *attrs = field_of(op, "attrs");

	return op->kind == IOT_KIND_setattr && attrs && *attrs & IOT_ATTR_kill_priv;
}

static void forget_mode(struct canon_op *op)
{
	u64 *attrs = field_of(op, "attrs"), *mode = field_of(op, "mode");

	if (attrs && mode) {
		*attrs &= ~(u64)IOT_ATTR_mode;
		*mode = 0;
	}
}

static void make_harmless(struct canon_op *op)
{
	u64 *mode = field_of(op, "mode"), *rdev = field_of(op, "rdev");

	if (!mode)
		return;
	if (rdev)
		*rdev = iot_harmless_rdev((u32)*mode, *rdev);
	*mode = iot_harmless_mode((u32)*mode);
}

static bool is_harmless_value(const struct canon_op *first, const struct canon_op *second)
{
	size_t name_bytes = strlen(first->path2) + 1;
	bool is_equal = false;
	u8 *value;

	if (!first->has_value || !second->has_value)
		return true;
	if (first->value_bytes != second->value_bytes)
		return false;
	value = malloc(first->value_bytes + 1);
	if (!value)
		return false;
	memcpy(value, first->path2 + name_bytes, first->value_bytes);
	if (iot_harmless_value(first->path2, value, first->value_bytes))
		is_equal = !memcmp(value, second->path2 + name_bytes, first->value_bytes);
	free(value);
	return is_equal;
}

static struct canon_op copy_of(const struct canon_op *op, u64 fields[CANON_FIELDS_MAX])
{
	struct canon_op copy = *op;

	copy.fields = memcpy(fields, op->fields, op->field_count * sizeof(*fields));
	return copy;
}

/**
 * canon_op_is_made_harmless() - check whether a replay runs an operation in the place of another one
 * @first: of the original
 * @second: of the replay; not equal
 */
bool canon_op_is_made_harmless(const struct canon_op *first, const struct canon_op *second)
{
	u64 fields_a[CANON_FIELDS_MAX], fields_b[CANON_FIELDS_MAX];
	struct canon_op a = copy_of(first, fields_a), b = copy_of(second, fields_b);

	switch (a.kind) {
	case IOT_KIND_open:
	case IOT_KIND_mknod:
		make_harmless(&a);
		break;
	case IOT_KIND_setattr:
		if (takes_away(&a) && takes_away(&b)) {
			forget_mode(&a);
			forget_mode(&b);
		} else {
			make_harmless(&a);
		}
		break;
	case IOT_KIND_setxattr:
		if (b.kind != a.kind || strcmp(a.path2, b.path2) || !is_harmless_value(first, second))
			return false;
		a.has_value = false;
		break;
	default:
		return false;
	}
	return canon_op_is_equal(&a, &b);
}

/**
 * canon_op_has_other_value() - check whether a replay set a different value that its outcomes do
 * not contain
 * @first: of the original
 * @second: of the replay; equal
 */
bool canon_op_has_other_value(const struct canon_op *first, const struct canon_op *second)
{
	u8 nothing;

	return first->kind == IOT_KIND_setxattr && first->has_value && !second->has_value &&
	       iot_harmless_value(first->path2, &nothing, 0);
}

/**
 * canon_op_takes_privileges() - is it a change by which the kernel takes privileges of a file away?
 * @op: of the original; a file that has none is not changed
 */
bool canon_op_takes_privileges(const struct canon_op *op)
{
	struct canon_op copy = *op;

	return op->is_implied && takes_away(&copy);
}
