// SPDX-License-Identifier: GPL-2.0-only
/*
 * canon.c - read a trace into canonical operations. The equivalences of diff.h are applied here.
 */
#include "canon.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "canon_reading.h"
#include "analyse/graph/implied.h"

struct canon_texts {
	UT_hash_handle hh;
	char text[];
};

/* -- texts and tasks -------------------------------------------------------------------- */

static const char *text_of(struct canon *canon, const char *text, size_t bytes)
{
	struct canon_texts *copy;

	HASH_FIND(hh, canon->texts, text, bytes, copy);
	if (copy)
		return copy->text;
	copy = malloc(sizeof(*copy) + bytes + 1);
	if (!copy)
		return NULL;
	memcpy(copy->text, text, bytes);
	copy->text[bytes] = 0;
	HASH_ADD(hh, canon->texts, text, bytes, copy);
	return copy->text;
}

static int take_task(struct canon *canon, const struct iot_rec_task *r)
{
	u32 index, parent;
	int err = canon_task_get(canon, r->task, &index);

	if (err || canon->tasks[index].why)
		return err;
	canon->tasks[index].why = r->why;
	canon->tasks[index].tgid = r->tgid;
	canon->tasks[index].plays = r->plays;
	if (!r->parent || r->parent >= r->task) /* a child has a larger id than its parent, or the record is wrong */
		return 0;
	canon->tasks[index].parent = r->parent;
	err = canon_task_get(canon, r->parent, &parent);
	if (!err)
		canon->tasks[index].nth = ++canon->tasks[parent].made;
	return err;
}

/* -- from records to operations ------------------------------------------------------------------- */

/* Texts of fields that name something by another name than the operation's own. */
static int set_path2(struct reading_state *s, struct canon_op *op)
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
	op->has_value = iot_record_value(r, &value_bytes);
	op->value_bytes = (u32)value_bytes;
	op->path2 = text_of(s->canon, text, bytes);
	return op->path2 ? 0 : -ENOMEM;
}

/* The handle of an operation that has a name or a handle; 0 if it has none. */
static u64 place_handle_of(const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_stat:
		return r->stat.handle;
	case IOT_KIND_setattr:
		return r->setattr.handle;
	case IOT_KIND_statfs:
		return r->statfs.handle;
	case IOT_KIND_getxattr:
		return r->getxattr.handle;
	case IOT_KIND_setxattr:
		return r->setxattr.handle;
	case IOT_KIND_removexattr:
		return r->removexattr.handle;
	case IOT_KIND_listxattr:
		return r->listxattr.handle;
	case IOT_KIND_getfileattr:
		return r->getfileattr.handle;
	case IOT_KIND_setfileattr:
		return r->setfileattr.handle;
	default:
		return 0;
	}
}

/*
 * An operation on a handle has the name of the handle, even if its record has another one: the names of a file
 * at that moment, and the choice among them, do not depend on the task.
 */
static struct iot_label label_of(const struct reading_state *s)
{
	u64 handle = place_handle_of(s->record);
	struct iot_label label;

	if (handle) {
		label = iot_names_handle(s->names, handle);
		if (label.generation)
			return label;
	}
	return iot_names_of_record(s->names, s->record);
}

/*
 * Outcomes contain only the file of an operation on a range of a mapping; for a file without a
 * name, they do not contain the handle that was queried.
 */
static bool is_nameless(const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_msync:
		return !r->msync.handle;
	case IOT_KIND_madvise:
		return !r->madvise.handle;
	case IOT_KIND_setattr:
	case IOT_KIND_stat:
	case IOT_KIND_readlink:
	case IOT_KIND_follow:
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_listxattr:
	case IOT_KIND_removexattr:
		return !r->stat.name && !place_handle_of(r); /* they begin alike */
	default:
		return false;
	}
}

/**
 * canon_op_make() - the canonical form of the current record
 * @s: where the reading is
 * @op: out; its fields are those of @s until the next call, with room for CANON_FIELDS_MAX
 *
 * Return: 0 or -ENOMEM.
 */
