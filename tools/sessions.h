/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sessions.h - the sessions of this kernel, as status, top and ctl see them.
 */
#ifndef IOTAPE_SESSIONS_H
#define IOTAPE_SESSIONS_H

#include <iotape/control.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_MOUNTS_MAX 32
#define SESSION_TEXT_BYTES (256 << 10)

/**
 * struct session - one capture
 * @info: from the kernel
 * @text: the memory of @mounts and of the members after it
 * @mounts: paths, "" for one that is not known
 * @mount_count: those that fitted
 * @flight, @dump: of a flight recorder, its limits, and its last dump; "" if there is none
 * @output, @command, @job, @ops: as stated by the recorder, "" if not stated; of a replay, @command is the program
 * @filter: expression that selects the recorded operations, "" if all are
 * @user: that made the session
 */
struct session {
	struct iot_info info;
	char *text;
	const char *mounts[SESSION_MOUNTS_MAX];
	int mount_count;
	const char *output;
	const char *command;
	const char *job;
	const char *ops;
	const char *filter;
	const char *flight;
	const char *dump;
	char user[64];
};

struct sessions {
	struct session *list;
	int count;
};

/**
 * struct session_choice - which sessions are meant
 * @number: that one, 0 for any
 * @mount: one that records this directory, or one above it; NULL for any
 * @job: one of the job of this name, or whose command has this text; NULL for any
 */
struct session_choice {
	uint64_t number;
	const char *mount;
	const char *job;
};

int sessions_open(char *why, size_t room);
int sessions_load(int fd, struct sessions *sessions);
void sessions_free(struct sessions *sessions);
int sessions_fail(int err, const char *what);
bool session_is_chosen(const struct session *session, const struct session_choice *choice);
const char *session_state(const struct session *session);
const char *session_policy(const struct session *session);
uint64_t session_age_ns(const struct session *session);

#endif
