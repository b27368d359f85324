// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_value.c - values of arguments of calls: numbers, flags, names, descriptors.
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

/* _IOC(_IOC_READ|_IOC_WRITE, 0x66, 0x1, 0x8), as ioctls are shown that have no name. */
static bool take_request(struct text text, s64 *number)
{
	static const char begin[] = "_IOC(";
	static const s64 max[] = { 3, 255, 255, 16383 };
	struct text list, item;
	s64 parts[4] = {}; /* direction, type, number, size */
	u32 i;

	if (text.bytes < sizeof(begin) || memcmp(text.p, begin, sizeof(begin) - 1))
		return false;
	list = (struct text){ text.p + sizeof(begin) - 1, text.bytes - sizeof(begin) };
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!value_first(list, &item, &list) || value_flags(item, &parts[i]) != VALUE_KNOWN ||
		    parts[i] < 0 || parts[i] > max[i])
			return false;
	*number = parts[0] << 30 | parts[3] << 16 | parts[1] << 8 | parts[2];
	return true;
}

/* Behind a word: the next one, after a bar or `or`; NULL if the rest is a comment, or strange. */
static const char *next_word(const char *p, const char *end, bool *is_alternative)
{
	*is_alternative = starts_with(p, end, " or ");
	if (*is_alternative)
		return p + strlen(" or ");
	return p < end && *p == '|' ? p + 1 : NULL;
}

/**
 * value_flags() - a number, or names of bits that are joined by |
 * @text: as strace prints it, with any setting of -X
 * @flags: out: the known flags
 *
 * Of alternatives, as in `TCGETS or SNDCTL_TMR_TIMEBASE`, the first one that is known counts.
 *
 * Return: the degree of knowledge. Unknown words must begin with a capital, else VALUE_UNKNOWN.
 * With VALUE_PARTLY possibly no flag is known.
 */
enum value_known value_flags(struct text text, s64 *flags)
{
	const char *p = text.p, *end = text.p + text.bytes;
	bool is_alternative = false, is_any = false, is_all = true, has_words = false;
	struct text word;
	s64 value;

	*flags = 0;
	if (take_device(text, flags) || take_request(text, flags))
		return VALUE_KNOWN;
	while (p && p < end && *p != ' ' && *p != '/') {
		word.p = p;
		while (p < end && (is_word(*p) || *p == '-'))
			p++;
		word.bytes = (size_t)(p - word.p);
		if (!word.bytes || (p < end && *p != '|' && *p != ' ' && *p != '<'))
			return VALUE_UNKNOWN;
		if (starts_with(p, end, "<<")) { /* of MAP_HUGE_SHIFT, as the last one */
			is_any = true;
			break;
		}
		if (take_number(word, &value) || constant_find(word, &value)) {
			*flags |= is_alternative && is_any ? 0 : value;
			is_any = true;
			is_all |= is_alternative;
		} else if (isupper((unsigned char)*word.p) || *word.p == '_') {
			is_all &= is_alternative && is_any;
			has_words = true;
		} else {
			return VALUE_UNKNOWN;
		}
		p = next_word(p, end, &is_alternative); /* a descriptor ends it */
	}
	if (!is_any && !has_words)
		return VALUE_UNKNOWN;
	return is_any && is_all ? VALUE_KNOWN : VALUE_PARTLY;
}

/**
 * value_number() - a number, or names that are all known
 * @number: out
 *
 * Return: whether the text is one.
 */
bool value_number(struct text text, s64 *number)
{
	return value_flags(text, number) == VALUE_KNOWN;
}

/**
 * call_number() - an argument that is a number
 * @number: out; 0 if there is none
 *
 * Return: is it there, and known?
 */
bool call_number(const struct call *call, u32 index, s64 *number)
{
	if (index < call->arg_count && value_number(call->args[index], number))
		return true;
	*number = 0;
	return false;
}

/**
 * call_flags() - an argument that is a set of flags
 * @flags: out: the known flags
 *
 * Return: the degree of knowledge; VALUE_UNKNOWN if the argument is missing.
 */
enum value_known call_flags(const struct call *call, u32 index, s64 *flags)
{
	*flags = 0;
	return index < call->arg_count ? value_flags(call->args[index], flags) : VALUE_UNKNOWN;
}

/**
 * value_fd() - a descriptor
 * @text: as in 3</a/b>, AT_FDCWD</a> or 3; with -X verbose there is a comment before the bracket
 * @fd: out
 * @path: out: its path in the log, still escaped; empty if none
 *
 * Return: whether the text is one.
 */
bool value_fd(struct text text, s64 *fd, struct text *path)
{
	struct text number = { text.p, 0 };
	size_t begin = 0; /* of its path */

	while (number.bytes < text.bytes && text.p[number.bytes] != '<' && text.p[number.bytes] != ' ')
		number.bytes++;
	while (begin < text.bytes && text.p[begin] != '<')
		begin++;
	*path = (struct text){ text.p, 0 };
	if (!take_number(number, fd) && !(text_is(number, "AT_FDCWD") && value_number(number, fd)))
		return false;
	*fd = (s32)*fd;
	if (begin + 2 <= text.bytes) {
		size_t stop = text.bytes;

		while (stop > begin && text.p[stop - 1] != '>')
			stop--;
		if (stop > begin + 1)
			*path = (struct text){ text.p + begin + 1, stop - begin - 2 };
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
 * Return: 0; 1 if strace cut it, or there is no room; -EINVAL if it is not a string.
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
 * value_path() - the text of -y for a descriptor, without escapes
 */
void value_path(struct text quoted, u8 *bytes, size_t room, size_t *count)
{
	unescape(quoted.p, quoted.p + quoted.bytes, 0, bytes, room, count);
}

/**
 * value_member() - a member of a structure
 * @text: as in {st_mode=S_IFREG|0644, st_size=3, ...}, or a list of such, of which the first counts
 * @name: of the member
 * @value: out
 *
 * Return: whether there is one.
 */
bool value_member(struct text text, const char *name, struct text *value)
{
	size_t bytes = strlen(name);
	struct text item;

	while (text.bytes && (*text.p == '[' || *text.p == '{')) {
		text.p++;
		text.bytes--;
	}
	while (value_first(text, &item, &text)) {
		if (item.bytes <= bytes || memcmp(item.p, name, bytes) || item.p[bytes] != '=')
			continue;
		*value = (struct text){ item.p + bytes + 1, item.bytes - bytes - 1 };
		return true;
	}
	return false;
}

/**
 * value_member_number() - a member of a structure that is a number
 * @number: out; 0 if there is none
 *
 * Return: is it there, and known?
 */
bool value_member_number(struct text text, const char *name, s64 *number)
{
	struct text value;

	*number = 0;
	return value_member(text, name, &value) && value_number(value, number);
}

/**
 * value_inner() - the text between brackets
 * @bracket: the opening one
 * @inner: out
 *
 * Return: whether the text begins with the bracket and ends with its counterpart.
 */
bool value_inner(struct text text, char bracket, struct text *inner)
{
	char close = bracket == '[' ? ']' : '}';

	*inner = (struct text){ text.p, 0 };
	if (text.bytes < 2 || *text.p != bracket || text.p[text.bytes - 1] != close)
		return false;
	*inner = (struct text){ text.p + 1, text.bytes - 2 };
	return true;
}

/**
 * value_first() - take the first item of a list
 * @list: the text between the brackets, or the rest of it
 * @item: out
 * @rest: out; may be the same as @list
 *
 * Return: whether there is one.
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
