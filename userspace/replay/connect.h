/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * connect.h - the library that carries messages between nodes.
 */
#ifndef IOTAPE_CONNECT_H
#define IOTAPE_CONNECT_H

#include "lib/iotape.h"
#include "transport/transport.h"

int connect_load(const char *mpi, void **library, const struct transport **transport, char *why,
		 size_t room);
int connect_check(u32 nodes, const char *name, char *why, size_t room);

#endif
