# SPDX-License-Identifier: GPL-2.0-only
# N ranks, one file, small interleaved blocks.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=openmpi-bin
mpi=openmpi

work() { # DIRECTORY
	job checkpoint --blocks=96 --block=8192 "$1"
}
