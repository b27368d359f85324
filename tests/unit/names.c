// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - the paths of ids in records, while names are created, renamed and removed.
 *
 * A story is a list of records and of facts that follow from them. The root is object 1 with
 * name 1 in all stories.
 */
#include <stdlib.h>
#include <time.h>
#include <uthash.h>

#include "lib/iotape.h"
#include "suite.h"

/* Simulates a kernel without random numbers on request. Linked with --wrap=getrandom. */
ssize_t __real_getrandom(void *bytes, size_t count, unsigned int flags);
ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned int flags);

static bool has_no_random_numbers;

ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned int flags)
{
	if (!has_no_random_numbers)
		return __real_getrandom(bytes, count, flags);
	errno = ENOSYS;
	return -1;
}

enum step_kind {
	STEP_END,
	STEP_NAME,   /* name a is `text` in directory b */
	STEP_OBJECT, /* object a of type c is seen under name b; it has the inode of object d */
	STEP_SEE,    /* a stat of object a by name b, which returns d */
	STEP_LOOKUP, /* name b names object a, or nothing */
	STEP_OPEN,   /* handle c is opened by name b, of object a; returns d */
	STEP_MAP,    /* mapping c is created with handle b, of object a */
	STEP_CLOSE,  /* handle a is released */
	STEP_LINK,   /* object a gets name b; returns d */
	STEP_UNLINK, /* object a loses name b, with c links left */
	STEP_RMDIR,  /* directory a of name b is removed */
	STEP_MOVE,   /* object a is renamed from name b to name c, whose object was d */
	STEP_SWAP,   /* object a of name b and object d of name c are exchanged */
	STEP_TRY_MOVE, /* as STEP_MOVE, but it fails */
	IS_OBJECT,   /* object a is called `text`, generation b */
	IS_HANDLE,   /* handle a is */
	IS_MAP,	     /* mapping a is */
	IS_NAME,     /* name a has the path `text` */
	IS_OP,	     /* the previous operation is on `text`, generation b */
};

struct step {
	enum step_kind kind;
	u64 a, b, c, d;
	const char *text;
};

#define NAME(id, dir, component)     { STEP_NAME, id, dir, 0, 0, component }
#define OBJECT(id, name, type)	     { STEP_OBJECT, id, name, IOT_TYPE_##type, id, NULL }
#define BACK(id, name, type, first)  { STEP_OBJECT, id, name, IOT_TYPE_##type, first, NULL }
#define SEE(object, name)	     { STEP_SEE, object, name, 0, 0, NULL }
#define SEE_FAILS(object, name)	     { STEP_SEE, object, name, 0, 1, NULL }
#define LOOKUP(object, name)	     { STEP_LOOKUP, object, name, 0, 0, NULL }
#define OPEN(object, name, handle)   { STEP_OPEN, object, name, handle, 0, NULL }
#define MAP(object, handle, map)     { STEP_MAP, object, handle, map, 0, NULL }
#define CLOSE(handle)		     { STEP_CLOSE, handle, 0, 0, 0, NULL }
#define LINK(object, name)	     { STEP_LINK, object, name, 0, 0, NULL }
#define LINK_FAILS(object, name)     { STEP_LINK, object, name, 0, 1, NULL }
#define UNLINK(object, name)	     { STEP_UNLINK, object, name, 0, 0, NULL }
#define UNLINK_ONE(object, name)     { STEP_UNLINK, object, name, 1, 0, NULL }
#define RMDIR(object, name)	     { STEP_RMDIR, object, name, 0, 0, NULL }
#define MOVE(object, from, to, old)  { STEP_MOVE, object, from, to, old, NULL }
#define TRY_MOVE(object, from, to)   { STEP_TRY_MOVE, object, from, to, 0, NULL }
#define SWAP(object, from, to, other) { STEP_SWAP, object, from, to, other, NULL }
#define OBJECT_IS(object, path, generation) { IS_OBJECT, object, generation, 0, 0, path }
#define HANDLE_IS(handle, path, generation) { IS_HANDLE, handle, generation, 0, 0, path }
#define MAP_IS(map, path, generation) { IS_MAP, map, generation, 0, 0, path }
#define NAME_IS(name, path)	     { IS_NAME, name, 0, 0, 0, path }
#define OP_IS(path, generation)	     { IS_OP, 0, generation, 0, 0, path }

