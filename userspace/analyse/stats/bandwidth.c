// SPDX-License-Identifier: GPL-2.0-only
/*
 * bandwidth.c - bandwidth of reads and writes: of all, of each process or rank, and by request size; creates and unlinks.
 */
#include "bandwidth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/graph/request_pairs.h"

#define NAME_BYTES 256
#define RANK_ID	   (1ull << 62) /* other ids are those of actor_process() */

/* The time of one request. */
struct bandwidth_interval {
	u64 begin_ns;
	u64 end_ns;
};

/* Of an asynchronous request; @client is NULL if it is not selected. */
struct pending {
	struct bandwidth_client *client;
	u64 length_bytes;
};

/* -- numbers ---------------------------------------------------------------------------------------------- */

static double rate(u64 amount, u64 ns)
{
	return ns ? (double)amount * 1e9 / (double)ns : NAN;
}

/**
 * bandwidth_elapsed_ns() - time from the beginning of the first operation to the end of the last
 *
 * Return: 0 if it is not known: the last one has no known end.
 */
u64 bandwidth_elapsed_ns(const struct bandwidth_span *span)
{
	bool is_known = span->count > span->untimed && (!span->untimed || span->untimed_ns < span->end_ns);

	return is_known ? span->end_ns - span->begin_ns : 0;
}

/**
 * bandwidth_of_all() - bytes per second of the elapsed time, NAN if that is not known
 */
double bandwidth_of_all(const struct bandwidth_span *span)
{
	return rate(span->bytes, bandwidth_elapsed_ns(span));
}

/**
 * bandwidth_of_requests() - bytes per second of the durations, added up; NAN if one is not known
 */
double bandwidth_of_requests(const struct bandwidth_span *span)
{
	return span->untimed ? NAN : rate(span->bytes, span->time_ns);
}

/**
 * bandwidth_of_client() - bytes per second of the time with a request in progress; NAN if one is not known
 */
double bandwidth_of_client(const struct bandwidth_flow *flow)
{
	return flow->span.untimed ? NAN : rate(flow->span.bytes, flow->busy_ns);
}

/**
 * bandwidth_per_s() - operations per second of the elapsed time, NAN if that is not known
 */
double bandwidth_per_s(const struct bandwidth_span *span)
{
	return rate(span->count, bandwidth_elapsed_ns(span));
}

/* -- adding ------------------------------------------------------------------------------------------------ */

/* A request, or another operation: @is_timed is false if its duration is not known. */
struct event {
	u64 begin_ns;
	u64 end_ns;
	s64 result;
	bool is_timed;
};

static void span_add(struct bandwidth_span *span, const struct event *e)
{
	u64 duration_ns = e->end_ns - e->begin_ns;
	bool is_first = span->count == span->untimed;

	if (e->result < 0) {
		span->failed++;
		return;
	}
	span->count++;
	span->bytes += (u64)e->result;
	if (!e->is_timed) {
		span->untimed++;
		span->untimed_ns = e->begin_ns > span->untimed_ns ? e->begin_ns : span->untimed_ns;
	}
	if (span->count == 1 || e->begin_ns < span->begin_ns)
		span->begin_ns = e->begin_ns;
	if (!e->is_timed)
		return;
	if (e->end_ns > span->end_ns)
		span->end_ns = e->end_ns;
	span->time_ns += duration_ns;
	if (is_first || duration_ns < span->min_ns)
		span->min_ns = duration_ns;
	if (duration_ns > span->max_ns)
		span->max_ns = duration_ns;
}

