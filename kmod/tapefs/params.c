// SPDX-License-Identifier: GPL-2.0-only
/*
 * params.c - mount parameters: the lower directory and the options.
 */
#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "tapefs.h"

enum parameter {
	PARAMETER_MMAP,
};

static const struct constant_table mmap_modes[] = {
	{ "off", TFS_MMAP_OFF },
	{ "faultaround", TFS_MMAP_FAULTAROUND },
	{ "page", TFS_MMAP_PAGE },
	{}
};

const struct fs_parameter_spec tfs_parameters[] = {
	fsparam_enum("mmap", PARAMETER_MMAP, mmap_modes),
	{}
};

static int parse_param(struct fs_context *fc, struct fs_parameter *param)
{
	struct tfs_options *options = fc->fs_private;
	struct fs_parse_result result;
	int parameter = fs_parse(fc, tfs_parameters, param, &result);

	switch (parameter) {
	case PARAMETER_MMAP:
		options->mmap = result.uint_32;
		return 0;
	default:
		return parameter; /* the VFS handles `source` and refuses unknown ones */
	}
}

static int get_tree(struct fs_context *fc)
{
	if (!fc->source)
		return invalfc(fc, "no lower directory given");
	return get_tree_nodev(fc, tfs_fill_super);
}

static int reconfigure(struct fs_context *fc)
{
	struct tfs_sb *tsb = TFS_SB(fc->root->d_sb);
	const struct tfs_options *options = fc->fs_private;

	if (!(fc->sb_flags & SB_RDONLY) && __mnt_is_readonly(tsb->lower.mnt))
		return invalfc(fc, "the lower mount is read-only");
	tfs_mount_inherit(fc->root->d_sb);
	tsb->options = *options; /* mappings that exist keep their mode */
	return 0;
}

static void free_context(struct fs_context *fc)
{
	kfree(fc->fs_private);
}

static const struct fs_context_operations context_operations = {
	.parse_param = parse_param,
	.get_tree = get_tree,
	.reconfigure = reconfigure,
	.free = free_context,
};

int tfs_init_fs_context(struct fs_context *fc)
{
	struct tfs_options *options = kzalloc(sizeof(*options), GFP_KERNEL);

	if (!options)
		return -ENOMEM;
	options->mmap = TFS_MMAP_PAGE;
	if (fc->purpose == FS_CONTEXT_FOR_RECONFIGURE)
		*options = TFS_SB(fc->root->d_sb)->options;
	fc->fs_private = options;
	fc->ops = &context_operations;
	return 0;
}

/**
 * tfs_options_show() - options as /proc/mounts shows them
 * @out: where to
 * @options: those of a mount
 */
void tfs_options_show(struct seq_file *out, const struct tfs_options *options)
{
	const struct constant_table *mode;

	for (mode = mmap_modes; mode->name; mode++)
		if (mode->value == options->mmap)
			seq_printf(out, ",mmap=%s", mode->name);
}
