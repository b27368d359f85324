// SPDX-License-Identifier: GPL-2.0-only
/*
 * requests.c - hints on sizes, order and durability of reads and writes.
 */
#include <stdlib.h>

#include "evidence.h"

#define SMALL_BYTES	  65536
#define PAGE_BYTES	  4096
#define BLOCK_SHIFT	  20 /* of pieces that two processes should not share: a common size of stripes and locks */
#define BLOCK_BYTES	  (1u << BLOCK_SHIFT)
#define FADV_NORMAL	  0
#define FADV_RANDOM	  1
#define FADV_SEQUENTIAL	  2
#define MARKED_PAGES_MAX  512 /* by one fault */

/* A read, write or asynchronous request that did not fail. */
struct request {
	enum pattern_direction direction;
	u64 handle;
	u64 offset_bytes;
	u64 length_bytes;
	u32 flags;
};

static bool request_of(const struct iot_record *r, struct request *request)
{
	if (r->op.result < 0)
		return false;
	switch (r->kind) {
	case IOT_KIND_read:
		if (!r->op.result) /* at the end of the file, wherever that is */
			return false;
		*request = (struct request){ PATTERN_READ, r->read.handle, (u64)r->read.offset_bytes, r->read.length_bytes,
					     r->read.flags };
		return true;
	case IOT_KIND_write:
		*request = (struct request){ PATTERN_WRITE, r->write.handle, (u64)r->write.offset_bytes,
					     r->write.length_bytes, r->write.flags };
		return true;
	case IOT_KIND_submit:
		*request = (struct request){ r->submit.flags & IOT_RW_write ? PATTERN_WRITE : PATTERN_READ,
					     r->submit.handle, (u64)r->submit.offset_bytes, r->submit.length_bytes,
					     r->submit.flags };
		return true;
	default:
		return false;
	}
}

static void count_size(struct evidence *e, const struct request *request, struct subject *file)
{
	bool is_read = request->direction == PATTERN_READ;

	evidence_count(e, is_read ? ADVISE_small_reads : ADVISE_small_writes, file, request->length_bytes < SMALL_BYTES);
	if (request->length_bytes >= PAGE_BYTES)
		evidence_count(e, ADVISE_unaligned_requests, file, request->offset_bytes % PAGE_BYTES);
}

static u32 advice_on(const struct evidence *e, u64 handle)
{
	struct advised *advised;

	HASH_FIND(hh, e->advised, &handle, sizeof(handle), advised);
	return advised ? advised->advice : FADV_NORMAL;
}

static void count_advice(struct evidence *e, const struct request *request, struct subject *file, bool is_random,
			 bool is_sequential)
{
	u32 advice = request->direction == PATTERN_READ ? advice_on(e, request->handle) : FADV_NORMAL;

	if (advice == FADV_RANDOM)
		evidence_count(e, ADVISE_wrong_advice, file, is_sequential);
	else if (advice == FADV_SEQUENTIAL)
		evidence_count(e, ADVISE_wrong_advice, file, is_random);
}

/* The order is that of iotape stat: the class whose counter grew. */
static int count_order(struct evidence *e, struct iot_names *names, const struct operation *o,
		       const struct request *request)
{
	const struct pattern_requests *now = &e->patterns.requests[request->direction];
	struct pattern_requests before = *now;
	int err = patterns_add(&e->patterns, names, o->record, o->process);
	bool is_random = now->random > before.random;

	if (err || now->first > before.first)
		return err;
	evidence_count(e, request->direction == PATTERN_READ ? ADVISE_random_reads : ADVISE_random_writes, o->subject,
		       is_random);
	count_advice(e, request, o->subject, is_random,
		     now->consecutive > before.consecutive || now->strided > before.strided);
	return 0;
}

/* -- writes of several processes ------------------------------------------------------------------------ */

static int block_write(struct evidence *e, const struct operation *o, u64 index, bool *is_of_other)
{
	bool is_new;
	struct block *block = evidence_block(&e->blocks, o->subject, index, &is_new);

	if (!block)
		return -ENOMEM;
	*is_of_other |= !is_new && block->process != o->process;
	block->process = o->process;
	return 0;
}

/* Only the first and the last piece of a write can be written in part. */
static int count_interleaved(struct evidence *e, const struct operation *o, const struct request *request)
{
	u64 first = request->offset_bytes >> BLOCK_SHIFT;
	u64 last = (request->offset_bytes + request->length_bytes - 1) >> BLOCK_SHIFT;
	bool is_of_other = false;
	int err = 0;

	if (o->subject && request->length_bytes) {
		err = block_write(e, o, first, &is_of_other);
		if (!err && last != first)
			err = block_write(e, o, last, &is_of_other);
	}
	evidence_count(e, ADVISE_interleaved_writes, o->subject, is_of_other && request->length_bytes < BLOCK_BYTES);
	return err;
}

