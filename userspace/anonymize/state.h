/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - an anonymization under way, among the files of this directory.
 */
#ifndef IOTAPE_ANONYMIZE_STATE_H
#define IOTAPE_ANONYMIZE_STATE_H

#include "pseudonym.h"

struct anon_id;

/**
 * struct anonymize - state of an anonymization
 * @options: as given
 * @wall_shift_ns: added to wall-clock times, modulo 2^64
 * @users, @groups: ids that were replaced: ids.c
 * @text: the new tail of the present record
 * @result: counts
 */
struct anonymize {
	const struct anon_options *options;
	u64 wall_shift_ns;
	struct anon_id *users;
	struct anon_id *groups;
	struct pseudonym_text text;
	struct anon_result result;
};

/* ids.c */
int anon_replace_ids(struct anonymize *a, struct iot_record *record);
void anon_free_ids(struct anonymize *a);

/* facts.c */
bool anon_replace_fact(struct anonymize *a, struct iot_record *record);

/* tails.c */
bool anon_replace_tail(struct anonymize *a, struct iot_record *record);
void anon_set_tail(struct anonymize *a, struct iot_record *record);

#endif
