// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - the call sites of a trace: stacks, the mappings that their addresses are in, and their frames.
 *
 * A first pass over the trace collects stacks and mappings, because a stack may be recorded on another CPU, and so appear
 * later, than an operation that refers to it. The operations themselves are not kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* -- the first pass ------------------------------------------------------------------------ */

static struct process *process_get(struct symbols *s, u32 task)
{
	struct process *process;

	HASH_FIND(hh, s->processes, &task, sizeof(task), process);
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->task = task;
	HASH_ADD(hh, s->processes, task, sizeof(task), process);
	return process;
}

static int take_stack(struct symbols *s, const struct iot_record *r)
{
	struct stack *stack;
	u32 i, count = iot_record_words(r);

	HASH_FIND(hh, s->stacks, &r->stack.stack, sizeof(r->stack.stack), stack);
	if (stack || !count || count > IOT_STACK_WORDS_MAX || r->stack.near > IOT_STACK_NEAR_MAX || 1 + 2 * r->stack.near > count)
		return 0;
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return -ENOMEM;
	stack->id = r->stack.stack;
	stack->process = r->stack.process;
	stack->near = r->stack.near;
	stack->count = count;
	for (i = 0; i < count; i++)
		stack->words[i] = iot_record_word(r, i);
	HASH_ADD(hh, s->stacks, id, sizeof(stack->id), stack);
	return 0;
}

static struct object *object_get(struct symbols *s, const struct iot_record *r)
{
	size_t bytes, path_bytes, i;
	const u8 *id = iot_record_value(r, &bytes);
	char build[2 * IOT_BUILD_ID_MAX_BYTES + 1] = "";
	struct object *object;

	path_bytes = id ? (size_t)(id - r->tail) - 1 : r->tail_bytes;
	for (i = 0; i < bytes && i < IOT_BUILD_ID_MAX_BYTES; i++)
		sprintf(build + 2 * i, "%02x", id[i]);
	for (object = s->objects; object; object = object->next)
		if (object->ino == r->code.ino && object->dev == r->code.dev && !strcmp(object->build, build) &&
		    strlen(object->path) == path_bytes && !memcmp(object->path, r->tail, path_bytes))
			return object;
	object = calloc(1, sizeof(*object));
	if (object)
		object->path = strndup((const char *)r->tail, path_bytes);
	if (!object || !object->path) {
		free(object);
		return NULL;
	}
	memcpy(object->build, build, sizeof(build));
	object->ino = r->code.ino;
	object->dev = r->code.dev;
	object->next = s->objects;
	s->objects = object;
	return object;
}

