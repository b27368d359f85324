# SPDX-License-Identifier: GPL-2.0-only
# PnetCDF: its parallel tools create a file from text, print it, and compare it with another. The work for other numbers of ranks is
# pnetcdf.c, which writes and reads arrays of the same size per rank.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages='pnetcdf-bin libpnetcdf-dev openmpi-bin'
mpi=openmpi
runs='4 6 8' held_out=12

version() {
	pnetcdf_version -v | sed -n 's/.*[Vv]ersion[: ]*//p' | head -n 1
}

parallel() {
	mpirun -n "${ranks:-4}" "$@" </dev/null
}

work() { # DIRECTORY
	cd "$1" || return
	{
		echo 'netcdf field { dimensions: x = 120; y = 30; time = UNLIMITED;'
		echo 'variables: double height(x, y); int step(time); float wind(time, y);'
		echo 'wind:unit = "m/s"; data: height ='
		seq -s ', ' 3600
		echo '; step = 1, 2, 3; wind ='
		seq -s ', ' 90
		echo '; }'
	} >field.cdl
	ncmpigen -v 5 -o first.nc field.cdl && parallel ncmpigen -v 5 -o second.nc field.cdl &&
		parallel ncmpidiff first.nc second.nc && ncmpidump second.nc >dump.cdl &&
		ncvalidator -q second.nc && cmp first.nc second.nc
}

scale() { # DIRECTORY
	mpirun -n "$ranks" "$bin/programs/pnetcdf" "$1/data.nc" </dev/null && ncvalidator -q "$1/data.nc"
}
