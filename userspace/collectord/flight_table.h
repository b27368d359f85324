/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight_table.h - records that announce ids, in memory of a fixed size, by id.
 *
 * If there is no room for another one, the entry that was not used for the longest time is forgotten, and counted.
 */
#ifndef IOTAPE_FLIGHT_TABLE_H
#define IOTAPE_FLIGHT_TABLE_H

#include "lib/iotape.h"

enum flight_class {
	FLIGHT_PINNED, /* mounts and the like, which are never forgotten */
	FLIGHT_TASK,
	FLIGHT_OBJECT,
	FLIGHT_NAME,
	FLIGHT_HANDLE,
	FLIGHT_MAP,
	FLIGHT_COMM,
	FLIGHT_STACK,
	FLIGHT_PROCESS, /* its code */
	FLIGHT_CODE,
};

#define FLIGHT_NONE 0xffffffffu /* no entry */

/**
 * struct flight_entry - an id, and its announcement
 * @id: unique in its class
 * @link: of a name its directory; of an object a name of it now, 0 if none is known; of a handle or mapping the object; of a stack
 *	its process; of a process its newest code; of code the code before it
 * @bytes_now: of an object its size now; of a handle its position
 * @task: of a handle or mapping, a task that has it; of a stack, code or process, the first task of the process
 * @chain: next entry of the same hash
 * @newer, @older: in the order of use
 * @units: first unit of the announcement
 * @stamp: when it was used last, in counts of the owner
 * @bytes: of the announcement; 0: the entry is free
 * @class: an enum flight_class
 * @is_over: the object no longer exists, unless it is used again: then it is not counted when it is forgotten
 * @is_marked, @is_written: for the dump that is being written
 */
struct flight_entry {
	u64 id;
	u64 link;
	u64 bytes_now;
	u32 task;
	u32 chain;
	u32 newer;
	u32 older;
	u32 units;
	u32 stamp;
	u16 bytes;
	u8 class;
	bool is_over;
	bool is_marked;
	bool is_written;
};

#define FLIGHT_UNIT_BYTES 60

/* A piece of an announcement. */
struct flight_unit {
	u32 next;
	u8 bytes[FLIGHT_UNIT_BYTES];
};

/**
 * struct flight_table - see above
 * @memory: of all arrays
 * @memory_bytes: of it
 * @entries: @entry_count of them
 * @units: as many for each
 * @heads: first entry of each hash; a power of two of them
 * @free_entry, @free_unit: first free one
 * @free_units: number of free ones
 * @newest, @oldest: ends of the order of use
 * @forgotten: entries that were forgotten though they were not over
 * @is_new_written: entries that come are in the trace that is being written: they are announced in it
 */
struct flight_table {
	u8 *memory;
	size_t memory_bytes;
	struct flight_entry *entries;
	struct flight_unit *units;
	u32 *heads;
	u32 entry_count;
	u32 unit_count;
	u32 head_count;
	u32 free_entry;
	u32 free_unit;
	u32 free_units;
	u32 newest;
	u32 oldest;
	u64 forgotten;
	bool is_new_written;
};

int flight_table_open(struct flight_table *table, u64 bytes);
void flight_table_close(struct flight_table *table);
struct flight_entry *flight_table_find(const struct flight_table *table, enum flight_class class, u64 id);
struct flight_entry *flight_table_put(struct flight_table *table, enum flight_class class, u64 id,
				      const struct iot_record *record);
void flight_table_get(const struct flight_table *table, const struct flight_entry *entry,
		      u8 room[IOT_RECORD_MAX_BYTES], struct iot_record *record);
void flight_table_change(struct flight_table *table, struct flight_entry *entry, const struct iot_record *record);
void flight_table_use(struct flight_table *table, struct flight_entry *entry);
void flight_table_remove(struct flight_table *table, struct flight_entry *entry);

#endif
