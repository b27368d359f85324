/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model.h - the importer's model of the traced machine at one moment: the file system and the
 * processes that use it.
 *
 * Ownership: everything lives until the end of a pass. Inodes, entries and tasks are never
 * freed before, because later records may still refer to them; open files, tables of
 * descriptors and lists of mappings are, with their last reference.
 *
 * The importer makes three passes over a log. The first finds the parent of each task. The second
 * runs the model and learns the initial state (struct known). The third starts from that state and
 * writes the trace.
 */
#ifndef IMPORT_MODEL_H
#define IMPORT_MODEL_H

#include <uthash.h>

#include "foreign.h"
#include "import.h"
#include "strace_log.h"

#define PATH_ROOM 4096
#define PENDING_DEPTH_MAX 32 /* each takes about 20 KiB of the stack */
#define FILE_MAX_BYTES (1ull << 62) /* a log that speaks of larger ones is wrong */
#define PAGE_BYTES 4096ll
#define MODE_BITS 07777 /* of a mode, without the type */

/**
 * struct known - knowledge about an object of the initial state
 * @path: of its first look-up
 */
struct known {
	UT_hash_handle hh;
	bool is_present;
	u32 type;
	u32 mode;
	bool has_mode;
	bool has_exact_size;
	u64 size_bytes;
	u32 uid;
	u32 gid;
	u8 *target;
	size_t target_bytes;
	size_t path_bytes;
	char path[];
};

struct inode;
struct call_kind;
struct call_name;

/**
 * struct entry - a name in a directory
 * @name: its id in the trace, 0 before it was announced
 * @is_looked_up: the kernel has it in its cache
 */
struct entry {
	UT_hash_handle hh;
	struct entry *next_made;
	enum { ENTRY_UNKNOWN, ENTRY_ABSENT, ENTRY_PRESENT } state;
	struct inode *dir;
	struct inode *inode;
	u64 name;
	bool is_looked_up;
	u16 bytes;
	u8 component[];
};

/**
 * struct inode - a file, a directory, or any other object
 * @id: in the trace, 0 before it was announced
 * @entry: a name of it, of a directory its only one; the name may be removed
 * @entries: of a directory
 * @below: the one that emit_object() came from on its way up
 * @known: the object's initial state; NULL if it was created later
 * @size_bytes: as far as is known
 * @has_size: it is all of its size; in the last pass, all that is to be found out
 * @has_exact_size: a call showed it, or made it so
 * @is_truncated: its size does not say anything about the beginning
 * @links: names that are known
 * @is_nameless_inside: it was made without a name, in a directory of the trace
 */
struct inode {
	struct inode *next_made;
	u64 id;
	u32 type;
	u32 mode;
	u64 rdev;
	struct entry *entry;
	struct entry *entries;
	struct inode *below;
	struct known *known;
	u64 size_bytes;
	bool has_size;
	bool has_exact_size;
	bool is_truncated;
	u32 links;
	bool is_nameless_inside;
	u8 *target;
	size_t target_bytes;
};

/**
 * struct file - an open file description
 * @handle: its id in the trace; 0 if it is not in it
 * @inode: im->nothing if it is not a file of a file system: a pipe, a socket
 * @entry: the name it was opened by, may be NULL
 * @flags: IOT_OPEN_*
 * @is_place: O_PATH
 * @is_position_lost: a call that was not understood has moved it
 */
struct file {
	u32 references;
	u64 handle;
	struct inode *inode;
	struct entry *entry;
	u32 flags;
	bool is_place;
	bool is_position_lost;
	u64 position_bytes;
};

struct descriptor {
	UT_hash_handle hh;
	s32 fd;
	bool is_cloexec;
	struct file *file;
};

struct fd_table {
	u32 references;
	struct descriptor *descriptors;
};

struct fs_place {
	u32 references;
	struct inode *cwd; /* NULL: not known */
	u32 umask;
	bool has_umask; /* else it is a guess */
};

/**
 * struct mapping - addresses at which a file is mapped
 * @map: id in the trace
 * @is_unsure: a call was not understood that may have changed it: there are no more records of it
 */
struct mapping {
	u64 begin;
	u64 end;
	u64 map;
	u64 offset_bytes;
	struct file *file;
	u32 prot;
	u32 flags;
	bool is_unsure;
};

