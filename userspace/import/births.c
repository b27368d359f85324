// SPDX-License-Identifier: GPL-2.0-only
/*
 * births.c - matches calls that create threads with the threads, from the first pass.
 *
 * A call returns the number of the new thread in the caller's PID namespace. If strace runs in
 * another namespace, its lines begin with a different number. Newer versions of strace print both
 * on request; a message in the middle of the call shows the other number, too. Otherwise a returned
 * number without any line is paired with a thread that no call returned, in order of creation.
 */
#include <stdlib.h>

#include "model.h"

/**
 * birth_add() - a call returned a new thread
 * @flags: CLONE_*
 *
 * Return: 0 or -ENOMEM.
 */
int birth_add(struct import *im, const struct call *call, u64 flags)
{
	struct birth *births = im->births;

	if (im->birth_count == im->birth_room) {
		size_t room = im->birth_room ? 2 * im->birth_room : 64;

		births = reallocarray(births, room, sizeof(*births));
		if (!births)
			return -ENOMEM;
		im->births = births;
		im->birth_room = room;
	}
	births[im->birth_count++] = (struct birth){
		.parent = call->pid,
		.result = (u32)call->result,
		.child = call->outer_pid ? call->outer_pid : call->attached_pid,
		.begin_ns = call->begin_ns,
		.flags = flags,
	};
	return 0;
}

/**
 * sighting_find() - a thread of the log
 *
 * Return: NULL if no line of it was seen.
 */
struct sighting *sighting_find(const struct import *im, u32 pid)
{
	struct sighting *sighting;

	HASH_FIND(hh, im->sightings, &pid, sizeof(pid), sighting);
	return sighting;
}

/**
 * sighting_add() - there is a line of a thread
 *
 * Return: 0 or -ENOMEM.
 */
int sighting_add(struct import *im, u32 pid, u64 time_ns)
{
	struct sighting *sighting = sighting_find(im, pid);

	if (sighting)
		return 0;
	sighting = import_allocate(im, sizeof(*sighting));
	if (!sighting)
		return -ENOMEM;
	sighting->pid = pid;
	sighting->first_ns = time_ns;
	HASH_ADD(hh, im->sightings, pid, sizeof(sighting->pid), sighting);
	return 0;
}

static void explain(struct import *im, struct birth *birth, u32 child)
{
	struct sighting *sighting = sighting_find(im, child);

	birth->child = child;
	if (sighting)
		sighting->is_explained = true;
}

/* In the order of their first lines, as the table has them. The first thread of all was made by strace. */
static struct sighting *first_unexplained(const struct import *im, u64 begin_ns)
{
	struct sighting *sighting = im->sightings ? im->sightings->hh.next : NULL;

	for (; sighting; sighting = sighting->hh.next)
		if (!sighting->is_explained && sighting->first_ns >= begin_ns)
			return sighting;
	return NULL;
}

static int compare_births(const void *a, const void *b)
{
	const struct birth *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* A child may be seen before the call that made it returns, but not before that began. */
static bool is_plain(const struct import *im, const struct birth *birth)
{
	const struct sighting *sighting = sighting_find(im, birth->result);

	return sighting && sighting->first_ns >= birth->begin_ns;
}

/* Ids of an inner namespace are smaller: a child that only its order identifies has an id below its parent's. */
static bool is_inner(const struct birth *birth)
{
	return birth->result < birth->parent;
}

/**
 * births_match() - after all lines: determine the ids in the log of the threads that calls returned
 *
 * Numbers come again in long runs, so a thread may have been made by several of the calls; those are
 * left as they are.
 *
 * Return: 0.
 */
int births_match(struct import *im)
{
	struct sighting *sighting;
	size_t i;

	if (im->birth_count)
		qsort(im->births, im->birth_count, sizeof(*im->births), compare_births);
	for (i = 0; i < im->birth_count; i++) {
		struct birth *birth = &im->births[i];

		if (birth->child)
			explain(im, birth, birth->child);
		else if (is_plain(im, birth) || (sighting_find(im, birth->result) && !is_inner(birth)))
			explain(im, birth, birth->result);
	}
	for (i = 0; i < im->birth_count; i++) {
		struct birth *birth = &im->births[i];

		if (birth->child || !is_inner(birth))
			continue;
		sighting = first_unexplained(im, birth->begin_ns);
		if (sighting) {
			explain(im, birth, sighting->pid);
			im->by_order++;
		}
	}
	return 0;
}

void births_exit(struct import *im)
{
	struct sighting *sighting, *next;

	HASH_ITER (hh, im->sightings, sighting, next) {
		HASH_DEL(im->sightings, sighting);
		free(sighting);
	}
	free(im->births);
	im->births = NULL;
}
