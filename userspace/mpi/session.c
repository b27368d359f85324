// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - the session that the process has joined, and writing records to it.
 *
 * A process that has not joined, or whose session is over, writes nothing. A child made by
 * fork(2) is not a rank: it lets go of the descriptor, which would also keep the module
 * busy. What the child executes never sees it. Without a session, records go to a file if
 * one was asked for.
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

int iot_mpi_sink = IOT_MPI_SINK_NONE;
static int open_fd = -1; /* also when records are no longer taken */
static dev_t device;

/* Programs close descriptors that are not theirs, and then get the number for a file. */
static bool is_ours(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && S_ISCHR(stat.st_mode) && stat.st_rdev == device;
}

static void let_go(bool is_complete)
{
	int saved = errno;

	if (__atomic_exchange_n(&iot_mpi_sink, IOT_MPI_SINK_NONE, __ATOMIC_ACQ_REL) ==
	    IOT_MPI_SINK_FILE)
		iot_mpi_file_close(is_complete);
	if (open_fd >= 0 && is_ours(open_fd))
		close(open_fd);
	open_fd = -1;
	errno = saved;
}

/**
 * iot_mpi_session_close() - write no more
 *
 * No other thread may be in an MPI call.
 */
void iot_mpi_session_close(void)
{
	let_go(true);
}

static void let_go_in_child(void)
{
	let_go(false);
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

static int open_device(const char *mount, const char **where)
{
	struct iot_query query;
	struct stat stat;
	int fd, high, err;

	*where = IOT_CONTROL_PATH;
	fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, IOT_IOC_QUERY, &query) || query.version != IOT_CONTROL_VERSION) {
		*where = IOT_CONTROL_PATH " is of another version";
		close(fd);
		return -EPROTO;
	}
	high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	*where = mount;
	err = join(fd, mount);
	if (!err && fstat(fd, &stat))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	device = stat.st_rdev;
	open_fd = fd;
	return 0;
}

/**
 * iot_mpi_session_open() - begin to take records
 * @begin_ns: when MPI began
 * @where: out: what was in the way, after an error
 *
 * They go to the session that records the mount of IOTAPE_MOUNT, or else to a file in the
 * directory of IOTAPE_MPI_OUT.
 *
 * Return: 1, 0 if neither was asked for, or a negative errno.
 */
int iot_mpi_session_open(u64 begin_ns, const char **where)
{
	const char *mount = getenv("IOTAPE_MOUNT"), *dir = getenv("IOTAPE_MPI_OUT");
	int err;

	if (!mount && (!dir || !dir[0]))
		return 0;
	err = mount ? open_device(mount, where) : iot_mpi_file_open(dir, begin_ns, where);
	if (!err)
		err = -pthread_atfork(NULL, NULL, let_go_in_child);
	if (err)
		return err;
	__atomic_store_n(&iot_mpi_sink, mount ? IOT_MPI_SINK_DEVICE : IOT_MPI_SINK_FILE,
			 __ATOMIC_RELEASE);
	return 1;
}

static void write_device(const void *record, size_t bytes)
{
	int saved = errno;

	if (!is_ours(open_fd) || syscall(SYS_write, open_fd, record, bytes) < 0)
		__atomic_store_n(&iot_mpi_sink, IOT_MPI_SINK_NONE, __ATOMIC_RELEASE);
	errno = saved;
}

/**
 * iot_mpi_session_write() - hand a record on
 * @record: encoded
 * @bytes: its length
 *
 * After an error of the kernel, such as that the session is over, there is no further
 * attempt. The descriptor stays open then, because another thread may be just about to use
 * its number. The system call is made directly: write(2) of the C library is where a thread
 * may be cancelled, and what other tools wrap.
 */
void iot_mpi_session_write(u8 *record, size_t bytes)
{
	switch (__atomic_load_n(&iot_mpi_sink, __ATOMIC_ACQUIRE)) {
	case IOT_MPI_SINK_FILE:
		iot_mpi_file_write(record, bytes);
		break;
	case IOT_MPI_SINK_DEVICE:
		write_device(record, bytes);
	}
}