struct memory {
	u32 references;
	struct mapping *mappings;
	size_t count;
	size_t room;
};

/**
 * struct task - a thread
 * @inner_pid: its number in its own PID namespace, if different; else 0
 * @vfork_parent: pid of the thread that made it by vfork(2) and waits for it; 0 if none
 * @id: of the task in the trace; an exec gives it another
 * @ops: operations that it entered in the trace
 * @call: that it is in; NULL if in none
 * @is_done: the model already contains the effect of that call, see pending.c
 * @idle_since_ns: end of its last system call
 * @runtime_ns: time between its system calls, without strace's share
 * @held_ns: strace's share of the time since the last record that states it, see cost.c
 * @id_before, @ops_before: the task's id and operations when it entered its last call
 * @program: its executable, if known
 */
struct task {
	UT_hash_handle hh;
	u32 pid;
	u32 tgid;
	u32 inner_pid;
	u32 vfork_parent;
	u32 id;
	u32 ops;
	const struct call *call;
	bool is_done;
	u64 idle_since_ns;
	u64 runtime_ns;
	u64 held_ns;
	u32 id_before;
	u32 ops_before;
	char command[16];
	struct fd_table *fds;
	struct fs_place *fs;
	struct memory *memory;
	struct inode *program;
};

/**
 * struct birth - the creation of a task by another one, from the first pass
 * @result: of the call: the child's number in its parent's namespace
 * @child: its number in the log; 0 if unknown
 * @begin_ns: of the call
 * @flags: CLONE_*
 */
struct birth {
	u32 parent;
	u32 result;
	u32 child;
	u64 begin_ns;
	u64 flags;
	bool is_used;
};

/* A thread of the log, from the first pass. */
struct sighting {
	UT_hash_handle hh;
	u32 pid;
	u64 first_ns;
	u64 left_ns; /* end of its last call */
	bool is_explained; /* a call made it */
};

#define COST_BINS 5000 /* of 100 ns */

/* The distribution of gaps between calls, or of durations of calls; longer ones are counted only. */
struct cost_samples {
	u64 count;
	u64 bins[COST_BINS];
};

/* How often something is in the log that has a name, see left_out.c. */
struct named_gap {
	UT_hash_handle hh;
	enum import_gap kind;
	u64 count;
	char name[];
};

/* A call that changes names and failed, from the first pass: it did not do it. */
struct failure {
	UT_hash_handle hh;
	struct failure_key {
		u64 begin_ns;
		u64 pid;
	} key;
};

/**
 * struct root - a directory that is imported
 * @path: absolute, without links
 * @name: its id in the trace
 */
struct root {
	char *path;
	size_t path_bytes;
	struct inode *inode;
	u64 name;
};

/**
 * struct import - an import
 * @task: the task of the current call
 * @begin_ns, @end_ns: time of the call; the first record takes all of it
 * @last_ns: end of the record that was written last
 * @writer: NULL while nothing is written
 * @leads_away: a name below the root was opened, and the path that -y shows is not below it
 * @are_names_lost: a call that changes names was not understood: any name may exist now
 * @pending_depth: nested calls that are under way and were assumed done, each to settle the previous one
 */
struct import {
	struct log *log;
	struct import_summary *summary;
	int err;
	bool is_last_pass;
	void (*progress)(u64 done_bytes, u64 total_bytes);
	u64 events; /* in all passes */
	u32 pass;   /* from 0 */
	u64 gaps[IMPORT_GAP_COUNT];
	u64 gap_bytes[IMPORT_GAP_COUNT];
	struct named_gap *named_gaps;
	struct call_name *call_names;

	struct known *known;
	struct failure *failures;
	struct birth *births;
	size_t birth_count;
	size_t birth_room;
	struct sighting *sightings;
	u64 by_order; /* children that only their order identifies */
	bool has_initial_umask;
	u32 initial_umask;
	const char *const *facts;
	bool is_mmap2_by_page;
	struct cost_samples gap_samples;
	struct cost_samples call_samples;
	struct import_cost cost;
	bool is_calibrated;

	struct inode *slash; /* of the whole file system */
	struct inode *nothing; /* stands for all objects outside file systems */
	struct root *roots;  /* of the trace */
	size_t root_count;
	struct inode *inodes;
	struct entry *entries_made;
	struct known *first_cwd;
	u64 last_object;
	u64 last_name;
	u64 last_handle;
	u64 last_map;

