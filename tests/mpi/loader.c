// SPDX-License-Identifier: GPL-2.0-only
/*
 * loader.c - a program without MPI that loads a plug-in with MPI, as interpreters
 * do: preloaded libraries cannot see the MPI library.
 *
 *	loader PLUGIN
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_run") : NULL;

	if (!run) {
		fprintf(stderr, "loader: %s\n", argc == 2 ? dlerror() : "which plugin?");
		return 2;
	}
	return run();
}
