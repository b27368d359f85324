/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant.h - the parts of iotape-mount, which root owns and users execute.
 *
 * Rules: no heap but in the C library; each file is named once, and used by its descriptor afterwards; a doubt is a refusal.
 */
#ifndef IOTAPE_GRANT_H
#define IOTAPE_GRANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GRANT_DIRECTORIES_MAX 16
#define GRANT_POLICY_DIRECTORY "/etc/iotape"
#define GRANT_POLICY_NAME      "recorders"

/**
 * struct grant_request - the request of a user
 * @directories: to be recorded, absolute paths
 * @count: of them
 * @mmap_mode: as in struct record_options
 * @buffers: of each CPU
 * @flush_ms: maximum age of an unsent record
 * @drop: the policy of the session
 * @command: to be executed afterwards, ended by NULL; the first one is an absolute path
 */
struct grant_request {
	const char *directories[GRANT_DIRECTORIES_MAX];
	int count;
	const char *mmap_mode;
	uint32_t buffers;
	uint32_t flush_ms;
	bool drop;
	char **command;
};

/* main.c */
void grant_refuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* request.c */
void grant_request_parse(struct grant_request *request, char **argv);
bool grant_is_path(const char *path);

/* policy.c */
void grant_policy_read(void);
bool grant_policy_allows(const char *path);

/* place.c */
int grant_mount(const struct grant_request *request, const char *path);
void grant_namespace_enter(void);

/* session.c */
int grant_session(const struct grant_request *request, const int *mounts, uint64_t *number);

/* rights.c */
void grant_rights_lower(void);
void grant_rights_raise(void);
void grant_rights_drop(void);

#endif
