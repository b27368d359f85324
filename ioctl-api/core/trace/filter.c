// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * filter.c - verification and evaluation of filter programs.
 */
#include "core/trace/filter.h"

enum { TYPE_number, TYPE_sign, TYPE_text, TYPE_kind, TYPE_path };

static const u8 types[] = {
#define ROW(id, field, type, end, sentence) [id] = TYPE_##type,
	IOT_FILTER_FIELDS(ROW)
#undef ROW
};

/* -- verification ------------------------------------------------------------------------------- */

/**
 * struct check - the state of the verification of a program
 * @program: whose
 * @depth: truth values on the stack
 * @paths: tests of the path and the extension so far
 * @wanted: for each step, 1 more than the stack depth of a skip to it; 0 if there is none
 */
struct check {
	const struct iot_filter_head *program;
	u32 depth;
	u32 paths;
	u8 wanted[IOT_FILTER_STEPS_MAX + 1];
};

static bool is_test(u8 code)
{
	return code <= IOT_FILTER_GLOB;
}

/* Can a test with this code have a field of this type? */
static bool is_fit(u8 code, u8 type)
{
	switch (type) {
	case TYPE_number:
		return code <= IOT_FILTER_MULTIPLE;
	case TYPE_sign:
		return code < IOT_FILTER_MULTIPLE;
	case TYPE_kind:
		return code == IOT_FILTER_IN;
	default:
		return code == IOT_FILTER_TEXT || code == IOT_FILTER_GLOB;
	}
}

static bool test_is_sound(struct check *check, const struct iot_filter_step *step)
{
	u32 bytes = step->code == IOT_FILTER_IN ? IOT_FILTER_SET_BYTES : step->bytes;
	u16 target = 0;

	if (step->field >= IOT_FILTER_FIELD_END || !is_fit(step->code, types[step->field]))
		return false;
	if (types[step->field] == TYPE_path) {
		if (check->paths == IOT_FILTER_PATHS_MAX)
			return false;
		target = (u16)check->paths++;
	}
	if (step->target != target || (step->code < IOT_FILTER_TEXT && step->bytes))
		return false;
	if (step->code <= IOT_FILTER_MULTIPLE)
		return !step->data && (step->code != IOT_FILTER_MULTIPLE || step->value) &&
		       (step->field != IOT_FILTER_tree || step->code == IOT_FILTER_EQ);
	return !step->value && step->data + bytes <= check->program->data_bytes;
}

static bool is_bare(const struct iot_filter_step *step)
{
	return !step->field && !step->data && !step->bytes && !step->value;
}

static bool step_is_sound(struct check *check, u32 at)
{
	const struct iot_filter_step *step = &iot_filter_steps(check->program)[at];
	bool is_skip = step->code >= IOT_FILTER_SKIP_NO;

	if (step->code >= IOT_FILTER_CODE_END || step->reserved)
		return false;
	if (is_test(step->code)) {
		check->depth++;
		return check->depth <= IOT_FILTER_DEPTH_MAX && test_is_sound(check, step);
	}
	if (!is_bare(step) || !check->depth || (!is_skip && step->target))
		return false;
	if (!is_skip && step->code != IOT_FILTER_NOT)
		return check->depth-- >= 2;
	if (!is_skip)
		return true;
	if (step->target <= at || step->target > check->program->steps)
		return false;
	if (check->wanted[step->target] && check->wanted[step->target] != check->depth + 1)
		return false;
	check->wanted[step->target] = (u8)(check->depth + 1);
	return true;
}

static bool is_met(const struct check *check, u32 at)
{
	return !check->wanted[at] || check->wanted[at] == check->depth + 1;
}

/**
 * iot_filter_verify() - check that bytes are a program that can be evaluated
 * @bytes: any, aligned to 8
 * @count: their number
 *
 * No step is trusted: each refers to existing data, jumps only forward, and the last leaves one truth value.
 *
 * Return: 0 or -EINVAL.
 */
int iot_filter_verify(const void *bytes, size_t count)
{
	const struct iot_filter_head *program = bytes;
	struct check check = { .program = program };
	u32 i;

	if (count < sizeof(*program) || program->version != IOT_FILTER_VERSION || program->reserved ||
	    !program->steps || program->steps > IOT_FILTER_STEPS_MAX || program->data_bytes > IOT_FILTER_DATA_MAX ||
	    count != sizeof(*program) + program->steps * sizeof(struct iot_filter_step) + program->data_bytes)
		return -EINVAL;
	for (i = 0; i < program->steps; i++)
		if (!is_met(&check, i) || !step_is_sound(&check, i))
			return -EINVAL;
	return is_met(&check, program->steps) && check.depth == 1 ? 0 : -EINVAL;
}

/**
 * iot_filter_uses() - the fields that a program tests
 * @program: verified
 *
 * Return: IOT_FILTER_BIT() of each; for an extension also that of the path.
 */
