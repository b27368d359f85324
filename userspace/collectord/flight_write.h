/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight_write.h - the state of a flight recorder, for those that follow it and those that write it.
 */
#ifndef IOTAPE_FLIGHT_WRITE_H
#define IOTAPE_FLIGHT_WRITE_H

#include "flight_table.h"
#include "lib/iotape.h"

struct flight_use;

/**
 * struct flight_state - see flight_state.h
 * @table: the entries
 * @clock: last pair of clock readings
 * @applied: records so far
 * @stamp: for the order of use
 * @stamp_records: records after which it grows
 * @uses: mappings and the processes that the dump being written uses them in
 */
struct flight_state {
	struct flight_table table;
	struct iot_rec_clock clock;
	u64 applied;
	u32 stamp;
	u32 stamp_records;
	struct flight_use *uses;
};

bool flight_entry_record(struct flight_state *state, struct flight_entry *entry, u64 time_ns, u8 room[IOT_RECORD_MAX_BYTES],
			 struct iot_record *record);
int flight_use_add(struct flight_state *state, u64 map, u32 task);
enum flight_class flight_class_of(enum iot_class class);
struct flight_entry *flight_link_of(const struct flight_table *table, const struct flight_entry *entry);

#endif
