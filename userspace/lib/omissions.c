// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * omissions.c - omissions of a trace, a program or the outcomes of a replay: gathered, stated, and as
 * text. The reasons are those of omission.h.
 *
 * Contents of a file are not trusted: counts are added without overflow, texts are truncated.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "iotape.h"

#define FACT_PREFIX "omission."
#define UNKNOWN	    IOT_OMISSION_UNKNOWN

static const struct {
	const char *name;
	const char *one;
	const char *many;
} reasons[IOT_OMISSION_END] = {
#define REASON(id, name, one, many) [id] = { #name, one, many },
	IOT_OMISSIONS(REASON)
#undef REASON
};

/* -- adding up ------------------------------------------------------------------------------ */

static u64 sum(u64 a, u64 b)
{
	if (a == UNKNOWN || b == UNKNOWN || a + b < a)
		return UNKNOWN;
	return a + b;
}

/* Names are in it, which may be any bytes: lines stay lines. */
static void add_detail(char *to, const char *detail)
{
	size_t at = strlen(to);

	if (!detail || !detail[0])
		return;
	snprintf(to + at, IOT_OMISSION_DETAIL_BYTES - at, "%s%s", at ? ", " : "", detail);
	for (; to[at]; at++)
		if ((unsigned char)to[at] < ' ' || to[at] == 0x7f)
			to[at] = '?';
}

static void add(struct iot_omission *to, u64 count, u64 operations, u64 bytes, const char *detail)
{
	if (!count)
		return;
	to->count = sum(to->count, count);
	to->operations = sum(to->operations, operations);
	to->bytes = sum(to->bytes, bytes);
	add_detail(to->detail, detail);
}

/**
 * iot_omissions_add() - something more is lacking
 * @omissions: where to add it
 * @reason: why
 * @count: as its sentence counts; 0: nothing is lacking
 * @operations: that are lacking, or IOT_OMISSION_UNKNOWN
 * @bytes: that these moved, or IOT_OMISSION_UNKNOWN
 * @detail: names them; NULL or "" if not stated. It is cut if it is too long
 */
void iot_omissions_add(struct iot_omissions *omissions, enum iot_omission_reason reason, u64 count,
		       u64 operations, u64 bytes, const char *detail)
{
	add(&omissions->of[reason], count, operations, bytes, detail);
}

/**
 * iot_omissions_sum() - add the omissions of another trace
 * @omissions: the sum
 * @other: added to it, present operations included
 */
void iot_omissions_sum(struct iot_omissions *omissions, const struct iot_omissions *other)
{
	u32 i;

	omissions->operations += other->operations;
	omissions->bytes += other->bytes;
	for (i = 0; i < IOT_OMISSION_END; i++)
		add(&omissions->of[i], other->of[i].count, other->of[i].operations,
		    other->of[i].bytes, other->of[i].detail);
}

/**
 * iot_omissions_is_none() - is nothing lacking, as far as is known?
 */
bool iot_omissions_is_none(const struct iot_omissions *omissions)
{
	u32 i;

	for (i = 0; i < IOT_OMISSION_END; i++)
		if (omissions->of[i].count)
			return false;
	return true;
}

/**
 * iot_omissions_operations() - operations that are lacking, for all reasons together
 * @omissions: gathered
 * @is_more: out: for some reason their number is not known
 *
 * Return: those that are known.
 */
u64 iot_omissions_operations(const struct iot_omissions *omissions, bool *is_more)
{
	u64 known = 0;
	u32 i;

	*is_more = false;
	for (i = 0; i < IOT_OMISSION_END; i++) {
		if (omissions->of[i].operations == UNKNOWN)
			*is_more = true;
		else
			known += omissions->of[i].operations;
	}
	return known;
}

/**
 * iot_omissions_bytes() - bytes that operations which are lacking moved
 * @omissions: gathered
 * @is_more: out: for some reason their number is not known
 *
 * Return: those that are known.
 */
u64 iot_omissions_bytes(const struct iot_omissions *omissions, bool *is_more)
{
	u64 known = 0;
	u32 i;

	*is_more = false;
	for (i = 0; i < IOT_OMISSION_END; i++) {
		if (omissions->of[i].bytes == UNKNOWN)
			*is_more = true;
		else
			known += omissions->of[i].bytes;
	}
	return known;
}

/**
 * iot_omissions_is_whole() - is every operation there, with all its bytes?
 * @omissions: gathered
 *
 * Return: also true if the order or details of some operations are not known; false if the number is
 * unknown.
 */
