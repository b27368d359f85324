/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * facts.h - facts about a run, in the trace that a command writes: lines KEY=VALUE.
 */
#ifndef IOTAPE_FACTS_H
#define IOTAPE_FACTS_H

#include "lib/iotape.h"
#include "record/record.h"
#include "replay/replay.h"

#define FACTS_MAX (19 + RECORD_MOUNTS_MAX + IOT_OMISSION_END)

/**
 * struct facts - the lines, in memory until the process ends
 * @lines: as collectors and engines take them; NULL is the last
 * @count: of lines before that
 */
struct facts {
	char *lines[FACTS_MAX + 1];
	int count;
};

void facts_add(struct facts *facts, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void facts_add_host(struct facts *facts);
void facts_add_storage(struct facts *facts, const char *directory);
void facts_add_replay(struct facts *facts, const char *program, const struct replay_options *replay,
		      const struct iot_omissions *omissions);

#endif
