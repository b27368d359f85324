// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * siphash.c - SipHash-2-4, after J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input
 * PRF", 2012.
 */
#include "siphash.h"

struct state {
	u64 v0, v1, v2, v3;
};

static u64 rotate(u64 word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void mix(struct state *s, unsigned int rounds)
{
	while (rounds--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static inline void take_word(struct state *s, u64 word)
{
	s->v3 ^= word;
	mix(s, 2);
	s->v0 ^= word;
}

static u64 word_at(const u8 *p)
{
	__le64 word;

	memcpy(&word, p, sizeof(word));
	return le64_to_cpu(word);
}

/* The remaining bytes at the end, and the length in the highest byte. */
static u64 last_word(const u8 *p, size_t left, size_t bytes)
{
	u64 word = (u64)bytes << 56;

	while (left--)
		word |= (u64)p[left] << (8 * left);
	return word;
}

/**
 * iot_siphash() - the checksum of some bytes
 * @key: secret
 * @data: the bytes
 * @bytes: their number
 */
u64 iot_siphash(const struct iot_siphash_key *key, const void *data, size_t bytes)
{
	struct state s = {
		key->words[0] ^ 0x736f6d6570736575ull,
		key->words[1] ^ 0x646f72616e646f6dull,
		key->words[0] ^ 0x6c7967656e657261ull,
		key->words[1] ^ 0x7465646279746573ull,
	};
	const u8 *p = data;
	size_t left = bytes;

	for (; left >= 8; left -= 8, p += 8)
		take_word(&s, word_at(p));
	take_word(&s, last_word(p, left, bytes));
	s.v2 ^= 0xff;
	mix(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
