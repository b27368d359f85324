// SPDX-License-Identifier: GPL-2.0-only
/*
 * sink_program.c - the tasks, objects and names that the trace of a replay begins with.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink.h"
#include "sink_state.h"

/* The root, which the names of a replay are in: no object or name of a program has this id. */
#define ROOT ((u64)-1)

static int put_name(struct sink *sink, u64 name, u64 dir, const char *path)
{
	struct iot_record record = {
		.kind = IOT_KIND_name,
		.tail = (const u8 *)path,
		.tail_bytes = (u16)strlen(path),
		.name = { .time_ns = iot_clock_ns(CLOCK_MONOTONIC), .name = name, .dir = dir },
	};

	return iot_writer_record(sink->writer, &record);
}

static int put_object(struct sink *sink, u64 object, u64 name, u32 type)
{
	struct iot_record record = {
		.kind = IOT_KIND_object,
		.object = { .time_ns = iot_clock_ns(CLOCK_MONOTONIC),
			    .object = object,
			    .name = name,
			    .type = type },
	};

	return iot_writer_record(sink->writer, &record);
}

static int put_task(struct sink *sink, const struct iot_program *program, u32 index)
{
	const struct iot_program_task *task = &program->tasks[index];
	const char *command = iot_program_string(program, task->command);
	struct iot_record record = {
		.kind = IOT_KIND_task,
		.tail = (const u8 *)command,
		.tail_bytes = (u16)strnlen(command, 64),
		.task = { .time_ns = iot_clock_ns(CLOCK_MONOTONIC),
			  .task = le32_to_cpu(task->origin),
			  .why = IOT_REASON_play,
			  .plays = le32_to_cpu(task->origin) },
	};

	return iot_writer_record(sink->writer, &record);
}

/* The names of a program, as they are written, and their directory. */
struct naming {
	const struct iot_program *program;
	u64 root;     /* object */
	bool *is_put; /* a flag for each place in the strings: each path once */
};

static bool is_root(const struct naming *naming, __le32 path)
{
	return path && !strcmp(iot_program_string(naming->program, path), ".");
}

static u64 root_of(const struct naming *naming)
{
	u32 i;

	for (i = 0; i < naming->program->object_count; i++)
		if (is_root(naming, naming->program->objects[i].path))
			return le64_to_cpu(naming->program->objects[i].origin);
	return ROOT;
}

/*
 * A record has room for a path of 4096 bytes. Of a longer one the beginning is a directory of its own, or
 * several, with ids that no name or object of a program has: names behind all places, objects from the end.
 */
static int put_beginnings(struct sink *sink, u32 place, const char **path, u64 *dir)
{
	size_t bytes = strlen(*path), piece;
	char text[IOT_TAIL_MAX_BYTES + 1];
	u64 at = place, name;
	int err = 0;

	while (!err && (piece = iot_path_piece(*path, bytes)) < bytes) {
		memcpy(text, *path, piece);
		text[piece] = 0;
		*path += piece + 1;
		bytes -= piece + 1;
		at += piece + 1;
		name = (1ull << 32) + at;
		err = put_name(sink, name, *dir, text);
		*dir = ROOT - name;
		if (!err)
			err = put_object(sink, *dir, name, IOT_TYPE_dir);
	}
	return err;
}

static int put_path(struct sink *sink, const struct naming *naming, __le32 path)
{
	const char *text = iot_program_string(naming->program, path);
	u32 place = le32_to_cpu(path);
	u64 dir = naming->root;
	int err;

	if (!place || naming->is_put[place])
		return 0;
	naming->is_put[place] = true;
	if (is_root(naming, path))
		return put_name(sink, place, 0, "");
	err = put_beginnings(sink, place, &text, &dir);
	return err ? err : put_name(sink, place, dir, text);
}

/* Does an operation's second text name something, rather than being a target or attribute? */
static bool is_second_name(u16 kind)
{
	return kind == IOT_KIND_rename || kind == IOT_KIND_link;
}

static int put_op_paths(struct sink *sink, const struct naming *naming)
{
	const struct iot_program_reader *reader = naming->program->reader;
	const struct iot_program_op *op;
	struct iot_program_op room;
	u64 i;
	int err = 0;

	for (i = 0; i < naming->program->op_count && !err; i++) {
		op = iot_program_op_at(naming->program, i, &room);

		err = put_path(sink, naming, op->path);
		if (!err && is_second_name(le16_to_cpu(op->kind)))
			err = put_path(sink, naming, op->path2);
	}
	return !err && reader ? reader->error : err;
}

/*
 * A program has all objects that ever had a name, so the name is not announced with the
 * object: the operation that opens or creates the object binds it to the name.
 */
static int put_objects(struct sink *sink, const struct naming *naming)
{
	u32 i;
	int err = put_object(sink, naming->root, ROOT, IOT_TYPE_dir);

	for (i = 0; i < naming->program->object_count && !err; i++) {
		const struct iot_program_object *object = &naming->program->objects[i];

		if (is_root(naming, object->path))
			continue;
		err = put_path(sink, naming, object->path);
		if (!err)
			err = put_object(sink, le64_to_cpu(object->origin), 0,
					 le32_to_cpu(object->type));
	}
	return err;
}

/**
 * sink_program() - add the tasks, objects and names that the records of a replay refer to
 * @sink: the trace
 * @program: verified
 *
 * The ids are those of replayfs/outcome_emit.c: tasks and objects as in the trace, names by
 * their place in the program. A path stands as one component in the root.
 *
 * Return: 0 or a negative errno.
 */
int sink_program(struct sink *sink, const struct iot_program *program)
{
	struct naming naming = {
		.program = program,
		.is_put = calloc(program->string_bytes, sizeof(*naming.is_put)),
	};
	u32 i;
	int err = naming.is_put ? put_name(sink, ROOT, 0, "") : -ENOMEM;

	naming.root = root_of(&naming);
	for (i = 0; i < program->task_count && !err; i++)
		err = put_task(sink, program, i);
	if (!err)
		err = put_op_paths(sink, &naming);
	if (!err)
		err = put_objects(sink, &naming);
	free(naming.is_put);
	return err;
}
