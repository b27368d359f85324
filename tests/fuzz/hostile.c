// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile.c - requests that the modules must refuse with the right errno; then thousands of
 * random ones. For the guest: needs root and the modules. Prints TAP.
 *
 *	hostile PROGRAM DIRECTORY COUNT	a valid program, an empty directory that is not on tapefs, and the
 *					number of random requests
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <iotape/control.h>
#include <iotape/filter.h>
#include <iotape/netlink.h>
#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/replay/program.h"
#include "expect.h"
#include "mutate.h"
#include "tests/unit/builder.h"

#define NOBODY 65534

static const char *program_path, *directory;
static void *volatile nowhere = (void *)8; /* hidden from the compiler */
static unsigned long random_count;

static int must_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void on_alarm(int signal)
{
	(void)signal; /* interrupts waits */
}

/* -- /dev/iotape ------------------------------------------------------------------------------ */

static void refuse_create(void)
{
	static const struct iot_create bad_ones[] = {
		{ .policy = 2, .buffers = 4, .flush_ms = 100 },
		{ .buffers = 0, .flush_ms = 100 },
		{ .buffers = 0xffffffff, .flush_ms = 100 },
		{ .buffers = 4, .flush_ms = 0 },
		{ .buffers = 4, .flush_ms = 0xffffffff },
		{ .buffers = 4, .flush_ms = 100, .flags = 2 },
		{ .buffers = 4, .flush_ms = 100, .session = 1 },
	};
	int fd = control_open();
	struct iot_create create;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_ones); i++) {
		create = bad_ones[i];
		expect("create with an impossible field", ioctl(fd, IOT_IOC_CREATE, &create), EINVAL);
	}
	expect("create from nowhere", ioctl(fd, IOT_IOC_CREATE, NULL), EFAULT);
	expect("query to nowhere", ioctl(fd, IOT_IOC_QUERY, 8), EFAULT);
	expect("status to nowhere", ioctl(fd, IOT_IOC_STATUS, 8), EFAULT);
	expect("an unknown request", ioctl(fd, _IO(IOT_IOC_MAGIC, 99), 0), ENOTTY);
	expect("create of another size", ioctl(fd, _IOWR(IOT_IOC_MAGIC, 2, u64), &create), ENOTTY);
	expect("a request for a terminal", ioctl(fd, 0x5401, &create), ENOTTY);
	expect("a request of the other device", ioctl(fd, IOT_RIOC_START), ENOTTY);
	close(fd);
	report("/dev/iotape refuses sessions that cannot be");
}

static void refuse_without_session(void)
{
	struct iot_attach attach = { .dir_fd = must_open(directory, O_RDONLY) };
	struct iot_join join = { .dir_fd = attach.dir_fd };
	int fd = control_open();
	char bytes[2048] = {};

	expect("attach", ioctl(fd, IOT_IOC_ATTACH, &attach), EINVAL);
	expect("start", ioctl(fd, IOT_IOC_START), EINVAL);
	expect("stop", ioctl(fd, IOT_IOC_STOP), EINVAL);
	expect("adopt", ioctl(fd, IOT_IOC_ADOPT), EINVAL);
	expect("admit", ioctl(fd, IOT_IOC_ADMIT, &(struct iot_admit){}), EINVAL);
	expect("write", write(fd, bytes, 64), EINVAL);
	expect("a large write", write(fd, bytes, sizeof(bytes)), EINVAL);
	expect("read", read(fd, bytes, 8), EINVAL);
	expect("map a part of a mailbox", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0, EINVAL);
	expect("join another file system", ioctl(fd, IOT_IOC_JOIN, &join), ENOTTY);
	join.reserved = 1;
	expect("join with reserved bits", ioctl(fd, IOT_IOC_JOIN, &join), EINVAL);
	join = (struct iot_join){ .dir_fd = -1 };
	expect("join without a directory", ioctl(fd, IOT_IOC_JOIN, &join), EBADF);
	join.dir_fd = fd;
	expect("join a file", ioctl(fd, IOT_IOC_JOIN, &join), ENOTDIR);
	expect("join from nowhere", ioctl(fd, IOT_IOC_JOIN, NULL), EFAULT);
	close(attach.dir_fd);
	close(fd);
	report("/dev/iotape refuses requests that need a session, and to join a mount that is not recorded");
}

static void refuse_in_session(void)
{
	struct iot_create create = { .buffers = 4, .flush_ms = 100 };
	struct iot_attach attach = { .dir_fd = must_open(directory, O_RDONLY) };
	struct iot_join join = { .dir_fd = attach.dir_fd };
	struct iot_status status = { .session = ~0ull };
	int fd = session_new();

	expect("create again", ioctl(fd, IOT_IOC_CREATE, &create), EBUSY);
	expect("join", ioctl(fd, IOT_IOC_JOIN, &join), EBUSY);
	expect("attach another file system", ioctl(fd, IOT_IOC_ATTACH, &attach), ENOTTY);
	attach.reserved = 1;
	expect("attach with reserved bits", ioctl(fd, IOT_IOC_ATTACH, &attach), EINVAL);
	close(attach.dir_fd);
	attach = (struct iot_attach){ .dir_fd = attach.dir_fd };
	expect("attach what is closed", ioctl(fd, IOT_IOC_ATTACH, &attach), EBADF);
	attach.dir_fd = fd;
	expect("attach a file", ioctl(fd, IOT_IOC_ATTACH, &attach), ENOTDIR);
	expect("attach from nowhere", ioctl(fd, IOT_IOC_ATTACH, 8), EFAULT);
	expect("start without a collector", ioctl(fd, IOT_IOC_START), EINVAL);
	expect("stop a session that does not run", ioctl(fd, IOT_IOC_STOP), EINVAL);
	expect("adopt into a session that does not run", ioctl(fd, IOT_IOC_ADOPT), EINVAL);
	expect("write", write(fd, &status, 8), EINVAL);
	expect("status after the last", ioctl(fd, IOT_IOC_STATUS, &status), ENOENT);
	close(fd);
	report("a session refuses requests that come too early");
}

