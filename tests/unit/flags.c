// SPDX-License-Identifier: GPL-2.0-only
/*
 * flags.c - flags of the host and of records correspond.
 */
#include "core/file_flags.h"
#include "core/flags.h"

#include <stdlib.h>

#include "suite.h"

/* The flags of open(2), and those of the record. */
static const struct {
	const char *name;
	int host;
	u32 ours;
} opens[] = {
	{ "read", O_RDONLY, IOT_OPEN_read },
	{ "write", O_WRONLY, IOT_OPEN_write },
	{ "both", O_RDWR, IOT_OPEN_read | IOT_OPEN_write },
	{ "neither", O_ACCMODE, 0 },
	{ "made", O_WRONLY | O_CREAT | O_EXCL,
	  IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl },
	{ "log", O_WRONLY | O_CREAT | O_APPEND,
	  IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_append },
	{ "emptied", O_RDWR | O_TRUNC, IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_trunc },
	{ "data is synchronous", O_WRONLY | O_DSYNC, IOT_OPEN_write | IOT_OPEN_dsync },
	{ "all is synchronous", O_WRONLY | O_SYNC, IOT_OPEN_write | IOT_OPEN_sync },
	{ "directory", O_RDONLY | O_DIRECTORY, IOT_OPEN_read | IOT_OPEN_directory },
	{ "without a name", O_RDWR | O_TMPFILE,
	  IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_directory | IOT_OPEN_tmpfile },
	{ "past the cache", O_RDONLY | O_DIRECT | O_NOATIME | O_NOFOLLOW | O_NONBLOCK,
	  IOT_OPEN_read | IOT_OPEN_direct | IOT_OPEN_noatime | IOT_OPEN_nofollow |
		  IOT_OPEN_nonblock },
};

static void open_flags_are_equal_to_those_of_linux(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(opens); i++) {
		assert_row(opens[i].name, iot_open_flags_of((u64)opens[i].host) == opens[i].ours);
		assert_row(opens[i].name, iot_open_flags_to(opens[i].ours) == (u32)opens[i].host);
	}
}

static void flags_without_a_record_are_left_out(void **state)
{
	(void)state;
	assert_int_equal(iot_open_flags_of(O_RDONLY | O_CLOEXEC | O_NOCTTY), IOT_OPEN_read);
	assert_int_equal(iot_open_flags_to(IOT_OPEN_read | IOT_OPEN_created | IOT_OPEN_exec),
			 O_RDONLY);
	assert_int_equal(iot_falloc_flags_of(1u << 30), 0);
	assert_int_equal(iot_rename_flags_of(1u << 30), 0);
}

static void flag_pairs_convert_in_both_directions(void **state)
{
	static const int fallocs[] = { 0, FALLOC_FL_KEEP_SIZE,
				       FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				       FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_ZERO_RANGE,
				       FALLOC_FL_INSERT_RANGE, FALLOC_FL_UNSHARE_RANGE };
	static const u32 renames[] = { 0, RENAME_NOREPLACE, RENAME_EXCHANGE,
				       RENAME_WHITEOUT | RENAME_NOREPLACE };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fallocs); i++)
		assert_int_equal(iot_falloc_flags_to(iot_falloc_flags_of((u64)fallocs[i])),
				 fallocs[i]);
	for (i = 0; i < ARRAY_SIZE(renames); i++)
		assert_int_equal(iot_rename_flags_to(iot_rename_flags_of(renames[i])), renames[i]);
	assert_int_equal(iot_falloc_flags_of(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE),
			 IOT_FALLOC_punch_hole | IOT_FALLOC_keep_size);
	assert_int_equal(iot_rename_flags_of(RENAME_EXCHANGE), IOT_RENAME_exchange);
}

/* Flags that a file system sets for its own use are not compared. */
static void other_file_flags_are_preserved(void **state)
{
	(void)state;
	assert_int_equal(iot_fileattrs_of(FS_IMMUTABLE_FL | FS_EXTENT_FL | FS_CASEFOLD_FL),
			 IOT_FILEATTR_immutable | IOT_FILEATTR_casefold);
	assert_int_equal(iot_fileattrs_to(IOT_FILEATTR_nodump, FS_EXTENT_FL | FS_APPEND_FL),
			 FS_EXTENT_FL | FS_NODUMP_FL);
	assert_int_equal(iot_fileattrs_to(0, FS_INDEX_FL | FS_SYNC_FL), FS_INDEX_FL);
	assert_int_equal(iot_fileattrs_of_x(FS_XFLAG_HASATTR | FS_XFLAG_EXTSIZE | FS_XFLAG_APPEND),
			 IOT_FILEATTR_extsize | IOT_FILEATTR_append);
	assert_int_equal(iot_fileattrs_to_x(IOT_FILEATTR_noatime | IOT_FILEATTR_nocow,
					    FS_XFLAG_HASATTR | FS_XFLAG_REALTIME),
			 FS_XFLAG_HASATTR | FS_XFLAG_NOATIME);
}

SUITE("flags", TEST(open_flags_are_equal_to_those_of_linux) TEST(flags_without_a_record_are_left_out)
		       TEST(flag_pairs_convert_in_both_directions) TEST(other_file_flags_are_preserved))
