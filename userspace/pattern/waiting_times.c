// SPDX-License-Identifier: GPL-2.0-only
/*
 * waiting_times.c - times that are added to the histograms of a group later, in their order.
 *
 * Equal times of a run are one item. A time joins an earlier item if the items between have neither its histogram nor its
 * distribution: then the order does not matter.
 */
#include "waiting_times.h"

static int grow(struct waiting_times *w)
{
	u32 room = w->room ? 2 * w->room : 16;
	struct waiting_time *items;

	if (w->room > UINT32_MAX / 2)
		return -ENOMEM;
	items = reallocarray(w->items, room, sizeof(*items));
	if (!items)
		return -ENOMEM;
	w->items = items;
	w->room = room;
	return 0;
}

/**
 * waiting_times_add() - a time of an operation
 * @w: of the group
 * @uses: of each distribution, by all groups
 * @runs: number of runs of the group
 * @run: of the operation
 * @is_duration: it is that of the operation, not the think time before it
 * @time_ns: as in struct stream_task
 *
 * Return: 0 or -ENOMEM.
 */
int waiting_times_add(struct waiting_times *w, struct last_use *uses, u32 runs, u32 run, bool is_duration, u64 time_ns)
{
	struct last_use *use = time_ns & STREAM_DISTRIBUTION ? &uses[time_ns & ~STREAM_DISTRIBUTION] : NULL;
	u32 *last;

	if (!w->last)
		w->last = calloc(2 * (size_t)runs, sizeof(*w->last));
	if (!w->last)
		return -ENOMEM;
	last = &w->last[2 * (size_t)run + is_duration];
	if (*last && w->items[*last - 1].time_ns == time_ns && (!use || (use->group == w->group && use->item == *last))) {
		w->items[*last - 1].count++;
		return 0;
	}
	if (w->count == w->room && grow(w))
		return -ENOMEM;
	w->items[w->count++] = (struct waiting_time){ .time_ns = time_ns, .count = 1, .run = run, .is_duration = is_duration };
	*last = w->count;
	if (use)
		*use = (struct last_use){ w->group, *last };
	return 0;
}

/**
 * times_add_of_stream() - add a time of a stream to a histogram
 * @stream: with its distributions
 * @time_ns: as in struct stream_task
 */
void times_add_of_stream(struct times *times, const struct stream *stream, u64 time_ns)
{
	if (time_ns & STREAM_DISTRIBUTION)
		times_add_part(times, stream->distributions[time_ns & ~STREAM_DISTRIBUTION]);
	else
		times_add(times, time_ns);
}

/**
 * waiting_times_finish() - add all times to the histograms of their runs
 * @w: of a group; the times of the groups before it have been added
 * @stream: with its distributions
 * @times: of the runs of the group
 */
void waiting_times_finish(struct waiting_times *w, const struct stream *stream, struct run_times *times)
{
	u32 i;

	for (i = 0; i < w->count; i++) {
		const struct waiting_time *item = &w->items[i];
		struct run_times *of_run = &times[item->run];
		u64 left;

		for (left = item->count; left; left--)
			times_add_of_stream(item->is_duration ? &of_run->duration : &of_run->think, stream, item->time_ns);
	}
}

/**
 * waiting_times_free() - free the memory of the times
 */
void waiting_times_free(struct waiting_times *w)
{
	free(w->items);
	free(w->last);
	*w = (struct waiting_times){};
}
