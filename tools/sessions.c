// SPDX-License-Identifier: GPL-2.0-only
/*
 * sessions.c - asks the kernel for its sessions.
 */
#include "sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd.h"
#include "lib/iotape.h"

/**
 * sessions_open() - open the control device
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: a descriptor, or a negative errno.
 */
int sessions_open(char *why, size_t room)
{
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC), err = -errno;
	struct iot_query query = {};

	if (fd < 0 && (err == -ENOENT || err == -ENXIO)) {
		iot_module_missing("iotape", why, room);
		return err;
	}
	if (err == -EPERM && fd < 0) {
		iot_rights_missing("do this", why, room);
		return err;
	}
	if (fd < 0) {
		snprintf(why, room, "%s: %s", IOT_CONTROL_PATH, strerror(-err));
		return err;
	}
	if (!ioctl(fd, IOT_IOC_QUERY, &query) && query.features & IOT_FEATURE_CTL)
		return fd;
	close(fd);
	snprintf(why, room, "the loaded module iotape is too old for this command");
	return -ENOTTY;
}

/* The value of a line key=value, which gets an end. */
static const char *take_line(char *line, const char *key)
{
	size_t bytes = strlen(key);

	return !strncmp(line, key, bytes) && line[bytes] == '=' ? line + bytes + 1 : NULL;
}

static void parse_text(struct session *session)
{
	char *line = session->text, *next, *stop = session->text + session->info.text_bytes;
	const char *path = session->text + strlen(session->text) + 1, *value;

	session->output = session->command = session->job = session->ops = session->filter = session->flight = "";
	session->dump = "";
	for (; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if ((value = take_line(line, "output")))
			session->output = value;
		else if ((value = take_line(line, "command")) || (value = take_line(line, "replay")))
			session->command = value;
		else if ((value = take_line(line, "job")))
			session->job = value;
		else if ((value = take_line(line, IOT_FACT_OPS)))
			session->ops = value;
		else if ((value = take_line(line, IOT_FACT_FILTER))) /* the last one */
			session->filter = value;
		else if ((value = take_line(line, "flight")))
			session->flight = value;
		else if ((value = take_line(line, "dump")))
			session->dump = value;
	}
	for (; path < stop && session->mount_count < SESSION_MOUNTS_MAX; path += strlen(path) + 1)
		session->mounts[session->mount_count++] = path;
}

static void name_user(struct session *session)
{
	const struct passwd *user = getpwuid(session->info.uid);

	if (user)
		snprintf(session->user, sizeof(session->user), "%s", user->pw_name);
	else
		snprintf(session->user, sizeof(session->user), "%u", session->info.uid);
}

/* Return: 0; -ENOENT if the session has ended; another negative errno. */
static int session_load(int fd, uint64_t number, struct session *session)
{
	*session = (struct session){ .text = calloc(1, SESSION_TEXT_BYTES + 1) };
	if (!session->text)
		return -ENOMEM;
	session->info = (struct iot_info){
		.session = number,
		.text = (uintptr_t)session->text,
		.room = SESSION_TEXT_BYTES,
	};
	if (ioctl(fd, IOT_IOC_INFO, &session->info)) {
		int err = -errno;

		free(session->text);
		return err;
	}
	parse_text(session);
	name_user(session);
	return 0;
}

/**
 * sessions_load() - all sessions there are
 * @fd: from sessions_open()
 * @sessions: filled in, in the order of their numbers; for sessions_free(), also after an error
 *
 * Return: 0 or a negative errno; -EPERM if the caller may not ask.
 */
int sessions_load(int fd, struct sessions *sessions)
{
	struct iot_status status = {};
	struct session *list;
	int err;

	*sessions = (struct sessions){};
	while (!ioctl(fd, IOT_IOC_STATUS, &status)) {
		list = reallocarray(sessions->list, (size_t)sessions->count + 1, sizeof(*list));
		if (!list)
			return -ENOMEM;
		sessions->list = list;
		err = session_load(fd, status.session, &list[sessions->count]);
		if (err && err != -ENOENT)
			return err;
		sessions->count += !err;
	}
	return errno == ENOENT ? 0 : -errno;
}

/**
 * sessions_free() - free the result of sessions_load()
 */
void sessions_free(struct sessions *sessions)
{
	int i;

	for (i = 0; i < sessions->count; i++)
		free(sessions->list[i].text);
	free(sessions->list);
	*sessions = (struct sessions){};
}

/**
 * sessions_fail() - print the reason why a request to the kernel failed
 * @err: negative errno
 * @what: that only root may do
 *
 * Return: EXIT_FAILED.
 */
int sessions_fail(int err, const char *what)
{
	char why[256];

	if (err != -EPERM)
		return fail("%s: %s", IOT_CONTROL_PATH, strerror(-err));
	iot_rights_missing(what, why, sizeof(why));
	return fail("%s", why);
}

static bool is_below(const char *path, const char *mount)
{
	size_t bytes = strlen(mount);

	while (bytes && mount[bytes - 1] == '/')
		bytes--;
	return *mount && !strncmp(path, mount, bytes) && (!path[bytes] || path[bytes] == '/');
}

static bool records(const struct session *session, const char *path)
{
	int i;

	for (i = 0; i < session->mount_count; i++)
		if (is_below(path, session->mounts[i]))
			return true;
	return false;
}

/**
 * session_is_chosen() - is it one of those that are meant?
 */
bool session_is_chosen(const struct session *session, const struct session_choice *choice)
{
	if (choice->number && session->info.session != choice->number)
		return false;
	if (choice->mount && !records(session, choice->mount))
		return false;
	return !choice->job || !strcmp(session->job, choice->job) ||
	       (*choice->job && strstr(session->command, choice->job));
}

/**
 * session_state() - the state as a word
 */
const char *session_state(const struct session *session)
{
	static const char *const names[] = { "new", "ready", "recording", "draining", "ended", "failed" };
	unsigned int state = session->info.state;

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

/**
 * session_policy() - the policy as a word
 */
const char *session_policy(const struct session *session)
{
	return session->info.policy == IOT_POLICY_DROP ? "drop" : "block";
}

/**
 * session_age_ns() - since the recording began, or until it ended
 */
uint64_t session_age_ns(const struct session *session)
{
	const struct iot_info *info = &session->info;
	uint64_t begin_ns = info->started_ns ? info->started_ns : info->created_ns;

	return (info->ended_ns ? info->ended_ns : info->now_ns) - begin_ns;
}
