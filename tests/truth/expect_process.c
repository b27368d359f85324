// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect_process.c - the records of fork, exec and exit: inherited and released handles and mappings.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static void leave_clone(struct comparison *c, int dir, int path)
{
	const struct process *child = process_of((int)c->call->result);
	const struct area *area;

	(void)dir, (void)path;
	if (c->call->err || !child || child->memory == c->self->memory)
		return;
	for (area = c->self->memory->areas; area; area = area->next) {
		const struct want want = { .kind = "map", .path = area->file->path, .has_result = true,
					   .has_offset = true, .offset = area->offset };
		struct record *record = expect(c, &want);

		apply(c, RULE_INHERITED);
		if (record && !strstr(record_text(record, "flags"), "inherited"))
			difference(c, "the mapping is not inherited");
	}
}

static void drop_memory(struct comparison *c, enum rule rule)
{
	struct memory *memory = c->self->memory;
	struct area *area;

	if (--memory->refs)
		return;
	while ((area = memory->areas)) {
		memory->areas = area->next;
		apply(c, rule);
		expect_unmap(c, area);
	}
}

/* The kernel opens and reads a program of the mount. Return: the file. */
static struct file *open_program(struct comparison *c, const struct walk *w)
{
	struct want want = { .kind = "open", .path = last_path(w), .has_result = true,
			     .result = -c->call->err };
	struct record *record;
	struct file *file;

	if (!w->node || !c->call->err)
		record = expect(c, &want);
	else
		return NULL;
	if (!record || c->call->err)
		return NULL;
	file = file_open(c, w->node->object, want.path);
	file->handle = record_number(record, "handle");
	while ((record = take_kind(c, "read")))
		count_bytes(c, file, false, record_number(record, "result"));
	take_capability(c);
	return file;
}

static struct file *reach_program(struct comparison *c, int path)
{
	struct walk w;

	if (!walk(c, -1, path, true, &w) || refused(c, &w))
		return NULL;
	if (w.node && !look_up_last(c, &w))
		return NULL;
	return refused(c, &w) ? NULL : open_program(c, &w);
}

/* The addresses at which the kernel maps the program are unknown, except for their order. */
static void map_program(struct comparison *c, struct file *file)
{
	unsigned long long at = 1ULL << 62;
	const struct record *record;
	struct area area;

	while ((record = take_kind(c, "map"))) {
		area = (struct area){ .start = at, .offset = record_number(record, "offset_bytes"),
				      .file = file };
		at += (unsigned long long)record_number(record, "length_bytes");
		area.end = at;
		areas_add(c->self->memory, area);
	}
}

/* Programs of the mount are assumed to be statically linked: only the kernel maps them. */
static void leave_exec(struct comparison *c, int dir, int path)
{
	struct files *files = c->self->files;
	struct file *file, *program;
	int fd;

	(void)dir;
	program = reach_program(c, path);
	if (c->call->err)
		return;
	apply(c, RULE_EXEC);
	drop_memory(c, RULE_EXEC);
	c->self->memory = calloc(1, sizeof(*c->self->memory));
	c->self->memory->refs = 1;
	for (fd = 0; fd < FDS_MAX; fd++) {
		file = files->fd[fd].file;
		if (!file || !files->fd[fd].is_cloexec)
			continue;
		files->fd[fd] = (struct descriptor){};
		file->refs--;
		expect_flush(c, file);
	}
	if (program)
		map_program(c, program);
}

/**
 * process_begin_exit() - a thread enters exit: release what it does not share
 */
void process_begin_exit(struct comparison *c)
{
	struct files *files = c->self->files;
	int fd;

	if (c->self->has_ended || files->refs > 1)
		return;
	c->self->has_ended = true;
	for (fd = 0; fd < FDS_MAX; fd++)
		if (files->fd[fd].file)
			files->fd[fd].file->refs--;
}

/**
 * process_end() - a thread has ended: take the records of its mappings and descriptors
 */
void process_end(struct comparison *c)
{
	struct files *files = c->self->files;
	int fd;

	if (!c->self->has_ended && files->refs == 1)
		process_begin_exit(c);
	drop_memory(c, RULE_EXIT);
	if (--files->refs)
		return;
	for (fd = 0; fd < FDS_MAX; fd++) {
		if (!files->fd[fd].file)
			continue;
		apply(c, RULE_EXIT);
		expect_flush(c, files->fd[fd].file);
	}
	peek(c, c->self);
}

const struct route process_routes[] = {
	{ "clone", leave_clone, 0, 0 },
	{ "clone3", leave_clone, 0, 0 },
	{ "execve", leave_exec, 0, 0 },
	{ "fork", leave_clone, 0, 0 },
	{ "vfork", leave_clone, 0, 0 },
	{},
};
