// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace.c - text as `strace -f -ttt -T` prints it, which iotape import reads.
 *
 * Operations become calls with absolute names of their files, through symbolic links that have been followed already, and
 * explicit offsets. Operations of the kernel itself, such as look-ups in paths and releases of handles, have no line:
 * the reader infers them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "strace.h"

#define NODE_PIDS 5000000u /* beyond all pids of Linux */

/* Information about a task before its events are written. */
struct strace_task {
	UT_hash_handle hh;
	u32 id;
	size_t last; /* of its events, other than the exit */
	bool is_child;
	bool has_begun;
	bool has_followed; /* its last event was the first link of a chain, or one behind it */
	const struct export_kept *exit;
};

/* Entries of directories, as text, by the call that returned them. */
struct strace_entries {
	UT_hash_handle hh;
	u64 key;
	char *text;
	size_t bytes;
	FILE *out;
	u32 count;
};

struct strace {
	struct strace_fds *fds;
	struct strace_task *tasks;
	struct strace_entries *entries;
};

static u32 pid_on_node(const struct export *x, const struct actor *actor, u32 pid)
{
	return actor && actor->node != ACTOR_UNKNOWN && x->actors.node_count > 1 ? pid + (actor->node + 1) * NODE_PIDS : pid;
}

/**
 * strace_begin_line() - thread and time
 */
void strace_begin_line(const struct export *x, const struct export_event *event)
{
	u64 ns = x->info.real_ns + event->begin_ns;

	fprintf(x->out, "%u %llu.%09llu ", pid_on_node(x, event->actor, export_tid(event)), ns / 1000000000, ns % 1000000000);
}

/**
 * strace_end_line() - result and duration of a call
 * @result: a negative errno, or a number
 */
void strace_end_line(const struct export *x, const struct export_event *event, s64 result)
{
	const char *name = result < 0 ? iot_text_errno(result) : NULL;

	if (name)
		fprintf(x->out, ") = -1 %s (%s)", name, strerror((int)-result));
	else if (result < 0)
		fprintf(x->out, ") = -1 (errno %lld)", -result);
	else
		fprintf(x->out, ") = %lld", result);
	fprintf(x->out, " <%llu.%09llu>\n", event->duration_ns / 1000000000, event->duration_ns % 1000000000);
}

/**
 * strace_string() - a quoted string of any bytes
 */
void strace_string(FILE *out, const void *bytes, size_t count)
{
	const u8 *p = bytes;
	size_t i;

	fputc('"', out);
	for (i = 0; i < count; i++) {
		if (p[i] == '"' || p[i] == '\\')
			fprintf(out, "\\%c", p[i]);
		else if (p[i] < ' ' || p[i] >= 0x7f)
			fprintf(out, "\\%03o", p[i]);
		else
			fputc(p[i], out);
	}
	fputc('"', out);
}

/* -- prior information ------------------------------------------------------------------------------- */

static struct strace_task *task_get(struct strace *s, u32 id)
{
	struct strace_task *task;

	HASH_FIND(hh, s->tasks, &id, sizeof(id), task);
	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->id = id;
	HASH_ADD(hh, s->tasks, id, sizeof(task->id), task);
	return task;
}

static u64 entries_key(u32 task, u32 op)
{
	return (u64)task << 32 | op;
}

static int entry_add(struct strace *s, const struct export_kept *kept)
{
	static const char *const types[] = { [0] = "UNKNOWN", [1] = "FIFO", [2] = "CHR", [4] = "DIR", [6] = "BLK",
					     [8] = "REG", [10] = "LNK", [12] = "SOCK" };
	const struct iot_rec_dirent *r = &kept->record.dirent;
	u64 key = entries_key(r->task, r->op);
	struct strace_entries *e;

	HASH_FIND(hh, s->entries, &key, sizeof(key), e);
	if (!e) {
		e = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->key = key;
		e->out = open_memstream(&e->text, &e->bytes);
		if (!e->out) {
			free(e);
			return -ENOMEM;
		}
		HASH_ADD(hh, s->entries, key, sizeof(e->key), e);
	}
	fprintf(e->out, "%s{d_ino=1, d_off=1, d_reclen=24, d_type=DT_%s, d_name=", ftell(e->out) ? ", " : "",
		r->type < ARRAY_SIZE(types) && types[r->type] ? types[r->type] : "UNKNOWN");
	strace_string(e->out, kept->tail, kept->record.tail_bytes);
	fputc('}', e->out);
	e->count++;
	return 0;
}

static int look_ahead(struct export *x, struct strace *s)
{
	size_t i;

	for (i = 0; i < x->kept_count; i++) {
		const struct export_kept *kept = &x->kept[i];
		struct strace_task *task = task_get(s, iot_record_task(&kept->record)), *child;

		if (!task)
			return -ENOMEM;
		if (kept->record.kind == IOT_KIND_exit)
			task->exit = kept;
		else
			task->last = i;
		if (kept->record.kind == IOT_KIND_dirent && entry_add(s, kept))
			return -ENOMEM;
		if (kept->record.kind == IOT_KIND_fork || kept->record.kind == IOT_KIND_exec) {
			child = task_get(s, kept->record.kind == IOT_KIND_fork ? kept->record.fork.child : kept->record.exec.into);
			if (!child)
				return -ENOMEM;
			child->is_child = true;
		}
	}
	return 0;
}

/* -- lives of tasks ----------------------------------------------------------------------------------- */