/* Directory d (object 2, name 2) and in it file f (object 3, name 3). */
#define TREE NAME(2, 1, "d"), OBJECT(2, 2, dir), NAME(3, 2, "f"), OBJECT(3, 3, file)

static const struct {
	const char *name;
	struct step steps[20];
} stories[] = {
	{ "the root", { OBJECT_IS(1, ".", 1), NAME_IS(1, "."), SEE(1, 1), OP_IS(".", 1) } },
	{ "nothing known",
	  { OBJECT_IS(9, "", 0), NAME_IS(9, ""), HANDLE_IS(9, "", 0), MAP_IS(9, "", 0),
	    SEE(9, 9), OP_IS("", 0), OBJECT_IS(0, "", 0), NAME_IS(0, "") } },
	{ "a tree", { TREE, OBJECT_IS(2, "d", 1), OBJECT_IS(3, "d/f", 1), NAME_IS(3, "d/f") } },
	{ "a file created again",
	  { TREE, UNLINK(3, 3), OP_IS("d/f", 1), OBJECT(4, 3, file), SEE(4, 3), OP_IS("d/f", 2),
	    OBJECT_IS(4, "d/f", 2) } },
	{ "a file created again under another id of the name",
	  { TREE, UNLINK(3, 3), NAME(4, 2, "f"), OBJECT(4, 4, file), OBJECT_IS(4, "d/f", 2) } },
	{ "a name announced twice, the second time with another text",
	  { TREE, NAME(3, 1, "g"), OBJECT_IS(3, "d/f", 1), NAME_IS(3, "d/f") } },
	{ "an object whose inode was evicted comes back with another id",
	  { TREE, BACK(4, 3, file, 3), SEE(4, 3), OP_IS("d/f", 1), OBJECT_IS(4, "d/f", 1),
	    BACK(5, 3, file, 3), OBJECT_IS(5, "d/f", 1), OBJECT(6, 3, file), OBJECT_IS(6, "d/f", 2) } },
	{ "a directory whose inode was evicted comes back and is renamed",
	  { TREE, BACK(4, 2, dir, 2), NAME(4, 1, "e"), MOVE(4, 2, 4, 0), OBJECT_IS(4, "e", 1),
	    NAME(5, 4, "f"), BACK(5, 5, file, 3), OBJECT_IS(5, "e/f", 1) } },
	{ "the inode of a file that was removed is used again",
	  { TREE, UNLINK(3, 3), BACK(4, 3, file, 3), OBJECT_IS(4, "d/f", 2) } },
	{ "the inode of a directory that was removed is used again",
	  { TREE, RMDIR(2, 2), BACK(4, 2, dir, 2), OBJECT_IS(4, "d", 2) } },
	{ "the inode of a file that was replaced by a rename is used again",
	  { TREE, NAME(4, 1, "g"), OBJECT(4, 4, file), MOVE(3, 3, 4, 4), NAME(5, 1, "h"),
	    BACK(5, 4, file, 4), OBJECT_IS(5, "g", 3) } },
	{ "a file that lost one of its names is still the same",
	  { TREE, NAME(4, 1, "g"), LINK(3, 4), UNLINK_ONE(3, 4), BACK(5, 3, file, 3),
	    OBJECT_IS(5, "d/f", 1) } },
	{ "a file seen again is the same", { TREE, SEE(3, 3), SEE(3, 3), OBJECT_IS(3, "d/f", 1) } },
	{ "a lookup that fails changes nothing",
	  { TREE, LOOKUP(0, 3), OP_IS("d/f", 1), OBJECT_IS(3, "d/f", 1) } },
	{ "an operation that fails changes nothing",
	  { TREE, SEE_FAILS(9, 3), OBJECT_IS(3, "d/f", 1), OBJECT_IS(9, "", 0) } },
	{ "a file moved",
	  { TREE, NAME(4, 1, "g"), MOVE(3, 3, 4, 0), OBJECT_IS(3, "g", 1), NAME_IS(3, "d/f"),
	    OBJECT(5, 3, file), OBJECT_IS(5, "d/f", 2) } },
	{ "a rename is on the previous path of the object",
	  { TREE, NAME(4, 1, "g"), MOVE(3, 3, 4, 0), OP_IS("d/f", 1) } },
	{ "a file renamed over another",
	  { TREE, NAME(4, 1, "g"), OBJECT(4, 4, file), MOVE(3, 3, 4, 4), OBJECT_IS(3, "g", 2) } },
	{ "a rename that fails",
	  { TREE, NAME(4, 1, "g"), TRY_MOVE(3, 3, 4), OBJECT_IS(3, "d/f", 1) } },
	{ "the path of a renamed directory changes for its files",
	  { TREE, NAME(4, 1, "e"), MOVE(2, 2, 4, 0), OBJECT_IS(2, "e", 1), NAME_IS(3, "e/f"),
	    SEE(3, 3), OBJECT_IS(3, "e/f", 1), OP_IS("e/f", 1) } },
	{ "a directory renamed into another",
	  { TREE, NAME(4, 1, "e"), OBJECT(4, 4, dir), NAME(5, 4, "d"), MOVE(2, 2, 5, 0),
	    NAME_IS(3, "e/d/f"), OBJECT_IS(2, "e/d", 1), NAME(6, 1, "z"), MOVE(4, 4, 6, 0),
	    NAME_IS(5, "z/d"), NAME_IS(3, "z/d/f") } },
	{ "two files are exchanged",
	  { TREE, NAME(4, 1, "g"), OBJECT(4, 4, file), SWAP(3, 3, 4, 4), OBJECT_IS(3, "g", 2),
	    OBJECT_IS(4, "d/f", 2) } },
	{ "a directory and a file are exchanged",
	  { TREE, NAME(4, 1, "g"), OBJECT(4, 4, file), SWAP(2, 2, 4, 4), OBJECT_IS(2, "g", 2),
	    OBJECT_IS(4, "d", 2), NAME_IS(3, "g/f") } },
	{ "a file and a directory are exchanged",
	  { TREE, NAME(4, 1, "g"), OBJECT(4, 4, file), SWAP(4, 4, 2, 2), OBJECT_IS(2, "g", 2),
	    OBJECT_IS(4, "d", 2), NAME_IS(3, "g/f") } },
	{ "hard links: each name has its own path",
	  { TREE, NAME(4, 1, "g"), LINK(3, 4), OBJECT_IS(3, "g", 1), SEE(3, 3), OP_IS("d/f", 1),
	    OBJECT_IS(3, "d/f", 1), UNLINK(3, 3), OBJECT(5, 3, file), SEE(3, 4), OP_IS("g", 1) } },
	{ "a link that fails",
	  { TREE, NAME(4, 1, "g"), LINK_FAILS(3, 4), OBJECT_IS(3, "d/f", 1) } },
	{ "a handle keeps the path of its open",
	  { TREE, OPEN(3, 3, 7), NAME(4, 1, "g"), MOVE(3, 3, 4, 0), HANDLE_IS(7, "d/f", 1),
	    OBJECT_IS(3, "g", 1), CLOSE(7), OP_IS("d/f", 1), HANDLE_IS(7, "", 0) } },
	{ "a handle of a file that was removed and created again",
	  { TREE, OPEN(3, 3, 7), UNLINK(3, 3), OBJECT(4, 3, file), OPEN(4, 3, 8),
	    HANDLE_IS(7, "d/f", 1), HANDLE_IS(8, "d/f", 2) } },
	{ "a mapping outlives its handle",
	  { TREE, OPEN(3, 3, 7), MAP(3, 7, 5), OP_IS("d/f", 1), CLOSE(7), MAP_IS(5, "d/f", 1) } },
	{ "a handle whose open was lost",
	  { TREE, MAP(3, 7, 5), OP_IS("d/f", 1), HANDLE_IS(7, "", 0), CLOSE(7) } },
	{ "a name whose directory was lost",
	  { NAME(5, 9, "x"), OBJECT(5, 5, file), OBJECT_IS(5, "?/x", 1) } },
	{ "a name whose directory is announced too late",
	  { NAME(5, 9, "x"), OBJECT(5, 5, file), OBJECT_IS(5, "?/x", 1), NAME(6, 1, "d"),
	    OBJECT(9, 6, dir), OBJECT_IS(5, "d/x", 0), SEE(5, 5), OP_IS("d/x", 1) } },
	{ "a name whose directory's name was lost",
	  { OBJECT(9, 8, dir), NAME(5, 9, "x"), OBJECT(5, 5, file), OBJECT_IS(5, "?/x", 1) } },
	{ "names with arbitrary bytes",
	  { NAME(5, 1, "a b\n\\\377"), OBJECT(5, 5, dir), NAME(6, 5, "*"), NAME_IS(6, "a b\n\\\377/*") } },
	{ "a directory in itself", { NAME(5, 9, "x"), OBJECT(9, 5, dir), OBJECT(6, 5, file) } },
	{ "a directory below itself",
	  { NAME(5, 8, "x"), OBJECT(9, 5, dir), NAME(6, 9, "y"), OBJECT(8, 6, dir) } },
	{ "a component that is empty", { NAME(5, 1, ""), OBJECT(5, 5, file), OBJECT_IS(5, "", 0) } },
};

