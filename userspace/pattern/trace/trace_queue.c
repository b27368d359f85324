// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_queue.c - tasks of a trace that is made from a pattern: those that may run, by the beginning of their next operation, and those
 * that wait, by the event that they wait for.
 *
 * The first ones are a binary heap. Of tasks whose operations begin at the same time, the first in the pattern is first.
 */
#include "trace.h"

static bool is_before(const struct player *a, const struct player *b)
{
	return a->next_ns != b->next_ns ? a->next_ns < b->next_ns : a < b;
}

static void swap(struct player **heap, u32 a, u32 b)
{
	struct player *player = heap[a];

	heap[a] = heap[b];
	heap[b] = player;
}

/**
 * queue_open() - no task may run yet
 *
 * Return: 0 or -ENOMEM.
 */
int queue_open(struct synthesis *s)
{
	s->heap = calloc(s->player_count + 1ul, sizeof(struct player *));
	return s->heap ? 0 : -ENOMEM;
}

/**
 * queue_add() - a task may run
 * @player: in no list; its next operation and the beginning of that are known
 */
void queue_add(struct synthesis *s, struct player *player)
{
	u32 i = s->heap_count++;

	s->heap[i] = player;
	for (; i && is_before(s->heap[i], s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(s->heap, i, (i - 1) / 2);
}

/**
 * queue_take() - take the task whose next operation begins first
 *
 * Return: NULL if all tasks wait or have ended.
 */
struct player *queue_take(struct synthesis *s)
{
	struct player *first = s->heap_count ? s->heap[0] : NULL;
	u32 i = 0, child;

	if (!first)
		return NULL;
	s->heap[0] = s->heap[--s->heap_count];
	while ((child = 2 * i + 1) < s->heap_count) {
		if (child + 1 < s->heap_count && is_before(s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s->heap[child], s->heap[i]))
			break;
		swap(s->heap, i, child);
		i = child;
	}
	return first;
}

/**
 * queue_wait() - a task waits
 * @player: the task, from queue_take()
 * @waiters: the list of tasks that wait for the same event
 */
void queue_wait(struct player *player, struct player **waiters)
{
	player->waiters = waiters;
	player->next_waiter = *waiters;
	*waiters = player;
}

/**
 * queue_release() - the event has happened: all tasks of a list may run
 */
void queue_release(struct synthesis *s, struct player **waiters)
{
	struct player *player;

	while ((player = *waiters)) {
		*waiters = player->next_waiter;
		player->waiters = NULL;
		queue_add(s, player);
	}
}

/**
 * queue_give_up() - take the task out of its list whose next operation would begin first
 *
 * Return: NULL if no task waits.
 */
struct player *queue_give_up(struct synthesis *s)
{
	struct player *first = NULL, *player, **link;

	for (player = s->players; player < s->players + s->player_count; player++)
		if (player->waiters && (!first || is_before(player, first)))
			first = player;
	if (!first)
		return NULL;
	for (link = first->waiters; *link != first; link = &(*link)->next_waiter)
		;
	*link = first->next_waiter;
	first->waiters = NULL;
	return first;
}
