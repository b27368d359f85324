// SPDX-License-Identifier: GPL-2.0-only
/*
 * tails.c - the tails of records: names, targets, attributes, programs.
 */
#include <string.h>

#include "state.h"

static const char user_prefix[] = "user.";

/**
 * anon_set_tail() - the text that was built becomes the tail of a record
 */
void anon_set_tail(struct anonymize *a, struct iot_record *record)
{
	record->tail = a->text.bytes;
	record->tail_bytes = (u16)a->text.count;
}

static void replace_path(struct anonymize *a, struct iot_record *record)
{
	pseudonym_add_path(&a->text, a->options, record->tail, record->tail_bytes);
	anon_set_tail(a, record);
}

/* The call returned the length of the target, as far as there was room: both follow the new one. */
static void replace_readlink(struct anonymize *a, struct iot_record *record)
{
	struct iot_rec_readlink *call = &record->readlink;

	replace_path(a, record);
	if (call->result < 0 || call->result == record->tail_bytes)
		return;
	call->result = record->tail_bytes;
	if (call->length_bytes && call->length_bytes < record->tail_bytes)
		call->length_bytes = record->tail_bytes;
	a->result.changed_targets++;
}

static void replace_program(struct anonymize *a, struct iot_record *record)
{
	enum anon_treatment treatment = a->options->treatment[ANON_FIELD_commands];

	if (treatment == ANON_KEEP || !record->tail_bytes)
		return;
	if (treatment == ANON_REPLACE)
		pseudonym_add_hash(&a->text, a->options->key, record->tail, record->tail_bytes, PSEUDONYM_PROGRAM_CHARS);
	anon_set_tail(a, record);
}

static void replace_executable(struct anonymize *a, struct iot_record *record)
{
	enum anon_treatment treatment = a->options->treatment[ANON_FIELD_commands];

	if (treatment == ANON_REPLACE)
		pseudonym_add_path(&a->text, a->options, record->tail, record->tail_bytes);
	if (treatment != ANON_KEEP)
		anon_set_tail(a, record);
}

/* A build id identifies a program: it is kept only with the names of programs. */
static void replace_code(struct anonymize *a, struct iot_record *record)
{
	size_t build_bytes;
	const u8 *build = iot_record_value(record, &build_bytes);

	if (a->options->treatment[ANON_FIELD_commands] == ANON_KEEP)
		return;
	if (build)
		record->tail_bytes = (u16)(build - record->tail - 1);
	replace_executable(a, record);
}

/* Ports and processes of MPI: equal texts stay equal. */
static void replace_text(struct anonymize *a, struct iot_record *record)
{
	if (a->options->treatment[ANON_FIELD_hosts] == ANON_KEEP || !record->tail_bytes)
		return;
	pseudonym_add_hash(&a->text, a->options->key, record->tail, record->tail_bytes, PSEUDONYM_MIN_CHARS);
	anon_set_tail(a, record);
}

/*
 * Attributes outside of `user.` have a meaning for the file system, which a pseudonym would lose. Names keep their length,
 * whose sum listxattr(2) returns; very short ones may get the pseudonym of another.
 */
static void add_attribute_name(struct anonymize *a, const u8 *name, size_t bytes)
{
	size_t prefix = strlen(user_prefix);

	if (a->options->treatment[ANON_FIELD_attributes] == ANON_KEEP || bytes <= prefix ||
	    memcmp(name, user_prefix, prefix)) {
		pseudonym_add_bytes(&a->text, name, bytes);
		return;
	}
	pseudonym_add_bytes(&a->text, name, prefix);
	pseudonym_add_hash(&a->text, a->options->key, name + prefix, bytes - prefix, bytes - prefix);
}

/* Values of users' attributes become zeros of the same length; others must be valid, and are left out. */
static void add_attribute_value(struct anonymize *a, const u8 *value, size_t bytes, bool is_of_user)
{
	enum anon_treatment treatment = a->options->treatment[ANON_FIELD_values];
	size_t i;

	if (treatment == ANON_DROP || (treatment == ANON_REPLACE && !is_of_user))
		return;
	pseudonym_add_bytes(&a->text, "", 1);
	if (treatment == ANON_KEEP)
		pseudonym_add_bytes(&a->text, value, bytes);
	for (i = 0; i < bytes && treatment == ANON_REPLACE; i++)
		pseudonym_add_bytes(&a->text, "", 1);
}

static void replace_attribute(struct anonymize *a, struct iot_record *record)
{
	const u8 *zero = memchr(record->tail, 0, record->tail_bytes);
	size_t name_bytes = zero ? (size_t)(zero - record->tail) : record->tail_bytes;
	bool is_of_user = name_bytes > strlen(user_prefix) && !memcmp(record->tail, user_prefix, strlen(user_prefix));

	add_attribute_name(a, record->tail, name_bytes);
	if (zero)
		add_attribute_value(a, zero + 1, record->tail_bytes - name_bytes - 1, is_of_user);
	anon_set_tail(a, record);
}

/**
 * anon_replace_tail() - replace the tail of a record
 * @a: the anonymization
 * @record: its tail is changed to one that is valid until the next record
 *
 * Return: true; false if the record is to be left out.
 */
bool anon_replace_tail(struct anonymize *a, struct iot_record *record)
{
	switch (record->kind) {
	case IOT_KIND_fact:
		return anon_replace_fact(a, record);
	case IOT_KIND_name:
		a->result.names++;
		replace_path(a, record);
		break;
	case IOT_KIND_mount:
	case IOT_KIND_object:
	case IOT_KIND_dirent:
	case IOT_KIND_symlink:
	case IOT_KIND_follow:
	case IOT_KIND_mpi_file:
		replace_path(a, record);
		break;
	case IOT_KIND_readlink:
		replace_readlink(a, record);
		break;
	case IOT_KIND_task:
		replace_program(a, record);
		break;
	case IOT_KIND_exec:
		replace_executable(a, record);
		break;
	case IOT_KIND_code:
		replace_code(a, record);
		break;
	case IOT_KIND_stack:
		if (a->options->treatment[ANON_FIELD_commands] == ANON_DROP)
			record->tail_bytes = 0;
		break;
	case IOT_KIND_mpi_link:
		replace_text(a, record);
		break;
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_removexattr:
		replace_attribute(a, record);
		break;
	case IOT_KIND_end:	/* why the capture ended: a sentence of the kernel */
	case IOT_KIND_mpi_coll: /* ranks */
		break;
	default: /* a kind that is newer than this code: nothing of its tail is known */
		record->tail_bytes = 0;
	}
	return true;
}
