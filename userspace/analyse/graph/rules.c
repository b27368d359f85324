// SPDX-License-Identifier: GPL-2.0-only
/*
 * rules.c - parses a set of rules from the user's text.
 */
#include "rules.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned int rules;
} presets[] = {
#define PRESET_ROW(name, rules, sentence) { #name, rules },
	ORDER_PRESETS(PRESET_ROW)
#undef PRESET_ROW
};

static const char *const rule_names[] = {
#define RULE_NAME(name, text, sentence) text,
	ORDER_RULES(RULE_NAME)
#undef RULE_NAME
};

static int is_word(const char *word, size_t bytes, const char *name)
{
	return name && strlen(name) == bytes && !memcmp(word, name, bytes);
}

static unsigned int rule_bit(const char *word, size_t bytes)
{
	unsigned int i;

	for (i = 0; i < ORDER_RULE_COUNT; i++)
		if (is_word(word, bytes, rule_names[i]))
			return 1u << i;
	return 0;
}

/**
 * order_rules_parse() - parse a preset, or a list of rules with commas
 * @text: the user's text
 * @rules: out: bits of enum order_rule
 *
 * Rules that are listed one by one come with those of messages and wake-ups, which none of them replaces.
 *
 * Return: NULL, or the first word that is neither.
 */
const char *order_rules_parse(const char *text, unsigned int *rules)
{
	size_t i, bytes;
	unsigned int bit;

	for (i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		if (strcmp(text, presets[i].name) != 0)
			continue;
		*rules = presets[i].rules;
		return NULL;
	}
	*rules = ORDER_WAITS;
	for (;; text += bytes + 1) {
		bytes = strcspn(text, ",");
		bit = rule_bit(text, bytes);
		if (!bit)
			return text;
		*rules |= bit;
		if (!text[bytes])
			return NULL;
	}
}
