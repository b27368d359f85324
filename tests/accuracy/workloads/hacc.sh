# SPDX-License-Identifier: GPL-2.0-only
# HACC-IO: nine variables of all particles, in one file or (each) a file of each rank, written and read.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=openmpi-bin
mpi=openmpi

work() { # DIRECTORY [each]
	job hacc ${2:+--each} "$1"
}
