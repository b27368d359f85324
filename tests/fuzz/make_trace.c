// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_trace.c - nearly valid traces.
 *
 * The records of real traces are split into pieces; each input is assembled from
 * some of them, and modified at every level: fields, records, chunks, index,
 * schema, header, bytes. Most checksums are correct, so that modifications are not detected by them.
 */
#include "make_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "core/crc32c.h"
#include "lib/columns.h"
#include "lib/iotape.h"

#define PIECE_RECORDS 24
#define PIECES_MAX    512
#define INPUT_BYTES   (1 << 20)

/* Some consecutive records of one trace. */
struct piece {
	u8 *bytes;
	size_t count;
	u32 records;
};

static struct piece pieces[PIECES_MAX];
static size_t piece_count;

/* -- pieces ----------------------------------------------------------------------------------- */

static struct piece *piece_new(void)
{
	struct piece *piece = &pieces[piece_count++];

	piece->bytes = malloc(PIECE_RECORDS * IOT_RECORD_MAX_BYTES);
	if (!piece->bytes)
		abort();
	return piece;
}

static struct piece *piece_add(struct piece *piece, const struct iot_record *record)
{
	s32 n;

	if (!piece || piece->records == PIECE_RECORDS) {
		if (piece_count == PIECES_MAX)
			return piece;
		piece = piece_new();
	}
	n = iot_record_encode(piece->bytes + piece->count, IOT_RECORD_MAX_BYTES, record);
	if (n > 0) {
		piece->count += (size_t)n;
		piece->records++;
	}
	return piece;
}

static int take_apart(const char *path)
{
	struct piece *piece = NULL;
	struct iot_reject reject;
	struct iot_reader *reader;
	struct iot_record record;
	int err = iot_reader_open(path, &reader, &reject);

	if (err)
		return err;
	while ((err = iot_reader_next(reader, &record, &reject)) > 0)
		piece = piece_add(piece, &record);
	iot_reader_close(reader);
	return err;
}

/* One record of each kind, for kinds that no trace has; ids are small, so that they refer to each other. */
static void make_kinds(struct rng *rng)
{
	const struct iot_kind_info *info;
	struct piece *piece = NULL;
	struct iot_record record;
	size_t k;
	u32 f;

	for (k = 0; (info = iot_kind_at(k)); k++) {
		memset(&record, 0, sizeof(record));
		record.kind = info->kind;
		record.tail = (const u8 *)"a tail";
		record.tail_bytes = iot_kind_tail(info->kind) ? 6 : 0;
		for (f = 0; f < info->field_count; f++)
			iot_field_set(&record, &info->fields[f], rng_below(rng, 10));
		piece = piece_add(piece, &record);
	}
}

/* -- records ------------------------------------------------------------------------------------ */

/* The length of the record at @at, from its head; 0 if it is invalid. */
static size_t record_bytes(const struct piece *piece, size_t at)
{
	size_t bytes;

	if (piece->count - at < IOT_RECORD_HEAD_BYTES)
		return 0;
	bytes = iot_get_u16(piece->bytes + at);
	return bytes < IOT_RECORD_HEAD_BYTES || bytes > piece->count - at ? 0 : bytes;
}

static size_t pick_record(struct rng *rng, const struct piece *piece)
{
	u64 steps = rng_below(rng, piece->records);
	size_t at = 0;

	while (steps-- && record_bytes(piece, at) && at + record_bytes(piece, at) < piece->count)
		at += record_bytes(piece, at);
	return at;
}

/* A field with an id gets an id of other records. */
static void change_field(struct rng *rng, u8 *record, size_t bytes)
{
	const struct iot_kind_info *info = iot_kind_info(iot_get_u16(record + 2));
	size_t at = IOT_RECORD_HEAD_BYTES;
	u32 f, chosen, width;

	if (!info)
		return mutate_bytes(rng, record, bytes);
	chosen = (u32)rng_below(rng, info->field_count);
	for (f = 0; f < chosen; f++)
		at += iot_wire_type_bytes(info->fields[f].type);
	width = iot_wire_type_bytes(info->fields[chosen].type);
	if (at + width > bytes)
		return;
	if (info->fields[chosen].class >= IOT_CLASS_task && rng_one_in(rng, 2)) {
		memset(record + at, 0, width);
		record[at] = (u8)rng_below(rng, 10);
	} else {
		mutate_field(rng, record + at, width);
	}
}

