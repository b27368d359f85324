# SPDX-License-Identifier: GPL-2.0-only
# Which of the calls in names.list does an MPI declare? Prints mpi_has.h: IOT_HAS_Name is 1 or 0.
#
#	mpicc -E FILE | awk -f has.awk names.list -		FILE: includes mpi.h

BEGIN { RS = ";" }

{ gsub(/\n/, " ") }

FILENAME != "-" {
	for (i = 1; i <= NF; i++)
		if ($i ~ /^MPI_[A-Za-z0-9_]+$/)
			names[++count] = substr($i, 5)
	next
}

# One declaration.
match($0, /[^A-Za-z0-9_]MPI_[A-Za-z0-9_]+ *\(/) {
	name = substr($0, RSTART + 5, RLENGTH - 6)
	sub(/ *$/, "", name)
	has[name] = 1
	# The first ones that had these calls did not say that they change nothing.
	if (name == "Pready_list" && !/const +int/)
		list = "int"
	if (name == "Request_get_status_all" && !/const +MPI_Request/)
		requests = "MPI_Request"
}

END {
	print "/* Made by has.awk of the MPI that is compiled for. */"
	for (i = 1; i <= count; i++)
		print "#define IOT_HAS_" names[i] " " (names[i] in has) + 0
	print "#define IOT_MPI_LIST " (list ? list : "const int")
	print "#define IOT_MPI_REQUEST " (requests ? requests : "const MPI_Request")
}
