// SPDX-License-Identifier: GPL-2.0-only
/*
 * tally.c - sums over the records of a session. The trace has the records; the sums are for the summary.
 */
#include "tally.h"

static void count_state(struct tally *tally, const unsigned char *p, size_t bytes)
{
	struct iot_record record;

	if (iot_record_decode(p, bytes, &record) < 0)
		return;
	tally->result.opened += record.state.opened;
	tally->result.mapped += record.state.mapped;
	tally->result.unseen_files += record.state.unseen_files;
	tally->result.unseen_maps += record.state.unseen_maps;
}

static void note_control(struct tally *tally, const unsigned char *p, size_t bytes)
{
	struct iot_record record;

	if (iot_record_decode(p, bytes, &record) < 0)
		return;
	tally->result.is_stopped |= record.control.verb == IOT_VERB_stop && record.control.value;
	iot_omissions_take(&tally->pauses, &record);
}

/**
 * tally_message() - count the records of a message
 * @tally: sums so far
 * @message: any of records; stays the caller's
 */
void tally_message(struct tally *tally, const struct message *message)
{
	const unsigned char *p = message->records, *stop = p + message->bytes;
	const struct iot_kind_info *info;

	tally->result.records += le32_to_cpu(message->head.count);
	while (p + IOT_RECORD_HEAD_BYTES <= stop && iot_get_u16(p) >= IOT_RECORD_HEAD_BYTES) {
		info = iot_kind_info(iot_get_u16(p + 2));
		tally->result.operations += info && info->group == IOT_GROUP_op;
		tally->result.maps += info && info->kind == IOT_KIND_map;
		if (info && info->kind == IOT_KIND_state)
			count_state(tally, p, (size_t)(stop - p));
		if (info && info->kind == IOT_KIND_control)
			note_control(tally, p, (size_t)(stop - p));
		p += iot_get_u16(p);
	}
}

/**
 * tally_end() - take the totals of the kernel
 * @tally: sums of all records
 * @end: from the kernel
 */
void tally_end(struct tally *tally, const struct iot_message_end *end)
{
	struct collector_result *result = &tally->result;

	result->lost = le64_to_cpu(end->lost);
	result->backpressure_waits = le64_to_cpu(end->waits);
	if (le64_to_cpu(end->records) > result->records + result->missing)
		result->missing = le64_to_cpu(end->records) - result->records;
}

/**
 * tally_result() - the sums as the result of a collection
 * @tally: sums so far
 * @result: out
 */
void tally_result(const struct tally *tally, struct collector_result *result)
{
	const struct iot_omission *paused = &tally->pauses.old[IOT_OMISSION_paused];

	*result = tally->result;
	result->pauses = paused->count;
	result->paused_ns = tally->pauses.paused_ns;
	result->left_out = tally->pauses.pause_ns ? UINT64_MAX : paused->operations;
}
