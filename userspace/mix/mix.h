/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mix.h - one program that runs several programs at the same time.
 */
#ifndef IOTAPE_MIX_H
#define IOTAPE_MIX_H

#include "lib/iotape.h"

#define MIX_PROGRAMS_MAX 4096  /* copies included */
#define MIX_SCALE_ONE	 65536 /* think time as in the program */

/* Facts of a mix: MIX_FACT_PROGRAMS is the number of programs; of program N, from 1, "mix.N." and one of the others. */
#define MIX_FACT_PROGRAMS   "mix.programs"
#define MIX_FACT_PROGRAM    "program"	 /* name of its file */
#define MIX_FACT_FIRST_TASK "first_task" /* index; its tasks end before those of the next program */
#define MIX_FACT_START_NS   "start_ns"
#define MIX_FACT_SCALE	    "think_scale" /* in units of 1 / MIX_SCALE_ONE */

/**
 * struct mix_part - a program of a mix
 * @path: its file
 * @copies: how often it runs, at the same time
 * @start_ns: when the first copy starts, after the start of the replay
 * @stagger_ns: time from the start of a copy to that of the next one
 * @think_scale: factor of its think times, in units of 1 / MIX_SCALE_ONE; 0: none
 */
struct mix_part {
	const char *path;
	u32 copies;
	u64 start_ns;
	u64 stagger_ns;
	u32 think_scale;
};

/**
 * struct mix_summary - contents of a mix
 * @programs: copies included
 * @tasks: without request queues
 * @operations: of the traces
 * @entries: of the initial tree
 * @omissions: of all programs
 */
struct mix_summary {
	u32 programs;
	u32 tasks;
	u64 operations;
	u64 entries;
	struct iot_omissions omissions;
};

/**
 * struct mix_times - a program of a mix, as it was replayed
 * @program: name of its file; lives as long as the mix
 * @begin_ns, @end_ns: start of its first operation and end of its last one, after the start of the first operation of
 *	the mix; both 0 if it ran none
 * @operations: that it ran
 * @diverged: of these
 */
struct mix_times {
	const char *program;
	u64 begin_ns;
	u64 end_ns;
	u64 operations;
	u64 diverged;
};

/* mix.c */
int mix_make(const struct mix_part *parts, u32 count, const char *output, bool is_uncompressed, struct mix_summary *summary,
	     char *why, size_t room);

/* mix_times.c */
int mix_read_times(const struct iot_program *mix, const char *name, const char *outcomes, struct mix_times **times, u32 *count,
		   char *why, size_t room);

#endif
