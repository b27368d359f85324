/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - run a command under tapefs: its private mounts, its life, its end.
 */
#ifndef IOTAPE_RUN_RECORD_H
#define IOTAPE_RUN_RECORD_H

#include <iotape/control.h>
#include <iotape/schema.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RECORD_MOUNTS_MAX 16

/**
 * struct record_options - options of a recording
 * @command: the command and its arguments, ended by NULL
 * @mounts: directories to record, absolute, without symbolic links
 * @mount_count: their number
 * @mmap_mode: how closely accesses to mapped files are watched: off, faultaround, page
 * @mpi_library: library to be preloaded into the command, or NULL
 * @has_wakes: record wake-ups, too
 * @ops: classes of operations to record, a bit (1 << class) for each; 0: all
 * @program: filter program, see <iotape/filter.h>; NULL: none
 * @program_bytes: of it
 * @counters: count operations in so many rows instead of recording them; 0: record them
 * @counters_keys: bits IOT_COUNT_* of the rows; 0: the default
 * @counters_interval_ns: time from one reading of the counters to the next; 0: they are read at the end
 * @delay: delays of threads; its period is 0 if there are none
 * @controller: file of the controller of several nodes, which decides when delays end; NULL: there is none
 * @stacks: kinds of operations whose call sites are recorded, if @has_stacks
 * @drop: drop records rather than make tasks wait for the collector
 * @buffers: buffers of each CPU
 * @flush_ms: maximum age of an unsent record
 * @output: trace file
 * @facts: texts of the form key=value for the trace, ended by NULL
 * @admits: users and groups that may add MPI records although the command did not start their processes
 * @admit_count: their number
 * @wait_ms: longest wait for descendants that outlive the command; UINT64_MAX: until all have ended
 * @rotates: the trace is in several files, for which the session must send marks
 * @is_flight: SIGUSR1 is for the flight recorder, see dump_signal.c
 * @namespace_fd: a mount namespace to be entered that has the mounts, in a session that runs; -1
 *	to create them
 * @join_fd: with @namespace_fd: connection to the holder of the session
 */
struct record_options {
	char **command;
	const char *mounts[RECORD_MOUNTS_MAX];
	int mount_count;
	const char *mmap_mode;
	const char *mpi_library;
	bool has_wakes;
	int ops;
	const void *program;
	size_t program_bytes;
	unsigned int counters;
	unsigned int counters_keys;
	uint64_t counters_interval_ns;
	struct iot_delay delay;
	const char *controller;
	bool has_stacks;
	uint64_t stacks[IOT_KIND_END / 64];
	bool drop;
	unsigned int buffers;
	unsigned int flush_ms;
	const char *output;
	const char *const *facts;
	struct iot_admit admits[IOT_ADMIT_MAX];
	unsigned int admit_count;
	uint64_t wait_ms;
	bool rotates;
	bool is_flight;
	int namespace_fd;
	int join_fd;
};

/* Called with a sentence that informs the user and is not an error. */
typedef void (*record_warn_fn)(const char *sentence);

/* mounts.c: in the process that becomes the command */
int mounts_enter(const struct record_options *options, int *dir_fds, char *why, size_t room);
int mounts_warn(const struct record_options *options, record_warn_fn warn);
int mounts_make(const char *dir, const char *mmap_mode, char *why, size_t room);

/* calibrate.c */
int calibrate(const struct record_options *options, char *costs, size_t room);

/* costs.c */
int costs_load(const char *mmap_mode, char *costs, size_t room);
void costs_store(const char *mmap_mode, const char *costs);

/* runner.c */

/* Exit codes of shells for a command that does not exist, or cannot be executed. */
#define RUNNER_NOT_FOUND      127
#define RUNNER_NOT_EXECUTABLE 126

/**
 * struct runner - the command
 * @pid: its process
 * @code: if it could not be started: the exit code of a shell for this error, or 0 if another
 *	step failed
 */
struct runner {
	pid_t pid;
	int code;
};

