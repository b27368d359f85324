// SPDX-License-Identifier: GPL-2.0-only
/*
 * fold.c - find the loops of a task.
 *
 * The algorithm is that of regular section descriptors (Noeth and others, ScalaTrace; Knuepfer and others, DIOS): the
 * operations read so far are a stack of nodes; if its last nodes repeat those before them, they become a loop, or another
 * iteration of one. Here, loops with different counts are equal, and operands are ignored, so that loops are found for
 * arbitrary operands. Therefore a loop may become a part of another one before it has ended: later iterations are added
 * to the loops at the end of the last iteration.
 *
 * Sequences of nodes are compared by rolling hashes first. Of the possible starts of a repetition, only the
 * last PLACES_MAX are checked, so time grows with the number of operations.
 *
 * Counts are stored in the order of ends: those in the iterations of a loop, then its own.
 */
#include "nodes.h"

#define PLACES_MAX 256
#define NOWHERE	   UINT32_MAX

/* A node on the stack. */
struct item {
	u32 node;
	u32 previous; /* item with the same node */
	u32 doors;    /* when it was pushed */
	struct numbers counts;
};

/* A loop that the nodes that follow an item may continue: the item, or at the end of the last iteration of one. */
struct door {
	u32 item;
	u32 depth;    /* 0: the item itself */
	u32 loop;     /* node */
	u32 previous; /* door of a loop whose body ends in the same node */
};

struct folding {
	struct nodes *nodes;
	const struct shapes *shapes;
	struct item *items;
	u64 *hashes; /* of the items before each */
	u64 *powers;
	u32 count;
	u32 room;
	struct door *doors;
	u32 door_count;
	u32 door_room;
	u32 *last_item; /* by node */
	u32 *last_door;
	u32 node_room;
};

/* -- the stack -------------------------------------------------------------------------------------------- */

static int make_room(struct folding *f)
{
	u32 room = f->room ? 2 * f->room : 64, i;
	struct item *items = reallocarray(f->items, room, sizeof(*items));
	u64 *hashes, *powers;

	if (items)
		f->items = items;
	hashes = reallocarray(f->hashes, room + 1, sizeof(*hashes));
	if (hashes)
		f->hashes = hashes;
	powers = reallocarray(f->powers, room + 1, sizeof(*powers));
	if (powers)
		f->powers = powers;
	if (!items || !hashes || !powers)
		return -ENOMEM;
	f->hashes[0] = f->room ? f->hashes[0] : 0;
	f->powers[0] = 1;
	for (i = 1; i <= room; i++)
		f->powers[i] = f->powers[i - 1] * NODE_HASH_FACTOR;
	f->room = room;
	return 0;
}

static int make_node_room(struct folding *f, u32 node)
{
	u32 room = f->node_room, *items, *doors;

	if (node < room)
		return 0;
	while (room <= node)
		room = room ? 2 * room : 64;
	items = reallocarray(f->last_item, room, sizeof(*items));
	if (items)
		f->last_item = items;
	doors = reallocarray(f->last_door, room, sizeof(*doors));
	if (doors)
		f->last_door = doors;
	if (!items || !doors)
		return -ENOMEM;
	memset(items + f->node_room, 0xff, (room - f->node_room) * sizeof(*items));
	memset(doors + f->node_room, 0xff, (room - f->node_room) * sizeof(*doors));
	f->node_room = room;
	return 0;
}

static u32 last_of(const struct node *node)
{
	return node->body[node->body_count - 1];
}

static int add_doors(struct folding *f, u32 item)
{
	u32 loop = f->items[item].node, depth;

	for (depth = 0; nodes_at(f->nodes, loop)->type == NODE_LOOP; depth++) {
		u32 last = last_of(nodes_at(f->nodes, loop));

		if (f->door_count == f->door_room) {
			u32 room = f->door_room ? 2 * f->door_room : 64;
			struct door *doors = reallocarray(f->doors, room, sizeof(*doors));

			if (!doors)
				return -ENOMEM;
			f->doors = doors;
			f->door_room = room;
		}
		f->doors[f->door_count] = (struct door){ item, depth, loop, f->last_door[last] };
		f->last_door[last] = f->door_count++;
		loop = last;
	}
	return 0;
}

