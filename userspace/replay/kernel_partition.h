/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_partition.h - the calls of an agent into replayfs.ko.
 */
#ifndef IOTAPE_KERNEL_PARTITION_H
#define IOTAPE_KERNEL_PARTITION_H

#include "engine.h"

int kernel_partition(struct replay *replay, int replay_fd);
int kernel_partition_moved(int replay_fd, struct iot_replay_move *moved, u32 room, u64 timeout_ns);
int kernel_partition_advance(int replay_fd, u32 task, u32 ended);
int kernel_partition_signal(int replay_fd, u32 latch, u32 count);

#endif