int canon_op_make(struct reading_state *s, struct canon_op *op)
{
	const struct iot_kind_info *info = iot_kind_info(s->record->kind);
	struct iot_label label = label_of(s);
	u32 i, n = 0;

	memset(s->fields, 0, sizeof(s->fields));
	*op = (struct canon_op){
		.fields = s->fields,
		.kind = s->record->kind,
		.order = s->record->op.op,
		.is_implied = is_implied(s->record),
		.is_nameless = is_nameless(s->record) || label.is_guess,
		.generation = label.generation,
		.path = text_of(s->canon, label.path, strlen(label.path)),
	};
	for (i = 0; i < info->field_count && n < CANON_FIELDS_MAX; i++)
		if (iot_class_info(info->fields[i].class).is_compared)
			op->fields[n++] = iot_field_get(s->record, &info->fields[i]);
	op->field_count = (u8)n;
	if (!op->path || set_path2(s, op))
		return -ENOMEM;
	return canon_localize(s, op);
}

/* Compared fields of a map: result, offset, length, prot, flags. */
enum { MAP_FLAGS = 4 };

/* -- equivalence 5: opens that fail at the look-up --------------------------------------------- */

/* Compared fields of an open: result, flags, mode. */
enum { OPEN_RESULT, OPEN_FLAGS, OPEN_FIELDS = 3 };

static void make_failed_open(struct canon_op *op, const struct iot_rec_lookup *r)
{
	u64 result = op->fields[OPEN_RESULT];

	op->kind = IOT_KIND_open;
	op->field_count = OPEN_FIELDS;
	memset(op->fields, 0, OPEN_FIELDS * sizeof(*op->fields));
	op->fields[OPEN_RESULT] = result;
	op->fields[OPEN_FLAGS] = failed_open_flags(r);
}

/* -- equivalence 11: changes by descriptor ----------------------------------------------------------- */

/* Compared fields of a setattr: result, attrs. */
enum { SETATTR_ATTRS = 1 };

static void make_unhandled(struct canon_op *op)
{
	if (!(op->fields[SETATTR_ATTRS] & IOT_ATTR_size))
		op->fields[SETATTR_ATTRS] &= ~(u64)IOT_ATTR_by_handle;
}

/* -- equivalence 7: locks that were waited for ------------------------------------------------------ */

/* Compared fields of a lock: result, begin, end, flags, found. */
enum { LOCK_RESULT = 0, LOCK_FLAGS = 3 };

/* A wait without a lock is a refusal. */
static void make_unwaited(struct canon_op *op, const struct iot_rec_lock *r)
{
	op->fields[LOCK_FLAGS] &= ~(u64)IOT_LOCK_wait;
	if (iot_is_wait_in_vain(r->flags, r->result))
		op->fields[LOCK_RESULT] = (u64)-EAGAIN;
}

/* -- implied operations ----------------------------------------------------------------------------- */

static void mark_question(struct canon_task *task, u32 order)
{
	struct canon_op *last = task->count ? &task->ops[task->count - 1] : NULL;

	if (last && last->order + 1 == order && is_question(last->kind, last->path2))
		last->is_implied = true;
}

/* The query was by the same handle; or by a name that was removed before the answer. */
static void name_question(struct canon_task *task, const struct canon_op *op)
{
	struct canon_op *last = task->count ? &task->ops[task->count - 1] : NULL;

	if (last && last->order + 1 == op->order && is_question(last->kind, last->path2)) {
		last->path = op->path;
		last->generation = op->generation;
		last->is_nameless = op->is_nameless;
	}
}

/* -- the trace ------------------------------------------------------------------------------------------------ */

