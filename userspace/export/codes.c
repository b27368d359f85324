// SPDX-License-Identifier: GPL-2.0-only
/*
 * codes.c - a directory of logs for CODES, a simulator of storage systems: its workload method recorder_io_workload.
 *
 * Source of the format: the reader, src/workload/methods/codes-recorder-io-wrkld.c of CODES. It reads the file log.RANK of each
 * rank, and creates delays from the times. Some of its properties shape the logs:
 *
 * - Times count from the first line that has one, which is of a call that it ignores here.
 * - A BARRIER has no time, and the time starts again after it.
 * - It adds a barrier before each open without O_CREAT: each open has this flag.
 * - It reads 2,048 operations of a rank, and no log without an open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#define OPERATIONS_MAX 2048
#define LOST_BEHIND    "CODES reads the first 2048 operations of a rank"
#define FLAG_CREATE    64 /* O_CREAT as a number, as CODES reads it */
#define FIRST_FD       3
#define NS_IN_S	       1000000000ull

struct codes_handle {
	UT_hash_handle hh;
	u64 id;
	u32 fd;
};

/**
 * struct codes_log - the log of a rank, or of a process if there is no MPI
 * @number: of the rank or process
 * @world: communicator of all ranks: that of its first collective call
 * @base_ns: end of its last barrier
 */
struct codes_log {
	UT_hash_handle hh;
	u64 id;
	u32 number;
	u64 world;
	u64 base_ns;
	u32 operations;
	u32 fds;
	struct codes_handle *handles;
	FILE *out;
	char *text;
	size_t bytes;
};

struct codes {
	struct codes_log *logs;
};

static int begin(struct export *x)
{
	x->context = calloc(1, sizeof(struct codes));
	return x->context ? 0 : -ENOMEM;
}

/* NULL if out of memory. */
static struct codes_log *log_of(struct codes *codes, const struct export_event *e)
{
	bool is_rank = e->actor && e->actor->rank != ACTOR_UNKNOWN;
	u64 id = is_rank ? e->actor->rank : (e->actor ? actor_process(e->actor) : iot_record_task(e->record)) | 1ull << 63;
	struct codes_log *log;

	HASH_FIND(hh, codes->logs, &id, sizeof(id), log);
	if (log)
		return log;
	log = calloc(1, sizeof(*log));
	if (!log)
		return NULL;
	log->id = id;
	log->number = is_rank ? e->actor->rank : UINT32_MAX;
	log->fds = FIRST_FD;
	log->out = open_memstream(&log->text, &log->bytes);
	if (!log->out) {
		free(log);
		return NULL;
	}
	HASH_ADD(hh, codes->logs, id, sizeof(log->id), log);
	return log;
}

static struct codes_handle *handle_of(struct codes_log *log, u64 id)
{
	struct codes_handle *handle;

	HASH_FIND(hh, log->handles, &id, sizeof(id), handle);
	return handle;
}

/* -- lines ------------------------------------------------------------------------------------------------ */

static void put_seconds(FILE *out, u64 ns)
{
	fprintf(out, "%llu.%09llu", (unsigned long long)(ns / NS_IN_S), (unsigned long long)(ns % NS_IN_S));
}

static void begin_line(struct codes_log *log, const struct export_event *e, const char *call)
{
	put_seconds(log->out, NS_IN_S + (e->begin_ns > log->base_ns ? e->begin_ns - log->base_ns : 0));
	fprintf(log->out, " %s (", call);
	log->operations++;
}

static void end_line(const struct codes_log *log, const struct export_event *e, long long result)
{
	fprintf(log->out, ") %lld ", result);
	put_seconds(log->out, e->duration_ns);
	fputc('\n', log->out);
}

/* CODES divides lines at blanks, commas and parentheses, and uses the hash of a name only. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		if (*name <= ' ' || *name >= 127 || strchr("(),%", *name))
			fprintf(out, "%%%02X", (unsigned char)*name);
		else
			fputc(*name, out);
}

/* -- operations ------------------------------------------------------------------------------------------- */

static int take_open(struct export *x, struct codes_log *log, const struct export_event *e)
{
	struct codes_handle *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return -ENOMEM;
	if (!*e->path || e->record->open.flags & IOT_OPEN_directory || handle_of(log, e->record->open.handle)) {
		free(handle);
		export_lose(x, e, *e->path ? EXPORT_NO_FORM : EXPORT_NO_PATH);
		return 0;
	}
	*handle = (struct codes_handle){ .id = e->record->open.handle, .fd = log->fds++ };
	HASH_ADD(hh, log->handles, id, sizeof(handle->id), handle);
	begin_line(log, e, "open");
	put_name(log->out, e->path);
	fprintf(log->out, ", %d, %u", FLAG_CREATE, e->record->open.mode);
	end_line(log, e, handle->fd);
	return 0;
}

static void take_release(struct export *x, struct codes_log *log, const struct export_event *e)
{
	struct codes_handle *handle = handle_of(log, e->record->release.handle);

	if (!handle) {
		export_lose(x, e, EXPORT_NO_FORM);
		return;
	}
	begin_line(log, e, "close");
	fprintf(log->out, "%u", handle->fd);
	end_line(log, e, 0);
	HASH_DEL(log->handles, handle);
	free(handle);
}

static void put_part(struct codes_log *log, const struct export_event *e, bool is_write, u32 fd, s64 offset)
{
	begin_line(log, e, is_write ? "write" : "read");
	fprintf(log->out, "%u, 0, %lld, %lld", fd, (long long)e->result, (long long)offset);
	end_line(log, e, e->result);
}

