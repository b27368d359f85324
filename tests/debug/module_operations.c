// SPDX-License-Identifier: GPL-2.0-only
/*
 * module_operations.c - what is asked of the modules: mounts, sessions, replays; for failnth.c.
 *
 * What failed for want of memory must succeed when it is repeated.
 */
#include "failnth.h"

#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <iotape/netlink.h>
#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASKS_MAX 8

static int fd = -1, dir_fd = -1;
static long last;

static void close_fd(void)
{
	if (fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	fd = dir_fd = -1;
}

/* -- mounts ------------------------------------------------------------------------------------ */

static void make_mount_point(void)
{
	must(!mkdir(in(lower, "m"), 0755), "mkdir");
	make_file("f", 10);
}

static long run_mount(void)
{
	return result_of(mount(upper, in(upper, "m"), "tapefs", 0, NULL));
}

static void close_mount(void)
{
	umount(in(upper, "m"));
}

/* With something in the caches. */
static void open_mount(void)
{
	struct stat st;
	char path[4096];

	must(!run_mount(), "mount");
	snprintf(path, sizeof(path), "%s/m/f", upper);
	must(!stat(path, &st), path);
}

static long run_remount(void)
{
	return result_of(mount(NULL, in(upper, "m"), NULL, MS_REMOUNT, "mmap=off"));
}

static long run_umount(void) { return result_of(umount(in(upper, "m"))); }

/* -- sessions ------------------------------------------------------------------------------------ */

static struct nl_sock *netlink;
static int family;

static long device_open(const char *path)
{
	fd = open(path, O_RDWR | O_CLOEXEC);
	return result_of(fd);
}

static long run_control_open(void) { return device_open(IOT_CONTROL_PATH); }
static void open_control(void) { must(run_control_open() >= 0, IOT_CONTROL_PATH); }

static long run_create(void)
{
	struct iot_create create = { .buffers = IOT_BUFFERS_MIN, .flush_ms = 100 };

	return last = result_of(ioctl(fd, IOT_IOC_CREATE, &create));
}

static void close_created(void)
{
	must(last >= 0 || !run_create(), "create again");
	close_fd();
}

static void open_session(void)
{
	open_control();
	must(!run_create(), "create");
	netlink = nl_socket_alloc();
	must(netlink && !genl_connect(netlink), "netlink");
	family = genl_ctrl_resolve(netlink, IOT_GENL_NAME);
	must(family >= 0, IOT_GENL_NAME);
}

static void close_session(void)
{
	close_fd();
	nl_socket_free(netlink);
}

static long run_bind(void)
{
	struct {
		struct nlmsghdr head;
		struct genlmsghdr genl;
		struct nlattr attr;
		int value;
	} request = {
		.head = { sizeof(request), (unsigned short)family, NLM_F_REQUEST, 0, 0 },
		.genl = { .cmd = IOT_CMD_BIND, .version = IOT_GENL_VERSION },
		.attr = { .nla_len = NLA_HDRLEN + sizeof(int), .nla_type = IOT_ATTR_SESSION_FD },
		.value = fd,
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} answer;
	int socket = nl_socket_get_fd(netlink);

	if (send(socket, &request, sizeof(request), 0) < 0)
		return -errno;
	/* Only an error is answered. */
	if (recv(socket, &answer, sizeof(answer), MSG_DONTWAIT) < 0)
		return errno == EAGAIN ? 0 : -errno;
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.error.error : 0;
}

static void open_bound(void)
{
	struct iot_attach attach;

	open_mount();
	open_session();
	must(!run_bind(), "bind");
	dir_fd = open(in(upper, "m"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	attach = (struct iot_attach){ .dir_fd = dir_fd };
	must(!ioctl(fd, IOT_IOC_ATTACH, &attach), "attach");
}

static long run_session(void)
{
	long result = result_of(ioctl(fd, IOT_IOC_START));

	return result ? result : result_of(ioctl(fd, IOT_IOC_ADOPT));
}

static void close_bound(void)
{
	close_session();
	close_mount();
}

static void open_running(void)
{
	open_bound();
	must(!run_session(), "start");
}

static long run_stop(void) { return result_of(ioctl(fd, IOT_IOC_STOP)); }

static long run_close(void)
{
	int closing = fd;

	fd = -1;
	return result_of(close(closing));
}

/* -- replays ------------------------------------------------------------------------------------------ */

static char sinks[TASKS_MAX][IOT_CARRIER_BUFFER_BYTES];
static int program_fd = -1;
static struct iot_replay_load load;

static long run_replay_open(void) { return device_open(IOT_REPLAY_PATH); }

static long load_program(unsigned long long resident_bytes)
{
	load = (struct iot_replay_load){ .program_fd = program_fd, .resident_bytes = resident_bytes };
	return last = result_of(ioctl(fd, IOT_RIOC_LOAD, &load));
}

static long run_load(void) { return load_program(~0ull); }
static long run_load_streamed(void) { return load_program(0); }

static void open_program(void)
{
	must(run_replay_open() >= 0, IOT_REPLAY_PATH);
	if (program_fd < 0)
		program_fd = open(program_path, O_RDONLY | O_CLOEXEC);
	must(program_fd >= 0, program_path);
}

static void close_load(void)
{
	must(last >= 0 || !run_load(), "load again");
	close_fd();
}

static void make_target(void)
{
	must(!mkdir(in(lower, "t"), 0755), "mkdir");
}

static void open_loaded(void)
{
	open_program();
	must(!run_load(), "load");
	must(load.tasks <= TASKS_MAX, "a program with few tasks");
	dir_fd = open(in(upper, "t"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(dir_fd >= 0, "target");
}

static long run_setup(void)
{
	struct iot_replay_setup setup = { .target_fd = dir_fd, .session_fd = -1 };

	return last = result_of(ioctl(fd, IOT_RIOC_SETUP, &setup));
}

static void close_setup(void)
{
	must(last >= 0 || !run_setup(), "set up again");
	close_fd();
}

static long perform(unsigned int task)
{
	struct iot_replay_run run = {
		.task = task,
		.sink = (unsigned long)sinks[task],
		.source = (unsigned long)sinks[task],
	};
	int result;

	do
		result = ioctl(fd, IOT_RIOC_RUN, &run);
	while (result == 1);
	return result_of(result);
}

static void *carrier(void *task)
{
	must(!perform((unsigned int)(unsigned long)task), "another task");
	return NULL;
}

static void *starter(void *unused)
{
	(void)unused;
	while (ioctl(fd, IOT_RIOC_START) && errno == EAGAIN)
		usleep(1000);
	return NULL;
}

static pthread_t threads[TASKS_MAX];

/* All tasks have their carriers but the last, which is the one that allocations fail in. */
static void open_run(void)
{
	unsigned long i;

	open_loaded();
	must(!run_setup(), "set up");
	for (i = 0; i + 1 < load.tasks; i++)
		must(!pthread_create(&threads[i], NULL, carrier, (void *)i), "a thread");
	must(!pthread_create(&threads[i], NULL, starter, NULL), "a thread");
}

static long run_run(void) { return last = perform(load.tasks - 1); }

static void close_run(void)
{
	struct iot_replay_status status;
	unsigned int i;

	must(last >= 0 || !run_run(), "run again");
	for (i = 0; i < load.tasks; i++)
		pthread_join(threads[i], NULL);
	must(!ioctl(fd, IOT_RIOC_STATUS, &status), "status");
	must(status.finished == load.tasks, "all tasks have finished");
	must(status.ops > 10, "operations were performed");
	close_fd();
}

const struct operation module_operations[] = {
	{ "mount", NULL, NULL, make_mount_point, NULL, run_mount, close_mount },
	{ "remount", NULL, NULL, make_mount_point, open_mount, run_remount, close_mount },
	{ "umount", NULL, NULL, make_mount_point, open_mount, run_umount, close_mount },
	{ "iotape-open", NULL, NULL, NULL, NULL, run_control_open, close_fd },
	{ "session-create", NULL, NULL, NULL, open_control, run_create, close_created },
	{ "session-bind", NULL, NULL, NULL, open_session, run_bind, close_session, ENOBUFS },
	{ "session-start", NULL, NULL, make_mount_point, open_bound, run_session, close_bound },
	{ "session-stop", NULL, NULL, make_mount_point, open_running, run_stop, close_bound },
	{ "session-close", NULL, NULL, make_mount_point, open_running, run_close, close_bound },
	{ "replayfs-open", NULL, NULL, NULL, NULL, run_replay_open, close_fd },
	{ "replay-load", NULL, NULL, NULL, open_program, run_load, close_load },
	{ "replay-load-streamed", NULL, NULL, NULL, open_program, run_load_streamed, close_load },
	{ "replay-setup", NULL, NULL, make_target, open_loaded, run_setup, close_setup },
	{ "replay-run", NULL, NULL, make_target, open_run, run_run, close_run, 0, true },
	{ "replay-close", NULL, NULL, make_target, open_loaded, run_close, close_fd },
	{}
};