static void refuse_admissions(void)
{
	struct iot_admit admit = { .kind = 2 };
	int fd = session_new(), i;

	expect("admit what is neither user nor group", ioctl(fd, IOT_IOC_ADMIT, &admit), EINVAL);
	admit = (struct iot_admit){ .kind = IOT_ADMIT_USER, .id = ~0u };
	expect("admit a user that cannot be", ioctl(fd, IOT_IOC_ADMIT, &admit), EINVAL);
	admit.kind = IOT_ADMIT_GROUP;
	expect("admit a group that cannot be", ioctl(fd, IOT_IOC_ADMIT, &admit), EINVAL);
	expect("admit from nowhere", ioctl(fd, IOT_IOC_ADMIT, 8), EFAULT);
	for (i = 0; i < IOT_ADMIT_MAX; i++) {
		admit = (struct iot_admit){ .kind = i % 2, .id = (u32)i };
		expect("admit", ioctl(fd, IOT_IOC_ADMIT, &admit), 0);
	}
	expect("admit again", ioctl(fd, IOT_IOC_ADMIT, &admit), 0);
	admit.id++;
	expect("admit too many", ioctl(fd, IOT_IOC_ADMIT, &admit), ENOSPC);
	close(fd);
	report("a session admits users and groups, and not too many");
}

static void refuse_controls(void)
{
	struct iot_describe describe = { .text = 8, .bytes = 8 };
	struct iot_ctl ctl = { .session = ~0ull };
	struct iot_refilter refilter = { .session = ~0ull, .program = 8, .text = 8 };
	struct iot_info info = { .session = ~0ull };
	struct iot_status status = {};
	struct iot_done done = {};
	int other = control_open(), fd = session_new();

	expect("change no session", ioctl(other, IOT_IOC_CTL, &ctl), ENOENT);
	expect("change from nowhere", ioctl(other, IOT_IOC_CTL, 8), EFAULT);
	expect("learn of no session", ioctl(other, IOT_IOC_INFO, &info), ENOENT);
	expect("learn from nowhere", ioctl(other, IOT_IOC_INFO, 8), EFAULT);
	while (!ioctl(other, IOT_IOC_STATUS, &status))
		info.session = status.session;
	info.room = IOT_INFO_TEXT_MAX_BYTES + 1;
	expect("learn more than there can be", ioctl(other, IOT_IOC_INFO, &info), EINVAL);
	info.room = 64;
	info.text = 8;
	expect("learn to nowhere", ioctl(other, IOT_IOC_INFO, &info), EFAULT);
	ctl.session = info.session;
	for (ctl.verb = 0; ctl.verb < 20; ctl.verb++)
		expect("change a session that does not run", ioctl(other, IOT_IOC_CTL, &ctl), EINVAL);
	expect("change the filter of no session", ioctl(other, IOT_IOC_REFILTER, &refilter), ENOENT);
	expect("change a filter from nowhere", ioctl(other, IOT_IOC_REFILTER, 8), EFAULT);
	refilter.session = info.session;
	expect("change the filter of a session that does not run", ioctl(other, IOT_IOC_REFILTER, &refilter), EINVAL);
	refilter.bytes = 64;
	expect("a filter without a text", ioctl(other, IOT_IOC_REFILTER, &refilter), EINVAL);
	refilter.text_bytes = IOT_REFILTER_TEXT_MAX_BYTES + 1;
	expect("a filter with a long text", ioctl(other, IOT_IOC_REFILTER, &refilter), EINVAL);
	refilter.text_bytes = 8;
	expect("a filter with a text from nowhere", ioctl(other, IOT_IOC_REFILTER, &refilter), EFAULT);
	refilter.text = (uintptr_t)"uid == 1";
	expect("a filter with a program from nowhere", ioctl(other, IOT_IOC_REFILTER, &refilter), EFAULT);
	refilter.bytes = ~0u;
	expect("a filter that is too long", ioctl(other, IOT_IOC_REFILTER, &refilter), EINVAL);
	expect("stacks of no kind", ioctl(fd, IOT_IOC_STACKS, &(struct iot_stacks){}), 0);
	expect("stacks again", ioctl(fd, IOT_IOC_STACKS, &(struct iot_stacks){}), EBUSY);
	expect("counters and stacks", ioctl(fd, IOT_IOC_COUNT, &(struct iot_count){ .rows = 64 }), EINVAL);
	expect("answer for no session", ioctl(other, IOT_IOC_DONE, &done), EINVAL);
	expect("answer what nobody asked", ioctl(fd, IOT_IOC_DONE, &done), EINVAL);
	done.err = 1;
	expect("answer with no errno", ioctl(fd, IOT_IOC_DONE, &done), EINVAL);
	done = (struct iot_done){ .reserved = 1 };
	expect("answer with reserved bits", ioctl(fd, IOT_IOC_DONE, &done), EINVAL);
	expect("describe no session", ioctl(other, IOT_IOC_DESCRIBE, &describe), EINVAL);
	expect("describe from nowhere", ioctl(fd, IOT_IOC_DESCRIBE, &describe), EFAULT);
	describe.bytes = IOT_DESCRIBE_MAX_BYTES + 1;
	expect("describe at length", ioctl(fd, IOT_IOC_DESCRIBE, &describe), EINVAL);
	close(other);
	close(fd);
	report("sessions that do not run are not changed, and descriptions are bounded");
}

/* A filter program that is verified before any of its bytes are changed. */
struct small_program {
	struct iot_filter_head head;
	struct iot_filter_step steps[3];
	u8 data[8];
};

