// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth.c - does a compiled program preserve the order of file operations that MPI demands?
 *
 *	truth SEED STEPS RANKS LOGS PROGRAM [DROP]
 *
 * The required order follows from the script, from the logs of the ranks, which have the order of their operations
 * and the message that each receive got, and from the rules of MPI. It does not use the
 * analysis. For each operation, the number of operations of each other rank that must have ended before is computed,
 * from MPI and from the program, so all pairs can be compared. With DROP, one in DROP edges of the program is left out.
 *
 * Prints the number of pairs, of lost ones, and of additional ones in the program. Exit code: 0 if no pair is lost.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/iotape.h"
#include "script.h"

/* Memory is not freed before the program ends. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* For each rank, the number of operations that have ended. */
struct knowledge {
	u32 ended[RANKS_MAX];
};

static void learn(struct knowledge *to, const struct knowledge *from)
{
	int i;

	for (i = 0; i < RANKS_MAX; i++)
		if (from->ended[i] > to->ended[i])
			to->ended[i] = from->ended[i];
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "truth: %s: %s\n", what, why);
	exit(2);
}

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	if (!memory)
		die("memory", "there is none");
	return memory;
}

/* The knowledge before each operation of each rank. */
struct order {
	struct knowledge *before[RANKS_MAX];
	u32 count[RANKS_MAX];
};

/* -- what MPI demands --------------------------------------------------------------------------------- */

struct event {
	char letter;
	int number;
	int message;
	struct knowledge known; /* at its end */
};

struct log {
	struct event *events;
	u32 count;
	u32 done;
};

static struct script script;
static struct log logs[RANKS_MAX];

static void read_log(const char *dir, int rank)
{
	struct log *log = &logs[rank];
	char path[4096];
	struct event event = {};
	u32 room = 0;
	FILE *in;

	snprintf(path, sizeof(path), "%s/log.%d", dir, rank);
	in = fopen(path, "r");
	if (!in)
		die(path, strerror(errno));
	while (fscanf(in, " %c %d %d %*u %*u", &event.letter, &event.number, &event.message) == 3) {
		if (log->count == room) {
			room = room ? 2 * room : 256;
			log->events = reallocarray(log->events, room, sizeof(event));
			if (!log->events)
				die(path, "no memory");
		}
		log->events[log->count++] = event;
	}
	fclose(in);
}

/* Return: an event of a rank, NULL if there is none. */
static const struct event *find(int rank, char letter, int number)
{
	u32 i;

	for (i = 0; i < logs[rank].count; i++)
		if (logs[rank].events[i].letter == letter && logs[rank].events[i].number == number)
			return &logs[rank].events[i];
	return NULL;
}

static bool has_passed(int rank, const struct event *event)
{
	return event < logs[rank].events + logs[rank].done;
}

/* Has the event for which another one waits occurred? If so, take over its knowledge. */
static bool hear_of(struct knowledge *known, int rank, const struct event *event)
{
	if (!event)
		die("log", "an event that another one waits for is missing");
	if (!has_passed(rank, event))
		return false;
	learn(known, &event->known);
	return true;
}

/* The post of the receive that got a message, for which a synchronous send waits. */
static bool hear_of_receive(struct knowledge *known, int message)
{
	int rank;
	u32 i;

	for (rank = 0; rank < script.ranks; rank++)
		for (i = 0; i < logs[rank].count; i++)
			if (logs[rank].events[i].letter == 'g' && logs[rank].events[i].message == message)
				return hear_of(known, rank, find(rank, 'p', logs[rank].events[i].number));
	die("log", "a message was not received");
	return false;
}

static bool hear_of_ranks(struct knowledge *known, int own, int number)
{
	const struct step *step = &script.steps[number - 1];
	int rank;

	for (rank = 0; rank < script.ranks; rank++)
		if (script_gives(&script, step, rank, own) && !hear_of(known, rank, find(rank, 'c', number)))
			return false;
	return true;
}

static bool is_synchronous(int message)
{
	int call = script.steps[message / RANKS_MAX - 1].call;

	return call == SEND_SYNCHRONOUS || call == SEND_SYNCHRONOUS_REQUEST;
}

/* Return: false if the next event of a rank must wait for an event that has not occurred. */
static bool advance(int rank, struct order *order)
{
	struct log *log = &logs[rank];
	struct event *event = &log->events[log->done];
	bool is_possible = true;

	if (log->done)
		event->known = event[-1].known;
	switch (event->letter) {
	case 'i':
		order->before[rank][order->count[rank]++] = event->known;
		event->known.ended[rank]++;
		break;
	case 'g':
	case 'f':
	case 'm':
		is_possible = hear_of(&event->known, event->message % RANKS_MAX,
				      find(event->message % RANKS_MAX, 's', event->message));
		break;
	case 'S':
		is_possible = !is_synchronous(event->number) || hear_of_receive(&event->known, event->number);
		break;
	case 'C':
		is_possible = hear_of_ranks(&event->known, rank, event->number);
		break;
	}
	log->done += is_possible;
	return is_possible;
}

static void demand(const char *dir, struct order *order)
{
	bool is_moving = true;
	int rank;

	for (rank = 0; rank < script.ranks; rank++) {
		read_log(dir, rank);
		order->before[rank] = allocate(logs[rank].count, sizeof(struct knowledge));
	}
	while (is_moving) {
		is_moving = false;
		for (rank = 0; rank < script.ranks; rank++)
			while (logs[rank].done < logs[rank].count && advance(rank, order))
				is_moving = true;
	}
	for (rank = 0; rank < script.ranks; rank++)
		if (logs[rank].done < logs[rank].count)
			die("logs", "the ranks are deadlocked");
}

