// SPDX-License-Identifier: GPL-2.0-only
/*
 * collector.c - a trace states why its recording ended.
 *
 * Fakes replace the connection to the kernel: the collector waits until it gets the request to end; then
 * the kernel reports the end of the records.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectord/collectord.h"
#include "collectord/sink.h"
#include "lib/iotape.h"
#include "scratch.h"
#include "suite.h"

static int collected[2]; /* a pipe that is closed when the collector ends */

int collector_run(const struct collector_options *options, struct collector_result *result)
{
	struct iot_message_end end = {};
	struct sink *sink;
	int err = sink_open(options->path, options->stream_fd, &sink);

	if (err || write(options->ready_fd, "", 1) != 1)
		return err ? err : -EIO;
	err = sink_conclude(sink, options->last_fact, &end, collector_reason(options->control_fd));
	sink_result(sink, result);
	sink_close(sink);
	return err;
}

/* A recorder that starts a collector, and then dies or ends the recording. */
static void record(bool dies)
{
	struct collector_options options = { .path = scratch_trace };
	struct collector_result result;
	struct collector collector;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(collected), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (collector_start(&collector, &options))
			_exit(1);
		if (dies)
			raise(SIGKILL);
		collector_finish(&collector, &result);
		_exit(result.err != 0);
	}
	close(collected[1]);
	assert_int_equal(read(collected[0], &byte, 1), 0);
	close(collected[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The tail of the record `end`, and the fact `partial`. */
struct said {
	char why[128];
	char partial[128];
	bool is_complete;
};

static struct said read_trace(void)
{
	struct said said = {};
	struct iot_trace_info info;
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_record record;

	assert_int_equal(iot_reader_open(scratch_trace, &reader, &reject), 0);
	while (iot_reader_next(reader, &record, &reject) > 0) {
		if (record.kind == IOT_KIND_end)
			memcpy(said.why, record.tail, record.tail_bytes);
		if (record.kind == IOT_KIND_fact && !strncmp((const char *)record.tail, "partial=", 8))
			memcpy(said.partial, record.tail + 8, record.tail_bytes - 8u);
	}
	iot_reader_info(reader, &info);
	said.is_complete = info.is_complete;
	iot_reader_close(reader);
	return said;
}

static void regular_end_has_no_reason(void **state)
{
	struct said said;

	(void)state;
	record(false);
	said = read_trace();
	assert_true(said.is_complete);
	assert_string_equal(said.why, "");
	assert_string_equal(said.partial, "");
}

static void killed_recorder_is_the_reason(void **state)
{
	struct said said;

	(void)state;
	record(true);
	said = read_trace();
	assert_true(said.is_complete);
	assert_string_equal(said.why, "iotape record was killed, which ended the recording");
	assert_string_equal(said.partial, said.why);
}

/* The output to a pipe is an ordinary trace; a reader that has left is an error without further effect. */
static void whole_trace_is_written_to_a_pipe(void **state)
{
	struct collector_result result;
	struct iot_message_end end = {};
	struct sink *sink;
	int fds[2], file;
	char bytes[65536];
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(sink_open("-", fds[1], &sink), 0);
	assert_int_equal(sink_conclude(sink, NULL, &end, ""), 0);
	sink_result(sink, &result);
	sink_close(sink);
	file = open(scratch_trace, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(file >= 0);
	while ((n = read(fds[0], bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(file, bytes, (size_t)n), n);
	close(file);
	close(fds[0]);
	assert_true(read_trace().is_complete);

	assert_int_equal(pipe(fds), 0);
	assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	assert_int_equal(sink_open("-", fds[1], &sink), 0);
	close(fds[0]);
	assert_int_equal(sink_conclude(sink, NULL, &end, ""), -EPIPE);
	sink_close(sink);
}

/* Return: the facts of the trace about filters, a word each. */
static void read_filter_facts(char *text, size_t room)
{
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_record record;
	size_t at = 0;

	text[0] = 0;
	assert_int_equal(iot_reader_open(scratch_trace, &reader, &reject), 0);
	while (iot_reader_next(reader, &record, &reject) > 0)
		if (record.kind == IOT_KIND_fact && memmem(record.tail, record.tail_bytes, "filtered", 8) && at < room)
			at += (size_t)snprintf(text + at, room - at, "%.*s;", record.tail_bytes, (const char *)record.tail);
	iot_reader_close(reader);
}

/* The kernel sends the number in any case, and a trace without a filter does not state it. */
static void excluded_operations_are_stated_after_a_change_of_the_filter(void **state)
{
	struct iot_message_end end = { .refused = cpu_to_le64(3) };
	struct sink *sink;
	char text[256];
	int changes;

	(void)state;
	end.refused_of[IOT_KIND_write - IOT_REFUSED_FIRST] = cpu_to_le64(3);
	for (changes = 0; changes < 2; changes++) {
		assert_int_equal(sink_open(scratch_trace, 0, &sink), 0);
		if (changes)
			sink_expect_filter(sink);
		assert_int_equal(sink_conclude(sink, NULL, &end, ""), 0);
		sink_close(sink);
		read_filter_facts(text, sizeof(text));
		assert_string_equal(text, changes ? "omission.filtered=3 ? ?;filtered.write=3;" : "");
	}
}

SUITE("collector", WITH_SCRATCH(excluded_operations_are_stated_after_a_change_of_the_filter)
      WITH_SCRATCH(whole_trace_is_written_to_a_pipe)
      WITH_SCRATCH(regular_end_has_no_reason)
      WITH_SCRATCH(killed_recorder_is_the_reason))
