// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * build_id.c - the build id of a program or shared library, from the beginning of its file.
 *
 * Linkers put the note with the build id behind the headers, so it is in the first page. The file is not trusted.
 */
#include "build_id.h"

#define HEAD_BYTES    64 /* of a 64-bit ELF file */
#define SEGMENT_BYTES 56
#define SEGMENTS_MAX  64
#define NOTE	      4 /* PT_NOTE */
#define BUILD_ID      3 /* NT_GNU_BUILD_ID */
#define NOTES_MAX     32

static u64 get(const u8 *image, size_t at, u32 bytes)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		value |= (u64)image[at + i] << 8 * i;
	return value;
}

/* Return: bytes of the id; 0 if none of the notes in this range has one. */
static u32 find_in_notes(const u8 *image, u64 at, u64 stop, u8 *id)
{
	u32 i, j, name_bytes, bytes;

	for (i = 0; i < NOTES_MAX && at <= stop && stop - at >= 12; i++) {
		name_bytes = (u32)get(image, at, 4);
		bytes = (u32)get(image, at + 4, 4);
		if (name_bytes > 4096 || bytes > 4096)
			return 0;
		if (get(image, at + 8, 4) == BUILD_ID && name_bytes == 4 && bytes && bytes <= IOT_BUILD_ID_MAX_BYTES &&
		    stop - at >= 16 + bytes && get(image, at + 12, 4) == 0x554e47) { /* "GNU" */
			for (j = 0; j < bytes; j++)
				id[j] = image[at + 16 + j];
			return bytes;
		}
		at += 12 + ((name_bytes + 3) & ~3u) + ((bytes + 3) & ~3u);
	}
	return 0;
}

/**
 * iot_build_id_find() - the build id of an ELF file
 * @image: the beginning of the file
 * @bytes: how much of it
 * @id: out
 *
 * Return: bytes of the id; 0 if there is none, the file is no 64-bit little-endian one, or the note is not in the beginning.
 */
u32 iot_build_id_find(const void *image, size_t bytes, u8 id[IOT_BUILD_ID_MAX_BYTES])
{
	const u8 *p = image;
	u64 segments, at, size;
	u32 count, i, found;

	if (bytes < HEAD_BYTES || get(p, 0, 4) != 0x464c457f || p[4] != 2 || p[5] != 1 || get(p, 54, 2) != SEGMENT_BYTES)
		return 0;
	segments = get(p, 32, 8);
	count = (u32)get(p, 56, 2);
	for (i = 0; i < count && i < SEGMENTS_MAX; i++) {
		if (segments > bytes || bytes - segments < (i + 1ul) * SEGMENT_BYTES)
			return 0;
		if (get(p, segments + i * SEGMENT_BYTES, 4) != NOTE)
			continue;
		at = get(p, segments + i * SEGMENT_BYTES + 8, 8);
		size = get(p, segments + i * SEGMENT_BYTES + 32, 8);
		if (at >= bytes)
			continue;
		found = find_in_notes(p, at, size < bytes - at ? at + size : bytes, id);
		if (found)
			return found;
	}
	return 0;
}
