// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_selection.c - rows of option tables for commands that select records.
 */
#include "option_selection.h"

#include <string.h>

#include "option_filter.h"

static bool is_operation(const struct iot_kind_info *info)
{
	return info->group == IOT_GROUP_op || (info->group == IOT_GROUP_mpi && iot_kind_is_span(info));
}

/**
 * option_operation_at() - the name of an operation by index
 *
 * Return: the name; NULL after the last.
 */
const char *option_operation_at(size_t index)
{
	const struct iot_kind_info *info;
	size_t i;

	for (i = 0; (info = iot_kind_at(i)); i++)
		if (is_operation(info) && !index--)
			return info->name;
	return NULL;
}

/**
 * option_set_operations() - the value of --op
 *
 * The field of the row is the struct selection.
 */
void option_set_operations(struct option_state *state, char *list)
{
	struct selection *selection = (void *)((char *)state->options + state->row->field.offset);
	const struct iot_kind_info *info;
	char *name;

	selection->has_ops = true;
	while ((name = strsep(&list, ","))) {
		info = iot_kind_by_name(name);
		if (!info || !is_operation(info))
			option_error(state, "--op=%s: unknown operation%s", name, option_hint(state->row, name));
		selection->is_op[info->kind] = true;
	}
}

/**
 * option_set_filter() - the value of --filter of commands that read traces
 *
 * The field of the row is the struct selection.
 */
void option_set_filter(struct option_state *state, char *argument)
{
	struct selection *selection = (void *)((char *)state->options + state->row->field.offset);
	struct filter *filter = option_filter(state, "--filter", argument, true);

	filter_free((struct filter *)selection->filter);
	selection->filter = filter;
}
