// SPDX-License-Identifier: GPL-2.0-only
/*
 * language_run.c - the operations of a program, task by task, each of which is added to the pattern.
 *
 * All operations are made twice: the numbers in all names must be known before the first operation is added.
 */
#include "pattern/assembly.h"
#include "language_statement.h"

#define SHAPES_BYTES_MAX (256u << 20) /* of all names that are not alike, and the like */
#define TASKS_MAX	 (1u << 20)
#define COMMS_MAX	 4096

/* A program that runs. */
struct running {
	struct language_program *program;
	struct reader *reader; /* for errors */
	struct stream *stream;
	struct stream_task *task;
	struct assembly *assembly;
	struct widths *widths;
	struct digest *digest;
	bool is_learning;
	bool is_found;
	u64 pass;
	bool *has_comm; /* by task */
	u64 operations;
	u64 operations_max;
	u64 steps;
	u64 shape_bytes;
	u64 position;
	u64 index; /* in the list of the block */
	wide loops[LANGUAGE_LOOPS_MAX];
	struct numbers collectives; /* by communicator */
	struct numbers lists;	    /* expressions "each" of which the task has used numbers */
	u64 sleep_ns;
	struct bytes texts[2];
	u64 from[EVENT_LIST_MAX];
	bool is_out_of_memory;
};

#define FAIL(x, place, ...) reader_fail((x)->reader, place, __VA_ARGS__)

static bool is_failed(const struct running *x)
{
	return x->reader->is_failed || x->is_out_of_memory;
}

/* Bounds the time that a short text takes. */
static void count_step(struct running *x, struct language_place place)
{
	if (x->steps++ == 16 * x->operations_max + (1 << 16))
		FAIL(x, place, "the loops and lists take too many steps");
}

/* -- expressions ------------------------------------------------------------------------------------------ */

static u64 fact_of(const struct running *x, enum task_fact fact)
{
	return x->task->facts[fact];
}

static wide each(struct running *x, struct language_expression *e)
{
	u64 task = 2 * x->position + x->pass;

	if (e->task != task) {
		e->task = task;
		e->used = 0;
		numbers_add(&x->lists, (u64)(uintptr_t)e);
	}
	if (e->used == e->list->count) {
		FAIL(x, e->place, "the list has %llu numbers, and task %llu needs more", (unsigned long long)e->list->count,
		     (unsigned long long)x->position + 1);
		return 0;
	}
	return language_list_at(e->list, e->used++);
}

static wide by(struct running *x, struct language_expression *e)
{
	u64 count = e->list ? e->list->count : e->choice_count;

	if (x->index < count)
		return e->list ? language_list_at(e->list, x->index) : each(x, e->choices[x->index]);
	FAIL(x, e->place, "the list has %llu numbers, and there are more tasks", (unsigned long long)count);
	return 0;
}

/* Quotients are rounded down, so that a remainder has the sign of its divisor. */
static wide divide(struct running *x, const struct language_expression *e, wide left, wide right)
{
	wide quotient, rest;

	if (!right) {
		FAIL(x, e->place, "a division by 0");
		return 0;
	}
	quotient = left / right;
	rest = left % right;
	if (rest && (rest < 0) != (right < 0)) {
		quotient--;
		rest += right;
	}
	return e->term == TERM_DIVIDE ? quotient : rest;
}

static wide value_of(struct running *x, struct language_expression *e);

static wide combine(struct running *x, struct language_expression *e)
{
	wide left = value_of(x, e->left), right = value_of(x, e->right), result = 0;
	bool is_too_large = false;

	if (is_failed(x))
		return 0;
	switch (e->term) {
	case TERM_ADD:
		is_too_large = __builtin_add_overflow(left, right, &result);
		break;
	case TERM_SUBTRACT:
		is_too_large = __builtin_sub_overflow(left, right, &result);
		break;
	case TERM_MULTIPLY:
		is_too_large = __builtin_mul_overflow(left, right, &result);
		break;
	default:
		if (left >> 126 == 0 || left >> 126 == -1)
			result = divide(x, e, left, right);
		else
			is_too_large = true;
	}
	if (is_too_large)
		FAIL(x, e->place, "the result does not fit in 64 bits");
	return result;
}

static wide value_of(struct running *x, struct language_expression *e)
{
	switch (e->term) {
	case TERM_NUMBER:
		return e->number;
	case TERM_RANK:
		return fact_of(x, TASK_FACT_rank);
	case TERM_TASK:
		return (wide)x->position + 1;
	case TERM_SIZE:
		return fact_of(x, TASK_FACT_size);
	case TERM_LOOP:
		return x->loops[e->number];
	case TERM_EACH:
		return each(x, e);
	case TERM_BY:
		return by(x, e);
	default:
		return combine(x, e);
	}
}

