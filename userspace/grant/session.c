// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - a session that the kernel restricts to the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "grant.h"

static void check_module(int fd)
{
	struct iot_query query;

	if (ioctl(fd, IOT_IOC_QUERY, &query) || query.version != IOT_CONTROL_VERSION || !(query.features & IOT_FEATURE_ONLY))
		grant_refuse("the loaded module iotape cannot restrict a recording to one user (try: modprobe -r replayfs tapefs iotape; "
			     "modprobe -a tapefs replayfs)");
}

static void restrict_session(int fd)
{
	struct iot_only_user only = { .uid = getuid(), .gid = getgid() };

	if (!ioctl(fd, IOT_IOC_ONLY, &only))
		return;
	if (errno == EUSERS)
		grant_refuse("you have %d recordings already", IOT_ONLY_SESSIONS_MAX);
	if (errno == EINVAL)
		grant_refuse("more than %d buffers of each processor", IOT_ONLY_BUFFERS_MAX);
	grant_refuse("the recording cannot be restricted: %s", strerror(errno));
}

/**
 * grant_session() - make a session of mounts
 * @request: buffers, flush_ms and drop are used
 * @mounts: a descriptor of each mount; closed
 * @number: out: number of the session
 *
 * Return: its descriptor. Does not return after an error.
 */
int grant_session(const struct grant_request *request, const int *mounts, uint64_t *number)
{
	struct iot_create create = {
		.policy = request->drop ? IOT_POLICY_DROP : IOT_POLICY_BLOCK,
		.buffers = request->buffers,
		.flush_ms = request->flush_ms,
	};
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC), i;

	if (fd < 0)
		grant_refuse(IOT_CONTROL_PATH ": %s", strerror(errno));
	check_module(fd);
	if (ioctl(fd, IOT_IOC_CREATE, &create))
		grant_refuse("no recording can be made: %s", strerror(errno));
	restrict_session(fd);
	for (i = 0; i < request->count; i++) {
		struct iot_attach attach = { .dir_fd = mounts[i] };

		if (ioctl(fd, IOT_IOC_ATTACH, &attach))
			grant_refuse("%s: cannot be recorded: %s", request->directories[i], strerror(errno));
		close(mounts[i]);
	}
	*number = create.session;
	return fd;
}
