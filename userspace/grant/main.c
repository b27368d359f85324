// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - iotape-mount: let users record where the administrator allows it.
 *
 * The program is set-user-ID root. It makes a private mount namespace with tapefs over directories of the policy, and a session that
 * the kernel restricts to the calling user. Then it gives up all rights for good and executes a command of the caller, which
 * is `iotape record`. It reads its arguments and the policy, and no other input: in particular no environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grant.h"

#define CODE_REFUSED 1

/**
 * grant_refuse() - end with a sentence
 * @format: the sentence, with the arguments that follow
 *
 * Names are those of the caller, so control characters are printed as they are on no terminal: as '?'.
 */
void grant_refuse(const char *format, ...)
{
	char text[1024];
	va_list arguments;
	size_t i;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (i = 0; text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	dprintf(2, "iotape-mount: %s\n", text);
	_exit(CODE_REFUSED);
}

/* A file that is opened later must not become a standard descriptor of the command. */
static void open_standard(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			_exit(CODE_REFUSED);
}

/* The session is the only descriptor of this program that the command has. */
static void execute(char **command, int session_fd, uint64_t number)
{
	char session[64];
	char *environment[] = { session, NULL };

	snprintf(session, sizeof(session), "IOTAPE_SESSION=%d:%llu", session_fd, (unsigned long long)number);
	if (!fcntl(session_fd, F_SETFD, 0))
		execve(command[0], command, environment);
	grant_refuse("%s: %s", command[0], strerror(errno));
}

int main(int argc, char **argv)
{
	struct grant_request request;
	int mounts[GRANT_DIRECTORIES_MAX], session_fd, i;
	uint64_t number;

	(void)argc;
	open_standard();
	clearenv();
	grant_request_parse(&request, argv);
	if (!getuid())
		grant_refuse("not for root: root of the machine records without it, and root of a user namespace may not record");
	if (geteuid())
		grant_refuse("root does not own it or it is not set-user-ID, or the system ignores that, as in a container with its own users");
	grant_policy_read();
	grant_namespace_enter();
	for (i = 0; i < request.count; i++)
		mounts[i] = grant_mount(&request, request.directories[i]);
	session_fd = grant_session(&request, mounts, &number);
	grant_rights_drop();
	execute(request.command, session_fd, number);
}
