// SPDX-License-Identifier: GPL-2.0-only
/*
 * crc32c.c - the checksum against the vectors of RFC 3720, appendix B.4.
 */
#include "core/crc32c.h"

#include "suite.h"

static u8 zeros[32], ones[32], ascending[32], descending[32];

static const u8 read_command[48] = {
	0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
	0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18, 0x28, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const struct {
	const char *name;
	const void *data;
	size_t bytes;
	u32 crc;
} vectors[] = {
	{ "nothing", "", 0, 0 },
	{ "32 bytes of zeros", zeros, 32, 0x8a9136aa },
	{ "32 bytes of ones", ones, 32, 0x62a8ab43 },
	{ "32 bytes ascending", ascending, 32, 0x46dd794e },
	{ "32 bytes descending", descending, 32, 0x113fdb5c },
	{ "an iSCSI read command", read_command, 48, 0xd9963a56 },
	{ "the digits 1 to 9", "123456789", 9, 0xe3069283 },
};

static void fill_vectors(void)
{
	u8 i;

	for (i = 0; i < 32; i++) {
		ones[i] = 0xff;
		ascending[i] = i;
		descending[i] = (u8)(31 - i);
	}
}

static void crc32c_equals_the_vectors_of_the_rfc(void **state)
{
	size_t i;

	(void)state;
	fill_vectors();
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		assert_row(vectors[i].name,
			   iot_crc32c(0, vectors[i].data, vectors[i].bytes) == vectors[i].crc);
}

static void crc32c_of_parts_equals_that_of_the_whole(void **state)
{
	u32 whole = iot_crc32c(0, read_command, sizeof(read_command));
	size_t split;

	(void)state;
	for (split = 0; split <= sizeof(read_command); split++)
		assert_int_equal(iot_crc32c(iot_crc32c(0, read_command, split), read_command + split,
					    sizeof(read_command) - split), whole);
}

static void crc32c_changes_with_every_bit(void **state)
{
	u32 before = iot_crc32c(0, read_command, sizeof(read_command));
	u8 copy[sizeof(read_command)];
	size_t bit;

	(void)state;
	for (bit = 0; bit < 8 * sizeof(copy); bit++) {
		memcpy(copy, read_command, sizeof(copy));
		copy[bit / 8] ^= (u8)(1u << bit % 8);
		assert_int_not_equal(iot_crc32c(0, copy, sizeof(copy)), before);
	}
}

SUITE("crc32c",
      TEST(crc32c_equals_the_vectors_of_the_rfc)
      TEST(crc32c_of_parts_equals_that_of_the_whole)
      TEST(crc32c_changes_with_every_bit))
