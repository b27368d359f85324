/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tally.h - totals of the records of a session, for the result of the collection.
 */
#ifndef IOTAPE_TALLY_H
#define IOTAPE_TALLY_H

#include "collectord.h"
#include "lib/iotape.h"
#include "queue.h"

/**
 * struct tally - sums so far
 * @result: of them, without those that tally_result() fills in
 * @pauses: of the session
 */
struct tally {
	struct collector_result result;
	struct iot_omissions pauses;
};

void tally_message(struct tally *tally, const struct message *message);
void tally_end(struct tally *tally, const struct iot_message_end *end);
void tally_result(const struct tally *tally, struct collector_result *result);

#endif
