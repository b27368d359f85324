/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * port.h - the whole bridge between the core and the two worlds that compile it.
 *
 * The only file of the project with #ifdef __KERNEL__. It stays this small: a
 * core function that needs more from its surroundings takes it as an argument.
 */
#ifndef IOTAPE_PORT_H
#define IOTAPE_PORT_H

#ifdef __KERNEL__

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#define iot_load_acquire(p)	smp_load_acquire(p)
#define iot_store_release(p, v) smp_store_release(p, v)
#define iot_count(p, n)		(*(p) += (n)) /* one writer; readers see some number of before or after */

#else

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define le16_to_cpu(v) le16toh(v)
#define le32_to_cpu(v) le32toh(v)
#define le64_to_cpu(v) le64toh(v)
#define cpu_to_le16(v) htole16(v)
#define cpu_to_le32(v) htole32(v)
#define cpu_to_le64(v) htole64(v)

#define iot_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define iot_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define iot_count(p, n)		__atomic_store_n(p, *(p) + (n), __ATOMIC_RELAXED)

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

#endif
#endif
