// SPDX-License-Identifier: GPL-2.0-only
/*
 * shape.c - separate operations into shapes and operands, and put them together again.
 */
#include "shape.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->is_lost = true)
#include <uthash.h>

#include "sites.h"

/* @is_lost: there was no memory to add it. */
struct shape_entry {
	UT_hash_handle hh;
	u32 index;
	bool is_lost;
	struct shape shape;
	size_t count;
	u8 bytes[];
};

#define LATE_FIELDS 8 /* a flag of a shape, beside those of its operation: it has the fields of event_count_late_fields() */

/* -- from an event ------------------------------------------------------------------------------------- */

static void put_fields(struct bytes *bytes, const struct event *event, struct numbers *operands)
{
	const struct iot_field *fields[EVENT_FIELDS_MAX];
	u32 count = event_fields(event->kind, fields), i;

	if (!event_has_late_fields(event))
		count -= event_count_late_fields(event->kind);
	for (i = 0; i < event->field_count && i < count; i++) {
		bool is_error = fields[i]->class == IOT_CLASS_result && (s64)event->fields[i] < 0;
		bool is_operand = event_field_is_operand(fields[i]) && !is_error;

		bytes_put(bytes, is_operand);
		if (is_operand)
			numbers_add(operands, event->fields[i]);
		else
			bytes_put_signed(bytes, event->fields[i]);
	}
}

static void put_template(struct bytes *bytes, const char *text, struct widths *widths, struct numbers *operands)
{
	struct bytes template = {};

	template_split(widths, text, &template, operands);
	bytes_put(bytes, template.count);
	bytes_add(bytes, template.data, template.count);
	bytes->is_failed |= template.is_failed;
	bytes_free(&template);
}

/**
 * shape_put() - shape and operands of an event
 * @bytes: are appended to: the shape
 * @event: the event
 * @widths: of the numbers in names
 * @operands: are appended to
 */
void shape_put(struct bytes *bytes, const struct event *event, struct widths *widths, struct numbers *operands)
{
	u32 i, mask = 0;

	for (i = 0; i < EVENT_ROLES; i++)
		mask |= (u32)(event->roles[i] > 0) << i;
	bytes_put(bytes, event->kind);
	bytes_put(bytes, event->flags | (event_has_late_fields(event) ? LATE_FIELDS : 0));
	bytes_put(bytes, event->depth);
	bytes_put(bytes, mask);
	put_fields(bytes, event, operands);
	for (i = 0; i < EVENT_ROLES; i++)
		if (event->roles[i])
			numbers_add(operands, event->roles[i]);
	put_template(bytes, event->path, widths, operands);
	put_template(bytes, event->path2, widths, operands);
	bytes_put(bytes, event->value_bytes);
	bytes_add(bytes, event->value, event->value_bytes);
	bytes_put(bytes, event->list_count);
	for (i = 0; i < event->list_count; i++)
		numbers_add(operands, event->list[i]);
	if (!event->site_bytes)
		return;
	bytes_put(bytes, event->site_bytes);
	bytes_add(bytes, event->site, event->site_bytes);
}

/**
 * shape_put_renamed() - a shape with other templates
 * @bytes: are appended to
 * @raw, @count: bytes of the shape
 * @shape: that was read from them
 * @path, @path2: the templates
 */
void shape_put_renamed(struct bytes *bytes, const u8 *raw, size_t count, const struct shape *shape, const struct bytes *path,
		       const struct bytes *path2)
{
	const u8 *rest = shape->path2 + shape->path2_bytes;
	struct bytes length = {};

	bytes_put(&length, shape->path_bytes);
	bytes_add(bytes, raw, (size_t)(shape->path - raw) - length.count);
	bytes_put(bytes, path->count);
	bytes_add(bytes, path->data, path->count);
	bytes_put(bytes, path2->count);
	bytes_add(bytes, path2->data, path2->count);
	bytes_add(bytes, rest, count - (size_t)(rest - raw));
	bytes->is_failed |= length.is_failed || path->is_failed || path2->is_failed;
	bytes_free(&length);
}

/* -- from bytes ----------------------------------------------------------------------------------------- */

