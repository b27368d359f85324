// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * program_file.c - programs as files: read, verified, and written so that a file is
 * either complete or not there.
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
 * @program: filled in; to be given to iot_program_free()
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

/**
 * iot_program_free() - free a program that iot_program_load() has read
 */
void iot_program_free(struct iot_program *program)
{
	free((void *)program->bytes);
}

static int write_all(int fd, const void *data, size_t bytes)
{
	const u8 *p = data;
	ssize_t n;

	while (bytes) {
		n = write(fd, p, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/**
 * iot_program_save() - write a program to a file, which appears when it is complete
 * @path: the file, replaced if it exists
 * @bytes: the program
 * @count: its length
 *
 * Return: 0 or a negative errno.
 */
int iot_program_save(const char *path, const void *bytes, size_t count)
{
	char *part;
	int fd, err;

	if (asprintf(&part, "%s.part", path) < 0)
		return -ENOMEM;
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		err = -errno;
		free(part);
		return err;
	}
	err = write_all(fd, bytes, count);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(part, path))
		err = -errno;
	if (err)
		unlink(part);
	free(part);
	return err;
}
