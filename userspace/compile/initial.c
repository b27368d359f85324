// SPDX-License-Identifier: GPL-2.0-only
/*
 * initial.c - the initial tree of a program: the objects that the trace found, completed from a
 * snapshot if there is one.
 *
 * The trace is the younger and the closer of the two, so where they contradict each other it is
 * right, and the contradiction is counted. An imported trace knows few attributes: there
 * the snapshot's are right. Information that a trace cannot have always comes from the snapshot:
 * holes of files, extended attributes, and files that no operation accessed.
 */
#include "initial.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <uthash.h>

#define NONE 0xffffffffu

/**
 * struct item - a path of the initial state
 * @traced: its state by the trace, or NULL
 * @entry: by the snapshot: index of the entry that has the object; or NONE
 * @owner: the item whose further name this is, or NULL
 */
struct item {
	UT_hash_handle hh;
	const char *path;
	const struct tree_entry *traced;
	u32 entry;
	struct item *owner;
};

/* A path of the snapshot, or one that did not exist. */
struct path {
	UT_hash_handle hh;
	const char *text;
	u32 entry;
};

struct initial {
	struct iot_builder *builder;
	const struct compile_options *options;
	const struct iot_program *snapshot;
	struct compile_summary *summary;
	struct item *items;
	struct path *paths;  /* of the snapshot */
	struct path *absent; /* when the trace began */
	struct item **owners; /* of each entry of the snapshot: the item that has the object */
	bool is_imported;
};

static void contradict(struct initial *in, const char *path, enum compile_contradiction what)
{
	struct compile_summary *s = in->summary;

	if (s->contradictions < COMPILE_NOTES_MAX) {
		snprintf(s->contradiction_paths[s->contradictions],
			 sizeof(s->contradiction_paths[0]), "%s", path);
		s->contradiction_kinds[s->contradictions] = what;
	}
	s->contradictions++;
}

/* -- items --------------------------------------------------------------------------- */

static struct item *item_at(const struct initial *in, const char *path)
{
	struct item *item;

	HASH_FIND_STR(in->items, path, item);
	return item;
}

static struct path *path_at(struct path *paths, const char *text)
{
	struct path *path;

	HASH_FIND_STR(paths, text, path);
	return path;
}

static int add_item(struct initial *in, const char *path, const struct tree_entry *traced, u32 entry)
{
	struct item *item = calloc(1, sizeof(*item));

	if (!item)
		return -ENOMEM;
	item->path = path;
	item->traced = traced;
	item->entry = entry;
	HASH_ADD_KEYPTR(hh, in->items, path, strlen(path), item);
	return 0;
}

static int add_path(struct path **paths, const char *text, u32 entry)
{
	struct path *path = path_at(*paths, text);

	if (path)
		return 0;
	path = calloc(1, sizeof(*path));
	if (!path)
		return -ENOMEM;
	path->text = text;
	path->entry = entry;
	HASH_ADD_KEYPTR(hh, *paths, text, strlen(text), path);
	return 0;
}

static const struct iot_program_entry *snapshot_entry(const struct initial *in, u32 entry)
{
	return &in->snapshot->tree[entry];
}

static u32 snapshot_mode(const struct initial *in, u32 entry)
{
	return le32_to_cpu(snapshot_entry(in, entry)->mode);
}

static u32 kind_of(const struct initial *in, const struct item *item)
{
	while (item->owner)
		item = item->owner;
	if (item->traced)
		return item->traced->mode & S_IFMT;
	return snapshot_mode(in, item->entry) & S_IFMT;
}

/* -- the two sources ----------------------------------------------------------------- */

/* A further name leads to the entry that has the object. */
static int read_snapshot(struct initial *in)
{
	u32 i, count = in->snapshot ? in->snapshot->entry_count : 0;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		const struct iot_program_entry *entry = snapshot_entry(in, i);
		const char *text = iot_program_string(in->snapshot, entry->path);
		struct path *first;
		u32 at = i;

		if (!(le32_to_cpu(entry->mode) & S_IFMT)) {
			first = path_at(in->paths, iot_program_string(in->snapshot, entry->target));
			if (!first)
				continue;
			at = first->entry;
		}
		err = add_path(&in->paths, text, at);
	}
	in->owners = calloc(count + 1ull, sizeof(*in->owners));
	return in->owners ? err : -ENOMEM;
}

