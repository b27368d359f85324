// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.c - files of MPI: opened together, read and written alone or together.
 *
 * A file has a key like a communicator's, and its collective calls have numbers of their own.
 * It is announced as a communicator, with the ranks of the one that it was opened on.
 *
 * Operations of MPI on files are recorded by the kernel, and nested in the call. So
 * each call that has begun has a record, even if it fails.
 */
#include "filetype.h"

#include <pthread.h>
#include <stdlib.h>

/* An open file. */
struct file {
	struct file *next;
	MPI_File handle;
	struct iot_mpi_comm state;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *list;

static void remember(struct file *file)
{
	pthread_mutex_lock(&lock);
	file->next = list;
	list = file;
	pthread_mutex_unlock(&lock);
}

/* Return: NULL if the file is not known, or nothing is recorded. */
static struct file *find(MPI_File handle)
{
	struct file *file;

	if (!iot_mpi_is_on())
		return NULL;
	pthread_mutex_lock(&lock);
	for (file = list; file && file->handle != handle; file = file->next)
		;
	pthread_mutex_unlock(&lock);
	return file;
}

static void forget(struct file *file)
{
	struct file **place;

	pthread_mutex_lock(&lock);
	for (place = &list; *place != file; place = &(*place)->next)
		;
	*place = file->next;
	pthread_mutex_unlock(&lock);
	free(file);
}

/* A call on a file that may have to be recorded: as a collective, whose number may be 0. */
static bool begin(struct iot_mpi_collective *call, MPI_File handle, bool is_all)
{
	u64 enter_ns = iot_mpi_is_on() ? iot_mpi_now_ns() : 0;
	struct file *file = find(handle);

	if (!file)
		return false;
	*call = (struct iot_mpi_collective){ .enter_ns = enter_ns, .comm = file->state.key };
	if (is_all)
		iot_mpi_collective_begin(call, enter_ns, &file->state);
	call->op = iot_mpi_op_begin();
	return true;
}

/* @record: what the arguments of the call state. @path: of a call that opens a file. */
static void end(const struct iot_mpi_collective *call, struct iot_rec_mpi_file record, const char *path, int rc)
{
	u8 wire[IOT_WIRE_mpi_file + IOT_MPI_NAME_MAX_BYTES];
	u16 bytes = (u16)(path ? strnlen(path, IOT_MPI_NAME_MAX_BYTES) : 0);

	record.enter_ns = call->enter_ns;
	record.op = call->op;
	record.last_op = iot_mpi_op_last(call->op);
	record.result = iot_mpi_result(rc);
	record.file = call->comm;
	record.number = call->number;
	iot_put_mpi_file(wire, &record, path, bytes);
	iot_mpi_session_write(wire, (size_t)(IOT_WIRE_mpi_file + bytes));
}

/* The numbers of MPI libraries differ. */
static u32 whence_of(int whence)
{
	switch (whence) {
	case MPI_SEEK_SET:
		return IOT_MPI_WHENCE_set;
	case MPI_SEEK_CUR:
		return IOT_MPI_WHENCE_cur;
	case MPI_SEEK_END:
		return IOT_MPI_WHENCE_end;
	default: /* MPI rejects it */
		return IOT_MPI_WHENCE_unknown;
	}
}

/* The parts of a view that was set. Of another representation, the sizes in the file are not those of the datatypes. */
static void announce_view(u64 key, int rc, MPI_Offset first, MPI_Datatype element, MPI_Datatype type, const char *representation)
{
	struct iot_mpi_nests nests;
	MPI_Aint low = 0, extent = 0;
	int unit_bytes = 0;
	u32 i;

	if (rc || first == MPI_DISPLACEMENT_CURRENT || strcmp(representation, "native"))
		return;
	iot_mpi_filetype_read(type, &nests);
	iot_mpi_found.PMPI_Type_get_extent(type, &low, &extent);
	iot_mpi_found.PMPI_Type_size(element, &unit_bytes);
	for (i = 0; i < nests.count && !nests.is_unknown; i++) {
		const struct iot_mpi_nest *nest = &nests.items[i];

		IOT_MPI_EMIT(mpi_view, .comm = key, .part = i, .parts = (u32)nests.count, .begin_bytes = first,
			     .unit_bytes = (u64)unit_bytes, .extent_bytes = extent, .first_bytes = nest->first,
			     .block_bytes = nest->block_bytes, .inner_count = nest->counts[0], .inner_bytes = nest->strides[0],
			     .middle_count = nest->counts[1], .middle_bytes = nest->strides[1], .outer_count = nest->counts[2],
			     .outer_bytes = nest->strides[2]);
	}
	free(nests.items);
}

/* @fields: of the record. @after: once the call is recorded. */
#define DEFINE(name, call_name, is_all, parameters, arguments, fields, after)             \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_collective call;                                           \
		bool is_known = begin(&call, file, is_all);                               \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                        \
                                                                                          \
		if (is_known) {                                                           \
			end(&call, (struct iot_rec_mpi_file){ .call = IOT_CALL_##call_name, FIELDS fields }, NULL, rc); \
			after;                                                            \
		}                                                                         \
		return rc;                                                                \
	}
#define FIELDS(...) __VA_ARGS__
#define LENGTH_BYTES (rc ? 0 : iot_mpi_length_bytes(count, type))

#define DEFINE_DATA(name, call, is_all, parameters, arguments) \
	DEFINE(name, call, is_all, parameters, arguments, (.place = -1, .length_bytes = LENGTH_BYTES), (void)0)
#define DEFINE_DATA_AT(name, call, is_all, parameters, arguments) \
	DEFINE(name, call, is_all, parameters, arguments, (.place = offset, .length_bytes = LENGTH_BYTES), (void)0)
#define DEFINE_PLAIN(name, call, is_all, parameters, arguments) \
	DEFINE(name, call, is_all, parameters, arguments, (.place = -1), (void)0)
#define DEFINE_PLACE(name, call, is_all, parameters, arguments) \
	DEFINE(name, call, is_all, parameters, arguments, (.place = offset), (void)0)
#define DEFINE_SEEK(name, call, is_all, parameters, arguments) \
	DEFINE(name, call, is_all, parameters, arguments, (.place = offset, .whence = whence_of(whence)), (void)0)
#define DEFINE_VIEW(name, call_name, is_all, parameters, arguments)      \
	DEFINE(name, call_name, is_all, parameters, arguments, (.place = -1), \
	       announce_view(call.comm, rc, first, element, type, representation))

IOT_MPI_FILE_WAITING(DEFINE_DATA, DEFINE_DATA_AT)
IOT_MPI_FILE_PLAIN(DEFINE_PLAIN)
IOT_MPI_FILE_PLACES(DEFINE_PLACE)
IOT_MPI_FILE_SEEKS(DEFINE_SEEK)
IOT_MPI_FILE_VIEW(DEFINE_VIEW)

static void posted(const struct iot_mpi_collective *call, struct iot_rec_mpi_file record, const MPI_Request *handle, int rc)
{
	struct iot_mpi_request request = { .id = rc ? 0 : iot_mpi_request_new(), .is_as_asked = true, .peer = -1, .tag = -1 };

	record.request = request.id;
	end(call, record, NULL, rc);
	if (!rc)
		iot_mpi_request_add(*handle, &request);
}

#define DEFINE_REQUEST(name, call_name, is_all, parameters, arguments, at)                \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_collective call;                                           \
		bool is_known = begin(&call, file, is_all);                               \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                        \
                                                                                          \
		if (is_known)                                                             \
			posted(&call, (struct iot_rec_mpi_file){ .call = IOT_CALL_##call_name, .place = at, .length_bytes = LENGTH_BYTES }, \
			       request, rc);                                              \
		else if (!rc)                                                             \
			iot_mpi_request_skip(*request);                                   \
		return rc;                                                                \
	}
#define DEFINE_IDATA(name, call, is_all, parameters, arguments) \
	DEFINE_REQUEST(name, call, is_all, parameters, arguments, -1)
#define DEFINE_IDATA_AT(name, call, is_all, parameters, arguments) \
	DEFINE_REQUEST(name, call, is_all, parameters, arguments, offset)

IOT_MPI_FILE_REQUESTS(DEFINE_IDATA, DEFINE_IDATA_AT)

/* The name goes with the record of the call that opened it, or did not. */
static void tried(const struct iot_mpi_collective *call, const char *path, int rc)
{
	end(call, (struct iot_rec_mpi_file){ .call = IOT_CALL_file_open, .place = -1 }, path, rc);
}

/* A failed open yields no file: its record has no number, and no rank waits for it. */
static void opened(struct iot_mpi_collective *call, MPI_File handle,
		   const struct iot_mpi_comm *parent, const char *path)
{
	struct file *file = calloc(1, sizeof(*file));

	if (file) {
		file->handle = handle;
		file->state = iot_mpi_comm_like(parent, call->comm);
		iot_mpi_comm_announce(&file->state, parent->origin);
		call->number = ++file->state.collectives;
		remember(file);
	}
	tried(call, path, MPI_SUCCESS);
}

int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *handle)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_collective call = { .enter_ns = iot_mpi_is_on() ? iot_mpi_now_ns() : 0 };
	struct iot_mpi_comm *parent = iot_mpi_comm_find(comm);
	int rc, saved;

	if (!parent)
		return IOT_MPI_BELOW(mpi->MPI_File_open(comm, path, mode, info, handle));
	call.comm = iot_mpi_comm_child(parent);
	call.op = iot_mpi_op_begin();
	rc = IOT_MPI_BELOW(mpi->MPI_File_open(comm, path, mode, info, handle));
	saved = errno;
	if (rc)
		tried(&call, path, rc);
	else
		opened(&call, *handle, parent, path);
	errno = saved;
	return rc;
}

int MPI_File_close(MPI_File *handle)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_collective call;
	bool is_known = handle && begin(&call, *handle, true);
	struct file *file = is_known ? find(*handle) : NULL;
	int rc = IOT_MPI_BELOW(mpi->MPI_File_close(handle));

	if (is_known) {
		end(&call, (struct iot_rec_mpi_file){ .call = IOT_CALL_file_close, .place = -1 }, NULL, rc);
		forget(file);
	}
	return rc;
}
