// SPDX-License-Identifier: GPL-2.0-only
/*
 * usurp.c - attempts of a stranger to get the records of others. For the guest.
 *
 *	usurp port PORT		as nobody: binds this generic netlink port as soon as it is free, and prints
 *				the number of messages and bytes that it receives
 *	usurp names DIR		looks up names in a directory forever: the records to steal
 *	usurp crowd		starts and ends sessions forever, to keep their lock busy
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <iotape/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "workloads/workload.h"

#define NOBODY 65534

static int usurp_port(const char *port)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_pid = (unsigned int)strtoul(port, NULL, 10) };
	const struct timeval patience = { .tv_sec = 2 };
	static char message[1 << 16];
	long messages = 0, bytes = 0;
	ssize_t n;
	int fd;

	CHECK(!setgid(NOBODY) && !setuid(NOBODY));
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	CHECK(fd >= 0);
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)));
	puts("ready");
	while (bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		CHECK(errno == EADDRINUSE);
	while ((n = recv(fd, message, sizeof(message), 0)) > 0) {
		messages++;
		bytes += n;
	}
	printf("%ld messages, %ld bytes\n", messages, bytes);
	return messages > 0;
}

static _Noreturn void look_for_names(const char *dir)
{
	struct stat stat_of;
	char path[4096];
	long i;

	for (i = 0;; i++) {
		snprintf(path, sizeof(path), "%s/secret-%ld", dir, i);
		stat(path, &stat_of);
	}
}

static struct nl_sock *bind_session(int session_fd)
{
	struct nl_sock *socket = nl_socket_alloc();
	struct nl_msg *message = nlmsg_alloc();
	int family;

	CHECK(socket && message && !genl_connect(socket));
	family = genl_ctrl_resolve(socket, IOT_GENL_NAME);
	CHECK(family > 0);
	CHECK(genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_ACK, IOT_CMD_BIND, IOT_GENL_VERSION));
	CHECK(!nla_put_s32(message, IOT_ATTR_SESSION_FD, session_fd));
	CHECK(nl_send_auto(socket, message) >= 0 && nl_wait_for_ack(socket) >= 0);
	nlmsg_free(message);
	return socket;
}

/* Each end of a session waits for an RCU grace period while it holds the lock. */
static int crowd(void)
{
	for (;;) {
		struct iot_create create = { .buffers = IOT_BUFFERS_MIN, .flush_ms = IOT_FLUSH_MS_MAX };
		int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);
		struct nl_sock *socket;

		CHECK(fd >= 0 && !ioctl(fd, IOT_IOC_CREATE, &create));
		socket = bind_session(fd);
		CHECK(!ioctl(fd, IOT_IOC_START));
		close(fd);
		nl_socket_free(socket);
	}
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 3 && !strcmp(argv[1], "port"))
		return usurp_port(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "names"))
		look_for_names(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "crowd"))
		return crowd();
	return 2;
}
