// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * program_file.c - programs as files: read and verified.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chunk.h"
#include "iotape.h"

static int refuse_errno(struct iot_reject *reject, int err)
{
	iot_refuse(reject, err == -ENOMEM ? IOT_REJECT_memory : IOT_REJECT_io, 0);
	return err;
}

static int read_file(const char *path, void **bytes, size_t *count, struct iot_reject *reject)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat stat;

	if (fd < 0)
		return refuse_errno(reject, -errno);
	if (fstat(fd, &stat))
		err = refuse_errno(reject, -errno);
	else if (!S_ISREG(stat.st_mode))
		err = iot_refuse(reject, IOT_REJECT_program_magic, 0);
	if (!err) {
		*count = (size_t)stat.st_size;
		*bytes = malloc(*count + 1);
		err = *bytes ? read_exactly(fd, 0, *bytes, *count) : -ENOMEM;
		if (err) {
			free(*bytes);
			refuse_errno(reject, err);
		}
	}
	close(fd);
	return err;
}

/**
 * iot_program_load() - read a program and verify it
 * @path: its file
 * @program: filled in; to be freed by iot_program_free()
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int iot_program_load(const char *path, struct iot_program *program, struct iot_reject *reject)
{
	u32 *scratch;
	void *bytes = NULL;
	size_t count = 0;
	int err = read_file(path, &bytes, &count, reject);

	if (err)
		return err;
	err = iot_program_open(program, bytes, count, reject);
	if (!err) {
		scratch = calloc(iot_program_scratch_count(program) + 1, sizeof(*scratch));
		if (scratch)
			err = iot_program_verify(program, scratch, NULL, NULL, reject);
		else
			err = refuse_errno(reject, -ENOMEM);
		free(scratch);
	}
	if (err)
		free(bytes);
	return err;
}
