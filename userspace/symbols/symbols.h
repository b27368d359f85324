/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - the call sites of a trace: from addresses to functions and lines.
 *
 * Functions and lines are not in a trace. They are read from the programs and libraries on this machine, if these are the
 * same files: the build id that was recorded, or without one the device and inode number, must be equal. Else a place is an
 * offset in a named object. Without elfutils at build time, it always is.
 */
#ifndef IOTAPE_SYMBOLS_H
#define IOTAPE_SYMBOLS_H

#include "lib/iotape.h"

/**
 * struct symbols_frame - a function call
 * @function: its name; NULL if not known
 * @file: of the source; NULL if not known
 * @line: in it, 0 if not known
 * @object: path of the program or library that has its code; NULL if it is in none, or not known
 * @build: build id of that, as digits; "" if not known
 * @offset_bytes: of the code in the file of @object, or its address without one
 * @is_guess: it is the most likely one: the frame before it has no unwind information here
 * @is_of_libc: it is part of the C library or of the dynamic linker
 */
struct symbols_frame {
	const char *function;
	const char *file;
	u32 line;
	const char *object;
	const char *build;
	u64 offset_bytes;
	bool is_guess;
	bool is_of_libc;
};

#define SYMBOLS_TEXT_BYTES 1024 /* of a frame */

struct symbols;

int symbols_open(const char *path, struct symbols **symbols, struct iot_reject *reject);
void symbols_close(struct symbols *symbols);
bool symbols_has_stacks(const struct symbols *symbols);
bool symbols_has_elfutils(void);
void symbols_kinds(u64 kinds[IOT_KIND_WORDS]);
int symbols_take(struct symbols *symbols, const struct iot_record *record);
int symbols_frames(struct symbols *symbols, const struct iot_record *record, const struct symbols_frame **frames, u32 *count);
int symbols_site(struct symbols *symbols, const struct iot_record *record, char text[SYMBOLS_TEXT_BYTES]);
void symbols_frame_text(const struct symbols_frame *frame, char text[SYMBOLS_TEXT_BYTES]);

#endif
