/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * launcher.h - does a command start an MPI job, and which MPI is it?
 */
#ifndef IOTAPE_LAUNCHER_H
#define IOTAPE_LAUNCHER_H

#include <stdbool.h>

bool launcher_is(const char *command);
const char *launcher_mpi(const char *command);

#endif
