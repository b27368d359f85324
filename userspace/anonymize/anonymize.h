/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * anonymize.h - a trace without data that identifies people and projects, which compiles and replays as before.
 *
 * Every component of a path gets a pseudonym: a keyed hash of it, so that equal components have equal
 * pseudonyms, in traces with the same key, too, and a guess cannot be tested without the key. The structure of the tree
 * stays. Names of users, hosts, commands and times are replaced as well; sizes, offsets, durations,
 * order and results are not: Documentation/privacy.md lists the information that remains in an anonymized trace.
 */
#ifndef IOTAPE_ANONYMIZE_H
#define IOTAPE_ANONYMIZE_H

#include "lib/iotape.h"

#define ANON_KEY_BYTES 32

/*
 * A(name, can_drop, sentence): information that is replaced in an anonymized trace, unless kept by option.
 */
#define ANON_FIELDS(A)                                                        \
	A(names, 0, "components of paths and targets of symbolic links")      \
	A(extensions, 0, "the ends of names behind the last dot")             \
	A(commands, 1, "command lines, names of programs and of executables") \
	A(hosts, 1, "names of hosts, jobs and boots")                         \
	A(users, 0, "numbers of users and groups")                            \
	A(times, 0, "wall-clock times")                                       \
	A(attributes, 0, "names of extended attributes of users")             \
	A(values, 1, "values of extended attributes")

enum anon_field {
#define ANON_FIELD_VALUE(name, can_drop, sentence) ANON_FIELD_##name,
	ANON_FIELDS(ANON_FIELD_VALUE)
#undef ANON_FIELD_VALUE
	ANON_FIELD_COUNT
};

enum anon_treatment {
	ANON_REPLACE,
	ANON_KEEP,
	ANON_DROP,
};

/**
 * struct anon_options - options of an anonymization
 * @input, @output: paths of the traces
 * @key: key of the pseudonyms
 * @treatment: treatment of each field
 * @say: prints the reason of a failure in one sentence
 */
struct anon_options {
	const char *input;
	const char *output;
	unsigned char key[ANON_KEY_BYTES];
	enum anon_treatment treatment[ANON_FIELD_COUNT];
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/**
 * struct anon_result - counts of an anonymization
 * @records: records of the new trace
 * @names: distinct names that were replaced
 * @users: user and group ids that were replaced
 * @changed_targets: readlink(2) calls whose result changed, as the link's new target is longer
 */
struct anon_result {
	u64 records;
	u64 names;
	u64 users;
	u64 changed_targets;
};

int anonymize_trace(const struct anon_options *options, struct anon_result *result);

#endif
