/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linear.h - linearization: when overlapping operations took effect, as far as their results show.
 *
 * An operation takes effect at one moment between its start and its end, so two operations that overlap may have
 * taken effect in either order. Results decide: an operation that found a name took effect after the operation that
 * created the name, and a refused lock was requested after another task got it and before that task released it.
 *
 * linear.c traverses the starts and ends of operations in causal order and applies each operation to a model as late
 * as possible: at its end, or when the result of another operation shows that it has taken effect. The order of
 * these moments is a possible order of the run, the *witness order*; `count` numbers it. Edges lead from smaller counts to
 * larger ones, as all other edges do, so they form no circle.
 *
 *	linear.c	 traversal
 *	linear_states.c	 versions of a state, and the operations that observed them
 *	linear_names.c	 names, and whether directories are empty
 *	linear_paths.c	 directories on the way to a name
 *	linear_sizes.c	 sizes of files
 *	linear_results.c sizes that results show
 *	linear_search.c	 other orders, if the first one does not explain a result
 *	linear_locks.c	 file locks
 */
#ifndef IOTAPE_LINEAR_H
#define IOTAPE_LINEAR_H

#include <uthash.h>

#include "analyse/graph/graph.h"

/* Value of a state: absent, present, or the number of a certain file. */
#define VALUE_ABSENT  0u
#define VALUE_UNKNOWN 0xffffffffu
#define VALUE_PRESENT 0xfffffffeu
#define VALUE_ANY     0xfffffffdu /* as a requirement: any value; as a new value: unchanged */
#define VALUE_MADE    0x80000000u /* with the number of a file that the trace creates */

#define SIZE_UNKNOWN ((u64)-1)

/* An operation of a graph. */
struct op_at {
	u32 task;
	u32 index;
};

/**
 * struct version - the value of a state from one moment until the next version
 * @count: that moment
 * @revealed: moment at which an operation observed the value, if it was unknown before; until then it is @first_value
 * @by: the operation that set the value; task GRAPH_NONE: an initial value
 */
struct version {
	u64 count;
	u32 value;
	u32 first_value;
	u64 revealed;
	struct op_at by;
};

/* An operation that observed a value while operations that change the state could overlap it. */
struct witness {
	u32 need;
	struct op_at who;
};

/* An operation that created a name in a directory or removed one. */
struct changer {
	u64 count;
	s32 more;
	struct op_at who;
};

/**
 * struct linear_state - a name or a directory whose value operations observe and change
 * @versions: the most recent ones
 * @pending: tasks with an operation that changes the state and has not taken effect
 * @cause: of edges that this state causes
 * @names: number of names in a directory
 * @is_directory: the contents of a directory, not a name
 * @watchers: of a directory, number of operations under way that observe whether it is empty
 * @changers: of a directory, operations that changed its names and may overlap a watcher
 * @standing: index in a search + 1, 0 outside a search
 */
struct linear_state {
	struct version *versions;
	u32 version_count;
	u32 version_room;
	u32 *pending;
	u32 pending_count;
	u32 pending_room;
	struct witness *witnesses;
	u32 witness_count;
	u32 witness_room;
	enum edge_cause cause;
	s64 names;
	bool is_directory;
	u32 watchers;
	struct changer *changers;
	u32 changer_count;
	u32 changer_room;
	u32 standing;
};

/* A component in a directory, or the one that a directory itself was found by; equal texts are one. */
struct name_key {
	u64 dir;
	const char *component;
};

/**
 * struct name - a name that changes
 * @first: a file of the initial tree that was found there
 * @has_come: a file without a known name was moved there
 */
struct name {
	UT_hash_handle hh;
	struct name_key key;
	struct linear_state state;
	u32 first;
	bool has_come;
};

/**
 * struct level - a directory on the way to a name, if its own name changes
 * @file: the directory
 * @above: the next one
 */
struct level {
	struct name *name;
	u32 file;
	struct level *above;
};

struct path_key {
	u64 dir;
	const char *text;
};

/**
 * struct path - a text of the graph as a path in a directory
 * @name: its last component, if that changes
 * @above: directories on the way
 */
struct path {
	UT_hash_handle hh;
	struct path_key key;
	struct name *name;
	struct level *above;
};

/**
 * struct observation - the value of a state before and after an operation, by its result
 * @need: value before
 * @after: value afterwards, VALUE_ANY: unchanged
 * @more: change of the number of names in the directory @state: -1, 0 or 1
 */
struct observation {
	struct linear_state *state;
	u32 need;
	u32 after;
	s32 more;
};

#define OBSERVATIONS_MAX 40 /* including directories on the way; deeper names have no further observations */

/**
 * struct linear_op - the operation that a task is in
 * @at: the operation
 * @begun: count at its start
 * @has_happened: it has taken effect in the model
 * @is_happening: other operations must take effect first
 * @is_change: it changes a state
 * @locks: locks of the file that it locks or tests, or NULL
 * @size: size of the file that it observes or changes, or NULL
 * @size_place: its index among operations that only observe that size
 * @has_found_size, @size_min_bytes, @size_max_bytes: range of the observed size
 * @has_set_size, @size_after_bytes, @is_growth: new size; with @is_growth its lower bound
 */