u32 iot_filter_uses(const struct iot_filter_head *program)
{
	const struct iot_filter_step *steps = iot_filter_steps(program);
	u32 i, uses = 0;

	for (i = 0; i < program->steps; i++)
		if (is_test(steps[i].code))
			uses |= IOT_FILTER_BIT(steps[i].field);
	return uses & IOT_FILTER_BIT(IOT_FILTER_ext) ? uses | IOT_FILTER_BIT(IOT_FILTER_path) : uses;
}

/* -- evaluation --------------------------------------------------------------------------------- */

static bool has(const struct iot_filter_head *program, const struct iot_filter_step *step, const char *is, u32 bytes)
{
	const char *wanted = (const char *)iot_filter_data(program) + step->data;

	if (step->code == IOT_FILTER_GLOB)
		return iot_glob_match(wanted, step->bytes, is, bytes);
	return step->bytes == bytes && !memcmp(wanted, is, bytes);
}

static bool is_so(const struct iot_filter_head *program, const struct iot_filter_step *step, u64 value)
{
	if (step->code == IOT_FILTER_IN)
		return value < IOT_FILTER_SET_BYTES * 8 &&
		       iot_filter_data(program)[step->data + value / 8] >> value % 8 & 1;
	return iot_filter_compare(step->code, types[step->field] == TYPE_sign, value, step->value);
}

/**
 * iot_filter_test() - evaluate a test
 * @program: verified
 * @step: of it, a test
 * @subject: the operation
 */
enum iot_truth iot_filter_test(const struct iot_filter_head *program, const struct iot_filter_step *step,
			       struct iot_filter_subject *subject)
{
	u32 type = types[step->field];
	enum iot_filter_field field = type == TYPE_path ? IOT_FILTER_path : (enum iot_filter_field)step->field;
	u32 bit = IOT_FILTER_BIT(field);
	bool is_true;

	if (subject->later & bit)
		return IOT_LATER;
	if (field == IOT_FILTER_tree)
		return subject->is_in_tree(subject, step->value) ? IOT_YES : IOT_NO;
	if (!(subject->loaded & bit) || type == TYPE_text) {
		subject->loaded |= bit;
		if (!subject->load(subject, program, field))
			subject->absent |= bit;
	}
	if (subject->absent & bit)
		return IOT_NO;
	if (type == TYPE_path)
		is_true = subject->number[field] >> step->target & 1;
	else if (type == TYPE_text)
		is_true = has(program, step, subject->text, subject->bytes);
	else
		is_true = is_so(program, step, subject->number[field]);
	return is_true ? IOT_YES : IOT_NO;
}

/* The stack has two bits for each truth value; the top is in the lowest bits. */
static u64 combine(u64 stack, bool is_or)
{
	u64 a = stack & 3, b = stack >> 2 & 3;

	return (stack >> 4 << 2) | ((a < b) == is_or ? b : a);
}

/* Evaluate a step that is no test. Return: the last step of those that this one skips, or its own number. */
static u32 step_over(const struct iot_filter_step *step, u32 at, u64 *stack)
{
	u64 top = *stack & 3;

	switch (step->code) {
	case IOT_FILTER_NOT:
		*stack = (*stack & ~3ull) | (IOT_YES - top);
		return at;
	case IOT_FILTER_AND:
		*stack = combine(*stack, false);
		return at;
	case IOT_FILTER_OR:
		*stack = combine(*stack, true);
		return at;
	case IOT_FILTER_SKIP_NO:
		return top == IOT_NO ? step->target - 1u : at;
	default:
		return top == IOT_YES ? step->target - 1u : at;
	}
}

/**
 * iot_filter_run() - evaluate a program
 * @program: verified
 * @subject: the operation
 *
 * Context: any in which the functions of @subject may run.
 * Return: IOT_LATER if the answer depends on a field that is not known yet.
 */
enum iot_truth iot_filter_run(const struct iot_filter_head *program, struct iot_filter_subject *subject)
{
	const struct iot_filter_step *steps = iot_filter_steps(program);
	u64 stack = 0;
	u32 at;

	for (at = 0; at < program->steps; at++) {
		if (is_test(steps[at].code))
			stack = stack << 2 | iot_filter_test(program, &steps[at], subject);
		else
			at = step_over(&steps[at], at, &stack);
	}
	return (enum iot_truth)(stack & 3);
}

static bool load_kind(struct iot_filter_subject *subject, const struct iot_filter_head *program,
		      enum iot_filter_field field)
{
	(void)subject;
	(void)program;
	return field == IOT_FILTER_op;
}

/**
 * iot_filter_can_admit() - can a program be true for a kind of operations?
 * @program: verified
 * @kind: kind of record
 *
 * Return: false if it is false whatever the other fields are.
 */
bool iot_filter_can_admit(const struct iot_filter_head *program, u32 kind)
{
	struct iot_filter_subject subject = { .load = load_kind, .later = ~IOT_FILTER_BIT(IOT_FILTER_op) };

	subject.number[IOT_FILTER_op] = kind;
	return iot_filter_run(program, &subject) != IOT_NO;
}

