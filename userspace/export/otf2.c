// SPDX-License-Identifier: GPL-2.0-only
/*
 * otf2.c - an archive in the Open Trace Format 2, which Vampir, Scalasca and otf2-print read.
 *
 * Written by libotf2, if it was there when iotape was built. A line of time is a location, a process is a group of
 * them, and a node of the run is a node of the system tree. An operation is a region that is entered and left; reads
 * and writes are I/O operations of the paradigm POSIX in it. Archives need the number of events of each location
 * before the definitions, and a name for each text: both are collected first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spans.h"

#ifdef IOTAPE_HAS_OTF2

#include <otf2/otf2.h>

#define CHUNK_BYTES (1 << 20)
#define ARCHIVE	    "traces"

struct otf2_text {
	UT_hash_handle hh;
	u32 id;
	char text[];
};

/* A file, and the handle of its accesses. */
struct otf2_file {
	UT_hash_handle hh;
	const char *path;
	u32 id;
};

struct otf2_group {
	UT_hash_handle hh;
	u64 process;
	u32 id;
};

enum otf2_attribute {
	ATTRIBUTE_RESULT,
	ATTRIBUTE_PATH,
	ATTRIBUTE_OFFSET,
};

/**
 * struct otf2 - an archive
 * @events: its writer for the current line
 * @last_ns: end of the last event
 * @lines: number of locations
 * @regions: number of the region of each kind of record, from 1; 0: there are none of the kind
 */
struct otf2 {
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *definitions;
	OTF2_EvtWriter *events;
	OTF2_AttributeList *attributes;
	struct otf2_text *texts;
	struct otf2_file *files;
	struct otf2_group *groups;
	u64 last_ns;
	u64 lines;
	u32 regions[IOT_KIND_END];
};

/* The library prints its errors, unless it has a callback for them. */
static OTF2_ErrorCode quiet(void *user, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
			    const char *format, va_list arguments)
{
	(void)user;
	(void)file;
	(void)line;
	(void)function;
	(void)format;
	(void)arguments;
	return code;
}

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool is_final)
{
	(void)user;
	(void)type;
	(void)location;
	(void)caller;
	(void)is_final;
	return OTF2_FLUSH;
}

static int failed(OTF2_ErrorCode code)
{
	if (code == OTF2_SUCCESS)
		return 0;
	return code == OTF2_ERROR_MEM_ALLOC_FAILED || code == OTF2_ERROR_MEM_FAULT ? -ENOMEM : -EIO;
}

/* -- definitions -------------------------------------------------------------------------------------- */

/* The number of a text, which is defined at its first use. Return: a negative errno if that fails. */
static s64 text_id(struct otf2 *o, const char *text)
{
	size_t bytes = strlen(text);
	struct otf2_text *known;
	int err;

	HASH_FIND(hh, o->texts, text, bytes, known);
	if (known)
		return known->id;
	known = calloc(1, sizeof(*known) + bytes + 1);
	if (!known)
		return -ENOMEM;
	memcpy(known->text, text, bytes + 1);
	known->id = HASH_COUNT(o->texts);
	HASH_ADD_KEYPTR(hh, o->texts, known->text, bytes, known);
	err = failed(OTF2_GlobalDefWriter_WriteString(o->definitions, known->id, text));
	return err ? err : (s64)known->id;
}

