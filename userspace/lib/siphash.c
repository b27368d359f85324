// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * siphash.c - SipHash-1-3, by Aumasson and Bernstein.
 */
#include "siphash.h"

static u64 rotate(u64 v, int bits)
{
	return v << bits | v >> (64 - bits);
}

static void mix(u64 v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

static void take(u64 v[4], u64 word)
{
	v[3] ^= word;
	mix(v);
	v[0] ^= word;
}

/**
 * siphash() - hash of some bytes
 * @secret: two random numbers
 * @data: the bytes
 * @bytes: their number
 *
 * Return: the hash.
 */
u64 siphash(const u64 secret[2], const void *data, size_t bytes)
{
	u64 v[4] = {
		secret[0] ^ 0x736f6d6570736575, secret[1] ^ 0x646f72616e646f6d,
		secret[0] ^ 0x6c7967656e657261, secret[1] ^ 0x7465646279746573,
	};
	u64 last = (u64)bytes << 56, word;
	const u8 *p = data;
	size_t i;

	for (; bytes >= 8; bytes -= 8, p += 8) {
		memcpy(&word, p, sizeof(word));
		take(v, le64_to_cpu(word));
	}
	for (i = 0; i < bytes; i++)
		last |= (u64)p[i] << 8 * i;
	take(v, last);
	v[2] ^= 0xff;
	for (i = 0; i < 3; i++)
		mix(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