/* Each part takes the share of the time that it has of the bytes. */
static u64 time_until(const struct export_event *e, u64 bytes)
{
	return (u64)((unsigned __int128)e->duration_ns * bytes / (u64)e->result);
}

static struct export_event part_of(const struct export_event *e, u64 from_bytes, u64 bytes)
{
	struct export_event part = *e;

	part.begin_ns = e->begin_ns + time_until(e, from_bytes);
	part.duration_ns = time_until(e, from_bytes + bytes) - time_until(e, from_bytes);
	part.result = (s64)bytes;
	return part;
}

static void put_data(struct export *x, struct codes_log *log, const struct export_event *e, bool is_write, u64 handle_id, s64 offset)
{
	const struct codes_handle *handle = handle_of(log, handle_id);
	u64 total = (u64)e->result, most = x->options->max_block_bytes ?: total, done;

	if (!handle || !e->result) {
		export_lose(x, e, handle ? "they move no bytes" : "the rank has not opened their file");
		return;
	}
	if ((total - 1) / most + 1 > OPERATIONS_MAX - log->operations) {
		export_lose(x, e, LOST_BEHIND);
		return;
	}
	for (done = 0; done < total; done += most) {
		struct export_event part = part_of(e, done, total - done < most ? total - done : most);

		put_part(log, &part, is_write, handle->fd, offset + (s64)done);
	}
}

static void take_collective(struct export *x, struct codes_log *log, const struct export_event *e)
{
	const struct iot_rec_mpi_coll *r = &e->record->mpi_coll;

	if (!log->world)
		log->world = r->comm;
	if (r->call != IOT_CALL_barrier || r->comm != log->world) {
		export_lose(x, e, EXPORT_NO_FORM);
		return;
	}
	fputs("BARRIER\n", log->out);
	log->operations++;
	log->base_ns = e->begin_ns + e->duration_ns;
}

static int take(struct export *x, const struct export_event *e)
{
	const struct iot_record *r = e->record;
	struct codes_log *log;

	if (x->actors.has_ranks && (!e->actor || e->actor->rank == ACTOR_UNKNOWN)) {
		export_lose(x, e, "their task is not a rank");
		return 0;
	}
	log = log_of(x->context, e);
	if (!log)
		return -ENOMEM;
	if (e->info->group == IOT_GROUP_op && e->result < 0) {
		export_lose(x, e, EXPORT_FAILED);
		return 0;
	}
	if (log->operations >= OPERATIONS_MAX) {
		export_lose(x, e, LOST_BEHIND);
		return 0;
	}
	switch (r->kind) {
	case IOT_KIND_open:
		return take_open(x, log, e);
	case IOT_KIND_release:
		take_release(x, log, e);
		return 0;
	case IOT_KIND_read:
		put_data(x, log, e, false, r->read.handle, r->read.offset_bytes);
		return 0;
	case IOT_KIND_write:
		put_data(x, log, e, true, r->write.handle, r->write.offset_bytes);
		return 0;
	case IOT_KIND_submit:
		put_data(x, log, e, r->submit.flags & IOT_RW_write, r->submit.handle, r->submit.offset_bytes);
		return 0;
	case IOT_KIND_mpi_coll:
		take_collective(x, log, e);
		return 0;
	default:
		export_lose(x, e, EXPORT_NO_FORM);
		return 0;
	}
}

/* -- files ------------------------------------------------------------------------------------------------- */

static int write_log(const struct export *x, const struct codes_log *log, u32 number)
{
	char path[PATH_MAX + 16], real[PATH_MAX];
	FILE *file;
	int fd, err;

	snprintf(path, sizeof(path), "%s/log.%u", x->options->directory, number);
	fd = iot_output_open(path, real);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return fd < 0 ? fd : -errno;
	fputs("1.000000000 iotape () 0 0.000000000\n", file);
	if (log->fds == FIRST_FD)
		fprintf(file, "1.000000000 open (none, %d, 0) %d 0.000000000\n1.000000000 close (%d) 0 0.000000000\n", FLAG_CREATE, FIRST_FD,
			FIRST_FD);
	fwrite(log->text, 1, log->bytes, file);
	err = ferror(file) || fflush(file) ? -EIO : 0;
	return fclose(file) && !err ? -EIO : err;
}

/* Without MPI, the processes with operations are numbered in the order of their first ones. */
static int end(struct export *x)
{
	struct codes *codes = x->context;
	struct codes_log *log;
	u32 count = 0;
	int err = 0;

	for (log = codes->logs; log && !err; log = log->hh.next) {
		if (fflush(log->out))
			err = -ENOMEM;
		else if (log->number != UINT32_MAX)
			err = write_log(x, log, log->number);
		else if (log->operations)
			err = write_log(x, log, count++);
	}
	return err;
}

static void codes_free(struct export *x)
{
	struct codes *codes = x->context;
	struct codes_handle *handle, *next_handle;
	struct codes_log *log, *next;

	if (!codes)
		return;
	HASH_ITER (hh, codes->logs, log, next) {
		HASH_ITER (hh, log->handles, handle, next_handle) {
			HASH_DEL(log->handles, handle);
			free(handle);
		}
		HASH_DEL(codes->logs, log);
		fclose(log->out);
		free(log->text);
		free(log);
	}
	free(codes);
}

const struct export_format export_format_codes = {
	.name = "codes",
	.sentence = "a directory of logs for the simulator CODES, method recorder_io_workload",
	.is_ordered = true,
	.has_requests = true,
	.is_directory = true,
	.begin = begin,
	.take = take,
	.end = end,
	.free = codes_free,
};