struct linear_op {
	struct op_at at;
	u64 begun;
	bool has_happened;
	bool is_happening;
	bool is_change;
	struct file_locks *locks;
	struct file_size *size;
	u32 size_place;
	u64 size_min_bytes;
	u64 size_max_bytes;
	u64 size_after_bytes;
	bool has_found_size;
	bool has_set_size;
	bool is_growth;
	struct observation observations[OBSERVATIONS_MAX];
	u32 observation_count;
};

/**
 * enum sought - an observation that the order so far does not explain
 * @SOUGHT_NAME: a name; if no order explains it, a guess about the initial tree may be wrong
 * @SOUGHT_SIZE: a size in a result
 * @SOUGHT_SAMPLE: a size that the recorder noted before the operation changed it; not part of the result
 */
enum sought {
	SOUGHT_NAME,
	SOUGHT_SIZE,
	SOUGHT_SAMPLE,
};

/**
 * struct linear - the model, and the position of the traversal
 * @tree: learns the order in which operations take effect, or NULL
 * @causes: bits of enum edge_cause: causes of edges to add
 * @count: moments so far
 * @now_ns: time in the trace
 * @of_task: current operation of each task, NULL if it is irrelevant here
 * @is_made: of each file, whether the trace creates it
 * @is_above: of each file, whether names are in it
 * @stays_ns: of each file, start of the first operation that removes a name of it
 * @depth: nesting of operations that take effect because another one does
 * @unexplained: results without an explanation, for example because another program changed a file
 * @searches: searches for other orders
 * @is_to_begin_anew: a search has found one
 */
struct linear {
	struct graph *graph;
	struct tree *tree;
	u32 causes;
	u64 count;
	u64 now_ns;
	struct linear_op **of_task;
	struct name *names;
	struct path *paths;
	struct spot *spots;
	struct folder *folders;
	struct file_locks *locks;
	struct file_size **sizes;
	u32 size_count;
	bool *is_made;
	bool *is_above;
	u64 *stays_ns;
	u32 depth;
	u64 unexplained;
	struct searches *searches;
	bool is_to_begin_anew;
	int err;
};

/* linear.c */
const struct graph_op *linear_graph_op(const struct linear *e, struct op_at at);
u64 linear_begun_ns(const struct linear *e, struct op_at at);
bool linear_overlap(const struct linear *e, struct op_at before, struct op_at after);
bool linear_is_under_way(const struct linear *e, struct op_at at);
void linear_wait(struct linear *e, struct op_at before, struct op_at after,
		  enum edge_cause cause);
void linear_order(struct linear *e, struct op_at before, struct op_at after,
		   enum edge_cause cause);
void linear_happen(struct linear *e, struct linear_op *x);
void *linear_room(struct linear *e, void *array, u32 count, u32 *room, size_t bytes);

/* linear_states.c */
void state_forget(struct linear *e, struct linear_state *state, u32 value);
void state_expect(struct linear *e, struct linear_state *state, u32 task);
bool observation_is_emptiness(const struct observation *observation);
bool observation_is_of_entries(const struct observation *observation);
void states_happen(struct linear *e, struct linear_op *x);
bool value_meets(u32 value, u32 need);
s64 state_value_at(const struct linear_state *state, u64 count);
bool state_was(const struct linear_state *state, u32 need, u64 low, u64 high);
void state_exit(struct linear_state *state);

/* linear_paths.c */
void path_changes(struct linear *e, const char *text, u32 dir);
void path_seen(struct linear *e, const char *text, u32 dir, u32 file);
struct name *path_name(struct linear *e, const char *text, u32 dir);
struct path *path_path(struct linear *e, const char *text, u32 dir);
void paths_close(struct linear *e);

/* linear_names.c */
int names_open(struct linear *e, struct tree *tree);
void names_observe(struct linear *e, struct linear_op *x);
void names_begin(struct linear *e, struct linear_op *x);
void names_close(struct linear *e);

/* linear_search.c */
int searches_open(struct linear *e);
bool searches_may_guess(const struct linear *e);
void searches_begin(struct linear *e);
void searches_note(struct linear *e, const struct linear_op *x);
bool searches_again(struct linear *e, const struct linear_op *x, enum sought what);
bool script_happen(struct linear *e, const struct linear_op *x);
void searches_close(struct linear *e);

/* linear_results.c */
void size_says(struct linear_op *x, u64 min_bytes, u64 max_bytes);
u32 size_file(const struct graph_op *op);
void size_take_result(struct linear_op *x, const struct graph_op *op);

/* linear_sizes.c */
int sizes_open(struct linear *e, struct tree *tree);
void sizes_observe(struct linear *e, struct linear_op *x);
void sizes_begin(struct linear *e, struct linear_op *x);
void sizes_force(struct linear *e, struct linear_op *x);
void sizes_take(struct linear *e, struct linear_op *x, u64 *low, u64 *high);
void sizes_change(struct linear *e, struct linear_op *x);
u32 *size_standing(struct file_size *f);
s64 size_value_at(const struct file_size *f, u64 count);
bool size_was(const struct linear_op *x, u64 low, u64 high);
bool size_sample(const struct linear *e, const struct linear_op *x, struct linear_op *sample);
bool size_meets(const struct linear_op *x, u64 bytes);
u64 size_after(const struct linear_op *x, u64 bytes);
void sizes_close(struct linear *e);

/* linear_locks.c */
void locks_begin(struct linear *e, struct linear_op *x);
void locks_happen(struct linear *e, struct linear_op *x);
void locks_close(struct linear *e);

#endif
