// SPDX-License-Identifier: GPL-2.0-only
/*
 * advise.c - read a trace, and count the evidence for each hint.
 *
 * The evidence is counted in one pass, after one for the processes and, if there are ranks, one for collective calls.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence.h"

static int take_span(void *context, struct iot_names *names, const struct iot_record *record)
{
	(void)names;
	return ranks_take_span(context, record);
}

/* A list of classes that this version does not know is none of those that it knows. */
static int take_fact(struct evidence *e, const struct iot_record *record)
{
	char *fact = strndup((const char *)record->tail, record->tail_bytes);
	size_t place;
	int classes;

	if (!fact)
		return -ENOMEM;
	if (!strncmp(fact, IOT_FACT_OPS "=", strlen(IOT_FACT_OPS "="))) {
		classes = iot_op_classes_of(fact + strlen(IOT_FACT_OPS "="), &place);
		e->classes &= classes < 0 ? 0 : (u32)classes;
	}
	e->has_filter |= !strncmp(fact, IOT_FACT_FILTER "=", strlen(IOT_FACT_FILTER "="));
	free(fact);
	return 0;
}

static int take_operation(struct evidence *e, struct iot_names *names, const struct iot_record *record)
{
	struct operation o = { .record = record, .process = evidence_process(e, record->op.task) };
	const char *path = iot_names_of_record(names, record).path;
	int err = evidence_subject(e, path, strlen(path), &o.subject);

	e->advise->operations++;
	ranks_take(e, record);
	if (!err)
		err = requests_take(e, names, &o);
	return err ?: files_take(e, names, &o);
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct evidence *e = context;

	iot_omissions_take(&e->advise->omissions, record);
	if (record->kind == IOT_KIND_fact)
		return take_fact(e, record);
	if (record->kind == IOT_KIND_complete) {
		ranks_take(e, record);
		return 0;
	}
	if (iot_kind_info(record->kind)->group == IOT_GROUP_op)
		return take_operation(e, names, record);
	return ranks_take_call(e, record);
}

static int evidence_read(struct evidence *e, const char *path, struct iot_reject *reject)
{
	struct iot_trace_info info;
	int err = actors_read(path, &e->actors, reject);

	if (!err && e->actors.has_ranks) {
		err = ranks_open(e);
		if (err)
			iot_refuse(reject, IOT_REJECT_memory, 0);
		else
			err = iot_trace_walk(path, take_span, e, NULL, reject);
	}
	if (!err)
		err = iot_trace_walk(path, take_record, e, &info, reject);
	if (err)
		return err;
	iot_omissions_finish(&e->advise->omissions, &info);
	ranks_finish(e);
	err = files_finish(e) ?: verdicts_make(e);
	if (err)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	return err;
}

/**
 * advise_read() - the hints of a trace
 * @path: of the trace
 * @advise: out; to be freed by advise_free(), also after an error
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int advise_read(const char *path, struct advise *advise, struct iot_reject *reject)
{
	struct evidence e = { .advise = advise, .classes = (1u << IOT_OP_CLASS_END) - 1 };
	int err;

	*advise = (struct advise){};
	err = evidence_read(&e, path, reject);
	patterns_finish(&e.patterns);
	evidence_free(&e);
	return err;
}

/**
 * advise_free() - free the result of advise_read()
 */
void advise_free(struct advise *advise)
{
	u32 hint, i;

	for (hint = 0; hint < ADVISE_HINT_COUNT; hint++) {
		for (i = 0; i < advise->findings[hint].item_count; i++)
			free(advise->findings[hint].items[i].name);
		free(advise->findings[hint].items);
	}
}
