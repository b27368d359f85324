// SPDX-License-Identifier: GPL-2.0-only
/*
 * controller.c - the controller of delays on several nodes, whose recorders are this program, and a recorder.
 */
#include "record/controller.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define WAIT_MS 200 /* for a message that must not come */

static char path[64];
static struct controller *controller;
static struct controller_file file;

static void begin(unsigned int nodes)
{
	char why[256];

	snprintf(path, sizeof(path), "/tmp/iotape-controller.%d", getpid());
	unlink(path);
	assert_int_equal(controller_start(&controller, path, "first", nodes), 0);
	assert_int_equal(controller_file_read(path, &file, why, sizeof(why)), 0);
}

static struct controller_result end(void)
{
	struct controller_result result;

	controller_stop(controller, &result);
	unlink(path);
	return result;
}

/* Return: a connection, to whose challenge a recorder has answered. */
static int connect_as(const char *node, bool is_right)
{
	const struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(file.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct timeval patience = { .tv_sec = 10 };
	struct node_hello hello = { .nonce = "0123456789" };
	struct node_challenge challenge;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	snprintf(hello.name, sizeof(hello.name), "%s", node);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(recv(fd, &challenge, sizeof(challenge), MSG_WAITALL), sizeof(challenge));
	hello.proof = cpu_to_le64(controller_proof(&file, CONTROLLER_PROOF_CLIENT, &challenge, &hello) + !is_right);
	assert_int_equal(send(fd, &hello, sizeof(hello), 0), sizeof(hello));
	if (is_right) {
		struct node_message welcome;

		assert_int_equal(recv(fd, &welcome, sizeof(welcome), MSG_WAITALL), sizeof(welcome));
		assert_int_equal(le32_to_cpu(welcome.kind), NODE_WELCOME);
		assert_true(le64_to_cpu(welcome.value) == controller_proof(&file, CONTROLLER_PROOF_SERVER, &challenge, &hello));
	}
	return fd;
}

static void put(int fd, u32 kind, u32 round, u64 value)
{
	const struct node_message message = { cpu_to_le32(kind), cpu_to_le32(round), cpu_to_le64(7), cpu_to_le64(value) };

	assert_int_equal(send(fd, &message, sizeof(message), 0), sizeof(message));
}

/* Return: the round. */
static u32 expect(int fd, u32 kind)
{
	struct node_message message;

	assert_int_equal(recv(fd, &message, sizeof(message), MSG_WAITALL), sizeof(message));
	assert_int_equal(le32_to_cpu(message.kind), kind);
	return le32_to_cpu(message.round);
}

static void expect_nothing(int fd)
{
	struct node_message message;

	usleep(WAIT_MS * 1000);
	assert_int_equal(recv(fd, &message, sizeof(message), MSG_DONTWAIT), -1);
}

/* The controller has taken the last message. */
static void leave(int fd)
{
	char byte;

	put(fd, NODE_BYE, 0, 0);
	assert_int_equal(recv(fd, &byte, 1, MSG_WAITALL), 0);
	close(fd);
}

static void begin_delay(int first, int second)
{
	put(first, NODE_BEGIN, 0, 0);
	expect(first, NODE_LOOK);
	expect(second, NODE_LOOK);
}

static void delay_ends_when_all_nodes_are_blocked_at_the_same_time(void **state)
{
	struct controller_result result;
	int first, second;
	u32 round;

	(void)state;
	begin(2);
	first = connect_as("first", true);
	second = connect_as("second", true);
	begin_delay(first, second);
	put(first, NODE_BLOCKED, 0, 100);
	expect_nothing(first);
	put(second, NODE_BLOCKED, 0, 200);
	round = expect(first, NODE_CONFIRM);
	assert_int_equal(expect(second, NODE_CONFIRM), round);
	put(first, NODE_CONFIRMED, round, 100);
	put(second, NODE_CONFIRMED, round, 201); /* it ran meanwhile */
	round = expect(first, NODE_CONFIRM);
	expect(second, NODE_CONFIRM);
	put(second, NODE_CONFIRMED, round, 201);
	expect_nothing(first);
	put(first, NODE_CONFIRMED, round, 100);
	expect(first, NODE_RELEASE);
	put(first, NODE_END, 0, 0);
	expect(first, NODE_REST);
	expect(second, NODE_REST);
	leave(first);
	leave(second);
	result = end();
	assert_int_equal(result.nodes, 2);
	assert_int_equal(result.lost, 0);
	assert_int_equal(result.released, 1);
}

static void node_that_runs_again_is_not_blocked(void **state)
{
	int first, second;
	u32 round;

	(void)state;
	begin(2);
	first = connect_as("first", true);
	second = connect_as("second", true);
	begin_delay(first, second);
	put(second, NODE_BLOCKED, 0, 200);
	put(first, NODE_BLOCKED, 0, 100);
	round = expect(first, NODE_CONFIRM);
	put(second, NODE_BLOCKED, 0, 0);
	put(first, NODE_CONFIRMED, round, 100);
	expect_nothing(first);
	close(first);
	close(second);
	end();
}

static void node_that_has_not_connected_is_not_blocked(void **state)
{
	int first, second;

	(void)state;
	begin(2);
	first = connect_as("first", true);
	put(first, NODE_BEGIN, 0, 0);
	expect(first, NODE_LOOK);
	put(first, NODE_BLOCKED, 0, 100);
	expect_nothing(first);
	second = connect_as("second", true);
	expect(second, NODE_LOOK);
	leave(second); /* its commands have ended */
	expect(first, NODE_CONFIRM);
	close(first);
	end();
}

static void lost_node_ends_all_delays(void **state)
{
	struct controller_result result;
	int first, second, late;

	(void)state;
	begin(2);
	first = connect_as("first", true);
	second = connect_as("second", true);
	begin_delay(first, second);
	close(second);
	expect(first, NODE_ABANDON);
	late = connect_as("late", true);
	expect(late, NODE_ABANDON);
	leave(first);
	leave(late);
	result = end();
	assert_int_equal(result.lost, 1);
	assert_string_equal(result.name, "second");
}

static void stranger_is_disconnected(void **state)
{
	struct controller_result result;
	int first, stranger;
	char byte;

	(void)state;
	begin(1);
	first = connect_as("first", true);
	stranger = connect_as("first", false);
	assert_int_equal(recv(stranger, &byte, 1, MSG_WAITALL), 0);
	expect_nothing(first);
	leave(first);
	result = end();
	assert_int_equal(result.nodes, 1);
	assert_int_equal(result.lost, 0);
	close(stranger);
}

static void file_is_for_its_owner_only(void **state)
{
	struct stat st;
	char why[256];

	(void)state;
	begin(1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(controller_file_chooses(&file, "first"));
	assert_false(controller_file_chooses(&file, "firs"));
	assert_int_equal(chmod(path, 0622), 0);
	assert_int_equal(controller_file_read(path, &file, why, sizeof(why)), -EPERM);
	end();
}

/* -- recorders -------------------------------------------------------------------------------------- */

/* In a process of its own: welcome a recorder, send half of a message, and stay. */
static void send_half_a_message(int listen_fd)
{
	const struct node_challenge challenge = {};
	struct node_message message = { .kind = cpu_to_le32(NODE_WELCOME) };
	int fd = accept(listen_fd, NULL, NULL);
	struct node_hello hello;

	if (send(fd, &challenge, sizeof(challenge), 0) != sizeof(challenge) || recv(fd, &hello, sizeof(hello), MSG_WAITALL) != sizeof(hello))
		_exit(1);
	message.value = cpu_to_le64(controller_proof(&file, CONTROLLER_PROOF_SERVER, &challenge, &hello));
	if (send(fd, &message, sizeof(message), 0) != sizeof(message) || send(fd, &message, sizeof(message) / 2, 0) < 0)
		_exit(1);
	pause();
	_exit(0);
}

/* Return: the process of a controller whose connections are not complete. */
static pid_t start_half_a_controller(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pid_t pid;

	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	file = (struct controller_file){ .port = ntohs(address.sin_port), .node = "*", .address_count = 1 };
	strcpy(file.addresses[0], "127.0.0.1");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		send_half_a_message(fd);
	close(fd);
	return pid;
}

static void recorder_does_not_wait_for_the_rest_of_a_message(void **state)
{
	pid_t pid = start_half_a_controller();
	struct watcher *watcher;
	char why[256];

	(void)state;
	assert_int_equal(watcher_start(&watcher, &file, "first", -1, why, sizeof(why)), 0);
	usleep(WAIT_MS * 1000);
	alarm(30); /* a recorder that waits for ever ends the test */
	watcher_stop(watcher);
	alarm(0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

SUITE("controller",
      TEST(delay_ends_when_all_nodes_are_blocked_at_the_same_time)
      TEST(node_that_runs_again_is_not_blocked)
      TEST(node_that_has_not_connected_is_not_blocked)
      TEST(lost_node_ends_all_delays)
      TEST(stranger_is_disconnected)
      TEST(file_is_for_its_owner_only)
      TEST(recorder_does_not_wait_for_the_rest_of_a_message))
