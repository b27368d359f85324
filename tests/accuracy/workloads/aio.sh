# SPDX-License-Identifier: GPL-2.0-only
# Asynchronous direct requests, eight at a time.
# shellcheck shell=bash disable=SC2154 # of lib.sh
work() { # DIRECTORY
	"$bin/workloads/aio" "$1"
}
