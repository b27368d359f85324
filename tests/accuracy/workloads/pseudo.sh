# SPDX-License-Identifier: GPL-2.0-only
# A checkpoint with interleaved blocks, written, and read after a barrier.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=openmpi-bin
mpi=openmpi

work() { # DIRECTORY
	job checkpoint "$1"
}
