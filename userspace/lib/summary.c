// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * summary.c - the contents of a chunk in a few bytes: kinds, times, tasks, and numbers of operations and bytes.
 *
 * They are beside the index, and a reader skips chunks by them, see skip.c. A trace is not trusted, so a summary may be
 * wrong: then a reader misses records, which iotape verify finds, and nothing else happens.
 */
#include "summary.h"

#include <stdlib.h>

#include "chunk.h"

#define PART_BYTES (1 << 20) /* of summaries in a chunk; at most IOT_CHUNK_MAX_BYTES */

static_assert(sizeof(struct iot_chunk_summary) == 72, "layout of a summary");
static_assert(sizeof(((struct iot_chunk_summary *)0)->kinds) == IOT_KIND_END / 8, "a bit for each kind");

/* -- of records ------------------------------------------------------------------------------------ */

/* Successive records are often of the same task. */
static void add_task(struct iot_summary *summary, u32 task)
{
	u32 low = 0, high = summary->task_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (summary->tasks[middle] == task)
			return;
		if (summary->tasks[middle] < task)
			low = middle + 1;
		else
			high = middle;
	}
	if (summary->task_count == IOT_SUMMARY_TASKS_MAX) {
		summary->has_more_tasks = true;
		return;
	}
	memmove(summary->tasks + low + 1, summary->tasks + low, (summary->task_count - low) * sizeof(task));
	summary->tasks[low] = task;
	summary->task_count++;
}

static void add_unknown(struct iot_summary *summary)
{
	summary->kinds[0] |= 1;
	summary->has_more_tasks = true;
}

static void add_record(struct iot_summary *summary, const struct iot_record *record)
{
	u64 time_ns = record->op.enter_ns; /* the first field of every kind */

	summary->kinds[record->kind / 64] |= 1ull << record->kind % 64;
	if (time_ns < summary->earliest_ns)
		summary->earliest_ns = time_ns;
	if (time_ns > summary->latest_ns)
		summary->latest_ns = time_ns;
	if (!summary->has_more_tasks)
		add_task(summary, iot_record_task(record));
	summary->moved_bytes += iot_record_moved_bytes(record);
	summary->operations += iot_kind_info(record->kind)->group == IOT_GROUP_op && record->kind != IOT_KIND_complete;
}

/**
 * summary_make() - summarize the records of a chunk
 * @summary: out
 * @schema: of the records; NULL: that of this version
 * @records: on the wire; if they are damaged, they count as unknown
 * @bytes: of them
 */
void summary_make(struct iot_summary *summary, const struct iot_schema *schema, const u8 *records, size_t bytes)
{
	struct iot_record record;
	size_t at = 0;
	s32 n;

	*summary = (struct iot_summary){ .earliest_ns = UINT64_MAX };
	while (at < bytes) {
		n = iot_record_decode(records + at, bytes - at, &record);
		if (n < 0 || !iot_kind_info(record.kind)) {
			add_unknown(summary);
			if (n < 0)
				break;
		} else {
			if (schema)
				iot_schema_translate(schema, records + at, &record);
			add_record(summary, &record);
		}
		at += (u32)n;
	}
	if (summary->has_more_tasks)
		summary->task_count = 0;
	if (summary->earliest_ns > summary->latest_ns) /* there is no known record */
		summary->earliest_ns = 0;
}

/**
 * summary_is_equal() - do two summaries state the same?
 * @one: of a trace
 * @other: made of the records
 *
 * A writer may know more or fewer kinds than this version. Of a chunk with a kind that one of them does not know, nothing can be
 * compared.
 */
bool summary_is_equal(const struct iot_summary *one, const struct iot_summary *other)
{
	if ((one->kinds[0] | other->kinds[0]) & 1)
		return true;
	return !memcmp(one->kinds, other->kinds, sizeof(one->kinds)) && one->earliest_ns == other->earliest_ns &&
	       one->latest_ns == other->latest_ns && one->moved_bytes == other->moved_bytes &&
	       one->operations == other->operations && one->has_more_tasks == other->has_more_tasks &&
	       one->task_count == other->task_count &&
	       !memcmp(one->tasks, other->tasks, one->task_count * sizeof(*one->tasks));
}

/* -- as bytes -------------------------------------------------------------------------------------- */

static int reserve(struct summary_list *list, size_t bytes)
{
	size_t room = list->used_bytes + bytes;
	u8 *larger;

	if (room <= list->room_bytes)
		return 0;
	room = room < 4096 ? 4096 : 2 * room;
	larger = realloc(list->bytes, room);
	if (!larger)
		return -ENOMEM;
	list->bytes = larger;
	list->room_bytes = room;
	return 0;
}

/**
 * summary_list_add() - append a summary
 * @list: to be freed by free(@bytes)
 * @summary: of the next chunk
 *
 * Return: 0 or -ENOMEM.
 */
