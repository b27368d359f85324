// SPDX-License-Identifier: GPL-2.0-only
/*
 * mailbox.c - records into a mailbox of the session, which the kernel empties.
 *
 * Each thread has its own. No descriptor is kept: programs close those that they do not know,
 * and the program gets the same numbers for its own as without us. A thread that gets no
 * mailbox, because there are too many, writes its records by system calls.
 */
#include "shim.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HALF_BYTES (IOT_MAILBOX_RING_BYTES / 2)

static IOT_MPI_THREAD struct iot_mailbox_head *mine;
static IOT_MPI_THREAD u32 asked; /* the tail, when the kernel was asked to empty it */
static pthread_key_t key;
static char mount[PATH_MAX];

static int join(int fd)
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

/* Return: a descriptor that has joined, or a negative errno. */
static int open_joined(const char **where)
{
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC), err;
	struct iot_query query;

	*where = IOT_CONTROL_PATH;
	if (fd < 0)
		return -errno;
	if (ioctl(fd, IOT_IOC_QUERY, &query) || query.version != IOT_CONTROL_VERSION) {
		*where = IOT_CONTROL_PATH " is of another version";
		close(fd);
		return -EPROTO;
	}
	*where = mount;
	err = join(fd);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* The mailbox of a thread that has none; there may be too many. */
static void begin(int fd)
{
	struct iot_mailbox_head *box = mmap(NULL, IOT_MAILBOX_BYTES, PROT_READ | PROT_WRITE,
					    MAP_SHARED, fd, 0);

	if (box == MAP_FAILED)
		return;
	mine = box;
	asked = 0;
	iot_mpi_ops = &box->op;
	pthread_setspecific(key, box);
}

/* The kernel keeps the ownership of the contents. */
static void end(void *box)
{
	mine = NULL;
	iot_mpi_ops = NULL;
	munmap(box, IOT_MAILBOX_BYTES);
}

/**
 * iot_mpi_mailbox_open() - join the session that records a mount
 * @dir: the mount
 * @where: out: the object that caused an error
 *
 * Return: 0 or a negative errno.
 */
int iot_mpi_mailbox_open(const char *dir, const char **where)
{
	int fd, err;

	*where = dir;
	if (strlen(dir) >= sizeof(mount))
		return -ENAMETOOLONG;
	strcpy(mount, dir);
	fd = open_joined(where);
	if (fd < 0)
		return fd;
	err = -pthread_key_create(&key, end);
	if (!err)
		begin(fd);
	close(fd);
	return err;
}

static void stop(void)
{
	__atomic_store_n(&iot_mpi_sink, IOT_MPI_SINK_NONE, __ATOMIC_RELEASE);
}

/*
 * The system call is made directly: write(2) of the C library is a cancellation point,
 * and is wrapped by other tools.
 */
static void write_slowly(const u8 *record, size_t bytes)
{
	const char *where;
	int saved = errno, fd = open_joined(&where);

	if (fd < 0 || syscall(SYS_write, fd, record, bytes) < 0)
		stop();
	if (fd >= 0)
		close(fd);
	errno = saved;
}

/**
 * iot_mpi_mailbox_begin() - get a mailbox for this thread
 *
 * Return: it has one; if not, it may try again.
 */
bool iot_mpi_mailbox_begin(void)
{
	const char *where;
	int saved = errno, fd;

	if (mine)
		return true;
	fd = open_joined(&where);
	if (fd < 0) {
		stop();
	} else {
		begin(fd);
		close(fd);
	}
	errno = saved;
	return mine != NULL;
}

static u32 used_bytes(const struct iot_mailbox_head *box)
{
	return box->tail - __atomic_load_n(&box->head, __ATOMIC_ACQUIRE);
}

/* The kernel empties it now and then; on request when half is full. If all is full, the thread waits for the kernel. */
static bool has_room(struct iot_mailbox_head *box, size_t bytes)
{
	int saved = errno;

	if (__builtin_expect(used_bytes(box) <= HALF_BYTES, 1))
		return true;
	if (box->tail - asked >= HALF_BYTES || used_bytes(box) + bytes > IOT_MAILBOX_RING_BYTES) {
		asked = box->tail;
		syscall(SYS_msync, box, IOT_MAILBOX_HEAD_BYTES, MS_SYNC);
		errno = saved;
	}
	return used_bytes(box) + bytes <= IOT_MAILBOX_RING_BYTES;
}

static void put(struct iot_mailbox_head *box, const u8 *record, size_t bytes)
{
	u8 *ring = (u8 *)box + IOT_MAILBOX_HEAD_BYTES;
	size_t at = box->tail % IOT_MAILBOX_RING_BYTES, first = IOT_MAILBOX_RING_BYTES - at;

	if (first > bytes)
		first = bytes;
	memcpy(ring + at, record, first);
	memcpy(ring, record + first, bytes - first);
	__atomic_store_n(&box->tail, box->tail + (u32)bytes, __ATOMIC_RELEASE);
}

/**
 * iot_mpi_mailbox_write() - put a record into the mailbox of the thread
 * @record: encoded; the members that the kernel does not know are filled in
 * @bytes: its length
 */
void iot_mpi_mailbox_write(u8 *record, size_t bytes)
{
	if (__builtin_expect(!mine, 0) && !iot_mpi_mailbox_begin()) {
		if (iot_mpi_is_on())
			write_slowly(record, bytes);
		return;
	}
	if (__builtin_expect(__atomic_load_n(&mine->is_closed, __ATOMIC_RELAXED), 0)) {
		stop();
		return;
	}
	iot_mpi_record_end(record, 0, &mine->op);
	if (has_room(mine, bytes))
		put(mine, record, bytes);
	else
		__atomic_store_n(&mine->lost, mine->lost + 1, __ATOMIC_RELAXED);
}
