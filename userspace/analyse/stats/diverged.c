// SPDX-License-Identifier: GPL-2.0-only
/*
 * diverged.c - the first operations of a replay that diverged, and the order that may be missing.
 *
 * A divergence has the number of its operation. The record of the operation, which comes just before, has the path.
 * Most divergences come from an order of two tasks that the program lacks, so the last operation of another task on
 * the same path is kept, too.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_adder.h"

/**
 * adder_touch() - count an operation
 * @a: of the profile
 * @op: the operation
 * @file: index of its file
 *
 * Return: 0 or -ENOMEM.
 */
int adder_touch(struct adder *a, const struct iot_rec_op *op, u32 file)
{
	struct touches *touches;

	while (a->touch_count <= file) {
		if (adder_grow(&a->touches, a->touch_count, &a->touch_room, sizeof(*a->touches)))
			return -ENOMEM;
		a->touches[a->touch_count++] = (struct touches){};
	}
	touches = &a->touches[file];
	if (touches->last.task != op->task)
		touches->other = touches->last;
	touches->last = (struct actor){ op->task, op->op };
	a->recent[a->recent_at] = (struct recent){ touches->last, touches->other, file };
	a->recent_at = (a->recent_at + 1) % RECENT_COUNT;
	return 0;
}

/**
 * adder_diverged() - keep a divergence, if it is one of the first
 * @a: of the profile
 * @r: its record
 *
 * Return: 0 or -ENOMEM.
 */
int adder_diverged(struct adder *a, const struct iot_rec_divergence *r)
{
	struct profile *p = a->profile;
	struct profile_divergence *d = &p->divergences[p->divergence_count];
	u32 i;

	if (p->divergence_count == PROFILE_DIVERGENCES_MAX)
		return 0;
	*d = (struct profile_divergence){ .task = r->task, .op = r->op, .kind = (u16)r->kind,
					  .expected = r->expected, .got = r->got };
	p->divergence_count++;
	for (i = 0; i < RECENT_COUNT; i++) {
		const struct recent *recent = &a->recent[(a->recent_at + RECENT_COUNT - 1 - i) % RECENT_COUNT];

		if (recent->who.task != r->task || recent->who.op != r->op || !r->op)
			continue;
		d->other_task = recent->other.task;
		d->other_op = recent->other.op;
		d->path = strdup(p->files[recent->file].path);
		return d->path ? 0 : -ENOMEM;
	}
	return 0;
}
