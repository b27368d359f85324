// SPDX-License-Identifier: GPL-2.0-only
/*
 * views.c - datatypes of views in patterns: collective calls become independent ones of the ranges of the views.
 */
#include <stdlib.h>
#include <string.h>

#include "pattern/state.h"
#include "pattern_text.h"

/* Of one rank: its data are a block of 1 KiB of every 4 KiB, and offsets are in units of 512 bytes. */
#define TURN "mpi_view part=0 parts=1 begin_bytes=1K*rank unit_bytes=512 extent_bytes=4K first_bytes=0 block_bytes=1K inner_count=1 " \
	     "middle_count=1 outer_count=1 comm=2\n"

/* The same 8 KiB of a file as a subarray of two rows and two columns, twice, and a last block. */
#define NESTED                                                                                                                        \
	"mpi_view part=0 parts=2 begin_bytes=0 unit_bytes=1 extent_bytes=32K first_bytes=1K*rank block_bytes=512 inner_count=2 "       \
	"inner_bytes=512 middle_count=2 middle_bytes=4K outer_count=2 outer_bytes=8K comm=2\n"                                         \
	"mpi_view part=1 parts=2 begin_bytes=0 unit_bytes=1 extent_bytes=32K first_bytes=16K+4K*rank block_bytes=4K inner_count=1 "    \
	"middle_count=1 outer_count=1 comm=2\n"

/* Rank 0 has opened the file alone before, as that of IOR does. */
#define ALONE                                                                                                                         \
	"rank 0 {\n"                                                                                                                  \
	"  mpi_comm rank=rank size=size world_rank=rank comm=1\n"                                                                     \
	"  mpi_file \"/mnt/out\" file_open number=1 place=-1 comm=2\n"                                                               \
	"  | open \"out\" flags=read|write|create|created mode=0644 handle=1\n"                                                      \
	"  mpi_comm rank=0 size=1 world_rank=rank comm=2\n"                                                                           \
	"  mpi_file file_close number=2 place=-1 comm=2\n"                                                                            \
	"  | release \"out\" handle=1\n"                                                                                             \
	"}\n"

static bool is_opened_alone;

/* Four ranks write @length bytes each, by @call, through @view; rank 0 moves the @moved bytes from the beginning. */
static struct pattern *run(const char *view, const char *call, const char *length, const char *moved)
{
	struct pattern_refusal refusal = {};
	struct pattern *pattern;
	char text[4000];

	sprintf(text,
		"size 4\n"
		"%s"
		"ranks all {\n"
		"  mpi_comm rank=rank size=size world_rank=rank comm=1\n"
		"  mpi_file \"/mnt/out\" file_open number=1 place=-1 comm=2\n"
		"}\n"
		"rank 0 { | open \"out\" flags=read|write|create|created mode=0644 handle=1 }\n"
		"ranks 1-3 { | open \"out\" flags=read|write handle=1 }\n"
		"ranks all {\n"
		"  mpi_comm rank=rank size=size world_rank=rank comm=2\n"
		"  mpi_file file_set_view number=2 place=-1 comm=2\n"
		"  %s\n"
		"  mpi_file %s number=3 length_bytes=%s comm=2\n"
		"}\n"
		"rank 0 { | write \"out\" %s handle=1 }\n"
		"ranks all { mpi_file file_close number=4 place=-1 comm=2\n"
		"  | release \"out\" handle=1 }\n", is_opened_alone ? ALONE : "", view, call, length, moved);
	if (pattern_parse(text, strlen(text), 0, 1000, &pattern, &refusal))
		fail_msg("%s\n%s", refusal.text, text);
	return pattern;
}

/* Return: the writes of rank 0, or of @rank, as offset+length; the refusal if there is one. */
static char *independent(struct pattern *pattern, u32 rank, struct pattern_refusal *refusal)
{
	struct pattern *made;
	char *text, *at, *ranges = calloc(1, 4000), begin[40];
	unsigned long long place, bytes;
	u64 changed, operations;
	size_t size;
	u8 digest[32];
	FILE *out;

	*refusal = (struct pattern_refusal){};
	if (pattern_change(pattern, "collective", "no", &made, &changed, refusal)) {
		pattern_free(pattern);
		return strcpy(ranges, "refused");
	}
	out = open_memstream(&text, &size);
	pattern_expand(made, out, UINT64_MAX, digest, &operations);
	fclose(out);
	sprintf(begin, "rank %u:", rank);
	at = strstr(text, begin);
	assert_non_null(at);
	for (at = strchr(at, '\n') + 1; *at && strncmp(at, "rank ", 5); at = strchr(at, '\n') + 1)
		if (!strncmp(at + strspn(at, " "), "write ", 6)) {
			assert_int_equal(sscanf(strstr(at, "offset_bytes="), "offset_bytes=%llu length_bytes=%llu", &place, &bytes), 2);
			sprintf(ranges + strlen(ranges), "%s%llu+%llu", *ranges ? " " : "", place, bytes);
		}
	free(text);
	pattern_free(made);
	pattern_free(pattern);
	return ranges;
}