/* A number of 64 bits, signed or not; @otherwise without an expression. */
static u64 number_of(struct running *x, struct language_expression *e, u64 otherwise)
{
	wide value;

	if (!e || is_failed(x))
		return otherwise;
	value = value_of(x, e);
	if (value >> 64 && value >> 63 != -1)
		FAIL(x, e->place, "the result does not fit in 64 bits");
	return (u64)value;
}

/* -- operations ------------------------------------------------------------------------------------------- */

static const char *name_of(struct running *x, const struct language_name *part, struct bytes *text)
{
	text->count = 0;
	for (; part && !is_failed(x); part = part->next) {
		if (part->number)
			bytes_add_decimal(text, number_of(x, part->number, 0), part->width);
		else
			bytes_add(text, part->text, part->bytes);
		if (text->count > LANGUAGE_NAME_MAX && part->number)
			FAIL(x, part->number->place, "the name has more than %d bytes", LANGUAGE_NAME_MAX);
	}
	bytes_add(text, "", 1);
	return text->is_failed ? "" : (const char *)text->data;
}

/* The number of a collective call in its communicator, if the text has none. */
static void set_number(struct running *x, const struct language_operation *o, struct event *event, u32 index)
{
	u64 comm = event->roles[EVENT_COMM];

	while (x->collectives.count <= comm && comm < COMMS_MAX && !x->collectives.is_failed)
		numbers_add(&x->collectives, 0);
	if (comm >= COMMS_MAX || x->collectives.is_failed)
		return;
	if (o->fields[index])
		x->collectives.values[comm] = event->fields[index];
	else
		event->fields[index] = ++x->collectives.values[comm];
}

static void set_fields(struct running *x, const struct language_operation *o, struct event *event)
{
	const struct iot_field *fields[EVENT_FIELDS_MAX];
	u64 length = 0;
	u32 i;

	event->field_count = event_fields(o->kind, fields);
	for (i = 0; i < event->field_count; i++) {
		event->fields[i] = number_of(x, o->fields[i], 0);
		if (fields[i]->class == IOT_CLASS_bytes && language_result_is_length(o->kind))
			length = event->fields[i];
		if (o->kind == IOT_KIND_mpi_coll && !strcmp(fields[i]->name, "number"))
			set_number(x, o, event, i);
	}
	for (i = 0; i < event->field_count; i++)
		if (fields[i]->class == IOT_CLASS_result)
			event->fields[i] = number_of(x, o->result, length);
}

static void make_event(struct running *x, const struct language_operation *o, struct event *event)
{
	bool is_on_file = iot_kind_info(o->kind)->group == IOT_GROUP_op;
	u32 i;

	*event = (struct event){ .kind = o->kind, .flags = o->flags, .depth = o->depth, .value = o->value,
				 .value_bytes = o->value_bytes, .site = o->site, .site_bytes = o->site_bytes };
	event->path = name_of(x, o->names[0], &x->texts[0]);
	event->path2 = name_of(x, o->names[1], &x->texts[1]);
	for (i = 0; i < EVENT_ROLES; i++)
		event->roles[i] = number_of(x, o->roles[i], i == EVENT_GENERATION && is_on_file && *event->path);
	set_fields(x, o, event);
	for (i = 0; i < o->from_count; i++)
		x->from[i] = number_of(x, o->from[i], 0);
	event->list = x->from;
	event->list_count = o->from_count;
}

static void learn(struct running *x, const struct event *event)
{
	if (event->kind == IOT_KIND_mpi_comm)
		x->has_comm[x->position] = true;
	if (!x->is_found && (template_learn(&x->widths, event->path) || template_learn(&x->widths, event->path2)))
		x->is_out_of_memory = true;
}

static void add(struct running *x, const struct language_operation *o, struct language_place place, const struct event *event)
{
	u32 shapes = x->stream->shapes.count;
	size_t bytes = 0;

	digest_event(x->digest, event);
	if (stream_add_event(x->stream, x->task, event, x->widths)) {
		x->is_out_of_memory = true;
		return;
	}
	if (x->stream->shapes.count > shapes)
		shapes_bytes(&x->stream->shapes, shapes, &bytes);
	x->shape_bytes += bytes;
	if (x->shape_bytes > SHAPES_BYTES_MAX)
		FAIL(x, place, "too many names without a common form");
	if (!x->program->has_times)
		return;
	numbers_add(&x->task->think_ns, o->think && !x->sleep_ns ? STREAM_DISTRIBUTION | (o->think - 1) : o->think_ns + x->sleep_ns);
	numbers_add(&x->task->duration_ns, o->takes ? STREAM_DISTRIBUTION | (o->takes - 1) : o->takes_ns);
	x->is_out_of_memory |= x->task->think_ns.is_failed || x->task->duration_ns.is_failed;
	x->sleep_ns = 0;
}

