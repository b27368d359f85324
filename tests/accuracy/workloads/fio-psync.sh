# SPDX-License-Identifier: GPL-2.0-only
# fio: threads with random direct reads and writes, one request at a time each.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=fio
programs=(fio)

prepare() { # DIRECTORY
	fio --directory="$1" --filename=f --size=16m --bs=64k --ioengine=psync --name=p --rw=write --end_fsync=1
}

work() { # DIRECTORY THREADS
	fio --name=r --directory="$1" --filename=f --size=16m --rw=randrw --bs=4k --direct=1 --ioengine=psync --thread \
		--numjobs="$2" --number_ios=250 --randseed=7 --group_reporting
}
