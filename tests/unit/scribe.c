// SPDX-License-Identifier: GPL-2.0-only
#include <sys/stat.h>

#include "scratch.h"
#include "scribe.h"
#include "suite.h"

void scribe_put(struct scribe *s, struct iot_record record, const char *tail)
{
	s->now_ns += 1000;
	if (iot_kind_is_span(iot_kind_info(record.kind))) {
		record.op.enter_ns = s->now_ns - s->span_ns;
		record.op.duration_ns = s->span_ns;
		record.op.task = s->task;
		record.op.op = ++s->op;
	} else {
		record.fact.time_ns = s->now_ns; /* the first field of all records */
	}
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)(tail ? strlen(tail) : 0);
	assert_int_equal(iot_writer_record(s->writer, &record), 0);
}

void scribe_begin(struct scribe *s)
{
	static const unsigned char capture[16] = "scribe";

	*s = (struct scribe){ .now_ns = 1000000, .span_ns = 500, .task = 1 };
	assert_int_equal(iot_writer_open(scratch_trace, capture, &s->writer), 0);
	PUT(name, .name = SCRIBE_DIR);
	PUT(object, .object = SCRIBE_DIR, .name = SCRIBE_DIR, .type = IOT_TYPE_dir,
	    .mode = S_IFDIR | 0755, .ino = 99);
	PUT(task, .task = 1, .pid = 1, .tgid = 1, .why = IOT_REASON_seen);
	PUT(task, .task = 2, .pid = 2, .tgid = 2, .why = IOT_REASON_seen);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name,
					   .name = { .name = SCRIBE_NAME, .dir = SCRIBE_DIR } }, "a");
	PUT(object, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .type = IOT_TYPE_file,
	    .mode = S_IFREG | 0644, .ino = 100, .nlink = 1, .size_bytes = 8192);
}

void scribe_finish(struct scribe *s)
{
	PUT(end, .records = 1);
	assert_int_equal(iot_writer_finish(s->writer), 0);
	iot_writer_close(s->writer);
}