int runner_start(struct runner *runner, const struct record_options *options, int session_fd,
		 record_warn_fn warn, char *why, size_t room);
int runner_wait(struct runner *runner, int *status);
void runner_preload(const char *library);

/* grant.c */

/**
 * struct grant - a session that iotape-mount has made for a user
 * @pid: the process that becomes the command; 0: there is no such session
 * @answer_fd: connection to it
 * @session_fd: the session
 * @session: its number
 */
struct grant {
	pid_t pid;
	int answer_fd;
	int session_fd;
	uint64_t session;
};

int grant_start(struct grant *grant, const struct record_options *options, char *why, size_t room);
int grant_run(struct runner *runner, struct grant *grant, char *why, size_t room);

/* granted.c */
int granted_main(char **argv);

/* strace_run.c */
int strace_run(char **command, const char *log, const char *calls, int *status, char *why, size_t room);

/* control.c */
int control_open(const struct record_options *options, uint64_t *session, char *why, size_t room);
int control_configure(const struct record_options *options, int session_fd, char *why, size_t room);
int control_admit(const struct record_options *options, int session_fd, char *why, size_t room);
int control_check(char *why, size_t room);

/* stream.c */
bool record_is_stream(const char *output);
int record_stream_open(const char *output, char *why, size_t room);

/* admit.c */
int record_admit(struct record_options *options, const char *list, char *why, size_t room);

/* descendants.c */
char *descendants_fact_open(void);
int descendants_wait(uint64_t session, uint64_t wait_ms, int end_fd, record_warn_fn say, char *fact);

/* attach.c */

/**
 * struct attachment - the end of a recording of existing mounts
 * @signal_fd: of SIGINT, SIGTERM and SIGHUP, which are blocked from then on
 * @process_fd: of a process that ends it, -1 if none does
 */
struct attachment {
	int signal_fd;
	int process_fd;
};

struct collector;

int attach_start(struct attachment *attachment, const struct record_options *options, pid_t pid,
		 int session_fd, char *why, size_t room);
void attach_wait(const struct attachment *attachment, const struct collector *collector,
		 unsigned int seconds);
void attach_close(struct attachment *attachment);

/* thread.c */
int record_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* dump_signal.c */
void dump_signal_block(void);
void dump_signal_restore(void);
int dump_signal_start(uint64_t session);

/* controller.c */

/**
 * struct controller_result - the nodes of a run
 * @nodes: that have connected
 * @lost: connections that ended before the commands there did: all delays ended then
 * @released: delays that ended because all threads of all nodes were blocked
 * @name: of a node that was lost
 */
struct controller_result {
	unsigned int nodes;
	unsigned int lost;
	unsigned int released;
	char name[80];
};

struct controller;

int controller_start(struct controller **controller, const char *path, const char *node, unsigned int nodes);
void controller_stop(struct controller *controller, struct controller_result *result);

/* job.c */

/**
 * struct record_job - information about a job from its launcher
 * @name: the same for all its processes; "" if not known
 * @local_processes: processes on this node, 0 if not known
 * @local_rank: rank of this process among them, 0 if not known
 * @nodes: of the job, 0 if not known
 * @mpi: "openmpi", "mpich", or NULL if not known
 */
struct record_job {
	char name[256];
	unsigned int local_processes;
	unsigned int local_rank;
	unsigned int nodes;
	const char *mpi;
};

void record_job_find(struct record_job *job);

/* join.c */

/**
 * struct joined - a session that the processes of a node share
 * @fd: connection to the holder of the session
 * @session_fd, @namespace_fd: as for runner_start() and its options
 */
struct joined {
	int fd;
	int session_fd;
	int namespace_fd;
};

struct collector_result;

int join_session(struct joined *joined, const struct record_options *options, const char *job,
		 unsigned int expected, unsigned int rank, char *why, size_t room);
int join_enter(int fd);
int join_leave(struct joined *joined, struct collector_result *result, char *path, size_t room);

#endif
