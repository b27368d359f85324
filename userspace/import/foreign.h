/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * foreign.h - logs of other tools than strace, rewritten as the system calls that they stand for.
 *
 * A reader of a format adds calls in the notation of strace, in any order. foreign_finish() sorts them by
 * thread and time and gives them to the log that the model reads. Information that a format lacks is counted
 * as a gap, here and not in the model.
 *
 * Ownership: texts that are passed to functions are copied. Threads live until foreign_close().
 */
#ifndef IMPORT_FOREIGN_H
#define IMPORT_FOREIGN_H

#include "import.h"
#include "strace_log.h"

#define FOREIGN_UNKNOWN ((u64)-1)
#define FOREIGN_PATH_BYTES 4096
#define FOREIGN_LINE_BYTES (1 << 20) /* longer lines are skipped */
#define FOREIGN_WORDS_MAX 64
#define FOREIGN_NS_PER_S 1000000000ull

struct foreign;
struct foreign_thread;

/**
 * struct foreign_format - a format of logs
 * @name: for --format and the fact `source`
 * @begin: prepare for all logs; may be NULL
 * @line: take a line, without its end, terminated; @pass is 0 or 1
 * @file: a log begins; may be NULL
 * @end: all logs are read: free the memory of begin(); may be NULL
 * @passes: how often the logs are read
 * @has_births: calls that make threads and processes are in the logs: a thread is known by its number, and its calls do not
 *	overlap
 *
 * Functions return 0 or a negative errno.
 */
struct foreign_format {
	const char *name;
	bool (*recognise)(const char *line);
	int (*begin)(struct foreign *f);
	int (*file)(struct foreign *f, const char *path, u32 pass);
	int (*line)(struct foreign *f, char *line, u32 pass);
	void (*end)(struct foreign *f);
	u32 passes;
	bool has_births;
};

/**
 * struct foreign - logs that are being rewritten
 * @context: of the format
 * @gaps: by kind
 * @named: of the kinds that have names
 * @directory: working directory of the first thread; NULL: not known
 * @is_any: a call was found
 * @message: why something failed; else ""
 */
struct foreign {
	const struct foreign_format *format;
	void *context;
	char **roots;
	size_t root_count;
	const char *directory;
	const char *path;
	u64 line;
	u64 gaps[IMPORT_GAP_COUNT];
	struct import_named *named;
	size_t named_count;
	struct foreign_thread *processes;
	struct foreign_thread *numbers;
	struct foreign_call *calls;
	size_t call_count;
	size_t call_room;
	char *texts;
	size_t text_bytes;
	size_t text_room;
	char **sources; /* texts that the log refers to */
	size_t source_count;
	bool is_any;
	char message[512];
};

int foreign_recognise(const char *path, const struct foreign_format **format);
const struct foreign_format *foreign_format_find(const char *name);
int foreign_open(struct foreign **f, const struct foreign_format *format, char **roots, size_t root_count);
int foreign_read(struct foreign *f, char **logs, size_t count);
int foreign_finish(struct foreign *f, struct log *log);
const char *foreign_label(const struct foreign *f, u32 pid);
void foreign_close(struct foreign *f);

/* -- for readers of formats ---------------------------------------------------------------- */

struct foreign_thread *foreign_thread(struct foreign *f, const char *process, u64 pid, u64 tid);
int foreign_put(struct foreign *f, struct foreign_thread *thread, u64 begin_ns, u64 end_ns, const char *text);
void foreign_set_process(struct foreign_thread *thread);
bool foreign_is_process(const struct foreign *f, u64 number);
void foreign_lack(struct foreign *f, enum import_gap kind, const char *path);
int foreign_named(struct foreign *f, enum import_gap kind, const char *name);
bool foreign_concerns(const struct foreign *f, const char *path);
int foreign_skip(struct foreign *f, const char *line);

size_t foreign_words(char *line, char **words);
bool foreign_number(const char *word, u64 *number);
bool foreign_signed(const char *word, s64 *number);
bool foreign_time(const char *word, u64 *time_ns);
bool foreign_quote(const char *path, char *quoted, size_t room);

/* -- POSIX calls, see foreign_posix.c ---------------------------------------------------------- */

/**
 * struct posix_call - a call of a POSIX function, as far as it is known
 * @name: of the function; variants such as open64 and __xstat are known
 * @path, @path2: NULL: not known
 * @fd: FOREIGN_UNKNOWN if not known
 * @count, @offset_bytes, @flags, @mode, @whence, @length_bytes: FOREIGN_UNKNOWN if not known
 * @result: return value, if @has_result
 */
struct posix_call {
	const char *name;
	const char *path;
	const char *path2;
	u64 fd;
	u64 count;
	u64 offset_bytes;
	u64 flags;
	u64 mode;
	u64 whence;
	u64 length_bytes;
	s64 result;
	bool has_result;
	u64 begin_ns;
	u64 end_ns;
};

#define POSIX_CALL_UNKNOWN                                                                             \
	{ .fd = FOREIGN_UNKNOWN, .count = FOREIGN_UNKNOWN, .offset_bytes = FOREIGN_UNKNOWN,                  \
	  .flags = FOREIGN_UNKNOWN, .mode = FOREIGN_UNKNOWN, .whence = FOREIGN_UNKNOWN,                \
	  .length_bytes = FOREIGN_UNKNOWN }

bool posix_is_known(const char *name);
int posix_put(struct foreign *f, struct foreign_thread *thread, const struct posix_call *call);

/* -- system calls, see foreign_syscall.c --------------------------------------------------------- */

/**
 * struct syscall_value - an argument of a system call
 * @name: of the parameter of the kernel's function
 * @text: a number, names of flags, a string without quotes, or a descriptor as in 3</a/b>
 * @is_string: the log shows a string, and not its address
 */
struct syscall_value {
	const char *name;
	const char *text;
	bool is_string;
};

#define SYSCALL_VALUES_MAX 16

/**
 * struct syscall_call - a system call, as far as it is known
 * @name: without sys_
 * @result: return value, or a negative errno, if @has_result
 */
struct syscall_call {
	const char *name;
	struct syscall_value values[SYSCALL_VALUES_MAX];
	size_t count;
	s64 result;
	bool has_result;
	u64 begin_ns;
	u64 end_ns;
};

void syscall_add(struct syscall_call *call, const char *name, const char *text, bool is_string);
int syscall_put(struct foreign *f, struct foreign_thread *thread, const struct syscall_call *call);

extern const struct foreign_format foreign_format_dxt;
extern const struct foreign_format foreign_format_fio;
extern const struct foreign_format foreign_format_dftracer;
extern const struct foreign_format foreign_format_recorder;
extern const struct foreign_format foreign_format_perf;
extern const struct foreign_format foreign_format_perf_script;
extern const struct foreign_format foreign_format_lttng;

#endif
