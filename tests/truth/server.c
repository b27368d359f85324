// SPDX-License-Identifier: GPL-2.0-only
/*
 * server.c - a FUSE server of one file, for tests/truth/mapped, that reads files of its caller in /proc, as many
 * servers do for their logs. To do so, it needs the address space lock of the task that waits for it.
 *
 *	server DIRECTORY REQUESTS	runs until it is unmounted; appends each request to the file REQUESTS
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_BYTES (64 * 1024)
#define FILE_NODE  2

static int device;
static FILE *requests;
static char content[FILE_BYTES];

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t bytes)
{
	struct fuse_out_header out = { .len = sizeof(out) + bytes, .error = error, .unique = in->unique };
	struct iovec parts[] = { { &out, sizeof(out) }, { (void *)data, bytes } };

	if (writev(device, parts, 2) < 0 && errno != ENOENT)
		perror("server: reply");
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){ .ino = node, .nlink = 1, .size = node == FILE_NODE ? FILE_BYTES : 0,
				   .mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755 };
}

static void look_at(unsigned int pid)
{
	static const char *const files[] = { "cmdline", "maps", "environ" };
	char path[64], text[4096];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%u/%s", pid, files[i]);
		fd = open(path, O_RDONLY);
		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = { .nodeid = FILE_NODE, .attr_valid = 100, .entry_valid = 100,
				      .attr = attr_of(FILE_NODE) };

	if (strcmp(name, "file"))
		reply(in, -ENOENT, NULL, 0);
	else
		reply(in, 0, &out, sizeof(out));
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *what)
{
	uint64_t offset = what->offset < FILE_BYTES ? what->offset : FILE_BYTES;
	uint64_t bytes = what->size < FILE_BYTES - offset ? what->size : FILE_BYTES - offset;

	reply(in, 0, content + offset, bytes);
}

static void write_file(const struct fuse_in_header *in, const struct fuse_write_in *what)
{
	struct fuse_write_out out = { .size = what->size };

	if (what->offset + what->size <= FILE_BYTES)
		memcpy(content + what->offset, what + 1, what->size);
	reply(in, 0, &out, sizeof(out));
}

static void serve(const struct fuse_in_header *in)
{
	const void *body = in + 1;
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 65536, .max_readahead = 65536,
				      .time_gran = 1 };
	struct fuse_attr_out attr = { .attr_valid = 100, .attr = attr_of(in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT: return reply(in, 0, &init, sizeof(init));
	case FUSE_LOOKUP: return look_up(in, body);
	case FUSE_GETATTR: case FUSE_SETATTR: return reply(in, 0, &attr, sizeof(attr));
	case FUSE_OPEN: case FUSE_OPENDIR: return reply(in, 0, &opened, sizeof(opened));
	case FUSE_READ: return read_file(in, body);
	case FUSE_WRITE: return write_file(in, body);
	case FUSE_FORGET: case FUSE_INTERRUPT: case FUSE_BATCH_FORGET: return;
	case FUSE_RELEASE: case FUSE_RELEASEDIR: case FUSE_FLUSH: case FUSE_FSYNC: return reply(in, 0, NULL, 0);
	default: return reply(in, -ENOSYS, NULL, 0);
	}
}

static const char *name_of(const struct fuse_in_header *in)
{
	switch (in->opcode) {
	case FUSE_OPEN: return "open";
	case FUSE_RELEASE: return "release";
	case FUSE_FSYNC: return "fsync";
	default: return NULL;
	}
}

int main(int argc, char **argv)
{
	static char request[1 << 18] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (void *)request;
	char options[100];

	if (argc != 3)
		return 2;
	device = open("/dev/fuse", O_RDWR);
	requests = fopen(argv[2], "w");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
	if (!requests || mount("server", argv[1], "fuse", 0, options)) {
		perror("server: mount");
		return 1;
	}
	memset(content, 'z', sizeof(content));
	if (fork())
		return 0;
	for (;;) {
		ssize_t bytes = read(device, request, sizeof(request));

		if (bytes < 0 && errno == ENODEV)
			return 0;
		if (bytes < (ssize_t)sizeof(*in))
			continue;
		look_at(in->pid);
		if (name_of(in)) {
			fprintf(requests, "%s\n", name_of(in));
			fflush(requests);
		}
		serve(in);
	}
}
