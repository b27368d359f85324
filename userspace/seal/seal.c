// SPDX-License-Identifier: GPL-2.0-only
/*
 * seal.c - seal a file to a public key: a node can write what it cannot read.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "seal.h"

/**
 * struct sealer - a file that is being sealed
 * @extra: with the head
 * @is_begun: there was a block
 * @block: of the file
 * @sealed: the same as it is written: length, message
 */
struct sealer {
	crypto_secretstream_xchacha20poly1305_state state;
	struct seal_extra extra;
	bool is_begun;
	u8 block[SEAL_BLOCK_BYTES];
	u8 sealed[sizeof(__le32) + SEAL_MESSAGE_MAX];
};

static int make_head(struct sealer *s, const struct seal_keys *keys)
{
	u8 key[crypto_secretstream_xchacha20poly1305_KEYBYTES];
	int err;

	s->extra.head = (struct seal_head){
		.magic = SEAL_MAGIC,
		.version = cpu_to_le32(SEAL_VERSION),
		.block_bytes = cpu_to_le32(SEAL_BLOCK_BYTES),
	};
	crypto_secretstream_xchacha20poly1305_keygen(key);
	err = crypto_box_seal(s->extra.head.key, key, sizeof(key), keys->public_key) ||
	      crypto_secretstream_xchacha20poly1305_init_push(&s->state, s->extra.head.stream, key);
	sodium_memzero(key, sizeof(key));
	return err ? -EINVAL : 0;
}

static int write_block(struct sealer *s, size_t bytes, unsigned char tag, int out)
{
	size_t message_bytes = bytes + crypto_secretstream_xchacha20poly1305_ABYTES;

	s->extra.length_bytes = cpu_to_le32((u32)message_bytes);
	memcpy(s->sealed, &s->extra.length_bytes, sizeof(__le32));
	crypto_secretstream_xchacha20poly1305_push(&s->state, s->sealed + sizeof(__le32), NULL, s->block, bytes,
						   (const u8 *)&s->extra, SEAL_EXTRA_BYTES(!s->is_begun), tag);
	s->is_begun = true;
	return iot_write_all(out, s->sealed, sizeof(__le32) + message_bytes);
}

static int fail_with(char *why, size_t room, const char *name, int err)
{
	snprintf(why, room, "%s: %s", name, strerror(-err));
	return err;
}

static ssize_t read_block(struct sealer *s, int in)
{
	ssize_t bytes;

	do
		bytes = read(in, s->block, sizeof(s->block));
	while (bytes < 0 && errno == EINTR);
	return bytes < 0 ? -errno : bytes;
}

static int copy(struct sealer *s, int in, const char *in_name, int out, const char *out_name, char *why, size_t room)
{
	int err = iot_write_all(out, &s->extra.head, sizeof(s->extra.head));
	ssize_t bytes = 0;

	while (!err && (bytes = read_block(s, in)) > 0)
		err = write_block(s, (size_t)bytes, crypto_secretstream_xchacha20poly1305_TAG_MESSAGE, out);
	if (!err && !bytes)
		err = write_block(s, 0, crypto_secretstream_xchacha20poly1305_TAG_FINAL, out);
	if (err)
		return fail_with(why, room, out_name, err);
	return bytes < 0 ? fail_with(why, room, in_name, (int)bytes) : 0;
}

/**
 * seal_copy() - seal what a descriptor has, up to its end
 * @keys: the public key
 * @in, @in_name: descriptor, and its name for messages
 * @out, @out_name: the same of the output
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Data is sealed and written as soon as it is there, so that little is missing if this process is killed.
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
