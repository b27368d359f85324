// SPDX-License-Identifier: GPL-2.0-only
/*
 * request_pairs.c - a table of asynchronous requests by id.
 */
#include "request_pairs.h"

#include <stdlib.h>
#include <uthash.h>

struct entry {
	UT_hash_handle hh;
	struct request_pair pair;
};

struct request_pairs {
	struct entry *entries;
	size_t context_bytes;
};

/**
 * request_pairs_open() - an empty table
 * @pairs: out: to be freed by request_pairs_close()
 * @context_bytes: size of the caller's data in each pair
 *
 * Return: 0 or -ENOMEM.
 */
int request_pairs_open(struct request_pairs **pairs, size_t context_bytes)
{
	*pairs = calloc(1, sizeof(**pairs));
	if (!*pairs)
		return -ENOMEM;
	(*pairs)->context_bytes = context_bytes;
	return 0;
}

static void entry_free(struct request_pairs *pairs, struct entry *entry)
{
	HASH_DEL(pairs->entries, entry);
	free(entry);
}

/**
 * request_pairs_close() - free a table with all requests in it; NULL is allowed
 */
void request_pairs_close(struct request_pairs *pairs)
{
	struct entry *entry, *next;

	if (!pairs)
		return;
	HASH_ITER (hh, pairs->entries, entry, next)
		entry_free(pairs, entry);
	free(pairs);
}

static struct request_pair *pair_get(struct request_pairs *pairs, u64 id)
{
	struct entry *entry;

	HASH_FIND(hh, pairs->entries, &id, sizeof(id), entry);
	if (entry)
		return &entry->pair;
	entry = calloc(1, sizeof(*entry) + pairs->context_bytes);
	if (!entry)
		return NULL;
	entry->pair.id = id;
	HASH_ADD(hh, pairs->entries, pair.id, sizeof(entry->pair.id), entry);
	return &entry->pair;
}

/**
 * request_pairs_submit() - add a submit record
 *
 * Return: the request, valid until request_pairs_drop(); NULL without memory.
 */
struct request_pair *request_pairs_submit(struct request_pairs *pairs, const struct iot_rec_submit *r)
{
	struct request_pair *pair = pair_get(pairs, r->request);

	if (!pair)
		return NULL;
	pair->is_submitted = true;
	pair->is_write = r->flags & IOT_RW_write;
	pair->enter_ns = r->enter_ns;
	return pair;
}

/**
 * request_pairs_complete() - add a complete record
 *
 * Return: the request, valid until request_pairs_drop(); NULL without memory.
 */
struct request_pair *request_pairs_complete(struct request_pairs *pairs, const struct iot_rec_complete *r)
{
	struct request_pair *pair = pair_get(pairs, r->request);

	if (!pair)
		return NULL;
	pair->is_completed = true;
	pair->end_ns = r->time_ns;
	pair->result = r->result;
	return pair;
}

/**
 * request_pairs_drop() - free a request whose records are not needed any more
 */
void request_pairs_drop(struct request_pairs *pairs, struct request_pair *pair)
{
	entry_free(pairs, (struct entry *)((char *)pair - offsetof(struct entry, pair)));
}
