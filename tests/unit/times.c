// SPDX-License-Identifier: GPL-2.0-only
/*
 * times.c - the parts of the time of each process in the golden traces add up to its total.
 *
 * ordering.c verifies the same for random applications, which do not use MPI.
 */
#include <glob.h>

#include "compile/compile.h"
#include "scratch.h"
#include "suite.h"

/* Return: the time that all processes waited in MPI calls. */
static u64 check(const char *trace)
{
	struct compile_options options = { .trace = trace, .program = scratch_program, .rules = ORDER_DEFAULT };
	struct compile_summary summary;
	struct iot_reject reject;
	u64 mpi_ns = 0;
	u32 i;

	assert_row(trace, !compile_trace(&options, &summary, &reject));
	assert_row(trace, summary.time_count > 0);
	for (i = 0; i < summary.time_count; i++) {
		const struct process_times *p = &summary.times[i];

		assert_row(trace, p->io_ns + p->compute_ns + p->mpi_ns + p->wait_ns + p->unexplained_ns ==
					  p->elapsed_ns);
		mpi_ns += p->mpi_ns;
	}
	compile_summary_free(&summary);
	return mpi_ns;
}

static void parts_add_up_to_the_time(void **state)
{
	size_t i, waited = 0;
	glob_t traces;

	(void)state;
	assert_int_equal(glob("tests/golden/*.iot", 0, NULL, &traces), 0);
	for (i = 0; i < traces.gl_pathc; i++)
		waited += check(traces.gl_pathv[i]) > 0;
	globfree(&traces);
	assert_true(waited > 3); /* in MPI calls */
}

SUITE("times",
      WITH_SCRATCH(parts_add_up_to_the_time))
