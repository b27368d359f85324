# SPDX-License-Identifier: GPL-2.0-only
# The same, with a barrier after each write.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=openmpi-bin
mpi=openmpi

work() { # DIRECTORY
	job checkpoint --sync "$1"
}
