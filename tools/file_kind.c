// SPDX-License-Identifier: GPL-2.0-only
/*
 * file_kind.c - recognizes the files of iotape by their first bytes, for messages about a file of the wrong kind.
 */
#include <fcntl.h>
#include <iotape/program.h>
#include <iotape/trace_file.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "pattern/pattern.h"
#include "seal/seal.h"

#define MAGIC_BYTES 8

static const struct {
	const char *magic;
	const char *sentence;
} kinds[] = {
	{ IOT_TRACE_MAGIC, "a trace, which iotape compile turns into a program" },
	{ IOT_PROGRAM_MAGIC, "a replay program" },
	{ IOT_PACKED_MAGIC, "a replay program" },
	{ PATTERN_MAGIC, "a pattern, see iotape-pattern(1)" },
	{ SEAL_MAGIC, "a sealed file, which iotape unseal opens" },
};

/**
 * file_kind_sentence() - the kind of a file
 * @path: of any file; others than regular ones are not opened for long
 *
 * Return: a noun phrase, or NULL if it is no file of iotape, or cannot be read.
 */
const char *file_kind_sentence(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char magic[MAGIC_BYTES];
	struct stat stat;
	ssize_t bytes = -1;
	size_t i;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode))
		bytes = pread(fd, magic, sizeof(magic), 0);
	close(fd);
	for (i = 0; bytes == MAGIC_BYTES && i < ARRAY_SIZE(kinds); i++)
		if (!memcmp(magic, kinds[i].magic, MAGIC_BYTES))
			return kinds[i].sentence;
	return NULL;
}
