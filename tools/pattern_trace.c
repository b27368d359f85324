// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern_trace.c - traces of patterns.
 */
#include "pattern_trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/**
 * is_pattern() - is a file a pattern, by its first bytes?
 */
bool is_pattern(const char *path)
{
	FILE *in = fopen(path, "re");
	char magic[8] = "";
	bool is_magic;

	if (!in)
		return false;
	is_magic = fread(magic, sizeof(magic), 1, in) == 1 && !memcmp(magic, "IOTAPTRN", sizeof(magic));
	fclose(in);
	return is_magic;
}

/**
 * write_pattern_trace() - write the trace of a pattern, and print its omissions
 * @input: name of the pattern
 * @pattern: the pattern
 * @output: the trace
 * @is_quiet: do not print anything but errors
 *
 * Return: an exit code.
 */
int write_pattern_trace(const char *input, const struct pattern *pattern, const char *output, bool is_quiet)
{
	struct pattern_summary summary;
	struct pattern_refusal refusal;
	u64 broken;
	int err = pattern_trace(pattern, output, &broken, &refusal);

	if (err == -EOPNOTSUPP)
		return fail("%s: %s", input, refusal.text);
	if (err == -EBADMSG)
		return fail("%s: %s", input, "the number of operations of its loops is not the stated one");
	if (err)
		return fail("%s: %s", output, strerror(-err));
	if (is_quiet)
		return EXIT_DONE;
	pattern_summarize(pattern, &summary);
	if (!summary.has_times)
		printf("%s: think times and durations are unknown and set to 0\n", input);
	else
		printf("%s: each think time and duration is the mean of its operation in the loops\n", input);
	if (summary.is_made)
		printf("%s: was not traced: it was extrapolated or changed\n", input);
	if (broken)
		printf("%s: the order between tasks was unknown %llu times\n", input, (unsigned long long)broken);
	return EXIT_DONE;
}
