/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay.h - prepare a target for a program, and replay the program there.
 */
#ifndef IOTAPE_REPLAY_H
#define IOTAPE_REPLAY_H

#include <iotape/control.h>

#include "engine.h"
#include "lib/iotape.h"
#include "placement.h"

/* -- initial tree: prepare.c --------------------------------------------------------- */

enum prepare_data {
	PREPARE_AS_BEFORE, /* the data of the last preparation; random at first */
	PREPARE_RANDOM,	   /* data that does not compress */
	PREPARE_ZERO,
	PREPARE_SPARSE, /* sizes without data */
};

enum prepare_cache {
	PREPARE_MATCH, /* the same files as in the trace are cached */
	PREPARE_COLD,
	PREPARE_WARM,
	PREPARE_KEEP, /* as it comes */
};

/* Changes by a repair of a target: enum prepare_change, and their printed names. */
#define PREPARE_CHANGES(C)                       \
	C(made, "made")                          \
	C(removed, "removed")                    \
	C(replaced, "replaced")                  \
	C(relinked, "hard link removed")         \
	C(resized, "size changed")               \
	C(refilled, "data changed")              \
	C(attributes, "mode or owner changed")   \
	C(xattrs, "extended attributes changed") \
	C(flags, "flags changed")

enum prepare_change {
#define PREPARE_CHANGE(name, sentence) PREPARE_##name,
	PREPARE_CHANGES(PREPARE_CHANGE)
#undef PREPARE_CHANGE
	PREPARE_CHANGE_COUNT
};

extern const char *const prepare_change_sentences[PREPARE_CHANGE_COUNT];

/**
 * struct prepare_options - how to make the initial tree
 * @target: directory, which must be empty
 * @data: contents of files
 * @cache: which of them are in the page cache afterwards
 * @takes_target: the target itself gets owner and mode of the traced directory, too
 * @is_privileged: privileged files are created as in the trace, see core/replay/harmless.h
 * @is_delta: the target may have been prepared before: change only differences
 * @change: called for each change to this target, may be NULL
 */
struct prepare_options {
	const char *target;
	enum prepare_data data;
	enum prepare_cache cache;
	bool takes_target;
	bool is_privileged;
	bool is_delta;
	void (*change)(const char *path, enum prepare_change change);
};

/**
 * struct prepare_result - counts of a preparation
 * @entries: of the tree
 * @bytes: of data that were written
 * @changes: by enum prepare_change, to a target that was prepared before
 * @xattrs_failed: extended attributes that could not be set or removed
 * @xattr_failed: the first of them, with the reason
 * @cache_failed: files of which the cache could not be set, because they cannot be read
 * @harmless: entries that were to give rights, and are there without
 * @was_prepared: the target was, before
 * @is_open: users can read or enter the target that could not read or enter the traced directory
 */
struct prepare_result {
	u64 entries;
	u64 bytes;
	u64 changes[PREPARE_CHANGE_COUNT];
	u64 xattrs_failed;
	char xattr_failed[IOT_PROGRAM_PATH_MAX + 512];
	u64 cache_failed;
	u64 harmless;
	bool was_prepared;
	bool is_open;
};

typedef void (*prepare_progress_fn)(u64 entries, u64 bytes);

int prepare_tree(const struct iot_program *program, const struct prepare_options *options,
		 prepare_progress_fn progress, struct prepare_result *result, char *why, size_t room);

/* -- the mark of a prepared target: mark.c ------------------------------------------- */

enum mark_state {
	MARK_UNKNOWN, /* the target cannot hold a mark */
	MARK_NONE,
	MARK_PREPARED, /* for this program */
	MARK_OTHER,    /* for another one */
	MARK_USED,     /* a replay was there */
	MARK_BEGUN,    /* init has begun to change it, and did not come to its end */
};

#define MARK_ID_BYTES (2 * 16 + 1)

/**
 * struct mark - the mark of a target
 * @state: not MARK_OTHER
 * @id: of the capture that it was prepared for
 * @inode: of the target: a copy of a target is none; 0 if init did not set the mark
 * @since_ns: files that changed at this time of the clock of the target, or later, may differ from those created by init
 * @data: an enum prepare_data
 * @seed: of random data
 * @tree: checksum of the tree that it was prepared with
 */
struct mark {
	enum mark_state state;
	char id[MARK_ID_BYTES];
	u64 inode;
	u64 since_ns;
	u32 data;
	u64 seed;
	u32 tree;
};

void mark_read(int target_fd, struct mark *mark);
int mark_write(int target_fd, const struct mark *mark);
void mark_id(const struct iot_program *program, char id[MARK_ID_BYTES]);
enum mark_state mark_get(int target_fd, const struct iot_program *program);

