# SPDX-License-Identifier: GPL-2.0-only
# All kinds of reads and writes of one process.
# shellcheck shell=bash disable=SC2154 # of lib.sh
work() { # DIRECTORY
	"$bin/workloads/seqrand" "$1"
}