static int take_traced(struct initial *in, const struct tree_entry *entry)
{
	const struct path *known = path_at(in->paths, entry->path);
	u32 at = known ? known->entry : NONE;

	if (!is_known(entry->path) || (!entry->mode && !is_known(entry->target)) ||
	    item_at(in, entry->path))
		return 0;
	if (at != NONE && entry->mode && (snapshot_mode(in, at) ^ entry->mode) & S_IFMT) {
		contradict(in, entry->path, COMPILE_kind);
		at = NONE;
	} else if (in->snapshot && at == NONE && strcmp(entry->path, ".")) {
		contradict(in, entry->path, COMPILE_not_in_snapshot);
	}
	return add_item(in, entry->path, entry, at);
}

static int note_absent(void *context, const char *path)
{
	struct initial *in = context;

	if (!path_at(in->paths, path))
		return 0;
	contradict(in, path, COMPILE_not_in_trace);
	return add_path(&in->absent, path, NONE);
}

/* The directory that a path is in, NULL if that is the root. To be freed by the caller. */
static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path)) : NULL;
}

/* With all of the snapshot: is there still a directory for it? */
static bool has_place(const struct initial *in, const char *path)
{
	const struct item *item;
	bool has_one = true;
	char *parent;

	if (path_at(in->absent, path))
		return false;
	if (!strchr(path, '/'))
		return true;
	parent = parent_of(path);
	item = parent ? item_at(in, parent) : NULL;
	has_one = item && S_ISDIR(kind_of(in, item));
	free(parent);
	return has_one;
}

/* Directories precede their contents, so omitting a directory omits its contents. */
static int take_all(struct initial *in)
{
	u32 i;
	int err = 0;

	for (i = 0; i < in->snapshot->entry_count && !err; i++) {
		const char *text = iot_program_string(in->snapshot, snapshot_entry(in, i)->path);
		const struct path *path = path_at(in->paths, text);

		if (path && strcmp(text, ".") && !item_at(in, text) && has_place(in, text))
			err = add_item(in, path->text, NULL, path->entry);
	}
	return err;
}

/* The directories above, as far as the trace does not have them. */
static int take_parents(struct initial *in, const char *of)
{
	char *parent = parent_of(of), *above;
	const struct path *path;
	int err = 0;

	while (parent && !err && !item_at(in, parent)) {
		path = path_at(in->paths, parent);
		if (path && S_ISDIR(snapshot_mode(in, path->entry)))
			err = add_item(in, path->text, NULL, path->entry);
		above = parent_of(parent);
		free(parent);
		parent = above;
	}
	free(parent);
	return err;
}

/* -- names of the same object -------------------------------------------------------- */

/* The trace shows that an object has its own name if an operation examined it. */
static bool is_sure(const struct item *item)
{
	return item->traced && item->traced->mode && !item->traced->is_guess;
}

static int claim(struct initial *in, struct item *item, bool is_first_round)
{
	struct item **owner = item->entry == NONE ? NULL : &in->owners[item->entry];

	if (item->traced && !item->traced->mode) { /* a further name according to the trace */
		if (is_first_round)
			return 0;
		item->owner = item_at(in, item->traced->target);
		if (!item->owner) /* a trace that lies: the verifier will say so */
			return 0;
		if (item->entry != NONE && item->owner->entry != item->entry)
			contradict(in, item->path, COMPILE_links);
		return 0;
	}
	if (!owner || is_first_round != is_sure(item))
		return 0;
	if (!*owner)
		*owner = item;
	else if (is_first_round)
		contradict(in, item->path, COMPILE_links);
	else
		item->owner = *owner;
	return 0;
}

static int compare_items(struct item *a, struct item *b)
{
	return strcmp(a->path, b->path);
}

static int join_names(struct initial *in)
{
	struct item *item;
	int err = 0;

	HASH_SORT(in->items, compare_items);
	for (item = in->items; item && !err; item = item->hh.next)
		err = claim(in, item, true);
	for (item = in->items; item && !err; item = item->hh.next)
		err = claim(in, item, false);
	return err;
}

/* -- entries ------------------------------------------------------------------------- */

