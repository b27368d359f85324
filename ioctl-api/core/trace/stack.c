// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * stack.c - the stack of function calls of a user program, as far as frame pointers show it.
 *
 * Each frame begins with the frame pointer of the caller and the return address. The function that made the system call
 * often has no frame: those of the C library do not set the frame pointer, and it still is that of their caller. So the
 * return address into that caller is not in the chain. It is a word between the stack pointer and the first frame. Its place
 * is stated by the unwind information of the object, which a reader has and the recorder does not. So the recorder keeps all words
 * there that are the address behind a call, with their places.
 *
 * On aarch64, compilers set the frame pointer in all functions that call others. One that calls none has its return address in
 * the link register. In others this register has any value, so whether it is the return address is again stated by the
 * unwind information only. Bits of a return address that are above those of addresses may be a signature, which is removed.
 *
 * The memory is that of a program that may be hostile: addresses may be any numbers, chains may have cycles, and another
 * thread may change everything meanwhile. The walk takes bounded time and claims no more than that these words were there.
 */
#include "stack.h"

#define NEAR_WORDS 64 /* next to the stack pointer */
#define READ_WORDS (IOT_STACK_READ_MAX_BYTES / sizeof(u64))
#define LOOKS_MAX  24 /* at code, for words next to the stack pointer */
#define LOW	   65536 /* no code is below */

/* Does an instruction that calls end right before an address? The shortest has 2 bytes, the longest that compilers use 7. */
static bool is_call_x86(const u8 bytes[8])
{
	static const u8 lengths[] = { 2, 3, 4, 6, 7 };
	size_t i;

	if (bytes[3] == 0xe8)
		return true;
	for (i = 0; i < sizeof(lengths); i++) {
		const u8 *p = bytes + 8 - lengths[i];

		if (p[0] == 0xff && (p[1] & 0x38) == 0x10)
			return true;
	}
	return false;
}

static bool is_call_aarch64(const u8 bytes[4])
{
	u32 word = bytes[0] | (u32)bytes[1] << 8 | (u32)bytes[2] << 16 | (u32)bytes[3] << 24;

	return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000;
}

static bool is_behind_call(const struct iot_stack_at *at, u64 address)
{
	u8 bytes[8];

	if (at->machine == IOT_STACK_aarch64)
		return !(address & 3) && at->read(bytes, address - 4, 4) && is_call_aarch64(bytes);
	return at->read(bytes, address - 8, 8) && is_call_x86(bytes);
}

/* The result for an address in the memory of a process: the address, 16 bits of the process, and the result as the last bit. */
static u64 *verdict_of(const struct iot_stack_at *at, u64 address, u64 *key)
{
	*key = address << 17 | (u64)(at->process & 0xffff) << 1;
	return at->verdicts + ((address ^ address >> 12 ^ (u64)at->process << 5) & (IOT_STACK_VERDICTS - 1));
}

/*
 * Is an address behind a call? Programs do not change their code, so a result is kept. If a library has been mapped at the place of
 * another one, or two processes have the same 16 bits, it may be wrong: then a possible return address is one too many or
 * too few.
 */
static bool is_return_address(const struct iot_stack_at *at, u64 address)
{
	u64 *verdict, key, known;
	bool is_call;

	if (address < LOW || address >= at->limit)
		return false;
	if (!at->verdicts)
		return is_behind_call(at, address);
	verdict = verdict_of(at, address, &key);
	known = iot_load_acquire(verdict);
	if ((known & ~1ull) == key)
		return known & 1;
	is_call = is_behind_call(at, address);
	iot_store_release(verdict, key | is_call);
	return is_call;
}

static u64 without_signature(const struct iot_stack_at *at, u64 word)
{
	return at->machine == IOT_STACK_aarch64 && at->limit > 1 ? word & ~0ull >> __builtin_clzll(at->limit - 1) : word;
}

static void put(struct iot_stack *stack, u64 word)
{
	stack->words[stack->count++] = word;
}

/* @looks: how often code may still be read. Return: false if there is no room for more. */
static bool take_near(const struct iot_stack_at *at, struct iot_stack *stack, u64 place, u64 word, u32 *looks)
{
	if (word < LOW || word >= at->limit || (word >= at->sp && word - at->sp < 1u << 20))
		return true;
	if (!*looks)
		return false;
	--*looks;
	if (!is_return_address(at, word))
		return true;
	put(stack, place - at->sp);
	put(stack, word);
	return ++stack->near < IOT_STACK_NEAR_MAX;
}

static void walk_near(const struct iot_stack_at *at, struct iot_stack *stack)
{
	u64 words[READ_WORDS], place = at->sp, stop = at->sp + NEAR_WORDS * sizeof(u64);
	u32 looks = LOOKS_MAX, i;

	if (at->sp & 7 || at->sp >= at->limit || stop > at->limit)
		return;
	if (at->fp >= at->sp && at->fp < stop)
		stop = at->fp & ~7ull;
	for (i = 0; place < stop; place += sizeof(u64), i = (i + 1) % READ_WORDS) {
		if (!i && !at->read(words, place, sizeof(words)))
			return;
		if (!take_near(at, stack, place, words[i], &looks))
			return;
	}
}

static void take_link(const struct iot_stack_at *at, struct iot_stack *stack)
{
	u64 link = without_signature(at, at->link);

	if (!is_return_address(at, link))
		return;
	put(stack, IOT_STACK_LINK);
	put(stack, link);
	stack->near++;
}

/* The stack grows down, so each frame is above the previous one: a cycle ends the walk. */
static void walk_frames(const struct iot_stack_at *at, struct iot_stack *stack)
{
	u64 frame = at->fp, below = at->sp, words[2];
	u32 i;

	for (i = 0; i < IOT_STACK_CALLERS_MAX; i++) {
		if (frame & 7 || frame < below || frame >= at->limit || at->limit - frame < sizeof(words))
			return;
		if (!at->read(words, frame, sizeof(words)))
			return;
		words[1] = without_signature(at, words[1]);
		if (!is_return_address(at, words[1]))
			return;
		put(stack, words[1]);
		below = frame + sizeof(words);
		frame = words[0];
	}
}

/**
 * iot_stack_walk() - the stack of a program
 * @at: where it is
 * @stack: out; the next instruction at least
 *
 * Of a machine that is not known, the stack has no callers.
 */
void iot_stack_walk(const struct iot_stack_at *at, struct iot_stack *stack)
{
	stack->near = 0;
	stack->count = 0;
	put(stack, at->ip);
	if (at->machine == IOT_STACK_x86_64)
		walk_near(at, stack);
	if (at->machine == IOT_STACK_aarch64)
		take_link(at, stack);
	if (at->machine != IOT_STACK_unknown)
		walk_frames(at, stack);
}
