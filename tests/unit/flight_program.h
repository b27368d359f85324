/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight_program.h - records of a random program on a few directories, the place of each object in a trace, and compilation, for the
 * suites that test what a trace needs that begins in the middle of a recording.
 */
#ifndef IOTAPE_TESTS_FLIGHT_PROGRAM_H
#define IOTAPE_TESTS_FLIGHT_PROGRAM_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uthash.h>

#include "compile/compile.h"
#include "flight_tape.h"

#define FILES 200
#define DIRS  12

struct file {
	u64 object;
	u64 name;
	u64 handle;
	u64 size_bytes;
	bool has_name;
};

struct model {
	struct file files[FILES];
	u64 dirs[DIRS];
	u64 dir_names[DIRS];
	u64 next;
};

static inline u64 new_name(struct tape *t, struct model *m, u32 task, u64 dir)
{
	char component[32];
	u64 name = m->next++;

	snprintf(component, sizeof(component), "n%llu", (unsigned long long)name);
	put_name(t, task, name, dir, component);
	return name;
}

static inline void create(struct tape *t, struct model *m, u32 task, struct file *f)
{
	u64 dir = m->dirs[draw(DIRS)];

	*f = (struct file){ .name = new_name(t, m, task, dir), .has_name = true };
	f->object = m->next++;
	f->handle = m->next++;
	PUT(task, object, .object = f->object, .name = f->name, .type = IOT_TYPE_file, .mode = S_IFREG | 0644, .ino = f->object,
	    .nlink = 1);
	PUT(task, open, .object = f->object, .name = f->name, .handle = f->handle,
	    .flags = IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_created);
}

static inline void work_on_file(struct tape *t, struct model *m, u32 task, struct file *f)
{
	u64 name;

	if (!f->object) {
		create(t, m, task, f);
		return;
	}
	switch (draw(12)) {
	case 0:
		if (f->handle)
			PUT(task, release, .object = f->object, .handle = f->handle);
		f->handle = 0;
		break;
	case 1:
		if (!f->has_name || f->handle)
			break;
		f->handle = m->next++;
		PUT(task, open, .object = f->object, .name = f->name, .handle = f->handle, .flags = IOT_OPEN_write,
		    .size_bytes = f->size_bytes);
		break;
	case 2:
		if (!f->has_name)
			break;
		name = new_name(t, m, task, m->dirs[draw(DIRS)]);
		PUT(task, rename, .name = f->name, .new_name = name, .object = f->object);
		f->name = name;
		break;
	case 3:
		if (!f->has_name || draw(3))
			break;
		PUT(task, unlink, .name = f->name, .object = f->object);
		f->has_name = false;
		if (!f->handle)
			f->object = 0;
		break;
	default:
		if (!f->handle && !f->has_name) {
			f->object = 0;
		} else if (f->handle) {
			PUT(task, write, .object = f->object, .handle = f->handle, .offset_bytes = (s64)f->size_bytes,
			    .length_bytes = 10, .result = 10, .old_size_bytes = f->size_bytes);
			f->size_bytes += 10;
		} else {
			PUT(task, stat, .object = f->object, .name = f->name, .size_bytes = f->size_bytes);
		}
	}
}

static inline void run_program(struct tape *t, u32 steps)
{
	struct model *m = calloc(1, sizeof(*m));
	u32 i;

	assert_non_null(m);
	m->next = FIRST_FREE;
	begin(t);
	for (i = 0; i < DIRS; i++) {
		m->dir_names[i] = new_name(t, m, 1, i ? m->dirs[(i - 1) / 2] : ROOT);
		m->dirs[i] = m->next++;
		PUT(1, object, .object = m->dirs[i], .name = m->dir_names[i], .type = IOT_TYPE_dir, .mode = S_IFDIR | 0755,
		    .ino = m->dirs[i], .nlink = 2);
	}
	for (i = 0; i < steps; i++) {
		u32 task = 1 + draw(4), d = draw(DIRS);

		if (t->step)
			t->step(t, i);

		if (draw(300)) {
			work_on_file(t, m, task, &m->files[draw(FILES)]);
		} else { /* where it is a directory gets another name */
			u64 name = new_name(t, m, task, d ? m->dirs[(d - 1) / 2] : ROOT);

			PUT(task, rename, .name = m->dir_names[d], .new_name = name, .object = m->dirs[d]);
			m->dir_names[d] = name;
		}
	}
	free(m);
}

/* Where the object of an operation is. */
struct place {
	UT_hash_handle hh;
	struct {
		u32 task;
		u32 op;
	} key;
	char path[];
};

struct places {
	struct place *list;
	u64 compared;
	u64 unnamed;
};

static inline u64 object_of(const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	for (i = 0; info->group == IOT_GROUP_op && i < info->field_count; i++)
		if (info->fields[i].class == IOT_CLASS_object)
			return iot_field_get(record, &info->fields[i]);
	return 0;
}

static inline int note_place(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct places *places = context;
	struct place *place;
	const char *path;

	if (!object_of(record))
		return 0;
	path = iot_names_object(names, object_of(record)).path;
	place = calloc(1, sizeof(*place) + strlen(path) + 1);
	assert_non_null(place);
	place->key.task = record->op.task;
	place->key.op = record->op.op;
	strcpy(place->path, path);
	HASH_ADD(hh, places->list, key, sizeof(place->key), place);
	return 0;
}

static inline int compare_place(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct places *places = context;
	struct place *place, key = {};
	const char *path;

	if (!object_of(record))
		return 0;
	key.key.task = record->op.task;
	key.key.op = record->op.op;
	HASH_FIND(hh, places->list, &key.key, sizeof(key.key), place);
	assert_non_null(place);
	path = iot_names_object(names, object_of(record)).path;
	assert_int_not_equal(iot_names_type(names, object_of(record)), IOT_TYPE_unknown);
	if (!strncmp(path, ".iotape-unlinked-", 17)) {
		places->unnamed++;
		return 0;
	}
	places->compared++;
	assert_string_equal(path, place->path);
	return 0;
}

static inline void free_places(struct places *places)
{
	struct place *place, *next;

	HASH_ITER (hh, places->list, place, next) {
		HASH_DEL(places->list, place);
		free(place);
	}
}

static inline void compiles(const char *trace)
{
	char program_path[PATH_MAX + 16];
	const struct compile_options options = { .trace = trace, .program = program_path };
	struct compile_summary summary;
	struct iot_program program;
	struct iot_reject reject = {};

	snprintf(program_path, sizeof(program_path), "%s.irp", scratch_trace);
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	compile_summary_free(&summary);
	assert_int_equal(iot_program_load(program_path, &program, &reject), 0);
	iot_program_free(&program);
	unlink(program_path);
}

#endif
