/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * names_tables.h - the tables of names.c: names, objects, paths, handles and mappings.
 */
#ifndef IOTAPE_LIB_NAMES_TABLES_H
#define IOTAPE_LIB_NAMES_TABLES_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "core/siphash.h"
#include "iotape.h"

/* One path, and the objects seen under it. Lives as long as the names, so labels point to it. */
struct binding {
	UT_hash_handle hh;
	u64 object;
	u32 generation;
	char path[];
};

struct name {
	UT_hash_handle hh;
	u64 id;
	u64 dir;
	struct binding *binding; /* its path, as of `epoch` */
	u64 epoch;
	size_t component_bytes;
	char component[];
};

struct inode_key {
	u64 dev;
	u64 ino;
	u64 generation;
};

struct object {
	UT_hash_handle hh;
	u64 id;
	u64 identity; /* if it is the id of another object, that object has the following members */
	struct inode_key inode;
	u64 name; /* of a directory its only one, else the last that was seen */
	struct binding *nameless; /* if it was created without a name */
	bool is_unnamed; /* that path was made up, as it had lost its name before */
	u32 type;
};

/* An inode, and the id that it had first. */
struct identity {
	UT_hash_handle hh;
	struct inode_key inode;
	u64 object;
};

/* A handle or a mapping, called after the name it was opened by. */
struct tag {
	UT_hash_handle hh;
	u64 id;
	struct iot_label label;
};

struct iot_names {
	struct iot_siphash_key secret; /* of the hash tables: ids and names come from an untrusted trace */
	struct binding *bindings;
	struct name *names;
	struct object *objects;
	struct identity *identities;
	struct tag *handles;
	struct tag *maps;
	u64 epoch; /* from 1, grows when a directory is renamed */
	u32 unnamed; /* objects that were open without a name before the recording */
	bool is_first; /* the last record announced a handle that was not known */
	bool is_short_of_memory;
};

struct binding *names_binding_of(struct iot_names *names, const char *path);
struct binding *names_binding(struct iot_names *names, u64 id);

struct object *names_object(struct iot_names *names, u64 id);
struct object *names_make_object(struct iot_names *names, u64 id);
struct object *names_identify(struct iot_names *names, u64 id, const struct inode_key *inode);
void names_forget_object(struct iot_names *names, u64 id);

struct name *names_name(struct iot_names *names, u64 id);
void names_add_name(struct iot_names *names, const struct iot_record *record);

struct tag *names_tag(const struct iot_names *names, struct tag *tags, u64 id);
void names_set_tag(struct iot_names *names, struct tag **tags, u64 id, struct iot_label label);
void names_drop_tag(const struct iot_names *names, struct tag **tags, u64 id);

void names_free_tables(struct iot_names *names);

#endif
