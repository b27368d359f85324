# SPDX-License-Identifier: GPL-2.0-only
# Temporary files without a name.
# shellcheck shell=bash disable=SC2154 # of lib.sh
work() { # DIRECTORY
	"$bin/accuracy/spill" "$1"
}