static void moves(struct pattern *pattern, u32 rank, const char *expected)
{
	struct pattern_refusal refusal;
	char *ranges = independent(pattern, rank, &refusal);

	if (strcmp(ranges, expected))
		fail_msg("%s instead of %s: %s", ranges, expected, refusal.text);
	free(ranges);
}

static void is_refused(struct pattern *pattern, const char *why)
{
	struct pattern_refusal refusal;
	char *ranges = independent(pattern, 0, &refusal);

	assert_string_equal(ranges, "refused");
	if (!strstr(refusal.text, why))
		fail_msg("%s", refusal.text);
	free(ranges);
}

static void blocks_in_turn(void **state)
{
	(void)state;
	moves(run(TURN, "file_write_all place=-1", "2K", "offset_bytes=0 length_bytes=8K"), 1, "1024+1024 5120+1024");
	moves(run(TURN, "file_write_at_all place=4", "2K", "offset_bytes=8K length_bytes=8K"), 3, "11264+1024 15360+1024");
}

static void a_file_that_a_rank_has_opened_alone(void **state)
{
	(void)state;
	is_opened_alone = true;
	moves(run(TURN, "file_write_all place=-1", "2K", "offset_bytes=0 length_bytes=8K"), 1, "1024+1024 5120+1024");
	is_opened_alone = false;
}

static void places_inside_of_blocks(void **state)
{
	(void)state;
	is_refused(run(TURN, "file_write_at_all place=1", "1K", "offset_bytes=0 length_bytes=4K"), "are not those that a collective call moved");
	moves(run("mpi_view part=0 parts=1 begin_bytes=0 unit_bytes=1 extent_bytes=16K first_bytes=4K*rank block_bytes=1K inner_count=4 "
		  "inner_bytes=1K middle_count=1 outer_count=1 comm=2\n", "file_write_at_all place=0", "4K", "offset_bytes=0 length_bytes=16K"),
	      2, "8192+4096");
}

/* Without gaps: so many blocks would take too long. */
static void views_of_single_elements(void **state)
{
	(void)state;
	moves(run("mpi_view part=0 parts=1 begin_bytes=1G*rank unit_bytes=4 extent_bytes=4 block_bytes=4 inner_count=1 middle_count=1 "
		  "outer_count=1 comm=2\n", "file_write_all place=-1", "1G", "offset_bytes=0 length_bytes=4G"), 3, "3221225472+1073741824");
}

static void nested_parts(void **state)
{
	(void)state;
	moves(run(NESTED, "file_write_all place=-1", "8K", "offset_bytes=0 length_bytes=32K"), 0,
	      "0+1024 4096+1024 8192+1024 12288+1024 16384+4096");
	moves(run(NESTED, "file_write_all place=-1", "8K", "offset_bytes=0 length_bytes=32K"), 3,
	      "3072+1024 7168+1024 11264+1024 15360+1024 28672+4096");
	moves(run(NESTED, "file_write_at_all place=8K", "8K", "offset_bytes=32K length_bytes=32K"), 1,
	      "33792+1024 37888+1024 41984+1024 46080+1024 53248+4096");
}

/* From the middle of the last part on. */
static void the_data_go_on_in_the_next_repetition(void **state)
{
	static const char moved[] = "offset_bytes=32K length_bytes=17K handle=1\n"
				    "  for i in 1 .. 3 { | write \"out\" offset_bytes=48K+4K*i length_bytes=1K handle=1 }\n"
				    "  for i in 0 .. 2 { | write \"out\" offset_bytes=17K+4K*i length_bytes=3K handle=1 }\n"
				    "  | write \"out\" offset_bytes=29K length_bytes=3K";

	(void)state;
	moves(run(NESTED, "file_write_at_all place=5K", "8K", moved), 1,
	      "21504+3072 33792+1024 37888+1024 41984+1024 46080+1024 53248+1024");
}

static void a_later_view_replaces_the_first(void **state)
{
	(void)state;
	moves(run(NESTED "mpi_file file_set_view number=2 place=-1 comm=2\n" TURN, "file_write_all place=-1", "1K",
		  "offset_bytes=0 length_bytes=4K"), 2, "2048+1024");
	moves(run(NESTED "mpi_file file_read place=-1 length_bytes=4K comm=2\nmpi_file file_set_view number=2 place=-1 comm=2\n" TURN,
		  "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"), 2, "2048+1024");
}