static void from_trace(const struct tree_entry *from, struct iot_program_entry *entry)
{
	*entry = (struct iot_program_entry){
		.mode = cpu_to_le32(from->mode),
		.uid = cpu_to_le32(from->uid),
		.gid = cpu_to_le32(from->gid),
		.rdev = cpu_to_le64(from->rdev),
		.size_bytes = cpu_to_le64(from->size_bytes),
		.cached_pages = cpu_to_le64(from->cached_pages),
	};
}

/* Its properties in the snapshot, with this size. */
static void add_knowledge(const struct initial *in, u32 at, struct iot_program_entry *entry)
{
	const struct iot_program_entry *known = snapshot_entry(in, at);
	u32 flags = le32_to_cpu(known->flags);

	if (known->size_bytes != entry->size_bytes)
		flags &= ~IOT_ENTRY_EXTENTS;
	entry->flags = cpu_to_le32(flags);
}

/* Return: the target that is right; the snapshot's if the trace has none. */
static const char *compare_targets(struct initial *in, const struct item *item, const char *theirs)
{
	const char *ours = item->traced->target;

	if (item->traced->is_guess || in->is_imported || !ours || !strcmp(ours, "unknown"))
		return theirs;
	if (strcmp(ours, theirs))
		contradict(in, item->path, COMPILE_target);
	return ours;
}

static void compare_attributes(struct initial *in, const struct item *item,
			       const struct iot_program_entry *entry)
{
	const struct iot_program_entry *known = snapshot_entry(in, item->entry);

	if (entry->mode != known->mode || entry->uid != known->uid || entry->gid != known->gid)
		contradict(in, item->path, COMPILE_attributes);
	if (entry->size_bytes != known->size_bytes)
		contradict(in, item->path, COMPILE_size);
	if ((S_ISCHR(item->traced->mode) || S_ISBLK(item->traced->mode)) && entry->rdev != known->rdev)
		contradict(in, item->path, COMPILE_device);
}

/* A log shows of a file how far it was read, which is the least that it had. */
static void take_snapshot(struct initial *in, const struct item *item, struct iot_program_entry *entry)
{
	const struct iot_program_entry *known = snapshot_entry(in, item->entry);
	u64 least = item->traced ? item->traced->size_bytes : 0;

	*entry = *known;
	entry->cached_pages = cpu_to_le64(item->traced ? item->traced->cached_pages : 0);
	if (S_ISREG(le32_to_cpu(known->mode)) && le64_to_cpu(known->size_bytes) < least) {
		contradict(in, item->path, COMPILE_size);
		entry->size_bytes = cpu_to_le64(least);
	}
}

/* An object, and the target if it is a symbolic link. */
static const char *make_object(struct initial *in, const struct item *item,
			       struct iot_program_entry *entry)
{
	const char *target = item->traced ? item->traced->target : NULL;

	if (item->entry == NONE) {
		from_trace(item->traced, entry);
		return target;
	}
	if (!is_sure(item) || in->is_imported) {
		take_snapshot(in, item, entry);
	} else {
		from_trace(item->traced, entry);
		compare_attributes(in, item, entry);
	}
	add_knowledge(in, item->entry, entry);
	in->summary->completed++;
	if (!S_ISLNK(le32_to_cpu(entry->mode)))
		return NULL;
	target = iot_program_string(in->snapshot, snapshot_entry(in, item->entry)->target);
	return item->traced ? compare_targets(in, item, target) : target;
}

