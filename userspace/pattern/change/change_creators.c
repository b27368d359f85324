// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_creators.c - files that several ranks create at the same time: the first rank that is fast enough creates the file, which differs
 * in each run. In the result, the lowest of these ranks does.
 */
#include "change.h"

#include <uthash.h>

/**
 * struct creation - a file that is created by an open
 * @path, @generation: the file; the path is the key of the table, the newest one of it is the head of a list
 * @older: the one before of the same path
 * @step: the open
 * @other: the first open of the lowest rank that would have created it; NULL if there is none
 * @actor: of @step
 * @last_actor: the last one that was seen to use the file
 */
struct creation {
	UT_hash_handle hh;
	const char *path;
	u64 generation;
	struct creation *older;
	struct step *step;
	struct step *other;
	u64 actor;
	u64 last_actor;
};

static bool is_rank(const struct actor *actor)
{
	return actor->facts[TASK_FACT_what] == TASK_RANK;
}

/* An open that creates the file if it does not exist, and succeeds if it does. */
static bool may_create(struct event *event)
{
	u64 flags = event->kind == IOT_KIND_open ? *change_field(event, "flags") : 0;

	return flags & IOT_OPEN_create && !(flags & IOT_OPEN_excl) && !event->fields[0];
}

static struct creation *find(struct creation *table, const struct event *event)
{
	struct creation *creation;

	HASH_FIND_STR(table, event->path, creation);
	while (creation && creation->generation != event->roles[EVENT_GENERATION])
		creation = creation->older;
	return creation;
}

static int add(struct creation **table, u64 actor, struct step *step)
{
	struct creation *creation = calloc(1, sizeof(*creation)), *older;

	if (!creation)
		return -ENOMEM;
	*creation = (struct creation){ .path = step->event.path, .generation = step->event.roles[EVENT_GENERATION], .step = step,
				       .actor = actor, .last_actor = UINT64_MAX };
	HASH_FIND_STR(*table, creation->path, older);
	if (older)
		HASH_DEL(*table, older);
	creation->older = older;
	HASH_ADD_KEYPTR(hh, *table, creation->path, strlen(creation->path), creation);
	return 0;
}

static int find_creations(const struct change *c, struct creation **table)
{
	u64 actor, i;
	int err = 0;

	for (actor = 0; actor < c->actor_count; actor++)
		for (i = 0; i < c->actors[actor].count && is_rank(&c->actors[actor]) && !err; i++) {
			struct step *step = &c->actors[actor].steps[i];

			if (may_create(&step->event) && *change_field(&step->event, "flags") & IOT_OPEN_created)
				err = add(table, actor, step);
		}
	return err;
}

/* A rank that uses the file in another way first has waited for its creation. */
static void note_first_use(struct creation *creation, struct step *step)
{
	u64 flags = *change_field(&creation->step->event, "flags") & ~(u64)IOT_OPEN_created;

	if (may_create(&step->event) && *change_field(&step->event, "flags") == flags && !creation->other)
		creation->other = step;
}

/* Tasks are in the order of their ranks. */
static void find_others(const struct change *c, struct creation *table)
{
	u64 actor, i;

	for (actor = 0; actor < c->actor_count; actor++)
		for (i = 0; i < c->actors[actor].count && is_rank(&c->actors[actor]); i++) {
			struct step *step = &c->actors[actor].steps[i];
			struct creation *creation = step->event.path[0] ? find(table, &step->event) : NULL;

			if (!creation || creation->actor <= actor || creation->last_actor == actor)
				continue;
			creation->last_actor = actor;
			note_first_use(creation, step);
		}
}

static void exchange(struct event *a, struct event *b, const char *name)
{
	u64 value = *change_field(a, name);

	*change_field(a, name) = *change_field(b, name);
	*change_field(b, name) = value;
}

static void move_creation(struct change *c, struct creation *creation)
{
	u64 duration_ns = creation->step->duration_ns;

	exchange(&creation->step->event, &creation->other->event, "flags");
	exchange(&creation->step->event, &creation->other->event, "mode");
	creation->step->duration_ns = creation->other->duration_ns;
	creation->other->duration_ns = duration_ns;
	c->changed++;
}

static int move_creations(struct change *c)
{
	struct creation *table = NULL, *head, *next, *creation;
	int err = find_creations(c, &table);

	if (!err)
		find_others(c, table);
	HASH_ITER(hh, table, head, next) {
		HASH_DEL(table, head);
		while ((creation = head)) {
			head = creation->older;
			if (!err && creation->other)
				move_creation(c, creation);
			free(creation);
		}
	}
	return err || c->changed ? err : -ENOENT;
}

/* The lowest rank may wait for a rank that has to wait for the file now. */
static int check_order(const struct pattern *before, const struct pattern *after)
{
	struct pattern_refusal refusal;
	u64 broken_before = 0, broken_after = 0;
	int err = pattern_run(before, &broken_before, &refusal);

	if (!err)
		err = pattern_run(after, &broken_after, &refusal);
	return err || broken_after <= broken_before ? err : -EOPNOTSUPP;
}

/**
 * pattern_order_creators() - the same operations, but the lowest of the ranks that create a file at the same time creates it
 * @pattern: the pattern
 * @made: out: to be freed by pattern_free(); NULL if no other rank creates a file then, or if the order of operations would be another
 *
 * Takes memory in proportion to the number of operations.
 *
 * Return: 0, -EBADMSG if the pattern is not sound, -EINVAL if a task has too many operations that are not loops, -ENOMEM.
 */
int pattern_order_creators(const struct pattern *pattern, struct pattern **made)
{
	int err = change_rebuild(pattern, move_creations, made);

	if (err) {
		*made = NULL;
		return err == -ENOENT ? 0 : err;
	}
	err = check_order(pattern, *made);
	if (err) {
		pattern_free(*made);
		*made = NULL;
	}
	return err == -EOPNOTSUPP ? 0 : err;
}