bool iot_omissions_is_whole(const struct iot_omissions *omissions)
{
	bool are_more_operations, are_more_bytes;

	return !iot_omissions_operations(omissions, &are_more_operations) && !are_more_operations &&
	       !iot_omissions_bytes(omissions, &are_more_bytes) && !are_more_bytes;
}

/* -- facts ---------------------------------------------------------------------------------- */

/**
 * iot_omission_name() - a reason as a word
 */
const char *iot_omission_name(enum iot_omission_reason reason)
{
	return reasons[reason].name;
}

/**
 * iot_omission_sentence() - a reason as a sentence of several, with %llu for their number
 */
const char *iot_omission_sentence(enum iot_omission_reason reason)
{
	return reasons[reason].many;
}

static void print_number(char text[24], u64 number)
{
	if (number == UNKNOWN)
		strcpy(text, "?");
	else
		snprintf(text, 24, "%" PRIu64, (uint64_t)number);
}

/**
 * iot_omission_fact() - the omission for a reason, in the form of a fact
 * @omissions: gathered
 * @reason: the reason
 * @text: out: key=value
 *
 * Return: length of the text; 0 if nothing is missing for this reason.
 */
int iot_omission_fact(const struct iot_omissions *omissions, enum iot_omission_reason reason,
		      char text[IOT_OMISSION_TEXT_BYTES])
{
	const struct iot_omission *o = &omissions->of[reason];
	char count[24], operations[24], bytes[24];

	text[0] = 0;
	if (!o->count)
		return 0;
	print_number(count, o->count);
	print_number(operations, o->operations);
	print_number(bytes, o->bytes);
	return snprintf(text, IOT_OMISSION_TEXT_BYTES, FACT_PREFIX "%s=%s %s %s%s%s", reasons[reason].name,
			count, operations, bytes, o->detail[0] ? " " : "", o->detail);
}

/* Return: behind the number, or NULL if there is none. */
static const char *parse_number(const char *text, u64 *number)
{
	char *end;

	while (*text == ' ')
		text++;
	if (*text == '?') {
		*number = UNKNOWN;
		return text + 1;
	}
	if (*text < '0' || *text > '9')
		return NULL;
	*number = strtoull(text, &end, 10);
	return end;
}

static enum iot_omission_reason find_reason(const char *name, size_t bytes)
{
	u32 i;

	for (i = 1; i < IOT_OMISSION_END; i++)
		if (strlen(reasons[i].name) == bytes && !memcmp(reasons[i].name, name, bytes))
			return i;
	return IOT_OMISSION_END;
}

/* A reason of a later version, or a fact that cannot be read, must not pass for nothing. */
static void take_stated(struct iot_omissions *omissions, const char *key, const char *value)
{
	enum iot_omission_reason reason = find_reason(key, (size_t)(value - 1 - key));
	u64 count = 0, operations = 0, bytes = 0;
	const char *p = parse_number(value, &count);

	if (p)
		p = parse_number(p, &operations);
	if (p)
		p = parse_number(p, &bytes);
	if (!p || reason == IOT_OMISSION_END) {
		add(&omissions->of[IOT_OMISSION_partial], 1, UNKNOWN, UNKNOWN, key);
		return;
	}
	omissions->is_stated[reason] = true;
	add(&omissions->of[reason], count, operations, bytes, *p == ' ' ? p + 1 : p);
}

/* Imported traces of versions without omissions state gaps as facts. */
static void take_old_gap(struct iot_omissions *omissions, const char *key, const char *value)
{
	enum iot_omission_reason reason = IOT_OMISSION_log;
	char detail[96];

	if (!strncmp(key, "map=", 4))
		reason = IOT_OMISSION_mapping;
	else if (!strncmp(key, "aio=", 4) || !strncmp(key, "io_uring=", 9))
		reason = IOT_OMISSION_async;
	snprintf(detail, sizeof(detail), "%.*s %s", (int)(value - 1 - key), key, value);
	add(&omissions->old[reason], strtoull(value, NULL, 10), UNKNOWN, UNKNOWN,
	    reason == IOT_OMISSION_log ? detail : NULL);
}

static bool begins_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

