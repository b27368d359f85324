// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_world.c - ids of names, objects and handles for the paths and roles of a pattern.
 */
#include "trace.h"

#include <stdio.h>
#include <sys/stat.h>

/* -- paths -------------------------------------------------------------------------------------------------- */

/* Return: NULL if out of memory. */
static struct place *place_at(struct synthesis *s, const char *path)
{
	struct place *place;

	HASH_FIND_STR(s->places, path, place);
	if (place)
		return place;
	place = calloc(1, sizeof(*place) + strlen(path) + 1);
	if (!place)
		return NULL;
	strcpy(place->path, path);
	place->type = strcmp(path, ".") ? IOT_TYPE_file : IOT_TYPE_dir;
	HASH_ADD_STR(s->places, path, place);
	return place;
}

/* An object by path and generation. Return: NULL if out of memory. */
static struct life *life_at(struct synthesis *s, struct place *place, u64 generation)
{
	struct life_key key = { place, generation };
	struct life *life;

	if (!place)
		return NULL;
	HASH_FIND(hh, s->lives, &key, sizeof(key), life);
	if (life)
		return life;
	life = calloc(1, sizeof(*life));
	if (!life)
		return NULL;
	life->key = key;
	HASH_ADD(hh, s->lives, key, sizeof(life->key), life);
	return life;
}

/* The object of an operation, which is mostly that of the one before. Return: NULL if out of memory. */
static struct life *life_of(struct synthesis *s, struct player *player)
{
	const struct event *event = &player->event;
	struct life *life = player->life;

	if (!life || life->key.generation != event->roles[EVENT_GENERATION] || strcmp(life->key.place->path, event->path))
		player->life = life_at(s, place_at(s, event->path), event->roles[EVENT_GENERATION]);
	return player->life;
}

static struct place *parent_of(struct synthesis *s, const char *path)
{
	char dir[IOT_PROGRAM_PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!strcmp(path, "."))
		return NULL;
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return place_at(s, dir);
}

static bool has_name(u16 kind)
{
	const struct iot_kind_info *info = iot_kind_info(kind);
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (info->fields[i].class == IOT_CLASS_name)
			return true;
	return false;
}

static bool creates(const struct event *event)
{
	if ((s64)event->fields[0] < 0)
		return false;
	switch (event->kind) {
	case IOT_KIND_open:
		return trace_field(event, "flags") & IOT_OPEN_created || trace_field(event, "mode");
	case IOT_KIND_mkdir:
	case IOT_KIND_mknod:
	case IOT_KIND_symlink:
		return true;
	default:
		return false;
	}
}

static bool removes(const struct event *event)
{
	return !event->fields[0] &&
	       (event->kind == IOT_KIND_unlink || event->kind == IOT_KIND_rmdir || event->kind == IOT_KIND_rename);
}

static bool is_by_name(const struct event *event)
{
	return *event->path && !event->roles[EVENT_MAP] && (!event->roles[EVENT_HANDLE] || event->kind == IOT_KIND_open);
}

/* Operations on a name are before its removal, and those that do not find it before its creation. */
static void count_use(struct life *life, const struct event *event, u64 change)
{
	if ((s64)event->fields[0] >= 0 && !removes(event))
		life->uses += change;
	if ((s64)event->fields[0] == -ENOENT)
		life->absences += change;
}

/* -- before the run -------------------------------------------------------------------------------------------- */

static u32 type_by(const struct event *event)
{
	switch (event->kind) {
	case IOT_KIND_mkdir:
	case IOT_KIND_rmdir:
	case IOT_KIND_readdir:
		return IOT_TYPE_dir;
	case IOT_KIND_symlink:
	case IOT_KIND_readlink:
	case IOT_KIND_follow:
		return IOT_TYPE_symlink;
	case IOT_KIND_open:
		return trace_field(event, "flags") & IOT_OPEN_directory ? IOT_TYPE_dir : IOT_TYPE_unknown;
	default:
		return IOT_TYPE_unknown;
	}
}

#define PAGE_BYTES 4096

