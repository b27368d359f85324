// SPDX-License-Identifier: GPL-2.0-only
/*
 * control.c - a session of the kernel module, or a sentence why there is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/iotape.h"
#include "record.h"

static int refuse(char *why, size_t room, int err)
{
	switch (err) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		iot_module_missing("tapefs", why, room);
		break;
	case EPERM:
	case EACCES:
		iot_rights_missing("record", why, room);
		if (geteuid())
			snprintf(why + strlen(why), room - strlen(why), ", unless the administrator allows it, see iotape-mount(8)");
		break;
	default:
		snprintf(why, room, "%s: %s", IOT_CONTROL_PATH, strerror(err));
	}
	return -err;
}

/* The kernel requires it of the receiver of a session, which the collector inherits. */
static int check_receiver(char *why, size_t room)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data) || data[CAP_TO_INDEX(CAP_NET_ADMIN)].effective & CAP_TO_MASK(CAP_NET_ADMIN))
		return 0;
	snprintf(why, room, "records cannot be received without CAP_NET_ADMIN of the machine, which a container may lack");
	return -EPERM;
}

/**
 * control_check() - could a session be made?
 * @why: out, if not: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int control_check(char *why, size_t room)
{
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return refuse(why, room, errno);
	close(fd);
	return 0;
}

/**
 * control_admit() - let users and groups join a session
 * @options: the admits are used
 * @session_fd: the session
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int control_admit(const struct record_options *options, int session_fd, char *why, size_t room)
{
	unsigned int i;

	for (i = 0; i < options->admit_count; i++)
		if (ioctl(session_fd, IOT_IOC_ADMIT, &options->admits[i])) {
			int err = -errno;

			snprintf(why, room, "--admit: %s", err == -ENOTTY ? "the loaded module iotape is too old for this option" : strerror(errno));
			return err;
		}
	return 0;
}

/* Record only the classes that --ops names. */
static int control_filter(const struct record_options *options, const struct iot_query *query, int session_fd,
			  char *why, size_t room)
{
	struct iot_filter filter;
	u64 kinds[IOT_KIND_END / 64];
	int err;

	if (!options->ops)
		return 0;
	if (!(query->features & IOT_FEATURE_FILTER)) {
		snprintf(why, room, "--ops: the loaded module iotape is too old for this option");
		return -EOPNOTSUPP;
	}
	iot_op_kinds_of(options->ops, kinds);
	memcpy(filter.kinds, kinds, sizeof(filter.kinds));
	err = ioctl(session_fd, IOT_IOC_FILTER, &filter) ? -errno : 0;
	if (err)
		snprintf(why, room, "--ops: %s", strerror(-err));
	return err;
}

/* Record only the operations that --filter selects. */
static int control_program(const struct record_options *options, const struct iot_query *query, int session_fd,
			   char *why, size_t room)
{
	struct iot_filter_program program = { (uintptr_t)options->program, (u32)options->program_bytes, 0 };
	int err;

	if (!options->program)
		return 0;
	if (!(query->features & IOT_FEATURE_PROGRAM)) {
		snprintf(why, room, "--filter: the loaded module iotape is too old for this option");
		return -EOPNOTSUPP;
	}
	err = ioctl(session_fd, IOT_IOC_PROGRAM, &program) ? -errno : 0;
	if (err)
		snprintf(why, room, "--filter: %s", strerror(-err));
	return err;
}

/* Count operations instead of recording them. */
static int control_count(const struct record_options *options, const struct iot_query *query, int session_fd,
			 char *why, size_t room)
{
	struct iot_count count = { .rows = options->counters, .keys = options->counters_keys };
	bool is_new = options->counters_keys || options->counters_interval_ns;
	int err;

	if (!options->counters)
		return 0;
	if (!(query->features & (is_new ? IOT_FEATURE_TURN : IOT_FEATURE_COUNTERS))) {
		snprintf(why, room, "--counters%s: the loaded module iotape is too old for it", is_new ? "-*" : "");
		return -EOPNOTSUPP;
	}
	err = ioctl(session_fd, IOT_IOC_COUNT, &count) ? -errno : 0;
	if (err)
		snprintf(why, room, "--counters: %s", strerror(-err));
	return err;
}

