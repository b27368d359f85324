// SPDX-License-Identifier: GPL-2.0-only
/*
 * collector.c - one collection from beginning to end.
 */
#include <errno.h>
#include <iotape/control.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collectord.h"
#include "describe.h"
#include "flight.h"
#include "receiver.h"
#include "sink.h"
#include "sink_files.h"

#define QUEUE_MESSAGES_MAX 2048 /* 64 MiB */
#define TICK_MS		   200
#define CLOCK_EVERY_NS	   5000000000ull

/* Where the records go: one of both. */
struct output {
	struct sink *sink;
	struct flight *flight;
};

/* The recorder decides on the effect of a Ctrl-C; the collection continues to its end. */
static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
}

/* When periodic work was done last; of the monotonic clock. */
struct ticks {
	u64 last_ns;
	u64 clock_ns;
	u64 sync_ns;
	u64 turn_ns; /* the next turn of the counters; 0 before the first tick */
};

/* A turn that is late is one turn, and the next one is not earlier for it. */
static int turn(const struct output *output, const struct collector_options *options, struct ticks *ticks, u64 now_ns)
{
	if (sink_files_are_turning(output->sink) || (ticks->turn_ns && now_ns < ticks->turn_ns))
		return 0;
	if (!ticks->turn_ns) {
		ticks->turn_ns = now_ns + options->interval_ns;
		return 0;
	}
	ticks->turn_ns += ((now_ns - ticks->turn_ns) / options->interval_ns + 1) * options->interval_ns;
	return sink_turn(output->sink, options->session_fd);
}

/* Counters are small, and pairs of clock readings come with them: others would be most of the trace. */
static int clock_tick(const struct output *output, const struct collector_options *options, struct ticks *ticks, u64 now_ns)
{
	if (options->interval_ns)
		return turn(output, options, ticks, now_ns);
	if (now_ns - ticks->clock_ns < CLOCK_EVERY_NS)
		return 0;
	ticks->clock_ns = now_ns;
	return output->flight ? flight_clock(output->flight) : sink_clock(output->sink);
}

/* Periodic work, however many messages come. */
static int tick(const struct output *output, const struct collector_options *options, struct ticks *ticks)
{
	u64 now_ns = iot_clock_ns(CLOCK_MONOTONIC);
	int err;

	if (now_ns - ticks->last_ns < TICK_MS * 1000000ull)
		return 0;
	if (!ticks->last_ns)
		ticks->clock_ns = now_ns;
	ticks->last_ns = now_ns;
	err = clock_tick(output, options, ticks, now_ns);
	if (!err && output->sink)
		err = sink_files_tick(output->sink, now_ns);
	if (err || output->flight)
		return err;
	if (!options->sync_ns || now_ns - ticks->sync_ns < options->sync_ns)
		return sink_flush(output->sink, false);
	ticks->sync_ns = now_ns;
	return sink_sync(output->sink);
}

/* A failed dump is not a reason to end the recording, unlike a trace that cannot be written. */
static int act(const struct output *output, int session_fd, u32 verb, struct iot_done *done)
{
	int err = 0;

	done->err = -EOPNOTSUPP;
	if (verb == IOT_CTL_FLUSH && output->sink) {
		done->err = err = sink_sync(output->sink);
	} else if (verb == IOT_CTL_DUMP && output->flight) {
		done->err = flight_dump(output->flight, "a request");
	} else if (verb == IOT_CTL_COUNTERS && output->sink && sink_has_counters(output->sink)) {
		err = sink_turn(output->sink, session_fd);
		done->err = err = err ? err : sink_sync(output->sink);
	} else if (verb == IOT_CTL_FILTER && output->sink) {
		done->err = 0;
		sink_expect_filter(output->sink);
	}
	return err;
}

/* Return: 0, or why the trace could not be written. */
static int next_file(const struct output *output, const struct collector_options *options, u64 mark)
{
	struct collector_options next = *options;
	int state = sink_files_mark(output->sink, mark);

	if (state > 0) {
		next.path = sink_files_path(output->sink);
		session_describe(&next, NULL);
	}
	return state < 0 ? state : 0;
}

/* Execute a request of `iotape ctl` at this position of the stream. Return: 0, or why the trace could not be written. */
static int answer(const struct output *output, const struct collector_options *options, const struct receiver *receiver,
		  const struct iot_message_mark *mark)
{
	struct iot_done done = { .number = le64_to_cpu(mark->number) };
	int err = output->sink ? next_file(output, options, done.number) : 0;

	if (err || le32_to_cpu(mark->verb) == IOT_CTL_MARK) /* nobody waits for it */
		return err;
	if (le32_to_cpu(mark->verb) == IOT_CTL_BUFFERS) { /* answered by the kernel */
		receiver_resize(receiver->socket, le32_to_cpu(mark->value));
		return 0;
	}
	err = act(output, options->session_fd, le32_to_cpu(mark->verb), &done);
	ioctl(options->session_fd, IOT_IOC_DONE, &done); /* if it fails, no change waits any more */
	return err;
}