static const struct small_program sound_program = {
	.head = { .version = IOT_FILTER_VERSION, .steps = 3, .data_bytes = 8 },
	.steps = {
		{ .code = IOT_FILTER_GLOB, .field = IOT_FILTER_path, .bytes = 8 },
		{ .code = IOT_FILTER_EQ, .field = IOT_FILTER_uid, .value = 3 },
		{ .code = IOT_FILTER_OR },
	},
	.data = "/a/**/b*",
};

static int program_set(int fd, const void *program, size_t bytes)
{
	struct iot_filter_program argument = { (uintptr_t)program, (u32)bytes, 0 };

	return ioctl(fd, IOT_IOC_PROGRAM, &argument);
}

static void refuse_filter_programs(void)
{
	struct iot_filter_program argument = { .program = 8, .bytes = 64 };
	int other = control_open(), fd = session_new();
	struct small_program program = sound_program;
	size_t bytes;

	expect("filter no session", program_set(other, &program, sizeof(program)), EINVAL);
	expect("filter from nowhere", ioctl(fd, IOT_IOC_PROGRAM, 8), EFAULT);
	expect("a program from nowhere", ioctl(fd, IOT_IOC_PROGRAM, &argument), EFAULT);
	argument.bytes = IOT_FILTER_BYTES_MAX + 1;
	expect("a program that is too large", ioctl(fd, IOT_IOC_PROGRAM, &argument), EINVAL);
	argument = (struct iot_filter_program){ .reserved = 1 };
	expect("a program with reserved bits", ioctl(fd, IOT_IOC_PROGRAM, &argument), EINVAL);
	for (bytes = 1; bytes < sizeof(program); bytes++)
		expect("a part of a program", program_set(fd, &program, bytes), EINVAL);
	program.steps[0].target = 1;
	expect("a test with another number", program_set(fd, &program, sizeof(program)), EINVAL);
	program = sound_program;
	program.steps[2].code = IOT_FILTER_SKIP_NO;
	expect("a skip to itself", program_set(fd, &program, sizeof(program)), EINVAL);
	program = sound_program;
	program.steps[0].data = 1;
	expect("a text behind the data", program_set(fd, &program, sizeof(program)), EINVAL);
	expect("a program", program_set(fd, &sound_program, sizeof(sound_program)), 0);
	expect("another program", program_set(fd, &sound_program, sizeof(sound_program)), 0);
	expect("no program", program_set(fd, NULL, 0), 0);
	close(other);
	close(fd);
	report("filter programs are verified");
}

/* -- netlink ------------------------------------------------------------------------------------ */

static struct nl_sock *netlink;
static int family;

static void netlink_open(void)
{
	struct timeval patience = { .tv_sec = 2 };

	netlink = nl_socket_alloc();
	if (!netlink || genl_connect(netlink) || (family = genl_ctrl_resolve(netlink, IOT_GENL_NAME)) < 0) {
		fputs("hostile: no netlink family\n", stderr);
		exit(1);
	}
	setsockopt(nl_socket_get_fd(netlink), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

/* Send a message as it is. Return: 0, or -1 and errno, as acknowledged. */
static long message_send(void *message, size_t bytes)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[65536];
	} answer;
	ssize_t n;

	if (nl_sendto(netlink, message, bytes) < 0)
		return -1;
	do
		n = recv(nl_socket_get_fd(netlink), &answer, sizeof(answer), 0);
	while (n > 0 && answer.head.nlmsg_type != NLMSG_ERROR);
	if (n <= 0)
		return -1;
	errno = -answer.error.error;
	return errno ? -1 : 0;
}

struct request {
	struct nlmsghdr head;
	struct genlmsghdr genl;
	struct nlattr attr;
	s32 value;
};

