/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * version.h - the version of modules, programs, library and packages: one for all.
 */
#ifndef IOTAPE_VERSION_H
#define IOTAPE_VERSION_H

#define IOTAPE_VERSION	     "0.1"
#define IOTAPE_VERSION_MAJOR 0
#define IOTAPE_VERSION_MINOR 1

#endif
