// SPDX-License-Identifier: GPL-2.0-only
/*
 * evidence.c - tables of files, processes and pieces of files.
 */
#include "evidence.h"

#include <stdlib.h>
#include <string.h>

/**
 * evidence_subject() - the file or directory of a path
 * @e: the evidence
 * @path, @bytes: the path, and its length; of 0, @subject becomes NULL
 * @subject: out
 *
 * Return: 0 or -ENOMEM.
 */
int evidence_subject(struct evidence *e, const char *path, size_t bytes, struct subject **subject)
{
	*subject = NULL;
	if (!bytes)
		return 0;
	HASH_FIND(hh, e->subjects, path, bytes, *subject);
	if (*subject)
		return 0;
	*subject = calloc(1, sizeof(**subject) + bytes + 1);
	if (!*subject)
		return -ENOMEM;
	memcpy((*subject)->path, path, bytes);
	HASH_ADD_KEYPTR(hh, e->subjects, (*subject)->path, bytes, *subject);
	return 0;
}

/**
 * evidence_directory() - the directory of a path
 * @e: the evidence
 * @path: of something in it, from the root
 * @subject: out; NULL for the root itself, or if the path is not known
 *
 * Return: 0 or -ENOMEM.
 */
int evidence_directory(struct evidence *e, const char *path, struct subject **subject)
{
	const char *slash = strrchr(path, '/');

	*subject = NULL;
	if (!path[0] || !strcmp(path, "."))
		return 0;
	return slash ? evidence_subject(e, path, (size_t)(slash - path), subject) : evidence_subject(e, ".", 1, subject);
}

/**
 * evidence_pair() - a subject and a process
 *
 * Return: the pair, all zero at first; NULL if out of memory.
 */
struct pair *evidence_pair(struct evidence *e, const struct subject *subject, u64 process)
{
	struct pair_key key = { subject, process };
	struct pair *pair;

	HASH_FIND(hh, e->pairs, &key, sizeof(key), pair);
	if (pair)
		return pair;
	pair = calloc(1, sizeof(*pair));
	if (!pair)
		return NULL;
	pair->key = key;
	HASH_ADD(hh, e->pairs, key, sizeof(pair->key), pair);
	return pair;
}

/**
 * evidence_block() - a piece of a file
 * @table: pieces
 * @subject: the file
 * @index: of the piece
 * @is_new: out: it was not in the table; NULL: then it is not added
 *
 * Return: the piece; NULL if out of memory, or if it is not in the table and @is_new is NULL.
 */
struct block *evidence_block(struct block **table, const struct subject *subject, u64 index, bool *is_new)
{
	struct pair_key key = { subject, index };
	struct block *block;

	HASH_FIND(hh, *table, &key, sizeof(key), block);
	if (is_new)
		*is_new = !block;
	if (block || !is_new)
		return block;
	block = calloc(1, sizeof(*block));
	if (!block)
		return NULL;
	block->key = key;
	HASH_ADD(hh, *table, key, sizeof(block->key), block);
	return block;
}

/**
 * evidence_count() - an operation that a hint is about
 * @e: the evidence
 * @hint: the hint
 * @subject: the file or directory concerned, or NULL
 * @is_counted: it shows the problem
 */
void evidence_count(struct evidence *e, enum advise_hint hint, struct subject *subject, bool is_counted)
{
	e->tallies[hint].whole++;
	e->tallies[hint].count += is_counted;
	if (subject)
		subject->hits[hint] += is_counted;
}

/**
 * evidence_process() - a number for the process of a task
 */
u64 evidence_process(const struct evidence *e, u32 task)
{
	const struct actor *actor = actors_find(&e->actors, task);

	return actor ? actor_process(actor) : 1ull << 63 | task;
}

#define FREE_TABLE(table, type)                          \
	do {                                             \
		struct type *entry, *next;               \
							 \
		HASH_ITER (hh, table, entry, next) {     \
			HASH_DEL(table, entry);          \
			free(entry);                     \
		}                                        \
	} while (0)

/**
 * evidence_free() - free all tables
 */
void evidence_free(struct evidence *e)
{
	struct collectives *collectives;

	for (collectives = e->collectives; collectives; collectives = collectives->hh.next)
		free(collectives->spans);
	FREE_TABLE(e->collectives, collectives);
	FREE_TABLE(e->mpi_files, mpi_file);
	FREE_TABLE(e->ranks, rank);
	FREE_TABLE(e->advised, advised);
	FREE_TABLE(e->pages, block);
	FREE_TABLE(e->blocks, block);
	FREE_TABLE(e->pairs, pair);
	FREE_TABLE(e->subjects, subject);
	actors_free(&e->actors);
}