static int define_attributes(struct otf2 *o)
{
	static const struct {
		const char *name;
		const char *sentence;
		OTF2_Type type;
	} rows[] = {
		[ATTRIBUTE_RESULT] = { "result", "result of the operation, or a negative errno", OTF2_TYPE_INT64 },
		[ATTRIBUTE_PATH] = { "path", "path of the file, from the root of the mount", OTF2_TYPE_STRING },
		[ATTRIBUTE_OFFSET] = { "offset_bytes", "first byte of the file", OTF2_TYPE_INT64 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		s64 name = text_id(o, rows[i].name), sentence = text_id(o, rows[i].sentence);

		if (name < 0 || sentence < 0 ||
		    OTF2_GlobalDefWriter_WriteAttribute(o->definitions, i, (u32)name, (u32)sentence, rows[i].type))
			return -EIO;
	}
	return 0;
}

static int define_regions(struct otf2 *o)
{
	u32 kind, count = 0;

	for (kind = 0; kind < IOT_KIND_END; kind++) {
		const struct iot_kind_info *info = o->regions[kind] ? iot_kind_info((u16)kind) : NULL;
		bool is_mpi = info && info->group == IOT_GROUP_mpi;
		s64 name;

		if (!info)
			continue;
		o->regions[kind] = ++count;
		name = text_id(o, info->name);
		if (name < 0 ||
		    OTF2_GlobalDefWriter_WriteRegion(o->definitions, count - 1, (u32)name, (u32)name, (u32)name,
						     is_mpi ? OTF2_REGION_ROLE_FUNCTION : OTF2_REGION_ROLE_FILE_IO,
						     is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
						     OTF2_UNDEFINED_STRING, 0, 0))
			return -EIO;
	}
	return 0;
}

/* The machine, and below it the nodes of the run. */
static int define_tree(struct export *x)
{
	struct otf2 *o = x->context;
	s64 machine = text_id(o, "machine"), node = text_id(o, "node"), name;
	u32 i;

	if (machine < 0 || node < 0 ||
	    OTF2_GlobalDefWriter_WriteSystemTreeNode(o->definitions, 0, (u32)machine, (u32)machine,
						     OTF2_UNDEFINED_SYSTEM_TREE_NODE))
		return -EIO;
	for (i = 0; i < x->actors.node_count; i++) {
		name = text_id(o, x->actors.nodes[i]);
		if (name < 0 || OTF2_GlobalDefWriter_WriteSystemTreeNode(o->definitions, i + 1, (u32)name, (u32)node, 0))
			return -EIO;
	}
	return 0;
}

static int define_paradigm(struct otf2 *o)
{
	s64 posix = text_id(o, "POSIX"), name = text_id(o, "POSIX I/O");

	if (posix < 0 || name < 0)
		return -EIO;
	return failed(OTF2_GlobalDefWriter_WriteIoParadigm(o->definitions, 0, (u32)posix, (u32)name, OTF2_IO_PARADIGM_CLASS_SERIAL,
							   OTF2_IO_PARADIGM_FLAG_OS, 0, NULL, NULL, NULL));
}

/* A file is a file and a handle: which of its handles an operation used has no form here. */
static int define_files(struct export *x)
{
	struct otf2 *o = x->context;
	struct otf2_file *file;
	char full[EXPORT_PATH_BYTES];

	for (file = o->files; file; file = file->hh.next) {
		s64 name = text_id(o, export_full_path(x, file->path, full));

		if (name < 0 || OTF2_GlobalDefWriter_WriteIoRegularFile(o->definitions, file->id, (u32)name, 0) ||
		    OTF2_GlobalDefWriter_WriteIoHandle(o->definitions, file->id, (u32)name, file->id, 0,
						       OTF2_IO_HANDLE_FLAG_PRE_CREATED, OTF2_UNDEFINED_COMM,
						       OTF2_UNDEFINED_IO_HANDLE) ||
		    OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(o->definitions, file->id, OTF2_IO_ACCESS_MODE_READ_WRITE,
								      OTF2_IO_STATUS_FLAG_NONE))
			return -EIO;
	}
	return 0;
}

/* Is it a read or a write? Then its length and offset. */
static bool is_transfer(const struct iot_record *r, OTF2_IoOperationMode *mode, u64 *length_bytes, s64 *offset_bytes)
{
	switch (r->kind) {
	case IOT_KIND_read:
		*mode = OTF2_IO_OPERATION_MODE_READ;
		*length_bytes = r->read.length_bytes;
		*offset_bytes = r->read.offset_bytes;
		return true;
	case IOT_KIND_write:
		*mode = OTF2_IO_OPERATION_MODE_WRITE;
		*length_bytes = r->write.length_bytes;
		*offset_bytes = r->write.offset_bytes;
		return true;
	case IOT_KIND_submit:
		*mode = r->submit.flags & IOT_RW_write ? OTF2_IO_OPERATION_MODE_WRITE : OTF2_IO_OPERATION_MODE_READ;
		*length_bytes = r->submit.length_bytes;
		*offset_bytes = r->submit.offset_bytes;
		return true;
	default:
		return false;
	}
}

static struct otf2_file *file_find(const struct otf2 *o, const char *path)
{
	struct otf2_file *file;

	HASH_FIND_STR(o->files, path, file);
	return file;
}

/* Data of all events that the definitions need. */
static int collect(struct export *x)
{
	struct otf2 *o = x->context;
	OTF2_IoOperationMode mode;
	u64 length_bytes;
	s64 offset_bytes;
	size_t i;

	for (i = 0; i < x->kept_count; i++) {
		const struct export_kept *kept = &x->kept[i];
		struct otf2_file *file;

		o->regions[kept->record.kind] = 1; /* numbered when all are known */
		if (kept->begin_ns + kept->duration_ns > o->last_ns)
			o->last_ns = kept->begin_ns + kept->duration_ns;
		if (!is_transfer(&kept->record, &mode, &length_bytes, &offset_bytes) || !*kept->path || file_find(o, kept->path))
			continue;
		file = calloc(1, sizeof(*file));
		if (!file)
			return -ENOMEM;
		*file = (struct otf2_file){ .path = kept->path, .id = HASH_COUNT(o->files) };
		HASH_ADD_KEYPTR(hh, o->files, file->path, strlen(file->path), file);
	}
	return 0;
}

/* -- events ---------------------------------------------------------------------------------------------- */

static s64 group_id(struct export *x, const struct span_line *line)
{
	struct otf2 *o = x->context;
	const struct actor *actor = line->actor;
	struct otf2_group *group;
	char name[256];
	size_t at;
	s64 text;

	HASH_FIND(hh, o->groups, &line->process, sizeof(line->process), group);
	if (group)
		return group->id;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	*group = (struct otf2_group){ .process = line->process, .id = HASH_COUNT(o->groups) };
	HASH_ADD(hh, o->groups, process, sizeof(group->process), group);
	at = (size_t)snprintf(name, sizeof(name), "%s %u", actor ? actor->command : "task", actor && actor->tgid ? actor->tgid : line->task);
	if (actor && actor->rank != ACTOR_UNKNOWN && at < sizeof(name))
		snprintf(name + at, sizeof(name) - at, " rank %u", actor->rank);
	text = text_id(o, name);
	if (text < 0 || OTF2_GlobalDefWriter_WriteLocationGroup(o->definitions, group->id, (u32)text, OTF2_LOCATION_GROUP_TYPE_PROCESS,
								actor && actor->node != ACTOR_UNKNOWN ? actor->node + 1 : 0,
								OTF2_UNDEFINED_LOCATION_GROUP))
		return -EIO;
	return group->id;
}

static int take_line(struct export *x, const struct span_line *line)
{
	struct otf2 *o = x->context;

	o->events = OTF2_Archive_GetEvtWriter(o->archive, line->number);
	return o->events ? 0 : -ENOMEM;
}

/* A location is defined when the number of its events is known. */
static int end_line(struct export *x, const struct span_line *line)
{
	struct otf2 *o = x->context;
	s64 group = group_id(x, line), text;
	uint64_t events = 0;
	char name[96];

	if (group < 0)
		return (int)group;
	snprintf(name, sizeof(name), line->lane ? "task %u requests %u" : "task %u", line->task, line->lane);
	text = text_id(o, name);
	if (text < 0 || OTF2_EvtWriter_GetNumberOfEvents(o->events, &events) ||
	    OTF2_Archive_CloseEvtWriter(o->archive, o->events) ||
	    OTF2_GlobalDefWriter_WriteLocation(o->definitions, line->number, (u32)text, OTF2_LOCATION_TYPE_CPU_THREAD, events,
					       (u32)group))
		return -EIO;
	o->events = NULL;
	o->lines++;
	return 0;
}

/* Belongs to the beginning and the end of an I/O operation. */
static u64 matching(const struct export_event *e)
{
	return (u64)iot_record_task(e->record) << 32 | e->record->op.op;
}

static int take_begin(struct export *x, const struct span_line *line, const struct export_event *e)
{
	struct otf2 *o = x->context;
	struct otf2_file *file = file_find(o, e->path);
	OTF2_IoOperationMode mode;
	u64 length_bytes;
	s64 offset_bytes, path = *e->path ? text_id(o, e->path) : 0;
	bool is_moved = is_transfer(e->record, &mode, &length_bytes, &offset_bytes);
	int err = path < 0 ? (int)path : 0;

	(void)line;
	if (!err)
		err = failed(OTF2_AttributeList_AddInt64(o->attributes, ATTRIBUTE_RESULT, e->result));
	if (!err && *e->path)
		err = failed(OTF2_AttributeList_AddStringRef(o->attributes, ATTRIBUTE_PATH, (u32)path));
	if (!err && is_moved)
		err = failed(OTF2_AttributeList_AddInt64(o->attributes, ATTRIBUTE_OFFSET, offset_bytes));
	if (!err)
		err = failed(OTF2_EvtWriter_Enter(o->events, o->attributes, e->begin_ns, o->regions[e->info->kind] - 1));
	if (!err && is_moved && file)
		err = failed(OTF2_EvtWriter_IoOperationBegin(o->events, NULL, e->begin_ns, file->id, mode,
							     OTF2_IO_OPERATION_FLAG_NONE, length_bytes, matching(e)));
	return err;
}

static int take_end(struct export *x, const struct span_line *line, const struct export_event *e, u64 end_ns)
{
	struct otf2 *o = x->context;
	struct otf2_file *file = file_find(o, e->path);
	u64 length_bytes;
	OTF2_IoOperationMode mode;
	s64 offset_bytes;
	int err = 0;

	(void)line;
	if (is_transfer(e->record, &mode, &length_bytes, &offset_bytes) && file)
		err = failed(OTF2_EvtWriter_IoOperationComplete(o->events, NULL, end_ns, file->id, e->result > 0 ? (u64)e->result : 0,
								matching(e)));
	return err ? err : failed(OTF2_EvtWriter_Leave(o->events, NULL, end_ns, o->regions[e->info->kind] - 1));
}

/* -- the archive ---------------------------------------------------------------------------------------- */

static int begin(struct export *x)
{
	static const OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };
	struct otf2 *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	x->context = o;
	OTF2_Error_RegisterCallback(quiet, NULL);
	o->attributes = OTF2_AttributeList_New();
	o->archive = OTF2_Archive_Open(x->options->directory, ARCHIVE, OTF2_FILEMODE_WRITE, CHUNK_BYTES, 4 * CHUNK_BYTES,
				       OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!o->attributes || !o->archive)
		return -EIO;
	if (OTF2_Archive_SetSerialCollectiveCallbacks(o->archive) || OTF2_Archive_SetFlushCallbacks(o->archive, &callbacks, NULL) ||
	    OTF2_Archive_SetCreator(o->archive, "iotape " IOTAPE_VERSION) || OTF2_Archive_OpenEvtFiles(o->archive))
		return -EIO;
	return 0;
}

