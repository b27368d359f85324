// SPDX-License-Identifier: GPL-2.0-only
/*
 * link.c - communicators with processes of another MPI_COMM_WORLD, by spawn or by connect.
 *
 * The two sides share nothing from which a key could be derived, and no message may be added for
 * it. So each side has a key of its own, which its ranks agree on, and a record describes the other
 * side: the number of its ranks, and the common name of the link, which is the port or the process
 * that spawned. The reader of the trace pairs the sides.
 *
 * Both sides take part in creating communicators from such a communicator. The key of each is the
 * exclusive or of the side's key, the *origin*, and a hash that is equal on both sides: once the
 * two origins are paired, so are all these keys.
 */
#include "shim.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A call that creates a communicator between two sides. */
struct link {
	u64 enter_ns;
	u32 call;
	u64 key;
	u64 parent_origin;
	bool is_first;
	const char *name;
};

static void write_link(const struct link *link, const struct iot_mpi_comm *state, int ranks, int peers)
{
	struct iot_rec_mpi_link record = {
		.enter_ns = link->enter_ns,
		.call = link->call,
		.comm = state->key,
		.number = state->collectives,
		.world = iot_mpi_comm_world(),
		.is_first = link->is_first,
		.ranks = (u32)ranks,
		.peers = (u32)peers,
	};
	u8 wire[IOT_WIRE_mpi_link + IOT_MPI_NAME_MAX_BYTES];
	u16 bytes = (u16)strnlen(link->name, IOT_MPI_NAME_MAX_BYTES);

	iot_put_mpi_link(wire, &record, link->name, bytes);
	iot_mpi_session_write(wire, (size_t)(IOT_WIRE_mpi_link + bytes));
}

/* The communicator is there. That it was made is the first collective on it. */
static void linked(const struct link *link, MPI_Comm comm)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	struct iot_mpi_comm *state;
	int ranks = 0, peers = 0, rank = 0, saved = errno;

	state = comm == mpi->comm_null ? NULL : calloc(1, sizeof(*state));
	if (state) {
		mpi->PMPI_Comm_size(comm, &ranks);
		mpi->PMPI_Comm_remote_size(comm, &peers);
		mpi->PMPI_Comm_rank(comm, &rank);
		*state = (struct iot_mpi_comm){
			.key = link->key,
			.origin = link->key,
			.collectives = 1,
			.ranks = (u32)(ranks + peers),
			.own = link->is_first ? rank : peers + rank,
			.peer_base = link->is_first ? ranks : 0,
			.first = (u32)(link->is_first ? ranks : peers),
		};
		if (iot_mpi_comm_remember(state, comm)) {
			iot_mpi_comm_announce(state, link->parent_origin);
			write_link(link, state, ranks, peers);
		}
	}
	errno = saved;
}

/* -- names of the connection of both sides ----------------------------------------------------- */

/* The spawning process, as Open MPI names it; spawned processes get this name. */
static const char *own_name(char *name, size_t bytes)
{
	const char *job = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK");

	snprintf(name, bytes, job && rank ? "%s.%s" : "", job, rank);
	return name;
}

/* The process that spawned this world: its name at that time, a colon, and more. */
static const char *parent_name(char *name, size_t bytes)
{
	const char *port = getenv("OMPI_PARENT_PORT");

	snprintf(name, bytes, "%.*s", port ? (int)strcspn(port, ":") : 0, port ? port : "");
	return name;
}

static bool numeric_name(const struct sockaddr_storage *address, socklen_t length, char *name, size_t bytes)
{
	char host[128], port[16];

	if ((address->ss_family != AF_INET && address->ss_family != AF_INET6) ||
	    getnameinfo((const struct sockaddr *)address, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return false;
	snprintf(name, bytes, "%s:%s", host, port);
	return true;
}

/* Both ends of a connection, the lower name first; whose end that is comes first. */
static bool connection_name(int fd, char *name, size_t bytes, bool *is_first)
{
	struct sockaddr_storage own, other;
	socklen_t own_length = sizeof(own), other_length = sizeof(other);
	char own_end[160], other_end[160];

	if (getsockname(fd, (struct sockaddr *)&own, &own_length) ||
	    getpeername(fd, (struct sockaddr *)&other, &other_length) ||
	    !numeric_name(&own, own_length, own_end, sizeof(own_end)) ||
	    !numeric_name(&other, other_length, other_end, sizeof(other_end)))
		return false;
	*is_first = strcmp(own_end, other_end) < 0;
	snprintf(name, bytes, "%s %s", *is_first ? own_end : other_end, *is_first ? other_end : own_end);
	return true;
}

/* -- calls ------------------------------------------------------------------------------------- */

static bool begin(struct link *link, struct iot_mpi_collective *call, MPI_Comm comm)
{
	struct iot_mpi_comm *state;

	link->enter_ns = iot_mpi_is_on() ? iot_mpi_now_ns() : 0;
	state = iot_mpi_comm_find(comm);
	if (!state)
		return false;
	iot_mpi_collective_begin(call, link->enter_ns, state);
	link->key = iot_mpi_comm_child(state);
	link->parent_origin = state->origin;
	return true;
}

static void end(struct link *link, const struct iot_mpi_collective *call, int root,
		const MPI_Comm *comm, const char *name, int rc)
{
	link->is_first = link->call != IOT_CALL_comm_connect;
	link->name = call->own == call->peer_base + root ? name : "";
	iot_mpi_collective_end(call, link->call, root, 0, rc);
	if (!rc)
		linked(link, *comm);
}

#define DEFINE_LINK(name, call_name, root, parameters, arguments)                         \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct link link = { .call = IOT_CALL_##call_name };                      \
		char own[IOT_MPI_NAME_MAX_BYTES] __attribute__((unused));                 \
		struct iot_mpi_collective call;                                           \
		int rc;                                                                   \
                                                                                          \
		if (!begin(&link, &call, comm))                                           \
			return IOT_MPI_BELOW(mpi->MPI_##name arguments);                                 \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                            \
		end(&link, &call, root, made, name_of_##call_name, rc);                   \
		return rc;                                                                \
	}
#define name_of_comm_spawn   own_name(own, sizeof(own))
#define name_of_comm_accept  port
#define name_of_comm_connect port
IOT_MPI_LINKS(DEFINE_LINK)

int MPI_Comm_join(int fd, MPI_Comm *made)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_comm *self = iot_mpi_comm_find(mpi->comm_self);
	struct link link = { .enter_ns = iot_mpi_now_ns(), .call = IOT_CALL_comm_join };
	char name[IOT_MPI_NAME_MAX_BYTES];
	int rc, saved = errno;
	bool is_known = self && connection_name(fd, name, sizeof(name), &link.is_first);

	errno = saved;
	rc = IOT_MPI_BELOW(mpi->MPI_Comm_join(fd, made));
	if (is_known && !rc) {
		link.key = iot_mpi_comm_child(self);
		link.name = name;
		linked(&link, *made);
	}
	return rc;
}

/**
 * iot_mpi_link_start() - a process begins that may have been spawned
 * @enter_ns: when
 */
void iot_mpi_link_start(u64 enter_ns)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Comm parent = mpi->comm_null;
	char name[IOT_MPI_NAME_MAX_BYTES];
	const struct link link = {
		.enter_ns = enter_ns,
		.call = IOT_CALL_comm_spawn,
		.key = iot_mpi_mix(iot_mpi_comm_world(), ~1ull),
		.name = parent_name(name, sizeof(name)),
	};

	if (!mpi->PMPI_Comm_get_parent(&parent) && parent != mpi->comm_null)
		linked(&link, parent);
}
