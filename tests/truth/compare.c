// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare.c - compares a trace with a strace log of the same execution.
 *
 *	compare --mount=DIRECTORY [--old=LIST] LOG DUMP
 *
 * LOG is the output of `strace -f -y`, DUMP that of `iotape dump --all --json`. LIST has the initial contents of the
 * directory, as printed by `find -mindepth 1 -printf '%y %P\t%l\n'`; without it, the directory was empty. Each system
 * call must have the records that Documentation/visibility.md states, with the same files, offsets, lengths, flags
 * and results, in order in each thread. Differences that a rule of that page explains are counted by rule. No record
 * may be left over.
 */
#include "compare.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 25 /* differences that are printed */
#define AHEAD_MAX 30 /* records searched for the expected one */

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_DIFFERS = 3 };

void difference(struct comparison *c, const char *format, ...)
{
	va_list list;
	int i;

	if (++c->differences > SHOWN_MAX)
		return;
	printf("difference: ");
	if (c->call) {
		printf("line %ld: %d %s(", c->call->line, c->call->pid, c->call->name);
		for (i = 0; i < c->call->arg_count; i++)
			printf("%s%.40s", i ? ", " : "", c->call->args[i].text);
		printf(") = %lld: ", c->call->result);
	}
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

void apply(struct comparison *c, enum rule rule)
{
	c->applied[rule]++;
}

/* -- totals ------------------------------------------------------------------------------ */

static struct total *total_of(struct totals *totals, int pid, const char *what)
{
	long i;

	for (i = 0; i < totals->count; i++)
		if (totals->items[i].pid == pid && !strcmp(totals->items[i].what, what))
			return &totals->items[i];
	totals->items = realloc(totals->items, (size_t)(totals->count + 1) * sizeof(*totals->items));
	totals->items[totals->count] = (struct total){ .pid = pid, .what = what };
	return &totals->items[totals->count++];
}

static const char *bytes_key(const char *path, bool is_write)
{
	char *key = malloc(strlen(path) + 10);

	sprintf(key, "%s %s", is_write ? "written" : "read", path);
	return key;
}

void count_bytes(struct comparison *c, const struct file *file, bool is_write, long long bytes)
{
	if (bytes > 0)
		total_of(&c->bytes, 0, bytes_key(file->path, is_write))->strace += bytes;
}

/* Counts a record that strace does not show. */
void count_record_bytes(struct comparison *c, const struct record *record)
{
	bool is_write = !strcmp(record->kind, "write");

	if ((is_write || !strcmp(record->kind, "read")) && record_number(record, "result") > 0)
		total_of(&c->bytes, 0, bytes_key(record_text(record, "path"), is_write))->strace +=
			record_number(record, "result");
}

void count_call(struct comparison *c, const char *kind)
{
	total_of(&c->operations, c->self->pid, kind)->strace++;
}

/* The totals of the trace. */
static void count_records(struct comparison *c)
{
	long i;

	for (i = 0; i < c->dump.count; i++) {
		const struct record *record = &c->dump.records[i];
		struct process *process = record->op ? process_of(record->pid) : NULL;
		bool is_write = !strcmp(record->kind, "write");

		if (!process || !process->is_counted)
			continue;
		total_of(&c->operations, record->pid, record->kind)->trace++;
		if ((is_write || !strcmp(record->kind, "read")) && record_number(record, "result") > 0)
			total_of(&c->bytes, 0, bytes_key(record_text(record, "path"), is_write))->trace +=
				record_number(record, "result");
	}
}

static void compare_totals(struct comparison *c, const struct totals *totals)
{
	long i;

	c->call = NULL;
	for (i = 0; i < totals->count; i++)
		if (totals->items[i].strace != totals->items[i].trace)
			difference(c, "%d %s: %lld by strace, %lld in the trace", totals->items[i].pid,
				   totals->items[i].what, totals->items[i].strace,
				   totals->items[i].trace);
}

static void print_totals(const struct comparison *c)
{
	int pid = 0;
	long i;

	for (i = 0; i < c->operations.count; i++) {
		const struct total *total = &c->operations.items[i];

		if (total->pid != pid)
			printf("%sprocess %d:", pid ? "\n" : "", total->pid);
		pid = total->pid;
		printf(" %s %lld", total->what, total->trace);
	}
	printf("%s", pid ? "\n" : "");
	for (i = 0; i < c->bytes.count; i++)
		printf("bytes %s: %lld by strace, %lld in the trace\n", c->bytes.items[i].what,
		       c->bytes.items[i].strace, c->bytes.items[i].trace);
}

/* -- records ------------------------------------------------------------------------------ */

struct file *file_open(struct comparison *c, struct object *object, const char *path)
{
	struct file *file = calloc(1, sizeof(*file));

	file->object = object;
	file->path = strdup(path);
	c->files = realloc(c->files, (size_t)(c->file_count + 1) * sizeof(*c->files));
	return c->files[c->file_count++] = file;
}

static struct file *file_by_handle(struct comparison *c, long long handle)
{
	long i;

	for (i = 0; i < c->file_count; i++)
		if (c->files[i]->handle == handle && handle)
			return c->files[i];
	return NULL;
}

static void check_release(struct comparison *c, const struct record *record)
{
	struct file *file = file_by_handle(c, record_number(record, "handle"));

	if (!file)
		difference(c, "release of a handle that no open made (line %ld)", record->line);
	else if (file->is_released)
		difference(c, "%s: released twice", file->path);
	else if (file->refs || file->maps)
		difference(c, "%s: released with %d descriptors and %d mappings", file->path, file->refs,
			   file->maps);
	else
		file->is_released = true;
}

/**
 * peek() - the next record of a thread that a system call must explain
 *
 * Accesses to pages, last references and MPI calls have no system call of their own: they
 * are checked and skipped.
 */
struct record *peek(struct comparison *c, struct process *process)
{
	struct record *record;

	for (; process->next < process->record_count; process->next++) {
		record = process->records[process->next];
		if (record->is_taken)
			continue;
		if (!strcmp(record->kind, "touch")) {
			apply(c, RULE_TOUCH);
		} else if (!strcmp(record->kind, "release")) {
			check_release(c, record);
			apply(c, RULE_RELEASE);
		} else if (!strncmp(record->kind, "mpi_", 4)) {
			apply(c, RULE_MPI);
		} else {
			return record;
		}
		total_of(&c->operations, process->pid, record->kind)->strace++;
		record->is_taken = true;
	}
	return NULL;
}

struct record *take(struct comparison *c, struct process *process)
{
	struct record *record = peek(c, process);

	if (record) {
		record->is_taken = true;
		process->next++;
	}
	return record;
}

/* Is this the expected record, except for its details? */
static bool is_same(const struct record *record, const struct want *want)
{
	if (strcmp(record->kind, want->kind))
		return false;
	if (want->file && want->file->handle &&
	    record_number(record, "handle") != want->file->handle)
		return false;
	return !want->path || !strcmp(record_text(record, "path"), want->path);
}

static void check_number(struct comparison *c, const struct record *record, const char *key,
			 bool is_wanted, long long number)
{
	if (is_wanted && record_number(record, key) != number)
		difference(c, "%s of %s is %lld, not %lld (line %ld)", key, record->kind,
			   record_number(record, key), number, record->line);
}

static void check_text(struct comparison *c, const struct record *record, const char *key,
		       const char *text)
{
	if (text && strcmp(record_text(record, key), text))
		difference(c, "%s of %s is '%s', not '%s' (line %ld)", key, record->kind,
			   record_text(record, key), text, record->line);
}

static void check_object(struct comparison *c, const struct record *record, struct object *object)
{
	long long id = record_number(record, "object");

	if (!object)
		return;
	if (!object->id)
		object->id = id;
	check_number(c, record, "object", true, object->id);
}

static void check_details(struct comparison *c, const struct record *record, const struct want *want)
{
	check_number(c, record, "result", want->has_result, want->result);
	check_number(c, record, "offset_bytes", want->has_offset, want->offset);
	check_number(c, record, "length_bytes", want->has_length, want->length);
	check_text(c, record, "flags", want->flags);
	check_text(c, record, "tail", want->tail);
	check_object(c, record, want->object);
	if (want->file && want->file->handle)
		check_object(c, record, want->file->object);
}

/* Find the expected record further on; nothing explains the records before it. */
static struct record *look_ahead(struct comparison *c, const struct want *want)
{
	long i, at = c->self->next, end = at + AHEAD_MAX;
	struct record *record;

	if (end > c->self->record_count)
		end = c->self->record_count;
	for (i = at; i < end; i++)
		if (!c->self->records[i]->is_taken && is_same(c->self->records[i], want))
			break;
	if (i == end)
		return NULL;
	while (c->self->next < i) {
		record = take(c, c->self);
		if (record && c->self->next <= i)
			difference(c, "before it is a %s of '%s' that nothing explains (line %ld)",
				   record->kind, record_text(record, "path"), record->line);
	}
	return take(c, c->self);
}

/**
 * expect() - take the record that a system call must have created
 *
 * Return: the record, or NULL if there is none, which is a difference.
 */
struct record *expect(struct comparison *c, const struct want *want)
{
	struct record *record = peek(c, c->self);

	c->calls++;
	count_call(c, want->kind);
	if (record && is_same(record, want))
		record = take(c, c->self);
	else
		record = look_ahead(c, want);
	if (!record) {
		record = peek(c, c->self);
		difference(c, "no %s%s%s; next is %s of '%s' (line %ld)", want->kind,
			   want->path || want->file ? " of " : "",
			   want->path ? want->path : want->file ? want->file->path : "",
			   record ? record->kind : "nothing", record ? record_text(record, "path") : "",
			   record ? record->line : 0);
		return NULL;
	}
	check_details(c, record, want);
	return record;
}

/* -- threads of the log ------------------------------------------------------------------- */

static const struct record *task_record(const struct dump *dump, int pid)
{
	long i;

	for (i = 0; i < dump->count; i++)
		if (!strcmp(dump->records[i].kind, "task") && dump->records[i].pid == pid)
			return &dump->records[i];
	return NULL;
}

static int record_compare(const void *a, const void *b)
{
	const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

/* Gives each thread its operations, in the order in which the thread entered them. */
static void deal_records(struct comparison *c)
{
	struct process *process;
	int index;
	long i;

	for (i = 0; i < c->dump.count; i++) {
		struct record *record = &c->dump.records[i];

		if (!record->op)
			continue;
		process = process_of(record->pid);
		if (!process)
			process = process_new(record->pid);
		process->records = realloc(process->records, (size_t)(process->record_count + 1) *
								     sizeof(*process->records));
		process->records[process->record_count++] = record;
	}
	for (index = 0; (process = process_at(index)); index++)
		if (process->record_count)
			qsort(process->records, (size_t)process->record_count, sizeof(*process->records),
			      record_compare);
}

/* The call that created a thread, if the log has it. */
static const struct call *maker_of(const struct comparison *c, int pid)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork" };
	size_t name;
	long i;

	for (i = 0; i < c->log.count; i++) {
		const struct call *call = c->log.events[i].call;

		if (c->log.events[i].kind != EVENT_LEAVE || call->result != pid)
			continue;
		for (name = 0; name < sizeof(names) / sizeof(names[0]); name++)
			if (!strcmp(call->name, names[name]))
				return call;
	}
	return NULL;
}

static bool call_says(const struct call *call, const char *word)
{
	int i;

	for (i = 0; i < call->arg_count; i++)
		if (strstr(call->args[i].text, word))
			return true;
	return false;
}

/* The thread of an event. A new thread inherits the current state of its creator. */
static struct process *thread_of_log(struct comparison *c, int pid)
{
	struct process *process = process_of(pid);
	const struct call *maker;

	if (process && process->is_counted)
		return process;
	if (!process)
		process = process_new(pid);
	process->is_counted = true;
	maker = maker_of(c, pid);
	if (maker && process_of(maker->pid))
		process_clone(process, process_of(maker->pid), call_says(maker, "CLONE_FILES"),
			      call_says(maker, "CLONE_VM") || !strcmp(maker->name, "vfork"));
	else
		place_enter(&c->tree, &process->cwd, "/");
	return process;
}

static void set_first_directory(struct comparison *c, struct process *process)
{
	long i;

	for (i = 0; i < c->dump.count; i++) {
		const char *text = record_text(&c->dump.records[i], "tail");

		if (!strcmp(c->dump.records[i].kind, "fact") && !strncmp(text, "directory=", 10))
			place_enter(&c->tree, &process->cwd, text + 10);
	}
}

static void go_through(struct comparison *c)
{
	long i;

	for (i = 0; i < c->log.count; i++) {
		const struct event *event = &c->log.events[i];
		bool is_first = !i;

		c->self = thread_of_log(c, event->pid);
		if (is_first)
			set_first_directory(c, c->self);
		c->call = event->call;
		if (event->kind == EVENT_ENTER) {
			call_enter(c);
		} else if (event->kind == EVENT_LEAVE) {
			if (!strcmp(event->call->name, "clone") || !strcmp(event->call->name, "clone3") ||
			    !strcmp(event->call->name, "fork") || !strcmp(event->call->name, "vfork"))
				if (event->call->result > 0)
					thread_of_log(c, (int)event->call->result);
			call_leave(c);
		} else {
			process_end(c);
		}
	}
}

/* Operations of strace and of kernel threads in the mount are recorded as their own. */
static void check_others(struct comparison *c, struct process *process)
{
	const struct record *task = task_record(&c->dump, process->pid);
	const char *name = task ? record_text(task, "tail") : "?";

	if (strcmp(name, "strace") && strcmp(name, "iotape") && strncmp(name, "iou-wrk-", 8) &&
	    strncmp(name, "kworker/", 8))
		difference(c, "task %d (%s) is not in the log", process->pid, name);
	c->applied[RULE_OTHERS] += process->record_count;
}

static void check_rest(struct comparison *c)
{
	struct process *process;
	struct record *record;
	int index;
	long i;

	c->call = NULL;
	for (index = 0; (process = process_at(index)); index++) {
		if (!process->is_counted) {
			check_others(c, process);
			continue;
		}
		while ((record = take(c, process)))
			difference(c, "%d: a %s of '%s' that no system call explains (line %ld)",
				   process->pid, record->kind, record_text(record, "path"), record->line);
	}
	for (i = 0; i < c->file_count; i++)
		if (!c->files[i]->is_released && !c->files[i]->is_path)
			difference(c, "%s: never released", c->files[i]->path);
}

static void check_dump_is_whole(struct comparison *c)
{
	long i;

	for (i = 0; i < c->dump.count; i++) {
		const struct record *record = &c->dump.records[i];

		if (!strcmp(record->kind, "end")) {
			if (record_number(record, "lost"))
				difference(c, "records were lost");
			return;
		}
	}
	difference(c, "the trace has no end");
}

static int compare(struct comparison *c, const char *log, const char *dump)
{
	if (log_read(log, &c->log)) {
		fprintf(stderr, "compare: %s: %s\n", log, c->log.error);
		return EXIT_FAILED;
	}
	if (dump_read(dump, &c->dump)) {
		fprintf(stderr, "compare: %s: %s\n", dump, c->dump.error);
		return EXIT_FAILED;
	}
	deal_records(c);
	check_dump_is_whole(c);
	go_through(c);
	check_rest(c);
	count_records(c);
	compare_totals(c, &c->operations);
	compare_totals(c, &c->bytes);
	print_totals(c);
	rules_print(c->applied);
	if (!c->calls)
		difference(c, "no system call reached the mount");
	printf("%ld records expected, %ld differences\n", c->calls, c->differences);
	return c->differences ? EXIT_DIFFERS : EXIT_DONE;
}

int main(int argc, char **argv)
{
	static struct comparison c;
	const char *mount = NULL, *old = NULL, *paths[2] = {};
	int i, count = 0;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--rules")) {
			rules_print(NULL);
			return EXIT_DONE;
		}
		if (!strcmp(argv[i], "--errors")) {
			vfs_errors_print();
			return EXIT_DONE;
		}
		if (!strcmp(argv[i], "--calls")) {
			calls_print();
			return EXIT_DONE;
		}
		if (!strncmp(argv[i], "--mount=", 8))
			mount = argv[i] + 8;
		else if (!strncmp(argv[i], "--old=", 6))
			old = argv[i] + 6;
		else if (count < 2)
			paths[count++] = argv[i];
	}
	if (!mount || count != 2) {
		fprintf(stderr, "usage: compare --mount=DIRECTORY [--old=LIST] LOG DUMP | --rules | --errors | --calls\n");
		return EXIT_USAGE;
	}
	tree_open(&c.tree, mount);
	if (old && tree_read(&c.tree, old)) {
		fprintf(stderr, "compare: %s: not a list of names\n", old);
		return EXIT_FAILED;
	}
	return compare(&c, paths[0], paths[1]);
}
