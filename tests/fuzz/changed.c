// SPDX-License-Identifier: GPL-2.0-only
/*
 * changed.c - the file of a program changes after the module has verified it: the module detects this,
 * reports it, and ends the replay. For the guest: needs root and the modules. Prints TAP.
 *
 *	changed PROGRAM DIRECTORY COUNT	a valid program, an empty directory, and the number of bytes to
 *					change in turn
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/replay/packed.h"
#include "lib/iotape.h"
#include "tests/unit/builder.h"

static u8 *sound; /* the file */
static size_t count;
static struct iot_program program;
static u64 changes;
static int target_fd, number;

static void report(bool is_ok, const char *what)
{
	printf("%sok %d - %s\n", is_ok ? "" : "not ", ++number, what);
	fflush(stdout);
}

static void read_sound(const char *path)
{
	FILE *in = fopen(path, "re");

	sound = malloc(1 << 20);
	count = in && sound ? fread(sound, 1, 1 << 20, in) : 0;
	if (!count) {
		perror(path);
		exit(1);
	}
	fclose(in);
}

static int new_file(void)
{
	int file = memfd_create("program", MFD_CLOEXEC);

	if (file < 0 || write(file, sound, count) != (ssize_t)count)
		exit(1);
	return file;
}

/* A replay of the file, for a feeder and workers. */
static int new_replay(int file)
{
	struct iot_replay_load load = { .program_fd = file };
	struct iot_replay_setup setup = { .target_fd = target_fd, .session_fd = -1 };
	int fd = open(IOT_REPLAY_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, IOT_RIOC_LOAD, &load) || !load.is_streamed ||
	    ioctl(fd, IOT_RIOC_SETUP, &setup)) {
		perror("changed: a sound program is not loaded");
		exit(1);
	}
	return fd;
}

/* Return: did the feeder detect the change, and has the replay ended? */
static bool is_found(int fd)
{
	struct iot_replay_run run = { .task = IOT_WORKER_NEW, .space = IOT_SPACE_COMMON };
	bool is = ioctl(fd, IOT_RIOC_FEED) == -1 && errno == EBADMSG;

	return is && ioctl(fd, IOT_RIOC_RUN, &run) == -1 && errno == ECANCELED;
}

/* A change of a compressed file may be none of the program: some bits of a frame are not used. */
static bool is_same_program(int file)
{
	struct iot_program other;
	struct iot_reject reject;
	char path[64];
	bool is;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (!iot_is_packed(sound) || iot_program_load(path, &other, &reject))
		return false;
	is = other.byte_count == program.byte_count && !memcmp(other.bytes, program.bytes, program.byte_count);
	iot_program_free(&other);
	return is;
}

static bool change(void (*change_file)(int file, u64 where), u64 where)
{
	int file = new_file(), fd = new_replay(file);
	bool is;

	change_file(file, where);
	is = is_same_program(file) || is_found(fd); /* a feeder that finds nothing would wait for workers */
	close(fd);
	close(file);
	return is;
}

static void cut(int file, u64 where)
{
	if (ftruncate(file, (off_t)where))
		exit(1);
}

static void flip(int file, u64 where)
{
	u8 byte = sound[where] ^ 1;

	if (pwrite(file, &byte, 1, (off_t)where) != 1)
		exit(1);
}

/* All checksums are corrected: only the comparison with the verified contents shows the change. */
static void flip_and_seal(int file, u64 where)
{
	u8 *bytes = malloc(count);

	memcpy(bytes, sound, count);
	bytes[where] ^= 1;
	program_seal(bytes, count);
	if (pwrite(file, bytes, count, 0) != (ssize_t)count)
		exit(1);
	free(bytes);
}

static bool is_compressed(void)
{
	return iot_is_packed(sound);
}

/* Where bytes of the program are in the file, or the beginning of their block if it is compressed. */
static u64 place_in_file(u64 offset_bytes)
{
	const struct iot_packed_head *head = (const struct iot_packed_head *)sound;
	u64 first, block, at = sizeof(*head), i;
	__le32 stored_bytes;

	if (!is_compressed())
		return offset_bytes;
	first = le32_to_cpu(head->first_bytes);
	block = offset_bytes < first ? 0 : 1 + (offset_bytes - first) / le32_to_cpu(head->block_bytes);
	for (i = 0; i < block; i++) {
		memcpy(&stored_bytes, sound + iot_packed_index(head, count) + i * sizeof(stored_bytes), sizeof(stored_bytes));
		at += le32_to_cpu(stored_bytes);
	}
	return at;
}

/* Bytes of the first operations of the first task, which every feeder reads. */
static bool all_bytes(void (*change_file)(int file, u64 where))
{
	u64 first = (u64)((const u8 *)program.ops - program.bytes);
	u64 bytes = le32_to_cpu(program.tasks[0].op_count) * sizeof(struct iot_program_op);
	u64 begin = place_in_file(first), end = place_in_file(first + bytes), i;
	u64 step;

	if (end == begin) /* one block: all of it, but its last bytes may be those of another task */
		end = place_in_file(first + IOT_BLOCK_BYTES);
	step = (end - begin) / changes + 1;
	for (i = begin; i < end; i += step)
		if (!change(change_file, i))
			return false;
	return end > begin;
}

static bool is_read_as_it_is(void)
{
	const struct itimerval often = { { 1, 0 }, { 1, 0 } }, never = {};
	int file = new_file(), fd = new_replay(file), state;

	setitimer(ITIMER_REAL, &often, NULL); /* ends the feeder, which waits for workers */
	state = ioctl(fd, IOT_RIOC_FEED);
	state = state == -1 && errno == EINTR;
	setitimer(ITIMER_REAL, &never, NULL);
	close(fd);
	close(file);
	return state;
}

static void on_alarm(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	struct iot_reject reject;

	changes = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	if (!changes)
		return 2;
	read_sound(argv[1]);
	sigaction(SIGALRM, &action, NULL);
	target_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (target_fd < 0 || iot_program_load(argv[1], &program, &reject) || !program.task_count || !program.tasks[0].op_count) {
		fprintf(stderr, "changed: no target, or no program\n");
		return 1;
	}
	printf("1..%d\n", is_compressed() ? 4 : 5);
	report(is_read_as_it_is(), "a program that has not changed is read");
	report(change(cut, 0), "a program that was truncated to zero is detected");
	report(change(cut, place_in_file((u64)((const u8 *)program.ops - program.bytes)) + 10),
	       "a program that is cut in its first operation is detected");
	report(all_bytes(flip), "damage anywhere in a program is detected");
	if (!is_compressed()) /* a compressed one has no checksum that could be corrected */
		report(all_bytes(flip_and_seal), "a program that was replaced by another one is detected");
	iot_program_free(&program);
	close(target_fd);
	free(sound);
	return 0;
}
