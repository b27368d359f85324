// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_status.c - iotape status: the captures that this kernel runs at the moment.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "json.h"
#include "option.h"
#include "sessions.h"
#include "table.h"

#define JSON_VERSION 2 /* of the objects: it increases when a member changes its meaning or is removed */

struct options {
	bool is_json;
	bool is_watch;
	uint64_t watch_ms;
};

static const struct option_row option_rows[] = {
	{ "json", 'j', .field = OPTION_FIELD(struct options, is_json), .help = "print JSON, one object per line" },
	{ "watch", 'w', OPTION_DURATION, "SECONDS", .is_optional = true, .min = 100 * OPTION_MS, .max = 86400 * OPTION_S,
	  .unit = OPTION_S, .stored_unit = OPTION_MS, .absent = 2000, .field = OPTION_FIELD(struct options, watch_ms),
	  .given = OPTION_FIELD(struct options, is_watch),
	  .help = "repeat the output until Ctrl-C (default: every 2 s), with the rates of the last interval" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.about = "List active captures.",
};

/* Counters of an interval. */
struct rates {
	double seconds;
	double records;
	double bytes;
};

/* Since the last time, if there was one; else since the beginning. */
static struct rates rates_of(const struct session *now, const struct sessions *last)
{
	struct rates rates = {
		.seconds = (double)session_age_ns(now) / 1e9,
		.records = (double)now->info.records,
		.bytes = (double)now->info.sent_bytes,
	};
	int i;

	for (i = 0; i < last->count; i++) {
		const struct iot_info *then = &last->list[i].info;

		if (then->session != now->info.session || now->info.now_ns <= then->now_ns)
			continue;
		rates.seconds = (double)(now->info.now_ns - then->now_ns) / 1e9;
		rates.records = (double)(now->info.records - then->records);
		rates.bytes = (double)(now->info.sent_bytes - then->sent_bytes);
	}
	if (rates.seconds > 0) {
		rates.records /= rates.seconds;
		rates.bytes /= rates.seconds;
	}
	return rates;
}

static void put_line(const char *name, const char *value)
{
	if (*value)
		printf("  %-10s %s\n", name, value);
}

static void print_text(const struct session *s, const struct rates *rates)
{
	const struct iot_info *info = &s->info;
	char age[32], paused[32], sent[32], rate[32];
	int i;

	printf("session %llu: %s%s\n", (unsigned long long)info->session, session_state(s),
	       info->flags & IOT_INFO_PAUSED ? ", paused" : "");
	put_line("command", s->command);
	put_line("job", s->job);
	put_line("user", s->user);
	put_line("output", s->output);
	put_line("flight", s->flight);
	put_line("dump", s->dump);
	for (i = 0; i < s->mount_count; i++)
		put_line(i ? "" : "mount", *s->mounts[i] ? s->mounts[i] : "?");
	printf("  %-10s %s", "age", quantity_time(age, session_age_ns(s)));
	if (info->pauses)
		printf(", %u %s of %s, %llu operations left out", info->pauses, info->pauses == 1 ? "pause" : "pauses",
		       quantity_time(paused, info->paused_ns), (unsigned long long)info->left_out);
	putchar('\n');
	if (info->flags & IOT_INFO_COUNTERS)
		put_line("counters", "operations are counted, not recorded");
	if (info->flags & IOT_INFO_DELAYS)
		put_line("delays", "threads are delayed after their operations");
	put_line("expression", s->filter);
	if (info->flags & IOT_INFO_FILTERED || info->refused)
		printf("  %-10s %s%s%llu operations excluded\n", "filter", s->ops, *s->ops ? ", " : "",
		       (unsigned long long)info->refused);
	printf("  %-10s %llu, %.0f/s, %llu lost, %llu waits for the collector\n", "records",
	       (unsigned long long)info->records, rates->records, (unsigned long long)info->lost,
	       (unsigned long long)info->waits);
	printf("  %-10s %s, %s/s, collector %u\n", "sent", quantity_bytes(sent, info->sent_bytes),
	       quantity_bytes(rate, (uint64_t)rates->bytes), info->collector);
	printf("  %-10s %u of 32 KiB on each of %u CPUs, %u behind, policy %s\n", "buffers", info->buffers, info->cpus,
	       info->behind, session_policy(s));
}

static void print_json(const struct session *s, const struct rates *rates)
{
	const struct iot_info *info = &s->info;
	struct json json;
	int i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_unsigned(&json, "version", JSON_VERSION);
	json_put_unsigned(&json, "session", info->session);
	json_put_string(&json, "state", session_state(s));
	json_put_bool(&json, "is_paused", info->flags & IOT_INFO_PAUSED);
	json_put_bool(&json, "has_counters", info->flags & IOT_INFO_COUNTERS);
	json_put_bool(&json, "has_delays", info->flags & IOT_INFO_DELAYS);
	json_put_string(&json, "policy", session_policy(s));
	json_put_unsigned(&json, "collector", info->collector);
	json_put_unsigned(&json, "mounts", info->mounts);
	json_key(&json, "paths");
	json_begin(&json, '[');
	for (i = 0; i < s->mount_count; i++)
		json_string(&json, s->mounts[i]);
	json_end(&json, ']');
	json_put_string(&json, "command", s->command);
	json_put_string(&json, "job", s->job);
	json_put_string(&json, "user", s->user);
	json_put_string(&json, "output", s->output);
	json_put_string(&json, "ops", s->ops);
	json_put_string(&json, "filter", s->filter);
	json_put_string(&json, "flight", s->flight);
	json_put_string(&json, "dump", s->dump);
	json_put_unsigned(&json, "age_ns", session_age_ns(s));
	json_put_unsigned(&json, "pauses", info->pauses);
	json_put_unsigned(&json, "paused_ns", info->paused_ns);
	json_put_unsigned(&json, "left_out", info->left_out);
	json_put_unsigned(&json, "excluded", info->refused);
	json_put_unsigned(&json, "records", info->records);
	json_put_real(&json, "records_per_second", rates->records);
	json_put_unsigned(&json, "lost", info->lost);
	json_put_unsigned(&json, "backpressure_waits", info->waits);
	json_put_unsigned(&json, "sent_bytes", info->sent_bytes);
	json_put_real(&json, "sent_bytes_per_second", rates->bytes);
	json_put_unsigned(&json, "buffers", info->buffers);
	json_put_unsigned(&json, "cpus", info->cpus);
	json_put_unsigned(&json, "behind", info->behind);
	json_end(&json, '}');
	json_line(&json);
}

static int print_all(const struct options *options, int fd, struct sessions *last)
{
	struct sessions sessions;
	int i, err = sessions_load(fd, &sessions);

	for (i = 0; i < sessions.count && !err; i++) {
		struct rates rates = rates_of(&sessions.list[i], last);

		if (options->is_json)
			print_json(&sessions.list[i], &rates);
		else
			print_text(&sessions.list[i], &rates);
	}
	if (!err && !sessions.count && !options->is_json)
		puts("no captures");
	sessions_free(last);
	*last = sessions;
	return err;
}

static int watch(const struct options *options, int fd, struct sessions *sessions)
{
	const struct timespec pause = {
		.tv_sec = (time_t)(options->watch_ms / 1000),
		.tv_nsec = (long)(options->watch_ms % 1000 * 1000000),
	};
	bool is_screen = !options->is_json && isatty(STDOUT_FILENO);
	int err;

	do {
		if (is_screen)
			fputs("\033[H\033[2J", stdout); /* home, and clear */
		err = print_all(options, fd, sessions);
		if (fflush(stdout))
			return 0; /* printed at the end */
		if (!err)
			nanosleep(&pause, NULL);
	} while (!err);
	return err;
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct sessions sessions = {};
	char why[512];
	int fd, err;

	options_parse(&option_table, argc, argv, &options);
	fd = sessions_open(why, sizeof(why));
	if (fd < 0)
		return fail("%s", why);
	err = options.is_watch ? watch(&options, fd, &sessions) : print_all(&options, fd, &sessions);
	sessions_free(&sessions);
	close(fd);
	return err ? sessions_fail(err, "query sessions") : EXIT_DONE;
}

const struct cmd cmd_status = {
	.name = "status",
	.summary = "list active captures",
	.run = run,
	.options = &option_table,
};