/* -- decision graphs ---------------------------------------------------------------------------- */

/*
 * Link a result of a test to the node of the next test, over steps that are no tests. Return: false if there are
 * too many nodes.
 */
static bool node_link(struct iot_filter_graph *graph, const struct iot_filter_head *program, u32 at, u64 stack, u16 *link)
{
	const struct iot_filter_step *steps = iot_filter_steps(program);
	struct iot_filter_node *node;

	while (at < program->steps && !is_test(steps[at].code))
		at = step_over(&steps[at], at, &stack) + 1;
	if (at >= program->steps) {
		*link = (stack & 3) == IOT_YES ? IOT_FILTER_ADMIT : IOT_FILTER_REFUSE;
		return true;
	}
	for (node = graph->nodes; node < graph->nodes + graph->count; node++)
		if (node->at == at && node->stack == stack)
			break;
	if (node == graph->nodes + IOT_FILTER_NODES_MAX)
		return false;
	if (node == graph->nodes + graph->count)
		graph->nodes[graph->count++] = (struct iot_filter_node){
			.code = steps[at].code,
			.field = steps[at].field,
			.at = (u16)at,
			.target = steps[at].target,
			.data = steps[at].data,
			.value = steps[at].value,
			.stack = stack,
		};
	*link = (u16)(node - graph->nodes);
	return true;
}

/**
 * iot_filter_graph_make() - make the decision graph of a program
 * @graph: out: no nodes if there would be too many, which happens only to programs without skips
 * @program: verified
 *
 * Without fields that are known later, a program that skips is a binary decision diagram of its tests: the truth
 * values on the stack follow from the test that is next. Following links takes much less time than evaluating
 * steps.
 */
void iot_filter_graph_make(struct iot_filter_graph *graph, const struct iot_filter_head *program)
{
	struct iot_filter_node *node;
	u16 first;
	u32 i;

	graph->count = 0;
	node_link(graph, program, 0, 0, &first);
	for (i = 0; i < graph->count; i++) {
		node = &graph->nodes[i];
		if (!node_link(graph, program, node->at + 1u, node->stack << 2 | IOT_NO, &node->next[0]) ||
		    !node_link(graph, program, node->at + 1u, node->stack << 2 | IOT_YES, &node->next[1])) {
			graph->count = 0;
			return;
		}
	}
}

static const char *extension_of(const char *name, u32 bytes, u32 *count)
{
	u32 at = bytes;

	while (at && name[at - 1] != '/' && name[at - 1] != '.')
		at--;
	/* A dot at the beginning of a name begins no extension. */
	if (at < 2 || name[at - 1] != '.' || name[at - 2] == '/')
		return NULL;
	*count = bytes - at;
	return name + at;
}

static bool path_test(const struct iot_filter_head *program, const struct iot_filter_step *step, const char *root,
		      u32 root_bytes, const char *path, u32 path_bytes)
{
	const char *ext;
	u32 bytes = 0;

	if (step->field == IOT_FILTER_ext) {
		ext = extension_of(path, path_bytes, &bytes);
		return ext && has(program, step, ext, bytes);
	}
	if (!step->bytes || iot_filter_data(program)[step->data] != '/')
		return has(program, step, path, path_bytes);
	return root && has(program, step, root, path_bytes ? root_bytes + path_bytes : root_bytes - 1);
}

/**
 * iot_filter_paths() - all tests of a path and its extension
 * @program: verified
 * @root: path of the mount with a '/' at its end, in the memory before @path; NULL if it is not known
 * @root_bytes: its length
 * @path: path from the root of the mount
 * @path_bytes: its length
 *
 * A pattern that begins with '/' is compared with the whole path, another with that from the root of the mount.
 *
 * Return: bit N is set if test N is true.
 */
u32 iot_filter_paths(const struct iot_filter_head *program, const char *root, u32 root_bytes, const char *path,
		     u32 path_bytes)
{
	const struct iot_filter_step *steps = iot_filter_steps(program), *step;
	u32 i, bits = 0;

	for (i = 0; i < program->steps; i++) {
		step = &steps[i];
		if (!is_test(step->code) || types[step->field] != TYPE_path)
			continue;
		if (path_test(program, step, root, root_bytes, path, path_bytes))
			bits |= 1u << step->target;
	}
	return bits;
}

/**
 * iot_filter_share() - the number that decides whether a task belongs to a share of all tasks
 * @task: id of a task
 *
 * Return: 0 to IOT_FILTER_SHARES - 1, evenly spread (the finalizer of MurmurHash3, Appleby 2011).
 */
u32 iot_filter_share(u32 task)
{
	task ^= task >> 16;
	task *= 0x85ebca6b;
	task ^= task >> 13;
	task *= 0xc2b2ae35;
	task ^= task >> 16;
	return task % IOT_FILTER_SHARES;
}
