// SPDX-License-Identifier: GPL-2.0-only
/*
 * canon_alike.c - records that may differ although the operations are the same: the equivalences of
 * diff.h that need more than one record.
 */
#include <stdlib.h>
#include <uthash.h>

#include "analyse/graph/request_pairs.h"
#include "canon_reading.h"

#define PAGE_BYTES 4096

/* Entries that an unfinished readdir has returned so far. */
struct entries {
	struct entries *next;
	u32 task;
	u32 op;
	u64 sum;
	u32 count;
};

/* The readdir that later ones of the same handle are merged into. */
struct reading {
	UT_hash_handle hh;
	u64 handle;
	u32 task; /* index */
	u32 op;
};

/* An access that has been seen. */
struct access_key {
	u64 map;
	u64 page;
	u32 task;
	u32 is_write;
};

struct access {
	UT_hash_handle hh;
	struct access_key key;
};

/* A mapping that was copied by a fork whose child is not known yet. */
struct inherited {
	struct inherited *next;
	u32 task; /* index of the parent */
	struct map_piece piece;
	struct canon_op op;
};

/* Data of a request: the operation that its submission has become. */
struct submitted {
	u32 task; /* index */
	u32 op;
};

/* -- equivalence 1: entries of directories ----------------------------------------------------- */

static u64 hash_entry(const struct iot_record *r)
{
	u64 hash = 0xcbf29ce484222325ull ^ r->dirent.type; /* FNV-1a */
	u32 i;

	for (i = 0; i < r->tail_bytes; i++)
		hash = (hash ^ r->tail[i]) * 0x100000001b3ull;
	return hash;
}

int canon_take_dirent(struct reading_state *s)
{
	const struct iot_rec_dirent *r = &s->record->dirent;
	struct entries *e;

	for (e = s->entries; e; e = e->next)
		if (e->task == r->task && e->op == r->op)
			break;
	if (!e) {
		e = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->task = r->task;
		e->op = r->op;
		e->next = s->entries;
		s->entries = e;
	}
	e->sum += hash_entry(s->record); /* commutes: a set */
	e->count++;
	return 0;
}

/* The entries that the readdir returned, as sum and count; clears them. */
static void entries_take(struct reading_state *s, const struct iot_rec_readdir *r, u64 *sum,
			 u32 *count)
{
	struct entries **link = &s->entries, *e;

	*sum = 0;
	*count = 0;
	while ((e = *link)) {
		if (e->task != r->task || e->op != r->op) {
			link = &e->next;
			continue;
		}
		*sum = e->sum;
		*count = e->count;
		*link = e->next;
		free(e);
	}
}

void canon_end_reading(struct reading_state *s, u64 handle)
{
	struct reading *reading;

	HASH_FIND(hh, s->readings, &handle, sizeof(handle), reading);
	if (reading) {
		HASH_DEL(s->readings, reading);
		free(reading);
	}
}

/* Fields of a readdir operation: result, entries; here the set of entries comes third. */
enum { READDIR_RESULT, READDIR_COUNT, READDIR_SUM, READDIR_FIELDS };

int canon_take_readdir(struct reading_state *s, u32 task, struct canon_op *op)
{
	u64 handle = s->record->readdir.handle, sum;
	struct reading *reading;
	struct canon_op *first;
	u32 count;

	entries_take(s, &s->record->readdir, &sum, &count);
	HASH_FIND(hh, s->readings, &handle, sizeof(handle), reading);
	if (reading && reading->task == task) {
		if (s->canon->is_walk)
			return -EOPNOTSUPP;
		first = &s->canon->tasks[task].ops[reading->op];
		first->fields[READDIR_COUNT] += s->record->readdir.entries;
		first->fields[READDIR_SUM] += sum;
		if (op->fields[READDIR_RESULT])
			first->fields[READDIR_RESULT] = op->fields[READDIR_RESULT];
		return 0;
	}
	canon_end_reading(s, handle);
	op->fields[READDIR_SUM] = sum;
	op->field_count = READDIR_FIELDS;
	if (!canon_op_add(s->canon, task, op))
		return -ENOMEM;
	reading = calloc(1, sizeof(*reading));
	if (!reading)
		return -ENOMEM;
	reading->handle = handle;
	reading->task = task;
	reading->op = s->canon->tasks[task].count - 1;
	HASH_ADD(hh, s->readings, handle, sizeof(reading->handle), reading);
	return 0;
}

/* -- equivalence 2: look-ups that found something ------------------------------------------------ */

int canon_take_found(struct reading_state *s, const struct canon_op *op)
{
	struct canon_set *found;
	char text[IOT_PROGRAM_PATH_MAX + 32];
	size_t bytes = (size_t)snprintf(text, sizeof(text), "%s#%u", op->path, op->generation);

	if (bytes >= sizeof(text))
		bytes = sizeof(text) - 1;
	HASH_FIND(hh, s->canon->found, text, bytes, found);
	if (found)
		return 0;
	found = malloc(sizeof(*found) + bytes + 1);
	if (!found)
		return -ENOMEM;
	memcpy(found->text, text, bytes + 1);
	HASH_ADD(hh, s->canon->found, text, bytes, found);
	return 0;
}

/* -- equivalence 3: accesses to pages ---------------------------------------------------------------- */

