// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdicts.c - which hints apply, by their evidence and by the completeness of the trace.
 *
 * A share of the recorded operations is a share of the job only if nothing is missing. So an incomplete trace can show that a
 * hint applies, by the operations that it has, but not that it does not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"

#define NEEDS_CLASSES ((1 << IOT_OP_CLASS_END) - 1)

static const char *const class_reasons[] = {
#define CLASS_REASON(class, sentence) "operations of the class " #class " were not recorded",
	IOT_OP_CLASSES(CLASS_REASON)
#undef CLASS_REASON
};

/* Omissions of operations that the rule does not use have no effect on it. */
static bool is_whole(const struct evidence *e, const struct advise_rule *rule)
{
	struct iot_omissions omissions = e->advise->omissions;

	if (!(rule->needs & ADVISE_NEEDS_ACCESSES))
		omissions.of[IOT_OMISSION_mapping] = (struct iot_omission){};
	if (!(rule->needs & NEEDS_CLASSES))
		omissions.of[IOT_OMISSION_mpi_only] = (struct iot_omission){};
	if (!e->has_filter) /* except whole classes, which are checked separately */
		omissions.of[IOT_OMISSION_filtered] = (struct iot_omission){};
	return iot_omissions_is_whole(&omissions);
}

static const char *missing_class(const struct evidence *e, u32 needs)
{
	u32 class;

	if (needs & NEEDS_CLASSES && e->advise->omissions.of[IOT_OMISSION_mpi_only].count && !e->advise->operations)
		return "only MPI calls were recorded";
	for (class = 0; class < IOT_OP_CLASS_END; class++)
		if (needs & ~e->classes & 1u << class)
			return class_reasons[class];
	return NULL;
}

/* Return: the reason why the evidence has no meaning; NULL if it has. */
static const char *why_unknown(const struct evidence *e, const struct advise_rule *rule)
{
	const char *why = missing_class(e, rule->needs);

	if (why)
		return why;
	if (rule->needs & ADVISE_NEEDS_ACCESSES && e->advise->omissions.of[IOT_OMISSION_mapping].count)
		return "accesses to mapped pages were not recorded";
	if (rule->needs & ADVISE_NEEDS_WHOLE && !is_whole(e, rule))
		return "operations are missing: ranks cannot be compared";
	if (rule->needs & ADVISE_NEEDS_TIMES && e->actors.is_imported && !e->rank_time_ns)
		return "the source has no durations";
	return NULL;
}

static void judge(const struct evidence *e, enum advise_hint hint)
{
	const struct advise_rule *rule = &advise_rules[hint];
	struct advise_finding *finding = &e->advise->findings[hint];

	finding->count = e->tallies[hint].count;
	finding->whole = e->tallies[hint].whole;
	if (rule->needs & ADVISE_NEEDS_RANKS && HASH_COUNT(e->ranks) < 2) {
		finding->verdict = ADVISE_INAPPLICABLE;
		finding->why = e->ranks ? "the trace has one MPI rank" : "the trace has no MPI ranks";
		return;
	}
	finding->why = why_unknown(e, rule);
	if (finding->why) {
		finding->verdict = ADVISE_UNKNOWN;
	} else if (finding->count >= rule->least && finding->count * 100.0 >= finding->whole * (double)rule->percent) {
		finding->verdict = ADVISE_FOUND;
	} else if (!is_whole(e, rule)) {
		finding->verdict = ADVISE_UNKNOWN;
		finding->why = "operations are missing, and the recorded ones do not show it";
	}
}

/* Is half of the requests consecutive, so that larger transfers are possible? */
static bool is_mergeable(const struct pattern_requests *requests)
{
	return requests->consecutive * 2 >= requests->count;
}

/* Return: why the change of the rule is not about the operations of the job; NULL if it is. Changes of files are about ranks. */
static const char *why_no_change(const struct evidence *e, enum advise_hint hint)
{
	if (!advise_rules[hint].change)
		return "no change of iotape pattern --set expresses it";
	switch (hint) {
	case ADVISE_small_reads:
		return is_mergeable(&e->patterns.requests[PATTERN_READ]) ? NULL : "less than half of the reads are consecutive";
	case ADVISE_small_writes:
		return is_mergeable(&e->patterns.requests[PATTERN_WRITE]) ? NULL : "less than half of the writes are consecutive";
	case ADVISE_durable_writes:
		return e->fsyncs ? NULL : "the writes have O_SYNC or O_DSYNC, which iotape pattern --set does not change";
	default:
		return HASH_COUNT(e->ranks) >= 2 ? NULL : "the change needs MPI ranks";
	}
}

/* -- items ------------------------------------------------------------------------------------------------ */

static int add_item(struct advise_finding *finding, const char *name, u64 count)
{
	struct advise_item *larger;

	if (!(finding->item_count & (finding->item_count - 1))) { /* room for a power of two */
		larger = reallocarray(finding->items, finding->item_count ? 2ul * finding->item_count : 1, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		finding->items = larger;
	}
	finding->items[finding->item_count] = (struct advise_item){ strdup(name), count };
	return finding->items[finding->item_count++].name ? 0 : -ENOMEM;
}

static int list_ranks(const struct evidence *e, enum advise_hint hint)
{
	const struct rank *rank;
	char name[32];
	int err = 0;

	for (rank = e->ranks; rank && !err; rank = rank->hh.next) {
		snprintf(name, sizeof(name), "%u", rank->rank);
		err = add_item(&e->advise->findings[hint], name,
			       advise_rules[hint].unit == ADVISE_NS ? rank->time_ns : rank->bytes);
	}
	return err;
}

static int list_subjects(const struct evidence *e, enum advise_hint hint)
{
	const struct subject *subject;
	int err = 0;

	for (subject = e->subjects; subject && !err; subject = subject->hh.next)
		if (subject->hits[hint])
			err = add_item(&e->advise->findings[hint], subject->path, subject->hits[hint]);
	return err;
}

static int compare_items(const void *a, const void *b)
{
	const struct advise_item *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/**
 * verdicts_make() - the verdict on each hint, and the files, directories or ranks of those that apply
 * @e: the evidence, all of it
 *
 * Return: 0 or -ENOMEM.
 */
int verdicts_make(struct evidence *e)
{
	struct advise_finding *finding;
	int err = 0;
	u32 hint;

	for (hint = 0; hint < ADVISE_HINT_COUNT && !err; hint++) {
		finding = &e->advise->findings[hint];
		judge(e, hint);
		if (finding->verdict != ADVISE_FOUND)
			continue;
		finding->no_change = why_no_change(e, hint);
		finding->change = finding->no_change ? NULL : advise_rules[hint].change;
		err = advise_rules[hint].unit == ADVISE_COUNT ? list_subjects(e, hint) : list_ranks(e, hint);
		if (finding->item_count)
			qsort(finding->items, finding->item_count, sizeof(*finding->items), compare_items);
	}
	return err;
}
