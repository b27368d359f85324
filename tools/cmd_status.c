// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_status.c - iotape status: the captures that this kernel runs at the moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd.h"
#include "json.h"
#include "option.h"
#include "lib/iotape.h"

struct options {
	bool is_json;
};

static const struct option_row option_rows[] = {
	{ "json", 'j', .field = OPTION_FIELD(struct options, is_json), .help = "print JSON, one object a line" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.about = "List active captures.",
};

static const char *state_name(unsigned int state)
{
	static const char *const names[] = { "new", "ready", "recording", "draining", "ended", "failed" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static void print_text(const struct iot_status *s)
{
	printf("session %llu: %s, policy %s, collector %u, %u mounts, %llu records, %llu lost, "
	       "%llu waits for the collector, %llu bytes handed over\n",
	       (unsigned long long)s->session, state_name(s->state),
	       s->policy == IOT_POLICY_DROP ? "drop" : "block", s->collector, s->mounts,
	       (unsigned long long)s->records, (unsigned long long)s->lost,
	       (unsigned long long)s->waits, (unsigned long long)s->sent_bytes);
}

static void print_json(const struct iot_status *s)
{
	struct json json;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_unsigned(&json, "session", s->session);
	json_put_string(&json, "state", state_name(s->state));
	json_put_string(&json, "policy", s->policy == IOT_POLICY_DROP ? "drop" : "block");
	json_put_unsigned(&json, "collector", s->collector);
	json_put_unsigned(&json, "mounts", s->mounts);
	json_put_unsigned(&json, "records", s->records);
	json_put_unsigned(&json, "lost", s->lost);
	json_put_unsigned(&json, "throttles", s->waits);
	json_put_unsigned(&json, "sent_bytes", s->sent_bytes);
	json_end(&json, '}');
	json_line(&json);
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct iot_status status = {};
	char why[512];
	int fd, count = 0;

	options_parse(&option_table, argc, argv, &options);
	fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENXIO)) {
		iot_module_missing("iotape", why, sizeof(why));
		return fail("%s", why);
	}
	if (fd < 0)
		return fail("%s: %s", IOT_CONTROL_PATH, strerror(errno));
	for (; !ioctl(fd, IOT_IOC_STATUS, &status); count++) {
		if (options.is_json)
			print_json(&status);
		else
			print_text(&status);
	}
	if (errno == EPERM)
		return fail("only root may ask (CAP_SYS_ADMIN is needed)");
	if (!count && !options.is_json)
		puts("no captures");
	close(fd);
	return EXIT_DONE;
}

const struct cmd cmd_status = {
	.name = "status",
	.summary = "list active captures",
	.run = run,
	.options = &option_table,
};
