// SPDX-License-Identifier: GPL-2.0-only
/*
 * deeds.c - read a trace into what it did. The equivalences of diff.h are applied here.
 */
#include "deeds.h"

#include <stdlib.h>
#include <uthash.h>

#include "deeds_reading.h"
#include "analyse/graph/implied.h"

struct deed_texts {
	UT_hash_handle hh;
	char text[];
};

/* -- texts and tasks -------------------------------------------------------------------- */

static const char *text_of(struct deeds *deeds, const char *text, size_t bytes)
{
	struct deed_texts *copy;

	HASH_FIND(hh, deeds->texts, text, bytes, copy);
	if (copy)
		return copy->text;
	copy = malloc(sizeof(*copy) + bytes + 1);
	if (!copy)
		return NULL;
	memcpy(copy->text, text, bytes);
	copy->text[bytes] = 0;
	HASH_ADD(hh, deeds->texts, text, bytes, copy);
	return copy->text;
}

/**
 * deeds_task() - a task, which is made if it is not there
 * @deeds: to look in
 * @id: of the task
 * @index: out: its index
 *
 * Tasks are few, and the one that is asked for is mostly the one asked for last.
 *
 * Return: 0 or -ENOMEM.
 */
int deeds_task(struct deeds *deeds, u32 id, u32 *index)
{
	u32 i;

	for (i = deeds->task_count; i-- > 0;) {
		if (deeds->tasks[i].id != id)
			continue;
		*index = i;
		return 0;
	}
	if (deeds->task_count == deeds->task_room) {
		u32 room = deeds->task_room ? 2 * deeds->task_room : 64;
		struct deed_task *tasks = reallocarray(deeds->tasks, room, sizeof(*tasks));

		if (!tasks)
			return -ENOMEM;
		deeds->tasks = tasks;
		deeds->task_room = room;
	}
	*index = deeds->task_count++;
	deeds->tasks[*index] = (struct deed_task){ .id = id };
	return 0;
}

/**
 * deeds_add() - a task has done another thing
 * @task: whose deed it is
 * @deed: is copied
 *
 * Return: the copy, until the next is added; NULL if there is no memory.
 */
struct deed *deeds_add(struct deed_task *task, const struct deed *deed)
{
	if (task->count == task->room) {
		u32 room = task->room ? 2 * task->room : 64;
		struct deed *deeds = reallocarray(task->deeds, room, sizeof(*deeds));

		if (!deeds)
			return NULL;
		task->deeds = deeds;
		task->room = room;
	}
	task->deeds[task->count] = *deed;
	task->deeds[task->count].nth = task->count;
	return &task->deeds[task->count++];
}

static int take_task(struct deeds *deeds, const struct iot_rec_task *r)
{
	u32 index, parent;
	int err = deeds_task(deeds, r->task, &index);

	if (err || deeds->tasks[index].why)
		return err;
	deeds->tasks[index].why = r->why;
	deeds->tasks[index].tgid = r->tgid;
	deeds->tasks[index].plays = r->plays;
	if (!r->parent || r->parent >= r->task) /* who was made has the larger id, or the record lies */
		return 0;
	deeds->tasks[index].parent = r->parent;
	err = deeds_task(deeds, r->parent, &parent);
	if (!err)
		deeds->tasks[index].nth = ++deeds->tasks[parent].made;
	return err;
}

/* -- from records to deeds ------------------------------------------------------------------- */

/* Texts of fields that name something by another name than the operation's own. */
static int set_path2(struct reading_state *s, struct deed *deed)
{
	const struct iot_record *r = s->record;
	const char *text = (const char *)r->tail;
	size_t bytes = r->tail_bytes, value_bytes;

	if (r->kind == IOT_KIND_rename) {
		text = iot_names_path(s->names, r->rename.new_name);
		bytes = strlen(text);
	} else if (r->kind == IOT_KIND_link) {
		text = iot_names_path(s->names, r->link.name);
		bytes = strlen(text);
	}
	deed->has_value = iot_record_value(r, &value_bytes);
	deed->value_bytes = (u32)value_bytes;
	deed->path2 = text_of(s->deeds, text, bytes);
	return deed->path2 ? 0 : -ENOMEM;
}

/*
 * An operation on a handle has the name of the handle, even if its record has another one: the names of a file
 * at that moment, and the choice among them, do not depend on the task.
 */
static struct iot_label label_of(const struct reading_state *s)
{
	const struct iot_record *r = s->record;

	if (r->kind == IOT_KIND_setattr && r->setattr.handle)
		return iot_names_handle(s->names, r->setattr.handle);
	return iot_names_of_record(s->names, r);
}

