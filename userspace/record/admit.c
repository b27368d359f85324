// SPDX-License-Identifier: GPL-2.0-only
/*
 * admit.c - the users and groups of --admit.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* Return: true if the text is a number that an id can be. */
static bool id_of_number(const char *text, uint32_t *id)
{
	unsigned long value;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*id = (uint32_t)value;
	return !errno && !*end && value < UINT32_MAX;
}

static bool id_of_user(const char *name, uint32_t *id)
{
	const struct passwd *user = getpwnam(name);

	if (user)
		*id = user->pw_uid;
	return user || id_of_number(name, id);
}

static bool id_of_group(const char *name, uint32_t *id)
{
	const struct group *group = getgrnam(name);

	if (group)
		*id = group->gr_gid;
	return group || id_of_number(name, id);
}

static int admit_one(struct record_options *options, const char *name, char *why, size_t room)
{
	struct iot_admit admit = { .kind = name[0] == ':' ? IOT_ADMIT_GROUP : IOT_ADMIT_USER };
	bool is_there = admit.kind == IOT_ADMIT_GROUP ? id_of_group(name + 1, &admit.id) :
							id_of_user(name, &admit.id);

	if (!is_there) {
		snprintf(why, room, "unknown %s '%s'", name[0] == ':' ? "group" : "user",
			 name + (name[0] == ':'));
		return -ENOENT;
	}
	if (options->admit_count == IOT_ADMIT_MAX) {
		snprintf(why, room, "more than %d users and groups", IOT_ADMIT_MAX);
		return -ENOSPC;
	}
	options->admits[options->admit_count++] = admit;
	return 0;
}

/**
 * record_admit() - note users and groups that may add MPI records
 * @options: the admits are added to
 * @list: names or numbers, with commas between them; those of groups follow a colon
 * @why: out, after an error: a sentence
 * @room: size of @why
 *
 * Return: 0 or a negative errno.
 */
int record_admit(struct record_options *options, const char *list, char *why, size_t room)
{
	char *copy = strdup(list), *rest = copy, *name;
	int err = copy ? 0 : -ENOMEM;

	if (err)
		snprintf(why, room, "%s", strerror(ENOMEM));
	while (!err && (name = strsep(&rest, ",")))
		err = admit_one(options, name, why, room);
	free(copy);
	return err;
}
