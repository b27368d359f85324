# SPDX-License-Identifier: GPL-2.0-only
# HDF5: hdf5.c, whose ranks share a file by MPI-IO, with OMPIO and with ROMIO, and tools that examine
# the files.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages='libhdf5-openmpi-dev hdf5-tools openmpi-bin'
mpi=openmpi

version() {
	h5dump --version | sed 's/.*Version //'
}

work() { # DIRECTORY
	mpirun.openmpi -n "${ranks:-4}" "$bin/programs/hdf5.openmpi" "$1/data.h5" &&
		OMPI_MCA_io=romio321 mpirun.openmpi -n "${ranks:-4}" "$bin/programs/hdf5.openmpi" "$1/romio.h5" &&
		h5repack "$1/data.h5" "$1/packed.h5" && h5diff "$1/data.h5" "$1/packed.h5" &&
		h5diff "$1/romio.h5" "$1/packed.h5" &&
		h5stat "$1/packed.h5" >"$1/stat"
}
