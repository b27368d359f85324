# SPDX-License-Identifier: GPL-2.0-only
# fio: random direct reads and writes by io_submit, DEPTH at a time.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=fio
programs=(fio)

prepare() { # DIRECTORY
	fio --directory="$1" --filename=f --size=16m --bs=64k --ioengine=psync --name=p --rw=write --end_fsync=1
}

work() { # DIRECTORY DEPTH
	fio --name=a --directory="$1" --filename=f --size=16m --rw=randrw --bs=8k --direct=1 --ioengine=libaio \
		--iodepth="$2" --number_ios=600 --randseed=7
}