/*
 * Outcomes tell of what is done to a range of a mapping only in which file that is; and of a file that
 * has no name, nobody tells by what handle it was asked for.
 */
static bool is_nameless(const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_msync:
		return !r->msync.handle;
	case IOT_KIND_madvise:
		return !r->madvise.handle;
	case IOT_KIND_setattr:
		return !r->setattr.name && !r->setattr.handle;
	case IOT_KIND_stat:
	case IOT_KIND_readlink:
	case IOT_KIND_follow:
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_listxattr:
	case IOT_KIND_removexattr:
		return !r->stat.name; /* they begin alike */
	default:
		return false;
	}
}

/**
 * deeds_make() - what the record at hand says, as a deed
 * @s: where the reading is
 * @deed: out
 *
 * Return: 0 or -ENOMEM.
 */
int deeds_make(struct reading_state *s, struct deed *deed)
{
	const struct iot_kind_info *info = iot_kind_info(s->record->kind);
	struct iot_label label = label_of(s);
	u32 i, n = 0;

	*deed = (struct deed){
		.kind = s->record->kind,
		.order = s->record->op.op,
		.is_implied = is_implied(s->record),
		.is_nameless = is_nameless(s->record) || label.is_guess,
		.generation = label.generation,
		.path = text_of(s->deeds, label.path, strlen(label.path)),
	};
	for (i = 0; i < info->field_count && n < DEED_FIELDS_MAX; i++)
		if (iot_class_info(info->fields[i].class).is_compared)
			deed->fields[n++] = iot_field_get(s->record, &info->fields[i]);
	return deed->path ? set_path2(s, deed) : -ENOMEM;
}

/* Compared fields of a map: result, offset, length, prot, flags. */
enum { MAP_FLAGS = 4 };

/* -- equivalence 5: opens that fail at the look-up --------------------------------------------- */

/* Compared fields of an open: result, flags, mode. */
enum { OPEN_RESULT, OPEN_FLAGS };

static void make_failed_open(struct deed *deed, const struct iot_rec_lookup *r)
{
	u64 result = deed->fields[OPEN_RESULT];

	deed->kind = IOT_KIND_open;
	memset(deed->fields, 0, sizeof(deed->fields));
	deed->fields[OPEN_RESULT] = result;
	deed->fields[OPEN_FLAGS] = failed_open_flags(r);
}

/* -- equivalence 8: locks that were waited for ------------------------------------------------------ */

/* Compared fields of a lock: result, begin, end, flags, found. */
enum { LOCK_RESULT = 0, LOCK_FLAGS = 3 };

/* A wait without a lock is a refusal. */
static void make_unwaited(struct deed *deed, const struct iot_rec_lock *r)
{
	deed->fields[LOCK_FLAGS] &= ~(u64)IOT_LOCK_wait;
	if (iot_is_wait_in_vain(r->flags, r->result))
		deed->fields[LOCK_RESULT] = (u64)-EAGAIN;
}

/* -- what is implied ----------------------------------------------------------------------------- */

static void mark_question(struct deed_task *task, u32 order)
{
	struct deed *last = task->count ? &task->deeds[task->count - 1] : NULL;

	if (last && last->order + 1 == order && is_question(last->kind, last->path2))
		last->is_implied = true;
}

/* The question was asked by the same handle; or by a name that had gone when its answer was there. */
static void name_question(struct deed_task *task, const struct deed *deed)
{
	struct deed *last = task->count ? &task->deeds[task->count - 1] : NULL;

	if (last && last->order + 1 == deed->order && is_question(last->kind, last->path2)) {
		last->path = deed->path;
		last->generation = deed->generation;
		last->is_nameless = deed->is_nameless;
	}
}

/* -- the trace ------------------------------------------------------------------------------------------------ */

