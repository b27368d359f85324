# SPDX-License-Identifier: GPL-2.0-only
# fio: a file is written, synced and read, through the page cache.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=fio
programs=(fio)

work() { # DIRECTORY
	fio --directory="$1" --filename=f --size=24m --bs=64k --ioengine=psync --name=w --rw=write --end_fsync=1 &&
		fio --directory="$1" --filename=f --size=24m --bs=64k --ioengine=psync --name=r --rw=read --invalidate=1
}