static void duplicate(struct piece *piece, size_t at, size_t bytes)
{
	if (piece->count + bytes > PIECE_RECORDS * IOT_RECORD_MAX_BYTES)
		return;
	memmove(piece->bytes + at + bytes, piece->bytes + at, piece->count - at);
	piece->count += bytes;
	piece->records++;
}

static void drop(struct piece *piece, size_t at, size_t bytes)
{
	memmove(piece->bytes + at, piece->bytes + at + bytes, piece->count - at - bytes);
	piece->count -= bytes;
	piece->records--;
}

static void mutate_records(struct rng *rng, struct piece *piece)
{
	size_t at = pick_record(rng, piece), bytes = record_bytes(piece, at);
	u8 *record = piece->bytes + at;

	if (!bytes)
		return;
	switch (rng_below(rng, 12)) {
	case 0: /* the kind */
		iot_put_u16(record + 2, (u16)rng_below(rng, rng_one_in(rng, 4) ? 65536 : 200));
		break;
	case 1: /* the length, or the start of the tail */
		mutate_field(rng, record + 2 * rng_below(rng, 4), 2);
		break;
	case 2:
		iot_put_u16(record + 4, (u16)rng_below(rng, bytes - IOT_RECORD_HEAD_BYTES + 1));
		break;
	case 3:
		duplicate(piece, at, bytes);
		break;
	case 4:
		drop(piece, at, bytes);
		break;
	case 5:
		mutate_bytes(rng, record, bytes);
		break;
	default:
		change_field(rng, record, bytes);
	}
}

/* -- chunks --------------------------------------------------------------------------------------- */

static void mutate_head(struct rng *rng, struct iot_chunk_head *head)
{
	struct {
		void *field;
		size_t bytes;
	} fields[] = {
		{ &head->magic, 4 },	 { &head->type, 1 },	    { &head->codec, 1 },
		{ &head->zero, 2 },	 { &head->stored_bytes, 4 }, { &head->raw_bytes, 4 },
		{ &head->stream, 4 },	 { &head->count, 4 },	    { &head->sequence, 8 },
		{ &head->lost, 8 },	 { &head->first_ns, 8 },    { &head->last_ns, 8 },
	};
	size_t i = rng_below(rng, ARRAY_SIZE(fields));

	mutate_field(rng, fields[i].field, fields[i].bytes);
}

static u8 packed[4 * PIECE_RECORDS * IOT_RECORD_MAX_BYTES];
static struct columns *columns;

/* Return: length in @packed, 0 if it cannot be compressed. */
static size_t compress(struct rng *rng, const void *payload, size_t bytes)
{
	size_t n = ZSTD_compress(packed, sizeof(packed), payload, bytes, 1);

	if (ZSTD_isError(n))
		return 0;
	if (rng_one_in(rng, 8))
		mutate_bytes(rng, packed, n);
	return n;
}

/* The same of records as columns, which are perhaps damaged behind all checksums. */
static size_t compress_columns(struct rng *rng, const void *payload, size_t bytes, u32 count)
{
	static u8 copy[sizeof(packed) / 2];
	const u8 *encoded;
	size_t n;

	if (columns_encode(columns, payload, bytes, count, &encoded, &bytes) || bytes > sizeof(copy))
		return 0;
	memcpy(copy, encoded, bytes);
	if (rng_one_in(rng, 3))
		mutate_bytes(rng, copy, rng_one_in(rng, 2) && bytes > 100 ? 100 : bytes);
	iot_put_u32(packed, (u32)bytes);
	if (rng_one_in(rng, 32))
		mutate_field(rng, packed, IOT_COLUMNS_HEAD_BYTES);
	n = ZSTD_compress(packed + IOT_COLUMNS_HEAD_BYTES, sizeof(packed) - IOT_COLUMNS_HEAD_BYTES, copy, bytes, 1);
	return ZSTD_isError(n) ? 0 : IOT_COLUMNS_HEAD_BYTES + n;
}