static void learn_size(struct life *life, const struct event *event)
{
	u64 result = event->fields[0], end;

	if (event->kind == IOT_KIND_read && (s64)result > 0) {
		end = trace_field(event, "offset_bytes") + result;
		if (end > life->size_bytes)
			life->size_bytes = end;
	} else if (event->kind == IOT_KIND_touch && !(s64)result) {
		end = trace_field(event, "offset_bytes") + trace_field(event, "length_bytes");
		end -= end < PAGE_BYTES ? 0 : PAGE_BYTES - 1; /* the last page has a byte at least */
		if (end > life->size_bytes)
			life->size_bytes = end;
	} else if (event->kind == IOT_KIND_write) {
		life->is_written = true;
		life->writes++;
	} else if (event->kind == IOT_KIND_setattr || event->kind == IOT_KIND_fallocate) {
		life->is_sized = true;
	} else if (event->kind == IOT_KIND_stat && !life->is_written && !life->has_size && !(s64)result) {
		life->has_size = true;
		if (trace_field(event, "size_bytes") > life->size_bytes)
			life->size_bytes = trace_field(event, "size_bytes");
	}
}

static const char *problem_of(const struct event *event)
{
	switch (event->kind) {
	case IOT_KIND_map:
		if (!event->roles[EVENT_HANDLE])
			return "a fork has copied its mapping";
		return event->roles[EVENT_MAP] ? NULL : "the pattern does not contain its mapping";
	case IOT_KIND_unmap:
	case IOT_KIND_touch:
		return event->roles[EVENT_MAP] ? NULL : "the pattern does not contain its mapping";
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		return event->roles[EVENT_TO_HANDLE] ? NULL : "the pattern does not contain its second file";
	case IOT_KIND_open:
		if ((s64)event->fields[0] >= 0 && !event->roles[EVENT_HANDLE])
			return "the file was open when the recording began";
		if (trace_field(event, "flags") & IOT_OPEN_tmpfile)
			return "its file has no name";
		return NULL;
	default:
		return NULL;
	}
}

/* PATH#GENERATION: a name that a look-up found. */
static int learn_found(struct synthesis *s, const char *text)
{
	const char *mark = strrchr(text, '#');
	char path[IOT_PROGRAM_PATH_MAX];
	struct life *life;

	if (!mark || (size_t)(mark - text) >= sizeof(path))
		return 0;
	snprintf(path, sizeof(path), "%.*s", (int)(mark - text), text);
	life = life_at(s, place_at(s, path), strtoull(mark + 1, NULL, 10));
	if (!life)
		return -ENOMEM;
	life->is_found = true;
	return 0;
}

static u64 *role_of(struct player *player, u64 role)
{
	while (player->handles.count < role && !player->handles.is_failed)
		numbers_add(&player->handles, 0);
	return player->handles.is_failed ? NULL : &player->handles.values[role - 1];
}

static struct opener *opener_of(const struct synthesis *s, const struct player *player, struct life *life)
{
	struct opener_key key = { life, player->facts[TASK_FACT_process] };
	struct opener *opener;

	HASH_FIND(hh, s->openers, &key, sizeof(key), opener);
	return opener;
}

static int learn_opener(struct synthesis *s, const struct player *player, struct life *life)
{
	struct opener *opener = opener_of(s, player, life);

	if (opener)
		return 0;
	opener = calloc(1, sizeof(*opener));
	if (!opener)
		return -ENOMEM;
	opener->key = (struct opener_key){ life, player->facts[TASK_FACT_process] };
	HASH_ADD(hh, s->openers, key, sizeof(opener->key), opener);
	return 0;
}

/* A handle that another task opened must not be released before. */
static int learn_handle(struct synthesis *s, struct player *player, struct life *life, const struct event *event)
{
	u64 *role = role_of(player, event->roles[EVENT_HANDLE]);

	if (!role)
		return -ENOMEM;
	if (event->kind == IOT_KIND_open) {
		*role = 1;
		return learn_opener(s, player, life);
	}
	if (event->kind == IOT_KIND_release)
		*role = 0;
	else if (!*role)
		life->borrowed++;
	return 0;
}

/* Entry of a role in a table of a task. Return: NULL if out of memory. */
static u64 *map_role_of(struct numbers *table, u64 role)
{
	while (table->count < role && !table->is_failed)
		numbers_add(table, 0);
	return table->is_failed ? NULL : &table->values[role - 1];
}

