// SPDX-License-Identifier: GPL-2.0-only
/*
 * mark.c - an extended attribute of the target directory says what it was prepared for.
 *
 * It keeps a replay away from directories that were not made for it, and from one that
 * an earlier replay has changed. Some file systems have no such attributes; there the
 * user must know.
 *
 * The attribute is one that any owner of a directory may set and read. It is not there while
 * a replay runs, which so finds no attribute that the traced program did not.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/xattr.h>

#include "replay.h"

#define MARK_NAME "user.iotape.target"
#define ID_BYTES  (2 * 16 + 1)

static void id_of(const struct iot_program *program, char id[ID_BYTES])
{
	size_t i;

	for (i = 0; i < 16; i++)
		snprintf(id + 2 * i, 3, "%02x", program->head->capture[i]);
}

/**
 * mark_set() - mark a target
 * @target_fd: the directory
 * @program: what it is for
 * @state: MARK_PREPARED or MARK_USED; MARK_NONE takes the mark away
 *
 * Return: 0; -EOPNOTSUPP if the target cannot hold a mark; another negative errno.
 */
int mark_set(int target_fd, const struct iot_program *program, enum mark_state state)
{
	char text[ID_BYTES + 16], id[ID_BYTES];

	if (state == MARK_NONE)
		return fremovexattr(target_fd, MARK_NAME) && errno != ENODATA ? -errno : 0;
	id_of(program, id);
	snprintf(text, sizeof(text), "%s %s", state == MARK_USED ? "used" : "prepared", id);
	return fsetxattr(target_fd, MARK_NAME, text, strlen(text), 0) ? -errno : 0;
}

/**
 * mark_get() - what a target is marked as
 */
enum mark_state mark_get(int target_fd, const struct iot_program *program)
{
	char text[128] = "", id[ID_BYTES], state[16], other[64];
	ssize_t bytes = fgetxattr(target_fd, MARK_NAME, text, sizeof(text) - 1);

	if (bytes < 0)
		return errno == ENODATA ? MARK_NONE : MARK_UNKNOWN;
	text[bytes] = 0;
	if (sscanf(text, "%15s %63s", state, other) != 2)
		return MARK_OTHER;
	id_of(program, id);
	if (!strcmp(state, "used"))
		return MARK_USED;
	return strcmp(other, id) ? MARK_OTHER : MARK_PREPARED;
}
