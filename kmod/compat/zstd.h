/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zstd.h - decompression with zstd, if the kernel has it for modules.
 *
 * The functions have these names since Linux 5.16. CONFIG_ZSTD_DECOMPRESS provides them.
 */
#ifndef IOT_COMPAT_ZSTD_H
#define IOT_COMPAT_ZSTD_H

#include <linux/types.h>

#ifdef IOT_HAVE_ZSTD_DECOMPRESS

#include <linux/zstd.h>

#define IOT_HAS_ZSTD true

static inline size_t iot_zstd_workspace_bytes(void)
{
	return zstd_dctx_workspace_bound();
}

/* Return: whether @stored is a frame of exactly @count bytes, which are in @bytes then. */
static inline bool iot_zstd_decompress(void *workspace, void *bytes, size_t count, const void *stored,
				       size_t stored_bytes)
{
	zstd_dctx *dctx = zstd_init_dctx(workspace, zstd_dctx_workspace_bound());

	return dctx && zstd_decompress_dctx(dctx, bytes, count, stored, stored_bytes) == count;
}

#else

#define IOT_HAS_ZSTD false

static inline size_t iot_zstd_workspace_bytes(void)
{
	return 0;
}

static inline bool iot_zstd_decompress(void *workspace, void *bytes, size_t count, const void *stored,
				       size_t stored_bytes)
{
	return false;
}

#endif
#endif
