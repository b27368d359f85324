/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * stack.h - the stack of function calls of a user program, as far as frame pointers show it.
 *
 * Not for its meaning: which function an address is in is for readers of a trace.
 */
#ifndef IOTAPE_STACK_H
#define IOTAPE_STACK_H

#include "core/port.h"

#define IOT_STACK_NEAR_MAX   8	/* possible return addresses next to the stack pointer */
#define IOT_STACK_CALLERS_MAX 32 /* return addresses of frames */
#define IOT_STACK_WORDS_MAX  (1 + 2 * IOT_STACK_NEAR_MAX + IOT_STACK_CALLERS_MAX)

/* Instruction sets whose calls and frames are known. */
enum iot_stack_machine {
	IOT_STACK_x86_64,
	IOT_STACK_aarch64,
	IOT_STACK_unknown,
};

/*
 * Reads at most IOT_STACK_READ_MAX_BYTES of the memory of the program; the address may be any number. Returns false if not all
 * of them can be read now.
 */
typedef bool (*iot_stack_read_fn)(void *to, u64 address, size_t bytes);

#define IOT_STACK_READ_MAX_BYTES 128
#define IOT_STACK_VERDICTS	 4096
#define IOT_STACK_LINK		 1 /* instead of a distance, which is never odd: the word is that of the link register */

/**
 * struct iot_stack_at - where a program is
 * @machine: how frames and calls look
 * @ip: its next instruction
 * @sp: its stack pointer
 * @fp: its frame pointer, or any number if it has none
 * @limit: addresses of the program are below
 * @read: reads its memory
 * @verdicts: IOT_STACK_VERDICTS results of the search for calls, zero at first; other walks may use them at the same time. NULL: none
 * @process: of the program, whose results are others than those of another process
 * @link: its link register, on aarch64: the return address of the innermost function, until that has stored it in a frame
 */
struct iot_stack_at {
	enum iot_stack_machine machine;
	u64 ip;
	u64 sp;
	u64 fp;
	u64 limit;
	iot_stack_read_fn read;
	u64 *verdicts;
	u32 process;
	u64 link;
};

/**
 * struct iot_stack - a stack
 * @near: pairs in @words, behind the first one
 * @count: of @words
 * @words: the next instruction; @near pairs of a distance from the stack pointer in bytes, and a word there that is the address
 *	behind a call, or of IOT_STACK_LINK and the link register; the return addresses of the frames, the innermost first
 */
struct iot_stack {
	u32 near;
	u32 count;
	u64 words[IOT_STACK_WORDS_MAX];
};

void iot_stack_walk(const struct iot_stack_at *at, struct iot_stack *stack);

#endif