/* -- one replay, by any engine: replay.c --------------------------------------------- */

struct agent;

/**
 * struct replay_options - how to replay
 * @engine: runs it
 * @program: the program, verified; of an engine that streams, from iot_program_stream()
 * @window_bytes: memory that operations may take, of an engine that streams
 * @target: directory; NULL if the engine uses none
 * @output: trace of the outcomes, NULL for none
 * @pace, @data: as in control.h
 * @wait, @users: as in control.h
 * @compute_scale, @pause_scale: factors for think time, in 1 / IOT_SCALE_ONE
 * @buffers: of each CPU, for the outcomes of the kernel engine
 * @is_emulated: others take the place of operations that the target does not have
 * @is_privileged: privileged files are created as in the trace, see core/replay/harmless.h
 * @is_forced: replay where the mark of prepare_tree() is missing
 * @agent: of this node, prepared for the program; NULL if there is one node
 * @facts: about this replay, for the outcomes: texts of the form key=value, ended by NULL
 */
struct replay_options {
	const struct replay_engine *engine;
	const struct iot_program *program;
	u64 window_bytes;
	const char *target;
	const char *output;
	enum iot_pace pace;
	enum iot_data_mode data;
	enum iot_wait_mode wait;
	enum iot_users users;
	u32 compute_scale;
	u32 pause_scale;
	unsigned int buffers;
	bool is_emulated;
	bool is_privileged;
	bool is_forced;
	struct agent *agent;
	const char *const *facts;
};

/**
 * struct replay_result - the result of a replay
 * @elapsed_ns: from the start to the end of the last task
 * @ops: operations run
 * @diverged: of them, those with another result than in the trace
 * @unsupported: of those, the ones that the target has no operation for
 * @emulated: operations whose place others took
 * @harmless: operations that created files without their privileges
 * @stalls: times that a worker had to wait until its part of the program was read
 * @workers: threads that run the tasks
 * @lateness: how late think times ended
 * @is_streamed: the program was larger than its window
 * @is_cancelled: it was ended before its time
 */
struct replay_result {
	u64 elapsed_ns;
	u64 ops;
	u64 diverged;
	u64 unsupported;
	u64 emulated;
	u64 harmless;
	u64 stalls;
	u64 lost;
	u32 workers;
	u32 tasks;
	u32 finished;
	struct iot_replay_lateness lateness;
	bool is_streamed;
	bool is_cancelled;
};

typedef void (*replay_progress_fn)(const struct iot_replay_status *status, u32 tasks, u64 ops);

void replay_take_signals(void);
bool replay_has_signal(void);
int replay_run(const struct replay_options *options, replay_progress_fn progress,
	       struct replay_result *result, char *why, size_t room);

/* -- one of several nodes: agent.c ------------------------------------------------------ */

/**
 * struct agent_view - the nodes of a replay
 * @node: this one, from 0; node 0 speaks for all
 * @count: their number
 * @placement: of tasks on nodes, from agent_prepare() on
 * @run: number of this replay, from the first agent_rendezvous() on
 * @sample_ns: a look of node 0 at the clock of this node: asked, seen here, heard; 0 on node 0
 */
struct agent_view {
	u32 node;
	u32 count;
	struct placement placement;
	u64 run;
	u64 sample_ns[3];
};

typedef void (*agent_say_fn)(const char *sentence);

int agent_open(struct agent **agent, const char *mpi, u32 limit_s, char *why, size_t room);
int agent_prepare(struct agent *agent, const struct iot_program *program, enum placement_rule rule,
		  char *why, size_t room);
struct agent_view agent_view(const struct agent *agent);
void agent_ranks(const struct agent *agent, char *text, size_t room);
void agent_outcomes(struct agent *agent, const char *path);
int agent_rendezvous(struct agent *agent, int err, char *why, size_t room);
int agent_finish(struct agent *agent, struct replay_result *result, int err, int *code, char *why,
		 size_t room, agent_say_fn say);
int agent_gather(struct agent *agent, const char *output, bool *is_here, char *why, size_t room);
bool agent_sample(const struct agent *agent, u32 node, u64 sample_ns[3]);
void agent_end(struct agent *agent, int code, bool is_gathered);
void agent_close(struct agent *agent);

/* -- workers.c: the processes and threads that the kernel engine sends into the kernel  */

struct workers;

int workers_start(struct workers **workers, int replay_fd, const struct iot_program *program,
		   const struct partition *partition);
int workers_wait(struct workers *workers, int timeout_ms, char *why, size_t room);
void workers_end(struct workers *workers);
void workers_kill(struct workers *workers);

#endif
