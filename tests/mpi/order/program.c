// SPDX-License-Identifier: GPL-2.0-only
/*
 * program.c - runs its part of a script: program SEED STEPS FILES LOGS
 *
 * FILES/io.RANK is the file of a rank, LOGS/log.RANK its log.
 */
#include "program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (8 << 20)
#define LINES_MAX    100000

struct script script;
int own;
MPI_Comm comms[COMM_COUNT];
MPI_Datatype empty_type;

/* -- the log ----------------------------------------------------------------------------------- */

static struct {
	char letter;
	int number;
	int message;
	uint64_t begin_ns;
	uint64_t end_ns;
} lines[LINES_MAX];
static int line_count;
static int io_count;
static int io_fd;

void fail(const struct step *step, const char *what)
{
	fprintf(stderr, "rank %d: step %d: %s\n", own, step ? step->id : 0, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

int log_add(char letter, int number, int message)
{
	if (line_count == LINES_MAX)
		fail(NULL, "the log is full");
	lines[line_count].letter = letter;
	lines[line_count].number = number;
	lines[line_count].message = message;
	return line_count++;
}

void log_message(int line, int message)
{
	lines[line].message = message;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void log_io(void)
{
	int line = log_add('i', 0, io_count);

	lines[line].begin_ns = now_ns();
	if (pwrite(io_fd, "x", 1, io_count) != 1)
		fail(NULL, "pwrite");
	lines[line].end_ns = now_ns();
	io_count++;
}

void log_write(const char *dir)
{
	char path[4096];
	FILE *out;
	int i;

	snprintf(path, sizeof(path), "%s/log.%d", dir, own);
	out = fopen(path, "w");
	if (!out)
		fail(NULL, path);
	for (i = 0; i < line_count; i++)
		fprintf(out, "%c %d %d %llu %llu\n", lines[i].letter, lines[i].number, lines[i].message,
			(unsigned long long)lines[i].begin_ns, (unsigned long long)lines[i].end_ns);
	if (fclose(out))
		fail(NULL, path);
}

/* -- communicators ------------------------------------------------------------------------------ */

static void make_graph(void)
{
	struct members sources, targets;

	script_sources(&script, COMM_GRAPH, own, &sources);
	script_targets(&script, COMM_GRAPH, own, &targets);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources.count, sources.ranks, MPI_UNWEIGHTED,
				       targets.count, targets.ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
				       &comms[COMM_GRAPH]);
}

static void make_comms(void)
{
	const int is_ring = 0;

	comms[COMM_WORLD] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[COMM_TWIN]);
	MPI_Comm_split(MPI_COMM_WORLD, own % 2, -own, &comms[COMM_HALVES]);
	MPI_Comm_split(MPI_COMM_WORLD, script_group_of(&script, COMM_PARTS, own), own, &comms[COMM_PARTS]);
	/* the leader of each half is its first rank, which is the highest */
	MPI_Intercomm_create(comms[COMM_HALVES], 0, MPI_COMM_WORLD,
			     script.ranks - 1 - (own % 2 == (script.ranks - 1) % 2), 7, &comms[COMM_BRIDGE]);
	make_graph();
	MPI_Cart_create(MPI_COMM_WORLD, 1, &script.ranks, &is_ring, 0, &comms[COMM_LINE]);
}

static void free_comms(void)
{
	int i;

	for (i = COMM_TWIN; i < COMM_COUNT; i++)
		MPI_Comm_free(&comms[i]);
}

/* -- steps -------------------------------------------------------------------------------------- */

static void perform(const struct step *step)
{
	int i;

	switch (step->what) {
	case STEP_IO:
		for (i = 0; i < step->count && step->rank == own; i++)
			log_io();
		break;
	case STEP_PAUSE:
		if (step->rank == own)
			usleep((unsigned int)step->count);
		break;
	case STEP_MESSAGE:
		perform_message(step);
		break;
	case STEP_ANY:
		perform_any(step);
		break;
	case STEP_CALL:
		perform_call(step);
		break;
	case STEP_SPLIT:
		perform_split(step);
		break;
	case STEP_WAIT:
		if (step->rank == own)
			pending_wait((enum waiting)step->how);
	}
}

static void open_file(const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/io.%d", dir, own);
	io_fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	if (io_fd < 0)
		fail(NULL, path);
}

int main(int argc, char **argv)
{
	void *buffer = malloc(BUFFER_BYTES);
	int ranks, i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &own);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 5 || ranks < 4 || ranks > RANKS_MAX ||
	    script_make(&script, strtoull(argv[1], NULL, 10), ranks, atoi(argv[2])))
		fail(NULL, "usage: program SEED STEPS FILES LOGS, by 4 to 16 ranks");
	MPI_Buffer_attach(buffer, BUFFER_BYTES);
	open_file(argv[3]);
	make_comms();
	MPI_Type_contiguous(0, MPI_INT, &empty_type);
	MPI_Type_commit(&empty_type);
	for (i = 0; i < script.count; i++)
		perform(&script.steps[i]);
	pending_wait(WAIT_ALL);
	log_io(); /* after all steps */
	close(io_fd);
	free_comms();
	MPI_Type_free(&empty_type);
	MPI_Buffer_detach(&buffer, &i);
	log_write(argv[4]);
	MPI_Finalize();
	free(buffer);
	script_free(&script);
	return 0;
}
