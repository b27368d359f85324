// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - the session that the process has joined, and writing records to it.
 *
 * A process that has not joined, or whose session is over, writes nothing. A child made by
 * fork(2) is not a rank: it lets go of the descriptor, which would also keep the module
 * busy. What the child executes never sees it.
 */
#include "shim.h"

#include <iotape/control.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Out of the way: the program gets the same numbers for its descriptors as without us. */
#define FIRST_FD 800

int iot_mpi_session_fd = -1;
static int open_fd = -1; /* the same, also when records are no longer taken */
static dev_t device;

/* Programs close descriptors that are not theirs, and then get the number for a file. */
static bool is_ours(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && S_ISCHR(stat.st_mode) && stat.st_rdev == device;
}

/**
 * iot_mpi_session_close() - write no more
 *
 * No other thread may be in an MPI call.
 */
void iot_mpi_session_close(void)
{
	int saved = errno;

	__atomic_store_n(&iot_mpi_session_fd, -1, __ATOMIC_RELEASE);
	if (open_fd >= 0 && is_ours(open_fd))
		close(open_fd);
	open_fd = -1;
	errno = saved;
}

static int join(int fd, const char *mount)
{
	struct iot_join join = { .dir_fd = open(mount, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	int err = 0;

	if (join.dir_fd < 0)
		return -errno;
	if (ioctl(fd, IOT_IOC_JOIN, &join))
		err = -errno;
	close(join.dir_fd);
	return err;
}

/**
 * iot_mpi_session_open() - join the session that records the mount of IOTAPE_MOUNT
 * @where: out: what was in the way, after an error
 *
 * Return: 1, 0 if no such session was asked for, or a negative errno.
 */
int iot_mpi_session_open(const char **where)
{
	const char *mount = getenv("IOTAPE_MOUNT");
	struct stat stat;
	int fd, high, err;

	if (!mount)
		return 0;
	*where = IOT_CONTROL_PATH;
	fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	*where = mount;
	err = join(fd, mount);
	if (!err && fstat(fd, &stat))
		err = -errno;
	if (!err)
		err = -pthread_atfork(NULL, NULL, iot_mpi_session_close);
	if (err) {
		close(fd);
		return err;
	}
	device = stat.st_rdev;
	open_fd = fd;
	__atomic_store_n(&iot_mpi_session_fd, fd, __ATOMIC_RELEASE);
	return 1;
}

/**
 * iot_mpi_session_write() - hand a record to the kernel
 * @record: encoded
 * @bytes: its length
 *
 * After an error, such as that the session is over, there is no further attempt. The
 * descriptor stays open then, because another thread may be just about to use its number.
 * The system call is made directly: write(2) of the C library is where a thread may be
 * cancelled, and what other tools wrap.
 */
void iot_mpi_session_write(const void *record, size_t bytes)
{
	int fd = __atomic_load_n(&iot_mpi_session_fd, __ATOMIC_ACQUIRE), saved = errno;

	if (fd >= 0 && (!is_ours(fd) || syscall(SYS_write, fd, record, bytes) < 0))
		__atomic_store_n(&iot_mpi_session_fd, -1, __ATOMIC_RELEASE);
	errno = saved;
}
