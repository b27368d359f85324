// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * write.c - an example of libiotape, valid as C and as C++: write a trace of operations that nothing recorded, here
 * one process that opens a file and reads it with two reads.
 *
 *	write OUTPUT
 *
 * Build: cc write.c $(pkg-config --cflags --libs libiotape)
 */
#include <iotape/iotape.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK	  1
#define ROOT	  1 /* ids of objects and names */
#define FILE_NAME 2
#define HANDLE	  1

struct value {
	const char *field;
	uint64_t value;
};

static void fail(const struct iotape_error *error)
{
	fprintf(stderr, "write: %s\n", error->sentence);
	exit(1);
}

static void add(struct iotape_writer *writer, const char *name, const struct value *values, const char *tail)
{
	const struct iotape_kind *kind = iotape_kind_find(name);
	struct iotape_record *record;
	struct iotape_error error;
	int result = iotape_record_new(kind, &record);

	for (; !result && values->field; values++)
		result = iotape_record_set_u64(record, iotape_field_find(kind, values->field), values->value);
	if (!result && tail)
		result = iotape_record_set_tail(record, tail, strlen(tail));
	if (result) {
		fprintf(stderr, "write: %s: %s\n", name, strerror(-result));
		exit(1);
	}
	if (iotape_writer_add(writer, record, &error))
		fail(&error);
	iotape_record_free(record);
}

static void add_read(struct iotape_writer *writer, uint64_t number, uint64_t offset_bytes)
{
	const struct value values[] = {
		{ "enter_ns", 1000 * number }, { "duration_ns", 500 },		{ "task", TASK },
		{ "op", number },	       { "result", 4096 },		{ "object", FILE_NAME },
		{ "handle", HANDLE },	       { "offset_bytes", offset_bytes }, { "length_bytes", 4096 },
		{ NULL, 0 },
	};

	add(writer, "read", values, NULL);
}

/* Tasks, names and objects come before the operations that refer to them. */
static void add_all(struct iotape_writer *writer)
{
	static const struct value task[] = { { "task", TASK }, { "pid", 100 }, { "tgid", 100 }, { "why", 1 }, { NULL, 0 } };
	static const struct value root[] = { { "name", ROOT }, { NULL, 0 } };
	static const struct value directory[] = { { "object", ROOT }, { "name", ROOT }, { "type", 4 }, { "mode", 040755 },
						  { "nlink", 2 }, { NULL, 0 } };
	static const struct value name[] = { { "name", FILE_NAME }, { "dir", ROOT }, { NULL, 0 } };
	static const struct value file[] = { { "object", FILE_NAME }, { "name", FILE_NAME }, { "type", 8 }, { "mode", 0100644 },
					     { "nlink", 1 }, { "size_bytes", 8192 }, { NULL, 0 } };
	static const struct value open[] = { { "enter_ns", 1000 }, { "duration_ns", 100 }, { "task", TASK }, { "op", 1 },
					     { "name", FILE_NAME }, { "object", FILE_NAME }, { "handle", HANDLE },
					     { "flags", 1 }, { "size_bytes", 8192 }, { NULL, 0 } };

	add(writer, "task", task, "example");
	add(writer, "name", root, NULL);
	add(writer, "object", directory, NULL);
	add(writer, "name", name, "data");
	add(writer, "object", file, NULL);
	add(writer, "open", open, NULL);
	add_read(writer, 2, 0);
	add_read(writer, 3, 4096);
}

int main(int argc, char **argv)
{
	struct iotape_writer *writer;
	struct iotape_error error;

	if (argc != 2) {
		fputs("usage: write OUTPUT\n", stderr);
		return 2;
	}
	if (iotape_writer_open(argv[1], NULL, &writer, &error))
		fail(&error);
	add_all(writer);
	if (iotape_writer_add_fact(writer, "creator", "write", &error) || iotape_writer_finish(writer, &error))
		fail(&error);
	iotape_writer_close(writer);
	return 0;
}
