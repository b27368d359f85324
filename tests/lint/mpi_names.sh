#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The shim wraps every MPI call, or names.list states why not.
#
# tests/mpi/names compares the list with the declarations of the MPIs of this machine.
set -u

cd "$(dirname "$0")/../../userspace/mpi" || exit 1

# LINE NAME SECTION of each name, and errors of the list itself.
parse() {
	awk '
		/^#/ || !NF { next }
		/^[a-z]/ {
			if (/^wrapped:$/ || /^(local|lost): [A-Z].*\.$/)
				section = $1
			else
				print "userspace/mpi/names.list:" NR ": not a section with a reason: " $0
			next
		}
		{ for (i = 1; i <= NF; i++) print NR, $i, section }' names.list
}

bad=0
parse >"${list:=$(mktemp)}"
trap 'rm -f "$list" "$list.rows"' EXIT
grep '^userspace' "$list" && bad=1
awk '/^[0-9]/ && seen[$2]++ { print "userspace/mpi/names.list:" $1 ": " $2 " is there twice"; bad = 1 }
	/^[0-9]/ && $2 !~ /^MPIX?_[A-Z][A-Za-z0-9_]*$/ { print "userspace/mpi/names.list:" $1 ": not a name: " $2; bad = 1 }
	END { exit bad }' "$list" || bad=1

# The rows for an MPI with all calls.
{
	awk '/^[0-9]/ { sub(/^MPI_/, "", $2); print "#define IOT_HAS_" $2 " 1" }' "$list"
	# shellcheck disable=SC2016 # for sed
	sed '/mpi_has.h/d; s/#include "\(calls_[a-z]*.h\)"/#include "'"${PWD//\//\\/}"'\/\1"/' calls.h
	echo '#define ROW(name, ...) @name@'
	echo 'IOT_MPI_WRAPPED(ROW)'
} | ${CC:-gcc} -E -P -x c - | grep -o '@[A-Za-z0-9_]*@' | tr -d @ | sed 's/^/MPI_/' | sort >"$list.rows"
while read -r name; do
	echo "userspace/mpi/calls.h:1: $name has two rows"
	bad=1
done < <(uniq -d "$list.rows")
while read -r name; do
	echo "userspace/mpi/calls.h:1: $name has a row, but is not among the wrapped ones of names.list"
	bad=1
done < <(comm -13 <(awk '$3 == "wrapped:" { print $2 }' "$list" | sort) <(uniq "$list.rows"))
while read -r name; do
	echo "userspace/mpi/names.list:1: $name has no row in calls.h"
	bad=1
done < <(comm -23 <(awk '$3 == "wrapped:" { print $2 }' "$list" | sort) <(uniq "$list.rows"))
exit $bad
