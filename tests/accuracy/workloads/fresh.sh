# SPDX-License-Identifier: GPL-2.0-only
# Files are read into memory that the program has not touched before, or (reuse) into memory that it has.
# shellcheck shell=bash disable=SC2154 # of lib.sh
prepare() { # DIRECTORY [reuse]
	"$bin/accuracy/fresh" --prepare "$1"
}

work() { # DIRECTORY [reuse]
	"$bin/accuracy/fresh" ${2:+--reuse} "$1"
}