static int take_code(struct symbols *s, const struct iot_record *r)
{
	struct process *process = process_get(s, r->code.process);
	struct object *object = object_get(s, r);
	struct code *larger;

	if (!process || !object)
		return -ENOMEM;
	larger = reallocarray(process->codes, process->code_count + 1ul, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	process->codes = larger;
	larger[process->code_count++] = (struct code){
		.address = r->code.address,
		.length_bytes = r->code.length_bytes,
		.offset_bytes = r->code.offset_bytes,
		.object = object,
	};
	return 0;
}

static int take_task(struct symbols *s, const struct iot_rec_task *r)
{
	struct process *process = process_get(s, r->task);

	if (!process)
		return -ENOMEM;
	process->pid = r->tgid;
	return 0;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct symbols *s = context;

	(void)names;
	switch (record->kind) {
	case IOT_KIND_stack:
		return take_stack(s, record);
	case IOT_KIND_code:
		return take_code(s, record);
	case IOT_KIND_task:
		return take_task(s, &record->task);
	default:
		return 0;
	}
}

/**
 * symbols_open() - collect the stacks of a trace
 * @path: of the trace, a file
 * @symbols: out: for symbols_close(); after an error, those in front of the damaged place, or NULL
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int symbols_open(const char *path, struct symbols **symbols, struct iot_reject *reject)
{
	struct iot_need stacks = {}, others = {};
	struct iot_trace_info info;
	int err;

	*symbols = calloc(1, sizeof(**symbols));
	if (!*symbols) {
		iot_refuse(reject, IOT_REJECT_memory, 0);
		return -ENOMEM;
	}
	iot_kinds_add(stacks.always, IOT_KIND_stack);
	iot_kinds_add(others.always, IOT_KIND_code);
	iot_kinds_add(others.always, IOT_KIND_task);
	err = iot_trace_walk_need(path, &stacks, take_record, *symbols, &info, reject);
	if (!err && (*symbols)->stacks)
		err = iot_trace_walk_need(path, &others, take_record, *symbols, &info, reject);
	(*symbols)->real_ns = err ? UINT64_MAX : info.real_ns;
	return err;
}

/**
 * symbols_has_stacks() - were call sites recorded?
 */
bool symbols_has_stacks(const struct symbols *symbols)
{
	return symbols->stacks;
}

static void processes_free(struct process *all)
{
	struct process *process, *next;

	HASH_ITER (hh, all, process, next) {
		HASH_DEL(all, process);
		perf_map_close(process->map);
		free(process->codes);
		free(process);
	}
}

/**
 * symbols_close() - free all
 * @symbols: may be NULL
 */
void symbols_close(struct symbols *symbols)
{
	struct stack *stack, *next_stack;
	struct pending *pending, *next;
	struct object *object;

	if (!symbols)
		return;
	HASH_ITER (hh, symbols->stacks, stack, next_stack) {
		HASH_DEL(symbols->stacks, stack);
		free(stack->frames);
		free(stack);
	}
	HASH_ITER (hh, symbols->pending, pending, next) {
		HASH_DEL(symbols->pending, pending);
		free(pending);
	}
	processes_free(symbols->processes);
	while ((object = symbols->objects)) {
		symbols->objects = object->next;
		object_close(object);
	}
	free(symbols);
}

/* -- frames ---------------------------------------------------------------------------------- */

/* The last record counts: a library may be mapped where another one was. */
static const struct code *code_find(const struct process *process, u64 address)
{
	const struct code *code;
	u32 i;

	for (i = process ? process->code_count : 0; i-- > 0;) {
		code = &process->codes[i];
		if (address >= code->address && address - code->address < code->length_bytes)
			return code;
	}
	return NULL;
}

static bool is_of_libc(const char *path)
{
	static const char *const names[] = { "libc.so.", "libc-2.", "ld-linux", "ld-2.", "libpthread", "ld-musl-", "ld64.so." };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static const char *name_made(const struct symbols *s, struct process *process, u64 address)
{
	if (!process)
		return NULL;
	if (!process->is_map_tried)
		process->map = perf_map_read(process->pid, s->real_ns);
	process->is_map_tried = true;
	return process->map ? perf_map_find(process->map, address) : NULL;
}

static void frame_add(const struct symbols *s, struct stack *stack, struct process *process, u64 address)
{
	const struct code *code = code_find(process, address);
	struct symbols_frame *frame = &stack->frames[stack->frame_count];
	bool is_return = stack->frame_count;

	*frame = (struct symbols_frame){ .build = "", .offset_bytes = address };
	stack->frame_count++;
	if (!code) {
		frame->function = name_made(s, process, address - is_return);
		return;
	}
	frame->object = code->object->path;
	frame->build = code->object->build;
	frame->offset_bytes = address - code->address + code->offset_bytes;
	frame->is_of_libc = is_of_libc(frame->object);
	object_find(code->object, frame->offset_bytes, is_return, frame);
}

/* Return: the word at a distance from the stack pointer, if it is a possible return address; 0 if not. */
static u64 near_find(const struct stack *stack, u64 distance)
{
	u32 i;

	for (i = 0; i < stack->near; i++)
		if (stack->words[1 + 2 * i] == distance)
			return stack->words[2 + 2 * i];
	return 0;
}

/* A caller that is not known; the following frames are its callers. */
static void frame_add_unknown(struct stack *stack)
{
	stack->frames[stack->frame_count++] = (struct symbols_frame){ .function = "?", .build = "" };
}

/* Without the unwind information, the word that is nearest to the stack pointer is the best guess. */
static void frame_add_guess(const struct symbols *s, struct stack *stack, struct process *process, u64 distance)
{
	u32 i;

	for (i = 0; i < stack->near && stack->words[1 + 2 * i] < distance;)
		i++;
	if (i == stack->near) {
		frame_add_unknown(stack);
		return;
	}
	if (stack->words[1 + 2 * i] == IOT_STACK_LINK && 3 + 2 * i < stack->count && stack->words[2 + 2 * i] == stack->words[3 + 2 * i])
		return; /* the frame has it */
	frame_add(s, stack, process, stack->words[2 + 2 * i]);
	stack->frames[stack->frame_count - 1].is_guess = true;
}

/*
 * The innermost functions may have no frame pointer. The unwind information of each states where its return address
 * is, counted from the stack pointer, or that it is in the link register, until a function has one. Code without a file is taken to have one.
 */
static void frames_add_near(const struct symbols *s, struct stack *stack, struct process *process)
{
	bool has_frames = stack->count > 1 + 2 * stack->near;
	u64 address = stack->words[0], distance = 0, bytes = 0;
	const struct code *code;
	enum frame_rule rule;

	while (stack->frame_count <= IOT_STACK_NEAR_MAX && (code = code_find(process, address))) {
		rule = object_frame(code->object, address - code->address + code->offset_bytes, stack->frame_count > 1, &bytes);
		if (rule == FRAME_BY_POINTER)
			return;
		if (rule == FRAME_UNKNOWN) {
			frame_add_guess(s, stack, process, distance);
			return;
		}
		if (rule == FRAME_IN_LINK)
			address = stack->frame_count == 1 ? near_find(stack, IOT_STACK_LINK) : 0;
		else
			address = bytes >= sizeof(u64) ? near_find(stack, distance + bytes - sizeof(u64)) : 0;
		if (!address) {
			if (has_frames)
				frame_add_unknown(stack);
			return;
		}
		distance += rule == FRAME_IN_LINK ? 0 : bytes;
		frame_add(s, stack, process, address);
	}
}

static int stack_resolve(struct symbols *s, struct stack *stack)
{
	struct process *process;
	u32 i;

	if (stack->is_resolved)
		return 0;
	stack->frames = calloc(FRAMES_MAX + 1, sizeof(*stack->frames));
	if (!stack->frames)
		return -ENOMEM;
	HASH_FIND(hh, s->processes, &stack->process, sizeof(stack->process), process);
	frame_add(s, stack, process, stack->words[0]);
	frames_add_near(s, stack, process);
	for (i = 1 + 2 * stack->near; i < stack->count && stack->frame_count < FRAMES_MAX; i++)
		frame_add(s, stack, process, stack->words[i]);
	stack->is_resolved = true;
	return 0;
}

/* -- operations ------------------------------------------------------------------------------- */

/**
 * symbols_kinds() - the records that call sites of later records depend on
 * @kinds: they are added
 */
void symbols_kinds(u64 kinds[IOT_KIND_WORDS])
{
	iot_kinds_add(kinds, IOT_KIND_called_from);
}

/**
 * symbols_take() - note the stack of an operation whose record follows
 * @symbols: of the trace
 * @record: the next one of it
 *
 * Return: 0 or -ENOMEM.
 */
int symbols_take(struct symbols *symbols, const struct iot_record *record)
{
	const struct iot_rec_called_from *r = &record->called_from;
	struct pending *pending;

	if (record->kind != IOT_KIND_called_from)
		return 0;
	HASH_FIND(hh, symbols->pending, &r->task, sizeof(r->task), pending);
	if (!pending) {
		pending = calloc(1, sizeof(*pending));
		if (!pending)
			return -ENOMEM;
		pending->task = r->task;
		HASH_ADD(hh, symbols->pending, task, sizeof(pending->task), pending);
	}
	pending->op = r->op;
	pending->stack = r->stack;
	return 0;
}

/**
 * symbols_frames() - the function calls from which an operation was made
 * @symbols: of the trace, with all records before this one
 * @record: any
 * @frames: out: the innermost first; they live as long as @symbols
 * @count: out: 0 if they are not known
 *
 * Return: 0 or -ENOMEM.
 */
int symbols_frames(struct symbols *symbols, const struct iot_record *record, const struct symbols_frame **frames, u32 *count)
{
	u32 task = iot_record_task(record);
	struct pending *pending;
	struct stack *stack = NULL;
	int err;

	*count = 0;
	if (iot_kind_info(record->kind)->group != IOT_GROUP_op)
		return 0;
	HASH_FIND(hh, symbols->pending, &task, sizeof(task), pending);
	if (pending && pending->op == record->op.op)
		HASH_FIND(hh, symbols->stacks, &pending->stack, sizeof(pending->stack), stack);
	if (!stack)
		return 0;
	err = stack_resolve(symbols, stack);
	if (err)
		return err;
	*frames = stack->frames;
	*count = stack->frame_count;
	return 0;
}

/**
 * symbols_frame_text() - a frame as text: "function@file.c:12", "object+0x1234[build id]", or an address;
 *	"?" if it is not known, and a guess begins with "~"
 * @frame: any
 * @text: out
 */
void symbols_frame_text(const struct symbols_frame *frame, char text[SYMBOLS_TEXT_BYTES])
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
	const char *object = frame->object ? strrchr(frame->object, '/') : NULL;

	const char *version = frame->function ? strstr(frame->function, "@GLIBC") : NULL;
	int bytes = version ? (int)(version - frame->function) : SYMBOLS_TEXT_BYTES;
	const char *guess = frame->is_guess ? "~" : "";

	if (version && bytes && version[-1] == '@')
		bytes--;
	if (frame->function && frame->file)
		snprintf(text, SYMBOLS_TEXT_BYTES, "%s%.*s@%s:%u", guess, bytes, frame->function, slash ? slash + 1 : frame->file, frame->line);
	else if (frame->function)
		snprintf(text, SYMBOLS_TEXT_BYTES, "%s%.*s", guess, bytes, frame->function);
	else if (frame->object)
		snprintf(text, SYMBOLS_TEXT_BYTES, "%s%s+0x%llx[%s]", guess, object ? object + 1 : frame->object, frame->offset_bytes,
			 frame->build[0] ? frame->build : "?");
	else
		snprintf(text, SYMBOLS_TEXT_BYTES, "%s0x%llx", guess, frame->offset_bytes);
}

/**
 * symbols_site() - the innermost function call outside of the C library from which an operation was made
 * @symbols: of the trace, with all records before this one
 * @record: any
 * @text: out: as of symbols_frame_text(); "?" if it is not known
 *
 * Return: 0 or -ENOMEM.
 */
int symbols_site(struct symbols *symbols, const struct iot_record *record, char text[SYMBOLS_TEXT_BYTES])
{
	const struct symbols_frame *frames;
	u32 count, i;
	int err = symbols_frames(symbols, record, &frames, &count);

	for (i = 0; i < count && frames[i].is_of_libc;)
		i++;
	if (!err && i < count)
		symbols_frame_text(&frames[i], text);
	else
		strcpy(text, "?");
	return err;
}