static void run_operation(struct running *x, const struct language_operation *o, struct language_place place)
{
	struct event event;

	if (x->operations++ == x->operations_max) {
		FAIL(x, place, "the tasks have more than %llu operations", (unsigned long long)x->operations_max);
		return;
	}
	make_event(x, o, &event);
	x->is_out_of_memory |= x->texts[0].is_failed || x->texts[1].is_failed || x->collectives.is_failed || x->lists.is_failed;
	if (is_failed(x))
		return;
	if (x->is_learning)
		learn(x, &event);
	else
		add(x, o, place, &event);
}

/* -- statements ------------------------------------------------------------------------------------------- */

static void run_body(struct running *x, const struct language_statement *s);

static void run_loop(struct running *x, const struct language_statement *s)
{
	s64 first = (s64)number_of(x, s->first, 0), last = (s64)number_of(x, s->last, 0), i;

	for (i = first; i <= last && !is_failed(x); i++) {
		count_step(x, s->place);
		x->loops[s->loop] = i;
		run_body(x, s->body);
		if (i == INT64_MAX)
			break;
	}
}

static void run_body(struct running *x, const struct language_statement *s)
{
	for (; s && !is_failed(x); s = s->next) {
		if (s->operation)
			run_operation(x, s->operation, s->place);
		else if (s->first)
			run_loop(x, s);
		else if (__builtin_add_overflow(x->sleep_ns, s->sleep_ns, &x->sleep_ns) || x->sleep_ns >> 62)
			FAIL(x, s->place, "the pauses take too long");
	}
}

/* -- tasks ------------------------------------------------------------------------------------------------ */

/* Is a task in the list of a block, and which one of it? */
static bool is_in_block(struct running *x, const struct language_block *block, u64 *index)
{
	bool is_rank = fact_of(x, TASK_FACT_what) == TASK_RANK && fact_of(x, TASK_FACT_job) <= 1;
	u64 number = block->is_ranks ? fact_of(x, TASK_FACT_rank) : x->position + 1, before = 0;
	const struct language_range *range;

	if (block->is_found || (block->is_ranks && !is_rank))
		return false;
	*index = block->is_ranks ? number : x->position;
	if (block->is_all)
		return true;
	for (range = block->ranges; range; range = range->next) {
		count_step(x, block->place);
		if (number >= range->first && number <= range->last && (number - range->first) % range->step == 0) {
			*index = before + (number - range->first) / range->step;
			return true;
		}
		before += (range->last - range->first) / range->step + 1;
	}
	return false;
}

/* All numbers of lists have been used. */
static void check_lists(struct running *x)
{
	size_t i;

	for (i = 0; i < x->lists.count && !is_failed(x); i++) {
		const struct language_expression *e = (const struct language_expression *)(uintptr_t)x->lists.values[i];

		if (e->used != e->list->count)
			FAIL(x, e->place, "the list has %llu numbers, and task %llu uses %llu", (unsigned long long)e->list->count,
			     (unsigned long long)x->position + 1, (unsigned long long)e->used);
	}
	x->lists.count = 0;
}

static void set_facts(struct running *x)
{
	const struct language_program *program = x->program;
	u32 fact;

	x->index = x->position;
	for (fact = 0; fact < TASK_FACT_COUNT; fact++)
		x->task->facts[fact] = language_usual_fact(program->is_ranks, (enum task_fact)fact, x->position, program->tasks);
	for (fact = 0; fact < TASK_FACT_COUNT && !is_failed(x); fact++)
		if (program->facts[fact])
			x->task->facts[fact] = number_of(x, program->facts[fact], 0) - (fact == TASK_FACT_process);
}

static void run_task(struct running *x)
{
	struct language_block *block;

	x->collectives.count = 0;
	x->sleep_ns = 0;
	if (!x->is_learning)
		digest_task(x->digest, x->task->facts);
	if (!x->is_learning && x->program->is_ranks && !x->is_found && !x->has_comm[x->position])
		run_body(x, x->program->world);
	for (block = x->program->blocks; block && !is_failed(x); block = block->next) {
		if (x->is_found ? !block->is_found : !is_in_block(x, block, &x->index))
			continue;
		block->matched += x->is_learning;
		run_body(x, block->body);
	}
	check_lists(x);
}

/* The operations of a task are complete. */
static void finish_task(struct running *x)
{
	int err = assembly_add_task(x->assembly, x->stream, (u32)x->position);

	if (err == -EINVAL)
		FAIL(x, x->program->tasks_place, "a task has too many operations that are not loops");
	x->is_out_of_memory |= err == -ENOMEM;
}

