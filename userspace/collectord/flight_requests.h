/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight_requests.h - how long asynchronous requests take that pass a flight recorder, see flight_requests.c.
 */
#ifndef IOTAPE_COLLECTORD_FLIGHT_REQUESTS_H
#define IOTAPE_COLLECTORD_FLIGHT_REQUESTS_H

#include "lib/iotape.h"

#define FLIGHT_REQUESTS 4096

/**
 * struct flight_request - a request of which one record has passed
 * @id: its id; 0: the entry is free
 * @time_ns: its beginning if the submission has passed, else its end
 * @is_submitted: the submission has passed
 */
struct flight_request {
	u64 id;
	u64 time_ns;
	bool is_submitted;
};

struct flight_requests {
	struct flight_request entries[FLIGHT_REQUESTS];
};

u64 flight_request_ns(struct flight_requests *requests, const struct iot_record *record);

#endif
