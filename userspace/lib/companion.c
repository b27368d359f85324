// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * companion.c - files that belong to the program: the libraries for each MPI.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "iotape.h"

#ifndef IOTAPE_PLUGINDIR_FROM_BINDIR /* the build knows better */
#define IOTAPE_PLUGINDIR_FROM_BINDIR "../lib"
#endif

/**
 * iot_companion_find() - find a file that was built or installed with the program
 * @name: of the file
 * @path: out: room for PATH_MAX bytes
 *
 * The file lies beside the program after a build, and in PLUGINDIR after an installation.
 *
 * Return: true if it exists and can be read.
 */
bool iot_companion_find(const char *name, char *path)
{
	static const char *const places[] = { "", IOTAPE_PLUGINDIR_FROM_BINDIR "/" };
	char self[PATH_MAX] = "";
	size_t i;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return false;
	*strrchr(self, '/') = 0;
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (snprintf(path, PATH_MAX, "%s/%s%s", self, places[i], name) < PATH_MAX &&
		    !access(path, R_OK))
			return true;
	return false;
}
