// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_ctl.c - iotape ctl: change recordings while they run.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd.h"
#include "option.h"
#include "option_filter.h"
#include "sessions.h"

static const char *const policies[] = { "block", "drop", NULL };
static const char *const mmap_modes[] = { "off", "faultaround", "page", NULL };

/**
 * struct verb - a setting that can be changed
 * @name: on the command line
 * @verb: for the kernel
 * @words: possible values; the index goes to the kernel
 * @min, @max: limits of a value that is a number; 0: there is none
 * @is_filter: the value is a filter expression, @FILE with one, or none
 * @again: message if there is nothing to change
 */
struct verb {
	const char *name;
	enum iot_ctl_verb verb;
	const char *const *words;
	unsigned long min;
	unsigned long max;
	bool is_filter;
	const char *again;
};

/* Another thing that can be changed is a row here, and a verb of IOT_IOC_CTL; or a request of its own in change(). */
static const struct verb verbs[] = {
	{ "pause", IOT_CTL_PAUSE, .again = "is already paused" },
	{ "resume", IOT_CTL_RESUME, .again = "is not paused" },
	{ "start", IOT_CTL_RESUME, .again = "is not paused" },
	{ "stop", IOT_CTL_STOP },
	{ "flush", IOT_CTL_FLUSH },
	{ "dump", IOT_CTL_DUMP },
	{ "counters", IOT_CTL_COUNTERS },
	{ "policy", IOT_CTL_POLICY, .words = policies },
	{ "buffers", IOT_CTL_BUFFERS, .min = IOT_BUFFERS_MIN, .max = IOT_BUFFERS_MAX },
	{ "mmap", IOT_CTL_MMAP, .words = mmap_modes },
	{ "filter", IOT_CTL_FILTER, .is_filter = true },
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

struct options {
	struct session_choice choice;
	bool is_all;
	bool is_quiet;
	const struct verb *verb;
	const char *value;
	unsigned int number;
	struct filter *filter;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const char *verb_at(size_t index)
{
	return index < VERBS ? verbs[index].name : NULL;
}

static void set_mount(struct option_state *state, char *dir)
{
	struct options *options = state->options;

	options->choice.mount = option_real_path(state, dir);
}

static bool has_value(const struct verb *verb)
{
	return verb->words || verb->max || verb->is_filter;
}

static void add_operand(struct option_state *state, char *operand)
{
	struct options *options = state->options;
	size_t i;

	if (options->value || (options->verb && !has_value(options->verb)))
		option_error(state, "%s: one verb at a time", operand);
	if (options->verb) {
		options->value = operand;
		return;
	}
	for (i = 0; i < VERBS; i++)
		if (!strcmp(verbs[i].name, operand))
			options->verb = &verbs[i];
	if (!options->verb)
		option_error(state, "%s: unknown verb%s", operand,
			     option_hint(&(struct option_row){ .word_at = verb_at }, operand));
}

static void check_word(struct option_state *state, struct options *options)
{
	const char *const *word;

	for (word = options->verb->words; *word; word++)
		if (!strcmp(*word, options->value)) {
			options->number = (unsigned int)(word - options->verb->words);
			return;
		}
	option_error(state, "%s %s: not one of %s, %s%s%s", options->verb->name, options->value, options->verb->words[0],
		     options->verb->words[1], options->verb->words[2] ? ", " : "", options->verb->words[2] ?: "");
}

static void check_number(struct option_state *state, struct options *options)
{
	char *end;
	unsigned long number = strtoul(options->value, &end, 10);

	if (*end || options->value[0] < '0' || options->value[0] > '9' || number < options->verb->min ||
	    number > options->verb->max)
		option_error(state, "%s %s: not a number from %lu to %lu", options->verb->name, options->value,
			     options->verb->min, options->verb->max);
	options->number = (unsigned int)number;
}

static void check_filter(struct option_state *state, struct options *options)
{
	if (strcmp(options->value, "none"))
		options->filter = option_filter(state, options->verb->name, options->value, false);
}

static void check(struct option_state *state)
{
	struct options *options = state->options;

	if (!options->verb)
		option_error(state, "no verb given");
	if (!has_value(options->verb))
		return;
	if (!options->value)
		option_error(state, "%s: no value given", options->verb->name);
	if (options->verb->is_filter)
		check_filter(state, options);
	else if (options->verb->words)
		check_word(state, options);
	else
		check_number(state, options);
}

static const struct option_row option_rows[] = {
	{ "session", 's', OPTION_COUNT, "N", .min = 1, .max = UINT64_MAX, .field = FIELD(choice.number),
	  .help = "change the recording with this number, see iotape status" },
	{ "mount", 'm', OPTION_DIRECTORY, "DIR", .set = set_mount,
	  .help = "change the recording of the mount that DIR is in" },
	{ "job", 0, OPTION_TEXT, "NAME", .field = FIELD(choice.job),
	  .help = "change the recording of this job, or of a command that contains this text" },
	{ "all", 'a', .field = FIELD(is_all), .help = "change all matching recordings (default: only if one matches)" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print the changed recordings" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "VERB [VALUE]",
	.operand_word_at = verb_at,
	.add = add_operand,
	.check = check,
	.about = "Change a recording while it runs.",
	.notes = "Verbs: pause, resume (or start), stop, flush, dump, counters, policy block|drop, buffers N, mmap off|faultaround|page, "
		 "filter EXPR|@FILE|none. Each change is stated in the trace. Without an option, the only recording is changed.",
};

static const char *lacking(const struct session *session, enum iot_ctl_verb verb)
{
	switch (verb) {
	case IOT_CTL_DUMP:
		return "no flight recorder";
	case IOT_CTL_COUNTERS:
		return "no counters";
	case IOT_CTL_FILTER:
		return session->info.mounts ? "a flight recorder, whose dumps cannot state a change of the filter" :
					      "no mount whose operations could be filtered";
	case IOT_CTL_FLUSH:
		return "a flight recorder, which `iotape ctl dump` writes";
	default:
		return "no mount for the recording of mappings";
	}
}

static int explain(const struct options *options, const struct session *session, int err)
{
	unsigned long long number = session->info.session;

	switch (err) {
	case EALREADY:
		return fail("session %llu %s", number, options->verb->again ?: "needs no change");
	case ENOENT:
		return fail("session %llu has ended", number);
	case EPIPE:
		return fail("session %llu ended before it answered", number);
	case EINVAL:
		if (options->filter && session->info.state == IOT_STATE_RUNNING)
			return fail("session %llu: filter: the loaded module iotape does not accept the expression", number);
		return fail("session %llu is not recording: its state is %s", number, session_state(session));
	case ENOTTY:
		return fail("%s: the loaded module iotape is too old for it", options->verb->name);
	case EPERM:
		return sessions_fail(-err, "do this");
	case EOPNOTSUPP:
		return fail("session %llu has %s", number, lacking(session, options->verb->verb));
	default:
		return fail("session %llu: %s: %s", number, options->verb->name, strerror(err));
	}
}

/* The name of the dump, from the description that the collector has renewed; "" if the session has ended since. */
static void find_dump(int fd, uint64_t number, char path[PATH_MAX])
{
	struct sessions sessions;
	int i;

	path[0] = 0;
	if (!sessions_load(fd, &sessions))
		for (i = 0; i < sessions.count; i++)
			if (sessions.list[i].info.session == number)
				snprintf(path, PATH_MAX, "%s", sessions.list[i].dump);
	sessions_free(&sessions);
}

static_assert(FILTER_TEXT_MAX <= IOT_REFILTER_TEXT_MAX_BYTES, "the text of each filter fits");

static int request_filter(const struct options *options, int fd, uint64_t session)
{
	struct iot_refilter filter = { .session = session };
	size_t bytes = 0;

	if (options->filter) {
		filter.program = (uintptr_t)filter_program(options->filter, &bytes);
		filter.bytes = (__u32)bytes;
		filter.text = (uintptr_t)filter_text(options->filter);
		filter.text_bytes = (__u32)strlen(filter_text(options->filter));
	}
	return ioctl(fd, IOT_IOC_REFILTER, &filter);
}

static int request(const struct options *options, int fd, uint64_t session)
{
	struct iot_ctl ctl = { .session = session, .verb = options->verb->verb, .value = options->number };

	return options->verb->is_filter ? request_filter(options, fd, session) : ioctl(fd, IOT_IOC_CTL, &ctl);
}

static int change(const struct options *options, int fd, const struct session *session)
{
	char dump[PATH_MAX] = "";

	if (request(options, fd, session->info.session))
		return explain(options, session, errno);
	if (options->verb->verb == IOT_CTL_DUMP)
		find_dump(fd, session->info.session, dump);
	if (!options->is_quiet)
		printf("session %llu: %s%s%s\n", (unsigned long long)session->info.session, options->verb->name,
		       options->value || dump[0] ? " " : "", options->value ?: dump);
	return EXIT_DONE;
}

/* Sessions that have ended, or have not begun, are none that could be meant by leaving it open. */
static bool is_meant(const struct session *session, const struct session_choice *choice)
{
	return session_is_chosen(session, choice) && (choice->number || session->info.state == IOT_STATE_RUNNING);
}

static int refuse_several(const struct sessions *sessions, const struct session_choice *choice)
{
	char numbers[256] = "";
	size_t at = 0;
	int i;

	for (i = 0; i < sessions->count && at < sizeof(numbers) - 32; i++)
		if (is_meant(&sessions->list[i], choice))
			at += (size_t)snprintf(numbers + at, sizeof(numbers) - at, "%s%llu", at ? ", " : "",
					       (unsigned long long)sessions->list[i].info.session);
	return fail("several recordings match: sessions %s; choose one, or --all", numbers);
}

static int change_chosen(const struct options *options, int fd, const struct sessions *sessions)
{
	int i, code = EXIT_DONE, chosen = 0;

	for (i = 0; i < sessions->count; i++)
		chosen += is_meant(&sessions->list[i], &options->choice);
	if (!chosen)
		return fail("no recording matches");
	if (chosen > 1 && !options->is_all)
		return refuse_several(sessions, &options->choice);
	for (i = 0; i < sessions->count; i++)
		if (is_meant(&sessions->list[i], &options->choice) &&
		    change(options, fd, &sessions->list[i]) != EXIT_DONE)
			code = EXIT_FAILED;
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct sessions sessions;
	char why[512];
	int fd, code, err;

	options_parse(&option_table, argc, argv, &options);
	fd = sessions_open(why, sizeof(why));
	if (fd < 0)
		return fail("%s", why);
	err = sessions_load(fd, &sessions);
	code = err ? sessions_fail(err, "do this") : change_chosen(&options, fd, &sessions);
	sessions_free(&sessions);
	filter_free(options.filter);
	close(fd);
	return code;
}

const struct cmd cmd_ctl = {
	.name = "ctl",
	.summary = "change a recording while it runs",
	.run = run,
	.options = &option_table,
};