struct teller {
	struct iot_names *names;
	struct iot_record record; /* the last one */
};

static void tell(struct teller *t, struct iot_record record)
{
	t->record = record;
	assert_int_equal(iot_names_before(t->names, &t->record), 0);
}

static void do_step(struct teller *t, const struct step *s)
{
	struct iot_record r = { .kind = IOT_KIND_stat };
	bool fails = s->d;

	switch (s->kind) {
	case STEP_NAME:
		r.kind = IOT_KIND_name;
		r.name = (struct iot_rec_name){ .name = s->a, .dir = s->b };
		r.tail = (const u8 *)s->text;
		r.tail_bytes = (u16)strlen(s->text);
		break;
	case STEP_OBJECT:
		r.kind = IOT_KIND_object;
		r.object = (struct iot_rec_object){ .object = s->a, .name = s->b, .type = (u32)s->c,
						     .ino = 100 + s->d };
		break;
	case STEP_SEE:
		r.stat = (struct iot_rec_stat){ .object = s->a, .name = s->b, .result = fails ? -ENOENT : 0 };
		break;
	case STEP_LOOKUP:
		r.kind = IOT_KIND_lookup;
		r.lookup = (struct iot_rec_lookup){ .object = s->a, .name = s->b, .result = -ENOENT };
		break;
	case STEP_OPEN:
		r.kind = IOT_KIND_open;
		r.open = (struct iot_rec_open){ .object = s->a, .name = s->b, .handle = s->c };
		break;
	case STEP_MAP:
		r.kind = IOT_KIND_map;
		r.map = (struct iot_rec_map){ .object = s->a, .handle = s->b, .map = s->c };
		break;
	case STEP_CLOSE:
		r.kind = IOT_KIND_release;
		r.release = (struct iot_rec_release){ .handle = s->a };
		break;
	case STEP_LINK:
		r.kind = IOT_KIND_link;
		r.link = (struct iot_rec_link){ .object = s->a, .name = s->b, .result = fails ? -EEXIST : 0 };
		break;
	case STEP_UNLINK:
		r.kind = IOT_KIND_unlink;
		r.unlink = (struct iot_rec_unlink){ .object = s->a, .name = s->b, .nlink = (u32)s->c };
		break;
	case STEP_RMDIR:
		r.kind = IOT_KIND_rmdir;
		r.rmdir = (struct iot_rec_rmdir){ .object = s->a, .name = s->b };
		break;
	default:
		r.kind = IOT_KIND_rename;
		r.rename = (struct iot_rec_rename){
			.object = s->a, .name = s->b, .new_name = s->c, .replaced = s->d,
			.flags = s->kind == STEP_SWAP ? IOT_RENAME_exchange : 0,
			.result = s->kind == STEP_TRY_MOVE ? -EXDEV : 0,
		};
	}
	tell(t, r);
}

