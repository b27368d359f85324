/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pseudonym.h - keyed hashes in the form of names.
 */
#ifndef IOTAPE_PSEUDONYM_H
#define IOTAPE_PSEUDONYM_H

#include "anonymize.h"

/* The shortest pseudonym of a component, of 5 bits a character; a program's name has no more than 15. */
#define PSEUDONYM_MIN_CHARS	  16
#define PSEUDONYM_PROGRAM_CHARS	  15
#define PSEUDONYM_EXTENSION_CHARS 8 /* the longest extension that is kept */

/**
 * struct pseudonym_text - a text that is built
 * @bytes: of it; not terminated
 * @count: their number
 * @is_too_long: there was no room for all of it
 */
struct pseudonym_text {
	u8 bytes[IOT_TAIL_MAX_BYTES];
	size_t count;
	bool is_too_long;
};

void pseudonym_add_bytes(struct pseudonym_text *text, const void *bytes, size_t count);
void pseudonym_add_hash(struct pseudonym_text *text, const unsigned char key[ANON_KEY_BYTES], const void *bytes,
			size_t count, size_t chars);
void pseudonym_add_component(struct pseudonym_text *text, const struct anon_options *options, const void *bytes,
			     size_t count);
void pseudonym_add_path(struct pseudonym_text *text, const struct anon_options *options, const void *bytes,
			size_t count);

#endif