/* Takes over the counts. */
static int push(struct folding *f, u32 node, struct numbers *counts)
{
	struct item *item;

	if ((f->count == f->room && make_room(f)) || make_node_room(f, f->nodes->count)) {
		numbers_free(counts);
		return -ENOMEM;
	}
	item = &f->items[f->count];
	*item = (struct item){ node, f->last_item[node], f->door_count, *counts };
	*counts = (struct numbers){};
	f->last_item[node] = f->count;
	f->hashes[f->count + 1] = node_hash_add(f->hashes[f->count], node);
	return add_doors(f, f->count++);
}

/* The counts are given back. */
static struct numbers pop(struct folding *f)
{
	struct item *item = &f->items[--f->count];

	while (f->door_count > item->doors) {
		const struct door *door = &f->doors[--f->door_count];

		f->last_door[last_of(nodes_at(f->nodes, door->loop))] = door->previous;
	}
	f->last_item[item->node] = item->previous;
	return item->counts;
}

static u64 hash_of(const struct folding *f, u32 from, u32 to)
{
	return f->hashes[to] - f->hashes[from] * f->powers[to - from];
}

/* -- reductions ------------------------------------------------------------------------------------------ */

/* The counts of the last items, in order; they leave the stack. */
static struct numbers pop_all(struct folding *f, u32 count)
{
	u32 first = f->count - count, i;
	struct numbers all = {};

	for (i = first; i < f->count; i++)
		numbers_add_all(&all, &f->items[i].counts);
	while (f->count > first) {
		struct numbers counts = pop(f);

		numbers_free(&counts);
	}
	return all;
}

static void insert(struct numbers *into, size_t at, const struct numbers *what)
{
	size_t tail = into->count - at, i;

	for (i = 0; i < what->count; i++)
		numbers_add(into, 0);
	if (into->is_failed || what->is_failed || !what->count) {
		into->is_failed |= what->is_failed;
		return;
	}
	memmove(into->values + at + what->count, into->values + at, tail * sizeof(u64));
	memcpy(into->values + at, what->values, what->count * sizeof(u64));
}

static bool is_body(const struct folding *f, const struct node *loop, u32 first)
{
	u32 i;

	if (hash_of(f, first, f->count) != loop->body_hash)
		return false;
	for (i = 0; i < loop->body_count; i++)
		if (f->items[first + i].node != loop->body[i])
			return false;
	return true;
}

/* Another iteration of a loop. Return: whether the last items were one, or -ENOMEM. */
static int extend(struct folding *f)
{
	u32 place = f->last_door[f->items[f->count - 1].node], tries;

	for (tries = 0; place != NOWHERE && tries < PLACES_MAX; tries++, place = f->doors[place].previous) {
		const struct door door = f->doors[place];
		const struct node *loop = nodes_at(f->nodes, door.loop);
		struct numbers iteration, *counts;
		size_t own;

		if (f->count - 1 - door.item != loop->body_count || !is_body(f, loop, door.item + 1))
			continue;
		iteration = pop_all(f, loop->body_count);
		counts = &f->items[door.item].counts;
		own = counts->count - 1 - door.depth;
		counts->values[own]++;
		insert(counts, own, &iteration);
		numbers_free(&iteration);
		return counts->is_failed ? -ENOMEM : 1;
	}
	return 0;
}

/* Two loops that are equal, one after the other, are one. */
static int join(struct folding *f)
{
	struct numbers second, *first;
	u64 iterations;

	if (f->count < 2 || f->items[f->count - 1].node != f->items[f->count - 2].node ||
	    nodes_at(f->nodes, f->items[f->count - 1].node)->type != NODE_LOOP)
		return 0;
	second = pop(f);
	first = &f->items[f->count - 1].counts;
	iterations = first->values[--first->count];
	numbers_add_all(first, &second);
	first->values[first->count - 1] += iterations;
	numbers_free(&second);
	return first->is_failed ? -ENOMEM : 1;
}

