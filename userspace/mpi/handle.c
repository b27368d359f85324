// SPDX-License-Identifier: GPL-2.0-only
/*
 * handle.c - communicators and windows that the shim knows, by their handles.
 *
 * MPI could be queried, but a query with a handle that MPI does not accept calls the program's
 * error handler, which may end the program. So the shim queries only handles that MPI has accepted
 * in the program's own call.
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
 * iot_mpi_handle_find() - the state of a handle
 * @table: of its kind
 * @value: it
 *
 * Return: the state, or NULL if the handle is unknown.
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
 * iot_mpi_handle_add() - add a handle that MPI has just created
 * @table: of its kind
 * @handle: the first member of its state; owned by the caller
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
 * iot_mpi_handle_remove() - remove a handle that MPI is about to free
 * @table: of its kind
 * @handle: its state; no effect if it is not in the table
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