static void run_tasks(struct running *x)
{
	x->operations = x->steps = 0;
	x->pass++;
	for (x->position = 0; x->position < x->stream->task_count && !is_failed(x); x->position++) {
		x->task = &x->stream->tasks[x->position];
		x->is_found = x->position == x->program->tasks;
		if (x->is_learning && !x->is_found)
			set_facts(x);
		else if (x->is_found)
			x->task->facts[TASK_FACT_what] = TASK_FOUND;
		count_step(x, x->program->tasks_place);
		run_task(x);
		if (!x->is_learning && !is_failed(x))
			finish_task(x);
	}
}

static void check_blocks(struct running *x)
{
	const struct language_block *block;

	for (block = x->program->blocks; block && !is_failed(x); block = block->next)
		if (!block->is_found && !block->is_all && block->matched != block->count)
			FAIL(x, block->place, "the list has %llu %s, of which %llu exist", (unsigned long long)block->count,
			     block->is_ranks ? "ranks" : "tasks", (unsigned long long)block->matched);
}

/* -- the whole -------------------------------------------------------------------------------------------- */

static int make_stream(struct running *x)
{
	struct language_program *program = x->program;
	u64 limit = x->operations_max < TASKS_MAX ? x->operations_max : TASKS_MAX;

	if (program->tasks > limit) {
		FAIL(x, program->tasks_place, "more than %llu tasks", (unsigned long long)limit);
		return -EOPNOTSUPP;
	}
	x->stream->task_count = (u32)program->tasks + program->has_found;
	x->stream->tasks = calloc(x->stream->task_count + 1, sizeof(*x->stream->tasks));
	x->has_comm = calloc(x->stream->task_count + 1, sizeof(*x->has_comm));
	if (!x->stream->tasks || !x->has_comm)
		return -ENOMEM;
	x->is_learning = true;
	run_tasks(x);
	check_blocks(x);
	x->is_learning = false;
	run_tasks(x);
	return is_failed(x) ? x->is_out_of_memory ? -ENOMEM : -EOPNOTSUPP : 0;
}

/**
 * language_run() - the pattern of a program
 * @program: complete
 * @r: from which it was read; states a refusal
 * @operations_max, @pattern: as for pattern_parse()
 *
 * Return: 0, -EOPNOTSUPP, -ENOMEM.
 */
int language_run(struct language_program *program, struct reader *r, u64 operations_max, struct pattern **pattern)
{
	struct running *x = calloc(1, sizeof(*x));
	int err = -ENOMEM;

	if (!x)
		return -ENOMEM;
	x->program = program;
	x->reader = r;
	x->operations_max = operations_max;
	x->stream = calloc(1, sizeof(*x->stream));
	x->digest = digest_open();
	x->assembly = assembly_open(program->distribution_count);
	if (x->stream && x->digest && x->assembly) {
		x->stream->distributions = program->distributions;
		x->stream->distribution_count = program->distribution_count;
		err = make_stream(x);
	}
	if (x->digest)
		digest_close(x->digest, x->stream ? x->stream->digest : (u8[32]){});
	if (!err)
		err = assembly_finish(x->assembly, x->stream, pattern);
	if (!err) {
		(*pattern)->is_made = true;
		(*pattern)->has_times = program->has_times;
	}
	assembly_close(x->assembly);
	template_free(&x->widths);
	stream_free(x->stream);
	numbers_free(&x->collectives);
	numbers_free(&x->lists);
	bytes_free(&x->texts[0]);
	bytes_free(&x->texts[1]);
	free(x->has_comm);
	free(x);
	return err;
}

/**
 * pattern_parse() - the pattern of a text
 * @text, @bytes: as from pattern_print(), or written by hand; nothing in it is trusted
 * @ranks: number of ranks instead of that in the text; 0: that in the text
 * @operations_max: limit of the operations of all tasks, to which time is proportional; memory is to those of one task
 * @pattern: out: to be freed by pattern_free()
 * @refusal: out: LINE:COLUMN: and a sentence, if the error is -EOPNOTSUPP
 *
 * Return: 0, -EOPNOTSUPP if the text is wrong, -EFBIG if it is longer than 32 MiB, -ENOMEM.
 */
int pattern_parse(const char *text, size_t bytes, u64 ranks, u64 operations_max, struct pattern **pattern,
		  struct pattern_refusal *refusal)
{
	struct language_program *program;
	struct reader *r;
	int err;

	if (bytes > PATTERN_TEXT_MAX)
		return -EFBIG;
	program = calloc(1, sizeof(*program));
	r = calloc(1, sizeof(*r));
	if (!program || !r) {
		free(program);
		free(r);
		return -ENOMEM;
	}
	r->program = program;
	r->refusal = refusal;
	reader_open(r, text, bytes);
	language_read_program(r, ranks);
	if (r->is_failed)
		err = r->is_out_of_memory ? -ENOMEM : -EOPNOTSUPP;
	else
		err = language_run(program, r, operations_max, pattern);
	language_free_program(program);
	free(r);
	return err;
}
