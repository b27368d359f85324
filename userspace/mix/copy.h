/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * copy.h - a program that becomes a part of a mix: private to this directory.
 */
#ifndef IOTAPE_MIX_COPY_H
#define IOTAPE_MIX_COPY_H

#include "mix.h"

/**
 * struct base - elements of the mix before those of a program; numbers of the program are increased by them
 * @origin: of tasks: one more than their largest id
 * @rank: ranks
 * @space: address spaces
 */
struct base {
	u64 task;
	u64 origin;
	u64 rank;
	u64 space;
	u64 latch;
	u64 object;
	u64 handle;
	u64 map;
};

/**
 * struct copy - one copy of a program
 * @builder: of the mix
 * @program: verified
 * @number: of the copy in the mix, from 1: the name of its directory
 * @start_ns, @think_scale: as in struct mix_part
 * @base: of this copy
 * @paths, @texts: for each byte of the program's strings, the string of the mix for a path or text that begins there, or 0
 */
struct copy {
	struct iot_builder *builder;
	const struct iot_program *program;
	u32 number;
	u64 start_ns;
	u32 think_scale;
	struct base base;
	u32 *paths;
	u32 *texts;
};

int copy_path(struct copy *copy, __le32 from, __le32 *to);
int copy_text(struct copy *copy, __le32 from, __le32 *to);
int copy_tasks(struct copy *copy);
int copy_tree(struct copy *copy);

#endif
