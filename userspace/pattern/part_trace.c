// SPDX-License-Identifier: GPL-2.0-only
/*
 * part_trace.c - which node a trace is of, and the directories that it has recorded: the records from which `iotape merge` knows them.
 */
#include <iotape/version.h>

#include "part.h"

/* A mount record, whose root may be announced before or after it. */
struct mounted {
	u64 object;
	u64 magic;
	char *path; /* NULL: that of the only fact */
};

struct reading {
	struct part *part;
	struct part_node node;
	struct mounted *mounts;
	u32 mount_count;
	char *fact_path; /* from the last fact */
	u32 fact_paths;
	bool is_merged;
	bool is_replay;
	bool is_short; /* of memory */
};

/* -- facts ------------------------------------------------------------------------------------------------------- */

static const char *value_of(const struct iot_record *record, const char *key)
{
	size_t bytes = strlen(key);

	return record->tail_bytes >= bytes && !memcmp(record->tail, key, bytes) ? (const char *)record->tail + bytes : NULL;
}

static void keep(struct reading *r, const struct iot_record *record, const char *key, char **text)
{
	const char *value = *text ? NULL : value_of(record, key);

	if (!value)
		return;
	*text = strndup(value, record->tail_bytes - strlen(key));
	r->is_short |= !*text;
}

static void see_fact(struct reading *r, const struct iot_record *record)
{
	keep(r, record, "host=", &r->node.name);
	keep(r, record, "boot=", &r->node.boot);
	keep(r, record, "job=", &r->part->job);
	keep(r, record, "mpi.shim=", &r->part->shim);
	r->is_merged |= value_of(record, "nodes=") != NULL;
	r->is_replay |= value_of(record, "replay=") != NULL;
	if (!value_of(record, "mount="))
		return;
	free(r->fact_path);
	r->fact_path = NULL;
	keep(r, record, "mount=", &r->fact_path);
	r->fact_paths++;
}

/* -- directories --------------------------------------------------------------------------------------------------- */

static void see_mount(struct reading *r, const struct iot_record *record)
{
	struct mounted *mounts = reallocarray(r->mounts, r->mount_count + 1ul, sizeof(*mounts));

	if (!mounts) {
		r->is_short = true;
		return;
	}
	r->mounts = mounts;
	mounts[r->mount_count] = (struct mounted){ .object = record->mount.object, .magic = record->mount.magic };
	if (record->tail_bytes) {
		mounts[r->mount_count].path = strndup((const char *)record->tail, record->tail_bytes);
		r->is_short |= !mounts[r->mount_count].path;
	}
	r->mount_count++;
}

static int compare_directories(const void *a, const void *b)
{
	const struct part_directory *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Several records of a directory are one. */
static void add_directory(struct reading *r, const char *path, u64 magic, u64 ino)
{
	struct part_node *node = &r->node;
	u32 i;

	for (i = 0; i < node->directory_count; i++)
		if (!strcmp(node->directories[i].path, path))
			return;
	node->directories[node->directory_count].path = strdup(path);
	r->is_short |= !node->directories[node->directory_count].path;
	node->directories[node->directory_count].magic = magic;
	node->directories[node->directory_count++].ino = ino;
}

/* The roots of mounts are announced as any object is. */
static int find_roots(struct reading *r, const char *trace, struct iot_reject *reject)
{
	struct iot_reader *reader = NULL;
	struct iot_record record;
	u32 i, left = r->mount_count;
	int more = 1, err = iot_reader_open(trace, &reader, reject);

	r->node.directories = calloc(r->mount_count + 1ul, sizeof(*r->node.directories));
	r->is_short |= !r->node.directories;
	while (!err && left && !r->is_short && (more = iot_reader_next(reader, &record, reject)) > 0)
		for (i = 0; i < r->mount_count && record.kind == IOT_KIND_object; i++) {
			if (r->mounts[i].object != record.object.object || !r->mounts[i].object)
				continue;
			add_directory(r, r->mounts[i].path ?: r->fact_paths == 1 ? r->fact_path : "", r->mounts[i].magic, record.object.ino);
			r->mounts[i].object = 0;
			left--;
		}
	iot_reader_close(reader);
	if (!err && r->node.directory_count)
		qsort(r->node.directories, r->node.directory_count, sizeof(*r->node.directories), compare_directories);
	return err ? err : more < 0 ? more : 0;
}

/* -- the whole ------------------------------------------------------------------------------------------------------ */

static int read_records(struct reading *r, const char *trace, struct iot_reject *reject)
{
	struct iot_reader *reader = NULL;
	struct iot_trace_info info;
	struct iot_record record;
	int more = 1, err = iot_reader_open(trace, &reader, reject);

	if (err)
		return err;
	iot_reader_info(reader, &info);
	memcpy(r->node.capture, info.capture, sizeof(r->node.capture));
	r->node.begin_ns = info.mono_ns;
	while (!r->is_short && (more = iot_reader_next(reader, &record, reject)) > 0) {
		if (record.kind == IOT_KIND_fact)
			see_fact(r, &record);
		else if (record.kind == IOT_KIND_mount)
			see_mount(r, &record);
	}
	iot_reader_close(reader);
	return more < 0 ? more : r->mount_count ? find_roots(r, trace, reject) : 0;
}

static void set_default(struct reading *r, char **text, const char *value)
{
	if (!*text)
		*text = strdup(value);
	r->is_short |= !*text;
}

static int refuse(struct pattern_refusal *refusal, const char *text)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s", text);
	return -EOPNOTSUPP;
}

static int check(const struct reading *r, struct pattern_refusal *refusal)
{
	const char *name = r->node.name;

	if (r->is_replay)
		return refuse(refusal, "the outcomes of a replay are no part of a job");
	if (r->is_merged)
		return refuse(refusal, "has several nodes already: --part is for the trace of one node");
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) > PART_NAME_BYTES_MAX)
		return refuse(refusal, "the name of its host cannot be the name of a directory");
	return 0;
}

static void free_reading(struct reading *r)
{
	u32 i;

	for (i = 0; i < r->mount_count; i++)
		free(r->mounts[i].path);
	for (i = 0; i < r->node.directory_count; i++)
		free(r->node.directories[i].path);
	free(r->node.directories);
	free(r->node.name);
	free(r->node.boot);
	free(r->mounts);
	free(r->fact_path);
}

/**
 * part_of_trace() - what the pattern of a trace is a part of
 * @trace: its path
 * @part: out: to be freed by part_free(); ranks, tasks and omissions are not known yet
 * @refusal: filled in with -EOPNOTSUPP
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int part_of_trace(const char *trace, struct part **part, struct pattern_refusal *refusal, struct iot_reject *reject)
{
	struct reading r = { .part = calloc(1, sizeof(*r.part)) };
	int err = r.part ? read_records(&r, trace, reject) : -ENOMEM;

	if (!err) {
		set_default(&r, &r.node.name, "node");
		set_default(&r, &r.node.boot, "");
		set_default(&r, &r.part->job, "");
		set_default(&r, &r.part->shim, "");
		set_default(&r, &r.part->version, IOTAPE_VERSION);
	}
	if (!err && !r.is_short)
		err = check(&r, refusal);
	if (!err && !r.is_short)
		r.is_short = !part_copy_node(r.part, &r.node);
	free_reading(&r);
	if (r.is_short)
		err = -ENOMEM;
	if (err == -ENOMEM)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	if (err)
		part_free(r.part);
	else
		*part = r.part;
	return err;
}
