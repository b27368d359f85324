# SPDX-License-Identifier: GPL-2.0-only
# fio: random reads of a mapped file, which is in the page cache (warm) or not (cold).
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=fio
programs=(fio)

prepare() { # DIRECTORY
	fio --directory="$1" --filename=f --size=8m --bs=64k --ioengine=psync --name=p --rw=write --end_fsync=1
}

work() { # DIRECTORY cold|warm
	[ "$2" = cold ] || cat "$1/f" >/dev/null
	fio --directory="$1" --filename=f --size=8m --bs=4k --ioengine=mmap --name=m --rw=randread --number_ios=1000 \
		--randseed=7 --invalidate="$([ "$2" = warm ]; echo $?)"
}
