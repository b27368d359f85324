// SPDX-License-Identifier: GPL-2.0-only
/*
 * mark.c - an extended attribute of the target directory names the program that it was prepared for.
 *
 * It keeps a replay away from directories that were not made for it, and from one that
 * an earlier replay has changed; and it lets init change only its own work. On
 * file systems without extended attributes there is no check.
 *
 * The attribute is one that any owner of a directory may set and read. It is not there while
 * a replay runs, which so finds no attribute that the traced program did not.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/xattr.h>

#include "file_flags.h"
#include "replay.h"

#define MARK_NAME "user.iotape.target"

static const char *const state_words[] = {
	[MARK_PREPARED] = "prepared",
	[MARK_USED] = "used",
	[MARK_BEGUN] = "begun",
};

/**
 * mark_id() - the id of a program in a mark
 */
void mark_id(const struct iot_program *program, char id[MARK_ID_BYTES])
{
	size_t i;

	for (i = 0; i < 16; i++)
		snprintf(id + 2 * i, 3, "%02x", program->head->capture[i]);
}

static enum mark_state state_of(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(state_words); i++)
		if (state_words[i] && !strcmp(state_words[i], word))
			return (enum mark_state)i;
	return MARK_NONE;
}

/**
 * mark_read() - read the mark of a target
 * @target_fd: the directory
 * @mark: filled in
 */
void mark_read(int target_fd, struct mark *mark)
{
	char text[256], word[16];
	ssize_t bytes = fgetxattr(target_fd, MARK_NAME, text, sizeof(text) - 1);
	int fields;

	*mark = (struct mark){ .state = MARK_NONE };
	if (bytes < 0) {
		mark->state = errno == ENODATA ? MARK_NONE : MARK_UNKNOWN;
		return;
	}
	text[bytes] = 0;
	fields = sscanf(text, "%15s %32s %llu %llu %u %llx %x", word, mark->id, &mark->inode,
			&mark->since_ns, &mark->data, &mark->seed, &mark->tree);
	mark->state = fields < 1 ? MARK_NONE : state_of(word);
	if (fields < 7 || mark->data < PREPARE_RANDOM || mark->data > PREPARE_SPARSE)
		mark->inode = 0;
}

static int try_to_write(int target_fd, const struct mark *mark)
{
	char text[256];

	if (mark->state == MARK_NONE)
		return fremovexattr(target_fd, MARK_NAME) && errno != ENODATA ? -errno : 0;
	snprintf(text, sizeof(text), "%s %s %llu %llu %u %llx %x", state_words[mark->state], mark->id,
		 mark->inode, mark->since_ns, mark->data, mark->seed, mark->tree);
	return fsetxattr(target_fd, MARK_NAME, text, strlen(text), 0) ? -errno : 0;
}

/**
 * mark_write() - mark a target
 * @target_fd: the directory
 * @mark: the new mark; MARK_NONE removes the mark
 *
 * Return: 0; -EOPNOTSUPP if the target cannot hold a mark; another negative errno.
 */
int mark_write(int target_fd, const struct mark *mark)
{
	int err = try_to_write(target_fd, mark), flags;

	if (err != -EPERM)
		return err;
	flags = file_flags_free(target_fd); /* the program may have left the target immutable */
	if (flags) {
		err = try_to_write(target_fd, mark);
		file_flags_put_back(target_fd, flags);
	}
	return err;
}

/**
 * mark_get() - read the mark of a target and compare it with a program
 */
enum mark_state mark_get(int target_fd, const struct iot_program *program)
{
	char id[MARK_ID_BYTES];
	struct mark mark;

	mark_read(target_fd, &mark);
	mark_id(program, id);
	if (mark.state == MARK_BEGUN)
		return MARK_NONE;
	return mark.state == MARK_PREPARED && strcmp(mark.id, id) ? MARK_OTHER : mark.state;
}
