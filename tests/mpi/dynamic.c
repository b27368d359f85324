// SPDX-License-Identifier: GPL-2.0-only
/*
 * dynamic.c - processes that are spawned or connect to each other, and communicate.
 *
 *	dynamic DIR spawn	two ranks spawn two, then two by spawn_multiple, then all of a merged
 *				communicator spawn one
 *	dynamic DIR connect	the halves of the world connect to each other, three times
 *	dynamic DIR join	ranks 0 and 1 by a socket
 *
 * In each step, ranks write files that newly met ranks read afterwards: a rank that
 * is too early finds no file, and fails.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *program, *dir;
static int rank, size;

static void expect_at(bool is_so, int line)
{
	if (is_so)
		return;
	fprintf(stderr, "dynamic: line %d: not so\n", line);
	MPI_Abort(MPI_COMM_WORLD, 1);
}
#define expect(is_so) expect_at(is_so, __LINE__)

static void put(const char *step, int who)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%d", dir, step, who);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	expect(fd >= 0);
	expect(write(fd, path, 64) == 64);
	close(fd);
}

static void get(const char *step, int who)
{
	char path[4096], got[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%d", dir, step, who);
	fd = open(path, O_RDONLY);
	expect(fd >= 0);
	expect(read(fd, got, 64) == 64);
	close(fd);
}

/* -- spawn ------------------------------------------------------------------------------------- */

/* Calls of both the spawning and the spawned ranks, which have the same number. */
static void meet(MPI_Comm inter, bool is_above, const char *own, const char *other, MPI_Comm *merged)
{
	int out = rank, in = -1, sum, ranks;
	MPI_Comm copy;

	put(own, rank);
	MPI_Sendrecv(&out, 1, MPI_INT, rank, 7, &in, 1, MPI_INT, rank, 7, inter, MPI_STATUS_IGNORE);
	expect(in == rank);
	get(other, rank);
	MPI_Comm_dup(inter, &copy);
	MPI_Intercomm_merge(copy, !is_above, merged);
	MPI_Comm_size(*merged, &ranks);
	expect(ranks == 2 * size);
	MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, *merged);
	expect(sum == size * (size - 1));
	MPI_Comm_free(&copy);
}

/* All ranks together spawn one more, which belongs to neither of their worlds. */
static void spawn_one(MPI_Comm merged)
{
	char *arguments[] = { (char *)dir, "late", NULL };
	MPI_Comm inter;
	int there;

	MPI_Comm_rank(merged, &there);
	MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 1, merged, &inter, MPI_ERRCODES_IGNORE);
	if (!there)
		MPI_Send(&there, 1, MPI_INT, 0, 9, inter);
	MPI_Comm_disconnect(&inter);
	get("late", 0);
}

static void spawn(void)
{
	char *arguments[] = { (char *)dir, "child", NULL }, *others[] = { (char *)dir, "other", NULL };
	char *programs[] = { (char *)program, (char *)program }, **lists[] = { others, others };
	MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
	MPI_Comm inter, merged;
	int counts[] = { 1, 1 };

	put("begin", rank);
	MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
	meet(inter, true, "above", "below", &merged);
	spawn_one(merged);
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&inter);
	MPI_Comm_spawn_multiple(2, programs, lists, counts, infos, 1, MPI_COMM_WORLD, &inter,
				MPI_ERRCODES_IGNORE);
	meet(inter, true, "above2", "below2", &merged);
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&inter);
}

/* -- spawned ranks ---------------------------------------------------------------------- */

static void child(MPI_Comm parent)
{
	MPI_Comm merged;

	get("begin", rank);
	meet(parent, false, "below", "above", &merged);
	spawn_one(merged);
	MPI_Comm_free(&merged);
}

static void other(MPI_Comm parent)
{
	MPI_Comm merged;

	meet(parent, false, "below2", "above2", &merged);
	MPI_Comm_free(&merged);
}

static void late(MPI_Comm parent)
{
	int got;

	get("above", 0);
	get("below", 1);
	MPI_Recv(&got, 1, MPI_INT, 0, 9, parent, MPI_STATUS_IGNORE);
	put("late", 0);
}

/* -- accept and connect ---------------------------------------------------------------------------- */

static void connect_once(MPI_Comm half, bool is_first, const char *port, int step)
{
	MPI_Comm inter;
	char name[32];
	int there;

	MPI_Comm_rank(half, &there);
	snprintf(name, sizeof(name), "step%d", step);
	if (is_first)
		put(name, rank);
	if (is_first)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
	MPI_Barrier(inter);
	if (!is_first)
		get(name, there);
	MPI_Comm_disconnect(&inter);
}

static void connect_halves(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	bool is_first = rank < size / 2;
	MPI_Comm half;
	int i;

	MPI_Comm_split(MPI_COMM_WORLD, is_first, rank, &half);
	if (!rank)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
	for (i = 0; i < 3; i++)
		connect_once(half, is_first, rank % (size / 2) ? "" : port, i);
	if (!rank)
		MPI_Close_port(port);
	MPI_Comm_free(&half);
}

/* -- join --------------------------------------------------------------------------------------- */

static int socket_of(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0), end;
	socklen_t bytes = sizeof(address);

	if (!rank) {
		expect(!bind(fd, (struct sockaddr *)&address, bytes) && !listen(fd, 1));
		getsockname(fd, (struct sockaddr *)&address, &bytes);
		MPI_Send(&address.sin_port, 2, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		end = accept(fd, NULL, NULL);
		close(fd);
		return end;
	}
	MPI_Recv(&address.sin_port, 2, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect(!connect(fd, (struct sockaddr *)&address, bytes));
	return fd;
}

static void join(void)
{
	MPI_Comm inter;
	int fd, got = 0;

	if (rank > 1)
		return;
	fd = socket_of();
	put("join", rank);
	MPI_Comm_join(fd, &inter);
	MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
	expect(got == 1 - rank);
	get("join", 1 - rank);
	MPI_Comm_disconnect(&inter);
	close(fd);
}

int main(int argc, char **argv)
{
	MPI_Comm parent;

	if (argc != 3) {
		fprintf(stderr, "usage: dynamic DIR spawn|connect|join\n");
		return 2;
	}
	program = argv[0];
	dir = argv[1];
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_get_parent(&parent);
	if (!strcmp(argv[2], "spawn"))
		spawn();
	else if (!strcmp(argv[2], "child"))
		child(parent);
	else if (!strcmp(argv[2], "other"))
		other(parent);
	else if (!strcmp(argv[2], "late"))
		late(parent);
	else if (!strcmp(argv[2], "connect"))
		connect_halves();
	else
		join();
	if (parent != MPI_COMM_NULL)
		MPI_Comm_disconnect(&parent);
	MPI_Finalize();
	return 0;
}