static const struct actor *child_of(const struct export *x, u32 task)
{
	return actors_find(&x->actors, task);
}

static int put_fork(struct export *x, struct strace *s, const struct export_event *event)
{
	u32 id = event->record->fork.child;
	const struct actor *child = child_of(x, id);
	u64 process = child ? actor_process(child) : 1ull << 63 | id;

	strace_begin_line(x, event);
	if (process == strace_process(event))
		fprintf(x->out, "clone(child_stack=0x7e0000000000, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD");
	else
		fprintf(x->out, "clone(child_stack=NULL, flags=SIGCHLD");
	strace_end_line(x, event, pid_on_node(x, child, child && child->pid ? child->pid : id));
	return strace_fds_fork(s->fds, strace_process(event), process);
}

static void put_exec(struct export *x, const struct export_event *event)
{
	strace_begin_line(x, event);
	fputs("execve(", x->out);
	strace_string(x->out, event->record->tail, event->record->tail_bytes);
	fputs(", [", x->out);
	strace_string(x->out, event->record->tail, event->record->tail_bytes);
	fputs("], 0x7ffc00000000 /* 0 vars */", x->out);
	strace_end_line(x, event, 0);
}

/* An exit comes behind the last operation of its task: the kernel closes files for it. */
static void put_exit(struct export *x, struct strace_task *task, u64 after_ns)
{
	struct export_event event = export_kept_event(x, task->exit);
	int code = event.record->exit.code;
	const char *name;

	if (after_ns > event.begin_ns)
		event.begin_ns = after_ns;
	strace_begin_line(x, &event);
	name = code & 0x7f ? sigabbrev_np(code & 0x7f) : NULL;
	if (name)
		fprintf(x->out, "+++ killed by SIG%s +++\n", name);
	else if (code & 0x7f)
		fprintf(x->out, "+++ killed by SIGRT_%d +++\n", (code & 0x7f) - 32);
	else
		fprintf(x->out, "+++ exited with %d +++\n", code >> 8 & 0xff);
	task->exit = NULL;
}

/* Recorded modes are those after the umask; so the log states a umask of 0. */
static void begin_task(struct export *x, struct strace_task *task, const struct export_event *event)
{
	struct export_event umask = *event;

	if (!task->has_begun && !task->is_child) {
		umask.duration_ns = 0;
		strace_begin_line(x, &umask);
		fputs("umask(000", x->out);
		strace_end_line(x, &umask, 022);
	}
	task->has_begun = true;
}

static int put_event(struct export *x, struct strace *s, const struct export_event *event)
{
	struct strace_entries *entries = NULL;
	u64 key;

	switch (event->info->kind) {
	case IOT_KIND_fork:
		return put_fork(x, s, event);
	case IOT_KIND_exec:
		put_exec(x, event);
		return 0;
	case IOT_KIND_dirent:
		return 0;
	case IOT_KIND_readdir:
		key = entries_key(event->record->op.task, event->record->op.op);
		HASH_FIND(hh, s->entries, &key, sizeof(key), entries);
		if (entries && fflush(entries->out))
			return -ENOMEM;
		break;
	default:
		break;
	}
	if (event->info->group != IOT_GROUP_op) {
		export_lose(x, event, EXPORT_NO_FORM);
		return 0;
	}
	strace_fds_take(s->fds, event);
	return strace_call(x, s->fds, event, entries && entries->count == event->record->readdir.entries ? entries->text : NULL);
}

/* A call that follows a link follows the whole chain. */
static bool is_chained(struct strace_task *task, const struct export_event *event)
{
	bool is_chain = task->has_followed;

	if (event->info->kind != IOT_KIND_lookup)
		task->has_followed = event->info->kind == IOT_KIND_follow;
	return is_chain && event->info->kind == IOT_KIND_follow;
}

static int put_all(struct export *x, struct strace *s)
{
	size_t i;
	int err = 0;

	for (i = 0; i < x->kept_count && !err; i++) {
		const struct export_event event = export_kept_event(x, &x->kept[i]);
		struct strace_task *task = task_get(s, iot_record_task(event.record));
		bool is_exit = event.info->kind == IOT_KIND_exit;

		begin_task(x, task, &event);
		if (!is_exit && !is_chained(task, &event))
			err = put_event(x, s, &event);
		if (task->exit && (is_exit ? i > task->last : i == task->last && &x->kept[i] > task->exit))
			put_exit(x, task, event.begin_ns + event.duration_ns);
	}
	return err;
}

static void strace_free(struct strace *s)
{
	struct strace_entries *entries, *next_entries;
	struct strace_task *task, *next;

	HASH_ITER (hh, s->tasks, task, next) {
		HASH_DEL(s->tasks, task);
		free(task);
	}
	HASH_ITER (hh, s->entries, entries, next_entries) {
		HASH_DEL(s->entries, entries);
		fclose(entries->out);
		free(entries->text);
		free(entries);
	}
	strace_fds_close(s->fds);
}

static int end(struct export *x)
{
	struct strace s = {};
	int err = strace_fds_open(&s.fds, x);

	if (!err)
		err = look_ahead(x, &s);
	if (!err)
		err = put_all(x, &s);
	strace_free(&s);
	return err;
}

const struct export_format export_format_strace = {
	.name = "strace",
	.sentence = "text of strace, for its readers and iotape import",
	.is_ordered = true,
	.has_requests = true,
	.has_life = true,
	.end = end,
};
