// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * survey.c - is a trace intact? All chunks are read, also those behind a damaged one: its head states where the next
 * one is; behind a damaged head, the next head is searched.
 */
#include "survey.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "summary.h"

#define SEARCH_BYTES (64 << 10)

/* A survey that is under way: the place, and what was found. */
struct state {
	int fd;
	u64 at_bytes;
	u64 file_bytes;
	struct unpacker unpacker;
	u8 *raw;
	survey_fn fn;
	void *context;
	struct chunk_list found; /* intact chunks, and those whose payload is damaged */
	size_t found_room;
	struct iot_schema *schema;
	struct summary_list summaries; /* of the found chunks, as their records are */
	u64 summaries_bytes; /* where the trace has its own; 0: nowhere */
	u64 stated_bytes; /* where its trailer states them */
	struct iot_chunk_head index;
	u64 index_bytes;
	struct iot_condition *condition;
};

static void note_damage(struct iot_condition *condition, const struct iot_reject *reject)
{
	if (!condition->damages++)
		condition->first = *reject;
}

/* Do the records fill the chunk, and are there as many as its head states? */
static int check_records(const struct state *state, const struct iot_chunk_head *head, struct iot_reject *reject)
{
	u32 left = le32_to_cpu(head->count), bytes = le32_to_cpu(head->raw_bytes), at = 0;
	struct iot_record record;
	s32 n;

	for (; left && at < bytes; left--, at += (u32)n) {
		n = iot_record_decode(state->raw + at, bytes - at, &record);
		if (n < 0)
			return iot_refuse(reject, IOT_REJECT_record, state->at_bytes);
	}
	return left || at < bytes ? iot_refuse(reject, IOT_REJECT_chunk_count, state->at_bytes) : 0;
}

static int check_chunk(struct state *state, struct iot_chunk_head *head, struct iot_reject *reject)
{
	u8 *raw = realloc(state->raw, le32_to_cpu(head->raw_bytes) + 1);
	int err;

	if (!raw)
		return -ENOMEM;
	state->raw = raw;
	err = chunk_unpack(&state->unpacker, state->fd, state->at_bytes, head, raw, reject);
	if (err)
		return err;
	chunk_settle(head, raw);
	return check_records(state, head, reject);
}

/* Return: 0, or a negative errno that ends the survey: of the caller's function, or -ENOMEM. */
static int take_records(struct state *state, struct iot_chunk_head *head)
{
	struct iot_condition *condition = state->condition;
	const struct iot_chunk_head stored = *head;
	struct iot_summary summary = { .kinds[0] = 1 }; /* of a damaged chunk nothing is known */
	struct iot_reject reject = {};
	int err = check_chunk(state, head, &reject);

	if (err == -ENOMEM)
		return err;
	if (err) {
		note_damage(condition, &reject);
		condition->damaged_chunks++;
		condition->damaged_records += le32_to_cpu(head->count);
	} else {
		condition->chunks++;
		condition->records += le32_to_cpu(head->count);
		summary_make(&summary, state->schema, state->raw, le32_to_cpu(head->raw_bytes));
	}
	if (chunk_list_add(&state->found, &state->found_room, state->at_bytes, head) ||
	    summary_list_add(&state->summaries, &summary))
		return -ENOMEM;
	return err ? 0 : state->fn(state->context, &stored, state->at_bytes, &summary);
}

static int take_chunk(struct state *state, struct iot_chunk_head *head)
{
	switch (head->type) {
	case IOT_CHUNK_RECORDS:
	case IOT_CHUNK_OPEN:
		return take_records(state, head);
	case IOT_CHUNK_INDEX:
		state->index = *head;
		state->index_bytes = state->at_bytes;
		return 0;
	case IOT_CHUNK_SUMMARIES:
		if (!state->summaries_bytes)
			state->summaries_bytes = state->at_bytes;
		return 0;
	case IOT_CHUNK_TRAILER:
		state->condition->is_complete = true;
		state->stated_bytes = le64_to_cpu(head->lost);
		if (state->at_bytes + sizeof(*head) != state->file_bytes ||
		    le64_to_cpu(head->sequence) != state->index_bytes)
			state->condition->is_index_damaged = true;
		return 0;
	default:
		return 0;
	}
}

static bool is_head(const struct state *state, u64 at_bytes)
{
	struct iot_chunk_head head;
	struct iot_reject reject;

	return !chunk_head_read(state->fd, at_bytes, state->file_bytes, &head, &reject);
}

/* The next place with a head of a chunk, or the end of the file. */
static int search_head(struct state *state)
{
	u8 *bytes = malloc(SEARCH_BYTES), *p;
	size_t count;
	int err = bytes ? 0 : -ENOMEM;

	for (state->at_bytes++; !err && state->at_bytes + 4 <= state->file_bytes; state->at_bytes += count - 3) {
		count = state->file_bytes - state->at_bytes < SEARCH_BYTES ?
				(size_t)(state->file_bytes - state->at_bytes) : SEARCH_BYTES;
		err = read_exactly(state->fd, state->at_bytes, bytes, count);
		for (p = bytes; !err && (p = memmem(p, count - (size_t)(p - bytes), "ICHK", 4)); p++) {
			if (!is_head(state, state->at_bytes + (size_t)(p - bytes)))
				continue;
			state->at_bytes += (size_t)(p - bytes);
			free(bytes);
			return 0;
		}
	}
	free(bytes);
	state->at_bytes = state->file_bytes;
	return err;
}

