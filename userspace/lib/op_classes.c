// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * op_classes.c - classes of operations by their names.
 */
#include <errno.h>
#include <string.h>

#include "iotape.h"

static const struct {
	enum iot_op_class class;
	u16 kind;
} kinds[] = {
#define ROW(class, kind) { IOT_OP_CLASS_##class, IOT_KIND_##kind },
	IOT_OP_KINDS(ROW)
#undef ROW
};

static const char *const names[] = {
#define NAME(class, sentence) #class,
	IOT_OP_CLASSES(NAME)
#undef NAME
};

static int class_by_name(const char *name, size_t bytes)
{
	int class;

	for (class = 0; class < IOT_OP_CLASS_END; class++)
		if (strlen(names[class]) == bytes && !memcmp(names[class], name, bytes))
			return class;
	return -EINVAL;
}

/**
 * iot_op_classes_of() - the classes that a list names
 * @list: names, separated by commas
 * @place: out, after an error: where in @list the name begins that is none
 *
 * Return: a bit (1 << class) for each; -EINVAL.
 */
int iot_op_classes_of(const char *list, size_t *place)
{
	const char *at = list;
	int classes = 0;

	for (;;) {
		size_t bytes = strcspn(at, ",");
		int class = class_by_name(at, bytes);

		*place = (size_t)(at - list);
		if (class < 0)
			return class;
		classes |= 1 << class;
		if (!at[bytes])
			return classes;
		at += bytes + 1;
	}
}

/**
 * iot_op_class_of() - the class of a kind
 * @kind: of a record
 *
 * Return: an enum iot_op_class; -EINVAL if the kind is not that of an operation on files.
 */
int iot_op_class_of(u16 kind)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == kind)
			return (int)kinds[i].class;
	return -EINVAL;
}

/**
 * iot_op_kinds_of() - the kinds of records in some classes
 * @classes: a bit (1 << class) for each
 * @bits: out: bit N is set if kind N is in one of them, 64 kinds a word
 */
void iot_op_kinds_of(int classes, u64 bits[IOT_KIND_END / 64])
{
	size_t i;

	memset(bits, 0, IOT_KIND_END / 8);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (classes & 1 << kinds[i].class)
			bits[kinds[i].kind / 64] |= 1ull << kinds[i].kind % 64;
}
