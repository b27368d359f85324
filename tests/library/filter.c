// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * filter.c - an example of libiotape, valid as C and as C++: copy a trace with the operations of one kind only,
 * and sum up what these did, by file.
 *
 *	filter INPUT OUTPUT KIND
 *
 * Build: cc filter.c $(pkg-config --cflags --libs libiotape)
 */
#include <iotape/iotape.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 1000

struct file {
	char path[4096];
	uint64_t operations;
	uint64_t bytes;
	uint64_t time_ns;
};

struct filter {
	struct iotape_reader *reader;
	struct iotape_writer *writer;
	const struct iotape_kind *kind;
	struct file *files;
	size_t file_count;
	uint64_t dropped_operations;
	uint64_t dropped_bytes;
};

/* The entry of the file that the last record is about; the last entry is for all files that are too many. */
static struct file *find_file(struct filter *filter)
{
	const char *path = iotape_reader_path(filter->reader, NULL);
	size_t i;

	if (!path)
		path = "(unknown)";
	for (i = 0; i < filter->file_count; i++)
		if (!strcmp(filter->files[i].path, path))
			return &filter->files[i];
	if (filter->file_count == FILES_MAX)
		return &filter->files[FILES_MAX - 1];
	if (filter->file_count == FILES_MAX - 1)
		path = "(others)";
	snprintf(filter->files[i].path, sizeof(filter->files[i].path), "%s", path);
	filter->file_count++;
	return &filter->files[i];
}

/* Records other than operations are kept: names, tasks and facts give the rest its meaning. */
static int take_record(struct filter *filter, const struct iotape_record *record, struct iotape_error *error)
{
	const struct iotape_kind *kind = iotape_record_kind(record);
	struct file *file;

	if (kind == filter->kind) {
		file = find_file(filter);
		file->operations++;
		file->bytes += iotape_record_moved_bytes(record);
		file->time_ns += iotape_record_end_ns(record) - iotape_record_begin_ns(record);
	} else if (iotape_kind_is_operation(kind)) {
		filter->dropped_operations++;
		filter->dropped_bytes += iotape_record_moved_bytes(record);
		return 0;
	}
	return iotape_writer_add(filter->writer, record, error);
}

static int copy_records(struct filter *filter, struct iotape_error *error)
{
	const struct iotape_record *record;
	int result;

	while ((result = iotape_reader_next(filter->reader, &record, error)) > 0) {
		result = take_record(filter, record, error);
		if (result)
			return result;
	}
	return result;
}

/* A copy says that it is one. */
static int finish_copy(struct filter *filter, struct iotape_error *error)
{
	char detail[64];
	int result = iotape_writer_inherit(filter->writer, filter->reader, error);

	snprintf(detail, sizeof(detail), "only operations %s", iotape_kind_name(filter->kind));
	if (!result && filter->dropped_operations)
		result = iotape_writer_add_omission(filter->writer, "partial", 1, filter->dropped_operations,
						    filter->dropped_bytes, detail, error);
	if (!result)
		result = iotape_writer_finish(filter->writer, error);
	return result;
}

static void print_sums(struct filter *filter)
{
	struct iotape_omission omission;
	size_t i;

	for (i = 0; i < filter->file_count; i++)
		printf("%s: %" PRIu64 " operations, %" PRIu64 " bytes, %" PRIu64 " ns\n", filter->files[i].path,
		       filter->files[i].operations, filter->files[i].bytes, filter->files[i].time_ns);
	for (i = 0; iotape_reader_omission(filter->reader, i, &omission, sizeof(omission)) > 0; i++)
		printf("lacks: %s\n", omission.sentence);
}

static int filter_trace(struct filter *filter, const char *input, const char *output, struct iotape_error *error)
{
	struct iotape_info info;
	int result = iotape_reader_open(input, IOTAPE_READER_PATHS, &filter->reader, error);

	if (result)
		return result;
	iotape_reader_info(filter->reader, &info, sizeof(info));
	result = iotape_writer_open(output, &info, &filter->writer, error);
	if (!result)
		result = copy_records(filter, error);
	if (!result)
		result = finish_copy(filter, error);
	if (!result)
		print_sums(filter);
	iotape_writer_close(filter->writer);
	iotape_reader_close(filter->reader);
	return result;
}

int main(int argc, char **argv)
{
	struct filter filter;
	struct iotape_error error;
	int result;

	memset(&filter, 0, sizeof(filter));
	filter.kind = argc == 4 ? iotape_kind_find(argv[3]) : NULL;
	filter.files = (struct file *)calloc(FILES_MAX, sizeof(struct file));
	if (!filter.kind || !filter.files) {
		fprintf(stderr, "usage: filter INPUT OUTPUT KIND (libiotape %s)\n", iotape_version());
		free(filter.files);
		return 2;
	}
	result = filter_trace(&filter, argv[1], argv[2], &error);
	if (result)
		fprintf(stderr, "filter: %s\n", error.sentence);
	free(filter.files);
	return result ? 1 : 0;
}
