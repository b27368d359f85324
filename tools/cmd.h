/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cmd.h - the sub-commands of iotape, and functions that they share.
 */
#ifndef IOTAPE_CMD_H
#define IOTAPE_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/iotape.h"
#include "option.h"

/* Exit codes, of every sub-command. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_DIFFERS = 3,
};

/**
 * struct cmd - a sub-command
 * @name: on the command line
 * @summary: one line for `iotape --help`
 * @run: does it; argv[0] is "iotape NAME"; returns an exit code
 * @options: its command line
 */
struct cmd {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
	const struct option_table *options;
};

#define CMDS(C)                                                                   \
	C(record) C(discover) C(import) C(snapshot) C(status) C(top) C(ctl) C(dump) C(stat) C(advise) C(compile) C(mix) C(init) C(replay) C(predict) \
	C(compare) C(report) C(diff) C(export) C(merge) C(verify) C(repair) C(pattern) C(anonymize) C(seal) C(unseal) C(schema) C(help) C(completion)

#define CMD_DECLARE(name) extern const struct cmd cmd_##name;
CMDS(CMD_DECLARE)
#undef CMD_DECLARE

/* main.c */
const struct cmd *cmd_at(size_t index);
const struct cmd *cmd_find(const char *name);
int cmd_unknown(const char *name);
void cmds_help(FILE *out);

/* message.c: "iotape NAME: sentence" on standard error */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_reject(const char *path, int err, const struct iot_reject *reject);

/* file_kind.c */
const char *file_kind_sentence(const char *path);

/* progress.c: on standard error if that is a terminal, after a second */
void progress_begin(void);
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_share(u64 done, u64 total, const char *format, ...) __attribute__((format(printf, 3, 4)));
void progress_end(void);
void progress_off(void);

#endif
