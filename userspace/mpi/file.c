// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - records to a separate trace of the process if there are no kernel modules.
 *
 * The trace is written through mappings of the file, in chunks that are open: a record becomes
 * visible to every reader with its first eight bytes, which are written last. So the death of the
 * process loses nothing, and a record costs no system call. The file of a process that died lacks
 * only the index and the record of its end.
 *
 * Each thread has a stream, and so a chunk, of its own; the stream of a thread that ended
 * passes to the next thread that begins. No descriptor is kept: programs close those that they
 * do not know.
 *
 * Locking: the lock is held to begin and to end chunks and streams, never for a record.
 */
#include "shim.h"

#include "core/crc32c.h"
#include "lib/iotape.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FIRST_CHUNK_BYTES (64 << 10)
#define CHUNK_BYTES	  (256 << 10)
#define LOST_BETWEEN_TRIES 4096

/**
 * struct stream - the records of one thread at a time
 * @task: the thread's id
 * @ops: number of the thread's last operation
 * @map: its chunk, @map_bytes long, from the page in which the chunk begins
 * @at: where the next record goes; it must end before @stop, behind which there is room for
 *	the last record of the trace
 * @entry: of the chunk in the index
 * @sequence: records in the chunks before
 * @lost: records of the stream that found no room
 */
struct stream {
	struct stream *next_free;
	u32 number;
	u32 task;
	u32 ops;
	u8 *map;
	size_t map_bytes;
	u8 *at;
	u8 *stop;
	u32 count;
	u64 first_ns;
	u64 last_ns;
	size_t entry;
	u64 sequence;
	u64 lost;
};

static IOT_MPI_THREAD struct stream *mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static char path[PATH_MAX];
static u64 file_bytes;
static struct stream **streams;
static u32 stream_count;
static struct stream *free_streams;
static struct iot_index_entry *entries;
static size_t entry_count, entry_room;

/* -- the file -------------------------------------------------------------------------------- */

static int write_all(int fd, const void *data, size_t bytes, u64 offset_bytes)
{
	const u8 *p = data;
	ssize_t n;

	for (; bytes; bytes -= (size_t)n, p += n, offset_bytes += (u64)n) {
		n = pwrite(fd, p, bytes, (off_t)offset_bytes);
		if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

/*
 * Allocate the space in advance: a store to a mapping cannot report a full disk. Writing zeros
 * costs less than fallocate(2), whose pages the kernel would read before the first store.
 */
static int make_room(int fd, u64 offset_bytes, size_t bytes)
{
	static u8 zeros[64 << 10];
	size_t n;
	int err = 0;

	for (; bytes && !err; bytes -= n, offset_bytes += n) {
		n = bytes < sizeof(zeros) ? bytes : sizeof(zeros);
		err = write_all(fd, zeros, n, offset_bytes);
	}
	return err;
}

static u64 wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static int write_head(int fd, u64 begin_ns)
{
	struct iot_trace_head head = {
		.magic = IOT_TRACE_MAGIC,
		.major = cpu_to_le16(IOT_TRACE_MAJOR),
		.head_bytes = cpu_to_le16(sizeof(head)),
		.features_compat = cpu_to_le32(IOT_TRACE_STATES),
		.real_ns = cpu_to_le64(wall_ns() - (iot_mpi_now_ns() - begin_ns)),
		.mono_ns = cpu_to_le64(begin_ns),
	};
	char *schema;
	size_t bytes;
	int err = iot_schema_print(&schema, &bytes);

	if (err)
		return err;
	if (getrandom(head.capture, sizeof(head.capture), 0) < 0)
		memcpy(head.capture, &head.mono_ns, sizeof(head.mono_ns));
	head.schema_bytes = cpu_to_le32((u32)bytes);
	head.schema_crc = cpu_to_le32(iot_crc32c(0, schema, bytes));
	head.head_crc = cpu_to_le32(iot_crc32c(0, &head, offsetof(struct iot_trace_head, head_crc)));
	err = write_all(fd, &head, sizeof(head), 0);
	if (!err)
		err = write_all(fd, schema, bytes, sizeof(head));
	free(schema);
	file_bytes = sizeof(head) + bytes;
	return err;
}

static int write_chunk_head(int fd, struct iot_chunk_head *head)
{
	head->magic = cpu_to_le32(IOT_CHUNK_MAGIC);
	head->head_crc = cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_chunk_head, head_crc)));
	return write_all(fd, head, sizeof(*head), file_bytes);
}