/* Return: 1 if it has been seen before, 0 if it is new, -ENOMEM. */
int canon_know_access(struct reading_state *s, u32 task)
{
	const struct iot_rec_touch *r = &s->record->touch;
	struct access_key key;
	struct access *access;

	memset(&key, 0, sizeof(key));
	key.map = r->map;
	key.page = (u64)r->offset_bytes / PAGE_BYTES;
	key.task = task;
	key.is_write = r->flags & IOT_TOUCH_write;
	HASH_FIND(hh, s->accesses, &key, sizeof(key), access);
	if (access)
		return 1;
	access = calloc(1, sizeof(*access));
	if (!access)
		return -ENOMEM;
	access->key = key;
	HASH_ADD(hh, s->accesses, key, sizeof(access->key), access);
	return 0;
}

/* -- equivalence 4: mappings that fork copies; those that mremap moves are in canon.c -------------------- */

/* In their order, which is that in which a replay maps them. */
int canon_take_inherited(struct reading_state *s, u32 task, const struct canon_op *op)
{
	struct inherited **link = s->inherited_end ? s->inherited_end : &s->inherited;
	const struct iot_rec_map *r = &s->record->map;
	struct inherited *i = malloc(sizeof(*i));

	if (!i)
		return -ENOMEM;
	i->op = *op;
	if (canon_op_keep(s->canon, &i->op)) {
		free(i);
		return -ENOMEM;
	}
	while (*link) /* in the order in which they are copied */
		link = &(*link)->next;
	i->task = task;
	i->piece = (struct map_piece){ r->map, r->offset_bytes, r->length_bytes };
	i->op.order = 0;
	i->next = NULL;
	*link = i;
	s->inherited_end = &i->next;
	return 0;
}

int canon_take_fork(struct reading_state *s, const struct iot_rec_fork *r)
{
	struct inherited **link = &s->inherited, *i;
	u32 parent, child;
	int err = canon_task_get(s->canon, r->task, &parent);

	s->inherited_end = NULL; /* some of them go */
	if (!err)
		err = canon_task_get(s->canon, r->child, &child);
	while (!err && (i = *link)) {
		if (i->task != parent) {
			link = &i->next;
			continue;
		}
		if (!canon_op_add(s->canon, child, &i->op))
			err = -ENOMEM;
		if (canon_know_map(s, child, &i->piece) < 0)
			err = -ENOMEM;
		*link = i->next;
		free(i);
	}
	return err;
}

/* -- equivalence 6: asynchronous requests ----------------------------------------------------------- */

static struct submitted *submitted_of(struct request_pair *pair)
{
	return (struct submitted *)pair->context;
}

enum { RW_RESULT };

/**
 * canon_open_alike() - prepare the equivalences that pair records
 *
 * Return: 0 or -ENOMEM.
 */
int canon_open_alike(struct reading_state *s)
{
	return request_pairs_open(&s->requests, sizeof(struct submitted));
}

/* The read or write that a submission begins; its result comes, or came, with the end. */
int canon_take_submit(struct reading_state *s, u32 task)
{
	const struct iot_record *record = s->record;
	const struct iot_rec_submit r = record->submit;
	struct request_pair *pair = request_pairs_submit(s->requests, &record->submit);
	struct iot_record data = *record;
	struct canon_op op;
	int err;

	data.kind = r.flags & IOT_RW_write ? IOT_KIND_write : IOT_KIND_read;
	data.read.object = r.object; /* they begin alike */
	data.read.handle = r.handle;
	data.read.offset_bytes = r.offset_bytes;
	data.read.length_bytes = r.length_bytes;
	data.read.flags = r.flags & ~(u32)(IOT_RW_write | IOT_RW_nowait | IOT_RW_hipri);
	s->record = &data;
	err = pair ? canon_op_make(s, &op) : -ENOMEM;
	s->record = record;
	if (err)
		return err;
	op.fields[RW_RESULT] = (u64)pair->result;
	*submitted_of(pair) = (struct submitted){ task, s->canon->tasks[task].count };
	return canon_op_add(s->canon, task, &op) ? 0 : -ENOMEM;
}

int canon_take_complete(struct reading_state *s, const struct iot_rec_complete *r)
{
	struct request_pair *pair = request_pairs_complete(s->requests, r);
	const struct submitted *submitted;

	if (!pair)
		return -ENOMEM;
	submitted = submitted_of(pair); /* a later submission takes the result from the pair */
	if (pair->is_submitted)
		s->canon->tasks[submitted->task].ops[submitted->op].fields[RW_RESULT] = (u64)r->result;
	return 0;
}

/* -- the end -------------------------------------------------------------------------- */

void canon_free_alike(struct reading_state *s)
{
	struct reading *reading, *next_reading;
	struct access *access, *next_access;
	struct inherited *inherited;
	struct entries *entries;

	HASH_ITER (hh, s->readings, reading, next_reading) {
		HASH_DEL(s->readings, reading);
		free(reading);
	}
	HASH_ITER (hh, s->accesses, access, next_access) {
		HASH_DEL(s->accesses, access);
		free(access);
	}
	request_pairs_close(s->requests);
	while ((inherited = s->inherited)) {
		s->inherited = inherited->next;
		free(inherited);
	}
	while ((entries = s->entries)) {
		s->entries = entries->next;
		free(entries);
	}
}