static void output_result(const struct output *output, struct collector_result *result)
{
	if (output->flight)
		flight_result(output->flight, result);
	else
		sink_result(output->sink, result);
}

static const char *reason_of(const struct output *output, const struct collector_options *options,
			     const struct message *message)
{
	struct collector_result result;

	output_result(output, &result);
	if (message->reason[0] || !result.is_stopped || options->may_stop)
		return message->reason;
	return "stopped by iotape ctl before the command had ended";
}

/* Return: 1; or why the trace could not be written. */
static int conclude(const struct output *output, const struct collector_options *options, const struct message *message)
{
	const char *reason = reason_of(output, options, message);
	int err = 0;

	if (output->flight)
		flight_end(output->flight, &message->end, reason);
	else
		err = sink_files_end(output->sink);
	if (!err && output->sink)
		err = sink_counters(output->sink, options->session_fd);
	if (!err && output->sink)
		err = sink_conclude(output->sink, options->last_fact, &message->end, reason);
	return err ? err : 1;
}

/* Return: 1 if nothing follows, 0 to continue, or why it cannot continue. */
static int take(const struct output *output, const struct collector_options *options, const struct receiver *receiver,
		const struct message *message)
{
	switch (message->kind) {
	case MESSAGE_RECORDS:
		return output->flight ? flight_message(output->flight, message) : sink_message(output->sink, message);
	case MESSAGE_MARK:
		return answer(output, options, receiver, &message->mark);
	case MESSAGE_END:
		return conclude(output, options, message);
	default:
		return message->error;
	}
}

/* Return: 0 after the end, or why the trace could not be written or received. */
static int collect(const struct output *output, const struct collector_options *options, const struct receiver *receiver,
		   struct queue *queue)
{
	struct ticks ticks = {};
	struct message *message;
	int state = 0;

	while (!state) {
		message = queue_get(queue, TICK_MS);
		if (message)
			state = take(output, options, receiver, message);
		free(message);
		if (!state)
			state = tick(output, options, &ticks);
	}
	return state < 0 ? state : 0;
}

/*
 * Something failed: the kernel must not wait for us, so the session ends first (by
 * closing its socket); then the receiver has nothing to wait for either.
 */
static void abandon(struct receiver *receiver, struct queue *queue)
{
	struct message *message;

	receiver->is_ended = true;
	close(receiver->session_fd);
	pthread_cancel(receiver->thread);
	while ((message = queue_get(queue, 0)))
		free(message);
}

static int run_threads(const struct collector_options *options, struct receiver *receiver,
		       const struct output *output, struct queue *queue)
{
	int err = receiver_start(receiver);

	if (err)
		return err;
	/* If the reader has exited, `control` has ended, too, and that ends the session. */
	if (options->ready_fd >= 0 && write(options->ready_fd, "", 1) != 1 && errno != EPIPE)
		err = -errno;
	if (!err)
		err = collect(output, options, receiver, queue);
	if (err)
		abandon(receiver, queue);
	receiver_join(receiver);
	return err;
}

static int output_open(struct output *output, const struct collector_options *options)
{
	int err;

	*output = (struct output){};
	if (options->flight)
		return flight_open(options, &output->flight);
	err = options->rotation ? sink_files_open(options, &output->sink) :
				  sink_open(options->path, options->stream_fd, &output->sink);
	if (!err && options->syncs_at_end)
		sink_sync_at_end(output->sink);
	return err ? err : sink_describe(output->sink, options);
}

static void output_close(struct output *output)
{
	sink_close(output->sink);
	flight_close(output->flight);
}

static int run_session(const struct collector_options *options, struct collector_result *result)
{
	struct receiver receiver;
	struct output output;
	struct queue queue;
	int err;

	ignore_signals();
	*result = (struct collector_result){};
	err = output_open(&output, options);
	if (!err)
		err = queue_init(&queue, QUEUE_MESSAGES_MAX);
	if (err)
		goto err_output;
	err = receiver_open(&receiver, options->session_fd, options->control_fd, options->buffers,
			    &queue);
	if (err)
		goto err_receiver;
	err = run_threads(options, &receiver, &output, &queue);
	output_result(&output, result);
	if (options->last_fact)
		snprintf(result->last_fact, sizeof(result->last_fact), "%s", options->last_fact);
	receiver_close(&receiver);
err_receiver:
	queue_exit(&queue);
err_output:
	output_close(&output);
	return err;
}

/**
 * collector_run() - collect a session into a trace
 * @options: the session and the trace
 * @result: filled in, also after an error, as far as the collection came
 *
 * Return: 0 or a negative errno; -ECONNRESET if the reader of a stream has disconnected. After an error the records in the
 * file are readable.
 */
int collector_run(const struct collector_options *options, struct collector_result *result)
{
	int err = run_session(options, result);

	/* -EPIPE stands for a collector that was killed. */
	return err == -EPIPE && options->stream_fd ? -ECONNRESET : err;
}
