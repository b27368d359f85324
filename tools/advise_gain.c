// SPDX-License-Identifier: GPL-2.0-only
/*
 * advise_gain.c - the gain of the changes that hints propose, measured by replays of the changed job.
 *
 * The job is described by a pattern, which is changed as by `iotape pattern --set`. The patterns with and without each change
 * are compiled and replayed by turns on the storage, in new directories, which are removed at the end. The reference is the
 * unchanged pattern and not the recording: both have the think times of the pattern.
 */
#include "advise_gain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "pattern/pattern.h"
#include "replays.h"

#define VARIANTS_MAX (1 + ADVISE_HINT_COUNT)

/**
 * struct variant - the job, unchanged or with one change
 * @change: as for --set; NULL: unchanged
 * @why: why it cannot be replayed, "" if it can
 * @trace: of its pattern
 */
struct variant {
	const char *change;
	char why[640];
	char trace[REPLAYS_PATH_BYTES];
	struct replays replays;
	u64 changed;
	struct gain_time time;
	u64 diverged;
};

/**
 * struct measuring - the measurement of all gains of a job
 * @variants: the first one is unchanged
 * @directory: of intermediate files
 */
struct measuring {
	const struct gain_options *options;
	struct variant *variants;
	u32 count;
	char directory[REPLAYS_PATH_BYTES];
};

/* -- variants ----------------------------------------------------------------------------------------------- */

static struct variant *variant_find(const struct measuring *m, const char *change)
{
	u32 i;

	for (i = 1; i < m->count; i++)
		if (!strcmp(m->variants[i].change, change))
			return &m->variants[i];
	return NULL;
}

static void put_reject(struct variant *v, int err, const struct iot_reject *reject)
{
	snprintf(v->why, sizeof(v->why), "the trace has no pattern: %s",
		 reject->reason ? iot_reject_sentence(reject) : strerror(-err));
}

/* The pattern with the change of a variant. Return: 0 or a negative errno; -EOPNOTSUPP: the reason is in @v. */
static int change_pattern(struct variant *v, const struct pattern *pattern, struct pattern **changed)
{
	const char *equals = strchr(v->change, '=');
	char *name = strndup(v->change, (size_t)(equals - v->change));
	struct pattern_refusal refusal;
	int err = name ? pattern_change(pattern, name, equals + 1, changed, &v->changed, &refusal) : -ENOMEM;

	free(name);
	if (err == -EOPNOTSUPP) {
		snprintf(v->why, sizeof(v->why), "the change is refused: %s", refusal.text);
	} else if (!err && !v->changed) {
		strcpy(v->why, "the change affects no operation of the job");
		pattern_free(*changed);
		err = -EOPNOTSUPP;
	}
	return err;
}

/* Return: 0 or a negative errno; -EOPNOTSUPP: the reason is in @v. */
static int write_trace(struct measuring *m, struct variant *v, const struct pattern *pattern)
{
	struct pattern_refusal refusal;
	u64 broken;
	int err;

	snprintf(v->trace, sizeof(v->trace), "%.*s/pattern%u.iot", PATH_MAX, m->directory, (u32)(v - m->variants));
	err = pattern_trace(pattern, v->trace, &broken, &refusal);
	if (err == -EOPNOTSUPP)
		snprintf(v->why, sizeof(v->why), "the pattern has no trace: %s", refusal.text);
	else if (!err && broken)
		snprintf(v->why, sizeof(v->why), "the order between tasks is unknown %llu times in the pattern", broken);
	return err;
}

static int variant_compile(struct measuring *m, struct variant *v)
{
	v->replays.trace = v->trace;
	v->replays.engine = m->options->engine;
	snprintf(v->replays.program, sizeof(v->replays.program), "%.*s/program%u.irp", PATH_MAX, m->directory,
		 (u32)(v - m->variants));
	return replays_compile(&v->replays);
}

/* Return: an exit code. A variant that cannot be replayed has a reason then. */
static int variant_make(struct measuring *m, struct variant *v, const struct pattern *pattern)
{
	struct pattern *changed = NULL;
	int err = v->change ? change_pattern(v, pattern, &changed) : 0;

	if (!err)
		err = write_trace(m, v, v->change ? changed : pattern);
	pattern_free(changed);
	if (err && err != -EOPNOTSUPP)
		return fail("%s: %s", v->change ? v->change : "pattern", strerror(-err));
	return v->why[0] ? EXIT_DONE : variant_compile(m, v);
}

/* All variants. Return: an exit code. */
static int variants_make(struct measuring *m, const char *trace)
{
	struct variant *base = &m->variants[0];
	struct iot_omissions omissions;
	struct iot_reject reject = {};
	struct pattern *pattern;
	int err = pattern_make(trace, &pattern, &omissions, &reject), code;
	u32 i;

	if (err == -ENOMEM)
		return fail("%s: %s", trace, strerror(ENOMEM));
	if (err) {
		put_reject(base, err, &reject);
		return EXIT_DONE;
	}
	code = variant_make(m, base, pattern);
	for (i = 1; i < m->count && !code && !base->why[0]; i++)
		code = variant_make(m, &m->variants[i], pattern);
	pattern_free(pattern);
	return code;
}

/* -- replays ------------------------------------------------------------------------------------------------ */

static void name_outcomes(const struct measuring *m, const struct variant *v, u32 run, char path[REPLAYS_PATH_BYTES])
{
	snprintf(path, REPLAYS_PATH_BYTES, "%.*s/run%u-%u.iot", PATH_MAX, m->directory, (u32)(v - m->variants), run);
}

