// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi.c - messages and collectives: who waited for whom.
 *
 * Matching is by MPI's own rules. Of one communicator, source, destination and tag, the
 * k-th send pairs with the k-th receive in the order of posting whose status named that
 * source and tag. The n-th collective of a communicator is the same on all its ranks.
 *
 * Every wait looks back in time, so that no circle can come of them, with other edges
 * neither: who left a call before another rank arrived has not waited for it, whatever the
 * call is named. Many collectives need not make everybody wait.
 */
#include <stdlib.h>

#include "graph.h"

/* A standard send of more than this may wait for the receiver (rendezvous). */
#define EAGER_MAX_BYTES 4096

/* One end of a message. */
struct endpoint {
	u64 comm;
	u32 source;
	u32 destination;
	s32 tag;
	u64 posted_ns;
	u32 call;  /* in graph.mpi: where it was posted */
	u32 ended; /* in graph.mpi: where it was complete; GRAPH_NONE if that was not seen */
};

struct endpoints {
	struct endpoint *ends;
	size_t count;
};

/* -- small look-ups, over sorted arrays ------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
	const struct graph_rank *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

/* The rank of a task's process in a communicator, GRAPH_NONE if it is not known. */
static u32 rank_of(const struct graph *graph, u64 comm, u32 task)
{
	const struct graph_rank key = { .comm = comm, .tgid = graph->tasks[task].tgid };
	const struct graph_rank *rank = NULL;

	if (graph->rank_count)
		rank = bsearch(&key, graph->ranks, graph->rank_count, sizeof(*graph->ranks),
			       compare_ranks);
	return rank ? rank->rank : GRAPH_NONE;
}

/* A request of a process, and the call that found it complete. */
struct done {
	u32 tgid;
	u64 request;
	u32 call;
};

struct dones {
	struct done *dones;
	size_t count;
};

static int compare_dones(const void *a, const void *b)
{
	const struct done *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return x->request < y->request ? -1 : x->request > y->request;
}

static int dones_collect(const struct graph *graph, struct dones *dones)
{
	u32 i;

	dones->dones = calloc(graph->mpi_count + 1, sizeof(*dones->dones));
	if (!dones->dones)
		return -ENOMEM;
	for (i = 0; i < graph->mpi_count; i++)
		if (graph->mpi[i].kind == IOT_KIND_mpi_done)
			dones->dones[dones->count++] = (struct done){
				.tgid = graph->tasks[graph->mpi[i].task].tgid,
				.request = graph->mpi[i].request,
				.call = i,
			};
	qsort(dones->dones, dones->count, sizeof(*dones->dones), compare_dones);
	return 0;
}

/* Where a call was complete: in itself, or where its request was found complete. */
static u32 ended_by(const struct graph *graph, const struct dones *dones, u32 call)
{
	const struct graph_mpi *mpi = &graph->mpi[call];
	const struct done key = { .tgid = graph->tasks[mpi->task].tgid, .request = mpi->request };
	const struct done *done;

	if (!mpi->request)
		return call;
	done = bsearch(&key, dones->dones, dones->count, sizeof(*dones->dones), compare_dones);
	return done ? done->call : GRAPH_NONE;
}

/* -- what is not certain ---------------------------------------------------------------- */

static void note(struct graph *graph, u32 call, const char *reason)
{
	const struct graph_mpi *mpi = &graph->mpi[call];
	const struct graph_task *task = &graph->tasks[mpi->task];

	if (graph->mpi_note_count == GRAPH_NOTES_MAX)
		return;
	graph->mpi_notes[graph->mpi_note_count++] = (struct graph_note){
		.task = task->id,
		.op = mpi->arrive == GRAPH_NONE ? 0 : task->ops[mpi->arrive].number,
		.reason = reason,
	};
}

static void unmatched(struct graph *graph, u32 call, const char *reason)
{
	graph->mpi_unmatched++;
	note(graph, call, reason);
}

static void note_links(struct graph *graph)
{
	u32 i;

	for (i = 0; i < graph->link_count; i++) {
		if (!graph->links[i].is_doubtful || graph->links[i].call == GRAPH_NONE)
			continue;
		graph->mpi_ambiguous++;
		note(graph, graph->links[i].call,
		     "a communicator between two jobs, made when another one like it was");
	}
}

