// SPDX-License-Identifier: GPL-2.0-only
/*
 * part.c - what a pattern is a part of, in memory and as bytes.
 */
#include "part.h"

static void free_node(struct part_node *node)
{
	u32 i;

	for (i = 0; i < node->directory_count; i++)
		free(node->directories[i].path);
	free(node->directories);
	free(node->name);
	free(node->boot);
}

/**
 * part_free() - free a part; NULL is allowed
 */
void part_free(struct part *part)
{
	u32 i;

	if (!part)
		return;
	for (i = 0; i < part->node_count; i++)
		free_node(&part->nodes[i]);
	free(part->nodes);
	free(part->version);
	free(part->shim);
	free(part->job);
	series_free(part->node_of);
	free(part);
}

/**
 * part_copy_node() - add a copy of a node
 * @part: gets it, behind its others
 * @node: the node
 *
 * Return: false if out of memory.
 */
bool part_copy_node(struct part *part, const struct part_node *node)
{
	struct part_node *nodes = reallocarray(part->nodes, part->node_count + 1ul, sizeof(*nodes)), *copy;
	u32 i;

	if (!nodes)
		return false;
	part->nodes = nodes;
	copy = &nodes[part->node_count++];
	*copy = *node;
	copy->name = strdup(node->name);
	copy->boot = strdup(node->boot);
	copy->directory_count = 0;
	copy->directories = calloc(node->directory_count + 1ul, sizeof(*copy->directories));
	if (!copy->name || !copy->boot || !copy->directories)
		return false;
	for (i = 0; i < node->directory_count; i++) {
		copy->directories[i] = node->directories[i];
		copy->directories[i].path = strdup(node->directories[i].path);
		copy->directory_count++;
		if (!copy->directories[i].path)
			return false;
	}
	return true;
}

/* -- bytes --------------------------------------------------------------------------------------------------------- */

static void put_text(struct bytes *bytes, const char *text)
{
	bytes_put(bytes, strlen(text));
	bytes_add(bytes, text, strlen(text));
}

static void put_node(struct bytes *bytes, const struct part_node *node)
{
	u32 i;

	put_text(bytes, node->name);
	put_text(bytes, node->boot);
	bytes_add(bytes, node->capture, sizeof(node->capture));
	bytes_put(bytes, node->begin_ns);
	bytes_put(bytes, node->names);
	bytes_put(bytes, node->directory_count);
	for (i = 0; i < node->directory_count; i++) {
		put_text(bytes, node->directories[i].path);
		bytes_put(bytes, node->directories[i].magic);
		bytes_put(bytes, node->directories[i].ino);
	}
}

/* As facts. */
static void put_omissions(struct bytes *bytes, const struct iot_omissions *omissions)
{
	char text[IOT_OMISSION_TEXT_BYTES];
	u32 i, count = 0;

	for (i = 1; i < IOT_OMISSION_END; i++)
		count += iot_omission_fact(omissions, i, text) > 0;
	bytes_put(bytes, omissions->operations);
	bytes_put(bytes, omissions->bytes);
	bytes_put(bytes, count);
	for (i = 1; i < IOT_OMISSION_END; i++)
		if (iot_omission_fact(omissions, i, text))
			put_text(bytes, text);
}

/**
 * part_put() - a part as bytes
 * @bytes: are appended to
 * @part: to be read again by part_get()
 */
void part_put(struct bytes *bytes, const struct part *part)
{
	u32 i;

	put_text(bytes, part->version);
	put_text(bytes, part->shim);
	put_text(bytes, part->job);
	bytes_put(bytes, part->world);
	bytes_put(bytes, part->ranks);
	bytes_put(bytes, part->node_count);
	for (i = 0; i < part->node_count; i++)
		put_node(bytes, &part->nodes[i]);
	series_put(bytes, part->node_of);
	put_omissions(bytes, &part->omissions);
}

/* Return: a text without zero bytes; NULL if it is not sound or if out of memory: then @in has failed. */
static char *get_text(struct input *in)
{
	size_t count = input_get_count(in);
	const u8 *data = input_get_bytes(in, count);
	char *text = data ? input_allocated(in, strndup((const char *)data, count)) : NULL;

	if (!text || strlen(text) != count)
		in->is_failed = true;
	return text;
}

static void get_directories(struct input *in, struct part_node *node)
{
	u64 count = input_get_count(in), i;

	node->directories = input_allocated(in, calloc(count + 1, sizeof(*node->directories)));
	for (i = 0; i < count && !in->is_failed; i++) {
		node->directories[i].path = get_text(in);
		node->directories[i].magic = input_get(in);
		node->directories[i].ino = input_get(in);
		node->directory_count++;
	}
}

static bool is_node_name(const char *name)
{
	return name && *name && *name != '.' && !strchr(name, '/') && strlen(name) <= PART_NAME_BYTES_MAX;
}

static void get_node(struct input *in, struct part_node *node)
{
	const u8 *capture;
	u64 names;

	node->name = get_text(in);
	node->boot = get_text(in);
	capture = input_get_bytes(in, sizeof(node->capture));
	if (capture)
		memcpy(node->capture, capture, sizeof(node->capture));
	node->begin_ns = input_get(in);
	names = input_get(in);
	node->names = (enum part_names)names;
	get_directories(in, node);
	if (names >= PART_NAMES_END || !is_node_name(node->name))
		in->is_failed = true;
}

static void get_omission(struct input *in, struct iot_omissions *omissions)
{
	struct iot_record record = { .kind = IOT_KIND_fact };
	char *text = get_text(in);

	if (!text || strlen(text) >= IOT_OMISSION_TEXT_BYTES || strncmp(text, "omission.", 9)) {
		in->is_failed = true;
	} else {
		record.tail = (const u8 *)text;
		record.tail_bytes = (u16)strlen(text);
		iot_omissions_take(omissions, &record);
	}
	free(text);
}

static void get_omissions(struct input *in, struct iot_omissions *omissions)
{
	u64 operations = input_get(in), bytes = input_get(in), count = input_get_count(in), i;

	for (i = 0; i < count && !in->is_failed; i++)
		get_omission(in, omissions);
	omissions->operations = operations;
	omissions->bytes = bytes;
}

static void get_nodes(struct input *in, struct part *part)
{
	u64 count = input_get_count(in), i;

	part->nodes = input_allocated(in, calloc(count + 1, sizeof(*part->nodes)));
	in->is_failed |= !count;
	for (i = 0; i < count && !in->is_failed; i++) {
		part->node_count++;
		get_node(in, &part->nodes[i]);
		if (i && !in->is_failed && strcmp(part->nodes[i - 1].name, part->nodes[i].name) >= 0)
			in->is_failed = true;
	}
}

/**
 * part_get() - read a part
 * @in: from where; nothing in it is trusted
 *
 * Return: to be freed by part_free(); NULL if it is not sound or if out of memory: then @in has failed.
 */
struct part *part_get(struct input *in)
{
	struct part *part = input_allocated(in, calloc(1, sizeof(*part)));

	if (!part)
		return NULL;
	part->version = get_text(in);
	part->shim = get_text(in);
	part->job = get_text(in);
	part->world = input_get(in);
	part->ranks = input_get(in);
	get_nodes(in, part);
	part->node_of = series_get(in);
	get_omissions(in, &part->omissions);
	if (!in->is_failed)
		return part;
	part_free(part);
	return NULL;
}
