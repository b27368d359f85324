// SPDX-License-Identifier: GPL-2.0-only
/*
 * digest.c - the hash by which two canonical streams are known to be the same.
 */
#include <sodium.h>

#include "event.h"

struct digest {
	crypto_generichash_state state;
};

/**
 * digest_open() - begin a hash
 *
 * Return: to be freed by digest_close(); NULL if out of memory.
 */
struct digest *digest_open(void)
{
	struct digest *digest = aligned_alloc(64, (sizeof(*digest) + 63) / 64 * 64);

	if (digest)
		crypto_generichash_init(&digest->state, NULL, 0, 32);
	return digest;
}

static void add_numbers(struct digest *digest, const u64 *numbers, u32 count)
{
	u8 bytes[8];
	u32 i;

	for (i = 0; i < count; i++) {
		iot_put_u64(bytes, numbers[i]);
		crypto_generichash_update(&digest->state, bytes, sizeof(bytes));
	}
}

static void add_bytes(struct digest *digest, const void *bytes, size_t count)
{
	u64 length = count;

	add_numbers(digest, &length, 1);
	crypto_generichash_update(&digest->state, bytes, count);
}

/**
 * digest_task() - a task begins; its events follow
 */
void digest_task(struct digest *digest, const u64 facts[TASK_FACT_COUNT])
{
	add_bytes(digest, "task", 4);
	add_numbers(digest, facts, TASK_FACT_COUNT);
}

/**
 * digest_event() - the next event of the task
 */
void digest_event(struct digest *digest, const struct event *event)
{
	/* patterns without late fields have the same hash as ever, and those without mappings and second handles */
	u32 fields = event->field_count - (event_has_late_fields(event) ? 0 : event_count_late_fields(event->kind));
	const u64 head[] = { event->kind, event->flags, event->depth, fields, event->list_count };

	add_numbers(digest, head, 5);
	add_numbers(digest, event->fields, fields);
	add_numbers(digest, event->roles, EVENT_FIRST_ROLES);
	if (event->roles[EVENT_MAP] || event->roles[EVENT_TO_HANDLE])
		add_numbers(digest, event->roles + EVENT_FIRST_ROLES, EVENT_ROLES - EVENT_FIRST_ROLES);
	add_numbers(digest, event->list, event->list_count);
	add_bytes(digest, event->path, strlen(event->path));
	add_bytes(digest, event->path2, strlen(event->path2));
	add_bytes(digest, event->value, event->value_bytes);
}

/**
 * digest_close() - the hash of all that was added
 */
void digest_close(struct digest *digest, u8 hash[32])
{
	crypto_generichash_final(&digest->state, hash, 32);
	free(digest);
}
