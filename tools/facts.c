// SPDX-License-Identifier: GPL-2.0-only
/*
 * facts.c - facts about a run, in the trace that a command writes.
 */
#include "facts.h"

#include <iotape/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "omissions.h"
#include "result.h"

/**
 * facts_add() - add a line
 * @facts: to these; without room, or memory, the line is not there
 * @key: before the equals sign
 * @format: of the text after it
 */
void facts_add(struct facts *facts, const char *key, const char *format, ...)
{
	char *value = NULL, *line;
	va_list arguments;

	if (facts->count == FACTS_MAX)
		return;
	va_start(arguments, format);
	if (vasprintf(&value, format, arguments) >= 0) {
		if (asprintf(&line, "%s=%s", key, value) >= 0)
			facts->lines[facts->count++] = line;
		free(value);
	}
	va_end(arguments);
}

/**
 * facts_add_host() - add the host of the run, and the version of the writer
 * @facts: to these
 */
void facts_add_host(struct facts *facts)
{
	struct utsname uts;

	if (!uname(&uts)) {
		facts_add(facts, "host", "%s", uts.nodename);
		facts_add(facts, "kernel", "%s", uts.release);
		facts_add(facts, "machine", "%s", uts.machine);
	}
	facts_add(facts, IOT_FACT_PAGE, "%ld", sysconf(_SC_PAGESIZE));
	facts_add(facts, "creator", "iotape %s", IOTAPE_VERSION);
}

/**
 * facts_add_storage() - add the file system of a run, to distinguish runs on different storage
 * @facts: to these; nothing if the directory cannot be examined
 * @directory: that was recorded, or replayed in
 */
void facts_add_storage(struct facts *facts, const char *directory)
{
	struct statfs fs;
	u32 id[2];

	if (statfs(directory, &fs))
		return;
	memcpy(id, &fs.f_fsid, sizeof(id));
	facts_add(facts, IOT_FACT_STORAGE, "%08llx %08x%08x", (unsigned long long)fs.f_type, id[0], id[1]);
}

/**
 * facts_add_replay() - add the options of a replay, and the omissions of its program
 * @facts: to these
 * @program: name of its file
 * @replay: options of the replay
 * @omissions: of the program
 */
void facts_add_replay(struct facts *facts, const char *program, const struct replay_options *replay,
		      const struct iot_omissions *omissions)
{
	char text[RESULT_PACE_BYTES], id[MARK_ID_BYTES];

	facts_add(facts, "replay", "%s", program);
	mark_id(replay->program, id);
	facts_add(facts, IOT_FACT_REPLAY_OF, "%s", id);
	if (replay->target) {
		facts_add(facts, "target", "%s", replay->target);
		facts_add_storage(facts, replay->target);
	}
	facts_add(facts, "engine", "%s", replay->engine->name);
	facts_add(facts, "pace", "%s", result_pace(replay, text));
	facts_add(facts, "data", "%s", result_data(replay));
	if (replay->users == IOT_USERS_RECORDED)
		facts_add(facts, "as", "recorded");
	if (replay->is_privileged)
		facts_add(facts, "privileged_files", "yes");
	facts_add_host(facts);
	omissions_add_facts(facts, omissions);
}
