// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * roots.c - traces of several recorded directories: each is a directory of one tree.
 *
 * The root of each mount has the same name in a trace: an empty component in no directory. If there are
 * several, readers see one tree: its root is the deepest directory that all of them are below, and each
 * recorded directory goes by its path from there. So /scratch/a and /home/b are scratch/a and home/b,
 * and of /run/m1 and /run/m2 the files are m1/x and m2/x.
 *
 * Which directories there are is known from the beginning of a trace, which is read before.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/trace/record.h"
#include "iotape.h"

#define ROOTS_MAX 1024 /* more than that are not distinguished */

/* A directory without a directory above, by its name in the trace. */
struct top {
	u64 name;
	u64 object;
	struct iot_rec_object record; /* of it */
	char *path; /* of the mount; NULL if it is none */
	u64 dir; /* its directory, if there are several */
	const char *component;
};

struct mount {
	u64 object;
	char *path;
};

/**
 * struct iot_roots - the roots of a trace
 * @tops, @top_count: candidates for roots
 * @mounts, @mount_count: mounts, of which not all need be roots: a merged trace has those of nodes
 * @expected: how many directories the facts list
 * @is_merged: of several nodes: the facts list the directories that these share
 * @time_ns: when the trace begins
 * @records, @record_count: additions to the trace: directories above the roots, and facts
 * @texts, @text_count: the texts of these
 * @made: number of directories among them
 */
struct iot_roots {
	struct top tops[ROOTS_MAX];
	u32 top_count;
	struct mount mounts[ROOTS_MAX];
	u32 mount_count;
	u32 expected;
	bool is_merged;
	u64 time_ns;
	struct iot_record *records;
	u32 record_count;
	char **texts;
	u32 text_count;
	u64 made;
};

/**
 * iot_roots_close() - free; NULL is allowed
 * @roots: records from it are not valid any more
 */
void iot_roots_close(struct iot_roots *roots)
{
	u32 i;

	if (!roots)
		return;
	for (i = 0; i < roots->mount_count; i++)
		free(roots->mounts[i].path);
	for (i = 0; i < roots->text_count; i++)
		free(roots->texts[i]);
	free(roots->texts);
	free(roots->records);
	free(roots);
}

/* -- the beginning of a trace ---------------------------------------------------------------------- */

static bool begins_with(const struct iot_record *record, const char *text)
{
	return record->tail_bytes >= strlen(text) && !memcmp(record->tail, text, strlen(text));
}

static void see_fact(struct iot_roots *roots, const struct iot_record *record)
{
	if (begins_with(record, "nodes=")) {
		roots->is_merged = true;
		roots->expected = 0;
	}
	roots->expected += begins_with(record, roots->is_merged ? "shared=" : "mount=");
}

static void see_name(struct iot_roots *roots, const struct iot_rec_name *r)
{
	if (!r->dir && r->name && roots->top_count < ROOTS_MAX)
		roots->tops[roots->top_count++] = (struct top){ .name = r->name };
}

/* Return: is it a root, which was not known? */
static bool see_object(struct iot_roots *roots, const struct iot_rec_object *r)
{
	u32 i;

	for (i = 0; i < roots->top_count && r->name; i++)
		if (roots->tops[i].name == r->name && !roots->tops[i].object) {
			roots->tops[i].object = r->object;
			roots->tops[i].record = *r;
			return true;
		}
	return false;
}

/* From "/" on, without anything in it that leads elsewhere. */
static bool is_clean(const char *path)
{
	const char *end, *p = path;

	if (*p++ != '/')
		return false;
	for (; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, '/');
		if (end == p || !strncmp(p, "./", 2) || !strcmp(p, ".") || !strncmp(p, "../", 3) || !strcmp(p, ".."))
			return false;
	}
	return p[-1] != '/' || p == path + 1;
}

static int see_mount(struct iot_roots *roots, const struct iot_record *record)
{
	char *path;
	u32 i;

	for (i = 0; i < roots->mount_count; i++)
		if (roots->mounts[i].object == record->mount.object)
			return 0; /* of another node */
	if (roots->mount_count == ROOTS_MAX)
		return 0;
	path = strndup((const char *)record->tail, record->tail_bytes);
	if (!path)
		return -ENOMEM;
	if (is_clean(path))
		roots->mounts[roots->mount_count++] = (struct mount){ record->mount.object, path };
	else
		free(path);
	return 0;
}

static struct top *top_of(struct iot_roots *roots, u64 object)
{
	u32 i;

	for (i = 0; i < roots->top_count; i++)
		if (roots->tops[i].object && roots->tops[i].object == object)
			return &roots->tops[i];
	return NULL;
}

