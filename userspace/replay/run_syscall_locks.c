// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_syscall_locks.c - locks of files, and their release by close(2).
 *
 * Lock requests do not block: waits of the trace are edges of the program, so a replay cannot
 * deadlock here. Locks owned by processes of the trace would all have one owner, this process.
 * Therefore each such process has a separate open file description for each file that it locks,
 * which owns the locks instead; a flush by the process closes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "run_syscall.h"

/* A process of the trace, and a file. */
struct locker_key {
	u64 dev;
	u64 ino;
	u64 owner;
};

struct locker {
	UT_hash_handle hh;
	struct locker_key key;
	int fd;
};

struct lockers {
	pthread_mutex_t mutex; /* of all below; not held during a request for a lock */
	struct locker *table;
};

/**
 * lockers_open() - no process holds a lock
 *
 * Return: for lockers_close(), NULL if out of memory.
 */
struct lockers *lockers_open(void)
{
	struct lockers *lockers = calloc(1, sizeof(*lockers));

	if (lockers)
		pthread_mutex_init(&lockers->mutex, NULL);
	return lockers;
}

static void drop(struct lockers *lockers, struct locker *locker)
{
	HASH_DEL(lockers->table, locker);
	close(locker->fd);
	free(locker);
}

/**
 * lockers_close() - give up all locks
 * @lockers: may be NULL; no longer in use
 */
void lockers_close(struct lockers *lockers)
{
	struct locker *locker, *next;

	if (!lockers)
		return;
	HASH_ITER (hh, lockers->table, locker, next)
		drop(lockers, locker);
	pthread_mutex_destroy(&lockers->mutex);
	free(lockers);
}

static int key_of(int fd, u32 owner, struct locker_key *key)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return -errno;
	*key = (struct locker_key){ .dev = stat.st_dev, .ino = stat.st_ino, .owner = owner };
	return 0;
}

/* A description of its own, for all kinds of locks if the file may be opened so. */
static int reopen(int fd)
{
	char path[40];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (copy < 0)
		copy = open(path, (fcntl(fd, F_GETFL) & O_ACCMODE) | O_CLOEXEC | O_NONBLOCK);
	return copy < 0 ? -errno : copy;
}

static struct locker *make_locker(struct lockers *lockers, const struct locker_key *key, int fd)
{
	struct locker *locker = calloc(1, sizeof(*locker));

	if (!locker)
		return NULL;
	locker->key = *key;
	locker->fd = fd;
	HASH_ADD(hh, lockers->table, key, sizeof(locker->key), locker);
	return locker;
}

/* The descriptor whose description owns the locks of a process. Only a flush by it closes that. */
static int locker_fd(struct lockers *lockers, int fd, u32 owner)
{
	struct locker_key key;
	struct locker *locker;
	int copy = key_of(fd, owner, &key);

	if (copy < 0)
		return copy;
	pthread_mutex_lock(&lockers->mutex);
	HASH_FIND(hh, lockers->table, &key, sizeof(key), locker);
	if (locker) {
		copy = locker->fd;
	} else {
		copy = reopen(fd);
		if (copy >= 0 && !make_locker(lockers, &key, copy)) {
			close(copy);
			copy = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&lockers->mutex);
	return copy;
}

/* The descriptor that the process closes: any one of the file will do. */
static void give_up(struct lockers *lockers, int fd, u32 owner)
{
	struct locker_key key;
	struct locker *locker = NULL;

	if (key_of(fd, owner, &key))
		return;
	pthread_mutex_lock(&lockers->mutex);
	HASH_FIND(hh, lockers->table, &key, sizeof(key), locker);
	if (locker)
		drop(lockers, locker);
	pthread_mutex_unlock(&lockers->mutex);
}

static short type_of(u32 our)
{
	if (our & IOT_LOCK_exclusive)
		return F_WRLCK;
	return our & IOT_LOCK_shared ? F_RDLCK : F_UNLCK;
}

/* As the system call does; the description that owns the lock may be open for more. */
static bool may_lock(int fd, u32 our)
{
	int mode = fcntl(fd, F_GETFL) & O_ACCMODE;

	if (our & IOT_LOCK_test || !(our & (IOT_LOCK_shared | IOT_LOCK_exclusive)))
		return true;
	return mode == O_RDWR || mode == (our & IOT_LOCK_exclusive ? O_WRONLY : O_RDONLY);
}

static s64 lock_range(struct worker_task *task, const struct iot_program_op *op, int fd, u32 our)
{
	u64 end = le64_to_cpu(op->end_bytes), begin = le64_to_cpu(op->offset_bytes);
	struct flock range = {
		.l_type = type_of(our),
		.l_start = (off_t)begin,
		.l_len = end == INT64_MAX ? 0 : (off_t)(end - begin + 1),
	};

	if (fcntl(fd, our & IOT_LOCK_test ? F_OFD_GETLK : F_OFD_SETLK, &range))
		return -errno;
	if (our & IOT_LOCK_test && range.l_type != F_UNLCK)
		task->step.observed.lock = range.l_type == F_WRLCK ? IOT_LOCK_exclusive : IOT_LOCK_shared;
	return 0;
}

static int flock_of(u32 our)
{
	if (our & IOT_LOCK_exclusive)
		return LOCK_EX | LOCK_NB;
	return our & IOT_LOCK_shared ? LOCK_SH | LOCK_NB : LOCK_UN;
}

/* @our: IOT_LOCK_*, of the operation, or without a type to release its locks */
static s64 set_lock(struct worker_task *task, const struct iot_program_op *op, int fd, u32 our)
{
	return our & IOT_LOCK_flock ? RESULT(flock(fd, flock_of(our))) : lock_range(task, op, fd, our);
}

/* A lock for which the trace waited in vain, see iot_is_lock_in_vain(). */
static s64 request_in_vain(struct worker_task *task, const struct iot_program_op *op, int fd)
{
	u32 our = le32_to_cpu(op->flags);
	s64 result = set_lock(task, op, fd, our);

	if (result == -EAGAIN || result == -EACCES)
		return (s64)le64_to_cpu(op->result);
	if (!result)
		set_lock(task, op, fd, our & ~(u32)(IOT_LOCK_shared | IOT_LOCK_exclusive));
	return result;
}

static s64 lock_fd(struct worker_task *task, const struct iot_program_op *op, int fd)
{
	u32 our = le32_to_cpu(op->flags), owner = le32_to_cpu(op->owner);

	if (!(our & IOT_LOCK_flock)) {
		if (!may_lock(fd, our))
			return -EBADF;
		if (owner)
			fd = locker_fd(stage_of(task)->lockers, fd, owner);
	}
	if (fd < 0)
		return fd;
	return iot_is_lock_in_vain(op) ? request_in_vain(task, op, fd) : set_lock(task, op, fd, our);
}

s64 run_lock(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	result = lock_fd(task, op, fd);
	handle_put(handle);
	return result;
}

/* A handle's last descriptor is closed by release; all others, and there are many, by this. */
s64 run_flush(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle), copy;
	s64 result;

	if (fd < 0)
		return fd;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	result = copy < 0 ? -errno : RESULT(close(copy));
	if (op->owner)
		give_up(stage_of(task)->lockers, fd, le32_to_cpu(op->owner));
	handle_put(handle);
	return result;
}
