// SPDX-License-Identifier: GPL-2.0-only
/*
 * ids.c - users and groups: numbers in the order in which they appear, and times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "state.h"

#define FIRST_ID   100001u
#define ID_UNKNOWN 4294967295u

struct anon_id {
	u32 id;
	u32 replaced;
	UT_hash_handle hh;
};

/* Root and unknown ids stay: whether permissions were checked at all depends on them. */
static int replace_id(struct anonymize *a, struct anon_id **ids, u64 *value)
{
	u32 id = (u32)*value;
	struct anon_id *known;

	if (!id || id == ID_UNKNOWN)
		return 0;
	HASH_FIND(hh, *ids, &id, sizeof(id), known);
	if (!known) {
		known = calloc(1, sizeof(*known));
		if (!known)
			return -ENOMEM;
		known->id = id;
		known->replaced = FIRST_ID + HASH_COUNT(*ids);
		HASH_ADD(hh, *ids, id, sizeof(id), known);
		a->result.users++;
	}
	*value = known->replaced;
	return 0;
}

static int replace_field(struct anonymize *a, struct iot_record *record, const struct iot_field *field)
{
	const enum anon_treatment *treatment = a->options->treatment;
	bool is_time = field->class == IOT_CLASS_wall || field->class == IOT_CLASS_stamp;
	u64 value = iot_field_get(record, field);
	int err = 0;

	if (treatment[ANON_FIELD_users] != ANON_KEEP && !strcmp(field->name, "uid"))
		err = replace_id(a, &a->users, &value);
	else if (treatment[ANON_FIELD_users] != ANON_KEEP && !strcmp(field->name, "gid"))
		err = replace_id(a, &a->groups, &value);
	else if (treatment[ANON_FIELD_times] != ANON_KEEP && is_time && value)
		value += a->wall_shift_ns;
	else
		return 0;
	if (!err)
		iot_field_set(record, field, value);
	return err;
}

/**
 * anon_replace_ids() - replace users, groups and wall-clock times in a record
 * @a: the anonymization
 * @record: changed in place
 *
 * Fields are found in the tables of the schema, so that those of new records are not forgotten.
 *
 * Return: 0 or -ENOMEM.
 */
int anon_replace_ids(struct anonymize *a, struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	int err = 0;
	u32 i;

	for (i = 0; i < info->field_count && !err; i++)
		err = replace_field(a, record, &info->fields[i]);
	return err;
}

static void free_ids(struct anon_id **ids)
{
	struct anon_id *id, *next;

	HASH_ITER (hh, *ids, id, next) {
		HASH_DEL(*ids, id);
		free(id);
	}
}

/**
 * anon_free_ids() - free the state of anon_replace_ids()
 */
void anon_free_ids(struct anonymize *a)
{
	free_ids(&a->users);
	free_ids(&a->groups);
}