/* Return: how many roots there are. */
static u32 match(struct iot_roots *roots)
{
	struct top *top;
	u32 i, count = 0;

	for (i = 0; i < roots->mount_count; i++) {
		top = top_of(roots, roots->mounts[i].object);
		if (top)
			top->path = roots->mounts[i].path;
	}
	for (i = 0; i < roots->top_count; i++)
		count += !!roots->tops[i].path;
	return count;
}

/* Return: 1 if there may be more to be learnt; 0; -ENOMEM. */
static int see(struct iot_roots *roots, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	bool is_begun = record->kind == IOT_KIND_mount || info->group == IOT_GROUP_op;
	int err;

	if (!roots->time_ns)
		roots->time_ns = iot_record_end_ns(record);
	if (is_begun && roots->expected < 2)
		return 0;
	switch (record->kind) {
	case IOT_KIND_fact:
		see_fact(roots, record);
		return 1;
	case IOT_KIND_name:
		see_name(roots, &record->name);
		return 1;
	case IOT_KIND_object:
		if (!see_object(roots, &record->object))
			return 1;
		break;
	case IOT_KIND_mount:
		err = see_mount(roots, record);
		if (err)
			return err;
		break;
	default:
		return 1;
	}
	return roots->expected < 2 || match(roots) < roots->expected;
}

/* -- one tree ------------------------------------------------------------------------------------------ */

/* Bytes of the deepest directory that is above both, or one of them; 0 for "/". */
static size_t shared_bytes(const char *a, size_t a_bytes, const char *b)
{
	size_t n = 0;

	while (n < a_bytes && a[n] == b[n])
		n++;
	while (n && ((n < a_bytes && a[n] != '/') || (b[n] && b[n] != '/')))
		n--;
	return n;
}

/* The same of all roots. */
static size_t common_bytes(const struct iot_roots *roots)
{
	const char *first = NULL;
	size_t bytes = 0;
	u32 i;

	for (i = 0; i < roots->top_count; i++) {
		const char *path = roots->tops[i].path;

		if (path && first) {
			bytes = shared_bytes(first, bytes, path);
		} else if (path) {
			first = path;
			bytes = strcmp(path, "/") ? strlen(path) : 0;
		}
	}
	return bytes;
}

static char *keep_text(struct iot_roots *roots, char *text)
{
	char **texts = text ? reallocarray(roots->texts, roots->text_count + 1, sizeof(*texts)) : NULL;

	if (!texts) {
		free(text);
		return NULL;
	}
	roots->texts = texts;
	return texts[roots->text_count++] = text;
}

static int add_record(struct iot_roots *roots, struct iot_record record, const char *tail)
{
	struct iot_record *records = reallocarray(roots->records, roots->record_count + 1, sizeof(*records));

	if (!records)
		return -ENOMEM;
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)strlen(tail);
	roots->records = records;
	records[roots->record_count++] = record;
	return 0;
}

/* Added objects and names have numbers that no trace reaches. */
static int make_dir(struct iot_roots *roots, u64 dir, const char *component, u64 *made)
{
	const struct top *owner = NULL;
	u64 id = ~roots->made++;
	u32 i;
	int err;

	for (i = 0; i < roots->top_count && !owner; i++)
		owner = roots->tops[i].path ? &roots->tops[i] : NULL;
	err = add_record(roots, (struct iot_record){
		.kind = IOT_KIND_name, .name = { .time_ns = roots->time_ns, .name = id, .dir = dir } }, component);
	if (!err)
		err = add_record(roots, (struct iot_record){ .kind = IOT_KIND_object, .object = {
			.time_ns = roots->time_ns, .object = id, .name = id, .type = IOT_TYPE_dir, .mode = 040755,
			.uid = owner->record.uid, .gid = owner->record.gid, .nlink = 2 } }, "");
	*made = id;
	return err;
}

/* The directory that a component in another one is, if it was made. */
static u64 find_made(const struct iot_roots *roots, u64 dir, const char *component)
{
	u32 i;

	for (i = 0; i < roots->record_count; i++) {
		const struct iot_record *r = &roots->records[i];

		if (r->kind == IOT_KIND_name && r->name.dir == dir && r->tail_bytes == strlen(component) &&
		    !memcmp(r->tail, component, r->tail_bytes))
			return r->name.name;
	}
	return 0;
}