static struct request bind_request(int session_fd)
{
	return (struct request){
		.head = {
			.nlmsg_len = sizeof(struct request),
			.nlmsg_type = (u16)family,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.genl = { .cmd = IOT_CMD_BIND, .version = IOT_GENL_VERSION },
		.attr = { .nla_len = NLA_HDRLEN + sizeof(s32), .nla_type = IOT_ATTR_SESSION_FD },
		.value = session_fd,
	};
}

static long bind_session(int session_fd)
{
	struct request request = bind_request(session_fd);

	return message_send(&request, sizeof(request));
}

static void refuse_messages(void)
{
	int fd = session_new();
	struct request request = bind_request(fd);
	u8 command;

	request.head.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	expect("bind without a session", message_send(&request, request.head.nlmsg_len), EINVAL);
	request.head.nlmsg_len = NLMSG_HDRLEN;
	expect("a message without a command", message_send(&request, request.head.nlmsg_len), EINVAL);
	request = bind_request(fd);
	request.attr.nla_type = 99;
	expect("an unknown attribute", message_send(&request, sizeof(request)), EINVAL);
	request.attr.nla_type = IOT_ATTR_HEAD;
	expect("an attribute of the kernel's", message_send(&request, sizeof(request)), EINVAL);
	request = bind_request(fd);
	request.attr.nla_len = NLA_HDRLEN + 2;
	expect("half a descriptor", message_send(&request, sizeof(request)), EINVAL);
	request.attr.nla_len = 2;
	expect("an attribute shorter than its head", message_send(&request, sizeof(request)), EINVAL);
	for (command = IOT_CMD_DATA; command < IOT_CMD_DATA + 20; command++) {
		request = bind_request(fd);
		request.genl.cmd = command;
		expect("a command that is none", message_send(&request, sizeof(request)), EOPNOTSUPP);
	}
	request = bind_request(fd);
	request.head.nlmsg_flags |= NLM_F_DUMP;
	expect("a dump", message_send(&request, sizeof(request)), EOPNOTSUPP);
	expect("a closed descriptor", bind_session(999), EBADF);
	expect("no descriptor", bind_session(-1), EBADF);
	expect("a descriptor of something else", bind_session(1), ENOTTY);
	expect("a session", bind_session(fd), 0);
	expect("the same again", bind_session(fd), EBUSY);
	close(fd);
	report("netlink refuses messages that are wrong in any way");
}

/* A collector that does not answer: a signal ends the wait. */
static void ask_in_vain(int fd, struct iot_ctl *ctl)
{
	const struct itimerval soon = { { 0, 0 }, { 0, 200000 } };
	const struct sigaction action = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	expect("flush without an answer", ioctl(fd, IOT_IOC_CTL, ctl), EINTR);
}

static void control_live(int fd)
{
	static const char zeroes[64];
	struct iot_refilter refilter = {
		.program = (uintptr_t)zeroes,
		.bytes = sizeof(zeroes),
		.text = (uintptr_t)"uid == 1",
		.text_bytes = 8,
	};
	struct iot_status status = {};
	struct iot_ctl ctl = {};

	while (!ioctl(fd, IOT_IOC_STATUS, &status))
		refilter.session = ctl.session = status.session;
	ctl.verb = IOT_CTL_RESUME;
	expect("resume what is not paused", ioctl(fd, IOT_IOC_CTL, &ctl), EALREADY);
	ctl.verb = IOT_CTL_PAUSE;
	ctl.value = 1;
	expect("pause with a value", ioctl(fd, IOT_IOC_CTL, &ctl), EINVAL);
	ctl.value = 0;
	expect("pause", ioctl(fd, IOT_IOC_CTL, &ctl), 0);
	expect("pause again", ioctl(fd, IOT_IOC_CTL, &ctl), EALREADY);
	expect("no filter program", ioctl(fd, IOT_IOC_REFILTER, &refilter), EINVAL);
	refilter.program = (uintptr_t)&sound_program;
	refilter.bytes = sizeof(sound_program);
	expect("the filter of no mount", ioctl(fd, IOT_IOC_REFILTER, &refilter), EOPNOTSUPP);
	ctl.verb = IOT_CTL_FLUSH;
	ask_in_vain(fd, &ctl);
	ctl.verb = IOT_CTL_MMAP;
	expect("mappings of no mount", ioctl(fd, IOT_IOC_CTL, &ctl), EOPNOTSUPP);
	ctl.value = 3;
	expect("no mode of mappings", ioctl(fd, IOT_IOC_CTL, &ctl), EINVAL);
	ctl.verb = IOT_CTL_POLICY;
	expect("no policy", ioctl(fd, IOT_IOC_CTL, &ctl), EINVAL);
	ctl.verb = IOT_CTL_BUFFERS;
	expect("too few buffers", ioctl(fd, IOT_IOC_CTL, &ctl), EINVAL);
	ctl.value = IOT_BUFFERS_MAX + 1;
	expect("too many buffers", ioctl(fd, IOT_IOC_CTL, &ctl), EINVAL);
	ctl.value = 7;
	expect("another number of buffers", ioctl(fd, IOT_IOC_CTL, &ctl), 0);
	ctl = (struct iot_ctl){ .session = ctl.session, .verb = 99 };
	expect("no verb", ioctl(fd, IOT_IOC_CTL, &ctl), EINVAL);
}

static void live(void)
{
	int fd = session_new();

	expect("bind", bind_session(fd), 0);
	expect("start", ioctl(fd, IOT_IOC_START), 0);
	expect("start again", ioctl(fd, IOT_IOC_START), EINVAL);
	expect("stacks of a session that has started", ioctl(fd, IOT_IOC_STACKS, &(struct iot_stacks){}), EINVAL);
	control_live(fd);
	expect("stop", ioctl(fd, IOT_IOC_STOP), 0);
	expect("stop again", ioctl(fd, IOT_IOC_STOP), EINVAL);
	expect("start once more", ioctl(fd, IOT_IOC_START), EINVAL);
	close(fd);
	nl_socket_free(netlink);
	netlink_open(); /* discards pending messages of the session */
	report("a session runs once");
}

/* Sessions end at once, even if another socket gets the same port. */
static void orphan(void)
{
	int ready = session_new(), running = session_new();

	expect("bind", bind_session(ready), 0);
	expect("bind another session", bind_session(running), 0);
	expect("start", ioctl(running, IOT_IOC_START), 0);
	nl_socket_free(netlink);
	expect("start without a collector", ioctl(ready, IOT_IOC_START), EINVAL);
	expect("stop without a collector", ioctl(ready, IOT_IOC_STOP), EPIPE);
	expect("stop without a collector", ioctl(running, IOT_IOC_STOP), EPIPE);
	netlink_open();
	expect("bind to another socket", bind_session(ready), EBUSY);
	close(ready);
	close(running);
	report("sessions end with the socket that they are bound to");
}

/* -- /dev/replayfs -------------------------------------------------------------------------------- */

static int program_fd;

static long load_program(int fd, int file, u64 resident_bytes, struct iot_replay_load *load)
{
	*load = (struct iot_replay_load){ .program_fd = file, .resident_bytes = resident_bytes };
	return ioctl(fd, IOT_RIOC_LOAD, load);
}

static void refuse_files(int fd)
{
	int written = must_open("/tmp", O_TMPFILE | O_WRONLY), empty = must_open("/tmp", O_TMPFILE | O_RDWR);
	int dir = must_open(directory, O_RDONLY), zero = must_open("/dev/zero", O_RDONLY), pipes[2];
	struct iot_replay_load load;

	expect("a pipe", pipe(pipes), 0);
	expect("load no file", load_program(fd, -1, 0, &load), EBADF);
	expect("load a file that is closed", load_program(fd, 999, 0, &load), EBADF);
	expect("load a file that cannot be read", load_program(fd, written, 0, &load), EBADF);
	expect("load a directory", load_program(fd, dir, 0, &load), EINVAL);
	expect("load a device", load_program(fd, zero, 0, &load), EINVAL);
	expect("load a pipe", load_program(fd, pipes[0], 0, &load), EINVAL);
	expect("load the device itself", load_program(fd, fd, 0, &load), EINVAL);
	expect("load nothing", load_program(fd, empty, 0, &load), EBADMSG);
	expect("its reason", load.reason == IOT_REJECT_program_short ? 0 : -1, 0);
	load = (struct iot_replay_load){ .program_fd = program_fd, .is_streamed = 1 };
	expect("load with what is out set", ioctl(fd, IOT_RIOC_LOAD, &load), EINVAL);
	close(written);
	close(empty);
	close(dir);
	close(zero);
	close(pipes[0]);
	close(pipes[1]);
}

/* A program with one task, whose file lacks its operations, and which claims to use slots. */
static long load_slots(int fd, u32 ops, u32 handles, u32 maps)
{
	int file = must_open("/tmp", O_TMPFILE | O_RDWR);
	struct iot_program_head *head;
	struct iot_replay_load load;
	struct builder b;
	long result;
	size_t count;
	u8 *bytes;

	builder_open(&b);
	b.head.handles = cpu_to_le32(handles);
	b.head.maps = cpu_to_le32(maps);
	builder_task(&b);
	bytes = builder_bytes(&b, &count);
	head = (struct iot_program_head *)bytes;
	head->sections[IOT_SECTION_OPS].count = cpu_to_le64(ops);
	program_seal(bytes, count);
	expect("a program", write(file, bytes, count) == (ssize_t)count ? 0 : -1, 0);
	expect("its operations", ftruncate(file, (off_t)(count + ops * sizeof(struct iot_program_op))), 0);
	result = load_program(fd, file, 0, &load);
	close(file);
	free(bytes);
	builder_close(&b);
	return result;
}

/* A slot takes more memory than an operation. */
static void refuse_slots(int fd)
{
	const u32 ops = 1 << 24;

	expect("load a thousand operations that are none", load_slots(fd, 1000, 2000, 1000), EBADMSG);
	expect("load more handles than there is memory for", load_slots(fd, ops, 2 * ops, 0), EFBIG);
	expect("load more mappings than there is memory for", load_slots(fd, ops, 0, ops), EFBIG);
}

static void refuse_unloaded(void)
{
	struct iot_replay_setup setup = { .target_fd = 0, .session_fd = -1 };
	struct iot_replay_run run = {};
	int fd = must_open(IOT_REPLAY_PATH, O_RDWR);

	refuse_files(fd);
	refuse_slots(fd);
	expect("load from nowhere", ioctl(fd, IOT_RIOC_LOAD, 8), EFAULT);
	expect("set up", ioctl(fd, IOT_RIOC_SETUP, &setup), EINVAL);
	expect("run", ioctl(fd, IOT_RIOC_RUN, &run), EINVAL);
	expect("run from nowhere", ioctl(fd, IOT_RIOC_RUN, NULL), EFAULT);
	expect("start", ioctl(fd, IOT_RIOC_START), EINVAL);
	expect("feed", ioctl(fd, IOT_RIOC_FEED), EINVAL);
	expect("status to nowhere", ioctl(fd, IOT_RIOC_STATUS, 8), EFAULT);
	expect("an unknown request", ioctl(fd, _IO(IOT_IOC_MAGIC, 99)), ENOTTY);
	expect("a request of the other device", ioctl(fd, IOT_IOC_START), ENOTTY);
	expect("write", write(fd, &run, 8), EINVAL);
	expect("read", read(fd, &run, 8), EINVAL);
	expect("cancel", ioctl(fd, IOT_RIOC_CANCEL), 0);
	close(fd);
	report("/dev/replayfs refuses requests that need a program, and files that are no programs");
}

static void refuse_setups(int fd)
{
	int target = must_open(directory, O_RDONLY), file = must_open(program_path, O_RDONLY);
	const struct {
		const char *what;
		struct iot_replay_setup setup;
		int error;
	} rows[] = {
		{ "no such pace", { target, -1, 2, 0, 1, 1 }, EINVAL },
		{ "no such way with data", { target, -1, 0, 2, 1, 1 }, EINVAL },
		{ "no target", { -1, -1, 0, 0, 1, 1 }, EBADF },
		{ "flags that do not exist", { target, -1, 0, 0, 1, 1, .flags = ~IOT_REPLAY_FLAGS }, EINVAL },
		{ "a target that is a file", { file, -1, 0, 0, 1, 1 }, ENOTDIR },
		{ "a session that is a file", { target, file, 0, 0, 1, 1 }, ENOTTY },
		{ "a session that is closed", { target, 999, 0, 0, 1, 1 }, EBADF },
		{ "all is right", { target, -1, 0, 0, 1, 1 }, 0 },
		{ "once more", { target, -1, 0, 0, 1, 1 }, EBUSY },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i].what, ioctl(fd, IOT_RIOC_SETUP, &rows[i].setup), rows[i].error);
	close(target);
	close(file);
}