static bool get_template(struct input *in, const u8 **template, size_t *bytes)
{
	*bytes = input_get_count(in);
	*template = input_get_bytes(in, *bytes);
	return *template && template_is_sound(*template, *bytes);
}

static void get_fields(struct input *in, struct shape *shape)
{
	u32 count, i;

	shape->field_count = event_count_fields(shape->kind);
	count = shape->field_count - (shape->has_late_fields ? 0 : event_count_late_fields(shape->kind));
	for (i = 0; i < count; i++) {
		if (input_get(in))
			shape->operand_fields |= 1u << i;
		else
			shape->fields[i] = input_get_signed(in);
	}
}

/* Only shapes that need them have late fields. */
static bool late_fields_are_sound(const struct shape *shape)
{
	u32 late = event_count_late_fields(shape->kind), first = shape->field_count - late, i;
	u64 any = 0;

	for (i = first; i < shape->field_count; i++)
		any |= shape->fields[i];
	return !(shape->operand_fields >> first) && !any == !shape->has_late_fields;
}

/* What follows the rest of a shape: nothing, or a call site. Return: whether it is sound. */
static bool get_site(struct input *in, struct shape *shape)
{
	if (in->at == in->count)
		return true;
	shape->site_bytes = input_get_count(in);
	shape->site = input_get_bytes(in, shape->site_bytes);
	return shape->site_bytes && !in->is_failed && in->at == in->count && !site_flaw(shape->site, shape->site_bytes);
}

static bool is_event_kind(u64 kind)
{
	const struct iot_kind_info *info = kind < IOT_KIND_END ? iot_kind_info((u16)kind) : NULL;

	return info && (info->group == IOT_GROUP_op || info->group == IOT_GROUP_mpi);
}

/**
 * shape_get() - read a shape
 * @bytes, @count: nothing in them is trusted
 * @shape: out; points into @bytes
 *
 * Return: whether it is sound.
 */
bool shape_get(const u8 *bytes, size_t count, struct shape *shape)
{
	struct input in = { .data = bytes, .count = count };
	u64 kind = input_get(&in), flags = input_get(&in), depth = input_get(&in), roles = input_get(&in), list;

	*shape = (struct shape){ .kind = (u16)kind, .flags = flags & (LATE_FIELDS - 1), .depth = (u32)depth, .roles = (u32)roles,
				 .has_late_fields = flags & LATE_FIELDS };
	if (!is_event_kind(kind) || flags >= 2 * LATE_FIELDS || depth > UINT32_MAX || roles >= 1 << EVENT_ROLES)
		return false;
	get_fields(&in, shape);
	if (!late_fields_are_sound(shape) || !get_template(&in, &shape->path, &shape->path_bytes) ||
	    !get_template(&in, &shape->path2, &shape->path2_bytes))
		return false;
	shape->value_bytes = input_get_count(&in);
	shape->value = input_get_bytes(&in, shape->value_bytes);
	list = input_get(&in);
	if (in.is_failed || list > EVENT_LIST_MAX || !get_site(&in, shape))
		return false;
	shape->list_count = (u32)list;
	shape->operand_count = (u32)__builtin_popcount(shape->operand_fields) + (u32)__builtin_popcount(shape->roles) +
			       template_count_holes(shape->path, shape->path_bytes) +
			       template_count_holes(shape->path2, shape->path2_bytes) + shape->list_count;
	return true;
}

/**
 * shape_make_event() - an event from its shape and operands
 * @shape: sound
 * @operands: as many as it has
 * @texts: room for names, freed by bytes_free() after the last use; check their is_failed
 * @event: out; valid until the next call with these @texts, and as long as @operands
 */
void shape_make_event(const struct shape *shape, const u64 *operands, struct bytes texts[2], struct event *event)
{
	u32 i;

	event->kind = shape->kind;
	event->flags = shape->flags;
	event->depth = shape->depth;
	event->field_count = shape->field_count;
	for (i = 0; i < shape->field_count; i++)
		event->fields[i] = shape->operand_fields & 1u << i ? *operands++ : shape->fields[i];
	for (i = 0; i < EVENT_ROLES; i++)
		event->roles[i] = shape->roles & 1u << i ? *operands++ : 0;
	template_join(shape->path, shape->path_bytes, operands, &texts[0]);
	operands += template_count_holes(shape->path, shape->path_bytes);
	template_join(shape->path2, shape->path2_bytes, operands, &texts[1]);
	operands += template_count_holes(shape->path2, shape->path2_bytes);
	event->path = texts[0].is_failed ? "" : (const char *)texts[0].data;
	event->path2 = texts[1].is_failed ? "" : (const char *)texts[1].data;
	event->value = shape->value;
	event->value_bytes = (u32)shape->value_bytes;
	event->list_count = shape->list_count;
	event->list = operands;
	event->site = shape->site;
	event->site_bytes = (u32)shape->site_bytes;
}