static bool is_called(struct iot_label label, const struct step *s)
{
	return !strcmp(label.path, s->text) && label.generation == s->b;
}

/* Return: is the fact of a step true? */
static bool is_so(struct teller *t, const struct step *s)
{
	switch (s->kind) {
	case IS_OBJECT:
		return is_called(iot_names_object(t->names, s->a), s);
	case IS_HANDLE:
		return is_called(iot_names_handle(t->names, s->a), s);
	case IS_MAP:
		return is_called(iot_names_map(t->names, s->a), s);
	case IS_NAME:
		return !strcmp(iot_names_path(t->names, s->a), s->text);
	default:
		return is_called(iot_names_of_record(t->names, &t->record), s);
	}
}

static void teller_open(struct teller *t)
{
	static const struct step root[] = { NAME(1, 0, ""), OBJECT(1, 1, dir) };

	*t = (struct teller){};
	assert_int_equal(iot_names_open(&t->names), 0);
	do_step(t, &root[0]);
	do_step(t, &root[1]);
}

/* iot_names_after() is called between a record and the next one, after queries about the record. */
static void names_follow_the_records(void **state)
{
	struct teller t;
	size_t i, s;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stories); i++) {
		const struct step *steps = stories[i].steps;

		teller_open(&t);
		for (s = 0; s < ARRAY_SIZE(stories[i].steps) && steps[s].kind; s++) {
			bool is_about_op = steps[s].kind == IS_OP;

			if (is_about_op && !is_so(&t, &steps[s]))
				fail_msg("%s: step %zu", stories[i].name, s);
			if (!is_about_op)
				assert_int_equal(iot_names_after(t.names, &t.record), 0);
			if (!is_about_op && steps[s].kind >= IS_OBJECT && !is_so(&t, &steps[s]))
				fail_msg("%s: step %zu", stories[i].name, s);
			if (steps[s].kind < IS_OBJECT)
				do_step(&t, &steps[s]);
		}
		iot_names_close(t.names);
	}
	iot_names_close(NULL);
}

