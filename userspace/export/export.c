// SPDX-License-Identifier: GPL-2.0-only
/*
 * export.c - reads a trace and passes its events to a format, in the order that the format requires.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

static const struct export_format *const formats[] = {
	&export_format_arrow,
	&export_format_csv,
	&export_format_chrome,
	&export_format_codes,
	&export_format_ctf,
	&export_format_dxt,
	&export_format_fio,
#ifdef IOTAPE_HAS_OTF2
	&export_format_otf2,
#endif
	&export_format_perfetto,
	&export_format_prometheus,
	&export_format_strace,
};

/* A text that many events share. */
struct export_text {
	UT_hash_handle hh;
	char text[];
};

/* Data of a request that has been submitted. */
struct held {
	struct iot_record record;
	const char *path;
	u32 generation;
	bool is_selected;
};

/* -- for formats -------------------------------------------------------------------------------------- */

/**
 * export_format_at() - the name of a format by index
 *
 * Return: the name; NULL after the last.
 */
const char *export_format_at(size_t index)
{
	return index < ARRAY_SIZE(formats) ? formats[index]->name : NULL;
}

/**
 * export_format_lacks() - the package that iotape must be built with for a format
 *
 * Return: a package; NULL if the format is missing for another reason.
 */
const char *export_format_lacks(const char *format)
{
#ifndef IOTAPE_HAS_OTF2
	if (!strcmp(format, "otf2"))
		return "libotf2";
#endif
	(void)format;
	return NULL;
}

/**
 * export_format_sentence() - the purpose of a format, by index
 */
const char *export_format_sentence(size_t index)
{
	return formats[index]->sentence;
}

/**
 * export_is_directory() - is the output of a format a directory?
 * @format: its name
 */
bool export_is_directory(const char *format)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i]->name, format))
			return formats[i]->is_directory;
	return false;
}

/**
 * export_lose() - count an operation that the format cannot express
 * @x: the export
 * @event: the operation
 * @reason: a phrase, a constant
 */
void export_lose(struct export *x, const struct export_event *event, const char *reason)
{
	struct export_summary *s = x->summary;
	u32 i;

	for (i = 0; i < s->loss_count && strcmp(s->losses[i].reason, reason); i++)
		;
	if (i == s->loss_count) {
		if (i == EXPORT_LOSSES_MAX)
			i--; /* counted, with another reason */
		else
			s->losses[s->loss_count++].reason = reason;
	}
	s->losses[i].count++;
	s->losses[i].kinds[event->info->kind]++;
}

/**
 * export_full_path() - a path of the trace as an absolute path
 * @x: the export
 * @path: from the root of the mount
 * @full: buffer
 *
 * Return: @full.
 */
const char *export_full_path(const struct export *x, const char *path, char full[EXPORT_PATH_BYTES])
{
	if (!strcmp(path, "."))
		snprintf(full, EXPORT_PATH_BYTES, "%s", x->summary->root);
	else
		snprintf(full, EXPORT_PATH_BYTES, "%s/%s", x->summary->root, path);
	return full;
}

/**
 * export_pid() - the process id of an event, or, if it is not known, its task
 */
u32 export_pid(const struct export_event *event)
{
	return event->actor && event->actor->tgid ? event->actor->tgid : iot_record_task(event->record);
}

/**
 * export_tid() - the thread id of an event, or, if it is not known, its task
 */
u32 export_tid(const struct export_event *event)
{
	return event->actor && event->actor->pid ? event->actor->pid : iot_record_task(event->record);
}

/**
 * export_has_line_break() - does a path end a line of text?
 */
bool export_has_line_break(const char *path)
{
	return strpbrk(path, "\n\r");
}

/* -- events ------------------------------------------------------------------------------------------- */

