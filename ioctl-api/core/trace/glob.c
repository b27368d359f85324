// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * glob.c - shell patterns, matched in bounded time.
 *
 *   *       any bytes but '/'
 *   **      any bytes; as a whole component, any number of directories, also none
 *   ?       one byte but '/'
 *   [a-z]   one byte of a set; [!a-z] one that is not in it; never '/'
 *   \x      the byte x
 *
 * The pattern is an automaton: a state is a position in it, and a set of states is a bitmap. Each byte of the text is
 * looked at once (Thompson 1968), so the time is at most the product of both lengths.
 */
#include "core/trace/filter.h"

#define WORDS ((IOT_FILTER_TEXT_MAX + 1 + 63) / 64)

struct states {
	u64 word[WORDS];
};

struct pattern {
	const char *p;
	u32 bytes;
};

static void add(struct states *states, u32 at)
{
	states->word[at / 64] |= 1ull << at % 64;
}

static bool has(const struct states *states, u32 at)
{
	return states->word[at / 64] >> at % 64 & 1;
}

static bool is_byte(const struct pattern *pattern, u32 at, char byte)
{
	return at < pattern->bytes && pattern->p[at] == byte;
}

static bool is_double(const struct pattern *pattern, u32 at)
{
	return is_byte(pattern, at, '*') && is_byte(pattern, at + 1, '*');
}

/*
 * Adds a state, and the states that are reached from it without a byte. Positions only grow. @is_begin: a component
 * of the text begins here, where a component of two asterisks may match no directory.
 */
static void close_over(const struct pattern *pattern, struct states *states, bool is_begin)
{
	u32 at;

	for (at = 0; at < pattern->bytes; at++) {
		if (!has(states, at) || pattern->p[at] != '*')
			continue;
		if (!is_double(pattern, at)) {
			add(states, at + 1);
			continue;
		}
		add(states, at + 2);
		if (is_begin && is_byte(pattern, at + 2, '/') && (!at || pattern->p[at - 1] == '/'))
			add(states, at + 3);
	}
}

/*
 * Return: the length of the set that begins at @at, with its brackets; 0 if it has no end: then the bracket is an
 * ordinary byte.
 */
static u32 set_bytes(const struct pattern *pattern, u32 at)
{
	u32 i = at + 1;

	if (is_byte(pattern, i, '!') || is_byte(pattern, i, '^'))
		i++;
	if (is_byte(pattern, i, ']'))
		i++;
	while (i < pattern->bytes && pattern->p[i] != ']')
		i++;
	return i < pattern->bytes ? i + 1 - at : 0;
}

static bool set_has(const struct pattern *pattern, u32 at, u32 bytes, char byte)
{
	bool is_inverse = pattern->p[at + 1] == '!' || pattern->p[at + 1] == '^', is_in = false;
	u32 i = at + 1 + is_inverse, end = at + bytes - 1;

	for (; i < end; i++) {
		u8 low = (u8)pattern->p[i], high = low;

		if (i + 2 < end && pattern->p[i + 1] == '-') {
			high = (u8)pattern->p[i + 2];
			i += 2;
		}
		is_in |= (u8)byte >= low && (u8)byte <= high;
	}
	return is_in != is_inverse && byte != '/';
}

/* Adds the states that follow state @at on @byte. */
static void step(const struct pattern *pattern, u32 at, char byte, struct states *next)
{
	u32 bytes;

	switch (pattern->p[at]) {
	case '*':
		if (byte != '/' || is_double(pattern, at))
			add(next, at);
		return;
	case '?':
		if (byte != '/')
			add(next, at + 1);
		return;
	case '[':
		bytes = set_bytes(pattern, at);
		if (!bytes)
			break;
		if (set_has(pattern, at, bytes, byte))
			add(next, at + bytes);
		return;
	case '\\':
		if (at + 1 == pattern->bytes)
			break;
		if (pattern->p[at + 1] == byte)
			add(next, at + 2);
		return;
	}
	if (pattern->p[at] == byte)
		add(next, at + 1);
}

/**
 * iot_glob_match() - does a text match a pattern?
 * @pattern: see above
 * @pattern_bytes: at most IOT_FILTER_TEXT_MAX
 * @text: any bytes
 * @text_bytes: their number
 */
bool iot_glob_match(const char *pattern, u32 pattern_bytes, const char *text, u32 text_bytes)
{
	const struct pattern p = { pattern, pattern_bytes };
	struct states now = {}, next;
	u32 i, at;

	add(&now, 0);
	close_over(&p, &now, true);
	for (i = 0; i < text_bytes; i++) {
		next = (struct states){};
		for (at = 0; at < pattern_bytes; at++)
			if (has(&now, at))
				step(&p, at, text[i], &next);
		close_over(&p, &next, text[i] == '/');
		now = next;
	}
	return has(&now, pattern_bytes);
}
