# SPDX-License-Identifier: GPL-2.0-only
# Reads and writes of one process in all ways there are.
# shellcheck shell=bash disable=SC2154 # of lib.sh
work() { # DIRECTORY
	"$bin/workloads/seqrand" "$1"
}
