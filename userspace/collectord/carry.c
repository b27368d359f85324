// SPDX-License-Identifier: GPL-2.0-only
/*
 * carry.c - follows the records of a file, and announces in the next one the ids that its records refer to.
 *
 * The state is that of the flight recorder. Records come from each CPU in the order of their ends, but not over all CPUs. So they
 * wait in a ring, and are applied to the state when they leave it, in the order of their ends; all of them at the end of a file.
 *
 * Announcements are a stream of their own, with the time at which the file begins: readers see them before all other records.
 * That time is chosen when the first of them are written: by then it is known when the first operations of the file began.
 */
#include "carry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flight_ring.h"
#include "flight_state.h"

#define BEFORE_NS   1000000 /* for the handles and mappings from before, a nanosecond each, and for records that come late */
#define CHUNK_BYTES (256 << 10)

/**
 * struct carry - see above
 * @ring: records that have not been applied yet
 * @state: after all that have been
 * @own: announcements that are not written yet, @own_bytes of them in memory for @own_room
 * @sequence: number of the next announcement to be written in this file
 * @first_ns: when the first operation of the file began, as far as is known
 * @begin_ns: time of the announcements; 0: not chosen yet
 */
struct carry {
	struct flight_ring ring;
	struct flight_state *state;
	u8 *own;
	size_t own_bytes;
	size_t own_room;
	u64 sequence;
	u64 first_ns;
	u64 begin_ns;
};

/**
 * carry_open() - nothing is known yet
 * @ring_bytes: of memory for records
 * @state_bytes: of memory for the state
 * @carry: out: to be freed by carry_close()
 *
 * Return: 0 or -ENOMEM.
 */
int carry_open(u64 ring_bytes, u64 state_bytes, struct carry **carry)
{
	struct carry *c = calloc(1, sizeof(*c));
	int err = c ? flight_ring_open(&c->ring, ring_bytes) : -ENOMEM;

	if (!err)
		err = flight_state_open(state_bytes, &c->state);
	if (err) {
		carry_close(c);
		return err;
	}
	flight_state_follow(c->state);
	c->first_ns = UINT64_MAX;
	*carry = c;
	return 0;
}

/**
 * carry_close() - free; NULL is allowed
 */
void carry_close(struct carry *carry)
{
	if (!carry)
		return;
	flight_ring_close(&carry->ring);
	flight_state_close(carry->state);
	free(carry->own);
	free(carry);
}

/* -- announcements ------------------------------------------------------------------------------ */

static int put(void *context, const struct iot_record *record)
{
	struct carry *carry = context;
	size_t room = carry->own_room ? 2 * carry->own_room : CHUNK_BYTES;
	int bytes;
	u8 *own;

	if (carry->own_room - carry->own_bytes < IOT_RECORD_MAX_BYTES) {
		own = realloc(carry->own, room);
		if (!own)
			return -ENOMEM;
		carry->own = own;
		carry->own_room = room;
	}
	bytes = iot_record_encode(carry->own + carry->own_bytes, carry->own_room - carry->own_bytes, record);
	if (bytes < 0)
		return bytes;
	carry->own_bytes += (size_t)bytes;
	return 0;
}

/**
 * carry_need() - a record is about to be in the file: announce the ids that it refers to
 * @carry: followed so far
 * @record: of a known kind
 *
 * Return: 0 or a negative errno.
 */
int carry_need(struct carry *carry, const struct iot_record *record)
{
	return flight_state_need(carry->state, record, carry->begin_ns, put, carry);
}

/**
 * carry_begin_ns() - the time of all announcements of this file
 * @carry: followed so far
 *
 * Return: a moment before all operations that are known when it is called first.
 */
u64 carry_begin_ns(struct carry *carry)
{
	if (!carry->begin_ns)
		carry->begin_ns = carry->first_ns > BEFORE_NS ? carry->first_ns - BEFORE_NS : 1;
	return carry->begin_ns;
}

