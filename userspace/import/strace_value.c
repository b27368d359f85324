// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_value.c - what arguments of calls stand for: numbers, flags, names, descriptors.
 */
#include <ctype.h>
#include <stdlib.h>

#include "strace_line.h"

/**
 * text_is() - is a text this word?
 */
bool text_is(struct text text, const char *word)
{
	return strlen(word) == text.bytes && !memcmp(text.p, word, text.bytes);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* One number: decimal, octal or hexadecimal, perhaps negative. */
static bool take_number(struct text word, s64 *number)
{
	char copy[32], *end;

	if (!word.bytes || word.bytes >= sizeof(copy) ||
	    !(isdigit((unsigned char)*word.p) || *word.p == '-'))
		return false;
	memcpy(copy, word.p, word.bytes);
	copy[word.bytes] = 0;
	errno = 0;
	*number = *copy == '-' ? strtoll(copy, &end, 0) : (s64)strtoull(copy, &end, 0);
	return !*end && end != copy;
}

/* makedev(0x8, 0x1), as stat(2) has it. */
static bool take_device(struct text text, s64 *number)
{
	static const char begin[] = "makedev(";
	struct text list, major, minor;
	s64 a, b;

	if (text.bytes < sizeof(begin) || memcmp(text.p, begin, sizeof(begin) - 1))
		return false;
	list = (struct text){ text.p + sizeof(begin) - 1, text.bytes - sizeof(begin) };
	major.p = list.p;
	major.bytes = (size_t)(text_skip(list.p, list.p + list.bytes) - list.p);
	if (major.bytes >= list.bytes)
		return false;
	minor.p = major.p + major.bytes + 1;
	minor.bytes = list.bytes - major.bytes - 1;
	while (minor.bytes && *minor.p == ' ') {
		minor.p++;
		minor.bytes--;
	}
	if (!take_number(major, &a) || !take_number(minor, &b))
		return false;
	*number = (b & 0xff) | (a & 0xfff) << 8 | (b & 0xfff00) << 12;
	return true;
}

/**
 * value_number() - a number, or names of bits and values that are joined by |
 * @text: as strace shows it, in whatever way -X asks for
 * @number: out; names that are not known count as 0
 *
 * Return: is it one, of which something is known?
 */
bool value_number(struct text text, s64 *number)
{
	const char *p = text.p, *end = text.p + text.bytes;
	bool is_number = false;
	struct text word;
	s64 value;

	*number = 0;
	if (take_device(text, number))
		return true;
	while (p < end) {
		if (*p == ' ' || *p == '/') /* the rest is a comment */
			break;
		word.p = p;
		while (p < end && (is_word(*p) || *p == '-'))
			p++;
		word.bytes = (size_t)(p - word.p);
		if (!word.bytes || (p < end && *p != '|' && *p != ' ' && *p != '<'))
			return false;
		if (take_number(word, &value) || constant_find(word, &value)) {
			*number |= value;
			is_number = true;
		} else if (!isupper((unsigned char)*word.p)) {
			return false;
		}
		if (p < end && *p == '<')
			break; /* a descriptor, and what -y says of it; or a shift */
		p += p < end && *p == '|';
	}
	return is_number;
}

/**
 * call_number() - an argument that is a number or flags; 0 if it is none
 */
s64 call_number(const struct call *call, u32 index)
{
	s64 number;

	return index < call->arg_count && value_number(call->args[index], &number) ? number : 0;
}

/**
 * value_fd() - a descriptor
 * @text: as in 3</a/b>, AT_FDCWD</a> or 3
 * @fd: out
 * @path: out: what is said of it, still escaped; empty if nothing
 *
 * Return: is it one?
 */
bool value_fd(struct text text, s64 *fd, struct text *path)
{
	struct text number = { text.p, 0 };

	while (number.bytes < text.bytes && text.p[number.bytes] != '<')
		number.bytes++;
	*path = (struct text){ text.p, 0 };
	if (!value_number(number, fd))
		return false;
	*fd = (s32)*fd;
	if (number.bytes + 2 <= text.bytes) {
		size_t stop = text.bytes;

		while (stop > number.bytes && text.p[stop - 1] != '>')
			stop--;
		if (stop > number.bytes + 1)
			*path = (struct text){ text.p + number.bytes + 1,
					       stop - number.bytes - 2 };
	}
	return true;
}

static bool take_escape(const char **p, const char *end, u8 *byte)
{
	static const char names[] = "n\nt\tr\rv\vf\fa\ab\be\033";
	const char *q = *p, *name;
	int digits, value = 0;

	if (*q == 'x') {
		for (q++, digits = 0; q < end && digits < 2 && isxdigit((unsigned char)*q); digits++) {
			int c = tolower((unsigned char)*q++);

			value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
		}
		*p = q;
		*byte = (u8)value;
		return digits > 0;
	}
	if (*q >= '0' && *q <= '7') {
		for (digits = 0; q < end && digits < 3 && *q >= '0' && *q <= '7'; digits++)
			value = value * 8 + (*q++ - '0');
		*p = q;
		*byte = (u8)value;
		return true;
	}
	name = isalpha((unsigned char)*q) ? strchr(names, *q) : NULL;
	*byte = (u8)(name ? name[1] : *q);
	*p = q + 1;
	return true;
}

/* Return: where it stopped: at @stop, at a quote, or because there was no more room. */
static const char *unescape(const char *p, const char *end, char stop, u8 *bytes, size_t room,
			    size_t *count)
{
	*count = 0;
	while (p < end && (!stop || *p != stop) && *count < room) {
		u8 byte = (u8)*p++;

		if (byte == '\\' && p < end && !take_escape(&p, end, &byte))
			continue;
		bytes[(*count)++] = byte;
	}
	return p;
}

/**
 * value_string() - a string
 * @text: in quotes, escaped, perhaps followed by dots
 * @bytes: out: without quotes and escapes
 * @room: room for them
 * @count: out: how many there are
 *
 * Return: 0; 1 if strace cut it, or there is no room; -EINVAL if it is no string.
 */
int value_string(struct text text, u8 *bytes, size_t room, size_t *count)
{
	const char *p = text.p, *end = text.p + text.bytes;

	*count = 0;
	if (!text.bytes || *p != '"')
		return -EINVAL;
	p = unescape(p + 1, end, '"', bytes, room, count);
	if (p == end || *p != '"')
		return 1;
	return end - p > 3 && !memcmp(p + 1, "...", 3);
}

/**
 * value_path() - what -y says of a descriptor, without escapes
 */
void value_path(struct text quoted, u8 *bytes, size_t room, size_t *count)
{
	unescape(quoted.p, quoted.p + quoted.bytes, 0, bytes, room, count);
}

/**
 * value_member() - a member of a structure
 * @text: as in {st_mode=S_IFREG|0644, st_size=3, ...}, or a list of such
 * @name: of the member
 * @value: out: the first one of that name
 *
 * Return: is there one?
 */
bool value_member(struct text text, const char *name, struct text *value)
{
	size_t bytes = strlen(name);
	const char *p = text.p, *end = text.p + text.bytes;

	while ((p = memmem(p, (size_t)(end - p), name, bytes))) {
		bool is_whole = p == text.p || !is_word(p[-1]);

		p += bytes;
		if (is_whole && p < end && *p == '=') {
			value->p = p + 1;
			value->bytes = (size_t)(text_skip(p + 1, end) - p - 1);
			return true;
		}
	}
	return false;
}

/**
 * value_first() - take the first item of a list
 * @list: what is between the brackets, or what is left of it
 * @item: out
 * @rest: out; may be the same as @list
 *
 * Return: is there one?
 */
bool value_first(struct text list, struct text *item, struct text *rest)
{
	const char *p = list.p, *end = list.p + list.bytes, *stop;

	while (p < end && (*p == ' ' || *p == ','))
		p++;
	stop = text_skip(p, end);
	*item = (struct text){ p, (size_t)(stop - p) };
	*rest = (struct text){ stop, (size_t)(end - stop) };
	return stop > p;
}