static int open_file(int flags)
{
	return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/* -- chunks ---------------------------------------------------------------------------------- */

static int reserve_entry(void)
{
	size_t room = entry_room ? 2 * entry_room : 64;
	struct iot_index_entry *bigger;

	if (entry_count < entry_room)
		return 0;
	bigger = realloc(entries, room * sizeof(*entries));
	if (!bigger)
		return -ENOMEM;
	entries = bigger;
	entry_room = room;
	return 0;
}

/* Children have no mappings: their programs do not belong to the job. */
static int map_chunk(struct stream *stream, int fd, size_t bytes)
{
	u64 page_bytes = (u64)sysconf(_SC_PAGESIZE), begin_bytes = file_bytes & ~(page_bytes - 1);
	size_t skipped = (size_t)(file_bytes - begin_bytes);

	stream->map_bytes = skipped + sizeof(struct iot_chunk_head) + bytes;
	stream->map = mmap(NULL, stream->map_bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, (off_t)begin_bytes);
	if (stream->map == MAP_FAILED) {
		stream->map = NULL;
		return -errno;
	}
	madvise(stream->map, stream->map_bytes, MADV_POPULATE_WRITE); /* else page by page */
	madvise(stream->map, stream->map_bytes, MADV_DONTFORK);
	stream->at = stream->map + skipped + sizeof(struct iot_chunk_head);
	stream->stop = stream->at + bytes - IOT_WIRE_end;
	return 0;
}

/* The index entry of a chunk is complete when the chunk is closed. */
static void leave_chunk(const struct stream *stream)
{
	struct iot_index_entry *entry;

	if (!stream->map)
		return;
	entry = &entries[stream->entry];
	entry->count = cpu_to_le32(stream->count);
	entry->first_ns = cpu_to_le64(stream->first_ns);
	entry->last_ns = cpu_to_le64(stream->last_ns);
	munmap(stream->map, stream->map_bytes);
}

/*
 * At the end of the file. First comes the head: a file that ends behind it ends in the middle
 * of a chunk, which every reader knows.
 */
static int add_chunk(struct stream *stream, int fd)
{
	size_t bytes = stream->sequence ? CHUNK_BYTES : FIRST_CHUNK_BYTES;
	struct iot_chunk_head head = {
		.type = IOT_CHUNK_OPEN,
		.stored_bytes = cpu_to_le32((u32)bytes),
		.raw_bytes = cpu_to_le32((u32)bytes),
		.stream = cpu_to_le32(stream->number),
		.sequence = cpu_to_le64(stream->sequence),
		.lost = cpu_to_le64(stream->lost),
	};
	int err = reserve_entry();

	if (!err)
		err = write_chunk_head(fd, &head);
	if (!err)
		err = make_room(fd, file_bytes + sizeof(head), bytes);
	if (!err)
		err = map_chunk(stream, fd, bytes);
	if (err) {
		if (ftruncate(fd, (off_t)file_bytes))
			return -errno;
		return err;
	}
	stream->entry = entry_count;
	entries[entry_count++] = (struct iot_index_entry){
		.offset_bytes = cpu_to_le64(file_bytes),
		.stream = head.stream,
	};
	file_bytes += sizeof(head) + bytes;
	return 0;
}

/* Without room for another chunk the stream stays in the one that it has. */
static int next_chunk(struct stream *stream)
{
	struct stream old = *stream;
	int saved = errno, fd, err;

	pthread_mutex_lock(&lock);
	stream->sequence += stream->count;
	fd = open_file(0);
	err = fd < 0 ? -errno : add_chunk(stream, fd);
	if (fd >= 0)
		close(fd);
	if (err) {
		*stream = old;
	} else {
		leave_chunk(&old);
		stream->count = 0;
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
	return err;
}

/* -- records --------------------------------------------------------------------------------- */

/* Where there was no room there may be some again, but to ask for it each time is slow. */
static bool has_room(struct stream *stream, size_t bytes)
{
	if (stream->at + bytes <= stream->stop)
		return true;
	if (!(stream->lost % LOST_BETWEEN_TRIES) && !next_chunk(stream))
		return true;
	stream->lost++;
	return false;
}

/* A record is a record once its head is there. */
static void put(struct stream *stream, const u8 *record, size_t bytes, u64 now_ns)
{
	u64 head;

	if (!has_room(stream, bytes))
		return;
	memcpy(stream->at + sizeof(head), record + sizeof(head), bytes - sizeof(head));
	memcpy(&head, record, sizeof(head));
	asm volatile("" ::: "memory");
	memcpy(stream->at, &head, sizeof(head));
	stream->at += bytes;
	stream->last_ns = now_ns;
	if (!stream->count++)
		stream->first_ns = now_ns;
}

static void put_task(struct stream *stream)
{
	struct iot_rec_task task = {
		.time_ns = iot_mpi_now_ns(),
		.task = stream->task,
		.pid = stream->task,
		.tgid = (u32)getpid(),
		.uid = geteuid(),
		.gid = getegid(),
		.why = IOT_REASON_seen,
	};
	const char *name = program_invocation_short_name;
	u8 wire[IOT_WIRE_task + 64];
	u16 bytes = (u16)strnlen(name, 64);

	iot_put_task(wire, &task, name, bytes);
	put(stream, wire, (size_t)(IOT_WIRE_task + bytes), task.time_ns);
}

static void put_text(struct stream *stream, const char *name, const char *value)
{
	struct iot_rec_fact fact = { .time_ns = iot_mpi_now_ns() };
	u8 wire[IOT_WIRE_fact + 512];
	char text[512];
	int bytes = snprintf(text, sizeof(text), "%s=%s", name, value);

	if (bytes >= (int)sizeof(text))
		bytes = sizeof(text) - 1;
	iot_put_fact(wire, &fact, text, (u16)bytes);
	put(stream, wire, (size_t)(IOT_WIRE_fact + bytes), fact.time_ns);
}

static struct stream *new_stream(void)
{
	struct stream **bigger = realloc(streams, (stream_count + 1) * sizeof(*streams));
	struct stream *stream = bigger ? calloc(1, sizeof(*stream)) : NULL;

	if (bigger)
		streams = bigger;
	if (stream) {
		stream->number = stream_count;
		streams[stream_count++] = stream;
	}
	return stream;
}

/* The stream of a thread that has none; NULL if out of memory. */
static struct stream *begin_stream(void)
{
	struct stream *stream;

	pthread_mutex_lock(&lock);
	stream = free_streams;
	if (stream)
		free_streams = stream->next_free;
	else
		stream = new_stream();
	pthread_mutex_unlock(&lock);
	if (!stream)
		return NULL;
	stream->task = (u32)syscall(SYS_gettid);
	stream->ops = 0;
	mine = stream;
	iot_mpi_ops = &stream->ops;
	pthread_setspecific(key, stream);
	put_task(stream);
	return stream;
}

static void end_stream(void *argument)
{
	struct stream *stream = argument;

	mine = NULL;
	iot_mpi_ops = NULL;
	pthread_mutex_lock(&lock);
	stream->next_free = free_streams;
	free_streams = stream;
	pthread_mutex_unlock(&lock);
}

/**
 * iot_mpi_file_write() - put a record into the trace of the process
 * @record: encoded; task and time are filled in
 * @bytes: its length
 */
void iot_mpi_file_write(u8 *record, size_t bytes)
{
	struct stream *stream = mine;
	u64 now_ns;

	if (__builtin_expect(!stream, 0)) {
		int saved = errno;

		stream = begin_stream();
		errno = saved;
		if (!stream)
			return;
	}
	now_ns = iot_mpi_record_end(record, stream->task, &stream->ops);
	put(stream, record, bytes, now_ns);
}

/* -- beginning and end ----------------------------------------------------------------------- */

static void put_facts(struct stream *stream, const char *host)
{
	const char *job = getenv("IOTAPE_JOB");
	char boot[64] = "", text[32];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? 0 : read(fd, boot, sizeof(boot) - 1);

	if (fd >= 0)
		close(fd);
	boot[bytes > 0 ? strcspn(boot, "\n") : 0] = 0;
	snprintf(text, sizeof(text), "%d", (int)getpid());
	put_text(stream, "host", host);
	put_text(stream, "boot", boot);
	put_text(stream, "pid", text);
	put_text(stream, "mpi.shim", IOT_MPI_NAME);
	put_text(stream, "mpi.version", IOTAPE_VERSION);
	if (job && job[0])
		put_text(stream, "job", job);
}

static int make_file(const char *dir, const char *host, u64 begin_ns)
{
	char full[PATH_MAX];
	int fd, err;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return -errno;
	if (!realpath(dir, full))
		return -errno;
	if (snprintf(path, sizeof(path), "%s/%s.%d.iot", full, host, (int)getpid()) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = open_file(O_CREAT | O_EXCL);
	if (fd < 0)
		return -errno;
	err = write_head(fd, begin_ns);
	close(fd);
	return err;
}

/**
 * iot_mpi_file_open() - begin the trace of the process
 * @dir: directory, created if missing
 * @begin_ns: when MPI began
 * @where: out: the object that caused an error
 *
 * Return: 0 or a negative errno.
 */
int iot_mpi_file_open(const char *dir, u64 begin_ns, const char **where)
{
	struct utsname name;
	int err;

	*where = dir;
	uname(&name);
	name.nodename[strcspn(name.nodename, "/")] = 0;
	err = make_file(dir, name.nodename, begin_ns);
	if (err) {
		if (path[0])
			*where = path;
		return err;
	}
	*where = path;
	err = -pthread_key_create(&key, end_stream);
	if (err)
		return err;
	if (!begin_stream() || !mine->map)
		return -ENOSPC;
	put_facts(mine, name.nodename);
	return 0;
}

/* Counts of records written and lost: in the stream of the process that ends the trace. */
static void put_end(struct stream *stream)
{
	struct iot_rec_end end = { .time_ns = iot_mpi_now_ns() };
	u8 wire[IOT_WIRE_end];
	u32 i;

	for (i = 0; i < stream_count; i++) {
		end.records += streams[i]->sequence + streams[i]->count;
		end.lost += streams[i]->lost;
	}
	iot_put_end(wire, &end, "", 0);
	if (stream->map)
		stream->stop += sizeof(wire);
	put(stream, wire, sizeof(wire), end.time_ns);
}

static void write_index(int fd)
{
	size_t bytes = entry_count * sizeof(*entries);
	struct iot_chunk_head head = {
		.type = IOT_CHUNK_INDEX,
		.stored_bytes = cpu_to_le32((u32)bytes),
		.raw_bytes = cpu_to_le32((u32)bytes),
		.count = cpu_to_le32((u32)entry_count),
		.payload_crc = cpu_to_le32(iot_crc32c(0, entries, bytes)),
	};
	u64 index_bytes = file_bytes;

	if (write_chunk_head(fd, &head) || write_all(fd, entries, bytes, file_bytes + sizeof(head)))
		return; /* torn, which readers know */
	file_bytes += sizeof(head) + bytes;
	head = (struct iot_chunk_head){
		.type = IOT_CHUNK_TRAILER,
		.sequence = cpu_to_le64(index_bytes),
	};
	write_chunk_head(fd, &head);
}

/**
 * iot_mpi_file_close() - end the trace
 * @is_complete: the process has finished MPI; false in a child made by fork(2), which has
 *	nothing mapped and leaves the file alone
 *
 * No other thread may be in an MPI call.
 */
void iot_mpi_file_close(bool is_complete)
{
	u32 i;
	int fd;

	if (!is_complete || !mine)
		return;
	put_end(mine);
	pthread_mutex_lock(&lock);
	for (i = 0; i < stream_count; i++)
		leave_chunk(streams[i]);
	fd = open_file(0);
	if (fd >= 0) {
		write_index(fd);
		close(fd);
	}
	pthread_mutex_unlock(&lock);
}