static int define(struct export *x)
{
	struct otf2 *o = x->context;
	int err = collect(x);

	o->definitions = err ? NULL : OTF2_Archive_GetGlobalDefWriter(o->archive);
	if (!o->definitions)
		return err ? err : -EIO;
	err = failed(OTF2_GlobalDefWriter_WriteClockProperties(o->definitions, 1000000000, 0, o->last_ns + 1, x->info.real_ns));
	if (!err)
		err = define_attributes(o);
	if (!err)
		err = define_tree(x);
	if (!err)
		err = define_regions(o);
	if (!err)
		err = define_paradigm(o);
	return err ? err : define_files(x);
}

/* Each location has definitions of its own, which are empty; readers complain if they are missing. */
static int define_lines(struct otf2 *o)
{
	u64 i;
	int err = failed(OTF2_Archive_OpenDefFiles(o->archive));

	for (i = 0; i < o->lines && !err; i++) {
		OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(o->archive, i);

		err = writer ? failed(OTF2_Archive_CloseDefWriter(o->archive, writer)) : -ENOMEM;
	}
	return err ? err : failed(OTF2_Archive_CloseDefFiles(o->archive));
}

static int end(struct export *x)
{
	static const struct span_user user = { .line = take_line, .line_end = end_line, .begin = take_begin, .end = take_end };
	struct otf2 *o = x->context;
	OTF2_Archive *archive = o->archive;
	int err = define(x);

	if (!err)
		err = spans_walk(x, &user);
	if (!err)
		err = failed(OTF2_Archive_CloseGlobalDefWriter(archive, o->definitions));
	if (!err)
		err = failed(OTF2_Archive_CloseEvtFiles(archive));
	if (!err)
		err = define_lines(o);
	if (!err) {
		o->archive = NULL;
		err = failed(OTF2_Archive_Close(archive));
	}
	return err;
}

static void otf2_free(struct export *x)
{
	struct otf2 *o = x->context;
	struct otf2_text *text, *next_text;
	struct otf2_file *file, *next_file;
	struct otf2_group *group, *next_group;

	if (!o)
		return;
	if (o->archive)
		OTF2_Archive_Close(o->archive);
	if (o->attributes)
		OTF2_AttributeList_Delete(o->attributes);
	HASH_ITER (hh, o->texts, text, next_text) {
		HASH_DEL(o->texts, text);
		free(text);
	}
	HASH_ITER (hh, o->files, file, next_file) {
		HASH_DEL(o->files, file);
		free(file);
	}
	HASH_ITER (hh, o->groups, group, next_group) {
		HASH_DEL(o->groups, group);
		free(group);
	}
	free(o);
}

const struct export_format export_format_otf2 = {
	.name = "otf2",
	.sentence = "a directory in the Open Trace Format 2, for Vampir and Scalasca",
	.is_ordered = true,
	.has_requests = true,
	.is_directory = true,
	.begin = begin,
	.end = end,
	.free = otf2_free,
};

#endif
