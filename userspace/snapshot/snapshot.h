/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * snapshot.h - save the contents of a directory, without its data.
 */
#ifndef IOTAPE_SNAPSHOT_H
#define IOTAPE_SNAPSHOT_H

#include "lib/iotape.h"

/* Gaps of a snapshot: enum snapshot_gap, with a sentence for one or many. */
#define SNAPSHOT_GAPS(G)                                                      \
	G(unread_dir, "could not be read: its contents are missing")          \
	G(unread_file, "could not be read: treated as data without holes")    \
	G(unread_xattrs, "has extended attributes that could not be read")    \
	G(vanished, "was removed before it could be examined")                \
	G(too_long, "has a path that is too long for a program: left out")    \
	G(other_file_system, "is another file system, which was not entered") \
	G(outside_names, "has further hard links outside of the directory")

enum snapshot_gap {
#define SNAPSHOT_GAP(name, sentence) SNAPSHOT_##name,
	SNAPSHOT_GAPS(SNAPSHOT_GAP)
#undef SNAPSHOT_GAP
	SNAPSHOT_GAP_COUNT
};

/* Whether the gap is intended, though worth a message. All other gaps are missing objects. */
static inline bool snapshot_gap_is_expected(enum snapshot_gap gap)
{
	return gap == SNAPSHOT_other_file_system || gap == SNAPSHOT_outside_names;
}

extern const char *const snapshot_gap_sentences[SNAPSHOT_GAP_COUNT];

/**
 * struct snapshot_options - options of a snapshot
 * @directory: the directory; its own attributes are not part of it
 * @output: file to write
 * @crosses_file_systems: also enter mounts below
 */
struct snapshot_options {
	const char *directory;
	const char *output;
	bool crosses_file_systems;
};

/**
 * struct snapshot_result - the saved contents
 * @entries: names
 * @size_bytes: of all files, by their sizes
 * @data_bytes: without holes
 * @gaps: how often, by enum snapshot_gap
 * @gap_paths: of the first of each; to be freed by snapshot_result_free()
 */
struct snapshot_result {
	u64 entries;
	u64 size_bytes;
	u64 data_bytes;
	u64 gaps[SNAPSHOT_GAP_COUNT];
	char *gap_paths[SNAPSHOT_GAP_COUNT];
};

typedef void (*snapshot_progress_fn)(u64 entries);

int snapshot_take(const struct snapshot_options *options, snapshot_progress_fn progress,
		  struct snapshot_result *result, char *why, size_t room);
void snapshot_result_free(struct snapshot_result *result);

#endif
