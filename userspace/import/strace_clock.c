// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_clock.c - corrects times if the clock was set back while strace ran.
 *
 * The times of lines come from the wall clock; durations do not. The lines of a file are in the
 * order in which they were written, so the clock was set back where a line is earlier than the end
 * of the call on the line before it. The size of the step is unknown: all later times move by the
 * smallest amount that puts the line after that end. With a file for each thread, most files show
 * the same step; the largest of their amounts counts.
 *
 * A file without a step began after it or ended before it, or its thread was idle for so long that
 * the step is hidden. If the times do not decide, its first line gets the time of the call that
 * created the thread.
 */
#include <stdlib.h>

#include "strace_source.h"

/* One step, as a file shows it. */
struct sight {
	size_t source;
	u64 line;	/* the first one after it */
	u64 before_ns;	/* the latest time before it */
	u64 after_ns;	/* the first one after it */
	size_t step;	/* number of the step, from 0 */
};

struct survey {
	struct log *log;
	struct sight *sights;
	size_t count;
	size_t room;
	u64 *by_ns; /* of each step */
	size_t steps;
};

static int add_sight(struct survey *s, const struct sight *sight)
{
	struct sight *sights = s->sights;

	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		sights = reallocarray(sights, s->room, sizeof(*sights));
		if (!sights)
			return -ENOMEM;
		s->sights = sights;
	}
	sights[s->count++] = *sight;
	return 0;
}

/* Clocks that are slewed run faster or slower than the one that measures durations. */
#define SLACK_NS(duration_ns) (1000000 + (duration_ns) / 1000)

/* Duration of the call on a complete line, if the end of the line shows it; else 0. */
static u64 duration_of(const struct line *line)
{
	const char *begin = line->body.p, *end = begin + line->body.bytes, *open;
	u64 duration_ns = 0;

	if (line->kind != LINE_CALL || begin == end || end[-1] != '>')
		return 0;
	open = memrchr(begin, '<', line->body.bytes);
	return open && take_time(open + 1, end, &duration_ns) == end - 1 ? duration_ns : 0;
}

static bool is_step(const struct line *last, const struct line *line)
{
	u64 duration_ns = duration_of(last);

	return line->time_ns < last->time_ns ||
	       (duration_ns && line->time_ns + SLACK_NS(duration_ns) < last->time_ns + duration_ns);
}

/* A line that was damaged is early, too: the one behind it has to be, as well. One that is far too late is ignored. */
static int look_at_source(struct survey *s, size_t index)
{
	struct source *source = &s->log->sources[index];
	struct sight sight = {};
	struct line line, last = {};
	struct text text;
	int err = 0;

	while (!err && source_text(source, &text)) {
		line_parse(text, &line);
		if (line.kind == LINE_FOREIGN || !line.time_ns ||
		    (last.time_ns && line.time_ns > last.time_ns + RUN_MAX_NS))
			continue;
		if (sight.line && line.time_ns < sight.before_ns)
			err = add_sight(s, &sight);
		sight.line = 0;
		if (is_step(&last, &line))
			sight = (struct sight){ .source = index, .line = source->line,
						.before_ns = last.time_ns + duration_of(&last),
						.after_ns = line.time_ns };
		last = line;
	}
	if (sight.line && !err)
		err = add_sight(s, &sight);
	source_rewind(source);
	return err;
}

/* -- which steps are the same ------------------------------------------------------------------------ */

