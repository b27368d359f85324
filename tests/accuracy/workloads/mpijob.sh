# SPDX-License-Identifier: GPL-2.0-only
# Ranks that share a file, sync it in turn, and meet at barriers.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=openmpi-bin
mpi=openmpi

work() { # DIRECTORY
	launch "$bin/workloads/mpijob" --rounds=60 --sync "$1"
}
