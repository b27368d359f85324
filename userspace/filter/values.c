// SPDX-License-Identifier: GPL-2.0-only
/*
 * values.c - values that fields are compared with: numbers with units, names of users, operations and errors.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

#include "words.h"

struct unit {
	const char *name;
	u64 factor;
};

static const struct unit size_units[] = {
	{ "", 1 }, { "k", 1ull << 10 }, { "m", 1ull << 20 }, { "g", 1ull << 30 }, { "t", 1ull << 40 }, {},
};

static const struct unit time_units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "min", 60000000000ull }, {},
};

static const struct unit no_units[] = { { "", 1 }, {} };

static int number_read(const struct words *words, const struct unit *units, u64 *number, struct filter_error *error)
{
	const char *text = words->value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return filter_fail(error, words->at, "'%s' is not a number", text);
	errno = 0;
	*number = strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
	if (errno)
		return filter_fail(error, words->at, "'%s' is too large", text);
	for (; units->name; units++) {
		if (strcasecmp(end, units->name) && !(units->factor > 1 && !strncasecmp(end, units->name, 1) &&
						      !strcasecmp(end + 1, "ib") && units->factor % 1024 == 0))
			continue;
		if (__builtin_mul_overflow(*number, units->factor, number))
			return filter_fail(error, words->at, "'%s' is too large", text);
		return 0;
	}
	return filter_fail(error, words->at + (size_t)(end - text), *end ? "unknown unit '%s'" : "a unit is required", end);
}

static int user_read(const struct words *words, u64 *number, struct filter_error *error)
{
	const struct passwd *user = getpwnam(words->value);

	if (!user)
		return filter_fail(error, words->at, "unknown user '%s'", words->value);
	*number = user->pw_uid;
	return 0;
}

static int group_read(const struct words *words, u64 *number, struct filter_error *error)
{
	const struct group *group = getgrnam(words->value);

	if (!group)
		return filter_fail(error, words->at, "unknown group '%s'", words->value);
	*number = group->gr_gid;
	return 0;
}

/* A negative errno by its name, such as ENOENT or -ENOENT. */
static bool errno_read(const char *name, u64 *number)
{
	int err;

	name += *name == '-';
	for (err = 1; err < 256; err++) {
		const char *known = strerrorname_np(err);

		if (known && !strcmp(known, name)) {
			*number = (u64)(s64)-err;
			return true;
		}
	}
	return false;
}

static int signed_read(const struct words *words, const struct unit *units, u64 *number, struct filter_error *error)
{
	struct words digits = *words;
	int err;

	if (words->value[0] != '-')
		return number_read(words, units, number, error);
	memmove(digits.value, words->value + 1, words->bytes);
	digits.at++;
	err = number_read(&digits, units, number, error);
	if (!err)
		*number = -*number;
	return err;
}

/* 07:30 or 07:30:15 */
static int time_read(const struct words *words, u64 *number, struct filter_error *error)
{
	unsigned int hour, minute, second = 0;
	int end = 0;

	if ((sscanf(words->value, "%2u:%2u%n", &hour, &minute, &end) == 2 && !words->value[end]) ||
	    (sscanf(words->value, "%2u:%2u:%2u%n", &hour, &minute, &second, &end) == 3 && !words->value[end]))
		if (hour < 24 && minute < 60 && second < 60) {
			*number = (hour * 3600ull + minute * 60 + second) * 1000000000;
			return 0;
		}
	return filter_fail(error, words->at, "'%s' is not a time of day such as 07:30", words->value);
}

static void set_add(struct node *test, u16 kind)
{
	test->set[kind / 8] |= (u8)(1 << kind % 8);
}

static bool is_operation(const struct iot_kind_info *info)
{
	return info && info->group == IOT_GROUP_op && info->kind != IOT_KIND_submit && info->kind != IOT_KIND_complete;
}

static int operation_read(const struct words *words, struct node *test, struct filter_error *error)
{
	const struct iot_kind_info *info = iot_kind_by_name(words->value);

	if (!is_operation(info))
		return filter_fail(error, words->at, "unknown operation '%s'", words->value);
	set_add(test, info->kind);
	return 0;
}

static int class_read(const struct words *words, struct node *test, struct filter_error *error)
{
	const struct iot_kind_info *info;
	size_t place, i;
	int classes = strchr(words->value, ',') ? -EINVAL : iot_op_classes_of(words->value, &place);

	if (classes < 0)
		return filter_fail(error, words->at, "unknown class '%s': metadata, data, mapping, sync or lock", words->value);
	for (i = 0; (info = iot_kind_at(i)); i++)
		if (is_operation(info) && classes & 1 << iot_op_class_of(info->kind))
			set_add(test, info->kind);
	return 0;
}

/**
 * value_read() - the value that a field is compared with
 * @words: at the value
 * @test: its field is set; `class` is the field op with IOT_FILTER_TEXT as its code
 * @error: filled in on failure
 *
 * Sets are added to, so that several values can be read one after the other.
 *
 * Return: 0 or -EINVAL.
 */
int value_read(const struct words *words, struct node *test, struct filter_error *error)
{
	bool is_digit = isdigit((unsigned char)words->value[0]);

	if (words->kind != WORD_NAME && words->kind != WORD_STRING)
		return filter_fail(error, words->at, words->kind == WORD_END ? "a value is missing" :
				   words->value[0] == '"' || words->text[words->at] == '"' ?
				   "a string has no end, or is too long" : "a value is missing before '%s'", words->value);
	switch (test->field) {
	case IOT_FILTER_uid:
		return is_digit ? number_read(words, no_units, &test->value, error) : user_read(words, &test->value, error);
	case IOT_FILTER_gid:
		return is_digit ? number_read(words, no_units, &test->value, error) : group_read(words, &test->value, error);
	case IOT_FILTER_size:
		return number_read(words, size_units, &test->value, error);
	case IOT_FILTER_offset:
		return signed_read(words, size_units, &test->value, error);
	case IOT_FILTER_result:
		return errno_read(words->value, &test->value) ? 0 : signed_read(words, size_units, &test->value, error);
	case IOT_FILTER_duration:
		return number_read(words, time_units, &test->value, error);
	case IOT_FILTER_time:
		return time_read(words, &test->value, error);
	case IOT_FILTER_op:
		return test->code == IOT_FILTER_TEXT ? class_read(words, test, error) : operation_read(words, test, error);
	case IOT_FILTER_comm:
	case IOT_FILTER_cgroup:
	case IOT_FILTER_path:
	case IOT_FILTER_ext:
		memcpy(test->text, words->value, words->bytes + 1);
		test->bytes = words->bytes;
		return 0;
	default:
		return number_read(words, no_units, &test->value, error);
	}
}
