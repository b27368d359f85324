// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfetto.c - a trace of Perfetto, in protocol buffers.
 *
 * Source of the format: "Encoding" of protobuf.dev, and the messages Trace, TracePacket, TrackDescriptor, TrackEvent,
 * DebugAnnotation and ClockSnapshot of Perfetto's documentation. A message is a sequence of fields: a key, which is
 * the number of the field times 8 plus a wire type, and a value: a varint (type 0), or a length and that many bytes
 * (type 2), which are a text or another message. A trace is a sequence of packets.
 *
 * Each line of time is a track: that of a thread, and further ones for requests that overlap. An operation is a slice,
 * with a beginning and an end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spans.h"

/* Numbers of fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK_DESCRIPTOR = 60,
	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	ANNOTATION_INT = 4,
	ANNOTATION_TEXT = 6,
	ANNOTATION_NAME = 10,
};

enum {
	CLOCK_REALTIME_ID = 1,
	CLOCK_BOOTTIME_ID = 6, /* that of packets that name none */
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	SEQUENCE = 1,
};

/* A message that is being written; its length stands before it, so it is kept until it is complete. */
struct message {
	u8 *bytes;
	size_t count;
	size_t room;
	bool is_lost; /* no memory */
};

/* A process whose track was described. */
struct described {
	UT_hash_handle hh;
	u64 process;
};

struct perfetto {
	struct message packet;
	struct message inner;
	struct message innermost;
	struct described *described;
};

/* -- protocol buffers ----------------------------------------------------------------------------------- */

static void put_bytes(struct message *m, const void *bytes, size_t count)
{
	if (m->count + count > m->room) {
		size_t room = 2 * (m->count + count);
		u8 *larger = realloc(m->bytes, room);

		if (!larger) {
			m->is_lost = true;
			return;
		}
		m->bytes = larger;
		m->room = room;
	}
	if (count)
		memcpy(m->bytes + m->count, bytes, count);
	m->count += count;
}

/* Seven bits in each byte, the lowest first; the highest bit of a byte means that another byte follows. */
static void put_varint(struct message *m, u64 value)
{
	u8 byte;

	do {
		byte = value & 0x7f;
		value >>= 7;
		byte |= value ? 0x80 : 0;
		put_bytes(m, &byte, 1);
	} while (value);
}

static void put_number(struct message *m, u32 field, u64 value)
{
	put_varint(m, field << 3);
	put_varint(m, value);
}

static void put_block(struct message *m, u32 field, const void *bytes, size_t count)
{
	put_varint(m, field << 3 | 2);
	put_varint(m, count);
	put_bytes(m, bytes, count);
}

/* Texts are UTF-8; a byte that is not becomes a replacement character. */
static void put_text(struct message *m, u32 field, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const u8 *p = (const u8 *)text;
	size_t count = strlen(text), at = 0, n;
	char *clean = malloc(3 * count + 1);
	u32 c;

	if (!clean) {
		m->is_lost = true;
		return;
	}
	for (; count; p += n, count -= n) {
		n = iot_text_utf8(p, count, &c);
		if (n) {
			memcpy(clean + at, p, n);
			at += n;
		} else {
			memcpy(clean + at, replacement, 3);
			at += 3;
			n = 1;
		}
	}
	put_block(m, field, clean, at);
	free(clean);
}

/* @inner becomes a field of @m, and is empty again. */
static void put_message(struct message *m, u32 field, struct message *inner)
{
	put_block(m, field, inner->bytes, inner->count);
	m->is_lost |= inner->is_lost;
	inner->count = 0;
}

/* -- packets -------------------------------------------------------------------------------------------- */

static int packet_put(struct export *x, struct perfetto *p)
{
	struct message head = {};
	int err = p->packet.is_lost ? -ENOMEM : 0;

	put_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	put_varint(&head, TRACE_PACKET << 3 | 2);
	put_varint(&head, p->packet.count);
	if (head.is_lost || p->packet.is_lost)
		err = -ENOMEM;
	if (!err) {
		fwrite(head.bytes, 1, head.count, x->out);
		fwrite(p->packet.bytes, 1, p->packet.count, x->out);
	}
	p->packet.count = 0;
	free(head.bytes);
	return err;
}

static u64 uuid_of_process(const struct span_line *line)
{
	return (line->process + 1) << 1;
}

static u64 uuid_of_line(const struct span_line *line)
{
	return (u64)line->number << 1 | 1;
}

/* The name of a process, with its rank and node. */
static void name_process(const struct export *x, const struct span_line *line, char *name, size_t room)
{
	const struct actor *actor = line->actor;
	size_t at;

	if (!actor) {
		snprintf(name, room, "task %u", line->task);
		return;
	}
	at = (size_t)snprintf(name, room, "%s", actor->command);
	if (actor->rank != ACTOR_UNKNOWN && at < room)
		at += (size_t)snprintf(name + at, room - at, " rank %u", actor->rank);
	if (actor->node != ACTOR_UNKNOWN && at < room)
		snprintf(name + at, room - at, " on %s", x->actors.nodes[actor->node]);
}

static int describe_process(struct export *x, const struct span_line *line)
{
	struct perfetto *p = x->context;
	struct described *described;
	char name[256];

	HASH_FIND(hh, p->described, &line->process, sizeof(line->process), described);
	if (described)
		return 0;
	described = calloc(1, sizeof(*described));
	if (!described)
		return -ENOMEM;
	described->process = line->process;
	HASH_ADD(hh, p->described, process, sizeof(described->process), described);
	name_process(x, line, name, sizeof(name));
	put_number(&p->inner, TRACK_UUID, uuid_of_process(line));
	put_number(&p->innermost, PROCESS_PID, line->actor && line->actor->tgid ? line->actor->tgid : line->task);
	put_text(&p->innermost, PROCESS_NAME, name);
	put_message(&p->inner, TRACK_PROCESS, &p->innermost);
	put_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->inner);
	return packet_put(x, p);
}