static int take_op(struct reading_state *s)
{
	const struct iot_record *r = s->record;
	struct canon_op op;
	u32 task;
	int err = canon_task_get(s->canon, r->op.task, &task);

	if (!err && r->kind == IOT_KIND_submit)
		return canon_take_submit(s, task);
	if (!err)
		err = canon_op_make(s, &op);
	if (err)
		return err;
	switch (r->kind) {
	case IOT_KIND_lookup:
		if (!r->lookup.result)
			return canon_take_found(s, &op);
		if (is_failed_open(&r->lookup))
			make_failed_open(&op, &r->lookup);
		break;
	case IOT_KIND_setattr:
		make_unhandled(&op);
		if (has_question(r))
			mark_question(&s->canon->tasks[task], op.order);
		else if (r->setattr.handle || op.is_nameless)
			name_question(&s->canon->tasks[task], &op);
		break;
	case IOT_KIND_readdir:
		return canon_take_readdir(s, task, &op);
	case IOT_KIND_open:
		if (strlen(op.path) >= IOT_LOOKUP_MAX)
			op.fields[OPEN_FLAGS] &= ~(u64)IOT_OPEN_nofollow; /* equivalence 12 */
		break;
	case IOT_KIND_seek:
	case IOT_KIND_release:
		canon_end_reading(s, r->seek.handle); /* they begin alike: object, handle */
		break;
	case IOT_KIND_touch:
		err = canon_know_access(s, task);
		if (err)
			return err < 0 ? err : 0;
		break;
	case IOT_KIND_lock:
		make_unwaited(&op, &r->lock);
		break;
	case IOT_KIND_getxattr:
		if (is_question(op.kind, op.path2) && r->getxattr.result == -EOPNOTSUPP)
			op.fields[0] = (u64)-ENODATA; /* the result: equivalence 8 */
		break;
	case IOT_KIND_map:
		op.fields[MAP_FLAGS] &= ~(u64)(IOT_MAP_inherited | IOT_MAP_moved);
		if (r->map.flags & IOT_MAP_inherited)
			return canon_take_inherited(s, task, &op);
		break;
	}
	return canon_op_add(s->canon, task, &op) ? 0 : -ENOMEM;
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

/**
 * canon_take_record() - add a record to the canonical operations; an iot_walk_fn
 * @context: the struct reading_state
 *
 * Return: 0, -EOPNOTSUPP if a walk would need an operation that it has not kept, or another negative errno.
 */
int canon_take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct reading_state *s = context;

	s->names = names;
	s->record = r;
	iot_omissions_take(&s->canon->omissions, r);
	switch (r->kind) {
	case IOT_KIND_task:
		return take_task(s->canon, &r->task);
	case IOT_KIND_counted:
		return -EOPNOTSUPP;
	case IOT_KIND_fact:
		if (iot_record_is_counted(r))
			return -EOPNOTSUPP;
		s->canon->is_outcomes |= is_replay_fact(r);
		s->canon->is_attached |= is_attached_fact(r);
		return canon_take_node(s->canon, r);
	case IOT_KIND_opened:
		return canon_take_opened(s, &r->opened);
	case IOT_KIND_mapped:
		return canon_take_mapped(s, &r->mapped);
	case IOT_KIND_end:
		return canon_remove_unnamed(s);
	case IOT_KIND_fork:
		return canon_take_fork(s, &r->fork);
	case IOT_KIND_dirent:
		return canon_take_dirent(s);
	case IOT_KIND_complete:
		return canon_take_complete(s, &r->complete);
	}
	return iot_kind_info(r->kind)->group == IOT_GROUP_op ? take_op(s) : 0;
}