int summary_list_add(struct summary_list *list, const struct iot_summary *summary)
{
	u32 i, bytes = (u32)(sizeof(struct iot_chunk_summary) + summary->task_count * sizeof(__le32));
	struct iot_chunk_summary head = {
		.bytes = cpu_to_le32(bytes),
		.tasks = cpu_to_le32(summary->has_more_tasks ? IOT_SUMMARY_MANY_TASKS : summary->task_count),
		.earliest_ns = cpu_to_le64(summary->earliest_ns),
		.latest_ns = cpu_to_le64(summary->latest_ns),
		.moved_bytes = cpu_to_le64(summary->moved_bytes),
		.operations = cpu_to_le32(summary->operations),
	};
	u8 *p;

	if (reserve(list, bytes))
		return -ENOMEM;
	for (i = 0; i < IOT_KIND_END; i++)
		if (summary->kinds[i / 64] >> i % 64 & 1)
			head.kinds[i / 8] |= (u8)(1 << i % 8);
	p = list->bytes + list->used_bytes;
	memcpy(p, &head, sizeof(head));
	for (i = 0; i < summary->task_count; i++)
		iot_put_u32(p + sizeof(head) + i * sizeof(__le32), summary->tasks[i]);
	list->used_bytes += bytes;
	list->count++;
	return 0;
}

/**
 * summary_list_part() - the summaries for one chunk of them
 * @list: all
 * @at_bytes: where the part begins
 * @part_bytes: out: its length
 *
 * Return: number of summaries in it, 0 at the end.
 */
u32 summary_list_part(const struct summary_list *list, size_t at_bytes, size_t *part_bytes)
{
	u32 count = 0;

	for (*part_bytes = 0; at_bytes + *part_bytes < list->used_bytes && *part_bytes < PART_BYTES; count++)
		*part_bytes += iot_get_u32(list->bytes + at_bytes + *part_bytes);
	return count;
}

/**
 * summary_decode() - read a summary
 * @bytes: of the list, or of a trace: they are not trusted
 * @left: their number
 * @summary: out
 *
 * Return: length of the summary, or -EBADMSG.
 */
s64 summary_decode(const u8 *bytes, size_t left, struct iot_summary *summary)
{
	struct iot_chunk_summary head;
	u32 i, tasks;

	if (left < sizeof(head))
		return -EBADMSG;
	memcpy(&head, bytes, sizeof(head));
	tasks = le32_to_cpu(head.tasks);
	*summary = (struct iot_summary){
		.has_more_tasks = tasks == IOT_SUMMARY_MANY_TASKS,
		.earliest_ns = le64_to_cpu(head.earliest_ns),
		.latest_ns = le64_to_cpu(head.latest_ns),
		.moved_bytes = le64_to_cpu(head.moved_bytes),
		.operations = le32_to_cpu(head.operations),
	};
	if (!summary->has_more_tasks)
		summary->task_count = tasks;
	if (summary->task_count > IOT_SUMMARY_TASKS_MAX || le32_to_cpu(head.bytes) > left ||
	    le32_to_cpu(head.bytes) < sizeof(head) + summary->task_count * sizeof(__le32))
		return -EBADMSG;
	for (i = 0; i < IOT_KIND_END; i++)
		summary->kinds[i / 64] |= (u64)(head.kinds[i / 8] >> i % 8 & 1) << i % 64;
	for (i = 0; i < summary->task_count; i++)
		summary->tasks[i] = iot_get_u32(bytes + sizeof(head) + i * sizeof(__le32));
	return le32_to_cpu(head.bytes);
}

/* Return: 0, a negative errno of @fn, or -EBADMSG. */
static int read_part(const u8 *bytes, size_t count_bytes, u32 count, u32 first, summary_fn fn, void *context)
{
	struct iot_summary summary;
	size_t at = 0;
	s64 n;
	u32 i;
	int err;

	for (i = 0; i < count; i++) {
		n = summary_decode(bytes + at, count_bytes - at, &summary);
		if (n < 0)
			return (int)n;
		at += (size_t)n;
		err = fn(context, first + i, &summary);
		if (err)
			return err;
	}
	return at == count_bytes ? 0 : -EBADMSG;
}

/**
 * summaries_read() - read all summaries of a trace
 * @fd: the trace
 * @begin_bytes: its first chunk of summaries
 * @end_bytes: end of the last one
 * @fn: called for each of them, from number 0 on
 * @context: for it
 *
 * Return: 0; -EBADMSG if they are damaged; -ENOMEM, -EIO, or the error of @fn.
 */
int summaries_read(int fd, u64 begin_bytes, u64 end_bytes, summary_fn fn, void *context)
{
	struct unpacker unpacker = {};
	struct iot_reject reject = {};
	struct iot_chunk_head head;
	u32 number = 0;
	u8 *raw = NULL, *larger;
	int err = 0;

	while (!err && begin_bytes < end_bytes) {
		err = chunk_head_read(fd, begin_bytes, end_bytes, &head, &reject);
		if (!err && (head.type != IOT_CHUNK_SUMMARIES || le64_to_cpu(head.sequence) != number))
			err = -EBADMSG;
		if (err)
			break;
		larger = realloc(raw, le32_to_cpu(head.raw_bytes) + 1);
		if (!larger) {
			err = -ENOMEM;
			break;
		}
		raw = larger;
		err = chunk_unpack(&unpacker, fd, begin_bytes, &head, raw, &reject);
		if (!err)
			err = read_part(raw, le32_to_cpu(head.raw_bytes), le32_to_cpu(head.count), number, fn, context);
		number += le32_to_cpu(head.count);
		begin_bytes += sizeof(head) + le32_to_cpu(head.stored_bytes);
	}
	unpacker_free(&unpacker);
	free(raw);
	return err == -ENODATA ? -EBADMSG : err;
}
