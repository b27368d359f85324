// SPDX-License-Identifier: GPL-2.0-only
/*
 * process.c - tables of descriptors and mappings, which fork and clone copy or share.
 */
#include "process.h"

#include <stdlib.h>

#define PROCESSES_MAX 4096

static struct process *all[PROCESSES_MAX];
static int count;

struct process *process_at(int index)
{
	return index < count ? all[index] : NULL;
}

struct process *process_of(int pid)
{
	int i;

	for (i = 0; i < count; i++)
		if (all[i]->pid == pid)
			return all[i];
	return NULL;
}

struct process *process_new(int pid)
{
	struct process *process = calloc(1, sizeof(*process));

	process->pid = pid;
	process->files = calloc(1, sizeof(*process->files));
	process->memory = calloc(1, sizeof(*process->memory));
	process->files->refs = process->memory->refs = 1;
	if (count == PROCESSES_MAX)
		abort();
	all[count++] = process;
	return process;
}

static struct files *files_copy(const struct files *from)
{
	struct files *files = malloc(sizeof(*files));
	int fd;

	*files = *from;
	files->refs = 1;
	for (fd = 0; fd < FDS_MAX; fd++)
		if (files->fd[fd].file)
			files->fd[fd].file->refs++;
	return files;
}

static struct memory *memory_copy(const struct memory *from)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	const struct area *area;

	memory->refs = 1;
	for (area = from->areas; area; area = area->next)
		areas_add(memory, *area);
	return memory;
}

/**
 * process_clone() - create the state of a new thread or process
 */
void process_clone(struct process *child, const struct process *parent, bool shares_files,
		   bool shares_memory)
{
	free(child->files);
	free(child->memory);
	child->cwd = parent->cwd;
	child->files = shares_files ? parent->files : files_copy(parent->files);
	child->files->refs += shares_files;
	child->memory = shares_memory ? parent->memory : memory_copy(parent->memory);
	child->memory->refs += shares_memory;
}

struct file *file_of(const struct process *process, int fd)
{
	return fd >= 0 && fd < FDS_MAX ? process->files->fd[fd].file : NULL;
}

void areas_add(struct memory *memory, struct area area)
{
	struct area *made = malloc(sizeof(*made)), **at;

	for (at = &memory->areas; *at && (*at)->start < area.start; at = &(*at)->next)
		;
	*made = area;
	made->next = *at;
	made->file->maps++;
	*at = made;
}

/**
 * areas_split() - split the mapping at an address, if there is one
 */
void areas_split(struct memory *memory, unsigned long long address)
{
	struct area *area, rest;

	for (area = memory->areas; area; area = area->next) {
		if (address <= area->start || address >= area->end)
			continue;
		rest = *area;
		rest.start = address;
		rest.offset += (long long)(address - area->start);
		area->end = address;
		areas_add(memory, rest);
		return;
	}
}