	struct task *tasks;
	u32 last_task;
	struct task *task;
	u32 pending_depth;
	u64 begin_ns;
	u64 end_ns;
	u64 zero_ns; /* time of the log that is 0 in the trace */
	u64 last_ns;
	u64 calls;
	u64 operations;
	u64 waits; /* records `backpressure` */
	u64 held_ns; /* their sum */
	bool leads_away;
	bool are_names_lost;
	struct iot_writer *writer;
	const char *trace; /* where it writes to */
	struct foreign *foreign; /* NULL: the logs are of strace */
};

void gap(struct import *im, enum import_gap what);
void *import_allocate(struct import *im, size_t bytes);

/* -- omissions, see left_out.c -------------------------------------------------------- */

void gap_named(struct import *im, enum import_gap what, struct text call, struct text detail);
void gap_named_more(struct import *im, enum import_gap what, const char *name, u64 count);
void gap_moved(struct import *im, enum import_gap what, const struct call *call);
void gap_bytes(struct import *im, enum import_gap what, u64 bytes);
bool call_concerns_root(struct import *im, const struct call *call, u32 descriptors);
void call_not_understood(struct import *im, const struct call *call, const struct call_kind *kind);
void call_unknown(struct import *im, const struct call *call);
void call_object_lost(struct import *im, const struct call *call);
void call_short(struct import *im, const struct call *call, const struct call_kind *kind);
void flags_partly(struct import *im, const struct call *call, struct text flags);
void named_gaps_forget(struct import *im);

/* -- file system, see inodes.c ------------------------------------------------------------- */

int inodes_init(struct import *im);
void inodes_exit(struct import *im);
struct known *known_of(struct import *im, const u8 *path, size_t bytes);
struct inode *inode_make(struct import *im, u32 type, u32 mode);
struct entry *entry_of(struct import *im, struct inode *dir, const u8 *component, size_t bytes);
size_t entry_path(const struct entry *entry, u8 *path, size_t room);
bool entry_is_inside(const struct import *im, const struct entry *entry);
bool inode_is_inside(const struct import *im, const struct inode *inode);
struct root *inode_root(const struct import *im, const struct inode *inode);
bool path_is_inside(const struct import *im, const u8 *path, size_t bytes);
struct inode *inode_at(const struct import *im, const u8 *path, size_t bytes);
struct inode *inode_parent(const struct import *im, const struct inode *inode);
struct inode *entry_find(struct import *im, struct entry *entry, u32 type);
bool entry_was_there(struct import *im, struct entry *entry);
void entry_bind(struct entry *entry, struct inode *inode);
void entry_unbind(struct entry *entry);
void entry_swap(struct entry *a, struct entry *b);
struct entry *inode_name(const struct inode *inode, struct entry *preferred);
void inode_is(struct inode *inode, u32 type);
void inode_has_mode(struct inode *inode, u32 mode);
void inode_has_size(struct inode *inode, u64 size_bytes);
void inode_is_empty(struct inode *inode);
void inode_reaches(struct inode *inode, u64 size_bytes);
void inode_resize(struct inode *inode, u64 size_bytes);
void inode_written(struct inode *inode, u64 end_bytes);
void inode_has_target(struct import *im, struct inode *inode, const u8 *target, size_t bytes);

/* -- names, see walk.c ------------------------------------------------------------------------ */

#define PLACE_NOFOLLOW 1
#define PLACE_NEW      2 /* the last component may be absent, and the call succeed */
#define PLACE_EMPTY    4 /* an empty name is the descriptor itself */
#define PLACE_MAY_LOSE 8 /* that a link of procfs leads nowhere known is not to be counted */

/**
 * struct place - the target of a name
 * @entry: the last examined name; NULL if the path has no name, as in "/"
 * @inode: the target, NULL if absent or unknown
 * @file: if an empty name, or a link of procfs, stands for a descriptor
 * @is_end: the walk came to the last component
 * @is_magic: it went through a link of procfs, such as /proc/self/fd/3
 * @err: -ENOENT if something is absent on the way, -EXDEV if the name is not known
 */
struct place {
	struct entry *entry;
	struct inode *inode;
	struct file *file;
	bool is_end;
	bool is_magic;
	int err;
};

void place_of(struct import *im, const struct call *call, int dir_arg, u32 path_arg, u32 flags,
	      u32 intents, struct place *place);