static int interval_add(struct bandwidth_flow *flow, const struct event *e)
{
	struct bandwidth_interval *larger;

	if (e->result < 0 || !e->is_timed)
		return 0;
	if (flow->interval_count == flow->interval_room) {
		flow->interval_room = 2 * flow->interval_room + 16;
		larger = reallocarray(flow->intervals, flow->interval_room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		flow->intervals = larger;
	}
	flow->intervals[flow->interval_count++] = (struct bandwidth_interval){ e->begin_ns, e->end_ns };
	return 0;
}

static struct bandwidth_size *size_get(struct bandwidth *b, u64 bytes)
{
	struct bandwidth_size *size;

	HASH_FIND(hh, b->sizes, &bytes, sizeof(bytes), size);
	if (size)
		return size;
	size = calloc(1, sizeof(*size));
	if (!size)
		return NULL;
	size->bytes = bytes;
	HASH_ADD(hh, b->sizes, bytes, sizeof(size->bytes), size);
	return size;
}

static int request_add(struct bandwidth *b, struct bandwidth_client *client, u32 direction, u64 length_bytes, const struct event *e)
{
	struct bandwidth_size *size = size_get(b, length_bytes);

	if (!size)
		return -ENOMEM;
	span_add(&b->spans[direction], e);
	span_add(&size->spans[direction], e);
	span_add(&client->flows[direction].span, e);
	return interval_add(&client->flows[direction], e);
}

static struct bandwidth_client *client_get(struct bandwidth *b, u32 task)
{
	const struct actor *actor = actors_find(&b->actors, task);
	bool is_rank = actor && actor->rank != ACTOR_UNKNOWN;
	u64 id = is_rank ? RANK_ID | actor->rank : actor ? actor_process(actor) : 1ull << 63 | task;
	struct bandwidth_client *client;
	char name[NAME_BYTES];

	HASH_FIND(hh, b->clients, &id, sizeof(id), client);
	if (client)
		return client;
	if (is_rank)
		snprintf(name, sizeof(name), "rank %u", actor->rank);
	else
		actors_name(&b->actors, task, actor ? actor->tgid : 0, name, sizeof(name));
	client = calloc(1, sizeof(*client));
	if (client)
		client->name = strdup(name);
	if (!client || !client->name) {
		free(client);
		return NULL;
	}
	client->id = id;
	client->is_rank = is_rank;
	HASH_ADD(hh, b->clients, id, sizeof(client->id), client);
	return client;
}

/* -- asynchronous requests ---------------------------------------------------------------------------------- */

static int request_end(struct bandwidth *b, struct request_pair *pair)
{
	const struct pending *pending = (const struct pending *)pair->context;
	u64 latency_ns = request_pair_latency_ns(pair);
	const struct event e = { pair->enter_ns, pair->enter_ns + latency_ns, pair->result, latency_ns };
	int err = 0;

	if (pending->client) {
		b->unfinished--;
		err = request_add(b, pending->client, pair->is_write ? BANDWIDTH_WRITE : BANDWIDTH_READ, pending->length_bytes, &e);
	}
	request_pairs_drop(b->requests, pair);
	return err;
}

static int take_submit(struct bandwidth *b, const struct iot_rec_submit *r, struct bandwidth_client *client)
{
	struct request_pair *pair;

	if (r->result < 0 && client) { /* there is no request */
		const struct event e = { r->enter_ns, r->enter_ns, r->result, true };

		return request_add(b, client, r->flags & IOT_RW_write ? BANDWIDTH_WRITE : BANDWIDTH_READ, r->length_bytes, &e);
	}
	pair = request_pairs_submit(b->requests, r);
	if (!pair)
		return -ENOMEM;
	*(struct pending *)pair->context = (struct pending){ client, r->length_bytes };
	b->unfinished += client != NULL;
	return request_pair_is_whole(pair) ? request_end(b, pair) : 0;
}

static int take_complete(struct bandwidth *b, const struct iot_rec_complete *r)
{
	struct request_pair *pair = request_pairs_complete(b->requests, r);

	if (!pair)
		return -ENOMEM;
	return request_pair_is_whole(pair) ? request_end(b, pair) : 0;
}

/* -- operations ---------------------------------------------------------------------------------------------- */

static bool is_create(const struct iot_record *r)
{
	if (r->kind == IOT_KIND_open)
		return r->open.flags & IOT_OPEN_created && !(r->open.flags & IOT_OPEN_tmpfile);
	return r->kind == IOT_KIND_mknod && (S_ISREG(r->mknod.mode) || !(r->mknod.mode & S_IFMT));
}

static struct event event_of(const struct bandwidth *b, const struct iot_record *r)
{
	u64 end_ns = iot_record_end_ns(r);

	if (end_ns < r->op.enter_ns) /* contents of a trace are not trusted */
		end_ns = UINT64_MAX;
	return (struct event){ r->op.enter_ns, end_ns, r->op.result, !b->actors.is_imported || r->op.duration_ns };
}

static int take_op(struct bandwidth *b, const struct iot_record *r)
{
	const struct event e = event_of(b, r);
	struct bandwidth_client *client;

	switch (r->kind) {
	case IOT_KIND_read:
	case IOT_KIND_write:
	case IOT_KIND_submit:
		client = client_get(b, r->op.task);
		if (!client)
			return -ENOMEM;
		if (r->kind == IOT_KIND_submit)
			return take_submit(b, &r->submit, client);
		if (r->kind == IOT_KIND_read)
			return request_add(b, client, BANDWIDTH_READ, r->read.length_bytes, &e);
		return request_add(b, client, BANDWIDTH_WRITE, r->write.length_bytes, &e);
	case IOT_KIND_unlink:
		span_add(&b->changes[BANDWIDTH_UNLINK], &e);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		b->copies++;
		break;
	case IOT_KIND_touch:
		b->touches++;
		break;
	default:
		if (is_create(r))
			span_add(&b->changes[BANDWIDTH_CREATE], &e);
	}
	return 0;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	const struct iot_kind_info *info = iot_kind_info(r->kind);
	struct bandwidth *b = context;
	int err;

	iot_omissions_take(&b->omissions, r);
	err = selection_take(&b->selection, r);
	if (err)
		return err;
	if (r->kind == IOT_KIND_counted || r->kind == IOT_KIND_bucket)
		return -EOPNOTSUPP;
	if (r->kind == IOT_KIND_complete)
		return take_complete(b, &r->complete);
	if (info->group != IOT_GROUP_op)
		return 0;
	if (selection_match(&b->selection, &b->actors, names, r))
		return take_op(b, r);
	return r->kind == IOT_KIND_submit ? take_submit(b, &r->submit, NULL) : 0;
}

/* -- reading ------------------------------------------------------------------------------------------------- */

static int compare_intervals(const void *a, const void *b)
{
	const struct bandwidth_interval *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* The length of the union of all intervals. */
static void flow_finish(struct bandwidth_flow *flow)
{
	u64 until_ns = 0, begin_ns;
	size_t i;

	if (flow->interval_count)
		qsort(flow->intervals, flow->interval_count, sizeof(*flow->intervals), compare_intervals);
	for (i = 0; i < flow->interval_count; i++) {
		begin_ns = flow->intervals[i].begin_ns > until_ns ? flow->intervals[i].begin_ns : until_ns;
		if (flow->intervals[i].end_ns <= begin_ns)
			continue;
		flow->busy_ns += flow->intervals[i].end_ns - begin_ns;
		until_ns = flow->intervals[i].end_ns;
	}
	free(flow->intervals);
	flow->intervals = NULL;
}

static void clients_add(struct bandwidth_clients *clients, const struct bandwidth_flow *flow)
{
	double own = bandwidth_of_client(flow);

	clients->count += flow->span.count > 0;
	if (!flow->span.count || isnan(own))
		return;
	clients->min = clients->known ? fmin(clients->min, own) : own;
	clients->max = clients->known ? fmax(clients->max, own) : own;
	clients->known++;
	clients->mean += (own - clients->mean) / (double)clients->known;
}

static void clients_finish(struct bandwidth *b)
{
	struct bandwidth_client *client, *next;
	u32 i;

	HASH_ITER (hh, b->clients, client, next) {
		for (i = 0; i < BANDWIDTH_DIRECTIONS; i++) {
			flow_finish(&client->flows[i]);
			clients_add(&b->of_clients[i], &client->flows[i]);
		}
	}
	for (i = 0; i < BANDWIDTH_DIRECTIONS; i++)
		if (!b->of_clients[i].known)
			b->of_clients[i].mean = b->of_clients[i].min = b->of_clients[i].max = NAN;
}

/**
 * bandwidth_read() - the bandwidths of the selected operations of a trace
 * @path: of the trace
 * @bandwidth: in: @selection, which is open, all else zero; out: the rest; to be freed by bandwidth_free(), also after an error
 * @reject: filled in if the trace is refused, such as one of counters
 *
 * Return: 0 or a negative errno.
 */
int bandwidth_read(const char *path, struct bandwidth *bandwidth, struct iot_reject *reject)
{
	struct iot_trace_info info;
	int err = actors_read(path, &bandwidth->actors, reject);

	if (!err)
		err = request_pairs_open(&bandwidth->requests, sizeof(struct pending));
	if (!err)
		err = selection_walk(&bandwidth->selection, &bandwidth->actors, path, take_record, bandwidth, &info, reject);
	request_pairs_close(bandwidth->requests);
	bandwidth->requests = NULL;
	clients_finish(bandwidth);
	if (!err)
		iot_omissions_finish(&bandwidth->omissions, &info);
	return err;
}

/**
 * bandwidth_free() - free the result of bandwidth_read()
 */
void bandwidth_free(struct bandwidth *bandwidth)
{
	struct bandwidth_client *client, *next;
	struct bandwidth_size *size, *next_size;

	HASH_ITER (hh, bandwidth->clients, client, next) {
		HASH_DEL(bandwidth->clients, client);
		free(client->name);
		free(client);
	}
	HASH_ITER (hh, bandwidth->sizes, size, next_size) {
		HASH_DEL(bandwidth->sizes, size);
		free(size);
	}
	actors_free(&bandwidth->actors);
}
