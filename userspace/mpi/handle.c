// SPDX-License-Identifier: GPL-2.0-only
/*
 * handle.c - communicators and windows that the shim knows, by their handles.
 *
 * MPI could be asked, but who asks about a handle that MPI does not accept calls the program's
 * handler of errors, which may end the program. So nothing is asked that the program's own call has
 * not been let through with.
 */
#include "shim.h"

static struct iot_mpi_handle **place_of(struct iot_mpi_handles *table, uintptr_t value)
{
	u64 hash = (u64)value * 0x9e3779b97f4a7c15ull;
	struct iot_mpi_handle **place = &table->first[hash >> 32 & (IOT_MPI_HANDLE_BUCKETS - 1)];

	while (*place && (*place)->value != value)
		place = &(*place)->next;
	return place;
}

/**
 * iot_mpi_handle_find() - what is known of a handle
 * @table: of its kind
 * @value: it
 *
 * Return: NULL if nothing is.
 */
struct iot_mpi_handle *iot_mpi_handle_find(struct iot_mpi_handles *table, uintptr_t value)
{
	struct iot_mpi_handle *handle;

	pthread_mutex_lock(&table->lock);
	handle = *place_of(table, value);
	pthread_mutex_unlock(&table->lock);
	return handle;
}

/**
 * iot_mpi_handle_add() - remember one that MPI has just made
 * @table: of its kind
 * @handle: the beginning of what is known of it, which is the caller's
 * @value: it
 */
void iot_mpi_handle_add(struct iot_mpi_handles *table, struct iot_mpi_handle *handle, uintptr_t value)
{
	struct iot_mpi_handle **place;

	pthread_mutex_lock(&table->lock);
	place = place_of(table, value);
	handle->value = value;
	handle->next = *place;
	*place = handle;
	pthread_mutex_unlock(&table->lock);
}

/**
 * iot_mpi_handle_remove() - forget one that MPI is about to free
 * @table: of its kind
 * @handle: what was known of it; nothing happens if it is not there
 */
void iot_mpi_handle_remove(struct iot_mpi_handles *table, struct iot_mpi_handle *handle)
{
	struct iot_mpi_handle **place;

	pthread_mutex_lock(&table->lock);
	for (place = place_of(table, handle->value); *place && *place != handle;)
		place = &(*place)->next;
	if (*place)
		*place = handle->next;
	pthread_mutex_unlock(&table->lock);
}
