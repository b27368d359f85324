# SPDX-License-Identifier: GPL-2.0-only
# ARTC's micro-benchmarks: 1, 2 or 8 threads read at random; 2 threads, the first of which has read its file before; 2
# threads that read sequentially.
# shellcheck shell=bash disable=SC2154 # of lib.sh
options() { # PARAMETER
	case $1 in
	first) echo --threads=2 --first ;;
	sequential) echo --threads=2 --sequential --reads=1500 ;;
	*) echo "--threads=$1" ;;
	esac
}

prepare() { # DIRECTORY PARAMETER
	# shellcheck disable=SC2046 # words
	"$bin/accuracy/readers" --prepare $(options "$2") "$1"
}

work() { # DIRECTORY PARAMETER
	# shellcheck disable=SC2046 # words
	"$bin/accuracy/readers" $(options "$2") "$1"
}
