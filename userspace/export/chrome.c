// SPDX-License-Identifier: GPL-2.0-only
/*
 * chrome.c - trace events in JSON, as Chrome's about:tracing and Perfetto read them.
 *
 * Source of the format: "Trace Event Format", document 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU of docs.google.com.
 * An operation is a complete event (X) of its thread; an asynchronous request is a pair of async events (b, e), because
 * requests of one thread overlap. Times are in microseconds, with three decimals.
 */
#include <string.h>

#include "format.h"

/* Ids of processes of different nodes are kept apart. */
#define NODE_PIDS 10000000ull

/* A byte that is not part of valid UTF-8 becomes a character from U+DC80 on, as elsewhere in JSON of iotape. */
static void put_string(FILE *out, const char *text, size_t count)
{
	const u8 *p = (const u8 *)text;
	u32 c;
	size_t n;

	fputc('"', out);
	for (; count; p += n, count -= n) {
		n = iot_text_utf8(p, count, &c);
		if (!n) {
			fprintf(out, "\\udc%02x", *p);
			n = 1;
		} else if (c == '"' || c == '\\') {
			fprintf(out, "\\%c", *p);
		} else if (c < ' ' || c == 0x7f) {
			fprintf(out, "\\u%04x", c);
		} else {
			fwrite(p, 1, n, out);
		}
	}
	fputc('"', out);
}

static u64 pid_of(const struct export *x, const struct actor *actor, u32 pid)
{
	u64 node = actor && actor->node != ACTOR_UNKNOWN && x->actors.node_count > 1 ? actor->node + 1 : 0;

	return node * NODE_PIDS + pid;
}

static void put_time(FILE *out, const char *key, u64 ns)
{
	fprintf(out, ",\"%s\":%llu.%03llu", key, ns / 1000, ns % 1000);
}

/* Names of threads and processes. A process has a record for each of its tasks, of which readers use the last. */
static void put_names(struct export *x, const struct actor *actor)
{
	char name[256];
	size_t at;

	if (!actor->pid)
		return;
	at = (size_t)snprintf(name, sizeof(name), "%s", actor->command);
	if (actor->rank != ACTOR_UNKNOWN)
		at += (size_t)snprintf(name + at, sizeof(name) - at, " rank %u", actor->rank);
	if (actor->node != ACTOR_UNKNOWN && at < sizeof(name))
		snprintf(name + at, sizeof(name) - at, " on %s", x->actors.nodes[actor->node]);
	fprintf(x->out, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%llu,\"args\":{\"name\":",
		pid_of(x, actor, actor->tgid));
	put_string(x->out, name, strlen(name));
	fprintf(x->out, "}},\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%llu,\"tid\":%llu,\"args\":{\"name\":",
		pid_of(x, actor, actor->tgid), pid_of(x, actor, actor->pid));
	put_string(x->out, actor->command, strlen(actor->command));
	fputs("}}", x->out);
}

static int begin(struct export *x)
{
	const struct actor *actor;

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"iotape " IOTAPE_VERSION "\"},\"traceEvents\":[\n"
	      "{\"ph\":\"M\",\"name\":\"trace\",\"pid\":0,\"args\":{}}", x->out);
	for (actor = x->actors.tasks; actor; actor = actor->hh.next)
		put_names(x, actor);
	return 0;
}

static bool is_shown_elsewhere(const char *name)
{
	return !strcmp(name, "enter_ns") || !strcmp(name, "duration_ns") || !strcmp(name, "result") ||
	       !strcmp(name, "name") || !strcmp(name, "object");
}

static void put_args(struct export *x, const struct export_event *e)
{
	char text[1024];
	u32 i;

	fprintf(x->out, ",\"args\":{\"result\":%lld", e->result);
	if (*e->path) {
		fputs(",\"path\":", x->out);
		put_string(x->out, e->path, strlen(e->path));
	}
	for (i = 0; i < e->info->field_count; i++) {
		const struct iot_field *field = &e->info->fields[i];

		if (is_shown_elsewhere(field->name))
			continue;
		iot_text_field(text, sizeof(text), e->record, field);
		fprintf(x->out, ",\"%s\":", field->name);
		put_string(x->out, text, strlen(text));
	}
	fputs("}}", x->out);
}

static void put_event(struct export *x, const struct export_event *e, char phase, u64 ns)
{
	fprintf(x->out, ",\n{\"ph\":\"%c\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%llu,\"tid\":%llu", phase, e->info->name,
		iot_group_name(e->info->group), pid_of(x, e->actor, export_pid(e)), pid_of(x, e->actor, export_tid(e)));
	put_time(x->out, "ts", ns);
	if (phase == 'X')
		put_time(x->out, "dur", e->duration_ns);
	else
		fprintf(x->out, ",\"id\":\"%llu\"", e->record->submit.request);
}

static int take(struct export *x, const struct export_event *e)
{
	if (e->info->kind != IOT_KIND_submit) {
		put_event(x, e, 'X', e->begin_ns);
		put_args(x, e);
		return 0;
	}
	put_event(x, e, 'b', e->begin_ns);
	put_args(x, e);
	put_event(x, e, 'e', e->begin_ns + e->duration_ns);
	fputc('}', x->out);
	return 0;
}

static int end(struct export *x)
{
	fputs("\n]}\n", x->out);
	return 0;
}

const struct export_format export_format_chrome = {
	.name = "chrome",
	.sentence = "JSON for Perfetto and Chrome's about:tracing",
	.has_requests = true,
	.begin = begin,
	.take = take,
	.end = end,
};
