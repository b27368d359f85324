// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * crc32c.c - CRC-32C, four bits at a time.
 *
 * RFC 3720, appendix B.4. A table of sixteen entries stays in the cache beside
 * whatever else is going on; checksums are a small part of reading and writing.
 */
#include "crc32c.h"

/* Remainders of the sixteen values of four bits, reflected polynomial 0x82F63B78. */
static const u32 remainders[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
	0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

/**
 * iot_crc32c() - checksum of some bytes
 * @crc: 0, or the checksum of the bytes before these
 * @data: the bytes
 * @bytes: their number
 *
 * Return: the checksum of all of them.
 */
u32 iot_crc32c(u32 crc, const void *data, size_t bytes)
{
	const u8 *p = data;

	crc = ~crc;
	while (bytes--) {
		crc ^= *p++;
		crc = (crc >> 4) ^ remainders[crc & 15];
		crc = (crc >> 4) ^ remainders[crc & 15];
	}
	return ~crc;
}
