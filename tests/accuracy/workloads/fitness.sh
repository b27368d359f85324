# SPDX-License-Identifier: GPL-2.0-only
# Ranks that read their parts of a file in turn.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=openmpi-bin
mpi=openmpi

prepare() { # DIRECTORY
	"$bin/accuracy/fitness" "--prepare=$ranks" "$1"
}

work() { # DIRECTORY
	job fitness "$1"
}