static int take_op(struct reading_state *s)
{
	const struct iot_record *r = s->record;
	struct deed deed;
	u32 task;
	int err = deeds_task(s->deeds, r->op.task, &task);

	if (!err && r->kind == IOT_KIND_submit)
		return deeds_take_submit(s, task);
	if (!err)
		err = deeds_make(s, &deed);
	if (err)
		return err;
	switch (r->kind) {
	case IOT_KIND_lookup:
		if (!r->lookup.result)
			return deeds_take_found(s, &deed);
		if (is_failed_open(&r->lookup))
			make_failed_open(&deed, &r->lookup);
		break;
	case IOT_KIND_setattr:
		if (has_question(r))
			mark_question(&s->deeds->tasks[task], deed.order);
		else if (r->setattr.handle || deed.is_nameless)
			name_question(&s->deeds->tasks[task], &deed);
		break;
	case IOT_KIND_readdir:
		return deeds_take_readdir(s, task, &deed);
	case IOT_KIND_open:
		if (strlen(deed.path) >= IOT_LOOKUP_MAX)
			deed.fields[OPEN_FLAGS] &= ~(u64)IOT_OPEN_nofollow; /* equivalence 10 */
		break;
	case IOT_KIND_seek:
	case IOT_KIND_release:
		deeds_end_reading(s, r->seek.handle); /* they begin alike: object, handle */
		break;
	case IOT_KIND_touch:
		err = deeds_know_access(s, task);
		if (err)
			return err < 0 ? err : 0;
		break;
	case IOT_KIND_lock:
		make_unwaited(&deed, &r->lock);
		break;
	case IOT_KIND_getxattr:
		if (is_question(deed.kind, deed.path2) && r->getxattr.result == -EOPNOTSUPP)
			deed.fields[0] = (u64)-ENODATA; /* the result: equivalence 8 */
		break;
	case IOT_KIND_map:
		deed.fields[MAP_FLAGS] &= ~(u64)(IOT_MAP_inherited | IOT_MAP_moved);
		if (r->map.flags & IOT_MAP_inherited)
			return deeds_take_inherited(s, task, &deed);
		break;
	}
	return deeds_add(&s->deeds->tasks[task], &deed) ? 0 : -ENOMEM;
}

static bool is_replay_fact(const struct iot_record *r)
{
	static const char key[] = "replay=";

	return r->tail_bytes >= sizeof(key) - 1 && !memcmp(r->tail, key, sizeof(key) - 1);
}

static bool is_attached_fact(const struct iot_record *r)
{
	static const char fact[] = "attached=yes";

	return r->tail_bytes == sizeof(fact) - 1 && !memcmp(r->tail, fact, sizeof(fact) - 1);
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct reading_state *s = context;

	s->names = names;
	s->record = r;
	iot_omissions_take(&s->deeds->omissions, r);
	switch (r->kind) {
	case IOT_KIND_task:
		return take_task(s->deeds, &r->task);
	case IOT_KIND_fact:
		s->deeds->is_outcomes |= is_replay_fact(r);
		s->deeds->is_attached |= is_attached_fact(r);
		return 0;
	case IOT_KIND_opened:
		return deeds_take_opened(s, &r->opened);
	case IOT_KIND_mapped:
		return deeds_take_mapped(s, &r->mapped);
	case IOT_KIND_end:
		return deeds_remove_unnamed(s);
	case IOT_KIND_fork:
		return deeds_take_fork(s, &r->fork);
	case IOT_KIND_dirent:
		return deeds_take_dirent(s);
	case IOT_KIND_complete:
		return deeds_take_complete(s, &r->complete);
	}
	return iot_kind_info(r->kind)->group == IOT_GROUP_op ? take_op(s) : 0;
}

