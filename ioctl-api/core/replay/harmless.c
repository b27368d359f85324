// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * harmless.c - replacements for objects that would give rights: see harmless.h.
 *
 * The numbers are those of the system call interface, the same in kernel and user space.
 */
#include "harmless.h"

#define TYPE_BITS  0170000u
#define CHARACTER  0020000u
#define DIRECTORY  0040000u
#define BLOCK	   0060000u
#define PRIVILEGES 06000u /* set-user-id, set-group-id */

#define NO_DRIVER 1u /* major 0, minor 1: no driver can have major 0 */

#define SECURITY_PREFIX "security."

/* The value of security.capability: a revision with a flag, sets of capabilities, and in the last a user. */
#define CAPS_WORD_BYTES	     4
#define CAPS_REVISION_1_BYTES 12
#define CAPS_REVISION_2_BYTES 20
#define CAPS_REVISION_3_BYTES 24

/**
 * iot_harmless_mode() - the mode that a file may have
 * @mode: type and permissions; type 0 stands for a regular file
 *
 * Return: the mode, or the same without set-user-id and set-group-id.
 */
u32 iot_harmless_mode(u32 mode)
{
	return (mode & TYPE_BITS) == DIRECTORY ? mode : mode & ~PRIVILEGES;
}

/**
 * iot_harmless_rdev() - the number that a node may have
 * @mode: its type
 * @rdev: its number
 *
 * Character device 0:0 is no device, but marks a removed name. Users without the right to create device
 * nodes may create that one; so the number of any other is changed to one that requires the same right.
 *
 * Return: the number, or one that belongs to no driver.
 */
u64 iot_harmless_rdev(u32 mode, u64 rdev)
{
	u32 type = mode & TYPE_BITS;

	return (type == CHARACTER || type == BLOCK) && rdev > NO_DRIVER ? NO_DRIVER : rdev;
}

/* Return: the revision that a value of this length has; 0 if there is none. */
static u8 revision_of(size_t value_bytes)
{
	switch (value_bytes) {
	case CAPS_REVISION_1_BYTES:
		return 1;
	case CAPS_REVISION_2_BYTES:
		return 2;
	case CAPS_REVISION_3_BYTES:
		return 3;
	default:
		return 0;
	}
}

/* A little-endian word of which the highest byte is the revision, and the lowest bit a flag. */
static void clear_capabilities(u8 *value, size_t value_bytes)
{
	u8 revision = revision_of(value_bytes);

	memset(value, 0, revision == 3 ? CAPS_REVISION_2_BYTES : value_bytes);
	if (revision)
		value[CAPS_WORD_BYTES - 1] = revision;
}

/**
 * iot_harmless_value() - remove rights from the value of an extended attribute
 * @name: of the attribute, with its namespace
 * @value: of the attribute
 * @value_bytes: its length, which stays
 *
 * Return: true if the attribute could give rights: its value gives none now.
 */
bool iot_harmless_value(const char *name, u8 *value, size_t value_bytes)
{
	if (strncmp(name, SECURITY_PREFIX, strlen(SECURITY_PREFIX)))
		return false;
	if (!strcmp(name, SECURITY_PREFIX "capability"))
		clear_capabilities(value, value_bytes);
	else
		memset(value, 0, value_bytes);
	return true;
}
