// SPDX-License-Identifier: GPL-2.0-only
/*
 * seal.c - seal a file to a public key: a node can write what it cannot read.
 */
#include <errno.h>
#include <stdlib.h>

#include "seal.h"

/**
 * struct sealer - a file that is being sealed
 * @block: of the file, @sealed: the same encrypted
 */
struct sealer {
	crypto_secretstream_xchacha20poly1305_state state;
	struct seal_head head;
	u8 block[SEAL_BLOCK_BYTES];
	u8 sealed[SEAL_BLOCK_BYTES + crypto_secretstream_xchacha20poly1305_ABYTES];
};

/* The part of the head before the stream is authenticated with the first block. */
static int make_head(struct sealer *s, const struct seal_keys *keys)
{
	u8 key[crypto_secretstream_xchacha20poly1305_KEYBYTES];
	int err;

	s->head = (struct seal_head){
		.magic = SEAL_MAGIC,
		.version = cpu_to_le32(SEAL_VERSION),
		.block_bytes = cpu_to_le32(SEAL_BLOCK_BYTES),
	};
	crypto_secretstream_xchacha20poly1305_keygen(key);
	err = crypto_box_seal(s->head.key, key, sizeof(key), keys->public_key) ||
	      crypto_secretstream_xchacha20poly1305_init_push(&s->state, s->head.stream, key);
	sodium_memzero(key, sizeof(key));
	return err ? -EINVAL : 0;
}

/* @is_first: the head is authenticated with the block */
static int write_block(struct sealer *s, size_t bytes, bool is_first, bool is_last, int out)
{
	unsigned char tag = is_last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL :
				      crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;

	crypto_secretstream_xchacha20poly1305_push(&s->state, s->sealed, NULL, s->block, bytes, (const u8 *)&s->head,
						   is_first ? sizeof(s->head) : 0, tag);
	return seal_write(out, s->sealed, bytes + crypto_secretstream_xchacha20poly1305_ABYTES);
}

static int fail_with(char *why, size_t room, const char *name, int err)
{
	snprintf(why, room, "%s: %s", name, strerror(-err));
	return err;
}

static int copy(struct sealer *s, int in, const char *in_name, int out, const char *out_name, char *why, size_t room)
{
	bool is_first = true;
	s64 bytes;
	int err;

	err = seal_write(out, &s->head, sizeof(s->head));
	do {
		if (err)
			return fail_with(why, room, out_name, err);
		bytes = seal_read(in, s->block, sizeof(s->block));
		if (bytes < 0)
			return fail_with(why, room, in_name, (int)bytes);
		err = write_block(s, (size_t)bytes, is_first, bytes < SEAL_BLOCK_BYTES, out);
		is_first = false;
	} while (bytes == SEAL_BLOCK_BYTES);
	return err ? fail_with(why, room, out_name, err) : 0;
}

/**
 * seal_copy() - seal what a descriptor has, up to its end
 * @keys: the public key
 * @in, @in_name: descriptor, and its name for messages
 * @out, @out_name: the same of the output
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Blocks are written as soon as they are full, so that an output that is cut has all blocks before.
 *
 * Return: 0 or a negative errno.
 */
int seal_copy(const struct seal_keys *keys, int in, const char *in_name, int out, const char *out_name, char *why, size_t room)
{
	struct sealer *s = malloc(sizeof(*s));
	int err = s ? make_head(s, keys) : -ENOMEM;

	err = err ? fail_with(why, room, out_name, err) : copy(s, in, in_name, out, out_name, why, room);
	if (s)
		sodium_memzero(s, sizeof(*s));
	free(s);
	return err;
}
