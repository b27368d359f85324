/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seal.h - files that only the owner of a secret key can read: encrypted and authenticated by libsodium.
 */
#ifndef IOTAPE_SEAL_H
#define IOTAPE_SEAL_H

#include <sodium.h>

#include "lib/iotape.h"

/*
 * A sealed file: a head, then blocks. The head has a key of its own, encrypted to the public key (crypto_box_seal), and the
 * head of a stream (crypto_secretstream_xchacha20poly1305) of blocks under that key. A block is the length of a message of
 * the stream, in 4 bytes, and the message. The last block is an empty one with the tag that nothing follows.
 */
#define SEAL_MAGIC	 "\x89ioS\r\n\x1a\n"
#define SEAL_MAGIC_BYTES 8
#define SEAL_VERSION	 1
#define SEAL_BLOCK_BYTES 65536u /* of the file in a block, at most */

/**
 * struct seal_head - first bytes of a sealed file
 * @key: of the stream, sealed
 * @stream: head of the stream
 *
 * The first block authenticates the head, and each block its length.
 */
struct seal_head {
	u8 magic[SEAL_MAGIC_BYTES];
	__le32 version;
	__le32 block_bytes;
	u8 key[crypto_secretstream_xchacha20poly1305_KEYBYTES + crypto_box_SEALBYTES];
	u8 stream[crypto_secretstream_xchacha20poly1305_HEADERBYTES];
};

/**
 * struct seal_keys - a pair of keys
 * @has_secret: @secret is known
 */
struct seal_keys {
	u8 public_key[crypto_box_PUBLICKEYBYTES];
	u8 secret_key[crypto_box_SECRETKEYBYTES];
	bool has_secret;
};

/* keys.c */
int seal_keys_make(const char *path, char *why, size_t room);
int seal_keys_read(const char *path, struct seal_keys *keys, char *why, size_t room);

/* seal.c */
int seal_copy(const struct seal_keys *keys, int in, const char *in_name, int out, const char *out_name, char *why, size_t room);

/* unseal.c */
int seal_open_copy(const struct seal_keys *keys, int in, const char *in_name, int out, const char *out_name, bool *is_cut,
		   char *why, size_t room);

/**
 * struct seal_files - input and output of a command
 * @in_name, @out_name: for messages
 * @path: of the output; "" if it is standard output
 */
struct seal_files {
	int in;
	int out;
	const char *in_name;
	const char *out_name;
	char path[PATH_MAX];
};

/* files.c */
int seal_files_open(const char *input, const char *output, struct seal_files *files, char *why, size_t room);
int seal_files_close(struct seal_files *files, bool is_kept, char *why, size_t room);

/**
 * struct seal_pipe - a process that seals what is written to a pipe
 * @pid: 0 if there is none
 */
struct seal_pipe {
	pid_t pid;
	const char *out_name;
};

/* pipe.c */
int seal_pipe_start(struct seal_pipe *pipe, const struct seal_keys *keys, int out, const char *out_name);
int seal_pipe_finish(const struct seal_pipe *pipe, char *why, size_t room);

/**
 * struct seal_extra - data that a block authenticates besides its own
 * @length_bytes: of the message
 * @head: of the first block only
 */
struct seal_extra {
	__le32 length_bytes;
	struct seal_head head;
};

#define SEAL_EXTRA_BYTES(is_first) ((is_first) ? sizeof(struct seal_extra) : sizeof(__le32))
#define SEAL_MESSAGE_MAX	   (SEAL_BLOCK_BYTES + crypto_secretstream_xchacha20poly1305_ABYTES)

/* transfer.c */
s64 seal_read(int fd, void *bytes, size_t count);

#endif
