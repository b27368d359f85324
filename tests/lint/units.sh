#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Numbers in public headers have their units in their names.
set -u

cd "$(dirname "$0")/../.." || exit 1

# A field or an argument of an integer type by one of the bare names, or ending in one.
bare='(time|duration|timeout|delay|interval|len|length|size|offset|pos|latency|bandwidth|age)'
type='(__)?([us](8|16|32|64)|le(16|32|64))|(u?int(8|16|32|64)|size|ssize|off|loff|time)_t|(unsigned )?(int|long|short)( long)?|unsigned'

# the word of MPI_Comm_size: how many ranks there are
exception='F\(u32, size, num, "ranks in it"\)|graph\.h:[0-9]+:.u32 size;'

found=$(tests/lint/files 'ioctl-api/*.h' 'userspace/*/*.h' 'kmod/iotape/iotape.h' |
	xargs grep -nHE "\b($type)\b \**([a-z_]*_)?$bare\b *[;,)=[]|\bF\([us](32|64), ([a-z_]*_)?$bare," |
	grep -vE "$exception")
[ -z "$found" ] || { echo "$found"; exit 1; }
