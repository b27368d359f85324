/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * implied.h - records that have no operation in a replay, because other operations
 * imply them or because they are part of an open.
 */
#ifndef IOTAPE_IMPLIED_H
#define IOTAPE_IMPLIED_H

#include <errno.h>
#include <string.h>

#include "lib/iotape.h"

/*
 * The truncation of an open, and whatever is nested in another operation but for accesses to
 * mapped memory, which the replay does not give to reads and writes.
 */
static inline bool is_implied(const struct iot_record *record)
{
	if (record->kind == IOT_KIND_setattr && (record->setattr.attrs & IOT_ATTR_by_open))
		return true;
	return record->op.parent && record->kind != IOT_KIND_touch;
}

/*
 * Before a truncation by an open, and before a change that takes privileges away, the kernel
 * asks whether there are capabilities: does the record stand for something that asks?
 */
static inline bool has_question(const struct iot_record *record)
{
	return record->kind == IOT_KIND_setattr &&
	       (record->setattr.attrs & (IOT_ATTR_by_open | IOT_ATTR_kill_priv));
}

/* Whether this is the query that the kernel makes then. */
static inline bool is_question(u16 kind, const char *xattr)
{
	return kind == IOT_KIND_getxattr && xattr && !strcmp(xattr, "security.capability");
}

/*
 * The look-up of an open that fails there: O_EXCL and the name is taken, or a name that is
 * too long. (That a name is absent does not end an open.)
 */
static inline bool is_failed_open(const struct iot_rec_lookup *r)
{
	return r->result < 0 && r->result != -ENOENT && (r->intents & IOT_INTENT_open);
}

/* The known open flags. */
static inline u32 failed_open_flags(const struct iot_rec_lookup *r)
{
	return IOT_OPEN_read | (r->intents & IOT_INTENT_create ? IOT_OPEN_create : 0) |
	       (r->intents & IOT_INTENT_excl ? IOT_OPEN_excl : 0);
}

#endif