static void label_lives_as_long_as_the_names(void **state)
{
	static const struct step steps[] = { TREE, OPEN(3, 3, 7), NAME(4, 1, "e"), MOVE(2, 2, 4, 0) };
	struct iot_label label;
	struct teller t;
	size_t i;

	(void)state;
	teller_open(&t);
	for (i = 0; i < 5; i++)
		do_step(&t, &steps[i]);
	label = iot_names_object(t.names, 3);
	for (; i < ARRAY_SIZE(steps); i++)
		do_step(&t, &steps[i]);
	iot_names_after(t.names, &t.record);
	assert_string_equal(label.path, "d/f");
	assert_string_equal(iot_names_path(t.names, 3), "e/f");
	iot_names_close(t.names);
}

static void identity_is_the_first_id(void **state)
{
	static const struct step steps[] = { TREE, BACK(4, 3, file, 3), BACK(5, 3, file, 3), OBJECT(6, 3, file) };
	struct teller t;
	size_t i;

	(void)state;
	teller_open(&t);
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		do_step(&t, &steps[i]);
	assert_int_equal(iot_names_identity(t.names, 3), 3);
	assert_int_equal(iot_names_identity(t.names, 4), 3);
	assert_int_equal(iot_names_identity(t.names, 5), 3);
	assert_int_equal(iot_names_identity(t.names, 6), 6);
	assert_int_equal(iot_names_identity(t.names, 99), 99);
	assert_int_equal(iot_names_identity(t.names, 0), 0);
	iot_names_close(t.names);
}

/* -- limits --------------------------------------------------------------------------------- */

/* A directory in a directory, and so on. Return: the name of the last one. */
static u64 make_deep(struct teller *t, const char *component, u64 depth)
{
	u64 id;

	for (id = 2; id < 2 + depth; id++) {
		const struct step steps[] = { NAME(id, id - 1, component), OBJECT(id, id, dir) };

		do_step(t, &steps[0]);
		do_step(t, &steps[1]);
	}
	return id - 1;
}

static void path_has_every_component_up_to_the_limit(void **state)
{
	static const struct {
		const char *component;
		u64 depth;
		size_t bytes; /* of the path */
		bool is_whole;
	} rows[] = {
		{ "x", 1, 1, true },
		{ "x", 1000, 1999, true },
		{ "x", 2049, 4097, true }, /* longer than PATH_MAX */
		{ "x", 8192, 16383, true },
		{ "x", 8193, 16383, false }, /* with "?" for the omitted part */
		{ "ab", 5461, 16382, true },
		{ "ab", 5462, 16382, false },
		{ "x", 20000, 16383, false },
	};
	struct teller t;
	const char *path;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		teller_open(&t);
		path = iot_names_path(t.names, make_deep(&t, rows[i].component, rows[i].depth));
		if (strlen(path) > rows[i].bytes || (rows[i].is_whole && strlen(path) < rows[i].bytes))
			fail_msg("row %zu: %zu bytes", i, strlen(path));
		assert_int_equal(path[0] == '?', !rows[i].is_whole);
		assert_int_equal(path[1] == '/' || !path[1], rows[i].component[1] == 0 || !rows[i].is_whole);
		assert_true(strlen(path) > 16000 || rows[i].is_whole);
		iot_names_close(t.names);
	}
}