/* Record from which function calls operations are made. */
static int control_stacks(const struct record_options *options, const struct iot_query *query, int session_fd,
			  char *why, size_t room)
{
	struct iot_stacks stacks;
	int err;

	if (!options->has_stacks)
		return 0;
	if (!(query->features & IOT_FEATURE_STACKS)) {
		snprintf(why, room, "--stacks: the loaded module iotape is too old for this option");
		return -EOPNOTSUPP;
	}
	memcpy(stacks.kinds, options->stacks, sizeof(stacks.kinds));
	err = ioctl(session_fd, IOT_IOC_STACKS, &stacks) ? -errno : 0;
	if (err)
		snprintf(why, room, "--stacks: %s", strerror(-err));
	return err;
}

/* Delay threads, to find out which others wait for them. */
static int control_delay(const struct record_options *options, const struct iot_query *query, int session_fd,
			 char *why, size_t room)
{
	int err;

	if (!options->delay.period)
		return 0;
	if (!(query->features & IOT_FEATURE_DELAY) || (options->controller && !(query->features & IOT_FEATURE_HOLD))) {
		snprintf(why, room, "--delay: the kernel lets no module add task work, or the loaded module iotape is too old for "
				    "this option");
		return -EOPNOTSUPP;
	}
	err = ioctl(session_fd, IOT_IOC_DELAY, &options->delay) ? -errno : 0;
	if (err)
		snprintf(why, room, "--delay: %s", strerror(-err));
	return err;
}

/* A trace in several files is divided at marks. */
static int control_rotate(const struct record_options *options, const struct iot_query *query, char *why, size_t room)
{
	if (!options->rotates || query->features & IOT_FEATURE_MARK)
		return 0;
	snprintf(why, room, "--rotate: the loaded module iotape is too old for this option");
	return -EOPNOTSUPP;
}

static int configure(const struct record_options *options, const struct iot_query *query, int fd, char *why, size_t room)
{
	return control_filter(options, query, fd, why, room) ?: control_program(options, query, fd, why, room) ?:
	       control_stacks(options, query, fd, why, room) ?: control_count(options, query, fd, why, room) ?:
	       control_delay(options, query, fd, why, room) ?: control_rotate(options, query, why, room);
}

/**
 * control_configure() - request what is to be recorded in a session
 * @options: ops, the program, stacks, counters and the delay are used
 * @session_fd: the session
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int control_configure(const struct record_options *options, int session_fd, char *why, size_t room)
{
	struct iot_query query;
	int err = iot_module_query(session_fd, &query, why, room);

	return err ? err : configure(options, &query, session_fd, why, room);
}

/**
 * control_open() - make a session
 * @options: policy, buffers, flush_ms, has_wakes, ops, the program, stacks, counters, the delay and the admits are used
 * @session: out: its number
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: its descriptor, or a negative errno.
 */
int control_open(const struct record_options *options, uint64_t *session, char *why, size_t room)
{
	struct iot_create create = {
		.policy = options->drop ? IOT_POLICY_DROP : IOT_POLICY_BLOCK,
		.buffers = options->buffers,
		.flush_ms = options->flush_ms,
		.flags = options->has_wakes ? IOT_CREATE_WAKES : 0,
	};
	struct iot_query query;
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return refuse(why, room, errno);
	err = iot_module_query(fd, &query, why, room);
	if (err) {
		close(fd);
		return err;
	}
	if (options->has_wakes && !(query.features & IOT_FEATURE_WAKES)) {
		close(fd);
		snprintf(why, room, "--wakes: the kernel has no tracepoint sched_waking, or the loaded module iotape is too old to use it");
		return -EOPNOTSUPP;
	}
	if (ioctl(fd, IOT_IOC_CREATE, &create)) {
		err = errno;
		close(fd);
		return refuse(why, room, err);
	}
	err = check_receiver(why, room);
	if (!err)
		err = control_admit(options, fd, why, room);
	if (!err)
		err = configure(options, &query, fd, why, room);
	if (err) {
		close(fd);
		return err;
	}
	*session = create.session;
	return fd;
}
