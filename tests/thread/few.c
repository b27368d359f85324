// SPDX-License-Identifier: GPL-2.0-only
/*
 * few.c - a library to be preloaded that limits a process to 20 threads.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

typedef int (*create_fn)(pthread_t *thread, const pthread_attr_t *attr, void *(*begin)(void *),
			 void *argument);

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*begin)(void *), void *argument)
{
	static int count;
	create_fn next = (create_fn)dlsym(RTLD_NEXT, "pthread_create");

	if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) > 20)
		return EAGAIN;
	return next(thread, attr, begin, argument);
}
