// SPDX-License-Identifier: GPL-2.0-only
/*
 * asked.c - reads the mappings of a process before it permits the process to open a file.
 *
 *	asked ABOVE BELOW
 *
 * Both paths lead to the same file, ABOVE through tapefs. A child opens and maps the file at ABOVE. Each open below
 * raises a permission event (fanotify(7), FAN_OPEN_PERM). Before answering, this program reads /proc/PID/maps of the
 * child, as scanners do. That read waits for a task that modifies the mappings: if the same task waits for the
 * answer, both are deadlocked. Exits with 0 if the child has ended and there was one event for each of its opens.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "asked: line %d: %s (%s)\n", __LINE__, #condition,      \
				strerror(errno));                                               \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

#define PATIENCE_S 20

static void open_and_map(const char *path)
{
	int fd = open(path, O_RDWR);

	alarm(PATIENCE_S); /* a signal can end the wait */
	if (fd < 0 || mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		_exit(1);
	_exit(0);
}

static void read_maps(int pid)
{
	char path[64], text[4096];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return; /* the child has ended */
	while (read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
}

static void answer(int group)
{
	struct fanotify_event_metadata event;
	struct fanotify_response response = { .response = FAN_ALLOW };

	CHECK(read(group, &event, sizeof(event)) == sizeof(event));
	read_maps(event.pid);
	response.fd = event.fd;
	CHECK(write(group, &response, sizeof(response)) == sizeof(response));
	close(event.fd);
}

int main(int argc, char **argv)
{
	struct pollfd group = { .events = POLLIN };
	int status = 0, opens = 0;
	pid_t pid;

	if (argc != 3) {
		fprintf(stderr, "usage: asked ABOVE BELOW\n");
		return 2;
	}
	group.fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
	CHECK(group.fd >= 0);
	CHECK(!fanotify_mark(group.fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, argv[2]));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		open_and_map(argv[1]);
	while (!waitpid(pid, &status, WNOHANG))
		if (poll(&group, 1, 100) > 0) {
			answer(group.fd);
			opens++;
		}
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(opens == 1);
	return 0;
}