static void take_fact(struct iot_omissions *omissions, const char *fact)
{
	const char *equals = strchr(fact, '=');

	if (!equals)
		return;
	if (begins_with(fact, FACT_PREFIX))
		take_stated(omissions, fact + strlen(FACT_PREFIX), equals + 1);
	else if (begins_with(fact, "import."))
		take_old_gap(omissions, fact + strlen("import."), equals + 1);
	else if (begins_with(fact, "partial="))
		add(&omissions->of[IOT_OMISSION_partial], 1, UNKNOWN, UNKNOWN, equals + 1);
	else if (!strcmp(fact, "mmap=off"))
		omissions->is_mmap_off = true;
	else if (begins_with(fact, IOT_FACT_OPS "=") || begins_with(fact, IOT_FACT_FILTER "=") || begins_with(fact, IOT_FACT_ONLY "="))
		omissions->is_filtered = true;
	else if (begins_with(fact, IOT_FACT_COUNTERS "="))
		omissions->is_counted = true;
	else if (begins_with(fact, "replay="))
		omissions->has_files = true;
}

/* -- traces ----------------------------------------------------------------------------------- */

static u64 positive(s64 number)
{
	return number > 0 ? (u64)number : 0;
}

/**
 * iot_record_moved_bytes() - bytes that an operation moved, or made accessible in a mapping
 * @record: any
 *
 * A copy reads and writes. The bytes that an asynchronous request moves are known when it ends.
 */
u64 iot_record_moved_bytes(const struct iot_record *record)
{
	switch (record->kind) {
	case IOT_KIND_read:
	case IOT_KIND_write:
		return positive(record->op.result);
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		return 2 * positive(record->op.result);
	case IOT_KIND_complete:
		return positive(record->complete.result);
	case IOT_KIND_touch:
		return record->op.result < 0 ? 0 : record->touch.length_bytes;
	default:
		return 0;
	}
}

static void take_state(struct iot_omissions *omissions, const struct iot_rec_state *r)
{
	char detail[64];

	snprintf(detail, sizeof(detail), "of %llu processes", (unsigned long long)r->unseen_tasks);
	add(&omissions->old[IOT_OMISSION_around], sum(r->unseen_files, r->unseen_maps), UNKNOWN, UNKNOWN,
	    detail);
}

/* A pause, or its end; the one may be lost, and the other not. */
static void take_control(struct iot_omissions *omissions, const struct iot_rec_control *r)
{
	struct iot_omission *paused = &omissions->old[IOT_OMISSION_paused];
	bool is_end = r->verb == IOT_VERB_resume || (r->verb == IOT_VERB_stop && (omissions->pause_ns || r->operations));

	if (r->verb == IOT_VERB_mmap && !r->value)
		omissions->is_mmap_off = true;
	if (r->verb == IOT_VERB_pause && !omissions->pause_ns) {
		omissions->pause_ns = r->since_ns ? r->since_ns : r->time_ns;
		paused->count++;
	}
	if (!is_end)
		return;
	paused->count += !omissions->pause_ns;
	paused->operations = sum(paused->operations, r->operations);
	paused->bytes = sum(paused->bytes, r->operations ? UNKNOWN : 0);
	if (omissions->pause_ns && r->time_ns > omissions->pause_ns)
		omissions->paused_ns += r->time_ns - omissions->pause_ns;
	omissions->pause_ns = 0;
}

/* How long, of how long. */
static void finish_pauses(struct iot_omissions *omissions)
{
	struct iot_omission *paused = &omissions->old[IOT_OMISSION_paused];

	if (!paused->count)
		return;
	if (omissions->pause_ns) { /* it did not end in the trace */
		paused->operations = UNKNOWN;
		paused->bytes = UNKNOWN;
		if (omissions->end_ns > omissions->pause_ns)
			omissions->paused_ns += omissions->end_ns - omissions->pause_ns;
		omissions->pause_ns = 0;
	}
	snprintf(paused->detail, sizeof(paused->detail), "%.3f s of %.3f s", (double)omissions->paused_ns / 1e9,
		 (double)(omissions->end_ns - omissions->begin_ns) / 1e9);
	if (!omissions->is_stated[IOT_OMISSION_paused])
		add(&omissions->of[IOT_OMISSION_paused], paused->count, paused->operations, paused->bytes,
		    paused->detail);
}

/**
 * iot_omissions_kinds() - the records from which more is learnt than numbers of operations and bytes
 * @kinds: they are added
 *
 * A reader may skip others, see iot_reader_need(): iot_omissions_finish() adds the numbers.
 */
void iot_omissions_kinds(u64 kinds[IOT_KIND_WORDS])
{
	iot_kinds_add(kinds, IOT_KIND_control);
	iot_kinds_add(kinds, IOT_KIND_fact);
	iot_kinds_add(kinds, IOT_KIND_state);
	iot_kinds_add(kinds, IOT_KIND_mount);
	iot_kinds_add(kinds, IOT_KIND_map);
}

