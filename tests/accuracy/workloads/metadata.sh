# SPDX-License-Identifier: GPL-2.0-only
# Operations on names, of every kind.
# shellcheck shell=bash disable=SC2154 # of lib.sh
work() { # DIRECTORY
	"$bin/workloads/metadata" "$1"
}
