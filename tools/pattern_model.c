// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern_model.c - load a model from a shared object.
 */
#include "pattern_model.h"

#include <ctype.h>
#include <dlfcn.h>
#include <iotape/model.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

#define NAME_MAX_BYTES 32

static bool is_name(const char *name)
{
	size_t i, bytes = name ? strnlen(name, NAME_MAX_BYTES + 1) : 0;

	for (i = 0; i < bytes; i++)
		if (!isprint((unsigned char)name[i]))
			return false;
	return bytes && bytes <= NAME_MAX_BYTES;
}

/**
 * load_model() - load a model, which stays loaded
 * @path: of the shared object; it is never searched elsewhere
 * @model: out
 *
 * Return: an exit code.
 */
int load_model(const char *path, const struct iotape_model **model)
{
	char name[PATH_MAX];
	void *library;

	if ((size_t)snprintf(name, sizeof(name), "%s%s", strchr(path, '/') ? "" : "./", path) >= sizeof(name))
		return fail("%s: the path is too long", path);
	library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return fail("%s: cannot be loaded: %s", path, dlerror());
	*model = dlsym(library, "iotape_model");
	if (!*model)
		return fail("%s: does not define iotape_model", path);
	if ((*model)->version != IOTAPE_MODEL_VERSION)
		return fail("%s: is a model of version %u, not %d", path, (*model)->version, IOTAPE_MODEL_VERSION);
	if (!(*model)->fit || !(*model)->value_ns || !(*model)->factors || (*model)->factors > IOTAPE_MODEL_FACTORS_MAX || !is_name((*model)->name))
		return fail("%s: a function, the name or the number of factors of its model is missing or not allowed", path);
	return EXIT_DONE;
}
