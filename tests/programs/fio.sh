# SPDX-License-Identifier: GPL-2.0-only
# fio: threads and processes write, and verify what they wrote, by five engines.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages=fio
no_import='requests of aio and io_uring are not in its log'

version() {
	fio --version
}

work() { # DIRECTORY
	local engine common=(--directory="$1" --size=1m --bs=16k --verify=crc32c --verify_fatal=1
		--do_verify=1 --verify_state_save=0 --group_reporting --minimal --randseed=3)
	for engine in psync pvsync2 mmap "libaio --iodepth=8 --direct=1" "io_uring --iodepth=4"; do
		# shellcheck disable=SC2086 # an engine with its options
		fio "${common[@]}" --name="${engine%% *}" --rw=randwrite --numjobs=2 --thread \
			--ioengine=$engine >"$1/said" || return
	done
	fio "${common[@]}" --name=together --rw=randrw --numjobs=3 --fsync=8 --fallocate=none \
		--ioengine=psync --filename=shared --offset_increment=1m --size=1m >"$1/said"
}