static int replay_once(struct measuring *m, struct variant *v, u32 run)
{
	char path[REPLAYS_PATH_BYTES];
	int code = EXIT_DONE;

	if (replay_has_signal())
		return fail("interrupted in replay %u of %u", run + 1, m->options->runs);
	if (!v->replays.target[0])
		code = replays_directory(v->replays.target, m->options->on);
	progress("%s: replay %u of %u, %s", m->options->on, run + 1, m->options->runs, v->change ? v->change : "unchanged");
	name_outcomes(m, v, run, path);
	return code ? code : replays_run(&v->replays, path);
}

/* By turns, and each round begins with another one, so that slow changes of the storage affect all of them. */
static int replay_all(struct measuring *m)
{
	int code = EXIT_DONE;
	u32 run, i;

	for (run = 0; run < m->options->runs && !code; run++)
		for (i = 0; i < m->count && !code; i++) {
			struct variant *v = &m->variants[(i + run) % m->count];

			if (!v->why[0])
				code = replay_once(m, v, run);
		}
	progress_end();
	return code;
}

static int variant_measure(struct measuring *m, struct variant *v)
{
	char (*names)[REPLAYS_PATH_BYTES] = calloc(PREDICTION_RUNS_MAX, sizeof(*names));
	const char *paths[COMPARISON_RUNS_MAX] = { v->trace };
	struct comparison comparison;
	struct prediction prediction;
	struct iot_reject reject;
	u32 refused, i;
	int err, code = EXIT_DONE;

	if (!names)
		return fail("%s", strerror(ENOMEM));
	for (i = 0; i < m->options->runs; i++) {
		name_outcomes(m, v, i, names[i]);
		paths[i + 1] = names[i];
	}
	err = comparison_read(paths, m->options->runs + 1, &comparison, &refused, &reject);
	if (err) {
		code = fail_reject(paths[refused], err, &reject);
	} else if (prediction_make(&comparison, &prediction)) {
		code = fail("%s", strerror(ENOMEM));
	} else {
		v->time = (struct gain_time){ prediction.predicted_s, prediction.min_s, prediction.max_s };
		v->diverged = prediction.diverged;
		prediction_free(&prediction);
	}
	comparison_free(&comparison);
	free(names);
	return code;
}

static int measure(struct measuring *m, const char *trace)
{
	int code = variants_make(m, trace);
	bool is_any = false;
	u32 i;

	for (i = 1; i < m->count && !m->variants[0].why[0]; i++)
		is_any |= !m->variants[i].why[0];
	if (code || !is_any)
		return code;
	code = replay_all(m);
	for (i = 0; i < m->count && !code; i++)
		if (!m->variants[i].why[0])
			code = variant_measure(m, &m->variants[i]);
	return code;
}

/* -- gains -------------------------------------------------------------------------------------------------- */

static void gain_take(struct gain *gain, const struct advise_finding *finding, const struct measuring *m)
{
	const struct variant *base = &m->variants[0], *v = finding->change ? variant_find(m, finding->change) : NULL;
	const char *why = !v ? finding->no_change : base->why[0] ? base->why : v->why;

	snprintf(gain->why, sizeof(gain->why), "%s", why);
	if (why[0])
		return;
	gain->changed = v->changed;
	gain->before = base->time;
	gain->after = v->time;
	gain->diverged = base->diverged > v->diverged ? base->diverged : v->diverged;
}

static int measuring_close(struct measuring *m)
{
	int code = EXIT_DONE, removed;
	u32 i;

	for (i = 0; i < m->count; i++) {
		removed = replays_remove(m->variants[i].replays.target);
		code = code ? code : removed;
		compile_summary_free(&m->variants[i].replays.summary);
	}
	removed = replays_remove(m->directory);
	free(m->variants);
	return code ? code : removed;
}

/**
 * gains_measure() - measure the gains of all hints that were found
 * @options: how
 * @trace: of the job
 * @advise: its hints
 * @gains: out: of hints that were found
 *
 * Return: an exit code; if it is not EXIT_DONE, a message was printed.
 */
int gains_measure(const struct gain_options *options, const char *trace, const struct advise *advise, struct gains *gains)
{
	struct measuring m = { .options = options, .count = 1 };
	int code, removed;
	u32 i;

	*gains = (struct gains){};
	m.variants = calloc(VARIANTS_MAX, sizeof(*m.variants));
	if (!m.variants)
		return fail("%s", strerror(ENOMEM));
	for (i = 0; i < ADVISE_HINT_COUNT; i++)
		if (advise->findings[i].change && !variant_find(&m, advise->findings[i].change))
			m.variants[m.count++].change = advise->findings[i].change;
	code = replays_directory(m.directory, replays_place());
	if (!code && m.count > 1)
		code = measure(&m, trace);
	for (i = 0; i < ADVISE_HINT_COUNT && !code; i++) {
		if (advise->findings[i].verdict != ADVISE_FOUND)
			continue;
		gain_take(&gains->hints[i], &advise->findings[i], &m);
		gains->has_diverged |= gains->hints[i].diverged;
	}
	removed = measuring_close(&m);
	return code ? code : removed;
}

/**
 * gain_is_within_scatter() - are there replays with the change that were not faster, or not slower, than all others?
 */
bool gain_is_within_scatter(const struct gain *gain)
{
	return gain->after.min_s <= gain->before.max_s && gain->before.min_s <= gain->after.max_s;
}