/* Append a chunk to the input, compressed or not, perhaps with a fault. */
static void put_chunk(struct rng *rng, struct trace_bytes *input, struct iot_chunk_head head,
		      const void *payload, size_t bytes)
{
	size_t at = input->count, n = 0;

	head.magic = cpu_to_le32(IOT_CHUNK_MAGIC);
	head.raw_bytes = cpu_to_le32((u32)bytes);
	if (rng_one_in(rng, 6)) {
		n = compress(rng, payload, bytes);
		head.codec = n ? IOT_CODEC_ZSTD : IOT_CODEC_NONE;
	} else if (head.type == IOT_CHUNK_RECORDS && rng_one_in(rng, 2)) {
		n = compress_columns(rng, payload, bytes, le32_to_cpu(head.count));
		head.codec = n ? IOT_CODEC_COLUMNS : IOT_CODEC_NONE;
	}
	if (n) {
		payload = packed;
		bytes = n;
	}
	head.stored_bytes = cpu_to_le32((u32)bytes);
	if (at + sizeof(head) + bytes > INPUT_BYTES)
		return;
	if (rng_one_in(rng, 24))
		mutate_head(rng, &head);
	memcpy(input->bytes + at, &head, sizeof(head));
	if (bytes)
		memcpy(input->bytes + at + sizeof(head), payload, bytes);
	input->count += sizeof(head) + bytes;
	trace_seal_chunk(input->bytes, input->count, at);
	if (le32_to_cpu(head.stored_bytes) != bytes) /* checksum of the actual bytes, not of the stated ones */
		mutate_bytes(rng, input->bytes + at, sizeof(head));
}

static void put_records(struct rng *rng, struct trace_bytes *input)
{
	static u8 room[PIECE_RECORDS * IOT_RECORD_MAX_BYTES];
	const struct piece *from = &pieces[rng_below(rng, piece_count)];
	struct piece piece = { .bytes = room, .count = from->count, .records = from->records };
	struct iot_chunk_head head = { .type = IOT_CHUNK_RECORDS };
	u64 changes = rng_one_in(rng, 2) ? rng_below(rng, 6) : 0;

	memcpy(room, from->bytes, from->count);
	while (changes--)
		mutate_records(rng, &piece);
	head.stream = cpu_to_le32((u32)rng_below(rng, 3));
	head.count = cpu_to_le32(piece.records);
	if (rng_one_in(rng, 32))
		mutate_field(rng, &head.count, sizeof(head.count));
	head.sequence = cpu_to_le64(rng_below(rng, 100));
	if (input->chunk_count < ARRAY_SIZE(input->chunks))
		input->chunks[input->chunk_count++] = input->count;
	put_chunk(rng, input, head, piece.bytes, piece.count);
}

static void put_index(struct rng *rng, struct trace_bytes *input)
{
	struct iot_index_entry entries[64];
	struct iot_chunk_head index = { .type = IOT_CHUNK_INDEX }, trailer = { .type = IOT_CHUNK_TRAILER };
	struct iot_chunk_head head;
	size_t i;

	for (i = 0; i < input->chunk_count; i++) {
		memcpy(&head, input->bytes + input->chunks[i], sizeof(head));
		entries[i] = (struct iot_index_entry){
			.offset_bytes = cpu_to_le64(input->chunks[i]),
			.stream = head.stream,
			.count = head.count,
		};
	}
	if (i && rng_one_in(rng, 8))
		mutate_field(rng, (u8 *)entries + 8 * rng_below(rng, 4 * i), 8);
	index.count = cpu_to_le32((u32)i);
	trailer.sequence = cpu_to_le64(input->count);
	if (rng_one_in(rng, 24))
		mutate_field(rng, &trailer.sequence, 8);
	put_chunk(rng, input, index, entries, i * sizeof(entries[0]));
	put_chunk(rng, input, trailer, NULL, 0);
}

