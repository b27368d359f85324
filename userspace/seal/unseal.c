// SPDX-License-Identifier: GPL-2.0-only
/*
 * unseal.c - the contents of a sealed file. Nothing in the file is trusted: only what the key of the stream authenticates
 * is written.
 */
#include <errno.h>
#include <stdlib.h>

#include "seal.h"

/**
 * struct opener - a sealed file that is being read
 * @extra: with the head
 * @block_count: blocks that were written
 */
struct opener {
	const struct seal_keys *keys;
	crypto_secretstream_xchacha20poly1305_state state;
	struct seal_extra extra;
	u64 block_count;
	u8 message[SEAL_MESSAGE_MAX];
	u8 block[SEAL_BLOCK_BYTES];
};

enum block_state { BLOCK_MORE, BLOCK_LAST, BLOCK_CUT, BLOCK_WRONG };

static int refuse(char *why, size_t room, const char *name, const char *sentence)
{
	snprintf(why, room, "%s: %s", name, sentence);
	return -EBADMSG;
}

static int open_stream(struct opener *o)
{
	u8 key[crypto_secretstream_xchacha20poly1305_KEYBYTES];
	int err = crypto_box_seal_open(key, o->extra.head.key, sizeof(o->extra.head.key), o->keys->public_key, o->keys->secret_key) ||
		  crypto_secretstream_xchacha20poly1305_init_pull(&o->state, o->extra.head.stream, key);

	sodium_memzero(key, sizeof(key));
	return err ? -EBADMSG : 0;
}

static int read_head(struct opener *o, int in, const char *name, char *why, size_t room)
{
	s64 bytes = seal_read(in, &o->extra.head, sizeof(o->extra.head));

	if (bytes < 0) {
		snprintf(why, room, "%s: %s", name, strerror((int)-bytes));
		return (int)bytes;
	}
	if (bytes < SEAL_MAGIC_BYTES || memcmp(o->extra.head.magic, SEAL_MAGIC, SEAL_MAGIC_BYTES))
		return refuse(why, room, name, "is not a sealed file");
	if (bytes < (s64)sizeof(o->extra.head))
		return refuse(why, room, name, "ends within its head");
	if (le32_to_cpu(o->extra.head.version) != SEAL_VERSION || le32_to_cpu(o->extra.head.block_bytes) != SEAL_BLOCK_BYTES)
		return refuse(why, room, name, "was sealed by a version that cannot be read");
	return open_stream(o) ? refuse(why, room, name, "is not sealed to this key, or its head was changed") : 0;
}

static enum block_state open_block(struct opener *o, size_t message_bytes, size_t *bytes)
{
	unsigned long long count = 0;
	unsigned char tag;

	if (crypto_secretstream_xchacha20poly1305_pull(&o->state, o->block, &count, &tag, o->message, message_bytes,
						       (const u8 *)&o->extra, SEAL_EXTRA_BYTES(!o->block_count)))
		return BLOCK_WRONG;
	*bytes = (size_t)count;
	o->block_count++;
	return tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL ? BLOCK_LAST : BLOCK_MORE;
}

/* Return: a state; -errno if the file cannot be read. */
static int read_block(struct opener *o, int in, size_t *bytes)
{
	s64 got = seal_read(in, &o->extra.length_bytes, sizeof(__le32));
	u32 message_bytes = le32_to_cpu(o->extra.length_bytes);

	*bytes = 0;
	if (got < (s64)sizeof(__le32))
		return got < 0 ? (int)got : BLOCK_CUT;
	if (message_bytes < crypto_secretstream_xchacha20poly1305_ABYTES || message_bytes > sizeof(o->message))
		return BLOCK_WRONG;
	got = seal_read(in, o->message, message_bytes);
	if (got < (s64)message_bytes)
		return got < 0 ? (int)got : BLOCK_CUT;
	return open_block(o, message_bytes, bytes);
}

static int copy(struct opener *o, int in, const char *in_name, int out, const char *out_name, bool *is_cut, char *why, size_t room)
{
	int state = BLOCK_MORE, err = 0;
	size_t bytes;

	while (state == BLOCK_MORE && !err) {
		state = read_block(o, in, &bytes);
		err = iot_write_all(out, o->block, bytes);
		if (err)
			snprintf(why, room, "%s: %s", out_name, strerror(-err));
	}
	if (err)
		return err;
	*is_cut = state == BLOCK_CUT;
	if (state < 0) {
		snprintf(why, room, "%s: %s", in_name, strerror(-state));
		return state;
	}
	if (state == BLOCK_WRONG) {
		snprintf(why, room, "%s: block %llu was changed", in_name, (unsigned long long)o->block_count + 1);
		return -EBADMSG;
	}
	if (state == BLOCK_LAST && seal_read(in, o->message, 1) > 0)
		return refuse(why, room, in_name, "has bytes after its end");
	return 0;
}

/**
 * seal_open_copy() - write the contents of a sealed file
 * @keys: the secret key
 * @in, @in_name: descriptor, and its name for messages
 * @out, @out_name: the same of the output
 * @is_cut: out, without an error: the end is missing; the contents up to there are written
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0; -EBADMSG if the file is not sealed to this key, or was changed: the beginning that was written is unchanged;
 * or another negative errno.
 */
int seal_open_copy(const struct seal_keys *keys, int in, const char *in_name, int out, const char *out_name, bool *is_cut,
		   char *why, size_t room)
{
	struct opener *o = calloc(1, sizeof(*o));
	int err;

	*is_cut = false;
	if (!o) {
		snprintf(why, room, "%s: %s", in_name, strerror(ENOMEM));
		return -ENOMEM;
	}
	o->keys = keys;
	err = read_head(o, in, in_name, why, room);
	if (!err)
		err = copy(o, in, in_name, out, out_name, is_cut, why, room);
	sodium_memzero(o, sizeof(*o));
	free(o);
	return err;
}
