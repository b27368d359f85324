/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree.h - a parsed filter expression.
 */
#ifndef IOTAPE_FILTER_TREE_H
#define IOTAPE_FILTER_TREE_H

#include "filter.h"

enum node_kind {
	NODE_TEST,
	NODE_NOT,
	NODE_AND,
	NODE_OR,
};

/**
 * struct node - a node of the tree
 * @kind: kind of node
 * @left, @right: operands; only @left of NODE_NOT
 * @code, @field, @value: of a test, as in struct iot_filter_step
 * @text, @bytes: of a test of a text
 * @set: of a test of the operation
 * @at: offset in the expression
 */
struct node {
	enum node_kind kind;
	struct node *left;
	struct node *right;
	enum iot_filter_code code;
	enum iot_filter_field field;
	u64 value;
	char text[IOT_FILTER_TEXT_MAX + 1];
	size_t bytes;
	u8 set[IOT_FILTER_SET_BYTES];
	size_t at;
};

/**
 * struct filter - a compiled expression
 * @tree: as parsed
 * @text: the expression on one line, without comments
 * @program: verified
 * @program_bytes: its length
 */
struct filter {
	struct node *tree;
	char *text;
	struct iot_filter_head *program;
	size_t program_bytes;
};

int filter_parse(const char *expression, struct node **tree, struct filter_error *error);
int filter_generate(const struct node *tree, struct iot_filter_head **program, size_t *bytes,
		    struct filter_error *error);
void filter_tree_free(struct node *tree);
int filter_fail(struct filter_error *error, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
