/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * application_record.h - internals of application.c: the state of a run, and recorded operations.
 */
#ifndef IOTAPE_TEST_APPLICATION_RECORD_H
#define IOTAPE_TEST_APPLICATION_RECORD_H

#include "application.h"

#define RECORDS_MAX 4096
#define NAMES_MAX   512
#define NODES_ON    6
#define REQUESTS    8

struct entry {
	u64 end_ns;
	u32 number;
	struct iot_record record;
	u8 tail[FS_NAME];
};

/* The resources of the last operation of a task, while it lasts. */
struct footprint {
	u64 end_ns;
	bool has_names;
	bool is_read;
	u32 handles[2];
	int nodes[NODES_ON];
};

struct app_task {
	bool is_alive;
	u32 tgid;
	u32 op;
	struct footprint last;
};

struct app_handle {
	u32 processes; /* bits: the processes that have it open */
	u32 flags;
	u64 position;
	bool is_open;
};

struct app_map {
	u32 tgid;
	u32 handle_object;
	bool is_there;
};

struct app {
	struct fs fs;
	u64 random;
	u64 now_ns;
	struct app_task tasks[APP_TASKS + 1];
	struct app_handle handles[FS_HANDLES];
	struct app_map maps[FS_HANDLES];
	struct footprint requests[REQUESTS]; /* the last requests, some of which are in progress */
	u32 request_count;
	u32 handle_count;
	u32 map_count;
	u32 epochs[FS_NODES];	 /* number of times that the inode was read, 0: never */
	struct {
		int dir;
		char component[FS_NAME];
	} names[NAMES_MAX];
	u32 name_count;
	struct entry *entries;
	u32 entry_count;
	struct app_truth *truth;
	u32 task; /* the current task */
};

u32 app_below(struct app *a, u32 limit);
struct iot_record *app_add(struct app *a, u16 kind, u64 end_ns, const char *tail);
u64 app_object_id(const struct app *a, int node);
u64 app_name_in(struct app *a, int dir, const char *component);
u64 app_begin(struct app *a, const struct footprint *f);
int app_directory_of(const struct app *a, const char *path);
void app_find_nodes(const struct app *a, const struct fs_op *op, struct footprint *f);
s64 app_emit(struct app *a, struct fs_op op);

#endif