/**
 * shape_operand_of_field() - which operand a field is
 *
 * Return: its index; -1 if it has one value.
 */
s64 shape_operand_of_field(const struct shape *shape, u32 field)
{
	if (!(shape->operand_fields & 1u << field))
		return -1;
	return __builtin_popcount(shape->operand_fields & ((1u << field) - 1));
}

/* -- sets of shapes --------------------------------------------------------------------------------------- */

static int grow(struct shapes *shapes)
{
	u32 room = shapes->room ? 2 * shapes->room : 64;
	struct shape_entry **entries = reallocarray(shapes->entries, room, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	shapes->entries = entries;
	shapes->room = room;
	return 0;
}

/**
 * shapes_add() - the number of a shape, which is added if it is new
 * @shapes: the set
 * @bytes, @count: the shape
 * @index: out: its number
 *
 * Return: 0, -EINVAL if it is not sound, or -ENOMEM.
 */
int shapes_add(struct shapes *shapes, const u8 *bytes, size_t count, u32 *index)
{
	struct shape_entry *entry;

	HASH_FIND(hh, shapes->table, bytes, count, entry);
	if (entry) {
		*index = entry->index;
		return 0;
	}
	if (shapes->count == shapes->room && grow(shapes))
		return -ENOMEM;
	entry = calloc(1, sizeof(*entry) + count);
	if (!entry)
		return -ENOMEM;
	memcpy(entry->bytes, bytes, count);
	entry->count = count;
	entry->index = shapes->count;
	if (!shape_get(entry->bytes, count, &entry->shape)) {
		free(entry);
		return -EINVAL;
	}
	HASH_ADD(hh, shapes->table, bytes, count, entry);
	if (entry->is_lost) {
		free(entry);
		return -ENOMEM;
	}
	shapes->entries[shapes->count++] = entry;
	*index = entry->index;
	return 0;
}

/**
 * shapes_at() - a shape by its number
 */
const struct shape *shapes_at(const struct shapes *shapes, u32 index)
{
	return &shapes->entries[index]->shape;
}

/**
 * shapes_bytes() - the bytes of a shape
 * @count: out
 */
const u8 *shapes_bytes(const struct shapes *shapes, u32 index, size_t *count)
{
	*count = shapes->entries[index]->count;
	return shapes->entries[index]->bytes;
}

/**
 * shapes_have_sites() - do operations of a set have call sites?
 */
bool shapes_have_sites(const struct shapes *shapes)
{
	u32 i;

	for (i = 0; i < shapes->count; i++)
		if (shapes->entries[i]->shape.site_bytes)
			return true;
	return false;
}

/**
 * shapes_have_more_roles() - do operations of a set have mappings or second handles?
 */
bool shapes_have_more_roles(const struct shapes *shapes)
{
	u32 i;

	for (i = 0; i < shapes->count; i++)
		if (shapes->entries[i]->shape.roles >> EVENT_FIRST_ROLES)
			return true;
	return false;
}

/**
 * shapes_have_late_fields() - do operations of a set have fields that patterns have had only since a later version?
 */
bool shapes_have_late_fields(const struct shapes *shapes)
{
	u32 i;

	for (i = 0; i < shapes->count; i++)
		if (shapes->entries[i]->shape.has_late_fields)
			return true;
	return false;
}

/**
 * shapes_free() - free all shapes of a set
 */
void shapes_free(struct shapes *shapes)
{
	u32 i;

	HASH_CLEAR(hh, shapes->table);
	for (i = 0; i < shapes->count; i++)
		free(shapes->entries[i]);
	free(shapes->entries);
	*shapes = (struct shapes){};
}
