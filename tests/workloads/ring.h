/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - an io_uring of up to RING_ENTRIES requests at a time, without a library.
 */
#ifndef WORKLOADS_RING_H
#define WORKLOADS_RING_H

#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_ENTRIES 8

struct ring {
	int fd;
	struct io_uring_params params;
	char *submission, *completion;
	struct io_uring_sqe *entries;
};

static inline void *ring_map(const struct ring *ring, size_t bytes, off_t what)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, what);
}

/* Return: whether the kernel supports io_uring; otherwise errno has the reason. */
static inline bool ring_open(struct ring *ring)
{
	const struct io_uring_params *p = &ring->params;

	*ring = (struct ring){};
	ring->fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &ring->params);
	if (ring->fd < 0)
		return false;
	ring->submission = ring_map(ring, p->sq_off.array + p->sq_entries * sizeof(uint32_t),
				    IORING_OFF_SQ_RING);
	ring->completion = ring_map(ring, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe),
				    IORING_OFF_CQ_RING);
	ring->entries = ring_map(ring, p->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	return ring->submission != MAP_FAILED && ring->completion != MAP_FAILED &&
	       (void *)ring->entries != MAP_FAILED;
}

/* Return: whether the kernel accepted the request; otherwise errno has the reason. */
static inline bool ring_submit(struct ring *ring, const struct io_uring_sqe *request)
{
	_Atomic uint32_t *tail = (void *)(ring->submission + ring->params.sq_off.tail);
	uint32_t *array = (void *)(ring->submission + ring->params.sq_off.array);
	uint32_t slot = atomic_load(tail) % ring->params.sq_entries;

	ring->entries[slot] = *request;
	array[slot] = slot;
	atomic_fetch_add(tail, 1);
	return syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) == 1;
}

/* Waits for a request. Return: its result, which may be a negated errno; or -1, and errno is set. */
static inline int ring_wait(struct ring *ring)
{
	_Atomic uint32_t *head = (void *)(ring->completion + ring->params.cq_off.head);
	const struct io_uring_cqe *done = (void *)(ring->completion + ring->params.cq_off.cqes);
	int result;

	if (syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	result = done[atomic_load(head) % ring->params.cq_entries].res;
	atomic_fetch_add(head, 1);
	return result;
}

/* A single request. Return: as ring_wait(). */
static inline int ring_do(struct ring *ring, const struct io_uring_sqe *request)
{
	return ring_submit(ring, request) ? ring_wait(ring) : -1;
}

#endif