static int put_extents(struct initial *in, u32 from, u32 index)
{
	const struct iot_program_extent *extents;
	u32 count, i;

	extents = iot_tree_extents(in->snapshot, from, &count);
	for (i = 0; i < count; i++) {
		struct iot_program_extent extent = extents[i];

		extent.entry = cpu_to_le32(index);
		if (iot_builder_add(in->builder, IOT_SECTION_EXTENTS, &extent) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int put_xattrs(struct initial *in, u32 from, u32 index)
{
	const struct iot_program_xattr *xattrs;
	u32 count, i;
	int err = 0;

	xattrs = iot_tree_xattrs(in->snapshot, from, &count);
	for (i = 0; i < count && !err; i++) {
		struct iot_program_xattr xattr = {
			.entry = cpu_to_le32(index),
			.value_bytes = xattrs[i].value_bytes,
		};

		err = iot_builder_text(in->builder, iot_program_string(in->snapshot, xattrs[i].name),
				       &xattr.name);
		if (!err)
			err = iot_builder_bytes(in->builder,
						iot_program_string(in->snapshot, xattrs[i].value),
						le32_to_cpu(xattr.value_bytes), &xattr.value);
		if (!err && iot_builder_add(in->builder, IOT_SECTION_XATTRS, &xattr) < 0)
			err = -ENOMEM;
	}
	return err;
}

static int put_item(struct initial *in, const struct item *item)
{
	struct iot_program_entry entry = {};
	const char *target = item->owner ? item->owner->path : make_object(in, item, &entry);
	u32 flags = le32_to_cpu(entry.flags);
	int err = iot_builder_text(in->builder, item->path, &entry.path);
	s64 index;

	if (!err)
		err = iot_builder_text(in->builder, target, &entry.target);
	if (err)
		return err;
	index = iot_builder_add(in->builder, IOT_SECTION_TREE, &entry);
	if (index < 0)
		return -ENOMEM;
	if (flags & IOT_ENTRY_EXTENTS)
		err = put_extents(in, item->entry, (u32)index);
	if (!err && flags & IOT_ENTRY_XATTRS)
		err = put_xattrs(in, item->entry, (u32)index);
	in->summary->entries++;
	in->summary->guessed += item->traced && item->traced->is_guess && item->entry == NONE;
	return err;
}

/* Objects first, then their further names; both in the order of paths, so parents come first. */
static int put_items(struct initial *in)
{
	const struct item *item;
	int err = 0;

	for (item = in->items; item && !err; item = item->hh.next)
		if (!item->owner)
			err = put_item(in, item);
	for (item = in->items; item && !err; item = item->hh.next)
		if (item->owner)
			err = put_item(in, item);
	return err;
}

/* -- all of it ----------------------------------------------------------------------- */

static int gather(struct initial *in, const struct analysis *analysis)
{
	const struct tree_entry *entries;
	size_t count, i;
	int err = analysis_initial(analysis, &entries, &count);

	if (!err)
		err = read_snapshot(in);
	for (i = 0; i < count && !err; i++)
		err = take_traced(in, &entries[i]);
	if (in->snapshot && !err)
		err = analysis_absent(analysis, note_absent, in);
	for (i = 0; i < count && in->snapshot && !err; i++)
		if (is_known(entries[i].path))
			err = take_parents(in, entries[i].path);
	if (in->snapshot && in->options->takes_all && !err)
		err = take_all(in);
	return err ? err : join_names(in);
}

static void free_all(struct initial *in)
{
	struct item *item, *next_item;
	struct path *path, *next;

	HASH_ITER (hh, in->items, item, next_item) {
		HASH_DEL(in->items, item);
		free(item);
	}
	HASH_ITER (hh, in->paths, path, next) {
		HASH_DEL(in->paths, path);
		free(path);
	}
	HASH_ITER (hh, in->absent, path, next) {
		HASH_DEL(in->absent, path);
		free(path);
	}
	free(in->owners);
}

/**
 * initial_put() - write the initial state
 * @builder: the program
 * @analysis: of the trace, after all passes
 * @options: the snapshot, if there is one, and how much of it
 * @summary: the part about the initial tree is filled in
 *
 * Return: 0 or a negative errno.
 */
int initial_put(struct iot_builder *builder, const struct analysis *analysis,
		const struct compile_options *options, struct compile_summary *summary)
{
	const struct graph *graph = analysis_graph(analysis);
	struct initial in = {
		.builder = builder,
		.options = options,
		.snapshot = options->snapshot,
		.summary = summary,
		.is_imported = *graph_fact(graph, "source"),
	};
	const char *directory;
	int err = gather(&in, analysis);

	if (!err)
		err = put_items(&in);
	if (!err && in.snapshot) {
		directory = iot_program_fact_value(in.snapshot, "snapshot.directory") ?: "";
		snprintf(summary->mount, sizeof(summary->mount), "%s", graph_fact(graph, "mount"));
		err = iot_builder_fact(builder, "compile.snapshot", directory);
	}
	free_all(&in);
	return err;
}
