// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern_file.c - patterns as files: Documentation/pattern-format.md. Nothing in a file is trusted.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "core/crc32c.h"
#include "state.h"

#define MAJOR		1
#define HEAD_BYTES	40
#define RAW_MAX_BYTES	(1u << 28)
#define OPERATIONS_MAX	(1ull << 40)
#define TASKS_MAX	(1u << 24)
#define COMPRESSION	19

enum feature { FEATURE_TIMES = 1, FEATURE_MADE = 2, FEATURE_SITES = 4, FEATURE_ROLES = 8, FEATURE_LATE = 16, FEATURE_PART = 32, FEATURES = 63 };

/* -- writing ------------------------------------------------------------------------------------------------- */

static void put_shapes(struct bytes *b, const struct shapes *shapes)
{
	const u8 *bytes;
	size_t count;
	u32 i;

	bytes_put(b, shapes->count);
	for (i = 0; i < shapes->count; i++) {
		bytes = shapes_bytes(shapes, i, &count);
		bytes_put(b, count);
		bytes_add(b, bytes, count);
	}
}

static void put_nodes(struct bytes *b, const struct nodes *nodes)
{
	u32 i, j;

	bytes_put(b, nodes->count);
	for (i = 0; i < nodes->count; i++) {
		const struct node *node = nodes_at(nodes, i);

		bytes_put(b, node->type);
		if (node->type == NODE_RUN) {
			bytes_put(b, node->shape);
			continue;
		}
		bytes_put(b, node->body_count);
		for (j = 0; j < node->body_count; j++)
			bytes_put(b, i - 1 - node->body[j]); /* a small number mostly */
	}
}

static void put_group(struct bytes *b, const struct pattern *pattern, const struct group *group)
{
	const struct node *root = nodes_at(&pattern->nodes, group->root);
	u32 i;

	bytes_put(b, group->root);
	series_put(b, group->positions);
	for (i = 0; i < root->columns; i++)
		column_put(b, &group->columns[i]);
	for (i = 0; pattern->has_times && i < root->runs; i++) {
		times_put(b, &group->times[i].think);
		times_put(b, &group->times[i].duration);
	}
}

static void put_part(struct bytes *b, const struct pattern *pattern)
{
	u32 i, run;

	part_put(b, pattern->part);
	for (i = 0; i < pattern->group_count; i++)
		for (run = 0; run < nodes_at(&pattern->nodes, pattern->groups[i].root)->runs; run++) {
			time_sums_put(b, &pattern->groups[i].sums[run].think);
			time_sums_put(b, &pattern->groups[i].sums[run].duration);
		}
}

static void put_pattern(struct bytes *b, const struct pattern *pattern)
{
	u32 i;

	bytes_add(b, pattern->capture, sizeof(pattern->capture));
	bytes_add(b, pattern->digest, sizeof(pattern->digest));
	bytes_put(b, pattern->operations);
	bytes_put(b, pattern->task_count);
	put_shapes(b, &pattern->shapes);
	put_nodes(b, &pattern->nodes);
	for (i = 0; i < TASK_FACT_COUNT; i++)
		series_put(b, pattern->facts[i]);
	bytes_put(b, pattern->group_count);
	for (i = 0; i < pattern->group_count; i++)
		put_group(b, pattern, &pattern->groups[i]);
	if (pattern->part)
		put_part(b, pattern);
}

static void put_head(u8 *head, u32 features, u64 raw_bytes, u64 stored_bytes, u32 crc)
{
	memcpy(head, PATTERN_MAGIC, 8);
	iot_put_u32(head + 8, MAJOR);
	iot_put_u32(head + 12, features);
	iot_put_u64(head + 16, raw_bytes);
	iot_put_u64(head + 24, stored_bytes);
	iot_put_u32(head + 32, crc);
	iot_put_u32(head + 36, iot_crc32c(0, head, 36));
}

static u32 features_of(const struct pattern *pattern)
{
	return (pattern->has_times ? FEATURE_TIMES : 0) | (pattern->is_made ? FEATURE_MADE : 0) |
	       (shapes_have_sites(&pattern->shapes) ? FEATURE_SITES : 0) |
	       (shapes_have_more_roles(&pattern->shapes) ? FEATURE_ROLES : 0) |
	       (shapes_have_late_fields(&pattern->shapes) ? FEATURE_LATE : 0) | (pattern->part ? FEATURE_PART : 0);
}

/**
 * pattern_image() - a pattern as the bytes of a file
 * @pattern: the pattern
 * @bytes: out: to be freed by the caller
 * @count: out: their number
 *
 * Return: 0, -EFBIG or -ENOMEM.
 */
