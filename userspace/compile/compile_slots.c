// SPDX-License-Identifier: GPL-2.0-only
/*
 * compile_slots.c - a table from ids to slots, numbered from 1.
 */
#include "compile_slots.h"

#include <stdlib.h>
#include <uthash.h>

struct slot_entry {
	UT_hash_handle hh;
	u64 id;
	u32 slot;
};

struct slots {
	struct slot_entry *entries;
	u32 count;
};

/**
 * slots_open() - an empty table
 *
 * Return: 0 or -ENOMEM.
 */
int slots_open(struct slots **slots)
{
	*slots = calloc(1, sizeof(**slots));
	return *slots ? 0 : -ENOMEM;
}

/**
 * slots_close() - free a table; NULL is allowed
 */
void slots_close(struct slots *slots)
{
	struct slot_entry *entry, *next;

	if (!slots)
		return;
	HASH_ITER (hh, slots->entries, entry, next) {
		HASH_DEL(slots->entries, entry);
		free(entry);
	}
	free(slots);
}

/**
 * slots_find() - the slot of an id
 * @slots: the table
 * @id: the id
 *
 * Return: the slot, 0 if there is none.
 */
u32 slots_find(const struct slots *slots, u64 id)
{
	struct slot_entry *entry;

	HASH_FIND(hh, slots->entries, &id, sizeof(id), entry);
	return entry ? entry->slot : 0;
}

/**
 * slots_make() - the slot of an id; it is made if there is none
 *
 * Return: 1 if it was made, 0 if it was there, or -ENOMEM.
 */
int slots_make(struct slots *slots, u64 id, u32 *slot)
{
	struct slot_entry *entry;

	*slot = slots_find(slots, id);
	if (*slot)
		return 0;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->id = id;
	entry->slot = *slot = ++slots->count;
	HASH_ADD(hh, slots->entries, id, sizeof(entry->id), entry);
	return 1;
}

/**
 * slots_count() - slots made so far
 */
u32 slots_count(const struct slots *slots)
{
	return slots->count;
}