/* A mapping that another task made must not be removed before. */
static int learn_map(struct player *player, struct life *life, const struct event *event)
{
	u64 *role = map_role_of(&player->maps, event->roles[EVENT_MAP]);

	if (!role)
		return -ENOMEM;
	if (event->kind == IOT_KIND_map)
		*role = 1;
	else if (!*role)
		life->borrowed_maps++;
	return 0;
}

/**
 * world_learn() - note the information of an operation about the objects of all tasks
 * @s: the synthesis
 * @player: its task; until it runs, its handles are 1 if it opened them; NULL for names that look-ups found
 * @event: the operation
 *
 * Return: 0, -EOPNOTSUPP if it cannot be part of a trace, -ENOMEM.
 */
int world_learn(struct synthesis *s, struct player *player, const struct event *event)
{
	const char *problem = problem_of(event);
	struct place *place, *parent, *target;
	struct life *life;
	u32 type;

	if (problem)
		return trace_refuse(s, NULL, event, problem);
	s->is_copied |= event->kind == IOT_KIND_copy_range || event->kind == IOT_KIND_remap_range;
	if (iot_kind_info(event->kind)->group != IOT_GROUP_op || !*event->path)
		return 0;
	if (event->kind == IOT_KIND_lookup && !(s64)event->fields[0])
		return learn_found(s, event->path);
	place = place_at(s, event->path);
	parent = parent_of(s, event->path);
	life = life_at(s, place, event->roles[EVENT_GENERATION]);
	if (!place || (!parent && strcmp(event->path, ".")) || !life)
		return -ENOMEM;
	if (parent)
		parent->type = IOT_TYPE_dir;
	type = type_by(event);
	if (type != IOT_TYPE_unknown && (s64)event->fields[0] >= 0)
		place->type = type;
	life->is_created |= creates(event);
	learn_size(life, event);
	if (is_by_name(event))
		count_use(life, event, 1);
	if (player && event->roles[EVENT_MAP] && learn_map(player, life, event))
		return -ENOMEM;
	if (player && event->roles[EVENT_HANDLE] && learn_handle(s, player, life, event))
		return -ENOMEM;
	if ((event->kind == IOT_KIND_rename || event->kind == IOT_KIND_link) && !(s64)event->fields[0]) {
		target = place_at(s, event->path2);
		if (!target)
			return -ENOMEM;
		target->is_target = true;
	}
	return 0;
}

/* -- names and objects -------------------------------------------------------------------------------------------- */

static int put(struct synthesis *s, struct iot_record *record, const char *tail)
{
	record->fact.time_ns = s->last_ns;
	record->tail = (const u8 *)tail;
	record->tail_bytes = (u16)(tail ? strlen(tail) : 0);
	return trace_put(s, record);
}

static int have_object(struct synthesis *s, struct player *player, struct place *place, const struct event *event);

/* The name of a path, in a directory that exists. */
static int have_name(struct synthesis *s, struct player *player, struct place *place)
{
	struct place *parent = parent_of(s, place->path);
	struct iot_record record = { .kind = IOT_KIND_name };
	const char *component = strrchr(place->path, '/');
	int err = parent && !parent->object ? have_object(s, player, parent, NULL) : 0;

	if (err || (place->name && (!parent || place->dir == parent->object)))
		return err;
	component = !parent ? "" : component ? component + 1 : place->path;
	place->dir = parent ? parent->object : 0;
	place->name = s->next_id++;
	record.name.name = place->name;
	record.name.dir = place->dir;
	return put(s, &record, component);
}

static u32 mode_of(u32 type, const struct event *event)
{
	u32 mode = event && creates(event) && event->kind != IOT_KIND_symlink ? (u32)trace_field(event, "mode") & 07777 : 0;

	switch (type) {
	case IOT_TYPE_dir:
		return S_IFDIR | (mode ? mode : 0755);
	case IOT_TYPE_symlink:
		return S_IFLNK | 0777;
	default:
		return S_IFREG | (mode ? mode : 0644);
	}
}

