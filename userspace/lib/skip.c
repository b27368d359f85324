// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * skip.c - the chunks of a trace that a reader does not need, by their summaries.
 *
 * A record that a caller needs may depend on earlier ones, for example on those that announce names. So chunks with such
 * records are read as long as a needed record may follow: by the times of the index, because streams are merged by
 * the ends of records.
 */
#include "skip.h"

#include <stdlib.h>

#include "summary.h"

/* One chunk: @has_state and @may_match as in struct iot_need. */
struct part {
	u64 offset_bytes;
	size_t entry;
	u64 moved_bytes;
	u32 operations;
	bool is_needed;
	bool has_state;
	bool has_operations;
	bool has_mpi;
};

/**
 * struct plan - a plan that is being made
 * @parts: in the order of the file, as summaries are
 * @seen: number of summaries so far
 * @match_ns: end of the last chunk that may have a needed record
 */
struct plan {
	const struct iot_index_entry *entries;
	const struct iot_need *need;
	struct part *parts;
	size_t count;
	size_t seen;
	u64 match_ns;
	u64 operations[IOT_KIND_WORDS];
	u64 mpi[IOT_KIND_WORDS];
	u64 known[IOT_KIND_WORDS];
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->offset_bytes < y->offset_bytes ? -1 : x->offset_bytes > y->offset_bytes;
}

static u64 last_ns_of(const struct plan *plan, const struct part *part)
{
	return le64_to_cpu(plan->entries[part->entry].last_ns);
}

static bool has_unknown(const struct plan *plan, const struct iot_summary *summary)
{
	u32 i;

	for (i = 0; i < IOT_KIND_WORDS; i++)
		if (summary->kinds[i] & ~plan->known[i])
			return true;
	return false;
}

/* The reader itself needs unknown records, which it counts, and the last number of lost ones. */
static int take(void *context, u32 number, const struct iot_summary *summary)
{
	struct plan *plan = context;
	const struct iot_need *need = plan->need;
	bool may_match = need->may_match && need->may_match(need->context, summary);
	struct part *part;

	if (number >= plan->count)
		return -EBADMSG;
	part = &plan->parts[number];
	plan->seen = number + 1ul;
	part->moved_bytes = summary->moved_bytes;
	part->operations = summary->operations;
	part->has_operations = iot_kinds_meet(summary->kinds, plan->operations);
	part->has_mpi = iot_kinds_meet(summary->kinds, plan->mpi);
	part->has_state = iot_kinds_meet(summary->kinds, need->state);
	part->is_needed = may_match || iot_kinds_meet(summary->kinds, need->always) || has_unknown(plan, summary) ||
			  (summary->kinds[IOT_KIND_end / 64] & 1ull << IOT_KIND_end % 64);
	if (may_match && last_ns_of(plan, part) > plan->match_ns)
		plan->match_ns = last_ns_of(plan, part);
	return 0;
}

static bool is_skippable(const struct plan *plan, const struct part *part, u64 end_ns)
{
	if (part->is_needed || last_ns_of(plan, part) >= end_ns)
		return false;
	return !part->has_state || le64_to_cpu(plan->entries[part->entry].first_ns) > plan->match_ns;
}

static void decide(const struct plan *plan, bool *is_skipped, struct iot_trace_info *info)
{
	u64 end_ns = 0;
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (last_ns_of(plan, &plan->parts[i]) > end_ns)
			end_ns = last_ns_of(plan, &plan->parts[i]);
	for (i = 0; i < plan->count; i++) {
		const struct part *part = &plan->parts[i];

		is_skipped[part->entry] &= is_skippable(plan, part, end_ns);
		if (!is_skipped[part->entry])
			continue;
		info->skipped++;
		info->skipped_operations += part->operations;
		info->skipped_bytes += part->moved_bytes;
		info->has_skipped_operations |= part->has_operations;
		info->has_skipped_mpi |= part->has_mpi;
	}
}

static void set_kinds(struct plan *plan)
{
	const struct iot_kind_info *info;
	u32 i;

	for (i = 0; (info = iot_kind_at(i)); i++) {
		iot_kinds_add(plan->known, info->kind);
		if (info->group == IOT_GROUP_op)
			iot_kinds_add(plan->operations, info->kind);
		if (info->group == IOT_GROUP_mpi)
			iot_kinds_add(plan->mpi, info->kind);
	}
}

/**
 * skip_plan() - choose the chunks that are not read
 * @fd: the trace
 * @begin_bytes: its first chunk of summaries
 * @end_bytes: end of the last one
 * @entries: of its index, in any order
 * @need: the records that the caller needs
 * @is_skipped: in: true for each entry whose chunk is not read yet; out: is it skipped?
 * @info: chunks in it are the number of entries; the skipped ones are added
 *
 * Return: 0, or a negative errno if the summaries cannot be used; then @is_skipped and @info are not changed.
 */
int skip_plan(int fd, u64 begin_bytes, u64 end_bytes, const struct iot_index_entry *entries,
	      const struct iot_need *need, bool *is_skipped, struct iot_trace_info *info)
{
	struct plan plan = { .entries = entries, .need = need, .count = info->chunks };
	size_t i;
	int err;

	plan.parts = calloc(plan.count + 1, sizeof(*plan.parts));
	if (!plan.parts)
		return -ENOMEM;
	for (i = 0; i < plan.count; i++) {
		plan.parts[i].offset_bytes = le64_to_cpu(entries[i].offset_bytes);
		plan.parts[i].entry = i;
	}
	qsort(plan.parts, plan.count, sizeof(*plan.parts), compare_parts);
	set_kinds(&plan);
	err = summaries_read(fd, begin_bytes, end_bytes, take, &plan);
	if (!err && plan.seen != plan.count)
		err = -EBADMSG;
	if (!err)
		decide(&plan, is_skipped, info);
	free(plan.parts);
	return err;
}
