// SPDX-License-Identifier: GPL-2.0-only
/*
 * failnth.c - fails the first, second, third ... allocation of a system call, until the call
 * makes no more allocations. The result must be success, or an error that the lower file system returns,
 * too; and the state must be unchanged, or that of a success. For the debug kernel.
 *
 *	failnth survey DIRECTORY		the behaviour of the lower file system: prints a line for
 *						each operation, with error and resulting state
 *	failnth files DIRECTORY LOWER SURVEY	the same in DIRECTORY, compared with SURVEY; prints TAP
 *	failnth modules DIRECTORY LOWER PROGRAM	mounts, sessions and replays; prints TAP
 *
 * DIRECTORY is accessed through tapefs, LOWER is the same directory below. The files
 * must be the same in both views after each attempt. Standard error gets a line for each success that a recording must
 * have: kind, path in DIRECTORY.
 */
#include "failnth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ATTEMPTS_MAX 400
#define MISSES_MAX   3 /* consecutive attempts without a failure, because the number of allocations varies */
#define TEXT_BYTES   4096

char upper[PATH_MAX], lower[PATH_MAX];
const char *program_path, *mount_source;

static const char *upper_root, *lower_root;
static char survey[1 << 16];
static bool is_survey;
static int fail_nth_fd = -1, number, bad;

/* -- used by the operations ------------------------------------------------------------------ */

const char *in(const char *directory, const char *name)
{
	static char paths[4][PATH_MAX * 2];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

long result_of(long returned)
{
	return returned < 0 ? -errno : returned;
}

void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "failnth: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Through the lower path, so that nothing is cached above. */
void make_file(const char *name, size_t bytes)
{
	int fd = open(in(lower, name), O_CREAT | O_EXCL | O_WRONLY, 0644);
	char data[4096];

	memset(data, 'a', sizeof(data));
	must(fd >= 0, name);
	for (; bytes; bytes -= bytes < sizeof(data) ? bytes : sizeof(data))
		must(write(fd, data, bytes < sizeof(data) ? bytes : sizeof(data)) > 0, "write");
	close(fd);
}

void arm(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	must(pwrite(fail_nth_fd, text, length, 0) == length, "fail-nth");
}

unsigned int disarm(void)
{
	char text[16] = {};

	must(pread(fail_nth_fd, text, sizeof(text) - 1, 0) > 0, "fail-nth");
	must(pwrite(fail_nth_fd, "0", 1, 0) == 1, "fail-nth");
	return (unsigned int)atoi(text);
}

/* -- the state of a directory ------------------------------------------------------------- */

static uint32_t content_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	static unsigned char data[65536];
	uint32_t sum = 17;
	ssize_t n, i;

	if (fd < 0)
		return 0;
	while ((n = read(fd, data, sizeof(data))) > 0)
		for (i = 0; i < n; i++)
			sum = sum * 31 + data[i];
	close(fd);
	return n < 0 ? (uint32_t)errno : sum;
}