/* Return: a text that lives as long as the export; NULL without memory. */
static const char *text_keep(struct export *x, const char *text)
{
	size_t bytes = strlen(text);
	struct export_text *kept;

	HASH_FIND(hh, x->texts, text, bytes, kept);
	if (kept)
		return kept->text;
	kept = malloc(sizeof(*kept) + bytes + 1);
	if (!kept)
		return NULL;
	memcpy(kept->text, text, bytes + 1);
	HASH_ADD_KEYPTR(hh, x->texts, kept->text, bytes, kept);
	return kept->text;
}

static int event_keep(struct export *x, const struct export_event *event)
{
	struct export_kept *kept;

	if (x->kept_count == x->kept_room) {
		size_t room = x->kept_room ? 2 * x->kept_room : 1024;
		struct export_kept *larger = reallocarray(x->kept, room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		x->kept = larger;
		x->kept_room = room;
	}
	kept = &x->kept[x->kept_count];
	*kept = (struct export_kept){
		.record = *event->record, .generation = event->generation, .begin_ns = event->begin_ns,
		.duration_ns = event->duration_ns, .result = event->result, .number = x->kept_count,
	};
	kept->type = event->type;
	kept->path = text_keep(x, event->path);
	kept->name_path = text_keep(x, event->name_path);
	kept->path2 = text_keep(x, event->path2);
	if (event->record->tail_bytes) {
		kept->tail = malloc(event->record->tail_bytes);
		if (kept->tail)
			memcpy(kept->tail, event->record->tail, event->record->tail_bytes);
	}
	if (!kept->path || !kept->name_path || !kept->path2 || (event->record->tail_bytes && !kept->tail))
		return -ENOMEM;
	x->kept_count++;
	return 0;
}

static int event_give(struct export *x, const struct export_event *event)
{
	x->summary->exported++; /* until it is lost */
	return x->format->is_ordered ? event_keep(x, event) : x->format->take(x, event);
}

static int compare_kept(const void *a, const void *b)
{
	const struct export_kept *p = a, *q = b;

	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

/**
 * export_kept_event() - an event that was kept
 * @x: the export
 * @kept: one of its events; the result points into it
 */
struct export_event export_kept_event(const struct export *x, const struct export_kept *kept)
{
	return (struct export_event){
		.record = &kept->record, .info = iot_kind_info(kept->record.kind), .path = kept->path,
		.name_path = kept->name_path, .path2 = kept->path2, .type = kept->type, .generation = kept->generation,
		.actor = actors_find(&x->actors, iot_record_task(&kept->record)), .begin_ns = kept->begin_ns,
		.duration_ns = kept->duration_ns, .result = kept->result,
	};
}

static int kept_give(struct export *x)
{
	size_t i;
	int err = 0;

	if (x->kept_count)
		qsort(x->kept, x->kept_count, sizeof(*x->kept), compare_kept);
	for (i = 0; i < x->kept_count; i++)
		x->kept[i].record.tail = x->kept[i].tail;
	for (i = 0; i < x->kept_count && !err && x->format->take; i++) {
		const struct export_event event = export_kept_event(x, &x->kept[i]);

		err = x->format->take(x, &event);
	}
	return err;
}

static u64 since_start(const struct export *x, u64 ns)
{
	return ns > x->actors.origin_ns ? ns - x->actors.origin_ns : 0;
}

static struct export_event event_of(const struct export *x, const struct iot_record *record, struct iot_label label)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	bool is_span = iot_kind_is_span(info);

	return (struct export_event){
		.record = record,
		.info = info,
		.path = label.path,
		.name_path = "",
		.path2 = "",
		.generation = label.generation,
		.actor = actors_find(&x->actors, iot_record_task(record)),
		.begin_ns = since_start(x, iot_field_get(record, &info->fields[0])),
		.duration_ns = is_span ? record->op.duration_ns : 0,
		.result = is_span ? record->op.result : 0,
	};
}

/* -- asynchronous requests ---------------------------------------------------------------------------- */

static struct held *held_of(struct request_pair *pair)
{
	return (struct held *)pair->context;
}

static int request_end(struct export *x, struct request_pair *pair)
{
	const struct held *held = held_of(pair);
	struct export_event event;
	int err = 0;

	if (held->is_selected) {
		x->pending--;
		event = event_of(x, &held->record, (struct iot_label){ .path = held->path, .generation = held->generation });
		event.duration_ns = request_pair_latency_ns(pair);
		event.result = pair->result;
		err = event_give(x, &event);
	}
	request_pairs_drop(x->requests, pair);
	return err;
}

static int take_submit(struct export *x, const struct iot_record *record, struct iot_label label, bool is_selected)
{
	struct request_pair *pair = request_pairs_submit(x->requests, &record->submit);

	if (!pair)
		return -ENOMEM;
	*held_of(pair) = (struct held){
		.record = *record, .path = text_keep(x, label.path), .generation = label.generation,
		.is_selected = is_selected,
	};
	if (!held_of(pair)->path)
		return -ENOMEM;
	x->pending += is_selected;
	return request_pair_is_whole(pair) ? request_end(x, pair) : 0;
}

static int take_complete(struct export *x, const struct iot_record *record)
{
	struct request_pair *pair = request_pairs_complete(x->requests, &record->complete);

	if (!pair)
		return -ENOMEM;
	return request_pair_is_whole(pair) ? request_end(x, pair) : 0;
}

/* -- the trace ---------------------------------------------------------------------------------------- */

static bool is_event(const struct export *x, const struct iot_kind_info *info)
{
	switch (info->group) {
	case IOT_GROUP_op:
		return true;
	case IOT_GROUP_mpi:
		return iot_kind_is_span(info);
	case IOT_GROUP_life:
		return x->format->has_life && info->kind != IOT_KIND_backpressure && info->kind != IOT_KIND_delayed &&
		       info->kind != IOT_KIND_discovered &&
		       info->kind != IOT_KIND_wake && info->kind != IOT_KIND_freed && info->kind != IOT_KIND_timeout &&
		       info->kind != IOT_KIND_cpu_wait;
	default:
		return info->kind == IOT_KIND_dirent && x->format->has_life;
	}
}

/* The first mount gives its path, unless the caller does. */
static void take_mount(struct export *x, const struct iot_record *r)
{
	if (!x->summary->root[0] && r->tail_bytes && r->tail_bytes < PATH_MAX)
		snprintf(x->summary->root, PATH_MAX, "%.*s", r->tail_bytes, (const char *)r->tail);
}

static u64 field_value(const struct iot_record *r, const char *name)
{
	const struct iot_kind_info *info = iot_kind_info(r->kind);
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return iot_field_get(r, &info->fields[i]);
	return 0;
}

static const char *path_of_name(struct iot_names *names, u64 name)
{
	return name ? iot_names_path(names, name) : "";
}

/* The names of operations on names, which may not be those of their objects; and the type of these. */
static void find_names(struct iot_names *names, struct export_event *event)
{
	const struct iot_record *r = event->record;
	u64 object;

	if (event->info->group != IOT_GROUP_op)
		return;
	object = field_value(r, "object");
	event->name_path = path_of_name(names, field_value(r, "name"));
	if (r->kind == IOT_KIND_rename)
		event->path2 = path_of_name(names, r->rename.new_name);
	else if (r->kind == IOT_KIND_link)
		event->path2 = path_of_name(names, r->link.old_name);
	event->type = object ? iot_names_type(names, object) : IOT_TYPE_unknown;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct export *x = context;
	const struct iot_kind_info *info = iot_kind_info(r->kind);
	struct iot_label label = { .path = "" };
	struct export_event event;
	bool is_selected;
	int err;

	if (iot_record_is_counted(r))
		return -EOPNOTSUPP;
	iot_omissions_take(&x->summary->omissions, r);
	err = selection_take(&x->selection, r);
	if (err)
		return err;
	if (r->kind == IOT_KIND_mount)
		take_mount(x, r);
	if (!info || !is_event(x, info))
		return 0;
	if (r->kind == IOT_KIND_complete && x->format->has_requests)
		return take_complete(x, r);
	is_selected = selection_match(&x->selection, &x->actors, names, r);
	if (info->group == IOT_GROUP_op)
		label = iot_names_of_record(names, r);
	if (r->kind == IOT_KIND_submit && x->format->has_requests)
		return take_submit(x, r, label, is_selected);
	if (!is_selected)
		return 0;
	event = event_of(x, r, label);
	if (x->format->has_life)
		find_names(names, &event);
	return event_give(x, &event);
}

/* Before the events, so that each of them can use it. */
static int find_root(void *context, struct iot_names *names, const struct iot_record *r)
{
	(void)names;
	if (r->kind == IOT_KIND_mount)
		take_mount(context, r);
	return 0;
}

static int read_root(struct export *x, struct iot_reject *reject)
{
	struct iot_need need = {};

	iot_kinds_add(need.always, IOT_KIND_mount);
	return iot_trace_walk_need(x->options->trace, &need, find_root, x, NULL, reject);
}

static int export_events(struct export *x, struct iot_reject *reject)
{
	const struct export_format *format = x->format;
	int err = selection_open(&x->selection);

	if (!err)
		err = request_pairs_open(&x->requests, sizeof(struct held));
	if (!err && !x->summary->root[0])
		err = read_root(x, reject);
	if (!err && !x->summary->root[0])
		strcpy(x->summary->root, "/iotape");
	if (!err && format->begin)
		err = format->begin(x);
	if (!err)
		err = selection_walk(&x->selection, &x->actors, x->options->trace, take_record, x, &x->info, reject);
	if (!err && format->is_ordered)
		err = kept_give(x);
	for (; !err && x->pending; x->pending--) {
		const struct export_event unfinished = { .info = iot_kind_info(IOT_KIND_submit) };

		x->summary->exported++;
		export_lose(x, &unfinished, "their ends are not in the trace");
	}
	if (!err && format->end)
		err = format->end(x);
	if (format->free)
		format->free(x);
	return err;
}

static void export_free(struct export *x)
{
	struct export_text *text, *next;
	size_t i;

	for (i = 0; i < x->kept_count; i++)
		free(x->kept[i].tail);
	free(x->kept);
	HASH_ITER (hh, x->texts, text, next) {
		HASH_DEL(x->texts, text);
		free(text);
	}
	request_pairs_close(x->requests);
	selection_close(&x->selection);
	actors_free(&x->actors);
}

/**
 * export_trace() - write a trace in another format
 * @options: selection and output; @format is the name of a format
 * @summary: out: numbers of exported and omitted operations
 * @reject: filled in if the trace is refused
 *
 * The caller looks for errors of the output.
 *
 * Return: 0 or a negative errno.
 */
int export_trace(const struct export_options *options, struct export_summary *summary, struct iot_reject *reject)
{
	struct export x = { .options = options, .summary = summary, .out = options->out, .selection = options->selection };
	u64 lost = 0;
	size_t i;
	int err;

	*summary = (struct export_summary){};
	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i]->name, options->format))
			x.format = formats[i];
	if (!x.format)
		return -EINVAL;
	if (options->root)
		snprintf(summary->root, sizeof(summary->root), "%s", options->root);
	if (x.format->whole)
		return x.format->whole(&x, reject);
	err = actors_read(options->trace, &x.actors, reject);
	if (!err)
		err = export_events(&x, reject);
	if (!err)
		iot_omissions_finish(&summary->omissions, &x.info);
	for (i = 0; i < summary->loss_count; i++)
		lost += summary->losses[i].count;
	summary->exported -= lost;
	export_free(&x);
	return err;
}