int pattern_image(const struct pattern *pattern, void **bytes, size_t *count)
{
	struct bytes raw = {};
	size_t stored;
	u8 *image;

	put_pattern(&raw, pattern);
	if (raw.is_failed || raw.count > RAW_MAX_BYTES) {
		bytes_free(&raw);
		return raw.is_failed ? -ENOMEM : -EFBIG;
	}
	image = malloc(HEAD_BYTES + ZSTD_compressBound(raw.count));
	stored = image ? ZSTD_compress(image + HEAD_BYTES, ZSTD_compressBound(raw.count), raw.data, raw.count, COMPRESSION) :
			 0;
	if (!image || ZSTD_isError(stored)) {
		bytes_free(&raw);
		free(image);
		return -ENOMEM;
	}
	put_head(image, features_of(pattern), raw.count, stored, iot_crc32c(0, image + HEAD_BYTES, stored));
	bytes_free(&raw);
	*bytes = image;
	*count = HEAD_BYTES + stored;
	return 0;
}

/* -- reading ---------------------------------------------------------------------------------------------------- */

static bool get_shapes(struct input *in, struct shapes *shapes)
{
	u64 count = input_get_count(in), i;
	const u8 *bytes;
	size_t length;
	u32 index = 0;
	int err;

	for (i = 0; i < count; i++) {
		length = input_get_count(in);
		bytes = input_get_bytes(in, length);
		err = bytes ? shapes_add(shapes, bytes, length, &index) : -EINVAL;
		in->is_out_of_memory |= err == -ENOMEM;
		if (err || index != i)
			return false;
	}
	return !in->is_failed;
}

static bool get_node(struct input *in, struct pattern *p)
{
	u64 type = input_get(in), count = 1, i;
	u32 *body, index = 0, next = p->nodes.count;
	int err = -EINVAL;

	if (type >= NODE_TYPES)
		return false;
	if (type != NODE_RUN)
		count = input_get_count(in);
	body = input_allocated(in, calloc(count + 1, sizeof(*body)));
	if (!body)
		return false;
	for (i = 0; i < count; i++) {
		u64 number = input_get(in);

		if (type != NODE_RUN && number >= next)
			in->is_failed = true;
		body[i] = type == NODE_RUN ? (u32)number : next - 1 - (u32)number;
		in->is_failed |= number > UINT32_MAX;
	}
	if (!in->is_failed)
		err = nodes_add(&p->nodes, &p->shapes, (enum node_type)type, body, (u32)count, &index);
	in->is_out_of_memory |= err == -ENOMEM;
	free(body);
	return !err && index == next;
}

static bool get_nodes(struct input *in, struct pattern *p)
{
	u64 count = input_get_count(in), i;

	for (i = 0; i < count; i++)
		if (!get_node(in, p))
			return false;
	return !in->is_failed;
}

static bool get_times(struct input *in, struct group *group, u32 runs)
{
	u32 i;

	if (runs > in->count - in->at)
		return false;
	group->times = input_allocated(in, calloc(runs + 1, sizeof(*group->times)));
	if (!group->times)
		return false;
	for (i = 0; i < runs; i++)
		if (!times_get(in, &group->times[i].think) || !times_get(in, &group->times[i].duration))
			return false;
	return true;
}

static bool get_group(struct input *in, struct pattern *p, struct group *group)
{
	u64 root = input_get(in);
	const struct node *node;
	u32 i;

	if (root >= p->nodes.count || nodes_at(&p->nodes, (u32)root)->type != NODE_LIST)
		return false;
	node = nodes_at(&p->nodes, (u32)root);
	group->root = (u32)root;
	group->positions = series_get(in);
	if (!group->positions || !group->positions->count || group->positions->count > p->task_count ||
	    node->columns > in->count - in->at)
		return false;
	group->task_count = group->positions->count;
	group->columns = input_allocated(in, calloc(node->columns + 1, sizeof(*group->columns)));
	if (!group->columns)
		return false;
	for (i = 0; i < node->columns; i++)
		if (!column_get(in, group->task_count, &group->columns[i]))
			return false;
	return !p->has_times || get_times(in, group, node->runs);
}

static bool get_groups(struct input *in, struct pattern *p)
{
	u64 count = input_get_count(in), tasks = 0, i;

	p->groups = input_allocated(in, calloc(count + 1, sizeof(*p->groups)));
	if (!p->groups)
		return false;
	for (i = 0; i < count; i++) {
		p->group_count++;
		if (!get_group(in, p, &p->groups[i]))
			return false;
		tasks += p->groups[i].task_count;
	}
	return tasks == p->task_count && !in->is_failed;
}

static bool get_sums(struct input *in, struct group *group, u32 runs)
{
	u32 run;

	group->sums = input_allocated(in, calloc(runs + 1ul, sizeof(*group->sums)));
	for (run = 0; group->sums && run < runs; run++) {
		time_sums_get(in, &group->sums[run].think);
		time_sums_get(in, &group->sums[run].duration);
		if (in->is_failed || !time_sums_fit(&group->sums[run].think, &group->times[run].think) ||
		    !time_sums_fit(&group->sums[run].duration, &group->times[run].duration))
			return false;
	}
	return group->sums;
}

/* A part of a job has times, was not extrapolated or changed, and says of each task which node it is of. */
static bool get_part(struct input *in, struct pattern *p)
{
	u32 i;

	p->part = part_get(in);
	if (!p->part || !p->has_times || p->is_made || p->part->node_of->count != p->task_count)
		return false;
	for (i = 0; i < p->group_count; i++)
		if (!get_sums(in, &p->groups[i], nodes_at(&p->nodes, p->groups[i].root)->runs))
			return false;
	return true;
}

