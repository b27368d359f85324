/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * early.h - the operations of a replay that stand for the records of a state dump.
 */
#ifndef IOTAPE_EARLY_H
#define IOTAPE_EARLY_H

#include "lib/iotape.h"

/* Not pipes: opening one may block until another process opens the other end. */
static inline bool is_opened_early(u32 type)
{
	return type == IOT_TYPE_file || type == IOT_TYPE_dir;
}

/* That of a directory means something to its own file system only. */
static inline bool has_position_early(u32 type, const struct iot_rec_opened *r)
{
	return type == IOT_TYPE_file && r->offset_bytes;
}

#endif