/* The place is not known, as without records of a view. */
static void incomplete_views_are_unknown(void **state)
{
	static const char first[] = "mpi_view part=0 parts=2 begin_bytes=1K*rank unit_bytes=1 extent_bytes=4K block_bytes=1K inner_count=1 "
				    "middle_count=1 outer_count=1 comm=2\n";
	char text[2000];

	(void)state;
	is_refused(run("", "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"), "place of the data of each rank is unknown");
	is_refused(run(first, "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"), "place of the data of each rank is unknown");
	sprintf(text, "%s%s", first, first);
	is_refused(run(text, "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"), "place of the data of each rank is unknown");
	is_refused(run(NESTED "mpi_file file_set_view number=2 place=-1 comm=2\n", "file_write_all place=-1", "1K",
		       "offset_bytes=0 length_bytes=4K"), "place of the data of each rank is unknown");
	is_refused(run(NESTED "mpi_file file_set_view number=2 place=-1 comm=2\n", "file_write_at_all place=0", "8K",
		       "offset_bytes=0 length_bytes=32K"), "place of the data of each rank is unknown");
}

#define SEEK(arguments) "mpi_file file_seek " arguments " comm=2\n"
#define TO_END(arguments, size) SEEK("whence=end " arguments) "| seek \"out\" offset_bytes=0 whence=end handle=1 -> " size "\n"

static void seeks_from_the_start(void **state)
{
	(void)state;
	moves(run(TURN SEEK("whence=set place=4"), "file_write_all place=-1", "2K", "offset_bytes=8K length_bytes=8K"), 3,
	      "11264+1024 15360+1024");
	moves(run(TURN SEEK("whence=set place=7") SEEK("whence=set place=2"), "file_write_all place=-1", "1K",
		  "offset_bytes=4K length_bytes=4K"), 1, "5120+1024");
}

static void seeks_from_the_current_position(void **state)
{
	(void)state;
	moves(run(TURN SEEK("whence=cur place=2") SEEK("whence=cur place=2"), "file_write_all place=-1", "2K",
		  "offset_bytes=8K length_bytes=8K"), 0, "8192+1024 12288+1024");
	moves(run(TURN SEEK("whence=set place=6") SEEK("whence=cur place=-2"), "file_write_all place=-1", "2K",
		  "offset_bytes=8K length_bytes=8K"), 0, "8192+1024 12288+1024");
	moves(run(TURN "mpi_file file_read place=-1 length_bytes=1K comm=2\n" SEEK("whence=cur place=2"), "file_write_all place=-1", "2K",
		  "offset_bytes=8K length_bytes=8K"), 0, "8192+1024 12288+1024");
}

/* The first whole unit of each rank that begins behind the last byte of the file. */
static void seeks_from_the_end(void **state)
{
	(void)state;
	moves(run(TURN TO_END("place=0", "8K"), "file_write_all place=-1", "2K", "offset_bytes=8K length_bytes=8K"), 3,
	      "11264+1024 15360+1024");
	moves(run(TURN TO_END("place=-2", "12K"), "file_write_all place=-1", "2K", "offset_bytes=8K length_bytes=8K"), 1,
	      "9216+1024 13312+1024");
	moves(run(TURN TO_END("place=0", "0"), "file_write_all place=-1", "2K", "offset_bytes=0 length_bytes=8K"), 1,
	      "1024+1024 5120+1024");
	/* in the second half of the block of rank 3, and in its first unit */
	moves(run(TURN TO_END("place=0", "8K-100"), "file_write_all place=-1", "2K", "offset_bytes=8K length_bytes=8K"), 3,
	      "11264+1024 15360+1024");
	moves(run(NESTED TO_END("place=0", "32K"), "file_write_all place=-1", "8K", "offset_bytes=32K length_bytes=32K"), 1,
	      "33792+1024 37888+1024 41984+1024 46080+1024 53248+4096");
	is_refused(run(TURN SEEK("whence=end place=0"), "file_write_all place=-1", "2K", "offset_bytes=0 length_bytes=8K"),
		   "no operation in the call states where that is");
	is_refused(run(TURN SEEK("whence=end place=0") "| seek \"out\" offset_bytes=0 whence=cur handle=1 -> 8K\n", "file_write_all place=-1",
		       "2K", "offset_bytes=8K length_bytes=8K"), "no operation in the call states where that is");
}

