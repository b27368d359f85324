/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * effects.h - when operations that overlapped took effect, as far as their results tell.
 *
 * An operation takes effect at one moment between its begin and its end. Who overlapped may have
 * come in either order; but who was told that a name is there came after what made it, and who
 * was refused a lock came after who took it, and before it was given up. effects.c goes through
 * the begins and ends of operations and performs each on a model as late as can be: where it
 * ends, or where the result of another one shows that it has happened. The order in which that
 * happens, which is one that the run can have had, is the *count* below; edges made here lead
 * from smaller counts to larger ones, as do all other edges, so no circle comes of them.
 *
 *	effects.c	the walk
 *	things.c	what something was from when on, and who found it so
 *	effects_names.c	names, and whether directories are empty
 *	effects_places.c where names are
 *	effects_sizes.c	sizes of files
 *	effects_results.c what results say of them
 *	effects_search.c other orders, where the first one does not explain what was found
 *	locks.c		file locks
 */
#ifndef IOTAPE_EFFECTS_H
#define IOTAPE_EFFECTS_H

#include <uthash.h>

#include "analyse/graph/graph.h"

/* What a thing is: nothing, something, or a certain file by its number. */
#define VALUE_ABSENT  0u
#define VALUE_UNKNOWN 0xffffffffu
#define VALUE_PRESENT 0xfffffffeu
#define VALUE_ANY     0xfffffffdu /* of a need: whatever it is; of what comes after: the same */
#define VALUE_MADE    0x80000000u /* with the number of a file that was not there at the beginning */

#define SIZE_UNKNOWN ((u64)-1)

/* An operation of a graph. */
struct deed_at {
	u32 task;
	u32 index;
};

/**
 * struct version - what a thing was from a moment on
 * @count: the moment
 * @told: when an operation told what it was, if that was not known; @first_value: till then
 * @by: who made it so; task GRAPH_NONE: it was so before
 */
struct version {
	u64 count;
	u32 value;
	u32 first_value;
	u64 told;
	struct deed_at by;
};

/* Who found a thing to be so, while others that change it were under way, or could begin before it ended. */
struct witness {
	u32 need;
	struct deed_at who;
};

/* Who made a name in a directory, or removed one from it. */
struct changer {
	u64 count;
	s32 more;
	struct deed_at who;
};

/**
 * struct thing - what operations find and change
 * @versions: the last ones
 * @pending: tasks whose operation changes it, and has not happened
 * @cause: of its edges
 * @names: of a directory, how many it has
 * @is_directory: it is what names are in, not a name
 * @watchers: of a directory, operations under way that find it empty, or not
 * @changers: who made or removed a name in it, and has not ended, or not before one of these began
 * @standing: in a search, its place there + 1; else 0
 */
