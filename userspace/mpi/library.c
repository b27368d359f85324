// SPDX-License-Identifier: GPL-2.0-only
/*
 * library.c - finds the MPI library that the program uses.
 *
 * Most processes that have the shim never call MPI, so nothing is looked for before the
 * first call. A library that a program loads while it runs, as interpreters do, may be out of
 * the shim's scope; but the calling object depends on it, and is searched for it.
 */
#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>

struct iot_mpi_library iot_mpi_found, iot_mpi_bare;
bool iot_mpi_is_found;
IOT_MPI_THREAD unsigned int iot_mpi_depth;
static bool is_foreign;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct call {
	const char *name; /* with PMPI_ */
	size_t offset;
};

static const struct call wrapped[] = {
#define MEMBER(name, ...) { "PMPI_" #name, offsetof(struct iot_mpi_library, MPI_##name) },
	IOT_MPI_WRAPPED(MEMBER)
#undef MEMBER
};

static const struct call queries[] = {
#define MEMBER(name) { "PMPI_" #name, offsetof(struct iot_mpi_library, PMPI_##name) },
	IOT_MPI_QUERIES(MEMBER)
#undef MEMBER
};

/* In place of a call that MPI lacks: a program that can call it does not exist. */
static int absent(void)
{
	return MPI_ERR_INTERN;
}

/* The library of an address, which then stays where it is until the process ends. */
static void *pin(const void *address, int flags)
{
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return NULL;
	return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | flags);
}

static void fill(void *where, struct iot_mpi_library *mpi, const struct call *calls, size_t count,
		 size_t skipped)
{
	size_t i;

	for (i = 0; i < count; i++) {
		void *call = dlsym(where, calls[i].name + skipped);

		if (!call)
			call = (void *)absent;
		memcpy((char *)mpi + calls[i].offset, &call, sizeof(call));
	}
}

static void fill_calls(void *where)
{
	fill(where, &iot_mpi_found, wrapped, ARRAY_SIZE(wrapped), strlen("P"));
	fill(where, &iot_mpi_found, queries, ARRAY_SIZE(queries), 0);
}

/*
 * Open MPI's handles are addresses of objects of its library, MPICH's are numbers. The
 * linker may have moved such an object into the program: RTLD_NEXT passes it over.
 */
static void fill_handles(void *where)
{
	struct iot_mpi_library *mpi = &iot_mpi_found;

	if (where == RTLD_NEXT)
		where = RTLD_DEFAULT;
#ifdef OPEN_MPI
	mpi->comm_world = dlsym(where, "ompi_mpi_comm_world");
	mpi->comm_self = dlsym(where, "ompi_mpi_comm_self");
	mpi->comm_null = dlsym(where, "ompi_mpi_comm_null");
	mpi->info_null = dlsym(where, "ompi_mpi_info_null");
	mpi->errors_return = dlsym(where, "ompi_mpi_errors_return");
	mpi->request_null = dlsym(where, "ompi_request_null");
	mpi->message_null = dlsym(where, "ompi_message_null");
	mpi->message_no_proc = dlsym(where, "ompi_message_no_proc");
	mpi->byte = dlsym(where, "ompi_mpi_byte");
#else
	mpi->comm_world = MPI_COMM_WORLD;
	mpi->comm_self = MPI_COMM_SELF;
	mpi->comm_null = MPI_COMM_NULL;
	mpi->info_null = MPI_INFO_NULL;
	mpi->errors_return = MPI_ERRORS_RETURN;
	mpi->request_null = MPI_REQUEST_NULL;
	mpi->message_null = MPI_MESSAGE_NULL;
	mpi->message_no_proc = MPI_MESSAGE_NO_PROC;
	mpi->byte = MPI_BYTE;
#endif
}

/* A library of one MPI cannot make anything of the handles of another one. */
static bool is_other_mpi(void *where)
{
	bool is_open_mpi = dlsym(where == RTLD_NEXT ? RTLD_DEFAULT : where, "ompi_mpi_comm_world");

#ifdef OPEN_MPI
	return !is_open_mpi;
#else
	return is_open_mpi;
#endif
}

/**
 * iot_mpi_is_foreign() - does the program use another MPI than the one that this shim is for?
 *
 * Calls are then passed on as they are, as far as that is possible.
 */
bool iot_mpi_is_foreign(void)
{
	return is_foreign;
}

/**
 * iot_mpi_find() - fill in iot_mpi_found and iot_mpi_bare
 * @caller: an address in the program or library that calls MPI
 */
void iot_mpi_find(const void *caller)
{
	void *its_library = NULL, *where = RTLD_NEXT, *symbol;
	int saved = errno;

	pthread_mutex_lock(&lock);
	symbol = dlsym(RTLD_NEXT, "MPI_Init");
	if (!symbol) {
		its_library = pin(caller, 0);
		where = its_library;
		symbol = where ? dlsym(where, "MPI_Init") : NULL;
	}
	if (!iot_mpi_is_found) {
		fill_calls(symbol ? where : RTLD_NEXT);
		fill_handles(symbol ? where : RTLD_NEXT);
		iot_mpi_bare = iot_mpi_found; /* but for the names of the calls */
		fill(symbol ? where : RTLD_NEXT, &iot_mpi_bare, wrapped, ARRAY_SIZE(wrapped), 0);
		is_foreign = symbol && is_other_mpi(where);
		if (symbol)
			pin(symbol, RTLD_NODELETE);
		__atomic_store_n(&iot_mpi_is_found, symbol != NULL, __ATOMIC_RELEASE);
	}
	if (its_library)
		dlclose(its_library);
	dlerror(); /* the program must not find ours */
	pthread_mutex_unlock(&lock);
	errno = saved;
}