static bool get_pattern(struct input *in, struct pattern *p, bool is_part)
{
	const u8 *capture = input_get_bytes(in, sizeof(p->capture)), *digest = input_get_bytes(in, sizeof(p->digest));
	u32 i;

	if (!capture || !digest)
		return false;
	memcpy(p->capture, capture, sizeof(p->capture));
	memcpy(p->digest, digest, sizeof(p->digest));
	p->operations = input_get(in);
	p->task_count = input_get(in);
	if (p->operations > OPERATIONS_MAX || p->task_count > TASKS_MAX || !get_shapes(in, &p->shapes) || !get_nodes(in, p))
		return false;
	for (i = 0; i < TASK_FACT_COUNT; i++) {
		p->facts[i] = series_get(in);
		if (!p->facts[i] || p->facts[i]->count != p->task_count)
			return false;
	}
	return get_groups(in, p) && (!is_part || get_part(in, p)) && in->at == in->count;
}

/* Return: a reason to refuse it, 0 if there is none. */
static u32 check_head(const u8 *head, size_t count)
{
	if (count < 8 || memcmp(head, PATTERN_MAGIC, 8))
		return IOT_REJECT_pattern_magic;
	if (count < HEAD_BYTES)
		return IOT_REJECT_pattern_short;
	if (iot_get_u32(head + 36) != iot_crc32c(0, head, 36))
		return IOT_REJECT_pattern_head;
	if (iot_get_u32(head + 8) != MAJOR)
		return IOT_REJECT_pattern_major;
	if (iot_get_u32(head + 12) & ~(u32)FEATURES)
		return IOT_REJECT_pattern_feature;
	if (iot_get_u64(head + 24) != count - HEAD_BYTES)
		return IOT_REJECT_pattern_short;
	if (iot_get_u64(head + 16) > RAW_MAX_BYTES)
		return IOT_REJECT_pattern_head;
	return iot_crc32c(0, head + HEAD_BYTES, count - HEAD_BYTES) == iot_get_u32(head + 32) ? 0 : IOT_REJECT_pattern_crc;
}

/**
 * pattern_load_bytes() - a pattern from the bytes of a file
 * @bytes, @count: of the file
 * @pattern: out: to be freed by pattern_free()
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int pattern_load_bytes(const void *bytes, size_t count, struct pattern **pattern, struct iot_reject *reject)
{
	u32 reason = check_head(bytes, count);
	struct pattern *p;
	struct input in = {};
	size_t unpacked;
	u8 *raw;

	if (reason)
		return iot_refuse(reject, reason, 0);
	in.count = iot_get_u64((const u8 *)bytes + 16);
	raw = malloc(in.count + 1);
	p = calloc(1, sizeof(*p));
	if (!raw || !p) {
		free(raw);
		free(p);
		return iot_refuse(reject, IOT_REJECT_memory, 0);
	}
	in.data = raw;
	p->has_times = iot_get_u32((const u8 *)bytes + 12) & FEATURE_TIMES;
	p->is_made = iot_get_u32((const u8 *)bytes + 12) & FEATURE_MADE;
	unpacked = ZSTD_decompress(raw, in.count, (const u8 *)bytes + HEAD_BYTES, count - HEAD_BYTES);
	in.is_out_of_memory = ZSTD_isError(unpacked) && ZSTD_getErrorCode(unpacked) == ZSTD_error_memory_allocation;
	if (unpacked != in.count || !get_pattern(&in, p, iot_get_u32((const u8 *)bytes + 12) & FEATURE_PART) || features_of(p) != iot_get_u32((const u8 *)bytes + 12)) {
		pattern_free(p);
		free(raw);
		return in.is_out_of_memory ? iot_refuse(reject, IOT_REJECT_memory, 0) : iot_refuse(reject, IOT_REJECT_pattern_data, HEAD_BYTES);
	}
	free(raw);
	*pattern = p;
	return 0;
}

/**
 * pattern_load() - a pattern from a file
 * @path: of the file
 * @pattern: out: to be freed by pattern_free()
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int pattern_load(const char *path, struct pattern **pattern, struct iot_reject *reject)
{
	FILE *in = fopen(path, "re");
	struct bytes bytes = {};
	u8 block[65536];
	size_t count;
	int err;

	*reject = (struct iot_reject){};
	if (!in)
		return -errno;
	while ((count = fread(block, 1, sizeof(block), in)) && !bytes.is_failed && bytes.count <= RAW_MAX_BYTES)
		bytes_add(&bytes, block, count);
	if (ferror(in))
		err = iot_refuse(reject, IOT_REJECT_io, 0);
	else if (bytes.is_failed)
		err = iot_refuse(reject, IOT_REJECT_memory, 0);
	else
		err = pattern_load_bytes(bytes.data ? bytes.data : (u8 *)"", bytes.count, pattern, reject);
	fclose(in);
	bytes_free(&bytes);
	return err;
}
