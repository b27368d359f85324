// SPDX-License-Identifier: GPL-2.0-only
/*
 * comparison.c - compares runs, and warns of differences that limit the comparison.
 */
#include "comparison.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Cached shares of opened files may differ by this much without a warning. */
#define CACHED_SHARE_TOLERANCE 0.1

static int warn(struct comparison *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int warn(struct comparison *c, const char *format, ...)
{
	struct comparison_warning *warnings = reallocarray(c->warnings, c->warning_count + 1, sizeof(*warnings));
	va_list arguments;
	int length;

	if (!warnings)
		return -ENOMEM;
	c->warnings = warnings;
	va_start(arguments, format);
	warnings[c->warning_count].is_omission = false;
	length = vasprintf(&warnings[c->warning_count].text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	c->warning_count++;
	return 0;
}

/* -- one run ------------------------------------------------------------------------------------ */

static const char *fact_or(const struct profile *profile, const char *key, const char *otherwise)
{
	const char *value = profile_fact(profile, key);

	return value ? value : otherwise;
}

static void describe(struct comparison_run *run)
{
	const struct profile *p = run->profile;

	run->is_replay = profile_fact(p, "replay");
	run->place = fact_or(p, run->is_replay ? "target" : "mount", "?");
	run->pace = fact_or(p, "pace", "");
	run->data = fact_or(p, "data", "");
	run->seconds = profile_seconds(p);
	run->change = NAN;
}

static int warn_of_run(struct comparison *c, const struct comparison_run *run)
{
	const struct profile *p = run->profile;
	char text[IOT_OMISSION_TEXT_BYTES];
	u32 i, first = c->warning_count;
	int err = 0;

	if (iot_omissions_text(&p->omissions, text))
		err = warn(c, "%s: %s", run->path, text);
	for (i = 1; i < IOT_OMISSION_END && !err; i++)
		if (iot_omission_text(&p->omissions, i, text))
			err = warn(c, "%s: %s", run->path, text);
	for (i = first; i < c->warning_count; i++)
		c->warnings[i].is_omission = true;
	if (!err && p->backpressure_waits && p->is_imported)
		err = warn(c, "%s: strace stopped the tasks, so the run took longer than without it", run->path);
	else if (!err && p->backpressure_waits)
		err = warn(c, "%s: tasks waited for the collector %llu times, so the run took longer "
			      "than without recording (see --buffers)",
			   run->path, p->backpressure_waits);
	return err;
}

/* -- a replay and its original ------------------------------------------------------------------- */

static int warn_of_pair(struct comparison *c, const struct comparison_run *original,
			const struct comparison_run *replay)
{
	double found = profile_cached_share(original->profile), met = profile_cached_share(replay->profile);
	int err = 0;

	if (original->profile->is_imported)
		err = warn(c, "%s: the share of opened data in the page cache is unknown for %s",
			   replay->path, original->path);
	else if (fabs(found - met) > CACHED_SHARE_TOLERANCE)
		err = warn(c, "%s: %.0f %% of the opened data was in the page cache; for %s, %.0f %%",
			   replay->path, 100 * met, original->path, 100 * found);
	if (!err && !strcmp(replay->data, "discard"))
		err = warn(c, "%s: the data read was not copied to memory, unlike in %s (see --data)",
			   replay->path, original->path);
	return err;
}

static bool is_capture(const struct profile *profile, const char *id)
{
	char text[2 * sizeof(profile->info.capture) + 1];
	size_t i;

	for (i = 0; i < sizeof(profile->info.capture); i++)
		snprintf(text + 2 * i, 3, "%02x", profile->info.capture[i]);
	return !strcmp(text, id);
}

/* Unknown values, as in old traces, count as different. File systems are the same only on the same host. */
static bool is_same_fact(const struct comparison_run *a, const struct comparison_run *b, const char *key)
{
	const char *x = profile_fact(a->profile, key), *y = profile_fact(b->profile, key);

	return x && y && !strcmp(x, y);
}

/* The last recording before a run for which @is_it is true; NULL if there is none. */
static const struct comparison_run *find_original(const struct comparison *c, u32 run,
						  bool (*is_it)(const struct comparison_run *original,
								const struct comparison_run *replay))
{
	u32 i = run;

	while (i-- > 0)
		if (!c->runs[i].is_replay && is_it(&c->runs[i], &c->runs[run]))
			return &c->runs[i];
	return NULL;
}

static bool is_any(const struct comparison_run *original, const struct comparison_run *replay)
{
	(void)original;
	(void)replay;
	return true;
}

static bool is_on_same_storage(const struct comparison_run *original, const struct comparison_run *replay)
{
	return is_same_fact(original, replay, IOT_FACT_STORAGE) && is_same_fact(original, replay, "host");
}

/* An old replay does not state which trace it is a replay of: it is taken to be one of the last. */
static bool is_replayed(const struct comparison_run *original, const struct comparison_run *replay)
{
	const char *id = profile_fact(replay->profile, IOT_FACT_REPLAY_OF);

	return !id || is_capture(original->profile, id);
}

/* A run of the program on the same storage shows the error; else the recording shows the change. */
static int relate_replay(struct comparison *c, u32 i)
{
	const struct comparison_run *recording = find_original(c, i, is_replayed);
	struct comparison_run *run = &c->runs[i];
	int err = 0;

	run->original = find_original(c, i, is_on_same_storage);
	run->is_same_storage = run->original;
	if (!run->original)
		run->original = recording;
	if (!run->original)
		return find_original(c, i, is_any) ?
			       warn(c, "%s: is not a replay of a preceding recording on the command line", run->path) : 0;
	if (!recording)
		err = warn(c, "%s: its recording does not precede it on the command line: %s may be a run of another program",
			   run->path, run->original->path);
	if (!strcmp(run->pace, "natural") && run->original->profile->sum.ops && run->original->seconds > 0)
		run->change = run->seconds / run->original->seconds - 1;
	return err ? err : warn_of_pair(c, run->original, run);
}

static int relate(struct comparison *c)
{
	u32 i;
	int err = 0;

	for (i = 0; i < c->run_count && !err; i++) {
		err = warn_of_run(c, &c->runs[i]);
		if (!err && c->runs[i].is_replay)
			err = relate_replay(c, i);
	}
	return err;
}

/**
 * comparison_read() - add up traces and put them side by side
 * @paths: of the traces: a replay is measured by its original, if that is named before it
 * @count: at most COMPARISON_RUNS_MAX
 * @comparison: filled in; to be freed by comparison_free(), after an error, too
 * @refused: out, after an error: the trace that was read last
 * @reject: filled in then
 *
 * Return: 0 or a negative errno.
 */
int comparison_read(const char *const *paths, u32 count, struct comparison *comparison,
		    u32 *refused, struct iot_reject *reject)
{
	u32 i;
	int err;

	*comparison = (struct comparison){};
	*reject = (struct iot_reject){};
	*refused = 0;
	for (i = 0; i < count; i++) {
		struct comparison_run *run = &comparison->runs[i];

		*refused = i;
		run->path = paths[i];
		err = profile_read(run->path, &run->profile, reject);
		if (err)
			return err;
		comparison->run_count++;
		describe(run);
	}
	return relate(comparison);
}

/**
 * comparison_free() - free the result of comparison_read()
 */
void comparison_free(struct comparison *comparison)
{
	u32 i;

	for (i = 0; i < comparison->run_count; i++)
		profile_free(comparison->runs[i].profile);
	for (i = 0; i < comparison->warning_count; i++)
		free(comparison->warnings[i].text);
	free(comparison->warnings);
}

/**
 * comparison_has_kind() - does any run have operations of a kind?
 */
bool comparison_has_kind(const struct comparison *comparison, u16 kind)
{
	u32 i;

	for (i = 0; i < comparison->run_count; i++)
		if (comparison->runs[i].profile->kinds[kind].sum.ops)
			return true;
	return false;
}

/**
 * comparison_has_mpi() - does any run have MPI calls?
 */
bool comparison_has_mpi(const struct comparison *comparison)
{
	u32 i;

	for (i = 0; i < comparison->run_count; i++)
		if (comparison->runs[i].profile->mpi.ops)
			return true;
	return false;
}

/**
 * comparison_share() - the share of operations of a kind in the time of all operations
 *
 * Return: the share in the run where it is largest, from 0 to 1.
 */
double comparison_share(const struct comparison *comparison, u16 kind)
{
	double largest = 0;
	u32 i;

	for (i = 0; i < comparison->run_count; i++) {
		const struct profile *p = comparison->runs[i].profile;
		const struct histogram *latency_ns = p->kinds[kind].latency_ns;

		u64 time_ns = p->is_mpi_only ? p->mpi.time_ns : p->sum.time_ns;

		if (latency_ns && time_ns)
			largest = fmax(largest, (double)latency_ns->sum / (double)time_ns);
	}
	return largest;
}
