// SPDX-License-Identifier: GPL-2.0-only
/*
 * module_operations.c - operations of the modules: mounts, sessions, replays; for failnth.c.
 *
 * An operation that failed for lack of memory must succeed when repeated.
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
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

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

static const char *mounted_file(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/m/f", upper);
	return path;
}

/* With filled caches. */
static void open_mount(void)
{
	struct stat st;

	must(!run_mount(), "mount");
	must(!stat(mounted_file(), &st), mounted_file());
}

#define HELD 3

static int held[HELD];
static void *held_map;

/* Descriptors and a mapping. */
static void hold_files(void)
{
	int i;

	for (i = 0; i < HELD; i++) {
		held[i] = open(mounted_file(), O_RDWR | O_CLOEXEC);
		must(held[i] >= 0, mounted_file());
	}
	held_map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, held[0], 0);
	must(held_map != MAP_FAILED, "mmap");
	*(volatile char *)held_map = 'a'; /* the present contents */
}

static void let_files_go(void)
{
	int i;

	munmap(held_map, 4096);
	for (i = 0; i < HELD; i++)
		close(held[i]);
}

static void open_busy(void)
{
	open_mount();
	hold_files();
}

static long run_mount_over(void) { return last = run_mount(); }

static void close_busy(void)
{
	if (last >= 0)
		close_mount();
	let_files_go();
	close_mount();
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
	/* Only errors are acknowledged. */
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

static void open_bound_busy(void)
{
	open_bound();
	hold_files();
}

static void close_bound_busy(void)
{
	let_files_go();
	close_bound();
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

/* -- what is set up before a session starts --------------------------------------------------------- */

/* A request that failed can be repeated, and the session starts. */
static void close_requested(void)
{
	must(!run_session(), "start");
	close_bound();
}

static long run_count(void)
{
	const struct iot_count count = { .rows = IOT_COUNTERS_ROWS_MIN };

	return last = result_of(ioctl(fd, IOT_IOC_COUNT, &count));
}

static void close_count(void)
{
	must(last >= 0 || !run_count(), "count again");
	close_requested();
}

static long run_stacks(void)
{
	const struct iot_stacks stacks = { .kinds = { ~0ull } };

	return last = result_of(ioctl(fd, IOT_IOC_STACKS, &stacks));
}

static void close_stacks(void)
{
	must(last >= 0 || !run_stacks(), "stacks again");
	close_requested();
}

static long run_delay(void)
{
	const struct iot_delay delay = {
		.thread = 1,
		.period = 1,
		.asleep_ns = IOT_DELAY_MIN_NS,
		.idle_ns = IOT_DELAY_MIN_NS,
		.limit_ns = IOT_DELAY_MIN_NS,
		.total_ns = IOT_DELAY_MIN_NS,
	};

	return last = result_of(ioctl(fd, IOT_IOC_DELAY, &delay));
}

static void close_delay(void)
{
	must(last >= 0 || !run_delay(), "delays again");
	close_requested();
}

static void open_counting(void)
{
	open_bound();
	must(!run_count(), "count");
	must(!run_session(), "start");
}

static long run_turn(void) { return last = result_of(ioctl(fd, IOT_IOC_TURN)); }

static void close_turn(void)
{
	must(last >= 0 || !run_turn(), "turn again");
	close_bound();
}

/* -- mailboxes -------------------------------------------------------------------------------------- */

static int joined = -1;
static void *box = MAP_FAILED;

static long run_join(void)
{
	struct iot_join join = { .dir_fd = dir_fd };

	return last = result_of(ioctl(joined, IOT_IOC_JOIN, &join));
}

static void open_unjoined(void)
{
	open_running();
	joined = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);
	must(joined >= 0, IOT_CONTROL_PATH);
}

static void close_joined(void)
{
	must(last >= 0 || !run_join(), "join again");
	close(joined);
	close_bound();
}

static void open_joined(void)
{
	open_unjoined();
	must(!run_join(), "join");
}

static long run_mailbox(void)
{
	box = mmap(NULL, IOT_MAILBOX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, joined, 0);
	return last = box == MAP_FAILED ? -errno : 0;
}

static void close_mailbox(void)
{
	must(last >= 0 || !run_mailbox(), "a mailbox, when repeated");
	must(!munmap(box, IOT_MAILBOX_BYTES), "munmap");
	box = MAP_FAILED;
	last = 0;
	close_joined();
}

static void open_mailbox(void)
{
	open_joined();
	must(!run_mailbox(), "a mailbox");
}

static long run_mailbox_sync(void)
{
	return result_of(msync(box, IOT_MAILBOX_HEAD_BYTES, MS_SYNC));
}

static long run_mailbox_unmap(void)
{
	long result = result_of(munmap(box, IOT_MAILBOX_BYTES));

	last = result < 0 ? 0 : -1; /* for close_mailbox() */
	return result;
}

/* -- replays ------------------------------------------------------------------------------------------ */

static char sink[IOT_WORKER_BUFFER_BYTES];
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

static long run_share(void)
{
	static unsigned char is_here[4096];
	struct iot_replay_partition share = { .is_here = (unsigned long)is_here };

	must(load.tasks <= sizeof(is_here), "a program with fewer tasks");
	memset(is_here, 1, sizeof(is_here));
	return last = result_of(ioctl(fd, IOT_RIOC_PARTITION, &share));
}

static void close_share(void)
{
	must(last >= 0 || !run_share(), "share again");
	close_fd();
}

/* -- workers ---------------------------------------------------------------------------------------- */

static struct iot_replay_run worker;
static pthread_t helper;
static volatile bool is_over;

/* One worker runs all tasks of a program without waits, one after the other. */
static long perform(void)
{
	int result;

	do
		result = ioctl(fd, IOT_RIOC_RUN, &worker);
	while (result == 1);
	return result_of(result);
}

static void *starter(void *unused)
{
	while (!is_over && ioctl(fd, IOT_RIOC_START) && errno == EAGAIN)
		usleep(1000);
	return unused;
}

static void open_worker(void)
{
	must(!run_setup(), "set up");
	is_over = false;
	worker = (struct iot_replay_run){
		.task = IOT_WORKER_NEW,
		.space = IOT_SPACE_COMMON,
		.sink = (unsigned long)sink,
		.source = (unsigned long)sink,
	};
}

static void open_run(void)
{
	open_loaded();
	open_worker();
	must(!pthread_create(&helper, NULL, starter, NULL), "a thread");
}

static long run_run(void) { return last = perform(); }

static void must_be_performed(void)
{
	struct iot_replay_status status;

	must(!ioctl(fd, IOT_RIOC_STATUS, &status), "status");
	must(status.finished == load.tasks, "all tasks have finished");
	must(status.ops > 10, "operations were performed");
}

static void close_run(void)
{
	must(last >= 0 || !run_run(), "run again");
	pthread_join(helper, NULL);
	must_be_performed();
	close_fd();
}

/* -- the feeder: a window without memory ends the replay ---------------------------------------------- */

static void *runner(void *unused)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, starter, NULL), "a thread");
	perform();
	is_over = true; /* a cancel may precede the start */
	must(!pthread_join(thread, NULL), "the starter ends");
	return unused;
}

