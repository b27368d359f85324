// SPDX-License-Identifier: GPL-2.0-only
/*
 * sites.c - the call sites of the operations of a trace, as texts that are equal in all ranks and runs.
 *
 * Addresses and ids of stacks differ between processes. The text of a site has the functions with their lines, or offsets in an object, from the
 * innermost one outside the C library to the outermost one. It tells loops of a program apart which do the same to the same files,
 * as the signatures of stack back-traces do in ScalaIOTrace (Luo et al., ScalaIOExtrap, section 2).
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "sites.h"
#include "symbols/symbols.h"

struct text {
	UT_hash_handle hh;
	u32 bytes;
	u8 data[];
};

struct op_site {
	u32 op;
	const struct text *text;
};

/* The operations of a task that have a site, by number. */
struct task_sites {
	UT_hash_handle hh;
	u32 task;
	u32 count;
	u32 room;
	struct op_site *ops;
};

struct sites {
	struct symbols *symbols;
	struct text *texts;
	struct task_sites *tasks;
};

/* -- reading ------------------------------------------------------------------------------------------------- */

static bool is_control(u32 character)
{
	return character < ' ' || (character >= 0x7f && character < 0xa0);
}

/* Names of objects are bytes: those that a text cannot have become question marks. */
static void clean(char *text)
{
	size_t bytes = strlen(text), i, length;
	u32 character;

	for (i = 0; i < bytes; i += length) {
		length = iot_text_utf8(text + i, bytes - i, &character);
		if (length && !is_control(character))
			continue;
		length = length ? length : 1;
		memset(text + i, '?', length);
	}
}

/* Return: its length; the outermost functions are left out beyond the room. */
static u32 make_text(const struct symbols_frame *frames, u32 count, char text[SITE_BYTES_MAX])
{
	char frame[SYMBOLS_TEXT_BYTES];
	size_t bytes = 0, more;
	u32 i;

	for (i = 0; i < count; i++) {
		if (frames[i].is_of_libc)
			continue;
		if (frames[i].function || frames[i].object)
			symbols_frame_text(&frames[i], frame);
		else
			strcpy(frame, "?"); /* its address is another one in each process */
		clean(frame);
		more = strlen(frame) + (bytes ? 3 : 0);
		if (bytes + more >= SITE_BYTES_MAX)
			break;
		bytes += (size_t)sprintf(text + bytes, "%s%s", bytes ? " < " : "", frame);
	}
	return (u32)bytes;
}

static const struct text *text_get(struct sites *sites, const char *data, u32 bytes)
{
	struct text *text;

	HASH_FIND(hh, sites->texts, data, bytes, text);
	if (text)
		return text;
	text = calloc(1, sizeof(*text) + bytes);
	if (!text)
		return NULL;
	memcpy(text->data, data, bytes);
	text->bytes = bytes;
	HASH_ADD_KEYPTR(hh, sites->texts, text->data, bytes, text);
	return text;
}

static struct task_sites *task_get(struct sites *sites, u32 id)
{
	struct task_sites *task;

	HASH_FIND(hh, sites->tasks, &id, sizeof(id), task);
	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->task = id;
	HASH_ADD(hh, sites->tasks, task, sizeof(task->task), task);
	return task;
}

static int add(struct sites *sites, u32 id, u32 op, const struct text *text)
{
	struct task_sites *task = task_get(sites, id);
	struct op_site *ops;
	u32 room;

	if (!task || !text)
		return -ENOMEM;
	if (task->count == task->room) {
		room = task->room ? 2 * task->room : 16;
		ops = reallocarray(task->ops, room, sizeof(*ops));
		if (!ops)
			return -ENOMEM;
		task->ops = ops;
		task->room = room;
	}
	task->ops[task->count++] = (struct op_site){ op, text };
	return 0;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *record)
{
	const struct symbols_frame *frames;
	struct sites *sites = context;
	char text[SITE_BYTES_MAX];
	u32 count, bytes;
	int err = symbols_take(sites->symbols, record);

	(void)names;
	if (!err)
		err = symbols_frames(sites->symbols, record, &frames, &count);
	if (err || !count)
		return err;
	bytes = make_text(frames, count, text);
	return bytes ? add(sites, iot_record_task(record), record->op.op, text_get(sites, text, bytes)) : 0;
}

static int compare(const void *a, const void *b)
{
	const struct op_site *x = a, *y = b;

	return (x->op > y->op) - (x->op < y->op);
}

/**
 * sites_read() - find the call sites of all operations
 * @path: of the trace
 * @sites: out: for sites_free(); NULL if the trace has none
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int sites_read(const char *path, struct sites **sites, struct iot_reject *reject)
{
	struct iot_trace_info info;
	struct task_sites *task;
	struct sites *own = calloc(1, sizeof(*own));
	int err = own ? symbols_open(path, &own->symbols, reject) : -ENOMEM;

	*sites = NULL;
	if (err || !symbols_has_stacks(own->symbols)) {
		sites_free(own);
		return err;
	}
	err = iot_trace_walk(path, take_record, own, &info, reject);
	for (task = own->tasks; task; task = task->hh.next)
		qsort(task->ops, task->count, sizeof(*task->ops), compare);
	if (err)
		sites_free(own);
	else
		*sites = own;
	return err;
}

/* -- use ------------------------------------------------------------------------------------------------------ */

/**
 * sites_find() - the call site of an operation
 * @sites: of its trace, or NULL
 * @task: id of its task
 * @op: its number in the task
 * @bytes: out: length of the text, 0 if there is none
 *
 * Return: the text, without an end, valid until sites_free(); NULL if it is not known.
 */
const u8 *sites_find(const struct sites *sites, u32 task, u32 op, u32 *bytes)
{
	const struct op_site key = { .op = op }, *found = NULL;
	const struct task_sites *of_task = NULL;

	if (sites)
		HASH_FIND(hh, sites->tasks, &task, sizeof(task), of_task);
	if (of_task)
		found = bsearch(&key, of_task->ops, of_task->count, sizeof(key), compare);
	*bytes = found ? found->text->bytes : 0;
	return found ? found->text->data : NULL;
}

/**
 * site_flaw() - check a text that is said to be a call site
 * @text, @bytes: nothing in it is trusted
 *
 * Return: the end of a sentence that says why it is none; NULL if it is one.
 */
const char *site_flaw(const u8 *text, size_t bytes)
{
	u32 character;
	size_t i, length;

	if (bytes > SITE_BYTES_MAX)
		return "has more than 2048 bytes";
	for (i = 0; i < bytes; i += length) {
		length = iot_text_utf8(text + i, bytes - i, &character);
		if (!length)
			return "is not UTF-8";
		if (is_control(character))
			return "has a control character";
	}
	return NULL;
}

/**
 * sites_free() - free call sites; NULL is allowed
 */
void sites_free(struct sites *sites)
{
	struct task_sites *task, *next_task;
	struct text *text, *next;

	if (!sites)
		return;
	HASH_ITER (hh, sites->tasks, task, next_task) {
		HASH_DEL(sites->tasks, task);
		free(task->ops);
		free(task);
	}
	HASH_ITER (hh, sites->texts, text, next) {
		HASH_DEL(sites->texts, text);
		free(text);
	}
	symbols_close(sites->symbols);
	free(sites);
}