/* -- durability ------------------------------------------------------------------------------------------- */

static int count_durable(struct evidence *e, const struct operation *o, const struct request *request)
{
	bool is_durable = request->flags & (IOT_RW_sync | IOT_RW_dsync);
	struct pair *pair;

	evidence_count(e, ADVISE_durable_writes, o->subject, is_durable);
	if (!o->subject || is_durable)
		return 0;
	pair = evidence_pair(e, o->subject, o->process);
	if (!pair)
		return -ENOMEM;
	pair->unsynced++;
	return 0;
}

/* An fsync inside of another operation is that of O_SYNC. The write was counted as one, now as one that shows it. */
static int take_fsync(struct evidence *e, const struct operation *o)
{
	struct pair *pair;

	if (!o->subject || o->record->op.result < 0 || o->record->op.parent)
		return 0;
	pair = evidence_pair(e, o->subject, o->process);
	if (!pair)
		return -ENOMEM;
	if (pair->unsynced == 1) {
		e->tallies[ADVISE_durable_writes].count++;
		o->subject->hits[ADVISE_durable_writes]++;
		e->fsyncs++;
	}
	pair->unsynced = 0;
	return 0;
}

/* -- advice and mappings ------------------------------------------------------------------------------------ */

static int take_fadvise(struct evidence *e, const struct iot_rec_fadvise *r)
{
	struct advised *advised;

	if (r->result < 0 || r->advice > FADV_SEQUENTIAL)
		return 0;
	HASH_FIND(hh, e->advised, &r->handle, sizeof(r->handle), advised);
	if (!advised) {
		advised = calloc(1, sizeof(*advised));
		if (!advised)
			return -ENOMEM;
		advised->handle = r->handle;
		HASH_ADD(hh, e->advised, handle, sizeof(advised->handle), advised);
	}
	advised->advice = r->advice; /* the kernel ignores the range of these */
	return 0;
}

static void take_release(struct evidence *e, const struct iot_rec_release *r)
{
	struct advised *advised;

	HASH_FIND(hh, e->advised, &r->handle, sizeof(r->handle), advised);
	if (!advised)
		return;
	HASH_DEL(e->advised, advised);
	free(advised);
}

static int pages_mark(struct evidence *e, const struct operation *o)
{
	u64 first = (u64)o->record->touch.offset_bytes / PAGE_BYTES, count = o->record->touch.length_bytes / PAGE_BYTES, i;
	bool is_new;

	for (i = 0; i < count && i < MARKED_PAGES_MAX; i++)
		if (!evidence_block(&e->pages, o->subject, first + i, &is_new))
			return -ENOMEM;
	return 0;
}

/* A page counts once for each time that storage was read. */
static bool page_unmark(struct evidence *e, const struct operation *o)
{
	struct block *page = evidence_block(&e->pages, o->subject, (u64)o->record->touch.offset_bytes / PAGE_BYTES, NULL);

	if (!page)
		return false;
	HASH_DEL(e->pages, page);
	free(page);
	return true;
}

static int take_touch(struct evidence *e, const struct operation *o)
{
	const struct iot_rec_touch *r = &o->record->touch;
	bool was_read = r->major;

	if (r->result < 0 || !o->subject || r->flags & IOT_TOUCH_cow)
		return 0;
	if (!(r->flags & IOT_TOUCH_write))
		return r->major ? pages_mark(e, o) : 0;
	was_read |= page_unmark(e, o);
	evidence_count(e, ADVISE_mapped_updates, o->subject, was_read);
	return 0;
}

/**
 * requests_take() - count an operation for the hints of this file
 * @e: the evidence
 * @names: as of the record
 * @o: any operation on a file
 *
 * Return: 0 or -ENOMEM.
 */
int requests_take(struct evidence *e, struct iot_names *names, const struct operation *o)
{
	struct request request;
	int err;

	switch (o->record->kind) {
	case IOT_KIND_fsync:
		return take_fsync(e, o);
	case IOT_KIND_fadvise:
		return take_fadvise(e, &o->record->fadvise);
	case IOT_KIND_release:
		take_release(e, &o->record->release);
		return 0;
	case IOT_KIND_touch:
		return take_touch(e, o);
	}
	if (!request_of(o->record, &request))
		return 0;
	count_size(e, &request, o->subject);
	err = count_order(e, names, o, &request);
	if (!err && request.direction == PATTERN_WRITE)
		err = count_interleaved(e, o, &request);
	if (!err && request.direction == PATTERN_WRITE)
		err = count_durable(e, o, &request);
	return err;
}