static int put_lookup(struct synthesis *s, struct player *player, struct place *place)
{
	struct iot_record record = { .kind = IOT_KIND_lookup };
	struct life *life = life_at(s, place, place->generation);

	if (!life || !life->is_found)
		return life ? 0 : -ENOMEM;
	life->is_found = false;
	record.lookup.name = place->name;
	record.lookup.object = place->object;
	/* Not before the operation that it belongs to, which may have waited until another task had created the file. */
	record.op.enter_ns = player->has_event ? player->next_ns : player->now_ns;
	return trace_put_op(s, player, &record, player->has_event ? player->event.depth : 0);
}

/* The next object of a path: it exists, or the operation creates it. */
static int have_object(struct synthesis *s, struct player *player, struct place *place, const struct event *event)
{
	struct iot_record record = { .kind = IOT_KIND_object };
	bool is_new = event && creates(event);
	struct life *life;
	int err = have_name(s, player, place);

	if (err)
		return err;
	life = life_at(s, place, ++place->generation);
	if (!life)
		return -ENOMEM;
	place->object = s->next_id++;
	record.object.object = place->object;
	record.object.name = place->name;
	record.object.type = place->type;
	record.object.mode = mode_of(place->type, event);
	record.object.nlink = 1;
	record.object.ino = place->object;
	record.object.size_bytes = is_new || place->type != IOT_TYPE_file ? 0 : life->size_bytes;
	err = put(s, &record, place->type == IOT_TYPE_symlink && event ? event->path2 : NULL);
	return err || is_new ? err : put_lookup(s, player, place);
}

/* -- handles -------------------------------------------------------------------------------------------------------- */

static struct open_handle *handle_at(struct synthesis *s, u64 id)
{
	struct open_handle *handle;

	HASH_FIND(hh, s->handles, &id, sizeof(id), handle);
	return handle;
}

/* Of another task: the youngest of this file, that of the own process if that opens the file. */
static struct open_handle *find_shared(struct synthesis *s, struct player *player)
{
	const struct event *event = &player->event;
	u64 process = player->facts[TASK_FACT_process];
	struct open_handle *handle, *found = NULL;
	struct life *life = life_of(s, player);
	bool is_own = life && opener_of(s, player, life);

	for (handle = s->handles; handle; handle = (struct open_handle *)handle->hh.next)
		if (!handle->is_released && handle->generation == event->roles[EVENT_GENERATION] &&
		    (!is_own || handle->process == process) && !strcmp(handle->place->path, event->path))
			found = handle;
	return found;
}

static struct open_handle *handle_of(struct synthesis *s, struct player *player, const struct event *event)
{
	u64 *role = role_of(player, event->roles[EVENT_HANDLE]);
	struct open_handle *handle;

	if (!role)
		return NULL;
	if (*role)
		return handle_at(s, *role);
	handle = find_shared(s, player);
	if (handle)
		*role = handle->id;
	return handle;
}

static int open_handle(struct synthesis *s, struct player *player, struct place *place)
{
	u64 *role = role_of(player, player->event.roles[EVENT_HANDLE]);
	struct open_handle *handle = role ? calloc(1, sizeof(*handle)) : NULL;

	if (!handle)
		return -ENOMEM;
	handle->id = s->next_id++;
	handle->object = place->object;
	handle->generation = place->generation;
	handle->place = place;
	handle->task = player->id;
	handle->process = player->facts[TASK_FACT_process];
	handle->opened_ns = s->end_ns;
	HASH_ADD(hh, s->handles, id, sizeof(handle->id), handle);
	*role = handle->id;
	return 0;
}

/* -- mappings ----------------------------------------------------------------------------------------------------- */

/* The mapping of a role: the own one, or the youngest of the process that has the range. Return: NULL if there is none yet. */
static struct mapping *mapping_of(struct synthesis *s, struct player *player)
{
	u64 role = player->event.roles[EVENT_MAP], process = player->facts[TASK_FACT_process];
	u64 begin = trace_field(&player->event, "offset_bytes"), end = begin + trace_field(&player->event, "length_bytes");
	struct life *life = life_of(s, player);
	struct mapping *mapping, *found = NULL;

