# SPDX-License-Identifier: GPL-2.0-only
# The phases of an earthquake solver: database, mesh, time steps.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=openmpi-bin
mpi=openmpi

work() { # DIRECTORY
	job quake "$1"
}
