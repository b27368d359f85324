// SPDX-License-Identifier: GPL-2.0-only
/*
 * collector.c - one collection from beginning to end.
 */
#include <errno.h>
#include <iotape/control.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "collectord.h"
#include "receiver.h"
#include "sink.h"

#define QUEUE_MESSAGES_MAX 2048 /* 64 MiB */
#define TICK_MS		   200
#define CLOCK_EVERY_TICKS  25

/* The recorder decides on the effect of a Ctrl-C; the collection goes on to its end. */
static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

/* Periodic work, however many messages come. */
static int tick(struct sink *sink, struct timespec *last, unsigned int *ticks)
{
	struct timespec now;
	long passed_ms;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &now);
	passed_ms = (now.tv_sec - last->tv_sec) * 1000 + (now.tv_nsec - last->tv_nsec) / 1000000;
	if (passed_ms < TICK_MS)
		return 0;
	*last = now;
	err = ++*ticks % CLOCK_EVERY_TICKS ? 0 : sink_clock(sink);
	return err ? err : sink_flush(sink, false);
}

/* Do what `iotape ctl` wants at this place of the stream. Return: 0, or why the trace could not be written. */
static int answer(struct sink *sink, const struct collector_options *options, const struct receiver *receiver,
		  const struct iot_message_mark *mark)
{
	struct iot_done done = { .number = le64_to_cpu(mark->number) };
	int err = 0;

	switch (le32_to_cpu(mark->verb)) {
	case IOT_CTL_BUFFERS: /* answered by the kernel */
		receiver_resize(receiver->socket, le32_to_cpu(mark->value));
		return 0;
	case IOT_CTL_FLUSH:
		err = sink_sync(sink);
		done.err = err;
		break;
	default:
		done.err = -EOPNOTSUPP;
	}
	ioctl(options->session_fd, IOT_IOC_DONE, &done); /* if it fails, no change waits any more */
	return err;
}

static const char *reason_of(const struct sink *sink, const struct collector_options *options,
			     const struct message *message)
{
	struct collector_result result;

	sink_result(sink, &result);
	if (message->reason[0] || !result.is_stopped || options->may_stop)
		return message->reason;
	return "stopped by iotape ctl before the command had ended";
}

/* Return: 1 if nothing follows, 0 to go on, or why it cannot go on. */
static int take(struct sink *sink, const struct collector_options *options, const struct receiver *receiver,
		const struct message *message)
{
	int err;

	switch (message->kind) {
	case MESSAGE_RECORDS:
		return sink_message(sink, message);
	case MESSAGE_MARK:
		return answer(sink, options, receiver, &message->mark);
	case MESSAGE_END:
		err = sink_conclude(sink, options->last_fact, &message->end, reason_of(sink, options, message));
		return err ? err : 1;
	default:
		return message->error;
	}
}

/* Return: 0 after the end, or why the trace could not be written or received. */
static int collect(struct sink *sink, const struct collector_options *options, const struct receiver *receiver,
		   struct queue *queue)
{
	struct timespec last_tick = {};
	unsigned int ticks = 0;
	struct message *message;
	int state = 0;

	while (!state) {
		message = queue_get(queue, TICK_MS);
		if (message)
			state = take(sink, options, receiver, message);
		free(message);
		if (!state)
			state = tick(sink, &last_tick, &ticks);
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
		       struct sink *sink, struct queue *queue)
{
	int err = receiver_start(receiver);

	if (err)
		return err;
	/* If the reader is gone, `control` has ended, too, and that ends the session. */
	if (options->ready_fd >= 0 && write(options->ready_fd, "", 1) != 1 && errno != EPIPE)
		err = -errno;
	if (!err)
		err = collect(sink, options, receiver, queue);
	if (err)
		abandon(receiver, queue);
	receiver_join(receiver);
	return err;
}

static int run_session(const struct collector_options *options, struct collector_result *result)
{
	struct receiver receiver;
	struct queue queue;
	struct sink *sink;
	int err;

	ignore_signals();
	*result = (struct collector_result){};
	err = sink_open(options->path, options->stream_fd, &sink);
	if (err)
		return err;
	err = sink_describe(sink, options);
	if (err)
		goto err_sink;
	err = queue_init(&queue, QUEUE_MESSAGES_MAX);
	if (err)
		goto err_sink;
	err = receiver_open(&receiver, options->session_fd, options->control_fd, options->buffers,
			    &queue);
	if (err)
		goto err_receiver;
	err = run_threads(options, &receiver, sink, &queue);
	sink_result(sink, result);
	if (options->last_fact)
		snprintf(result->last_fact, sizeof(result->last_fact), "%s", options->last_fact);
	receiver_close(&receiver);
err_receiver:
	queue_exit(&queue);
err_sink:
	sink_close(sink);
	return err;
}

/**
 * collector_run() - collect a session into a trace
 * @options: the session and the trace
 * @result: filled in, also after an error, as far as the collection came
 *
 * Return: 0 or a negative errno; -ECONNRESET if the reader of a stream has gone. After an error the records in the
 * file are readable.
 */
int collector_run(const struct collector_options *options, struct collector_result *result)
{
	int err = run_session(options, result);

	/* -EPIPE stands for a collector that was killed. */
	return err == -EPIPE && options->stream_fd ? -ECONNRESET : err;
}