/**
 * iot_omissions_take() - learn from a record of a trace
 * @omissions: all zero before the first one
 * @record: the next one
 */
void iot_omissions_take(struct iot_omissions *omissions, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	char fact[IOT_TAIL_MAX_BYTES + 1];

	omissions->end_ns = iot_record_end_ns(record);
	if (!omissions->begin_ns)
		omissions->begin_ns = record->op.enter_ns;
	switch (record->kind) {
	case IOT_KIND_control:
		take_control(omissions, &record->control);
		return;
	case IOT_KIND_fact:
		memcpy(fact, record->tail, record->tail_bytes);
		fact[record->tail_bytes] = 0;
		take_fact(omissions, fact);
		return;
	case IOT_KIND_state:
		take_state(omissions, &record->state);
		return;
	case IOT_KIND_mount:
		omissions->has_files = true;
		return;
	case IOT_KIND_map:
		omissions->maps += record->map.result >= 0;
		break;
	}
	omissions->mpi_calls += info->group == IOT_GROUP_mpi;
	if (info->group != IOT_GROUP_op)
		return;
	omissions->has_files = true;
	omissions->operations += record->kind != IOT_KIND_complete;
	omissions->bytes += iot_record_moved_bytes(record);
}

/* Omissions that the records show, unless facts state them: facts cover the whole trace. */
static void add_shown(struct iot_omissions *omissions, enum iot_omission_reason reason, u64 count,
		      const char *detail)
{
	if (!omissions->is_stated[reason])
		add(&omissions->of[reason], count, UNKNOWN, UNKNOWN, detail);
}

static void add_old(struct iot_omissions *omissions, enum iot_omission_reason reason)
{
	add_shown(omissions, reason, omissions->old[reason].count, omissions->old[reason].detail);
}

/**
 * iot_omissions_finish() - all records were taken
 * @omissions: of the trace
 * @info: of the file, after all was read
 */
void iot_omissions_finish(struct iot_omissions *omissions, const struct iot_trace_info *info)
{
	omissions->operations += info->skipped_operations;
	omissions->bytes += info->skipped_bytes;
	omissions->has_files |= info->has_skipped_operations;
	omissions->mpi_calls += info->has_skipped_mpi;
	add_old(omissions, IOT_OMISSION_around);
	finish_pauses(omissions);
	if (omissions->is_filtered) /* the collector ended before it stated a number */
		add_shown(omissions, IOT_OMISSION_filtered, UNKNOWN, NULL);
	if (omissions->is_counted) /* the same */
		add_shown(omissions, IOT_OMISSION_counted, UNKNOWN, NULL);
	if (omissions->is_mmap_off)
		add_shown(omissions, IOT_OMISSION_mapping, omissions->maps, NULL);
	if (omissions->mpi_calls && !omissions->has_files)
		add_shown(omissions, IOT_OMISSION_mpi_only, 1, NULL);
	if (!info->states_omissions) {
		add_old(omissions, IOT_OMISSION_mapping);
		add_old(omissions, IOT_OMISSION_async);
		add_old(omissions, IOT_OMISSION_log);
		add(&omissions->of[IOT_OMISSION_unstated], 1, UNKNOWN, UNKNOWN, NULL);
	}
	if (!info->is_complete)
		add(&omissions->of[info->is_torn ? IOT_OMISSION_torn : IOT_OMISSION_unfinished], 1,
		    UNKNOWN, UNKNOWN, NULL);
	add(&omissions->of[IOT_OMISSION_lost], info->lost, UNKNOWN, UNKNOWN, NULL);
	add(&omissions->of[IOT_OMISSION_missing], info->missing, UNKNOWN, UNKNOWN, NULL);
	add(&omissions->of[IOT_OMISSION_unknown], info->unknown, UNKNOWN, UNKNOWN, NULL);
}

/* -- programs ----------------------------------------------------------------------------------- */

