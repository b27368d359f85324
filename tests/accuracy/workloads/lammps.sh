# SPDX-License-Identifier: GPL-2.0-only
# LAMMPS: a melt with dumps by rank 0, by every rank and by MPI-IO, and checkpoints.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages='lammps openmpi-bin'
mpi=openmpi
programs=(lmp)

prepare() { # DIRECTORY
	cat >"$1/melt" <<-'END'
		units lj
		atom_style atomic
		lattice fcc 0.8442
		region box block 0 5 0 5 0 5
		create_box 1 box
		create_atoms 1 box
		mass 1 1.0
		velocity all create 3.0 87287
		pair_style lj/cut 2.5
		pair_coeff 1 1 1.0 1.0 2.5
		fix 1 all nve
		dump one all atom 10 dump.one
		dump each all atom 10 dump.each.%
		dump together all atom/mpiio 10 dump.together.mpiio
		restart 20 a.% b.%
		run 40
		write_data data
	END
}

work() { # DIRECTORY
	cd "$1" && launch lmp -in melt -log log -screen none </dev/null
}
