// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_options.c - options of iotape record that require or exclude each other.
 */
#include "record_options.h"

#include <string.h>

#include "table.h"

static void check_counters(struct option_state *state)
{
	const struct record_command *options = state->options;

	if (!options->record.counters && (options->record.counters_keys || options->record.counters_interval_ns))
		option_error(state, "--counters-by and --counters-interval require --counters");
	if (!options->record.counters)
		return;
	if (options->record.is_flight)
		option_error(state, "--counters cannot be combined with --flight, which keeps the last records: there are none");
	if (options->record.has_wakes)
		option_error(state, "--counters cannot be combined with --wakes, which orders operations: none is recorded");
	if (options->is_mpi_only)
		option_error(state, "--counters cannot be combined with --mpi-only, which records no operations on files");
}

static void check_stacks(struct option_state *state)
{
	const struct record_command *options = state->options;

	if (!options->record.has_stacks)
		return;
	if (options->record.counters || options->is_mpi_only)
		option_error(state, "--stacks cannot be combined with --counters or --mpi-only, which record no operations on files");
}

static void check_delay(struct option_state *state)
{
	const struct record_command *options = state->options;

	if (options->record.controller && !(options->is_join && options->record.delay.period))
		option_error(state, "--controller requires --join and --delay");
	if (!options->record.delay.period)
		return;
	if (options->record.counters)
		option_error(state, "--delay cannot be combined with --counters, which records no operations");
	if (options->is_attach || options->is_mpi_only)
		option_error(state, "--delay cannot be combined with --attach or --mpi-only");
	if (options->is_join && !options->record.controller)
		option_error(state, "--delay cannot be combined with --join without --controller, see iotape discover --nodes");
}

/* strace sees system calls only, and its log is complete: none of these apply. */
static void check_strace(const struct option_state *state)
{
	const struct record_command *o = state->options;
	const struct {
		bool is_given;
		const char *name;
	} others[] = {
		{ o->is_attach, "attach" },
		{ o->is_join, "join" },
		{ o->is_mpi_only, "mpi-only" },
		{ o->record.is_flight, "flight" },
		{ o->record.rotates, "rotate" },
		{ o->fsync.at_end, "fsync" },
		{ o->record.counters, "counters" },
		{ o->record.delay.period, "delay" },
		{ o->record.has_wakes, "wakes" },
		{ o->record.has_stacks, "stacks" },
		{ o->record.ops, "ops" },
		{ o->filter, "filter" },
		{ o->record.admit_count, "admit" },
		{ o->seal_key, "seal" },
		{ o->record.drop, "policy" },
		{ strcmp(o->record.mmap_mode, "page"), "mmap" },
		{ strcmp(o->mpi, "auto") && strcmp(o->mpi, "off"), "mpi" },
		{ o->has_wait, "wait" },
		{ o->has_buffers, "buffers" },
		{ o->has_flush, "flush" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].is_given)
			option_error(state, "--%s requires --engine=kernel", others[i].name);
	if (record_is_stream(o->record.output))
		option_error(state, "--output=%s: --engine=strace writes to a file", o->record.output);
}

static void check_rotate(struct option_state *state)
{
	const struct record_command *options = state->options;

	if (!options->record.rotates)
		return;
	if (options->record.is_flight || options->is_join || options->is_mpi_only || options->seal_key)
		option_error(state, "--rotate cannot be combined with --flight, --join, --mpi-only or --seal");
	if (record_is_stream(options->record.output))
		option_error(state, "--output=%s: --rotate writes to files", options->record.output);
}

/**
 * record_options_check() - refuse options that exclude each other
 * @state: of the command line of record
 *
 * Exits if there are such options.
 */
void record_options_check(struct option_state *state)
{
	const struct record_command *options = state->options;

	if (options->is_strace)
		check_strace(state);
	if (options->is_attach && options->record.command)
		option_error(state, "--attach runs no command");
	if (options->is_attach && options->command)
		option_error(state, "--command cannot be combined with --attach, which runs no command");
	if (options->is_attach && (options->is_join || options->is_mpi_only))
		option_error(state, "--attach cannot be combined with --join or --mpi-only");
	if (!options->is_attach && (options->seconds || options->pid))
		option_error(state, "--for and --pid require --attach");
	if (options->is_mpi_only && options->record.admit_count)
		option_error(state, "--admit cannot be combined with --mpi-only, which has no session");
	if (options->has_wait && (options->is_attach || options->is_mpi_only))
		option_error(state, "--wait cannot be combined with --attach or --mpi-only");
	if (options->is_mpi_only && options->record.has_wakes)
		option_error(state, "--wakes requires the kernel modules and cannot be combined with --mpi-only");
	if (options->is_mpi_only && options->record.ops)
		option_error(state, "--ops cannot be combined with --mpi-only, which records no operations on files");
	if (options->is_mpi_only && options->filter)
		option_error(state, "--filter cannot be combined with --mpi-only, which records no operations on files");
	if (!options->is_attach && !options->record.command)
		option_error(state, "no command to record");
	check_counters(state);
	check_stacks(state);
	check_delay(state);
	check_rotate(state);
	if (options->fsync.at_end && (options->record.is_flight || options->is_join || options->is_mpi_only || options->seal_key))
		option_error(state, "--fsync cannot be combined with --flight, --join, --mpi-only or --seal");
	if (options->has_flight_option && !options->record.is_flight)
		option_error(state, "--flight-* require --flight");
	if (options->record.is_flight && (options->is_join || options->is_mpi_only))
		option_error(state, "--flight cannot be combined with --join or --mpi-only");
	if (options->record.is_flight && record_is_stream(options->record.output))
		option_error(state, "--output=%s: dumps of --flight are files", options->record.output);
	if (options->seal_key && (options->record.is_flight || options->is_join || options->is_mpi_only))
		option_error(state, "--seal cannot be combined with --flight, --join or --mpi-only");
	if (record_is_stream(options->record.output) && (options->is_join || options->is_mpi_only))
		option_error(state, "--output=%s: --join and --mpi-only write to a directory", options->record.output);
}
