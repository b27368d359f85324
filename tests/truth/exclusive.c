// SPDX-License-Identifier: GPL-2.0-only
/*
 * exclusive.c - calls that the kernel refuses because another user, who came by another path, uses the file.
 *
 *	exclusive CASE HERE THERE
 *	exclusive --map FILE
 *
 * HERE and THERE are paths of one directory, one perhaps through tapefs. The file is run or held open HERE, and the
 * calls are made THERE. Prints the outcome of each call, which must be the same for any two paths.
 * The second form maps a file until it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			printf("line %d: %s (%s)\n", __LINE__, #condition, strerror(errno));    \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static const char *here, *there;

static const char *path(const char *dir, const char *name)
{
	static char paths[4][PATH_MAX];
	static int next;
	char *result = paths[next++ % 4];

	snprintf(result, PATH_MAX, "%s/%s", dir, name);
	return result;
}

/* Return: @result, for the caller's use. */
static int report(const char *what, int result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
	return result;
}

static void report_and_close(const char *what, int fd)
{
	if (report(what, fd) >= 0)
		close(fd);
}

static void copy(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	struct stat stat;

	CHECK(in >= 0 && out >= 0 && !fstat(in, &stat));
	while (stat.st_size > 0) {
		ssize_t bytes = sendfile(out, in, NULL, (size_t)stat.st_size);

		CHECK(bytes > 0);
		stat.st_size -= bytes;
	}
	CHECK(!close(in) && !close(out));
}

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = open(path(here, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
}

/* -- programs that run until their pipe is closed ------------------------------------------------------------ */

struct program {
	pid_t pid;
	int end; /* closing it ends the program */
};

/* Return: true if the program runs; otherwise errno is the error of exec. */
static bool start_with(struct program *program, const char *dir, char *const *arguments)
{
	int ready[2], failed[2], end[2], err = 0;
	char byte;

	CHECK(!pipe2(ready, 0) && !pipe2(failed, O_CLOEXEC) && !pipe2(end, O_CLOEXEC));
	program->pid = fork();
	if (!program->pid) {
		dup2(end[0], 0);
		dup2(ready[1], 3);
		if (ready[0] != 3)
			close(ready[0]);
		if (chdir(dir) == 0)
			execv(arguments[0], arguments);
		err = errno;
		(void)!write(failed[1], &err, sizeof(err));
		_exit(1);
	}
	close(ready[1]);
	close(failed[1]);
	close(end[0]);
	program->end = end[1];
	if (read(failed[0], &err, sizeof(err)) > 0)
		CHECK(waitpid(program->pid, NULL, 0) == program->pid);
	else
		CHECK(read(ready[0], &byte, 1) == 1);
	close(failed[0]);
	close(ready[0]);
	errno = err;
	return !err;
}

static bool start(struct program *program, const char *dir, const char *name, const char *argument)
{
	char *arguments[] = { (char *)name, "--wait", (char *)argument, NULL };

	return start_with(program, dir, arguments);
}

static void stop(struct program *program)
{
	close(program->end);
	CHECK(waitpid(program->pid, NULL, 0) == program->pid);
}

/* Started by start(): reports that it runs, then waits. */
static int wait_for_end(const char *how)
{
	bool is_child = !strcmp(how, "--fork") && !fork();
	char byte;

	if (!strcmp(how, "--exec"))
		execl("./other", "./other", "--wait", NULL);
	if (!is_child)
		(void)!write(3, "", 1);
	close(3);
	while (read(is_child ? 10 : 0, &byte, 1) > 0)
		;
	return 0;
}

static void report_exec(const char *what, const char *dir, const char *name)
{
	struct program program;

	if (report(what, start(&program, dir, name, NULL) ? 0 : -1) == 0)
		stop(&program);
}

static void try_writes(const char *name)
{
	report_and_close("open to write", open(path(there, name), O_WRONLY | O_CLOEXEC));
	report_and_close("open to read and write", open(path(there, name), O_RDWR | O_CLOEXEC));
	report_and_close("open to append", open(path(there, name), O_WRONLY | O_APPEND | O_CLOEXEC));
	report_and_close("open to read", open(path(there, name), O_RDONLY | O_CLOEXEC));
	report("truncate", truncate(path(there, name), 70000));
}

static void running(void)
{
	struct program first, second;

	copy("/proc/self/exe", path(here, "program"), 0755);
	CHECK(start(&first, here, "./program", NULL));
	try_writes("program");
	report_and_close("open to cut", open(path(there, "program"), O_WRONLY | O_TRUNC | O_CLOEXEC));
	CHECK(start(&second, here, "./program", NULL));
	stop(&first);
	report_and_close("open to write, one of two has ended", open(path(there, "program"), O_WRONLY | O_CLOEXEC));
	stop(&second);
	try_writes("program");
}

/* A child that does not call exec runs the same program. Its pipes have the numbers 10 and 11. */
static void forked(void)
{
	struct program parent;
	int end[2], ended[2];
	char byte;

	CHECK(!pipe2(end, O_CLOEXEC) && !pipe2(ended, O_CLOEXEC));
	CHECK(dup2(end[0], 10) == 10 && dup2(ended[1], 11) == 11 && !close(ended[1]));
	copy("/proc/self/exe", path(here, "program"), 0755);
	CHECK(start(&parent, here, "./program", "--fork"));
	CHECK(!close(10) && !close(11));
	stop(&parent);
	report_and_close("open to write, a child runs it", open(path(there, "program"), O_WRONLY | O_CLOEXEC));
	CHECK(!close(end[1]));
	CHECK(!read(ended[0], &byte, 1));
	report_and_close("open to write, it has ended", open(path(there, "program"), O_WRONLY | O_CLOEXEC));
}

/* The process executes another program. */
static void replaced(void)
{
	struct program program;

	copy("/proc/self/exe", path(here, "program"), 0755);
	copy("/proc/self/exe", path(here, "other"), 0755);
	CHECK(start(&program, here, "./program", "--exec"));
	report_and_close("open to write the old program", open(path(there, "program"), O_WRONLY | O_CLOEXEC));
	report_and_close("open to write the new program", open(path(there, "other"), O_WRONLY | O_CLOEXEC));
	stop(&program);
	report_and_close("open to write, it has ended", open(path(there, "other"), O_WRONLY | O_CLOEXEC));
}

/* A running script may be written; its interpreter may not. */
static void script(void)
{
	struct program program;

	copy("/proc/self/exe", path(here, "program"), 0755);
	put("script", "#!./program --wait\n", 0755);
	CHECK(start(&program, here, "./script", NULL));
	report_and_close("open to write a script", open(path(there, "script"), O_WRONLY | O_CLOEXEC));
	report_and_close("open to write its interpreter", open(path(there, "program"), O_WRONLY | O_CLOEXEC));
	stop(&program);
}

/* Writes to the loader of a dynamic program are denied only while it loads. */
static void loader(void)
{
	char *arguments[] = { "./ld.so", "./linked", "--wait", NULL };
	char linked[PATH_MAX], loader[PATH_MAX];
	struct program program;
	ssize_t length = readlink("/proc/self/exe", linked, sizeof(linked) - 8);

	CHECK(length > 0 && realpath("/lib64/ld-linux-x86-64.so.2", loader));
	strcpy(linked + length, ".linked");
	copy(linked, path(here, "linked"), 0755);
	copy(loader, path(here, "ld.so"), 0755);
	CHECK(start(&program, here, "./linked", NULL));
	report_and_close("open to write a loader", open(path(there, "ld.so"), O_WRONLY | O_CLOEXEC));
	report_and_close("open to write a loaded file", open(path(there, "linked"), O_WRONLY | O_CLOEXEC));
	stop(&program);
	CHECK(start_with(&program, here, arguments)); /* the loader is a program, too */
	report_and_close("open to write a loader that runs", open(path(there, "ld.so"), O_WRONLY | O_CLOEXEC));
	report_and_close("open to write the program that it runs", open(path(there, "linked"), O_WRONLY | O_CLOEXEC));
	stop(&program);
	report_and_close("open to write a loader that has ended", open(path(there, "ld.so"), O_WRONLY | O_CLOEXEC));
}

static void written(void)
{
	struct program program;
	char *map;
	int fd;

	copy("/proc/self/exe", path(here, "program"), 0755);
	fd = open(path(there, "program"), O_WRONLY | O_APPEND | O_CLOEXEC);
	report_exec("exec of a program open to write", here, "./program");
	CHECK(!close(fd));
	report_exec("exec of a program that was closed", here, "./program");
	fd = open(path(there, "program"), O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED && !close(fd));
	report_exec("exec of a program mapped to write", here, "./program");
	CHECK(!munmap(map, 4096));
	report_exec("exec of a program that was mapped", here, "./program");
	fd = open(path(there, "program"), O_RDONLY | O_CLOEXEC);
	report_exec("exec of a program open to read", here, "./program");
	CHECK(!close(fd));
	put("script", "#!./program --wait\n", 0755);
	fd = open(path(there, "program"), O_WRONLY | O_CLOEXEC);
	report_exec("exec of a script whose interpreter is open to write", here, "./script");
	CHECK(!close(fd));
	fd = open(path(there, "script"), O_WRONLY | O_CLOEXEC);
	report_exec("exec of a script that is open to write", here, "./script");
	CHECK(!close(fd));
	report_exec("exec of a script", here, "./script");
	put("nothing", "no program", 0755);
	report_exec("exec of a file that is not a program", here, "./nothing");
	report_and_close("open to write a file that is not a program", open(path(there, "nothing"), O_WRONLY | O_CLOEXEC));
	CHECK(start(&program, here, "./program", NULL));
	report("rename what runs", rename(path(there, "program"), path(there, "renamed")));
	report_and_close("open to write a renamed program", open(path(there, "renamed"), O_WRONLY | O_CLOEXEC));
	report("remove what runs", unlink(path(there, "renamed")));
	stop(&program);
}

/* The kernel reads a module itself. */
static void module(void)
{
	int fd, writer;

	put("module", "no module", 0644);
	fd = open(path(here, "module"), O_RDONLY | O_CLOEXEC);
	writer = open(path(there, "module"), O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && writer >= 0);
	report("load a module open to write", (int)syscall(SYS_finit_module, fd, "", 0));
	CHECK(!close(writer));
	report("load a file that is not a module", (int)syscall(SYS_finit_module, fd, "", 0));
	report_and_close("open to write a file that was loaded", open(path(there, "module"), O_WRONLY | O_CLOEXEC));
	CHECK(!close(fd));
}

/* The kernel swaps to the file. The script created it and calls swapoff. */
static void swapped(void)
{
	int fd = open(path(there, "swap"), O_RDWR | O_CLOEXEC), other;
	char page[4096] = { 0 };

	report("open to read and write", fd);
	report("write", (int)pwrite(fd, page, sizeof(page), 0));
	report("ftruncate", ftruncate(fd, 0));
	report("truncate", truncate(path(there, "swap"), 0));
	report("fallocate", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 65536));
	report("fallocate, longer", fallocate(fd, 0, 0, 16 << 20));
	report("map to write", mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	report("map to read", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	put("other", "other", 0600);
	other = open(path(there, "other"), O_RDWR | O_CLOEXEC);
	report("copy to it", (int)copy_file_range(other, NULL, fd, NULL, 5, 0));
	report("copy from it", (int)copy_file_range(fd, NULL, other, NULL, 5, 0));
	report("share blocks with it", ioctl(fd, FICLONE, other));
	report("open to cut", open(path(there, "swap"), O_WRONLY | O_TRUNC | O_CLOEXEC));
	report("unlink", unlink(path(there, "swap")));
	report("rename", rename(path(there, "swap"), path(there, "swap2")));
	report("replace", rename(path(there, "other"), path(there, "swap")));
	report("link", link(path(there, "swap"), path(there, "linked")));
	report("unlink the link", unlink(path(there, "linked")));
	report("chmod", chmod(path(there, "swap"), 0600));
}

/* Inode flags are set THERE while a descriptor is open HERE. */
static int set_flags(int flags)
{
	int fd = open(path(there, "file"), O_RDONLY | O_CLOEXEC), err;

	CHECK(fd >= 0);
	err = ioctl(fd, FS_IOC_SETFLAGS, &flags);
	CHECK(!close(fd));
	return err;
}

static void try_flagged(int fd)
{
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 2 } };
	struct stat stat;

	report("ftruncate", ftruncate(fd, 3));
	report("write", (int)pwrite(fd, "x", 1, 0));
	report("fallocate", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
	report("map to write", mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	report("fchmod", fchmod(fd, 0640));
	report("futimens", futimens(fd, times));
	report("fchown", fchown(fd, 1, 1));
	report_and_close("open to write", open(path(here, "file"), O_WRONLY | O_CLOEXEC));
	report_and_close("open to append", open(path(here, "file"), O_WRONLY | O_APPEND | O_CLOEXEC));
	report_and_close("open to cut", open(path(here, "file"), O_WRONLY | O_APPEND | O_TRUNC | O_CLOEXEC));
	report("truncate", truncate(path(here, "file"), 2));
	report("chmod", chmod(path(here, "file"), 0600));
	report("link", link(path(here, "file"), path(here, "linked")));
	report("unlink the link", unlink(path(here, "linked")));
	report("rename", rename(path(here, "file"), path(here, "file2")));
	report("rename back", rename(path(here, "file2"), path(here, "file")));
	CHECK(!fstat(fd, &stat));
	printf("size %ld mode %o\n", (long)stat.st_size, stat.st_mode & 07777);
}

static void flagged(void)
{
	int fd;

	put("file", "0123456789", 0644);
	fd = open(path(here, "file"), O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	report("append only", set_flags(FS_APPEND_FL));
	try_flagged(fd);
	report("nothing", set_flags(0));
	CHECK(!access(path(here, "file"), W_OK)); /* a lookup updates the flags for open descriptors */
	try_flagged(fd);
	report("immutable", set_flags(FS_IMMUTABLE_FL));
	try_flagged(fd);
	report("nothing", set_flags(0));
	report("unlink", unlink(path(here, "file")));
	CHECK(!close(fd));
}

/* Until it is killed. */
static int keep_mapped(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED && !close(fd));
	puts("mapped");
	fflush(stdout);
	pause();
	return 0;
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "running", running }, { "forked", forked },	{ "replaced", replaced }, { "script", script },
	{ "loader", loader },	{ "written", written }, { "module", module },	  { "swapped", swapped },
	{ "flagged", flagged },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc >= 2 && !strcmp(argv[1], "--wait"))
		return wait_for_end(argc == 3 ? argv[2] : "");
	if (argc == 3 && !strcmp(argv[1], "--map"))
		return keep_mapped(argv[2]);
	if (argc == 4) {
		here = argv[2];
		there = argv[3];
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			if (strcmp(cases[i].name, argv[1]))
				continue;
			cases[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: exclusive CASE HERE THERE\n");
	return 2;
}