void place_of_text(struct import *im, const struct call *call, int dir_arg, struct text name, u32 flags,
		   u32 intents, struct place *place);
struct inode *place_base(struct import *im, const struct call *call, int dir_arg);
bool place_from_path(struct import *im, const u8 *path, size_t bytes, struct place *place);
void place_failed(struct import *im, const struct call *call, const struct place *place,
		  u32 intents);

/* -- processes, see tasks.c ------------------------------------------------------------------ */

struct task *task_find(struct import *im, u32 pid);
struct task *task_of(struct import *im, u32 pid, u64 time_ns);
struct task *task_fork(struct import *im, struct task *parent, u32 pid, u64 flags, u64 time_ns);
struct task *task_born(struct import *im, struct task *parent, struct birth *birth, u64 time_ns);
void task_release(struct import *im, struct task *child);
void task_vforked(struct import *im, const struct task *parent);
void task_exec(struct import *im, struct task *task, struct text name, struct text file);
void task_exit(struct import *im, struct task *task, u32 code, u64 time_ns);
void task_supersede(struct import *im, u32 from_pid, u32 pid, u64 time_ns);
void task_unshare(struct import *im, struct task *task, u64 flags);
void tasks_exit(struct import *im);
struct task *task_named(struct import *im, const struct task *by, u32 pid);
void group_exit(struct import *im, u32 tgid, u32 code, u64 time_ns);

/* -- parents of tasks, see births.c ---------------------------------------------------------------- */

int birth_add(struct import *im, const struct call *call, u64 flags);
int sighting_add(struct import *im, u32 pid, u64 time_ns);
struct sighting *sighting_find(const struct import *im, u32 pid);
int births_match(struct import *im);
void births_exit(struct import *im);

/* -- the time that strace takes, see cost.c ----------------------------------------------------- */

void cost_look(struct import *im, const struct event *event);
void cost_estimate(struct import *im);
int cost_calibrate(const char *path, struct import_cost *cost, char *message, size_t room);
u64 cost_enter(struct import *im, u64 gap_ns);
void cost_leave(struct import *im, const struct call *call);

/* -- links of procfs, see magic.c ------------------------------------------------------------------ */

enum magic {
	MAGIC_NONE, /* a name like others */
	MAGIC_FOUND,
	MAGIC_LOST, /* a link of procfs with an unknown target */
};

enum magic magic_step(struct import *im, const struct inode *dir, const u8 *component, size_t bytes,
		      struct place *place);

/* -- descriptors, see files.c ------------------------------------------------------------------- */

struct fd_table *fd_table_make(struct import *im);
struct fd_table *fd_table_copy(struct import *im, struct fd_table *from);
void fd_table_put(struct import *im, struct fd_table *table);
void fd_table_exec(struct import *im, struct fd_table *table);
struct descriptor *fd_find(const struct fd_table *table, s64 fd);
void fd_install(struct import *im, s64 fd, struct file *file, bool is_cloexec);
void fd_close(struct import *im, s64 fd);
void fd_forget(struct import *im, s64 fd);
void fd_install_nothing(struct import *im, s64 fd);
void fd_close_range(struct import *im, u64 first, u64 last, u64 flags);
struct file *file_make(struct import *im, struct inode *inode, struct entry *entry, u32 flags);
void file_get(struct file *file);
void file_put(struct import *im, struct file *file);
struct file *file_of(struct import *im, const struct call *call, u32 index);
struct file *file_inside(struct import *im, const struct call *call, u32 index);

/* -- mappings, see calls_map.c --------------------------------------------------------------------- */

struct memory *memory_make(struct import *im);
struct memory *memory_copy(struct import *im, const struct memory *from);
void memory_put(struct import *im, struct memory *memory);
void memory_lose(struct memory *memory);

/* -- records, see emit.c ------------------------------------------------------------------------- */

u64 emit_name(struct import *im, struct entry *entry);
u64 emit_object(struct import *im, struct inode *inode);
void emit_before(struct import *im, struct iot_record *record);
void emit_op(struct import *im, struct iot_record *record);
void emit_event(struct import *im, struct iot_record *record);
void emit_held(struct import *im);
void emit_lookup(struct import *im, struct entry *entry, u32 intents, s64 result);
void emit_follow(struct import *im, struct entry *entry);
void emit_fact(struct import *im, const char *format, ...) __attribute__((format(printf, 2, 3)));
int emit_open(struct import *im, const char *path);
int emit_close(struct import *im, int err);