static void refuse_loaded(void)
{
	struct iot_replay_load load;
	struct iot_replay_run run = { .task = 0xfffffffd, .space = IOT_SPACE_COMMON };
	struct iot_replay_keep keep = { .space = 0xfffffffe };
	int fd = must_open(IOT_REPLAY_PATH, O_RDWR);

	expect("load", load_program(fd, program_fd, ~0ull, &load), 0);
	expect("load again", load_program(fd, program_fd, ~0ull, &load), EBUSY);
	expect("feed before it is set up", ioctl(fd, IOT_RIOC_FEED), EINVAL);
	expect("run before it is set up", ioctl(fd, IOT_RIOC_RUN, &run), EINVAL);
	expect("start before it is set up", ioctl(fd, IOT_RIOC_START), EINVAL);
	expect("set up from nowhere", ioctl(fd, IOT_RIOC_SETUP, 8), EFAULT);
	refuse_setups(fd);
	expect("feed what is in memory", ioctl(fd, IOT_RIOC_FEED), EINVAL);
	expect("start without workers", ioctl(fd, IOT_RIOC_START), EAGAIN);
	expect("a task that is not there", ioctl(fd, IOT_RIOC_RUN, &run), EINVAL);
	run.task = 0;
	expect("a task that the worker was not given", ioctl(fd, IOT_RIOC_RUN, &run), EINVAL);
	run = (struct iot_replay_run){ .task = IOT_WORKER_NEW, .space = 0xfffffffe };
	expect("an address space that is not there", ioctl(fd, IOT_RIOC_RUN, &run), EINVAL);
	expect("keep that", ioctl(fd, IOT_RIOC_KEEP, &keep), EINVAL);
	keep = (struct iot_replay_keep){ .space = IOT_SPACE_COMMON, .reserved = 1 };
	expect("keep with reserved bits", ioctl(fd, IOT_RIOC_KEEP, &keep), EINVAL);
	run = (struct iot_replay_run){ .sink = ~0ull - 4096 };
	expect("memory of the kernel to read into", ioctl(fd, IOT_RIOC_RUN, &run), EFAULT);
	run = (struct iot_replay_run){ .source = 0xffff888000000000ull };
	expect("memory of the kernel to write from", ioctl(fd, IOT_RIOC_RUN, &run), EFAULT);
	expect("cancel", ioctl(fd, IOT_RIOC_CANCEL), 0);
	run = (struct iot_replay_run){ .task = IOT_WORKER_NEW, .space = IOT_SPACE_COMMON };
	expect("run what was cancelled", ioctl(fd, IOT_RIOC_RUN, &run), ECANCELED);
	keep.reserved = 0;
	expect("keep what was cancelled", ioctl(fd, IOT_RIOC_KEEP, &keep), ECANCELED);
	close(fd);
	report("/dev/replayfs refuses setups, workers and memory that cannot be");
}

