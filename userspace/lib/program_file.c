// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * program_file.c - programs as files: read and verified.
 */
#include <stdlib.h>

#include "iotape.h"
#include "program_source.h"

static int read_program(const char *path, void **bytes, size_t *count, struct iot_reject *reject)
{
	struct program_source source;
	int err = program_source_open(&source, path, reject);

	if (err)
		return err;
	*count = source.byte_count;
	*bytes = malloc(*count + 1);
	err = *bytes ? program_source_read(&source, 0, *bytes, *count) : -ENOMEM;
	if (err) {
		free(*bytes);
		program_source_refuse(&source, err, reject);
	}
	program_source_close(&source);
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
	int err = read_program(path, &bytes, &count, reject);

	if (err)
		return err;
	err = iot_program_open(program, bytes, count, reject);
	if (!err) {
		scratch = calloc(iot_program_scratch_count(program) + 1, sizeof(*scratch));
		if (scratch) {
			err = iot_program_verify(program, scratch, NULL, NULL, reject);
		} else {
			err = -ENOMEM;
			iot_refuse(reject, IOT_REJECT_memory, 0);
		}
		free(scratch);
	}
	if (err)
		free(bytes);
	return err;
}