static void seeks_from_an_unknown_place(void **state)
{
	(void)state;
	is_refused(run(NESTED SEEK("place=0"), "file_write_all place=-1", "8K", "offset_bytes=0 length_bytes=32K"),
		   "the trace does not state from where an MPI_File_seek counts its offset");
	is_refused(run(SEEK("whence=set place=0"), "file_write_all place=-1", "8K", "offset_bytes=0 length_bytes=32K"),
		   "the datatype of the view is not recorded");
	is_refused(run(TURN SEEK("whence=cur place=-1"), "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"),
		   "before the begin of the file");
	moves(run(TURN SEEK("place=9") SEEK("whence=set place=0"), "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"), 1,
	      "1024+1024");
	moves(run(TURN SEEK("place=9 -> EINVAL"), "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"), 1, "1024+1024");
}

/* Numbers of a file: no end is found, and none is looked for without end. */
static void the_end_of_a_hostile_view(void **state)
{
	static const char *const parts[] = {
		"extent_bytes=-4K first_bytes=0 block_bytes=1K inner_count=1",
		"extent_bytes=0 first_bytes=0 block_bytes=1K inner_count=1",
		"extent_bytes=1 first_bytes=0x7fffffffffffff00 block_bytes=1K inner_count=1",
		"extent_bytes=4K first_bytes=0 block_bytes=1 inner_count=0x1000000 inner_bytes=2",
		"extent_bytes=1 first_bytes=0 block_bytes=1 inner_count=0x100000000 inner_bytes=0x100000000",
		"extent_bytes=1 first_bytes=0 block_bytes=0x1000000000000 inner_count=1",
	};
	char text[2000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		sprintf(text, "mpi_view part=0 parts=1 unit_bytes=1 middle_count=1 outer_count=1 %s comm=2\n" TO_END("place=0", "0x7000000000000000"),
			parts[i]);
		is_refused(run(text, "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"),
			   "no operation in the call states where that is");
	}
}

/* No recording has such a view. */
static void hostile_views_are_refused(void **state)
{
	static const char *const numbers[] = {
		"part=0 parts=1 unit_bytes=1 extent_bytes=4K block_bytes=0 inner_count=1 middle_count=1 outer_count=1",
		"part=0 parts=1 unit_bytes=0 extent_bytes=4K block_bytes=1K inner_count=1 middle_count=1 outer_count=1",
		"part=0 parts=1 unit_bytes=1 extent_bytes=4K block_bytes=1K inner_count=0 middle_count=1 outer_count=1",
		"part=0 parts=1 unit_bytes=1 block_bytes=0x100000000 inner_count=0x100000000 middle_count=1 outer_count=1",
		"part=0 parts=0 unit_bytes=1 block_bytes=1K inner_count=1 middle_count=1 outer_count=1",
		"part=0 parts=0xffffffff unit_bytes=1 block_bytes=1K inner_count=1 middle_count=1 outer_count=1",
		"part=7 parts=1 unit_bytes=1 block_bytes=1K inner_count=1 middle_count=1 outer_count=1",
		"part=0 parts=1 unit_bytes=1 extent_bytes=-4K block_bytes=512 inner_count=1 middle_count=1 outer_count=1",
		"part=0 parts=1 begin_bytes=-1 unit_bytes=1 block_bytes=1K inner_count=1 middle_count=1 outer_count=1",
		"part=0 parts=1 begin_bytes=0x7fffffffffffff00 unit_bytes=1 block_bytes=1K inner_count=1 middle_count=1 outer_count=1",
	};
	char text[2000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		sprintf(text, "mpi_view %s comm=2\n", numbers[i]);
		is_refused(run(text, "file_write_all place=-1", "1K", "offset_bytes=0 length_bytes=4K"), i < 7 ? "is unknown" : "outside of a file");
	}
	is_refused(run("mpi_view part=0 parts=1 unit_bytes=1 extent_bytes=2 block_bytes=1 inner_count=1 middle_count=1 outer_count=1 comm=2\n",
		       "file_write_all place=-1", "0x1000000", "offset_bytes=0 length_bytes=4K"), "too many blocks");
}

SUITE("views",
      TEST(blocks_in_turn)
      TEST(a_file_that_a_rank_has_opened_alone)
      TEST(places_inside_of_blocks)
      TEST(views_of_single_elements)
      TEST(nested_parts)
      TEST(the_data_go_on_in_the_next_repetition)
      TEST(a_later_view_replaces_the_first)
      TEST(incomplete_views_are_unknown)
      TEST(seeks_from_the_start)
      TEST(seeks_from_the_current_position)
      TEST(seeks_from_the_end)
      TEST(seeks_from_an_unknown_place)
      TEST(the_end_of_a_hostile_view)
      TEST(hostile_views_are_refused))
