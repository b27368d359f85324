/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the state of a merge. Private to this directory.
 *
 * The first reading of all traces finds their ranks and nodes, the ids in use and the matching MPI
 * calls (survey.c); that gives times (fit.c) and new ids (identities.c, shared.c). The second
 * reading rewrites each record and puts it in its place (output.c).
 *
 * Functions return 0 or a negative errno. When they fail, they have already reported the error.
 */
#ifndef IOTAPE_MERGE_STATE_H
#define IOTAPE_MERGE_STATE_H

#include <uthash.h>

#include "analyse/graph/graph.h"
#include "merge.h"

#define MERGE_CHUNK_BYTES (256 << 10)
#define MERGE_NONE	  (~0u)

/* The kinds of ids that are mapped from those of a node to those of the merged trace. */
enum merge_ids {
	IDS_task,
	IDS_process,
	IDS_object,
	IDS_handle,
	IDS_name,
	IDS_map,
	IDS_request,
	IDS_COUNT
};

struct id_range {
	u64 min;
	u64 max; /* 0: none */
	u64 base;
};

/* A recorded directory of a node. */
struct merge_mount {
	u32 node;
	u64 object; /* its root, as in the node's trace */
	u64 name;   /* of the root; its new id after shared_open() */
	u64 ino;
	u64 dev;
	u64 magic;
	u32 share; /* index of the first mount that is the same; itself if it is not shared */
	bool may_share;
	bool is_shared;
	char *path;
	char *component; /* its name in the new trace; NULL if it has the name of its node */
};

/**
 * struct merge_node - a node of the job
 * @name: of the host; not that of another node
 * @boot: id of the boot, "" if not known
 * @first: index of its trace that begins first
 */
struct merge_node {
	char *name;
	char *boot;
	u32 first;
	u64 traces;
	struct id_range ids[IDS_COUNT];
	u32 *performed; /* of a replay, the tasks that it performed */
	u32 performed_count;
	u32 performed_room;
	bool has_same_clock; /* of a replay: as the reference */
	struct merge_node_result result;
};

/* A fact, and the number of nodes that state it. */
struct merge_fact {
	UT_hash_handle hh;
	u32 first_node;
	u32 last_node;
	u32 nodes;
	u16 bytes;
	char text[];
};

/**
 * struct merge_input - a trace
 * @record: the next record, which has its time, if @has_record
 * @end_ns: that of its end
 * @text: room for a changed tail of it
 * @chunk: records that are not written yet, described by @head
 * @world: key of the MPI_COMM_WORLD that its first rank is of, 0 if of none
 * @job: name given to the recorder, NULL if none
 * @replay: of a replay, its program; else NULL, and the following members are unused
 * @part: number of its node
 * @run: id of the replay
 * @clock: id of its clock
 * @sample: reading of its clock by node 0
 */
struct merge_input {
	char *path;
	struct iot_reader *reader;
	struct iot_trace_info info;
	struct iot_record record;
	bool has_record;
	u64 end_ns;
	char text[IOT_TAIL_MAX_BYTES];
	u8 *chunk;
	u32 chunk_bytes;
	struct iot_chunk_head head;
	u64 sequence;
	u32 node;
	u64 world;
	char *job;
	char *host;
	char *boot;
	char *shim;
	char *version;
	char *job_nodes;
	char *replay;
	char *part;
	char *run;
	char *clock;
	char *sample;
	char *ranks;
	u32 part_number;
	char *mount; /* from the last fact: for records of mounts without a path */
	u32 mount_facts;
	bool is_left_out;
	bool is_partial; /* of a replay: not all operations of its node were performed */
};

/* A process that is a rank of a world of so many ranks; its number is its own among all worlds. */
struct merge_rank {
	u64 world;
	u64 begin_ns;
	u32 input;
	u32 rank;
	u32 ranks;
	u32 number;
	bool has_finalized;
};

struct merge_task;
struct shared;

struct merge {
	struct merge_options options;
	struct merge_input *inputs;
	u32 input_count;
	struct merge_node *nodes;
	u32 node_count;
	u32 reference;
	bool is_of_replay; /* the traces are outcomes of its nodes */
	u32 part_count;    /* its number of nodes */
	struct merge_rank *ranks;
	u32 rank_count;
	struct merge_fact *facts;
	struct merge_mount *mounts;
	u32 mount_count;
	struct merge_task *tasks;
	struct graph *calls; /* MPI calls of all nodes, with the times of their clocks */
	u32 *call_nodes;
	u32 call_room;
	struct clocks *clocks;
	struct shared *shared;
	struct iot_writer *writer;
	struct merge_input **heap; /* those that have a record, the first one on top */
	u32 heap_count;
	u64 root_name; /* of the directory above those of the nodes; 0 if there is none */
	u64 root_object;
	u64 end_ns;
	struct merge_result result;
};

/* inputs.c */
int merge_input_open(struct merge *merge, u32 input);
int merge_fail(const struct merge *merge, const char *path, int err);
int merge_fail_reject(const struct merge *merge, const char *path, int err,
		      const struct iot_reject *reject);
bool merge_is_cluster(const struct merge *merge);
int merge_leave_out(struct merge *merge);

/* survey.c */
int merge_survey(struct merge *merge);
void merge_forget(struct merge *merge);
enum merge_ids merge_ids_of(u16 kind, const struct iot_field *field);
bool merge_is_omission(const struct iot_record *record);
bool merge_is_partial(const struct iot_record *record);

/* jobs.c */
int merge_check_jobs(struct merge *merge);
int merge_list_ranks(struct merge *merge);
int merge_take_stock(struct merge *merge);

/* fit.c */
int merge_fit(struct merge *merge);

/* identities.c */
int merge_identities(struct merge *merge);
u64 merge_new_id(const struct merge_node *node, enum merge_ids ids, u64 id);
void merge_retime(const struct merge *merge, struct merge_input *input);
int merge_rewrite(struct merge *merge, struct merge_input *input);

/* parts.c */
int parts_check(struct merge *merge);
char *parts_name(const struct merge_input *input);
int parts_see_task(struct merge_node *node, u32 task);
bool parts_list_tasks(struct merge_node *node, u32 *at, char *text, size_t room);
bool parts_keeps(const struct merge *merge, const struct merge_input *input, bool *is_left_out);
u32 parts_reference(const struct merge *merge);
int parts_bound(struct merge *merge);
void parts_take_stock(struct merge *merge);

/* shared.c */
int shared_open(struct merge *merge);
void shared_close(struct shared *shared);
int shared_rewrite(struct merge *merge, const struct merge_input *input, struct iot_record *record);
void shared_after(struct merge *merge, const struct iot_record *record);

/* output.c */
int merge_write(struct merge *merge);

#endif