	if (player->maps.count >= role && player->maps.values[role - 1]) {
		HASH_FIND(hh, s->mappings, &player->maps.values[role - 1], sizeof(u64), mapping);
		return mapping;
	}
	for (mapping = s->mappings; mapping; mapping = (struct mapping *)mapping->hh.next)
		if (mapping->process == process && mapping->life == life && mapping->left_bytes > 0 && mapping->begin_bytes <= begin &&
		    mapping->end_bytes >= end)
			found = mapping;
	return found;
}

static struct mapping *add_mapping(struct synthesis *s, struct player *player, u64 object)
{
	struct mapping *mapping = calloc(1, sizeof(*mapping));

	if (!mapping)
		return NULL;
	mapping->id = s->next_id++;
	mapping->task = player->id;
	mapping->process = player->facts[TASK_FACT_process];
	mapping->begin_bytes = trace_field(&player->event, "offset_bytes");
	mapping->left_bytes = (s64)player->event.fields[0] ? 0 : (s64)trace_field(&player->event, "length_bytes");
	mapping->end_bytes = mapping->begin_bytes + (u64)mapping->left_bytes;
	mapping->mapped_ns = s->end_ns;
	mapping->object = object;
	mapping->life = life_of(s, player);
	HASH_ADD(hh, s->mappings, id, sizeof(mapping->id), mapping);
	return mapping;
}

/* The role of a mapping is free as soon as the task has removed as many bytes as it has mapped, see calls.c. */
static int fill_mapping(struct synthesis *s, struct player *player, struct iot_record *record, struct mapping *mapping)
{
	const struct event *event = &player->event;
	u64 *role = map_role_of(&player->maps, event->roles[EVENT_MAP]);
	u64 *bytes = map_role_of(&player->mapped_bytes, event->roles[EVENT_MAP]);

	if (!role || !bytes)
		return -ENOMEM;
	if (!mapping)
		return trace_refuse(s, player, event, "no operation of its process makes its mapping");
	*role = mapping->id;
	if (mapping->task != player->id && mapping->life->borrowed_maps)
		mapping->life->borrowed_maps--;
	trace_set(record, "object", mapping->object);
	trace_set(record, "map", mapping->id);
	if (record->kind == IOT_KIND_map)
		*bytes += (s64)event->fields[0] ? 0 : trace_field(event, "length_bytes");
	if (record->kind != IOT_KIND_unmap)
		return 0;
	mapping->left_bytes -= (s64)trace_field(event, "length_bytes");
	*bytes -= trace_field(event, "length_bytes");
	if ((s64)*bytes <= 0)
		*role = *bytes = 0;
	return 0;
}

/* A mapping that other tasks of the process still use is not removed. */
static bool map_is_ready(struct synthesis *s, struct player *player)
{
	const struct mapping *mapping = mapping_of(s, player);

	return mapping && (player->event.kind != IOT_KIND_unmap || mapping->task != player->id || !mapping->life->borrowed_maps);
}

/* The file that an operation copies to, by its handle. */
static int fill_target(struct synthesis *s, struct player *player, struct iot_record *record)
{
	u64 *role = role_of(player, player->event.roles[EVENT_TO_HANDLE]);
	const struct open_handle *handle;

	if (!role)
		return -ENOMEM;
	handle = *role ? handle_at(s, *role) : NULL;
	if (!handle)
		return trace_refuse(s, player, &player->event, "no operation of the task opens its second file");
	trace_set(record, "to_object", handle->object);
	trace_set(record, "to_handle", handle->id);
	return 0;
}

/* -- operations -------------------------------------------------------------------------------------------------------- */

static bool handle_is_ready(struct synthesis *s, struct player *player, u64 role)
{
	const struct event *event = &player->event;
	const struct life *life;

	if (player->handles.count < role || !player->handles.values[role - 1])
		return find_shared(s, player);
	if (event->kind != IOT_KIND_release)
		return true;
	life = life_of(s, player);
	return !life || !life->borrowed;
}

/* A file that is created has the data that have been written: those of other tasks, too, such as threads of an MPI library. */
static bool has_data(struct synthesis *s, struct player *player)
{
	const struct event *event = &player->event;
	const struct life *life;

	if (event->kind != IOT_KIND_read || (s64)event->fields[0] <= 0)
		return true;
	life = life_of(s, player);
	return !life || !life->is_created || life->is_sized || s->is_copied || !life->writes ||
	       trace_field(event, "offset_bytes") + event->fields[0] <= life->written_bytes;
}

