// SPDX-License-Identifier: GPL-2.0-only
/*
 * account.c - counts the calls and observations of a rank of the exercise.
 */
#define _GNU_SOURCE
#include "exercise.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES 128

static struct {
	const char *kind;
	const char *call;
	int count;
} account[ENTRIES];
static unsigned long sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The trace must have a record of this kind and call. */
void did(const char *kind, const char *call)
{
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; account[i].kind; i++)
		if (!strcmp(account[i].kind, kind) && !strcmp(account[i].call, call))
			break;
	account[i].kind = kind;
	account[i].call = call;
	account[i].count++;
	pthread_mutex_unlock(&lock);
}

/* Received data, in any order. */
void saw(const int *values, int count)
{
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < count; i++)
		sum += (unsigned long)values[i] * 2654435761u;
	pthread_mutex_unlock(&lock);
}

void expect_at(bool is_so, const char *file, int line)
{
	if (is_so)
		return;
	fprintf(stderr, "exercise: rank %d: %s:%d: not as expected\n", rank, file, line);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

void account_write(const char *dir)
{
	char path[4096];
	FILE *out;
	int i;

	snprintf(path, sizeof(path), "%s/rank.%d", dir, rank);
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		exit(1);
	}
	fprintf(out, "%d saw - %lu\n", rank, sum);
	for (i = 0; account[i].kind; i++)
		fprintf(out, "%d %s %s %d\n", rank, account[i].kind, account[i].call,
			account[i].count);
	if (fclose(out))
		exit(1);
}

/* -- calls that bypass the shim -------------------------------------------------------------- */

static int open_mpi(struct dl_phdr_info *info, size_t bytes, void *context)
{
	void **library = context;

	(void)bytes;
	if (strstr(info->dlpi_name, "/libmpi.so") || strstr(info->dlpi_name, "/libmpich.so"))
		*library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	return *library != NULL;
}

/* An MPI function from its library, bypassing preloaded libraries. */
void *hidden(const char *name)
{
	static void *library;

	if (!library)
		dl_iterate_phdr(open_mpi, &library);
	expect(library && dlsym(library, name));
	return dlsym(library, name);
}
