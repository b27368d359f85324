// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_share.c - a replay in the kernel that runs the part of one node.
 */
#include "kernel_share.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "share.h"

/* The marks, each once: the kernel need not know who waits. Return: their number. */
static u32 list_marks(const struct share *share, struct iot_program_wait *marks)
{
	u32 count = 0;
	size_t i;

	for (i = 0; i < share->mark_count; i++) {
		const struct share_mark *mark = &share->marks[i];

		if (i && mark[-1].task == mark->task && mark[-1].index == mark->index)
			continue;
		marks[count++] = (struct iot_program_wait){
			.task = cpu_to_le32(mark->task),
			.index = cpu_to_le32(mark->index),
		};
	}
	return count;
}

/**
 * kernel_share() - say which part of the program is run here
 * @replay: has its share
 * @replay_fd: loaded, not set up
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int kernel_share(struct replay *replay, int replay_fd)
{
	const struct share *share = replay->share;
	u32 task_count = share->program->task_count, i;
	struct iot_program_wait *marks = malloc((share->mark_count + 1) * sizeof(*marks));
	u8 *is_here = malloc(task_count + 1ul);
	struct iot_replay_share what = {
		.is_here = (u64)(uintptr_t)is_here,
		.elsewhere = (u64)(uintptr_t)share->elsewhere,
		.marks = (u64)(uintptr_t)marks,
	};
	int err = marks && is_here ? 0 : -ENOMEM;

	for (i = 0; i < task_count && !err; i++)
		is_here[i] = share_is_here(share, i);
	if (!err) {
		what.mark_count = list_marks(share, marks);
		if (ioctl(replay_fd, IOT_RIOC_SHARE, &what))
			err = -errno;
	}
	free(marks);
	free(is_here);
	return err ? replay_refuse(replay, "the part of this node", err) : 0;
}

/**
 * kernel_share_moved() - see engine.h
 */
int kernel_share_moved(int replay_fd, struct iot_replay_move *moved, u32 room, u64 timeout_ns)
{
	struct iot_replay_moved what = {
		.moved = (u64)(uintptr_t)moved,
		.room = room,
		.timeout_ns = (u32)timeout_ns,
	};
	int count = ioctl(replay_fd, IOT_RIOC_MOVED, &what);

	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	return count;
}

/**
 * kernel_share_advance() - see engine.h
 */
int kernel_share_advance(int replay_fd, u32 task, u32 ended)
{
	struct iot_replay_move what = { .task = task, .ended = ended };

	return ioctl(replay_fd, IOT_RIOC_ADVANCE, &what) ? -errno : 0;
}

/**
 * kernel_share_arrive() - see engine.h
 */
int kernel_share_arrive(int replay_fd, u32 latch, u32 count)
{
	struct iot_replay_arrive what = { .latch = latch, .count = count };

	return ioctl(replay_fd, IOT_RIOC_ARRIVE, &what) ? -errno : 0;
}
