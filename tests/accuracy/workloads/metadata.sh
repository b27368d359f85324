# SPDX-License-Identifier: GPL-2.0-only
# All kinds of operations on names.
# shellcheck shell=bash disable=SC2154 # of lib.sh
work() { # DIRECTORY
	"$bin/workloads/metadata" "$1"
}