static int compare_order(const void *a, const void *b)
{
	const struct canon_op *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

/*
 * Operations are sorted when all are there: a reading refers to them by place until then. Outcomes
 * are in the order of their execution; in them, operations on inherited objects have the numbers of
 * other operations, and operations that are not in the trace, such as the opens of handles from
 * before the recording, have none.
 */
static void sort(struct canon *canon)
{
	u32 i;

	for (i = 0; i < canon->task_count && !canon->is_outcomes; i++)
		if (canon->tasks[i].count)
			qsort(canon->tasks[i].ops, canon->tasks[i].count,
			      sizeof(*canon->tasks[i].ops), compare_order);
}

/**
 * canon_read_trace() - read all records of a trace
 * @s: with an empty result
 * @path: of the trace
 * @fn, @context: get the records
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int canon_read_trace(struct reading_state *s, const char *path, iot_walk_fn fn, void *context, struct iot_reject *reject)
{
	int err = canon_open_alike(s);

	if (err)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	else
		err = iot_trace_walk(path, fn, context, &s->canon->info, reject);
	if (!err)
		iot_omissions_finish(&s->canon->omissions, &s->canon->info);
	canon_free_alike(s);
	canon_free_early(s);
	return err;
}

/**
 * canon_read() - the canonical operations of a trace
 * @path: of the trace
 * @canon: out: to be freed by canon_free()
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int canon_read(const char *path, struct canon **canon, struct iot_reject *reject)
{
	struct reading_state s = { .canon = calloc(1, sizeof(**canon)) };
	int err;

	if (!s.canon)
		return iot_refuse(reject, IOT_REJECT_memory, 0), -ENOMEM;
	err = canon_read_trace(&s, path, canon_take_record, &s, reject);
	sort(s.canon);
	if (err)
		canon_free(s.canon);
	else
		*canon = s.canon;
	return err;
}

/**
 * canon_match_outcomes() - remove operations that outcomes of a replay do not contain
 * @canon: of the trace that is compared with them
 *
 * This removes implied operations and the generations of names: outcomes take these from the
 * program, not from the file system.
 */
void canon_match_outcomes(struct canon *canon)
{
	u32 i, j, kept;

	for (i = 0; i < canon->task_count; i++) {
		struct canon_task *task = &canon->tasks[i];

		for (j = kept = 0; j < task->count; j++) {
			task->ops[j].generation = 0;
			if (!task->ops[j].is_implied)
				task->ops[kept++] = task->ops[j];
		}
		task->count = kept;
	}
}

/**
 * canon_free() - free the result of canon_read(); NULL is allowed
 */
void canon_free(struct canon *canon)
{
	struct canon_texts *text, *next_text;
	struct canon_set *found, *next_found;

	if (!canon)
		return;
	canon_free_tasks(canon);
	canon_free_nodes(canon);
	HASH_ITER (hh, canon->texts, text, next_text) {
		HASH_DEL(canon->texts, text);
		free(text);
	}
	HASH_ITER (hh, canon->found, found, next_found) {
		HASH_DEL(canon->found, found);
		free(found);
	}
	free(canon);
}

static struct canon_set *found_find(const struct canon *canon, const char *what)
{
	struct canon_set *found;

	HASH_FIND(hh, canon->found, what, strlen(what), found);
	return found;
}

/**
 * canon_have_found() - did a look-up find this?
 * @canon: of a trace
 * @what: as returned by canon_next_found()
 */
bool canon_have_found(const struct canon *canon, const char *what)
{
	return found_find(canon, what);
}

/**
 * canon_next_found() - iterate over the results of look-ups
 * @canon: of a trace
 * @previous: the last one returned, NULL to begin
 *
 * Return: path and generation as text; NULL after the last.
 */
const char *canon_next_found(const struct canon *canon, const char *previous)
{
	struct canon_set *found = canon->found;

	if (previous) {
		found = found_find(canon, previous);
		found = found ? found->hh.next : NULL;
	}
	return found ? found->text : NULL;
}

/* A value that only one of the traces has is none to compare. */
static bool is_value_equal(const struct canon_op *a, const struct canon_op *b)
{
	if (!a->has_value || !b->has_value)
		return true;
	return a->value_bytes == b->value_bytes &&
	       !memcmp(a->path2, b->path2, strlen(a->path2) + 1 + a->value_bytes);
}

/**
 * canon_op_is_equal() - are two operations the same?
 */
bool canon_op_is_equal(const struct canon_op *a, const struct canon_op *b)
{
	bool is_same_object = a->is_nameless || b->is_nameless ||
			      ((a->generation == b->generation || !a->generation || !b->generation) &&
			       !strcmp(a->path, b->path));

	return a->kind == b->kind && is_same_object &&
	       !strcmp(a->path2, b->path2) && is_value_equal(a, b) &&
	       a->field_count == b->field_count && !memcmp(a->fields, b->fields, a->field_count * sizeof(*a->fields));
}

/**
 * canon_op_text() - an operation as a line
 *
 * Return: a text to be freed by the caller; NULL if out of memory.
 */
char *canon_op_text(const struct canon_op *op)
{
	const struct iot_kind_info *info = iot_kind_info(op->kind);
	struct iot_record record = { .kind = op->kind };
	char field[256], escaped[4 * IOT_PROGRAM_PATH_MAX], *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	u32 i, n = 0;

	if (!out)
		return NULL;
	iot_text_bytes(escaped, sizeof(escaped), op->path, strlen(op->path));
	fprintf(out, "%s %s", info->name, escaped);
	if (op->generation > 1)
		fprintf(out, "#%u", op->generation);
	for (i = 0; i < info->field_count && n < op->field_count; i++) {
		if (!iot_class_info(info->fields[i].class).is_compared)
			continue;
		iot_field_set(&record, &info->fields[i], op->fields[n++]);
		iot_text_field(field, sizeof(field), &record, &info->fields[i]);
		fprintf(out, " %s=%s", info->fields[i].name, field);
	}
	if (op->path2[0]) {
		record.tail = (const u8 *)op->path2;
		record.tail_bytes = (u16)strlen(op->path2);
		if (op->has_value)
			record.tail_bytes = (u16)(record.tail_bytes + 1 + op->value_bytes);
		iot_text_tail(escaped, sizeof(escaped), &record);
		fprintf(out, " %s", escaped);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
