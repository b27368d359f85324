// SPDX-License-Identifier: GPL-2.0-only
/*
 * logs.c - mutated logs of strace and other tools are imported, and the resulting traces
 * compiled.
 *
 *	logs [OPTION]... LOG...		see fuzz_options()
 *
 * For any log, the importer writes a trace or refuses in a sentence; a trace that
 * it writes can be read and compiled to a valid program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "compile/compile.h"
#include "import/import.h"
#include "mutate.h"

#define LOG_MAX_BYTES (1 << 20)

static u64 seed_now;
static char directory[] = "/tmp/iotape-fuzz-XXXXXX";
static char log_path[sizeof(directory) + sizeof("/log")];
static char trace_path[sizeof(directory) + sizeof("/trace")];
static char program_path[sizeof(directory) + sizeof("/program")];

struct log_text {
	u8 *bytes;
	size_t count;
};

static void check(bool is_so, const char *what, const char *message)
{
	if (is_so)
		return;
	fprintf(stderr, "# a promise is broken with --seed=%llu --count=1: %s: %s\n",
		(unsigned long long)seed_now, what, message);
	abort();
}

static bool read_log(const char *path, struct log_text *log)
{
	FILE *in = fopen(path, "re");

	*log = (struct log_text){ .bytes = malloc(LOG_MAX_BYTES) };
	if (!in || !log->bytes)
		return false;
	log->count = fread(log->bytes, 1, LOG_MAX_BYTES / 2, in);
	fclose(in);
	return log->count > 0;
}

static bool write_log(const struct log_text *log)
{
	FILE *out = fopen(log_path, "we");

	return out && fwrite(log->bytes, 1, log->count, out) == log->count && !fclose(out);
}

/* -- mutations -------------------------------------------------------------------------------- */

/* A position between two characters with a meaning for the reader. */
static size_t any_place(struct rng *rng, const struct log_text *log)
{
	static const char marks[] = " ,=()<>[]{}\"\n|:";
	size_t at = rng_below(rng, log->count), i;

	for (i = 0; i < 200 && at + 1 < log->count && !strchr(marks, log->bytes[at]); i++)
		at++;
	return at;
}

static size_t word_bytes(const struct log_text *log, size_t at)
{
	size_t bytes = 1;

	while (at + bytes < log->count && bytes < 300 && !strchr(" ,=()<>[]{}\"\n|:", log->bytes[at + bytes]))
		bytes++;
	return bytes;
}

static void replace(struct log_text *log, size_t at, size_t old_bytes, const u8 *by, size_t bytes)
{
	if (at + old_bytes > log->count || log->count + bytes > LOG_MAX_BYTES)
		return;
	memmove(log->bytes + at + bytes, log->bytes + at + old_bytes, log->count - at - old_bytes);
	memcpy(log->bytes + at, by, bytes);
	log->count += bytes - old_bytes;
}

/* A word is replaced by another word of the log, or by a troublesome one. */
static void mutate_word(struct rng *rng, struct log_text *log)
{
	static const char *const words[] = {
		"-1", "0", "9223372036854775807", "18446744073709551615", "-9223372036854775808", "",
		"0x7fffffffffffffff", "AT_FDCWD", "3</tmp/job/root>", "NULL", "\"\"", "\"..\"", "\"/\"",
		"\"a/../../b\"", " <unfinished ...>", "\n", "-1 ENOENT (x)", "? ERESTARTSYS (x)",
		"4294967295", "1073741824", "4096", "\"\\0\"", "\"/tmp/job/root\"", "\\", "<", ">", "\"",
		"/tmp/job/root/a (deleted)", "pipe:[1]", "O_TMPFILE|O_RDWR", "RENAME_EXCHANGE", "*/", "/*",
		"99999999999999999999999", "4611686018427387905", "1e400", "0.000000001", "X_POSIX", "wait", "POSIX",
		"{\"a\":{", "\\u0000", "\\ud800", ":", "ph", "1700000000.5", "fio version 2 iolog", " )", " ( ",
		"syscalls:sys_enter_openat", "probe:vfs_getname", "0xffffffffffffffff", "pathname=\"", "PERF_RECORD_LOST",
	};
	size_t at = any_place(rng, log), from = any_place(rng, log), bytes;
	u8 copy[512];

	if (rng_one_in(rng, 2)) {
		const char *word = words[rng_below(rng, sizeof(words) / sizeof(words[0]))];

		replace(log, at + 1, word_bytes(log, at) - 1, (const u8 *)word, strlen(word));
		return;
	}
	bytes = word_bytes(log, from);
	memcpy(copy, log->bytes + from, bytes);
	replace(log, at, word_bytes(log, at), copy, bytes);
}

