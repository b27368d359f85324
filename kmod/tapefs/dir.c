// SPDX-License-Identifier: GPL-2.0-only
/*
 * dir.c - reading directories: records each entry that the lower file system returns, and passes it on.
 */
#include <linux/fs.h>

#include "emit.h"
#include "lower.h"
#include "tapefs.h"
#include "compat/readdir.h"

/**
 * struct relay - stands between the lower file system and the reader of the directory
 * @context: the context that the lower file system fills
 * @reader: the context of the caller, which gets the entries
 * @span: the operation
 * @sb: upper super block
 * @entries: number of entries that the reader took
 */
struct relay {
	struct dir_context context;
	struct dir_context *reader;
	struct iot_span *span;
	const struct super_block *sb;
	u32 entries;
};

static bool relay_entry(struct dir_context *context, const char *name, int length, loff_t offset,
			u64 ino, unsigned int type)
{
	struct relay *relay = container_of(context, struct relay, context);

	relay->reader->pos = context->pos;
	if (!iot_dir_entry(relay->reader, name, length, offset, ino, type))
		return false;
	relay->entries++;
	if (iot_span_is_on(relay->span))
		tfs_emit_dirent(relay->span, relay->sb, name, length, type);
	return true;
}

IOT_FILLDIR(relay_entry)

int tfs_iterate_shared(struct file *file, struct dir_context *context)
{
	struct iot_span span;
	struct relay relay = {
		.context.actor = IOT_FILLDIR_OP(relay_entry),
		.context.pos = context->pos,
		.reader = context,
		.span = &span,
		.sb = file_inode(file)->i_sb,
	};
	loff_t offset = context->pos;
	int err;

	tfs_gate_open(relay.sb, IOT_KIND_readdir, &span);
	err = tfs_do_iterate(file, &relay.context);
	context->pos = relay.context.pos;
	tfs_emit_readdir(&span, file, offset, relay.entries, err);
	return err;
}