/* -- the order of the program ------------------------------------------------------------------------- */

struct run {
	struct iot_program program;
	struct knowledge *ops;	/* the knowledge at the end of each */
	struct knowledge *latches;
	u32 *left;		/* signals missing at each latch */
	u32 *done;		/* operations of each task */
	u32 drop;
	u32 edges;
	u32 dropped;
};

static bool holds(struct run *run, const struct iot_program_wait *wait, struct knowledge *known)
{
	u32 task = le32_to_cpu(wait->task), index = le32_to_cpu(wait->index);

	if (task == IOT_WAIT_LATCH) {
		if (run->left[index])
			return false;
		learn(known, &run->latches[index]);
		return true;
	}
	if (run->done[task] <= index)
		return false;
	learn(known, &run->ops[le64_to_cpu(run->program.tasks[task].first_op) + index]);
	return true;
}

/* The selection of dropped waits is deterministic. */
static bool is_dropped(const struct run *run, const struct iot_program_wait *wait)
{
	return run->drop && (u32)(wait - run->program.waits) % run->drop == run->drop - 1;
}

static bool perform(struct run *run, u32 task, struct order *order)
{
	const struct iot_program_task *t = &run->program.tasks[task];
	u64 at = le64_to_cpu(t->first_op) + run->done[task];
	const struct iot_program_op *op = &run->program.ops[at];
	const struct iot_program_wait *wait = run->program.waits + le64_to_cpu(t->first_wait) +
					      le32_to_cpu(op->first_wait);
	struct knowledge known = run->done[task] ? run->ops[at - 1] : (struct knowledge){};
	u32 rank = le32_to_cpu(t->rank) - 1, i;

	for (i = 0; i < le16_to_cpu(op->wait_count); i++)
		if (!is_dropped(run, &wait[i]) && !holds(run, &wait[i], &known))
			return false;
	if (le16_to_cpu(op->kind) == IOT_KIND_write && rank < RANKS_MAX) {
		if (le64_to_cpu(op->offset_bytes) != order->count[rank])
			die("program", "operations of a rank are missing or out of order");
		order->before[rank][order->count[rank]++] = known;
		known.ended[rank]++;
	}
	run->ops[at] = known;
	if (le16_to_cpu(op->kind) == IOT_PLAY_signal && op->handle) {
		learn(&run->latches[le32_to_cpu(op->handle) - 1], &known);
		run->left[le32_to_cpu(op->handle) - 1]--;
	}
	run->done[task]++;
	return true;
}

static void run_program(struct run *run, struct order *order)
{
	const struct iot_program *program = &run->program;
	bool is_moving = true;
	u32 i;

	run->ops = allocate(program->op_count, sizeof(*run->ops));
	run->latches = allocate(program->latch_count, sizeof(*run->latches));
	run->left = allocate(program->latch_count, sizeof(*run->left));
	run->done = allocate(program->task_count, sizeof(*run->done));
	for (i = 0; i < RANKS_MAX; i++)
		order->before[i] = allocate(program->op_count, sizeof(struct knowledge));
	for (i = 0; i < program->latch_count; i++)
		run->left[i] = le32_to_cpu(program->latches[i].signals);
	while (is_moving) {
		is_moving = false;
		for (i = 0; i < program->task_count; i++)
			while (run->done[i] < le32_to_cpu(program->tasks[i].op_count) && perform(run, i, order))
				is_moving = true;
	}
}

/* -- comparison ------------------------------------------------------------------------------------------- */

static u64 compare(const struct order *truth, const struct order *program)
{
	u64 pairs = 0, lost = 0, besides = 0;
	int rank, other;
	u32 i;

	for (rank = 0; rank < script.ranks; rank++) {
		if (truth->count[rank] != program->count[rank])
			die("program", "operations are missing");
		for (i = 0; i < truth->count[rank]; i++)
			for (other = 0; other < script.ranks; other++) {
				u32 must = truth->before[rank][i].ended[other];
				u32 does = program->before[rank][i].ended[other];

				pairs += other == rank ? 0 : must;
				if (must > does && !lost)
					printf("# operation %u of rank %d does not wait for operation %u of rank %d\n",
					       i, rank, must - 1, other);
				lost += must > does ? must - does : 0;
				besides += does > must ? does - must : 0;
			}
	}
	printf("%llu pairs %llu lost %llu besides\n", (unsigned long long)pairs, (unsigned long long)lost,
	       (unsigned long long)besides);
	return lost;
}

int main(int argc, char **argv)
{
	struct order truth = {}, order = {};
	struct iot_reject reject = {};
	struct run run = {};

	if (argc < 6 || script_make(&script, strtoull(argv[1], NULL, 10), atoi(argv[3]), atoi(argv[2]))) {
		fprintf(stderr, "usage: truth SEED STEPS RANKS LOGS PROGRAM [DROP]\n");
		return 2;
	}
	if (iot_program_load(argv[5], &run.program, &reject))
		die(argv[5], iot_reject_sentence(&reject));
	run.drop = argc > 6 ? (u32)atoi(argv[6]) : 0;
	demand(argv[4], &truth);
	run_program(&run, &order);
	return compare(&truth, &order) > 0;
}
