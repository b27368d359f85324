// SPDX-License-Identifier: GPL-2.0-only
/*
 * finish.c - the eight ways to complete requests.
 */
#include "exercise.h"

#include <stdlib.h>

MPI_Request *list_add(struct request_list *list, bool is_recorded)
{
	list->is_recorded[list->count] = is_recorded;
	list->handles[list->count] = MPI_REQUEST_NULL;
	return &list->handles[list->count++];
}

static void ended(const struct request_list *list, int i, const char *call)
{
	if (list->is_recorded[i])
		did("mpi_done", call);
}

static void all_ended(const struct request_list *list, const char *call)
{
	int i;

	for (i = 0; i < list->count; i++)
		ended(list, i, call);
}

static void finish_one_by_one(struct request_list *list, bool is_test, MPI_Status *status)
{
	int i, is_done;

	for (i = list->count - 1; i >= 0; i--) {
		if (is_test) {
			do
				MPI_Test(&list->handles[i], &is_done, status);
			while (!is_done);
			ended(list, i, "test");
		} else {
			MPI_Wait(&list->handles[i], status);
			ended(list, i, "wait");
		}
	}
}

static void finish_all(struct request_list *list, bool is_test, MPI_Status *statuses)
{
	int is_done = 0;

	if (!is_test)
		MPI_Waitall(list->count, list->handles, statuses);
	while (is_test && !is_done)
		MPI_Testall(list->count, list->handles, &is_done, statuses);
	all_ended(list, is_test ? "test" : "wait");
}

static void finish_any(struct request_list *list, bool is_test, MPI_Status *status)
{
	int index, is_done = 1;

	for (;;) {
		if (is_test)
			MPI_Testany(list->count, list->handles, &index, &is_done, status);
		else
			MPI_Waitany(list->count, list->handles, &index, status);
		if (is_done && index == MPI_UNDEFINED)
			return;
		if (is_done)
			ended(list, index, is_test ? "test" : "wait");
	}
}

static void finish_some(struct request_list *list, bool is_test, MPI_Status *statuses)
{
	int count, i, indices[64];

	for (;;) {
		if (is_test)
			MPI_Testsome(list->count, list->handles, &count, indices, statuses);
		else
			MPI_Waitsome(list->count, list->handles, &count, indices, statuses);
		if (count == MPI_UNDEFINED)
			return;
		for (i = 0; i < count; i++)
			ended(list, indices[i], is_test ? "test" : "wait");
	}
}

void list_finish(struct request_list *list, int way, bool is_ignoring)
{
	MPI_Status own[64], *status = is_ignoring ? MPI_STATUS_IGNORE : own;
	MPI_Status *statuses = is_ignoring ? MPI_STATUSES_IGNORE : own;
	bool is_test = way & 1;

	switch (way >> 1) {
	case 0:
		finish_one_by_one(list, is_test, status);
		break;
	case 1:
		finish_all(list, is_test, statuses);
		break;
	case 2:
		finish_any(list, is_test, status);
		break;
	default:
		finish_some(list, is_test, statuses);
	}
	list->count = 0;
}
