// SPDX-License-Identifier: GPL-2.0-only
/*
 * press.c - execute iotape-mount with random arguments, environments, limits and closed descriptors.
 *
 *	press PROGRAM DIRECTORY COUNT SEED	DIRECTORY is one that the policy allows
 *	press check				the command that it asks for: does anything of root remain?
 *
 * Prints how often the command ran and how often it was refused. Exit code 1: the command had rights of root, the program died by
 * a signal that was not requested, or it hung.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX  64
#define BAD_RIGHTS 42
#define RAN	   43
#define SECONDS	   60
#define LINKER_FILES 4 /* with fewer, the dynamic linker crashes before main() */

static unsigned long long state;

static unsigned int below(unsigned int end)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(state >> 33) % end;
}

/* -- the command --------------------------------------------------------------------------------- */

static int check(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	uid_t r, e, s;
	int fd;

	if (getresuid(&r, &e, &s) || !r || !e || !s || r != e || e != s || syscall(SYS_capget, &head, data) || data[0].permitted ||
	    data[1].permitted || data[0].effective || data[1].effective || !setuid(0))
		return BAD_RIGHTS;
	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return BAD_RIGHTS;
	return RAN;
}

/* -- random calls -------------------------------------------------------------------------------- */

static char *garbage(unsigned int bytes)
{
	char *text = malloc(bytes + 1);
	unsigned int i;

	for (i = 0; i < bytes; i++)
		text[i] = (char)(1 + below(255));
	text[bytes] = 0;
	return text;
}

static char *word(const char *directory)
{
	static const char *const known[] = {
		"--mmap=page", "--mmap=", "--buffers=4", "--buffers=99999999999", "--buffers=-1", "--flush=10", "--flush=0", "--drop", "--",
		"/", "/etc", "..", ".", "", "-", "--x", "%s%n", "/proc/self/fd/0", "/dev/null", "/nosuch",
	};
	char *text;

	switch (below(6)) {
	case 0:
		return garbage(below(300));
	case 1:
	case 2:
		return strdup(directory);
	case 3:
		text = malloc(strlen(directory) + 32);
		sprintf(text, "%s%s", directory, below(2) ? "/../ann" : "//");
		return text;
	case 4:
		return below(20) ? strdup("--drop") : garbage(100000);
	default:
		return strdup(known[below(sizeof(known) / sizeof(known[0]))]);
	}
}

static void limit(int resource, rlim_t to)
{
	struct rlimit limit = { to, to };

	setrlimit(resource, &limit);
}

static void call(const char *program, const char *self, const char *directory, int resource)
{
	char *argv[WORDS_MAX + 8], *environment[8] = {};
	unsigned int count = 0, words = below(6), i;
	int fd;

	if (below(10))
		argv[count++] = (char *)program;
	if (below(3)) { /* near a valid one */
		argv[count++] = strdup(directory);
		words = below(2);
	}
	for (i = 0; i < words; i++)
		argv[count++] = word(directory);
	if (below(10)) {
		argv[count++] = strdup("--");
		argv[count++] = below(8) ? strdup(self) : word(directory);
		argv[count++] = strdup("check");
	}
	argv[count] = NULL;
	for (i = 0; i < below(7); i++)
		environment[i] = below(2) ? garbage(below(200)) : strdup("LD_PRELOAD=/tmp/evil.so");
	if (resource >= 0)
		limit(resource, resource == RLIMIT_NOFILE ? LINKER_FILES + below(12) : below(2) ? 0 : below(12));
	for (fd = 0; fd < 3; fd++)
		if (!below(4))
			close(fd);
	signal(SIGPIPE, below(2) ? SIG_IGN : SIG_DFL);
	execve(program, argv, environment);
	_exit(1); /* the arguments are too long */
}

static int press(const char *program, const char *self, const char *directory, unsigned int count)
{
	static const int resources[] = { RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_CORE, RLIMIT_MEMLOCK, RLIMIT_DATA };
	unsigned int ran = 0, refused = 0, i;
	int status, bad = 0, resource;
	pid_t pid;

	for (i = 0; i < count && !bad; i++) {
		alarm(SECONDS);
		resource = below(3) ? -1 : resources[below(6)];
		pid = fork();
		if (!pid) {
			alarm(0);
			call(program, self, directory, resource);
		}
		waitpid(pid, &status, 0);
		ran += WIFEXITED(status) && WEXITSTATUS(status) == RAN;
		refused += WIFEXITED(status) && WEXITSTATUS(status) == 1;
		if (WIFEXITED(status) && (WEXITSTATUS(status) == RAN || WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 127))
			continue; /* 127: a limit was too tight for the dynamic linker */
		if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXFSZ || WTERMSIG(status) == SIGKILL))
			continue; /* of a limit */
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV && resource == RLIMIT_DATA)
			continue; /* the kernel cannot start the program */
		printf("call %u: status %#x, limit %d\n", i, status, resource);
		bad = 1;
	}
	printf("%u ran, %u refused\n", ran, refused);
	return bad || !ran || !refused;
}

int main(int argc, char **argv)
{
	char self[PATH_MAX] = "";

	if (argc > 1 && !strcmp(argv[argc - 1], "check"))
		return check();
	if (argc != 5 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	state = strtoull(argv[4], NULL, 10);
	freopen("/dev/null", "w", stderr);
	return press(argv[1], self, argv[2], (unsigned int)atoi(argv[3]));
}
