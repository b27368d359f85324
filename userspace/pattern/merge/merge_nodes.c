// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge_nodes.c - what the result is a part of, and whether the files of its nodes are the same, as `iotape merge` decides.
 *
 * Names are decided when a part of one node meets another node. That a shared directory is recorded by several nodes is only known at the end.
 */
#include "merge.h"

/* -- one job -------------------------------------------------------------------------------------------------------- */

static int take_text(struct merge *m, char **text, const char *of_source, const char *what, const struct merge_source *s)
{
	if (!*of_source)
		return 0;
	if (*text && **text && strcmp(*text, of_source))
		return merge_refuse(m, "%s: is of %s %s, and %s of %s: they are not of one job", s->name, what, of_source,
				    m->sources[0].name, *text);
	free(*text);
	*text = strdup(of_source);
	return *text ? 0 : -ENOMEM;
}

static int take_world(struct merge *m, const struct merge_source *s)
{
	const struct part *part = s->pattern->part;

	if (!part->world)
		return 0;
	if (m->part->world && m->part->world != part->world)
		return merge_refuse(m, "%s: has another MPI_COMM_WORLD than %s: they are not of one job", s->name, m->sources[0].name);
	if (m->part->world && m->part->ranks != part->ranks)
		return merge_refuse(m, "%s: has an MPI_COMM_WORLD of %llu ranks, and %s one of %llu: they are not of one job", s->name,
				    (unsigned long long)part->ranks, m->sources[0].name, (unsigned long long)m->part->ranks);
	m->part->world = part->world;
	m->part->ranks = part->ranks;
	return 0;
}

static int take_job(struct merge *m, const struct merge_source *s)
{
	const struct part *part = s->pattern->part;
	int err;

	if (strcmp(m->part->version, part->version))
		return merge_refuse(m, "%s: was made by version %s, and %s by version %s: make all parts by one version", s->name,
				    part->version, m->sources[0].name, m->part->version);
	err = take_text(m, &m->part->shim, part->shim, "MPI library", s);
	if (!err)
		err = take_text(m, &m->part->job, part->job, "job", s);
	iot_omissions_sum(&m->part->omissions, &part->omissions);
	return err ? err : take_world(m, s);
}

/* -- nodes ------------------------------------------------------------------------------------------------------------ */

