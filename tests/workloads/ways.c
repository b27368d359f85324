// SPDX-License-Identifier: GPL-2.0-only
/*
 * ways.c DIR - accesses files in DIR in many ways: by names, descriptors, procfs links, through
 * pipes and a socket, in a child that shares a descriptor, and by vectors. The order is
 * fixed, so that two runs can be compared.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void must(int is_so, const char *what)
{
	if (is_so)
		return;
	perror(what);
	exit(1);
}

static void lock(int fd, int command, short type, off_t start, off_t length)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length };

	must(!fcntl(fd, command, &range), "fcntl");
}

static void data(void)
{
	struct iovec vector[2] = { { "vector", 6 }, { " of two", 7 } };
	struct timespec times[2] = { { .tv_sec = 1000000000, .tv_nsec = 5 }, { .tv_nsec = UTIME_OMIT } };
	int fd = open("data\n1", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640), copy;
	char buffer[64];
	struct stat stat;

	must(fd >= 0, "open");
	must(write(fd, "\0binary\377\"quoted\"", 16) == 16, "write");
	must(pwrite(fd, "behind", 6, 1000) == 6, "pwrite");
	must(writev(fd, vector, 2) == 13, "writev");
	must(pwritev(fd, vector, 2, 500) == 13, "pwritev");
	must(lseek(fd, -4, SEEK_END) == 1002, "lseek");
	must(read(fd, buffer, sizeof(buffer)) == 4, "read");
	must(pread(fd, buffer, 10, 0) == 10, "pread");
	lock(fd, F_SETLK, F_WRLCK, 100, 10);
	lock(fd, F_SETLKW, F_UNLCK, 100, 10);
	lock(fd, F_OFD_SETLK, F_RDLCK, 0, 0);
	must(!flock(fd, LOCK_EX), "flock");
	must(!fallocate(fd, FALLOC_FL_KEEP_SIZE, 4096, 4096) || 1, "fallocate");
	must(!fsync(fd) && !fdatasync(fd), "fsync");
	must(!posix_fadvise(fd, 0, 100, POSIX_FADV_WILLNEED), "fadvise");
	must(!futimens(fd, times), "futimens");
	must(!fstat(fd, &stat), "fstat");
	copy = open("copy", O_WRONLY | O_CREAT | O_APPEND, 0600);
	must(copy >= 0 && !lseek(fd, 0, SEEK_SET), "open");
	must(sendfile(copy, fd, NULL, 100) < 0 || 1, "sendfile");
	must(!ftruncate(fd, 600), "ftruncate");
	close(copy);
	close(fd);
}

static void links(void)
{
	char path[64], target[64];
	int fd = open("data\n1", O_RDWR), fd2, dir = open(".", O_RDONLY | O_DIRECTORY);

	must(fd >= 0 && dir >= 0, "open");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(!chmod(path, 0600), "chmod");
	must(!setxattr(path, "user.way", "value", 5, 0) || 1, "setxattr");
	fd2 = open(path, O_RDONLY);
	must(fd2 >= 0 && read(fd2, target, 10) == 10, "open");
	snprintf(path, sizeof(path), "/dev/fd/%d", fd2);
	must(!truncate(path, 300), "truncate");
	must(!mkdirat(dir, "dir", 0755) && !symlink("dir/file", "link"), "mkdir");
	must(!access("/proc/self/cwd/dir", F_OK), "access");
	close(openat(dir, "dir/file", O_WRONLY | O_CREAT, 0666));
	close(open("link", O_RDONLY));
	must(readlink("link", target, sizeof(target)) == 8, "readlink");
	must(!rename("dir/file", "dir/other") && !link("dir/other", "hard"), "rename");
	must(!unlink("link") && !unlinkat(dir, "dir/other", 0), "unlink");
	close(fd);
	close(fd2);
	close(dir);
}

/* A pipe and a socket get descriptor numbers that files had before. */
static void others(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int pipes[2], fd, s = socket(AF_UNIX, SOCK_STREAM, 0);
	char buffer[8];

	must(!pipe(pipes) && write(pipes[1], "pipe", 4) == 4 && read(pipes[0], buffer, 8) == 4, "pipe");
	must(!bind(s, (struct sockaddr *)&name, sizeof(name)), "bind");
	fd = open("hard", O_RDWR);
	must(fd >= 0 && dup2(fd, pipes[0]) == pipes[0], "dup2");
	must(write(pipes[0], "through a copy", 14) == 14, "write");
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	close(s);
}

static void child(void)
{
	int fd = open("shared", O_RDWR | O_CREAT, 0644), status;
	pid_t pid;

	must(fd >= 0 && write(fd, "parent", 6) == 6, "write");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		must(write(fd, "child", 5) == 5 && !rename("shared", "renamed"), "write");
		_exit(7);
	}
	must(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7, "wait");
	must(write(fd, "again", 5) == 5 && lseek(fd, 0, SEEK_CUR) == 16, "write");
	close(fd);
}

static void listing(void)
{
	int fd = open("data\n1", O_RDWR);
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	DIR *dir = opendir(".");

	must(memory != MAP_FAILED && dir, "mmap");
	while (readdir(dir))
		;
	closedir(dir);
	memory[0] = 'm';
	must(!msync(memory, 4096, MS_SYNC) && !munmap(memory, 4096), "msync");
	close(fd);
}

int main(int argc, char **argv)
{
	must(argc == 2 && !chdir(argv[1]), "chdir");
	umask(022);
	data();
	links();
	others();
	child();
	listing();
	return 0;
}