static int compare_order(const void *a, const void *b)
{
	const struct deed *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

/*
 * Deeds are sorted when all are there: a reading refers to them by place until then. Outcomes are in
 * the order in which they were performed; what a task inherited has numbers of others in them, and
 * what is none of the trace's operations, as the opening of what was open before, has none.
 */
static void sort(struct deeds *deeds)
{
	u32 i;

	for (i = 0; i < deeds->task_count && !deeds->is_outcomes; i++)
		if (deeds->tasks[i].count)
			qsort(deeds->tasks[i].deeds, deeds->tasks[i].count,
			      sizeof(*deeds->tasks[i].deeds), compare_order);
}

/**
 * deeds_read() - what a trace did
 * @path: of the trace
 * @deeds: out: to be given to deeds_free()
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int deeds_read(const char *path, struct deeds **deeds, struct iot_reject *reject)
{
	struct reading_state s = { .deeds = calloc(1, sizeof(**deeds)) };
	int err;

	if (!s.deeds)
		return iot_refuse(reject, IOT_REJECT_memory, 0), -ENOMEM;
	err = iot_trace_walk(path, take_record, &s, &s.deeds->info, reject);
	if (!err)
		iot_omissions_finish(&s.deeds->omissions, &s.deeds->info);
	sort(s.deeds);
	deeds_free_alike(&s);
	deeds_free_early(&s);
	if (err)
		deeds_free(s.deeds);
	else
		*deeds = s.deeds;
	return err;
}

/**
 * deeds_match_outcomes() - leave out what outcomes of a replay do not tell
 * @deeds: of the trace that is compared with them
 *
 * That is what is implied, and which generation of a name an object is: outcomes have that
 * from the program, not from the file system.
 */
void deeds_match_outcomes(struct deeds *deeds)
{
	u32 i, j, kept;

	for (i = 0; i < deeds->task_count; i++) {
		struct deed_task *task = &deeds->tasks[i];

		for (j = kept = 0; j < task->count; j++) {
			task->deeds[j].generation = 0;
			if (!task->deeds[j].is_implied)
				task->deeds[kept++] = task->deeds[j];
		}
		task->count = kept;
	}
}

/**
 * deeds_free() - forget what a trace did; NULL is allowed
 */
void deeds_free(struct deeds *deeds)
{
	struct deed_texts *text, *next_text;
	struct deed_set *found, *next_found;
	u32 i;

	if (!deeds)
		return;
	for (i = 0; i < deeds->task_count; i++)
		free(deeds->tasks[i].deeds);
	free(deeds->tasks);
	HASH_ITER (hh, deeds->texts, text, next_text) {
		HASH_DEL(deeds->texts, text);
		free(text);
	}
	HASH_ITER (hh, deeds->found, found, next_found) {
		HASH_DEL(deeds->found, found);
		free(found);
	}
	free(deeds);
}

static struct deed_set *found_find(const struct deeds *deeds, const char *what)
{
	struct deed_set *found;

	HASH_FIND(hh, deeds->found, what, strlen(what), found);
	return found;
}

/**
 * deeds_have_found() - did a look-up find this?
 * @deeds: of a trace
 * @what: as deeds_next_found() returns it
 */
bool deeds_have_found(const struct deeds *deeds, const char *what)
{
	return found_find(deeds, what);
}

/**
 * deeds_next_found() - walk what look-ups found
 * @deeds: of a trace
 * @previous: what was returned last, NULL to begin
 *
 * Return: path and generation as text; NULL after the last.
 */
const char *deeds_next_found(const struct deeds *deeds, const char *previous)
{
	struct deed_set *found = deeds->found;

	if (previous) {
		found = found_find(deeds, previous);
		found = found ? found->hh.next : NULL;
	}
	return found ? found->text : NULL;
}

/* A value that only one of the traces has is none to compare. */
static bool is_value_equal(const struct deed *a, const struct deed *b)
{
	if (!a->has_value || !b->has_value)
		return true;
	return a->value_bytes == b->value_bytes &&
	       !memcmp(a->path2, b->path2, strlen(a->path2) + 1 + a->value_bytes);
}

/**
 * deed_is_equal() - are two operations the same?
 */
bool deed_is_equal(const struct deed *a, const struct deed *b)
{
	bool is_same_object = a->is_nameless || b->is_nameless ||
			      ((a->generation == b->generation || !a->generation || !b->generation) &&
			       !strcmp(a->path, b->path));

	return a->kind == b->kind && is_same_object &&
	       !strcmp(a->path2, b->path2) && is_value_equal(a, b) &&
	       !memcmp(a->fields, b->fields, sizeof(a->fields));
}

/**
 * deed_text() - an operation as a line
 *
 * Return: a text to be freed by the caller; NULL if there is no memory.
 */
char *deed_text(const struct deed *deed)
{
	const struct iot_kind_info *info = iot_kind_info(deed->kind);
	struct iot_record record = { .kind = deed->kind };
	char field[256], escaped[4 * IOT_PROGRAM_PATH_MAX], *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	u32 i, n = 0;

	if (!out)
		return NULL;
	iot_text_bytes(escaped, sizeof(escaped), deed->path, strlen(deed->path));
	fprintf(out, "%s %s", info->name, escaped);
	if (deed->generation > 1)
		fprintf(out, "#%u", deed->generation);
	for (i = 0; i < info->field_count && n < DEED_FIELDS_MAX; i++) {
		if (!iot_class_info(info->fields[i].class).is_compared)
			continue;
		iot_field_set(&record, &info->fields[i], deed->fields[n++]);
		iot_text_field(field, sizeof(field), &record, &info->fields[i]);
		fprintf(out, " %s=%s", info->fields[i].name, field);
	}
	if (deed->path2[0]) {
		record.tail = (const u8 *)deed->path2;
		record.tail_bytes = (u16)strlen(deed->path2);
		if (deed->has_value)
			record.tail_bytes = (u16)(record.tail_bytes + 1 + deed->value_bytes);
		iot_text_tail(escaped, sizeof(escaped), &record);
		fprintf(out, " %s", escaped);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