/* -- calls ---------------------------------------------------------------------------------------- */

typedef void (*call_fn)(struct import *im, const struct call *call, const struct call_kind *kind);

/**
 * struct call_kind - how to import a system call
 * @name: of the call
 * @leave: runs when the call has returned
 * @dir: index of the argument with the base directory of the name; -1: none
 * @arg: index of the argument with the name or the descriptor
 * @variant: distinguishes it from similar calls
 * @args: minimum number of arguments that strace shows
 * @enter: runs at the entry of the call, for immediate effects
 */
struct call_kind {
	const char *name;
	call_fn leave;
	int dir;
	u32 arg;
	u32 variant;
	u32 args;
	call_fn enter;
};

enum call_variant {
	VARIANT_NONE,
	VARIANT_FD,       /* on a descriptor, rather than by name */
	VARIANT_NOFOLLOW, /* of a symbolic link itself */
	VARIANT_AT,       /* with flags such as AT_SYMLINK_NOFOLLOW */
	VARIANT_POSITION, /* with an offset of its own */
	VARIANT_VECTOR,   /* with several buffers */
	VARIANT_POSITION_VECTOR,
	VARIANT_POSITION_FLAGS, /* with flags, too */
	VARIANT_WRITE = 16, /* added to the former */
};

int calls_init(struct import *im);
void calls_exit(struct import *im);
bool call_is_known(const struct import *im, struct text name, const struct call_kind **kind);
const struct call_kind *call_kind(const struct import *im, struct text name);
bool pending_settle(struct import *im, struct entry *entry, bool is_made);
int pending_failed(struct import *im, const struct call *call);
void pending_exit(struct import *im);
bool is_shown(u16 kind, s64 result);
bool place_is_inside(const struct import *im, const struct place *place);
u64 emit_name_of(struct import *im, struct inode *inode, struct entry *preferred);
void emit_size(struct import *im, struct inode *inode, struct entry *entry, u64 handle, u32 attrs,
	       u64 size_bytes, s64 result);

#define CALL_HANDLERS(H) \
	H(call_open) H(call_close) H(call_close_range) H(call_dup) H(call_fcntl) \
	H(call_exec) H(call_stat) H(call_access) H(call_mkdir) H(call_mknod) H(call_symlink) \
	H(call_readlink) H(call_link) H(call_unlink) H(call_rename) H(call_chdir) \
	H(call_getcwd) H(call_umask) H(call_chmod) H(call_chown) H(call_utimes) \
	H(call_truncate) H(call_statfs) H(call_getxattr) H(call_setxattr) H(call_listxattr) \
	H(call_removexattr) H(call_read) H(call_write) H(call_seek) H(call_fsync) \
	H(call_fallocate) H(call_fadvise) H(call_flock) H(call_readahead) H(call_readdir) \
	H(call_sendfile) H(call_splice) H(call_copy_range) H(call_ioctl) H(call_mmap) \
	H(call_munmap) H(call_mremap) H(call_mprotect) H(call_mlock) H(call_msync) H(call_madvise) \
	H(call_clone) H(call_unshare) H(call_exit) H(call_wait) H(call_io_uring) H(call_aio) \
	H(call_unfollowed) H(call_left_out) H(call_open_tree) H(call_open_handle) H(call_no_file) \
	H(call_no_files) H(call_any_file) H(call_messages) H(call_bind) H(call_file_attr) \
	H(call_mlockall) H(call_on_memory)
#define CALL_DECLARE(name) \
	void name(struct import *im, const struct call *call, const struct call_kind *kind);
CALL_HANDLERS(CALL_DECLARE)
#undef CALL_DECLARE

bool object_of(struct import *im, const struct call *call, const struct call_kind *kind, u32 flags_arg,
	       struct place *place);
u64 place_handle(const struct place *place);
bool object_inside(struct import *im, const struct call *call, const struct call_kind *kind, u32 flags_arg,
		   u16 record, struct place *place);
void names_lose(struct import *im, const struct call *call);
bool call_lock(struct import *im, const struct call *call, s64 command);
bool call_file_flags(struct import *im, const struct call *call, struct file *file, u32 request);

#endif
