// SPDX-License-Identifier: GPL-2.0-only
/*
 * facts.c - facts about the run: those that are known to be harmless stay, all others are hashed.
 */
#include <string.h>

#include "filter/filter.h"
#include "state.h"

enum kind_of_fact {
	FACT_HARMLESS,
	FACT_PATH,
	FACT_COMMAND,
	FACT_HOST,
	FACT_TIME,
	FACT_FILTER,
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
	{ "filtered.", FACT_HARMLESS },
	{ "import.", FACT_HARMLESS },
	{ "job.nodes", FACT_HARMLESS },
	{ "kernel", FACT_HARMLESS },
	{ "machine", FACT_HARMLESS },
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
	{ "strace.cost", FACT_HARMLESS },
	{ "tasks", FACT_HARMLESS },
	{ "wakes", FACT_HARMLESS },
	{ IOT_FACT_COSTS, FACT_HARMLESS },
	{ IOT_FACT_FILTER, FACT_FILTER },
	{ IOT_FACT_ONLY, FACT_HARMLESS },
	{ IOT_FACT_OPS, FACT_HARMLESS },
	{ IOT_FACT_PAGE, FACT_HARMLESS },
	{ IOT_FACT_RECORDING, FACT_HARMLESS }, /* random */
	{ IOT_FACT_FILE, FACT_HARMLESS },
	{ IOT_FACT_NEXT_FILE, FACT_HARMLESS },
	{ IOT_FACT_STACKS, FACT_HARMLESS },
	{ IOT_FACT_REPLAY_OF, FACT_HARMLESS },
	{ IOT_FACT_STORAGE, FACT_HARMLESS },
	{ "directory", FACT_PATH },
	{ "mount", FACT_PATH },
	{ "replay", FACT_PATH },
	{ "shared", FACT_PATH },
	{ "target", FACT_PATH },
	{ IOT_FACT_COUNTERS, FACT_HARMLESS },
	{ IOT_FACT_COUNTERS_BY, FACT_HARMLESS },
	{ IOT_FACT_COUNTERS_INTERVAL, FACT_HARMLESS },
	{ IOT_FACT_DELAY, FACT_HARMLESS },
	{ IOT_FACT_DISCOVERED, FACT_HARMLESS },
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

/* node.HOST.KEY, where both may contain dots: the host ends in front of the shortest key that is known. */
static const u8 *find_node_key(const u8 *key, size_t bytes, enum kind_of_fact *kind)
{
	const u8 *host = key + strlen("node."), *end = key + bytes, *dot = end, *last = NULL;

	*kind = FACT_UNKNOWN;
	while ((dot = memrchr(host, '.', (size_t)(dot - host)))) {
		*kind = find_kind(dot + 1, (size_t)(end - dot - 1));
		if (*kind != FACT_UNKNOWN)
			return dot;
		last = last ? last : dot;
	}
	return last ? last : end;
}

/* @dot: where the host ends. */
static void add_node_key(struct anonymize *a, const u8 *key, size_t bytes, const u8 *dot)
{
	const u8 *host = key + strlen("node.");

	pseudonym_add_bytes(&a->text, key, strlen("node."));
	add_hash(a, ANON_FIELD_hosts, host, (size_t)(dot - host));
	pseudonym_add_bytes(&a->text, dot, (size_t)(key + bytes - dot));
}

/* Fields whose values an anonymized trace shows, too. */
#define SHOWN                                                                                         \
	(IOT_FILTER_BIT(IOT_FILTER_op) | IOT_FILTER_BIT(IOT_FILTER_size) | IOT_FILTER_BIT(IOT_FILTER_offset) | \
	 IOT_FILTER_BIT(IOT_FILTER_result) | IOT_FILTER_BIT(IOT_FILTER_duration) |                    \
	 IOT_FILTER_BIT(IOT_FILTER_share) | IOT_FILTER_BIT(IOT_FILTER_nth))

static bool is_filter_kept(const struct anon_options *options)
{
	static const enum anon_field fields[] = { ANON_FIELD_names, ANON_FIELD_commands, ANON_FIELD_hosts,
						  ANON_FIELD_users, ANON_FIELD_times };
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (options->treatment[fields[i]] != ANON_KEEP)
			return false;
	return true;
}

/*
 * An expression that tests names, users, programs or times becomes a pseudonym. If it excluded all opens, a condition
 * that follows from it takes its place, so that compile still refuses the trace.
 */
static void add_filter(struct anonymize *a, const u8 *value, size_t bytes)
{
	static const char no_opens[] = "op != open";
	char text[FILTER_TEXT_MAX + 1] = "";
	struct filter_error error;
	struct filter *filter = NULL;
	size_t program_bytes;

	if (is_filter_kept(a->options)) {
		pseudonym_add_bytes(&a->text, value, bytes);
		return;
	}
	if (bytes < sizeof(text))
		memcpy(text, value, bytes);
	if (filter_compile(text, &filter, &error))
		pseudonym_add_hash(&a->text, a->options->key, value, bytes, PSEUDONYM_MIN_CHARS);
	else if (!(iot_filter_uses(filter_program(filter, &program_bytes)) & ~SHOWN))
		pseudonym_add_bytes(&a->text, filter_text(filter), strlen(filter_text(filter)));
	else if (!filter_admits_metadata(filter))
		pseudonym_add_bytes(&a->text, no_opens, strlen(no_opens));
	else
		pseudonym_add_hash(&a->text, a->options->key, value, bytes, PSEUDONYM_MIN_CHARS);
	filter_free(filter);
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
	case FACT_FILTER:
		add_filter(a, value, bytes);
		break;
	default:
		add_hash(a, ANON_FIELD_hosts, value, bytes);
	}
}

/**
 * anon_replace_fact() - replace the parts of a fact that identify people and machines
 * @a: the anonymization
 * @record: a fact; its tail is changed to one that is valid until the next record
 *
 * Return: true; false if the fact is to be left out.
 */
bool anon_replace_fact(struct anonymize *a, struct iot_record *record)
{
	const u8 *equals = memchr(record->tail, '=', record->tail_bytes);
	size_t key_bytes = equals ? (size_t)(equals - record->tail) : record->tail_bytes;
	enum kind_of_fact kind;
	const u8 *dot = NULL;
	bool is_node = key_bytes > strlen("node.") && !memcmp(record->tail, "node.", strlen("node."));

	if (is_node)
		dot = find_node_key(record->tail, key_bytes, &kind);
	else
		kind = find_kind(record->tail, key_bytes);
	if (kind == FACT_COMMAND && a->options->treatment[ANON_FIELD_commands] == ANON_DROP)
		return false;
	if (kind == FACT_HOST && a->options->treatment[ANON_FIELD_hosts] == ANON_DROP)
		return false;
	if (is_node)
		add_node_key(a, record->tail, key_bytes, dot);
	else
		pseudonym_add_bytes(&a->text, record->tail, key_bytes);
	if (equals) {
		pseudonym_add_bytes(&a->text, "=", 1);
		add_value(a, kind, equals + 1, record->tail_bytes - key_bytes - 1);
	}
	anon_set_tail(a, record);
	return true;
}
