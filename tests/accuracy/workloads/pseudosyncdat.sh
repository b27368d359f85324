# SPDX-License-Identifier: GPL-2.0-only
# The same, and compute time between reads.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=openmpi-bin
mpi=openmpi

work() { # DIRECTORY
	job checkpoint --sync --compute=1000 "$1"
}