static int walk(struct state *state)
{
	struct iot_condition *condition = state->condition;
	struct iot_chunk_head head;
	u64 begin_bytes;
	int err = 0;

	while (!err && state->at_bytes < state->file_bytes) {
		struct iot_reject reject = {};

		begin_bytes = state->at_bytes;
		err = chunk_head_read(state->fd, begin_bytes, state->file_bytes, &head, &reject);
		if (!err) {
			err = take_chunk(state, &head);
			state->at_bytes += sizeof(head) + le32_to_cpu(head.stored_bytes);
			continue;
		}
		if (err == -ENODATA) {
			condition->is_torn = true;
			state->at_bytes = state->file_bytes;
			err = 0;
		} else if (reject.reason != IOT_REJECT_io) {
			note_damage(condition, &reject);
			err = search_head(state);
		}
		condition->lost_bytes += state->at_bytes - begin_bytes;
	}
	return err;
}

/* Of a chunk that is written in place, the times are only in the index. */
static bool are_times_right(const struct iot_index_entry *entry, const struct iot_index_entry *found)
{
	return (!found->first_ns && !found->last_ns) ||
	       (entry->first_ns == found->first_ns && entry->last_ns == found->last_ns);
}

static bool are_entries_right(const struct state *state)
{
	const struct iot_index_entry *found = state->found.entries;
	struct iot_index_entry entry;
	size_t i;

	for (i = 0; i < state->found.count; i++) {
		memcpy(&entry, state->raw + i * sizeof(entry), sizeof(entry));
		if (entry.offset_bytes != found[i].offset_bytes || entry.stream != found[i].stream ||
		    entry.count != found[i].count || !are_times_right(&entry, &found[i]))
			return false;
	}
	return true;
}

/* Does the index state the chunks that there are? */
static int check_index(struct state *state)
{
	size_t bytes = state->found.count * sizeof(struct iot_index_entry);
	struct iot_reject reject = {};
	int err = -EBADMSG;

	if (!state->index_bytes)
		return 0;
	if (le32_to_cpu(state->index.raw_bytes) == bytes && le32_to_cpu(state->index.count) == state->found.count) {
		free(state->raw);
		state->raw = malloc(bytes + 1);
		if (!state->raw)
			return -ENOMEM;
		err = chunk_unpack(&state->unpacker, state->fd, state->index_bytes, &state->index, state->raw, &reject);
	}
	if (err == -ENOMEM)
		return err;
	state->condition->is_index_damaged |= err || !are_entries_right(state);
	return 0;
}

/* Summaries of a trace, compared with those that were made of its records. */
struct comparison {
	const struct summary_list *made;
	struct iot_summary summary;
	size_t at_bytes;
	u32 count;
};

static int compare(void *context, u32 number, const struct iot_summary *summary)
{
	struct comparison *c = context;
	s64 bytes;

	if (number >= c->made->count)
		return -EBADMSG;
	bytes = summary_decode(c->made->bytes + c->at_bytes, c->made->used_bytes - c->at_bytes, &c->summary);
	if (bytes < 0 || !summary_is_equal(summary, &c->summary))
		return -EBADMSG;
	c->at_bytes += (size_t)bytes;
	c->count++;
	return 0;
}

/* Do the summaries state what is in the chunks? */
static int check_summaries(struct state *state)
{
	struct comparison comparison = { .made = &state->summaries };
	int err = 0;

	if (!state->condition->is_complete || !state->index_bytes) /* nobody reads them */
		return 0;
	if (state->summaries_bytes != state->stated_bytes)
		err = -EBADMSG;
	else if (state->summaries_bytes)
		err = summaries_read(state->fd, state->summaries_bytes, state->index_bytes, compare, &comparison);
	if (!err && state->summaries_bytes && comparison.count != state->summaries.count)
		err = -EBADMSG;
	state->condition->is_index_damaged |= err == -EBADMSG || err == -EPROTONOSUPPORT;
	return err == -EBADMSG || err == -EPROTONOSUPPORT ? 0 : err;
}

/**
 * survey() - read all chunks of a trace
 * @fd: the trace
 * @begin: its beginning
 * @fn: called for each intact chunk of records, in the order of the file
 * @context: passed to @fn
 * @condition: out
 *
 * Damage is no error, but a part of the condition.
 *
 * Return: 0, -EIO, -ENOMEM, or what @fn returned.
 */
int survey(int fd, const struct trace_begin *begin, survey_fn fn, void *context, struct iot_condition *condition)
{
	struct state state = {
		.fd = fd,
		.at_bytes = begin->chunk_bytes,
		.file_bytes = begin->file_bytes,
		.fn = fn,
		.context = context,
		.condition = condition,
	};
	int err;

	*condition = (struct iot_condition){};
	err = iot_schema_parse(begin->schema, le32_to_cpu(begin->head.schema_bytes), &state.schema);
	if (!err)
		err = walk(&state);
	if (!err)
		err = check_index(&state);
	if (!err)
		err = check_summaries(&state);
	if (!err && condition->is_index_damaged && !condition->damages)
		iot_refuse(&condition->first, IOT_REJECT_index, state.index_bytes);
	condition->damages += condition->is_index_damaged;
	unpacker_free(&state.unpacker);
	free(state.found.entries);
	free(state.summaries.bytes);
	iot_schema_free(state.schema);
	free(state.raw);
	return err;
}