static void count_write(struct life *life, const struct event *event)
{
	u64 end = trace_field(event, "offset_bytes") + event->fields[0];

	if (!life || event->kind != IOT_KIND_write)
		return;
	life->writes--;
	if ((s64)event->fields[0] > 0 && end > life->written_bytes)
		life->written_bytes = end;
}

/* Do the directories of a path exist, those that another task creates? */
static bool has_parents(struct synthesis *s, const char *path)
{
	struct place *dir = parent_of(s, path);
	struct life *life;

	for (; dir; dir = parent_of(s, dir->path)) {
		if (dir->object)
			continue;
		life = life_at(s, dir, dir->generation + 1);
		if (dir->is_target || (life && life->is_created))
			return false;
	}
	return true;
}

/**
 * world_is_ready() - do all names that the next operation of a task needs exist?
 */
bool world_is_ready(struct synthesis *s, struct player *player)
{
	const struct event *event = &player->event;
	u64 generation = event->roles[EVENT_GENERATION], role = event->roles[EVENT_HANDLE];
	struct place *place;
	struct life *life;

	if (iot_kind_info(event->kind)->group != IOT_GROUP_op)
		return true;
	if (is_by_name(event) && (s64)event->fields[0] >= 0 && !has_parents(s, event->path))
		return false;
	if (!generation && !role)
		return true;
	if (event->roles[EVENT_MAP] && event->kind != IOT_KIND_map)
		return map_is_ready(s, player);
	if (role && event->kind != IOT_KIND_open)
		return handle_is_ready(s, player, role) && has_data(s, player);
	place = place_at(s, event->path);
	life = life_at(s, place, generation - (creates(event) && generation));
	if (!place || !life)
		return true;
	if (creates(event) && place->generation < generation)
		return !life->absences;
	if (place->generation >= generation || creates(event))
		return !removes(event) || !life->uses;
	return !(life->is_created || place->is_target);
}

/**
 * world_since_ns() - when the handle or mapping of another task was made that the next operation of a task uses first
 *
 * Return: 0 if it uses none.
 */
u64 world_since_ns(struct synthesis *s, struct player *player)
{
	const struct event *event = &player->event;
	const struct open_handle *handle;
	const struct mapping *mapping;
	u64 role = event->roles[EVENT_HANDLE];

	if (event->roles[EVENT_MAP] && event->kind != IOT_KIND_map) {
		mapping = mapping_of(s, player);
		return mapping && (player->maps.count < event->roles[EVENT_MAP] || !player->maps.values[event->roles[EVENT_MAP] - 1]) ?
			       mapping->mapped_ns : 0;
	}
	if (!role || event->kind == IOT_KIND_open || iot_kind_info(event->kind)->group != IOT_GROUP_op ||
	    (player->handles.count >= role && player->handles.values[role - 1]))
		return 0;
	handle = find_shared(s, player);
	return handle ? handle->opened_ns : 0;
}

static int after_name_op(struct synthesis *s, struct player *player, struct place *place, struct iot_record *record)
{
	struct place *target;
	int err;

	switch (record->kind) {
	case IOT_KIND_unlink:
	case IOT_KIND_rmdir:
		place->object = 0;
		return 0;
	case IOT_KIND_rename:
	case IOT_KIND_link:
		if (place->type == IOT_TYPE_dir)
			return trace_refuse(s, player, &player->event, "renamed directories are not supported");
		target = place_at(s, player->event.path2);
		err = target ? have_name(s, player, target) : -ENOMEM;
		if (err)
			return err;
		if (record->kind == IOT_KIND_rename) {
			record->rename.new_name = target->name;
			record->rename.replaced = target->object;
		} else {
			record->link.old_name = place->name;
			record->link.name = target->name;
		}
		if (target->object != place->object)
			target->generation++;
		target->object = place->object;
		target->type = place->type;
		if (record->kind == IOT_KIND_rename)
			place->object = 0;
		return 0;
	default:
		return 0;
	}
}