/* -- header and schema ------------------------------------------------------------------------------ */

static char *own_schema;

static const char *const schemas[] = {
	"",
	"record 18 name who\nfield u64 dir object\nfield u64 name name\nfield u64 time_ns instant\n",
	"record 65 open op\nfield u64 handle handle\nfield s32 result result\nfield u32 flags open_flags\n"
	"record 98 read op\nfield u64 enter_ns instant\nfield u64 duration_ns span\n",
	"record 17 object who\nfield u32 object object\nfield u64 name name\nfield u32 type type\n",
};

static void put_start(struct rng *rng, struct trace_bytes *input)
{
	struct iot_trace_head head = {
		.magic = IOT_TRACE_MAGIC,
		.major = cpu_to_le16(IOT_TRACE_MAJOR),
		.head_bytes = cpu_to_le16(sizeof(head)),
		.features_incompat = cpu_to_le32(IOT_TRACE_COLUMNS),
	};
	const char *schema = rng_one_in(rng, 8) ? own_schema : schemas[rng_below(rng, ARRAY_SIZE(schemas))];
	size_t bytes = strlen(schema);

	memcpy(input->bytes + sizeof(head), schema, bytes);
	if (rng_one_in(rng, 6))
		mutate_bytes(rng, input->bytes + sizeof(head), bytes);
	head.schema_bytes = cpu_to_le32((u32)bytes);
	if (rng_one_in(rng, 64))
		mutate_field(rng, (u8 *)&head + 4 * rng_below(rng, 6), 4);
	memcpy(input->bytes, &head, sizeof(head));
	input->count = sizeof(head) + bytes;
	trace_seal_head(input->bytes, input->count);
}

static void make_input(struct rng *rng, struct trace_bytes *input)
{
	u64 chunks = rng_below(rng, 6);

	input->chunk_count = 0;
	put_start(rng, input);
	while (chunks--)
		put_records(rng, input);
	if (rng_one_in(rng, 2))
		put_index(rng, input);
	if (rng_one_in(rng, 8))
		mutate_bytes(rng, input->bytes, input->count);
	if (rng_one_in(rng, 8))
		input->count = rng_below(rng, input->count);
}

/* -- the run ------------------------------------------------------------------------------------------- */

static int prepare(int argc, char **argv, struct fuzz_options *options)
{
	struct rng rng;
	size_t bytes;
	int i;

	for (i = fuzz_options(argc, argv, options); i < argc; i++) {
		if (take_apart(argv[i])) {
			fprintf(stderr, "%s: %s: cannot be read\n", argv[0], argv[i]);
			return 1;
		}
	}
	rng_seed(&rng, 0);
	make_kinds(&rng);
	if (iot_schema_print(&own_schema, &bytes))
		abort();
	return 0;
}

int fuzz_traces(int argc, char **argv, struct tally *tally, feed_fn feed)
{
	struct trace_bytes input = { .bytes = malloc(INPUT_BYTES) };
	struct fuzz_options options;
	struct rng rng;
	u64 seed;

	if (!input.bytes || columns_open(&columns) || prepare(argc, argv, &options))
		return 1;
	for (seed = options.seed; seed < options.seed + options.count; seed++) {
		struct iot_reject reject = {};

		fuzz_begin(seed);
		rng_seed(&rng, seed);
		make_input(&rng, &input);
		fuzz_keep(&options, seed, input.bytes, input.count);
		tally_add(tally, feed(&input, &rng, &reject), &reject);
	}
	while (piece_count)
		free(pieces[--piece_count].bytes);
	free(own_schema);
	columns_close(columns);
	trace_close(&input);
	return 0;
}