/* -- messages ------------------------------------------------------------------------------- */

static int compare_endpoints(const void *a, const void *b)
{
	const struct endpoint *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->destination != y->destination)
		return x->destination < y->destination ? -1 : 1;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return x->posted_ns < y->posted_ns ? -1 : x->posted_ns > y->posted_ns;
}

/* Are they ends of the same stream of messages? */
static int compare_streams(const struct endpoint *x, const struct endpoint *y)
{
	struct endpoint other = *y;

	other.posted_ns = x->posted_ns;
	return compare_endpoints(x, &other);
}

static void add_send(const struct graph *graph, const struct dones *dones, u32 call,
		     struct endpoints *sends)
{
	const struct graph_mpi *mpi = &graph->mpi[call];

	sends->ends[sends->count++] = (struct endpoint){
		.comm = mpi->comm,
		.source = rank_of(graph, mpi->comm, mpi->task),
		.destination = (u32)mpi->peer,
		.tag = mpi->tag,
		.posted_ns = mpi->enter_ns,
		.call = call,
		.ended = ended_by(graph, dones, call),
	};
}

/* What a probe found is the message that the next receive of the stream takes. */
static bool is_probe(const struct graph *graph, u32 call)
{
	return graph->mpi[call].kind == IOT_KIND_mpi_probe;
}

/* Source and tag are those of the status: of the call itself, or of what completed it. */
static void add_receive(struct graph *graph, const struct dones *dones, u32 call,
			struct endpoints *receives)
{
	u32 ended = ended_by(graph, dones, call);
	const struct graph_mpi *mpi = &graph->mpi[call], *status;

	if (ended == GRAPH_NONE) {
		unmatched(graph, call, "a receive whose end was not seen; later ones may be mismatched");
		return;
	}
	status = &graph->mpi[ended];
	if (mpi->request && status->peer < 0) {
		unmatched(graph, call, "a receive that was cancelled");
		return;
	}
	receives->ends[receives->count++] = (struct endpoint){
		.comm = mpi->comm,
		.source = (u32)status->peer,
		.destination = rank_of(graph, mpi->comm, mpi->task),
		.tag = status->tag,
		.posted_ns = mpi->enter_ns,
		.call = call,
		.ended = ended,
	};
}

static struct graph_op *leave_of(struct graph *graph, u32 call)
{
	const struct graph_mpi *mpi = &graph->mpi[call];

	return &graph->tasks[mpi->task].ops[mpi->leave];
}

/* Who completed a call waits for whoever arrived at another one. */
static int wait_for(struct graph *graph, const struct graph_mpi *from, u32 ended)
{
	if (ended == GRAPH_NONE || from->enter_ns >= graph->mpi[ended].end_ns)
		return 0;
	return graph_edge_add(graph, from->task, from->arrive, leave_of(graph, ended), EDGE_mpi);
}

static bool is_synchronous(const struct graph *graph, const struct endpoint *send,
			   const struct endpoint *receive)
{
	const struct graph_mpi *mpi = &graph->mpi[send->call];

	switch (mpi->call) {
	case IOT_CALL_ssend:
	case IOT_CALL_issend:
	case IOT_CALL_ssend_init:
		return true;
	case IOT_CALL_bsend:
	case IOT_CALL_ibsend:
	case IOT_CALL_bsend_init:
		return false;
	}
	return mpi->length_bytes > EAGER_MAX_BYTES &&
	       graph->mpi[receive->call].enter_ns < graph->mpi[send->ended].end_ns;
}

static int connect_message(struct graph *graph, const struct endpoint *send,
			   const struct endpoint *receive)
{
	int err = wait_for(graph, &graph->mpi[send->call], receive->ended);

	/* A matched probe has waited for the message where it was posted; start may have. */
	if (!err && (graph->mpi[receive->call].call == IOT_CALL_mprobe ||
		     graph->mpi[receive->call].call == IOT_CALL_win_start))
		err = wait_for(graph, &graph->mpi[send->call], receive->call);
	if (err || send->ended == GRAPH_NONE || !is_synchronous(graph, send, receive))
		return err;
	return wait_for(graph, &graph->mpi[receive->call], send->ended);
}

