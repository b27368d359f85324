// SPDX-License-Identifier: GPL-2.0-only
/*
 * generate.c - a tree to a program.
 */
#include <errno.h>
#include <stdlib.h>

#include "tree.h"

struct generator {
	struct filter_error *error;
	struct iot_filter_step steps[IOT_FILTER_STEPS_MAX];
	u8 data[IOT_FILTER_DATA_MAX];
	u16 step_count;
	u16 data_bytes;
	u16 paths;
	u16 depth;
};

static int add_step(struct generator *g, const struct iot_filter_step *step, size_t at)
{
	if (g->step_count == IOT_FILTER_STEPS_MAX)
		return filter_fail(g->error, at, "the expression is too long");
	g->steps[g->step_count++] = *step;
	return 0;
}

static int add_data(struct generator *g, const void *bytes, size_t count, struct iot_filter_step *step, size_t at)
{
	if (g->data_bytes + count > IOT_FILTER_DATA_MAX)
		return filter_fail(g->error, at, "the texts of the expression are too long");
	memcpy(g->data + g->data_bytes, bytes, count);
	step->data = g->data_bytes;
	g->data_bytes = (u16)(g->data_bytes + count);
	return 0;
}

static int generate_test(struct generator *g, const struct node *node)
{
	struct iot_filter_step step = { .code = (u8)node->code, .field = (u8)node->field };
	bool is_path = node->field == IOT_FILTER_path || node->field == IOT_FILTER_ext;
	int err = 0;

	if (++g->depth > IOT_FILTER_DEPTH_MAX)
		return filter_fail(g->error, node->at, "nested too deeply");
	if (is_path && g->paths == IOT_FILTER_PATHS_MAX)
		return filter_fail(g->error, node->at, "more than %d tests of paths", IOT_FILTER_PATHS_MAX);
	if (is_path)
		step.target = g->paths++;
	if (node->code == IOT_FILTER_IN) {
		err = add_data(g, node->set, sizeof(node->set), &step, node->at);
	} else if (node->code == IOT_FILTER_TEXT || node->code == IOT_FILTER_GLOB) {
		step.bytes = (u8)node->bytes;
		err = add_data(g, node->text, node->bytes, &step, node->at);
	} else {
		step.value = node->value;
	}
	return err ?: add_step(g, &step, node->at);
}

/* The right operand is not evaluated if the left one decides. */
static int generate(struct generator *g, const struct node *node)
{
	bool is_and = node->kind == NODE_AND;
	struct iot_filter_step step = {};
	u16 skip;
	int err;

	if (node->kind == NODE_TEST)
		return generate_test(g, node);
	err = generate(g, node->left);
	if (err)
		return err;
	if (node->kind == NODE_NOT) {
		step.code = IOT_FILTER_NOT;
		return add_step(g, &step, node->at);
	}
	skip = g->step_count;
	step.code = is_and ? IOT_FILTER_SKIP_NO : IOT_FILTER_SKIP_YES;
	err = add_step(g, &step, node->at);
	if (!err)
		err = generate(g, node->right);
	step.code = is_and ? IOT_FILTER_AND : IOT_FILTER_OR;
	if (!err)
		err = add_step(g, &step, node->at);
	if (!err)
		g->steps[skip].target = g->step_count;
	g->depth--;
	return err;
}

/**
 * filter_generate() - make a program
 * @tree: parsed
 * @program: out: to be freed by free()
 * @bytes: out: its length
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL if it would be too large; -ENOMEM.
 */
int filter_generate(const struct node *tree, struct iot_filter_head **program, size_t *bytes,
		    struct filter_error *error)
{
	struct generator *g = calloc(1, sizeof(*g));
	size_t steps_bytes;
	int err;

	*program = NULL;
	if (!g)
		return -ENOMEM;
	g->error = error;
	err = generate(g, tree);
	steps_bytes = g->step_count * sizeof(g->steps[0]);
	*bytes = sizeof(**program) + steps_bytes + g->data_bytes;
	if (!err && !(*program = malloc(*bytes)))
		err = -ENOMEM;
	if (!err) {
		**program = (struct iot_filter_head){ IOT_FILTER_VERSION, g->step_count, g->data_bytes, 0 };
		memcpy(*program + 1, g->steps, steps_bytes);
		memcpy((u8 *)(*program + 1) + steps_bytes, g->data, g->data_bytes);
	}
	free(g);
	return err;
}
