# SPDX-License-Identifier: GPL-2.0-only
# Small files, like Postmark.
# shellcheck shell=bash disable=SC2154 # of lib.sh
work() { # DIRECTORY
	"$bin/accuracy/storm" "$1"
}