static u64 fact_number(const struct iot_program *program, const char *key)
{
	const char *value = iot_program_fact_value(program, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

/**
 * iot_omissions_of_program() - the omissions that a program states
 * @omissions: filled in
 * @program: verified
 */
void iot_omissions_of_program(struct iot_omissions *omissions, const struct iot_program *program)
{
	const char *key;
	char fact[IOT_TAIL_MAX_BYTES + 1];
	u32 i;

	*omissions = (struct iot_omissions){
		.operations = fact_number(program, "program.operations"),
		.bytes = fact_number(program, "program.moved_bytes"),
	};
	for (i = 0; i < program->fact_count; i++) {
		key = iot_program_string(program, program->facts[i].key);
		if (!begins_with(key, FACT_PREFIX))
			continue;
		snprintf(fact, sizeof(fact), "%s=%s", key,
			 iot_program_string(program, program->facts[i].value));
		take_fact(omissions, fact);
	}
	/* a tree, and nothing of a run */
	if (program->task_count && !(le32_to_cpu(program->head->features_compat) & IOT_PROGRAM_STATES))
		add(&omissions->of[IOT_OMISSION_unstated], 1, UNKNOWN, UNKNOWN, NULL);
}

/* -- text ----------------------------------------------------------------------------------------- */

/* A sentence with its number, which may be unknown. */
static int print_count(char text[IOT_OMISSION_TEXT_BYTES], const char *format, u64 count)
{
	const char *place = strstr(format, "%llu");
	char number[24];

	if (!place)
		return snprintf(text, IOT_OMISSION_TEXT_BYTES, "%s", format);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)count);
	return snprintf(text, IOT_OMISSION_TEXT_BYTES, "%.*s%s%s", (int)(place - format), format,
			count == UNKNOWN ? "an unknown number of" : number, place + strlen("%llu"));
}

/**
 * iot_omission_text() - the omission for a reason, as a sentence
 * @omissions: gathered
 * @reason: the reason
 * @text: out
 *
 * Return: length of the text; 0 if nothing is missing for this reason.
 */
int iot_omission_text(const struct iot_omissions *omissions, enum iot_omission_reason reason,
		      char text[IOT_OMISSION_TEXT_BYTES])
{
	const struct iot_omission *o = &omissions->of[reason];
	const char *format = o->count == 1 ? reasons[reason].one : reasons[reason].many;
	int n;

	text[0] = 0;
	if (!o->count)
		return 0;
	n = print_count(text, format, o->count);
	if (o->bytes && o->bytes != UNKNOWN)
		n += snprintf(text + n, IOT_OMISSION_TEXT_BYTES - (size_t)n, ", with %llu bytes",
			      (unsigned long long)o->bytes);
	if (o->detail[0])
		n += snprintf(text + n, IOT_OMISSION_TEXT_BYTES - (size_t)n, ": %s", o->detail);
	return n;
}

/* How many of all, and which share. */
static void print_share(char text[160], u64 there, u64 lacking, bool is_more, const char *what)
{
	u64 all = there + lacking;

	if (is_more && !lacking)
		snprintf(text, 160, "an unknown number of %s", what);
	else if (all)
		snprintf(text, 160, "%s%llu of %llu %s (%.1f %%)", is_more ? "at least " : "",
			 (unsigned long long)lacking, (unsigned long long)all, what,
			 100 * (double)lacking / (double)all);
	else
		snprintf(text, 160, "0 %s", what);
}

/* If no operation is missing, knowledge about some of them is. */
static const char *unknown_part(const struct iot_omissions *omissions)
{
	bool is_order = false;
	u32 i;

	for (i = 1; i < IOT_OMISSION_END; i++)
		if (i != IOT_OMISSION_log && omissions->of[i].count)
			is_order = true;
	if (!omissions->of[IOT_OMISSION_log].count)
		return "the order of some operations is";
	return is_order ? "the order of some operations, and details of some, are" :
			  "details of some operations are";
}

/**
 * iot_omissions_text() - the extent of all omissions, as a sentence
 * @omissions: gathered, present operations included
 * @text: out
 *
 * Return: length of the text; 0 if nothing is missing.
 */
int iot_omissions_text(const struct iot_omissions *omissions, char text[IOT_OMISSION_TEXT_BYTES])
{
	bool are_more_operations, are_more_bytes;
	u64 operations = iot_omissions_operations(omissions, &are_more_operations);
	u64 bytes = iot_omissions_bytes(omissions, &are_more_bytes);
	char of_operations[160], of_bytes[160];

	text[0] = 0;
	if (iot_omissions_is_none(omissions))
		return 0;
	if (iot_omissions_is_whole(omissions))
		return snprintf(text, IOT_OMISSION_TEXT_BYTES, "incomplete: %s not known",
				unknown_part(omissions));
	print_share(of_operations, omissions->operations, operations, are_more_operations, "operations");
	print_share(of_bytes, omissions->bytes, bytes, are_more_bytes, "bytes");
	return snprintf(text, IOT_OMISSION_TEXT_BYTES, "incomplete: %s and %s are missing", of_operations,
			of_bytes);
}
