// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_stacks.c - the value of record --stacks: operations and classes of operations.
 */
#include "option_stacks.h"

#include <string.h>

#include "lib/iotape.h"

/**
 * option_stacks_at() - the name of an operation on files by index
 *
 * Return: the name; NULL after the last.
 */
const char *option_stacks_at(size_t index)
{
	const struct iot_kind_info *info;
	size_t i;

	for (i = 0; (info = iot_kind_at((u32)i)); i++)
		if (info->group == IOT_GROUP_op && !index--)
			return info->name;
	return NULL;
}

/* Return: false if no operation and no class has this name. */
static bool add(const char *name, uint64_t kinds[])
{
	const struct iot_kind_info *info = iot_kind_by_name(name);
	u64 of_class[IOT_KIND_END / 64];
	size_t place, i;
	int classes;

	if (info && info->group == IOT_GROUP_op) {
		kinds[info->kind / 64] |= 1ull << info->kind % 64;
		return true;
	}
	classes = iot_op_classes_of(name, &place);
	if (classes < 0)
		return false;
	iot_op_kinds_of(classes, of_class);
	for (i = 0; i < IOT_KIND_END / 64; i++)
		kinds[i] |= of_class[i];
	return true;
}

/**
 * option_stacks() - the kinds of operations whose call sites are recorded
 * @state: of the command line
 * @list: the value; NULL: all but accesses to mapped pages
 * @kinds: out: bit N is set for kind N, 64 kinds a word; if the list is wrong, the process exits
 */
void option_stacks(struct option_state *state, const char *list, uint64_t kinds[])
{
	char copy[1024], *rest = copy, *name;
	const char *each;
	size_t i;

	memset(kinds, 0, IOT_KIND_END / 8);
	for (i = 0; !list && (each = option_stacks_at(i)); i++)
		if (iot_kind_by_name(each)->kind != IOT_KIND_touch)
			add(each, kinds);
	if (!list)
		return;
	if (strlen(list) >= sizeof(copy))
		option_error(state, "--stacks: the list is too long");
	strcpy(copy, list);
	while ((name = strsep(&rest, ",")))
		if (!add(name, kinds))
			option_error(state, "--stacks=%s: unknown operation or class%s", name, option_hint(state->row, name));
}
