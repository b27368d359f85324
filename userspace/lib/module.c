// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * module.c - the reason why a kernel module is missing or cannot be used.
 *
 * In a container, the kernel has the module, but the container has neither its device nor the right to use it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <iotape/control.h>

#include "iotape.h"

#define IOT_RUN_OUTSIDE "run iotape outside of it"

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

/* Is it loaded, although its device is not here? */
static bool is_loaded(const char *module)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	return !access(path, F_OK);
}

/**
 * iot_module_missing() - a sentence about a module that is not loaded, or whose device is missing
 * @module: its name
 * @text: out: the sentence
 * @room: room for it
 */
void iot_module_missing(const char *module, char *text, size_t room)
{
	struct utsname uts;

	if (is_loaded(module))
		snprintf(text, room, "module %s is loaded, but its device is not in /dev, as in a container: " IOT_RUN_OUTSIDE, module);
	else if (uname(&uts) || is_installed(module, uts.release))
		snprintf(text, room, "module %s is not loaded (try: modprobe %s)", module, module);
	else
		snprintf(text, room, "module %s is not installed for this kernel, %s "
			 "(try: make modules install)", module, uts.release);
}

/**
 * iot_rights_missing() - a sentence about a refused request
 * @what: that only root may do
 * @text: out: the sentence
 * @room: room for it
 *
 * A caller that is root already lacks the right because of its user namespace, or its capabilities.
 */
void iot_rights_missing(const char *what, char *text, size_t room)
{
	if (geteuid())
		snprintf(text, room, "only root may %s (CAP_SYS_ADMIN is needed)", what);
	else
		snprintf(text, room, "root of a container or user namespace may not %s (CAP_SYS_ADMIN of the machine is needed): " IOT_RUN_OUTSIDE, what);
}

/**
 * iot_module_query() - the abilities of the loaded modules, if they have the version of this program
 * @control_fd: of /dev/iotape
 * @query: out
 * @text: out, after -EPROTO: a sentence about the two versions
 * @room: room for it
 *
 * Return: 0, or -EPROTO if the modules belong to another version.
 */
int iot_module_query(int control_fd, struct iot_query *query, char *text, size_t room)
{
	char version[32] = "of an unknown version";
	int err = ioctl(control_fd, IOT_IOC_QUERY, query);

	if (!err && query->version == IOT_CONTROL_VERSION)
		return 0;
	if (!err)
		snprintf(version, sizeof(version), "%u", query->version);
	snprintf(text, room, "the loaded modules have control interface %s, this program needs %d "
		 "(try: modprobe -r replayfs tapefs iotape; modprobe -a tapefs replayfs)", version, IOT_CONTROL_VERSION);
	return -EPROTO;
}
