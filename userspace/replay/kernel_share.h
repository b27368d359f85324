/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_share.h - what the agent of a node says to replayfs.ko, and asks it.
 */
#ifndef IOTAPE_KERNEL_SHARE_H
#define IOTAPE_KERNEL_SHARE_H

#include "engine.h"

int kernel_share(struct replay *replay, int replay_fd);
int kernel_share_moved(int replay_fd, struct iot_replay_move *moved, u32 room, u64 timeout_ns);
int kernel_share_advance(int replay_fd, u32 task, u32 ended);
int kernel_share_arrive(int replay_fd, u32 latch, u32 count);

#endif