static void line_at(const struct log_text *log, size_t at, size_t *begin, size_t *bytes)
{
	size_t end = at;

	while (at > 0 && log->bytes[at - 1] != '\n')
		at--;
	while (end < log->count && log->bytes[end] != '\n')
		end++;
	*begin = at;
	*bytes = end < log->count ? end + 1 - at : end - at;
}

/* A line is removed, duplicated, or replaced by another. */
static void mutate_line(struct rng *rng, struct log_text *log)
{
	size_t begin, bytes, to, to_bytes;
	static u8 copy[LOG_MAX_BYTES / 4];

	line_at(log, rng_below(rng, log->count), &begin, &bytes);
	line_at(log, rng_below(rng, log->count), &to, &to_bytes);
	if (bytes > sizeof(copy))
		return;
	memcpy(copy, log->bytes + begin, bytes);
	if (rng_one_in(rng, 3))
		replace(log, begin, bytes, copy, 0);
	else
		replace(log, to, rng_one_in(rng, 2) ? to_bytes : 0, copy, bytes);
}

static void mutate(struct rng *rng, struct log_text *log)
{
	u64 changes = 1 + rng_below(rng, 12);

	while (changes-- && log->count) {
		switch (rng_below(rng, 8)) {
		case 0:
			mutate_bytes(rng, log->bytes + rng_below(rng, log->count), 1);
			break;
		case 1:
			log->count = rng_one_in(rng, 10) ? rng_below(rng, log->count) + 1 : log->count;
			break;
		case 2:
		case 3:
			mutate_line(rng, log);
			break;
		default:
			mutate_word(rng, log);
		}
	}
}

/* -- the run ------------------------------------------------------------------------------------ */

static void compile(void)
{
	const struct compile_options options = { .trace = trace_path, .program = program_path };
	struct compile_summary summary;
	struct iot_reject reject;
	int err = compile_trace(&options, &summary, &reject);

	compile_summary_free(&summary);
	check(!err, "an imported trace becomes a sound program", iot_reject_sentence(&reject));
	unlink(program_path);
}

static bool feed(void)
{
	char *logs[] = { log_path }, *roots[] = { "/tmp/job/root" };
	const struct import_options options = {
		.logs = logs, .log_count = 1, .trace = trace_path, .roots = roots, .root_count = 1,
	};
	struct import_summary summary;
	int err = import_logs(&options, &summary);

	check(!err == !summary.message[0], "a log is refused with a sentence", summary.message);
	if (!err)
		compile();
	import_summary_free(&summary);
	unlink(trace_path);
	return !err;
}

int main(int argc, char **argv)
{
	struct fuzz_options options;
	struct log_text log;
	u64 accepted = 0, i;
	int first = fuzz_options(argc, argv, &options);

	if (first >= argc || !mkdtemp(directory))
		return 1;
	sprintf(log_path, "%s/log", directory);
	sprintf(trace_path, "%s/trace", directory);
	sprintf(program_path, "%s/program", directory);
	for (i = 0; i < options.count; i++) {
		u64 seed = options.seed + i;
		struct rng rng;

		seed_now = seed;
		rng_seed(&rng, seed);
		fuzz_begin(seed);
		if (!read_log(argv[first + (int)(seed % (u64)(argc - first))], &log))
			return 1;
		mutate(&rng, &log);
		fuzz_keep(&options, seed, log.bytes, log.count);
		if (!write_log(&log))
			return 1;
		free(log.bytes);
		accepted += feed();
	}
	unlink(log_path);
	rmdir(directory);
	printf("1..2\nok 1 - %llu mutated logs are imported or refused, and compiled\n",
	       (unsigned long long)options.count);
	printf("# %llu accepted\n%sok 2 - mutated logs pass sometimes\n", (unsigned long long)accepted,
	       accepted ? "" : "not ");
	return !accepted;
}