static int compare_nodes(const void *a, const void *b)
{
	const struct part_node *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct part_node *find_node(const struct merge *m, const char *name)
{
	const struct part_node key = { .name = (char *)name };

	return m->part->node_count ? bsearch(&key, m->part->nodes, m->part->node_count, sizeof(key), compare_nodes) : NULL;
}

/* Nodes stay in the order of their names. */
static int add_node(struct merge *m, const struct part_node *node)
{
	struct part *part = m->part;
	struct part_node added;
	u32 at;

	if (!part_copy_node(part, node))
		return -ENOMEM;
	added = part->nodes[part->node_count - 1];
	for (at = part->node_count - 1; at && compare_nodes(&part->nodes[at - 1], &added) > 0; at--)
		part->nodes[at] = part->nodes[at - 1];
	part->nodes[at] = added;
	return 0;
}

static int join_node(struct merge *m, const struct merge_source *s, struct part_node *node, const struct part_node *other)
{
	if (strcmp(node->boot, other->boot))
		return merge_refuse(m, "%s: is of another boot of %s than another part: merge the traces instead", s->name, node->name);
	if (node->directory_count || other->directory_count)
		return merge_refuse(m, "%s: has files of %s, as another part has: merge the traces instead", s->name, node->name);
	if (other->begin_ns >= node->begin_ns)
		return 0;
	node->begin_ns = other->begin_ns;
	memcpy(node->capture, other->capture, sizeof(node->capture));
	return 0;
}

static int take_nodes(struct merge *m, const struct merge_source *s)
{
	const struct part *part = s->pattern->part;
	struct part_node *node;
	u32 i;
	int err = 0;

	for (i = 0; i < part->node_count && !err; i++) {
		node = find_node(m, part->nodes[i].name);
		err = node ? join_node(m, s, node, &part->nodes[i]) : add_node(m, &part->nodes[i]);
	}
	return err;
}

/* -- directories -------------------------------------------------------------------------------------------------------- */

static bool may_share(const struct merge *m, const struct part_directory *directory)
{
	const char *const *name = m->options->shared;

	for (; name && *name; name++)
		if (!strcmp(*name, directory->path))
			return true;
	return m->options->is_shared_guessed && iot_is_shared_type(directory->magic);
}

/* One of the directories is in another one. */
static bool is_nested(const struct part_node *node)
{
	size_t bytes;
	u32 i, j;

	for (i = 0; i < node->directory_count; i++)
		for (j = 0; j < node->directory_count; j++) {
			bytes = strlen(node->directories[i].path);
			if (i != j && !strncmp(node->directories[i].path, node->directories[j].path, bytes) &&
			    node->directories[j].path[bytes] == '/')
				return true;
		}
	return false;
}

static int decide(struct merge *m, struct part_node *node)
{
	u32 shared = 0, i;

	if (node->names != PART_NAMES_bare)
		return 0;
	for (i = 0; i < node->directory_count; i++)
		shared += may_share(m, &node->directories[i]);
	node->names = shared && shared == node->directory_count ? PART_NAMES_shared : PART_NAMES_own;
	if (node->directory_count > 1 && (node->names == PART_NAMES_own || is_nested(node)))
		return merge_refuse(m, "%s: has recorded several directories that are not all shared, or nested: merge the traces instead", node->name);
	return 0;
}

static bool is_same(const struct part_directory *a, const struct part_directory *b)
{
	return a->magic == b->magic && a->ino && a->ino == b->ino;
}

static int compare_directory(struct merge *m, const struct part_node *a, const struct part_node *b, const struct part_directory *x,
			     const struct part_directory *y)
{
	bool is_one = is_same(x, y);

	if (a->names == PART_NAMES_own && b->names == PART_NAMES_own)
		return 0;
	if (a->names != b->names)
		return !is_one ? 0 : merge_refuse(m, "%s: is shared on %s and not on %s: merge all parts with the same --shared", x->path,
						  (a->names == PART_NAMES_shared ? a : b)->name, (a->names == PART_NAMES_own ? a : b)->name);
	return is_one ? 0 : merge_refuse(m, "%s: is not the same directory on %s and on %s: --shared=none treats its files as different",
					 x->path, a->name, b->name);
}

static const struct part_directory *find_directory(const struct part_node *node, const char *path)
{
	u32 i;

	for (i = 0; i < node->directory_count; i++)
		if (!strcmp(node->directories[i].path, path))
			return &node->directories[i];
	return NULL;
}

/* Names of files in several shared directories are those from the deepest directory above all of them. */
static bool have_other_names(const struct part_node *a, const struct part_node *b)
{
	u32 i;

	if (a->names != PART_NAMES_shared || b->names != PART_NAMES_shared)
		return false;
	for (i = 0; i < a->directory_count; i++)
		if (!find_directory(b, a->directories[i].path))
			return true;
	return a->directory_count != b->directory_count;
}

static int compare_pair(struct merge *m, const struct part_node *a, const struct part_node *b)
{
	const struct part_directory *other;
	u32 i;
	int err = 0;

	if (have_other_names(a, b))
		return merge_refuse(m, "%s and %s: have recorded different shared directories: merge the traces instead", a->name, b->name);
	for (i = 0; i < a->directory_count && !err; i++) {
		other = find_directory(b, a->directories[i].path);
		if (other)
			err = compare_directory(m, a, b, &a->directories[i], other);
	}
	return err;
}

/* `iotape merge` treats a directory of one node as its own. */
static int check_alone(struct merge *m)
{
	const struct part_node *node = NULL;
	u32 i, shared = 0;

	for (i = 0; i < m->part->node_count; i++)
		if (m->part->nodes[i].names == PART_NAMES_shared) {
			node = &m->part->nodes[i];
			shared++;
		}
	if (shared != 1 || m->options->is_part)
		return 0;
	return merge_refuse(m, "%s: no other node than %s has recorded it: merge all parts with --shared=none", node->directories[0].path,
			    node->name);
}

/* All nodes with a shared directory are compared with the first one of them, and with those that treat it as their own. */
static int decide_all(struct merge *m)
{
	u32 i, j;
	int err = 0;

	for (i = 0; i < m->part->node_count && !err; i++)
		err = decide(m, &m->part->nodes[i]);
	for (i = 0; i < m->part->node_count && !err; i++)
		for (j = 0; j < i && !err; j++)
			err = compare_pair(m, &m->part->nodes[j], &m->part->nodes[i]);
	return err ? err : check_alone(m);
}

/* The nodes of a source in the merged part, and the name that comes before those of its files. */
static int map_nodes(struct merge *m, struct merge_source *s)
{
	const struct part *part = s->pattern->part;
	const struct part_node *own, *merged;
	u32 i;

	for (i = 0; i < part->node_count; i++) {
		own = &part->nodes[i];
		merged = find_node(m, own->name);
		s->nodes[i] = (u32)(merged - m->part->nodes);
		if (own->names == PART_NAMES_bare && merged->names == PART_NAMES_own)
			s->prefix = own->name;
		if (own->names == PART_NAMES_bare && m->is_cluster && part->node_count > 1)
			return merge_refuse(m, "%s: its names are not those of several nodes", s->name);
	}
	return 0;
}

/**
 * merge_part() - what the result is a part of
 */
int merge_part(struct merge *m)
{
	struct part *part;
	u32 i;
	int err = 0;

	m->part = part = calloc(1, sizeof(*part));
	if (!part)
		return -ENOMEM;
	part->version = strdup(m->sources[0].pattern->part->version);
	part->shim = strdup("");
	part->job = strdup("");
	if (!part->version || !part->shim || !part->job)
		return -ENOMEM;
	for (i = 0; i < m->source_count && !err; i++)
		err = take_job(m, &m->sources[i]);
	for (i = 0; i < m->source_count && !err; i++)
		err = take_nodes(m, &m->sources[i]);
	m->is_cluster = part->node_count > 1;
	if (!err && m->is_cluster)
		err = decide_all(m);
	for (i = 0; i < m->source_count && !err; i++)
		err = map_nodes(m, &m->sources[i]);
	return err;
}
