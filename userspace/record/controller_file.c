// SPDX-License-Identifier: GPL-2.0-only
/*
 * controller_file.c - the file that states where the controller of several nodes is, and the proof of having read it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "controller.h"
#include "lib/iotape.h"

/**
 * controller_file_write() - write the file
 * @path: a new file, readable for its owner only
 * @file: its contents
 *
 * Return: 0 or a negative errno.
 */
int controller_file_write(const char *path, const struct controller_file *file)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600), err = 0;
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	unsigned int i;

	if (!stream) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	fprintf(stream, "key %016" PRIx64 " %016" PRIx64 "\nport %u\nnode %s\n", (uint64_t)file->key.words[0],
		(uint64_t)file->key.words[1], file->port, file->node);
	for (i = 0; i < file->address_count; i++)
		fprintf(stream, "address %s\n", file->addresses[i]);
	if (fflush(stream) || ferror(stream))
		err = -EIO;
	return fclose(stream) && !err ? -errno : err;
}

/* Return: is it a line of the file? */
static bool take_line(struct controller_file *file, const char *line)
{
	unsigned long long words[2];
	unsigned int port;

	if (sscanf(line, "key %llx %llx", &words[0], &words[1]) == 2) {
		file->key = (struct iot_siphash_key){ { words[0], words[1] } };
		return true;
	}
	if (sscanf(line, "port %u", &port) == 1) {
		file->port = (u16)port;
		return port < 65536;
	}
	if (sscanf(line, "node %64s", file->node) == 1)
		return true;
	return file->address_count < CONTROLLER_ADDRESSES_MAX &&
	       sscanf(line, "address %63s", file->addresses[file->address_count++]) == 1;
}

/**
 * controller_file_read() - read the file
 * @path: of it; refused if another user may have written it
 * @file: out
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int controller_file_read(const char *path, struct controller_file *file, char *why, size_t room)
{
	const char *reason = NULL;
	int fd = iot_file_open_own(path, &reason);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
	bool is_valid = true;
	char line[256];

	*file = (struct controller_file){};
	if (!stream) {
		snprintf(why, room, "%s: %s", path, reason ? reason : strerror(fd < 0 ? -fd : errno));
		if (fd >= 0)
			close(fd);
		return fd < 0 ? fd : -ENOMEM;
	}
	while (is_valid && fgets(line, sizeof(line), stream))
		is_valid = take_line(file, line);
	fclose(stream);
	if (is_valid && file->port && file->node[0] && file->address_count)
		return 0;
	snprintf(why, room, "%s: not a file of the controller of iotape discover", path);
	return -EBADMSG;
}

/**
 * controller_file_chooses() - are the threads of a node delayed?
 * @file: read
 * @node: name of the node
 */
bool controller_file_chooses(const struct controller_file *file, const char *node)
{
	return !strcmp(file->node, "*") || !strcmp(file->node, node);
}

/**
 * controller_proof() - what only a reader of the file can compute
 * @file: the file
 * @side: the one that proves it: CONTROLLER_PROOF_CLIENT or CONTROLLER_PROOF_SERVER
 * @challenge: of the controller
 * @hello: of the recorder; its proof is not used
 */
u64 controller_proof(const struct controller_file *file, u8 side, const struct node_challenge *challenge, const struct node_hello *hello)
{
	u8 bytes[1 + sizeof(challenge->nonce) + sizeof(hello->nonce) + sizeof(hello->name)];
	u8 *at = bytes;

	*at++ = side;
	memcpy(at, challenge->nonce, sizeof(challenge->nonce));
	at += sizeof(challenge->nonce);
	memcpy(at, hello->nonce, sizeof(hello->nonce));
	at += sizeof(hello->nonce);
	memcpy(at, hello->name, sizeof(hello->name));
	return iot_siphash(&file->key, bytes, sizeof(bytes));
}