static void open_fed(void)
{
	open_program();
	must(!run_load_streamed() && load.is_streamed, "load in windows");
	dir_fd = open(in(upper, "t"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(dir_fd >= 0, "target");
	open_worker();
	must(!pthread_create(&helper, NULL, runner, NULL), "a thread");
}

static long run_feed(void) { return last = result_of(ioctl(fd, IOT_RIOC_FEED)); }

static void close_fed(void)
{
	pthread_join(helper, NULL);
	if (last >= 0)
		must_be_performed();
	close_fd();
}

const struct operation module_operations[] = {
	{ "mount", NULL, NULL, make_mount_point, NULL, run_mount, close_mount },
	{ "remount", NULL, NULL, make_mount_point, open_mount, run_remount, close_mount },
	{ "mount-over", NULL, NULL, make_mount_point, open_busy, run_mount_over, close_busy },
	{ "umount", NULL, NULL, make_mount_point, open_mount, run_umount, close_mount },
	{ "iotape-open", NULL, NULL, NULL, NULL, run_control_open, close_fd },
	{ "session-create", NULL, NULL, NULL, open_control, run_create, close_created, ENFILE },
	{ "session-bind", NULL, NULL, NULL, open_session, run_bind, close_session, ENOBUFS },
	{ "session-start", NULL, NULL, make_mount_point, open_bound, run_session, close_bound },
	{ "session-start-busy", NULL, NULL, make_mount_point, open_bound_busy, run_session,
	  close_bound_busy },
	{ "session-count", NULL, NULL, make_mount_point, open_bound, run_count, close_count },
	{ "session-stacks", NULL, NULL, make_mount_point, open_bound, run_stacks, close_stacks },
	{ "session-delay", NULL, NULL, make_mount_point, open_bound, run_delay, close_delay },
	{ "session-turn", NULL, NULL, make_mount_point, open_counting, run_turn, close_turn },
	{ "session-join", NULL, NULL, make_mount_point, open_unjoined, run_join, close_joined },
	{ "mailbox", NULL, NULL, make_mount_point, open_joined, run_mailbox, close_mailbox },
	{ "mailbox-sync", NULL, NULL, make_mount_point, open_mailbox, run_mailbox_sync, close_mailbox },
	{ "mailbox-unmap", NULL, NULL, make_mount_point, open_mailbox, run_mailbox_unmap,
	  close_mailbox },
	{ "session-stop", NULL, NULL, make_mount_point, open_running, run_stop, close_bound },
	{ "session-close", NULL, NULL, make_mount_point, open_running, run_close, close_bound },
	{ "replayfs-open", NULL, NULL, NULL, NULL, run_replay_open, close_fd },
	{ "replay-load", NULL, NULL, NULL, open_program, run_load, close_load },
	{ "replay-load-streamed", NULL, NULL, NULL, open_program, run_load_streamed, close_load },
	{ "replay-setup", NULL, NULL, make_target, open_loaded, run_setup, close_setup },
	{ "replay-run", NULL, NULL, make_target, open_run, run_run, close_run, 0, true },
	{ "replay-share", NULL, NULL, make_target, open_loaded, run_share, close_share },
	{ "replay-feed", NULL, NULL, make_target, open_fed, run_feed, close_fed, 0, true },
	{ "replay-close", NULL, NULL, make_target, open_loaded, run_close, close_fd },
	{}
};
