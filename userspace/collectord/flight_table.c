// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight_table.c - a hash table whose entries, and their contents, come from arrays that are allocated once.
 */
#include "flight_table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define NONE		FLIGHT_NONE
#define UNITS_PER_ENTRY 2 /* a name has one, a task or an object two */
#define ENTRIES_MIN	1024
#define ENTRIES_MAX	(1u << 28)

/**
 * flight_table_open() - take the memory
 * @table: filled in; to be freed by flight_table_close(), also after an error
 * @bytes: of it, approximately
 *
 * Return: 0 or -ENOMEM.
 */
int flight_table_open(struct flight_table *table, u64 bytes)
{
	u64 each = sizeof(struct flight_entry) + UNITS_PER_ENTRY * sizeof(struct flight_unit) + 2 * sizeof(u32);
	u64 count = bytes / each < ENTRIES_MIN ? ENTRIES_MIN : bytes / each > ENTRIES_MAX ? ENTRIES_MAX : bytes / each;
	u32 i;

	*table = (struct flight_table){ .entry_count = (u32)count, .unit_count = UNITS_PER_ENTRY * (u32)count,
					.head_count = 1, .newest = NONE, .oldest = NONE };
	while (table->head_count < count)
		table->head_count *= 2;
	table->memory_bytes = count * sizeof(*table->entries) + table->unit_count * sizeof(*table->units) +
			      table->head_count * sizeof(*table->heads);
	table->memory = mmap(NULL, table->memory_bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (table->memory == MAP_FAILED) {
		table->memory = NULL;
		return -ENOMEM;
	}
	table->entries = (void *)table->memory;
	table->units = (void *)(table->entries + table->entry_count);
	table->heads = (void *)(table->units + table->unit_count);
	memset(table->heads, 0xff, table->head_count * sizeof(*table->heads));
	for (i = 0; i < table->entry_count; i++)
		table->entries[i].chain = i + 1 < table->entry_count ? i + 1 : NONE;
	for (i = 0; i < table->unit_count; i++)
		table->units[i].next = i + 1 < table->unit_count ? i + 1 : NONE;
	table->free_units = table->unit_count;
	return 0;
}

/**
 * flight_table_close() - give the memory back
 */
void flight_table_close(struct flight_table *table)
{
	if (table->memory)
		munmap(table->memory, table->memory_bytes);
	*table = (struct flight_table){};
}

/* -- finding ------------------------------------------------------------------------------------ */

/* Ids are counted by the kernel: neighbours get places far from each other. */
static u32 *head_of(const struct flight_table *table, enum flight_class class, u64 id)
{
	u64 hash = (id + class * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;

	return &table->heads[(hash >> 32 ^ hash) & (table->head_count - 1)];
}

/**
 * flight_table_find() - the entry of an id
 *
 * Return: NULL if there is none.
 */
struct flight_entry *flight_table_find(const struct flight_table *table, enum flight_class class, u64 id)
{
	u32 i;

	for (i = *head_of(table, class, id); i != NONE; i = table->entries[i].chain)
		if (table->entries[i].id == id && table->entries[i].class == class)
			return &table->entries[i];
	return NULL;
}

/* -- the order of use ------------------------------------------------------------------------- */

static u32 index_of(const struct flight_table *table, const struct flight_entry *entry)
{
	return (u32)(entry - table->entries);
}

static void order_remove(struct flight_table *table, const struct flight_entry *entry)
{
	if (entry->newer == NONE)
		table->newest = entry->older;
	else
		table->entries[entry->newer].older = entry->older;
	if (entry->older == NONE)
		table->oldest = entry->newer;
	else
		table->entries[entry->older].newer = entry->newer;
}

static void order_add(struct flight_table *table, struct flight_entry *entry)
{
	u32 i = index_of(table, entry);

	entry->newer = NONE;
	entry->older = table->newest;
	if (table->newest == NONE)
		table->oldest = i;
	else
		table->entries[table->newest].newer = i;
	table->newest = i;
}

/**
 * flight_table_use() - an entry is used: it is the last to be forgotten
 */
void flight_table_use(struct flight_table *table, struct flight_entry *entry)
{
	entry->is_over = false;
	if (entry->class == FLIGHT_PINNED || table->newest == index_of(table, entry))
		return;
	order_remove(table, entry);
	order_add(table, entry);
}

/* -- entries come and go ------------------------------------------------------------------------ */

static void units_free(struct flight_table *table, struct flight_entry *entry)
{
	u32 unit;

	while ((unit = entry->units) != NONE) {
		entry->units = table->units[unit].next;
		table->units[unit].next = table->free_unit;
		table->free_unit = unit;
		table->free_units++;
	}
}

/**
 * flight_table_remove() - remove an entry, which is not used any more
 */
void flight_table_remove(struct flight_table *table, struct flight_entry *entry)
{
	u32 *link = head_of(table, entry->class, entry->id), i = index_of(table, entry);

	while (*link != i)
		link = &table->entries[*link].chain;
	*link = entry->chain;
	if (entry->class != FLIGHT_PINNED)
		order_remove(table, entry);
	units_free(table, entry);
	entry->bytes = 0;
	entry->is_marked = false;
	entry->chain = table->free_entry;
	table->free_entry = i;
}

/* Stacks and code end with their process. */
static bool is_over(const struct flight_table *table, const struct flight_entry *entry)
{
	const struct flight_entry *first;

	if (entry->class < FLIGHT_STACK)
		return entry->is_over;
	first = flight_table_find(table, FLIGHT_TASK, entry->task);
	return !first || first->is_over;
}

/* Return: false if nothing is left that may be forgotten. */
static bool make_room(struct flight_table *table, u32 units)
{
	while (table->free_entry == NONE || table->free_units < units) {
		struct flight_entry *oldest = table->oldest == NONE ? NULL : &table->entries[table->oldest];

		if (!oldest)
			return false;
		table->forgotten += !is_over(table, oldest);
		flight_table_remove(table, oldest);
	}
	return true;
}

static void units_fill(struct flight_table *table, struct flight_entry *entry, const u8 *bytes, size_t count)
{
	u32 *link = &entry->units;

	entry->bytes = (u16)count;
	while (count) {
		size_t n = count < FLIGHT_UNIT_BYTES ? count : FLIGHT_UNIT_BYTES;
		u32 unit = table->free_unit;

		table->free_unit = table->units[unit].next;
		table->free_units--;
		memcpy(table->units[unit].bytes, bytes, n);
		*link = unit;
		link = &table->units[unit].next;
		bytes += n;
		count -= n;
	}
	*link = NONE;
}

/**
 * flight_table_put() - add an entry
 * @table: has none with this id
 * @class: its class
 * @id: its id
 * @record: its announcement
 *
 * Return: the entry; NULL if there is no room, or @record cannot be encoded: counted as forgotten.
 */
struct flight_entry *flight_table_put(struct flight_table *table, enum flight_class class, u64 id,
				      const struct iot_record *record)
{
	u8 bytes[IOT_RECORD_MAX_BYTES];
	int count = iot_record_encode(bytes, sizeof(bytes), record);
	struct flight_entry *entry;
	u32 *head, i;

	if (count < 0 || !make_room(table, ((u32)count + FLIGHT_UNIT_BYTES - 1) / FLIGHT_UNIT_BYTES)) {
		table->forgotten++;
		return NULL;
	}
	i = table->free_entry;
	entry = &table->entries[i];
	table->free_entry = entry->chain;
	*entry = (struct flight_entry){ .id = id, .class = (u8)class, .units = NONE, .is_written = table->is_new_written };
	units_fill(table, entry, bytes, (size_t)count);
	head = head_of(table, class, id);
	entry->chain = *head;
	*head = i;
	if (class != FLIGHT_PINNED)
		order_add(table, entry);
	return entry;
}

/**
 * flight_table_get() - the announcement of an entry
 * @table: the table
 * @entry: in it
 * @room: out: the memory that @record points into
 * @record: out: the announcement
 */
void flight_table_get(const struct flight_table *table, const struct flight_entry *entry,
		      u8 room[IOT_RECORD_MAX_BYTES], struct iot_record *record)
{
	size_t at = 0, n;
	u32 unit;

	for (unit = entry->units; unit != NONE; unit = table->units[unit].next) {
		n = entry->bytes - at < FLIGHT_UNIT_BYTES ? entry->bytes - at : FLIGHT_UNIT_BYTES;
		memcpy(room + at, table->units[unit].bytes, n);
		at += n;
	}
	if (iot_record_decode(room, at, record) < 0)
		*record = (struct iot_record){};
}

/**
 * flight_table_change() - replace the announcement of an entry by one of the same length
 * @table: the table
 * @entry: in it
 * @record: from flight_table_get(), with other values
 */
void flight_table_change(struct flight_table *table, struct flight_entry *entry, const struct iot_record *record)
{
	u8 bytes[IOT_RECORD_MAX_BYTES];
	int count = iot_record_encode(bytes, sizeof(bytes), record);

	if (count != entry->bytes)
		return;
	units_free(table, entry);
	units_fill(table, entry, bytes, (size_t)count);
}
