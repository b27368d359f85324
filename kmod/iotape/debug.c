// SPDX-License-Identifier: GPL-2.0-only
/*
 * debug.c - the counters of all sessions, in debugfs: iotape/sessions.
 *
 * One session a line, as words and key=value. This is not a stable interface: lines and keys may change with any
 * version.
 */
#include "debug.h"

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "session.h"

static struct dentry *directory;

static void session_show(const struct iot_session *session, const struct iot_status *status, void *context)
{
	u64 announced = 0, refused = 0, left_out = 0;
	struct seq_file *out = context;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct iot_channel *channel = per_cpu_ptr(session->channels, cpu);

		announced += READ_ONCE(channel->announced);
		refused += READ_ONCE(channel->refused);
		left_out += READ_ONCE(channel->left_out);
	}
	seq_printf(out, "session=%llu state=%u policy=%u collector=%u mounts=%u records=%llu announced=%llu "
		   "refused=%llu left_out=%llu lost=%llu waits=%llu behind=%d sent_records=%llu sent_bytes=%llu references=%u\n",
		   status->session, status->state, status->policy, status->collector, status->mounts,
		   status->records, announced, refused, left_out, status->lost, status->waits,
		   atomic_read(&session->backpressure.behind), READ_ONCE(session->sent_records),
		   status->sent_bytes, kref_read(&session->refs));
}

static int sessions_show(struct seq_file *out, void *unused)
{
	iot_session_each(session_show, out);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sessions);

/**
 * iot_debug_init() - offer the counters, if the kernel has debugfs
 */
void iot_debug_init(void)
{
	directory = debugfs_create_dir("iotape", NULL);
	debugfs_create_file("sessions", 0400, directory, NULL, &sessions_fops);
}

/**
 * iot_debug_exit() - remove the files; waits for readers
 */
void iot_debug_exit(void)
{
	debugfs_remove(directory);
}