/* An operation by name. */
static int fill_name(struct synthesis *s, struct player *player, struct iot_record *record)
{
	const struct event *event = &player->event;
	struct life *life = life_of(s, player);
	struct place *place = life ? life->key.place : NULL;
	bool is_done = record->op.result >= 0;
	int err;

	if (!life)
		return -ENOMEM;
	count_use(life, event, (u64)-1);
	if (place->generation < event->roles[EVENT_GENERATION])
		err = have_object(s, player, place, event);
	else
		err = have_name(s, player, place);
	if (!err && is_done && place->object && !creates(event))
		err = put_lookup(s, player, place);
	if (err)
		return err;
	if (has_name(record->kind))
		trace_set(record, "name", place->name);
	if (is_done)
		trace_set(record, "object", place->object);
	if (is_done && record->kind == IOT_KIND_open) {
		err = open_handle(s, player, place);
		if (!err)
			record->open.handle = *role_of(player, event->roles[EVENT_HANDLE]);
	}
	return err || !is_done ? err : after_name_op(s, player, place, record);
}

/**
 * world_fill() - set the ids of an operation, announcing them before
 * @s: the synthesis
 * @player: its task
 * @record: of its event, which is of the group op
 *
 * Return: 0, -EOPNOTSUPP if it is refused, or another negative errno.
 */
int world_fill(struct synthesis *s, struct player *player, struct iot_record *record)
{
	const struct event *event = &player->event;
	struct open_handle *handle;
	struct life *life;

	if (event->roles[EVENT_HANDLE] && event->kind != IOT_KIND_open) {
		handle = handle_of(s, player, event);
		if (!handle)
			return trace_refuse(s, player, event, "no operation opens its file");
		life = life_of(s, player);
		if (life && life->borrowed && handle->task != player->id && record->kind != IOT_KIND_release)
			life->borrowed--;
		count_write(life, event);
		trace_set(record, "object", handle->object);
		trace_set(record, "handle", handle->id);
		if (event->roles[EVENT_TO_HANDLE])
			return fill_target(s, player, record);
		if (event->roles[EVENT_MAP])
			return fill_mapping(s, player, record, add_mapping(s, player, handle->object));
		if (record->kind == IOT_KIND_release) {
			handle->is_released = true;
			player->handles.values[event->roles[EVENT_HANDLE] - 1] = 0;
		}
		return 0;
	}
	if (event->roles[EVENT_MAP])
		return fill_mapping(s, player, record, mapping_of(s, player));
	return *event->path ? fill_name(s, player, record) : 0;
}

/* -- the end ------------------------------------------------------------------------------------------------------------ */

/**
 * world_finish() - names that look-ups found, and that no operation used
 *
 * Return: 0 or a negative errno.
 */
int world_finish(struct synthesis *s)
{
	struct player *player = &s->players[0];
	struct life *life, *next;
	int err = 0;

	HASH_ITER (hh, s->lives, life, next) {
		struct place *place = life->key.place;

		if (!life->is_found || err || !s->player_count)
			continue;
		if (!place->generation)
			err = have_object(s, player, place, NULL);
		else if (place->object)
			err = put_lookup(s, player, place);
	}
	return err;
}

/**
 * world_free() - free the memory of this file
 */
void world_free(struct synthesis *s)
{
	struct open_handle *handle, *next_handle;
	struct mapping *mapping, *next_mapping;
	struct opener *opener, *next_opener;
	struct place *place, *next_place;
	struct life *life, *next_life;

	HASH_ITER (hh, s->handles, handle, next_handle) {
		HASH_DEL(s->handles, handle);
		free(handle);
	}
	HASH_ITER (hh, s->mappings, mapping, next_mapping) {
		HASH_DEL(s->mappings, mapping);
		free(mapping);
	}
	HASH_ITER (hh, s->openers, opener, next_opener) {
		HASH_DEL(s->openers, opener);
		free(opener);
	}
	HASH_ITER (hh, s->places, place, next_place) {
		HASH_DEL(s->places, place);
		free(place);
	}
	HASH_ITER (hh, s->lives, life, next_life) {
		HASH_DEL(s->lives, life);
		free(life);
	}
}
