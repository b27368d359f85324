// SPDX-License-Identifier: GPL-2.0-only
/*
 * sites.c - writes a trace whose operations have call sites: functions of this program, of a program that is not here and
 * has a hostile name, and unknown ones.
 *
 *	sites OUTPUT [OTHERS [untimed]]
 *
 * OTHERS: call sites that are only addresses, with a read of 1 us each. untimed: as in an imported log, one more write has no
 * duration.
 */
#include <iotape/iotape.h>

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASK	 1
#define ROOT	 1 /* ids of objects and names */
#define FILE_ID	 2
#define HANDLE	 1
#define HERE	 0x550000000000ull /* addresses of the mapped files, and of code without a file */
#define NOT_HERE 0x660000000000ull
#define NO_FILE	 0x770000000000ull
#define HOSTILE	 "/bin/<img src=x onerror=document.title='owned'>"

struct value {
	const char *field;
	uint64_t value;
};

static struct iotape_writer *writer;
static uint64_t op, now_ns = 1000;

__attribute__((noinline, used)) static void write_checkpoint(void)
{
	__asm__ volatile("");
}

__attribute__((noinline, used)) static void read_input(void)
{
	__asm__ volatile("nop");
}

static void add(const char *name, const struct value *values, const void *tail, size_t tail_bytes)
{
	const struct iotape_kind *kind = iotape_kind_find(name);
	struct iotape_record *record;
	struct iotape_error error = { 0 };
	int result = kind ? iotape_record_new(kind, &record) : -ENOENT;

	for (; !result && values->field; values++)
		result = iotape_record_set_u64(record, iotape_field_find(kind, values->field), values->value);
	if (!result && tail)
		result = iotape_record_set_tail(record, tail, tail_bytes);
	if (!result)
		result = iotape_writer_add(writer, record, &error);
	if (result) {
		fprintf(stderr, "sites: %s: %s %s\n", name, strerror(-result), error.sentence);
		exit(1);
	}
	iotape_record_free(record);
}

#define ADD(name, tail, tail_bytes, ...) add(name, (const struct value[]){ __VA_ARGS__, { NULL, 0 } }, tail, tail_bytes)

/* All of a file as one mapping. */
static void add_code(uint64_t address, const char *path, const struct stat *stat)
{
	ADD("code", path, strlen(path) + 1, { "time_ns", now_ns }, { "task", TASK }, { "process", TASK }, { "address", address },
	    { "length_bytes", 1ull << 32 }, { "ino", stat->st_ino }, { "dev", stat->st_dev });
}

/* The id of a stack is its address. */
static void add_stack(uint64_t address)
{
	ADD("stack", &address, sizeof(address), { "time_ns", now_ns }, { "task", TASK }, { "process", TASK }, { "stack", address });
}

/* @address: of the call site; 0: without one */
static void add_op(const char *kind, uint64_t address, uint64_t bytes, uint64_t duration_ns)
{
	op++;
	if (address)
		ADD("called_from", NULL, 0, { "time_ns", now_ns + duration_ns }, { "task", TASK }, { "op", op }, { "stack", address });
	ADD(kind, NULL, 0, { "enter_ns", now_ns }, { "duration_ns", duration_ns }, { "task", TASK }, { "op", op }, { "result", bytes },
	    { "object", FILE_ID }, { "handle", HANDLE }, { "offset_bytes", 0 }, { "length_bytes", bytes });
	now_ns += duration_ns + 1000;
}

/* Where a function of this program is in its file. */
static uint64_t place_of(void (*function)(void))
{
	uint64_t address = (uintptr_t)function, place = 0;
	unsigned long long start, stop, offset;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 100];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &stop, &offset) == 3 && address >= start && address < stop)
			place = address - start + offset;
	if (maps)
		fclose(maps);
	return place;
}

static void add_files(void)
{
	ADD("task", "example", 7, { "task", TASK }, { "pid", 100 }, { "tgid", 100 }, { "why", 1 });
	ADD("name", NULL, 0, { "name", ROOT });
	ADD("object", NULL, 0, { "object", ROOT }, { "name", ROOT }, { "type", 4 }, { "mode", 040755 }, { "nlink", 2 });
	ADD("name", "data", 4, { "name", FILE_ID }, { "dir", ROOT });
	ADD("object", NULL, 0, { "object", FILE_ID }, { "name", FILE_ID }, { "type", 8 }, { "mode", 0100644 }, { "nlink", 1 },
	    { "size_bytes", 1 << 20 });
	ADD("open", NULL, 0, { "enter_ns", now_ns }, { "duration_ns", 1000 }, { "task", TASK }, { "op", ++op }, { "name", FILE_ID },
	    { "object", FILE_ID }, { "handle", HANDLE }, { "flags", 3 }, { "size_bytes", 1 << 20 });
	now_ns += 2000;
}

/* 100 ms in operations, but for the open and the others: 60 ms of writes, 30 ms of reads, 9 ms, and 1 ms. */
static void add_sites(const char *program, const struct stat *stat, unsigned int others)
{
	const uint64_t hot = HERE + place_of(write_checkpoint), cold = HERE + place_of(read_input);
	unsigned int i;

	add_code(HERE, program, stat);
	add_code(NOT_HERE, HOSTILE, &(struct stat){ .st_ino = 1, .st_dev = 1 });
	add_stack(hot);
	add_stack(cold);
	add_stack(NOT_HERE + 0x1234);
	for (i = 0; i < 20; i++)
		add_op("write", hot, 65536, i == 19 ? 22000000 : 2000000);
	for (i = 0; i < 10; i++)
		add_op("read", cold, 4096, 3000000);
	add_op("read", NOT_HERE + 0x1234, 4096, 9000000);
	add_op("read", 0, 512, 1000000);
	for (i = 0; i < others; i++) {
		add_stack(NO_FILE + i);
		add_op("read", NO_FILE + i, 1, 1000);
	}
}

int main(int argc, char **argv)
{
	char program[PATH_MAX] = "";
	struct iotape_error error;
	struct stat stat_of;

	if (argc < 2 || argc > 4 || readlink("/proc/self/exe", program, sizeof(program) - 1) < 0 || stat(program, &stat_of)) {
		fputs("usage: sites OUTPUT [OTHERS [untimed]]\n", stderr);
		return 2;
	}
	if (iotape_writer_open(argv[1], NULL, &writer, &error)) {
		fprintf(stderr, "sites: %s\n", error.sentence);
		return 1;
	}
	add_files();
	add_sites(program, &stat_of, argc > 2 ? (unsigned int)atoi(argv[2]) : 0);
	if (argc > 3)
		add_op("write", 0, 65536, 0);
	if ((argc > 3 && iotape_writer_add_fact(writer, "source", "strace", &error)) || iotape_writer_finish(writer, &error)) {
		fprintf(stderr, "sites: %s\n", error.sentence);
		return 1;
	}
	iotape_writer_close(writer);
	return 0;
}