/* Its place in the tree, with the directories on the way there. */
static int place(struct iot_roots *roots, struct top *top, u64 base, size_t skip)
{
	char *below = keep_text(roots, strdup(top->path + skip)), *slash, *fact;
	u64 dir = base;
	int err = 0;

	if (!below || asprintf(&fact, "root.%s=%s", below + (*below == '/'), top->path) < 0)
		return -ENOMEM;
	fact = keep_text(roots, fact);
	if (!fact)
		return -ENOMEM;
	below += *below == '/';
	while (!err && (slash = strchr(below, '/'))) {
		u64 made;

		*slash = 0;
		made = find_made(roots, dir, below);
		if (!made)
			err = make_dir(roots, dir, below, &made);
		dir = made;
		below = slash + 1;
	}
	top->dir = dir;
	top->component = below;
	return err ? err : add_record(roots, (struct iot_record){
		.kind = IOT_KIND_fact, .fact.time_ns = roots->time_ns }, fact);
}

/* The trace may contain names below it before it contains the root itself. */
static int announce(struct iot_roots *roots, const struct top *top)
{
	int err = add_record(roots, (struct iot_record){
		.kind = IOT_KIND_name, .name = { .time_ns = roots->time_ns, .name = top->name } }, "");

	return err ? err : add_record(roots, (struct iot_record){ .kind = IOT_KIND_object, .object = top->record }, "");
}

/* The directory above all roots: one of them, the root of a merged trace, or an added one. */
static int find_base(struct iot_roots *roots, size_t common, u64 *base)
{
	const struct top *found = NULL;
	u32 i;
	int err;

	for (i = 0; i < roots->top_count; i++) {
		const struct top *top = &roots->tops[i];

		bool is_above = roots->is_merged ? !top->path : top->path &&
				(strlen(top->path) == common || (!common && !strcmp(top->path, "/")));

		if (is_above && top->object)
			found = top;
	}
	*base = found ? found->object : 0;
	if (found)
		return announce(roots, found);
	err = make_dir(roots, 0, "", base);
	return err ? err : add_record(roots, (struct iot_record){
		.kind = IOT_KIND_mount, .mount = { .time_ns = roots->time_ns, .object = *base } }, "");
}

static int join(struct iot_roots *roots)
{
	size_t common = common_bytes(roots);
	u64 base;
	u32 i;
	int err = find_base(roots, common, &base);

	for (i = 0; i < roots->top_count && !err; i++)
		if (roots->tops[i].path && roots->tops[i].object != base)
			err = place(roots, &roots->tops[i], base, common);
	return err;
}

/**
 * iot_roots_open() - find out whether a trace has several roots
 * @path: of the trace
 * @roots: out: to be freed by iot_roots_close(); NULL if it has one, or after an error
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int iot_roots_open(const char *path, struct iot_roots **roots, struct iot_reject *reject)
{
	struct iot_roots *r = calloc(1, sizeof(*r));
	struct iot_reader *reader = NULL;
	struct iot_record record;
	int err = r ? iot_reader_open(path, &reader, reject) : -ENOMEM, more = 1;

	*roots = NULL;
	while (!err && more > 0 && (more = iot_reader_next(reader, &record, reject)) > 0)
		more = see(r, &record);
	if (more < 0 && more != -ENOMEM)
		more = 0; /* damaged: a reader of the whole trace reports it */
	iot_reader_close(reader);
	if (!err && more < 0)
		err = more;
	if (!err && match(r) > 1)
		err = join(r);
	if (err == -ENOMEM)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	if (err || !r->record_count) {
		iot_roots_close(r);
		return err;
	}
	*roots = r;
	return 0;
}

/**
 * iot_roots_records() - records to be read before those of the trace
 * @roots: NULL: nothing
 * @count: out: their number
 *
 * Return: directories that the recorded ones are in, and a fact `root.PATH=DIRECTORY` for each of these.
 */
const struct iot_record *iot_roots_records(const struct iot_roots *roots, u32 *count)
{
	*count = roots ? roots->record_count : 0;
	return roots ? roots->records : NULL;
}

/**
 * iot_roots_apply() - give a root its place in the tree
 * @roots: NULL: there is one root
 * @record: any of the trace; that of the name of a root is changed
 */
void iot_roots_apply(const struct iot_roots *roots, struct iot_record *record)
{
	u32 i;

	if (!roots || record->kind != IOT_KIND_name || record->name.dir)
		return;
	for (i = 0; i < roots->top_count; i++) {
		const struct top *top = &roots->tops[i];

		if (top->name != record->name.name || !top->component)
			continue;
		record->name.dir = top->dir;
		record->tail = (const u8 *)top->component;
		record->tail_bytes = (u16)strlen(top->component);
		return;
	}
}
