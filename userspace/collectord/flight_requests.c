// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight_requests.c - pairs the submission and the end of each asynchronous request that passes a flight recorder.
 *
 * Other than request_pairs.c it allocates nothing, since a flight recorder has all of its memory at the beginning, and
 * the other record of a request may have been lost. Ids are consecutive numbers, so two requests have the same
 * entry only if FLIGHT_REQUESTS others were submitted between them; then the older one is not timed.
 */
#include "flight_requests.h"

static u64 pair_ns(struct flight_requests *requests, u64 id, u64 time_ns, bool is_submitted)
{
	struct flight_request *entry = &requests->entries[id % FLIGHT_REQUESTS];
	u64 begin_ns, end_ns;

	if (!id)
		return 0;
	if (entry->id != id || entry->is_submitted == is_submitted) {
		*entry = (struct flight_request){ id, time_ns, is_submitted };
		return 0;
	}
	begin_ns = is_submitted ? time_ns : entry->time_ns;
	end_ns = is_submitted ? entry->time_ns : time_ns;
	entry->id = 0;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/**
 * flight_request_ns() - the time from the submission of a request to its end
 * @requests: zero at first
 * @record: the next record; the two of a request may come in either order
 *
 * Return: the time, with the second record of the request; else 0.
 */
u64 flight_request_ns(struct flight_requests *requests, const struct iot_record *record)
{
	if (record->kind == IOT_KIND_submit)
		return pair_ns(requests, record->submit.request, record->submit.enter_ns, true);
	if (record->kind == IOT_KIND_complete)
		return pair_ns(requests, record->complete.request, record->complete.time_ns, false);
	return 0;
}
