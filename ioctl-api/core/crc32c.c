// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * crc32c.c - CRC-32C, eight bytes at a time.
 *
 * RFC 3720, appendix B.4. A checksum is linear: the remainder of eight bytes is the exclusive or of the remainders
 * of each byte with zeros behind it, and the remainder of a byte is that of its bits. So there is a table for each
 * of the eight places, and each table follows from eight numbers. Programs and traces have hundreds of megabytes,
 * all of which are checked: with four bits at a time, the checksum took most of the time to load a program.
 */
#include "crc32c.h"

/* The sum of the remainders of the bits that are set in @byte. */
#define REMAINDER(byte, a, b, c, d, e, f, g, h)                                        \
	(((byte) & 1 ? a : 0) ^ ((byte) & 2 ? b : 0) ^ ((byte) & 4 ? c : 0) ^          \
	 ((byte) & 8 ? d : 0) ^ ((byte) & 16 ? e : 0) ^ ((byte) & 32 ? f : 0) ^        \
	 ((byte) & 64 ? g : 0) ^ ((byte) & 128 ? h : 0))
#define FOUR(byte, ...)                                                                \
	REMAINDER(byte, __VA_ARGS__), REMAINDER((byte) + 1, __VA_ARGS__),              \
		REMAINDER((byte) + 2, __VA_ARGS__), REMAINDER((byte) + 3, __VA_ARGS__)
#define SIXTEEN(byte, ...)                                                             \
	FOUR(byte, __VA_ARGS__), FOUR((byte) + 4, __VA_ARGS__),                        \
		FOUR((byte) + 8, __VA_ARGS__), FOUR((byte) + 12, __VA_ARGS__)
#define SIXTY_FOUR(byte, ...)                                                          \
	SIXTEEN(byte, __VA_ARGS__), SIXTEEN((byte) + 16, __VA_ARGS__),                 \
		SIXTEEN((byte) + 32, __VA_ARGS__), SIXTEEN((byte) + 48, __VA_ARGS__)
#define REMAINDERS(...)                                                                \
	{                                                                              \
		SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__),               \
		SIXTY_FOUR(128, __VA_ARGS__), SIXTY_FOUR(192, __VA_ARGS__)             \
	}

/* Remainders of a byte by the number of zero bytes behind it; reflected polynomial 0x82F63B78. */
static const u32 remainders[8][256] = {
	REMAINDERS(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf,
		   0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78),
	REMAINDERS(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8,
		   0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9),
	REMAINDERS(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5,
		   0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743),
	REMAINDERS(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6,
		   0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f),
	REMAINDERS(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91,
		   0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c),
	REMAINDERS(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f,
		   0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6),
	REMAINDERS(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53,
		   0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4),
	REMAINDERS(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da,
		   0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664),
};

static u32 add_byte(u32 crc, u8 byte)
{
	return (crc >> 8) ^ remainders[0][(crc ^ byte) & 255];
}

static u32 add_eight(u32 crc, const u8 *p)
{
	__le32 words[2];
	u32 low, high;

	memcpy(words, p, sizeof(words));
	low = crc ^ le32_to_cpu(words[0]);
	high = le32_to_cpu(words[1]);
	return remainders[7][low & 255] ^ remainders[6][low >> 8 & 255] ^
	       remainders[5][low >> 16 & 255] ^ remainders[4][low >> 24] ^
	       remainders[3][high & 255] ^ remainders[2][high >> 8 & 255] ^
	       remainders[1][high >> 16 & 255] ^ remainders[0][high >> 24];
}

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
	for (; bytes >= 8; bytes -= 8, p += 8)
		crc = add_eight(crc, p);
	while (bytes--)
		crc = add_byte(crc, *p++);
	return ~crc;
}
