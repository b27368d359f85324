# SPDX-License-Identifier: GPL-2.0-only
# LAMMPS: a melt, with dumps by rank 0, by every rank, and by MPI-IO; checkpoints, from one of
# which a second job continues. The work for other numbers of ranks is a crystal at rest, so that all ranks have as many
# atoms; these are between the faces of the ranks' parts.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages='lammps openmpi-bin'
mpi=openmpi
runs='3 4 6 8' held_out=12

version() {
	lmp -h | sed -n 's/.*Simulator - //p'
}

lammps() { # DIRECTORY INPUT
	mpirun -n "${ranks:-4}" lmp -in "$2" -log "$1/$2.log" -screen none </dev/null
}

work() { # DIRECTORY
	cd "$1" || return
	cat >melt <<-'END'
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
		thermo 10
		run 40
		write_restart last.mpiio
		write_data data
	END
	cat >again <<-'END'
		read_restart last.mpiio
		pair_coeff 1 1 1.0 1.0 2.5
		fix 1 all nve
		thermo 10
		run 10
		write_restart end
	END
	lammps "$1" melt && lammps "$1" again && grep -q '^Total wall time' again.log || return
	# the second job starts at the end of the first
	[ "$(awk '$1 == 40 && NF == 6 { printf "%.4f", $5; exit }' melt.log)" = \
		"$(awk '$1 == 40 && NF == 6 { printf "%.4f", $5; exit }' again.log)" ] &&
		[ "$(grep -c '^ITEM: TIMESTEP' dump.one)" = 5 ] &&
		[ "$(grep -c '^ITEM: TIMESTEP' dump.together.mpiio)" = 5 ]
}

# The input is not in the directory: a trace of a pattern has no order between a shell that writes and a rank that reads.
scale() { # DIRECTORY
	local input
	cd "$1" && input=$(mktemp) || return
	cat >"$input" <<-'END'
		units lj
		atom_style atomic
		processors * 1 1
		lattice fcc 0.8442 origin 0.25 0.25 0.25
		region box block 0 24 0 2 0 2
		create_box 1 box
		create_atoms 1 box
		mass 1 1.0
		velocity all set 0 0 0
		pair_style lj/cut 2.5
		pair_coeff 1 1 1.0 1.0 2.5
		fix 1 all nve
		dump each all atom 5 dump.each.%.bin
		dump together all atom/mpiio 10 dump.together.mpiio.bin
		restart 10 restart.*.%
		run 20
	END
	mpirun -n "$ranks" lmp -in "$input" -log none -screen none </dev/null
}
