// SPDX-License-Identifier: GPL-2.0-only
/*
 * ctf.c - a directory in the Common Trace Format 1.8, which babeltrace2 and Trace Compass read.
 *
 * Source of the format: "Common Trace Format (CTF) Specification, version 1.8.3" of diamon.org. The file `metadata`
 * describes the file `stream`: a class of events for each kind of record, with all of its fields, made from the tables of
 * schema.h. The stream is one packet. Names of fields begin with an underscore, which readers remove, so that they are not
 * words of the description.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"

#define MAGIC	   0xc1fc1fc1u
#define HEAD_BYTES (4 + 4 + 4 * 8)

struct ctf {
	FILE *stream;
	u64 first_ns;
	u64 last_ns;
	u64 events;
};

static void put_u16(FILE *out, u16 value)
{
	u8 bytes[sizeof(value)];

	iot_put_u16(bytes, value);
	fwrite(bytes, 1, sizeof(bytes), out);
}

static void put_u32(FILE *out, u32 value)
{
	u8 bytes[sizeof(value)];

	iot_put_u32(bytes, value);
	fwrite(bytes, 1, sizeof(bytes), out);
}

static void put_u64(FILE *out, u64 value)
{
	u8 bytes[sizeof(value)];

	iot_put_u64(bytes, value);
	fwrite(bytes, 1, sizeof(bytes), out);
}

/* -- description ------------------------------------------------------------------------------------- */

static void put_types(FILE *out)
{
	static const char *const types[] = { "uint8_t", "uint16_t", "uint32_t", "uint64_t" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		fprintf(out, "typealias integer { size = %u; align = 8; signed = false; } := %s;\n", 8 << i, types[i]);
	fputs("typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n", out);
}

static void put_event_class(FILE *out, const struct iot_kind_info *info)
{
	static const char *const types[] = { [IOT_WIRE_TYPE_u32] = "uint32_t", [IOT_WIRE_TYPE_s32] = "int32_t",
					     [IOT_WIRE_TYPE_u64] = "uint64_t", [IOT_WIRE_TYPE_s64] = "int64_t" };
	u32 i;

	fprintf(out, "event { name = \"%s\"; id = %u; stream_id = 0; fields := struct {\n", info->name, info->kind);
	for (i = 1; i < info->field_count; i++) /* the first is the time */
		fprintf(out, "\t%s _%s;\n", types[info->fields[i].type], info->fields[i].name);
	fputs("\tstring _path;\n\tuint32_t _path_generation;\n\tuint16_t _tail_bytes;\n\tuint8_t _tail[_tail_bytes];\n}; };\n", out);
}

static void put_description(const struct export *x, FILE *out)
{
	const struct iot_kind_info *info;
	size_t i;

	fputs("/* CTF 1.8 */\n", out);
	put_types(out);
	fputs("trace { major = 1; minor = 8; byte_order = le;\n"
	      "\tpacket.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n"
	      "env { tracer_name = \"iotape\"; };\n", out);
	fprintf(out, "clock { name = mono; freq = 1000000000; offset_s = %llu; offset = %llu; };\n",
		x->info.real_ns / 1000000000, x->info.real_ns % 1000000000);
	fputs("typealias integer { size = 64; align = 8; signed = false; map = clock.mono.value; } := instant_t;\n"
	      "stream { id = 0;\n"
	      "\tpacket.context := struct { uint64_t content_size; uint64_t packet_size; instant_t timestamp_begin; "
	      "instant_t timestamp_end; };\n"
	      "\tevent.header := struct { uint16_t id; instant_t timestamp; };\n"
	      "\tevent.context := struct { uint32_t _vpid; uint32_t _vtid; int64_t _rank; };\n};\n", out);
	for (i = 0; (info = iot_kind_at(i)); i++)
		if (info->group != IOT_GROUP_run && info->group != IOT_GROUP_replay)
			put_event_class(out, info);
}

/* -- events ---------------------------------------------------------------------------------------------- */

static FILE *file_open(const struct export *x, const char *name)
{
	char path[PATH_MAX + 16], real[PATH_MAX];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", x->options->directory, name);
	fd = iot_output_open(path, real);
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	file = fdopen(fd, "w");
	if (!file)
		close(fd);
	return file;
}

static int file_close(FILE *file)
{
	int err = ferror(file) || fflush(file) ? -EIO : 0;

	return fclose(file) && !err ? -EIO : err;
}

/* Sizes and times of the packet are known at its end. */
static void put_head(FILE *out, u64 bytes, u64 first_ns, u64 last_ns)
{
	put_u32(out, MAGIC);
	put_u32(out, 0);
	put_u64(out, 8 * bytes);
	put_u64(out, 8 * bytes);
	put_u64(out, first_ns);
	put_u64(out, last_ns);
}

static int begin(struct export *x)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));

	if (!ctf)
		return -ENOMEM;
	x->context = ctf;
	ctf->stream = file_open(x, "stream");
	if (!ctf->stream)
		return -errno;
	put_head(ctf->stream, 0, 0, 0);
	return 0;
}

static void put_field(FILE *out, const struct iot_record *record, const struct iot_field *field)
{
	u64 value = iot_field_get(record, field);

	if (iot_wire_type_bytes(field->type) == sizeof(u32))
		put_u32(out, (u32)value);
	else
		put_u64(out, value);
}

static int take(struct export *x, const struct export_event *e)
{
	struct ctf *ctf = x->context;
	FILE *out = ctf->stream;
	u32 i;

	if (!ctf->events++)
		ctf->first_ns = e->begin_ns;
	ctf->last_ns = e->begin_ns;
	put_u16(out, e->info->kind);
	put_u64(out, e->begin_ns);
	put_u32(out, export_pid(e));
	put_u32(out, export_tid(e));
	put_u64(out, e->actor && e->actor->rank != ACTOR_UNKNOWN ? e->actor->rank : (u64)-1);
	for (i = 1; i < e->info->field_count; i++)
		put_field(out, e->record, &e->info->fields[i]);
	fwrite(e->path, 1, strlen(e->path) + 1, out);
	put_u32(out, e->generation);
	put_u16(out, e->record->tail_bytes);
	if (e->record->tail_bytes)
		fwrite(e->record->tail, 1, e->record->tail_bytes, out);
	return 0;
}

static int end(struct export *x)
{
	struct ctf *ctf = x->context;
	FILE *metadata;
	long bytes = ftell(ctf->stream);
	int err;

	rewind(ctf->stream);
	put_head(ctf->stream, (u64)bytes, ctf->first_ns, ctf->last_ns);
	err = bytes < HEAD_BYTES ? -EIO : file_close(ctf->stream);
	ctf->stream = NULL;
	metadata = err ? NULL : file_open(x, "metadata");
	if (!metadata)
		return err ?: -errno;
	put_description(x, metadata);
	return file_close(metadata);
}

static void ctf_free(struct export *x)
{
	struct ctf *ctf = x->context;

	if (ctf && ctf->stream)
		fclose(ctf->stream);
	free(ctf);
}

const struct export_format export_format_ctf = {
	.name = "ctf",
	.sentence = "a directory in the Common Trace Format, for babeltrace2 and Trace Compass",
	.is_ordered = true,
	.has_life = true,
	.is_directory = true,
	.begin = begin,
	.take = take,
	.end = end,
	.free = ctf_free,
};
