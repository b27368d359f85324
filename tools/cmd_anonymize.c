// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_anonymize.c - iotape anonymize: a trace that can be given to others.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "anonymize/anonymize.h"
#include "cmd.h"
#include "option.h"

#define KEY_FILE_MIN_BYTES 16
#define KEY_FILE_MAX_BYTES 4096

struct options {
	struct anon_options anon;
	const char *key_file;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const struct {
	const char *name;
	bool can_drop;
} fields[] = {
#define FIELD_ROW(name, can_drop, sentence) { #name, can_drop },
	ANON_FIELDS(FIELD_ROW)
#undef FIELD_ROW
};

static const char *field_at(size_t index)
{
	return index < ANON_FIELD_COUNT ? fields[index].name : NULL;
}

static void set_field(struct option_state *state, const char *name, enum anon_treatment treatment)
{
	struct options *options = state->options;
	size_t i;

	for (i = 0; i < ANON_FIELD_COUNT; i++)
		if (!strcmp(fields[i].name, name))
			break;
	if (i == ANON_FIELD_COUNT)
		option_error(state, "--%s=%s: unknown field%s", state->row->name, name, option_hint(state->row, name));
	if (treatment == ANON_DROP && !fields[i].can_drop)
		option_error(state, "--%s=%s: cannot be left out, only replaced or kept", state->row->name, name);
	options->anon.treatment[i] = treatment;
}

static void set_fields(struct option_state *state, char *list, enum anon_treatment treatment)
{
	char *name;

	while ((name = strsep(&list, ",")))
		set_field(state, name, treatment);
}

static void set_kept(struct option_state *state, char *list)
{
	set_fields(state, list, ANON_KEEP);
}

static void set_dropped(struct option_state *state, char *list)
{
	set_fields(state, list, ANON_DROP);
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->anon.output)
		option_error(state, "no --output given");
}

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(anon.output), .help = "write the anonymized trace to FILE" },
	{ "key-file", 0, OPTION_FILE, "FILE", .field = FIELD(key_file),
	  .help = "derive pseudonyms from the contents of FILE, so that traces have equal pseudonyms (default: a "
		  "random key, which is not stored)" },
	{ "keep", 0, OPTION_TEXT, "FIELD[,FIELD]...", .word_at = field_at, .set = set_kept,
	  .help = "do not replace names, extensions, commands, hosts, users, times, attributes or values" },
	{ "drop", 0, OPTION_TEXT, "FIELD[,FIELD]...", .word_at = field_at, .set = set_dropped, .help = "leave out commands, hosts or values" },
	{ "quiet", 'q', OPTION_FLAG, .field = FIELD(is_quiet), .help = "do not print the summary" },
	{}
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace",
	.operand = FIELD(anon.input),
	.check = check,
	.about = "Replace names, users, hosts, commands and times in a trace, so that it can be given to others. It compiles "
		 "and replays as before.",
};

/* Return: an exit code. */
static int read_key(struct options *options)
{
	unsigned char bytes[KEY_FILE_MAX_BYTES + 1];
	ssize_t count;
	int fd;

	if (!options->key_file) {
		randombytes_buf(options->anon.key, sizeof(options->anon.key));
		return EXIT_DONE;
	}
	fd = open(options->key_file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail("%s: %s", options->key_file, strerror(errno));
	count = read(fd, bytes, sizeof(bytes));
	if (count < 0) {
		fail("%s: %s", options->key_file, strerror(errno));
		close(fd);
		return EXIT_FAILED;
	}
	close(fd);
	if (count < KEY_FILE_MIN_BYTES || count > KEY_FILE_MAX_BYTES)
		return fail("%s: the key must have %d to %d bytes", options->key_file, KEY_FILE_MIN_BYTES, KEY_FILE_MAX_BYTES);
	crypto_hash_sha256(options->anon.key, bytes, (unsigned long long)count);
	sodium_memzero(bytes, sizeof(bytes));
	return EXIT_DONE;
}

static void print_result(const struct options *options, const struct anon_result *result)
{
	size_t i;

	printf("%s: %llu records, %llu names, %llu users and groups", options->anon.output,
	       (unsigned long long)result->records, (unsigned long long)result->names, (unsigned long long)result->users);
	if (result->changed_targets)
		printf(", %llu changed results of readlink", (unsigned long long)result->changed_targets);
	for (i = 0; i < ANON_FIELD_COUNT; i++)
		if (options->anon.treatment[i] == ANON_KEEP)
			printf("; %s kept", fields[i].name);
	putchar('\n');
}

static int run(int argc, char **argv)
{
	struct options options = { .anon.say = say };
	struct anon_result result;
	int code;

	options_parse(&option_table, argc, argv, &options);
	if (sodium_init() < 0)
		return fail("libsodium cannot be initialized: no random numbers are available");
	code = read_key(&options);
	if (!code && anonymize_trace(&options.anon, &result))
		code = EXIT_FAILED;
	if (!code && !options.is_quiet)
		print_result(&options, &result);
	sodium_memzero(options.anon.key, sizeof(options.anon.key));
	return code;
}

const struct cmd cmd_anonymize = {
	.name = "anonymize",
	.summary = "replace names, users, hosts, commands and times in a trace",
	.run = run,
	.options = &option_table,
};
