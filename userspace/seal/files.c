// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - input and output of a command that seals or unseals; - is standard input or output.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "seal.h"

static int fail_with(struct seal_files *files, char *why, size_t room, const char *name, const char *sentence, int err)
{
	snprintf(why, room, "%s: %s", name, sentence);
	if (files->in >= 0)
		close(files->in);
	return err;
}

static bool is_dash(const char *name)
{
	return !strcmp(name, "-");
}

static int open_output(struct seal_files *files, const char *output)
{
	if (!is_dash(output))
		return iot_output_open(output, files->path);
	files->path[0] = 0;
	return isatty(STDOUT_FILENO) ? -ENOTTY : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
}

/**
 * seal_files_open() - open input and output
 * @input, @output: their names
 * @files: filled in
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno; then nothing is open.
 */
int seal_files_open(const char *input, const char *output, struct seal_files *files, char *why, size_t room)
{
	*files = (struct seal_files){ .in_name = is_dash(input) ? "standard input" : input,
				      .out_name = is_dash(output) ? "standard output" : output };
	if (!is_dash(input) && !is_dash(output) && iot_file_is_same(input, output)) {
		files->in = -1;
		return fail_with(files, why, room, input, "is both input and output", -EINVAL);
	}
	files->in = is_dash(input) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(input, O_RDONLY | O_CLOEXEC);
	if (files->in < 0)
		return fail_with(files, why, room, files->in_name, strerror(errno), -errno);
	files->out = open_output(files, output);
	if (files->out == -ENOTTY)
		return fail_with(files, why, room, files->out_name, "is a terminal", -ENOTTY);
	if (files->out < 0)
		return fail_with(files, why, room, files->out_name, strerror(-files->out), files->out);
	return 0;
}

/**
 * seal_files_close() - close input and output
 * @files: open
 * @is_kept: the output is good; otherwise a regular file is removed
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int seal_files_close(struct seal_files *files, bool is_kept, char *why, size_t room)
{
	struct stat stat;
	bool is_file = !fstat(files->out, &stat) && S_ISREG(stat.st_mode) && files->path[0];
	int err = 0;

	if (close(files->out))
		err = -errno;
	close(files->in);
	if ((err || !is_kept) && is_file)
		unlink(files->path);
	if (err && is_kept)
		snprintf(why, room, "%s: %s", files->out_name, strerror(-err));
	return err;
}
