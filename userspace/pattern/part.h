/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * part.h - what a pattern is a part of: a job, of which it has the tasks of some nodes.
 */
#ifndef IOTAPE_PATTERN_PART_H
#define IOTAPE_PATTERN_PART_H

#include "lib/iotape.h"
#include "pattern.h"
#include "series.h"

#define PART_NAME_BYTES_MAX 200 /* of a node: it may become the name of a directory */

/**
 * struct part_directory - a recorded directory of a node
 * @path: of it
 * @magic: type of its file system
 * @ino: inode number of its root
 */
struct part_directory {
	char *path;
	u64 magic;
	u64 ino;
};

/**
 * enum part_names - the names of the files of a node
 * @PART_NAMES_bare: as the node has recorded them: there is no other node
 * @PART_NAMES_shared: its directories are those of other nodes
 * @PART_NAMES_own: below a directory with the name of the node
 */
enum part_names { PART_NAMES_bare, PART_NAMES_shared, PART_NAMES_own, PART_NAMES_END };

/**
 * struct part_node - a node of a part
 * @name: of the host
 * @boot: id of the boot, "" if it is not known
 * @capture, @begin_ns: of its trace that begins first
 * @names: of its files
 * @directories: by path, @directory_count of them
 */
struct part_node {
	char *name;
	char *boot;
	unsigned char capture[16];
	u64 begin_ns;
	enum part_names names;
	struct part_directory *directories;
	u32 directory_count;
};

/**
 * struct part - what a pattern is a part of
 * @version: of the program that made it from a trace
 * @shim: of MPI that wrote the calls, "" if none
 * @job: name of the job as given to the recorder, "" if none
 * @world: key of its MPI_COMM_WORLD, 0 if it has no ranks
 * @ranks: of that, in all parts
 * @nodes: by name, @node_count of them
 * @node_of: the node of each task: a series over their positions
 * @omissions: of the traces
 */
struct part {
	char *version;
	char *shim;
	char *job;
	u64 world;
	u64 ranks;
	struct part_node *nodes;
	u32 node_count;
	struct series *node_of;
	struct iot_omissions omissions;
};

void part_free(struct part *part);
bool part_copy_node(struct part *part, const struct part_node *node);
void part_put(struct bytes *bytes, const struct part *part);
struct part *part_get(struct input *in);

/* part_trace.c */
int part_of_trace(const char *trace, struct part **part, struct pattern_refusal *refusal, struct iot_reject *reject);

#endif