/* A task is a thread; requests, which overlap, are on tracks of the process without a thread. */
static int take_line(struct export *x, const struct span_line *line)
{
	struct perfetto *p = x->context;
	int err = describe_process(x, line);
	char name[96];

	if (err)
		return err;
	snprintf(name, sizeof(name), "%s", line->actor ? line->actor->command : "");
	put_number(&p->inner, TRACK_UUID, uuid_of_line(line));
	put_number(&p->inner, TRACK_PARENT, uuid_of_process(line));
	if (line->lane) {
		snprintf(name, sizeof(name), "requests of task %u, %u", line->task, line->lane);
		put_text(&p->inner, TRACK_NAME, name);
	} else {
		put_number(&p->innermost, THREAD_PID, line->actor && line->actor->tgid ? line->actor->tgid : line->task);
		put_number(&p->innermost, THREAD_TID, line->actor && line->actor->pid ? line->actor->pid : line->task);
		put_text(&p->innermost, THREAD_NAME, name);
		put_message(&p->inner, TRACK_THREAD, &p->innermost);
	}
	put_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->inner);
	return packet_put(x, p);
}

static void annotate_text(struct perfetto *p, const char *name, const char *text)
{
	put_text(&p->innermost, ANNOTATION_NAME, name);
	put_text(&p->innermost, ANNOTATION_TEXT, text);
	put_message(&p->inner, EVENT_ANNOTATION, &p->innermost);
}

static bool is_shown_elsewhere(const char *name)
{
	return !strcmp(name, "enter_ns") || !strcmp(name, "duration_ns") || !strcmp(name, "result") || !strcmp(name, "name") ||
	       !strcmp(name, "object");
}

static void annotate(struct perfetto *p, const struct export_event *e)
{
	char text[1024];
	u32 i;

	put_text(&p->innermost, ANNOTATION_NAME, "result");
	put_number(&p->innermost, ANNOTATION_INT, (u64)e->result);
	put_message(&p->inner, EVENT_ANNOTATION, &p->innermost);
	if (*e->path)
		annotate_text(p, "path", e->path);
	for (i = 0; i < e->info->field_count; i++) {
		if (is_shown_elsewhere(e->info->fields[i].name))
			continue;
		iot_text_field(text, sizeof(text), e->record, &e->info->fields[i]);
		annotate_text(p, e->info->fields[i].name, text);
	}
}

static int put_event(struct export *x, const struct span_line *line, const struct export_event *e, u32 type, u64 time_ns)
{
	struct perfetto *p = x->context;

	put_number(&p->packet, PACKET_TIMESTAMP, time_ns);
	put_number(&p->inner, EVENT_TYPE, type);
	put_number(&p->inner, EVENT_TRACK, uuid_of_line(line));
	if (type == TYPE_BEGIN) {
		put_text(&p->inner, EVENT_CATEGORY, iot_group_name(e->info->group));
		put_text(&p->inner, EVENT_NAME, e->info->name);
		annotate(p, e);
	}
	put_message(&p->packet, PACKET_TRACK_EVENT, &p->inner);
	return packet_put(x, p);
}

static int take_begin(struct export *x, const struct span_line *line, const struct export_event *e)
{
	return put_event(x, line, e, TYPE_BEGIN, e->begin_ns);
}

static int take_end(struct export *x, const struct span_line *line, const struct export_event *e, u64 end_ns)
{
	return put_event(x, line, e, TYPE_END, end_ns);
}

/* -- the trace ------------------------------------------------------------------------------------------ */

static int begin(struct export *x)
{
	x->context = calloc(1, sizeof(struct perfetto));
	return x->context ? 0 : -ENOMEM;
}

/* Time 0 of the packets is the beginning of the trace. */
static int put_clocks(struct export *x)
{
	struct perfetto *p = x->context;
	const struct { u32 id; u64 time_ns; } clocks[] = { { CLOCK_BOOTTIME_ID, 0 }, { CLOCK_REALTIME_ID, x->info.real_ns } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		put_number(&p->innermost, CLOCK_ID, clocks[i].id);
		put_number(&p->innermost, CLOCK_TIMESTAMP, clocks[i].time_ns);
		put_message(&p->inner, SNAPSHOT_CLOCK, &p->innermost);
	}
	put_message(&p->packet, PACKET_CLOCK_SNAPSHOT, &p->inner);
	return packet_put(x, p);
}

static int end(struct export *x)
{
	static const struct span_user user = { .line = take_line, .begin = take_begin, .end = take_end };
	int err = put_clocks(x);

	return err ? err : spans_walk(x, &user);
}

static void perfetto_free(struct export *x)
{
	struct perfetto *p = x->context;
	struct described *described, *next;

	if (!p)
		return;
	HASH_ITER (hh, p->described, described, next) {
		HASH_DEL(p->described, described);
		free(described);
	}
	free(p->packet.bytes);
	free(p->inner.bytes);
	free(p->innermost.bytes);
	free(p);
}

const struct export_format export_format_perfetto = {
	.name = "perfetto",
	.sentence = "a trace for Perfetto",
	.is_ordered = true,
	.has_requests = true,
	.begin = begin,
	.end = end,
	.free = perfetto_free,
};