static size_t sights_of(const struct survey *s, size_t source, size_t *first)
{
	size_t i = 0, count = 0;

	while (i < s->count && s->sights[i].source != source)
		i++;
	*first = i;
	while (i + count < s->count && s->sights[i + count].source == source)
		count++;
	return count;
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* The file that shows most of them shows all of them; in others, each is the nearest that is left. */
static int number_steps(struct survey *s)
{
	size_t best = 0, best_count = 0, first, count, i, j;

	for (i = 0; i < s->log->source_count; i++) {
		count = sights_of(s, i, &first);
		if (count > best_count) {
			best = first;
			best_count = count;
		}
	}
	s->steps = best_count;
	s->by_ns = calloc(best_count + 1, sizeof(*s->by_ns));
	if (!s->by_ns)
		return -ENOMEM;
	for (i = 0; i < s->count; i++) {
		struct sight *sight = &s->sights[i];
		size_t from = i && s->sights[i - 1].source == sight->source ? s->sights[i - 1].step + 1 : 0;

		sight->step = from < best_count ? from : best_count - 1;
		for (j = from + 1; j < best_count; j++)
			if (distance(s->sights[best + j].before_ns, sight->before_ns) <
			    distance(s->sights[best + sight->step].before_ns, sight->before_ns))
				sight->step = j;
		if (sight->before_ns - sight->after_ns > s->by_ns[sight->step])
			s->by_ns[sight->step] = sight->before_ns - sight->after_ns;
	}
	return 0;
}

/* -- consequences for the lines of a file ------------------------------------------------------------- */

static int add_shift(struct source *source, u64 line, u64 by_ns)
{
	struct clock_shift *shifts = reallocarray(source->shifts, source->shift_count + 1, sizeof(*shifts));

	if (!shifts)
		return -ENOMEM;
	source->shifts = shifts;
	shifts[source->shift_count] = (struct clock_shift){
		line, by_ns + (source->shift_count ? shifts[source->shift_count - 1].by_ns : 0) };
	source->shift_count++;
	return 0;
}

/* The times between which a step was, as all files show it. */
static void window_of(const struct survey *s, size_t step, u64 *from_ns, u64 *to_ns)
{
	size_t i;

	*from_ns = (u64)-1;
	*to_ns = 0;
	for (i = 0; i < s->count; i++) {
		if (s->sights[i].step != step)
			continue;
		if (s->sights[i].after_ns < *from_ns)
			*from_ns = s->sights[i].after_ns;
		if (s->sights[i].before_ns > *to_ns)
			*to_ns = s->sights[i].before_ns;
	}
}

/* Did a call return this thread, and is its line after a clock step? 0: no call did. */
static int made_behind(const struct survey *s, u32 pid, size_t step)
{
	char mark[32];
	size_t i, j;

	snprintf(mark, sizeof(mark), ") = %u", pid);
	for (i = 0; i < s->log->source_count; i++) {
		const struct source *source = &s->log->sources[i];
		const char *at = memmem(source->text, source->bytes, mark, strlen(mark)), *p;
		u64 line = 1;

		if (!at)
			continue;
		for (p = source->text; (p = memchr(p, '\n', (size_t)(at - p))); p++)
			line++;
		for (j = 0; j < s->count; j++)
			if (s->sights[j].source == i && s->sights[j].step == step)
				return line >= s->sights[j].line ? 1 : -1;
	}
	return 0;
}

/* From which line on a step counts in a file that does not show it; 0: from none on. */
static u64 hidden_from(const struct survey *s, struct source *source, size_t step)
{
	struct line line;
	struct text text;
	u64 from_ns, to_ns, at = 0;

	window_of(s, step, &from_ns, &to_ns);
	while (!at && source_text(source, &text)) {
		line_parse(text, &line);
		if (line.kind == LINE_FOREIGN || !line.time_ns || line.time_ns < from_ns)
			continue;
		if (line.time_ns > to_ns || made_behind(s, source->pid, step) > 0)
			at = source->line;
		break;
	}
	source_rewind(source);
	return at;
}

static int shift_source(const struct survey *s, size_t index)
{
	struct source *source = &s->log->sources[index];
	size_t first, count = sights_of(s, index, &first), step, i = 0;
	int err = 0;
	u64 line;

	for (step = 0; step < s->steps && !err; step++) {
		bool is_seen = i < count && s->sights[first + i].step == step;

		line = is_seen ? s->sights[first + i++].line : hidden_from(s, source, step);
		if (line)
			err = add_shift(source, line, s->by_ns[step]);
	}
	return err;
}

/**
 * clock_survey() - find backward steps of the clock, and the shift of the following lines
 * @log: with all its files
 *
 * Return: 0 or -ENOMEM.
 */
int clock_survey(struct log *log)
{
	struct survey s = { .log = log };
	size_t i;
	int err = 0;

	for (i = 0; i < log->source_count && !err; i++)
		err = look_at_source(&s, i);
	if (!err && s.count)
		err = number_steps(&s);
	for (i = 0; i < log->source_count && s.count && !err; i++)
		err = shift_source(&s, i);
	log->clock_steps = s.steps;
	free(s.sights);
	free(s.by_ns);
	return err;
}
