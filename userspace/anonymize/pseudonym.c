// SPDX-License-Identifier: GPL-2.0-only
/*
 * pseudonym.c - keyed hashes in the form of names: HMAC-SHA-256 (RFC 2104, FIPS 180-4) in the base32 alphabet of
 * RFC 4648, in lower case, as names must remain different on file systems that ignore case.
 */
#include <ctype.h>
#include <sodium.h>
#include <string.h>

#include "pseudonym.h"

#define HASH_CHARS 51 /* whole groups of 5 bits in 256 bits */

/**
 * pseudonym_add_bytes() - append bytes as they are
 */
void pseudonym_add_bytes(struct pseudonym_text *text, const void *bytes, size_t count)
{
	if (count > sizeof(text->bytes) - text->count) {
		text->is_too_long = true;
		return;
	}
	if (count)
		memcpy(text->bytes + text->count, bytes, count);
	text->count += count;
}

/**
 * pseudonym_add_hash() - append the keyed hash of bytes
 * @text: grows
 * @key: of the hash
 * @bytes: bytes to hash
 * @count: their number
 * @chars: length of the pseudonym; behind 255 bits the hash repeats, so that names keep their length
 */
void pseudonym_add_hash(struct pseudonym_text *text, const unsigned char key[ANON_KEY_BYTES], const void *bytes,
			size_t count, size_t chars)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char hash[crypto_auth_hmacsha256_BYTES];
	size_t i, bit;
	u8 digit;

	crypto_auth_hmacsha256(hash, bytes, count, key);
	for (i = 0; i < chars; i++) {
		bit = i % HASH_CHARS * 5;
		digit = (u8)(((hash[bit / 8] << 8 | (bit / 8 + 1 < sizeof(hash) ? hash[bit / 8 + 1] : 0)) >>
			      (11 - bit % 8)) & 31);
		pseudonym_add_bytes(text, &digits[digit], 1);
	}
}

/* Return: the length of the extension with its dot, 0 if there is none that can be kept. */
static size_t extension_length(const u8 *bytes, size_t count)
{
	size_t i;

	for (i = 1; i <= PSEUDONYM_EXTENSION_CHARS && i < count && isalnum(bytes[count - i]); i++)
		;
	return i > 1 && i < count && bytes[count - i] == '.' ? i : 0;
}

static bool is_fixed(const u8 *bytes, size_t count)
{
	return !count || (bytes[0] == '.' && (count == 1 || (count == 2 && bytes[1] == '.')));
}

/**
 * pseudonym_add_component() - append the pseudonym of a component of a path
 * @text: grows
 * @options: key, and whether names or extensions are kept
 * @bytes: the component; "." and ".." mean the same everywhere, and stay
 * @count: their number
 *
 * A pseudonym is as long as the component, so that a name that is too long stays too long, but not shorter than
 * PSEUDONYM_MIN_CHARS, so that two components never share one.
 */
void pseudonym_add_component(struct pseudonym_text *text, const struct anon_options *options, const void *bytes,
			     size_t count)
{
	size_t extension = 0, chars;

	if (options->treatment[ANON_FIELD_names] == ANON_KEEP || is_fixed(bytes, count)) {
		pseudonym_add_bytes(text, bytes, count);
		return;
	}
	if (options->treatment[ANON_FIELD_extensions] == ANON_KEEP)
		extension = extension_length(bytes, count);
	chars = count - extension;
	if (chars < PSEUDONYM_MIN_CHARS)
		chars = PSEUDONYM_MIN_CHARS;
	pseudonym_add_hash(text, options->key, bytes, count, chars);
	pseudonym_add_bytes(text, (const u8 *)bytes + count - extension, extension);
}

/**
 * pseudonym_add_path() - append a path, of which each component is replaced
 * @text: grows
 * @options: as for pseudonym_add_component()
 * @bytes: the path, absolute or not
 * @count: their number
 */
void pseudonym_add_path(struct pseudonym_text *text, const struct anon_options *options, const void *bytes,
			size_t count)
{
	const u8 *at = bytes, *end = at + count, *slash;

	for (;;) {
		slash = memchr(at, '/', (size_t)(end - at));
		pseudonym_add_component(text, options, at, (size_t)((slash ? slash : end) - at));
		if (!slash)
			return;
		pseudonym_add_bytes(text, "/", 1);
		at = slash + 1;
	}
}
