// SPDX-License-Identifier: GPL-2.0-only
/*
 * facts.c - facts about the run: those that are known to be harmless stay, all others are hashed.
 */
#include <string.h>

#include "state.h"

enum kind_of_fact {
	FACT_HARMLESS,
	FACT_PATH,
	FACT_COMMAND,
	FACT_HOST,
	FACT_TIME,
	FACT_UNKNOWN,
};

/* A key that ends in a dot stands for all that begin with it. */
static const struct {
	const char *key;
	enum kind_of_fact kind;
} known[] = {
	{ "as", FACT_HARMLESS },
	{ "attached", FACT_HARMLESS },
	{ "cache", FACT_HARMLESS },
	{ "clock", FACT_HARMLESS },
	{ "clock_sample", FACT_HARMLESS },
	{ "creator", FACT_HARMLESS },
	{ "data", FACT_HARMLESS },
	{ "engine", FACT_HARMLESS },
	{ "import.", FACT_HARMLESS },
	{ "job.nodes", FACT_HARMLESS },
	{ "kernel", FACT_HARMLESS },
	{ "mmap", FACT_HARMLESS },
	{ "mpi.", FACT_HARMLESS },
	{ "node", FACT_HARMLESS },
	{ "nodes", FACT_HARMLESS },
	{ "omission.", FACT_HARMLESS },
	{ "pace", FACT_HARMLESS },
	{ "partial", FACT_HARMLESS },
	{ "pid", FACT_HARMLESS },
	{ "place", FACT_HARMLESS },
	{ "policy", FACT_HARMLESS },
	{ "privileged_files", FACT_HARMLESS },
	{ "ranks", FACT_HARMLESS },
	{ "run", FACT_HARMLESS },
	{ "source", FACT_HARMLESS },
	{ "wakes", FACT_HARMLESS },
	{ IOT_FACT_COSTS, FACT_HARMLESS },
	{ IOT_FACT_OPS, FACT_HARMLESS },
	{ IOT_FACT_REPLAY_OF, FACT_HARMLESS },
	{ IOT_FACT_STORAGE, FACT_HARMLESS },
	{ "directory", FACT_PATH },
	{ "mount", FACT_PATH },
	{ "replay", FACT_PATH },
	{ "shared", FACT_PATH },
	{ "target", FACT_PATH },
	{ "command", FACT_COMMAND },
	{ "boot", FACT_HOST },
	{ "host", FACT_HOST },
	{ "job", FACT_HOST },
};

static enum kind_of_fact find_kind(const u8 *key, size_t bytes)
{
	size_t i, length;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		length = strlen(known[i].key);
		if (known[i].key[length - 1] == '.' ? bytes > length && !memcmp(key, known[i].key, length) :
						      bytes == length && !memcmp(key, known[i].key, length))
			return known[i].kind;
	}
	return FACT_UNKNOWN;
}

static void add_hash(struct anonymize *a, enum anon_field field, const u8 *bytes, size_t count)
{
	if (a->options->treatment[field] == ANON_KEEP)
		pseudonym_add_bytes(&a->text, bytes, count);
	else if (count && a->options->treatment[field] == ANON_REPLACE)
		pseudonym_add_hash(&a->text, a->options->key, bytes, count, PSEUDONYM_MIN_CHARS);
}

/* node.HOST.WORD: a merged trace has the names of its nodes, which may contain dots, in keys. */
static void add_node_key(struct anonymize *a, const u8 *key, size_t bytes)
{
	const u8 *host = key + strlen("node."), *dot = memrchr(key, '.', bytes);

	pseudonym_add_bytes(&a->text, key, strlen("node."));
	if (dot >= host)
		add_hash(a, ANON_FIELD_hosts, host, (size_t)(dot - host));
	else
		dot = host;
	pseudonym_add_bytes(&a->text, dot, (size_t)(key + bytes - dot));
}

static void add_value(struct anonymize *a, enum kind_of_fact kind, const u8 *value, size_t bytes)
{
	switch (kind) {
	case FACT_HARMLESS:
		pseudonym_add_bytes(&a->text, value, bytes);
		break;
	case FACT_PATH:
		pseudonym_add_path(&a->text, a->options, value, bytes);
		break;
	case FACT_COMMAND:
		add_hash(a, ANON_FIELD_commands, value, bytes);
		break;
	default:
		add_hash(a, ANON_FIELD_hosts, value, bytes);
	}
}

/**
 * anon_replace_fact() - replace what a fact says about people and machines
 * @a: the anonymization
 * @record: a fact; its tail is changed to one that is valid until the next record
 *
 * Return: true; false if the fact is to be left out.
 */
bool anon_replace_fact(struct anonymize *a, struct iot_record *record)
{
	const u8 *equals = memchr(record->tail, '=', record->tail_bytes);
	size_t key_bytes = equals ? (size_t)(equals - record->tail) : record->tail_bytes;
	enum kind_of_fact kind = find_kind(record->tail, key_bytes);
	bool is_node = key_bytes > strlen("node.") && !memcmp(record->tail, "node.", strlen("node."));

	if (kind == FACT_COMMAND && a->options->treatment[ANON_FIELD_commands] == ANON_DROP)
		return false;
	if (kind == FACT_HOST && a->options->treatment[ANON_FIELD_hosts] == ANON_DROP)
		return false;
	if (is_node) {
		kind = FACT_HARMLESS;
		add_node_key(a, record->tail, key_bytes);
	} else {
		pseudonym_add_bytes(&a->text, record->tail, key_bytes);
	}
	if (equals) {
		pseudonym_add_bytes(&a->text, "=", 1);
		add_value(a, kind, equals + 1, record->tail_bytes - key_bytes - 1);
	}
	anon_set_tail(a, record);
	return true;
}