/* Sizes from the header of the program. */
static u64 section_count(u32 kind)
{
	struct iot_program_head head;

	expect("read", pread(program_fd, &head, sizeof(head), 0) == sizeof(head) ? 0 : -1, 0);
	return le64_to_cpu(head.sections[kind].count);
}

/* The agent of a node may send anything: valid messages are accepted. */
static void refuse_shares(void)
{
	u64 tasks = section_count(IOT_SECTION_TASKS), latches = section_count(IOT_SECTION_LATCHES);
	u8 *is_here = calloc(tasks + 1, 1);
	u32 *elsewhere = calloc(latches + 1, sizeof(*elsewhere));
	struct iot_program_wait marks[2] = {};
	struct iot_replay_move moved[1];
	struct iot_replay_partition partition = { .is_here = (u64)is_here, .elsewhere = (u64)elsewhere,
					  .marks = (u64)marks };
	struct iot_replay_setup setup = { .target_fd = must_open(directory, O_RDONLY),
					  .session_fd = -1, .compute_scale = 1, .pause_scale = 1 };
	struct iot_replay_moved wait = { .moved = (u64)moved, .room = 1 };
	struct iot_replay_move move = { .task = 0, .ended = 1 };
	struct iot_replay_signal arrive = { .latch = (u32)latches, .count = 1 };
	struct iot_replay_load load = {};
	int fd = must_open(IOT_REPLAY_PATH, O_RDWR), streamed = must_open(IOT_REPLAY_PATH, O_RDWR);

	memset(is_here, 1, tasks);
	expect("load in windows", load_program(streamed, program_fd, 0, &load), 0);
	expect("a part of what is streamed", ioctl(streamed, IOT_RIOC_PARTITION, &partition), EINVAL);
	close(streamed);
	expect("a part of nothing", ioctl(fd, IOT_RIOC_PARTITION, &partition), EINVAL);
	expect("load", load_program(fd, program_fd, ~0ull, &load), 0);
	expect("a part from nowhere", ioctl(fd, IOT_RIOC_PARTITION, 8), EFAULT);
	partition.is_here = 8;
	expect("tasks from nowhere", ioctl(fd, IOT_RIOC_PARTITION, &partition), EFAULT);
	partition.is_here = (u64)is_here;
	partition.mark_count = 0xffffffff;
	expect("more marks than operations", ioctl(fd, IOT_RIOC_PARTITION, &partition), EINVAL);
	partition.mark_count = 1;
	partition.marks = 8;
	expect("marks from nowhere", ioctl(fd, IOT_RIOC_PARTITION, &partition), EFAULT);
	partition.marks = (u64)marks;
	marks[0].task = cpu_to_le32((u32)tasks);
	expect("a mark of no task", ioctl(fd, IOT_RIOC_PARTITION, &partition), EINVAL);
	marks[0].task = 0;
	marks[0].index = cpu_to_le32(0xffffffff);
	expect("a mark of no operation", ioctl(fd, IOT_RIOC_PARTITION, &partition), EINVAL);
	marks[0].index = 0;
	partition.mark_count = 2;
	expect("the same mark twice", ioctl(fd, IOT_RIOC_PARTITION, &partition), EINVAL);
	partition.mark_count = 0;
	partition.reserved = 1;
	expect("reserved bits", ioctl(fd, IOT_RIOC_PARTITION, &partition), EINVAL);
	partition.reserved = 0;
	is_here[0] = 2;
	expect("neither here nor elsewhere", ioctl(fd, IOT_RIOC_PARTITION, &partition), EINVAL);
	is_here[0] = 0;
	partition.mark_count = 1;
	expect("a mark of a task elsewhere", ioctl(fd, IOT_RIOC_PARTITION, &partition), EINVAL);
	partition.mark_count = 0;
	expect("advance before the part is known", ioctl(fd, IOT_RIOC_ADVANCE, &move), EINVAL);
	expect("a part", ioctl(fd, IOT_RIOC_PARTITION, &partition), 0);
	expect("another one", ioctl(fd, IOT_RIOC_PARTITION, &partition), EBUSY);
	expect("advance before it is set up", ioctl(fd, IOT_RIOC_ADVANCE, &move), EINVAL);
	expect("set up", ioctl(fd, IOT_RIOC_SETUP, &setup), 0);
	expect("a part when it is set up", ioctl(fd, IOT_RIOC_PARTITION, &partition), EBUSY);
	wait.room = 257;
	expect("too much at once", ioctl(fd, IOT_RIOC_MOVED, &wait), EINVAL);
	wait.room = 1;
	wait.timeout_ns = 1000000001;
	expect("too long", ioctl(fd, IOT_RIOC_MOVED, &wait), EINVAL);
	wait.timeout_ns = 1000;
	expect("nothing has moved", ioctl(fd, IOT_RIOC_MOVED, &wait), 0);
	expect("a task elsewhere", ioctl(fd, IOT_RIOC_ADVANCE, &move), 0);
	expect("where it is already", ioctl(fd, IOT_RIOC_ADVANCE, &move), EINVAL);
	move.ended = 0xffffffff;
	expect("beyond its end", ioctl(fd, IOT_RIOC_ADVANCE, &move), EINVAL);
	move = (struct iot_replay_move){ .task = (u32)tasks, .ended = 1 };
	expect("no task", ioctl(fd, IOT_RIOC_ADVANCE, &move), EINVAL);
	move.task = tasks > 1 ? 1 : 0;
	expect("a task that is here", ioctl(fd, IOT_RIOC_ADVANCE, &move), EINVAL);
	expect("no latch", ioctl(fd, IOT_RIOC_SIGNAL, &arrive), EINVAL);
	expect("advance from nowhere", ioctl(fd, IOT_RIOC_ADVANCE, 8), EFAULT);
	expect("cancel", ioctl(fd, IOT_RIOC_CANCEL), 0);
	close(setup.target_fd);
	close(fd);
	free(is_here);
	free(elsewhere);
	report("/dev/replayfs refuses parts, and progress, that cannot be");
}

