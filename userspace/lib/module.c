// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * module.c - the reason why a kernel module is missing.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "iotape.h"

/* Does the kernel that runs have the module among its own? */
static bool is_installed(const char *module, const char *release)
{
	char path[512], line[4096], name[64];
	bool is_found = false;
	FILE *in;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	snprintf(name, sizeof(name), "/%s.ko", module);
	in = fopen(path, "re");
	while (in && !is_found && fgets(line, sizeof(line), in)) {
		line[strcspn(line, ":")] = 0; /* the modules that follow depend on it */
		is_found = strstr(line, name) != NULL;
	}
	if (in)
		fclose(in);
	return is_found;
}

/**
 * iot_module_missing() - a sentence about a module that is not loaded
 * @module: its name
 * @text: out: the sentence
 * @room: room for it
 */
void iot_module_missing(const char *module, char *text, size_t room)
{
	struct utsname uts;

	if (uname(&uts) || is_installed(module, uts.release))
		snprintf(text, room, "module %s is not loaded (try: modprobe %s)", module, module);
	else
		snprintf(text, room, "module %s is not installed for this kernel, %s "
			 "(try: make modules install)", module, uts.release);
}