/* As many announcements as are a chunk. They get their time, with which all of their kinds begin. */
static u32 next_chunk(struct carry *carry, size_t at, size_t *bytes)
{
	u8 *p = carry->own + at;
	u32 count = 0;

	*bytes = 0;
	while (at + *bytes < carry->own_bytes && *bytes + iot_get_u16(p + *bytes) <= CHUNK_BYTES) {
		iot_put_u64(p + *bytes + IOT_RECORD_HEAD_BYTES, carry_begin_ns(carry));
		*bytes += iot_get_u16(p + *bytes);
		count++;
	}
	return count;
}

/**
 * carry_write() - write the announcements so far, before the records that need them
 * @carry: followed so far
 * @writer: of the file
 *
 * Return: 0 or a negative errno.
 */
int carry_write(struct carry *carry, struct iot_writer *writer)
{
	struct iot_chunk_head head = { .stream = cpu_to_le32(IOT_STREAM_CARRIED) };
	size_t at, bytes;
	u32 count;
	int err = 0;

	for (at = 0; at < carry->own_bytes && !err; at += bytes) {
		count = next_chunk(carry, at, &bytes);
		head.raw_bytes = cpu_to_le32((u32)bytes);
		head.count = cpu_to_le32(count);
		head.sequence = cpu_to_le64(carry->sequence);
		head.first_ns = cpu_to_le64(carry->begin_ns);
		head.last_ns = head.first_ns;
		carry->sequence += count;
		err = iot_writer_chunk(writer, &head, carry->own + at);
	}
	carry->own_bytes = 0;
	return err;
}

/* -- records ------------------------------------------------------------------------------------- */

static bool evict(struct carry *carry)
{
	struct iot_record record;
	u64 end_ns;

	if (!flight_ring_oldest(&carry->ring, &end_ns, &record))
		return false;
	if (iot_kind_info(record.kind))
		flight_state_apply(carry->state, &record);
	flight_ring_drop(&carry->ring, record.kind == IOT_KIND_called_from);
	return true;
}

static int need_all(struct carry *carry, const struct message *message)
{
	const u8 *p = message->records, *stop = p + message->bytes;
	struct iot_record record;
	int n, err = 0;

	for (; p < stop && !err; p += n) {
		n = iot_record_decode(p, (size_t)(stop - p), &record);
		if (n < 0)
			break; /* readers will see that */
		if (!iot_kind_info(record.kind))
			continue;
		if (record.fact.time_ns < carry->first_ns) /* all kinds begin with a time */
			carry->first_ns = record.fact.time_ns;
		err = carry_need(carry, &record);
	}
	return err;
}

/**
 * carry_message() - the records of a message are about to be in the file
 * @carry: followed so far
 * @message: stays the caller's
 *
 * Return: 0 or a negative errno.
 */
int carry_message(struct carry *carry, const struct message *message)
{
	const struct flight_batch batch = {
		.stream = le32_to_cpu(message->head.cpu) + 1,
		.sequence = le64_to_cpu(message->head.sequence),
		.lost = le64_to_cpu(message->head.lost),
		.records = message->records,
		.bytes = message->bytes,
	};
	int err = need_all(carry, message);

	if (!err)
		err = batch.stream ? flight_ring_reserve(&carry->ring, batch.stream) : -EINVAL;
	if (err)
		return err;
	while (!flight_ring_has_room(&carry->ring, &batch))
		if (!evict(carry))
			return -ENOBUFS;
	flight_ring_add(&carry->ring, &batch);
	return 0;
}

/**
 * carry_turn() - all records of the file have come: the next one begins
 * @carry: followed so far; all announcements have been written
 * @time_ns: when it begins
 *
 * Return: 0 or a negative errno.
 */
int carry_turn(struct carry *carry, u64 time_ns)
{
	while (evict(carry))
		;
	carry->sequence = 0;
	carry->first_ns = time_ns;
	carry->begin_ns = 0;
	return flight_state_turn(carry->state, time_ns, put, carry);
}

/**
 * carry_forgotten() - ids that records of this file may refer to although it does not announce them, as memory was full
 * @carry: followed so far
 */
u64 carry_forgotten(struct carry *carry)
{
	return flight_state_forgotten(carry->state);
}