/* A program of one task without effect. */
static int tiny_program(void)
{
	int file = must_open("/tmp", O_TMPFILE | O_RDWR);
	struct builder b;
	size_t count;
	u8 *bytes;

	builder_open(&b);
	builder_task(&b);
	builder_op(&b, IOT_PLAY_wait);
	bytes = builder_bytes(&b, &count);
	expect("a program", write(file, bytes, count) == (ssize_t)count ? 0 : -1, 0);
	free(bytes);
	builder_close(&b);
	return file;
}

static void expect_finished(int fd)
{
	struct iot_replay_status status;

	expect("status", ioctl(fd, IOT_RIOC_STATUS, &status), 0);
	expect("one task has finished, once", status.finished == 1 ? 0 : -1, 0);
}

static void refuse_finished(void)
{
	struct iot_replay_run run = { .task = IOT_WORKER_NEW, .space = IOT_SPACE_COMMON };
	int file = tiny_program(), target = must_open(directory, O_RDONLY);
	struct iot_replay_setup setup = { .target_fd = target, .session_fd = -1 };
	int fd = must_open(IOT_REPLAY_PATH, O_RDWR), status = 0;
	struct iot_replay_load load;
	pid_t pid;

	expect("load", load_program(fd, file, ~0ull, &load), 0);
	expect("set up", ioctl(fd, IOT_RIOC_SETUP, &setup), 0);
	pid = fork();
	if (!pid)
		_exit(ioctl(fd, IOT_RIOC_RUN, &run));
	while (ioctl(fd, IOT_RIOC_START) && errno == EAGAIN)
		usleep(1000);
	waitpid(pid, &status, 0);
	expect("a worker", status ? -1 : 0, 0);
	expect_finished(fd);
	run.task = 0;
	expect("run what has finished", ioctl(fd, IOT_RIOC_RUN, &run), EINVAL);
	expect("start again", ioctl(fd, IOT_RIOC_START), EINVAL);
	run.task = IOT_WORKER_NEW;
	expect("run when nothing is left", ioctl(fd, IOT_RIOC_RUN, &run), 0);
	expect_finished(fd);
	close(fd);
	close(target);
	close(file);
	report("a task is performed once");
}

/* -- an unprivileged user --------------------------------------------------------------------------- */

static void as_nobody(void)
{
	struct iot_create create = { .buffers = 4, .flush_ms = 100 };
	int session = session_new(), fd;
	struct iot_status status = {};
	struct iot_query query;

	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
	netlink_open(); /* the privileges of the creator of the socket count, too */
	fd = control_open();
	expect("query", ioctl(fd, IOT_IOC_QUERY, &query), 0);
	expect("create", ioctl(fd, IOT_IOC_CREATE, &create), EPERM);
	expect("status", ioctl(fd, IOT_IOC_STATUS, &status), EPERM);
	expect("change", ioctl(fd, IOT_IOC_CTL, &(struct iot_ctl){ .session = 1, .verb = IOT_CTL_STOP }), EPERM);
	expect("change the filter", ioctl(fd, IOT_IOC_REFILTER, &(struct iot_refilter){ .session = 1 }), EPERM);
	expect("learn", ioctl(fd, IOT_IOC_INFO, &(struct iot_info){ .session = 1 }), EPERM);
	expect("bind a session that was inherited", bind_session(session), EPERM);
	expect("open the replayer", open(IOT_REPLAY_PATH, O_RDWR), EACCES);
	fflush(stdout);
	_exit(expect_failures ? 1 : 0);
}

/* -- random requests -------------------------------------------------------------------------------- */

static unsigned long random_request(struct rng *rng)
{
	static const unsigned long requests[] = {
		IOT_IOC_QUERY, IOT_IOC_CREATE, IOT_IOC_ATTACH, IOT_IOC_START, IOT_IOC_STOP,
		IOT_IOC_ADOPT, IOT_IOC_STATUS, IOT_IOC_JOIN, IOT_IOC_ADMIT, IOT_RIOC_LOAD, IOT_RIOC_SETUP,
		IOT_RIOC_RUN,  IOT_RIOC_START, IOT_RIOC_STATUS, IOT_RIOC_CANCEL, IOT_RIOC_KEEP,
		IOT_RIOC_FEED, IOT_IOC_CTL, IOT_IOC_DONE, IOT_IOC_DESCRIBE, IOT_IOC_INFO,
		IOT_RIOC_PARTITION, IOT_RIOC_MOVED, IOT_RIOC_ADVANCE, IOT_RIOC_SIGNAL, IOT_IOC_REFILTER, IOT_IOC_STACKS, IOT_IOC_MARK,
	};
	unsigned long request = requests[rng_below(rng, ARRAY_SIZE(requests))];

	return rng_one_in(rng, 10) ? (u32)mutate_number(rng, request) : request;
}