#define NOT_RECEIVED "a message that nobody received"
#define NOT_SENT     "a receive whose message nobody sent"

/* Threads that post at the same time leave it open which of them MPI heard first. */
static void find_ambiguous(struct graph *graph, const struct endpoints *ends)
{
	const struct graph_mpi *before, *mpi;
	size_t i;

	for (i = 1; i < ends->count; i++) {
		before = &graph->mpi[ends->ends[i - 1].call];
		mpi = &graph->mpi[ends->ends[i].call];
		if (compare_streams(&ends->ends[i - 1], &ends->ends[i]) ||
		    before->task == mpi->task || before->end_ns <= mpi->enter_ns)
			continue;
		graph->mpi_ambiguous++;
		note(graph, ends->ends[i].call,
		     "a message of a stream that another thread used at the same time");
	}
}

static int paired(struct graph *graph, const struct graph_mpi_listener *listener,
		  const struct endpoint *send, const struct endpoint *receive)
{
	if (!listener)
		return connect_message(graph, send, receive);
	return listener->message(listener->context,
				 &(struct graph_mpi_part){ .call = send->call, .ended = send->ended },
				 &(struct graph_mpi_part){ .call = receive->call,
							   .ended = receive->ended });
}

/* Both arrays in the order of streams, and in each stream of posting. */
static int pair_messages(struct graph *graph, const struct graph_mpi_listener *listener,
			 const struct endpoints *sends, const struct endpoints *receives)
{
	size_t s = 0, r = 0;
	int err = 0;

	while (s < sends->count && r < receives->count && !err) {
		int order = compare_streams(&sends->ends[s], &receives->ends[r]);

		if (order < 0) {
			unmatched(graph, sends->ends[s++].call, NOT_RECEIVED);
		} else if (order > 0) {
			unmatched(graph, receives->ends[r++].call, NOT_SENT);
		} else if (is_probe(graph, receives->ends[r].call)) {
			err = wait_for(graph, &graph->mpi[sends->ends[s].call],
				       receives->ends[r++].call);
		} else {
			err = paired(graph, listener, &sends->ends[s++], &receives->ends[r++]);
		}
	}
	while (s < sends->count)
		unmatched(graph, sends->ends[s++].call, NOT_RECEIVED);
	while (r < receives->count)
		unmatched(graph, receives->ends[r++].call, NOT_SENT);
	return err;
}

static int messages(struct graph *graph, const struct dones *dones,
		    const struct graph_mpi_listener *listener)
{
	struct endpoints sends = {}, receives = {};
	u32 i;
	int err = -ENOMEM;

	sends.ends = calloc(graph->mpi_count + 1, sizeof(*sends.ends));
	receives.ends = calloc(graph->mpi_count + 1, sizeof(*receives.ends));
	if (sends.ends && receives.ends) {
		for (i = 0; i < graph->mpi_count; i++) {
			if (graph->mpi[i].kind == IOT_KIND_mpi_send)
				add_send(graph, dones, i, &sends);
			else if (graph->mpi[i].kind == IOT_KIND_mpi_recv || is_probe(graph, i))
				add_receive(graph, dones, i, &receives);
		}
		qsort(sends.ends, sends.count, sizeof(*sends.ends), compare_endpoints);
		qsort(receives.ends, receives.count, sizeof(*receives.ends), compare_endpoints);
		find_ambiguous(graph, &sends);
		find_ambiguous(graph, &receives);
		err = pair_messages(graph, listener, &sends, &receives);
	}
	free(sends.ends);
	free(receives.ends);
	return err;
}

/* -- locks of windows ------------------------------------------------------------------------------ */