static bool is_same(const struct folding *f, u32 length)
{
	u32 second = f->count - length, first = second - length, i;

	if (hash_of(f, first, second) != hash_of(f, second, f->count))
		return false;
	for (i = 0; i < length; i++)
		if (f->items[first + i].node != f->items[second + i].node)
			return false;
	return true;
}

static int make_loop(struct folding *f, u32 length)
{
	u32 *body = calloc(length, sizeof(*body)), i, loop;
	struct numbers counts;
	int err;

	if (!body)
		return -ENOMEM;
	for (i = 0; i < length; i++)
		body[i] = f->items[f->count - length + i].node;
	err = nodes_add(f->nodes, f->shapes, NODE_LOOP, body, length, &loop);
	free(body);
	if (err)
		return err == -EINVAL ? 0 : err; /* nested too deeply: it stays as it is */
	counts = pop_all(f, 2 * length);
	numbers_add(&counts, 2);
	if (counts.is_failed) {
		numbers_free(&counts);
		return -ENOMEM;
	}
	err = push(f, loop, &counts);
	return err ? err : 1;
}

/* The last items repeat those before: two iterations. */
static int begin_loop(struct folding *f)
{
	u32 last = f->count - 1, place = f->items[last].previous, tries;

	for (tries = 0; place != NOWHERE && tries < PLACES_MAX; tries++, place = f->items[place].previous) {
		u32 length = last - place;

		if (2 * (u64)length > f->count)
			break;
		if (is_same(f, length))
			return make_loop(f, length);
	}
	return 0;
}

static int reduce(struct folding *f)
{
	int done;

	do {
		done = extend(f);
		if (!done)
			done = join(f);
		if (!done)
			done = begin_loop(f);
	} while (done > 0);
	return done;
}

/* -- the whole --------------------------------------------------------------------------------------------- */

static int add_run(struct folding *f, u32 shape, u64 length)
{
	struct numbers counts = {};
	u32 node;
	int err = nodes_add(f->nodes, f->shapes, NODE_RUN, &shape, 1, &node);

	if (err)
		return err;
	numbers_add(&counts, length);
	if (counts.is_failed)
		return -ENOMEM;
	err = push(f, node, &counts);
	return err ? err : reduce(f);
}

static int make_root(struct folding *f, u32 *root, struct numbers *counts)
{
	u32 *body = calloc(f->count + 1, sizeof(*body)), i;
	int err;

	if (!body)
		return -ENOMEM;
	for (i = 0; i < f->count; i++) {
		body[i] = f->items[i].node;
		numbers_add_all(counts, &f->items[i].counts);
	}
	err = nodes_add(f->nodes, f->shapes, NODE_LIST, body, f->count, root);
	free(body);
	return err ? err : counts->is_failed ? -ENOMEM : 0;
}

/**
 * fold() - find the loops of a task
 * @nodes: are added to
 * @shapes: of the operations
 * @operations: shapes of the operations, in order
 * @root: out: a list
 * @counts: out: of runs and loops, in the order of their ends, the root excluded; to be freed by numbers_free()
 *
 * Memory is in proportion to the number of operations.
 *
 * Return: 0; -EINVAL if the structure has more than NODE_COLUMNS_MAX columns; -ENOMEM.
 */
int fold(struct nodes *nodes, const struct shapes *shapes, const struct numbers *operations, u32 *root,
	 struct numbers *counts)
{
	struct folding f = { .nodes = nodes, .shapes = shapes };
	size_t i, next;
	int err = 0;

	*counts = (struct numbers){};
	for (i = 0; i < operations->count && !err; i = next) {
		next = i + 1;
		while (next < operations->count && operations->values[next] == operations->values[i])
			next++;
		err = add_run(&f, (u32)operations->values[i], next - i);
	}
	if (!err)
		err = make_root(&f, root, counts);
	while (f.count) {
		struct numbers of_item = pop(&f);

		numbers_free(&of_item);
	}
	free(f.items);
	free(f.hashes);
	free(f.powers);
	free(f.doors);
	free(f.last_item);
	free(f.last_door);
	return err;
}
