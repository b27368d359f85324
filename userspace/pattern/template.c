// SPDX-License-Identifier: GPL-2.0-only
/*
 * template.c - find numbers in names.
 *
 * Whether "10" is two digits of a fixed width or a number that happens to have two is seen from all names that
 * are alike but for their numbers: if one of them has leading zeros, its width is that of all.
 */
#include "template.h"

#include <uthash.h>

#define DIGITS_MAX 18 /* of a number that fits in 64 bits */

/* Of the names that are alike but for their numbers, the width of each number. */
struct widths {
	UT_hash_handle hh;
	u8 of_hole[TEMPLATE_HOLES_MAX];
	char skeleton[];
};

/**
 * template_digits() - the number of digits that a text begins with
 */
size_t template_digits(const char *text)
{
	size_t count = 0;

	while (text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

/* Replaces each number by one zero digit. */
static void make_skeleton(const char *text, struct bytes *skeleton)
{
	size_t digits;

	for (; *text; text += digits ? digits : 1) {
		digits = template_digits(text);
		bytes_add(skeleton, digits ? "0" : text, 1);
	}
	bytes_add(skeleton, "", 1);
}

static struct widths *find(struct widths *widths, const char *text, struct bytes *skeleton)
{
	struct widths *found = NULL;

	make_skeleton(text, skeleton);
	if (!skeleton->is_failed)
		HASH_FIND(hh, widths, skeleton->data, skeleton->count, found);
	return found;
}

/**
 * template_learn() - note the widths of the numbers of a name
 * @widths: of all names; NULL at first
 * @text: the name
 *
 * Return: 0 or -ENOMEM.
 */
int template_learn(struct widths **widths, const char *text)
{
	struct bytes skeleton = {};
	struct widths *w = find(*widths, text, &skeleton);
	size_t digits;
	u32 hole = 0;

	if (!w) {
		w = skeleton.is_failed ? NULL : calloc(1, sizeof(*w) + skeleton.count);
		if (!w) {
			bytes_free(&skeleton);
			return -ENOMEM;
		}
		memcpy(w->skeleton, skeleton.data, skeleton.count);
		HASH_ADD(hh, *widths, skeleton, skeleton.count, w);
	}
	bytes_free(&skeleton);
	for (; *text && hole < TEMPLATE_HOLES_MAX; text += digits ? digits : 1) {
		digits = template_digits(text);
		if (digits > 1 && digits <= DIGITS_MAX && *text == '0' && digits > w->of_hole[hole])
			w->of_hole[hole] = (u8)digits;
		hole += digits > 0;
	}
	return 0;
}

/**
 * template_width() - the width with which a number is printed as its digits
 * @text, @digits: the digits
 * @learnt: width of numbers at this place in names that are alike, 0 if not known
 *
 * Return: -1 if the number has too many digits.
 */
int template_width(const char *text, size_t digits, u8 learnt)
{
	if (digits > DIGITS_MAX)
		return -1;
	if (learnt && (digits == learnt || (digits > learnt && *text != '0')))
		return learnt;
	return *text == '0' && digits > 1 ? (int)digits : 0;
}

/**
 * template_split() - the template of a name, and its numbers
 * @widths: from template_learn()
 * @text: the name
 * @template: is appended to
 * @holes: is appended to: the numbers
 */
void template_split(struct widths *widths, const char *text, struct bytes *template, struct numbers *holes)
{
	struct bytes skeleton = {};
	const struct widths *w = find(widths, text, &skeleton);
	size_t digits;
	u32 hole = 0;
	int width;

	for (; *text; text += digits ? digits : 1) {
		digits = template_digits(text);
		width = digits && hole < TEMPLATE_HOLES_MAX ? template_width(text, digits, w ? w->of_hole[hole] : 0) : -1;
		hole += digits > 0;
		if (width < 0) {
			bytes_add(template, text, digits ? digits : 1);
			continue;
		}
		bytes_add(template, (u8[]){ 0, (u8)(width + 1) }, 2);
		numbers_add(holes, strtoull(text, NULL, 10));
	}
	template->is_failed |= skeleton.is_failed;
	bytes_free(&skeleton);
}

/**
 * template_learnt() - the widths of the numbers of a name, as far as they are known
 * @widths: from template_learn()
 * @text: a name that is alike
 * @of_hole: out
 */
void template_learnt(struct widths *widths, const char *text, u8 of_hole[TEMPLATE_HOLES_MAX])
{
	struct bytes skeleton = {};
	const struct widths *w = find(widths, text, &skeleton);

	memset(of_hole, 0, TEMPLATE_HOLES_MAX);
	if (w)
		memcpy(of_hole, w->of_hole, TEMPLATE_HOLES_MAX);
	bytes_free(&skeleton);
}

/**
 * template_example() - a name that teaches the widths of a template, and is alike with the names of it
 * @template, @bytes: sound
 * @text: is appended to, without a zero byte
 */
void template_example(const u8 *template, size_t bytes, struct bytes *text)
{
	size_t i;
	u8 width;

	for (i = 0; i < bytes; i++) {
		if (template[i]) {
			bytes_add(text, template + i, 1);
			continue;
		}
		width = (u8)(template[++i] - 1);
		if (width < 2)
			bytes_add(text, "1", 1);
		else
			bytes_add(text, "000000000000000000", width);
	}
}

/**
 * template_free() - forget the widths of all names
 */
void template_free(struct widths **widths)
{
	struct widths *w, *next;

	HASH_ITER (hh, *widths, w, next) {
		HASH_DEL(*widths, w);
		free(w);
	}
}

/**
 * template_count_holes() - the number of numbers in a template
 */
u32 template_count_holes(const u8 *template, size_t bytes)
{
	u32 holes = 0;
	size_t i;

	for (i = 0; i < bytes; i++)
		holes += !template[i];
	return holes;
}

/**
 * template_is_sound() - can names be made from a template?
 */
bool template_is_sound(const u8 *template, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		if (!template[i] && (++i == bytes || !template[i] || template[i] > DIGITS_MAX + 1))
			return false;
	return template_count_holes(template, bytes) <= TEMPLATE_HOLES_MAX;
}

/**
 * template_join() - a name from its template and numbers
 * @template, @bytes: sound
 * @holes: as many as it has
 * @text: is set, with a zero byte at its end
 */
void template_join(const u8 *template, size_t bytes, const u64 *holes, struct bytes *text)
{
	const u8 *hole;
	size_t i, plain;

	text->count = 0;
	for (i = 0; i < bytes; i += plain) {
		hole = memchr(template + i, 0, bytes - i);
		plain = hole ? (size_t)(hole - template) - i : bytes - i;
		bytes_add(text, template + i, plain);
		if (hole) {
			bytes_add_decimal(text, *holes++, hole[1] - 1u);
			plain += 2;
		}
	}
	bytes_add(text, "", 1);
}