/* Mostly small numbers, some of which are open descriptors. */
static void random_argument(struct rng *rng, u32 *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		words[i] = rng_one_in(rng, 3) ? (u32)mutate_number(rng, 4) : (u32)rng_below(rng, 12);
	if (rng_one_in(rng, 2))
		words[1] = 4 + (u32)rng_below(rng, 8);
	if (rng_one_in(rng, 2))
		words[2] = 100;
	if (rng_one_in(rng, 2))
		memset(words + 3, 0, (count - 3) * sizeof(*words));
}

static void random_refilter(struct rng *rng, int fd, u64 session)
{
	struct small_program program = sound_program;
	struct iot_refilter refilter = {
		.session = session,
		.program = (uintptr_t)&program,
		.text = (uintptr_t)"uid == 3",
		.bytes = rng_one_in(rng, 3) ? 0 : sizeof(program),
	};

	refilter.text_bytes = rng_one_in(rng, 10) ? (u32)mutate_number(rng, 8) : refilter.bytes ? 8 : 0;
	if (rng_one_in(rng, 3))
		mutate_bytes(rng, (u8 *)&program, sizeof(program));
	(void)ioctl(fd, IOT_IOC_REFILTER, &refilter);
}

/* For an existing session of any user. */
static void random_control(struct rng *rng, int fd)
{
	struct iot_status status = {};
	struct iot_ctl ctl = { .verb = (u32)rng_below(rng, 11), .value = (u32)rng_below(rng, 12) };
	u64 steps = rng_below(rng, 8);

	do {
		if (ioctl(fd, IOT_IOC_STATUS, &status))
			return;
	} while (steps--);
	ctl.session = status.session;
	if (ctl.verb == IOT_CTL_FILTER)
		random_refilter(rng, fd, status.session);
	else
		(void)ioctl(fd, IOT_IOC_CTL, &ctl);
}

static void random_program(struct rng *rng, int fd)
{
	struct small_program program = sound_program;

	if (rng_one_in(rng, 2))
		mutate_bytes(rng, (u8 *)&program, sizeof(program));
	(void)program_set(fd, &program, rng_one_in(rng, 10) ? 0 : sizeof(program));
}

static void random_step(struct rng *rng, int *fds, size_t count)
{
	size_t which = rng_below(rng, count);
	struct iot_replay_load load;
	struct request request;
	u32 words[16];

	switch (rng_below(rng, 16)) {
	case 15:
	case 14:
		random_program(rng, fds[which]);
		break;
	case 13:
	case 12:
		random_control(rng, fds[which]);
		break;
	case 0:
		close(fds[which]);
		fds[which] = open(rng_one_in(rng, 2) ? IOT_CONTROL_PATH : IOT_REPLAY_PATH,
				  O_RDWR | O_CLOEXEC);
		break;
	case 1:
		(void)load_program(fds[which], program_fd, rng_one_in(rng, 2) ? 0 : ~0ull, &load);
		break;
	case 2:
		request = bind_request(fds[which]);
		if (rng_one_in(rng, 2))
			mutate_bytes(rng, (u8 *)&request.genl, sizeof(request) - sizeof(request.head));
		(void)message_send(&request, sizeof(request));
		break;
	default:
		random_argument(rng, words, ARRAY_SIZE(words));
		(void)ioctl(fds[which], random_request(rng),
			    rng_one_in(rng, 20) ? (void *)(uintptr_t)rng_next(rng) : words);
	}
}

static void anything(u64 seed)
{
	const struct itimerval often = { { 0, 100000 }, { 0, 100000 } };
	const struct sigaction action = { .sa_handler = on_alarm };
	struct rng rng;
	unsigned long n;
	int fds[6], i;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	netlink_open();
	for (i = 0; i < 6; i++)
		fds[i] = open(i % 2 ? IOT_CONTROL_PATH : IOT_REPLAY_PATH, O_RDWR | O_CLOEXEC);
	rng_seed(&rng, seed);
	for (n = 0; n < random_count / 4; n++)
		random_step(&rng, fds, ARRAY_SIZE(fds));
	_exit(0);
}

/* Return: is it well? */
static bool in_child(void (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		run();
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void all_of_anything(void)
{
	pid_t pids[4];
	char what[80];
	int status;
	u64 i;

	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		if (!pids[i])
			anything(i);
	}
	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) != pids[i] || status) {
			printf("# seed %llu: status %#x\n", (unsigned long long)i, status);
			expect_failures++;
		}
	}
	snprintf(what, sizeof(what), "%lu requests at random in four processes", random_count / 4 * 4);
	report(what);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	random_count = strtoul(argv[3], NULL, 10);
	program_path = argv[1];
	directory = argv[2];
	setvbuf(stdout, NULL, _IOLBF, 0);
	program_fd = must_open(program_path, O_RDONLY);
	printf("1..15\n");
	refuse_create();
	refuse_without_session();
	refuse_in_session();
	refuse_admissions();
	refuse_controls();
	refuse_filter_programs();
	netlink_open();
	refuse_messages();
	live();
	orphan();
	refuse_unloaded();
	refuse_loaded();
	refuse_shares();
	refuse_finished();
	expect_failures += !in_child(as_nobody);
	report("forbidden look-ups are refused, and nothing else");
	all_of_anything();
	nl_socket_free(netlink);
	close(program_fd);
	return 0;
}