/* By window and rank whose memory it is, and then by time. */
static int compare_locks(const void *a, const void *b)
{
	const struct graph_mpi *x = *(const struct graph_mpi *const *)a;
	const struct graph_mpi *y = *(const struct graph_mpi *const *)b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/*
 * Who had an exclusive lock before whom is what it happened to be, and a replay may do it the
 * other way round: no edge, but it is said.
 */
static int locks(struct graph *graph)
{
	const struct graph_mpi **taken = calloc(graph->mpi_count + 1, sizeof(*taken));
	size_t count = 0, i;

	if (!taken)
		return -ENOMEM;
	for (i = 0; i < graph->mpi_count; i++)
		if (graph->mpi[i].kind == IOT_KIND_mpi_win && graph->mpi[i].number)
			taken[count++] = &graph->mpi[i];
	if (count)
		qsort(taken, count, sizeof(*taken), compare_locks);
	for (i = 1; i < count; i++) {
		if (taken[i]->comm != taken[i - 1]->comm || taken[i]->peer != taken[i - 1]->peer ||
		    graph->tasks[taken[i]->task].tgid == graph->tasks[taken[i - 1]->task].tgid)
			continue;
		graph->mpi_ambiguous++;
		note(graph, (u32)(taken[i] - graph->mpi),
		     "an exclusive lock of a window, after another rank's: they may come in another order");
	}
	free(taken);
	return 0;
}

/* -- collectives ---------------------------------------------------------------------------------- */

/* What a collective makes its ranks wait for. */
enum shape {
	SHAPE_ALL,  /* everybody for everybody */
	SHAPE_FROM, /* everybody for the root */
	SHAPE_TO,   /* the root for everybody */
	SHAPE_SCAN, /* each rank for those below it */
	SHAPE_NEAR, /* each rank for its neighbours */
};

static enum shape shape_of(u32 call)
{
	switch (call) {
	case IOT_CALL_bcast:
	case IOT_CALL_scatter:
	case IOT_CALL_scatterv:
	case IOT_CALL_ibcast:
	case IOT_CALL_iscatter:
	case IOT_CALL_iscatterv:
		return SHAPE_FROM;
	case IOT_CALL_reduce:
	case IOT_CALL_gather:
	case IOT_CALL_gatherv:
	case IOT_CALL_ireduce:
	case IOT_CALL_igather:
	case IOT_CALL_igatherv:
		return SHAPE_TO;
	case IOT_CALL_scan:
	case IOT_CALL_exscan:
	case IOT_CALL_iscan:
	case IOT_CALL_iexscan:
		return SHAPE_SCAN;
	case IOT_CALL_neighbor_allgather:
	case IOT_CALL_neighbor_allgatherv:
	case IOT_CALL_neighbor_alltoall:
	case IOT_CALL_neighbor_alltoallv:
	case IOT_CALL_neighbor_alltoallw:
	case IOT_CALL_ineighbor_allgather:
	case IOT_CALL_ineighbor_allgatherv:
	case IOT_CALL_ineighbor_alltoall:
	case IOT_CALL_ineighbor_alltoallv:
	case IOT_CALL_ineighbor_alltoallw:
		return SHAPE_NEAR;
	default:
		return SHAPE_ALL;
	}
}

/* One rank's part in a collective. */
struct member {
	u64 comm;
	u32 number;
	u32 rank;
	u32 call;
	u32 ended;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static struct graph_op *arrive_of(struct graph *graph, const struct member *member)
{
	const struct graph_mpi *mpi = &graph->mpi[member->call];

	return &graph->tasks[mpi->task].ops[mpi->arrive];
}

static int wait_for_member(struct graph *graph, const struct member *other,
			   const struct member *member)
{
	return other == member ? 0 : wait_for(graph, &graph->mpi[other->call], member->ended);
}

/* The ranks that an edge to the hub is for: root, or all if it is negative. */
static bool leaves_hub(const struct graph *graph, const struct member *member, s32 root,
		       u64 last_enter_ns)
{
	return member->ended != GRAPH_NONE && (root < 0 || member->rank == (u32)root) &&
	       graph->mpi[member->ended].end_ns > last_enter_ns;
}

/* Those whose rank is @root, or all if it is negative, leave when all have arrived. */
static int through_hub(struct graph *graph, const struct member *members, u32 count, s32 root)
{
	u64 last_enter_ns = 0;
	u32 hub, i;
	int err = graph_hub_add(graph, count, &hub);

	for (i = 0; i < count; i++)
		if (graph->mpi[members[i].call].enter_ns > last_enter_ns)
			last_enter_ns = graph->mpi[members[i].call].enter_ns;
	for (i = 0; i < count && !err; i++) {
		arrive_of(graph, &members[i])->handle = hub + 1;
		if (leaves_hub(graph, &members[i], root, last_enter_ns))
			err = graph_edge_add(graph, GRAPH_NONE, hub,
					     leave_of(graph, members[i].ended), EDGE_mpi);
	}
	return err;
}

static int from_root(struct graph *graph, const struct member *members, u32 count, s32 root)
{
	const struct member *from = NULL;
	u32 i;
	int err = 0;

	for (i = 0; i < count; i++)
		if (members[i].rank == (u32)root)
			from = &members[i];
	for (i = 0; from && i < count && !err; i++)
		err = wait_for_member(graph, from, &members[i]);
	return err;
}

static int scan(struct graph *graph, const struct member *members, u32 count)
{
	u32 i, j;
	int err = 0;

	for (i = 0; i < count; i++)
		for (j = 0; j < i && !err; j++)
			err = wait_for_member(graph, &members[j], &members[i]);
	return err;
}

static const struct member *member_of(const struct member *members, u32 count, u32 rank)
{
	u32 low = 0, high = count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (members[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && members[low].rank == rank ? &members[low] : NULL;
}

static int compare_near(const void *a, const void *b)
{
	const struct graph_near *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* All neighbours of a rank, of which bsearch() finds some one. */
static const struct graph_near *neighbours(const struct graph *graph, const struct member *member,
					   u32 *count)
{
	const struct graph_near key = { .comm = member->comm, .rank = member->rank };
	const struct graph_near *first = NULL, *stop = graph->near + graph->near_count, *last;

	*count = 0;
	if (graph->near_count)
		first = bsearch(&key, graph->near, graph->near_count, sizeof(*graph->near),
				compare_near);
	if (!first)
		return NULL;
	for (last = first; last < stop && !compare_near(last, &key); last++)
		;
	while (first > graph->near && !compare_near(first - 1, &key))
		first--;
	*count = (u32)(last - first);
	return first;
}

static int near(struct graph *graph, const struct member *members, u32 count)
{
	u32 i, j, near_count;
	int err = 0;

	for (i = 0; i < count; i++) {
		const struct graph_near *first = neighbours(graph, &members[i], &near_count);

		for (j = 0; j < near_count && !err; j++) {
			const struct member *source = member_of(members, count, first[j].source);

			if (source)
				err = wait_for_member(graph, source, &members[i]);
		}
	}
	return err;
}

/* Between two groups, those of the root's own that are not the root name none. */
static s32 root_of(const struct graph *graph, const struct member *members, u32 count)
{
	s32 root = -1;
	u32 i;

	for (i = 0; i < count; i++)
		if (graph->mpi[members[i].call].root > root)
			root = graph->mpi[members[i].call].root;
	return root;
}

static int connect_collective(struct graph *graph, const struct member *members, u32 count)
{
	if (count == 1)
		return 0;
	switch (shape_of(graph->mpi[members[0].call].call)) {
	case SHAPE_FROM:
		return from_root(graph, members, count, root_of(graph, members, count));
	case SHAPE_TO:
		return through_hub(graph, members, count, root_of(graph, members, count));
	case SHAPE_NEAR:
		return near(graph, members, count);
	case SHAPE_SCAN:
		return scan(graph, members, count);
	default:
		return through_hub(graph, members, count, -1);
	}
}

static int compare_comms(const void *key, const void *rank)
{
	const u64 *comm = key;
	const struct graph_rank *x = rank;

	return *comm < x->comm ? -1 : *comm > x->comm;
}

static u32 size_of_comm(const struct graph *graph, u64 comm)
{
	const struct graph_rank *rank = NULL;

	if (graph->rank_count)
		rank = bsearch(&comm, graph->ranks, graph->rank_count, sizeof(*graph->ranks),
			       compare_comms);
	return rank ? rank->size : 0;
}

/* Tell of a collective rather than connect it. */
static int tell_collective(const struct graph_mpi_listener *listener, const struct member *members,
			   u32 count)
{
	struct graph_mpi_part *parts = calloc(count, sizeof(*parts));
	u32 i;
	int err;

	if (!parts)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		parts[i] = (struct graph_mpi_part){
			.rank = members[i].rank,
			.call = members[i].call,
			.ended = members[i].ended,
		};
	err = listener->collective(listener->context, parts, count);
	free(parts);
	return err;
}

static int connect_collectives(struct graph *graph, const struct graph_mpi_listener *listener,
			       const struct member *members, size_t count)
{
	size_t first, last;
	int err = 0;

	for (first = 0; first < count && !err; first = last) {
		for (last = first + 1; last < count && members[last].comm == members[first].comm &&
				       members[last].number == members[first].number;
		     last++)
			;
		if (last - first != size_of_comm(graph, members[first].comm))
			unmatched(graph, members[first].call, "a collective that not all ranks called");
		if (listener)
			err = tell_collective(listener, &members[first], (u32)(last - first));
		else
			err = connect_collective(graph, &members[first], (u32)(last - first));
	}
	return err;
}

static int collectives(struct graph *graph, const struct dones *dones,
		       const struct graph_mpi_listener *listener)
{
	struct member *members = calloc(graph->mpi_count + 1, sizeof(*members));
	size_t count = 0;
	u32 i;
	int err;

	if (!members)
		return -ENOMEM;
	for (i = 0; i < graph->mpi_count; i++)
		if (graph->mpi[i].kind == IOT_KIND_mpi_coll)
			members[count++] = (struct member){
				.comm = graph->mpi[i].comm,
				.number = graph->mpi[i].number,
				.rank = rank_of(graph, graph->mpi[i].comm, graph->mpi[i].task),
				.call = i,
				.ended = ended_by(graph, dones, i),
			};
	qsort(members, count, sizeof(*members), compare_members);
	err = connect_collectives(graph, listener, members, count);
	free(members);
	return err;
}

/* -- the pass ---------------------------------------------------------------------------------------- */

/* Where the halves of each call are, now that operations do not move any more. */
static void find_halves(struct graph *graph)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];

			if (op->kind == IOT_PLAY_arrive)
				graph->mpi[op->event - 1].arrive = j;
			else if (op->kind == IOT_PLAY_leave && op->flags == LEAVE_MPI)
				graph->mpi[op->event - 1].leave = j;
		}
}

static int match(struct graph *graph, const struct graph_mpi_listener *listener)
{
	struct dones dones = {};
	int err = graph_links_unite(graph, !listener);

	if (err)
		return err;
	note_links(graph);
	if (graph->rank_count)
		qsort(graph->ranks, graph->rank_count, sizeof(*graph->ranks), compare_ranks);
	if (graph->near_count)
		qsort(graph->near, graph->near_count, sizeof(*graph->near), compare_near);
	err = dones_collect(graph, &dones);
	if (!err)
		err = messages(graph, &dones, listener);
	if (!err)
		err = collectives(graph, &dones, listener);
	if (!err)
		err = locks(graph);
	free(dones.dones);
	return err;
}

/**
 * graph_pass_mpi() - edges of messages and collectives
 * @graph: after graph_pass_life()
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_mpi(struct graph *graph)
{
	if (!graph->mpi_count)
		return 0;
	graph_worlds_number(graph);
	find_halves(graph);
	return match(graph, NULL);
}

/**
 * graph_mpi_match() - which MPI calls belong together
 * @graph: tasks with their process, ranks and MPI calls; operations are not needed
 * @listener: is told; an error of it, a negative errno, ends the matching
 *
 * Of each task the calls are in the order in which they were made; clocks of tasks may differ.
 *
 * Return: 0 or a negative errno.
 */
int graph_mpi_match(struct graph *graph, const struct graph_mpi_listener *listener)
{
	return graph->mpi_count ? match(graph, listener) : 0;
}