struct thing {
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
 * @first: of files that the trace does not make, one that was found there
 * @has_come: one came there
 */
struct name {
	UT_hash_handle hh;
	struct name_key key;
	struct thing thing;
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
 * struct claim - what an operation says of a thing
 * @need: what it was
 * @after: what it is then, VALUE_ANY: the same
 * @more: names that the directory @thing has then, more than before; -1, 0 or 1
 */
struct claim {
	struct thing *thing;
	u32 need;
	u32 after;
	s32 more;
};

#define CLAIMS_MAX 40 /* directories on the way count; what is below so many has no more */

/**
 * struct effect - the operation that a task is in
 * @at: which
 * @begun: count when it began
 * @has_happened: it is in the model
 * @is_happening: it waits for others to happen first
 * @is_change: it changes a thing
 * @locks: of the file whose locks it is about, or NULL
 * @size: of the file whose size it found or changes, or NULL
 * @size_place: its own among those that find that, and do not change it
 * @has_found_size, @size_min_bytes, @size_max_bytes: what that was
 * @has_set_size, @size_after_bytes, @is_growth: what it is then; it is no less than that
 */
struct effect {
	struct deed_at at;
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
	struct claim claims[CLAIMS_MAX];
	u32 claim_count;
};

/**
 * enum sought - what an operation found that has no explanation
 * @SOUGHT_NAME: if no order explains that, it may be that what was there before was guessed
 * @SOUGHT_SIZE: as its result
 * @SOUGHT_SIGHT: a size that it noted before it changed that; no result
 */
enum sought {
	SOUGHT_NAME,
	SOUGHT_SIZE,
	SOUGHT_SIGHT,
};

/**
 * struct effects - the model, and where the walk is
 * @tree: to be told the order in which operations happen, or NULL
 * @causes: bits of enum edge_cause: edges that are made
 * @count: of what has happened
 * @now_ns: the time of the trace
 * @of_task: what each task is in, NULL if nothing of interest
 * @is_made: of each file, whether the trace makes it
 * @is_above: of each file, whether names are in it
 * @stays_ns: of each file, when the first operation began that removes a name of it
 * @depth: of what happens because something else does
 * @unexplained: results that nothing explains, as those that came from outside of the trace
 * @searches: for other explanations
 * @is_to_begin_anew: one was found
 */
struct effects {
	struct graph *graph;
	struct tree *tree;
	u32 causes;
	u64 count;
	u64 now_ns;
	struct effect **of_task;
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

/* effects.c */
const struct graph_op *effects_op(const struct effects *e, struct deed_at at);
u64 effects_begun_ns(const struct effects *e, struct deed_at at);
bool effects_overlap(const struct effects *e, struct deed_at before, struct deed_at after);
bool effects_is_under_way(const struct effects *e, struct deed_at at);
void effects_wait(struct effects *e, struct deed_at before, struct deed_at after,
		  enum edge_cause cause);
void effects_order(struct effects *e, struct deed_at before, struct deed_at after,
		   enum edge_cause cause);
void effects_happen(struct effects *e, struct effect *x);
void *effects_room(struct effects *e, void *array, u32 count, u32 *room, size_t bytes);

/* things.c */
void thing_forget(struct effects *e, struct thing *thing, u32 value);
void thing_expect(struct effects *e, struct thing *thing, u32 task);
bool claim_is_emptiness(const struct claim *claim);
bool claim_is_of_entries(const struct claim *claim);
void things_happen(struct effects *e, struct effect *x);
bool value_meets(u32 value, u32 need);
s64 thing_value_at(const struct thing *thing, u64 count);
bool thing_was(const struct thing *thing, u32 need, u64 low, u64 high);
void thing_exit(struct thing *thing);

/* effects_places.c */
void place_changes(struct effects *e, const char *text, u32 dir);
void place_seen(struct effects *e, const char *text, u32 dir, u32 file);
struct name *place_name(struct effects *e, const char *text, u32 dir);
struct path *place_path(struct effects *e, const char *text, u32 dir);
void places_close(struct effects *e);

/* effects_names.c */
int names_open(struct effects *e, struct tree *tree);
void names_claim(struct effects *e, struct effect *x);
void names_begin(struct effects *e, struct effect *x);
void names_close(struct effects *e);

/* effects_search.c */
int searches_open(struct effects *e);
bool searches_may_guess(const struct effects *e);
void searches_begin(struct effects *e);
void searches_note(struct effects *e, const struct effect *x);
bool searches_again(struct effects *e, const struct effect *x, enum sought what);
bool script_happen(struct effects *e, const struct effect *x);
void searches_close(struct effects *e);

/* effects_results.c */
void size_says(struct effect *x, u64 min_bytes, u64 max_bytes);
u32 size_file(const struct graph_op *op);
void size_take_result(struct effect *x, const struct graph_op *op);

/* effects_sizes.c */
int sizes_open(struct effects *e, struct tree *tree);
void sizes_claim(struct effects *e, struct effect *x);
void sizes_begin(struct effects *e, struct effect *x);
void sizes_force(struct effects *e, struct effect *x);
void sizes_take(struct effects *e, struct effect *x, u64 *low, u64 *high);
void sizes_change(struct effects *e, struct effect *x);
u32 *size_standing(struct file_size *f);
s64 size_value_at(const struct file_size *f, u64 count);
bool size_was(const struct effect *x, u64 low, u64 high);
bool size_sight(const struct effects *e, const struct effect *x, struct effect *sight);
bool size_meets(const struct effect *x, u64 bytes);
u64 size_after(const struct effect *x, u64 bytes);
void sizes_close(struct effects *e);

/* locks.c */
void locks_begin(struct effects *e, struct effect *x);
void locks_happen(struct effects *e, struct effect *x);
void locks_close(struct effects *e);

#endif
