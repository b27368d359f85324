// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_partition.c - a replay in the kernel that runs the partition of one node.
 */
#include "kernel_partition.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "partition.h"

/* The marks, each once: the kernel does not need the waiting node. Return: their number. */
static u32 list_marks(const struct partition *partition, struct iot_program_wait *marks)
{
	u32 count = 0;
	size_t i;

	for (i = 0; i < partition->mark_count; i++) {
		const struct partition_mark *mark = &partition->marks[i];

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
 * kernel_partition() - pass the partition of this node to the kernel
 * @replay: has its partition
 * @replay_fd: loaded, not set up
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int kernel_partition(struct replay *replay, int replay_fd)
{
	const struct partition *partition = replay->partition;
	u32 task_count = partition->program->task_count, i;
	struct iot_program_wait *marks = malloc((partition->mark_count + 1) * sizeof(*marks));
	u8 *is_here = malloc(task_count + 1ul);
	struct iot_replay_partition what = {
		.is_here = (u64)(uintptr_t)is_here,
		.elsewhere = (u64)(uintptr_t)partition->elsewhere,
		.marks = (u64)(uintptr_t)marks,
	};
	int err = marks && is_here ? 0 : -ENOMEM;

	for (i = 0; i < task_count && !err; i++)
		is_here[i] = partition_has_task(partition, i);
	if (!err) {
		what.mark_count = list_marks(partition, marks);
		if (ioctl(replay_fd, IOT_RIOC_PARTITION, &what))
			err = -errno;
	}
	free(marks);
	free(is_here);
	return err ? replay_refuse(replay, "the part of this node", err) : 0;
}

/**
 * kernel_partition_moved() - see engine.h
 */
int kernel_partition_moved(int replay_fd, struct iot_replay_move *moved, u32 room, u64 timeout_ns)
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
 * kernel_partition_advance() - see engine.h
 */
int kernel_partition_advance(int replay_fd, u32 task, u32 ended)
{
	struct iot_replay_move what = { .task = task, .ended = ended };

	return ioctl(replay_fd, IOT_RIOC_ADVANCE, &what) ? -errno : 0;
}

/**
 * kernel_partition_signal() - see engine.h
 */
int kernel_partition_signal(int replay_fd, u32 latch, u32 count)
{
	struct iot_replay_signal what = { .latch = latch, .count = count };

	return ioctl(replay_fd, IOT_RIOC_SIGNAL, &what) ? -errno : 0;
}