static void long_components_are_kept(void **state)
{
	char text[IOT_TAIL_MAX_BYTES + 1];
	struct iot_record record = { .kind = IOT_KIND_name, .name = { .name = 5, .dir = 1 } };
	struct teller t;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[255] = 0;
	teller_open(&t);
	record.tail = (u8 *)text;
	record.tail_bytes = 255;
	tell(&t, record);
	assert_string_equal(iot_names_path(t.names, 5), text);
	memset(text, 'x', sizeof(text));
	record.name.name = 6; /* longer than any file system permits, but possible in a trace */
	record.tail_bytes = IOT_TAIL_MAX_BYTES;
	tell(&t, record);
	assert_true(strlen(iot_names_path(t.names, 6)) < IOT_PROGRAM_PATH_MAX);
	iot_names_close(t.names);
}

/* -- time --------------------------------------------------------------------------------------- */

static double seconds_since(clock_t begin)
{
	return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* Directories in a cycle are renamed repeatedly: the paths differ each time. Return: seconds of CPU time. */
static double time_of_renames_in_a_cycle(size_t count)
{
	static const struct step circle[] = {
		NAME(2, 3, "a"), NAME(3, 2, "b"), OBJECT(2, 2, dir), OBJECT(3, 3, dir),
		NAME(4, 2, "x"), OBJECT(4, 4, dir), NAME(5, 1, "y"), MOVE(4, 4, 5, 0), MOVE(4, 5, 4, 0),
	};
	clock_t begin = clock();
	struct teller t;
	size_t i;

	teller_open(&t);
	for (i = 0; i < 7; i++)
		do_step(&t, &circle[i]);
	for (i = 0; i < count; i++) {
		do_step(&t, &circle[7 + i % 2]);
		assert_int_equal(iot_names_after(t.names, &t.record), 0);
		assert_true(strlen(iot_names_path(t.names, 2)) < IOT_PROGRAM_PATH_MAX);
	}
	iot_names_close(t.names);
	return seconds_since(begin);
}

static void time_of_a_cycle_grows_with_the_renames(void **state)
{
	double few, many;

	(void)state;
	few = time_of_renames_in_a_cycle(100);
	many = time_of_renames_in_a_cycle(400);
	assert_true(many < 12 * few); /* for 4 times as many; quadratic cost would be 16 times */
}

/* Names with the ids `of`(0), `of`(1), ... Return: seconds of CPU time. */
static double time_of_ids(u64 (*of)(u64 *state), size_t count)
{
	struct iot_record record = { .kind = IOT_KIND_name, .name.dir = 1, .tail = (u8 *)"x",
				     .tail_bytes = 1 };
	clock_t begin;
	struct teller t;
	u64 *ids = malloc(count * sizeof(*ids)), state = 0;
	size_t i;

	for (i = 0; i < count; i++)
		ids[i] = of(&state);
	begin = clock();
	teller_open(&t);
	for (i = 0; i < count; i++) {
		record.name.name = ids[i];
		tell(&t, record);
	}
	iot_names_close(t.names);
	free(ids);
	return seconds_since(begin);
}

static u64 next_id(u64 *state)
{
	return 100 + ++*state;
}

/* Ids that share a bucket of a hash table without a secret. */
static u64 next_hostile_id(u64 *state)
{
	unsigned int hash;

	do {
		++*state;
		HASH_JEN(state, sizeof(*state), hash);
	} while (hash & 1023);
	return *state;
}

static void chosen_ids_take_no_longer_than_others(void **state)
{
	enum { IDS = 40000 };
	double honest, hostile;

	(void)state;
	honest = time_of_ids(next_id, IDS);
	hostile = time_of_ids(next_hostile_id, IDS);
	if (hostile > 20 * honest + 0.5)
		fail_msg("%.3f s instead of %.3f s", hostile, honest);
}

static void names_require_random_numbers(void **state)
{
	struct iot_names *names;
	int err;

	(void)state;
	has_no_random_numbers = true;
	err = iot_names_open(&names);
	has_no_random_numbers = false;
	assert_int_equal(err, -ENOSYS);
	iot_names_close(names); /* like readers of traces */
}

SUITE("names",
      TEST(names_follow_the_records)
      TEST(label_lives_as_long_as_the_names)
      TEST(identity_is_the_first_id)
      TEST(path_has_every_component_up_to_the_limit)
      TEST(long_components_are_kept)
      TEST(time_of_a_cycle_grows_with_the_renames)
      TEST(chosen_ids_take_no_longer_than_others)
      TEST(names_require_random_numbers))
