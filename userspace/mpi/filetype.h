/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filetype.h - the bytes that a datatype selects, as blocks at regular distances.
 */
#ifndef IOT_MPI_FILETYPE_H
#define IOT_MPI_FILETYPE_H

#include "shim.h"

#define IOT_MPI_NEST_LEVELS 3
#define IOT_MPI_NESTS_MAX   64	 /* that are recorded */
#define IOT_MPI_NESTS_ROOM  4096 /* while a datatype is read */

/**
 * struct iot_mpi_nest - a block of bytes, and its repetitions
 * @first: its offset
 * @block_bytes: its length
 * @counts, @strides: repetitions, the innermost first; a count of 1 has a stride of 0
 */
struct iot_mpi_nest {
	s64 first;
	u64 block_bytes;
	u64 counts[IOT_MPI_NEST_LEVELS];
	s64 strides[IOT_MPI_NEST_LEVELS];
};

/**
 * struct iot_mpi_nests - all bytes of a datatype, in the order of the data
 * @items: they, @count of them; to be freed by the caller
 * @is_unknown: the datatype has too many parts, or is of an unknown kind
 */
struct iot_mpi_nests {
	struct iot_mpi_nest *items;
	size_t count;
	size_t room;
	bool is_unknown;
};

void iot_mpi_filetype_read(MPI_Datatype type, struct iot_mpi_nests *nests);

#endif
