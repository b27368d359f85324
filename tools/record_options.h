/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_options.h - the command line of iotape record.
 */
#ifndef IOTAPE_RECORD_OPTIONS_H
#define IOTAPE_RECORD_OPTIONS_H

#include "collectord/collectord.h"
#include "facts.h"
#include "option.h"
#include "option_rotate.h"
#include "record/record.h"
#include "seal/seal.h"

struct filter;

struct record_command {
	struct record_options record;
	struct record_job job;
	const char *mpi;
	const char *command; /* that the trace states; NULL: record.command */
	const char *ops;
	const char *stacks; /* the list of --stacks */
	struct filter *filter;
	struct facts facts;
	pid_t pid;
	unsigned int seconds;
	int inherited; /* descriptors of the command that go around the mounts; -1: the kernel's count stands */
	bool has_wait;
	bool has_output;
	bool is_attach;
	bool is_join;
	bool is_mpi_only;
	bool is_uncalibrated;
	bool is_quiet;
	bool has_flight_option; /* that requires a flight recorder */
	struct flight_options flight;
	struct rotation_options rotation;
	struct fsync_options fsync;
	int stream_fd;
	const char *seal_key;
	struct seal_pipe seal;
	bool is_strace;
	bool has_buffers;
	bool has_flush;
};

void record_options_check(struct option_state *state);

#endif