/* Appends a line for each entry of a directory, ordered by name. */
static size_t describe(const char *directory, char *text, size_t used)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, alphasort), i;

	for (i = 0; i < count; i++) {
		const char *name = entries[i]->d_name, *path = in(directory, name);
		char target[64] = "", value[64] = "";
		struct stat st = {};

		if (strcmp(name, "..") && !lstat(path, &st)) {
			if (S_ISLNK(st.st_mode))
				(void)!readlink(path, target, sizeof(target) - 1);
			if (S_ISREG(st.st_mode))
				(void)!getxattr(path, "trusted.k", value, sizeof(value) - 1);
			used += snprintf(text + used, TEXT_BYTES - used, "%s %o %ld %ld %x %s %s\n", name,
					 st.st_mode, (long)st.st_nlink,
					 S_ISDIR(st.st_mode) ? 0 : (long)st.st_size,
					 S_ISREG(st.st_mode) ? content_of(path) : 0, target, value);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	else
		used += snprintf(text + used, TEXT_BYTES - used, "%s\n", strerror(errno));
	return used;
}

/* -- attempts ------------------------------------------------------------------------------------- */

struct attempt {
	long result;
	bool was_hit; /* an allocation failed */
	char before[TEXT_BYTES], after[TEXT_BYTES], below[TEXT_BYTES];
};

/* Allocation N of the operation fails; 0: none fails. */
static void attempt_make(const struct operation *operation, unsigned int n, struct attempt *attempt)
{
	snprintf(upper, sizeof(upper), "%s/%s.%u", upper_root, operation->name, n);
	snprintf(lower, sizeof(lower), "%s/%s.%u", lower_root, operation->name, n);
	must(!mkdir(lower, 0755), lower);
	if (operation->prepare)
		operation->prepare();
	describe(lower, attempt->before, 0);
	if (operation->open)
		operation->open();
	arm(n);
	attempt->result = operation->run();
	attempt->was_hit = !disarm() && n;
	if (operation->close)
		operation->close();
	describe(upper, attempt->after, 0);
	describe(lower, attempt->below, 0);
	if (attempt->result >= 0 && operation->kind && !is_survey)
		fprintf(stderr, "%s %s.%u%s%s\n", operation->kind, operation->name, n,
			operation->file ? "/" : "", operation->file ?: "");
}

static void complain(const struct operation *operation, unsigned int n, const char *what,
		     const struct attempt *attempt)
{
	bad++;
	printf("# %s, allocation %u: %s; result %ld\n", operation->name, n, what, attempt->result);
	if (attempt->after[0])
		printf("# above:\n# %s\n# below:\n# %s\n", attempt->after, attempt->below);
}

/* Does the lower file system have this result, too? */
static bool is_surveyed(const char *line)
{
	const char *found = survey;

	while ((found = strstr(found, line)) && found > survey && found[-1] != '\n')
		found++;
	return found;
}

static bool is_allowed(const struct operation *operation, long result, bool is_before)
{
	return (is_before || operation->is_loose) &&
	       (result == -ENOMEM || (operation->error && result == -operation->error));
}

static void judge(const struct operation *operation, unsigned int n, const struct attempt *attempt,
		  const struct attempt *success)
{
	bool is_before = !strcmp(attempt->after, attempt->before);
	bool is_after = !strcmp(attempt->after, success->after);
	char line[200];

	snprintf(line, sizeof(line), "%s %ld %s\n", operation->name, -attempt->result,
		 is_before ? "before" : is_after ? "after" : "between");
	if (is_survey) {
		if (attempt->result < 0 && !is_surveyed(line))
			strcat(survey, line);
		return;
	}
	if (strcmp(attempt->after, attempt->below))
		complain(operation, n, "above and below differ", attempt);
	if (attempt->result >= 0 && !is_after && !operation->is_loose)
		complain(operation, n, "success, but a wrong state", attempt);
	if (attempt->result < 0 && !attempt->was_hit)
		complain(operation, n, "an error without a cause", attempt);
	if (attempt->result < 0 && !is_allowed(operation, attempt->result, is_before) &&
	    !is_surveyed(line))
		complain(operation, n, "the lower file system does not behave so", attempt);
}

static void try_operation(const struct operation *operation)
{
	static struct attempt success, attempt;
	unsigned int n, hits = 0, misses = 0, failed = 0;

	bad = 0;
	attempt_make(operation, 0, &success);
	if (success.result == -EOPNOTSUPP) {
		if (!is_survey)
			printf("ok %d - %s # SKIP the lower file system does not support this operation\n",
			       ++number, operation->name);
		return;
	}
	if (success.result < 0)
		complain(operation, 0, "an error without a cause", &success);
	for (n = 1; n <= ATTEMPTS_MAX && misses < MISSES_MAX; n++) {
		attempt_make(operation, n, &attempt);
		hits += attempt.was_hit;
		misses = attempt.was_hit ? 0 : misses + 1;
		failed += attempt.result < 0;
		judge(operation, n, &attempt, &success);
	}
	if (is_survey)
		return;
	printf("%sok %d - %s: %u allocations failed, and the operation failed %u times\n",
	       bad ? "not " : "", ++number, operation->name, hits, failed);
	fflush(stdout);
}

static int try_all(const struct operation *operations)
{
	int failures = 0;

	for (; operations->name; operations++) {
		try_operation(operations);
		failures += bad > 0;
	}
	return failures;
}

static void survey_read(const char *path)
{
	FILE *in = fopen(path, "re");

	must(in, path);
	must(fread(survey, 1, sizeof(survey) - 1, in) > 0, path);
	fclose(in);
}

int main(int argc, char **argv)
{
	int failures;

	if (argc < 3 || (argc < 5 && strcmp(argv[1], "survey"))) {
		fputs("usage: failnth survey DIRECTORY | files|modules DIRECTORY LOWER FILE\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	is_survey = !strcmp(argv[1], "survey");
	upper_root = argv[2];
	lower_root = is_survey ? argv[2] : argv[3];
	fail_nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	fail_nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth_fd < 0)
		fail_nth_fd = open("/dev/failnth", O_RDWR | O_CLOEXEC); /* from inject.ko */
	must(fail_nth_fd >= 0, "/proc/thread-self/fail-nth and /dev/failnth");
	must(!mlockall(MCL_CURRENT), "mlockall"); /* no page faults between arm and disarm */
	if (!strcmp(argv[1], "modules")) {
		program_path = argv[4];
		mount_source = argv[3];
		is_survey = false;
		failures = try_all(module_operations);
	} else {
		if (!is_survey)
			survey_read(argv[4]);
		failures = try_all(file_operations) + try_all(map_operations);
	}
	if (is_survey)
		printf("%sfailnth 0 end\n", survey);
	else
		printf("1..%d\n", number);
	return failures > 0;
}
