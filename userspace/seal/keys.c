// SPDX-License-Identifier: GPL-2.0-only
/*
 * keys.c - key files: a line of text each, a word for the kind and the key in base64.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "seal.h"

#define KEY_BYTES    32
#define BASE64_BYTES sodium_base64_ENCODED_LEN(KEY_BYTES, sodium_base64_VARIANT_ORIGINAL)
#define LINE_BYTES   128

static const char secret_word[] = "iotape-secret-key";
static const char public_word[] = "iotape-public-key";

static_assert(crypto_box_PUBLICKEYBYTES == KEY_BYTES && crypto_box_SECRETKEYBYTES == KEY_BYTES, "keys have 32 bytes");

/* A file that exists is a key that may be needed: it is not replaced. */
static int write_key(const char *path, mode_t mode, const char *word, const u8 key[KEY_BYTES])
{
	char base64[BASE64_BYTES], line[LINE_BYTES];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), err;

	if (fd < 0)
		return -errno;
	sodium_bin2base64(base64, sizeof(base64), key, KEY_BYTES, sodium_base64_VARIANT_ORIGINAL);
	snprintf(line, sizeof(line), "%s %s\n", word, base64);
	err = iot_write_all(fd, line, strlen(line));
	sodium_memzero(base64, sizeof(base64));
	sodium_memzero(line, sizeof(line));
	if (close(fd) && !err)
		err = -errno;
	if (err)
		unlink(path);
	return err;
}

/**
 * seal_keys_make() - make a pair of keys
 * @path: file for the secret key, which only its owner can read; the public key goes to the same name with .pub
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno; then there is no file. Existing files are not replaced.
 */
int seal_keys_make(const char *path, char *why, size_t room)
{
	char public_path[PATH_MAX];
	struct seal_keys keys;
	int err;

	if (sodium_init() < 0) {
		snprintf(why, room, "%s: libsodium cannot be initialized", path);
		return -EIO;
	}
	if ((size_t)snprintf(public_path, sizeof(public_path), "%s.pub", path) >= sizeof(public_path)) {
		snprintf(why, room, "%s: %s", path, strerror(ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	crypto_box_keypair(keys.public_key, keys.secret_key);
	err = write_key(path, 0600, secret_word, keys.secret_key);
	sodium_memzero(keys.secret_key, sizeof(keys.secret_key));
	if (err) {
		snprintf(why, room, "%s: %s", path, strerror(-err));
		return err;
	}
	err = write_key(public_path, 0644, public_word, keys.public_key);
	if (err) {
		snprintf(why, room, "%s: %s", public_path, strerror(-err));
		unlink(path);
	}
	return err;
}

/* Return: 0; -EINVAL if it is no key of this kind. */
static int parse_key(const char *line, const char *word, u8 key[KEY_BYTES])
{
	size_t bytes = strlen(word), key_bytes;
	const char *end;

	if (strncmp(line, word, bytes) || line[bytes] != ' ')
		return -EINVAL;
	if (sodium_base642bin(key, KEY_BYTES, line + bytes + 1, strlen(line + bytes + 1), "\n", &key_bytes, &end,
			      sodium_base64_VARIANT_ORIGINAL) || key_bytes != KEY_BYTES || *end)
		return -EINVAL;
	return 0;
}

static int parse_keys(const char *line, struct seal_keys *keys)
{
	*keys = (struct seal_keys){};
	if (!parse_key(line, public_word, keys->public_key))
		return 0;
	if (parse_key(line, secret_word, keys->secret_key))
		return -EINVAL;
	keys->has_secret = true;
	return crypto_scalarmult_base(keys->public_key, keys->secret_key) ? -EINVAL : 0;
}

/**
 * seal_keys_read() - read a public key, or a secret key and so both
 * @path: its file
 * @keys: filled in
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int seal_keys_read(const char *path, struct seal_keys *keys, char *why, size_t room)
{
	char line[LINE_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	s64 bytes = fd < 0 ? -errno : seal_read(fd, line, LINE_BYTES);
	int err = bytes < 0 ? (int)bytes : 0;

	if (fd >= 0)
		close(fd);
	if (!err && sodium_init() < 0)
		err = -EIO;
	if (err) {
		snprintf(why, room, "%s: %s", path, strerror(-err));
		return err;
	}
	line[bytes] = 0;
	err = parse_keys(line, keys);
	sodium_memzero(line, sizeof(line));
	if (err)
		snprintf(why, room, "%s: is not a key: see iotape seal --new-key", path);
	return err;
}
