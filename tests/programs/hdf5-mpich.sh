# SPDX-License-Identifier: GPL-2.0-only
# HDF5 with the other MPI: hdf5.c by MPICH, whose MPI-IO is ROMIO.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages='libhdf5-mpich-dev hdf5-tools mpich'
mpi=mpich

version() {
	h5dump --version | sed 's/.*Version //'
}

work() { # DIRECTORY
	mpirun.mpich -n "${ranks:-4}" "$bin/programs/hdf5.mpich" "$1/data.h5" &&
		h5repack "$1/data.h5" "$1/packed.h5" && h5diff "$1/data.h5" "$1/packed.h5" &&
		h5stat "$1/packed.h5" >"$1/stat"
}
